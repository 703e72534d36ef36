/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/hints.h"

#include <inttypes.h>

/* Ports of switches where frames were dropped for this reason, and the first of them. */
static uint64_t dropped(const struct wf_fabric *f, enum wf_reason why, bool rocev1,
                        const struct wf_port **first)
{
    uint64_t n = 0;

    *first = NULL;
    for (uint32_t i = 0; i < f->desc->n_switches; i++)
        for (uint16_t p = 0; p < f->nodes[i]->n_ports; p++) {
            const struct wf_port *port = &f->nodes[i]->ports[p];

            if (!port->drops[why] || (rocev1 && !port->ctr[WF_PORT_RX_ROCEV1_FRAMES]))
                continue;
            n += port->drops[why];
            *first = *first ? *first : port;
        }
    return n;
}

/* The group of a flow's data at the switch of its sender. */
static const struct wf_pg_cfg *group_of(const struct wf_fabric *f, const struct wf_desc_flow *w,
                                        unsigned *pg)
{
    const struct wf_port *leaf = f->nodes[f->desc->n_switches + w->from]->ports[0].peer;
    const struct wf_port_class *k = wf_switch_class((const struct wf_switch *)leaf->node, leaf);

    *pg = k->trust_dscp ? k->by_dscp[w->cfg.dscp & 63].pg : k->by_pcp[0].pg;
    return &k->cfg->pg[*pg];
}

/* Some flows are lossless and some are not: as a rule nobody meant that. */
static void unprotected(const struct wf_fabric *f, FILE *out)
{
    const struct wf_desc_flow *first = NULL;
    uint32_t n = 0, n_lossless = 0;
    unsigned pg, first_pg = 0;

    for (uint32_t i = 0; i < f->desc->n_flows; i++) {
        const struct wf_desc_flow *w = &f->desc->flows[i];

        if (group_of(f, w, &pg)->lossless) {
            n_lossless++;
            continue;
        }
        if (!n++) {
            first = w;
            first_pg = pg;
        }
    }
    if (!n || !n_lossless)
        return;
    fprintf(out,
            "  hint: flow.%s is in no lossless class: its DSCP %u is priority group %u at %s. So "
            "are %u of %u flows in all.\n",
            first->name, first->cfg.dscp, first_pg,
            f->nodes[f->desc->n_switches + first->from]->ports[0].peer->name, n, f->desc->n_flows);
}

void wf_fabric_hints(const struct wf_fabric *f, FILE *out)
{
    const struct wf_port *port;
    uint64_t n = dropped(f, WF_DROP_NOT_ROUTABLE, true, &port);

    if (n)
        fprintf(out,
                "  hint: RoCEv1 frames at routed ports, such as %s, were dropped (%" PRIu64
                "): they have no IP header. Both hosts need a GID of RoCEv2.\n",
                port->name, n);
    n = dropped(f, WF_DROP_LINK_LOCAL, false, &port);
    if (n)
        fprintf(out,
                "  hint: packets with link-local addresses at routed ports, such as %s, were "
                "dropped (%" PRIu64 "): a GID of fe80:: does not leave its subnet.\n",
                port->name, n);
    unprotected(f, out);
}
