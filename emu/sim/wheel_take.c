/* SPDX-License-Identifier: BSD-3-Clause */
/* Taking events out of the wheel in order. See wheel.h. */
#include <string.h>

#include "sim/wheel_priv.h"

enum {
    SCAN_CHUNKS = 64,
    MANY_BYTES = offsetof(struct wf_wheel_chunk, e) + WF_WHEEL_AHEAD * sizeof(struct wf_entry),
};

/* Start of the level's next slot that is not empty; WF_TIME_NEVER: there is none. */
static uint64_t level_next(const struct wf_wheel *w, unsigned level)
{
    uint64_t base = w->base >> level * WF_WHEEL_LEVEL_BITS;
    int found = wf_level_find(&w->levels[level], (base + 1) & WF_SLOT_MASK);

    return found < 0 ? WF_TIME_NEVER
                     : wf_slot_number(w, level, (unsigned)found) << WF_LEVEL_SHIFT(level);
}

/* Spread the slot of a coarser level that starts at base over the finer levels. */
static void cascade_slot(struct wf_wheel *w, unsigned level, uint64_t now)
{
    unsigned slot = (now >> WF_LEVEL_SHIFT(level)) & WF_SLOT_MASK;
    struct wf_entry *end = w->levels[level].slots[slot].end, *next;
    uint64_t ahead;

    wf_slot_clear(w, level, slot);
    for (; end; end = next) {
        struct wf_wheel_chunk *c = wf_chunk_of(end), old = *c;
        size_t n = (size_t)(end - c->e);

        next = c->older;
        w->held -= n;
        wf_chunk_put(w, c);
        for (size_t i = 0; i < n; i++) {
            struct wf_event *ev = old.e[i].ev;
            unsigned to;

            if (!ev->fn || !(ev->key & WF_KEY_COARSE) ||
                ev->t_ps >> WF_LEVEL_SHIFT(level) != now >> WF_LEVEL_SHIFT(level))
                continue;
            to = wf_level_of(w, ev->t_ps, &ahead);
            w->held += !!to;
            if (!to)
                ev->key &= ~WF_KEY_COARSE; /* it may stand in the slot once more */
            wf_slot_push(w, to, (ev->t_ps >> WF_LEVEL_SHIFT(to)) & WF_SLOT_MASK, ev);
        }
    }
}

static void cascade(struct wf_wheel *w)
{
    uint64_t now = w->base << WF_WHEEL_GRAIN_BITS;

    for (unsigned level = WF_WHEEL_LEVELS - 1; level; level--)
        if (now >> WF_LEVEL_SHIFT(level) << WF_LEVEL_SHIFT(level) == now)
            cascade_slot(w, level, now);
    w->coarse_ps = WF_TIME_NEVER;
    for (unsigned level = 1; level < WF_WHEEL_LEVELS; level++) {
        uint64_t start = level_next(w, level);

        w->coarse_ps = start < w->coarse_ps ? start : w->coarse_ps;
    }
}

/* Copy a list, which may have more than one chunk, and give its chunks back. Returns how many. */
static size_t take_list(struct wf_wheel *w, struct wf_entry *end, struct wf_entry *to, size_t most)
{
    size_t n = 0;

    while (end) {
        struct wf_wheel_chunk *c = wf_chunk_of(end);

        WF_ASSERT(n + (size_t)(end - c->e) <= most);
        for (const struct wf_entry *e = c->e; e < end; e++)
            to[n++] = *e;
        end = c->older;
        wf_chunk_put(w, c);
    }
    return n;
}

/* One entry, or two. */
static inline void take_two(const struct wf_entry *from, size_t n, struct wf_entry *to)
{
    bool swapped = n == 2 && wf_entry_before(&from[1], &from[0]);

    to[swapped] = from[0];
    if (n == 2)
        to[!swapped] = from[1];
}

static void sort(struct wf_wheel *w, const struct wf_entry *from, size_t n)
{
    if (n > w->rank_most || !w->rank(from, n, w->line)) {
        memcpy(w->line, from, n * sizeof(*from));
        wf_entry_sort(w->line, w->spare, n);
    }
}

/* The slot at base becomes `due`, in order. */
static void gather(struct wf_wheel *w)
{
    unsigned slot = w->base & WF_SLOT_MASK;
    struct wf_entry *end = w->levels[0].slots[slot].end;
    struct wf_wheel_chunk *c = end ? wf_chunk_of(end) : NULL;
    size_t n = c ? (size_t)(end - c->e) : 0;

    if (c && !c->older) {
        if (n <= 2)
            take_two(c->e, n, w->line);
        else
            sort(w, c->e, n);
        wf_chunk_put(w, c);
    } else if (c) {
        n = take_list(w, end, w->spare, (size_t)(w->line - w->spare));
        sort(w, w->spare, n);
    }
    w->due = w->line;
    w->due_end = w->line + n;
    w->elsewhere -= n;
    wf_slot_clear(w, 0, slot);
}

static inline __attribute__((always_inline)) void prefetch_list(const struct wf_entry *end)
{
    for (unsigned chunks = 0; end && chunks < 8; end = wf_chunk_of(end)->older, chunks++)
        for (const struct wf_entry *e = wf_chunk_of(end)->e; e < end; e++)
            __builtin_prefetch(e->ev);
}

/* The next slot is likely to be gathered soon, the one behind it after that; where slots are short
 * it costs more than it saves. Inlined, or gcc finds that it does nothing. */
static inline __attribute__((always_inline)) void prefetch_next(const struct wf_wheel *w)
{
    const struct wf_wheel_slot *slots = w->levels[0].slots;
    const struct wf_entry *end = slots[(w->base + 1) & WF_SLOT_MASK].end;
    bool many = (w->due_end - w->due >= WF_WHEEL_AHEAD) |
                ((uintptr_t)end % WF_WHEEL_CHUNK_BYTES >= MANY_BYTES); /* in the newest chunk */

    if (many && end) {
        prefetch_list(end);
        __builtin_prefetch((const void *)((uintptr_t)slots[(w->base + 2) & WF_SLOT_MASK].end - 1));
    }
}

/* Of the slot itself, as far as its run will not do it ahead. */
static inline __attribute__((always_inline)) void prefetch_first(const struct wf_wheel *w)
{
    const struct wf_entry *end = w->due + WF_WHEEL_AHEAD, *near = w->due + WF_WHEEL_NEAR;

    if (!w->prefetch)
        return;
    end = end < w->due_end ? end : w->due_end;
    near = near < end ? near : end;
    for (const struct wf_entry *e = w->due; e < end; e++)
        wf_wheel_prefetch(e->ev);
    for (const struct wf_entry *e = w->due; e < near; e++)
        wf_wheel_prefetch_near(e->ev);
}

/* Move base to the next slot that is not empty, if it starts before the limit. */
static bool advance(struct wf_wheel *w, uint64_t limit_ps)
{
    uint64_t start = level_next(w, 0);

    if (w->coarse_ps < start)
        start = w->coarse_ps;
    if (start >= limit_ps || !wf_wheel_count(w)) /* base never passes what may still be scheduled */
        return false;
    w->base = start >> WF_WHEEL_GRAIN_BITS;
    w->next_ps = (w->base + 1) << WF_WHEEL_GRAIN_BITS;
    if (w->coarse_ps == start)
        cascade(w);
    gather(w);
    prefetch_next(w);
    prefetch_first(w);
    return true;
}

bool wf_wheel_ready(struct wf_wheel *w, uint64_t limit_ps, uint64_t most)
{
    while (w->due == w->due_end && !w->n_heap && advance(w, limit_ps))
        ;
    w->stop = w->due;
    if (w->n_heap || w->next_ps - 1 >= limit_ps)
        return false;
    w->stop += most < (uint64_t)(w->due_end - w->due) ? (ptrdiff_t)most : w->due_end - w->due;
    return w->stop > w->due;
}

struct wf_event *wf_wheel_pop(struct wf_wheel *w, uint64_t limit_ps, wf_event_fn **fn)
{
    for (;;) {
        bool heap = w->n_heap && (w->due == w->due_end || wf_entry_before(w->heap, w->due));
        struct wf_entry e;

        if (!heap && w->due == w->due_end) {
            if (!advance(w, limit_ps))
                return NULL;
            continue;
        }
        e = heap ? *w->heap : *w->due;
        if ((w->base << WF_WHEEL_GRAIN_BITS) + wf_entry_within_ps(&e) >= limit_ps)
            return NULL;
        if (heap) {
            wf_entry_heap_take(w->heap, w->n_heap--, 0);
            w->elsewhere--;
        } else {
            w->due++;
        }
        if (e.ev == &w->none) {
            w->elsewhere++;
            continue;
        }
        *fn = e.ev->fn;
        e.ev->fn = NULL;
        return e.ev;
    }
}

/* ---- looking ---- */

static uint64_t slot_min_ps(const struct wf_wheel *w, unsigned level, unsigned slot)
{
    const struct wf_entry *end = w->levels[level].slots[slot].end;
    uint64_t best = WF_TIME_NEVER;
    unsigned chunks = 0;

    for (; end; end = wf_chunk_of(end)->older) {
        if (level && ++chunks > SCAN_CHUNKS)
            return wf_slot_number(w, level, slot) << WF_LEVEL_SHIFT(level);
        for (const struct wf_entry *e = wf_chunk_of(end)->e; e < end; e++)
            if ((!level || wf_coarse_live(w, level, slot, e->ev)) && e->ev->t_ps < best)
                best = e->ev->t_ps;
    }
    return best;
}

static uint64_t level_min_ps(const struct wf_wheel *w, unsigned level, uint64_t best)
{
    uint64_t base = w->base >> level * WF_WHEEL_LEVEL_BITS, at = base;
    const struct wf_wheel_level *l = &w->levels[level];
    int slot;

    while ((slot = wf_level_find(l, (at + 1) & WF_SLOT_MASK)) >= 0) {
        uint64_t number = wf_slot_number(w, level, (unsigned)slot), t;

        if (number <= at || number << WF_LEVEL_SHIFT(level) >= best) /* around, or too late */
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
    uint64_t best = WF_TIME_NEVER, start = w->base << WF_WHEEL_GRAIN_BITS;

    if (!wf_wheel_count(w))
        return best;
    for (const struct wf_entry *e = w->due; e < w->due_end && best == WF_TIME_NEVER; e++)
        if (e->ev != &w->none)
            best = start + wf_entry_within_ps(e);
    if (w->n_heap && start + wf_entry_within_ps(w->heap) < best)
        best = start + wf_entry_within_ps(w->heap);
    if (best == WF_TIME_NEVER)
        for (unsigned level = 0; level < WF_WHEEL_LEVELS; level++)
            best = level_min_ps(w, level, best);
    return best;
}
