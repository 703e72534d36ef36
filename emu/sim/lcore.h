/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An lcore owns a set of nodes and their events. wf_lcore_turn() runs one turn and may be called
 * from any thread: a DPDK lcore, a driver's burst function, a test.
 */
#ifndef WEFT_SIM_LCORE_H
#define WEFT_SIM_LCORE_H

#include "sim/clock.h"
#include "sim/wheel.h"

/* Somebody who looks after each event, and never changes anything. */
struct wf_watch {
    void (*after)(struct wf_watch *w, uint64_t t_ps, uint64_t key);
};

struct wf_lcore {
    uint32_t index; /* in its fabric */
    uint64_t now_ps;
    struct wf_wheel wheel;
    struct wf_clock clock;
    uint64_t events; /* run so far */
    uint64_t last_event_ps;
    void *fabric;           /* who owns it; for the handlers of fabric/ and above */
    struct wf_watch *watch; /* NULL: none, which costs nothing an event. Set between turns */
    uint8_t apart[64];      /* another lcore's may follow in memory: no line is shared */
};

void wf_lcore_init(struct wf_lcore *lc, bool paced, uint32_t scale, uint64_t end_ps);
/* Run all events before limit_ps; after `budget` events (0: no bound) only the rest of that
 * instant. Returns the time before which all have run, now_ps is that of the last one. */
uint64_t wf_lcore_run(struct wf_lcore *lc, uint64_t limit_ps, uint64_t budget);
/* Run all events that the clock lets run; returns how many. Time ends at the clock's limit. */
uint64_t wf_lcore_turn(struct wf_lcore *lc);
/* True when the end of the run is reached, or (virtual time, no end set) nothing is left to do. */
bool wf_lcore_done(const struct wf_lcore *lc);

static inline void wf_lcore_schedule(struct wf_lcore *lc, struct wf_event *ev, uint64_t t_ps,
                                     uint64_t key, wf_event_fn *fn)
{
    WF_ASSERT(!wf_event_pending(ev));
    ev->t_ps = t_ps;
    ev->key = key;
    ev->fn = fn;
    wf_wheel_insert(&lc->wheel, ev);
}

/* The same for an event that is all set: another lcore sent it. */
static inline void wf_lcore_adopt(struct wf_lcore *lc, struct wf_event *ev)
{
    WF_ASSERT(ev->t_ps >= lc->now_ps); /* or a promise was broken */
    wf_wheel_insert(&lc->wheel, ev);
}

static inline void wf_lcore_cancel(struct wf_lcore *lc, struct wf_event *ev)
{
    if (wf_event_pending(ev))
        wf_wheel_remove(&lc->wheel, ev);
}

#endif
