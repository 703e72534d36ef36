/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HPCC (Li et al., SIGCOMM 2019, algorithm 1): a window and a pace from what each switch of the
 * path wrote into the data packets: queue, bytes sent, time, rate. In floating point, as published.
 * T is the base round trip of the path. The first ACK only says where the counters stand.
 * Left out: what the paper says of hosts' own delay, of paths that change, of fast start.
 */
#include "cc/laws.h"

struct hpcc_cfg {
    uint64_t base_rtt_ps, ai_bytes, min_bps;
    uint32_t eta_ppm, max_stage;
};

struct hpcc {
    uint64_t window_bytes, u_ppm; /* traced */
    double w, wc, u;
    uint64_t update_bytes; /* the reference window moves when so much is acknowledged */
    uint64_t rtt_ps;
    uint32_t stage, n;
    struct wf_cc_hop hop[WF_CC_HOPS_MAX];
};

#define ROW(field) offsetof(struct hpcc_cfg, field)
#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))
#define PAPER      "Li et al., SIGCOMM 2019"
#define NS3        "ns-3 model of HPCC's authors, config.txt"

static const struct wf_cc_key keys[] = {
    {"base_rtt", WF_CC_TIME, ROW(base_rtt_ps), "0", 0, WF_CC_TIME_MAX,
     .doc = "T, the same for all flows of a fabric; 0: the flow's own on the empty path.",
     .source = "a choice: the paper sets the largest of the fabric by hand"},
    {"eta", WF_CC_PERCENT, ROW(eta_ppm), "95%", 1, 1000000, .doc = "Target of the use of a link.",
     .source = NS3 ": .95"},
    {"max_stage", WF_CC_UINT, ROW(max_stage), "5", 0, 1000,
     .doc = "Additive steps before the next multiplicative one.",
     .source = PAPER ", recalled: assumed; " NS3 " says 0"},
    {"w_ai", WF_CC_BYTES, ROW(ai_bytes), "80B", 0, WF_CC_WINDOW_MAX,
     .doc = "Additive increase of the window.", .source = PAPER ", recalled: assumed"},
    {"min_rate", WF_CC_RATE, ROW(min_bps), "100Mbps", WF_CC_RATE_MIN, WF_CC_RATE_MAX,
     .doc = "The pace does not fall below.", .source = NS3 ": MIN 100"},
};

static const struct wf_cc_value ns3[] = {
    {"max_stage", "0", NS3},
};
static const struct wf_cc_params sets[] = {
    {"sigcomm19", "The HPCC paper.", NULL, 0},
    {"hpcc-ns3", "The published ns-3 model of its authors.", ns3, COUNT(ns3)},
};

static const struct wf_cc_column columns[] = {
    {"hpcc_window_bytes", offsetof(struct hpcc, window_bytes), "HPCC's window"},
    {"hpcc_use_ppm", offsetof(struct hpcc, u_ppm), "HPCC's U: use of the fullest link"},
};

static double rtt_s(const struct hpcc *h)
{
    return (double)h->rtt_ps * 1e-12;
}

static double line_window(const struct wf_cc *c, const struct hpcc *h)
{
    return (double)c->env.line_bps / 8 * rtt_s(h);
}

static void answer(struct wf_cc *c)
{
    const struct hpcc_cfg *k = c->cfg;
    struct hpcc *h = c->state;
    double most = line_window(c, h), rate;

    h->w = h->w > most ? most : h->w;
    rate = h->w * 8 / rtt_s(h);
    if (rate < (double)k->min_bps)
        rate = (double)k->min_bps;
    h->window_bytes = (uint64_t)h->w + 1;
    h->u_ppm = (uint64_t)(h->u * 1e6);
    /* a packet may go while less than the window is in flight */
    c->out.window_bytes = h->window_bytes + c->env.mtu_bytes - 1;
    c->out.rate_bps = rate < (double)c->env.line_bps ? (uint64_t)rate : 0;
}

static void start(struct wf_cc *c)
{
    const struct hpcc_cfg *k = c->cfg;
    struct hpcc *h = c->state;

    h->rtt_ps = k->base_rtt_ps ? k->base_rtt_ps : c->env.base_rtt_ps;
    if (!h->rtt_ps)
        h->rtt_ps = 1;
    h->w = h->wc = line_window(c, h);
    answer(c);
}

/* MeasureInflight(): the largest use of the links, smoothed over a round trip. */
static void measure(struct hpcc *h, const struct wf_cc_ack *a)
{
    double t = rtt_s(h), u = 0, tau = 0;

    for (uint32_t i = 0; i < a->n_hops; i++) {
        const struct wf_cc_hop *now = &a->hops[i], *was = &h->hop[i];
        uint32_t queue = now->qlen_bytes < was->qlen_bytes ? now->qlen_bytes : was->qlen_bytes;
        double b = (double)now->rate_bps / 8; /* bytes a second */
        double span = (double)(uint32_t)(now->ts_ns - was->ts_ns) * 1e-9, use;

        if (span <= 0 || b <= 0)
            continue;
        use = queue / (b * t) + (double)(uint32_t)(now->tx_bytes - was->tx_bytes) / span / b;
        if (use > u) {
            u = use;
            tau = span;
        }
    }
    if (tau > t)
        tau = t;
    h->u = (1 - tau / t) * h->u + tau / t * u;
}

/* ComputeWind() */
static void compute(struct hpcc *h, const struct hpcc_cfg *k, bool update)
{
    double eta = k->eta_ppm / 1e6;

    if (h->u >= eta || h->stage >= k->max_stage) {
        h->w = h->u > 0 ? h->wc / (h->u / eta) + (double)k->ai_bytes : h->wc;
        if (update)
            h->stage = 0;
    } else {
        h->w = h->wc + (double)k->ai_bytes;
        if (update)
            h->stage++;
    }
}

static void ack(struct wf_cc *c, const struct wf_cc_ack *a)
{
    const struct hpcc_cfg *k = c->cfg;
    struct hpcc *h = c->state;
    bool update = a->una_bytes > h->update_bytes;

    if (!a->n_hops)
        return;
    if (a->n_hops == h->n) {
        measure(h, a);
        compute(h, k, update);
        answer(c);
        if (update)
            h->wc = h->w;
    }
    if (a->n_hops != h->n || update)
        h->update_bytes = a->sent_bytes;
    h->n = a->n_hops;
    for (uint32_t i = 0; i < a->n_hops; i++)
        h->hop[i] = a->hops[i];
}

const struct wf_cc_law wf_cc_hpcc = {
    .abi = WF_CC_ABI,
    .flags = WF_CC_WINDOW | WF_CC_PACED | WF_CC_INT,
    .name = "hpcc",
    .doc = "Windows by what switches write into the packets (INT).",
    .keys = keys,
    .n_keys = COUNT(keys),
    .cfg_size = sizeof(struct hpcc_cfg),
    .params = sets,
    .n_params = COUNT(sets),
    .state_size = sizeof(struct hpcc),
    .columns = columns,
    .n_columns = COUNT(columns),
    .on_start = start,
    .on_ack = ack,
};
