/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/wheel.h"

#include "base/assert.h"
#include "base/units.h"

#define LEVEL_SHIFT(level) (WF_WHEEL_GRAIN_BITS + (level)*WF_WHEEL_LEVEL_BITS)
#define SLOT_MASK          (WF_WHEEL_SLOTS - 1)

static void link_at(struct wf_event **at, struct wf_event *ev)
{
    ev->next = *at;
    ev->pprev = at;
    if (ev->next)
        ev->next->pprev = &ev->next;
    *at = ev;
}

static void unlink_event(struct wf_event *ev)
{
    *ev->pprev = ev->next;
    if (ev->next)
        ev->next->pprev = ev->pprev;
    ev->pprev = NULL;
}

static void level_mark(struct wf_wheel_level *l, unsigned slot)
{
    l->words[slot / 64] |= 1ull << slot % 64;
    l->summary |= 1ull << slot / 64;
}

static void level_clear(struct wf_wheel_level *l, unsigned slot)
{
    l->words[slot / 64] &= ~(1ull << slot % 64);
    if (!l->words[slot / 64])
        l->summary &= ~(1ull << slot / 64);
}

/* First marked slot at or after `from`, or -1. */
static int level_find(const struct wf_wheel_level *l, unsigned from)
{
    uint64_t word, sum;

    if (from >= WF_WHEEL_SLOTS)
        return -1;
    word = l->words[from / 64] & (~0ull << from % 64);
    if (word)
        return (int)(from / 64 * 64) + __builtin_ctzll(word);
    if (from / 64 == 63)
        return -1;
    sum = l->summary & (~0ull << (from / 64 + 1));
    if (!sum)
        return -1;
    from = (unsigned)__builtin_ctzll(sum);
    return (int)(from * 64) + __builtin_ctzll(l->words[from]);
}

static void insert_due(struct wf_wheel *w, struct wf_event *ev)
{
    struct wf_event **at = &w->due;

    while (*at && wf_event_before(*at, ev))
        at = &(*at)->next;
    link_at(at, ev);
}

static void place(struct wf_wheel *w, struct wf_event *ev)
{
    uint64_t diff = (ev->t_ps ^ w->base_ps) >> WF_WHEEL_GRAIN_BITS;
    unsigned level, slot;

    if (!diff) {
        insert_due(w, ev);
        return;
    }
    level = (63u - (unsigned)__builtin_clzll(diff)) / WF_WHEEL_LEVEL_BITS;
    slot = (ev->t_ps >> LEVEL_SHIFT(level)) & SLOT_MASK;
    link_at(&w->levels[level].slots[slot], ev);
    level_mark(&w->levels[level], slot);
}

void wf_wheel_insert(struct wf_wheel *w, struct wf_event *ev)
{
    WF_ASSERT(!ev->pprev && ev->t_ps >= w->base_ps);
    place(w, ev);
    w->count++;
}

void wf_wheel_remove(struct wf_wheel *w, struct wf_event *ev)
{
    WF_ASSERT(ev->pprev);
    unlink_event(ev); /* a slot left empty keeps its mark: the search skips it */
    w->count--;
}

/* Merge sort of a singly linked list (pprev is repaired by the caller). */
static struct wf_event *sort(struct wf_event *list)
{
    struct wf_event *slow = list, *fast, *half, *out = NULL, **tail = &out;

    if (!list || !list->next)
        return list;
    for (fast = list->next; fast && fast->next; fast = fast->next->next)
        slow = slow->next;
    half = sort(slow->next);
    slow->next = NULL;
    list = sort(list);
    while (list && half) {
        struct wf_event **from = wf_event_before(half, list) ? &half : &list;

        *tail = *from;
        tail = &(*from)->next;
        *from = *tail;
    }
    *tail = list ? list : half;
    return out;
}

static void slot_to_due(struct wf_wheel *w, unsigned slot)
{
    struct wf_wheel_level *l = &w->levels[0];
    struct wf_event **at = &w->due;

    w->due = sort(l->slots[slot]);
    l->slots[slot] = NULL;
    level_clear(l, slot);
    for (; *at; at = &(*at)->next)
        (*at)->pprev = at;
}

/* Spread one slot of a coarse level over the finer ones. base_ps is already its start. */
static void cascade(struct wf_wheel *w, unsigned level, unsigned slot)
{
    struct wf_event *ev = w->levels[level].slots[slot], *next;

    w->levels[level].slots[slot] = NULL;
    level_clear(&w->levels[level], slot);
    for (; ev; ev = next) {
        next = ev->next;
        place(w, ev);
    }
}

/* Move base_ps to the next slot that holds events, if it starts before the limit. */
static bool advance(struct wf_wheel *w, uint64_t limit_ps)
{
    for (unsigned level = 0; level < WF_WHEEL_LEVELS; level++) {
        unsigned shift = LEVEL_SHIFT(level);
        unsigned from = ((w->base_ps >> shift) & SLOT_MASK) + 1;
        int slot = level_find(&w->levels[level], from);
        uint64_t upper, start;

        while (slot >= 0 && !w->levels[level].slots[slot]) { /* emptied by removals */
            level_clear(&w->levels[level], (unsigned)slot);
            slot = level_find(&w->levels[level], from);
        }
        if (slot < 0)
            continue;
        upper = shift + WF_WHEEL_LEVEL_BITS < 64
                    ? w->base_ps >> (shift + WF_WHEEL_LEVEL_BITS) << (shift + WF_WHEEL_LEVEL_BITS)
                    : 0;
        start = upper | (uint64_t)slot << shift;
        if (start >= limit_ps)
            return false;
        w->base_ps = start;
        if (level)
            cascade(w, level, (unsigned)slot);
        else
            slot_to_due(w, (unsigned)slot);
        return true;
    }
    return false;
}

struct wf_event *wf_wheel_pop(struct wf_wheel *w, uint64_t limit_ps)
{
    struct wf_event *ev;

    while (!w->due)
        if (!advance(w, limit_ps))
            return NULL;
    ev = w->due;
    if (ev->t_ps >= limit_ps)
        return NULL;
    w->due = ev->next;
    if (ev->next)
        ev->next->pprev = &w->due;
    ev->pprev = NULL;
    w->count--;
    return ev;
}

uint64_t wf_wheel_next_ps(const struct wf_wheel *w)
{
    uint64_t best = WF_TIME_NEVER;

    if (w->due)
        return w->due->t_ps;
    for (unsigned level = 0; level < WF_WHEEL_LEVELS; level++) {
        unsigned shift = LEVEL_SHIFT(level);
        int slot = (int)((w->base_ps >> shift) & SLOT_MASK);

        do
            slot = level_find(&w->levels[level], (unsigned)slot + 1);
        while (slot >= 0 && !w->levels[level].slots[slot]);
        if (slot < 0)
            continue;
        for (const struct wf_event *ev = w->levels[level].slots[slot]; ev; ev = ev->next)
            if (ev->t_ps < best)
                best = ev->t_ps;
        return best;
    }
    return best;
}
