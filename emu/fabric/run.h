/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop of a run: turns of the fabric, polls of whatever reaches outside (attachments, control
 * socket) between turns, looks at the state at chosen instants, and sleep when there is nothing to
 * do. The same loop serves virtual and live runs; only the clock differs.
 *
 * What acts on the whole fabric from outside the order of events is a stop: it acts while fabric
 * time stands at its instant, every earlier event has run and no later one has.
 */
#ifndef WEFT_FABRIC_RUN_H
#define WEFT_FABRIC_RUN_H

#include <signal.h>

#include "fabric/fabric.h"
#include "sim/wait.h"

/* At one instant they act in this order, and those of a kind in the order in which they came. */
enum wf_stops_kind {
    WF_STOPS_TIMELINE, /* what the scenario says */
    WF_STOPS_INPUT,    /* what came from outside when it was recorded */
    WF_STOPS_SAMPLE,   /* from here on they only look: no run goes on for their sake */
    WF_STOPS_LOOK,
};

/* Something that acts at chosen instants of fabric time. */
struct wf_stops {
    struct wf_stops *next;
    uint64_t at_ps; /* its next instant; WF_TIME_NEVER: none. Never before now */
    /* Every lcore stands at at_ps. Sets at_ps anew, later than it was. */
    void (*act)(struct wf_stops *s, struct wf_fabric *f);
    enum wf_stops_kind kind;
};

void wf_fabric_add_stops(struct wf_fabric *f, struct wf_stops *s);
void wf_fabric_remove_stops(struct wf_fabric *f, struct wf_stops *s);
/* The next instant of any stop up to this kind. */
uint64_t wf_fabric_next_stop_ps(const struct wf_fabric *f, enum wf_stops_kind last);
/* Run up to until_ps, and no further than the clock allows: all events before it, and the stops up
 * to it. Fabric time stands there, or earlier when a turn's budget of events is used up, but never
 * in the middle of an instant. Returns how many events ran and stops acted. */
uint64_t wf_fabric_turn(struct wf_fabric *f, uint64_t until_ps);

/* Something outside that is asked between turns, at one instant of fabric time. */
struct wf_poller {
    struct wf_poller *next;
    /* Returns how much work was done; *next_ns (in: UINT64_MAX) is the wall time (CLOCK_MONOTONIC)
     * by which it wants to be asked again. */
    unsigned (*poll)(struct wf_poller *p, struct wf_fabric *f, uint64_t *next_ns);
};

enum wf_run_end {
    WF_RUN_DONE,       /* its duration is over, or nothing is left to do */
    WF_RUN_STOPPED,    /* by a signal or a command */
    WF_RUN_TIME_LIMIT, /* it should have been done by then and was not */
};

struct wf_run {
    struct wf_fabric *f;
    struct wf_poller *pollers;
    const volatile sig_atomic_t *stop; /* not zero: end the run; may be NULL */
    bool stop_asked;                   /* the same, by a command */
    uint64_t stop_at_ps;               /* the same, at this instant; WF_TIME_NEVER: no such wish */
    bool open_ended; /* real hosts may always send more: only a duration or a stop ends it */
    /* Called at each multiple of look_every_ps before which something happened, at the time that
     * the last call returned (WF_TIME_NEVER: no wish), and at the end. May be NULL. */
    uint64_t (*look)(void *arg, struct wf_fabric *f);
    uint64_t look_every_ps, look_at_ps;
    struct wf_stops looks;
    /* Called about once a second of wall time. May be NULL. */
    void (*progress)(void *arg, struct wf_fabric *f);
    void *arg;
    struct wf_wait wait;
};

/* Prepare: f is set. 0 or -errno. */
int wf_run_init(struct wf_run *r, struct wf_fabric *f);
/* Stops besides the scenario's timeline; they end with the fabric. */
void wf_run_add_stops(struct wf_run *r, struct wf_stops *s);
enum wf_run_end wf_run_loop(struct wf_run *r);
void wf_run_fini(struct wf_run *r);

#endif
