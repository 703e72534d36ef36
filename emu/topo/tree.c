/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flooding tree: breadth first from the lowest-numbered switch of each connected part, without
 * the branches that have no hosts. Linear in the number of ports.
 */
#include "topo/graph.h"

static void begin(struct wf_graph *g)
{
    for (uint32_t i = 0; i < g->n; i++)
        for (uint16_t p = 0; p < g->nodes[i].n_ports; p++)
            g->nodes[i].ports[p].tree = g->nodes[i].ports[p].host >= 0;
}

static void set_link(struct wf_graph *g, struct wf_graph_port *p, bool tree)
{
    p->tree = tree;
    g->nodes[p->peer].ports[p->peer_port].tree = tree;
}

/* Of parallel links the first one is taken. */
static void grow_from(struct wf_graph *g, uint32_t root, uint32_t *seen, uint32_t *queue)
{
    uint32_t head = 0, tail = 0;

    seen[root] = 1;
    queue[tail++] = root;
    while (head < tail) {
        struct wf_graph_node *v = &g->nodes[queue[head++]];

        for (uint16_t i = 0; i < v->n_ports; i++) {
            struct wf_graph_port *p = &v->ports[i];

            if (!wf_graph_usable(p) || seen[p->peer])
                continue;
            seen[p->peer] = 1;
            queue[tail++] = (uint32_t)p->peer;
            set_link(g, p, true);
        }
    }
}

/* The only tree port of a switch without hosts, or NULL: a copy sent there would end there. */
static struct wf_graph_port *stub_port(struct wf_graph_node *v)
{
    struct wf_graph_port *found = NULL;

    for (uint16_t i = 0; i < v->n_ports; i++) {
        if (!v->ports[i].tree)
            continue;
        if (v->ports[i].host >= 0 || found)
            return NULL;
        found = &v->ports[i];
    }
    return found;
}

/* Take the branch that ends at a switch off the tree, as far as it has no hosts. */
static void prune_from(struct wf_graph *g, uint32_t node)
{
    struct wf_graph_port *p = stub_port(&g->nodes[node]);

    while (p) {
        node = (uint32_t)p->peer;
        set_link(g, p, false);
        p = stub_port(&g->nodes[node]);
    }
}

void wf_graph_tree(struct wf_graph *g)
{
    uint32_t *seen = g->scratch, *queue = g->scratch + g->n;

    begin(g);
    for (uint32_t i = 0; i < g->n; i++)
        seen[i] = 0;
    for (uint32_t root = 0; root < g->n; root++)
        if (!seen[root])
            grow_from(g, root, seen, queue);
    for (uint32_t i = 0; i < g->n; i++)
        prune_from(g, i);
}
