/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The active side of an endpoint: a flow that asks a peer for a connection, learns from the REP's
 * private data where its memory is, carries out its messages there (errand.c) and disconnects.
 */
#include <string.h>

#include "base/assert.h"
#include "host/endpoint.h"
#include "wire/edit.h"

#define AGAIN_PS WF_PS_PER_S
enum { CODE_OF_256 = 1 };

static const struct wf_listen_cfg rping_inbox = {
    .recv = WF_LISTEN_RPING, .recv_bytes = WF_RPING_LEN, .recv_depth = 4};

void wf_endpoint_add_flow(struct wf_flow *f, struct wf_host *from, struct wf_arena *arena)
{
    struct wf_endpoint *ep = wf_endpoint_of(from, arena);
    struct wf_peer_qp *p = WF_ARENA_NEW(arena, struct wf_peer_qp);
    uint64_t memory = wf_errand_memory(&f->cfg);
    uint32_t sq_len = wf_errand_sq_len(&f->cfg);
    struct wf_prng prng;

    WF_ASSERT(ep->n_active < WF_DIALS_MAX);
    if (f->cfg.program == WF_PROGRAM_RPING) {
        memory = 2 * f->cfg.size_bytes; /* what goes, and what comes back */
        sq_len = wf_rping_new(p, arena);
        wf_inbox_new(p, &rping_inbox, arena);
    }
    wf_prng_init(&prng, from->node.net->seed, f->name);
    f->pattern = (uint32_t)wf_prng_u64(&prng) | 1;
    wf_peer_new(ep, p, from->cfg.listen.connections + ep->n_active++, memory, sq_len, arena);
    wf_pattern_fill(p->mem, f->pattern, 0, p->mem_len);
    p->flow = f;
    if (f->cfg.service == WF_FLOW_UD)
        wf_datagrams_dial(p, arena);
    f->tx = p->nq;
    f->tx->flow = f;
}

/* n of 4.096 us x 2^n, not below the time given. */
static uint8_t timeout_code(uint64_t ps)
{
    uint8_t n = 0;

    while (n < 31 && wf_cm_wait_ps(n) < ps)
        n++;
    return ps ? n : 0;
}

static uint8_t mtu_code(uint32_t mtu)
{
    uint8_t n = CODE_OF_256;

    while (n < 5 && 128u << n < mtu)
        n++;
    return n;
}

/* The private data of a REQ: the service's own, then what we offer. */
static uint32_t put_private(uint8_t to[WF_CM_IP_LEN + WF_OFFER_LEN], const struct wf_flow *f)
{
    const struct wf_roce *frame = &f->tx->frame;
    struct wf_offer offer;
    struct wf_cm_ip ip = {.ip_version = frame->encap == WF_ROCE_V2_IP4 ? 4 : 6,
                          .sport = frame->sport};
    struct wf_wr w = wf_wr_init(to, WF_CM_IP_LEN);
    uint32_t skip = ip.ip_version == 4 ? 12 : 0;

    memcpy(ip.src + skip, frame->src_ip + skip, 16 - skip);
    memcpy(ip.dst + skip, frame->dst_ip + skip, 16 - skip);
    wf_cm_ip_put(&w, &ip);
    wf_errand_offer(f, &offer);
    wf_offer_put(to + WF_CM_IP_LEN, &offer);
    return WF_CM_IP_LEN + WF_OFFER_LEN;
}

/* Nothing more comes of it. */
static void failed(struct wf_flow *f)
{
    f->failed = f->cfg.count - f->completed;
}

uint32_t wf_endpoint_dial_qpn(const struct wf_host_cfg *cfg, uint32_t n)
{
    return WF_ENDPOINT_QPN_FIRST + cfg->listen.connections + n;
}

void wf_endpoint_connect(struct wf_flow *f)
{
    struct wf_peer_qp *p = f->tx->peer;
    struct wf_endpoint *ep = p->ep;
    uint64_t now = ep->host->node.net->lc->now_ps;
    const struct wf_roce *frame = &f->tx->frame;
    uint8_t data[WF_CM_IP_LEN + WF_OFFER_LEN];
    struct wf_cm_peer to = {.qpn = WF_GSI_QPN};
    struct wf_cm_path path = {.local_lid = 0xffff,
                              .remote_lid = 0xffff,
                              .flow_label = frame->flow_label,
                              .traffic_class = (uint8_t)(frame->dscp << 2 | f->tx->ecn),
                              .hop_limit = WF_NIC_TTL};
    struct wf_cm_qp qp = {.qpn = f->tx->qp.cfg.qpn,
                          .psn = p->psn = (uint32_t)wf_prng_below(&ep->prng, 1 << 24),
                          .responder_resources = WF_ENDPOINT_RD_ATOMIC,
                          .initiator_depth = (uint8_t)f->cfg.max_rd_atomic,
                          .retries = (uint8_t)f->cfg.retries,
                          .rnr_retries = 7,
                          .ack_timeout = timeout_code(f->cfg.ack_timeout_ps),
                          .path_mtu = mtu_code(f->cfg.path_mtu)};

    memcpy(to.mac, frame->dst_mac, 6);
    memcpy(to.local_gid, frame->src_ip, 16);
    memcpy(to.remote_gid, frame->dst_ip, 16);
    memcpy(path.local_gid, frame->src_ip, 16);
    memcpy(path.remote_gid, frame->dst_ip, 16);
    if (p->ud)
        p->conn = wf_cm_resolve(&ep->agent, &to, WF_CM_SERVICE_UDP + f->cfg.connect, data,
                                put_private(data, f), now);
    else
        p->conn = wf_cm_connect(&ep->agent, &to, WF_CM_SERVICE_TCP + f->cfg.connect, &qp, &path,
                                data, put_private(data, f), now);
    if (p->conn)
        p->conn->user = p;
    else
        failed(f);
    wf_endpoint_flush(ep, now);
}

void wf_endpoint_replied(struct wf_peer_qp *p, const struct wf_cm_msg *m, uint64_t now_ps)
{
    struct wf_flow *f = p->flow;
    struct wf_qp_cfg cfg = p->nq->qp.cfg;
    struct wf_offer o;

    if (!p->rping && (!wf_offer_get(m->private_data, wf_cm_private_len(WF_CM_REP), &o) ||
                      !wf_errand_begin(f, &o, m->rep.responder_resources))) {
        wf_cm_reject(&p->ep->agent, p->conn, WF_CM_REJ_CONSUMER, NULL, 0, now_ps);
        failed(f);
        return;
    }
    cfg.dqpn = m->rep.local_qpn;
    cfg.sq_psn = m->rep.starting_psn;
    cfg.rq_psn = p->psn;
    cfg.path_mtu = f->cfg.path_mtu;
    cfg.window_bytes = f->cfg.window_bytes;
    cfg.ack_timeout_ps = f->cfg.ack_timeout_ps;
    cfg.retries = f->cfg.retries;
    if (f->cfg.control)
        wf_nic_cc_tune(f->cfg.control, &cfg);
    cfg.rnr_retry = (uint8_t)f->cfg.rnr_retry;
    cfg.max_rd_atomic = f->cfg.max_rd_atomic < m->rep.responder_resources
                            ? f->cfg.max_rd_atomic
                            : m->rep.responder_resources;
    wf_peer_open(p, &cfg);
    wf_cm_confirm(&p->ep->agent, p->conn, now_ps);
    wf_endpoint_flush(p->ep, now_ps); /* the RTU goes before the data */
    if (p->rping)
        wf_rping_begin(p);
    else
        wf_flow_begin(f);
}

void wf_endpoint_resolved(struct wf_peer_qp *p, const struct wf_cm_msg *m)
{
    struct wf_flow *f = p->flow;
    struct wf_qp_cfg cfg = p->nq->qp.cfg;

    p->conn->user = NULL;
    p->conn = NULL;
    if (!wf_datagrams_begin(p, m)) {
        wf_endpoint_over(p, m->sidr_rep.status == WF_SIDR_NO_SERVICE);
        return;
    }
    cfg.service = WF_SERVICE_UD;
    cfg.dqpn = m->sidr_rep.qpn;
    cfg.sq_psn = p->psn;
    cfg.qkey = WF_UD_QKEY;
    cfg.path_mtu = f->cfg.path_mtu;
    wf_peer_open(p, &cfg);
    wf_flow_begin(f);
}

void wf_endpoint_done(struct wf_flow *f, const struct wf_wc *wc)
{
    struct wf_peer_qp *p = f->tx->peer;
    uint64_t now = p->ep->host->node.net->lc->now_ps;

    if (!p->rping)
        wf_errand_judge(f, wc);
    if (f->failed)
        failed(f);
    if (!p->conn || f->completed + f->failed < f->cfg.count)
        return;
    wf_cm_disconnect(&p->ep->agent, p->conn, now);
    wf_endpoint_flush(p->ep, now);
}

void wf_endpoint_over(struct wf_peer_qp *p, bool again)
{
    struct wf_flow *f = p->flow;

    if (again && !f->posted && !wf_flow_again(f, AGAIN_PS))
        return;
    if (f->completed < f->cfg.count)
        failed(f);
}
