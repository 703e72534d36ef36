/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As DCTCP does it (RFC 8257), by windows of payload: once a window alpha takes in the share of
 * bytes whose ACKs said CE, and a window with any is followed by one smaller by alpha / 2; one
 * without is followed by one larger by a packet. RoCE has no echo of CE: between weft's own hosts
 * the ACK's BECN bit says that data came with CE since the last ACK, so that an ACK for several
 * packets counts all of them. Alpha is fixed point with 32 bits of fraction.
 * Left out: slow start; the first window is the flow's, or one bandwidth-delay product.
 */
#include "cc/laws.h"

#define ONE ((uint64_t)1 << 32)

struct dctcp_cfg {
    struct wf_cc_fraction g;
    uint64_t window_bytes;
};

struct dctcp {
    uint64_t window_bytes, alpha, alpha_ppm;
    uint64_t acked, marked; /* bytes of this window */
    uint64_t end;           /* it is over when so much is acknowledged */
};

#define ROW(field) offsetof(struct dctcp_cfg, field)
#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))

static const struct wf_cc_key keys[] = {
    {"g", WF_CC_FRACTION, ROW(g), "1/16", WF_CC_GAIN_MIN, WF_CC_ONE, .doc = "Gain of alpha.",
     .source = "RFC 8257, 4.2"},
    {"window", WF_CC_BYTES, ROW(window_bytes), "0", 0, WF_CC_WINDOW_MAX,
     .doc = "The first window; 0: one bandwidth-delay product."},
};

static const struct wf_cc_column columns[] = {
    {"alpha_ppm", offsetof(struct dctcp, alpha_ppm), "DCTCP's alpha"},
    {"dctcp_window_bytes", offsetof(struct dctcp, window_bytes), "DCTCP's window"},
};

static void answer(struct wf_cc *c)
{
    struct dctcp *d = c->state;

    if (d->window_bytes < c->env.mtu_bytes)
        d->window_bytes = c->env.mtu_bytes;
    if (d->window_bytes > c->env.window_bytes)
        d->window_bytes = c->env.window_bytes;
    d->alpha_ppm = wf_cc_scale(d->alpha, 1000000, ONE);
    c->out.window_bytes = d->window_bytes;
}

static void start(struct wf_cc *c)
{
    const struct dctcp_cfg *k = c->cfg;
    struct dctcp *d = c->state;

    d->alpha = ONE;
    d->window_bytes = k->window_bytes
                          ? k->window_bytes
                          : wf_cc_scale(c->env.line_bps, c->env.base_rtt_ps, 8000000000000ull);
    answer(c);
}

static void ack(struct wf_cc *c, const struct wf_cc_ack *a)
{
    const struct dctcp_cfg *k = c->cfg;
    struct dctcp *d = c->state;
    uint64_t share;

    d->acked += a->acked_bytes;
    d->marked += a->ecn ? a->acked_bytes : 0;
    if (a->una_bytes < d->end)
        return;
    share = wf_cc_scale(ONE, d->marked, d->acked);
    d->alpha -= wf_cc_scale(d->alpha, k->g.num, k->g.den);
    d->alpha += wf_cc_scale(share, k->g.num, k->g.den);
    if (d->marked)
        d->window_bytes -= wf_cc_scale(d->window_bytes, d->alpha, 2 * ONE);
    else
        d->window_bytes += c->env.mtu_bytes;
    d->acked = d->marked = 0;
    d->end = a->sent_bytes;
    answer(c);
}

/* Loss, as RFC 5681 has it: half of it. */
static void lost(struct wf_cc *c)
{
    struct dctcp *d = c->state;

    d->window_bytes /= 2;
    answer(c);
}

const struct wf_cc_law wf_cc_dctcp = {
    .abi = WF_CC_ABI,
    .flags = WF_CC_WINDOW | WF_CC_ECHO,
    .name = "dctcp",
    .doc = "Windows by the share of packets with CE, which ACKs echo by their BECN bit.",
    .keys = keys,
    .n_keys = COUNT(keys),
    .cfg_size = sizeof(struct dctcp_cfg),
    .state_size = sizeof(struct dctcp),
    .columns = columns,
    .n_columns = COUNT(columns),
    .on_start = start,
    .on_ack = ack,
    .on_nak = lost,
    .on_timeout = lost,
};
