/* SPDX-License-Identifier: BSD-3-Clause */
/* The wheel's memory, scheduling and cancelling. See wheel.h. */
#include "sim/wheel.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/wheel_priv.h"

enum { SPARE_HELD = 4096 };

_Static_assert(sizeof(struct wf_wheel_chunk) == WF_WHEEL_CHUNK_BYTES, "aligned to its size");

/* ---- memory ---- */

int wf_wheel_reserve(struct wf_wheel *w, size_t n_events)
{
    /* coarse: all events, as many that were cancelled, and more so that few events sweep seldom */
    size_t held = 2 * n_events + SPARE_HELD;
    /* each slot may have one that is not full; behind the last one ranking may read */
    size_t n_chunks = (n_events + held) / WF_WHEEL_CHUNK + WF_WHEEL_LEVELS * WF_WHEEL_SLOTS + 2;
    /* a slot may be given some more before it is noticed */
    size_t n = n_events + WF_WHEEL_CHUNK + WF_RANK_PAD;
    const struct wf_ranker *best = wf_ranker_best();

    WF_ASSERT(!w->chunks);
    w->chunks = aligned_alloc(WF_WHEEL_CHUNK_BYTES, n_chunks * sizeof(*w->chunks));
    w->arrays = malloc(3 * n * sizeof(struct wf_entry));
    if (!w->chunks || !w->arrays) {
        wf_wheel_fini(w);
        return -ENOMEM;
    }
    w->fresh = w->chunks;
    w->heap = w->arrays;
    w->spare = w->heap + n;
    w->line = w->spare + n;
    w->held_max = held;
    w->due = w->due_end = w->stop = w->line;
    w->next_ps = 1 << WF_WHEEL_GRAIN_BITS;
    w->coarse_ps = WF_TIME_NEVER;
    w->rank = best->rank;
    w->rank_most = best->most;
    w->none.key = wf_event_key(0, WF_EV_TIMER, 0); /* nothing stands behind it to prefetch */
    w->reserved = n_events;
    return 0;
}

void wf_wheel_fini(struct wf_wheel *w)
{
    free(w->chunks);
    free(w->arrays);
    w->chunks = NULL;
    w->arrays = NULL;
}

/* A chunk in front of those that end with `older`; returns its first place. */
static inline struct wf_entry *chunk_get(struct wf_wheel *w, struct wf_entry *older)
{
    struct wf_wheel_chunk *c = w->free;

    WF_ASSERT(wf_wheel_count(w) <= w->reserved);
    if (c)
        w->free = (struct wf_wheel_chunk *)c->older;
    else
        c = w->fresh++;
    c->older = older;
    return c->e;
}

static inline void slot_mark(struct wf_wheel_level *l, unsigned slot)
{
    l->words[slot / 64] |= 1ull << slot % 64;
    l->summary |= 1ull << slot / 64;
}

static inline void list_push(struct wf_wheel *w, struct wf_entry **list, uint64_t order,
                             struct wf_event *ev)
{
    struct wf_entry *to = *list;

    if ((uintptr_t)to % WF_WHEEL_CHUNK_BYTES == 0)
        to = chunk_get(w, to);
    to->order = order;
    to->ev = ev;
    *list = to + 1;
}

void wf_slot_push(struct wf_wheel *w, unsigned level, unsigned slot, struct wf_event *ev)
{
    slot_mark(&w->levels[level], slot);
    list_push(w, &w->levels[level].slots[slot].end, wf_entry_order(ev->t_ps, ev->key), ev);
}

/* ---- sweeping ---- */

static void sweep_slot(struct wf_wheel *w, unsigned level, unsigned slot)
{
    struct wf_entry *end = w->levels[level].slots[slot].end, *next;

    wf_slot_clear(w, level, slot);
    for (; end; end = next) {
        struct wf_wheel_chunk *c = wf_chunk_of(end), old = *c;
        size_t n = (size_t)(end - c->e);

        next = c->older;
        w->held -= n;
        wf_chunk_put(w, c);
        for (size_t i = 0; i < n; i++)
            if (wf_coarse_live(w, level, slot, old.e[i].ev)) {
                old.e[i].ev->key &= ~WF_KEY_COARSE; /* one entry is enough */
                wf_slot_push(w, level, slot, old.e[i].ev);
                w->held++;
            }
    }
}

static void mark_slot(struct wf_wheel *w, unsigned level, unsigned slot)
{
    struct wf_entry *end = w->levels[level].slots[slot].end;

    for (; end; end = wf_chunk_of(end)->older)
        for (struct wf_entry *e = wf_chunk_of(end)->e; e < end; e++)
            e->ev->key |= WF_KEY_COARSE;
}

/* Keep one entry of each event that is pending there. Costs a look at each, after at least as many
 * were cancelled as may be pending. */
static void sweep(struct wf_wheel *w)
{
    for (unsigned level = 1; level < WF_WHEEL_LEVELS; level++)
        for (unsigned slot = 0; slot < WF_WHEEL_SLOTS; slot++)
            if (w->levels[level].slots[slot].end)
                sweep_slot(w, level, slot);
    for (unsigned level = 1; level < WF_WHEEL_LEVELS; level++)
        for (unsigned slot = 0; slot < WF_WHEEL_SLOTS; slot++)
            mark_slot(w, level, slot);
    w->sweeps++;
    WF_ASSERT(w->held < w->held_max);
}

/* ---- scheduling ---- */

static void insert_coarse(struct wf_wheel *w, unsigned level, struct wf_event *ev)
{
    uint64_t at = ev->t_ps >> WF_LEVEL_SHIFT(level), start = at << WF_LEVEL_SHIFT(level);

    if (w->held == w->held_max)
        sweep(w);
    w->held++;
    ev->key |= WF_KEY_COARSE;
    wf_slot_push(w, level, at & WF_SLOT_MASK, ev);
    w->coarse_ps = start < w->coarse_ps ? start : w->coarse_ps;
}

/* Beyond the finest level, or into the slot that is `due`. */
static __attribute__((noinline)) void insert_elsewhere(struct wf_wheel *w, struct wf_event *ev)
{
    uint64_t ahead;
    unsigned level;

    WF_ASSERT(wf_wheel_count(w) <= w->reserved && ev->t_ps >> WF_WHEEL_GRAIN_BITS >= w->base);
    level = wf_level_of(w, ev->t_ps, &ahead);
    if (level) {
        insert_coarse(w, level, ev);
    } else {
        struct wf_entry e = {wf_entry_order(ev->t_ps, ev->key), ev};

        wf_entry_heap_push(w->heap, w->n_heap++, &e);
        w->stop = w->due;
    }
}

void wf_wheel_insert_any(struct wf_wheel *w, struct wf_event *ev)
{
    w->elsewhere++;
    if (ev->t_ps - w->next_ps < WF_WHEEL_REACH_PS)
        wf_slot_push(w, 0, (ev->t_ps >> WF_WHEEL_GRAIN_BITS) & WF_SLOT_MASK, ev);
    else
        insert_elsewhere(w, ev);
}

/* ---- cancelling ---- */

static struct wf_entry *older_entry(struct wf_entry *e)
{
    struct wf_wheel_chunk *c = wf_chunk_of(e + 1);

    return e > c->e ? e - 1 : c->older ? c->older - 1 : NULL;
}

/* Take ev's entry out of a slot's list; those behind it move up. False: it is not there. */
static bool list_remove(struct wf_wheel *w, struct wf_entry **list, const struct wf_event *ev)
{
    struct wf_entry *last = *list ? *list - 1 : NULL, *found = last, carry, here;

    while (found && found->ev != ev)
        found = older_entry(found);
    if (!found)
        return false;
    carry = *last;
    for (struct wf_entry *e = last; e != found; carry = here) {
        e = older_entry(e);
        here = *e;
        *e = carry;
    }
    *list = last;
    if (last == wf_chunk_of(last + 1)->e) {
        *list = wf_chunk_of(last + 1)->older;
        wf_chunk_put(w, wf_chunk_of(last + 1));
    }
    return true;
}

static void slot_remove(struct wf_wheel *w, unsigned slot, const struct wf_event *ev)
{
    struct wf_wheel_slot *s = &w->levels[0].slots[slot];
    bool found = list_remove(w, &s->end, ev);

    WF_ASSERT(found);
    if (!s->end)
        wf_slot_clear(w, 0, slot);
}

/* Out of `due` or the heap. */
static void due_remove(struct wf_wheel *w, const struct wf_event *ev)
{
    uint64_t order = wf_entry_order(ev->t_ps, ev->key);
    struct wf_entry *from = w->due, *to = w->due_end, *mid;
    size_t at = w->n_heap;

    while (from < to) {
        mid = from + (to - from) / 2;
        if (mid->order < order)
            from = mid + 1;
        else
            to = mid;
    }
    for (; from < w->due_end && from->order == order; from++)
        if (from->ev == ev) {
            from->ev = &w->none;
            return;
        }
    do
        WF_ASSERT(at > 0);
    while (w->heap[--at].ev != ev);
    wf_entry_heap_take(w->heap, w->n_heap--, at);
}

void wf_wheel_remove(struct wf_wheel *w, struct wf_event *ev)
{
    uint64_t at = ev->t_ps >> WF_WHEEL_GRAIN_BITS;

    WF_ASSERT(wf_event_pending(ev));
    ev->fn = NULL;
    w->elsewhere--;
    if (ev->key & WF_KEY_COARSE)
        ev->key &= ~WF_KEY_COARSE;
    else if (at == w->base)
        due_remove(w, ev);
    else
        slot_remove(w, at & WF_SLOT_MASK, ev);
}
