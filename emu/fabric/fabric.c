/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/fabric.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/digest.h"

struct wf_port *wf_fabric_port(struct wf_fabric *f, const char *name)
{
    const char *colon = strrchr(name, ':');

    for (uint32_t i = 0; colon && i < f->n_nodes; i++) {
        struct wf_node *n = f->nodes[i];

        if (strncmp(n->name, name, (size_t)(colon - name)) || n->name[colon - name])
            continue;
        for (uint16_t p = 0; p < n->n_ports; p++)
            if (!strcmp(n->ports[p].name, name))
                return &n->ports[p];
    }
    return NULL;
}

struct wf_link *wf_fabric_link(struct wf_fabric *f, const char *name)
{
    for (uint32_t i = 0; i < f->desc->n_links; i++)
        if (!strcmp(f->links[i].name, name))
            return &f->links[i];
    return NULL;
}

void wf_fabric_link_set(struct wf_fabric *f, struct wf_link *link, bool up)
{
    for (int e = 0; e < 2; e++) {
        struct wf_port *p = link->ends[e];

        if (p->node->index < f->graph.n)
            wf_graph_link(&f->graph, p->node->index, p->index, up);
    }
    wf_link_set(link, up);
}

struct wf_fault *wf_fabric_inject(struct wf_fabric *f, struct wf_port *port,
                                  const struct wf_fault *fault)
{
    struct wf_fault *copy = WF_ARENA_NEW(&f->arena, struct wf_fault), **at = &port->faults;

    *copy = *fault;
    copy->next = NULL;
    while (*at)
        at = &(*at)->next;
    *at = copy;
    return copy;
}

void wf_fabric_settle(struct wf_fabric *f)
{
    for (uint32_t i = 0; i < f->n_nodes; i++) {
        for (uint16_t p = 0; p < f->nodes[i]->n_ports; p++)
            f->nodes[i]->ports[p].ll_ops->settle(&f->nodes[i]->ports[p]);
        if (f->nodes[i]->ops->settle)
            f->nodes[i]->ops->settle(f->nodes[i]);
    }
}

struct wf_digest wf_fabric_digest(const struct wf_fabric *f)
{
    struct wf_digest d = {0};

    for (uint32_t i = 0; i < f->n_nodes; i++)
        for (uint16_t p = 0; p < f->nodes[i]->n_ports; p++)
            wf_digest_add(&d, f->nodes[i]->ports[p].entity, f->nodes[i]->ports[p].digest.h);
    return d;
}

int wf_fabric_path(struct wf_fabric *f, uint32_t from, uint32_t to, uint32_t flow_hash,
                   struct wf_port **out, int max)
{
    const struct wf_host_addr *dst = &f->addr.hosts[to];
    struct wf_port *port = &wf_fabric_host(f, from)->ports[0];
    int n = 0;

    for (;;) {
        uint32_t at = port->peer->node->index;
        const struct wf_switch *sw = (const struct wf_switch *)port->peer->node;
        int next;

        if (n < max)
            out[n] = port;
        n++;
        if (at >= f->graph.n)
            return n;
        next = wf_switch_next_port(sw, dst, flow_hash);
        if (next < 0 || n > (int)f->graph.n + 2)
            return -1;
        port = &port->peer->node->ports[next];
    }
}

static void drain_fifo(struct wf_net *net, struct wf_fifo *fifo)
{
    struct wf_fifo_node *n;

    while ((n = wf_fifo_pop(fifo)))
        wf_pkt_free(net, WF_CONTAINER_OF(n, struct wf_pkt, q));
}

void wf_fabric_free(struct wf_fabric *f)
{
    if (!f)
        return;
    /* what is still under way goes with the pools: a fabric may be freed at any time */
    for (uint32_t i = 0; i < f->n_nodes; i++)
        for (uint16_t p = 0; f->nodes[i] && p < f->nodes[i]->n_ports; p++) {
            drain_fifo(&f->net, &f->nodes[i]->ports[p].control);
            for (unsigned q = 0; q < WF_QUEUES; q++)
                drain_fifo(&f->net, &f->nodes[i]->ports[p].q[q].fifo);
        }
    wf_net_pools_free(&f->net);
    wf_arena_free(&f->arena);
    free(f);
}
