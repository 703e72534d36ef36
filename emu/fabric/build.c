/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a description to a fabric: nodes, ports, links, graph, addresses.
 */
#include <errno.h>
#include <rte_lcore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/discovery.h"
#include "fabric/fabric.h"
#include "fabric/ideal.h"
#include "fabric/partition.h"
#include "fabric/pool.h"
#include "fabric/timeline.h"
#include "host/host.h"
#include "switch/tunnel.h"

enum { EVENTS_MORE = 1024 };

static struct wf_node *end_node(struct wf_fabric *f, struct wf_desc_end e)
{
    return e.is_host ? wf_fabric_host(f, e.index) : wf_fabric_switch(f, e.index);
}

static void make_nodes(struct wf_fabric *f, const struct wf_fabric_opts *opts,
                       const uint32_t *lcore_of)
{
    const struct wf_desc *d = f->desc;

    f->n_nodes = d->n_switches + d->n_hosts;
    f->nodes = WF_ARENA_ARRAY(&f->arena, struct wf_node *, f->n_nodes + 1);
    for (uint32_t i = 0; i < d->n_switches; i++) {
        struct wf_switch *sw = WF_ARENA_NEW(&f->arena, struct wf_switch);
        uint8_t mac[6] = {2, 0x77, 0x66, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i};

        sw->node.ops = &wf_switch_ops;
        sw->node.name = d->switches[i].name;
        memcpy(sw->node.mac, mac, 6);
        sw->cfg = d->switches[i].cfg;
        sw->sw = i;
        sw->n_flows = d->n_flows;
        sw->graph = &f->graph;
        sw->addr = &f->addr;
        f->nodes[i] = &sw->node;
    }
    for (uint32_t i = 0; i < d->n_hosts; i++) {
        struct wf_node *node = opts->make_host ? opts->make_host(opts->arg, f, i) : NULL;

        if (!node)
            node = wf_host_new(&f->arena, &d->hosts[i].cfg);
        node->name = d->hosts[i].name;
        memcpy(node->mac, d->hosts[i].cfg.mac, 6);
        f->nodes[d->n_switches + i] = node;
    }
    for (uint32_t i = 0; i < f->n_nodes; i++) {
        f->nodes[i]->index = i;
        f->nodes[i]->net = &f->nets[lcore_of[i]];
        f->nodes[i]->entity = f->next_entity++;
    }
}

/* The ends of tunnels, where there are any; a leaf that is one knows all of them. */
static void make_tunnels(struct wf_fabric *f)
{
    const struct wf_desc *d = f->desc;
    struct wf_tunnel_end *ends = NULL;

    for (uint32_t i = 0; i < d->n_switches; i++) {
        const struct wf_tunnel_cfg *c = &d->switches[i].cfg.vxlan;

        if (!c->vni)
            continue;
        if (!ends)
            ends = WF_ARENA_ARRAY(&f->arena, struct wf_tunnel_end, d->n_switches);
        ends[i].vni = c->vni;
        wf_tunnel_ip(c, i, ends[i].ip);
        ((struct wf_switch *)f->nodes[i])->ends = ends;
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(struct wf_node *const *)a)->name, (*(struct wf_node *const *)b)->name);
}

static void sort_names(struct wf_fabric *f)
{
    f->by_name = WF_ARENA_ARRAY(&f->arena, struct wf_node *, f->n_nodes + 1);
    memcpy(f->by_name, f->nodes, sizeof(*f->nodes) * f->n_nodes);
    qsort(f->by_name, f->n_nodes, sizeof(*f->by_name), by_name);
}

static void make_ports(struct wf_fabric *f)
{
    const struct wf_desc *d = f->desc;

    for (uint32_t i = 0; i < d->n_links; i++) {
        end_node(f, d->links[i].a)->n_ports++;
        end_node(f, d->links[i].b)->n_ports++;
    }
    for (uint32_t i = 0; i < f->n_nodes; i++) {
        struct wf_node *n = f->nodes[i];

        n->ports = WF_ARENA_ARRAY(&f->arena, struct wf_port, n->n_ports ? n->n_ports : 1);
        for (uint16_t p = 0; p < n->n_ports; p++) {
            n->ports[p].node = n;
            n->ports[p].index = p;
            n->ports[p].up = true;
            n->ports[p].entity = f->next_entity++;
            n->ports[p].name = wf_arena_printf(&f->arena, "%s:p%u", n->name, p);
        }
        n->n_ports = 0; /* counts up again as the links take their ports */
    }
}

/* Either direction of a link has its own chance of loss, whatever the other carries. */
static void seed_direction(const struct wf_fabric *f, struct wf_port *p)
{
    char name[128];

    snprintf(name, sizeof(name), "%s>%s", p->name, p->peer->name);
    wf_prng_init(&p->prng, f->desc->seed, name);
}

static void make_links(struct wf_fabric *f)
{
    const struct wf_desc *d = f->desc;
    uint64_t *rate_max = wf_pool_rates(d);

    f->links = WF_ARENA_ARRAY(&f->arena, struct wf_link, d->n_links + 1);
    for (uint32_t i = 0; i < d->n_links; i++) {
        struct wf_link *l = &f->links[i];
        struct wf_node *ends[2] = {end_node(f, d->links[i].a), end_node(f, d->links[i].b)};

        l->cfg = d->links[i].cfg;
        l->rate_max_bps = rate_max ? rate_max[i] : 0;
        l->up = true;
        for (int e = 0; e < 2; e++) {
            l->ends[e] = &ends[e]->ports[ends[e]->n_ports++];
            l->ends[e]->link = l;
            wf_txclock_init(&l->ends[e]->tx, l->cfg.rate_bps);
        }
        l->ends[0]->peer = l->ends[1];
        l->ends[1]->peer = l->ends[0];
        for (int e = 0; e < 2; e++)
            seed_direction(f, l->ends[e]);
        l->name = wf_arena_printf(&f->arena, "%s-%s", l->ends[0]->name, l->ends[1]->name);
    }
    free(rate_max);
}

/* Which ports have a configuration of their own. */
static void make_port_cfgs(struct wf_fabric *f)
{
    for (uint32_t i = 0; i < f->desc->n_links; i++)
        for (int e = 0; e < 2; e++) {
            const struct wf_switch_port_cfg *c = f->desc->links[i].port_cfg[e];
            const struct wf_port *port = f->links[i].ends[e];
            struct wf_switch *sw = (struct wf_switch *)port->node;

            if (!c || port->node->ops != &wf_switch_ops)
                continue;
            if (!sw->port_cfg)
                sw->port_cfg = WF_ARENA_ARRAY(&f->arena, const struct wf_switch_port_cfg *,
                                              port->node->n_ports);
            sw->port_cfg[port->index] = c;
        }
}

static void make_graph(struct wf_fabric *f)
{
    uint32_t n = f->desc->n_switches;

    wf_graph_init(&f->graph, &f->arena, n);
    for (uint32_t i = 0; i < n; i++) {
        struct wf_node *node = f->nodes[i];

        wf_graph_ports(&f->graph, i, node->n_ports);
        for (uint16_t p = 0; p < node->n_ports; p++) {
            struct wf_graph_port *port = &f->graph.nodes[i].ports[p];
            uint32_t peer = node->ports[p].peer->node->index;

            port->peer = peer < n ? (int32_t)peer : -1;
            port->host = peer < n ? -1 : (int32_t)(peer - n);
            port->peer_port = node->ports[p].peer->index;
        }
    }
    wf_graph_ready(&f->graph, &f->desc->shape);
}

static void copy_ip(uint8_t *to, const struct wf_ip_prefix *ip, int family)
{
    if (ip->family == family)
        memcpy(to, ip->addr + (family == 4 ? 12 : 0), family == 4 ? 4 : 16);
}

static void make_addresses(struct wf_fabric *f)
{
    const struct wf_desc *d = f->desc;

    f->addr.n_hosts = d->n_hosts;
    f->addr.hosts = WF_ARENA_ARRAY(&f->arena, struct wf_host_addr, d->n_hosts + 1);
    for (uint32_t i = 0; i < d->n_hosts; i++) {
        struct wf_host_addr *a = &f->addr.hosts[i];
        const struct wf_host_cfg *c = &d->hosts[i].cfg;
        struct wf_node *node = wf_fabric_host(f, i);

        memcpy(a->mac, c->mac, 6);
        copy_ip(a->ip4, &c->ip, 4);
        copy_ip(a->ip6, &c->ip6, 6);
        copy_ip(a->gateway4, &c->gateway, 4);
        copy_ip(a->gateway6, &c->gateway6, 6);
        if (node->n_ports) {
            a->sw = node->ports[0].peer->node->index;
            a->port = node->ports[0].peer->index;
        }
    }
    wf_addr_build(&f->addr, &f->arena);
}

/* Flows of this one's host that connect, up to it. */
static uint32_t dials(const struct wf_desc *d, uint32_t flow)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i <= flow; i++)
        n += d->flows[i].cfg.connect && d->flows[i].from == d->flows[flow].from;
    return n;
}

static int check_desc(const struct wf_fabric *f, struct wf_err *err)
{
    for (uint32_t i = 0; i < f->desc->n_steps; i++) {
        const struct wf_desc_step *s = &f->desc->steps[i];

        if (s->action >= WF_DO_INJECT && !wf_fabric_port((struct wf_fabric *)f, s->where))
            return wf_err_set(err, EINVAL, "there is no port '%s' to inject at", s->where);
    }
    for (uint32_t i = 0; i < f->desc->n_faults; i++)
        if (!wf_fabric_port((struct wf_fabric *)f, f->desc->faults[i].port))
            return wf_err_set(err, EINVAL, "there is no port '%s' for a fault",
                              f->desc->faults[i].port);
    for (uint32_t i = 0; i < f->desc->n_flows; i++) {
        const struct wf_desc_flow *w = &f->desc->flows[i];

        if (wf_fabric_host((struct wf_fabric *)f, w->from)->ops != &wf_host_ops ||
            (!w->cfg.connect && wf_fabric_host((struct wf_fabric *)f, w->to)->ops != &wf_host_ops))
            return wf_err_set(err, EINVAL, "flow '%s' needs model hosts at both ends", w->name);
        if (w->cfg.connect && dials(f->desc, i) > WF_DIALS_MAX)
            return wf_err_set(err, EINVAL, "more than %d flows of host '%s' connect", WF_DIALS_MAX,
                              f->desc->hosts[w->from].name);
        if (w->from == w->to || !wf_fabric_host((struct wf_fabric *)f, w->from)->n_ports ||
            !wf_fabric_host((struct wf_fabric *)f, w->to)->n_ports)
            return wf_err_set(err, EINVAL, "flow '%s' needs two hosts that have links", w->name);
    }
    return 0;
}

static int make_pools(struct wf_fabric *f, const struct wf_fabric_opts *opts, struct wf_err *err)
{
    static atomic_uint serial; /* names of pools are the process's */
    char name[24];
    unsigned hdr = wf_pool_hdr(f->desc, opts), full = wf_pool_full(f->desc, opts);

    snprintf(name, sizeof(name), "wf%u", atomic_fetch_add(&serial, 1));
    f->nets[0].hdr_room = wf_pool_hdr_room(f->desc);
    if (!wf_net_pools(&f->nets[0], name, hdr, full)) {
        for (uint32_t i = 1; i < f->n_lcs; i++) {
            f->nets[i].hdr_room = f->nets[0].hdr_room;
            f->nets[i].hdr_pool = f->nets[0].hdr_pool;
            f->nets[i].full_pool = f->nets[0].full_pool;
        }
        return 0;
    }
    return wf_err_set(err, ENOMEM, "no memory for %u header packets and %u full frames (%.0f MB)",
                      hdr, full, (double)wf_net_pools_bytes(hdr, full) / 1e6);
}

static void make_lcores(struct wf_fabric *f, const struct wf_fabric_opts *opts,
                        struct wf_partition *part)
{
    const struct wf_desc *d = f->desc;

    wf_partition(part, d, opts->lcores ? opts->lcores : 1, &f->arena);
    f->n_lcs = part->n;
    f->lcs = wf_arena_alloc_line(&f->arena, sizeof(*f->lcs) * f->n_lcs);
    f->nets = wf_arena_alloc_line(&f->arena, sizeof(*f->nets) * f->n_lcs);
    for (uint32_t i = 0; i < f->n_lcs; i++) {
        wf_lcore_init(&f->lcs[i], opts->paced, d->time_scale,
                      d->duration_ps == WF_KEY_AUTO ? WF_TIME_NEVER : d->duration_ps);
        f->lcs[i].clock.slip = d->clock_slip;
        f->lcs[i].fabric = f;
        f->lcs[i].index = i;
        f->nets[i].lc = &f->lcs[i];
        f->nets[i].seed = d->seed;
    }
}

/* Events that can be pending on an lcore: a packet's arrival, what a port may do next, refresh its
 * pause and one more, each queue pair's timer and a flow's start, steps, and whatever looks. */
static int make_wheels(struct wf_fabric *f, const struct wf_fabric_opts *opts, struct wf_err *err)
{
    const struct wf_desc *d = f->desc;
    size_t n = (size_t)wf_pool_hdr(d, opts) + wf_pool_full(d, opts) + 6ul * d->n_links +
               3ul * d->n_flows + d->n_steps + d->n_faults + wf_pool_listeners(d) +
               2ul * wf_discovery_agents(d) + EVENTS_MORE;

    for (uint32_t i = 0; i < f->n_lcs; i++) {
        if (wf_wheel_reserve(&f->lcs[i].wheel, n))
            return wf_err_set(err, ENOMEM, "no memory for %zu events", n);
        f->lcs[i].wheel.prefetch = true;
    }
    return 0;
}

/* The lcores as a team, and their mailboxes at the ports whose links lead from one to another. */
static int make_team(struct wf_fabric *f, const struct wf_fabric_opts *opts, struct wf_err *err)
{
    struct wf_team_cfg cfg = {
        .lcs = f->lcs,
        .n = f->n_lcs,
        .mode = opts->threads,
        .mailbox_slots = opts->mailbox_slots,
        .no_jumps = opts->no_jumps,
        .node_off = offsetof(struct wf_pkt, q) - offsetof(struct wf_pkt, ev),
    };

    if (f->n_lcs == 1)
        return 0;
    if (wf_team_new(&f->team, &cfg))
        return wf_err_set(err, ENOMEM, "no memory for %u lcores", f->n_lcs);
    for (uint32_t i = 0; i < f->desc->n_links; i++)
        for (int e = 0; e < 2; e++) {
            struct wf_port *p = f->links[i].ends[e];
            const struct wf_lcore *from = p->node->net->lc, *to = p->peer->node->net->lc;

            p->far = from != to;
            if (p->far)
                p->mailbox = wf_team_mailbox(f->team, from->index, to->index);
        }
    wf_fabric_lookaheads(f);
    return 0;
}

static void make_flows(struct wf_fabric *f)
{
    const struct wf_desc *d = f->desc;

    f->flows = WF_ARENA_ARRAY(&f->arena, struct wf_flow *, d->n_flows + 1);
    for (uint32_t i = 0; i < d->n_flows; i++)
        f->flows[i] =
            wf_host_add_flow((struct wf_host *)wf_fabric_host(f, d->flows[i].from),
                             wf_fabric_host(f, d->flows[i].to), &d->hosts[d->flows[i].to].cfg,
                             d->flows[i].name, &d->flows[i].cfg, i, &f->arena);
}

int wf_fabric_build(struct wf_fabric **out, const struct wf_desc *d,
                    const struct wf_fabric_opts *opts, struct wf_err *err)
{
    struct wf_fabric *f = calloc(1, sizeof(*f));
    struct wf_partition part;
    int rc;

    if (!f)
        return wf_err_set(err, ENOMEM, "out of memory");
    f->desc = d;
    f->next_entity = WF_ENTITY_FIRST;
    make_lcores(f, opts, &part);
    rc = make_pools(f, opts, err);
    if (!rc)
        rc = make_wheels(f, opts, err);
    if (!rc) {
        make_nodes(f, opts, part.lcore_of);
        make_tunnels(f);
        sort_names(f);
        make_ports(f);
        make_links(f);
        make_port_cfgs(f);
        rc = make_team(f, opts, err);
        make_graph(f);
        make_addresses(f);
        rc = rc ? rc : check_desc(f, err);
    }
    if (rc) {
        wf_fabric_free(f);
        return rc;
    }
    for (uint32_t i = 0; i < f->n_nodes; i++)
        f->nodes[i]->ops->ready(f->nodes[i], &f->arena);
    for (uint32_t i = 0; i < d->n_links; i++)
        wf_link_tell(&f->links[i]);
    wf_discovery_start(f);
    make_flows(f);
    wf_fabric_ideals(f);
    for (uint32_t i = 0; i < d->n_faults; i++)
        wf_fabric_inject(f, wf_fabric_port(f, d->faults[i].port), &d->faults[i].fault);
    wf_timeline_start(f);
    *out = f;
    return 0;
}
