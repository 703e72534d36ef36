/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop of a run: turns of the lcore, polls of whatever reaches outside (attachments, control
 * socket) between turns, looks at the state at chosen instants, and sleep when there is nothing to
 * do. The same loop serves virtual and live runs; only the lcore's clock differs.
 */
#ifndef WEFT_FABRIC_RUN_H
#define WEFT_FABRIC_RUN_H

#include <signal.h>

#include "fabric/fabric.h"
#include "sim/wait.h"

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
    bool open_ended; /* real hosts may always send more: only a duration or a stop ends it */
    /* Called between turns, at least every look_every_ps of fabric time in which something
     * happened, at the time that the last call returned (WF_TIME_NEVER: no wish), and at the end.
     * May be NULL. */
    uint64_t (*look)(void *arg, struct wf_fabric *f);
    uint64_t look_every_ps, look_at_ps;
    /* Called about once a second of wall time. May be NULL. */
    void (*progress)(void *arg, struct wf_fabric *f);
    void *arg;
    struct wf_wait wait;
};

/* Prepare: f is set. 0 or -errno. */
int wf_run_init(struct wf_run *r, struct wf_fabric *f);
enum wf_run_end wf_run_loop(struct wf_run *r);
void wf_run_fini(struct wf_run *r);

#endif
