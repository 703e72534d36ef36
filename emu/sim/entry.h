/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was scheduled, apart from the event: sorting many and a binary heap of few, for the wheel.
 * Entries that are compared are of one grain of time, so that one word says nearly all of their
 * order: the time within the grain, entity, kind and the upper bits of the sequence. Only where it
 * is the same are the events themselves asked.
 */
#ifndef WEFT_SIM_ENTRY_H
#define WEFT_SIM_ENTRY_H

#include "sim/event.h"

enum { WF_GRAIN_BITS = 12 }; /* a grain is 4,096 ps: shorter than the shortest frame at 100 Gb/s */

struct wf_entry {
    uint64_t order;
    struct wf_event *ev;
};

static inline uint64_t wf_entry_order(uint64_t t_ps, uint64_t key)
{
    return t_ps << (64 - WF_GRAIN_BITS) | key >> WF_GRAIN_BITS;
}

/* Picoseconds from the grain's start. */
static inline uint64_t wf_entry_within_ps(const struct wf_entry *e)
{
    return e->order >> (64 - WF_GRAIN_BITS);
}

static inline bool wf_entry_before(const struct wf_entry *a, const struct wf_entry *b)
{
    return a->order < b->order || (a->order == b->order && a->ev->key < b->ev->key);
}

/* Sort the n entries of a; spare has room for as many. */
void wf_entry_sort(struct wf_entry *a, struct wf_entry *spare, size_t n);
/* heap[0] is the first of n. There is room for one more. */
void wf_entry_heap_push(struct wf_entry *heap, size_t n, const struct wf_entry *e);
/* Take heap[at] out, of n. */
void wf_entry_heap_take(struct wf_entry *heap, size_t n, size_t at);

#endif
