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

bool wf_origin_same(const struct wf_origin *a, const struct wf_origin *b)
{
    return a == b || (a && b && a->file == b->file && a->line == b->line && a->col == b->col);
}

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

static void copy_one(struct wf_origins *o, const char *from, const char *to)
{
    const struct wf_origin *x = wf_origins_find(o, from);
    struct wf_origin origin;

    if (!x)
        return;
    origin = *x; /* the table may move */
    wf_origins_set(o, to, &origin);
}

void wf_origins_copy(struct wf_origins *o, const struct wf_keyset *set, const void *from,
                     const void *to)
{
    for (size_t i = 0; i < set->n_keys; i++) {
        const struct wf_key *k = &set->keys[i];
        size_t n = k->type == WF_KEY_MAP ? k->count : 1;

        for (size_t j = 0; j < n; j++)
            copy_one(o, (const char *)from + k->off + j, (const char *)to + k->off + j);
    }
    for (size_t i = 0; i < set->n_subs; i++) {
        const struct wf_key_sub *s = &set->subs[i];
        size_t n = s->count ? s->count : 1;

        for (size_t j = 0; j < n; j++) {
            size_t off = s->off + j * s->set->size;

            wf_origins_copy(o, s->set, (const char *)from + off, (const char *)to + off);
        }
    }
}

void wf_origins_free(struct wf_origins *o)
{
    free(o->slots);
    *o = (struct wf_origins){0};
}
