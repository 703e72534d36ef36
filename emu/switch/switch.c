/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/switch.h"

#include "eth/ets.h"

static void init_port(struct wf_switch *sw, struct wf_port *port, struct wf_arena *arena)
{
    port->sched = &wf_ets_ops;
    wf_pfc_attach(port, &sw->cfg.pfc, sw->cfg.pfc_priority_to_queue, arena);
    for (unsigned i = 0; i < WF_QUEUES; i++) {
        port->q[i].strict = sw->cfg.queue[i].sched == WF_SCHED_STRICT;
        port->q[i].quantum = sw->cfg.queue[i].weight * 64;
    }
    for (unsigned i = 0; i < WF_PGS; i++) {
        struct wf_pg *pg = &sw->pg[port->index][i];

        pg->lossless = sw->cfg.pg[i].lossless;
        if (pg->lossless)
            pg->blame = WF_ARENA_ARRAY(arena, struct wf_blame, WF_BLAMES);
        pg->prio = sw->cfg.pg_to_pfc_priority[i];
    }
}

/* Thresholds and headroom at this port, with the peer's own response time. */
void wf_switch_link_known(struct wf_node *node, struct wf_port *port)
{
    struct wf_switch *sw = (struct wf_switch *)node;

    for (unsigned i = 0; i < WF_PGS; i++)
        wf_pg_resolve(&sw->cfg.pg[i], &port->link->cfg, wf_pfc_of(port->peer)->response_ps,
                      &sw->pg[port->index][i].lim);
}

static struct wf_lane lane_of(const struct wf_switch_cfg *c, uint8_t tc)
{
    uint8_t pg = c->tc_to_pg[tc];

    return (struct wf_lane){tc, pg, c->tc_to_queue[tc], c->pg_to_pfc_priority[pg]};
}

/* What the pipeline asks of the configuration for each packet, in the form in which it asks. */
static void resolve_cfg(struct wf_switch *sw)
{
    const struct wf_switch_cfg *c = &sw->cfg;

    for (unsigned i = 0; i < 64; i++)
        sw->by_dscp[i] = lane_of(c, c->dscp_to_tc[i]);
    for (unsigned i = 0; i < 8; i++)
        sw->by_pcp[i] = lane_of(c, c->pcp_to_tc[i]);
    for (unsigned i = 0; i < WF_QUEUES; i++)
        if (c->queue[i].ecn.enable)
            sw->marks[c->queue[i].mark_at] |= (uint8_t)(1u << i);
}

void wf_switch_ready(struct wf_node *node, struct wf_arena *arena)
{
    struct wf_switch *sw = (struct wf_switch *)node;

    node->cut_through = sw->cfg.mode == WF_MODE_CUT_THROUGH;
    wf_prng_init(&sw->prng, node->net->seed, node->name);
    sw->pg = wf_arena_alloc_line(arena, sizeof(*sw->pg) * node->n_ports);
    if (sw->cfg.forwarding == WF_FORWARD_L2)
        sw->fdb = WF_ARENA_ARRAY(arena, struct wf_fdb_entry, WF_FDB_SLOTS);
    resolve_cfg(sw);
    for (unsigned i = 0; i < node->n_ports; i++)
        init_port(sw, &node->ports[i], arena);
}
