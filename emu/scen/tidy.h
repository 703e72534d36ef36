/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One observation a row, out of the JSON of a run (weft.run/1): its metrics, and its flows. What
 * `weft sweep` writes, `weft plot` draws. A row begins with what the caller writes: settings, seed,
 * status.
 */
#ifndef WEFT_SCEN_TIDY_H
#define WEFT_SCEN_TIDY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

enum { WF_TIDY_METRICS_MAX = 64 };

struct wf_tidy_metric {
    const char *name; /* "completion_p99_ps" */
    double value;
};

/* Metrics of a run in a fixed order; at most WF_TIDY_METRICS_MAX. Those without a value (completion
 * times when no flow has completed) are left out. */
size_t wf_tidy_metrics(const json_t *run, struct wf_tidy_metric *out);
/* What each metric means, for documentation; NULL: there is none of that name. */
const char *wf_tidy_meaning(const char *metric);

/* ",flow,size_bytes,..." and the cells of one flow, each after a comma. */
void wf_tidy_flow_header(FILE *out);
void wf_tidy_flow(const json_t *flow, FILE *out);
/* It lies within its workload's warm-up and cut-off. */
bool wf_tidy_judged(const json_t *flow);

/* An unsigned integer of weft's JSON, where those from 2^53 on are strings; 0 when absent. */
double wf_tidy_number(const json_t *object, const char *key);

#endif
