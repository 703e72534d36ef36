/* SPDX-License-Identifier: BSD-3-Clause */
/* Selective retransmission between the files of a queue pair. */
#ifndef WEFT_XPORT_SEL_PRIV_H
#define WEFT_XPORT_SEL_PRIV_H

#include "xport/halves.h"
#include "xport/sel.h"

static inline bool wf_sel_get(const uint64_t *bits, uint64_t i)
{
    i %= WF_SEL_SPAN;
    return bits[i / 64] >> i % 64 & 1;
}

static inline void wf_sel_set(uint64_t *bits, uint64_t i, bool on)
{
    i %= WF_SEL_SPAN;
    if (on)
        bits[i / 64] |= 1ull << i % 64;
    else
        bits[i / 64] &= ~(1ull << i % 64);
}

/* sel_requester.c */
/* A request that takes a receive gets its number. */
void wf_sel_number(struct wf_qp *qp, struct wf_wqe *e);
void wf_sel_dress(const struct wf_qp *qp, const struct wf_wqe *e, uint64_t seq, bool last,
                  struct wf_qp_out *out);
/* `seq` was pulled: on to the next that has to be sent. */
void wf_sel_sent(struct wf_qp *qp, const struct wf_wqe *e, uint64_t seq);
/* una_seq moved from `from`. */
void wf_sel_acknowledged(struct wf_qp *qp, uint64_t from);
/* A timeout or a NAK: all that is not known to have arrived is sent again; with `data` also what
 * was asked for. */
void wf_sel_restart(struct wf_qp *qp, bool data);
enum wf_qp_verdict wf_sel_answered(struct wf_qp *qp, const struct wf_qp_in *in,
                                   const struct wf_bth *bth, const struct wf_ext_hdrs *ext,
                                   uint64_t seq, uint64_t now_ps);

/* sel.c: the responder */
/* A packet beyond what is expected; false: it can't be taken now. */
bool wf_sel_early(struct wf_qp *qp, const struct wf_qp_in *in, const struct wf_bth *bth,
                  const struct wf_ext_hdrs *ext);
/* A part of a SEND. */
static inline bool wf_sel_is_send(const struct wf_bth *bth, const struct wf_ext_hdrs *ext)
{
    uint8_t op = wf_op_of(bth->opcode);

    return (op == WF_OP_WRITE_ONLY || op == WF_OP_WRITE_ONLY_IMM) &&
           ext->reth.rkey == WF_SEL_RECV_KEY;
}
/* What is expected has come, and what follows may be here. */
enum wf_qp_verdict wf_sel_in_order(struct wf_qp *qp, const struct wf_qp_in *in,
                                   const struct wf_bth *bth, const struct wf_ext_hdrs *ext);
/* The answer that waits is of this kind. */
void wf_sel_out_nak(const struct wf_qp *qp, struct wf_qp_out *out);
/* The next receive that was taken before its turn; false: there is none. */
bool wf_sel_recv(struct wf_qp *qp);

/* sel_again.c: parts of READs that are answered again */
void wf_sel_again(struct wf_qp *qp, const struct wf_bth *bth, const struct wf_ext_hdrs *ext);
/* The READ is not remembered any more. */
void wf_sel_again_forget(struct wf_qp *qp, const struct wf_rd_res *e);
static inline bool wf_sel_again_waits(const struct wf_qp *qp)
{
    return qp->sel && qp->sel->early && qp->sel->early->n_again;
}
void wf_sel_again_pull(struct wf_qp *qp, struct wf_qp_out *out);

#endif
