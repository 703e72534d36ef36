/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was scheduled, apart from the event: sorting many and a binary heap of few, for the wheel.
 */
#ifndef WEFT_SIM_ENTRY_H
#define WEFT_SIM_ENTRY_H

#include "sim/event.h"

/* An event that no longer says the same is not taken by it. */
struct wf_entry {
    uint64_t t_ps, key;
    struct wf_event *ev;
};

static inline bool wf_entry_before(const struct wf_entry *a, const struct wf_entry *b)
{
    unsigned __int128 x = (unsigned __int128)a->t_ps << 64 | a->key;
    unsigned __int128 y = (unsigned __int128)b->t_ps << 64 | b->key;

    return x < y;
}

/* The event is pending as the entry says. */
static inline bool wf_entry_live(const struct wf_entry *e)
{
    return e->ev->fn && e->ev->t_ps == e->t_ps && e->ev->key == e->key;
}

/* Sort n entries; the result is in `a` or in `spare`, of n each: the one that is returned. */
struct wf_entry *wf_entry_sort(struct wf_entry *a, struct wf_entry *spare, size_t n);
/* heap[0] is the first of n. There is room for one more. */
void wf_entry_heap_push(struct wf_entry *heap, size_t n, const struct wf_entry *e);
/* Take heap[0] out, of n. */
void wf_entry_heap_pop(struct wf_entry *heap, size_t n);

#endif
