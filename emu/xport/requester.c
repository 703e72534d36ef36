/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requester of a queue pair (IBA vol. 1, 9.7.3 to 9.7.7): cutting work into packets, the
 * window, ACK, NAK and the local ACK timeout with go-back-N, completions in order.
 * Left out: RNR NAK, responses that carry data, selective repeat.
 */
#include <errno.h>

#include "base/assert.h"
#include "xport/halves.h"

static struct wf_wqe *wqe(const struct wf_requester *r, uint32_t i)
{
    return &r->sq[i & r->sq_mask];
}

/* Payload bytes posted before packet `seq` of this entry. */
static uint64_t byte_at(const struct wf_qp *qp, const struct wf_wqe *e, uint64_t seq)
{
    uint64_t off = (seq - e->first_seq) * qp->cfg.path_mtu;

    return e->first_byte + (off < e->work.len ? off : e->work.len);
}

/* Packet next_seq of the request being sent has so many bytes of it to come. */
static void aim(struct wf_qp *qp, uint32_t left)
{
    qp->req.next_left = left;
    qp->req.next_len = left < qp->cfg.path_mtu ? left : qp->cfg.path_mtu;
}

/* Go on with the next request from its first packet on, when there is one. */
static void aim_at_start(struct wf_qp *qp)
{
    struct wf_requester *r = &qp->req;

    if (r->at != r->tail)
        aim(qp, wqe(r, r->at)->work.len);
}

int wf_qp_post(struct wf_qp *qp, const struct wf_work *work)
{
    struct wf_requester *r = &qp->req;
    struct wf_wqe *e = wqe(r, r->tail);
    uint64_t have = 0;

    if (qp->state != WF_QP_READY)
        return -EPIPE;
    for (uint32_t i = 0; i < work->n_sge && i < WF_QP_SGE_MAX; i++)
        have += work->sge[i].iov_len;
    if ((unsigned)work->op >= WF_WORK_OPS || work->len > 1u << 31 || work->n_sge > WF_QP_SGE_MAX ||
        (work->n_sge && have != work->len))
        return -EINVAL;
    if (r->tail - r->head > r->sq_mask)
        return -ENOBUFS;
    e->work = *work;
    e->packets = work->len ? (work->len - 1) / qp->cfg.path_mtu + 1 : 1;
    e->first_seq = r->post_seq;
    e->first_byte = r->post_byte;
    r->post_seq += e->packets;
    r->post_byte += work->len;
    r->tail++;
    if (r->tail - r->at == 1)
        aim(qp, work->len);
    return 0;
}

/* One answer per message, and one each quarter of the window or as often as somebody wishes, so
 * that a message that is longer than the window keeps moving. */
static bool asks(struct wf_qp *qp, uint32_t len, bool last)
{
    struct wf_requester *r = &qp->req;

    uint64_t most = qp->cfg.ask_bytes ? qp->cfg.ask_bytes : qp->cfg.window_bytes / 4;

    r->unasked_bytes += len;
    if (!last && r->unasked_bytes < most)
        return false;
    r->unasked_bytes = 0;
    return true;
}

static uint8_t operation(const struct wf_wqe *e, bool first, bool last)
{
    const struct wf_work_form *f = &wf_work_forms[e->work.op];

    if (first)
        return last ? f->only : f->first;
    return last ? f->last : f->middle;
}

void wf_qp_pull_request(struct wf_qp *qp, uint64_t now_ps, struct wf_qp_out *out)
{
    struct wf_requester *r = &qp->req;
    const struct wf_wqe *e = wqe(r, r->at);
    uint32_t len = r->next_len, off = e->work.len - r->next_left;
    bool last = len == r->next_left;

    WF_ASSERT(r->at != r->tail);
    out->payload_len = len;
    out->n_iov = e->work.n_sge ? wf_iov_slice(out->iov, e->work.sge, e->work.n_sge, off, len) : 0;
    out->again = r->next_seq < r->max_seq;
    out->ext.reth = (struct wf_reth){e->work.raddr, e->work.rkey, e->work.len};
    out->bth = (struct wf_bth){
        .opcode = WF_SERVICE_RC | operation(e, off == 0, last),
        .m = true,
        .pkey = qp->cfg.pkey,
        .dqpn = qp->cfg.dqpn,
        .psn = (uint32_t)r->next_seq & WF_PSN_MASK,
        .ackreq = asks(qp, len, last),
    };
    r->next_seq++;
    r->next_byte += len;
    r->at += last;
    if (last)
        aim_at_start(qp);
    else
        aim(qp, r->next_left - len);
    r->tx_packets++;
    if (out->again) {
        r->retx_packets++;
        r->retx_bytes += len;
    } else {
        r->max_seq = r->next_seq;
    }
    if (r->timer_ps == WF_TIME_NEVER && qp->cfg.ack_timeout_ps)
        r->timer_ps = now_ps + qp->cfg.ack_timeout_ps;
}

/* Go on sending from `seq`, which is not before the oldest outstanding one. */
static void seek(struct wf_qp *qp, uint64_t seq)
{
    struct wf_requester *r = &qp->req;

    r->at = r->head;
    while (r->at != r->tail && wqe(r, r->at)->first_seq + wqe(r, r->at)->packets <= seq)
        r->at++;
    r->next_seq = seq;
    r->next_byte = r->at == r->tail ? r->post_byte : byte_at(qp, wqe(r, r->at), seq);
    if (r->at != r->tail)
        aim(qp, wqe(r, r->at)->work.len - (uint32_t)(r->next_byte - wqe(r, r->at)->first_byte));
    r->unasked_bytes = 0;
}

static void complete(struct wf_qp *qp, enum wf_wc_status status)
{
    struct wf_requester *r = &qp->req;
    const struct wf_work *w = &wqe(r, r->head)->work;
    struct wf_wc wc = {.id = w->id, .status = status, .op = w->op, .len = w->len};

    if (r->at == r->head) {
        r->at++;
        aim_at_start(qp);
    }
    r->head++;
    qp->user.complete(qp->user.arg, &wc);
}

/* The oldest request failed: it says why, what is behind it is flushed, nothing more is sent. */
static void fail(struct wf_qp *qp, enum wf_wc_status status)
{
    struct wf_requester *r = &qp->req;

    qp->state = WF_QP_ERROR;
    qp->resp.dead = true;
    r->timer_ps = WF_TIME_NEVER;
    for (; r->head != r->tail; status = WF_WC_FLUSH)
        complete(qp, status);
}

/* Everything before `seq` has arrived. */
static void acknowledge(struct wf_qp *qp, uint64_t seq, uint64_t now_ps)
{
    struct wf_requester *r = &qp->req;
    const struct wf_wqe *e;

    if (seq == r->una_seq)
        return;
    r->una_seq = seq;
    r->retries_left = qp->cfg.retries;
    if (r->next_seq < seq)
        seek(qp, seq);
    e = wqe(r, r->head);
    while (r->head != r->tail && e->first_seq + e->packets <= seq) {
        /* before its place is free for the next */
        r->una_byte = e->first_byte + e->work.len;
        complete(qp, WF_WC_SUCCESS);
        e = wqe(r, r->head);
    }
    if (r->head != r->tail && seq > e->first_seq)
        r->una_byte = byte_at(qp, e, seq);
    r->timer_ps = r->max_seq > seq && qp->cfg.ack_timeout_ps ? now_ps + qp->cfg.ack_timeout_ps
                                                             : WF_TIME_NEVER;
}

/* Send again from the oldest outstanding packet; false when the retries are used up. */
static bool go_back(struct wf_qp *qp, uint64_t now_ps)
{
    struct wf_requester *r = &qp->req;

    if (!r->retries_left) {
        fail(qp, WF_WC_RETRY_EXC);
        return false;
    }
    r->retries_left--;
    seek(qp, r->una_seq);
    r->timer_ps = qp->cfg.ack_timeout_ps ? now_ps + qp->cfg.ack_timeout_ps : WF_TIME_NEVER;
    return true;
}

/* Of 9.7.5.2.8: the request that a NAK names failed; those before it have succeeded. */
static enum wf_qp_verdict nak(struct wf_qp *qp, uint8_t code, uint64_t seq, uint64_t now_ps)
{
    static const enum wf_wc_status status[] = {
        [WF_NAK_INVALID_REQUEST] = WF_WC_REM_INV_REQ,
        [WF_NAK_REMOTE_ACCESS] = WF_WC_REM_ACCESS,
        [WF_NAK_REMOTE_OPERATIONAL] = WF_WC_REM_OP,
    };

    if (code > WF_NAK_REMOTE_OPERATIONAL)
        return WF_QP_DISCARDED; /* reserved, or of a service that has no READs outstanding */
    acknowledge(qp, seq, now_ps);
    if (code == WF_NAK_PSN_SEQUENCE) {
        qp->req.naks++;
        go_back(qp, now_ps);
    } else if (qp->req.head != qp->req.tail) {
        fail(qp, status[code]);
    }
    return WF_QP_TAKEN;
}

enum wf_qp_verdict wf_requester_rx(struct wf_qp *qp, const struct wf_bth *bth,
                                   const struct wf_ext_hdrs *ext, uint64_t now_ps)
{
    struct wf_requester *r = &qp->req;
    uint8_t syndrome = ext->aeth.syndrome;
    uint64_t seq = r->una_seq + (uint64_t)(int64_t)wf_psn_distance(bth->psn, (uint32_t)r->una_seq);

    if (bth->opcode != (WF_SERVICE_RC | WF_OP_ACK))
        return WF_QP_BAD_OPCODE; /* we have asked for nothing that is answered so */
    /* stale, or for what was never sent: a ghost (C9-76) */
    if (qp->state != WF_QP_READY || seq < r->una_seq || seq >= r->max_seq)
        return WF_QP_DISCARDED;
    switch (syndrome & 0xe0) {
    case WF_AETH_ACK:
        r->acks++;
        acknowledge(qp, seq + 1, now_ps);
        return WF_QP_TAKEN;
    case WF_AETH_NAK:
        return nak(qp, WF_AETH_VALUE(syndrome), seq, now_ps);
    }
    return WF_QP_DISCARDED;
}

void wf_qp_tick(struct wf_qp *qp, uint64_t now_ps)
{
    if (qp->req.timer_ps == WF_TIME_NEVER || now_ps < qp->req.timer_ps)
        return;
    qp->req.timeouts++;
    go_back(qp, now_ps);
}
