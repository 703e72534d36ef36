/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The graph of switches: for each switch and destination switch the ports that lie on a shortest
 * path (ECMP), and one rooted tree for flooding. Recomputed when a link changes. Hosts hang on
 * switch ports and take no part.
 */
#ifndef WEFT_TOPO_GRAPH_H
#define WEFT_TOPO_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct wf_graph_port {
    int32_t peer; /* switch at the other end, or -1 */
    int32_t host; /* host at the other end, or -1 */
    bool up;
    bool tree; /* on the flooding tree; always true towards hosts */
};

struct wf_hops {
    uint16_t n;
    uint16_t *ports; /* ascending */
};

struct wf_graph_node {
    uint16_t n_ports;
    struct wf_graph_port *ports;
    struct wf_hops *to; /* by destination switch */
};

struct wf_graph {
    uint32_t n;
    struct wf_graph_node *nodes;
    uint32_t *scratch; /* 2 n words for the searches */
};

/* n switches without ports; ports are given by wf_graph_ports, then filled in by the caller. */
void wf_graph_init(struct wf_graph *g, struct wf_arena *arena, uint32_t n);
void wf_graph_ports(struct wf_graph *g, struct wf_arena *arena, uint32_t node, uint16_t n_ports);
/* After all ports are there. */
void wf_graph_alloc(struct wf_graph *g, struct wf_arena *arena);
/* Shortest paths and tree over the ports that are up. */
void wf_graph_update(struct wf_graph *g);

static inline const struct wf_hops *wf_next_hops(const struct wf_graph *g, uint32_t node,
                                                 uint32_t dst)
{
    return &g->nodes[node].to[dst];
}

#endif
