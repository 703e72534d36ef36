/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives at the responder (IBA vol. 1, 9.7.4.1.5, 9.7.5.1, 10.2.9 for shared queues): SEND in its
 * kinds and WRITE with immediate data take one each, of the queue pair's own queue or of a shared
 * one. None posted: RNR NAK. Too short a receive, or memory of ours that may not be used, ends the
 * connection. Left out: end-to-end flow control.
 */
#include <errno.h>
#include <string.h>

#include "xport/sel_priv.h"

int wf_rq_init(struct wf_rq *rq, struct wf_recv *places, uint32_t n, bool shared)
{
    if (!n || n & (n - 1))
        return -EINVAL;
    memset(rq, 0, sizeof(*rq));
    rq->places = places;
    rq->mask = n - 1;
    rq->shared = shared;
    return 0;
}

int wf_rq_post(struct wf_rq *rq, const struct wf_recv *recv)
{
    uint64_t have = 0;

    if (recv->n_sge > WF_QP_SGE_MAX)
        return -EINVAL;
    for (uint32_t i = 0; i < recv->n_sge; i++)
        have += recv->sge[i].iov_len;
    if (recv->n_sge && have != recv->len)
        return -EINVAL;
    if (wf_rq_count(rq) > rq->mask)
        return -ENOBUFS;
    rq->places[rq->tail++ & rq->mask] = *recv;
    return 0;
}

int wf_qp_post_recv(struct wf_qp *qp, const struct wf_recv *recv)
{
    if (qp->state == WF_QP_ERROR)
        return -EPIPE;
    if (qp->state == WF_QP_RESET || !qp->respm.rq || qp->respm.rq->shared)
        return -EINVAL;
    return wf_rq_post(qp->respm.rq, recv);
}

bool wf_rq_take(struct wf_rq *rq, struct wf_recv *recv)
{
    if (!wf_rq_count(rq))
        return false;
    *recv = rq->places[rq->head++ & rq->mask];
    if (wf_rq_count(rq) < rq->limit) {
        rq->limit = 0;
        if (rq->low)
            rq->low(rq->arg);
    }
    return true;
}

bool wf_receive_take(struct wf_qp *qp)
{
    struct wf_responder_more *m = &qp->respm;

    if (m->taken)
        return true; /* kept from a message that did not come to its end */
    if (qp->sel && wf_sel_recv(qp))
        return true;
    m->taken = m->rq && wf_rq_take(m->rq, &m->now);
    return m->taken;
}

void wf_receive_fill(const struct wf_recv *r, uint32_t off, uint32_t len, const struct iovec *iov,
                     uint32_t n_iov)
{
    struct iovec to[WF_QP_SGE_MAX];

    wf_iov_scatter(to, wf_iov_slice(to, r->sge, r->n_sge, off, len), iov, n_iov);
}

struct wf_wc wf_receive_wc(const struct wf_bth *bth, const struct wf_ext_hdrs *ext, uint32_t len)
{
    struct wf_wc wc = {.op = WF_WORK_SEND, .len = len, .solicited = bth->se};

    switch (wf_op_of(bth->opcode)) {
    case WF_OP_SEND_LAST_IMM:
    case WF_OP_SEND_ONLY_IMM:
        wc.op = WF_WORK_SEND_IMM;
        wc.imm = ext->immdt.data;
        break;
    case WF_OP_WRITE_LAST_IMM:
    case WF_OP_WRITE_ONLY_IMM:
        wc.op = WF_WORK_WRITE_IMM;
        wc.imm = ext->immdt.data;
        break;
    case WF_OP_SEND_LAST_INV:
    case WF_OP_SEND_ONLY_INV:
        wc.op = WF_WORK_SEND_INV;
        wc.imm = ext->ieth.rkey;
        break;
    }
    return wc;
}

void wf_receive_done(struct wf_qp *qp, struct wf_wc *wc)
{
    struct wf_responder_more *m = &qp->respm;

    m->taken = false;
    if (qp->sel)
        qp->sel->n_received++;
    m->errors += wc->status != WF_WC_SUCCESS;
    m->flushed += wc->status == WF_WC_FLUSH;
    m->sends += wc->status == WF_WC_SUCCESS && wc->op != WF_WORK_WRITE_IMM;
    wc->id = m->now.id;
    if (qp->user.received)
        qp->user.received(qp->user.arg, wc);
}

void wf_receive_flush(struct wf_qp *qp)
{
    struct wf_responder_more *m = &qp->respm;

    while (m->taken || (qp->sel && wf_sel_recv(qp)) ||
           (m->rq && !m->rq->shared && wf_rq_count(m->rq))) {
        struct wf_wc wc = {.status = WF_WC_FLUSH, .op = WF_WORK_SEND};

        wf_receive_take(qp);
        wf_receive_done(qp, &wc);
    }
}

enum wf_qp_verdict wf_receive_fail(struct wf_qp *qp, enum wf_wc_status status, enum wf_nak why,
                                   uint32_t psn)
{
    struct wf_wc wc = {.status = status, .op = WF_WORK_SEND};

    qp->respm.loc_len += status == WF_WC_LOC_LEN;
    qp->resp.dead = true; /* whatever the callback does */
    wf_receive_done(qp, &wc);
    return wf_responder_refuse(qp, why, psn);
}

enum wf_qp_verdict wf_receive_ready(struct wf_qp *qp, uint32_t psn)
{
    struct wf_responder_more *m = &qp->respm;
    struct wf_responder *s = &qp->resp;

    if (!m->rq)
        return wf_responder_refuse(qp, WF_NAK_INVALID_REQUEST, psn);
    if (!wf_receive_take(qp)) {
        /* what follows is out of order until this one comes again (9.7.5.2.8) */
        s->nak_sent = true;
        m->rnr_naks++;
        m->no_receive++;
        wf_responder_answer(s, (uint8_t)(WF_AETH_RNR_NAK | (qp->cfg.min_rnr_timer & 31)), psn);
        return WF_QP_DISCARDED;
    }
    if (qp->user.local && m->now.n_sge &&
        qp->user.local(qp->user.arg, m->now.sge, m->now.n_sge, true))
        return wf_receive_fail(qp, WF_WC_LOC_PROT, WF_NAK_REMOTE_OPERATIONAL, psn);
    return WF_QP_TAKEN;
}

/* 9.7.4.1.1, 9.7.4.1.6: what may follow what, and how long it is. */
static bool in_place(const struct wf_qp *qp, uint8_t flags, uint32_t len)
{
    if (qp->resp.open != (flags & WF_OPF_FIRST ? WF_MSG_NONE : WF_MSG_SEND))
        return false;
    if (!(flags & WF_OPF_LAST))
        return len == qp->cfg.path_mtu;
    return len <= qp->cfg.path_mtu && (len || flags & WF_OPF_FIRST);
}

enum wf_qp_verdict wf_responder_send(struct wf_qp *qp, const struct wf_qp_in *in,
                                     const struct wf_bth *bth, const struct wf_ext_hdrs *ext)
{
    uint8_t flags = wf_opcodes[bth->opcode].flags;
    uint32_t len = in->payload_len, psn = bth->psn;
    struct wf_responder_more *m = &qp->respm;
    struct wf_responder *s = &qp->resp;
    struct wf_wc wc;

    if (!in_place(qp, flags, len))
        return wf_responder_refuse(qp, WF_NAK_INVALID_REQUEST, psn);
    if (flags & WF_OPF_FIRST) {
        enum wf_qp_verdict v = wf_receive_ready(qp, psn);

        if (v != WF_QP_TAKEN || s->dead)
            return v;
        s->open = WF_MSG_SEND;
        s->first_psn = psn;
        m->got = 0;
    }
    if (len > m->now.len - m->got)
        return wf_receive_fail(qp, WF_WC_LOC_LEN, WF_NAK_INVALID_REQUEST, psn);
    wf_receive_fill(&m->now, m->got, len, in->iov, in->n_iov);
    m->got += len;
    s->bytes += len;
    wc = wf_receive_wc(bth, ext, m->got);
    if (flags & WF_OPF_LAST && wc.op == WF_WORK_SEND_INV &&
        (!qp->user.invalidate || qp->user.invalidate(qp->user.arg, wc.imm)))
        return wf_receive_fail(qp, WF_WC_REM_INV_REQ, WF_NAK_REMOTE_ACCESS, psn);
    wf_responder_advance(qp, bth);
    if (flags & WF_OPF_LAST)
        wf_receive_done(qp, &wc);
    return WF_QP_TAKEN;
}

enum wf_qp_verdict wf_responder_write_imm(struct wf_qp *qp, const struct wf_qp_in *in,
                                          const struct wf_bth *bth, const struct wf_ext_hdrs *ext)
{
    enum wf_qp_verdict v;
    struct wf_wc wc;

    if (!wf_write_in_place(qp, bth->opcode, in->payload_len, &ext->reth))
        return wf_responder_refuse(qp, WF_NAK_INVALID_REQUEST, bth->psn);
    v = wf_receive_ready(qp, bth->psn);
    if (v != WF_QP_TAKEN || qp->resp.dead)
        return v;
    v = wf_responder_write(qp, in, bth, &ext->reth);
    if (qp->resp.dead)
        return v;
    wc = wf_receive_wc(bth, ext, qp->resp.len);
    if (qp->sel) { /* of which that is the last packet */
        wc.len += qp->sel->write_len;
        qp->sel->write_len = 0;
    }
    wf_receive_done(qp, &wc);
    return v;
}
