/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * READs and atomics at the responder (IBA vol. 1, 9.7.4.1.2, 9.7.5.1.3 ff.): each takes a resource,
 * in which it is answered and by which a duplicate of it is answered again: a READ from the memory
 * as it is then, an atomic by its first result. As many as there are resources may be outstanding;
 * one more is an invalid request. A READ's memory is looked at when its packets are pulled.
 * Answers go out in the order of their PSNs, ACKs among them.
 */
#include <string.h>

#include "base/assert.h"
#include "xport/sel_priv.h"

void wf_qp_set_resources(struct wf_qp *qp, struct wf_rd_res *res, uint32_t n)
{
    if (n)
        memset(res, 0, n * sizeof(*res));
    qp->respm.res = res;
    qp->respm.n_res = n;
    qp->respm.res_next = 0;
    qp->resp.data = false;
}

static bool waits(const struct wf_rd_res *e)
{
    return e->next < e->packets;
}

/* The oldest that waits, or NULL. */
static struct wf_rd_res *oldest(const struct wf_qp *qp)
{
    const struct wf_responder_more *m = &qp->respm;

    for (uint32_t i = 0; i < m->n_res; i++) {
        struct wf_rd_res *e = &m->res[(m->res_next + i) % m->n_res];

        if (waits(e))
            return e;
    }
    return NULL;
}

/* An atomic is done when it comes; memory that is virtual holds zeros. */
static uint64_t operate(uint8_t *at, uint8_t op, const struct wf_atomiceth *x)
{
    uint64_t orig = 0, now;

    if (!at)
        return 0;
    memcpy(&orig, at, sizeof(orig));
    if (op == WF_OP_FETCH_ADD)
        now = orig + x->swap_add;
    else
        now = orig == x->compare ? x->swap_add : orig;
    memcpy(at, &now, sizeof(now));
    return orig;
}

/* Fills in what it is; 0, or 1 + the code of a NAK. */
static int fill(struct wf_qp *qp, struct wf_rd_res *e, const struct wf_bth *bth,
                const struct wf_ext_hdrs *ext)
{
    const struct wf_atomiceth *a = &ext->atomiceth;
    const struct wf_reth *r = &ext->reth;
    uint32_t mtu = qp->cfg.path_mtu;
    uint8_t *at;

    *e = (struct wf_rd_res){.psn = bth->psn, .packets = 1, .op = wf_op_of(bth->opcode)};
    if (e->op == WF_OP_READ_REQUEST) {
        if (r->dma_len > 1u << 31)
            return 1 + WF_NAK_INVALID_REQUEST;
        if (r->dma_len &&
            qp->user.mem(qp->user.arg, r->rkey, r->va, r->dma_len, WF_MEM_REMOTE_READ, &at))
            return 1 + WF_NAK_REMOTE_ACCESS;
        e->rkey = r->rkey;
        e->va = r->va;
        e->len = r->dma_len;
        e->packets = e->len ? (e->len - 1) / mtu + 1 : 1;
        return 0;
    }
    if (a->va & 7)
        return 1 + WF_NAK_INVALID_REQUEST;
    if (qp->user.mem(qp->user.arg, a->rkey, a->va, 8, WF_MEM_REMOTE_ATOMIC, &at))
        return 1 + WF_NAK_REMOTE_ACCESS;
    e->orig = operate(at, e->op, a);
    return 0;
}

enum wf_qp_verdict wf_responder_read(struct wf_qp *qp, const struct wf_bth *bth,
                                     const struct wf_ext_hdrs *ext)
{
    struct wf_responder_more *m = &qp->respm;
    struct wf_responder *s = &qp->resp;
    const struct wf_rd_res *was;
    struct wf_rd_res e;
    int nak;

    was = m->n_res ? &m->res[m->res_next] : NULL;
    if (s->open != WF_MSG_NONE || !was || (waits(was) && !was->again))
        return wf_responder_refuse(qp, WF_NAK_INVALID_REQUEST, bth->psn);
    nak = fill(qp, &e, bth, ext);
    if (nak)
        return wf_responder_refuse(qp, (enum wf_nak)(nak - 1), bth->psn);
    m->read_requests += e.op == WF_OP_READ_REQUEST;
    m->atomic_requests += e.op != WF_OP_READ_REQUEST;
    s->msn = (s->msn + 1) & WF_PSN_MASK;
    e.msn = s->msn;
    if (qp->sel)
        wf_sel_again_forget(qp, was);
    m->res[m->res_next] = e;
    m->res_next = (m->res_next + 1) % m->n_res;
    s->data = true;
    if (s->nak_sent)
        s->answer = false; /* a NAK for the gap that has closed */
    s->nak_sent = false;
    s->expect_psn = (s->expect_psn + e.packets) & WF_PSN_MASK;
    return WF_QP_TAKEN;
}

/* The part of the READ that is asked for again is a part of what was asked for. */
static bool same_read(const struct wf_qp *qp, const struct wf_rd_res *e, uint32_t at,
                      const struct wf_reth *r)
{
    uint64_t off = (uint64_t)at * qp->cfg.path_mtu;

    return r->rkey == e->rkey && r->va == e->va + off && r->dma_len == e->len - off;
}

void wf_responder_read_again(struct wf_qp *qp, const struct wf_bth *bth,
                             const struct wf_ext_hdrs *ext)
{
    struct wf_responder_more *m = &qp->respm;

    if (qp->sel && qp->sel->early && wf_op_of(bth->opcode) == WF_OP_READ_REQUEST) {
        wf_sel_again(qp, bth, ext);
        return;
    }
    for (uint32_t i = 0; i < m->n_res; i++) {
        struct wf_rd_res *e = &m->res[i];
        uint32_t at = (bth->psn - e->psn) & WF_PSN_MASK;

        if (at >= e->packets || e->op != wf_op_of(bth->opcode) ||
            (e->op == WF_OP_READ_REQUEST && !same_read(qp, e, at, &ext->reth)))
            continue;
        if (!waits(e))
            e->again = true;
        e->start = e->next = at;
        qp->resp.data = true;
        return;
    }
    /* forgotten already, or never heard of: no answer (9.7.5.1.3) */
}

bool wf_resource_first(const struct wf_qp *qp)
{
    const struct wf_rd_res *e = oldest(qp);

    if (wf_sel_again_waits(qp))
        return true;
    return !qp->resp.answer || wf_psn_distance(qp->resp.answer_psn, e->psn + e->next) >= 0;
}

static uint8_t response(bool first, bool last)
{
    if (first)
        return last ? WF_OP_READ_RESPONSE_ONLY : WF_OP_READ_RESPONSE_FIRST;
    return last ? WF_OP_READ_RESPONSE_LAST : WF_OP_READ_RESPONSE_MIDDLE;
}

/* The memory has gone meanwhile: the answer is a NAK. */
static void read_failed(struct wf_qp *qp, const struct wf_rd_res *e, struct wf_qp_out *out)
{
    struct wf_responder_more *m = &qp->respm;

    for (uint32_t i = 0; i < m->n_res; i++)
        m->res[i].next = m->res[i].packets;
    if (wf_sel_again_waits(qp))
        qp->sel->early->n_again = 0;
    wf_responder_out_answer(qp, out, WF_AETH_NAK | WF_NAK_REMOTE_ACCESS, out->bth.psn, e->msn);
    m->rem_access++;
    qp->resp.answer = false;
    wf_requester_fail(qp, WF_WC_FLUSH);
}

void wf_resource_read(struct wf_qp *qp, const struct wf_rd_res *e, uint32_t at, bool first,
                      bool last, struct wf_qp_out *out)
{
    uint32_t mtu = qp->cfg.path_mtu, off = at * mtu;
    uint32_t len = e->len - off < mtu ? e->len - off : mtu;
    uint8_t *from = NULL;

    wf_responder_out_answer(qp, out, WF_AETH_ACK | WF_AETH_CREDIT_INVALID,
                            (e->psn + at) & WF_PSN_MASK, e->msn);
    if (len && qp->user.mem(qp->user.arg, e->rkey, e->va + off, len, WF_MEM_REMOTE_READ, &from)) {
        read_failed(qp, e, out);
        return;
    }
    out->bth.opcode = WF_SERVICE_RC | response(first, last);
    out->payload_len = len;
    out->n_iov = from && len;
    out->iov[0] = (struct iovec){from, len};
}

static void pull_oldest(struct wf_qp *qp, struct wf_rd_res *e, struct wf_qp_out *out)
{
    if (e->op == WF_OP_READ_REQUEST) {
        wf_resource_read(qp, e, e->next, e->next == e->start, e->next + 1 == e->packets, out);
    } else {
        wf_responder_out_answer(qp, out, WF_AETH_ACK | WF_AETH_CREDIT_INVALID,
                                (e->psn + e->next) & WF_PSN_MASK, e->msn);
        out->bth.opcode = WF_SERVICE_RC | WF_OP_ATOMIC_ACK;
        out->ext.atomicacketh.orig = e->orig;
    }
    e->next++;
}

void wf_resource_pull(struct wf_qp *qp, struct wf_qp_out *out)
{
    struct wf_rd_res *e = oldest(qp);

    WF_ASSERT(e || wf_sel_again_waits(qp));
    if (wf_sel_again_waits(qp))
        wf_sel_again_pull(qp, out);
    else
        pull_oldest(qp, e, out);
    qp->resp.data = oldest(qp) || wf_sel_again_waits(qp);
}
