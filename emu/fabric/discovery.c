/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/discovery.h"

enum { FRAMES_MAX = 1024 };

static bool has_agent(const struct wf_desc *d, uint32_t link, int end)
{
    struct wf_desc_end e = end ? d->links[link].b : d->links[link].a;

    return !e.is_host && wf_desc_port_cfg(d, link, end)->lldp.enable;
}

uint32_t wf_discovery_agents(const struct wf_desc *d)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < d->n_links; i++)
        n += has_agent(d, i, 0) + has_agent(d, i, 1);
    return n;
}

/* They send one after the other, so that few frames are under way at a time. */
uint32_t wf_discovery_frames(const struct wf_desc *d)
{
    uint32_t n = wf_discovery_agents(d);

    return n < FRAMES_MAX ? n : FRAMES_MAX;
}

/* A real neighbour's seconds are not the fabric's when that runs slower. */
static uint32_t peer_scale(const struct wf_fabric *f, const struct wf_port *port)
{
    uint32_t node = port->peer->node->index, n = f->desc->n_switches;
    bool real = node >= n && f->desc->hosts[node - n].cfg.attach.type != WF_ATTACH_NONE;

    return real && f->desc->time_scale > 1 ? f->desc->time_scale : 1;
}

void wf_discovery_start(struct wf_fabric *f)
{
    uint32_t n = wf_discovery_agents(f->desc), k = 0;

    if (!n)
        return;
    f->lldp.agents = WF_ARENA_ARRAY(&f->arena, struct wf_lldp_agent, n);
    f->lldp.n = n;
    for (uint32_t i = 0; i < f->desc->n_switches; i++) {
        struct wf_switch *sw = (struct wf_switch *)wf_fabric_switch(f, i);

        for (uint16_t p = 0; p < sw->node.n_ports; p++) {
            struct wf_port *port = &sw->node.ports[p];

            if (wf_switch_class(sw, port)->cfg->lldp.enable) {
                wf_lldp_attach(&f->lldp.agents[k], k, n, peer_scale(f, port), port, &f->arena);
                k++;
            }
        }
    }
    WF_ASSERT(k == n);
}
