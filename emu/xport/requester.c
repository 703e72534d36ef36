/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sending half of a requester (IBA vol. 1, 9.7.3, 9.8.2.1, 9.8.3.1): posted work becomes
 * packets, within the window. A request is `special` when something of it has to be looked at
 * before its first packet: a READ or atomic, of which max_rd_atomic may be outstanding, a fence, or
 * memory of ours that may not be used. What completes here completes in order.
 */
#include <errno.h>

#include "base/assert.h"
#include "xport/halves.h"
#include "xport/sel_priv.h"

uint64_t wf_requester_byte_at(const struct wf_qp *qp, const struct wf_wqe *e, uint64_t seq)
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

static void aim_at(struct wf_qp *qp, const struct wf_wqe *e, uint32_t left)
{
    aim(qp, left);
    if (wf_work_reads(&e->work))
        qp->req.next_len = 0;
    if (e->special)
        wf_requester_gate(qp);
}

/* Go on with the next request from its first packet on, when there is one. */
static void aim_at_start(struct wf_qp *qp)
{
    struct wf_requester *r = &qp->req;
    const struct wf_wqe *e = wf_wqe_at(r, r->at);

    if (r->at != r->tail)
        aim_at(qp, e, e->work.len);
}

void wf_requester_gate(struct wf_qp *qp)
{
    struct wf_requester *r = &qp->req;
    const struct wf_wqe *e = wf_wqe_at(r, r->at);

    r->room = 0;
    if (qp->state != WF_QP_READY || qp->req.rnr_waits)
        return;
    if (r->at != r->tail && e->special) {
        if (e->bad && r->at == r->head)
            wf_requester_fail(qp, WF_WC_LOC_PROT);
        if (e->bad || (e->work.flags & WF_WORK_FENCE && r->rd_out) ||
            (wf_work_reads(&e->work) && r->rd_out >= qp->cfg.max_rd_atomic))
            return;
    }
    r->room = qp->sel ? WF_SEL_SPAN : WF_QP_PSN_SPAN - 1;
}

/* What the service and the ends can do (IBA table 36). */
static bool allowed(const struct wf_qp *qp, const struct wf_work *w)
{
    if ((unsigned)w->op >= WF_WORK_OPS || w->n_sge > WF_QP_SGE_MAX || w->len > 1u << 31)
        return false;
    switch (qp->cfg.service) {
    case WF_SERVICE_RC:
        return !wf_work_reads(w) ||
               (qp->cfg.max_rd_atomic && (w->op == WF_WORK_READ || w->len == 8));
    case WF_SERVICE_UC:
        return w->op < WF_WORK_SEND_INV;
    case WF_SERVICE_UD:
        return (w->op == WF_WORK_SEND || w->op == WF_WORK_SEND_IMM) && w->len <= qp->cfg.path_mtu;
    default:
        return false;
    }
}

static uint32_t psns_of(const struct wf_qp *qp, const struct wf_work *w)
{
    return w->len && w->op < WF_WORK_CMP_SWAP ? (w->len - 1) / qp->cfg.path_mtu + 1 : 1;
}

int wf_qp_post(struct wf_qp *qp, const struct wf_work *work)
{
    struct wf_requester *r = &qp->req;
    struct wf_wqe *e = wf_wqe_at(r, r->tail);
    uint64_t have = 0;

    if (qp->state != WF_QP_READY)
        return qp->state == WF_QP_ERROR ? -EPIPE : -EINVAL;
    if (!allowed(qp, work))
        return -EINVAL;
    for (uint32_t i = 0; i < work->n_sge; i++)
        have += work->sge[i].iov_len;
    if (work->n_sge && have != work->len)
        return -EINVAL;
    if (r->tail - r->head > r->sq_mask)
        return -ENOBUFS;
    e->work = *work;
    e->packets = psns_of(qp, work);
    e->first_seq = r->post_seq;
    e->first_byte = r->post_byte;
    e->bad = qp->user.local && work->n_sge &&
             qp->user.local(qp->user.arg, work->sge, work->n_sge, wf_work_reads(work));
    e->special = e->bad || wf_work_reads(work) || work->flags & WF_WORK_FENCE;
    if (qp->sel)
        wf_sel_number(qp, e);
    r->rd_posted += wf_work_reads(work);
    r->post_seq += e->packets;
    r->post_byte += work->len;
    r->tail++;
    if (r->tail - r->at == 1)
        aim_at(qp, e, work->len);
    return 0;
}

/* One answer per message, and one each quarter of the window, so that a message that is longer than
 * the window keeps moving; or as often as somebody wishes whose interval the window has room for.
 */
static bool asks(struct wf_qp *qp, uint32_t len, bool last)
{
    struct wf_requester *r = &qp->req;

    uint64_t most = qp->cfg.window_bytes / 4;

    if (qp->cfg.ask_bytes && qp->cfg.ask_bytes + qp->cfg.path_mtu <= qp->cfg.window_bytes)
        most = qp->cfg.ask_bytes;

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

/* What is not in a WRITE over RC. */
static void dress(const struct wf_qp *qp, const struct wf_wqe *e, bool last, struct wf_qp_out *out)
{
    const struct wf_work *w = &e->work;

    out->bth.opcode |= qp->cfg.service;
    out->bth.se = last && w->flags & WF_WORK_SOLICITED;
    out->ext.immdt.data = out->ext.ieth.rkey = w->imm;
    if (w->op >= WF_WORK_CMP_SWAP)
        out->ext.atomiceth = (struct wf_atomiceth){w->raddr, w->rkey, w->swap_add,
                                                   w->op == WF_WORK_CMP_SWAP ? w->compare : 0};
    if (qp->cfg.service != WF_SERVICE_RC)
        out->bth.ackreq = false;
    if (qp->cfg.service == WF_SERVICE_UD) {
        out->ext.deth = (struct wf_deth){w->ud.qkey, 0, qp->cfg.qpn};
        out->bth.dqpn = w->ud.dqpn & WF_QPN_MASK;
        out->ah = w->ah;
    }
    if (qp->sel)
        wf_sel_dress(qp, e, qp->req.next_seq, last, out);
}

/* UC and UD: nobody will answer, a message is done with its last packet (9.8.2.1, 9.8.3.1). */
static void unanswered(struct wf_qp *qp, bool last)
{
    struct wf_requester *r = &qp->req;

    r->una_seq = r->next_seq;
    r->una_byte = r->next_byte;
    if (last)
        wf_requester_complete(qp, WF_WC_SUCCESS);
}

/* A READ takes as many PSNs as its answer has packets (9.7.3.1); the request is one packet, asked
 * again from the middle when the rest is there already. */
static void count_read(struct wf_qp *qp, const struct wf_wqe *e)
{
    struct wf_requester *r = &qp->req;

    r->next_seq = e->first_seq + e->packets;
    r->next_byte = e->first_byte + e->work.len;
    r->rd_out++;
    r->unasked_bytes = 0;
}

void wf_qp_pull_request(struct wf_qp *qp, uint64_t now_ps, struct wf_qp_out *out)
{
    struct wf_requester *r = &qp->req;
    const struct wf_wqe *e = wf_wqe_at(r, r->at);
    uint64_t seq = r->next_seq;
    uint32_t len = r->next_len, off = e->work.len - r->next_left;
    bool reads = wf_work_reads(&e->work), last = len == r->next_left || reads;
    bool odd = qp->odd || e->work.op != WF_WORK_WRITE || e->work.flags;

    WF_ASSERT(r->at != r->tail);
    out->payload_len = len;
    out->n_iov = e->work.n_sge ? wf_iov_slice(out->iov, e->work.sge, e->work.n_sge, off, len) : 0;
    out->again = r->next_seq < r->max_seq;
    out->ext.reth = (struct wf_reth){e->work.raddr, e->work.rkey, e->work.len};
    out->bth = (struct wf_bth){
        .opcode = operation(e, off == 0, last),
        .m = true,
        .pkey = qp->cfg.pkey,
        .dqpn = qp->cfg.dqpn,
        .psn = (uint32_t)r->next_seq & WF_PSN_MASK,
        .ackreq = asks(qp, len, last),
    };
    if (reads)
        out->ext.reth = (struct wf_reth){e->work.raddr + off, e->work.rkey, r->next_left};
    if (odd)
        dress(qp, e, last, out);
    r->next_seq++;
    r->next_byte += len;
    if (reads)
        count_read(qp, e);
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
    if (qp->odd && qp->cfg.service != WF_SERVICE_RC) {
        unanswered(qp, last);
        return;
    }
    if (qp->sel)
        wf_sel_sent(qp, e, seq);
    if (r->timer_ps == WF_TIME_NEVER && qp->cfg.ack_timeout_ps)
        r->timer_ps = now_ps + qp->cfg.ack_timeout_ps;
}

void wf_requester_seek(struct wf_qp *qp, uint64_t seq)
{
    struct wf_requester *r = &qp->req;
    const struct wf_wqe *e;

    r->at = r->head;
    r->rd_out = 0;
    for (; r->at != r->tail; r->at++) {
        e = wf_wqe_at(r, r->at);
        if (e->first_seq + e->packets > seq)
            break;
        r->rd_out += wf_work_reads(&e->work);
    }
    e = wf_wqe_at(r, r->at);
    r->next_seq = seq;
    r->next_byte = r->at == r->tail ? r->post_byte : wf_requester_byte_at(qp, e, seq);
    if (r->at != r->tail)
        aim_at(qp, e, e->work.len - (uint32_t)(r->next_byte - e->first_byte));
    wf_requester_gate(qp);
    r->unasked_bytes = 0;
}

void wf_requester_complete(struct wf_qp *qp, enum wf_wc_status status)
{
    struct wf_requester *r = &qp->req;
    const struct wf_wqe *e = wf_wqe_at(r, r->head);
    struct wf_wc wc = {.id = e->work.id, .status = status, .op = e->work.op, .len = e->work.len};

    r->rd_posted -= wf_work_reads(&e->work);
    if (r->at == r->head) {
        r->at++;
        aim_at_start(qp);
    } else {
        r->rd_out -= wf_work_reads(&e->work);
    }
    r->head++;
    qp->user.complete(qp->user.arg, &wc);
    if (!r->room)
        wf_requester_gate(qp);
}
