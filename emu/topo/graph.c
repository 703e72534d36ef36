/* SPDX-License-Identifier: BSD-3-Clause */
#include "topo/graph.h"

#include <string.h>

#include "base/digest.h"

#define FAR UINT32_MAX

void wf_graph_init(struct wf_graph *g, struct wf_arena *arena, uint32_t n)
{
    *g = (struct wf_graph){.n = n, .arena = arena};
    g->nodes = WF_ARENA_ARRAY(arena, struct wf_graph_node, n + 1);
    g->scratch = WF_ARENA_ARRAY(arena, uint32_t, 2 * (size_t)n + 1);
}

void wf_graph_ports(struct wf_graph *g, uint32_t node, uint16_t n_ports)
{
    struct wf_graph_node *v = &g->nodes[node];

    v->n_ports = n_ports;
    v->ports = WF_ARENA_ARRAY(g->arena, struct wf_graph_port, n_ports);
    for (uint16_t i = 0; i < n_ports; i++)
        v->ports[i] = (struct wf_graph_port){.peer = -1, .host = -1, .up = true};
}

/* --- sets of ports, equal ones kept once ------------------------------------------------------ */

static uint32_t slot_of(const struct wf_graph *g, const uint16_t *set)
{
    uint32_t bytes = 2 * (1 + (uint32_t)set[0]);
    uint32_t i = (uint32_t)wf_hash_bytes((const uint8_t *)set, bytes, 0) & (g->n_slots - 1);

    while (g->slots[i] && memcmp(g->sets + g->slots[i], set, bytes))
        i = (i + 1) & (g->n_slots - 1);
    return i;
}

static void grow_slots(struct wf_graph *g)
{
    uint32_t *old = g->slots, n = g->n_slots;

    g->n_slots = n ? 2 * n : 256;
    g->slots = WF_ARENA_ARRAY(g->arena, uint32_t, g->n_slots);
    for (uint32_t i = 0; i < n; i++)
        if (old[i])
            g->slots[slot_of(g, g->sets + old[i])] = old[i];
}

static void grow_sets(struct wf_graph *g, uint32_t words)
{
    uint16_t *old = g->sets;

    while (g->cap_sets < g->n_sets + words)
        g->cap_sets = g->cap_sets ? 2 * g->cap_sets : 4096;
    g->sets = WF_ARENA_ARRAY(g->arena, uint16_t, g->cap_sets);
    if (old)
        memcpy(g->sets, old, g->n_sets * sizeof(*old));
}

/* The place of a set, which is a length and as many ports; 0 for the empty one. */
static uint32_t intern(struct wf_graph *g, const uint16_t *set)
{
    uint32_t words = 1 + (uint32_t)set[0], slot;

    if (!g->n_sets)
        g->n_sets = 1; /* the empty one */
    if (!g->sets || g->n_sets + words > g->cap_sets)
        grow_sets(g, words);
    if (!set[0])
        return 0;
    if (2 * g->used_slots >= g->n_slots)
        grow_slots(g);
    slot = slot_of(g, set);
    if (!g->slots[slot]) {
        memcpy(g->sets + g->n_sets, set, words * sizeof(*set));
        g->slots[slot] = g->n_sets;
        g->n_sets += words;
        g->used_slots++;
    }
    return g->slots[slot];
}

/* --- rows ------------------------------------------------------------------------------------- */

static struct wf_hops hops(const struct wf_graph *g, uint32_t node, uint32_t d)
{
    if (node == g->dsts[d])
        return (struct wf_hops){0};
    return wf_next_hops(g, node, g->dsts[d]);
}

/* Give the switch a row that says the same as its structure did. */
static void make_row(struct wf_graph *g, uint32_t node)
{
    struct wf_graph_node *v = &g->nodes[node];
    uint16_t *set = g->tmp[1];
    uint32_t *row = g->n_free_rows ? g->free_rows[--g->n_free_rows]
                                   : WF_ARENA_ARRAY(g->arena, uint32_t, g->n_dsts + 1);

    struct wf_hops last = {0}; /* most destinations have those of the one before */
    uint32_t place = 0;

    for (uint32_t d = 0; d < g->n_dsts; d++) {
        struct wf_hops h = g->regular ? hops(g, node, d) : (struct wf_hops){0};

        if (h.n != last.n || h.first != last.first) {
            set[0] = h.n;
            for (uint16_t i = 0; i < h.n; i++)
                set[1 + i] = wf_hops_port(h, i);
            place = intern(g, set);
            last = h;
        }
        row[d] = place;
    }
    row[g->n_dsts] = 0; /* what is no destination */
    v->row = row;
}

static bool equal(struct wf_hops h, const uint16_t *set)
{
    if (h.n != set[0])
        return false;
    for (uint16_t i = 0; i < h.n; i++)
        if (wf_hops_port(h, i) != set[1 + i])
            return false;
    return true;
}

void wf_graph_set_hops(struct wf_graph *g, uint32_t node, uint32_t d, const uint16_t *set)
{
    if (equal(hops(g, node, d), set))
        return;
    if (!g->nodes[node].row)
        make_row(g, node);
    g->nodes[node].row[d] = intern(g, set);
}

/* --- searches --------------------------------------------------------------------------------- */

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
        uint32_t far = dist[queue[head++]] + 1;

        for (uint16_t i = 0; i < v->n_ports; i++)
            if (wf_graph_usable(&v->ports[i]) && dist[v->ports[i].peer] == FAR) {
                dist[v->ports[i].peer] = far;
                queue[tail++] = (uint32_t)v->ports[i].peer;
            }
    }
}

static void search(struct wf_graph *g, uint32_t d)
{
    uint32_t *dist = g->scratch;
    uint16_t *set = g->tmp[0];

    if (wf_graph_turns(g)) {
        wf_graph_turn(g, d);
        return;
    }
    distances(g, g->dsts[d], dist, g->scratch + g->n);
    for (uint32_t s = 0; s < g->n; s++) {
        const struct wf_graph_node *v = &g->nodes[s];

        set[0] = 0;
        for (uint16_t i = 0; i < v->n_ports && dist[s] && dist[s] != FAR; i++)
            if (wf_graph_usable(&v->ports[i]) && dist[v->ports[i].peer] + 1 == dist[s])
                set[++set[0]] = i;
        wf_graph_set_hops(g, s, d, set);
    }
}

/* How far it is by the next hops that are known. */
static uint32_t far_from(const struct wf_graph *g, uint32_t node, uint32_t d)
{
    uint32_t n = 0;

    while (node != g->dsts[d]) {
        struct wf_hops h = hops(g, node, d);

        if (!h.n)
            return FAR;
        node = (uint32_t)g->nodes[node].ports[wf_hops_port(h, 0)].peer;
        n++;
    }
    return n;
}

/* --- changes ---------------------------------------------------------------------------------- */

static unsigned usable_ports(const struct wf_graph_node *v)
{
    unsigned n = 0;

    for (uint16_t i = 0; i < v->n_ports; i++)
        n += wf_graph_usable(&v->ports[i]);
    return n;
}

/* The hops without the port. False when it was none of them. */
static bool without(struct wf_hops h, uint16_t port, uint16_t *set)
{
    set[0] = 0;
    for (uint16_t i = 0; i < h.n; i++)
        if (wf_hops_port(h, i) != port)
            set[++set[0]] = wf_hops_port(h, i);
    return set[0] != h.n;
}

static void with(struct wf_hops h, uint16_t port, uint16_t *set)
{
    uint16_t i = 0;

    set[0] = 0;
    for (; i < h.n && wf_hops_port(h, i) < port; i++)
        set[++set[0]] = wf_hops_port(h, i);
    set[++set[0]] = port;
    for (; i < h.n; i++)
        set[++set[0]] = wf_hops_port(h, i);
}

/* The way from `node` by `port` is gone. True when it was one. A switch that has lost its last link
 * is on nobody's way; who has no other way to the destination makes a search necessary. */
static bool lose(struct wf_graph *g, uint32_t node, uint16_t port, uint32_t d)
{
    uint16_t *set = g->tmp[0];

    if (!without(hops(g, node, d), port, set))
        return false;
    if (set[0] || !usable_ports(&g->nodes[node]))
        wf_graph_set_hops(g, node, d, set);
    else
        search(g, d);
    return true;
}

static void link_down(struct wf_graph *g, uint32_t a, uint16_t a_port, uint32_t b, uint16_t b_port)
{
    for (uint32_t d = 0; d < g->n_dsts; d++)
        if (!lose(g, a, a_port, d))
            lose(g, b, b_port, d);
}

/* `node` is farther than the other end by `more`, FAR when it had no way at all. */
static void gain(struct wf_graph *g, uint32_t node, uint16_t port, uint32_t d, uint32_t more)
{
    uint16_t *set = g->tmp[0];

    with(more == 1 ? hops(g, node, d) : (struct wf_hops){0}, port, set);
    if (more == 1 || usable_ports(&g->nodes[node]) == 1) /* nobody comes through a dead end */
        wf_graph_set_hops(g, node, d, set);
    else
        search(g, d);
}

static void link_up(struct wf_graph *g, uint32_t a, uint16_t a_port, uint32_t b, uint16_t b_port)
{
    for (uint32_t d = 0; d < g->n_dsts; d++) {
        uint32_t from_a = far_from(g, a, d), from_b = far_from(g, b, d);

        if (from_a > from_b)
            gain(g, a, a_port, d, from_a - from_b);
        else if (from_b > from_a)
            gain(g, b, b_port, d, from_b - from_a);
    }
}

/* A regular graph that is whole again needs no rows. */
static void drop_rows(struct wf_graph *g)
{
    if (!g->free_rows)
        g->free_rows = WF_ARENA_ARRAY(g->arena, uint32_t *, g->n);
    for (uint32_t i = 0; i < g->n; i++) {
        if (g->nodes[i].row)
            g->free_rows[g->n_free_rows++] = g->nodes[i].row;
        g->nodes[i].row = NULL;
    }
}

void wf_graph_link(struct wf_graph *g, uint32_t node, uint16_t port, bool up)
{
    struct wf_graph_port *p = &g->nodes[node].ports[port];

    if (p->up == up)
        return;
    p->up = up;
    if (p->peer < 0)
        return;
    g->nodes[p->peer].ports[p->peer_port].up = up;
    g->n_down += up ? -1u : 1u;
    if (up && g->regular && !g->n_down)
        drop_rows(g);
    else if (wf_graph_turns(g))
        for (uint32_t d = 0; d < g->n_dsts; d++)
            search(g, d);
    else if (up)
        link_up(g, node, port, (uint32_t)p->peer, p->peer_port);
    else
        link_down(g, node, port, (uint32_t)p->peer, p->peer_port);
    wf_graph_tree(g);
}

static void make_room(struct wf_graph *g)
{
    uint16_t most = 0;

    for (uint32_t i = 0; i < g->n; i++)
        most = g->nodes[i].n_ports > most ? g->nodes[i].n_ports : most;
    for (int i = 0; i < 2; i++)
        g->tmp[i] = WF_ARENA_ARRAY(g->arena, uint16_t, (size_t)most + 1);
    g->dsts = WF_ARENA_ARRAY(g->arena, uint32_t, g->n + 1);
    g->dst_of = WF_ARENA_ARRAY(g->arena, uint32_t, g->n + 1);
}

static bool has_hosts(const struct wf_graph_node *v)
{
    for (uint16_t i = 0; i < v->n_ports; i++)
        if (v->ports[i].host >= 0)
            return true;
    return false;
}

void wf_graph_ready(struct wf_graph *g, const struct wf_shape *shape)
{
    static const uint16_t empty;

    make_room(g);
    intern(g, &empty);
    for (uint32_t i = 0; i < g->n; i++)
        if (has_hosts(&g->nodes[i]))
            g->dsts[g->n_dsts++] = i;
    for (uint32_t i = 0; i < g->n; i++)
        g->dst_of[i] = g->n_dsts;
    for (uint32_t d = 0; d < g->n_dsts; d++)
        g->dst_of[g->dsts[d]] = d;
    g->regular = wf_graph_shaped(g, shape);
    if (shape && shape->kind == WF_SHAPE_RING && wf_graph_is_ring(g))
        g->turn = shape->turn;
    for (uint32_t i = 0; i < g->n && !g->regular; i++)
        make_row(g, i);
    for (uint32_t d = 0; d < g->n_dsts && !g->regular; d++)
        search(g, d);
    wf_graph_tree(g);
}
