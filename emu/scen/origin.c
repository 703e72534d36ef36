/* SPDX-License-Identifier: BSD-3-Clause */
/* Where each configured value came from: an open hash from field address to origin, see fill.h. */
#include <stdint.h>
#include <stdlib.h>

#include "base/assert.h"
#include "scen/fill.h"

struct wf_origin_slot {
    const void *field;
    struct wf_origin origin;
};

static size_t slot_of(const struct wf_origins *o, const void *field)
{
    size_t i = (size_t)(((uintptr_t)field * 0x9e3779b97f4a7c15ull) >> 20) & (o->cap - 1);

    while (o->slots[i].field && o->slots[i].field != field)
        i = (i + 1) & (o->cap - 1);
    return i;
}

static void grow(struct wf_origins *o)
{
    struct wf_origins bigger = {.cap = o->cap ? 2 * o->cap : 1024};

    bigger.slots = calloc(bigger.cap, sizeof(bigger.slots[0]));
    WF_ASSERT(bigger.slots);
    for (size_t i = 0; i < o->cap; i++)
        if (o->slots[i].field)
            bigger.slots[slot_of(&bigger, o->slots[i].field)] = o->slots[i];
    bigger.n = o->n;
    free(o->slots);
    *o = bigger;
}

const struct wf_origin *wf_origins_find(const struct wf_origins *o, const void *field)
{
    size_t i;

    if (!o || !o->cap)
        return NULL;
    i = slot_of(o, field);
    return o->slots[i].field ? &o->slots[i].origin : NULL;
}

void wf_origins_set(struct wf_origins *o, const void *field, const struct wf_origin *v)
{
    size_t i;

    if (2 * o->n >= o->cap)
        grow(o);
    i = slot_of(o, field);
    o->n += !o->slots[i].field;
    o->slots[i].field = field;
    o->slots[i].origin = *v;
}

void wf_origins_free(struct wf_origins *o)
{
    free(o->slots);
    *o = (struct wf_origins){0};
}
