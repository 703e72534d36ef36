/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What can be written over time, by name. Of any object that has counters (base/counter.h): each
 * counter under its own name; the rate of a count over the interval between two samples, X_bps of
 * X_bytes in bit/s and X_per_s of any other. Of a priority of a port: `paused`, 1 while a received
 * pause stops it, and `pausing`, 1 while the peer's is kept stopped. Names carry their units.
 */
#ifndef WEFT_CAP_SERIES_H
#define WEFT_CAP_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/counter.h"
#include "base/key.h"

enum wf_series_kind {
    WF_SERIES_VALUE, /* a counter as it is */
    WF_SERIES_RATE,  /* of a count, a second */
    WF_SERIES_PAUSED,
    WF_SERIES_PAUSING,
};

struct wf_series {
    enum wf_series_kind kind;
    size_t row;     /* of the counter's table */
    unsigned scale; /* of a rate: 8 for bytes to bits */
};

enum wf_trace_on { WF_TRACE_SAMPLE, WF_TRACE_CHANGE };

/* One entry of a scenario's `trace:`. */
struct wf_trace_cfg {
    struct wf_names at, what; /* patterns of objects; names of series */
    int on;                   /* enum wf_trace_on */
    uint64_t every_ps;        /* between samples; WF_KEY_AUTO: not given */
    const char *file;         /* entries with the same file share it */
};

extern const struct wf_keyset wf_trace_keys;

/* Whether objects of this table have a series of that name. */
bool wf_series_find(const struct wf_ctr_table *t, const char *name, struct wf_series *out);
/* Why it can't be told change by change; NULL: it can. */
const char *wf_series_only_sampled(const struct wf_ctr_table *t, const struct wf_series *s);
/* All names, each once, for "did you mean". */
size_t wf_series_names(struct wf_arena *a, const char ***out);

#endif
