/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/age.h"

struct entry {
    uint64_t heard_ps; /* FORGOTTEN: or never heard of */
    uint16_t port;
};

struct wf_age {
    uint64_t age_ps;
    bool by_host;
    struct entry *entry; /* by host, or of a routed leaf by port */
};

#define FORGOTTEN UINT64_MAX

static struct entry *entry_of(const struct wf_switch *sw, const struct wf_host_addr *host)
{
    return &sw->age->entry[sw->age->by_host ? (size_t)(host - sw->addr->hosts) : host->port];
}

void wf_age_ready(struct wf_switch *sw, struct wf_arena *arena)
{
    bool by_host = sw->cfg.forwarding == WF_FORWARD_L2;
    uint32_t n = by_host ? sw->addr->n_hosts + 1 : sw->node.n_ports;

    if (sw->cfg.mac_age_ps == WF_KEY_AUTO)
        return;
    sw->age = WF_ARENA_NEW(arena, struct wf_age);
    sw->age->age_ps = sw->cfg.mac_age_ps;
    sw->age->by_host = by_host;
    sw->age->entry = WF_ARENA_ARRAY(arena, struct entry, n);
    for (uint32_t i = 0; i < n; i++)
        sw->age->entry[i] = (struct entry){by_host ? FORGOTTEN : 0, (uint16_t)i};
}

void wf_age_heard(struct wf_switch *sw, const struct wf_visit *v)
{
    const struct wf_host_addr *h = wf_addr_by_mac(sw->addr, wf_pkt_bytes(v->pkt) + 6);

    if (h && (sw->age->by_host || h->sw == sw->sw))
        *entry_of(sw, h) = (struct entry){wf_now(v->in), v->in->index};
}

struct wf_port *wf_age_port(const struct wf_switch *sw, const struct wf_host_addr *host,
                            uint64_t now_ps)
{
    const struct entry *e = entry_of(sw, host);

    if (e->heard_ps == FORGOTTEN || now_ps - e->heard_ps > sw->age->age_ps)
        return NULL;
    return &sw->node.ports[e->port];
}

void wf_age_link(struct wf_switch *sw, const struct wf_port *port, bool up)
{
    uint32_t n = sw->age->by_host ? sw->addr->n_hosts : sw->node.n_ports;

    for (uint32_t i = 0; i < n && !up; i++)
        if (sw->age->entry[i].port == port->index)
            sw->age->entry[i].heard_ps = FORGOTTEN;
}
