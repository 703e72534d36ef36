/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a requester does with answers and with their absence (IBA vol. 1, 9.7.5.2, 9.7.6): ACK, NAK,
 * RNR NAK, the local ACK timeout, retries, completions in order.
 */
#include "base/assert.h"
#include "xport/halves.h"
#include "xport/sel_priv.h"

/* IBA table 45, in units of 10 us. */
static const uint32_t rnr_timers[32] = {
    65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,    32,
    48,    64,   96,   128,  192,  256,   384,   512,   768,   1024,  1536,
    2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

uint64_t wf_rnr_timer_ps(unsigned code)
{
    return rnr_timers[code & 31] * (10 * WF_PS_PER_US);
}

void wf_requester_fail(struct wf_qp *qp, enum wf_wc_status status)
{
    struct wf_requester *r = &qp->req;

    qp->state = WF_QP_ERROR;
    qp->resp.dead = true;
    r->timer_ps = WF_TIME_NEVER;
    r->room = 0;
    for (; r->head != r->tail; status = WF_WC_FLUSH) {
        qp->reqm.errors++;
        qp->reqm.flushed += status == WF_WC_FLUSH;
        wf_requester_complete(qp, status);
    }
    wf_receive_flush(qp);
}

/* From now on anew, while something is outstanding. */
static void restart_timer(struct wf_qp *qp, uint64_t now_ps)
{
    struct wf_requester *r = &qp->req;

    if (r->rnr_waits)
        return;
    r->timer_ps = r->max_seq > r->una_seq && qp->cfg.ack_timeout_ps && qp->state == WF_QP_READY
                      ? now_ps + qp->cfg.ack_timeout_ps
                      : WF_TIME_NEVER;
}

void wf_requester_acknowledge(struct wf_qp *qp, uint64_t seq, uint64_t now_ps)
{
    struct wf_requester *r = &qp->req;
    uint64_t from = r->una_seq;
    const struct wf_wqe *e;

    if (seq == from)
        return;
    r->una_seq = seq;
    r->retries_left = qp->cfg.retries;
    r->rnr_left = qp->cfg.rnr_retry;
    r->implied = false;
    if (r->rnr_waits && (!qp->sel || seq > qp->sel->rnr_seq)) {
        /* what it waited for was taken after all, and what was sent behind it goes on */
        r->rnr_waits = false;
        wf_requester_seek(qp, r->max_seq);
    } else if (r->next_seq < seq) {
        wf_requester_seek(qp, seq);
    }
    e = wf_wqe_at(r, r->head);
    while (r->head != r->tail && e->first_seq + e->packets <= seq) {
        /* before its place is free for the next */
        r->una_byte = e->first_byte + e->work.len;
        wf_requester_complete(qp, WF_WC_SUCCESS);
        e = wf_wqe_at(r, r->head);
    }
    if (r->head != r->tail && seq > e->first_seq)
        r->una_byte = wf_requester_byte_at(qp, e, seq);
    if (qp->sel && qp->state == WF_QP_READY)
        wf_sel_acknowledged(qp, from);
    if (!r->room)
        wf_requester_gate(qp);
    restart_timer(qp, now_ps);
}

/* Nothing of the oldest message counts as arrived. */
static void restart_message(struct wf_qp *qp)
{
    struct wf_requester *r = &qp->req;
    const struct wf_wqe *e = wf_wqe_at(r, r->head);

    if (r->head == r->tail || r->una_seq <= e->first_seq)
        return;
    if (wf_work_reads(&e->work)) /* its data comes once more */
        qp->reqm.read_bytes -= r->una_byte - e->first_byte;
    r->una_seq = e->first_seq;
    r->una_byte = e->first_byte;
}

/* Whether this is the first packet of the oldest message, which was acknowledged in part. */
static bool begins_message(const struct wf_qp *qp, uint64_t seq)
{
    const struct wf_requester *r = &qp->req;

    return qp->state == WF_QP_READY && r->head != r->tail &&
           seq == wf_wqe_at(r, r->head)->first_seq && seq < r->max_seq;
}

bool wf_requester_go_back(struct wf_qp *qp, uint64_t now_ps, bool timeout)
{
    struct wf_requester *r = &qp->req;

    if (!r->retries_left) {
        qp->reqm.retry_exceeded++;
        wf_requester_fail(qp, WF_WC_RETRY_EXC);
        return false;
    }
    r->retries_left--;
    if (qp->cfg.retransmit == WF_GO_BACK_0)
        restart_message(qp);
    wf_requester_seek(qp, r->una_seq);
    if (qp->sel)
        wf_sel_restart(qp, timeout);
    restart_timer(qp, now_ps);
    return true;
}

/* The receiver is not ready: wait as long as it says, then go on there (9.7.5.2.8). */
void wf_requester_rnr(struct wf_qp *qp, uint8_t syndrome, uint64_t now_ps)
{
    struct wf_requester *r = &qp->req;

    qp->reqm.rnr_naks++;
    if (r->rnr_waits)
        return;
    if (!r->rnr_left) {
        qp->reqm.rnr_exceeded++;
        wf_requester_fail(qp, WF_WC_RNR_RETRY_EXC);
        return;
    }
    r->rnr_left -= qp->cfg.rnr_retry != WF_QP_RNR_FOREVER;
    r->rnr_waits = true;
    wf_requester_seek(qp, r->una_seq);
    if (qp->sel)
        wf_sel_restart(qp, false);
    r->timer_ps = now_ps + wf_rnr_timer_ps(WF_AETH_VALUE(syndrome));
}

/* The request that a NAK names failed; those before it have succeeded (9.9.2.4.2). */
void wf_requester_refused(struct wf_qp *qp, uint8_t code)
{
    static const enum wf_wc_status status[] = {
        [WF_NAK_INVALID_REQUEST] = WF_WC_REM_INV_REQ,
        [WF_NAK_REMOTE_ACCESS] = WF_WC_REM_ACCESS,
        [WF_NAK_REMOTE_OPERATIONAL] = WF_WC_REM_OP,
    };

    qp->reqm.rem_inv_req += code == WF_NAK_INVALID_REQUEST;
    qp->reqm.rem_access += code == WF_NAK_REMOTE_ACCESS;
    qp->reqm.rem_op += code == WF_NAK_REMOTE_OPERATIONAL;
    if (qp->req.head != qp->req.tail)
        wf_requester_fail(qp, status[code]);
}

/* A NAK or RNR NAK for `seq` acknowledges everything in front of it. */
static enum wf_qp_verdict nak(struct wf_qp *qp, uint8_t syndrome, uint64_t seq, uint64_t now_ps)
{
    uint64_t reach = wf_requester_reach(qp, seq);
    uint8_t code = WF_AETH_VALUE(syndrome);
    bool is_rnr = WF_AETH_KIND(syndrome) == WF_AETH_KIND(WF_AETH_RNR_NAK);

    if (!is_rnr && code > WF_NAK_REMOTE_OPERATIONAL)
        return WF_QP_DISCARDED; /* reserved, or of a service that is not here */
    wf_requester_acknowledge(qp, reach, now_ps);
    if (qp->state != WF_QP_READY)
        return WF_QP_TAKEN;
    if (reach < seq) {
        wf_requester_implied_nak(qp, now_ps);
    } else if (is_rnr) {
        wf_requester_rnr(qp, syndrome, now_ps);
    } else if (code == WF_NAK_PSN_SEQUENCE) {
        qp->req.naks++;
        if (!qp->req.rnr_waits)
            wf_requester_go_back(qp, now_ps, false);
    } else {
        wf_requester_refused(qp, code);
    }
    return WF_QP_TAKEN;
}

static enum wf_qp_verdict ack(struct wf_qp *qp, uint64_t seq, uint64_t now_ps)
{
    uint64_t reach = qp->req.rd_posted ? wf_requester_reach(qp, seq + 1) : seq + 1;

    qp->req.acks++;
    wf_requester_acknowledge(qp, reach, now_ps);
    if (reach <= seq)
        wf_requester_implied_nak(qp, now_ps);
    return WF_QP_TAKEN;
}

enum wf_qp_verdict wf_requester_rx(struct wf_qp *qp, const struct wf_qp_in *in,
                                   const struct wf_bth *bth, const struct wf_ext_hdrs *ext,
                                   uint64_t now_ps)
{
    struct wf_requester *r = &qp->req;
    uint8_t syndrome = ext->aeth.syndrome;
    uint64_t seq = r->una_seq + (uint64_t)(int64_t)wf_psn_distance(bth->psn, (uint32_t)r->una_seq);

    if (qp->cfg.retransmit == WF_GO_BACK_0 && bth->opcode == (WF_SERVICE_RC | WF_OP_ACK) &&
        syndrome == (WF_AETH_NAK | WF_NAK_PSN_SEQUENCE) && begins_message(qp, seq))
        restart_message(qp); /* takes back what was acknowledged of it */
    /* stale, or for what was never sent: a ghost (C9-76) */
    if (qp->state != WF_QP_READY || seq < r->una_seq || seq >= r->max_seq)
        return WF_QP_DISCARDED;
    if (qp->sel)
        return wf_sel_answered(qp, in, bth, ext, seq, now_ps);
    if (bth->opcode != (WF_SERVICE_RC | WF_OP_ACK))
        return wf_requester_data(qp, in, bth, ext, seq, now_ps);
    switch (syndrome & 0xe0) {
    case WF_AETH_ACK:
        return ack(qp, seq, now_ps);
    case WF_AETH_RNR_NAK:
    case WF_AETH_NAK:
        return nak(qp, syndrome, seq, now_ps);
    }
    return WF_QP_DISCARDED;
}

void wf_qp_tick(struct wf_qp *qp, uint64_t now_ps)
{
    if (qp->req.timer_ps == WF_TIME_NEVER || now_ps < qp->req.timer_ps)
        return;
    if (qp->req.rnr_waits) {
        qp->req.rnr_waits = false;
        restart_timer(qp, now_ps);
        wf_requester_gate(qp);
        return;
    }
    qp->req.timeouts++;
    wf_requester_go_back(qp, now_ps, true);
}
