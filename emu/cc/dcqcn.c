/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCQCN's reaction point (Zhu et al., SIGCOMM 2015, section 3.1, with the parameters that NICs have
 * by now). A CNP sets the target to the current rate, cuts the rate by alpha / 2 and lets alpha
 * grow; without CNPs alpha decays each alpha_period, and the rate comes back by steps of a timer
 * and of a byte counter: `threshold` halvings of the distance to the target (fast recovery), then
 * the target rises by ai_rate, and once both counters have passed the threshold by hai_rate.
 * Alpha is fixed point with 32 bits of fraction. Its decay between two CNPs is computed when
 * somebody needs it; what is traced is the value at the last CNP.
 * Left out: rate_to_set_on_first_cnp and rpg_max_rate, which are off in every published set.
 */
#include "cc/laws.h"

#define ONE ((uint64_t)1 << 32)

struct dcqcn_cfg {
    struct wf_cc_fraction g, initial_alpha;
    uint64_t alpha_period_ps, timer_ps, byte_counter, reduce_period_ps;
    uint64_t ai_bps, hai_bps, min_bps;
    uint32_t threshold, min_dec_ppm;
    bool clamp_target, clamp_after_timer;
};

struct dcqcn {
    uint64_t alpha;     /* of ONE */
    uint64_t alpha_at;  /* since when it has this value */
    uint64_t alpha_ppm; /* traced */
    uint64_t rate_bps, target_bps;
    uint64_t timer_at;  /* next step of the timer; 0: at line rate, nothing to come back from */
    uint64_t reduce_at; /* not reduced again before */
    uint64_t bytes;     /* of the byte counter */
    uint32_t by_time, by_bytes; /* steps since the last CNP */
    bool began;                 /* a CNP has come */
};

#define ROW(field) offsetof(struct dcqcn_cfg, field)
#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))
#define MLXCONFIG  "mlxconfig query of a ConnectX, published"
#define DOCA       "NVIDIA, DCQCN parameters (DOC-2790, DOCA)"

/* Alpha is a share, and so are its gain and its first value: beyond 1 what is left of it or of the
 * rate would be less than nothing. Periods begin with 1 ns: a timer may not stand still. */
static const struct wf_cc_key keys[] = {
    {"g", WF_CC_FRACTION, ROW(g), "5/1024", WF_CC_GAIN_MIN, WF_CC_ONE, .doc = "Gain of alpha.",
     .source = DOCA ": dce_tcp_g 1019 of 1024"},
    {"initial_alpha", WF_CC_FRACTION, ROW(initial_alpha), "1023/1024", 0, WF_CC_ONE,
     .doc = "Alpha at the first CNP.", .source = DOCA ": initial_alpha_value 1023 of 1024"},
    {"alpha_period", WF_CC_TIME, ROW(alpha_period_ps), "1us", 1000, WF_CC_TIME_MAX,
     .doc = "Alpha decays once in this time without CNPs.", .source = DOCA ": dce_tcp_rtt"},
    {"timer", WF_CC_TIME, ROW(timer_ps), "300us", 1000, WF_CC_TIME_MAX,
     .doc = "A step of increase each so much time after the last CNP.",
     .source = MLXCONFIG ": RPG_TIME_RESET 300"},
    {"byte_counter", WF_CC_BYTES, ROW(byte_counter), "32767B", .max = 1ull << 40,
     .doc = "A step of increase each so many payload bytes sent; 0: none.",
     .source = MLXCONFIG ": RPG_BYTE_RESET 32767"},
    {"threshold", WF_CC_UINT, ROW(threshold), "1", 1, 31, .doc = "Steps of fast recovery.",
     .source = MLXCONFIG ": RPG_THRESHOLD 1"},
    {"ai_rate", WF_CC_RATE, ROW(ai_bps), "5Mbps", 0, WF_CC_RATE_MAX,
     .doc = "Additive increase of the target.", .source = MLXCONFIG ": RPG_AI_RATE 5"},
    {"hai_rate", WF_CC_RATE, ROW(hai_bps), "50Mbps", 0, WF_CC_RATE_MAX,
     .doc = "Hyper increase of the target.", .source = MLXCONFIG ": RPG_HAI_RATE 50"},
    {"min_rate", WF_CC_RATE, ROW(min_bps), "1Mbps", WF_CC_RATE_MIN, WF_CC_RATE_MAX,
     .doc = "The rate does not fall below.", .source = DOCA ": rpg_min_rate 1"},
    {"min_dec_fac", WF_CC_PERCENT, ROW(min_dec_ppm), "50%", 0, WF_CC_ONE,
     .doc = "One cut leaves at least so much of the rate.", .source = DOCA ": rpg_min_dec_fac 50"},
    {"reduce_period", WF_CC_TIME, ROW(reduce_period_ps), "4us", 0, WF_CC_TIME_MAX,
     .doc = "The rate is cut at most once in this time.",
     .source = DOCA ": rate_reduce_monitor_period 4"},
    {"clamp_target", WF_CC_BOOL, ROW(clamp_target), "false",
     .doc = "Each cut sets the target to the current rate.",
     .source = MLXCONFIG ": CLAMP_TGT_RATE 0"},
    {"clamp_after_timer", WF_CC_BOOL, ROW(clamp_after_timer), "true",
     .doc = "A cut does so when the timer has had a step since the last one.",
     .source = MLXCONFIG ": CLAMP_TGT_RATE_AFTER_TIME_INC 1"},
};

#define NS3_DCQCN "ns-3 model of DCQCN's authors, config.txt"
#define PAPER     "Zhu et al., SIGCOMM 2015, as quoted elsewhere"
#define RECALLED  "assumed: Zhu et al., SIGCOMM 2015, recalled"
static const struct wf_cc_value sigcomm15[] = {
    {"g", "1/256", PAPER},
    {"initial_alpha", "1", RECALLED},
    {"alpha_period", "55us", PAPER},
    {"timer", "55us", PAPER},
    {"byte_counter", "10MB", "as a published validation of DCQCN has it"},
    {"threshold", "5", NS3_DCQCN ": FAST_RECOVERY 5"},
    {"ai_rate", "40Mbps", PAPER},
    {"hai_rate", "40Mbps", "assumed: as ai_rate"},
    {"min_rate", "10Mbps", "assumed"},
    {"min_dec_fac", "50%", "assumed: alpha / 2 is never more"},
    {"reduce_period", "0", RECALLED ": each CNP cuts"},
    {"clamp_target", "true", RECALLED},
};

static const struct wf_cc_value ns3_dcqcn[] = {
    {"g", "1/256", "assumed: as in the paper"},
    {"initial_alpha", "1", "assumed: as in the paper"},
    {"alpha_period", "55us", NS3_DCQCN ": ALPHA_RESUME 55"},
    {"timer", "60us", NS3_DCQCN ": RP_TIMER 60"},
    {"byte_counter", "10MB", "assumed: as in the paper"},
    {"threshold", "5", NS3_DCQCN ": FAST_RECOVERY 5"},
    {"ai_rate", "40Mbps", NS3_DCQCN ": AI 40"},
    {"hai_rate", "200Mbps", NS3_DCQCN ": HAI 200"},
    {"min_rate", "10Mbps", "assumed"},
    {"reduce_period", "0", "assumed: as in the paper"},
    {"clamp_target", "true", "assumed: as in the paper"},
};

#define NS3_HPCC "ns-3 model of HPCC's authors, config.txt"
static const struct wf_cc_value ns3_hpcc[] = {
    {"g", "1/256", NS3_HPCC},
    {"initial_alpha", "1", "assumed: as in the DCQCN paper"},
    {"alpha_period", "1us", NS3_HPCC ": alpha 1 us"},
    {"timer", "900us", NS3_HPCC ": RP_TIMER 900"},
    {"byte_counter", "0", "assumed: steps by the timer alone"},
    {"threshold", "1", "assumed: as firmware's"},
    {"ai_rate", "50Mbps", NS3_HPCC ": AI 50"},
    {"hai_rate", "100Mbps", NS3_HPCC ": HAI 100"},
    {"min_rate", "100Mbps", NS3_HPCC ": MIN 100"},
    {"reduce_period", "4us", NS3_HPCC ": rate decrease 4 us"},
    {"clamp_target", "false", "assumed: as firmware's"},
};

#define OTG "Open Traffic Generator's rocev2.yaml, defaults"
static const struct wf_cc_value otg[] = {
    {"g", "5/1024", OTG ": alpha_g 1019"}, {"initial_alpha", "1023/1024", OTG},
    {"alpha_period", "21us", OTG},         {"timer", "250us", OTG},
    {"byte_counter", "32767B", OTG},       {"reduce_period", "21us", OTG},
};

#define IRDMA "irdma, driver of the E810, irdma_dcqcn_tunables_init(): "
static const struct wf_cc_value irdma[] = {
    {"g", "1/256", "assumed: as in the DCQCN paper"},
    {"initial_alpha", "1", "assumed: as in the DCQCN paper"},
    {"alpha_period", "55us", "assumed: as its dcqcn_T"},
    {"timer", "55us", IRDMA "dcqcn_T 0x37"},
    {"byte_counter", "150kB", IRDMA "dcqcn_B 0x249f0"},
    {"threshold", "5", IRDMA "dcqcn_F 5"},
    {"ai_rate", "40Mbps", "assumed; " IRDMA "dcqcn_rai_factor 1, of a size it does not tell"},
    {"hai_rate", "200Mbps", "assumed; " IRDMA "dcqcn_hai_factor 5, five times dcqcn_rai_factor"},
    {"min_rate", "10Mbps", "assumed; " IRDMA "dcqcn_min_rate 0, none"},
    {"min_dec_fac", "1%", IRDMA "dcqcn_min_dec_factor 1"},
    {"reduce_period", "50us", IRDMA "dcqcn_rreduce_mperiod 50"},
    {"clamp_target", "true", "assumed: as in the DCQCN paper"},
};

static const struct wf_cc_params sets[] = {
    {"nvidia-fw", "Firmware defaults of ConnectX NICs, which the keys' defaults are.", NULL, 0},
    {"sigcomm15", "The DCQCN paper.", sigcomm15, COUNT(sigcomm15)},
    {"dcqcn-ns3", "The published ns-3 model of its authors.", ns3_dcqcn, COUNT(ns3_dcqcn)},
    {"hpcc-ns3", "DCQCN as HPCC's authors ran it beside HPCC.", ns3_hpcc, COUNT(ns3_hpcc)},
    {"irdma", "Defaults of the driver of Intel's E810, off unless it is told.", irdma,
     COUNT(irdma)},
    {"otg", "Defaults of a traffic generator's interface.", otg, COUNT(otg)},
};

static const struct wf_cc_column columns[] = {
    {"alpha_ppm", offsetof(struct dcqcn, alpha_ppm), "DCQCN's alpha as the last CNP left it"},
    {"current_rate_bps", offsetof(struct dcqcn, rate_bps), "DCQCN's current rate"},
    {"target_rate_bps", offsetof(struct dcqcn, target_bps), "DCQCN's target rate"},
};

static void answer(struct wf_cc *c)
{
    struct dcqcn *d = c->state;
    bool full = d->rate_bps >= c->env.line_bps;

    if (full) {
        d->rate_bps = c->env.line_bps;
        d->timer_at = 0;
    }
    c->out.rate_bps = full ? 0 : d->rate_bps;
    c->out.timer_ps = d->timer_at ? d->timer_at : WF_CC_NEVER;
}

static void start(struct wf_cc *c)
{
    const struct dcqcn_cfg *k = c->cfg;
    struct dcqcn *d = c->state;

    d->rate_bps = d->target_bps = c->env.line_bps;
    d->alpha = wf_cc_scale(ONE, k->initial_alpha.num, k->initial_alpha.den);
    d->alpha_ppm = wf_cc_scale(d->alpha, 1000000, ONE);
    answer(c);
}

static uint64_t part(uint64_t alpha, struct wf_cc_fraction g)
{
    return wf_cc_scale(alpha, g.num, g.den);
}

/* Alpha's decay since alpha_at, in whole periods. */
static void decay(struct wf_cc *c)
{
    const struct dcqcn_cfg *k = c->cfg;
    struct dcqcn *d = c->state;

    while (c->now_ps - d->alpha_at >= k->alpha_period_ps) {
        uint64_t less = part(d->alpha, k->g);

        if (!less) { /* no more bits of it */
            d->alpha_at = c->now_ps;
            return;
        }
        d->alpha -= less;
        d->alpha_at += k->alpha_period_ps;
    }
}

static void cut(struct wf_cc *c)
{
    const struct dcqcn_cfg *k = c->cfg;
    struct dcqcn *d = c->state;
    uint64_t least = wf_cc_scale(d->rate_bps, k->min_dec_ppm, 1000000);
    uint64_t rate = d->rate_bps - wf_cc_scale(d->rate_bps, d->alpha, 2 * ONE);

    if (k->clamp_target || !d->began || (k->clamp_after_timer && d->by_time))
        d->target_bps = d->rate_bps;
    rate = rate > least ? rate : least;
    d->rate_bps = rate > k->min_bps ? rate : k->min_bps;
    d->reduce_at = c->now_ps + k->reduce_period_ps;
}

static void cnp(struct wf_cc *c)
{
    const struct dcqcn_cfg *k = c->cfg;
    struct dcqcn *d = c->state;

    if (d->began)
        decay(c);
    if (c->now_ps >= d->reduce_at)
        cut(c);
    d->began = true;
    d->alpha += part(ONE - d->alpha, k->g);
    d->alpha_at = c->now_ps;
    d->alpha_ppm = wf_cc_scale(d->alpha, 1000000, ONE);
    d->by_time = d->by_bytes = 0;
    d->bytes = 0;
    d->timer_at = c->now_ps + k->timer_ps;
    answer(c);
}

static void increase(struct wf_cc *c)
{
    const struct dcqcn_cfg *k = c->cfg;
    struct dcqcn *d = c->state;
    /* without a byte counter the timer's steps count for both */
    uint32_t b = k->byte_counter ? d->by_bytes : d->by_time, t = d->by_time;
    uint32_t most = t > b ? t : b, least = t < b ? t : b;

    if (least > k->threshold)
        d->target_bps += k->hai_bps;
    else if (most > k->threshold)
        d->target_bps += k->ai_bps;
    if (d->target_bps > c->env.line_bps)
        d->target_bps = c->env.line_bps;
    /* rounded up, so that it arrives */
    d->rate_bps = d->rate_bps / 2 + d->target_bps / 2 + ((d->rate_bps | d->target_bps) & 1);
}

static void timer(struct wf_cc *c)
{
    const struct dcqcn_cfg *k = c->cfg;
    struct dcqcn *d = c->state;

    d->by_time++;
    d->timer_at = c->now_ps + k->timer_ps;
    increase(c);
    answer(c);
}

static void sent(struct wf_cc *c, uint32_t payload_bytes, bool again)
{
    const struct dcqcn_cfg *k = c->cfg;
    struct dcqcn *d = c->state;

    (void)again;
    if (!d->timer_at || !k->byte_counter)
        return;
    d->bytes += payload_bytes;
    if (d->bytes < k->byte_counter)
        return;
    d->bytes -= k->byte_counter;
    d->by_bytes++;
    increase(c);
    answer(c);
}

const struct wf_cc_law wf_cc_dcqcn = {
    .abi = WF_CC_ABI,
    .flags = WF_CC_PACED | WF_CC_CNP,
    .name = "dcqcn",
    .doc = "Rates by CNPs: cut by alpha, recover by timer and byte counter.",
    .keys = keys,
    .n_keys = COUNT(keys),
    .cfg_size = sizeof(struct dcqcn_cfg),
    .params = sets,
    .n_params = COUNT(sets),
    .state_size = sizeof(struct dcqcn),
    .columns = columns,
    .n_columns = COUNT(columns),
    .on_start = start,
    .on_send = sent,
    .on_cnp = cnp,
    .on_timer = timer,
};
