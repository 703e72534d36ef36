/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selective retransmission at the responder: what comes beyond a gap is placed and noted, and done
 * in its turn. Memory and receives are checked when it comes and, what ends a connection, when its
 * turn comes. See sel.h.
 */
#include "xport/sel.h"

#include <errno.h>
#include <string.h>

#include "xport/sel_priv.h"

/* The PSNs in flight may be what holds the sender, and not the window: it has asked by then. */
static void ask_in_time(struct wf_qp *qp)
{
    uint64_t most = (uint64_t)WF_SEL_SPAN / 4 * qp->cfg.path_mtu;
    uint64_t now = qp->cfg.ask_bytes ? qp->cfg.ask_bytes : qp->cfg.window_bytes / 4;

    if (now > most)
        qp->cfg.ask_bytes = most;
}

int wf_qp_set_sel(struct wf_qp *qp, struct wf_qp_sel *sel, struct wf_sel_early *early)
{
    if (qp->cfg.service != WF_SERVICE_RC || qp->cfg.retransmit != WF_SELECTIVE)
        return -EINVAL;
    memset(sel, 0, sizeof(*sel));
    if (early)
        memset(early, 0, sizeof(*early));
    sel->early = early;
    qp->sel = sel;
    qp->odd = true;
    ask_in_time(qp);
    wf_requester_gate(qp);
    return 0;
}

static void answer_nak(struct wf_qp *qp)
{
    struct wf_responder *s = &qp->resp;

    if (s->answer && WF_AETH_KIND(s->syndrome) == WF_AETH_KIND(WF_AETH_RNR_NAK))
        return; /* it names the same packet, and how long to wait */
    wf_responder_answer(s, WF_SEL_SYNDROME, s->expect_psn);
}

bool wf_sel_recv(struct wf_qp *qp)
{
    struct wf_responder_more *m = &qp->respm;
    struct wf_sel_early *y = qp->sel->early;

    if (!y || !y->n_recv)
        return false;
    y->n_recv--;
    m->now = y->recv[qp->sel->n_received % WF_SEL_RECVS];
    m->taken = true;
    return true;
}

/* The receive of that number, with all before it; NULL: it can't be had now. */
static const struct wf_recv *recv_of(struct wf_qp *qp, uint16_t number)
{
    struct wf_responder_more *m = &qp->respm;
    struct wf_sel_early *y = qp->sel->early;
    uint16_t done = qp->sel->n_received, ahead = (uint16_t)(number - done);

    if (!m->rq || ahead > WF_SEL_RECVS || !wf_receive_take(qp))
        return NULL;
    for (; y->n_recv < ahead; y->n_recv++)
        if (!wf_rq_take(m->rq, &y->recv[(done + 1 + y->n_recv) % WF_SEL_RECVS]))
            return NULL;
    return ahead ? &y->recv[number % WF_SEL_RECVS] : &m->now;
}

static struct wf_sel_note send_note(const struct wf_bth *bth, const struct wf_ext_hdrs *ext)
{
    uint64_t va = ext->reth.va;

    return (struct wf_sel_note){.imm = ext->immdt.data,
                                .off = (uint32_t)va,
                                .len = (uint16_t)ext->reth.dma_len,
                                .recv = (uint16_t)(va >> 32),
                                .kind = (uint8_t)(va >> 56),
                                .last = wf_op_of(bth->opcode) == WF_OP_WRITE_ONLY_IMM,
                                .se = bth->se};
}

/* By itself, wherever it stands. */
static bool good_send(const struct wf_qp *qp, const struct wf_qp_in *in, const struct wf_bth *bth,
                      const struct wf_ext_hdrs *ext)
{
    struct wf_sel_note n = send_note(bth, ext);

    return in->payload_len == ext->reth.dma_len && in->payload_len <= qp->cfg.path_mtu &&
           (n.last || n.len == qp->cfg.path_mtu) && n.kind >= WF_WORK_SEND &&
           n.kind <= WF_WORK_SEND_INV;
}

static bool early_send(struct wf_qp *qp, const struct wf_qp_in *in, const struct wf_bth *bth,
                       const struct wf_ext_hdrs *ext)
{
    struct wf_sel_note n = send_note(bth, ext);
    const struct wf_recv *r;

    if (!qp->sel->early || !good_send(qp, in, bth, ext))
        return false;
    r = recv_of(qp, n.recv);
    if (!r || n.off > r->len || n.len > r->len - n.off)
        return false;
    if (qp->user.local && r->n_sge && qp->user.local(qp->user.arg, r->sge, r->n_sge, true))
        return false;
    wf_receive_fill(r, n.off, n.len, in->iov, in->n_iov);
    qp->sel->early->note[bth->psn % WF_SEL_SPAN] = n;
    return true;
}

static bool early_write(struct wf_qp *qp, const struct wf_qp_in *in, const struct wf_bth *bth,
                        const struct wf_ext_hdrs *ext)
{
    bool imm = wf_op_of(bth->opcode) == WF_OP_WRITE_ONLY_IMM;
    const struct wf_reth *r = &ext->reth;
    struct wf_sel_early *y = qp->sel->early;
    uint8_t *at = NULL;

    if ((imm && !y) || in->payload_len != r->dma_len || r->dma_len > qp->cfg.path_mtu)
        return false;
    if (r->dma_len &&
        qp->user.mem(qp->user.arg, r->rkey, r->va, r->dma_len, WF_MEM_REMOTE_WRITE, &at))
        return false; /* it is refused when its turn comes */
    if (at)
        wf_iov_copy(at, in->payload_len, in->iov, in->n_iov);
    if (y)
        y->note[bth->psn % WF_SEL_SPAN] =
            (struct wf_sel_note){.imm = imm ? ext->immdt.data : 0,
                                 .len = (uint16_t)r->dma_len,
                                 .kind = imm ? WF_WORK_WRITE_IMM : WF_WORK_WRITE,
                                 .last = imm,
                                 .se = bth->se};
    return true;
}

static bool early_request(struct wf_qp *qp, const struct wf_bth *bth, const struct wf_ext_hdrs *ext)
{
    struct wf_sel_early *y = qp->sel->early;

    for (uint32_t i = 0; y && i < WF_SEL_HELD; i++)
        if (!y->held[i].used) {
            y->held[i] = (struct wf_sel_held){true, bth->opcode, ext->reth, ext->atomiceth};
            y->note[bth->psn % WF_SEL_SPAN] = (struct wf_sel_note){.imm = i, .kind = WF_WORK_READ};
            return true;
        }
    return false;
}

static bool take(struct wf_qp *qp, const struct wf_qp_in *in, const struct wf_bth *bth,
                 const struct wf_ext_hdrs *ext)
{
    uint8_t op = wf_op_of(bth->opcode);

    if (wf_sel_is_send(bth, ext))
        return early_send(qp, in, bth, ext);
    if (op == WF_OP_WRITE_ONLY || op == WF_OP_WRITE_ONLY_IMM)
        return early_write(qp, in, bth, ext);
    return wf_op_answers_data(bth->opcode) && early_request(qp, bth, ext);
}

bool wf_sel_early(struct wf_qp *qp, const struct wf_qp_in *in, const struct wf_bth *bth,
                  const struct wf_ext_hdrs *ext)
{
    struct wf_responder *s = &qp->resp;
    struct wf_qp_sel *x = qp->sel;

    if (wf_psn_distance(bth->psn, s->expect_psn) >= WF_SEL_SPAN)
        return false;
    if (!wf_sel_get(x->here, bth->psn)) {
        if (!take(qp, in, bth, ext))
            return false;
        wf_sel_set(x->here, bth->psn, true);
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

/* A packet is done. */
static void step(struct wf_responder *s, bool message)
{
    s->expect_psn = (s->expect_psn + 1) & WF_PSN_MASK;
    s->nak_sent = false;
    if (!message)
        return;
    s->open = WF_MSG_NONE;
    s->msn = (s->msn + 1) & WF_PSN_MASK;
    s->messages++;
}

static enum wf_qp_verdict end_send(struct wf_qp *qp, const struct wf_sel_note *n)
{
    struct wf_responder *s = &qp->resp;
    struct wf_wc wc = {.op = (enum wf_work_op)n->kind,
                       .len = qp->respm.got,
                       .imm = n->kind == WF_WORK_SEND ? 0 : n->imm,
                       .solicited = n->se};

    if (wc.op == WF_WORK_SEND_INV &&
        (!qp->user.invalidate || qp->user.invalidate(qp->user.arg, wc.imm)))
        return wf_receive_fail(qp, WF_WC_REM_INV_REQ, WF_NAK_REMOTE_ACCESS, s->expect_psn);
    step(s, true);
    wf_receive_done(qp, &wc);
    return WF_QP_TAKEN;
}

/* A part of a SEND, of which `in` still has to be placed. */
static enum wf_qp_verdict send_part(struct wf_qp *qp, const struct wf_sel_note *n,
                                    const struct wf_qp_in *in)
{
    struct wf_responder_more *m = &qp->respm;
    struct wf_responder *s = &qp->resp;
    bool first = s->open == WF_MSG_NONE;

    if (s->open == WF_MSG_WRITE || n->recv != qp->sel->n_received ||
        n->off != (first ? 0 : m->got) || (!first && !n->len))
        return wf_responder_refuse(qp, WF_NAK_INVALID_REQUEST, s->expect_psn);
    if (first) {
        enum wf_qp_verdict v = wf_receive_ready(qp, s->expect_psn);

        if (v != WF_QP_TAKEN || s->dead)
            return v;
        s->open = WF_MSG_SEND;
        s->first_psn = s->expect_psn;
        m->got = 0;
    }
    if (n->len > m->now.len - m->got)
        return wf_receive_fail(qp, WF_WC_LOC_LEN, WF_NAK_INVALID_REQUEST, s->expect_psn);
    if (in) {
        wf_receive_fill(&m->now, n->off, n->len, in->iov, in->n_iov);
        s->bytes += n->len;
    }
    m->got += n->len;
    if (n->last)
        return end_send(qp, n);
    step(s, false);
    return WF_QP_TAKEN;
}

/* The bytes of a WRITE whose immediate data has not come yet. */
static uint32_t written(struct wf_qp_sel *x, const struct wf_sel_note *n)
{
    uint32_t all = x->write_len + n->len;

    x->write_len = n->kind == WF_WORK_WRITE && n->se && all <= 1u << 31 ? all : 0;
    return all;
}

static enum wf_qp_verdict write_turn(struct wf_qp *qp, const struct wf_sel_note *n)
{
    struct wf_responder *s = &qp->resp;
    struct wf_wc wc = {.op = WF_WORK_WRITE_IMM, .imm = n->imm, .solicited = n->se};
    enum wf_qp_verdict v;

    if (s->open != WF_MSG_NONE)
        return wf_responder_refuse(qp, WF_NAK_INVALID_REQUEST, s->expect_psn);
    if (n->kind == WF_WORK_WRITE_IMM) {
        v = wf_receive_ready(qp, s->expect_psn);
        if (v != WF_QP_TAKEN || s->dead)
            return v;
    }
    wc.len = written(qp->sel, n);
    step(s, true);
    if (n->kind == WF_WORK_WRITE_IMM)
        wf_receive_done(qp, &wc);
    return WF_QP_TAKEN;
}

/* What is behind us never has its turn. */
static void pass(struct wf_qp *qp, uint32_t from)
{
    struct wf_sel_early *y = qp->sel->early;
    uint32_t to = qp->resp.expect_psn;

    for (uint32_t i = 0; i < WF_SEL_SPAN && qp->sel->n_here && from != to; i++) {
        if (wf_sel_get(qp->sel->here, from)) {
            const struct wf_sel_note *n = y ? &y->note[from % WF_SEL_SPAN] : NULL;

            wf_sel_set(qp->sel->here, from, false);
            qp->sel->n_here--;
            if (n && n->kind == WF_WORK_READ)
                y->held[n->imm].used = false;
        }
        from = (from + 1) & WF_PSN_MASK;
    }
}

static enum wf_qp_verdict held_turn(struct wf_qp *qp, const struct wf_sel_note *n)
{
    struct wf_sel_held *h = &qp->sel->early->held[n->imm];
    struct wf_bth bth = {.opcode = h->opcode, .psn = qp->resp.expect_psn};
    struct wf_ext_hdrs ext = {.reth = h->reth, .atomiceth = h->atomiceth};
    enum wf_qp_verdict v;

    h->used = false;
    v = wf_responder_read(qp, &bth, &ext);
    pass(qp, (bth.psn + 1) & WF_PSN_MASK);
    return v;
}

/* What is here and has its turn now; false: it can't be done. */
static bool turn(struct wf_qp *qp, const struct wf_sel_note *n)
{
    enum wf_qp_verdict v;

    if (n->kind == WF_WORK_READ)
        v = held_turn(qp, n);
    else if (n->kind <= WF_WORK_WRITE_IMM)
        v = write_turn(qp, n);
    else
        v = send_part(qp, n, NULL);
    if (v == WF_QP_TAKEN)
        return true;
    qp->resp.bytes -= n->len; /* no receive: it has to come again */
    return false;
}

/* What was expected, from `was` on, is done. */
static void catch_up(struct wf_qp *qp, uint32_t was)
{
    static const struct wf_sel_note a_write = {.kind = WF_WORK_WRITE};
    struct wf_responder *s = &qp->resp;
    struct wf_qp_sel *x = qp->sel;
    bool ack = false;

    if (!x->n_here)
        return;
    if (was != s->expect_psn)
        pass(qp, (was + 1) & WF_PSN_MASK);
    while (!s->dead && x->n_here && wf_sel_get(x->here, s->expect_psn)) {
        struct wf_sel_note n = x->early ? x->early->note[s->expect_psn % WF_SEL_SPAN] : a_write;

        wf_sel_set(x->here, s->expect_psn, false);
        x->n_here--;
        ack = turn(qp, &n) && n.kind != WF_WORK_READ;
        if (!ack && n.kind != WF_WORK_READ)
            break;
    }
    if (s->dead)
        return;
    if (x->n_here)
        answer_nak(qp);
    else if (ack)
        wf_responder_answer(s, WF_AETH_ACK | WF_AETH_CREDIT_INVALID,
                            (s->expect_psn - 1) & WF_PSN_MASK);
}

/* In its turn: parts of SENDs are of this protocol alone, all else is as ever. */
enum wf_qp_verdict wf_sel_in_order(struct wf_qp *qp, const struct wf_qp_in *in,
                                   const struct wf_bth *bth, const struct wf_ext_hdrs *ext)
{
    struct wf_responder *s = &qp->resp;
    struct wf_sel_note n = send_note(bth, ext);
    uint32_t was = s->expect_psn;
    bool late_nak = s->answer && s->nak_sent && WF_AETH_KIND(s->syndrome);
    enum wf_qp_verdict v;

    if (!wf_sel_is_send(bth, ext)) {
        v = wf_responder_in_order(qp, in, bth, ext);
        if (wf_op_of(bth->opcode) == WF_OP_WRITE_ONLY && s->expect_psn != was)
            written(qp->sel,
                    &(struct wf_sel_note){.len = (uint16_t)in->payload_len, .se = bth->se});
    } else if (!good_send(qp, in, bth, ext)) {
        v = wf_responder_refuse(qp, WF_NAK_INVALID_REQUEST, bth->psn);
    } else {
        v = send_part(qp, &n, in);
        if (!s->dead && s->expect_psn != was && (bth->ackreq || late_nak))
            wf_responder_answer(s, WF_AETH_ACK | WF_AETH_CREDIT_INVALID, bth->psn);
    }
    if (!s->dead)
        catch_up(qp, was);
    return v;
}

void wf_sel_out_nak(const struct wf_qp *qp, struct wf_qp_out *out)
{
    struct wf_qp_sel *x = qp->sel;
    uint32_t psn = qp->resp.expect_psn, base = psn + 1;
    uint64_t bits = 0;

    if (wf_psn_distance(x->latest_psn, base) > 63)
        base = x->latest_psn - 63;
    for (unsigned i = 0; i < 64 && wf_psn_distance(base + i, psn) < WF_SEL_SPAN; i++)
        bits |= (uint64_t)wf_sel_get(x->here, base + i) << i;
    wf_responder_out_answer(qp, out, WF_SEL_SYNDROME, psn, base & WF_PSN_MASK);
    out->bth.opcode = WF_SERVICE_RC | WF_OP_ATOMIC_ACK;
    out->ext.atomicacketh.orig = bits;
    x->naks++;
}
