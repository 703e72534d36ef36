/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/pausetree.h"

#include <stdlib.h>

static int by_port(const struct wf_pause_queue *a, const struct wf_pause_queue *b)
{
    if (a->port->entity != b->port->entity)
        return a->port->entity < b->port->entity ? -1 : 1;
    return (a->queue > b->queue) - (a->queue < b->queue);
}

static int by_queue(const void *a, const void *b)
{
    return by_port(&((const struct wf_pause_node *)a)->at, &((const struct wf_pause_node *)b)->at);
}

static struct wf_pause_node *find(const struct wf_pause_tree *t, const struct wf_port *port,
                                  uint8_t queue)
{
    struct wf_pause_node key = {.at = {(struct wf_port *)port, queue}};

    return t->n_nodes ? bsearch(&key, t->nodes, t->n_nodes, sizeof(key), by_queue) : NULL;
}

static const struct wf_pg *group(struct wf_fabric *f, uint32_t sw, unsigned port, unsigned g)
{
    return &((struct wf_switch *)f->nodes[sw])->pg[port][g];
}

static uint32_t count_blames(struct wf_fabric *f)
{
    uint32_t n = 0;

    for (uint32_t s = 0; s < f->graph.n; s++)
        for (unsigned p = 0; p < f->nodes[s]->n_ports; p++)
            for (unsigned g = 0; g < WF_PGS; g++)
                for (unsigned b = 0; group(f, s, p, g)->blames && b < WF_BLAMES; b++)
                    n += group(f, s, p, g)->blames->of[b].xoffs != 0;
    return n;
}

/* The pause that lasts now counts too. */
static uint64_t lasted(const struct wf_pg *pg, unsigned blame, uint64_t now)
{
    const struct wf_blames *of = pg->blames;

    return of->of[blame].paused_ps + (pg->xoff && of->last == blame ? now - of->xoff_at_ps : 0);
}

static void add_edges(struct wf_fabric *f, uint32_t sw, unsigned port, struct wf_pause_tree *t)
{
    struct wf_port *ports = f->nodes[sw]->ports, *peer = ports[port].peer;

    for (unsigned g = 0; g < WF_PGS; g++) {
        const struct wf_pg *pg = group(f, sw, port, g);

        for (unsigned b = 0; pg->blames && b < WF_BLAMES; b++) {
            const struct wf_blame *bl = &pg->blames->of[b];

            if (!bl->xoffs)
                continue;
            t->edges[t->n_edges++] = (struct wf_pause_edge){
                .cause = {&ports[bl->port], bl->queue},
                .paused = {peer, wf_pfc_of(peer)->queue_of_prio[pg->prio]},
                .prio = pg->prio,
                .xoffs = bl->xoffs,
                .while_paused = bl->while_paused,
                .paused_ps = lasted(pg, b, wf_fabric_now_ps(f)),
            };
        }
    }
}

/* The queues that are an end of an edge, each once, in order. */
static void find_nodes(struct wf_pause_tree *t, struct wf_arena *arena)
{
    uint32_t n = 0;

    t->nodes = WF_ARENA_ARRAY(arena, struct wf_pause_node, 2 * t->n_edges + 1);
    for (uint32_t i = 0; i < t->n_edges; i++) {
        t->nodes[n++].at = t->edges[i].cause;
        t->nodes[n++].at = t->edges[i].paused;
    }
    qsort(t->nodes, n, sizeof(*t->nodes), by_queue);
    for (uint32_t i = 0; i < n; i++)
        if (!i || by_queue(&t->nodes[i], &t->nodes[i - 1]))
            t->nodes[t->n_nodes++] = t->nodes[i];
}

/* Each edge hangs in a list at its cause. */
static void link_edges(struct wf_pause_tree *t)
{
    for (uint32_t i = t->n_edges; i > 0; i--) {
        struct wf_pause_edge *e = &t->edges[i - 1];
        struct wf_pause_node *cause = find(t, e->cause.port, e->cause.queue);

        e->next = cause->edges;
        cause->edges = e;
        cause->xoffs += e->xoffs;
        cause->while_paused += e->while_paused;
        find(t, e->paused.port, e->paused.queue)->stopped = true;
    }
}

static bool mostly_paused(const struct wf_pause_node *n)
{
    return 2 * n->while_paused >= n->xoffs;
}

/* A cause is a root when it was not stopped itself in at least half of its XOFFs, or by none of
 * these queues. In the order of the edges. */
static void find_roots(struct wf_pause_tree *t)
{
    for (uint32_t i = 0; i < t->n_edges; i++) {
        const struct wf_pause_queue *c = &t->edges[i].cause;
        struct wf_pause_node *n = find(t, c->port, c->queue);

        if (n->root || (n->stopped && mostly_paused(n)))
            continue;
        n->root = true;
        t->roots[t->n_roots++] = *c;
    }
}

/* From the roots outwards, breadth first; an edge's depth is told once, and so is a queue's. */
static void find_depths(struct wf_pause_tree *t, struct wf_arena *arena)
{
    struct wf_pause_node **queue = WF_ARENA_ARRAY(arena, struct wf_pause_node *, t->n_nodes + 1);
    uint32_t head = 0, tail = 0;

    for (uint32_t i = 0; i < t->n_roots; i++) {
        queue[tail] = find(t, t->roots[i].port, t->roots[i].queue);
        queue[tail++]->reached = true;
    }
    for (; head < tail; head++)
        for (struct wf_pause_edge *e = queue[head]->edges; e; e = e->next) {
            struct wf_pause_node *to = find(t, e->paused.port, e->paused.queue);

            e->depth = (uint16_t)(queue[head]->depth + 1);
            if (to->reached)
                continue;
            to->reached = true;
            to->depth = e->depth;
            queue[tail++] = to;
        }
    for (uint32_t i = 0; i < t->n_edges; i++)
        t->cycle |= !t->edges[i].depth;
}

void wf_pause_tree(struct wf_fabric *f, struct wf_arena *arena, struct wf_pause_tree *t)
{
    *t = (struct wf_pause_tree){0};
    wf_fabric_settle(f);
    t->edges = WF_ARENA_ARRAY(arena, struct wf_pause_edge, count_blames(f) + 1);
    for (uint32_t s = 0; s < f->graph.n; s++)
        for (unsigned p = 0; p < f->nodes[s]->n_ports; p++)
            add_edges(f, s, p, t);
    t->roots = WF_ARENA_ARRAY(arena, struct wf_pause_queue, t->n_edges + 1);
    find_nodes(t, arena);
    link_edges(t);
    find_roots(t);
    find_depths(t, arena);
}

bool wf_pause_from_outside(const struct wf_pause_tree *t, const struct wf_port *port, uint8_t queue)
{
    const struct wf_pause_node *n = find(t, port, queue);

    return n && n->root && mostly_paused(n) && n->while_paused;
}

bool wf_pause_is_root(const struct wf_pause_tree *t, const struct wf_port *port, uint8_t queue)
{
    const struct wf_pause_node *n = find(t, port, queue);

    return n && n->root;
}

const struct wf_pause_edge *wf_pause_edges(const struct wf_pause_tree *t,
                                           const struct wf_pause_queue *cause)
{
    const struct wf_pause_node *n = find(t, cause->port, cause->queue);

    return n ? n->edges : NULL;
}

bool wf_pause_is_victim(const struct wf_pause_tree *t, struct wf_port *const *path, int n,
                        uint8_t queue)
{
    bool stopped = false;

    for (int i = 0; i < n; i++) {
        const struct wf_pause_node *at = find(t, path[i], queue);

        if (at && at->root)
            return false;
        stopped = stopped || (at && at->stopped);
    }
    return stopped;
}
