/* SPDX-License-Identifier: BSD-3-Clause */
#include "attach/edge.h"

#include <string.h>

#include "attach/ingress.h"
#include "base/assert.h"
#include "eth/ets.h"
#include "switch/switch.h"
#include "wire/arp.h"
#include "wire/edit.h"
#include "wire/eth.h"
#include "wire/icrc.h"
#include "wire/pfc.h"

enum {
    BURST = WF_STIM_TAKEN_MAX,
    PULL_FRAMES = 256, /* most that wait in the port; fewer on a slow link */
    PULL_PS = 200 * WF_PS_PER_US,
    POOL_RESERVE = 64, /* full frames that the fabric may need for itself */
    DWRR_QUANTUM = 9600,
};

/* --- to the peer ------------------------------------------------------------------------------ */

/* The same packet with all of its bytes in the mbuf. NULL: no buffer. */
static struct wf_pkt *materialise(struct wf_net *net, struct wf_pkt *pkt)
{
    uint32_t len = pkt->frame_len - WF_FCS_LEN;
    struct wf_pkt *full;

    if (pkt->payload == WF_PAYLOAD_REAL || wf_pkt_caplen(pkt) >= len)
        return pkt;
    full = wf_pkt_new(net, len);
    if (!full)
        return NULL;
    wf_pkt_like(full, pkt);
    wf_pkt_real_bytes(pkt, wf_pkt_hdr_rw(full), len);
    full->payload = WF_PAYLOAD_REAL;
    wf_pkt_free(net, pkt);
    return full;
}

static bool too_long(const struct wf_edge *e, const struct wf_pkt *pkt)
{
    uint32_t l2 = pkt->p.l3_off ? pkt->p.l3_off : WF_ETH_LEN;

    return pkt->frame_len - WF_FCS_LEN > e->mtu + l2;
}

static void count_out(struct wf_edge *e, const struct wf_pkt *pkt)
{
    enum wf_icrc_state icrc = wf_icrc_check(wf_pkt_bytes(pkt), wf_pkt_caplen(pkt), &pkt->p);

    if (pkt->p.flags & WF_P_ROCEV2) {
        e->ctr[WF_EDGE_OUT_ICRC_OK] += icrc == WF_ICRC_OK;
        e->ctr[WF_EDGE_OUT_ICRC_BAD] += icrc == WF_ICRC_BAD;
    }
    e->ctr[WF_EDGE_OUT_CE_FRAMES] += pkt->p.flags & WF_P_IP && pkt->p.ecn == WF_ECN_CE;
}

static void push(struct wf_edge *e, struct rte_mbuf *m)
{
    e->fifo[(e->fifo_head + e->fifo_count++) % e->fifo_len] = m;
    wf_max_u64(&e->ctr[WF_EDGE_FIFO_MAX_FRAMES], e->fifo_count);
    e->fresh = true;
}

void wf_edge_probe(struct wf_edge *e)
{
    static const uint8_t all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    struct wf_arp arp = {.oper = WF_ARP_REQUEST, .tpa = wf_ld32(e->cfg->ip.addr + 12)};
    struct wf_pkt *pkt;

    if (e->cfg->ip.family != 4 || e->fifo_count == e->fifo_len)
        return;
    pkt = wf_pkt_new(e->node.net, WF_ETH_MIN_LEN);
    if (!pkt)
        return;
    memcpy(arp.sha, wf_edge_port(e)->peer->node->mac, 6);
    wf_arp_build(wf_pkt_hdr_rw(pkt), all, &arp);
    push(e, wf_pkt_to_mbuf(pkt));
}

/* A frame is at the host, in model time. What follows is no part of the model. */
static void edge_rx(struct wf_node *node, struct wf_port *port, struct wf_pkt *pkt)
{
    struct wf_edge *e = (struct wf_edge *)node;

    if (e->nic && !(pkt->flags & WF_PKT_INT) && wf_edge_nic_receive(e->nic, pkt))
        return;
    if (too_long(e, pkt) || pkt->flags & WF_PKT_INT) {
        wf_pkt_drop(port, pkt, pkt->flags & WF_PKT_INT ? WF_DROP_EDGE_INT : WF_DROP_EDGE_TOO_LONG);
        return;
    }
    if (!e->stalled && e->fifo_count == e->fifo_len)
        wf_edge_stall(e, true);
    if (e->stalled) {
        wf_pkt_drop(port, pkt, WF_DROP_EDGE_STALLED);
        return;
    }
    pkt = materialise(node->net, pkt);
    if (!pkt)
        return; /* the run has failed: emulator_out_of_buffers */
    count_out(e, pkt);
    push(e, wf_pkt_deliver_out(node->net, pkt));
}

/* pfc: honour. The leaf's PFC frame does not stop this port: the peer gets it, and stops. */
static void edge_rx_control(struct wf_port *port, struct wf_pkt *pkt)
{
    struct wf_pfc f;

    switch (wf_mac_control_get(wf_pkt_bytes(pkt), wf_pkt_caplen(pkt), &pkt->p, &f)) {
    case WF_MAC_CONTROL_IS_PFC:
        port->ctr[WF_PORT_PFC_RX_FRAMES]++;
        break;
    case WF_MAC_CONTROL_IS_PAUSE:
        port->ctr[WF_PORT_PAUSE_RX_FRAMES]++;
        break;
    case WF_MAC_CONTROL_IS_BAD:
        port->ctr[WF_PORT_PFC_BAD_FRAMES]++;
        break;
    }
    edge_rx(port->node, port, pkt);
}

void wf_edge_stall(struct wf_edge *e, bool stalled)
{
    wf_edge_settle(e);
    if (stalled && !e->stalled)
        e->ctr[WF_EDGE_STALLS]++;
    e->stalled = stalled;
}

unsigned wf_edge_flush(struct wf_edge *e)
{
    unsigned taken = 0;

    e->fresh = false;
    while (e->fifo_count && e->peer_up) {
        unsigned n = e->fifo_len - e->fifo_head, got;
        uint32_t bytes[BURST];

        n = n < e->fifo_count ? n : e->fifo_count;
        n = n < BURST ? n : BURST;
        for (unsigned i = 0; i < n; i++) /* what the ring takes is not ours to look at */
            bytes[i] = rte_pktmbuf_pkt_len(e->fifo[e->fifo_head + i]) + WF_FCS_LEN;
        got = wf_edge_dev_tx(&e->dev, &e->fifo[e->fifo_head], n);
        if (got)
            wf_ingress_taken(e, bytes, got);
        taken += got;
        if (got < n)
            break;
    }
    return taken;
}

void wf_edge_discard(struct wf_edge *e)
{
    for (; e->fifo_count; e->fifo_count--) {
        rte_pktmbuf_free(e->fifo[e->fifo_head]);
        e->fifo_head = (e->fifo_head + 1) % e->fifo_len;
    }
    if (e->stalled)
        wf_edge_stall(e, false);
}

/* --- from the peer ---------------------------------------------------------------------------- */

/* How many frames the port has room for; 0 while the fabric holds one of them back. */
static unsigned room(struct wf_edge *e)
{
    struct wf_port *port = wf_edge_port(e);
    uint64_t now = wf_now(port), rate = port->link->cfg.rate_bps, frames = port->control.count;
    uint64_t bytes = wf_port_backlog(port), most = rate / 8 * (PULL_PS / WF_PS_PER_US) / 1000000;
    bool held = false;

    if (e->nic && wf_edge_nic_held(e->nic) >= WF_EDGE_NIC_WAITING)
        return 0;
    for (unsigned q = 0; q < WF_QUEUES; q++) {
        frames += port->q[q].fifo.count;
        if (port->q[q].fifo.count && port->ll_ops->may_send(port, q, 0) > now)
            held = true;
    }
    if (held != e->held)
        wf_ingress_held(e, held);
    if (held || bytes > most + 2ull * DWRR_QUANTUM || frames >= PULL_FRAMES)
        return 0;
    return PULL_FRAMES - (unsigned)frames;
}

/* Short frames go into header segments, so that they don't tie up whole-frame buffers; what a
 * driver gives in pieces, or in memory that is not ours to edit, is copied. NULL: no buffer. */
static struct wf_pkt *adopt(struct wf_net *net, struct rte_mbuf *m)
{
    uint32_t len = rte_pktmbuf_pkt_len(m);
    bool as_it_is = m->pool == net->full_pool && RTE_MBUF_DIRECT(m) && m->nb_segs == 1 &&
                    rte_mbuf_refcnt_read(m) == 1;
    struct wf_pkt *pkt;

    if (as_it_is && (len > WF_HDR_ROOM || wf_net_spare(net) < PULL_FRAMES))
        return wf_pkt_adopt(net, m);
    pkt = wf_pkt_new(net, len);
    if (pkt && len) {
        uint8_t *to = wf_pkt_hdr_rw(pkt);
        const void *from = rte_pktmbuf_read(m, 0, len, to);

        if (from != to)
            memcpy(to, from, len);
    }
    rte_pktmbuf_free(m);
    return pkt;
}

static bool sent_by_ourselves(const struct wf_edge *e, const struct rte_mbuf *m)
{
    return e->dev.has_own_mac && rte_pktmbuf_data_len(m) >= WF_ETH_LEN &&
           !memcmp(rte_pktmbuf_mtod_offset(m, const uint8_t *, 6), e->dev.own_mac, 6);
}

static void take(struct wf_edge *e, struct rte_mbuf *m)
{
    struct wf_pkt *pkt;

    if (sent_by_ourselves(e, m) || rte_pktmbuf_pkt_len(m) > WF_FULL_ROOM) {
        enum wf_ctr_EDGE c = sent_by_ourselves(e, m) ? WF_EDGE_OWN_FRAMES : WF_EDGE_IN_TOO_LONG;

        wf_ingress_count(e, c, e->ctr[c] + 1);
        rte_pktmbuf_free(m);
        return;
    }
    pkt = adopt(e->node.net, m);
    if (pkt)
        wf_ingress_frame(e, pkt);
}

unsigned wf_edge_pull(struct wf_edge *e)
{
    struct wf_net *net = e->node.net;
    struct rte_mbuf *burst[BURST];
    unsigned all = 0, got, n;

    wf_edge_settle(e);
    while (e->peer_up && (n = room(e))) {
        unsigned spare = rte_mempool_avail_count(net->full_pool);

        n = n < BURST ? n : BURST;
        if (spare < POOL_RESERVE + 2 * n) /* short of memory: the peer waits */
            break;
        got = wf_edge_dev_rx(&e->dev, burst, n);
        for (unsigned i = 0; i < got; i++)
            take(e, burst[i]);
        all += got;
        if (got < n || all >= PULL_FRAMES)
            break;
    }
    return all;
}

/* --- the node --------------------------------------------------------------------------------- */

void wf_edge_settle(struct wf_edge *e)
{
    uint64_t now = e->node.net->lc->now_ps;

    if (e->stalled)
        e->ctr[WF_EDGE_STALL_PS] += now - e->stalled_ps;
    if (e->held)
        e->ctr[WF_EDGE_BACKPRESSURE_PS] += now - e->held_ps;
    e->stalled_ps = e->held_ps = now;
    if (e->nic)
        wf_edge_nic_settle(e->nic);
}

static void port_settle(struct wf_port *port)
{
    wf_pfc_ops.settle(port);
    wf_edge_settle((struct wf_edge *)port->node);
}

static void edge_ready(struct wf_node *node, struct wf_arena *arena)
{
    static const uint8_t identity[WF_PRIOS] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct wf_edge *e = (struct wf_edge *)node;
    struct wf_pfc_cfg pfc = e->cfg->pfc;

    if (e->cfg->attach.pfc != WF_PFC_BACKPRESSURE) {
        node->ignores_pause = true;
        pfc.enable = pfc.obey_pause = false;
        pfc.flow_control = WF_FLOW_NONE;
    }
    e->ll_ops = wf_pfc_ops;
    e->ll_ops.settle = port_settle;
    if (e->cfg->attach.pfc == WF_PFC_HONOUR)
        e->ll_ops.rx_control = edge_rx_control;
    e->nic = wf_edge_nic_new(e, arena);
    e->fifo_len = e->cfg->attach.fifo_frames;
    e->fifo = WF_ARENA_ARRAY(arena, struct rte_mbuf *, e->fifo_len);
    for (unsigned i = 0; i < node->n_ports; i++) {
        struct wf_port *port = &node->ports[i];

        port->sched = &wf_ets_ops;
        wf_pfc_attach(port, &pfc, identity, arena);
        port->ll_ops = &e->ll_ops;
        for (unsigned q = 0; q < WF_QUEUES; q++)
            port->q[q].quantum = DWRR_QUANTUM;
        if (port->peer->node->ops == &wf_switch_ops)
            e->trust_pcp =
                wf_switch_port_cfg((struct wf_switch *)port->peer->node, port->peer)->trust ==
                WF_TRUST_PCP;
    }
}

static bool edge_counters(struct wf_node *node, const void **at, struct wf_ctr_obj *out)
{
    *out = (struct wf_ctr_obj){node->name, &wf_ctrs_edge, ((struct wf_edge *)node)->ctr, false};
    if (*at)
        return false;
    *at = node;
    return true;
}

static uint64_t edge_held(const struct wf_node *node)
{
    const struct wf_edge *e = (const struct wf_edge *)node;

    return e->nic ? wf_edge_nic_held(e->nic) : 0;
}

const struct wf_node_ops wf_edge_ops = {
    .kind = "edge",
    .rx = edge_rx,
    .ready = edge_ready,
    .counters = edge_counters,
    .held = edge_held,
};
