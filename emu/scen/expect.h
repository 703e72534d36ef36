/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Expectations: what a scenario claims, over any counter by name. One is a comparison,
 *
 *   leaf0:p*.prio3.pfc_xoff_tx_frames > 0        each object that the name matches
 *   any(leaf*:p*.ecn_marked_frames) > 0          at least one of them
 *   sum(leaf*.drop_frames) == 0                  sum, min, max, mean, p50 ... p99.9 over them
 *   max(flow.*.completion_ps) < 200us            a flow that never completed counts as infinite
 *   p99(flow.*.slowdown_permille) < 3000         likewise
 *   a.tx_frames ~ b.rx_frames within 5%          also == 37 +- 10
 *   flow.a completes before flow.b               and: flow.* completes
 *
 * at the end of the run, or in the forms by TIME, always and never. Always and never are evaluated
 * at every step that the runner offers and at the end: exact for counters that only count up and
 * for maxima, sampled for levels (`sampled` says so). What matches nothing is an error.
 */
#ifndef WEFT_SCEN_EXPECT_H
#define WEFT_SCEN_EXPECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/counter.h"
#include "scen/diag.h"
#include "scen/yaml.h"

enum wf_expect_mode { WF_EXPECT_END, WF_EXPECT_BY, WF_EXPECT_ALWAYS, WF_EXPECT_NEVER };
enum wf_verdict { WF_VERDICT_PENDING, WF_VERDICT_PASS, WF_VERDICT_FAIL, WF_VERDICT_SKIPPED };

struct wf_expect_cond;

struct wf_expect {
    const char *text; /* as a user would write it, on one line */
    const char *file; /* place */
    int line, col;
    enum wf_expect_mode mode;
    uint64_t by_ps;
    uint32_t share_ppm; /* of the runs that must pass; 100% unless `runs:` says less */
    double over_runs;   /* percentile over the runs' left sides, 0: none */
    bool timing;        /* about time: worth nothing when the run's timing is unreliable */
    bool sampled;       /* always or never about a level */
    struct wf_expect_cond *cond;
    /* the result */
    enum wf_verdict verdict;
    const char *expected; /* on failure: "leaf0:p3.drop_frames == 0" */
    const char *found;    /* "17" */
    const char *place;    /* object name, "" when it is about several */
    uint64_t first_ps;    /* since when it does not hold; the time of evaluation for by */
    uint64_t since_ps;    /* internal: it has been wrong since then */
    bool was_wrong;
    bool over_all; /* the verdict is over several runs */
    /* over several runs */
    uint32_t runs, runs_failed;
    uint64_t failed_seed; /* of the first failed run */
    long double *values;
    uint32_t values_cap;
};

struct wf_expects {
    struct wf_arena *arena;
    struct wf_expect *items;
    size_t n;
    bool lossless_drops_expected;
    bool deadlocks_judged; /* some expectation is about fabric.deadlock_events */
    bool failures_judged;  /* ... about failed_messages */
    uint64_t interval_ps;  /* the runner's step; for the report */
};

/* From the scenario's `expect:` list; all mistakes go to the diags. */
void wf_expects_parse(struct wf_expects *x, const struct wf_yaml_node *list, struct wf_diags *d);
/* Resolve the names against a fabric's counters, by a fresh walk, and forget earlier results (not
 * earlier runs'). */
void wf_expects_bind(struct wf_expects *x, const struct wf_ctr_walk *objs, struct wf_diags *d);
/* The first time after now at which a step is needed beside the regular ones; WF_TIME_NEVER. */
uint64_t wf_expects_next(const struct wf_expects *x, uint64_t now_ps);
/* Evaluate what can be decided or goes wrong now. */
void wf_expects_step(struct wf_expects *x, uint64_t now_ps);
/* The run was interrupted: what is not decided yet is not judged, and counts as skipped. Before
 * wf_expects_end. */
void wf_expects_interrupt(struct wf_expects *x);
/* The last evaluation of a run; gives everything a verdict but what is `over_runs`. */
void wf_expects_end(struct wf_expects *x, uint64_t now_ps, bool timing_reliable);
size_t wf_expects_count(const struct wf_expects *x, enum wf_verdict v);

/* After wf_expects_end of each run of a `repeat:`; then once wf_expects_runs_end for the verdicts
 * over all runs. */
void wf_expects_run_done(struct wf_expects *x, uint64_t seed);
void wf_expects_runs_end(struct wf_expects *x);

const char *wf_verdict_name(enum wf_verdict v);
/* "expected ..., found ..., first at ... (place)" of a failed one; returns buf. */
const char *wf_expect_failure(const struct wf_expect *e, char *buf, size_t len);

#endif
