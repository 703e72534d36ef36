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

void wf_desc_leaf_spine(struct wf_desc *d, struct wf_arena *arena, uint32_t leaves, uint32_t spines,
                        uint32_t hosts_per_leaf)
{
    uint32_t n_hosts = leaves * hosts_per_leaf;

    d->n_switches = leaves + spines;
    d->switches = WF_ARENA_ARRAY(arena, struct wf_desc_switch, d->n_switches);
    d->n_hosts = n_hosts;
    d->hosts = WF_ARENA_ARRAY(arena, struct wf_desc_host, n_hosts);
    d->links = WF_ARENA_ARRAY(arena, struct wf_desc_link, n_hosts + leaves * spines);
    d->n_links = 0;
    for (uint32_t i = 0; i < d->n_switches; i++) {
        bool leaf = i < leaves;

        d->switches[i].name =
            wf_arena_printf(arena, leaf ? "leaf%u" : "spine%u", leaf ? i : i - leaves);
        wf_switch_cfg_defaults(&d->switches[i].cfg);
    }
    for (uint32_t i = 0; i < n_hosts; i++) {
        d->hosts[i].name = wf_arena_printf(arena, "h%u", i);
        wf_host_cfg_defaults(&d->hosts[i].cfg);
        add_link(d, (struct wf_desc_end){true, i}, (struct wf_desc_end){false, i / hosts_per_leaf});
    }
    for (uint32_t l = 0; l < leaves; l++)
        for (uint32_t s = 0; s < spines; s++)
            add_link(d, (struct wf_desc_end){false, l}, (struct wf_desc_end){false, leaves + s});
}

/* The switch that a host hangs on, by its first link; 0 when it has none. */
static uint32_t leaf_of(const struct wf_desc *d, uint32_t host)
{
    for (uint32_t i = 0; i < d->n_links; i++) {
        const struct wf_desc_link *l = &d->links[i];

        if (l->a.is_host && l->a.index == host && !l->b.is_host)
            return l->b.index;
        if (l->b.is_host && l->b.index == host && !l->a.is_host)
            return l->a.index;
    }
    return 0;
}

static struct wf_ip_prefix ip4(uint8_t b, uint8_t c, uint8_t e)
{
    return (struct wf_ip_prefix){
        .addr = {[10] = 0xff, [11] = 0xff, [12] = 10, [13] = b, [14] = c, [15] = e},
        .len = 16,
        .family = 4,
    };
}

static struct wf_ip_prefix ip6(uint16_t net, uint32_t n)
{
    return (struct wf_ip_prefix){
        .addr = {0xfd, [2] = (uint8_t)(net >> 8), [3] = (uint8_t)net, [13] = (uint8_t)(n >> 16),
                 [14] = (uint8_t)(n >> 8), [15] = (uint8_t)n},
        .len = 64,
        .family = 6,
    };
}

static void address_host(struct wf_host_cfg *c, uint32_t host, uint32_t net, uint32_t n)
{
    static const uint8_t none[6];

    if (!memcmp(c->mac, none, 6)) {
        uint32_t id = host + 1;
        uint8_t mac[6] = {
            2, 0, (uint8_t)(id >> 24), (uint8_t)(id >> 16), (uint8_t)(id >> 8), (uint8_t)id};

        memcpy(c->mac, mac, 6);
    }
    if (!c->ip.family) {
        c->ip = ip4((uint8_t)net, (uint8_t)((n + 1) >> 8), (uint8_t)(n + 1));
        if (!c->gateway.family)
            c->gateway = ip4((uint8_t)net, 255, 254);
    }
    if (!c->ip6.family) {
        c->ip6 = ip6((uint16_t)net, n + 1);
        if (!c->gateway6.family)
            c->gateway6 = ip6((uint16_t)net, 0xfffffe);
    }
}

void wf_desc_address(struct wf_desc *d, struct wf_arena *arena)
{
    uint32_t *seen = WF_ARENA_ARRAY(arena, uint32_t, d->n_switches + 1);

    for (uint32_t i = 0; i < d->n_hosts; i++) {
        uint32_t leaf = leaf_of(d, i);
        bool l2 = d->n_switches && d->switches[leaf].cfg.forwarding == WF_FORWARD_L2;
        uint32_t net = l2 ? 0 : leaf;

        address_host(&d->hosts[i].cfg, i, net, seen[net]++);
    }
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
