/* SPDX-License-Identifier: BSD-3-Clause */
/* Tunnel end points that can't work: in an l2 fabric, or two with one address. */
#include <string.h>

#include "scen/scen_priv.h"

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
        for (uint32_t j = 0; j < i && c->vxlan.ip.family; j++)
            if (s->desc.switches[j].cfg.vxlan.vni &&
                !memcmp(s->desc.switches[j].cfg.vxlan.ip.addr, c->vxlan.ip.addr, 16))
                wf_scen_complain(s, false, &c->vxlan.ip, NULL,
                                 "vxlan: %s and %s have the same address", s->desc.switches[j].name,
                                 s->desc.switches[i].name);
    }
}
