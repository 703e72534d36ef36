/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Out-of-order placement with selective NAK, between two of weft's own ends that are both set so.
 * Not standard; its frames are legal RoCE that an analyser reads:
 *
 * - A WRITE is cut into WRITE Only packets, each with the RETH of its part, so that a packet says
 *   by itself where it goes (16 bytes more a packet; each is a message of its own to the peer). The
 *   last one of a WRITE with immediate data is WRITE Only Immediate, those before it have SE set.
 * - A SEND is cut likewise. Its RETH has the key WF_SEL_RECV_KEY, which no region may have, and as
 *   its address the receive that it is for: bits 63 to 56 which kind of SEND (enum wf_work_op), 47
 *   to 32 the number of the receive, counted by the messages that take one, 31 to 0 the offset in
 *   it. The last packet is WRITE Only Immediate: its ImmDt is the immediate data, the key to
 *   invalidate, or 0.
 * - Such a packet beyond a gap is placed at once, in memory or in its receive. What it says beyond
 *   that (immediate data, the end of a message) and READ and atomic requests are kept until their
 *   turn: receives are used, completed, and requests carried out, in the order of PSNs.
 * - While there is a gap, each request that comes is answered by a selective NAK: opcode ATOMIC
 *   ACK, PSN the first one missing, AETH syndrome 0x7f (NAK with the reserved code 31), its MSN
 *   field the PSN that bit 0 of the 64 bits of the AtomicAckETH stands for; a bit that is set says
 *   that its packet is here, of a READ that its request is. It acknowledges everything before its
 *   PSN.
 * - The sender repeats a packet alone when one that was sent WF_SEL_REORDER packets after it, or
 *   later, is known to have arrived; a timeout repeats all that is not known to have.
 * - Answers with data are taken in any order. Those that are missing when one has come that was
 *   asked for WF_SEL_REORDER answers later, are asked for alone: by a READ request whose PSN is
 *   the first one missing, whose RETH is that part of the message, up to the next answer that is
 *   here or the message's end, as the standard's retry asks for the rest; it is answered like a
 *   READ of its own, with the PSNs that it names. An atomic is repeated as it was.
 *
 * At most WF_SEL_SPAN PSNs are in flight, except that a READ may be longer; its answers beyond
 * the span are dropped and asked for again. What finds no place in struct wf_sel_early, or is early
 * without one, is NAKed as ever, upon which all that is not known to have arrived comes again.
 */
#ifndef WEFT_XPORT_SEL_H
#define WEFT_XPORT_SEL_H

#include "xport/qp.h"

enum {
    WF_SEL_SPAN = 512,
    WF_SEL_REORDER = 8,
    WF_SEL_SYNDROME = WF_AETH_NAK | 31,
    WF_SEL_RECVS = 32, /* receives taken before their turn */
    WF_SEL_HELD = 16,  /* READ and atomic requests */
    WF_SEL_AGAIN = 16, /* parts of READs to be answered again */
};
#define WF_SEL_RECV_KEY 0xfffffffeu

/* A ring of bits by PSN, of both halves. */
struct wf_qp_sel {
    uint64_t here[WF_SEL_SPAN / 64]; /* responder: beyond expect_psn, here already */
    /* requester, beyond una_seq: */
    uint64_t done[WF_SEL_SPAN / 64];  /* has arrived; of READs and atomics: the answer has */
    uint64_t lost[WF_SEL_SPAN / 64];  /* to be sent, or asked for, again */
    uint64_t data[WF_SEL_SPAN / 64];  /* is answered with data */
    uint64_t there[WF_SEL_SPAN / 64]; /* ... whose request has arrived */
    uint32_t order[WF_SEL_SPAN];      /* when it was last sent, counted in packets */
    uint32_t asked[WF_SEL_SPAN];      /* answers asked for by then, itself among them */
    uint32_t sent, n_asked;           /* so far */
    uint32_t newest, newest_data;     /* order and asked of the latest known to have arrived */
    uint64_t tail_seq;                /* first answer beyond the span when its READ was sent, */
    uint32_t tail_asked;              /* and its number */
    uint64_t reached;                 /* the responder has carried out all before it */
    uint64_t rnr_seq;                 /* what an RNR NAK named */
    uint64_t refused_seq;             /* a NAK that waits for the answers in front of it; 0: none */
    uint8_t refused_code;
    uint16_t n_sends;           /* messages posted that take a receive */
    uint32_t n_lost;            /* bits of `lost` that are set */
    uint32_t n_here;            /* responder: bits of `here` that are set */
    uint32_t naks;              /* responder: selective NAKs sent */
    uint32_t write_len;         /* bytes of a WRITE whose immediate data will follow */
    uint32_t latest_psn;        /* came last, out of order */
    uint16_t n_received;        /* messages done that took a receive */
    uint64_t placed;            /* packets out of order, and answers */
    struct wf_sel_early *early; /* NULL: WRITEs alone are taken out of order */
};

/* What a packet says that is not done before its turn. */
struct wf_sel_note {
    uint32_t imm, off; /* held: imm is its place */
    uint16_t len, recv;
    uint8_t kind; /* enum wf_work_op; READ: held */
    bool last, se;
};

struct wf_sel_held {
    bool used;
    uint8_t opcode;
    struct wf_reth reth;
    struct wf_atomiceth atomiceth;
};

struct wf_sel_part {
    uint32_t psn, n, next; /* `next` of its n answers is the next one */
};

/* The responder's, of a queue pair that takes more than WRITEs. */
struct wf_sel_early {
    struct wf_sel_note note[WF_SEL_SPAN]; /* by PSN, where `here` is set */
    struct wf_recv recv[WF_SEL_RECVS];    /* by number */
    uint32_t n_recv;                      /* taken, behind the one that is being filled */
    struct wf_sel_held held[WF_SEL_HELD];
    struct wf_sel_part again[WF_SEL_AGAIN]; /* in this order */
    uint32_t n_again;
};

/* Of a fresh queue pair whose retransmit is selective; without it, it goes back N. `early` may be
 * NULL. 0, or -EINVAL. */
int wf_qp_set_sel(struct wf_qp *qp, struct wf_qp_sel *sel, struct wf_sel_early *early);

#endif
