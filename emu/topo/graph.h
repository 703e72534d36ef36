/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The graph of switches: for each switch and destination the ports that lie on a shortest path
 * (ECMP), and one rooted tree for flooding. Hosts hang on switch ports and take no part;
 * destinations are the switches that have hosts.
 *
 * While the graph is a leaf-spine or a fat tree and all links are up, next hops follow from the
 * numbers of the switches and there is no table. Otherwise a switch has a row with a place in
 * `sets` for each destination; equal sets are kept once. A link that changes touches what it
 * changes: sets grow or shrink by its port, and only destinations that became nearer or farther are
 * searched anew.
 */
#ifndef WEFT_TOPO_GRAPH_H
#define WEFT_TOPO_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct wf_graph_port {
    int32_t peer;       /* switch at the other end, or -1 */
    int32_t host;       /* host at the other end, or -1 */
    uint16_t peer_port; /* of the switch at the other end */
    bool up;
    bool tree; /* on the flooding tree; always true towards hosts */
};

/* Which ways a ring has, see ring.c. */
enum wf_turn { WF_TURN_SHORTEST, WF_TURN_CLOCKWISE, WF_TURN_UP_DOWN };

/* What a generator says of the graph that it made; believed only after a look at all links. */
struct wf_shape {
    enum { WF_SHAPE_OTHER, WF_SHAPE_LEAF_SPINE, WF_SHAPE_FAT_TREE, WF_SHAPE_RING } kind;
    uint32_t leaves, spines; /* leaf-spine */
    uint32_t pods, half;     /* fat tree: half of k */
    enum wf_turn turn;       /* ring */
};

/* Where a switch of a regular graph sends what it has to send: down by one port to destinations
 * below it, up by any of its uplinks to all others. */
struct wf_reach {
    uint32_t below, n_below; /* destinations */
    uint32_t magic;          /* (dst - below) * magic >> 31: the port, from `down` on */
    uint16_t down;
    uint16_t up, n_up;
    uint16_t mask; /* n_up - 1, or 0 when there are none */
    bool masks;    /* n_up is a power of two, or 0: a hash and the mask choose one */
};

struct wf_graph_node {
    _Alignas(64) uint32_t *row; /* by destination: place in sets; NULL: as `reach` says */
    struct wf_reach reach;
    uint16_t n_ports;
    struct wf_graph_port *ports;
};

/* Ports, ascending: `ports`, or when that is NULL n of them from `first` on. */
struct wf_hops {
    const uint16_t *ports;
    uint16_t first, n;
};

struct wf_graph {
    uint32_t n;
    struct wf_graph_node *nodes;
    uint32_t n_dsts;
    uint32_t *dsts;   /* switches that have hosts */
    uint32_t *dst_of; /* by switch: its place in dsts; n_dsts: it is none */
    uint16_t *sets;   /* each a length and as many ports; at 0 the empty one */
    /* what only updates look at */
    bool regular;                         /* `reach` is right while all links are up */
    enum wf_turn turn;                    /* of a ring; else the shortest */
    uint32_t n_down;                      /* links between switches that are down */
    uint32_t n_sets, cap_sets;            /* words of sets */
    uint32_t *slots, n_slots, used_slots; /* hash of the sets, by their place */
    uint32_t **free_rows, n_free_rows;
    uint32_t *scratch; /* 2 n words for the searches */
    uint16_t *tmp[2];  /* sets under construction, of as many ports as any switch has */
    struct wf_arena *arena;
};

/* n switches without ports; ports are given by wf_graph_ports, then filled in by the caller. What
 * is needed, now or later when links change, comes from the arena. */
void wf_graph_init(struct wf_graph *g, struct wf_arena *arena, uint32_t n);
void wf_graph_ports(struct wf_graph *g, uint32_t node, uint16_t n_ports);
/* After all ports are there, all up: shortest paths and tree. shape may be NULL. */
void wf_graph_ready(struct wf_graph *g, const struct wf_shape *shape);
/* The link at a switch's port went down or came up; told once, at either end. */
void wf_graph_link(struct wf_graph *g, uint32_t node, uint16_t port, bool up);

/* shape.c: fill in `reach` when the graph is what the shape says. */
bool wf_graph_shaped(struct wf_graph *g, const struct wf_shape *shape);
/* ring.c: whether it is one; whether other ways than the shortest are taken, and those to a
 * destination, by wf_graph_set_hops(). */
bool wf_graph_is_ring(const struct wf_graph *g);
bool wf_graph_turns(const struct wf_graph *g);
void wf_graph_turn(struct wf_graph *g, uint32_t dst);
void wf_graph_set_hops(struct wf_graph *g, uint32_t node, uint32_t dst, const uint16_t *set);
/* tree.c: the flooding tree over the ports that are up. */
void wf_graph_tree(struct wf_graph *g);

static inline bool wf_graph_usable(const struct wf_graph_port *p)
{
    return p->up && p->peer >= 0;
}

static inline struct wf_hops wf_reach_hops(const struct wf_reach *r, uint32_t dst)
{
    uint32_t at = dst - r->below;

    if (at < r->n_below)
        return (struct wf_hops){NULL, (uint16_t)(r->down + ((uint64_t)at * r->magic >> 31)), 1};
    return (struct wf_hops){NULL, r->up, r->n_up};
}

/* The same and the choice among them by a hash, without a branch for up or down; where it masks. */
static inline uint16_t wf_reach_port(const struct wf_reach *r, uint32_t dst, uint64_t hash)
{
    uint32_t at = dst - r->below;
    bool down = at < r->n_below;
    uint16_t first = down ? (uint16_t)(r->down + ((uint64_t)at * r->magic >> 31)) : r->up;

    return (uint16_t)(first + (hash & (down ? 0u : r->mask)));
}

/* From a switch to another one that has hosts. n is 0 when there is no way. */
static inline struct wf_hops wf_next_hops(const struct wf_graph *g, uint32_t node, uint32_t dst)
{
    const struct wf_graph_node *v = &g->nodes[node];
    const uint16_t *set;

    if (!v->row)
        return wf_reach_hops(&v->reach, dst);
    set = g->sets + v->row[g->dst_of[dst]];
    return (struct wf_hops){set + 1, 0, set[0]};
}

static inline uint16_t wf_hops_port(struct wf_hops h, unsigned i)
{
    return h.ports ? h.ports[i] : (uint16_t)(h.first + i);
}

#endif
