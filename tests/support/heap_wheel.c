/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wheel's functions over a plain binary heap: linked into a test program instead of
 * sim/wheel.c, so that a whole fabric runs on it and has to give the same digest. It shares only
 * the structures with the wheel, no code of sorting or placing. It may allocate while it runs.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/units.h"
#include "sim/wheel.h"

static bool before(const struct wf_entry *a, const struct wf_entry *b)
{
    return a->t_ps != b->t_ps ? a->t_ps < b->t_ps : a->key < b->key;
}

static void swap(struct wf_entry *a, struct wf_entry *b)
{
    struct wf_entry e = *a;

    *a = *b;
    *b = e;
}

int wf_wheel_reserve(struct wf_wheel *w, size_t n_events)
{
    w->reserved = n_events;
    w->heap_len = 64;
    w->heap = malloc(w->heap_len * sizeof(*w->heap));
    return w->heap ? 0 : -ENOMEM;
}

void wf_wheel_fini(struct wf_wheel *w)
{
    free(w->heap);
    w->heap = NULL;
}

void wf_wheel_insert(struct wf_wheel *w, struct wf_event *ev)
{
    size_t i = w->n_heap++;

    WF_ASSERT(w->count++ < w->reserved);
    if (i == w->heap_len) {
        w->heap_len *= 2;
        w->heap = realloc(w->heap, w->heap_len * sizeof(*w->heap));
        WF_ASSERT(w->heap);
    }
    w->heap[i] = (struct wf_entry){ev->t_ps, ev->key, ev};
    for (; i && before(&w->heap[i], &w->heap[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&w->heap[i], &w->heap[(i - 1) / 2]);
}

static void drop_top(struct wf_wheel *w)
{
    size_t i = 0, least;

    w->heap[0] = w->heap[--w->n_heap];
    for (;; i = least) {
        least = i;
        for (size_t c = 2 * i + 1; c <= 2 * i + 2; c++)
            if (c < w->n_heap && before(&w->heap[c], &w->heap[least]))
                least = c;
        if (least == i)
            return;
        swap(&w->heap[i], &w->heap[least]);
    }
}

/* What was cancelled, or moved since, leaves the top. */
static void clean_top(struct wf_wheel *w)
{
    while (w->n_heap && (!w->heap->ev->fn || w->heap->ev->t_ps != w->heap->t_ps ||
                         w->heap->ev->key != w->heap->key))
        drop_top(w);
}

uint64_t wf_wheel_next_ps(const struct wf_wheel *w)
{
    clean_top((struct wf_wheel *)w);
    return w->n_heap ? w->heap->t_ps : WF_TIME_NEVER;
}

struct wf_event *wf_wheel_pop_any(struct wf_wheel *w, uint64_t limit_ps, wf_event_fn **fn)
{
    struct wf_event *ev;

    clean_top(w);
    if (!w->n_heap || w->heap->t_ps >= limit_ps)
        return NULL;
    ev = w->heap->ev;
    *fn = ev->fn;
    ev->fn = NULL;
    drop_top(w);
    w->count--;
    return ev;
}
