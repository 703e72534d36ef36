/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regular graphs: what a switch of a leaf-spine or a fat tree reaches by which port follows from
 * its number. A graph that is not link by link what its generator said is no regular one.
 */
#include "topo/graph.h"

/* (dst - below) / each by a multiplication: exact while the product with `each` is below 2^31. */
static uint32_t magic_of(uint32_t each)
{
    return (uint32_t)(((1ull << 31) + each - 1) / each);
}

/* Ports from `first` on lead to switches from..from+n-1 in steps, all other ports to hosts. */
static bool leads_to(const struct wf_graph_node *v, uint16_t first, uint32_t from, uint32_t step,
                     uint32_t n)
{
    if ((uint32_t)first + n > v->n_ports)
        return false;
    for (uint16_t i = 0; i < v->n_ports; i++) {
        uint32_t at = (uint32_t)i - first;

        if (v->ports[i].peer != (at < n ? (int32_t)(from + at * step) : -1))
            return false;
    }
    return true;
}

static uint16_t first_uplink(const struct wf_graph_node *v)
{
    uint16_t i = 0;

    while (i < v->n_ports && v->ports[i].peer < 0)
        i++;
    return i;
}

/* A switch with hosts: everything that is not here is up. */
static bool leaf(struct wf_graph_node *v, uint32_t from, uint32_t n)
{
    v->reach.up = first_uplink(v);
    v->reach.n_up = (uint16_t)n;
    return leads_to(v, v->reach.up, from, 1, n);
}

static bool leaf_spine(struct wf_graph *g, const struct wf_shape *s)
{
    if ((uint64_t)s->leaves + s->spines != g->n || (s->leaves > 1 && !s->spines))
        return false;
    for (uint32_t i = 0; i < s->leaves; i++)
        if (!leaf(&g->nodes[i], s->leaves, s->spines))
            return false;
    for (uint32_t i = s->leaves; i < g->n; i++) {
        g->nodes[i].reach = (struct wf_reach){.n_below = s->leaves, .magic = magic_of(1)};
        if (g->nodes[i].n_ports != s->leaves || !leads_to(&g->nodes[i], 0, 0, 1, s->leaves))
            return false;
    }
    return true;
}

/* An aggregation switch: its ports are the pod's edges, then cores. */
static bool agg(const struct wf_graph *g, uint32_t i, uint32_t tier, uint32_t half)
{
    struct wf_graph_node *v = &g->nodes[tier + i];
    uint32_t below = i / half * half;

    v->reach = (struct wf_reach){.below = below,
                                 .n_below = half,
                                 .magic = magic_of(1),
                                 .up = (uint16_t)half,
                                 .n_up = (uint16_t)half};
    if (v->n_ports != 2 * half)
        return false;
    for (uint32_t p = 0; p < half; p++)
        if (v->ports[p].peer != (int32_t)(below + p) ||
            v->ports[half + p].peer != (int32_t)(2 * tier + i % half * half + p))
            return false;
    return true;
}

static bool fat_tree(struct wf_graph *g, const struct wf_shape *s)
{
    uint32_t half = s->half, tier = s->pods * half;

    if (!half || 2 * (uint64_t)tier + (uint64_t)half * half != g->n)
        return false;
    for (uint32_t i = 0; i < tier; i++)
        if (!leaf(&g->nodes[i], tier + i / half * half, half) || !agg(g, i, tier, half))
            return false;
    for (uint32_t i = 0; i < half * half; i++) {
        struct wf_graph_node *v = &g->nodes[2 * tier + i];

        v->reach = (struct wf_reach){.n_below = tier, .magic = magic_of(half)};
        if (v->n_ports != s->pods || !leads_to(v, 0, tier + i / half, half, s->pods))
            return false;
    }
    return true;
}

/* Whoever has no uplinks has all destinations below. */
static void note_masks(struct wf_graph *g)
{
    for (uint32_t i = 0; i < g->n; i++) {
        struct wf_reach *r = &g->nodes[i].reach;

        r->masks = !r->n_up || !(r->n_up & (r->n_up - 1));
        r->mask = r->n_up ? (uint16_t)(r->n_up - 1) : 0;
    }
}

bool wf_graph_shaped(struct wf_graph *g, const struct wf_shape *shape)
{
    if (!shape || g->n > 1u << 20)
        return false;
    if (!(shape->kind == WF_SHAPE_LEAF_SPINE && leaf_spine(g, shape)) &&
        !(shape->kind == WF_SHAPE_FAT_TREE && fat_tree(g, shape)))
        return false;
    note_masks(g);
    return true;
}
