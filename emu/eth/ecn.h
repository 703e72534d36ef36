/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Weighted random early detection of one egress queue, which marks CE (RFC 3168) or drops. Never
 * below Kmin, always from Kmax on, in between with a probability that rises from 0 to Pmax.
 *
 * The length that counts never includes the packet itself: at dequeue it is the bytes left behind
 * it, at enqueue those ahead of it. With `average` n > 0 it is the exponentially weighted average
 * of these lengths, avg += (length - avg) / 2^n for each packet of the queue at the place where it
 * marks (RED; SAI_WRED_ATTR_WEIGHT), in fixed point, less than a byte too long. While the queue is
 * empty the average falls as if for each WF_ECN_IDLE_BYTES that the port could have sent an empty
 * queue had been seen; the last packet's own transmission is part of that time.
 *
 * Left out: colours, thresholds in cells, averages that a timer updates.
 */
#ifndef WEFT_ETH_ECN_H
#define WEFT_ETH_ECN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"

enum { WF_ECN_IDLE_BYTES = 1024, WF_ECN_AVERAGE_MAX = 15 };

struct wf_ecn_cfg {
    bool enable; /* mark what is ECN-capable */
    uint64_t kmin_bytes, kmax_bytes;
    uint32_t pmax_ppm;
    uint32_t average; /* exponent of the weight; 0: the length as it is */
    bool drop;        /* drop what is not marked */
};

/* The average of a queue's length, and since when that is empty. */
struct wf_ecn_avg {
    uint64_t scaled; /* times 2^average */
    uint64_t empty_ps;
};

/* What a decision was taken on: yes when draw < chance, of a draw below `of`; of 0: without one. */
struct wf_ecn_draw {
    uint64_t chance, of, draw;
};
/* Whether a packet that sees this many bytes in its queue is to be marked, or dropped. */
bool wf_ecn_draw(const struct wf_ecn_cfg *cfg, uint64_t queue_bytes, struct wf_prng *prng,
                 struct wf_ecn_draw *draw);
bool wf_ecn_decide(const struct wf_ecn_cfg *cfg, uint64_t queue_bytes, struct wf_prng *prng);

static inline void wf_ecn_avg_sample(struct wf_ecn_avg *avg, unsigned n, uint64_t queue_bytes)
{
    avg->scaled += queue_bytes - (avg->scaled >> n);
}
/* As many samples of an empty queue, at once. */
void wf_ecn_avg_idle(struct wf_ecn_avg *avg, unsigned n, uint64_t samples);

#endif
