/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a host answers besides RDMA: ARP (RFC 826) and neighbour solicitations (RFC 4861) for its
 * own addresses, and echo requests (RFC 792, RFC 4443), so that a real neighbour finds it and can
 * ping it. The request's buffer carries the answer, so that a flood of them takes no memory.
 * Left out: IPv6 link-local addresses, echo to a group, fragments.
 */
#include <string.h>

#include "host/nic.h"
#include "wire/arp.h"
#include "wire/edit.h"
#include "wire/eth.h"
#include "wire/ip4.h"
#include "wire/nd.h"
#include "wire/udp.h"

enum { ECHO4_REQUEST = 8, ECHO6_REQUEST = 128, ECHO_ALL_LEN = 8, IP4_TTL = 8, IP6_HOPS = 7 };

static void answer(struct wf_host *h, struct wf_port *port, struct wf_pkt *pkt, uint32_t len,
                   uint8_t payload)
{
    uint32_t frame_len = len + WF_FCS_LEN < WF_FRAME_MIN ? WF_FRAME_MIN : len + WF_FCS_LEN;

    pkt->frame_len = frame_len;
    pkt->payload = payload;
    pkt->port = port;
    pkt->malformed = wf_pkt_parse(pkt) != WF_DROP_NONE;
    pkt->prio = pkt->queue =
        pkt->p.flags & WF_P_IP ? h->cfg.dscp_to_priority[pkt->p.dscp & 63] & 7 : 0;
    pkt->ready_ps = wf_now(port);
    if (port->q[pkt->queue].fifo.count >= WF_NIC_REPLIES_MAX)
        wf_pkt_drop(port, pkt, WF_DROP_EGRESS_FULL);
    else
        wf_port_enqueue(port, pkt);
}

static bool arp(struct wf_host *h, struct wf_port *port, struct wf_pkt *pkt)
{
    struct wf_rd r = wf_rd_init(wf_pkt_bytes(pkt), wf_pkt_caplen(pkt));
    struct wf_arp req, rep = {.oper = WF_ARP_REPLY};

    wf_rd_skip(&r, pkt->p.l3_off);
    if (wf_arp_get(&r, &req) || wf_arp_check(&req) || req.oper != WF_ARP_REQUEST ||
        h->cfg.ip.family != 4 || req.tpa != wf_ld32(h->cfg.ip.addr + 12) || pkt->p.n_tags)
        return false;
    rep.spa = req.tpa;
    rep.tpa = req.spa;
    memcpy(rep.sha, h->node.mac, 6);
    memcpy(rep.tha, req.sha, 6);
    wf_pkt_answer(h->node.net, pkt, WF_ETH_MIN_LEN);
    wf_arp_build(wf_pkt_hdr_rw(pkt), req.sha, &rep);
    answer(h, port, pkt, WF_ETH_MIN_LEN, WF_PAYLOAD_REAL);
    return true;
}

static bool solicitation(struct wf_host *h, struct wf_port *port, struct wf_pkt *pkt)
{
    static const uint8_t none[16];
    const uint8_t *b = wf_pkt_bytes(pkt);
    struct wf_rd r = wf_rd_init(b, wf_pkt_caplen(pkt));
    struct wf_nd_msg m = {.nd = {.type = WF_ND_ADVERTISE, .solicited = true, .override = true}};
    struct wf_nd ns;

    wf_rd_skip(&r, pkt->p.l4_off);
    if (pkt->p.icmp_type != WF_ND_SOLICIT || !pkt->p.l4_off || pkt->p.ttl != 255 || pkt->p.n_tags ||
        wf_nd_get(&r, &ns) || h->cfg.ip6.family != 6 || memcmp(ns.target, h->cfg.ip6.addr, 16) ||
        !memcmp(wf_parsed_src6(b, &pkt->p), none, 16)) /* duplicate address detection */
        return false;
    memcpy(m.dst_mac, b + 6, 6);
    memcpy(m.src_mac, h->node.mac, 6);
    memcpy(m.src_ip, ns.target, 16);
    memcpy(m.dst_ip, wf_parsed_src6(b, &pkt->p), 16);
    memcpy(m.nd.target, ns.target, 16);
    wf_pkt_answer(h->node.net, pkt, WF_ND_FRAME_LEN);
    wf_nd_build(wf_pkt_hdr_rw(pkt), &m);
    answer(h, port, pkt, WF_ND_FRAME_LEN, WF_PAYLOAD_REAL);
    return true;
}

/* Type to "reply", the checksum by the difference: a wrong one stays wrong. */
static void turn_echo(uint8_t *icmp, uint8_t reply)
{
    uint16_t from = wf_ld16(icmp);

    icmp[0] = reply;
    wf_st16(icmp + 2, wf_checksum_adjust(wf_ld16(icmp + 2), from, wf_ld16(icmp)));
}

static void swap(uint8_t *a, uint8_t *b, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++) {
        uint8_t t = a[i];

        a[i] = b[i];
        b[i] = t;
    }
}

static bool echo(struct wf_host *h, struct wf_port *port, struct wf_pkt *pkt)
{
    struct wf_parsed p = pkt->p;
    bool v4 = p.flags & WF_P_IP4;
    uint32_t len = pkt->frame_len - WF_FCS_LEN, l4_len = p.l3_off + p.l3_len - p.l4_off;
    uint8_t *b = wf_pkt_hdr_rw(pkt), *ip = b + p.l3_off, payload = pkt->payload;

    if (p.flags & (WF_P_FRAGMENT | WF_P_MULTICAST) || !p.l4_off || l4_len < ECHO_ALL_LEN ||
        p.l4_off + ECHO_ALL_LEN > wf_pkt_caplen(pkt) ||
        p.ip_proto != (v4 ? WF_IPPROTO_ICMP : WF_IPPROTO_ICMP6) ||
        p.icmp_type != (v4 ? ECHO4_REQUEST : ECHO6_REQUEST))
        return false;
    if (v4 ? h->cfg.ip.family != 4 || memcmp(ip + 16, h->cfg.ip.addr + 12, 4)
           : h->cfg.ip6.family != 6 || memcmp(ip + 24, h->cfg.ip6.addr, 16))
        return false;
    wf_pkt_answer(h->node.net, pkt, wf_pkt_caplen(pkt));
    memcpy(b, b + 6, 6);
    memcpy(b + 6, h->node.mac, 6);
    swap(ip + (v4 ? 12 : 8), ip + (v4 ? 16 : 24), v4 ? 4 : 16);
    ip[v4 ? IP4_TTL : IP6_HOPS] = WF_NIC_TTL;
    if (v4)
        wf_st16(ip + 10, wf_ip4_checksum(ip, (ip[0] & 15u) * 4));
    turn_echo(b + p.l4_off, v4 ? 0 : ECHO6_REQUEST + 1);
    answer(h, port, pkt, len, payload);
    return true;
}

bool wf_nic_reply(struct wf_host *h, struct wf_port *port, struct wf_pkt *pkt)
{
    if (pkt->p.flags & WF_P_ARP)
        return arp(h, port, pkt);
    if (pkt->p.flags & WF_P_ND)
        return solicitation(h, port, pkt);
    return pkt->p.flags & WF_P_ICMP && echo(h, port, pkt);
}
