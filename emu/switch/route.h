/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routing, which every hop of a routed fabric does, in one piece with the pipeline; all else of
 * forwarding is forward.c's.
 */
#ifndef WEFT_SWITCH_ROUTE_H
#define WEFT_SWITCH_ROUTE_H

#include "switch/lb.h"
#include "switch/tunnel.h"
#include "wire/edit.h"

/* forward.c. What the first router on a packet's way finds out, and no other has to ask again: its
 * checksum, and whose its destination is. A fabric's IP addresses never change. */
enum wf_reason wf_switch_resolve(const struct wf_switch *sw, struct wf_pkt *pkt);

/* Plain ECMP, by the flow's hash with this switch's salt. */
static inline uint16_t wf_route_by_hash(const struct wf_switch *sw, uint32_t flow_hash,
                                        struct wf_hops h)
{
    uint64_t mix = wf_mix(flow_hash, sw->sw);

    return wf_hops_port(h, h.n & (h.n - 1) ? mix % h.n : mix & (h.n - 1u));
}

/* Where this packet goes towards a switch; -1: no way. */
static inline int wf_route_port(struct wf_switch *sw, const struct wf_visit *v, uint32_t dst_sw)
{
    const struct wf_graph_node *at = sw->at;
    struct wf_hops h;

    if (at->reach.masks && !at->row && !sw->lb)
        return wf_reach_port(&at->reach, dst_sw, wf_mix(v->pkt->flow_hash, sw->sw));
    h = wf_next_hops(sw->graph, sw->sw, dst_sw);
    if (h.n <= 1)
        return h.n ? wf_hops_port(h, 0) : -1;
    if (sw->lb)
        return wf_lb_pick(sw, v->in, v->pkt, dst_sw, h);
    return wf_route_by_hash(sw, v->pkt->flow_hash, h);
}

/* The port out, and the MAC address that the packet is for behind it, as one number. */
static inline enum wf_reason wf_route_out(struct wf_switch *sw, struct wf_visit *v, uint64_t *mac)
{
    const struct wf_pkt *pkt = v->pkt;
    int port;

    if (pkt->dst_sw == sw->sw) {
        const struct wf_host_addr *h = &sw->addr->hosts[pkt->dst_host - 1];

        if (pkt->dst_host == WF_DST_TUNNEL) /* its end did not take it */
            return WF_DROP_NOT_ROUTABLE;
        v->out = &sw->node.ports[h->port];
        *mac = wf_edit_mac_word(h->mac);
        return WF_DROP_NONE;
    }
    port = wf_route_port(sw, v, pkt->dst_sw);
    if (port < 0)
        return WF_DROP_NO_ROUTE;
    v->out = &sw->node.ports[port]; /* back out of the port it came by is right for a router */
    memcpy(mac, v->out->peer_mac, sizeof(*mac));
    return WF_DROP_NONE;
}

static inline __attribute__((always_inline)) enum wf_step wf_switch_route(struct wf_switch *sw,
                                                                          struct wf_visit *v)
{
    struct wf_pkt *pkt = v->pkt;
    uint64_t mac = 0, begins;
    enum wf_reason why = pkt->dst_host ? WF_DROP_NONE : wf_switch_resolve(sw, pkt);
    const struct wf_queue *q;

    if (!why)
        why = wf_route_out(sw, v, &mac);
    if (why)
        return wf_switch_drop(v, why);
    q = &v->out->q[pkt->queue];
    __builtin_prefetch(v->out); /* what queueing it there will touch */
    __builtin_prefetch(q);
    __builtin_prefetch(&q->ctr[WF_QUEUE_MAX_BYTES]);
    if (!wf_edit_route(wf_pkt_hdr_rw(pkt), &pkt->p, mac, sw->mac_word, &begins))
        return wf_switch_drop(v, WF_DROP_TTL);
    wf_pkt_edited_to(pkt, begins);
    return WF_NEXT;
}

#endif
