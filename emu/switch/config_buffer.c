/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the keys of a buffer come to: thresholds of a group at a port, headroom that a link needs,
 * and how pools divide the buffer.
 */
#include "eth/headroom.h"
#include "net/link.h"
#include "switch/config.h"

static uint32_t frame_max(const struct wf_link_cfg *link)
{
    return link->mtu + 14 + 8 + WF_FCS_LEN; /* two tags */
}

bool wf_alpha_shift(const struct wf_fraction *alpha, int8_t *shift)
{
    uint32_t num = alpha->num, den = alpha->den;

    if (!num || !den)
        return false;
    for (*shift = 0; num % 2 == 0 && den % 2 == 0;) {
        num /= 2;
        den /= 2;
    }
    while (num % 2 == 0 && *shift < 16) {
        num /= 2;
        ++*shift;
    }
    while (den % 2 == 0 && *shift > -16) {
        den /= 2;
        --*shift;
    }
    return num == den;
}

void wf_pg_bounds(const struct wf_switch_cfg *sw, const struct wf_link_cfg *link,
                  uint64_t peer_response_ps, struct wf_pg_bounds *out)
{
    struct wf_headroom_in in = {
        .rate_bps = link->rate_bps,
        .delay_ps = link->delay_ps,
        .response_ps = peer_response_ps,
        .frame_max = frame_max(link),
        .frame_min = WF_FRAME_MIN,
        .cell = (uint32_t)sw->cell_bytes,
    };

    out->headroom = wf_headroom_bytes(&in);
    in.frame_min = in.frame_max;
    out->headroom_long = wf_headroom_bytes(&in);
}

void wf_pg_resolve(const struct wf_switch_cfg *sw, const struct wf_pg_cfg *pg,
                   const struct wf_link_cfg *link, uint64_t peer_response_ps,
                   struct wf_pg_limits *out)
{
    struct wf_pg_bounds bounds;

    *out = (struct wf_pg_limits){
        .reserved = pg->reserved_bytes,
        .limit = pg->lossless ? pg->xoff_bytes : pg->limit_bytes,
        .xon = pg->xon_bytes == WF_KEY_AUTO ? 0 : pg->xon_bytes,
        .xon_offset = pg->xon_offset_bytes,
    };
    if (!pg->lossless)
        return;
    out->headroom = pg->headroom_bytes;
    if (out->headroom == WF_KEY_AUTO) {
        wf_pg_bounds(sw, link, peer_response_ps, &bounds);
        out->headroom = bounds.headroom;
    }
    if (out->xon_offset == WF_KEY_AUTO)
        out->xon_offset = pg->xon_bytes == WF_KEY_AUTO ? 2ull * frame_max(link) : UINT64_MAX;
}

void wf_carve_port(struct wf_carved *c, const struct wf_switch_cfg *sw,
                   const struct wf_switch_port_cfg *port, const struct wf_pg_limits lim[WF_PGS])
{
    for (unsigned g = 0; g < WF_PGS; g++) {
        unsigned pool = port->pg[g].pool;

        c->used[pool] = true;
        c->reserved[pool] += lim[g].reserved;
        if (!port->pg[g].lossless)
            continue;
        c->pausing[pool]++;
        if (!sw->ingress_pool[pool].headroom_bytes)
            c->headroom[pool] += lim[g].headroom;
    }
    for (unsigned q = 0; q < WF_QUEUES; q++)
        c->queue_reserved[port->queue[q].pool] += port->queue[q].reserved_bytes;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

void wf_pool_sizes(const struct wf_switch_cfg *sw, const struct wf_carved *c,
                   struct wf_pool_sizes *out)
{
    uint64_t left = sw->buffer_bytes, autos = 0;

    for (unsigned i = 0; i < WF_POOLS; i++) {
        const struct wf_pool_cfg *p = &sw->ingress_pool[i];

        left = less(left, c->headroom[i] + p->headroom_bytes);
        /* a pool that nobody uses takes no part of what is left */
        if (p->size_bytes != WF_KEY_AUTO)
            left = less(left, p->size_bytes);
        else
            autos += c->used[i];
    }
    for (unsigned i = 0; i < WF_POOLS; i++) {
        const struct wf_pool_cfg *p = &sw->ingress_pool[i], *e = &sw->egress_pool[i];

        out->size[i] = p->size_bytes;
        if (p->size_bytes == WF_KEY_AUTO)
            out->size[i] = c->used[i] ? left / autos : 0;
        out->shared[i] = less(out->size[i], c->reserved[i]);
        out->egress_size[i] = e->size_bytes == WF_KEY_AUTO ? sw->buffer_bytes : e->size_bytes;
        out->egress_shared[i] = less(out->egress_size[i], c->queue_reserved[i]);
    }
}

bool wf_egress_counts(const struct wf_switch_cfg *sw, const struct wf_switch_port_cfg *port)
{
    bool counts = sw->cell_bytes != 1;

    for (unsigned i = 0; i < WF_QUEUES; i++) {
        const struct wf_queue_cfg *q = &port->queue[i];
        const struct wf_pool_cfg *p = &sw->egress_pool[q->pool];

        counts = counts || q->reserved_bytes || p->mode == WF_POOL_DYNAMIC ||
                 p->size_bytes != WF_KEY_AUTO;
    }
    return counts;
}
