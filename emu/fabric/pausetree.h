/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who paused whom, and why. When a priority group sends XOFF, the switch notes which egress queue
 * its bytes were waiting for. An edge leads from that queue to the peer's queue that the XOFF
 * stopped; a queue that causes pauses and is not itself stopped by one of those is a root, also one
 * that a host stopped. Congestion spreads from the roots outwards; a flow that was stopped and
 * passes no root is a victim.
 */
#ifndef WEFT_FABRIC_PAUSETREE_H
#define WEFT_FABRIC_PAUSETREE_H

#include "fabric/fabric.h"

struct wf_pause_queue {
    struct wf_port *port; /* egress port */
    uint8_t queue;
};

struct wf_pause_edge {
    struct wf_pause_queue cause;  /* full queue of a switch */
    struct wf_pause_queue paused; /* queue of the peer that feeds it */
    uint8_t prio;
    uint32_t xoffs, while_paused; /* of those: the cause was itself stopped */
    uint64_t paused_ps;           /* how long it was kept so for this cause */
    uint16_t depth;               /* 1: paused by a root; 0: reached from no root (a cycle) */
    struct wf_pause_edge *next;   /* of the same cause */
};

/* A queue that paused or was paused. */
struct wf_pause_node {
    struct wf_pause_queue at;
    struct wf_pause_edge *edges; /* that it is the cause of */
    uint64_t xoffs, while_paused;
    bool root, stopped, reached;
    uint16_t depth; /* of the edge that reached it first; a root's is 0 */
};

struct wf_pause_tree {
    struct wf_pause_edge *edges; /* in entity order */
    uint32_t n_edges;
    struct wf_pause_queue *roots;
    uint32_t n_roots;
    struct wf_pause_node *nodes; /* sorted by port and queue */
    uint32_t n_nodes;
    bool cycle; /* some queues stop each other and nobody else stops them */
};

/* From the pauses so far; arrays come from the arena. Settles the fabric's counters. */
void wf_pause_tree(struct wf_fabric *f, struct wf_arena *arena, struct wf_pause_tree *t);
/* A root that was mostly itself stopped, by an end that is no queue of the tree: a host, or frames
 * made on purpose. */
bool wf_pause_from_outside(const struct wf_pause_tree *t, const struct wf_port *port,
                           uint8_t queue);
bool wf_pause_is_root(const struct wf_pause_tree *t, const struct wf_port *port, uint8_t queue);
/* The first of the edges of a cause, the others by `next`; in entity order. */
const struct wf_pause_edge *wf_pause_edges(const struct wf_pause_tree *t,
                                           const struct wf_pause_queue *cause);
/* Of the egress ports of a path (wf_fabric_path): whether the flow was stopped in `queue` of one
 * of them and passes through no root. */
bool wf_pause_is_victim(const struct wf_pause_tree *t, struct wf_port *const *path, int n,
                        uint8_t queue);

#endif
