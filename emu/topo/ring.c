/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring's ways other than the shortest. `clockwise`: each switch sends to the next one, so that
 * from three switches on the links depend on each other in a circle. `up_down`: as Autonet's
 * up*-down* routing with switch 0 as the root; a way goes up, then down and never up again, which
 * no circle can do. Where a way that only goes down exists it is taken, else the nearest above;
 * that is a function of switch and destination alone.
 */
#include "topo/graph.h"

#define FAR UINT32_MAX

/* Position in the order from the root down: 0, 1, n-1, 2, n-2 ... */
static uint32_t rank_of(uint32_t n, uint32_t i)
{
    return !i ? 0 : i <= n - i ? 2 * i - 1 : 2 * (n - i);
}

static uint32_t of_rank(uint32_t n, uint32_t rank)
{
    return !rank ? 0 : rank % 2 ? (rank + 1) / 2 : n - rank / 2;
}

/* The least of `far` over the usable neighbours above or below. */
static uint32_t nearest(const struct wf_graph *g, uint32_t s, bool up, const uint32_t *far)
{
    const struct wf_graph_node *v = &g->nodes[s];
    uint32_t least = FAR;

    for (uint16_t i = 0; i < v->n_ports; i++) {
        uint32_t peer = (uint32_t)v->ports[i].peer;

        if (wf_graph_usable(&v->ports[i]) && (rank_of(g->n, peer) < rank_of(g->n, s)) == up &&
            far[peer] < least)
            least = far[peer];
    }
    return least;
}

static void hops_to(const struct wf_graph *g, uint32_t s, bool up, const uint32_t *far,
                    uint32_t least, uint16_t *set)
{
    const struct wf_graph_node *v = &g->nodes[s];

    for (uint16_t i = 0; i < v->n_ports && least != FAR; i++) {
        uint32_t peer = (uint32_t)v->ports[i].peer;

        if (wf_graph_usable(&v->ports[i]) && (rank_of(g->n, peer) < rank_of(g->n, s)) == up &&
            far[peer] == least)
            set[++set[0]] = i;
    }
}

/* down: how far it is by ways that only go down; all: by those that are taken. */
static void up_down(struct wf_graph *g, uint32_t d)
{
    uint32_t *down = g->scratch, *all = g->scratch + g->n, dst = g->dsts[d];
    uint16_t *set = g->tmp[0];

    for (uint32_t k = g->n; k-- > 0;) {
        uint32_t s = of_rank(g->n, k), least = nearest(g, s, false, down);

        down[s] = s == dst ? 0 : least == FAR ? FAR : least + 1;
    }
    for (uint32_t k = 0; k < g->n; k++) {
        uint32_t s = of_rank(g->n, k), least = nearest(g, s, true, all);

        all[s] = down[s] != FAR ? down[s] : least == FAR ? FAR : least + 1;
        set[0] = 0;
        if (s != dst && down[s] != FAR)
            hops_to(g, s, false, down, down[s] - 1, set);
        else if (s != dst)
            hops_to(g, s, true, all, least, set);
        wf_graph_set_hops(g, s, d, set);
    }
}

static void clockwise(struct wf_graph *g, uint32_t d)
{
    uint16_t *set = g->tmp[0];

    for (uint32_t s = 0; s < g->n; s++) {
        const struct wf_graph_node *v = &g->nodes[s];

        set[0] = 0;
        for (uint16_t i = 0; i < v->n_ports && s != g->dsts[d]; i++)
            if (wf_graph_usable(&v->ports[i]) && (uint32_t)v->ports[i].peer == (s + 1) % g->n)
                set[++set[0]] = i;
        wf_graph_set_hops(g, s, d, set);
    }
}

bool wf_graph_turns(const struct wf_graph *g)
{
    return g->turn != WF_TURN_SHORTEST;
}

void wf_graph_turn(struct wf_graph *g, uint32_t d)
{
    if (g->turn == WF_TURN_CLOCKWISE)
        clockwise(g, d);
    else
        up_down(g, d);
}

/* Each switch is linked to the one before and the one behind it, and to no other. */
bool wf_graph_is_ring(const struct wf_graph *g)
{
    for (uint32_t s = 0; s < g->n; s++) {
        unsigned next = 0, before = 0, links = 0;

        for (uint16_t i = 0; i < g->nodes[s].n_ports; i++) {
            int32_t peer = g->nodes[s].ports[i].peer;

            links += peer >= 0;
            next += peer == (int32_t)((s + 1) % g->n);
            before += peer == (int32_t)((s + g->n - 1) % g->n);
        }
        if (links != 2 || next != 1 || before != 1)
            return false;
    }
    return g->n >= 3;
}
