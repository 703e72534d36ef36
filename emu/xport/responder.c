/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The responder of a reliable connection (IBA vol. 1, 9.7.4 to 9.7.5): PSN order, duplicates, the
 * checks of a request against the state of the message and against memory, ACK and NAK with the
 * message sequence number, RDMA WRITE. One NAK per gap. Answers coalesce: one that has not been
 * pulled is replaced by a later one. Left out: end-to-end credits (invalid).
 */
#include "base/assert.h"
#include "xport/halves.h"
#include "xport/sel_priv.h"

void wf_responder_answer(struct wf_responder *s, uint8_t syndrome, uint32_t psn)
{
    s->answer = true;
    s->syndrome = syndrome;
    s->answer_psn = psn;
    s->answer_msn = s->msn;
}

static void ack(struct wf_responder *s, uint32_t psn)
{
    wf_responder_answer(s, WF_AETH_ACK | WF_AETH_CREDIT_INVALID, psn);
}

void wf_responder_out_answer(const struct wf_qp *qp, struct wf_qp_out *out, uint8_t syndrome,
                             uint32_t psn, uint32_t msn)
{
    out->payload_len = out->n_iov = 0;
    out->again = false;
    out->ext.aeth = (struct wf_aeth){syndrome, msn};
    out->bth = (struct wf_bth){
        .opcode = WF_SERVICE_RC | WF_OP_ACK,
        .m = true,
        .pkey = qp->cfg.pkey,
        .dqpn = qp->cfg.dqpn,
        .psn = psn,
    };
}

void wf_qp_pull_answer(struct wf_qp *qp, struct wf_qp_out *out)
{
    struct wf_responder *s = &qp->resp;

    if (s->data && wf_resource_first(qp)) {
        wf_resource_pull(qp, out);
        return;
    }
    WF_ASSERT(s->answer);
    s->answer = false;
    if (s->syndrome == WF_SEL_SYNDROME)
        wf_sel_out_nak(qp, out);
    else
        wf_responder_out_answer(qp, out, s->syndrome, s->answer_psn, s->answer_msn);
}

/* A NAK for what is expected next has not been pulled yet. */
static bool nak_waits(const struct wf_responder *s)
{
    return s->answer && s->nak_sent && WF_AETH_KIND(s->syndrome);
}

enum wf_qp_verdict wf_responder_refuse(struct wf_qp *qp, enum wf_nak why, uint32_t psn)
{
    struct wf_responder_more *m = &qp->respm;

    m->rem_access += why == WF_NAK_REMOTE_ACCESS;
    m->rem_inv_req += why == WF_NAK_INVALID_REQUEST;
    m->rem_op += why == WF_NAK_REMOTE_OPERATIONAL;
    wf_responder_answer(&qp->resp, WF_AETH_NAK | why, psn);
    qp->resp.open = WF_MSG_NONE;
    wf_requester_fail(qp, WF_WC_FLUSH);
    return WF_QP_TAKEN;
}

static bool place(struct wf_qp *qp, const struct wf_qp_in *in)
{
    struct wf_responder *s = &qp->resp;
    uint8_t *at;

    if (!in->payload_len)
        return true;
    if (qp->user.mem(qp->user.arg, s->rkey, s->va, in->payload_len, WF_MEM_REMOTE_WRITE, &at))
        return false;
    if (at)
        wf_iov_copy(at, in->payload_len, in->iov, in->n_iov);
    s->va += in->payload_len;
    s->left -= in->payload_len;
    s->bytes += in->payload_len;
    return true;
}

void wf_responder_advance(struct wf_qp *qp, const struct wf_bth *bth)
{
    struct wf_responder *s = &qp->resp;
    bool late_nak = nak_waits(s);

    s->expect_psn = (s->expect_psn + 1) & WF_PSN_MASK;
    s->nak_sent = false;
    if (wf_opcodes[bth->opcode].flags & WF_OPF_LAST) {
        s->open = WF_MSG_NONE;
        s->messages++;
        s->msn = (s->msn + 1) & WF_PSN_MASK;
    }
    if (bth->ackreq || late_nak) /* the gap has closed before its NAK went out */
        ack(s, bth->psn);
}

enum wf_qp_verdict wf_responder_write(struct wf_qp *qp, const struct wf_qp_in *in,
                                      const struct wf_bth *bth, const struct wf_reth *reth)
{
    struct wf_responder *s = &qp->resp;
    uint8_t *at;

    if (!wf_write_in_place(qp, bth->opcode, in->payload_len, reth))
        return wf_responder_refuse(qp, WF_NAK_INVALID_REQUEST, bth->psn);
    if (wf_opcodes[bth->opcode].flags & WF_OPF_FIRST) {
        /* the whole of it is checked before its first byte; a length of 0 needs no key */
        if (reth->dma_len && qp->user.mem(qp->user.arg, reth->rkey, reth->va, reth->dma_len,
                                          WF_MEM_REMOTE_WRITE, &at))
            return wf_responder_refuse(qp, WF_NAK_REMOTE_ACCESS, bth->psn);
        s->open = WF_MSG_WRITE;
        s->first_psn = bth->psn;
        s->va = reth->va;
        s->rkey = reth->rkey;
        s->len = s->left = reth->dma_len;
    }
    if (!place(qp, in))
        return wf_responder_refuse(qp, WF_NAK_REMOTE_ACCESS, bth->psn);
    wf_responder_advance(qp, bth);
    return WF_QP_TAKEN;
}

/* Go-back-0: what came of the open message is worth nothing, it has to begin anew. */
static void forget_message(struct wf_qp *qp)
{
    struct wf_responder *s = &qp->resp;

    if (s->open == WF_MSG_NONE)
        return;
    s->bytes -= s->open == WF_MSG_WRITE ? s->len - s->left : qp->respm.got;
    s->expect_psn = s->first_psn;
    s->open = WF_MSG_NONE;
}

/* Before or behind what is expected (9.7.5.1.2, 9.7.5.2.3). */
static enum wf_qp_verdict out_of_order(struct wf_qp *qp, int32_t ahead, const struct wf_qp_in *in,
                                       const struct wf_bth *bth, const struct wf_ext_hdrs *ext)
{
    struct wf_responder *s = &qp->resp;

    if (ahead < 0) {
        s->duplicates++;
        if (wf_op_answers_data(bth->opcode))
            wf_responder_read_again(qp, bth, ext);
        else if (!nak_waits(s)) /* it acknowledges the same packets, and says more */
            ack(s, (s->expect_psn - 1) & WF_PSN_MASK);
    } else if (qp->sel && wf_sel_early(qp, in, bth, ext)) {
        return WF_QP_TAKEN;
    } else if (!s->nak_sent) {
        if (qp->cfg.retransmit == WF_GO_BACK_0)
            forget_message(qp);
        s->nak_sent = true;
        s->naks++;
        wf_responder_answer(s, WF_AETH_NAK | WF_NAK_PSN_SEQUENCE, s->expect_psn);
    }
    return WF_QP_DISCARDED;
}

static enum wf_qp_verdict request(struct wf_qp *qp, const struct wf_qp_in *in,
                                  const struct wf_bth *bth, const struct wf_ext_hdrs *ext)
{
    switch (wf_op_of(bth->opcode)) {
    case WF_OP_WRITE_LAST_IMM:
    case WF_OP_WRITE_ONLY_IMM:
        return wf_responder_write_imm(qp, in, bth, ext);
    case WF_OP_READ_REQUEST:
    case WF_OP_COMPARE_SWAP:
    case WF_OP_FETCH_ADD:
        return wf_responder_read(qp, bth, ext);
    default:
        if (wf_opcodes[bth->opcode].flags & WF_OPF_SEND)
            return wf_responder_send(qp, in, bth, ext);
        return wf_responder_refuse(qp, WF_NAK_INVALID_REQUEST, bth->psn);
    }
}

static bool plain_write(uint8_t opcode)
{
    uint8_t op = wf_op_of(opcode);

    return op >= WF_OP_WRITE_FIRST && op <= WF_OP_WRITE_ONLY && op != WF_OP_WRITE_LAST_IMM;
}

enum wf_qp_verdict wf_responder_in_order(struct wf_qp *qp, const struct wf_qp_in *in,
                                         const struct wf_bth *bth, const struct wf_ext_hdrs *ext)
{
    return plain_write(bth->opcode) ? wf_responder_write(qp, in, bth, &ext->reth)
                                    : request(qp, in, bth, ext);
}

enum wf_qp_verdict wf_responder_rx(struct wf_qp *qp, const struct wf_qp_in *in,
                                   const struct wf_bth *bth, const struct wf_ext_hdrs *ext)
{
    struct wf_responder *s = &qp->resp;
    int32_t ahead = wf_psn_distance(bth->psn, s->expect_psn);

    if (s->dead)
        return WF_QP_DISCARDED;
    s->ce_packets += in->ce && in->payload_len;
    if (ahead)
        return out_of_order(qp, ahead, in, bth, ext);
    return qp->sel ? wf_sel_in_order(qp, in, bth, ext) : wf_responder_in_order(qp, in, bth, ext);
}
