/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Out-of-order placement with selective NAK, between two of weft's own ends that are both set so.
 * Not standard; its frames are legal RoCE that an analyser reads:
 *
 * - A WRITE is cut into WRITE Only packets, each with the RETH of its part, so that a packet says
 * by itself where it goes (16 bytes more a packet; each is a message of its own to the peer).
 * - Such a packet beyond a gap is placed at once. Whatever else comes out of order (SEND, immediate
 *   data, READ, atomics) is dropped and has to come again.
 * - While there is a gap, each WRITE that comes is answered by a selective NAK: opcode ATOMIC ACK,
 *   PSN the first one missing, AETH syndrome 0x7f (NAK with the reserved code 31), its MSN field
 * the PSN that bit 0 of the 64 bits of the AtomicAckETH stands for; a bit that is set says that its
 *   packet is here. It acknowledges everything before its PSN.
 * - The sender repeats a packet alone when one that was sent WF_SEL_REORDER packets after it, or
 *   later, is known to have arrived; a timeout repeats all that is not known to have.
 *
 * At most WF_SEL_SPAN PSNs are in flight. Left out: READs and atomics, which such a queue pair does
 * not post; SENDs and immediate data are NAKed as ever, upon which all that is not known to have
 * arrived comes again.
 */
#ifndef WEFT_XPORT_SEL_H
#define WEFT_XPORT_SEL_H

#include "xport/qp.h"

enum {
    WF_SEL_SPAN = 512,
    WF_SEL_REORDER = 8,
    WF_SEL_SYNDROME = WF_AETH_NAK | 31,
};

/* A ring of bits by PSN, of both halves. */
struct wf_qp_sel {
    uint64_t here[WF_SEL_SPAN / 64];  /* responder: beyond expect_psn, here already */
    uint64_t acked[WF_SEL_SPAN / 64]; /* requester: beyond una_seq, known to be there */
    uint64_t lost[WF_SEL_SPAN / 64];  /* requester: to be sent again */
    uint64_t order[WF_SEL_SPAN];      /* requester: when it was last sent, counted in packets */
    uint64_t sent, newest;            /* packets sent; the latest of them known to have arrived */
    uint32_t n_lost, n_here;          /* bits of them that are set */
    uint32_t latest_psn;              /* responder: came last, out of order */
    uint64_t placed;                  /* packets out of order, by the responder */
};

/* Of a fresh queue pair whose retransmit is selective; without it, it goes back N. 0, or -EINVAL.
 */
int wf_qp_set_sel(struct wf_qp *qp, struct wf_qp_sel *sel);

/* requester */
void wf_sel_dress(const struct wf_qp *qp, const struct wf_wqe *e, uint32_t off, bool last,
                  struct wf_qp_out *out);
/* `seq` was pulled: on to the next that has to be sent. */
void wf_sel_sent(struct wf_qp *qp, uint64_t seq);
bool wf_sel_is_nak(const struct wf_bth *bth, const struct wf_ext_hdrs *ext);
enum wf_qp_verdict wf_sel_nak(struct wf_qp *qp, const struct wf_ext_hdrs *ext, uint64_t seq,
                              uint64_t now_ps);
/* una_seq moved from `from`. */
void wf_sel_acknowledged(struct wf_qp *qp, uint64_t from);
/* A timeout or an RNR NAK: all that is not known to have arrived is sent again. */
void wf_sel_restart(struct wf_qp *qp);

/* responder */
/* A packet beyond what is expected; false: it says not by itself where it goes. */
bool wf_sel_early(struct wf_qp *qp, const struct wf_qp_in *in, const struct wf_bth *bth,
                  const struct wf_ext_hdrs *ext);
/* What was expected has come: what follows may be here. */
void wf_sel_catch_up(struct wf_qp *qp);
/* The answer that waits is of this kind. */
void wf_sel_out_nak(const struct wf_qp *qp, struct wf_qp_out *out);

#endif
