/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Swift (Kumar et al., SIGCOMM 2020, algorithm 1): a window by the round trip against a target,
 * which has a part for each hop and one that grows as the window shrinks (3.5). In floating point,
 * as published; windows are counted in full packets, and below one packet become a pace.
 * Left out: the split into fabric and end-host delay; a model host has no delay of its own but a
 * pause at its port.
 */
#include <math.h>

#include "cc/laws.h"

struct swift_cfg {
    uint64_t base_ps, hop_ps, range_ps;
    struct wf_cc_fraction ai, beta, max_mdf, min_cwnd, max_cwnd, fs_min, fs_max;
    uint32_t reset_after;
};

struct swift {
    uint64_t window_bytes, target_ps; /* traced */
    double cwnd;                      /* packets */
    uint64_t rtt_ps, decreased_ps;
    uint32_t timeouts; /* in a row */
};

#define ROW(field) offsetof(struct swift_cfg, field)
#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))
#define ASSUMED    "assumed: the paper's are those of its own fabric"

/* Windows are divided by, and their roots: none is 0, and one packet or two lie between the least
 * and the largest of a pair, so that these never meet or change places. beta and max_mdf are shares
 * of the window. */
#define CWND_MIN 100                      /* 0.0001 packets */
#define CWND_MAX (1000000ull * WF_CC_ONE) /* a million */
static const struct wf_cc_key keys[] = {
    {"base_target", WF_CC_TIME, ROW(base_ps), "25us", 0, WF_CC_TIME_MAX,
     .doc = "Target of the round trip.", .source = ASSUMED},
    {"hop_target", WF_CC_TIME, ROW(hop_ps), "1us", 0, WF_CC_TIME_MAX,
     .doc = "More for each link of the way.", .source = ASSUMED},
    {"fs_range", WF_CC_TIME, ROW(range_ps), "50us", 0, WF_CC_TIME_MAX,
     .doc = "Most that a small window adds.", .source = ASSUMED},
    {"fs_min_cwnd", WF_CC_FRACTION, ROW(fs_min), "0.1", CWND_MIN, WF_CC_ONE,
     .doc = "Window in packets at which it adds all of that.", .source = ASSUMED},
    {"fs_max_cwnd", WF_CC_FRACTION, ROW(fs_max), "100", 2 * WF_CC_ONE, CWND_MAX,
     .doc = "Window in packets from which it adds nothing.", .source = ASSUMED},
    {"ai", WF_CC_FRACTION, ROW(ai), "1", 0, WF_CC_TIMES_MILLIONTHS,
     .doc = "Packets that the window grows by in a round trip.", .source = ASSUMED},
    {"beta", WF_CC_FRACTION, ROW(beta), "0.8", 0, WF_CC_ONE, .doc = "Strength of a decrease.",
     .source = ASSUMED},
    {"max_mdf", WF_CC_FRACTION, ROW(max_mdf), "0.5", 0, WF_CC_ONE,
     .doc = "Most that one decrease takes.", .source = ASSUMED},
    {"min_cwnd", WF_CC_FRACTION, ROW(min_cwnd), "0.01", CWND_MIN, WF_CC_ONE,
     .doc = "Least window in packets.", .source = ASSUMED},
    {"max_cwnd", WF_CC_FRACTION, ROW(max_cwnd), "1000", WF_CC_ONE, CWND_MAX,
     .doc = "Largest window in packets.", .source = ASSUMED},
    {"reset_after", WF_CC_UINT, ROW(reset_after), "3", 1, 100,
     .doc = "Timeouts in a row that set the window to the least.", .source = ASSUMED},
};

static const struct wf_cc_column columns[] = {
    {"swift_window_bytes", offsetof(struct swift, window_bytes), "Swift's window"},
    {"swift_target_ps", offsetof(struct swift, target_ps), "Swift's target delay"},
};

static double real(struct wf_cc_fraction f)
{
    return (double)f.num / (double)f.den;
}

static double flow_scaling(const struct swift_cfg *k, double cwnd)
{
    double range = (double)k->range_ps, low = 1 / sqrt(real(k->fs_max));
    double alpha = range / (1 / sqrt(real(k->fs_min)) - low);
    double more = alpha / sqrt(cwnd) - alpha * low;

    return more < 0 ? 0 : more > range ? range : more;
}

static void answer(struct wf_cc *c, double was)
{
    const struct swift_cfg *k = c->cfg;
    struct swift *s = c->state;

    if (s->cwnd < real(k->min_cwnd))
        s->cwnd = real(k->min_cwnd);
    if (s->cwnd > real(k->max_cwnd))
        s->cwnd = real(k->max_cwnd);
    if (s->cwnd < was)
        s->decreased_ps = c->now_ps;
    s->window_bytes = (uint64_t)(s->cwnd * c->env.mtu_bytes) + 1;
    /* a packet may go while less than the window is in flight */
    c->out.window_bytes = s->window_bytes + c->env.mtu_bytes - 1;
    c->out.rate_bps = 0;
    if (s->cwnd < 1 && s->rtt_ps) /* a packet each rtt / cwnd */
        c->out.rate_bps = 1 + (uint64_t)(s->cwnd * 8e12 * c->env.wire_bytes / (double)s->rtt_ps);
}

static void start(struct wf_cc *c)
{
    struct swift *s = c->state;

    s->rtt_ps = c->env.base_rtt_ps;
    s->cwnd = (double)c->env.line_bps * (double)s->rtt_ps / 8e12 / c->env.mtu_bytes + 1;
    answer(c, 0);
}

static bool may_decrease(const struct wf_cc *c, const struct swift *s)
{
    return !s->decreased_ps || c->now_ps - s->decreased_ps >= s->rtt_ps;
}

static void ack(struct wf_cc *c, const struct wf_cc_ack *a)
{
    const struct swift_cfg *k = c->cfg;
    struct swift *s = c->state;
    double was = s->cwnd, acked = (double)a->acked_bytes / c->env.mtu_bytes;
    double target, delay = (double)a->rtt_ps;

    s->timeouts = 0;
    if (!a->rtt_ps)
        return;
    s->rtt_ps = a->rtt_ps;
    target = (double)(k->base_ps + a->hop_count * k->hop_ps) + flow_scaling(k, s->cwnd);
    s->target_ps = (uint64_t)target;
    if (delay < target) {
        s->cwnd += s->cwnd >= 1 ? real(k->ai) / s->cwnd * acked : real(k->ai) * acked;
    } else if (may_decrease(c, s)) {
        double f = 1 - real(k->beta) * ((delay - target) / delay), least = 1 - real(k->max_mdf);

        s->cwnd *= f > least ? f : least;
    }
    answer(c, was);
}

static void nak(struct wf_cc *c)
{
    const struct swift_cfg *k = c->cfg;
    struct swift *s = c->state;
    double was = s->cwnd;

    if (may_decrease(c, s))
        s->cwnd *= 1 - real(k->max_mdf);
    answer(c, was);
}

static void timeout(struct wf_cc *c)
{
    const struct swift_cfg *k = c->cfg;
    struct swift *s = c->state;

    if (++s->timeouts < k->reset_after) {
        nak(c);
        return;
    }
    s->cwnd = 0;
    answer(c, 1);
}

const struct wf_cc_law wf_cc_swift = {
    .abi = WF_CC_ABI,
    .flags = WF_CC_WINDOW | WF_CC_PACED | WF_CC_RTT,
    .name = "swift",
    .doc = "Windows by the round trip against a target that scales.",
    .keys = keys,
    .n_keys = COUNT(keys),
    .cfg_size = sizeof(struct swift_cfg),
    .state_size = sizeof(struct swift),
    .columns = columns,
    .n_columns = COUNT(columns),
    .on_start = start,
    .on_ack = ack,
    .on_nak = nak,
    .on_timeout = timeout,
};
