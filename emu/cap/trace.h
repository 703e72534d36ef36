/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Series of a running fabric as CSV: a line of its manifest that begins with '#', a line with the
 * names of the columns time_ps, object, series and value, then rows in the order of time and, at
 * one instant, of the entries. Each series has a row when it begins, and one at the end of the run.
 *
 *   on: sample   a row each `every` of fabric time: what held before the events of that instant. A
 *                rate is over the interval that ends there, in bit/s or 1/s, rounded; so the sum of
 *                rate times interval is the counter's, with the last row, which ends a short one.
 *   on: change   a row each time the value is another one than before, with the instant from which
 *                it holds. What comes and goes within one picosecond has no row (maxima count it).
 *
 * Samples are stops (fabric/run.h); changes are looked for after each event among the series of the
 * node that it was at. Neither changes anything: a traced run has the digest of one that is not.
 * Rows go through a recorder (recorder.h), so a file does not depend on the number of lcores.
 */
#ifndef WEFT_CAP_TRACE_H
#define WEFT_CAP_TRACE_H

#include "cap/series.h"
#include "fabric/run.h"

struct wf_traces_conf {
    struct wf_fabric *f;
    bool live;           /* never wait for the disk: count what is lost */
    const char *comment; /* the manifest, one line; NULL: none */
    const char *file;    /* instead of what the entries say; NULL: as they say */
    size_t ring_bytes;   /* as in recorder.h */
    uint64_t (*published_ps)(void *arg, unsigned lcore);
    void *published_arg;
};

struct wf_traces_totals {
    uint64_t rows, lost;
    unsigned files;
};

struct wf_traces;

int wf_traces_new(struct wf_traces **out, const struct wf_traces_conf *conf, struct wf_err *err);
/* A series of the object that a walk of the fabric stands at, if it has it. Before the start; cfg
 * and what it points to stay. */
int wf_traces_add(struct wf_traces *t, const struct wf_trace_cfg *cfg,
                  const struct wf_ctr_walk *obj, const char *series, struct wf_err *err);
/* Open the files (a fifo waits for its reader), write the first rows, look from now on. The run is
 * prepared, and has all its other pollers. */
int wf_traces_start(struct wf_traces *t, struct wf_run *run, struct wf_err *err);
/* True once for each file that has failed: print it. The run goes on. */
bool wf_traces_take_error(struct wf_traces *t, struct wf_err *err);
struct wf_traces_totals wf_traces_totals(const struct wf_traces *t);
/* Name of the i-th file; NULL beyond the last. */
const char *wf_traces_file(const struct wf_traces *t, unsigned i);
/* The run is over: last rows, and everything to the files. Before wf_run_fini(). */
void wf_traces_stop(struct wf_traces *t);
void wf_traces_free(struct wf_traces *t); /* may be NULL */

#endif
