/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside a wheel: chunks, slots and levels. For sim/wheel*.c only. */
#ifndef WEFT_SIM_WHEEL_PRIV_H
#define WEFT_SIM_WHEEL_PRIV_H

#include "base/units.h"
#include "sim/wheel.h"

#define WF_LEVEL_SHIFT(level) (WF_WHEEL_GRAIN_BITS + (level)*WF_WHEEL_LEVEL_BITS)
#define WF_SLOT_MASK          (WF_WHEEL_SLOTS - 1u)

/* Whose end, or what lies behind whose first entry, `at` is. */
static inline struct wf_wheel_chunk *wf_chunk_of(const struct wf_entry *at)
{
    return (struct wf_wheel_chunk *)(((uintptr_t)at - 1) & ~(uintptr_t)(WF_WHEEL_CHUNK_BYTES - 1));
}

static inline void wf_chunk_put(struct wf_wheel *w, struct wf_wheel_chunk *c)
{
    c->older = (struct wf_entry *)w->free;
    w->free = c;
}

/* Put an entry into the slot. */
void wf_slot_push(struct wf_wheel *w, unsigned level, unsigned slot, struct wf_event *ev);

/* The slot holds nothing any more. */
static inline void wf_slot_clear(struct wf_wheel *w, unsigned level, unsigned slot)
{
    struct wf_wheel_level *l = &w->levels[level];

    l->slots[slot].end = NULL;
    l->words[slot / 64] &= ~(1ull << slot % 64);
    if (!l->words[slot / 64])
        l->summary &= ~(1ull << slot / 64);
}

/* First slot from `from` on, around the end, that is not empty; -1: all are. */
static inline int wf_level_find(const struct wf_wheel_level *l, unsigned from)
{
    uint64_t word = l->words[from / 64] & (~0ull << from % 64), sum;
    unsigned i = from / 64;

    if (!word) {
        if (!l->summary)
            return -1;
        sum = i < 63 ? l->summary & (~0ull << (i + 1)) : 0;
        i = (unsigned)__builtin_ctzll(sum ? sum : l->summary);
        word = l->words[i];
    }
    return (int)(i * 64) + __builtin_ctzll(word);
}

/* Number of the level's slot, from time 0, that is `slot` now: at or after base's, within a turn
 * of the wheel. */
static inline uint64_t wf_slot_number(const struct wf_wheel *w, unsigned level, unsigned slot)
{
    uint64_t base = w->base >> level * WF_WHEEL_LEVEL_BITS;

    return base + ((slot - base) & WF_SLOT_MASK);
}

/* The finest level at which t lies less than a turn ahead, and by how many slots. */
static inline unsigned wf_level_of(const struct wf_wheel *w, uint64_t t_ps, uint64_t *ahead)
{
    uint64_t at = t_ps >> WF_WHEEL_GRAIN_BITS, base = w->base;
    unsigned level = 0;

    for (; at - base >= WF_WHEEL_SLOTS; level++) {
        at >>= WF_WHEEL_LEVEL_BITS;
        base >>= WF_WHEEL_LEVEL_BITS;
    }
    *ahead = at - base;
    return level;
}

/* An entry in a slot of a coarser level stands for its event, if it is the only one there. */
static inline bool wf_coarse_live(const struct wf_wheel *w, unsigned level, unsigned slot,
                                  const struct wf_event *ev)
{
    uint64_t base = w->base >> level * WF_WHEEL_LEVEL_BITS;
    uint64_t at = ev->t_ps >> WF_LEVEL_SHIFT(level);

    return ev->fn && (ev->key & WF_KEY_COARSE) && (at & WF_SLOT_MASK) == slot &&
           at - base - 1 < WF_SLOT_MASK;
}

#endif
