/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A window and a rate that never change: what one compares with. Either may be left out. A window
 * of bandwidth-delay products is taken from the path as it is empty (bdp).
 */
#include "cc/laws.h"

struct fixed_cfg {
    uint64_t window_bytes, rate_bps;
    struct wf_cc_fraction bdp;
};

#define ROW(field) offsetof(struct fixed_cfg, field)

static const struct wf_cc_key keys[] = {
    {"window", WF_CC_BYTES, ROW(window_bytes), "0", 0, WF_CC_WINDOW_MAX,
     .doc = "Most payload in flight; 0: see bdp."},
    {"bdp", WF_CC_FRACTION, ROW(bdp), "0", 0, WF_CC_TIMES_MILLIONTHS,
     .doc = "The window as so many products of line rate and base round trip; 0: no limit."},
    {"rate", WF_CC_RATE, ROW(rate_bps), "0", 0, WF_CC_RATE_MAX,
     .doc = "Pace, in bits on the wire; 0: the line's."},
};

static void start(struct wf_cc *c)
{
    const struct fixed_cfg *k = c->cfg;
    uint64_t bdp = wf_cc_scale(c->env.line_bps, c->env.base_rtt_ps, 8000000000000ull);

    c->out.rate_bps = k->rate_bps;
    c->out.window_bytes = k->window_bytes;
    if (!k->window_bytes && k->bdp.num)
        c->out.window_bytes = wf_cc_scale(bdp, k->bdp.num, k->bdp.den) + 1;
}

const struct wf_cc_law wf_cc_fixed = {
    .abi = WF_CC_ABI,
    .flags = WF_CC_WINDOW | WF_CC_PACED,
    .name = "fixed",
    .doc = "A window and a rate that never change.",
    .keys = keys,
    .n_keys = sizeof(keys) / sizeof(keys[0]),
    .cfg_size = sizeof(struct fixed_cfg),
    .on_start = start,
};
