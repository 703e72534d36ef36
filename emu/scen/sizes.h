/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distributions of the sizes of flows: cumulative shares at some sizes, and linear in bytes between
 * two of them, since the publications give no more. Some are known by name; others are files of
 * lines "BYTES SHARE", the shares in percent up to 100 or as fractions up to 1.
 */
#ifndef WEFT_SCEN_SIZES_H
#define WEFT_SCEN_SIZES_H

#include "base/arena.h"
#include "base/err.h"
#include "base/prng.h"

struct wf_sizes_point {
    uint64_t bytes;
    uint32_t share_ppb; /* share of the flows that are no longer, in 10^-9 */
};

struct wf_sizes {
    const char *name;
    const char *source;
    const struct wf_sizes_point *v;
    uint32_t n;
};

/* By name; NULL: none. */
const struct wf_sizes *wf_sizes_find(const char *name);
/* The i-th known one; NULL: no more. */
const struct wf_sizes *wf_sizes_known(size_t i);
int wf_sizes_parse(struct wf_sizes *out, struct wf_arena *arena, const char *file, const char *text,
                   size_t len, struct wf_err *err);

uint64_t wf_sizes_draw(const struct wf_sizes *z, struct wf_prng *p);
double wf_sizes_mean_bytes(const struct wf_sizes *z);
/* Mean time between two flows when their bytes are that share of the rate; load_ppm > 0. */
uint64_t wf_sizes_interval_ps(const struct wf_sizes *z, uint64_t rate_bps, uint32_t load_ppm);

#endif
