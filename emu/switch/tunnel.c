/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/tunnel.h"

#include <string.h>

#include "wire/edit.h"
#include "base/digest.h"
#include "wire/vxlan.h"

enum { SPORT_FIRST = 49152, SPORT_BITS = 14 }; /* RFC 7348 5: the dynamic range */

static bool is_end(const struct wf_switch *sw, uint32_t other)
{
    return other != sw->sw && sw->ends[other].vni == sw->cfg.vxlan.vni;
}

bool wf_tunnel_reaches(const struct wf_switch *sw, const struct wf_host_addr *host)
{
    return is_end(sw, host->sw);
}

/* Bytes that fit into the packet's buffer. */
static uint32_t room_of(const struct wf_switch *sw, struct wf_pkt *pkt)
{
    return pkt->full ? WF_FULL_ROOM - (uint32_t)(pkt->data - (uint8_t *)(pkt + 1))
                     : sw->node.net->hdr_room;
}

/* Into the tunnel to another leaf; false: there is no room, or no way, and the packet is dropped.
 */
static bool encap(struct wf_switch *sw, struct wf_visit *v, uint32_t to)
{
    const struct wf_tunnel_cfg *c = &sw->cfg.vxlan;
    struct wf_pkt *pkt = v->pkt;
    bool ip = pkt->p.flags & WF_P_IP;
    struct wf_vxlan h = {
        .dscp = c->dscp_mode == WF_TUNNEL_PIPE ? (uint8_t)c->dscp
                : ip                           ? pkt->p.dscp
                                               : 0,
        .ecn = ip ? pkt->p.ecn : WF_ECN_NOT_ECT,
        .ttl = (uint8_t)c->ttl,
        .sport = (uint16_t)(SPORT_FIRST + (pkt->flow_hash >> (32 - SPORT_BITS))),
        .vni = c->vni,
    };
    uint32_t caplen = wf_pkt_caplen(pkt), inner = pkt->frame_len - WF_FCS_LEN;
    int port;

    if (caplen + WF_VXLAN_OUTER > room_of(sw, pkt)) {
        wf_switch_drop(v, WF_DROP_MTU);
        return false;
    }
    memcpy(h.src_mac, sw->node.mac, 6);
    memcpy(h.src_ip, sw->ends[sw->sw].ip, 4);
    memcpy(h.dst_ip, sw->ends[to].ip, 4);
    memmove(pkt->data + WF_VXLAN_OUTER, pkt->data, caplen);
    wf_vxlan_put(pkt->data, &h, inner);
    pkt->caplen = (uint16_t)(caplen + WF_VXLAN_OUTER);
    pkt->frame_len += WF_VXLAN_OUTER;
    pkt->malformed = wf_pkt_parse(pkt) != WF_DROP_NONE;
    port = wf_switch_port_to(sw, v, to);
    if (port < 0) {
        wf_switch_drop(v, WF_DROP_NO_ROUTE);
        return false;
    }
    v->out = &sw->node.ports[port];
    memcpy(pkt->data, v->out->peer_mac, 6);
    wf_pkt_parse(pkt);
    pkt->flags |= WF_PKT_IP_OK | WF_PKT_TUNNEL;
    pkt->dst_sw = to;
    pkt->dst_host = WF_DST_TUNNEL; /* an end point and no host: the other end takes it */
    return true;
}

void wf_tunnel_flood(struct wf_switch *sw, const struct wf_visit *v)
{
    for (uint32_t i = 0; i < sw->graph->n; i++) {
        struct wf_visit copy = *v;

        if (!is_end(sw, i))
            continue;
        copy.pkt = wf_pkt_replicate(sw->node.net, v->pkt);
        if (copy.pkt && encap(sw, &copy, i))
            wf_switch_output(sw, &copy);
    }
}

/* DSCP and ECN of what was inside, by what happened to the outside. False: to be dropped. */
static bool restore(const struct wf_switch *sw, struct wf_pkt *pkt, uint8_t dscp, uint8_t ecn)
{
    const struct wf_tunnel_cfg *c = &sw->cfg.vxlan;
    int to;

    if (!(pkt->p.flags & WF_P_IP))
        return true;
    to = wf_ecn_decap(pkt->p.ecn, ecn);
    if (c->ecn_mode == WF_TUNNEL_ECN_COPY_FROM_OUTER && pkt->p.ecn != WF_ECN_NOT_ECT)
        to = ecn;
    if (to < 0)
        return false;
    if (c->dscp_mode == WF_TUNNEL_UNIFORM)
        wf_edit_set_dscp(wf_pkt_hdr_rw(pkt), &pkt->p, dscp);
    wf_edit_set_ecn(wf_pkt_hdr_rw(pkt), &pkt->p, (uint8_t)to);
    return true;
}

/* `outer` bytes come before the inner frame. The tags among them, and the VLAN that they meant, end
 * here. */
static enum wf_tunnel_step decap(struct wf_switch *sw, struct wf_visit *v, uint32_t outer)
{
    struct wf_pkt *pkt = v->pkt;
    uint8_t dscp = pkt->p.dscp, ecn = pkt->p.ecn;
    enum wf_reason why;

    if (!wf_ip4_checksum_ok(wf_pkt_bytes(pkt), wf_pkt_caplen(pkt), &pkt->p)) {
        wf_switch_drop(v, WF_DROP_IP_CHECKSUM);
        return WF_TUNNEL_DONE;
    }
    pkt->caplen = (uint16_t)(pkt->caplen - outer);
    memmove(pkt->data, pkt->data + outer, pkt->caplen);
    pkt->frame_len -= outer;
    wf_pkt_pad(pkt);
    pkt->flags &= (uint16_t) ~(WF_PKT_IP_OK | WF_PKT_TUNNEL);
    pkt->dst_host = 0;
    pkt->vlan = 0;
    pkt->malformed = wf_pkt_parse(pkt) != WF_DROP_NONE;
    why = pkt->malformed ? WF_DROP_MALFORMED : wf_switch_refuses(sw, pkt);
    if (!why && !restore(sw, pkt, dscp, ecn))
        why = WF_DROP_TUNNEL_CE;
    if (why) {
        wf_switch_drop(v, why);
        return WF_TUNNEL_DONE;
    }
    pkt->hash = wf_hash_bytes(pkt->data, pkt->caplen < WF_HDR_ROOM ? pkt->caplen : WF_HDR_ROOM,
                              pkt->frame_len);
    return WF_TUNNEL_BRIDGE;
}

enum wf_tunnel_step wf_tunnel_forward(struct wf_switch *sw, struct wf_visit *v)
{
    const uint8_t *b = wf_pkt_bytes(v->pkt);
    const struct wf_host_addr *h;
    uint32_t vni, outer;

    if (!memcmp(b, sw->node.mac, 6)) {
        outer = wf_vxlan_get(b, wf_pkt_caplen(v->pkt), &v->pkt->p, &vni);
        if (!outer || memcmp(b + v->pkt->p.l3_off + 16, sw->ends[sw->sw].ip, 4))
            return WF_TUNNEL_NOT;
        if (vni == sw->cfg.vxlan.vni)
            return decap(sw, v, outer);
        wf_switch_drop(v, WF_DROP_TUNNEL_VNI);
        return WF_TUNNEL_DONE;
    }
    h = wf_addr_by_mac(sw->addr, b);
    if (!h || !is_end(sw, h->sw) || sw->graph->nodes[sw->sw].ports[v->in->index].host < 0)
        return WF_TUNNEL_NOT;
    return encap(sw, v, h->sw) ? WF_TUNNEL_OUT : WF_TUNNEL_DONE;
}
