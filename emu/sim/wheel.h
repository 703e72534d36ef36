/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hierarchical timing wheel: five levels of 2,048 slots, the finest 2,048 ps wide, so that all of
 * uint64 picoseconds fits and what links and queues schedule (some 4 us ahead) needs no second
 * placing. A slot is a list of chunks, each one cache line of event addresses. When the wheel
 * reaches a slot it is gathered into an array, sorted, and taken from there; what is scheduled
 * into that slot meanwhile goes to a small heap beside it.
 *
 * Cancelling only clears the event: its address is dropped when it is met. What is taken is
 * compared with the event as it is now, so that an event that moved, or that is in a slot twice,
 * runs once. All memory is reserved before the run; addresses of cancelled events are swept out
 * when chunks run short.
 */
#ifndef WEFT_SIM_WHEEL_H
#define WEFT_SIM_WHEEL_H

#include "base/assert.h"
#include "sim/entry.h"

enum {
    WF_WHEEL_GRAIN_BITS = 11,
    WF_WHEEL_LEVEL_BITS = 11,
    WF_WHEEL_SLOTS = 1 << WF_WHEEL_LEVEL_BITS,
    WF_WHEEL_LEVELS = 5,
    WF_WHEEL_CHUNK = 7, /* addresses in a chunk, and a mask of how many are */
    WF_WHEEL_AHEAD = 8, /* entries between an event and the one that is prefetched */
};

struct wf_wheel_chunk {
    struct wf_event *ev[WF_WHEEL_CHUNK];
    struct wf_wheel_chunk *next; /* all that follow are full */
};

struct wf_wheel_level {
    uint64_t summary; /* bit i: words[i] is not zero */
    uint64_t words[WF_WHEEL_SLOTS / 64];
    uintptr_t slots[WF_WHEEL_SLOTS]; /* newest chunk | how many addresses are in it; 0: empty */
};

struct wf_wheel {
    struct wf_entry *due, *due_end; /* of the slot at `base`, sorted */
    struct wf_entry *heap;          /* the same, of what was scheduled into it since */
    size_t n_heap;
    uint64_t base;                       /* grains from 0 to the finest slot that `due` holds */
    uint64_t coarse_ps;                  /* start of the nearest slot of the coarser levels */
    uint64_t count;                      /* events that are pending */
    uint64_t reserved;                   /* most of them */
    struct wf_wheel_chunk *free, *fresh; /* used before; never yet */
    /* Set by who knows what an event of the wheel will touch; called a few events before it runs.
     * NULL: nothing. Must change nothing. */
    void (*prefetch)(const struct wf_event *ev);
    struct wf_entry *array, *spare; /* due's, and the sort's other half */
    size_t held, held_max;          /* addresses in slots; cancelled ones too */
    size_t heap_len;
    struct wf_wheel_chunk *chunks;
    uint64_t sweeps;
    struct wf_wheel_level levels[WF_WHEEL_LEVELS];
};

/* Memory for that many pending events; once, for a zeroed wheel. Pages are touched only as they are
 * used. 0 or -ENOMEM. */
int wf_wheel_reserve(struct wf_wheel *w, size_t n_events);
void wf_wheel_fini(struct wf_wheel *w);
/* Schedule; all of *ev is set, t_ps is not before the last event taken. It is not in the wheel. */
void wf_wheel_insert(struct wf_wheel *w, struct wf_event *ev);
/* A lower bound of the next event's time, and its time when it is near (in the finest level, or
 * among few); WF_TIME_NEVER when there is none. */
uint64_t wf_wheel_next_ps(const struct wf_wheel *w);
/* wf_wheel_pop, whatever comes next. */
struct wf_event *wf_wheel_pop_any(struct wf_wheel *w, uint64_t limit_ps, wf_event_fn **fn);

/* Take a scheduled event out. */
static inline void wf_wheel_remove(struct wf_wheel *w, struct wf_event *ev)
{
    WF_ASSERT(wf_event_pending(ev));
    ev->fn = NULL;
    w->count--;
}

/* The entry left the wheel: whether its event is still the same, and then what it calls. */
static inline bool wf_wheel_take(struct wf_wheel *w, const struct wf_entry *e, wf_event_fn **fn)
{
    if (!wf_entry_live(e))
        return false;
    *fn = e->ev->fn;
    e->ev->fn = NULL;
    w->count--;
    return true;
}

/* The next event before limit_ps, taken out, and what it calls; NULL when there is none. */
static inline struct wf_event *wf_wheel_pop(struct wf_wheel *w, uint64_t limit_ps, wf_event_fn **fn)
{
    struct wf_entry *e = w->due;

    if (e != w->due_end && !w->n_heap && e->t_ps < limit_ps) {
        w->due = e + 1;
        if (w->prefetch && w->due_end - e > WF_WHEEL_AHEAD)
            w->prefetch(e[WF_WHEEL_AHEAD].ev);
        if (wf_wheel_take(w, e, fn))
            return e->ev;
    }
    return wf_wheel_pop_any(w, limit_ps, fn);
}

#endif
