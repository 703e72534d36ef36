/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/fabric.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/digest.h"
#include "fabric/partition.h"
#include "switch/lb.h"

/* "leaf0" of "leaf0:p3". */
struct node_key {
    const char *name;
    size_t len;
};

static int is_node(const void *key, const void *element)
{
    const struct node_key *k = key;
    const char *name = (*(struct wf_node *const *)element)->name;
    int c = strncmp(k->name, name, k->len);

    return c ? c : -!!name[k->len];
}

struct wf_port *wf_fabric_port(struct wf_fabric *f, const char *name)
{
    const char *colon = strrchr(name, ':');
    struct node_key key = {name, colon ? (size_t)(colon - name) : 0};
    struct wf_node **n;

    if (!colon)
        return NULL;
    n = bsearch(&key, f->by_name, f->n_nodes, sizeof(*n), is_node);
    for (uint16_t p = 0; n && p < (*n)->n_ports; p++)
        if (!strcmp((*n)->ports[p].name, name))
            return &(*n)->ports[p];
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
    for (uint32_t i = 0; i < f->graph.n; i++)
        wf_lb_regraph((struct wf_switch *)f->nodes[i]);
    wf_link_set(link, up);
}

void wf_fabric_link_rate(struct wf_fabric *f, struct wf_link *link, uint64_t rate_bps)
{
    wf_link_set_rate(link, rate_bps);
    wf_fabric_lookaheads(f); /* a frame may arrive sooner now */
}

struct wf_fault *wf_fabric_inject(struct wf_fabric *f, struct wf_port *port,
                                  const struct wf_fault *fault)
{
    struct wf_fault *copy = fault->event ? NULL : wf_faults_reuse(port);

    if (!copy)
        copy = WF_ARENA_NEW(&f->arena, struct wf_fault);
    *copy = *fault;
    copy->next = NULL;
    wf_faults_add(port, copy, &f->arena);
    return copy;
}

uint64_t wf_fabric_published_ps(void *fabric, unsigned lcore)
{
    const struct wf_fabric *f = fabric;

    return f->team ? wf_team_published_ps(f->team, lcore) : 0;
}

uint64_t wf_fabric_ctr(const struct wf_fabric *f, enum wf_ctr_FABRIC ctr)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < f->n_lcs; i++)
        sum += f->nets[i].ctr[ctr];
    return sum;
}

uint64_t wf_fabric_events(const struct wf_fabric *f)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < f->n_lcs; i++)
        sum += f->lcs[i].events;
    return sum;
}

uint64_t wf_fabric_last_event_ps(const struct wf_fabric *f)
{
    uint64_t last = 0;

    for (uint32_t i = 0; i < f->n_lcs; i++)
        wf_max_u64(&last, f->lcs[i].last_event_ps);
    return last;
}

uint64_t wf_fabric_next_ps(const struct wf_fabric *f)
{
    uint64_t next = WF_TIME_NEVER;

    for (uint32_t i = 0; i < f->n_lcs; i++) {
        uint64_t t = wf_wheel_next_ps(&f->lcs[i].wheel);

        next = t < next ? t : next;
    }
    return next;
}

uint64_t wf_fabric_in_flight(const struct wf_fabric *f)
{
    uint64_t sum = 0; /* an lcore that ends what others began counts below zero */

    for (uint32_t i = 0; i < f->n_lcs; i++)
        sum += wf_net_in_flight(&f->nets[i]);
    return sum;
}

bool wf_fabric_out_of_buffers(const struct wf_fabric *f)
{
    bool any = false;

    for (uint32_t i = 0; i < f->n_lcs; i++)
        any |= f->nets[i].out_of_buffers;
    return any;
}

bool wf_fabric_idle(const struct wf_fabric *f)
{
    for (uint32_t i = 0; i < f->n_lcs; i++)
        if (wf_wheel_count(&f->lcs[i].wheel))
            return false;
    return true;
}

void wf_fabric_settle(struct wf_fabric *f)
{
    for (unsigned c = 0; c < WF_FABRIC_CTRS; c++)
        f->ctr[c] = wf_fabric_ctr(f, (enum wf_ctr_FABRIC)c);
    for (uint32_t i = 0; i < f->n_nodes; i++) {
        for (uint16_t p = 0; p < f->nodes[i]->n_ports; p++)
            wf_port_settle(&f->nodes[i]->ports[p]);
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
    wf_team_free(f->team);
    /* what is still under way goes with the pools: a fabric may be freed at any time */
    for (uint32_t i = 0; i < f->n_nodes; i++)
        for (uint16_t p = 0; f->nodes[i] && p < f->nodes[i]->n_ports; p++) {
            struct wf_port *port = &f->nodes[i]->ports[p];

            drain_fifo(port->node->net, &port->control);
            for (unsigned q = 0; q < WF_QUEUES; q++)
                drain_fifo(port->node->net, &port->q[q].fifo);
        }
    if (f->nets)
        wf_net_pools_free(&f->nets[0]); /* all lcores share them */
    for (uint32_t i = 0; i < f->n_lcs; i++)
        wf_wheel_fini(&f->lcs[i].wheel);
    wf_arena_free(&f->arena);
    free(f);
}
