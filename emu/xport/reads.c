/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * READs and atomics at the requester (IBA vol. 1, 9.7.5.2.4 ff.): placing what comes back. Answers
 * come in the order of their PSNs, so that one that is missing shows by a later answer, of whatever
 * kind: an implied NAK, upon which the missing PSN is asked for again. Nothing is acknowledged
 * across a READ whose data has not come.
 */
#include "base/assert.h"
#include "xport/halves.h"

uint64_t wf_requester_reach(const struct wf_qp *qp, uint64_t seq)
{
    const struct wf_requester *r = &qp->req;

    for (uint32_t i = r->head; i != r->tail; i++) {
        const struct wf_wqe *e = wf_wqe_at(r, i);

        if (e->first_seq >= seq)
            break;
        if (wf_work_reads(&e->work))
            return e->first_seq > r->una_seq ? e->first_seq : r->una_seq;
    }
    return seq;
}

void wf_requester_implied_nak(struct wf_qp *qp, uint64_t now_ps)
{
    struct wf_requester *r = &qp->req;

    if (r->implied || r->rnr_waits || qp->state != WF_QP_READY)
        return; /* one loss is repeated once; what follows it is behind the gap */
    qp->reqm.implied_naks++;
    if (wf_requester_go_back(qp, now_ps, false))
        r->implied = true;
}

enum wf_qp_verdict wf_requester_bad_response(struct wf_qp *qp)
{
    qp->reqm.bad_responses++;
    wf_requester_fail(qp, WF_WC_BAD_RESP);
    return WF_QP_TAKEN;
}

/* What the next answer to this request looks like. A READ that was asked for again from the middle
 * begins with a First there. */
static bool fits(const struct wf_qp *qp, const struct wf_wqe *e, const struct wf_bth *bth,
                 uint64_t seq, uint32_t payload_len)
{
    uint64_t off = (seq - e->first_seq) * qp->cfg.path_mtu;
    uint64_t left = e->work.len - off;
    uint8_t flags = wf_opcodes[bth->opcode].flags;
    bool last = seq + 1 == e->first_seq + e->packets;

    if (e->work.op != WF_WORK_READ)
        return wf_op_of(bth->opcode) == WF_OP_ATOMIC_ACK;
    if (!(flags & WF_OPF_READ) || !(flags & WF_OPF_LAST) != !last)
        return false;
    return payload_len == (last ? left : qp->cfg.path_mtu);
}

static void land(struct wf_qp *qp, const struct wf_wqe *e, uint64_t off, const struct iovec *iov,
                 uint32_t n_iov, uint32_t len)
{
    struct iovec to[WF_QP_SGE_MAX];

    wf_iov_scatter(to, wf_iov_slice(to, e->work.sge, e->work.n_sge, off, len), iov, n_iov);
    qp->reqm.read_bytes += len;
}

void wf_requester_take(struct wf_qp *qp, const struct wf_wqe *e, const struct wf_qp_in *in,
                       const struct wf_ext_hdrs *ext, uint64_t seq)
{
    uint64_t orig = ext->atomicacketh.orig;

    if (e->work.op == WF_WORK_READ)
        land(qp, e, (seq - e->first_seq) * qp->cfg.path_mtu, in->iov, in->n_iov, in->payload_len);
    else
        land(qp, e, 0, &(struct iovec){&orig, sizeof(orig)}, 1, sizeof(orig));
}

const struct wf_wqe *wf_requester_find(const struct wf_requester *r, uint64_t seq)
{
    uint32_t i = r->head;

    while (seq >= wf_wqe_at(r, i)->first_seq + wf_wqe_at(r, i)->packets)
        i++;
    return wf_wqe_at(r, i);
}

enum wf_qp_verdict wf_requester_data(struct wf_qp *qp, const struct wf_qp_in *in,
                                     const struct wf_bth *bth, const struct wf_ext_hdrs *ext,
                                     uint64_t seq, uint64_t now_ps)
{
    const struct wf_wqe *e = wf_requester_find(&qp->req, seq);
    uint64_t reach;

    qp->resp.ce_packets += in->ce && in->payload_len;
    if (wf_opcodes[bth->opcode].aeth && WF_AETH_KIND(ext->aeth.syndrome))
        return WF_QP_DISCARDED; /* it says that it is no answer */
    if (!wf_work_reads(&e->work))
        return WF_QP_BAD_OPCODE; /* we have asked for nothing that is answered so */
    reach = wf_requester_reach(qp, seq);
    wf_requester_acknowledge(qp, reach, now_ps);
    if (qp->state != WF_QP_READY)
        return WF_QP_DISCARDED;
    if (reach < seq) {
        wf_requester_implied_nak(qp, now_ps);
        return WF_QP_DISCARDED;
    }
    if (!fits(qp, e, bth, seq, in->payload_len))
        return wf_requester_bad_response(qp);
    wf_requester_take(qp, e, in, ext, seq);
    wf_requester_acknowledge(qp, seq + 1, now_ps);
    return WF_QP_TAKEN;
}
