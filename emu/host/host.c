/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model host as a node of the fabric: what it takes from the wire and what it refuses. Frames
 * may come from real hosts, so nothing in them is taken for granted: address, checksum, lengths,
 * ICRC (of real payloads), queue pair and its peer are checked in that order (IBA annex A17.4).
 * Left out: UDP checksums (RoCEv2 sends 0), reassembly, RoCEv1.
 */
#include "host/host.h"

#include <string.h>

#include "eth/ets.h"
#include "host/endpoint.h"
#include "host/nic.h"
#include "wire/edit.h"
#include "wire/icrc.h"

enum { NQ_LINES = (offsetof(struct wf_nic_qp, frame) + 63) / 64 };

static inline bool has_ip(const struct wf_ip_prefix *ip, const uint8_t *addr, size_t len)
{
    return ip->family == (len == 4 ? 4 : 6) && !memcmp(ip->addr + 16 - len, addr, len);
}

/* Right destination, right checksum, and what it says of its length is what it has. */
static enum wf_reason check_ip(const struct wf_host *h, const struct wf_pkt *pkt)
{
    const uint8_t *b = wf_pkt_bytes(pkt);
    const struct wf_parsed *p = &pkt->p;

    if (p->flags & WF_P_IP4 ? !has_ip(&h->cfg.ip, b + p->l3_off + 16, 4)
                            : !has_ip(&h->cfg.ip6, wf_parsed_dst6(b, p), 16))
        return WF_DROP_NOT_FOR_US;
    if (p->flags & WF_P_IP4 && !(pkt->flags & WF_PKT_IP_OK) &&
        !wf_ip4_checksum_ok(b, wf_pkt_caplen(pkt), p))
        return WF_DROP_IP_CHECKSUM;
    if (!(p->flags & WF_P_BTH) || p->flags & WF_P_ROCE_SHORT)
        return WF_DROP_MALFORMED;
    return WF_DROP_NONE;
}

static enum wf_reason check_icrc(const struct wf_pkt *pkt)
{
    if (pkt->payload != WF_PAYLOAD_REAL)
        return pkt->flags & WF_PKT_BAD_ICRC ? WF_DROP_ICRC : WF_DROP_NONE;
    return wf_icrc_check(wf_pkt_bytes(pkt), wf_pkt_caplen(pkt), &pkt->p) == WF_ICRC_OK
               ? WF_DROP_NONE
               : WF_DROP_ICRC;
}

/* A connected queue pair hears its peer only. */
static bool from_peer(const struct wf_nic_qp *nq, const struct wf_pkt *pkt)
{
    const uint8_t *b = wf_pkt_bytes(pkt);

    if (pkt->p.flags & WF_P_IP4)
        return nq->frame.encap == WF_ROCE_V2_IP4 &&
               !memcmp(nq->frame.dst_ip + 12, b + pkt->p.l3_off + 12, 4);
    return nq->frame.encap == WF_ROCE_V2_IP6 &&
           !memcmp(nq->frame.dst_ip, wf_parsed_src6(b, &pkt->p), 16);
}

static enum wf_reason to_qp(struct wf_nic_qp *nq, const struct wf_pkt *pkt)
{
    const struct wf_parsed *p = &pkt->p;
    const uint8_t *b = wf_pkt_bytes(pkt);
    uint64_t now = nq->host->node.net->lc->now_ps;
    struct iovec iov = {(void *)(uintptr_t)(b + p->payload_off), p->payload_len};
    struct wf_qp_in in = {
        .hdr = b + p->bth_off,
        .hdr_len = wf_pkt_caplen(pkt) - p->bth_off,
        .payload_len = p->payload_len,
        .iov = pkt->payload == WF_PAYLOAD_REAL ? &iov : NULL,
        .n_iov = 1,
        .ce = p->ecn == WF_ECN_CE,
    };

    bool endpoint = p->dqpn >= WF_ENDPOINT_QPN_FIRST && nq->peer;
    uint8_t grh[WF_QP_GRH_LEN];
    enum wf_qp_verdict v;

    if (endpoint && nq->peer->ud)
        wf_datagrams_arrive(pkt, &in, grh);
    if (pkt->flags & WF_PKT_INT) /* is no payload */
        in.payload_len -= WF_INT_LEN;
    if (p->opcode == WF_OPCODE_CNP) {
        nq->cnps++;
        if (nq->cc)
            wf_nic_cc_cnp(nq);
        return WF_DROP_NONE;
    }
    v = wf_qp_rx(&nq->qp, &in, now);
    switch (v) {
    case WF_QP_TAKEN:
    case WF_QP_DISCARDED:
        if (p->payload_len)
            wf_max_u64(&nq->delay_max_ps, pkt->last_bit_ps - pkt->born_ps);
        if (nq->np)
            wf_np_saw(nq, pkt);
        if (nq->cc && wf_opcodes[p->opcode].flags & WF_OPF_RESPONSE)
            wf_nic_cc_answered(nq, pkt);
        /* a request that asks for no answer changes nothing of what is to be sent */
        if (endpoint)
            wf_peer_heard(nq->peer, v == WF_QP_TAKEN);
        else if (wf_qp_may_answer(&nq->qp) || wf_opcodes[p->opcode].flags & WF_OPF_RESPONSE)
            wf_nic_qp_wake(nq);
        return WF_DROP_NONE;
    case WF_QP_MALFORMED:
        return WF_DROP_MALFORMED;
    case WF_QP_BAD_OPCODE:
        return WF_DROP_BAD_OPCODE;
    case WF_QP_NO_RECEIVE:
        return WF_DROP_NO_RECEIVE;
    case WF_QP_BAD_PKEY:
        return WF_DROP_BAD_PKEY;
    case WF_QP_BAD_QKEY:
        return WF_DROP_BAD_QKEY;
    }
    return WF_DROP_BAD_OPCODE;
}

static enum wf_reason rx_roce(struct wf_host *h, const struct wf_pkt *pkt)
{
    enum wf_reason why = check_ip(h, pkt);
    struct wf_nic_qp *nq;

    if (!why)
        why = check_icrc(pkt);
    if (why)
        return why;
    nq = wf_nic_qp_find(h, pkt->p.dqpn);
    if (!nq && pkt->p.dqpn == WF_GSI_QPN && h->endpoint)
        return wf_endpoint_rx(h, pkt);
    if (!nq || (!from_peer(nq, pkt) && nq->qp.cfg.service != WF_SERVICE_UD))
        return WF_DROP_NO_QP;
    h->node.ports[0].rx_ahead = nq; /* the next packet is likely to be for the same */
    h->node.ports[0].rx_line = offsetof(struct wf_pkt, p.dqpn) / 64;
    return to_qp(nq, pkt);
}

static enum wf_reason refused(const struct wf_host *h, const struct wf_pkt *pkt)
{
    if (!(pkt->p.flags & WF_P_ETH) || pkt->malformed)
        return WF_DROP_MALFORMED;
    if (!(pkt->p.flags & WF_P_MULTICAST) && memcmp(wf_pkt_bytes(pkt), h->node.mac, 6))
        return WF_DROP_NOT_FOR_US;
    if (pkt->frame_len - WF_FCS_LEN - pkt->p.l3_off > h->cfg.mtu)
        return WF_DROP_MTU;
    return WF_DROP_NONE;
}

/* By the NIC's own map, whatever the switches took it for. */
static void count_priority(const struct wf_host *h, struct wf_port *port, const struct wf_pkt *pkt)
{
    const struct wf_parsed *p = &pkt->p;
    unsigned prio = p->flags & WF_P_IP     ? h->cfg.dscp_to_priority[p->dscp & 63]
                    : p->flags & WF_P_VLAN ? p->pcp & 7u
                                           : 0;

    wf_port_count_rx(port, prio, pkt->frame_len);
}

static void host_rx(struct wf_node *node, struct wf_port *port, struct wf_pkt *pkt)
{
    struct wf_host *h = (struct wf_host *)node;
    enum wf_reason why = refused(h, pkt);

#pragma GCC unroll 16
    for (unsigned i = 2; i < NQ_LINES; i++) /* two are here already */
        __builtin_prefetch((const char *)port->rx_ahead + 64 * i);
    count_priority(h, port, pkt);
    if (!why && pkt->flags & WF_PKT_TRIMMED)
        port->ctr[WF_PORT_TRIM_RX_FRAMES]++; /* go-back-N has no use of it */
    else if (!why && pkt->p.flags & WF_P_ROCEV2)
        why = rx_roce(h, pkt);
    else if (!why && wf_nic_reply(h, port, pkt))
        return;
    else if (!why && !(pkt->p.flags & WF_P_MULTICAST)) /* a broadcast is heard by all */
        why = WF_DROP_NOT_HANDLED;
    if (why)
        wf_pkt_drop(port, pkt, why);
    else
        wf_pkt_deliver(node->net, pkt);
}

/* A frame begins to be sent: its first bit is now, and the next one may be drawn. */
static void host_dequeued(struct wf_node *node, struct wf_port *port, struct wf_pkt *pkt)
{
    pkt->born_ps = wf_now(port);
    wf_nic_pump((struct wf_host *)node, pkt->queue);
}

static void host_link_changed(struct wf_node *node, struct wf_port *port, bool up)
{
    for (unsigned prio = 0; prio < WF_PRIOS; prio++)
        wf_nic_pump((struct wf_host *)node, prio);
}

static void host_ready(struct wf_node *node, struct wf_arena *arena)
{
    struct wf_host *h = (struct wf_host *)node;
    static const uint8_t identity[WF_PRIOS] = {0, 1, 2, 3, 4, 5, 6, 7};

    for (unsigned i = 0; i < node->n_ports; i++) {
        node->ports[i].sched = &wf_ets_ops;
        wf_pfc_attach(&node->ports[i], &h->cfg.pfc, identity, arena);
        for (unsigned q = 0; q < WF_QUEUES; q++)
            node->ports[i].q[q].quantum = 9600;
    }
    wf_endpoint_ready(h, arena);
}

/* Its endpoint; each flow, then its control, whose place is the flow's with the lowest bit set. */
static bool host_counters(struct wf_node *node, const void **at, struct wf_ctr_obj *out)
{
    struct wf_host *h = (struct wf_host *)node;
    uintptr_t last = (uintptr_t)*at;
    struct wf_flow *f = (struct wf_flow *)(last & ~(uintptr_t)1);
    struct wf_nic_cc *cc;

    if (!last && h->cfg.listen.port) {
        *at = h->endpoint;
        *out = (struct wf_ctr_obj){node->name, &wf_ctrs_endpoint, h->endpoint->ctr};
        return true;
    }
    if (*at == (const void *)h->endpoint)
        f = NULL;
    if (f && !(last & 1) && (cc = wf_flow_cc(f)) && cc->use->table) {
        *at = (const void *)(last | 1);
        *out = (struct wf_ctr_obj){f->name, cc->use->table, cc->values};
        return true;
    }
    *at = f = f ? f->next : h->flows;
    if (f)
        *out = (struct wf_ctr_obj){f->name, &wf_ctrs_flow, f->ctr, f->cfg.unjudged};
    return f != NULL;
}

static void host_settle(struct wf_node *node)
{
    struct wf_host *h = (struct wf_host *)node;

    for (struct wf_flow *f = h->flows; f; f = f->next)
        wf_flow_settle(f);
    if (h->endpoint)
        wf_endpoint_settle(h->endpoint);
}

const struct wf_node_ops wf_host_ops = {
    .kind = "host",
    .rx = host_rx,
    .dequeued = host_dequeued,
    .link_changed = host_link_changed,
    .ready = host_ready,
    .counters = host_counters,
    .settle = host_settle,
};

struct wf_node *wf_host_new(struct wf_arena *arena, const struct wf_host_cfg *cfg)
{
    struct wf_host *h = WF_ARENA_NEW(arena, struct wf_host);

    h->node.ops = &wf_host_ops;
    h->cfg = *cfg;
    return &h->node;
}
