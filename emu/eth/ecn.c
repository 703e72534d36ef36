/* SPDX-License-Identifier: BSD-3-Clause */
#include "eth/ecn.h"

bool wf_ecn_draw(const struct wf_ecn_cfg *cfg, uint64_t queue_bytes, struct wf_prng *prng,
                 struct wf_ecn_draw *draw)
{
    *draw = (struct wf_ecn_draw){0};
    if (queue_bytes < cfg->kmin_bytes)
        return false;
    if (queue_bytes >= cfg->kmax_bytes)
        return true;
    /* p = Pmax * (q - Kmin) / (Kmax - Kmin), as one exact draw below the product's denominator */
    draw->of = (cfg->kmax_bytes - cfg->kmin_bytes) * 1000000;
    draw->chance = (queue_bytes - cfg->kmin_bytes) * cfg->pmax_ppm;
    draw->draw = wf_prng_below(prng, draw->of);
    return draw->draw < draw->chance;
}

bool wf_ecn_decide(const struct wf_ecn_cfg *cfg, uint64_t queue_bytes, struct wf_prng *prng)
{
    struct wf_ecn_draw draw;

    return wf_ecn_draw(cfg, queue_bytes, prng, &draw);
}

void wf_ecn_avg_idle(struct wf_ecn_avg *avg, unsigned n, uint64_t samples)
{
    uint64_t base = -(1ull << (64 - n)); /* (1 - 2^-n) times 2^64 */

    if (samples >> n >= 45) { /* (1 - 2^-n)^samples < e^-45 < 2^-64: nothing is left */
        avg->scaled = 0;
        return;
    }
    /* times base^samples, by squaring: each product loses less than 2^-64 of it */
    for (; samples && avg->scaled; samples >>= 1) {
        if (samples & 1)
            avg->scaled = (uint64_t)((unsigned __int128)avg->scaled * base >> 64);
        base = (uint64_t)((unsigned __int128)base * base >> 64);
    }
}
