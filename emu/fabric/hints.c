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
}
