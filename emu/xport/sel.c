/* SPDX-License-Identifier: BSD-3-Clause */
#include "xport/sel.h"

#include <errno.h>
#include <string.h>

#include "xport/halves.h"

static bool get(const uint64_t *bits, uint64_t i)
{
    i %= WF_SEL_SPAN;
    return bits[i / 64] >> i % 64 & 1;
}

static void set(uint64_t *bits, uint64_t i, bool on)
{
    i %= WF_SEL_SPAN;
    if (on)
        bits[i / 64] |= 1ull << i % 64;
    else
        bits[i / 64] &= ~(1ull << i % 64);
}

int wf_qp_set_sel(struct wf_qp *qp, struct wf_qp_sel *sel)
{
    if (qp->cfg.service != WF_SERVICE_RC || qp->cfg.retransmit != WF_SELECTIVE)
        return -EINVAL;
    memset(sel, 0, sizeof(*sel));
    qp->sel = sel;
    qp->odd = true;
    wf_requester_gate(qp);
    return 0;
}

void wf_sel_dress(const struct wf_qp *qp, const struct wf_wqe *e, uint32_t off, bool last,
                  struct wf_qp_out *out)
{
    if (e->work.op > WF_WORK_WRITE_IMM)
        return;
    out->bth.opcode =
        last && e->work.op == WF_WORK_WRITE_IMM ? WF_OP_WRITE_ONLY_IMM : WF_OP_WRITE_ONLY;
    out->ext.reth = (struct wf_reth){e->work.raddr + off, e->work.rkey, out->payload_len};
}

/* What is to be sent next: the first that is lost, else what was never sent. */
static void aim(struct wf_qp *qp)
{
    struct wf_requester *r = &qp->req;
    uint64_t seq = r->max_seq;

    for (uint64_t i = r->una_seq; qp->sel->n_lost && i < r->max_seq; i++)
        if (get(qp->sel->lost, i)) {
            seq = i;
            break;
        }
    if (seq != r->next_seq)
        wf_requester_seek(qp, seq);
}

static void lose(struct wf_qp_sel *x, uint64_t seq, bool lost)
{
    if (get(x->lost, seq) == lost)
        return;
    set(x->lost, seq, lost);
    x->n_lost += lost ? 1 : -1u;
}

void wf_sel_sent(struct wf_qp *qp, uint64_t seq)
{
    struct wf_qp_sel *x = qp->sel;

    x->order[seq % WF_SEL_SPAN] = ++x->sent;
    lose(x, seq, false);
    aim(qp);
}

void wf_sel_acknowledged(struct wf_qp *qp, uint64_t from)
{
    struct wf_requester *r = &qp->req;
    struct wf_qp_sel *x = qp->sel;

    for (; from < r->una_seq; from++) {
        if (x->order[from % WF_SEL_SPAN] > x->newest)
            x->newest = x->order[from % WF_SEL_SPAN];
        set(x->acked, from, false);
        lose(x, from, false);
    }
    aim(qp);
}

void wf_sel_restart(struct wf_qp *qp)
{
    struct wf_requester *r = &qp->req;

    for (uint64_t i = r->una_seq; i < r->max_seq; i++)
        lose(qp->sel, i, !get(qp->sel->acked, i));
    aim(qp);
}

bool wf_sel_is_nak(const struct wf_bth *bth, const struct wf_ext_hdrs *ext)
{
    return bth->opcode == (WF_SERVICE_RC | WF_OP_ATOMIC_ACK) &&
           ext->aeth.syndrome == WF_SEL_SYNDROME;
}

/* These have arrived, by bits of PSNs from `base` on. */
static void learn(struct wf_qp *qp, uint64_t base, uint64_t bits)
{
    struct wf_requester *r = &qp->req;
    struct wf_qp_sel *x = qp->sel;

    for (unsigned i = 0; i < 64; i++) {
        uint64_t seq = base + i;

        if (!(bits >> i & 1) || seq <= r->una_seq || seq >= r->max_seq || get(x->acked, seq))
            continue;
        set(x->acked, seq, true);
        lose(x, seq, false);
        if (x->order[seq % WF_SEL_SPAN] > x->newest)
            x->newest = x->order[seq % WF_SEL_SPAN];
    }
}

enum wf_qp_verdict wf_sel_nak(struct wf_qp *qp, const struct wf_ext_hdrs *ext, uint64_t seq,
                              uint64_t now_ps)
{
    struct wf_requester *r = &qp->req;
    struct wf_qp_sel *x = qp->sel;
    uint32_t before = x->n_lost;

    wf_requester_acknowledge(qp, seq, now_ps);
    if (qp->state != WF_QP_READY)
        return WF_QP_TAKEN;
    learn(qp, seq + (uint64_t)(int64_t)wf_psn_distance(ext->aeth.msn, (uint32_t)seq),
          ext->atomicacketh.orig);
    for (uint64_t i = r->una_seq; i < r->max_seq; i++)
        if (!get(x->acked, i) && x->order[i % WF_SEL_SPAN] + WF_SEL_REORDER <= x->newest)
            lose(x, i, true);
    if (x->n_lost > before)
        r->naks++;
    if (!r->rnr_waits)
        aim(qp);
    return WF_QP_TAKEN;
}

/* The responder */

static void answer_nak(struct wf_qp *qp)
{
    struct wf_responder *s = &qp->resp;

    if (s->answer && WF_AETH_KIND(s->syndrome) == WF_AETH_KIND(WF_AETH_RNR_NAK))
        return; /* it names the same packet, and how long to wait */
    wf_responder_answer(s, WF_SEL_SYNDROME, s->expect_psn);
}

bool wf_sel_early(struct wf_qp *qp, const struct wf_qp_in *in, const struct wf_bth *bth,
                  const struct wf_ext_hdrs *ext)
{
    const struct wf_reth *r = &ext->reth;
    struct wf_responder *s = &qp->resp;
    struct wf_qp_sel *x = qp->sel;
    uint8_t *at = NULL;

    if (bth->opcode != (WF_SERVICE_RC | WF_OP_WRITE_ONLY) || s->open != WF_MSG_NONE ||
        in->payload_len != r->dma_len || r->dma_len > qp->cfg.path_mtu ||
        wf_psn_distance(bth->psn, s->expect_psn) >= WF_SEL_SPAN)
        return false;
    if (!get(x->here, bth->psn)) {
        if (r->dma_len &&
            qp->user.mem(qp->user.arg, r->rkey, r->va, r->dma_len, WF_MEM_REMOTE_WRITE, &at))
            return false; /* it is refused when its turn comes */
        if (at)
            wf_iov_copy(at, in->payload_len, in->iov, in->n_iov);
        set(x->here, bth->psn, true);
        x->n_here++;
        x->placed++;
        s->bytes += in->payload_len;
    } else {
        s->duplicates++;
    }
    x->latest_psn = bth->psn;
    answer_nak(qp);
    return true;
}

void wf_sel_catch_up(struct wf_qp *qp)
{
    struct wf_responder *s = &qp->resp;
    struct wf_qp_sel *x = qp->sel;

    if (!x->n_here)
        return;
    for (; get(x->here, s->expect_psn); x->n_here--) {
        set(x->here, s->expect_psn, false);
        s->expect_psn = (s->expect_psn + 1) & WF_PSN_MASK;
        s->msn = (s->msn + 1) & WF_PSN_MASK;
        s->messages++;
    }
    if (x->n_here)
        answer_nak(qp);
    else
        wf_responder_answer(s, WF_AETH_ACK | WF_AETH_CREDIT_INVALID,
                            (s->expect_psn - 1) & WF_PSN_MASK);
}

void wf_sel_out_nak(const struct wf_qp *qp, struct wf_qp_out *out)
{
    const struct wf_qp_sel *x = qp->sel;
    uint32_t psn = qp->resp.expect_psn, base = psn + 1;
    uint64_t bits = 0;

    if (wf_psn_distance(x->latest_psn, base) > 63)
        base = x->latest_psn - 63;
    for (unsigned i = 0; i < 64 && wf_psn_distance(base + i, psn) < WF_SEL_SPAN; i++)
        bits |= (uint64_t)get(x->here, base + i) << i;
    wf_responder_out_answer(qp, out, WF_SEL_SYNDROME, psn, base & WF_PSN_MASK);
    out->bth.opcode = WF_SERVICE_RC | WF_OP_ATOMIC_ACK;
    out->ext.atomicacketh.orig = bits;
}
