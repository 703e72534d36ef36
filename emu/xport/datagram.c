/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The responders that never answer: unreliable connection (IBA vol. 1, 9.8.2) and datagram
 * (9.8.3). UC: a gap ends the message that is open, the next First or Only begins anew; what is
 * refused is dropped with its message, and the queue pair lives on. UD: one packet, the Q_Key, and
 * 40 bytes in front of the payload. Left out: multicast groups (whoever finds the queue pair does
 * that).
 */
#include "xport/halves.h"

/* The open message will not come to its end; its receive serves the next. */
static enum wf_qp_verdict abandon(struct wf_qp *qp, enum wf_qp_verdict why)
{
    qp->resp.open = WF_MSG_NONE;
    qp->respm.no_receive += why == WF_QP_NO_RECEIVE;
    return why;
}

static enum wf_qp_verdict uc_send(struct wf_qp *qp, const struct wf_qp_in *in, uint8_t flags)
{
    struct wf_responder_more *m = &qp->respm;

    if (flags & WF_OPF_FIRST) {
        if (!wf_receive_take(qp))
            return abandon(qp, WF_QP_NO_RECEIVE);
        qp->resp.open = WF_MSG_SEND;
        m->got = 0;
    }
    if (in->payload_len > m->now.len - m->got)
        return abandon(qp, WF_QP_NO_RECEIVE);
    wf_receive_fill(&m->now, m->got, in->payload_len, in->iov, in->n_iov);
    m->got += in->payload_len;
    return WF_QP_TAKEN;
}

static enum wf_qp_verdict uc_write(struct wf_qp *qp, const struct wf_qp_in *in,
                                   const struct wf_bth *bth, const struct wf_reth *reth)
{
    uint8_t flags = wf_opcodes[bth->opcode].flags, *at = NULL;
    uint32_t len = in->payload_len;
    struct wf_responder *s = &qp->resp;

    if (flags & WF_OPF_FIRST) {
        if (reth->dma_len && qp->user.mem(qp->user.arg, reth->rkey, reth->va, reth->dma_len,
                                          WF_MEM_REMOTE_WRITE, &at))
            return abandon(qp, WF_QP_DISCARDED);
        s->open = WF_MSG_WRITE;
        s->va = reth->va;
        s->rkey = reth->rkey;
        s->len = s->left = reth->dma_len;
    }
    if (flags & WF_OPF_LAST ? len != s->left : len >= s->left)
        return abandon(qp, WF_QP_DISCARDED);
    if (wf_op_of(bth->opcode) == WF_OP_WRITE_LAST_IMM ||
        wf_op_of(bth->opcode) == WF_OP_WRITE_ONLY_IMM)
        if (!wf_receive_take(qp))
            return abandon(qp, WF_QP_NO_RECEIVE);
    if (len && qp->user.mem(qp->user.arg, s->rkey, s->va, len, WF_MEM_REMOTE_WRITE, &at))
        return abandon(qp, WF_QP_DISCARDED);
    if (len && at)
        wf_iov_copy(at, len, in->iov, in->n_iov);
    s->va += len;
    s->left -= len;
    return WF_QP_TAKEN;
}

/* Whether the packet goes on where the message stands; a First or Only always does (9.8.2.2.3). */
static bool uc_follows(struct wf_qp *qp, const struct wf_bth *bth, uint8_t flags)
{
    struct wf_responder *s = &qp->resp;
    bool gap = bth->psn != s->expect_psn;

    qp->respm.uc_gaps += gap;
    s->expect_psn = (bth->psn + 1) & WF_PSN_MASK;
    if (flags & WF_OPF_FIRST) {
        s->open = WF_MSG_NONE;
        return true;
    }
    return !gap && s->open == (flags & WF_OPF_SEND ? WF_MSG_SEND : WF_MSG_WRITE);
}

enum wf_qp_verdict wf_uc_rx(struct wf_qp *qp, const struct wf_qp_in *in, const struct wf_bth *bth,
                            const struct wf_ext_hdrs *ext)
{
    uint8_t flags = wf_opcodes[bth->opcode].flags;
    uint32_t mtu = qp->cfg.path_mtu;
    struct wf_responder *s = &qp->resp;
    enum wf_qp_verdict v;
    struct wf_wc wc;

    s->ce_packets += in->ce && in->payload_len;
    if (!uc_follows(qp, bth, flags) ||
        (flags & WF_OPF_LAST ? in->payload_len > mtu : in->payload_len != mtu))
        return abandon(qp, WF_QP_DISCARDED);
    v = flags & WF_OPF_SEND ? uc_send(qp, in, flags) : uc_write(qp, in, bth, &ext->reth);
    if (v != WF_QP_TAKEN)
        return v;
    s->bytes += in->payload_len;
    if (!(flags & WF_OPF_LAST))
        return v;
    s->messages++;
    wc = wf_receive_wc(bth, ext, s->open == WF_MSG_SEND ? qp->respm.got : s->len);
    s->open = WF_MSG_NONE;
    if (flags & WF_OPF_SEND || wc.op == WF_WORK_WRITE_IMM)
        wf_receive_done(qp, &wc);
    return v;
}

enum wf_qp_verdict wf_ud_rx(struct wf_qp *qp, const struct wf_qp_in *in, const struct wf_bth *bth,
                            const struct wf_ext_hdrs *ext)
{
    struct iovec grh = {(void *)(uintptr_t)in->grh, in->grh ? WF_QP_GRH_LEN : 0};
    struct wf_responder_more *m = &qp->respm;
    struct wf_responder *s = &qp->resp;
    uint32_t len = in->payload_len;
    struct wf_wc wc;

    s->ce_packets += in->ce && len;
    if (ext->deth.qkey != qp->cfg.qkey) {
        m->bad_qkey++;
        return WF_QP_BAD_QKEY;
    }
    if (len > qp->cfg.path_mtu)
        return WF_QP_DISCARDED;
    if (!wf_receive_take(qp) || m->now.len < WF_QP_GRH_LEN || m->now.len - WF_QP_GRH_LEN < len) {
        m->no_receive++;
        return WF_QP_NO_RECEIVE;
    }
    wf_receive_fill(&m->now, 0, WF_QP_GRH_LEN, &grh, 1);
    wf_receive_fill(&m->now, WF_QP_GRH_LEN, len, in->iov, in->n_iov);
    s->bytes += len;
    s->messages++;
    wc = wf_receive_wc(bth, ext, WF_QP_GRH_LEN + len);
    wc.src_qpn = ext->deth.sqpn;
    wc.in = in;
    wf_receive_done(qp, &wc);
    return WF_QP_TAKEN;
}
