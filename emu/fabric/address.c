/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Default addresses of a description's hosts: a subnet for each switch that has some, see
 * wf_desc_address() in desc.h.
 */
#include <string.h>

#include "fabric/desc.h"

enum { NET10_BITS = 8, RESERVED = 2 /* the gateway and the broadcast address */ };

/* How the 24 bits below 10.0.0.0/8 are shared between number of the subnet and of the host. */
struct plan {
    uint8_t len; /* prefix length; 0: they don't suffice */
};

static bool holds(unsigned len, uint32_t nets, uint32_t most)
{
    return nets <= 1u << (len - NET10_BITS) && most + RESERVED < 1u << (32 - len);
}

static struct plan plan_of(uint32_t nets, uint32_t most)
{
    uint8_t len = NET10_BITS;

    if (holds(16, nets, most))
        return (struct plan){16};
    if (holds(24, nets, most))
        return (struct plan){24};
    while (nets > 1u << (len - NET10_BITS))
        len++;
    return (struct plan){holds(len, nets, most) ? len : 0};
}

static struct wf_ip_prefix ip4(struct plan plan, uint32_t net, uint32_t n)
{
    uint32_t a = 10u << 24 | net << (32 - plan.len) | n;

    return (struct wf_ip_prefix){
        .addr = {[10] = 0xff,
                 [11] = 0xff,
                 [12] = (uint8_t)(a >> 24),
                 [13] = (uint8_t)(a >> 16),
                 [14] = (uint8_t)(a >> 8),
                 [15] = (uint8_t)a},
        .len = plan.len,
        .family = 4,
    };
}

static struct wf_ip_prefix ip6(uint32_t net, uint32_t n)
{
    return (struct wf_ip_prefix){
        .addr = {0xfd, [1] = (uint8_t)(net >> 16), [2] = (uint8_t)(net >> 8), [3] = (uint8_t)net,
                 [13] = (uint8_t)(n >> 16), [14] = (uint8_t)(n >> 8), [15] = (uint8_t)n},
        .len = 64,
        .family = 6,
    };
}

static void address_host(struct wf_host_cfg *c, uint32_t host, struct plan plan, uint32_t net,
                         uint32_t n)
{
    static const uint8_t none[6];

    if (!memcmp(c->mac, none, 6)) {
        uint32_t id = host + 1;
        uint8_t mac[6] = {
            2, 0, (uint8_t)(id >> 24), (uint8_t)(id >> 16), (uint8_t)(id >> 8), (uint8_t)id};

        memcpy(c->mac, mac, 6);
    }
    if (!c->ip.family && plan.len) {
        c->ip = ip4(plan, net, n + 1);
        if (!c->gateway.family)
            c->gateway = ip4(plan, net, (1u << (32 - plan.len)) - RESERVED);
    }
    if (!c->ip6.family) {
        c->ip6 = ip6(net, n + 1);
        if (!c->gateway6.family)
            c->gateway6 = ip6(net, 0xfffffe);
    }
}

/* A routed leaf is a subnet; l2 fabrics are one, and leaves that a tunnel joins the first's. */
static uint32_t net_of(const struct wf_desc *d, uint32_t sw)
{
    uint32_t vni = d->switches[sw].cfg.vxlan.vni, first = 0;

    if (d->switches[sw].cfg.forwarding == WF_FORWARD_L2)
        return 0;
    while (vni && d->switches[first].cfg.vxlan.vni != vni)
        first++;
    return vni ? first : sw;
}

/* The subnet of each host: the number of the switch on its first link, 0 when it has none. */
static uint32_t *nets_of(const struct wf_desc *d, struct wf_arena *arena)
{
    uint32_t *net = WF_ARENA_ARRAY(arena, uint32_t, d->n_hosts + 1);
    bool *known = WF_ARENA_ARRAY(arena, bool, d->n_hosts + 1);

    for (uint32_t i = 0; i < d->n_links; i++)
        for (int e = 0; e < 2; e++) {
            struct wf_desc_end host = e ? d->links[i].b : d->links[i].a;
            struct wf_desc_end sw = e ? d->links[i].a : d->links[i].b;

            if (!host.is_host || sw.is_host || known[host.index])
                continue;
            known[host.index] = true;
            net[host.index] = net_of(d, sw.index);
        }
    return net;
}

void wf_desc_address(struct wf_desc *d, struct wf_arena *arena)
{
    uint32_t *seen = WF_ARENA_ARRAY(arena, uint32_t, d->n_switches + 1);
    uint32_t *net = nets_of(d, arena), nets = 0, most = 0;
    struct plan plan;

    for (uint32_t i = 0; i < d->n_hosts; i++) {
        nets = net[i] >= nets ? net[i] + 1 : nets;
        most = ++seen[net[i]] > most ? seen[net[i]] : most;
    }
    plan = plan_of(nets, most);
    memset(seen, 0, sizeof(*seen) * (d->n_switches + 1));
    for (uint32_t i = 0; i < d->n_hosts; i++)
        address_host(&d->hosts[i].cfg, i, plan, net[i], seen[net[i]]++);
}
