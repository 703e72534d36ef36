/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TIMELY (Mittal et al., SIGCOMM 2015, algorithm 1): rates by the gradient of the round trip.
 * Below t_low the rate rises, above t_high it falls towards the share t_high / rtt, between them
 * the smoothed gradient decides; after hai_after falls of the round trip in a row it rises hai
 * times as fast. A sample a segment of 16 KB. Signed integers of picoseconds, rates in bit/s.
 */
#include "cc/laws.h"

enum { SEGMENT = 16384 };

struct timely_cfg {
    struct wf_cc_fraction alpha, beta;
    uint64_t t_low_ps, t_high_ps, min_rtt_ps;
    uint64_t delta_bps, min_bps;
    uint32_t hai, hai_after;
};

struct timely {
    uint64_t rate_bps, rtt_ps;
    int64_t diff_ps; /* smoothed difference of round trips */
    uint32_t falls;  /* in a row */
};

#define ROW(field) offsetof(struct timely_cfg, field)
#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))
#define HPCC_CODE  "ns-3 model of HPCC's authors, rdma-hw.cc"
#define PAPER      "Mittal et al., SIGCOMM 2015"

/* alpha and beta are weights: the old difference keeps 1 - alpha, the rate 1 - beta times a share.
 * min_rtt is divided by. */
static const struct wf_cc_key keys[] = {
    {"alpha", WF_CC_FRACTION, ROW(alpha), "0.875", WF_CC_GAIN_MIN, WF_CC_ONE,
     .doc = "Weight of a new difference.", .source = HPCC_CODE ": .875"},
    {"beta", WF_CC_FRACTION, ROW(beta), "0.8", WF_CC_GAIN_MIN, WF_CC_ONE,
     .doc = "Strength of a decrease.", .source = HPCC_CODE ": .8"},
    {"t_low", WF_CC_TIME, ROW(t_low_ps), "50us", 0, WF_CC_TIME_MAX,
     .doc = "Below it the rate only rises.", .source = HPCC_CODE ": Tlow 50 us"},
    {"t_high", WF_CC_TIME, ROW(t_high_ps), "500us", 1000, WF_CC_TIME_MAX,
     .doc = "Above it the rate only falls.", .source = HPCC_CODE ": Thigh 500 us"},
    {"min_rtt", WF_CC_TIME, ROW(min_rtt_ps), "20us", 1000, WF_CC_TIME_MAX,
     .doc = "What the gradient is measured in.", .source = HPCC_CODE ": minRTT 20 us"},
    {"delta", WF_CC_RATE, ROW(delta_bps), "10Mbps", 0, WF_CC_RATE_MAX,
     .doc = "Step of an increase.", .source = PAPER ", recalled: assumed"},
    {"hai", WF_CC_UINT, ROW(hai), "5", 1, WF_CC_TIMES_MAX,
     .doc = "Steps at once after hai_after falls.", .source = PAPER ", recalled: assumed"},
    {"hai_after", WF_CC_UINT, ROW(hai_after), "5", 1, WF_CC_TIMES_MAX,
     .doc = "Falls of the round trip in a row before that.", .source = PAPER ", recalled: assumed"},
    {"min_rate", WF_CC_RATE, ROW(min_bps), "10Mbps", WF_CC_RATE_MIN, WF_CC_RATE_MAX,
     .doc = "The rate does not fall below.", .source = "assumed"},
};

static const struct wf_cc_column columns[] = {
    {"timely_rate_bps", offsetof(struct timely, rate_bps), "TIMELY's rate"},
};

static void answer(struct wf_cc *c)
{
    const struct timely_cfg *k = c->cfg;
    struct timely *t = c->state;

    if (t->rate_bps < k->min_bps)
        t->rate_bps = k->min_bps;
    if (t->rate_bps > c->env.line_bps)
        t->rate_bps = c->env.line_bps;
    c->out.rate_bps = t->rate_bps < c->env.line_bps ? t->rate_bps : 0;
}

static void start(struct wf_cc *c)
{
    struct timely *t = c->state;

    t->rate_bps = c->env.line_bps;
    answer(c);
}

/* rate * (1 - beta * part / whole), not below 0 */
static uint64_t less(const struct timely_cfg *k, uint64_t rate, uint64_t part, uint64_t whole)
{
    uint64_t cut = wf_cc_scale(wf_cc_scale(rate, part, whole), k->beta.num, k->beta.den);

    return cut < rate ? rate - cut : 0;
}

static void smooth(struct timely *t, const struct timely_cfg *k, uint64_t rtt)
{
    int64_t diff = (int64_t)rtt - (int64_t)t->rtt_ps;
    __int128 old = (__int128)t->diff_ps * (k->alpha.den - k->alpha.num);

    t->diff_ps = (int64_t)((old + (__int128)diff * k->alpha.num) / k->alpha.den);
    t->falls = t->diff_ps <= 0 ? t->falls + 1 : 0;
}

static void ack(struct wf_cc *c, const struct wf_cc_ack *a)
{
    const struct timely_cfg *k = c->cfg;
    struct timely *t = c->state;

    if (!a->rtt_ps)
        return;
    if (t->rtt_ps)
        smooth(t, k, a->rtt_ps);
    t->rtt_ps = a->rtt_ps;
    if (a->rtt_ps < k->t_low_ps)
        t->rate_bps += k->delta_bps;
    else if (a->rtt_ps > k->t_high_ps)
        t->rate_bps = less(k, t->rate_bps, a->rtt_ps - k->t_high_ps, a->rtt_ps);
    else if (t->diff_ps <= 0)
        t->rate_bps += k->delta_bps * (t->falls >= k->hai_after ? k->hai : 1);
    else
        t->rate_bps = less(k, t->rate_bps, (uint64_t)t->diff_ps, k->min_rtt_ps);
    answer(c);
}

const struct wf_cc_law wf_cc_timely = {
    .abi = WF_CC_ABI,
    .flags = WF_CC_PACED | WF_CC_RTT,
    .name = "timely",
    .doc = "Rates by the gradient of the round trip.",
    .keys = keys,
    .n_keys = COUNT(keys),
    .cfg_size = sizeof(struct timely_cfg),
    .state_size = sizeof(struct timely),
    .columns = columns,
    .n_columns = COUNT(columns),
    .ack_bytes = SEGMENT,
    .on_start = start,
    .on_ack = ack,
};
