/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The responder of a queue pair (IBA vol. 1, 9.7.4 to 9.7.5): PSN order, duplicates, the checks of
 * a request against the state of the message and against memory, placing, ACK and NAK with the
 * message sequence number. One NAK per gap. Answers coalesce: one that has not been pulled is
 * replaced by a later one. Left out: answers that carry data, end-to-end credits (invalid).
 */
#include "base/assert.h"
#include "xport/halves.h"

static void answer(struct wf_responder *s, uint8_t syndrome, uint32_t psn)
{
    s->answer = true;
    s->syndrome = syndrome;
    s->answer_psn = psn;
    s->answer_msn = s->msn;
}

static void ack(struct wf_responder *s, uint32_t psn)
{
    answer(s, WF_AETH_ACK | WF_AETH_CREDIT_INVALID, psn);
}

void wf_qp_pull_answer(struct wf_qp *qp, struct wf_qp_out *out)
{
    struct wf_responder *s = &qp->resp;

    WF_ASSERT(s->answer);
    s->answer = false;
    out->payload_len = out->n_iov = 0;
    out->again = false;
    out->ext.aeth = (struct wf_aeth){s->syndrome, s->answer_msn};
    out->bth = (struct wf_bth){
        .opcode = WF_SERVICE_RC | WF_OP_ACK,
        .m = true,
        .pkey = qp->cfg.pkey,
        .dqpn = qp->cfg.dqpn,
        .psn = s->answer_psn,
    };
}

/* A NAK for the gap at expect_psn has not been pulled yet. */
static bool nak_waits(const struct wf_responder *s)
{
    return s->answer && s->nak_sent && WF_AETH_KIND(s->syndrome) == WF_AETH_KIND(WF_AETH_NAK);
}

/* An error that ends the connection (class C, 9.9.3.1): say so once, then be silent. */
static enum wf_qp_verdict refuse(struct wf_responder *s, enum wf_nak why, uint32_t psn)
{
    answer(s, WF_AETH_NAK | why, psn);
    s->dead = true;
    s->open = false;
    return WF_QP_TAKEN;
}

/* Whether the packet fits where the message stands, and its length what the RETH announced
 * (9.7.4.1.1, 9.7.4.1.6). */
static bool in_place(const struct wf_qp *qp, uint8_t opcode, uint32_t len,
                     const struct wf_reth *reth)
{
    const struct wf_responder *s = &qp->resp;
    uint8_t flags = wf_opcodes[opcode].flags;
    uint32_t mtu = qp->cfg.path_mtu;
    uint32_t left = flags & WF_OPF_FIRST ? reth->dma_len : s->left;

    if (s->open == !!(flags & WF_OPF_FIRST))
        return false;
    if (flags & WF_OPF_LAST)
        return len == left && len <= mtu;
    return len == mtu && len < left;
}

static enum wf_qp_verdict place(struct wf_qp *qp, const struct wf_qp_in *in, uint32_t psn)
{
    struct wf_responder *s = &qp->resp;
    uint8_t *at;

    if (!in->payload_len)
        return WF_QP_TAKEN;
    if (qp->user.mem(qp->user.arg, s->rkey, s->va, in->payload_len, WF_MEM_REMOTE_WRITE, &at))
        return refuse(s, WF_NAK_REMOTE_ACCESS, psn);
    if (at)
        wf_iov_copy(at, in->payload_len, in->iov, in->n_iov);
    s->va += in->payload_len;
    s->left -= in->payload_len;
    s->bytes += in->payload_len;
    return WF_QP_TAKEN;
}

static enum wf_qp_verdict write(struct wf_qp *qp, const struct wf_qp_in *in,
                                const struct wf_bth *bth, const struct wf_reth *reth)
{
    struct wf_responder *s = &qp->resp;
    uint8_t flags = wf_opcodes[bth->opcode].flags, *at;
    bool late_nak;

    if (!in_place(qp, bth->opcode, in->payload_len, reth))
        return refuse(s, WF_NAK_INVALID_REQUEST, bth->psn);
    if (flags & WF_OPF_FIRST) {
        /* the whole of it is checked before its first byte; a length of 0 needs no key */
        if (reth->dma_len && qp->user.mem(qp->user.arg, reth->rkey, reth->va, reth->dma_len,
                                          WF_MEM_REMOTE_WRITE, &at))
            return refuse(s, WF_NAK_REMOTE_ACCESS, bth->psn);
        s->open = true;
        s->va = reth->va;
        s->rkey = reth->rkey;
        s->left = reth->dma_len;
    }
    place(qp, in, bth->psn);
    if (s->dead)
        return WF_QP_TAKEN;
    late_nak = nak_waits(s);
    s->expect_psn = (s->expect_psn + 1) & WF_PSN_MASK;
    s->nak_sent = false;
    if (flags & WF_OPF_LAST) {
        s->open = false;
        s->messages++;
        s->msn = (s->msn + 1) & WF_PSN_MASK;
    }
    if (bth->ackreq || late_nak) /* the gap has closed before its NAK went out */
        ack(s, bth->psn);
    return WF_QP_TAKEN;
}

/* Before or behind what is expected (9.7.5.1.2, 9.7.5.2.3). */
static enum wf_qp_verdict out_of_order(struct wf_responder *s, int32_t ahead)
{
    if (ahead < 0) {
        s->duplicates++;
        if (!nak_waits(s)) /* it acknowledges the same packets, and says more */
            ack(s, (s->expect_psn - 1) & WF_PSN_MASK);
    } else if (!s->nak_sent) {
        s->nak_sent = true;
        s->naks++;
        answer(s, WF_AETH_NAK | WF_NAK_PSN_SEQUENCE, s->expect_psn);
    }
    return WF_QP_DISCARDED;
}

/* WRITE without immediate data; other requests get a row of their own here. */
static bool known(uint8_t opcode)
{
    uint8_t op = opcode & 0x1f;

    return op >= WF_OP_WRITE_FIRST && op <= WF_OP_WRITE_ONLY && op != WF_OP_WRITE_LAST_IMM;
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
        return out_of_order(s, ahead);
    if (!known(bth->opcode))
        return refuse(s, WF_NAK_INVALID_REQUEST, bth->psn);
    return write(qp, in, bth, &ext->reth);
}
