/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock of an lcore: virtual (as fast as it goes) or paced (bound to wall time divided by
 * time_scale). It only ever answers "how far may fabric time go now", which is the one difference
 * between the two kinds of run. Lateness is how far behind wall time an event ran.
 */
#ifndef WEFT_SIM_CLOCK_H
#define WEFT_SIM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { WF_LATENESS_BUCKETS = 64 };

struct wf_clock {
    bool paced;
    bool slip;          /* after an absence stretch fabric time instead of catching up */
    uint32_t scale;     /* fabric runs this many times slower than wall time, >= 1 */
    uint64_t end_ps;    /* end of the run; WF_TIME_NEVER: none */
    uint64_t step_ps;   /* paced: longest step of one turn, so that edges are polled between */
    uint64_t wall0_ns;  /* wall time that fabric time 0 corresponds to */
    uint64_t target_ps; /* where wall time stood at the last pace() */
    uint64_t slipped_ps;
    uint64_t lateness[WF_LATENESS_BUCKETS]; /* events by log2 of their lateness in ps */
    uint64_t late_max_ps;
};

/* scale 0 counts as 1. A paced clock starts at its first pace(). */
void wf_clock_init(struct wf_clock *c, bool paced, uint32_t scale, uint64_t end_ps);
/* Fabric time may go up to (not including) the returned time; now_ps is where it stands. */
uint64_t wf_clock_pace(struct wf_clock *c, uint64_t now_ps);
/* Wall nanoseconds (CLOCK_MONOTONIC) at which the paced clock reaches t_ps. */
uint64_t wf_clock_wall_of(const struct wf_clock *c, uint64_t t_ps);
/* Count n events that ran at fabric time t_ps. */
static inline void wf_clock_late(struct wf_clock *c, uint64_t t_ps)
{
    uint64_t late = c->target_ps > t_ps ? c->target_ps - t_ps : 0;

    c->lateness[late ? 63 - __builtin_clzll(late) : 0]++;
    if (late > c->late_max_ps)
        c->late_max_ps = late;
}
/* The lateness that the given share of events (0..1) stayed below, an upper bound within 2x. */
uint64_t wf_clock_lateness(const struct wf_clock *c, double share);
/* Take over what another clock has counted of lateness, which then begins anew. */
void wf_clock_gather(struct wf_clock *c, struct wf_clock *from);
/* CLOCK_MONOTONIC in nanoseconds: the only place where the fabric reads a clock. */
uint64_t wf_wall_ns(void);
/* Seconds since 1970, for the times in files; nothing in the fabric depends on it. */
int64_t wf_epoch_s(void);

#endif
