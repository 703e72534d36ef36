/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ARP (RFC 826) and neighbour discovery (RFC 4861) at a routed leaf: it answers for its hosts'
 * gateway, and as a proxy (RFC 1027) for hosts behind other leaves, so that hosts that believe to
 * share one subnet reach each other through the router. Requests for hosts of the same leaf are
 * left to those hosts. Left out: gratuitous ARP, router solicitation, duplicate detection's timing.
 */
#include <string.h>

#include "base/assert.h"
#include "switch/tunnel.h"
#include "wire/arp.h"
#include "wire/eth.h"
#include "wire/nd.h"

enum { ARP_TPA = 24 }; /* offset of the target's address */

static const uint8_t zero16[16];

/* Whether the leaf speaks for this target, asked for at port `in`. */
static bool speaks_for(const struct wf_switch *sw, const struct wf_port *in,
                       const struct wf_host_addr *target, const uint8_t *addr, size_t len)
{
    int32_t host = sw->graph->nodes[sw->sw].ports[in->index].host;
    const struct wf_host_addr *asker;

    if (host < 0)
        return false;
    asker = &sw->addr->hosts[host];
    if (!memcmp(addr, len == 4 ? asker->gateway4 : asker->gateway6, len))
        return true;
    return target && target->sw != sw->sw && !(sw->ends && wf_tunnel_reaches(sw, target));
}

/* Our frame goes back out of the port that the request came by, in the request's own buffer; when
 * the asker does not take its answers, no more of them wait than this. */
enum { ANSWERS_MAX = 1024 };

/* Whether the answer has the request's tag: but for a priority tag at a port that knows VLANs, and
 * for a trunk's own VLAN, which it sends untagged. */
static bool tagged_back(const struct wf_switch *sw, const struct wf_visit *v)
{
    const struct wf_port_class *k = wf_switch_class(sw, v->in);
    const struct wf_parsed *p = &v->pkt->p;

    if (!(p->flags & WF_P_VLAN))
        return false;
    return !k->vlan || (p->vid && p->vid != k->cfg->vlan.pvid);
}

static enum wf_step answer(struct wf_switch *sw, struct wf_visit *v, const uint8_t *frame,
                           uint32_t len)
{
    struct wf_pkt *pkt = v->pkt;
    uint8_t queue = pkt->queue, prio = pkt->prio;
    uint16_t vlan = pkt->vlan, tpid = 0, tci = 0;

    if (v->in->q[queue].fifo.count >= ANSWERS_MAX)
        return wf_switch_drop(v, WF_DROP_EGRESS_FULL);
    if (tagged_back(sw, v)) {
        tpid = wf_ld16(wf_pkt_bytes(pkt) + 12);
        tci = wf_ld16(wf_pkt_bytes(pkt) + 14);
    }
    wf_pkt_answer(sw->node.net, pkt, len);
    memcpy(wf_pkt_hdr_rw(pkt), frame, len);
    pkt->frame_len = len + WF_FCS_LEN < WF_FRAME_MIN ? WF_FRAME_MIN : len + WF_FCS_LEN;
    pkt->payload = WF_PAYLOAD_NONE; /* what pads it to the minimum is zeros */
    pkt->port = v->in;
    pkt->malformed = wf_pkt_parse(pkt) != WF_DROP_NONE;
    if (tpid) { /* there is room for it: the buffer is the request's */
        const struct wf_pkt *same = wf_pkt_tag_push(sw->node.net, pkt, tpid, tci);

        WF_ASSERT(same == pkt);
    }
    pkt->vlan = vlan;
    pkt->queue = queue;
    pkt->prio = prio;
    pkt->ready_ps = wf_now(v->in) + sw->latency_ps;
    wf_port_enqueue(v->in, pkt);
    return WF_DONE;
}

static enum wf_step arp(struct wf_switch *sw, struct wf_visit *v)
{
    const uint8_t *tpa = wf_pkt_bytes(v->pkt) + v->pkt->p.l3_off + ARP_TPA;
    struct wf_rd r = wf_rd_init(wf_pkt_bytes(v->pkt), wf_pkt_caplen(v->pkt));
    uint8_t frame[WF_ETH_MIN_LEN];
    struct wf_arp req, rep;

    wf_rd_skip(&r, v->pkt->p.l3_off);
    if (wf_arp_get(&r, &req) || wf_arp_check(&req) || req.oper != WF_ARP_REQUEST ||
        req.spa == req.tpa || !speaks_for(sw, v->in, wf_addr_by_ip4(sw->addr, tpa), tpa, 4))
        return WF_NEXT;
    rep = (struct wf_arp){.oper = WF_ARP_REPLY, .spa = req.tpa, .tpa = req.spa};
    memcpy(rep.sha, sw->node.mac, 6);
    memcpy(rep.tha, req.sha, 6);
    return answer(sw, v, frame, wf_arp_build(frame, req.sha, &rep));
}

static enum wf_step nd(struct wf_switch *sw, struct wf_visit *v)
{
    const uint8_t *b = wf_pkt_bytes(v->pkt);
    struct wf_rd r = wf_rd_init(b, wf_pkt_caplen(v->pkt));
    struct wf_nd_msg m = {.nd = {.type = WF_ND_ADVERTISE, .router = true, .solicited = true}};
    uint8_t frame[WF_ND_FRAME_LEN];
    struct wf_nd ns;

    wf_rd_skip(&r, v->pkt->p.l4_off);
    if (!(v->pkt->p.flags & WF_P_IP6) || v->pkt->p.ttl != 255 || /* RFC 4861 7.1.1 */
        v->pkt->p.icmp_type != WF_ND_SOLICIT || !v->pkt->p.l4_off || wf_nd_get(&r, &ns) ||
        !memcmp(wf_parsed_src6(b, &v->pkt->p), zero16, 16) || /* duplicate address detection */
        !speaks_for(sw, v->in, wf_addr_by_ip6(sw->addr, ns.target), ns.target, 16))
        return WF_NEXT;
    memcpy(m.dst_mac, b + 6, 6);
    memcpy(m.src_mac, sw->node.mac, 6);
    memcpy(m.src_ip, ns.target, 16);
    memcpy(m.dst_ip, wf_parsed_src6(b, &v->pkt->p), 16);
    memcpy(m.nd.target, ns.target, 16);
    m.nd.override = true;
    return answer(sw, v, frame, wf_nd_build(frame, &m));
}

enum wf_step wf_switch_neighbour(struct wf_switch *sw, struct wf_visit *v)
{
    if (sw->cfg.forwarding != WF_FORWARD_ROUTED || v->pkt->malformed)
        return WF_NEXT;
    if (v->pkt->p.flags & WF_P_ARP)
        return arp(sw, v);
    return nd(sw, v);
}
