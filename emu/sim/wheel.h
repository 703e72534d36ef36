/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hierarchical timing wheel: five levels of 2,048 slots, the finest 4,096 ps wide, so that all of
 * uint64 picoseconds fits and what links and queues schedule (some 8 us ahead) needs no second
 * placing. A slot is a list of chunks of entries, as they come. When the wheel reaches a slot of
 * the finest level, it is put in order in an array and run from there: up to `stop` without another
 * question. What is scheduled into that slot meanwhile goes to a small heap beside it.
 *
 * Cancelling takes an entry out of its slot of the finest level, out of the array (where `none`
 * takes its place) or out of the heap: few are cancelled that late, and what is taken needs no
 * check then. In the coarser levels, where timers wait that nearly always move, it only clears the
 * event: its entry is dropped when it is met, and WF_KEY_COARSE in the key of an event says that
 * it has one there. All memory is reserved before the run; entries of cancelled events are swept
 * out of the coarser levels when there are too many.
 */
#ifndef WEFT_SIM_WHEEL_H
#define WEFT_SIM_WHEEL_H

#include "base/assert.h"
#include "sim/entry.h"
#include "sim/rank.h"

enum {
    WF_WHEEL_GRAIN_BITS = WF_GRAIN_BITS,
    WF_WHEEL_LEVEL_BITS = 11,
    WF_WHEEL_SLOTS = 1 << WF_WHEEL_LEVEL_BITS,
    WF_WHEEL_LEVELS = 5,
    WF_WHEEL_CHUNK = 63, /* entries in a chunk */
    WF_WHEEL_CHUNK_BYTES = 1024,
    WF_WHEEL_AHEAD = 8, /* entries between an event and the one that is prefetched ... */
    WF_WHEEL_NEAR = 3,  /* ... and what follows from that */
};

#define WF_KEY_COARSE (1ull << 39)
/* What the finest level holds, from its next slot on. */
#define WF_WHEEL_REACH_PS ((uint64_t)(WF_WHEEL_SLOTS - 1) << WF_WHEEL_GRAIN_BITS)

struct wf_wheel_chunk {
    struct wf_entry *older; /* as in a slot: the end of the next chunk, which is full, or NULL */
    uint64_t unused;
    struct wf_entry e[WF_WHEEL_CHUNK];
};

/* Where the next entry goes: behind the last one of the newest chunk, which is the end of the
 * chunk when it is full. NULL: there is none. */
struct wf_wheel_slot {
    struct wf_entry *end;
};

struct wf_wheel_level {
    struct wf_wheel_slot slots[WF_WHEEL_SLOTS];
    uint64_t summary; /* bit i: words[i] is not zero */
    uint64_t words[WF_WHEEL_SLOTS / 64];
};

struct wf_wheel {
    struct wf_entry *due, *due_end; /* of the slot at `base`, in order */
    struct wf_entry *stop;          /* nothing comes before the entries up to there */
    uint64_t base;                  /* grains from 0 to the finest slot that `due` holds */
    uint64_t next_ps;               /* start of the slot behind it */
    uint64_t elsewhere; /* pending events that are not from `due` on, less `none` there */
    bool prefetch; /* arrivals and transmissions are in objects that begin with wf_event_ahead */
    struct wf_wheel_chunk *free; /* used before */

    struct wf_wheel_chunk *fresh; /* never yet */
    uint64_t reserved;            /* most pending events */
    wf_rank_fn *rank;             /* this machine's best ... */
    size_t rank_most;             /* ... up to how many */
    struct wf_entry *line;        /* due's memory */
    struct wf_entry *spare;       /* of as much */
    uint64_t coarse_ps;           /* start of the nearest slot of the coarser levels */
    struct wf_entry *heap;
    size_t n_heap;
    size_t held, held_max; /* entries in coarse slots; cancelled ones too */
    struct wf_wheel_chunk *chunks;
    void *arrays; /* heap, spare and line */
    uint64_t sweeps;
    struct wf_event none; /* never pending */
    struct wf_wheel_level levels[WF_WHEEL_LEVELS];
};

/* Memory for that many pending events; once, for a zeroed wheel. Pages are touched only as they are
 * used. 0 or -ENOMEM. */
int wf_wheel_reserve(struct wf_wheel *w, size_t n_events);
void wf_wheel_fini(struct wf_wheel *w);
/* wf_wheel_insert, wherever it goes. */
void wf_wheel_insert_any(struct wf_wheel *w, struct wf_event *ev);
/* Take a scheduled event out. */
void wf_wheel_remove(struct wf_wheel *w, struct wf_event *ev);
/* A lower bound of the next event's time, and its time when it is near (in the finest level, or
 * among few); WF_TIME_NEVER when there is none. */
uint64_t wf_wheel_next_ps(const struct wf_wheel *w);
/* The next event before limit_ps, taken out, and what it calls; NULL when there is none. */
struct wf_event *wf_wheel_pop(struct wf_wheel *w, uint64_t limit_ps, wf_event_fn **fn);
/* Set `stop`, before limit_ps and at most `most` entries ahead of `due`. False: at `due`, but
 * wf_wheel_pop may still find an event. */
bool wf_wheel_ready(struct wf_wheel *w, uint64_t limit_ps, uint64_t most);

/* What an event will touch, a few events before it runs. Without a branch on what it is: which of
 * the two is anybody's guess. */
static inline void wf_wheel_prefetch(const struct wf_event *ev)
{
    const struct wf_event_ahead *a = (const struct wf_event_ahead *)ev;

    if (wf_event_kind_of(ev->key) > WF_EV_TRANSMIT)
        return;
    __builtin_prefetch((const char *)ev + 64);
    __builtin_prefetch(a->first);
    __builtin_prefetch((const char *)a->first + 64);
    __builtin_prefetch(a->second);
}

static inline void wf_wheel_prefetch_near(const struct wf_event *ev)
{
    const struct wf_next_ahead *n = ((const struct wf_event_ahead *)ev)->first;

    if (wf_event_kind_of(ev->key) > WF_EV_TRANSMIT || !n)
        return;
    __builtin_prefetch((const char *)ev + (size_t)n->event_line * 64);
    __builtin_prefetch(n->next);
    __builtin_prefetch((const char *)n->next + 64);
}

/* Events that are pending. */
static inline uint64_t wf_wheel_count(const struct wf_wheel *w)
{
    return w->elsewhere + (uint64_t)(w->due_end - w->due);
}

/* Schedule; all of *ev is set, t_ps is not before the last event taken. It is not in the wheel.
 * Most go to a slot of the finest level whose newest chunk has room. */
static inline void wf_wheel_insert(struct wf_wheel *w, struct wf_event *ev)
{
    struct wf_wheel_slot *slot =
        &w->levels[0].slots[(ev->t_ps >> WF_WHEEL_GRAIN_BITS) % WF_WHEEL_SLOTS];
    struct wf_entry *to = slot->end;

    if (ev->t_ps - w->next_ps >= WF_WHEEL_REACH_PS || (uintptr_t)to % WF_WHEEL_CHUNK_BYTES == 0) {
        wf_wheel_insert_any(w, ev);
        return;
    }
    to->order = wf_entry_order(ev->t_ps, ev->key);
    to->ev = ev;
    slot->end = to + 1;
    w->elsewhere++;
}

#endif
