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

static bool before(const struct wf_event *a, const struct wf_event *b)
{
    return a->t_ps != b->t_ps ? a->t_ps < b->t_ps : a->key < b->key;
}

/* The first of n pending events, which lie in no order but that of a heap. */
static struct wf_event **top(struct wf_wheel *w)
{
    return w->arrays;
}

static void swap(struct wf_event **a, struct wf_event **b)
{
    struct wf_event *e = *a;

    *a = *b;
    *b = e;
}

int wf_wheel_reserve(struct wf_wheel *w, size_t n_events)
{
    w->reserved = n_events;
    w->held_max = 64;
    w->arrays = malloc(w->held_max * sizeof(struct wf_event *));
    return w->arrays ? 0 : -ENOMEM;
}

void wf_wheel_fini(struct wf_wheel *w)
{
    free(w->arrays);
    w->arrays = NULL;
}

static void up(struct wf_event **heap, size_t i)
{
    for (; i && before(heap[i], heap[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&heap[i], &heap[(i - 1) / 2]);
}

/* It finds no chunk in any slot, so that everything comes here. */
void wf_wheel_insert_any(struct wf_wheel *w, struct wf_event *ev)
{
    WF_ASSERT(w->elsewhere++ < w->reserved);
    if (w->n_heap == w->held_max) {
        w->held_max *= 2;
        w->arrays = realloc(w->arrays, w->held_max * sizeof(struct wf_event *));
        WF_ASSERT(w->arrays);
    }
    top(w)[w->n_heap] = ev;
    up(top(w), w->n_heap++);
}

static void drop(struct wf_wheel *w, size_t i)
{
    struct wf_event **heap = top(w);
    size_t least;

    heap[i] = heap[--w->n_heap];
    w->elsewhere--;
    up(heap, i);
    for (;; i = least) {
        least = i;
        for (size_t c = 2 * i + 1; c <= 2 * i + 2; c++)
            if (c < w->n_heap && before(heap[c], heap[least]))
                least = c;
        if (least == i)
            return;
        swap(&heap[i], &heap[least]);
    }
}

void wf_wheel_remove(struct wf_wheel *w, struct wf_event *ev)
{
    size_t i = 0;

    WF_ASSERT(wf_event_pending(ev));
    while (top(w)[i] != ev)
        WF_ASSERT(++i < w->n_heap);
    ev->fn = NULL;
    drop(w, i);
}

uint64_t wf_wheel_next_ps(const struct wf_wheel *w)
{
    return w->n_heap ? (*(struct wf_event **)w->arrays)->t_ps : WF_TIME_NEVER;
}

bool wf_wheel_ready(struct wf_wheel *w, uint64_t limit_ps, uint64_t most)
{
    return false; /* one at a time */
}

struct wf_event *wf_wheel_pop(struct wf_wheel *w, uint64_t limit_ps, wf_event_fn **fn)
{
    struct wf_event *ev = w->n_heap ? *top(w) : NULL;

    if (!ev || ev->t_ps >= limit_ps)
        return NULL;
    *fn = ev->fn;
    ev->fn = NULL;
    drop(w, 0);
    return ev;
}
