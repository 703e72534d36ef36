/* SPDX-License-Identifier: BSD-3-Clause */
/* Tunnel end points that can't work: in an l2 fabric, or two with one address. */
#include <string.h>

#include "scen/scen_priv.h"

/* Said or by default. */
static bool same_address(const struct wf_scenario *s, uint32_t i, uint32_t j)
{
    const struct wf_tunnel_cfg *a = &s->desc.switches[i].cfg.vxlan;
    const struct wf_tunnel_cfg *b = &s->desc.switches[j].cfg.vxlan;
    uint8_t ip[2][4];

    if (!a->vni || !b->vni)
        return false;
    wf_tunnel_ip(a, i, ip[0]);
    wf_tunnel_ip(b, j, ip[1]);
    return !memcmp(ip[0], ip[1], 4);
}

static const void *said_by(const struct wf_scenario *s, uint32_t i, uint32_t j)
{
    const struct wf_tunnel_cfg *a = &s->desc.switches[i].cfg.vxlan;

    return a->ip.family ? &a->ip : &s->desc.switches[j].cfg.vxlan.ip;
}

void wf_scen_check_tunnels(struct wf_scenario *s)
{
    for (uint32_t i = 0; i < s->desc.n_switches; i++) {
        const struct wf_switch_cfg *c = &s->desc.switches[i].cfg;

        if (!c->vxlan.vni)
            continue;
        if (c->forwarding != WF_FORWARD_ROUTED)
            wf_scen_complain(s, false, &c->vxlan.vni, NULL,
                             "vxlan: %s has forwarding l2, expected routed: tunnels need routes",
                             s->desc.switches[i].name);
        if (c->vxlan.ip.family == 6)
            wf_scen_complain(s, false, &c->vxlan.ip, NULL, "vxlan: ip: expected an IPv4 address");
        for (uint32_t j = 0; j < i; j++)
            if (same_address(s, i, j))
                wf_scen_complain(s, false, said_by(s, i, j), NULL,
                                 "vxlan: %s and %s have the same address", s->desc.switches[j].name,
                                 s->desc.switches[i].name);
    }
}
