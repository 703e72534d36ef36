/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CNP's bytes are those of one captured on a ConnectX-4 Lx: DSCP 48, ECT(0), UDP source port
 * 0, no checksum. Left out: CNPs that a NIC coalesces over queue pairs; a queue pair whose CE falls
 * into another's interval gets none for it.
 */
#include "host/cnp.h"

#include <string.h>

#include "base/assert.h"
#include "host/nic.h"
#include "wire/edit.h"

static void send(struct wf_nic_np *np)
{
    const struct wf_nic_qp *nq = np->nq;
    struct wf_host *h = nq->host;
    struct wf_port *port = &h->node.ports[0];
    struct wf_roce f = nq->frame;
    uint8_t prio = h->cfg.dscp_to_priority[np->cfg.dscp] & 7;
    struct wf_pkt *pkt;

    if (port->q[prio].fifo.count >= WF_NIC_REPLIES_MAX)
        return; /* behind a pause, with plenty waiting already */
    pkt = wf_pkt_new(h->node.net, WF_HDR_ROOM);
    if (!pkt)
        return; /* the run has failed already: emulator_out_of_buffers */
    f.dscp = np->cfg.dscp;
    f.ecn = WF_ECN_ECT0;
    f.sport = 0;
    f.ip_id = nq->frame.ip_id + 1;
    f.payload_len = WF_CNP_PAYLOAD;
    f.bth = (struct wf_bth){
        .opcode = WF_OPCODE_CNP, .pkey = WF_BTH_PKEY, .becn = true, .dqpn = nq->qp.cfg.dqpn};
    pkt->caplen = (uint16_t)wf_roce_hdr_build(pkt->data, WF_HDR_ROOM, &f);
    pkt->frame_len = wf_roce_frame_len(pkt->caplen, WF_CNP_PAYLOAD) + WF_FCS_LEN;
    pkt->payload = WF_PAYLOAD_NONE;
    WF_ASSERT(wf_pkt_parse(pkt) == WF_DROP_NONE);
    pkt->prio = pkt->queue = prio;
    pkt->ready_ps = h->node.net->lc->now_ps;
    wf_pkt_generated(h->node.net, pkt);
    np->nq->frame.ip_id++;
    np->sent++;
    wf_port_enqueue(port, pkt);
}

static void delay_event(struct wf_lcore *lc, struct wf_event *ev)
{
    send(WF_CONTAINER_OF(ev, struct wf_nic_np, delay));
}

/* One is due, unless its like was within the interval. */
static void notify(struct wf_nic_np *np)
{
    struct wf_node *node = &np->nq->host->node;
    uint64_t now = node->net->lc->now_ps;

    if (now < np->domain->next_ps || wf_event_pending(&np->delay))
        return;
    np->domain->next_ps = now + np->cfg.interval_ps;
    if (!np->cfg.delay_ps)
        send(np);
    else
        wf_lcore_schedule(node->net->lc, &np->delay, now + np->cfg.delay_ps,
                          wf_event_key(node->entity, WF_EV_TIMER, node->seq++), delay_event);
}

void wf_np_saw(struct wf_nic_qp *nq, const struct wf_pkt *pkt)
{
    const struct wf_parsed *p = &pkt->p;
    struct wf_nic_np *np = nq->np;
    bool nak = nq->qp.resp.naks != np->naks;

    np->naks = nq->qp.resp.naks;
    if (p->flags & WF_P_MULTICAST)
        return;
    if (p->payload_len)
        np->ce = np->ce || p->ecn == WF_ECN_CE;
    if (np->returns && p->payload_len)
        np->n_hops = wf_int_get(pkt, np->hops);
    if (!np->notifies)
        return;
    if ((p->ecn == WF_ECN_CE && p->payload_len) || (nak && np->cfg.on_nak))
        notify(np);
}

static struct wf_np_domain *domain_of(struct wf_nic_qp *nq, int pacing, struct wf_arena *arena)
{
    struct wf_np_domain **at = &nq->host->np_domains, *d;
    uint8_t key[16] = {0};

    if (pacing == WF_CNP_PER_QP)
        return WF_ARENA_NEW(arena, struct wf_np_domain);
    if (pacing != WF_CNP_PER_PORT)
        memcpy(key, nq->frame.dst_ip, sizeof(key));
    for (; *at; at = &(*at)->next)
        if (!memcmp((*at)->key, key, sizeof(key)))
            return *at;
    d = WF_ARENA_NEW(arena, struct wf_np_domain);
    memcpy(d->key, key, sizeof(key));
    *at = d;
    return d;
}

void wf_np_add(struct wf_nic_qp *nq, uint32_t flags, struct wf_arena *arena)
{
    struct wf_nic_np *np = WF_ARENA_NEW(arena, struct wf_nic_np);

    wf_np_resolve(&nq->host->cfg.nic, &np->cfg);
    np->nq = nq;
    np->notifies = flags & WF_CC_CNP;
    np->echoes = flags & WF_CC_ECHO;
    np->returns = flags & WF_CC_INT;
    np->domain = domain_of(nq, np->cfg.pacing, arena);
    nq->np = np;
}
