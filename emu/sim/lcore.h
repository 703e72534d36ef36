/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An lcore owns a set of nodes and their events. wf_lcore_turn() runs one turn and may be called
 * from any thread: a DPDK lcore, a driver's burst function, a test.
 *
 * What is here for one lcore keeps the form that many need: a limit that neighbours may lower,
 * and two published times. The mailboxes between lcores are not built yet.
 */
#ifndef WEFT_SIM_LCORE_H
#define WEFT_SIM_LCORE_H

#include <stdatomic.h>

#include "sim/clock.h"
#include "sim/wheel.h"

struct wf_lcore {
    uint64_t now_ps;
    struct wf_wheel wheel;
    struct wf_clock clock;
    uint64_t events; /* run so far */
    uint64_t last_event_ps;
    uint64_t stop_ps; /* no turn goes beyond: where the caller wants to look at the state */
    uint64_t budget;  /* most events of one turn, so that the caller sees signals; 0: no bound */
    void *fabric;     /* who owns it; for the handlers of fabric/ and above */
    _Atomic uint64_t published_ps; /* nothing before this will be sent any more */
    _Atomic uint64_t next_ps;      /* lower bound of the next event's time */
};

void wf_lcore_init(struct wf_lcore *lc, bool paced, uint32_t scale, uint64_t end_ps);
/* Run all events that are due; returns how many ran. Fabric time ends at the turn's limit. */
uint64_t wf_lcore_turn(struct wf_lcore *lc);
/* True when the end of the run is reached, or (virtual time, no end set) nothing is left to do. */
bool wf_lcore_done(const struct wf_lcore *lc);

static inline void wf_lcore_schedule(struct wf_lcore *lc, struct wf_event *ev, uint64_t t_ps,
                                     uint64_t key, wf_event_fn *fn)
{
    ev->t_ps = t_ps;
    ev->key = key;
    ev->fn = fn;
    wf_wheel_insert(&lc->wheel, ev);
}

static inline void wf_lcore_cancel(struct wf_lcore *lc, struct wf_event *ev)
{
    if (wf_event_pending(ev))
        wf_wheel_remove(&lc->wheel, ev);
}

#endif
