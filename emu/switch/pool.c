/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a switch's buffer is divided: each port's thresholds once its link is known, and what the
 * pools share. A link that becomes slower needs less headroom, but what was sent before is still on
 * its way; one that becomes faster may have a peer that still stops at its old pace. So a group has
 * the most of all that until it is empty and what was sent at the old rate has landed.
 */
#include "base/assert.h"
#include "switch/switch.h"

static const struct wf_switch_port_cfg *cfg_of(const struct wf_switch *sw, uint16_t port)
{
    return wf_switch_class(sw, &sw->node.ports[port])->cfg;
}

static void egress_ready(struct wf_switch *sw, uint16_t port)
{
    const struct wf_switch_port_cfg *c = cfg_of(sw, port);

    for (unsigned i = 0; i < WF_QUEUES; i++) {
        struct wf_egress *q = &sw->egress[port][i];

        q->pool = (uint8_t)c->queue[i].pool;
        q->reserved = c->queue[i].reserved_bytes;
        q->limit = c->queue[i].limit_bytes;
        q->dynamic = sw->cfg.egress_pool[q->pool].mode == WF_POOL_DYNAMIC;
        WF_ASSERT(wf_alpha_shift(&c->queue[i].alpha, &q->shift));
    }
}

/* What does not depend on links. */
static void carve(struct wf_switch *sw)
{
    struct wf_pg_limits lim[WF_PGS] = {{0}};

    for (uint16_t i = 0; i < sw->node.n_ports; i++) {
        for (unsigned g = 0; g < WF_PGS; g++)
            lim[g].reserved = cfg_of(sw, i)->pg[g].reserved_bytes;
        wf_carve_port(&sw->carved, &sw->cfg, cfg_of(sw, i), lim);
    }
}

void wf_switch_buffer_ready(struct wf_switch *sw, struct wf_arena *arena)
{
    bool counts = false;

    sw->was = WF_ARENA_ARRAY(arena, struct wf_was, sw->node.n_ports);
    carve(sw);
    for (uint16_t i = 0; i < sw->node.n_ports; i++)
        counts = counts || wf_egress_counts(&sw->cfg, cfg_of(sw, i));
    if (!counts)
        return;
    sw->egress = wf_arena_alloc_line(arena, sizeof(*sw->egress) * sw->node.n_ports);
    for (uint16_t i = 0; i < sw->node.n_ports; i++)
        egress_ready(sw, i);
}

static void resize(struct wf_switch *sw)
{
    struct wf_pool_sizes sizes;

    wf_pool_sizes(&sw->cfg, &sw->carved, &sizes);
    for (unsigned i = 0; i < WF_POOLS; i++) {
        sw->ipool[i].shared = sizes.shared[i];
        sw->ipool[i].headroom = sw->cfg.ingress_pool[i].headroom_bytes;
        sw->epool[i].shared = sizes.egress_shared[i];
    }
}

static void set_headroom(struct wf_switch *sw, struct wf_pg *pg, uint64_t bytes)
{
    if (pg->lossless && !sw->cfg.ingress_pool[pg->pool].headroom_bytes)
        sw->carved.headroom[pg->pool] += bytes - pg->lim.headroom;
    pg->lim.headroom = bytes;
}

/* By the link as it is, and by how long the peer took or takes to stop. */
static void resolve(struct wf_switch *sw, const struct wf_port *port, unsigned g,
                    uint64_t response_ps, struct wf_pg_limits *lim)
{
    wf_pg_resolve(&sw->cfg, &cfg_of(sw, port->index)->pg[g], &port->link->cfg, response_ps, lim);
}

/* Thresholds and headroom at this port, with the peer's own response time. */
void wf_switch_buffer_link(struct wf_switch *sw, struct wf_port *port)
{
    const struct wf_port *peer = port->peer;
    struct wf_was *was = &sw->was[port->index];
    uint64_t now = wf_pfc_of(peer)->response_ps,
             slow = now > was->response_ps ? now : was->response_ps;

    for (unsigned i = 0; i < WF_PGS; i++) {
        struct wf_pg *pg = &sw->pg[port->index][i];
        struct wf_pg_limits lim, between;
        uint64_t had = pg->lim.headroom, most;

        resolve(sw, port, i, now, &lim);
        resolve(sw, port, i, slow, &between);
        most = between.headroom > had ? between.headroom : had;
        pg->lim = lim;
        pg->lim.headroom = had;
        pg->reserves = lim.reserved;
        pg->plain =
            pg->lossless && !pg->dynamic && !pg->reserves && sw->cell_bytes == 1 && !sw->egress;
        pg->calm = pg->plain && !sw->user ? lim.limit : 0;
        pg->shrinks = lim.headroom < most;
        pg->stirred = true;
        set_headroom(sw, pg, most);
    }
    was->response_ps = now;
    was->landed_ps = wf_now(port) + port->delay_ps;
    if (peer->busy_until_ps > wf_now(port))
        was->landed_ps = peer->busy_until_ps + port->delay_ps;
    resize(sw);
}

void wf_switch_shrink(struct wf_switch *sw, struct wf_port *port)
{
    struct wf_pg_limits lim;

    if (wf_now(port) < sw->was[port->index].landed_ps)
        return;
    for (unsigned i = 0; i < WF_PGS; i++) {
        struct wf_pg *pg = &sw->pg[port->index][i];

        if (!pg->shrinks || pg->ctr[WF_PG_BYTES])
            continue;
        resolve(sw, port, i, wf_pfc_of(port->peer)->response_ps, &lim);
        set_headroom(sw, pg, lim.headroom);
        pg->shrinks = false;
    }
    resize(sw);
}
