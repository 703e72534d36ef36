/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a run has shown: as a summary for people, as one JSON object (weft.run/1, schema in
 * docs/schema/) and as JUnit XML of its expectations. All three read the fabric's counters; none
 * computes a verdict of its own.
 */
#ifndef WEFT_SCEN_REPORT_H
#define WEFT_SCEN_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "fabric/deadlock.h"
#include "fabric/pausetree.h"
#include "fabric/run.h"
#include "fabric/stormsource.h"
#include "scen/scenario.h"

struct wf_report {
    struct wf_scenario *scen;
    struct wf_fabric *f;
    const struct wf_deadlocks *deadlocks; /* found while it ran; NULL: nobody looked */
    enum wf_run_end end;
    uint64_t seed;
    bool live, quiet;
    bool interrupted;    /* before it was done: what is not decided yet is not judged */
    bool one_of_several; /* of a `repeat:`: expectations are judged over all runs, not here */
    uint64_t wall_ns;
    const char *command;      /* the command line, for the manifest; may be NULL */
    const char *const *files; /* capture files written, NULL-terminated; may be NULL */
    uint64_t capture_lost;
    const char *const *traces; /* series written, likewise */
    uint64_t trace_lost;
    const char *why; /* decisions written; may be NULL */
    uint64_t why_lost;
    /* filled by wf_report_end */
    struct wf_arena arena;
    bool reliable; /* live: p99 lateness within the scenario's bound */
    uint64_t lateness_p99_ps;
    bool broken; /* an invariant did not hold: our bug */
    struct wf_err broken_err;
    uint64_t lossless_drops; /* that no expectation allows */
    uint32_t idle_faults;    /* injected faults that never hit, and were to */
    uint64_t idle_gone;      /* of these, ended and forgotten */
    struct wf_report_fault *faults;
    uint32_t n_faults;
    struct wf_digest digest;
    struct wf_pause_tree pauses;
    struct wf_storm_sources storms;
    bool deadlocked;              /* some deadlock was found, and no expectation is about that */
    uint32_t unconnected;         /* flows that gave up asking for a connection; likewise */
    const char *unconnected_flow; /* the first of them */
};

/* Settle and check the fabric, give the expectations their verdicts. Before the fabric is freed. */
void wf_report_end(struct wf_report *r);
/* Whether the run failed: an expectation, an unexpected lossless drop, its time limit, a
 * deadlock, a fault that never hit, a flow that got no connection. Not: broken, or interrupted. */
bool wf_report_failed(const struct wf_report *r);
void wf_report_text(struct wf_report *r, FILE *out);
/* The part of it that is about PFC watchdogs; nothing when they saw nothing. */
void wf_report_storms(struct wf_fabric *f, FILE *out);
/* A new object; the caller owns the reference. */
json_t *wf_report_json(struct wf_report *r);
/* report_faults.c: what became of the faults. A fault of the scenario is one, at however many
 * ports.
 */
struct wf_report_fault {
    const struct wf_fault *fault; /* of the first port */
    const char *at;
    uint64_t ports, matched, hits, lacking;
    uint64_t unknown; /* packets of queue pairs beyond those that a port remembers */
};
void wf_report_faults(struct wf_report *r);
void wf_report_faults_text(const struct wf_report *r, FILE *out);
json_t *wf_report_faults_json(const struct wf_report *r);
/* report_pauses.c: the parts of both about pauses: who paused whom, deadlocks, storms. */
void wf_report_pauses_text(const struct wf_report *r, FILE *out);
json_t *wf_report_pauses_json(const struct wf_report *r);
json_t *wf_report_deadlocks_json(const struct wf_report *r);
/* report_headroom.c: lossless groups that refused frames. */
void wf_report_headroom_text(const struct wf_report *r, FILE *out);
json_t *wf_report_headroom_json(const struct wf_report *r);
/* report_controls.c: congestion controls in use; profiles of NICs. */
json_t *wf_report_controls_json(const struct wf_report *r);
json_t *wf_report_nics_json(const struct wf_report *r);
/* The names of flows that were stopped and pass no root: at most max; how many there are. */
uint32_t wf_report_victims(const struct wf_report *r, const char **out, uint32_t max);
void wf_report_junit(const struct wf_report *r, FILE *out);
void wf_report_free(struct wf_report *r);

/* Over all runs of a `repeat:`, after wf_expects_runs_end. */
struct wf_report_runs {
    const struct wf_scenario *scen;
    uint64_t first_seed;
    uint32_t runs, failed; /* failed: for a reason of their own, not for an expectation */
    bool stopped, broken;
    const char *command; /* the command line, for the manifest; may be NULL */
};
bool wf_report_runs_failed(const struct wf_report_runs *r);
void wf_report_runs_text(const struct wf_report_runs *r, FILE *out);
void wf_report_runs_junit(const struct wf_report_runs *r, FILE *out);
/* weft.runs/1; takes over `runs`, an array of weft.run/1. */
json_t *wf_report_runs_json(const struct wf_report_runs *r, json_t *runs);

#endif
