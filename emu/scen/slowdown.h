/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slowdown of flows by their size: completion time over the ideal one of the flow's own path
 * (fabric/ideal.h), by workload and in decades of size. A judged flow that has not completed counts
 * as infinitely slow, so that no tail looks better for having been cut off.
 */
#ifndef WEFT_SCEN_SLOWDOWN_H
#define WEFT_SCEN_SLOWDOWN_H

#include <jansson.h>
#include <stdio.h>

#include "fabric/fabric.h"
#include "scen/scenario.h"

enum { WF_SLOW_BUCKETS = 6, WF_SLOW_RANKS = 4 };

/* Percentiles: 50, 95, 99, 99.9. */
extern const double wf_slow_ranks[WF_SLOW_RANKS];
/* The bucket of a size, and the largest size of a bucket; UINT64_MAX for the last. */
unsigned wf_slow_bucket(uint64_t bytes);
uint64_t wf_slow_limit(unsigned bucket);

struct wf_slow_row {
    const char *work;
    int bucket; /* -1: of all sizes */
    uint32_t flows, completed;
    double mean; /* of those that completed; NAN: none has */
    double ranks[WF_SLOW_RANKS], max;
};

/* Rows of all workloads with judged flows: all sizes, then the buckets that have some. After the
 * fabric is settled. Returns how many. */
uint32_t wf_slow_rows(const struct wf_scenario *s, const struct wf_fabric *f,
                      struct wf_arena *arena, struct wf_slow_row **out);
/* Of workloads with so many flows that a row for each says little. */
void wf_slow_text(const struct wf_scenario *s, const struct wf_fabric *f, FILE *out);
/* A list of all rows. */
json_t *wf_slow_json(const struct wf_scenario *s, const struct wf_fabric *f);

#endif
