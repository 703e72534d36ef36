/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue pairs of an endpoint: made once, opened for a connection, deaf between two of them.
 */
#include "base/assert.h"
#include "host/endpoint.h"

enum { RKEY_FIRST = 0x5000, RNR_TIMER = 12 /* 0.64 ms */ };

void wf_peer_heard(struct wf_peer_qp *p, bool taken)
{
    uint64_t now = p->ep->host->node.net->lc->now_ps;

    wf_nic_qp_wake(p->nq);
    if (!taken || !p->conn || p->conn->state != WF_CONN_REP_SENT)
        return;
    wf_cm_traffic(&p->ep->agent, p->conn, now);
    wf_endpoint_flush(p->ep, now);
}

static int reach(void *arg, uint32_t rkey, uint64_t va, uint64_t len, enum wf_mem_access access,
                 uint8_t **at)
{
    const struct wf_nic_qp *nq = arg;
    int rc = wf_mr_reach(&nq->mr, 1, rkey, va, len, access, at);

    if (!rc)
        wf_region_touch(nq->peer, va - nq->mr.va, len, access != WF_MEM_REMOTE_READ);
    return rc;
}

static void init(struct wf_peer_qp *p, const struct wf_qp_cfg *cfg)
{
    struct wf_qp_user user = {.arg = p->nq,
                              .mem = reach,
                              .complete = p->rping  ? wf_rping_completed
                                          : p->flow ? wf_flow_completed
                                                    : wf_inbox_echoed,
                              .received = wf_inbox_received};
    struct wf_qp *qp = &p->nq->qp;

    WF_ASSERT(!wf_qp_init(qp, cfg, &user, qp->req.sq, qp->req.sq_mask + 1));
    wf_qp_set_resources(qp, p->res, WF_ENDPOINT_RD_ATOMIC);
}

/* It sends nothing and hears nothing; its counters stay. */
static void deafen(struct wf_peer_qp *p)
{
    struct wf_qp *qp = &p->nq->qp;

    qp->state = WF_QP_ERROR;
    qp->resp.dead = true;
    qp->resp.answer = qp->resp.data = false;
    qp->req.timer_ps = WF_TIME_NEVER;
    qp->req.at = qp->req.head = qp->req.tail;
    p->open = false;
}

struct wf_peer_qp *wf_peer_new(struct wf_endpoint *ep, struct wf_peer_qp *p, uint32_t number,
                               uint64_t mem_len, uint32_t sq_len, struct wf_arena *arena)
{
    struct wf_qp_cfg cfg = {.qpn = WF_ENDPOINT_QPN_FIRST + number,
                            .pkey = WF_BTH_PKEY,
                            .path_mtu = 1024,
                            .min_rnr_timer = RNR_TIMER,
                            .window_bytes = 1 << 17};

    p->ep = ep;
    p->nq = wf_nic_qp_add(ep->host, arena, &cfg, sq_len);
    p->nq->peer = p;
    p->mem_len = mem_len;
    p->mem = mem_len ? wf_arena_alloc_line(arena, mem_len) : NULL;
    p->va = 0x100000000ull * (number + 1);
    p->rkey = RKEY_FIRST + number;
    p->nq->mr =
        (struct wf_mr){.rkey = p->rkey,
                       .access = WF_MEM_REMOTE_WRITE | WF_MEM_REMOTE_READ | WF_MEM_REMOTE_ATOMIC,
                       .va = p->va,
                       .len = mem_len,
                       .base = p->mem};
    init(p, &cfg);
    deafen(p);
    return p;
}

void wf_peer_open(struct wf_peer_qp *p, const struct wf_qp_cfg *cfg)
{
    init(p, cfg);
    wf_inbox_open(p);
    wf_region_open(p);
    if (p->rping)
        wf_rping_open(p);
    p->open = true;
}

void wf_peer_count(const struct wf_peer_qp *p, uint64_t *ctr)
{
    const struct wf_responder *s = &p->nq->qp.resp;

    ctr[WF_ENDPOINT_RX_MSGS] += s->messages;
    ctr[WF_ENDPOINT_RX_BYTES] += s->bytes;
    ctr[WF_ENDPOINT_NAK_TX] += s->naks;
    ctr[WF_ENDPOINT_DUP_RX] += s->duplicates;
    ctr[WF_ENDPOINT_CE_RX] += s->ce_packets;
    ctr[WF_ENDPOINT_RNR_TX] += p->nq->qp.respm.rnr_naks;
}

void wf_peer_close(struct wf_peer_qp *p)
{
    if (!p->open)
        return;
    wf_peer_count(p, p->ep->past);
    deafen(p);
    wf_nic_qp_wake(p->nq); /* its timer is stopped */
}
