/* SPDX-License-Identifier: BSD-3-Clause */
/* QP1 of a model host, and the connections that real programs make to it. See endpoint.h. */
#include "host/endpoint.h"

#include <string.h>

#include "base/assert.h"
#include "wire/edit.h"

enum {
    CM_RESPONSE = 18, /* 1.07 s */
    CM_RETRIES = 15,
    HEADERS_MAX = 40 + 8 + 12 + 16 + 4 + 4, /* of an L3 packet: IPv6, UDP, BTH, RETH, ImmDt, ICRC */
    UD_SEND_ONLY = WF_SERVICE_UD | WF_OP_SEND_ONLY,
};
#define TIMEWAIT_PS (100 * WF_PS_PER_US * 1000)

/* --- datagrams -------------------------------------------------------------------------------- */

bool wf_gid_is_v4(const uint8_t gid[16])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

    return !memcmp(gid, mapped, 12);
}

static void send(struct wf_endpoint *ep, const struct wf_cm_peer *to, const uint8_t *mad)
{
    struct wf_host *h = ep->host;
    struct wf_port *port = &h->node.ports[0];
    struct wf_roce *f = &ep->frame;
    struct iovec iov = {(void *)(uintptr_t)mad, WF_MAD_LEN};
    unsigned prio = h->cfg.dscp_to_priority[0] & 7;
    struct wf_pkt *pkt;

    if (port->q[prio].fifo.count >= WF_NIC_REPLIES_MAX)
        return; /* datagrams may be lost */
    memcpy(f->dst_mac, to->mac, 6);
    memcpy(f->src_mac, h->node.mac, 6);
    memcpy(f->src_ip, to->local_gid, 16);
    memcpy(f->dst_ip, to->remote_gid, 16);
    f->encap = wf_gid_is_v4(to->remote_gid) ? WF_ROCE_V2_IP4 : WF_ROCE_V2_IP6;
    f->ttl = WF_NIC_TTL;
    f->sport = WF_ENDPOINT_SPORT;
    f->ip_id++;
    f->bth = (struct wf_bth){.opcode = UD_SEND_ONLY,
                             .pkey = WF_BTH_PKEY,
                             .dqpn = to->qpn & WF_QPN_MASK,
                             .psn = ep->psn++ & WF_PSN_MASK};
    f->ext.deth = (struct wf_deth){.qkey = WF_GSI_QKEY, .sqpn = WF_GSI_QPN};
    f->payload_len = WF_MAD_LEN;
    pkt = wf_nic_real(h->node.net, f, &iov, 1);
    if (!pkt)
        return; /* the run has failed already: emulator_out_of_buffers */
    pkt->prio = pkt->queue = (uint8_t)prio;
    pkt->ready_ps = wf_now(port);
    wf_pkt_generated(h->node.net, pkt);
    wf_port_enqueue(port, pkt);
}

static void timer_event(struct wf_lcore *lc, struct wf_event *ev)
{
    struct wf_endpoint *ep = WF_CONTAINER_OF(ev, struct wf_endpoint, timer);

    wf_cm_tick(&ep->agent, lc->now_ps);
    wf_endpoint_flush(ep, lc->now_ps);
}

void wf_endpoint_flush(struct wf_endpoint *ep, uint64_t now_ps)
{
    struct wf_node *node = &ep->host->node;
    struct wf_lcore *lc = node->net->lc;
    uint8_t mad[WF_MAD_LEN];
    struct wf_cm_peer to;
    uint64_t t;

    while (wf_cm_pull(&ep->agent, now_ps, &to, mad))
        send(ep, &to, mad);
    t = wf_cm_timer_ps(&ep->agent);
    if (wf_event_pending(&ep->timer)) {
        if (ep->timer.t_ps == t)
            return;
        wf_lcore_cancel(lc, &ep->timer);
    }
    if (t != WF_TIME_NEVER)
        wf_lcore_schedule(lc, &ep->timer, t > now_ps ? t : now_ps,
                          wf_event_key(node->entity, WF_EV_TIMER, node->seq++), timer_event);
}

static void gids_of(const uint8_t *b, const struct wf_parsed *p, struct wf_cm_peer *peer)
{
    bool v4 = p->flags & WF_P_IP4;
    const uint8_t *src = b + p->l3_off + (v4 ? 12 : 8);
    uint8_t len = v4 ? 4 : 16;

    memcpy(peer->remote_gid + 16 - len, src, len);
    memcpy(peer->local_gid + 16 - len, src + len, len);
    if (!v4)
        return;
    memset(peer->remote_gid + 10, 0xff, 2);
    memset(peer->local_gid + 10, 0xff, 2);
}

enum wf_reason wf_endpoint_rx(struct wf_host *h, const struct wf_pkt *pkt)
{
    struct wf_endpoint *ep = h->endpoint;
    uint64_t now = h->node.net->lc->now_ps;
    const struct wf_parsed *p = &pkt->p;
    const uint8_t *b = wf_pkt_bytes(pkt);
    struct wf_rd r = wf_rd_init(b, wf_pkt_caplen(pkt));
    struct wf_cm_peer from = {0};
    struct wf_bth bth;
    struct wf_deth deth;

    wf_rd_skip(&r, p->bth_off);
    if (wf_bth_get(&r, &bth) || bth.tver)
        return WF_DROP_MALFORMED;
    if (bth.opcode != UD_SEND_ONLY || wf_deth_get(&r, &deth))
        return WF_DROP_BAD_OPCODE;
    if ((bth.pkey ^ WF_BTH_PKEY) & 0x7fff) /* ours is the default partition, as a full member */
        return WF_DROP_BAD_PKEY;
    if (deth.qkey != WF_GSI_QKEY)
        return WF_DROP_NO_QP;
    if (pkt->payload != WF_PAYLOAD_REAL || p->payload_len != WF_MAD_LEN)
        return WF_DROP_MALFORMED;
    memcpy(from.mac, b + 6, 6);
    from.qpn = deth.sqpn;
    gids_of(b, p, &from);
    if (!(p->flags & WF_P_IP4) && wf_gid_is_v4(from.remote_gid))
        return WF_DROP_MALFORMED; /* it could only be answered in another family */
    wf_cm_rx(&ep->agent, &from, b + p->payload_off, p->payload_len, now);
    wf_endpoint_flush(ep, now);
    return WF_DROP_NONE;
}

/* --- whoever asks ----------------------------------------------------------------------------- */

static struct wf_peer_qp *free_listener(struct wf_endpoint *ep)
{
    for (uint32_t i = 0; i < ep->n_listeners; i++)
        if (!ep->listeners[i].conn)
            return &ep->listeners[i];
    return NULL;
}

/* 0: it can be taken; else a reason of enum wf_cm_reject. */
static uint16_t unfit(const struct wf_endpoint *ep, const struct wf_cm_req *req)
{
    const struct wf_listen_cfg *cfg = &ep->host->cfg.listen;

    if (!cfg->port || req->service_id != WF_CM_SERVICE_TCP + cfg->port)
        return WF_CM_REJ_SERVICE_ID;
    if (cfg->refuse)
        return (uint16_t)cfg->refuse;
    if (req->service_type)
        return WF_CM_REJ_TRANSPORT;
    if (req->path_mtu < 1 || req->path_mtu > 5 ||
        (128u << req->path_mtu) + HEADERS_MAX > ep->host->cfg.mtu)
        return WF_CM_REJ_PATH_MTU;
    return 0;
}

static uint8_t least(uint8_t a, uint8_t b)
{
    return a < b ? a : b;
}

/* What our frames to the peer look like: addressed as its own came, from the port that the path's
 * flow label means, so that both directions have one, in the path's traffic class. */
static void dress(struct wf_nic_qp *nq, const struct wf_cm_peer *peer,
                  const struct wf_cm_path *path)
{
    const struct wf_host *h = nq->host;
    struct wf_roce *f = &nq->frame;

    memcpy(f->dst_mac, peer->mac, 6);
    memcpy(f->src_mac, h->node.mac, 6);
    memcpy(f->src_ip, peer->local_gid, 16);
    memcpy(f->dst_ip, peer->remote_gid, 16);
    f->encap = wf_gid_is_v4(peer->remote_gid) ? WF_ROCE_V2_IP4 : WF_ROCE_V2_IP6;
    f->ttl = WF_NIC_TTL;
    f->dscp = path->traffic_class >> 2;
    f->flow_label = path->flow_label;
    f->sport = (uint16_t)(WF_ENDPOINT_SPORT |
                          ((path->flow_label & 0x3fff) ^ (path->flow_label >> 14 & 0x3f)));
    nq->prio = h->cfg.dscp_to_priority[f->dscp] & 7;
    nq->ecn = path->traffic_class & 3;
    nq->form.len = 0;
}

static void open_listener(struct wf_peer_qp *p, const struct wf_cm_msg *m, uint32_t psn)
{
    struct wf_qp_cfg cfg = p->nq->qp.cfg;

    cfg.dqpn = m->req.local_qpn;
    cfg.sq_psn = m->req.starting_psn;
    cfg.rq_psn = psn;
    cfg.path_mtu = 128u << m->req.path_mtu;
    cfg.ack_timeout_ps = wf_cm_wait_ps(m->path[0].ack_timeout);
    cfg.retries = m->req.retry_count;
    cfg.rnr_retry = m->req.rnr_retry;
    cfg.max_rd_atomic = least(m->req.responder_resources, WF_ENDPOINT_RD_ATOMIC);
    cfg.window_bytes = (uint64_t)WF_ENDPOINT_ECHO_PACKETS * cfg.path_mtu;
    p->announced = (struct wf_offer){0};
    wf_offer_get(m->private_data + WF_CM_IP_LEN, WF_OFFER_LEN, &p->announced);
    dress(p->nq, &p->conn->peer, &m->path[0]);
    wf_peer_open(p, &cfg);
}

static void on_request(struct wf_endpoint *ep, struct wf_conn *c, const struct wf_cm_msg *m,
                       uint64_t now_ps)
{
    uint16_t why = unfit(ep, &m->req);
    struct wf_peer_qp *p = free_listener(ep);
    uint8_t data[WF_OFFER_LEN];
    struct wf_cm_qp qp;

    if (!why && !p)
        why = WF_CM_REJ_NO_QP;
    if (why) {
        ep->past[WF_ENDPOINT_CM_REJECTED]++;
        wf_cm_reject(&ep->agent, c, why, NULL, 0, now_ps);
        return;
    }
    c->user = p;
    p->conn = c;
    qp = (struct wf_cm_qp){
        .qpn = p->nq->qp.cfg.qpn,
        .psn = (uint32_t)wf_prng_below(&ep->prng, 1 << 24),
        .responder_resources = least(m->req.initiator_depth, WF_ENDPOINT_RD_ATOMIC),
        .initiator_depth = least(m->req.responder_resources, WF_ENDPOINT_RD_ATOMIC),
        .ack_timeout = 14,
        .rnr_retries = 7,
    };
    open_listener(p, m, qp.psn);
    wf_offer_put(data, &(struct wf_offer){.va = p->va,
                                          .rkey = p->rkey,
                                          .len = (uint32_t)p->mem_len,
                                          .pattern = ep->host->cfg.listen.pattern,
                                          .recv = (uint8_t)ep->host->cfg.listen.recv});
    wf_cm_accept(&ep->agent, c, &qp, data, sizeof(data), now_ps);
}

/* What the peer was to write, at the end. */
static void compare(struct wf_peer_qp *p)
{
    uint64_t len = p->announced.len < p->mem_len ? p->announced.len : p->mem_len, right;

    if (p->flow || !p->announced.pattern || p->announced.does == WF_OFFER_SENDS ||
        p->announced.does == WF_OFFER_READS)
        return;
    if (p->announced.does == WF_OFFER_WRITES) {
        right = wf_region_right(p, p->announced.pattern, len);
    } else {
        len = sizeof(uint64_t);
        right = wf_region_word(p) == wf_errand_left(&p->announced, p->ep->host->cfg.listen.pattern)
                    ? len
                    : 0;
    }
    p->ep->past[WF_ENDPOINT_RIGHT_BYTES] += right;
    p->ep->past[WF_ENDPOINT_WRONG_BYTES] += len - right;
    p->announced.pattern = 0;
}

/* The connection is over; its queue pair stays taken while TimeWait lasts. */
static void over(struct wf_conn *c, bool again)
{
    struct wf_peer_qp *p = c->user;

    if (!p)
        return;
    wf_peer_close(p);
    compare(p);
    if (c->state == WF_CONN_IDLE) {
        p->conn = NULL;
        c->user = NULL;
    }
    if (p->flow)
        wf_endpoint_over(p, again);
}

static void on_event(void *arg, struct wf_conn *c, enum wf_conn_event ev, const struct wf_cm_msg *m,
                     uint64_t now_ps)
{
    struct wf_endpoint *ep = arg;

    switch (ev) {
    case WF_CONN_EV_REQUEST:
        on_request(ep, c, m, now_ps);
        break;
    case WF_CONN_EV_ESTABLISHED:
        ep->past[WF_ENDPOINT_CM_CONNECTED]++;
        break;
    case WF_CONN_EV_REJECTED:
        ep->past[WF_ENDPOINT_CM_REJECTED]++;
        over(c, m->rej.reason == WF_CM_REJ_SERVICE_ID);
        break;
    case WF_CONN_EV_UNREACHABLE:
        ep->past[WF_ENDPOINT_CM_UNREACHABLE]++;
        over(c, true);
        break;
    case WF_CONN_EV_DISCONNECTED:
        ep->past[WF_ENDPOINT_CM_DISCONNECTED]++;
        over(c, false);
        break;
    case WF_CONN_EV_FREE:
        over(c, false);
        break;
    case WF_CONN_EV_REPLY:
        ep->past[WF_ENDPOINT_CM_CONNECTED]++;
        wf_endpoint_replied(c->user, m, now_ps);
        break;
    case WF_CONN_EV_RESOLVED:
        wf_endpoint_resolved(c->user, m);
        break;
    }
}

/* --- making it -------------------------------------------------------------------------------- */

struct wf_endpoint *wf_endpoint_of(struct wf_host *h, struct wf_arena *arena)
{
    uint32_t n = h->cfg.listen.connections + WF_DIALS_MAX;
    struct wf_cm_user user = {.event = on_event, .resolve = wf_datagrams_resolve};
    struct wf_endpoint *ep;
    struct wf_cm_cfg cfg = {.guid = wf_ld48(h->node.mac),
                            .response = CM_RESPONSE,
                            .retries = CM_RETRIES,
                            .timewait_ps = TIMEWAIT_PS};
    char name[96];

    if (h->endpoint)
        return h->endpoint;
    ep = WF_ARENA_NEW(arena, struct wf_endpoint);
    user.arg = h->endpoint = ep;
    ep->host = h;
    snprintf(name, sizeof(name), "endpoint.%s", h->node.name);
    wf_prng_init(&ep->prng, h->node.net->seed, name);
    cfg.first_id = (uint32_t)wf_prng_u64(&ep->prng);
    wf_cm_agent_init(&ep->agent, &cfg, &user, WF_ARENA_ARRAY(arena, struct wf_conn, n), n);
    return ep;
}

void wf_endpoint_ready(struct wf_host *h, struct wf_arena *arena)
{
    const struct wf_listen_cfg *cfg = &h->cfg.listen;
    bool echoes = cfg->recv == WF_LISTEN_ECHO && cfg->recv_depth;

    if (!cfg->port)
        return;
    wf_endpoint_of(h, arena);
    h->endpoint->n_listeners = cfg->connections;
    h->endpoint->listeners = WF_ARENA_ARRAY(arena, struct wf_peer_qp, cfg->connections);
    for (uint32_t i = 0; i < cfg->connections; i++) {
        struct wf_peer_qp *p = &h->endpoint->listeners[i];
        uint32_t sq_len = cfg->recv == WF_LISTEN_RPING ? wf_rping_new(p, arena) : 1;

        if (echoes)
            sq_len = cfg->recv_depth;
        wf_peer_new(h->endpoint, p, i, cfg->memory_bytes, sq_len, arena);
        wf_region_new(p, arena);
        wf_inbox_new(p, cfg, arena);
    }
    wf_datagrams_listen(h->endpoint, arena);
}

void wf_endpoint_settle(struct wf_endpoint *ep)
{
    const struct wf_cm_agent *a = &ep->agent;

    memcpy(ep->ctr, ep->past, sizeof(ep->ctr));
    ep->ctr[WF_ENDPOINT_CM_RX] = a->rx;
    ep->ctr[WF_ENDPOINT_CM_TX] = a->tx;
    ep->ctr[WF_ENDPOINT_CM_RETX] = a->retries;
    ep->ctr[WF_ENDPOINT_CM_DUP] = a->duplicates;
    for (uint32_t i = 0; i < ep->n_listeners; i++)
        if (ep->listeners[i].open)
            wf_peer_count(&ep->listeners[i], ep->ctr);
    if (ep->ud)
        wf_peer_count(ep->ud, ep->ctr);
}
