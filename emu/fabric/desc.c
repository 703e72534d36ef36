/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/desc.h"

#include <stdio.h>
#include <string.h>

static void add_link(struct wf_desc *d, struct wf_desc_end a, struct wf_desc_end b)
{
    struct wf_desc_link *l = &d->links[d->n_links++];

    l->a = a;
    l->b = b;
    wf_keyset_defaults(&wf_link_keys, &l->cfg);
}

void wf_fat_tree_counts(const struct wf_fat_tree *t, uint64_t *hosts, uint64_t *switches,
                        uint64_t *links)
{
    uint64_t half = t->k / 2, tier = t->pods * half;

    *hosts = tier * t->hosts_per_edge;
    *switches = 2 * tier + half * half;
    *links = *hosts + 2 * tier * half;
}

/* n switches of a tier, named by its format. */
static void add_switches(struct wf_desc *d, struct wf_arena *arena, const char *tier, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct wf_desc_switch *sw = &d->switches[d->n_switches++];

        sw->name = wf_arena_printf(arena, "%s%u", tier, i);
        wf_switch_cfg_defaults(&sw->cfg);
    }
}

/* Hosts "h0".., per_leaf on each of the first switches, linked. */
static void add_hosts(struct wf_desc *d, struct wf_arena *arena, uint32_t n, uint32_t per_leaf)
{
    for (uint32_t i = 0; i < n; i++) {
        d->hosts[i].name = wf_arena_printf(arena, "h%u", i);
        wf_host_cfg_defaults(&d->hosts[i].cfg);
        add_link(d, (struct wf_desc_end){true, i}, (struct wf_desc_end){false, i / per_leaf});
    }
    d->n_hosts = n;
}

static void make_room(struct wf_desc *d, struct wf_arena *arena, uint64_t hosts, uint64_t switches,
                      uint64_t links)
{
    d->switches = WF_ARENA_ARRAY(arena, struct wf_desc_switch, switches);
    d->hosts = WF_ARENA_ARRAY(arena, struct wf_desc_host, hosts);
    d->links = WF_ARENA_ARRAY(arena, struct wf_desc_link, links);
    d->n_switches = d->n_hosts = d->n_links = 0;
}

void wf_desc_fat_tree(struct wf_desc *d, struct wf_arena *arena, const struct wf_fat_tree *t)
{
    uint32_t half = t->k / 2, tier = t->pods * half;
    uint64_t hosts, switches, links;

    wf_fat_tree_counts(t, &hosts, &switches, &links);
    make_room(d, arena, hosts, switches, links);
    d->shape = (struct wf_shape){.kind = WF_SHAPE_FAT_TREE, .pods = t->pods, .half = half};
    add_switches(d, arena, "edge", tier);
    add_switches(d, arena, "agg", tier);
    add_switches(d, arena, "core", half * half);
    add_hosts(d, arena, (uint32_t)hosts, t->hosts_per_edge);
    for (uint32_t edge = 0; edge < tier; edge++)
        for (uint32_t a = 0; a < half; a++)
            add_link(d, (struct wf_desc_end){false, edge},
                     (struct wf_desc_end){false, tier + edge / half * half + a});
    for (uint32_t agg = 0; agg < tier; agg++)
        for (uint32_t c = 0; c < half; c++)
            add_link(d, (struct wf_desc_end){false, tier + agg},
                     (struct wf_desc_end){false, 2 * tier + agg % half * half + c});
}

void wf_desc_leaf_spine(struct wf_desc *d, struct wf_arena *arena, uint32_t leaves, uint32_t spines,
                        uint32_t hosts_per_leaf)
{
    uint32_t hosts = leaves * hosts_per_leaf;

    make_room(d, arena, hosts, leaves + spines, hosts + (uint64_t)leaves * spines);
    d->shape = (struct wf_shape){.kind = WF_SHAPE_LEAF_SPINE, .leaves = leaves, .spines = spines};
    add_switches(d, arena, "leaf", leaves);
    add_switches(d, arena, "spine", spines);
    add_hosts(d, arena, hosts, hosts_per_leaf);
    for (uint32_t l = 0; l < leaves; l++)
        for (uint32_t s = 0; s < spines; s++)
            add_link(d, (struct wf_desc_end){false, l}, (struct wf_desc_end){false, leaves + s});
}

void wf_desc_ring(struct wf_desc *d, struct wf_arena *arena, uint32_t switches,
                  uint32_t hosts_per_switch, enum wf_turn turn)
{
    uint32_t hosts = switches * hosts_per_switch;

    make_room(d, arena, hosts, switches, hosts + switches);
    d->shape = (struct wf_shape){.kind = WF_SHAPE_RING, .turn = turn};
    add_switches(d, arena, "sw", switches);
    add_hosts(d, arena, hosts, hosts_per_switch);
    for (uint32_t s = 0; s < switches; s++)
        add_link(d, (struct wf_desc_end){false, s},
                 (struct wf_desc_end){false, (s + 1) % switches});
}

int wf_desc_find_host(const struct wf_desc *d, const char *name)
{
    for (uint32_t i = 0; i < d->n_hosts; i++)
        if (!strcmp(d->hosts[i].name, name))
            return (int)i;
    return -1;
}

int wf_desc_find_switch(const struct wf_desc *d, const char *name)
{
    for (uint32_t i = 0; i < d->n_switches; i++)
        if (!strcmp(d->switches[i].name, name))
            return (int)i;
    return -1;
}

static bool same_end(struct wf_desc_end a, struct wf_desc_end b)
{
    return a.is_host == b.is_host && a.index == b.index;
}

const char *wf_desc_port_name(const struct wf_desc *d, uint32_t link, int end, char *buf,
                              size_t len)
{
    struct wf_desc_end e = end ? d->links[link].b : d->links[link].a;
    unsigned port = 0;

    for (uint32_t i = 0; i < link; i++)
        port += same_end(d->links[i].a, e) + same_end(d->links[i].b, e);
    if (end)
        port += same_end(d->links[link].a, e);
    snprintf(buf, len, "%s:p%u", e.is_host ? d->hosts[e.index].name : d->switches[e.index].name,
             port);
    return buf;
}
