/* SPDX-License-Identifier: BSD-3-Clause */
#include "topo/graph.h"

#define FAR UINT32_MAX

void wf_graph_init(struct wf_graph *g, struct wf_arena *arena, uint32_t n)
{
    g->n = n;
    g->nodes = WF_ARENA_ARRAY(arena, struct wf_graph_node, n);
    g->scratch = WF_ARENA_ARRAY(arena, uint32_t, 2 * (size_t)n);
}

void wf_graph_ports(struct wf_graph *g, struct wf_arena *arena, uint32_t node, uint16_t n_ports)
{
    struct wf_graph_node *v = &g->nodes[node];

    v->n_ports = n_ports;
    v->ports = WF_ARENA_ARRAY(arena, struct wf_graph_port, n_ports);
    for (uint16_t i = 0; i < n_ports; i++)
        v->ports[i] = (struct wf_graph_port){.peer = -1, .host = -1, .up = true};
}

void wf_graph_alloc(struct wf_graph *g, struct wf_arena *arena)
{
    for (uint32_t i = 0; i < g->n; i++) {
        struct wf_graph_node *v = &g->nodes[i];

        v->to = WF_ARENA_ARRAY(arena, struct wf_hops, g->n);
        for (uint32_t d = 0; d < g->n; d++)
            v->to[d].ports = WF_ARENA_ARRAY(arena, uint16_t, v->n_ports ? v->n_ports : 1);
    }
}

static bool usable(const struct wf_graph_port *p)
{
    return p->up && p->peer >= 0;
}

/* Distances to dst by breadth-first search; dist has n words, queue n words. */
static void distances(const struct wf_graph *g, uint32_t dst, uint32_t *dist, uint32_t *queue)
{
    uint32_t head = 0, tail = 0;

    for (uint32_t i = 0; i < g->n; i++)
        dist[i] = FAR;
    dist[dst] = 0;
    queue[tail++] = dst;
    while (head < tail) {
        const struct wf_graph_node *v = &g->nodes[queue[head]];
        uint32_t d = dist[queue[head++]] + 1;

        for (uint16_t i = 0; i < v->n_ports; i++)
            if (usable(&v->ports[i]) && dist[v->ports[i].peer] == FAR) {
                dist[v->ports[i].peer] = d;
                queue[tail++] = (uint32_t)v->ports[i].peer;
            }
    }
}

static void paths_to(struct wf_graph *g, uint32_t dst)
{
    uint32_t *dist = g->scratch;

    distances(g, dst, dist, g->scratch + g->n);
    for (uint32_t s = 0; s < g->n; s++) {
        struct wf_graph_node *v = &g->nodes[s];
        struct wf_hops *h = &v->to[dst];

        h->n = 0;
        if (s == dst || dist[s] == FAR)
            continue;
        for (uint16_t i = 0; i < v->n_ports; i++)
            if (usable(&v->ports[i]) && dist[v->ports[i].peer] + 1 == dist[s])
                h->ports[h->n++] = i;
    }
}

/* The port of `node` that leads to `peer`, the n-th of them when links are parallel. */
static int port_to(const struct wf_graph *g, uint32_t node, uint32_t peer)
{
    const struct wf_graph_node *v = &g->nodes[node];

    for (uint16_t i = 0; i < v->n_ports; i++)
        if (usable(&v->ports[i]) && v->ports[i].peer == (int32_t)peer)
            return i;
    return -1;
}

/* A breadth-first tree from the lowest-numbered switch of each connected part. With parallel links
 * the first port of each side is taken: links are added to both sides in the same order. */
static void flood_tree(struct wf_graph *g)
{
    uint32_t *seen = g->scratch, *queue = g->scratch + g->n;

    for (uint32_t i = 0; i < g->n; i++) {
        seen[i] = 0;
        for (uint16_t p = 0; p < g->nodes[i].n_ports; p++)
            g->nodes[i].ports[p].tree = g->nodes[i].ports[p].host >= 0;
    }
    for (uint32_t root = 0; root < g->n; root++) {
        uint32_t head = 0, tail = 0;

        if (seen[root])
            continue;
        seen[root] = 1;
        queue[tail++] = root;
        while (head < tail) {
            uint32_t at = queue[head++];
            struct wf_graph_node *v = &g->nodes[at];

            for (uint16_t i = 0; i < v->n_ports; i++) {
                int32_t peer = v->ports[i].peer;

                if (!usable(&v->ports[i]) || seen[peer])
                    continue;
                seen[peer] = 1;
                queue[tail++] = (uint32_t)peer;
                v->ports[i].tree = true;
                g->nodes[peer].ports[port_to(g, (uint32_t)peer, at)].tree = true;
            }
        }
    }
}

/* The only tree port of a switch without hosts, or -1: a copy sent there would end there. */
static int stub_port(const struct wf_graph_node *v)
{
    int found = -1;

    for (uint16_t i = 0; i < v->n_ports; i++) {
        if (!v->ports[i].tree)
            continue;
        if (v->ports[i].host >= 0 || found >= 0)
            return -1;
        found = i;
    }
    return found;
}

/* Take branches without hosts off the tree. */
static void prune_tree(struct wf_graph *g)
{
    bool again = true;

    while (again) {
        again = false;
        for (uint32_t i = 0; i < g->n; i++) {
            int p = stub_port(&g->nodes[i]);
            uint32_t peer;

            if (p < 0)
                continue;
            peer = (uint32_t)g->nodes[i].ports[p].peer;
            g->nodes[i].ports[p].tree = false;
            g->nodes[peer].ports[port_to(g, peer, i)].tree = false;
            again = true;
        }
    }
}

void wf_graph_update(struct wf_graph *g)
{
    for (uint32_t dst = 0; dst < g->n; dst++)
        paths_to(g, dst);
    flood_tree(g);
    prune_tree(g);
}
