/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files of a queue pair: what one hands to another. */
#ifndef WEFT_XPORT_HALVES_H
#define WEFT_XPORT_HALVES_H

#include "xport/qp.h"

/* a - b in the arithmetic of 24-bit PSNs: -2^23 .. 2^23 - 1. */
static inline int32_t wf_psn_distance(uint32_t a, uint32_t b)
{
    return (int32_t)((a - b) << 8) >> 8;
}

/* The operation without its service. */
static inline uint8_t wf_op_of(uint8_t opcode)
{
    return opcode & 0x1f;
}

static inline struct wf_wqe *wf_wqe_at(const struct wf_requester *r, uint32_t i)
{
    return &r->sq[i & r->sq_mask];
}

static inline bool wf_op_answers_data(uint8_t opcode)
{
    uint8_t op = wf_op_of(opcode);

    return op == WF_OP_READ_REQUEST || op == WF_OP_COMPARE_SWAP || op == WF_OP_FETCH_ADD;
}

/* Answered with data. */
static inline bool wf_work_reads(const struct wf_work *w)
{
    return w->op >= WF_WORK_READ;
}

/* Whether the packet of a WRITE fits where the message stands, and its length what the RETH
 * announced (9.7.4.1.1, 9.7.4.1.6). */
static inline bool wf_write_in_place(const struct wf_qp *qp, uint8_t opcode, uint32_t len,
                                     const struct wf_reth *reth)
{
    const struct wf_responder *s = &qp->resp;
    uint8_t flags = wf_opcodes[opcode].flags;
    uint32_t mtu = qp->cfg.path_mtu;
    uint32_t left = flags & WF_OPF_FIRST ? reth->dma_len : s->left;

    if (s->open != (flags & WF_OPF_FIRST ? WF_MSG_NONE : WF_MSG_WRITE))
        return false;
    if (flags & WF_OPF_LAST)
        return len == left && len <= mtu;
    return len == mtu && len < left;
}

/* requester.c */
/* Payload bytes posted before packet `seq` of this entry. */
uint64_t wf_requester_byte_at(const struct wf_qp *qp, const struct wf_wqe *e, uint64_t seq);
/* Go on sending from `seq`, which is not before the oldest outstanding one. */
void wf_requester_seek(struct wf_qp *qp, uint64_t seq);
/* What keeps the next request from being sent has changed. */
void wf_requester_gate(struct wf_qp *qp);
/* The oldest request is done. */
void wf_requester_complete(struct wf_qp *qp, enum wf_wc_status status);

/* ack.c */
enum wf_qp_verdict wf_requester_rx(struct wf_qp *qp, const struct wf_qp_in *in,
                                   const struct wf_bth *bth, const struct wf_ext_hdrs *ext,
                                   uint64_t now_ps);
/* Everything before `seq` has arrived; no READ or atomic in front of it waits for its data. */
void wf_requester_acknowledge(struct wf_qp *qp, uint64_t seq, uint64_t now_ps);
/* Send again from the oldest outstanding packet; false when the retries are used up. */
bool wf_requester_go_back(struct wf_qp *qp, uint64_t now_ps, bool timeout);
/* The request at una_seq was refused; the receiver is not ready for it. */
void wf_requester_refused(struct wf_qp *qp, uint8_t code);
void wf_requester_rnr(struct wf_qp *qp, uint8_t syndrome, uint64_t now_ps);
/* The oldest request failed: it says why, what is behind it is flushed, nothing more is sent. */
void wf_requester_fail(struct wf_qp *qp, enum wf_wc_status status);

/* reads.c */
/* How far an acknowledgement of everything before `seq` reaches: to the first READ or atomic whose
 * data has not come. */
uint64_t wf_requester_reach(const struct wf_qp *qp, uint64_t seq);
/* A later answer came and data of una_seq did not: it was lost, ask again. */
void wf_requester_implied_nak(struct wf_qp *qp, uint64_t now_ps);
/* An answer that nobody can make sense of ends the connection (class B, 9.9.2.4.2). */
enum wf_qp_verdict wf_requester_bad_response(struct wf_qp *qp);
/* Places the answer to `seq` of e. */
void wf_requester_take(struct wf_qp *qp, const struct wf_wqe *e, const struct wf_qp_in *in,
                       const struct wf_ext_hdrs *ext, uint64_t seq);
/* The request that has this PSN, which was sent and is not done. */
const struct wf_wqe *wf_requester_find(const struct wf_requester *r, uint64_t seq);
enum wf_qp_verdict wf_requester_data(struct wf_qp *qp, const struct wf_qp_in *in,
                                     const struct wf_bth *bth, const struct wf_ext_hdrs *ext,
                                     uint64_t seq, uint64_t now_ps);

/* responder.c: *ext holds what the opcode calls for */
enum wf_qp_verdict wf_responder_rx(struct wf_qp *qp, const struct wf_qp_in *in,
                                   const struct wf_bth *bth, const struct wf_ext_hdrs *ext);
/* A packet that is the one expected. */
enum wf_qp_verdict wf_responder_in_order(struct wf_qp *qp, const struct wf_qp_in *in,
                                         const struct wf_bth *bth, const struct wf_ext_hdrs *ext);
void wf_responder_answer(struct wf_responder *s, uint8_t syndrome, uint32_t psn);
/* An error that ends the connection (class C, 9.9.3.1): say so once, then be silent. */
enum wf_qp_verdict wf_responder_refuse(struct wf_qp *qp, enum wf_nak why, uint32_t psn);
/* A packet of the open message was placed; the message's end counts it. */
void wf_responder_advance(struct wf_qp *qp, const struct wf_bth *bth);
/* RDMA WRITE, with and without immediate data. */
enum wf_qp_verdict wf_responder_write(struct wf_qp *qp, const struct wf_qp_in *in,
                                      const struct wf_bth *bth, const struct wf_reth *reth);
void wf_responder_out_answer(const struct wf_qp *qp, struct wf_qp_out *out, uint8_t syndrome,
                             uint32_t psn, uint32_t msn);

/* receive.c */
enum wf_qp_verdict wf_responder_send(struct wf_qp *qp, const struct wf_qp_in *in,
                                     const struct wf_bth *bth, const struct wf_ext_hdrs *ext);
enum wf_qp_verdict wf_responder_write_imm(struct wf_qp *qp, const struct wf_qp_in *in,
                                          const struct wf_bth *bth, const struct wf_ext_hdrs *ext);
/* The next receive becomes that of the open message; false: there is none. */
bool wf_receive_take(struct wf_qp *qp);
/* The next of a queue; false: there is none. */
bool wf_rq_take(struct wf_rq *rq, struct wf_recv *recv);
/* A receive for this message; TAKEN, or what became of the packet. */
enum wf_qp_verdict wf_receive_ready(struct wf_qp *qp, uint32_t psn);
/* The receive fails, and with it the connection (9.9.3.1). */
enum wf_qp_verdict wf_receive_fail(struct wf_qp *qp, enum wf_wc_status status, enum wf_nak why,
                                   uint32_t psn);
/* Bytes at `off` of a receive; there is room for them. */
void wf_receive_fill(const struct wf_recv *r, uint32_t off, uint32_t len, const struct iovec *iov,
                     uint32_t n_iov);
void wf_receive_done(struct wf_qp *qp, struct wf_wc *wc);
/* What a receive says that holds `len` bytes, by the last packet. */
struct wf_wc wf_receive_wc(const struct wf_bth *bth, const struct wf_ext_hdrs *ext, uint32_t len);
/* The receives of a queue pair that failed. */
void wf_receive_flush(struct wf_qp *qp);

/* resource.c: READ and atomics at the responder */
enum wf_qp_verdict wf_responder_read(struct wf_qp *qp, const struct wf_bth *bth,
                                     const struct wf_ext_hdrs *ext);
/* A request that came before: its answer waits again when it is still known. */
void wf_responder_read_again(struct wf_qp *qp, const struct wf_bth *bth,
                             const struct wf_ext_hdrs *ext);
/* The next packet with data goes before the answer that waits. */
bool wf_resource_first(const struct wf_qp *qp);
void wf_resource_pull(struct wf_qp *qp, struct wf_qp_out *out);
/* Answer `at` of a READ, the first or last of those that are asked for. */
void wf_resource_read(struct wf_qp *qp, const struct wf_rd_res *e, uint32_t at, bool first,
                      bool last, struct wf_qp_out *out);

/* datagram.c: UC and UD */
enum wf_qp_verdict wf_uc_rx(struct wf_qp *qp, const struct wf_qp_in *in, const struct wf_bth *bth,
                            const struct wf_ext_hdrs *ext);
enum wf_qp_verdict wf_ud_rx(struct wf_qp *qp, const struct wf_qp_in *in, const struct wf_bth *bth,
                            const struct wf_ext_hdrs *ext);

#endif
