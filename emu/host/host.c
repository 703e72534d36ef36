/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NIC of a model host. Queue pairs follow with the transport engine.
 */
#include "host/host.h"

#include "eth/ets.h"

struct wf_host {
    struct wf_node node; /* first */
    struct wf_host_cfg cfg;
};

static void host_rx(struct wf_node *node, struct wf_port *port, struct wf_pkt *pkt)
{
    wf_pkt_deliver(node->net, pkt);
}

static void host_ready(struct wf_node *node, struct wf_arena *arena)
{
    struct wf_host *h = (struct wf_host *)node;
    static const uint8_t identity[WF_PRIOS] = {0, 1, 2, 3, 4, 5, 6, 7};

    for (unsigned i = 0; i < node->n_ports; i++) {
        node->ports[i].sched = &wf_ets_ops;
        wf_pfc_attach(&node->ports[i], &h->cfg.pfc, identity, arena);
        for (unsigned q = 0; q < WF_QUEUES; q++)
            node->ports[i].q[q].quantum = 9600;
    }
}

const struct wf_node_ops wf_host_ops = {
    .kind = "host",
    .rx = host_rx,
    .ready = host_ready,
};

struct wf_node *wf_host_new(struct wf_arena *arena, const struct wf_host_cfg *cfg)
{
    struct wf_host *h = WF_ARENA_NEW(arena, struct wf_host);

    h->node.ops = &wf_host_ops;
    h->cfg = *cfg;
    return &h->node;
}

void wf_host_add_flow(struct wf_host *from, struct wf_host *to, const char *name,
                      const struct wf_flow_cfg *cfg, uint32_t number, struct wf_arena *arena)
{
}
