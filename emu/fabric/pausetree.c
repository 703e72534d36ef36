/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/pausetree.h"

static bool same(const struct wf_pause_queue *a, const struct wf_pause_queue *b)
{
    return a->port == b->port && a->queue == b->queue;
}

static uint32_t count_blames(struct wf_fabric *f)
{
    uint32_t n = 0;

    for (uint32_t s = 0; s < f->graph.n; s++)
        n += f->nodes[s]->n_ports * WF_PGS * WF_BLAMES;
    return n;
}

/* The pause that lasts now counts too. */
static uint64_t lasted(const struct wf_pg *pg, unsigned blame, uint64_t now)
{
    return pg->blame[blame].paused_ps +
           (pg->xoff && pg->blamed == blame ? now - pg->xoff_at_ps : 0);
}

static void add_edges(struct wf_fabric *f, struct wf_switch *sw, unsigned port,
                      struct wf_pause_tree *t)
{
    struct wf_port *peer = sw->node.ports[port].peer;

    for (unsigned g = 0; g < WF_PGS; g++) {
        const struct wf_pg *pg = &sw->pg[port][g];

        for (unsigned b = 0; b < WF_BLAMES; b++) {
            const struct wf_blame *bl = &pg->blame[b];

            if (!bl->xoffs)
                continue;
            t->edges[t->n_edges++] = (struct wf_pause_edge){
                .cause = {&sw->node.ports[bl->port], bl->queue},
                .paused = {peer, wf_pfc_of(peer)->queue_of_prio[pg->prio]},
                .prio = pg->prio,
                .xoffs = bl->xoffs,
                .while_paused = bl->while_paused,
                .paused_ps = lasted(pg, b, wf_fabric_now_ps(f)),
            };
        }
    }
}

/* A cause is a root when it was not stopped itself in at least half of its XOFFs. */
static void find_roots(struct wf_pause_tree *t)
{
    for (uint32_t i = 0; i < t->n_edges; i++) {
        const struct wf_pause_queue *c = &t->edges[i].cause;
        uint64_t xoffs = 0, while_paused = 0;

        if (wf_pause_is_root(t, c->port, c->queue))
            continue;
        for (uint32_t j = 0; j < t->n_edges; j++)
            if (same(&t->edges[j].cause, c)) {
                xoffs += t->edges[j].xoffs;
                while_paused += t->edges[j].while_paused;
            }
        if (2 * while_paused < xoffs)
            t->roots[t->n_roots++] = *c;
    }
}

static void find_depths(struct wf_pause_tree *t)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < t->n_edges; i++) {
            struct wf_pause_edge *e = &t->edges[i];

            if (e->depth)
                continue;
            if (wf_pause_is_root(t, e->cause.port, e->cause.queue))
                e->depth = 1;
            for (uint32_t j = 0; j < t->n_edges && !e->depth; j++)
                if (t->edges[j].depth && same(&t->edges[j].paused, &e->cause))
                    e->depth = (uint16_t)(t->edges[j].depth + 1);
            more |= e->depth != 0;
        }
    }
    for (uint32_t i = 0; i < t->n_edges; i++)
        t->cycle |= !t->edges[i].depth;
}

void wf_pause_tree(struct wf_fabric *f, struct wf_arena *arena, struct wf_pause_tree *t)
{
    uint32_t max = count_blames(f);

    *t = (struct wf_pause_tree){0};
    wf_fabric_settle(f);
    t->edges = WF_ARENA_ARRAY(arena, struct wf_pause_edge, max + 1);
    for (uint32_t s = 0; s < f->graph.n; s++)
        for (unsigned p = 0; p < f->nodes[s]->n_ports; p++)
            add_edges(f, (struct wf_switch *)f->nodes[s], p, t);
    t->roots = WF_ARENA_ARRAY(arena, struct wf_pause_queue, t->n_edges + 1);
    find_roots(t);
    find_depths(t);
}

bool wf_pause_is_root(const struct wf_pause_tree *t, const struct wf_port *port, uint8_t queue)
{
    for (uint32_t i = 0; i < t->n_roots; i++)
        if (t->roots[i].port == port && t->roots[i].queue == queue)
            return true;
    return false;
}

bool wf_pause_is_victim(const struct wf_pause_tree *t, struct wf_port *const *path, int n,
                        uint8_t queue)
{
    bool stopped = false;

    for (int i = 0; i < n; i++) {
        if (wf_pause_is_root(t, path[i], queue))
            return false;
        for (uint32_t e = 0; e < t->n_edges && !stopped; e++)
            stopped = t->edges[e].paused.port == path[i] && t->edges[e].paused.queue == queue;
    }
    return stopped;
}
