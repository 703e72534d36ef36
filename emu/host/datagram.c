/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagrams between a model host and real programs (IBA vol. 1, 9.8.3; annexes A11, A17): one queue
 * pair of an endpoint that listens, which SIDR_REQs are told of (12.11), and those of flows that
 * have asked. A datagram comes with 40 bytes in front of it, the IPv6 header, or behind 20 zeros
 * the IPv4 header (A17.4.5.2): by these it is sent back. Nothing else is known of who sends.
 * Left out: a traffic class of one's own for each way, multicast groups, redirects.
 */
#include <string.h>

#include "host/endpoint.h"
#include "wire/edit.h"

enum {
    BYTES_MAX = 4096,
    MISSED_MAX = 64, /* datagrams in a row that may be lost, and the next is still recognised */
    IP4_LEN = 20,
    RECVS_MAX = 256, /* of a flow */
};

/* --- whoever asks for a service --------------------------------------------------------------- */

/* Who says what it is going to send is compared; the oldest makes room. */
static void remember(struct wf_datagrams *ud, const struct wf_cm_peer *from,
                     const struct wf_offer *o)
{
    struct wf_ud_sender *s = &ud->senders[ud->next_sender++ % ud->n_senders];

    memcpy(s->gid, from->remote_gid, sizeof(s->gid));
    s->qpn = o->rkey & WF_QPN_MASK;
    s->pattern = o->pattern;
    s->next = 0;
}

void wf_datagrams_resolve(void *arg, const struct wf_cm_peer *from, const struct wf_cm_msg *req,
                          struct wf_cm_msg *rep)
{
    struct wf_endpoint *ep = arg;
    const struct wf_listen_cfg *cfg = &ep->host->cfg.listen;
    struct wf_peer_qp *p = ep->ud;
    struct wf_offer o;

    if (!p || req->sidr_req.service_id != WF_CM_SERVICE_UDP + cfg->port)
        return;
    if (cfg->refuse) {
        rep->sidr_rep.status = WF_SIDR_REFUSED;
        return;
    }
    ep->past[WF_ENDPOINT_CM_RESOLVED]++;
    rep->sidr_rep.status = WF_SIDR_VALID;
    rep->sidr_rep.qpn = p->nq->qp.cfg.qpn;
    rep->sidr_rep.qkey = WF_UD_QKEY;
    wf_offer_put(rep->private_data, &(struct wf_offer){.len = p->recv_len - WF_QP_GRH_LEN,
                                                       .recv = (uint8_t)cfg->recv});
    if (wf_offer_get(req->private_data + WF_CM_IP_LEN, WF_OFFER_LEN, &o) && o.pattern &&
        o.does == WF_OFFER_SENDS)
        remember(p->ud, from, &o);
}

/* --- what comes ------------------------------------------------------------------------------- */

void wf_datagrams_arrive(const struct wf_pkt *pkt, struct wf_qp_in *in, uint8_t grh[WF_QP_GRH_LEN])
{
    const uint8_t *l3 = wf_pkt_bytes(pkt) + pkt->p.l3_off;

    if (pkt->p.flags & WF_P_IP4) {
        memset(grh, 0, WF_QP_GRH_LEN - IP4_LEN);
        memcpy(grh + WF_QP_GRH_LEN - IP4_LEN, l3, IP4_LEN);
    } else {
        memcpy(grh, l3, WF_QP_GRH_LEN);
    }
    in->grh = grh;
    in->from = pkt;
}

/* The way back, by the 40 bytes. */
static void way_of(const uint8_t grh[WF_QP_GRH_LEN], const struct wf_pkt *pkt, struct wf_ud_way *w)
{
    bool v4 = grh[0] >> 4 != 6;
    const uint8_t *src = grh + (v4 ? WF_QP_GRH_LEN - 8 : 8);
    uint8_t len = v4 ? 4 : 16, ttl = grh[v4 ? WF_QP_GRH_LEN - IP4_LEN + 8 : 7];
    struct wf_cm_peer *way = &w->peer;

    memset(way, 0, sizeof(*way));
    w->ttl = ttl > WF_NIC_TTL ? WF_NIC_TTL : ttl ? ttl - 1 : 0;
    if (v4)
        memset(way->remote_gid + 10, 0xff, 2);
    if (v4)
        memset(way->local_gid + 10, 0xff, 2);
    memcpy(way->remote_gid + 16 - len, src, len);
    memcpy(way->local_gid + 16 - len, src + len, len);
    memcpy(way->mac, wf_pkt_bytes(pkt) + 6, 6);
}

static struct wf_ud_sender *sender(struct wf_datagrams *ud, const struct wf_cm_peer *way,
                                   uint32_t qpn)
{
    for (struct wf_ud_sender *s = ud->senders; s < ud->senders + ud->n_senders; s++)
        if (s->pattern && s->qpn == qpn && !memcmp(s->gid, way->remote_gid, 16))
            return s;
    return NULL;
}

/* The n-th holds pattern p + n; those that were lost are passed over. */
static uint32_t number(const struct wf_ud_sender *s, const uint8_t *at, uint32_t len)
{
    uint32_t n = len < 8 ? len : 8;

    for (uint32_t k = s->next; k - s->next < MISSED_MAX; k++)
        if (wf_pattern_right(at, s->pattern + k, 0, n) == n)
            return k;
    return s->next;
}

static void judge(struct wf_peer_qp *p, struct wf_ud_sender *s, const uint8_t *at, uint32_t len)
{
    uint64_t *right = p->flow ? &p->right_bytes : &p->ep->past[WF_ENDPOINT_RIGHT_BYTES];
    uint64_t *wrong = p->flow ? &p->wrong_bytes : &p->ep->past[WF_ENDPOINT_WRONG_BYTES], good;
    uint32_t n = number(s, at, len);

    good = wf_pattern_right(at, s->pattern + n, 0, len);
    s->next = n + 1;
    *right += good;
    *wrong += len - good;
}

bool wf_datagrams_received(struct wf_peer_qp *p, const struct wf_wc *wc, uint8_t *place)
{
    struct wf_ud_way *way = &p->ud->ways[wc->id];
    uint32_t len = wc->len - WF_QP_GRH_LEN;
    struct wf_work w = {.id = wc->id, .op = wc->op, .imm = wc->imm, .len = len};
    struct wf_ud_sender *s;

    way_of(place, wc->in->from, way);
    s = sender(p->ud, &way->peer, wc->src_qpn);
    if (s)
        judge(p, s, place + WF_QP_GRH_LEN, len);
    if (p->recv != WF_LISTEN_ECHO || !way->ttl)
        return false;
    w.n_sge = len != 0;
    w.sge[0] = (struct iovec){place + WF_QP_GRH_LEN, len};
    w.ud.dqpn = wc->src_qpn;
    w.ud.qkey = WF_UD_QKEY;
    w.ah = way;
    return !wf_qp_post(&p->nq->qp, &w);
}

void wf_datagrams_address(struct wf_nic_qp *nq, const struct wf_ud_way *way)
{
    const struct wf_cm_peer *to = &way->peer;
    struct wf_roce *f = &nq->frame;

    memcpy(f->dst_mac, to->mac, 6);
    memcpy(f->src_ip, to->local_gid, 16);
    memcpy(f->dst_ip, to->remote_gid, 16);
    f->encap = wf_gid_is_v4(to->remote_gid) ? WF_ROCE_V2_IP4 : WF_ROCE_V2_IP6;
    f->ttl = way->ttl;
    nq->form.len = 0;
}

/* --- making them ------------------------------------------------------------------------------ */

void wf_datagrams_new(struct wf_peer_qp *p, const struct wf_listen_cfg *cfg, uint32_t senders,
                      struct wf_arena *arena)
{
    struct wf_listen_cfg c = *cfg;

    if (c.recv_bytes > BYTES_MAX)
        c.recv_bytes = BYTES_MAX;
    c.recv_bytes += WF_QP_GRH_LEN;
    p->ud = WF_ARENA_NEW(arena, struct wf_datagrams);
    p->ud->ways = WF_ARENA_ARRAY(arena, struct wf_ud_way, c.recv_depth + 1);
    p->ud->n_senders = senders;
    p->ud->senders = WF_ARENA_ARRAY(arena, struct wf_ud_sender, senders);
    wf_inbox_new(p, &c, arena);
}

/* A flow takes what its peer sends back, too. */
void wf_datagrams_dial(struct wf_peer_qp *p, struct wf_arena *arena)
{
    const struct wf_flow_cfg *f = &p->flow->cfg;
    struct wf_listen_cfg cfg = {
        .recv = WF_LISTEN_SINK,
        .recv_bytes = f->path_mtu,
        .recv_depth = f->recv_depth < RECVS_MAX ? f->recv_depth : RECVS_MAX,
    };

    wf_datagrams_new(p, &cfg, 1, arena);
}

bool wf_datagrams_begin(struct wf_peer_qp *p, const struct wf_cm_msg *rep)
{
    const struct wf_flow *f = p->flow;
    struct wf_ud_sender *s = p->ud->senders;
    struct wf_offer o = {.recv = WF_LISTEN_SINK};

    if (rep->sidr_rep.status != WF_SIDR_VALID)
        return false;
    if (wf_offer_get(rep->private_data, WF_OFFER_LEN, &o) &&
        (o.recv == WF_LISTEN_NONE || (o.len && o.len < f->cfg.size_bytes)))
        return false;
    p->qkey = rep->sidr_rep.qkey;
    *s = (struct wf_ud_sender){.qpn = rep->sidr_rep.qpn,
                               .pattern = o.recv == WF_LISTEN_ECHO ? f->pattern : 0};
    memcpy(s->gid, p->nq->frame.dst_ip, sizeof(s->gid));
    return true;
}

void wf_datagrams_settle(const struct wf_peer_qp *p, uint64_t *ctr)
{
    ctr[WF_FLOW_RECEIVED] = p->nq->qp.resp.messages;
    ctr[WF_FLOW_NO_RECEIVE] = p->nq->qp.respm.no_receive;
}

void wf_datagrams_listen(struct wf_endpoint *ep, struct wf_arena *arena)
{
    const struct wf_host_cfg *host = &ep->host->cfg;
    const struct wf_listen_cfg *cfg = &host->listen;
    struct wf_peer_qp *p;
    struct wf_qp_cfg qp;

    if (cfg->recv != WF_LISTEN_SINK && cfg->recv != WF_LISTEN_ECHO)
        return;
    ep->ud = p = WF_ARENA_NEW(arena, struct wf_peer_qp);
    wf_peer_new(ep, p, cfg->connections + WF_DIALS_MAX, 0, cfg->recv_depth ? cfg->recv_depth : 1,
                arena);
    wf_datagrams_new(p, cfg, cfg->connections, arena);
    qp = p->nq->qp.cfg;
    qp.service = WF_SERVICE_UD;
    qp.qkey = WF_UD_QKEY;
    qp.path_mtu = BYTES_MAX;
    memcpy(p->nq->frame.src_mac, ep->host->node.mac, 6);
    p->nq->frame.ttl = WF_NIC_TTL;
    p->nq->frame.sport = WF_ENDPOINT_SPORT;
    p->nq->prio = host->dscp_to_priority[0] & 7;
    wf_peer_open(p, &qp);
}
