/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stream over time, for figures: how much arrived anew, how far its numbers have come, what was
 * sent again. A fixed number of bins; when time outgrows them each two become one.
 */
#ifndef WEFT_ANALYZE_BINS_H
#define WEFT_ANALYZE_BINS_H

#include <stdbool.h>
#include <stdint.h>

enum { WF_AN_BINS = 512 };

struct wf_an_bin {
    uint64_t bytes; /* new payload */
    uint32_t psn;   /* the furthest number since the first one, of this bin's packets */
    uint32_t packets, again;
};

struct wf_an_bins {
    int64_t from_ps, width_ps;
    unsigned n;
    struct wf_an_bin bin[WF_AN_BINS];
};

void wf_an_bins_init(struct wf_an_bins *b, int64_t from_ps);
void wf_an_bins_add(struct wf_an_bins *b, int64_t t_ps, uint32_t psn, uint32_t bytes, bool again);

#endif
