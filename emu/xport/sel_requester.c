/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selective retransmission at the requester: what is known to have arrived, by bits of PSNs; what
 * of the rest was overtaken by so much that it counts as lost; what is sent next. Requests are held
 * against requests, in the order in which they were sent; answers with data against answers, in the
 * order in which they were asked for, once the responder is known to have come to their request.
 */
#include "xport/sel_priv.h"

/* `a` is that much later than `b`. */
static bool overtaken(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) >= WF_SEL_REORDER;
}

static void latest(uint32_t *newest, uint32_t n)
{
    if ((int32_t)(n - *newest) > 0)
        *newest = n;
}

/* Beyond what was sent, or what the rings of bits hold. */
static uint64_t limit(const struct wf_requester *r)
{
    return r->max_seq - r->una_seq < WF_SEL_SPAN ? r->max_seq : r->una_seq + WF_SEL_SPAN;
}

static void lose(struct wf_qp_sel *x, uint64_t seq, bool lost)
{
    if (wf_sel_get(x->lost, seq) == lost)
        return;
    wf_sel_set(x->lost, seq, lost);
    x->n_lost += lost ? 1 : -1u;
}

/* What is to be sent next: the first that is lost, else what was never sent. */
static void aim(struct wf_qp *qp)
{
    struct wf_requester *r = &qp->req;
    uint64_t seq = r->max_seq, to = limit(r);

    for (uint64_t i = r->una_seq; qp->sel->n_lost && i < to; i++)
        if (wf_sel_get(qp->sel->lost, i)) {
            seq = i;
            break;
        }
    if (seq != r->next_seq)
        wf_requester_seek(qp, seq);
}

void wf_sel_number(struct wf_qp *qp, struct wf_wqe *e)
{
    if (e->work.op >= WF_WORK_WRITE_IMM && e->work.op <= WF_WORK_SEND_INV)
        e->recv = qp->sel->n_sends++;
}

/* PSNs that the request for `seq` asks for: of a READ that is repeated, those that are lost. */
static uint32_t run(const struct wf_qp *qp, const struct wf_wqe *e, uint64_t seq)
{
    uint64_t end = e->first_seq + e->packets, to = limit(&qp->req), i = seq + 1;
    const struct wf_qp_sel *x = qp->sel;

    if (!wf_work_reads(&e->work))
        return 1;
    if (seq == e->first_seq && x->reached <= seq)
        return e->packets; /* nobody has carried it out */
    while (i < end && i < to && wf_sel_get(x->lost, i))
        i++;
    return (uint32_t)(i - seq);
}

void wf_sel_dress(const struct wf_qp *qp, const struct wf_wqe *e, uint64_t seq, bool last,
                  struct wf_qp_out *out)
{
    uint64_t off = (seq - e->first_seq) * qp->cfg.path_mtu, len;
    const struct wf_work *w = &e->work;

    if (w->op == WF_WORK_READ) {
        len = (uint64_t)run(qp, e, seq) * qp->cfg.path_mtu;
        if (len < out->ext.reth.dma_len)
            out->ext.reth.dma_len = (uint32_t)len;
    }
    if (wf_work_reads(w))
        return;
    out->bth.opcode = last && w->op != WF_WORK_WRITE ? WF_OP_WRITE_ONLY_IMM : WF_OP_WRITE_ONLY;
    if (w->op >= WF_WORK_SEND)
        out->ext.reth = (struct wf_reth){(uint64_t)w->op << 56 | (uint64_t)e->recv << 32 | off,
                                         WF_SEL_RECV_KEY, out->payload_len};
    else
        out->ext.reth = (struct wf_reth){w->raddr + off, w->rkey, out->payload_len};
    if (w->op == WF_WORK_SEND)
        out->ext.immdt.data = 0;
    if (w->op == WF_WORK_WRITE_IMM && !last)
        out->bth.se = true; /* the immediate data will follow */
}

void wf_sel_sent(struct wf_qp *qp, const struct wf_wqe *e, uint64_t seq)
{
    uint64_t end = seq + run(qp, e, seq), to = qp->req.una_seq + WF_SEL_SPAN;
    struct wf_qp_sel *x = qp->sel;
    bool data = wf_work_reads(&e->work);

    x->order[seq % WF_SEL_SPAN] = ++x->sent;
    for (uint64_t i = seq; i < end && i < to; i++) {
        wf_sel_set(x->data, i, data);
        lose(x, i, false);
        x->n_asked += data;
        x->asked[i % WF_SEL_SPAN] = x->n_asked;
    }
    if (end > to) {
        x->tail_seq = to;
        x->tail_asked = x->n_asked + 1;
        x->n_asked += (uint32_t)(end - to);
    }
    aim(qp);
}

void wf_sel_acknowledged(struct wf_qp *qp, uint64_t from)
{
    struct wf_requester *r = &qp->req;
    struct wf_qp_sel *x = qp->sel;

    for (uint64_t i = from; i < r->una_seq; i++) {
        if (!wf_sel_get(x->data, i))
            latest(&x->newest, x->order[i % WF_SEL_SPAN]);
        lose(x, i, false);
        wf_sel_set(x->done, i, false);
        wf_sel_set(x->data, i, false);
        wf_sel_set(x->there, i, false);
    }
    /* of a READ that is longer than the span */
    for (uint64_t i = from + WF_SEL_SPAN; i < r->una_seq + WF_SEL_SPAN && i < r->max_seq; i++) {
        wf_sel_set(x->data, i, true);
        x->asked[i % WF_SEL_SPAN] = x->tail_asked + (uint32_t)(i - x->tail_seq);
    }
    aim(qp);
}

static void arrived(struct wf_qp_sel *x, uint64_t seq)
{
    if (wf_sel_get(x->data, seq))
        wf_sel_set(x->there, seq, true);
    else
        wf_sel_set(x->done, seq, true);
    latest(&x->newest, x->order[seq % WF_SEL_SPAN]);
    lose(x, seq, false);
}

/* The responder has carried out everything before `seq`. */
static void came_to(struct wf_qp *qp, uint64_t seq)
{
    uint64_t to = limit(&qp->req);
    struct wf_qp_sel *x = qp->sel;
    uint64_t i = x->reached > qp->req.una_seq ? x->reached : qp->req.una_seq;

    for (; i < seq && i < to; i++)
        if (!wf_sel_get(x->data, i))
            arrived(x, i);
    if (seq > x->reached)
        x->reached = seq;
}

/* A NAK names this one: it is missing, though it may have been here and could not be kept. */
static void missing(struct wf_qp *qp, uint64_t seq)
{
    struct wf_qp_sel *x = qp->sel;
    bool fresh = seq >= x->reached;

    came_to(qp, seq);
    if (fresh && seq < limit(&qp->req) && !wf_sel_get(x->data, seq))
        wf_sel_set(x->done, seq, false);
}

/* All that is done without a gap is acknowledged: answers that have come, and else what the
 * responder has come to; what is only here may still be given up. */
static void progress(struct wf_qp *qp, uint64_t now_ps)
{
    struct wf_requester *r = &qp->req;
    uint64_t seq = r->una_seq, to = limit(r);
    struct wf_qp_sel *x = qp->sel;

    while (seq < to && wf_sel_get(x->done, seq) && (wf_sel_get(x->data, seq) || seq < x->reached))
        seq++;
    wf_requester_acknowledge(qp, seq, now_ps);
    if (qp->state == WF_QP_READY && x->refused_seq && r->una_seq >= x->refused_seq)
        wf_requester_refused(qp, x->refused_code);
}

/* Whether what is not done counts as lost. */
static bool is_lost(const struct wf_qp *qp, const struct wf_wqe *e, uint64_t seq)
{
    const struct wf_qp_sel *x = qp->sel;
    uint64_t at = seq % WF_SEL_SPAN;

    if (!wf_sel_get(x->data, seq))
        return overtaken(x->newest, x->order[at]);
    if (x->reached > e->first_seq)
        return overtaken(x->newest_data, x->asked[at]);
    return seq == e->first_seq && !wf_sel_get(x->there, seq) && overtaken(x->newest, x->order[at]);
}

static void judge(struct wf_qp *qp)
{
    struct wf_requester *r = &qp->req;
    uint64_t to = limit(r);
    struct wf_qp_sel *x = qp->sel;
    const struct wf_wqe *e = NULL;
    bool plain = false, data = false;

    for (uint64_t i = r->una_seq; i < to; i++) {
        if (wf_sel_get(x->done, i) || wf_sel_get(x->lost, i))
            continue;
        if (wf_sel_get(x->data, i) && (!e || i >= e->first_seq + e->packets))
            e = wf_requester_find(r, i);
        if (!is_lost(qp, e, i))
            continue;
        lose(x, i, true);
        plain = plain || !wf_sel_get(x->data, i);
        data = data || wf_sel_get(x->data, i);
    }
    r->naks += plain;
    qp->reqm.implied_naks += data;
    aim(qp);
}

void wf_sel_restart(struct wf_qp *qp, bool data)
{
    struct wf_requester *r = &qp->req;
    uint64_t to = limit(r);
    struct wf_qp_sel *x = qp->sel;
    const struct wf_wqe *e = NULL;

    for (uint64_t i = r->una_seq; i < to; i++) {
        if (wf_sel_get(x->data, i)) {
            if (!e || i >= e->first_seq + e->packets)
                e = wf_requester_find(r, i);
            if (x->reached <= e->first_seq ? i == e->first_seq && (data || !wf_sel_get(x->there, i))
                                           : data && !wf_sel_get(x->done, i))
                lose(x, i, true);
            continue;
        }
        if (i == r->una_seq)
            wf_sel_set(x->done, i, false); /* nobody has said that it could be kept */
        lose(x, i, !wf_sel_get(x->done, i));
    }
    aim(qp);
}

/* These have arrived, by bits of PSNs from `base` on. */
static void learn(struct wf_qp *qp, uint64_t after, uint64_t base, uint64_t bits)
{
    uint64_t to = limit(&qp->req);

    for (unsigned i = 0; i < 64; i++) {
        uint64_t seq = base + i;

        if (bits >> i & 1 && seq > after && seq < to && !wf_sel_get(qp->sel->done, seq))
            arrived(qp->sel, seq);
    }
}

static enum wf_qp_verdict nak(struct wf_qp *qp, const struct wf_ext_hdrs *ext, uint64_t seq,
                              uint64_t now_ps)
{
    uint64_t base = seq + (uint64_t)(int64_t)wf_psn_distance(ext->aeth.msn, (uint32_t)seq);

    missing(qp, seq);
    learn(qp, seq, base, ext->atomicacketh.orig);
    progress(qp, now_ps);
    if (qp->state == WF_QP_READY)
        judge(qp);
    return WF_QP_TAKEN;
}

/* Of a READ any of its answers, of the length that it has to have; whether it is the first or the
 * last of what was asked for does not matter. */
static bool fits(const struct wf_qp *qp, const struct wf_wqe *e, const struct wf_bth *bth,
                 uint64_t seq, uint32_t payload_len)
{
    uint64_t left = e->work.len - (seq - e->first_seq) * qp->cfg.path_mtu;

    if (e->work.op != WF_WORK_READ)
        return wf_op_of(bth->opcode) == WF_OP_ATOMIC_ACK;
    return wf_opcodes[bth->opcode].flags & WF_OPF_READ &&
           payload_len == (left < qp->cfg.path_mtu ? left : qp->cfg.path_mtu);
}

/* An answer with data. */
static enum wf_qp_verdict data(struct wf_qp *qp, const struct wf_qp_in *in,
                               const struct wf_bth *bth, const struct wf_ext_hdrs *ext,
                               uint64_t seq, uint64_t now_ps)
{
    struct wf_requester *r = &qp->req;
    const struct wf_wqe *e = wf_requester_find(r, seq);
    struct wf_qp_sel *x = qp->sel;
    bool have, inside = seq < limit(r);

    qp->resp.ce_packets += in->ce && in->payload_len;
    if (wf_opcodes[bth->opcode].aeth && WF_AETH_KIND(ext->aeth.syndrome))
        return WF_QP_DISCARDED; /* it says that it is no answer */
    if (!wf_work_reads(&e->work))
        return WF_QP_BAD_OPCODE; /* we have asked for nothing that is answered so */
    if (!fits(qp, e, bth, seq, in->payload_len))
        return wf_requester_bad_response(qp);
    came_to(qp, e->first_seq + e->packets);
    have = !inside || wf_sel_get(x->done, seq);
    latest(&x->newest_data,
           inside ? x->asked[seq % WF_SEL_SPAN] : x->tail_asked + (uint32_t)(seq - x->tail_seq));
    if (!have) {
        wf_requester_take(qp, e, in, ext, seq);
        wf_sel_set(x->done, seq, true);
        lose(x, seq, false);
    }
    progress(qp, now_ps);
    x->placed += !have && r->una_seq <= seq;
    if (qp->state == WF_QP_READY && r->una_seq <= seq)
        judge(qp);
    return have ? WF_QP_DISCARDED : WF_QP_TAKEN;
}

static enum wf_qp_verdict ack(struct wf_qp *qp, uint64_t seq, uint64_t now_ps)
{
    struct wf_requester *r = &qp->req;
    struct wf_qp_sel *x = qp->sel;

    r->acks++;
    if (!r->rd_posted) {
        x->reached = seq + 1 > x->reached ? seq + 1 : x->reached;
        wf_requester_acknowledge(qp, seq + 1, now_ps);
        return WF_QP_TAKEN;
    }
    came_to(qp, seq + 1);
    if (seq < limit(r)) /* what it answered before has left it before */
        latest(&x->newest_data, x->asked[seq % WF_SEL_SPAN]);
    progress(qp, now_ps);
    if (qp->state == WF_QP_READY)
        judge(qp);
    return WF_QP_TAKEN;
}

/* NAKs that any queue pair knows. What they name may stand behind answers that have not come. */
static enum wf_qp_verdict plain_nak(struct wf_qp *qp, uint8_t syndrome, uint64_t seq,
                                    uint64_t now_ps)
{
    bool is_rnr = WF_AETH_KIND(syndrome) == WF_AETH_KIND(WF_AETH_RNR_NAK);
    struct wf_requester *r = &qp->req;
    uint8_t code = WF_AETH_VALUE(syndrome);

    if (!is_rnr && code > WF_NAK_REMOTE_OPERATIONAL)
        return WF_QP_DISCARDED; /* reserved, or of a service that is not here */
    missing(qp, seq);
    progress(qp, now_ps);
    if (qp->state != WF_QP_READY || seq < r->una_seq)
        return WF_QP_TAKEN;
    if (is_rnr) {
        qp->sel->rnr_seq = r->rnr_waits ? qp->sel->rnr_seq : seq;
        wf_requester_rnr(qp, syndrome, now_ps);
    } else if (code == WF_NAK_PSN_SEQUENCE) {
        r->naks++;
        if (!r->rnr_waits)
            wf_requester_go_back(qp, now_ps, false);
    } else if (seq == r->una_seq) {
        wf_requester_refused(qp, code);
    } else {
        qp->sel->refused_seq = seq;
        qp->sel->refused_code = code;
    }
    return WF_QP_TAKEN;
}

enum wf_qp_verdict wf_sel_answered(struct wf_qp *qp, const struct wf_qp_in *in,
                                   const struct wf_bth *bth, const struct wf_ext_hdrs *ext,
                                   uint64_t seq, uint64_t now_ps)
{
    uint8_t syndrome = ext->aeth.syndrome;

    if (bth->opcode == (WF_SERVICE_RC | WF_OP_ATOMIC_ACK) && syndrome == WF_SEL_SYNDROME)
        return nak(qp, ext, seq, now_ps);
    if (bth->opcode != (WF_SERVICE_RC | WF_OP_ACK))
        return data(qp, in, bth, ext, seq, now_ps);
    switch (syndrome & 0xe0) {
    case WF_AETH_ACK:
        return ack(qp, seq, now_ps);
    case WF_AETH_RNR_NAK:
    case WF_AETH_NAK:
        return plain_nak(qp, syndrome, seq, now_ps);
    }
    return WF_QP_DISCARDED;
}
