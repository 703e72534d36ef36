/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/wheel.h"

#include <errno.h>
#include <stdlib.h>

#include "base/units.h"

#define LEVEL_SHIFT(level) (WF_WHEEL_GRAIN_BITS + (level)*WF_WHEEL_LEVEL_BITS)
#define SLOT_MASK          (WF_WHEEL_SLOTS - 1u)
#define MARK               (1ull << 39) /* in a key, while sweeping: its address was kept */

enum { SPARE_HELD = 4096, SCAN_CHUNKS = 64 };
#define FILL ((unsigned)WF_WHEEL_CHUNK) /* of a slot: how many are in its newest chunk */

_Static_assert(sizeof(struct wf_wheel_chunk) == 64, "one cache line");

/* ---- chunks and slots ---- */

static struct wf_wheel_chunk *chunk_get(struct wf_wheel *w)
{
    struct wf_wheel_chunk *c = w->free;

    if (c)
        w->free = c->next;
    else
        c = w->fresh++;
    return c;
}

static void chunk_put(struct wf_wheel *w, struct wf_wheel_chunk *c)
{
    c->next = w->free;
    w->free = c;
}

static struct wf_wheel_chunk *slot_chunk(uintptr_t slot)
{
    return (struct wf_wheel_chunk *)(slot & ~(uintptr_t)63);
}

static void slot_push(struct wf_wheel *w, unsigned level, unsigned slot, struct wf_event *ev)
{
    struct wf_wheel_level *l = &w->levels[level];
    uintptr_t head = l->slots[slot];

    if ((head & FILL) == FILL || !head) {
        struct wf_wheel_chunk *c = chunk_get(w);

        c->next = slot_chunk(head);
        head = (uintptr_t)c;
        l->words[slot / 64] |= 1ull << slot % 64;
        l->summary |= 1ull << slot / 64;
    }
    slot_chunk(head)->ev[head & FILL] = ev;
    l->slots[slot] = head + 1;
    w->held++;
}

/* Take all of a slot's chunks. */
static uintptr_t slot_take(struct wf_wheel *w, unsigned level, unsigned slot)
{
    struct wf_wheel_level *l = &w->levels[level];
    uintptr_t head = l->slots[slot];

    l->slots[slot] = 0;
    l->words[slot / 64] &= ~(1ull << slot % 64);
    if (!l->words[slot / 64])
        l->summary &= ~(1ull << slot / 64);
    return head;
}

/* First slot from `from` on, around the end, that is not empty; -1: all are. */
static int level_find(const struct wf_wheel_level *l, unsigned from)
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
static uint64_t slot_number(const struct wf_wheel *w, unsigned level, unsigned slot)
{
    uint64_t base = w->base >> level * WF_WHEEL_LEVEL_BITS;

    return base + ((slot - base) & SLOT_MASK);
}

/* Start of the level's next slot that is not empty, and which; WF_TIME_NEVER: there is none. */
static uint64_t level_next(const struct wf_wheel *w, unsigned level, unsigned *slot)
{
    uint64_t base = w->base >> level * WF_WHEEL_LEVEL_BITS;
    int found = level_find(&w->levels[level], (base + 1) & SLOT_MASK);

    if (found < 0)
        return WF_TIME_NEVER;
    *slot = (unsigned)found;
    return slot_number(w, level, *slot) << LEVEL_SHIFT(level);
}

/* The finest level at which t lies less than a turn ahead, and by how many slots. */
static unsigned level_of(const struct wf_wheel *w, uint64_t t_ps, uint64_t *ahead)
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

/* ---- sweeping ---- */

/* The slot would give the event to the level below, or to `due`, in its time. */
static bool in_slot(const struct wf_wheel *w, unsigned level, unsigned slot,
                    const struct wf_event *ev)
{
    uint64_t base = w->base >> level * WF_WHEEL_LEVEL_BITS;
    uint64_t at = ev->t_ps >> LEVEL_SHIFT(level);

    return ev->fn && (at & SLOT_MASK) == slot && at - base - 1 < SLOT_MASK;
}

static void sweep_slot(struct wf_wheel *w, unsigned level, unsigned slot)
{
    uintptr_t head = slot_take(w, level, slot);
    unsigned n = head & FILL;

    for (struct wf_wheel_chunk *c = slot_chunk(head), *next; c; c = next, n = FILL) {
        struct wf_wheel_chunk old = *c;

        next = c->next;
        w->held -= n;
        chunk_put(w, c);
        for (unsigned i = 0; i < n; i++)
            if (in_slot(w, level, slot, old.ev[i]) && !(old.ev[i]->key & MARK)) {
                old.ev[i]->key |= MARK;
                slot_push(w, level, slot, old.ev[i]);
            }
    }
}

static void unmark_slot(struct wf_wheel *w, unsigned level, unsigned slot)
{
    unsigned n = w->levels[level].slots[slot] & FILL;

    for (struct wf_wheel_chunk *c = slot_chunk(w->levels[level].slots[slot]); c;
         c = c->next, n = FILL)
        for (unsigned i = 0; i < n; i++)
            c->ev[i]->key &= ~MARK;
}

/* Keep one address of each event that is pending. Costs a look at each, after at least as many
 * were cancelled as may be pending. */
static void sweep(struct wf_wheel *w)
{
    for (unsigned level = 0; level < WF_WHEEL_LEVELS; level++)
        for (unsigned slot = 0; slot < WF_WHEEL_SLOTS; slot++)
            if (w->levels[level].slots[slot])
                sweep_slot(w, level, slot);
    for (unsigned level = 0; level < WF_WHEEL_LEVELS; level++)
        for (unsigned slot = 0; slot < WF_WHEEL_SLOTS; slot++)
            unmark_slot(w, level, slot);
    w->sweeps++;
    WF_ASSERT(w->held < w->held_max);
}

static void heap_push(struct wf_wheel *w, struct wf_event *ev)
{
    struct wf_entry e = {ev->t_ps, ev->key, ev};
    size_t n = 0;

    if (w->n_heap == w->heap_len) {
        for (size_t i = 0; i < w->n_heap; i++) {
            struct wf_entry kept = w->heap[i];

            if (!wf_entry_live(&kept)) /* or marked: it is in already */
                continue;
            kept.ev->key |= MARK;
            wf_entry_heap_push(w->heap, n++, &kept);
        }
        for (size_t i = 0; i < n; i++)
            w->heap[i].ev->key &= ~MARK;
        WF_ASSERT(n < w->n_heap);
        w->n_heap = n;
    }
    wf_entry_heap_push(w->heap, w->n_heap++, &e);
}

/* ---- scheduling ---- */

int wf_wheel_reserve(struct wf_wheel *w, size_t n_events)
{
    /* all events, as many that were cancelled, and some more so that few events sweep seldom */
    size_t held = 2 * n_events + SPARE_HELD;
    /* each slot may have one that is not full */
    size_t n_chunks = held / WF_WHEEL_CHUNK + WF_WHEEL_LEVELS * WF_WHEEL_SLOTS + 1;

    WF_ASSERT(!w->chunks);
    w->held_max = w->heap_len = held;
    w->chunks = aligned_alloc(64, n_chunks * sizeof(*w->chunks));
    w->array = malloc(held * sizeof(*w->array));
    w->spare = malloc(held * sizeof(*w->spare));
    w->heap = malloc(w->heap_len * sizeof(*w->heap));
    if (!w->chunks || !w->array || !w->spare || !w->heap) {
        wf_wheel_fini(w);
        return -ENOMEM;
    }
    w->fresh = w->chunks;
    w->due = w->due_end = w->array;
    w->coarse_ps = WF_TIME_NEVER;
    w->reserved = n_events;
    return 0;
}

void wf_wheel_fini(struct wf_wheel *w)
{
    free(w->chunks);
    free(w->array);
    free(w->spare);
    free(w->heap);
    w->chunks = NULL;
    w->array = w->spare = w->heap = NULL;
}

static __attribute__((noinline)) void insert_any(struct wf_wheel *w, struct wf_event *ev)
{
    uint64_t ahead;
    unsigned level;

    WF_ASSERT(w->count < w->reserved && ev->t_ps >> WF_WHEEL_GRAIN_BITS >= w->base);
    w->count++;
    if (w->held == w->held_max)
        sweep(w);
    level = level_of(w, ev->t_ps, &ahead);
    if (!ahead) {
        heap_push(w, ev);
        return;
    }
    slot_push(w, level, (ev->t_ps >> LEVEL_SHIFT(level)) & SLOT_MASK, ev);
    if (level) {
        uint64_t start = ev->t_ps >> LEVEL_SHIFT(level) << LEVEL_SHIFT(level);

        w->coarse_ps = start < w->coarse_ps ? start : w->coarse_ps;
    }
}

/* Most go to a slot of the finest level whose newest chunk has room. */
void wf_wheel_insert(struct wf_wheel *w, struct wf_event *ev)
{
    uint64_t at = ev->t_ps >> WF_WHEEL_GRAIN_BITS;
    uintptr_t *slot = &w->levels[0].slots[at & SLOT_MASK];
    unsigned n = *slot & FILL;

    if (at - w->base - 1 >= SLOT_MASK || !n || n == FILL || w->held == w->held_max ||
        w->count >= w->reserved) {
        insert_any(w, ev);
        return;
    }
    slot_chunk(*slot)->ev[n] = ev;
    ++*slot;
    w->held++;
    w->count++;
}

/* ---- taking ---- */

/* Spread the coarse slots that start at base over the finer levels. */
static void cascade(struct wf_wheel *w)
{
    uint64_t now = w->base << WF_WHEEL_GRAIN_BITS, ahead;

    for (unsigned level = WF_WHEEL_LEVELS - 1; level; level--) {
        unsigned slot = (now >> LEVEL_SHIFT(level)) & SLOT_MASK, n;
        uintptr_t head;

        if (now >> LEVEL_SHIFT(level) << LEVEL_SHIFT(level) != now)
            continue;
        head = slot_take(w, level, slot);
        n = head & FILL;
        for (struct wf_wheel_chunk *c = slot_chunk(head), *next; c; c = next, n = FILL) {
            struct wf_wheel_chunk old = *c;

            next = c->next;
            w->held -= n;
            chunk_put(w, c);
            for (unsigned i = 0; i < n; i++) {
                struct wf_event *ev = old.ev[i];

                if (!ev->fn || ev->t_ps >> LEVEL_SHIFT(level) != now >> LEVEL_SHIFT(level))
                    continue;
                unsigned to = level_of(w, ev->t_ps, &ahead);
                slot_push(w, to, (ev->t_ps >> LEVEL_SHIFT(to)) & SLOT_MASK, ev);
            }
        }
    }
    w->coarse_ps = WF_TIME_NEVER;
    for (unsigned level = 1; level < WF_WHEEL_LEVELS; level++) {
        unsigned slot;
        uint64_t start = level_next(w, level, &slot);

        w->coarse_ps = start < w->coarse_ps ? start : w->coarse_ps;
    }
}

/* The slot at base becomes `due`, sorted. */
static void gather(struct wf_wheel *w)
{
    uintptr_t head = slot_take(w, 0, w->base & SLOT_MASK);
    struct wf_wheel_chunk *newest = slot_chunk(head), *c = newest, *oldest = NULL, *next;
    struct wf_entry *to = w->array;

    for (; c; c = next) { /* as they were scheduled is nearly in order */
        next = c->next;
        c->next = oldest;
        oldest = c;
    }
    for (c = oldest; c; c = next) {
        unsigned n = c == newest ? head & FILL : FILL;

        for (unsigned i = 0; i < n; i++) {
            struct wf_event *ev = c->ev[i];

            if (ev->fn && ev->t_ps >> WF_WHEEL_GRAIN_BITS == w->base)
                *to++ = (struct wf_entry){ev->t_ps, ev->key, ev};
        }
        next = c->next;
        w->held -= n;
        chunk_put(w, c);
    }
    w->due = wf_entry_sort(w->array, w->spare, (size_t)(to - w->array));
    w->due_end = w->due + (to - w->array);
    if (w->due != w->array) {
        w->spare = w->array;
        w->array = w->due;
    }
}

/* The next slot is likely to be gathered soon, the one behind it after that. */
static void prefetch_next(struct wf_wheel *w)
{
    unsigned slot = w->base & SLOT_MASK;
    int found = level_find(&w->levels[0], (slot + 1) & SLOT_MASK);
    unsigned n, chunks = 0;

    if (found < 0)
        return;
    n = w->levels[0].slots[found] & FILL;
    for (struct wf_wheel_chunk *c = slot_chunk(w->levels[0].slots[found]); c && chunks++ < 8;
         c = c->next, n = FILL)
        for (unsigned i = 0; i < n; i++)
            __builtin_prefetch(c->ev[i]);
    found = level_find(&w->levels[0], ((unsigned)found + 1) & SLOT_MASK);
    if (found >= 0)
        __builtin_prefetch(slot_chunk(w->levels[0].slots[found]));
}

/* Move base to the next slot that is not empty, if it starts before the limit. */
static bool advance(struct wf_wheel *w, uint64_t limit_ps)
{
    unsigned slot;
    uint64_t start = level_next(w, 0, &slot);

    if (w->coarse_ps < start)
        start = w->coarse_ps;
    if (start >= limit_ps || !w->count) /* base never passes what may still be scheduled */
        return false;
    w->base = start >> WF_WHEEL_GRAIN_BITS;
    if (w->coarse_ps == start)
        cascade(w);
    gather(w);
    prefetch_next(w);
    for (struct wf_entry *e = w->due; w->prefetch && e < w->due_end && e < w->due + WF_WHEEL_AHEAD;
         e++)
        w->prefetch(e->ev);
    return true;
}

struct wf_event *wf_wheel_pop_any(struct wf_wheel *w, uint64_t limit_ps, wf_event_fn **fn)
{
    for (;;) {
        struct wf_entry e;
        bool heap = w->n_heap && (w->due == w->due_end || wf_entry_before(w->heap, w->due));

        if (!heap && w->due == w->due_end) {
            if (!advance(w, limit_ps))
                return NULL;
            continue;
        }
        e = heap ? *w->heap : *w->due;
        if (e.t_ps >= limit_ps)
            return NULL;
        if (heap)
            wf_entry_heap_pop(w->heap, w->n_heap--);
        else
            w->due++;
        if (wf_wheel_take(w, &e, fn))
            return e.ev;
    }
}

static uint64_t slot_min_ps(const struct wf_wheel *w, unsigned level, unsigned slot)
{
    uint64_t best = WF_TIME_NEVER;
    unsigned n = w->levels[level].slots[slot] & FILL, chunks = 0;

    for (const struct wf_wheel_chunk *c = slot_chunk(w->levels[level].slots[slot]); c;
         c = c->next, n = FILL) {
        if (level && ++chunks > SCAN_CHUNKS)
            return slot_number(w, level, slot) << LEVEL_SHIFT(level);
        for (unsigned i = 0; i < n; i++)
            if (in_slot(w, level, slot, c->ev[i]) && c->ev[i]->t_ps < best)
                best = c->ev[i]->t_ps;
    }
    return best;
}

static uint64_t level_min_ps(const struct wf_wheel *w, unsigned level, uint64_t best)
{
    uint64_t base = w->base >> level * WF_WHEEL_LEVEL_BITS, at = base;
    const struct wf_wheel_level *l = &w->levels[level];
    int slot;

    while ((slot = level_find(l, (at + 1) & SLOT_MASK)) >= 0) {
        uint64_t number = slot_number(w, level, (unsigned)slot), t;

        if (number <= at || number << LEVEL_SHIFT(level) >= best) /* around, or too late */
            break;
        t = slot_min_ps(w, level, (unsigned)slot);
        if (t != WF_TIME_NEVER)
            return t < best ? t : best;
        at = number;
    }
    return best;
}

uint64_t wf_wheel_next_ps(const struct wf_wheel *w)
{
    uint64_t best = WF_TIME_NEVER;

    if (!w->count)
        return best;
    for (const struct wf_entry *e = w->due; e < w->due_end && best == WF_TIME_NEVER; e++)
        if (wf_entry_live(e))
            best = e->t_ps;
    for (const struct wf_entry *e = w->heap; e < w->heap + w->n_heap; e++)
        if (e->t_ps < best && wf_entry_live(e))
            best = e->t_ps;
    if (best == WF_TIME_NEVER)
        for (unsigned level = 0; level < WF_WHEEL_LEVELS; level++)
            best = level_min_ps(w, level, best);
    return best;
}
