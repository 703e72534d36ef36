/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a peer SENDs to an endpoint (IBA 9.7.5.1, 10.2.5): receives with memory of their own, posted
 * again as soon as what came is compared with the pattern that the REQ announced, or, of an end
 * that echoes, when the peer has acknowledged its message coming back. Left out: shared receives,
 * SENDs that invalidate a key.
 */
#include "base/assert.h"
#include "host/endpoint.h"

static uint8_t *place(const struct wf_peer_qp *p, uint64_t slot)
{
    return p->inbox + slot * p->recv_len;
}

static void post(struct wf_peer_qp *p, uint64_t slot)
{
    struct wf_recv r = {.id = slot, .len = p->recv_len, .n_sge = 1};

    r.sge[0] = (struct iovec){place(p, slot), p->recv_len};
    WF_ASSERT(!wf_rq_post(&p->rq, &r));
}

/* The n-th holds pattern p + n, from its first byte on. */
static void judge(struct wf_peer_qp *p, const struct wf_wc *wc)
{
    uint32_t pattern = p->announced.pattern + p->n_sends++;
    uint64_t right;

    if (p->announced.does != WF_OFFER_SENDS || !p->announced.pattern)
        return;
    right = wf_pattern_right(place(p, wc->id), pattern, 0, wc->len);
    p->ep->past[WF_ENDPOINT_RIGHT_BYTES] += right;
    p->ep->past[WF_ENDPOINT_WRONG_BYTES] += wc->len - right;
}

static bool send_back(struct wf_peer_qp *p, const struct wf_wc *wc)
{
    struct wf_work w = {.id = wc->id, .op = wc->op, .imm = wc->imm, .len = wc->len};

    w.n_sge = wc->len != 0;
    w.sge[0] = (struct iovec){place(p, wc->id), wc->len};
    return !wf_qp_post(&p->nq->qp, &w);
}

void wf_inbox_received(void *arg, const struct wf_wc *wc)
{
    struct wf_peer_qp *p = ((struct wf_nic_qp *)arg)->peer;

    if (wc->status != WF_WC_SUCCESS) { /* the connection is as good as over */
        if (p->rping)
            wf_rping_failed(p);
        return;
    }
    p->ep->past[WF_ENDPOINT_RECEIVED] += !p->flow;
    if (p->ud) {
        if (!wf_datagrams_received(p, wc, place(p, wc->id)))
            post(p, wc->id);
        return;
    }
    if (p->rping) {
        wf_rping_received(p, place(p, wc->id), wc->len);
    } else if (wc->op != WF_WORK_WRITE_IMM) {
        judge(p, wc);
        if (p->recv == WF_LISTEN_ECHO && send_back(p, wc))
            return;
    }
    post(p, wc->id);
}

void wf_inbox_echoed(void *arg, const struct wf_wc *wc)
{
    struct wf_peer_qp *p = ((struct wf_nic_qp *)arg)->peer;

    if (wc->status != WF_WC_SUCCESS)
        return;
    p->ep->past[WF_ENDPOINT_ECHOED]++;
    post(p, wc->id);
}

void wf_inbox_new(struct wf_peer_qp *p, const struct wf_listen_cfg *cfg, struct wf_arena *arena)
{
    uint32_t n = 1;

    p->recv = (enum wf_listen_recv)cfg->recv;
    if (p->recv == WF_LISTEN_NONE)
        return;
    while (n < cfg->recv_depth)
        n *= 2;
    p->recv_len = (uint32_t)cfg->recv_bytes;
    p->recv_depth = cfg->recv_depth;
    p->places = WF_ARENA_ARRAY(arena, struct wf_recv, n);
    p->rq_len = n;
    p->inbox = wf_arena_alloc_line(arena, (uint64_t)n * p->recv_len);
}

void wf_inbox_open(struct wf_peer_qp *p)
{
    if (p->recv == WF_LISTEN_NONE)
        return;
    WF_ASSERT(!wf_rq_init(&p->rq, p->places, p->rq_len, false));
    for (uint32_t i = 0; i < p->recv_depth; i++)
        post(p, i);
    wf_qp_set_rq(&p->nq->qp, &p->rq);
    p->n_sends = 0;
}
