/* SPDX-License-Identifier: BSD-3-Clause */
#include "eth/ecn.h"

bool wf_ecn_decide(const struct wf_ecn_cfg *cfg, uint64_t queue_bytes, struct wf_prng *prng)
{
    uint64_t span;

    if (!cfg->enable || queue_bytes < cfg->kmin_bytes)
        return false;
    if (queue_bytes >= cfg->kmax_bytes)
        return true;
    /* p = Pmax * (q - Kmin) / (Kmax - Kmin), as one exact draw below the product's denominator */
    span = cfg->kmax_bytes - cfg->kmin_bytes;
    return wf_prng_below(prng, span * 1000000) < (queue_bytes - cfg->kmin_bytes) * cfg->pmax_ppm;
}
