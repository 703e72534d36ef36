/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A congestion control outside of the tree: additive increase, multiplicative decrease of a window
 * by the echo of CE. Build it against the one installed header, and name it in a scenario:
 *
 *     cc -shared -fPIC -I/usr/local/include/weft -o aimd.so aimd.c
 *     cc: {mine: {law: ./aimd.so, gain: 1/2}}
 */
#include "cc.h"

struct aimd_cfg {
    struct wf_cc_fraction gain;
    uint64_t start_bytes;
};

struct aimd {
    uint64_t window_bytes; /* traced */
    uint64_t cut_until;    /* not cut again before so many bytes are acknowledged */
};

static const struct wf_cc_key keys[] = {
    {"gain", WF_CC_FRACTION, offsetof(struct aimd_cfg, gain), "1/2", 1, 1000000,
     .doc = "Share of the window that stays when data came with CE."},
    {"start", WF_CC_BYTES, offsetof(struct aimd_cfg, start_bytes), "64KiB", 1, 1u << 30,
     .doc = "The first window."},
};

static const struct wf_cc_column columns[] = {
    {"aimd_window_bytes", offsetof(struct aimd, window_bytes), "the window"},
};

static void on_start(struct wf_cc *c)
{
    struct aimd *s = c->state;

    s->window_bytes = ((const struct aimd_cfg *)c->cfg)->start_bytes;
    c->out.window_bytes = s->window_bytes;
}

static void on_ack(struct wf_cc *c, const struct wf_cc_ack *a)
{
    const struct aimd_cfg *k = c->cfg;
    struct aimd *s = c->state;

    if (!a->ecn) {
        s->window_bytes += c->env.mtu_bytes * a->acked_bytes / s->window_bytes;
    } else if (a->una_bytes >= s->cut_until) {
        s->window_bytes = s->window_bytes * k->gain.num / k->gain.den;
        s->cut_until = a->sent_bytes;
    }
    if (s->window_bytes < c->env.mtu_bytes)
        s->window_bytes = c->env.mtu_bytes;
    c->out.window_bytes = s->window_bytes;
}

const struct wf_cc_law weft_cc = {
    .abi = WF_CC_ABI,
    .flags = WF_CC_WINDOW | WF_CC_ECHO,
    .name = "aimd",
    .doc = "Additive increase, multiplicative decrease.",
    .keys = keys,
    .n_keys = 2,
    .cfg_size = sizeof(struct aimd_cfg),
    .state_size = sizeof(struct aimd),
    .columns = columns,
    .n_columns = 1,
    .on_start = on_start,
    .on_ack = on_ack,
};
