/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selective retransmission: parts of READs that are answered again, each like a READ of its own,
 * before whatever else waits. What the READ itself has not answered yet comes anyway.
 */
#include <string.h>

#include "base/assert.h"
#include "xport/sel_priv.h"

static const struct wf_rd_res *holder(const struct wf_qp *qp, uint32_t psn)
{
    const struct wf_responder_more *m = &qp->respm;

    for (uint32_t i = 0; i < m->n_res; i++)
        if (m->res[i].op == WF_OP_READ_REQUEST &&
            ((psn - m->res[i].psn) & WF_PSN_MASK) < m->res[i].packets)
            return &m->res[i];
    return NULL;
}

/* A part of the READ that is remembered, of whole packets or up to its end. */
static bool is_part(const struct wf_qp *qp, const struct wf_rd_res *e, uint32_t at,
                    const struct wf_reth *r)
{
    uint64_t off = (uint64_t)at * qp->cfg.path_mtu, end = off + r->dma_len;

    return r->rkey == e->rkey && r->va == e->va + off &&
           (end == e->len || (end < e->len && r->dma_len && !(r->dma_len % qp->cfg.path_mtu)));
}

void wf_sel_again(struct wf_qp *qp, const struct wf_bth *bth, const struct wf_ext_hdrs *ext)
{
    struct wf_sel_early *y = qp->sel->early;
    const struct wf_rd_res *e = holder(qp, bth->psn);
    const struct wf_reth *r = &ext->reth;
    uint32_t at, n = r->dma_len ? (r->dma_len - 1) / qp->cfg.path_mtu + 1 : 1;

    if (!e || y->n_again == WF_SEL_AGAIN)
        return;
    at = (bth->psn - e->psn) & WF_PSN_MASK;
    if (!is_part(qp, e, at, r) || at >= e->next)
        return;
    if (at + n > e->next)
        n = e->next - at;
    for (uint32_t i = 0; i < y->n_again; i++) /* which will come already */
        if (((bth->psn - y->again[i].psn - y->again[i].next) & WF_PSN_MASK) + n <=
            y->again[i].n - y->again[i].next)
            return;
    y->again[y->n_again++] = (struct wf_sel_part){bth->psn, n, 0};
    qp->resp.data = true;
}

void wf_sel_again_forget(struct wf_qp *qp, const struct wf_rd_res *e)
{
    struct wf_sel_early *y = qp->sel->early;
    uint32_t n = 0;

    for (uint32_t i = 0; y && i < y->n_again; i++)
        if (((y->again[i].psn - e->psn) & WF_PSN_MASK) >= e->packets)
            y->again[n++] = y->again[i];
    if (y)
        y->n_again = n;
}

void wf_sel_again_pull(struct wf_qp *qp, struct wf_qp_out *out)
{
    struct wf_sel_early *y = qp->sel->early;
    struct wf_sel_part *p = &y->again[0];
    uint32_t psn = (p->psn + p->next) & WF_PSN_MASK;
    const struct wf_rd_res *e = holder(qp, psn);
    bool first = !p->next, last = p->next + 1 == p->n;

    WF_ASSERT(e);
    p->next++;
    if (last)
        memmove(p, p + 1, --y->n_again * sizeof(*p));
    wf_resource_read(qp, e, (psn - e->psn) & WF_PSN_MASK, first, last, out);
}
