/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ECN marking as RED does it on the instantaneous queue: never below Kmin, always from Kmax on,
 * in between with a probability that rises to Pmax (RFC 3168; the RED of DCQCN's switches).
 * Left out: averaging.
 */
#ifndef WEFT_ETH_ECN_H
#define WEFT_ETH_ECN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"

struct wf_ecn_cfg {
    bool enable;
    uint64_t kmin_bytes, kmax_bytes;
    uint32_t pmax_ppm;
};

/* Whether a packet that sees this many bytes in its queue is to be marked. */
bool wf_ecn_decide(const struct wf_ecn_cfg *cfg, uint64_t queue_bytes, struct wf_prng *prng);

#endif
