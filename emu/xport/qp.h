/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue pair as a pure state machine (IBA vol. 1, chapter 9): both halves, the requester that
 * cuts work into packets and the responder that places them. Bytes go in by wf_qp_rx() and come out
 * by wf_qp_pull_*(); the caller passes the time and is told when to come back; memory is reached
 * through a callback, and so are completions. No allocation, no clock, no packet buffers: it also
 * builds as a shared object that links only libc.
 *
 * Services RC, UC and UD. Segmentation at the path MTU, AckReq at the end of each message and once
 * a quarter of the window. What goes wrong is sent again by go-back-N, or by go-back-0 or
 * selectively (sel.h), for which both ends have to be so. MigReq is sent as 1 and ignored.
 * Left out: RD, XRC, automatic path migration, end-to-end credits (always "invalid"), resync,
 * FLUSH and ATOMIC WRITE.
 */
#ifndef WEFT_XPORT_QP_H
#define WEFT_XPORT_QP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/units.h"
#include "wire/bth.h"
#include "xport/mem.h"
#include "xport/work.h"

enum {
    WF_QP_HDR_MAX = WF_BTH_LEN + WF_EXT_LEN_MAX,
    WF_QP_PSN_SPAN = 1 << 23, /* PSNs in flight stay below half the number space */
    WF_QP_RNR_FOREVER = 7,    /* of rnr_retry */
    WF_QP_GRH_LEN = 40,       /* in front of what a UD receive holds */
};

/* A place in the send queue. */
struct wf_wqe {
    struct wf_work work;
    uint64_t first_seq;  /* of its first packet */
    uint32_t packets;    /* PSNs: of a READ those of its responses */
    bool special;        /* not to be sent before somebody looked at it: see requester.c */
    bool bad;            /* its local memory may not be used so */
    uint16_t recv;       /* selective: number of the receive that it takes */
    uint64_t first_byte; /* payload bytes posted before it */
};

/* What the queue pair asks of whoever runs it. */
struct wf_qp_user {
    void *arg;
    wf_mem_fn *mem;
    /* A work request of ours is done. May post again. From within wf_qp_pull_request() of UC and
     * UD, whose packet still looks at the request's memory. */
    void (*complete)(void *arg, const struct wf_wc *wc);
    /* A receive is done; NULL: nobody wants to know. May post receives. */
    void (*received)(void *arg, const struct wf_wc *wc);
    /* The peer invalidates a key: 0 or -errno. NULL: it may not. */
    int (*invalidate)(void *arg, uint32_t rkey);
    /* Whether pieces of our own memory may be used so: 0 or -errno. NULL: all may. */
    int (*local)(void *arg, const struct iovec *sge, uint32_t n_sge, bool write);
};

enum wf_retransmit { WF_GO_BACK_N, WF_GO_BACK_0, WF_SELECTIVE };

enum wf_qp_state {
    WF_QP_READY, /* RTS */
    WF_QP_ERROR,
    WF_QP_RESET, /* hears nothing; nothing can be posted */
    WF_QP_INIT,  /* hears nothing; receives can be posted */
    WF_QP_RTR,   /* answers, does not send */
};

struct wf_qp_cfg {
    uint32_t qpn, dqpn;
    uint32_t sq_psn, rq_psn; /* first PSN that we send, and that we expect */
    uint16_t pkey;           /* bit 15: full member */
    uint32_t path_mtu;       /* 256 ... 4096 */
    uint64_t window_bytes;   /* most payload in flight; one packet always may be */
    uint64_t ask_bytes;      /* AckReq once in so many; 0: a quarter of the window */
    uint64_t ack_timeout_ps; /* 0: none */
    uint32_t retries;        /* of timeouts and NAKs without progress */
    enum wf_service service; /* RC, UC or UD */
    enum wf_retransmit retransmit;
    uint8_t rnr_retry;      /* of RNR NAKs without progress; 7: for ever */
    uint8_t min_rnr_timer;  /* 0 ... 31: what our RNR NAKs ask for, by wf_rnr_timer_ps() */
    uint32_t max_rd_atomic; /* READs and atomics that we have outstanding at most */
    uint32_t qkey;          /* UD */
};

/* A local ACK timeout as verbs say it: 4.096 us x 2^n, 0: none (IBA 9.7.6.1.3). */
static inline uint64_t wf_ack_timeout_ps(unsigned n)
{
    return n ? 4096000ull << (n & 31) : 0;
}
/* What an RNR NAK's timer field means (IBA table 45). */
uint64_t wf_rnr_timer_ps(unsigned code);

/* Requester half. Sequence numbers are 64 bits wide; their low 24 are the PSN. */
struct wf_requester {
    struct wf_wqe *sq;
    uint32_t sq_mask, head, tail, at; /* oldest, next free, the one being sent; free running */
    uint64_t una_seq;                 /* oldest not acknowledged */
    uint64_t next_seq;                /* next to be sent */
    uint64_t max_seq;                 /* beyond the last that was ever sent */
    uint64_t post_seq;                /* beyond the last posted */
    uint64_t una_byte, next_byte, post_byte;
    uint32_t next_left, next_len; /* of the request being sent: bytes from the next packet on, and
                                     of its payload. Nothing when all that was posted is sent */
    uint64_t room;                /* most PSNs in flight; 0 while nothing may be sent at all */
    uint64_t unasked_bytes;       /* sent since the last AckReq */
    uint64_t timer_ps;            /* WF_TIME_NEVER: not running */
    uint32_t retries_left;
    uint32_t rd_posted, rd_out; /* READs and atomics in the queue; those that were sent */
    uint8_t rnr_left;
    bool rnr_waits; /* the timer is that of an RNR NAK */
    bool implied;   /* una_seq was asked for again since a later answer came without it */
    uint64_t tx_packets, retx_packets, retx_bytes, acks, naks, timeouts;
};

/* Its rare half. */
struct wf_requester_more {
    uint64_t read_bytes;
    uint64_t implied_naks, rnr_naks, rnr_exceeded, retry_exceeded;
    uint64_t rem_access, rem_inv_req, rem_op, flushed, errors, bad_responses;
};

/* What the message is of which a First was taken. */
enum wf_msg { WF_MSG_NONE, WF_MSG_WRITE, WF_MSG_SEND };

/* Responder half. */
struct wf_responder {
    uint32_t expect_psn, msn;
    bool nak_sent; /* for the gap at expect_psn */
    bool dead;     /* after an error that ends the connection, or before it is there: silent */
    uint8_t open;  /* enum wf_msg */
    uint64_t va;   /* of the open message: where its next byte goes */
    uint32_t rkey, left, len, first_psn;
    bool answer; /* an ACK or NAK waits to be pulled; a later one takes its place */
    bool data;   /* an answer with data waits: of READs and atomics */
    uint8_t syndrome;
    uint32_t answer_psn, answer_msn;
    uint64_t bytes, messages, naks, duplicates, ce_packets;
};

/* A READ or an atomic that the responder answers, and can answer again (IBA 9.7.4.1.2). */
struct wf_rd_res {
    uint32_t psn, packets; /* of its answer; no packets: unused */
    uint32_t start, next;  /* of this time: first packet, next packet. It waits while next is less
                              than `packets` */
    uint32_t rkey, len, msn;
    uint64_t va;
    uint64_t orig; /* of an atomic: what it found */
    uint8_t op;    /* enum wf_op of the request */
    bool again;    /* it was answered in full already; its place may be taken */
};

/* Its rare half: SENDs, immediate data, READs, atomics. */
struct wf_responder_more {
    struct wf_rq *rq;   /* NULL: nothing that takes a receive is taken */
    struct wf_recv now; /* of the open message */
    bool taken;         /* it is in use */
    uint32_t got;       /* bytes of the open SEND so far */
    struct wf_rd_res *res;
    uint32_t n_res, res_next; /* places; the one to be used next, which is the oldest */
    uint64_t rnr_naks, no_receive, bad_qkey, uc_gaps;
    uint64_t read_requests, atomic_requests, sends;
    uint64_t rem_access, rem_inv_req, rem_op, loc_len, errors, flushed;
};

struct wf_qp_sel;

struct wf_qp {
    struct wf_qp_cfg cfg;
    struct wf_qp_user user;
    enum wf_qp_state state;
    bool odd; /* other than RC that goes back: what the fast path does not know */
    struct wf_requester req;
    struct wf_responder resp;
    struct wf_qp_sel *sel; /* sel.h; NULL: what comes out of order is not taken */
    /* what plain WRITEs over RC don't touch */
    struct wf_requester_more reqm;
    struct wf_responder_more respm;
};

/* A packet that came in, from its BTH on. iov NULL: the payload is virtual. */
struct wf_qp_in {
    const uint8_t *hdr; /* BTH and extended headers; bytes behind them are not looked at */
    uint32_t hdr_len;
    uint32_t payload_len; /* without pad and ICRC */
    const struct iovec *iov;
    uint32_t n_iov;
    bool ce;            /* IP said: congestion experienced */
    const uint8_t *grh; /* UD: 40 bytes in front of the payload (annex A17.4.5), NULL: zeros */
    const void *from;   /* the user's own word for where it came from */
};

enum wf_qp_verdict {
    WF_QP_TAKEN,      /* moved the queue pair on */
    WF_QP_DISCARDED,  /* well-formed, and nothing to be done but what the protocol says: duplicates,
                         packets behind a gap, stale answers, anything after an error */
    WF_QP_BAD_OPCODE, /* not of this service, reserved, or not known here */
    WF_QP_MALFORMED,  /* headers cut short, or a header version that is not 0 */
    WF_QP_BAD_PKEY,
    WF_QP_BAD_QKEY,   /* UD: counted, and dropped */
    WF_QP_NO_RECEIVE, /* UC, UD: no receive is posted, or it is too short */
};

/* A packet to send: headers as structs (wf_qp_hdr_put makes bytes of them) and its payload. */
struct wf_qp_out {
    struct wf_bth bth;
    struct wf_ext_hdrs ext; /* what the opcode calls for is set, nothing else */
    uint32_t payload_len;
    uint32_t n_iov; /* 0: virtual */
    struct iovec iov[WF_QP_SGE_MAX];
    bool again;     /* it was sent before */
    const void *ah; /* UD: of the work request */
};

/* sq has sq_len places, a power of two, and lives as long as the queue pair. It is ready to send
 * then. 0, or -EINVAL. */
int wf_qp_init(struct wf_qp *qp, const struct wf_qp_cfg *cfg, const struct wf_qp_user *user,
               struct wf_wqe *sq, uint32_t sq_len);
/* What it receives messages with: a queue of its own, or a shared one. */
void wf_qp_set_rq(struct wf_qp *qp, struct wf_rq *rq);
/* Responder resources: n READs and atomics may be outstanding here (max_dest_rd_atomic). */
void wf_qp_set_resources(struct wf_qp *qp, struct wf_rd_res *res, uint32_t n);
/*
 * A state as verbs have it: RESET, INIT, RTR, READY in this order, and RESET and ERROR from all.
 * cfg: what it is from then on, or NULL: as it is. On the way to RTR rq_psn begins, on the way to
 * READY sq_psn. ERROR flushes what was posted; RESET forgets it. 0, or -EINVAL.
 */
int wf_qp_modify(struct wf_qp *qp, enum wf_qp_state to, const struct wf_qp_cfg *cfg);
/* 0, -ENOBUFS when the send queue is full, -EPIPE after an error, -EINVAL. */
int wf_qp_post(struct wf_qp *qp, const struct wf_work *work);
/* A receive, into the queue pair's own queue; the same answers. After an error it is flushed. */
int wf_qp_post_recv(struct wf_qp *qp, const struct wf_recv *recv);
enum wf_qp_verdict wf_qp_rx(struct wf_qp *qp, const struct wf_qp_in *in, uint64_t now_ps);

/* Whether a request may be sent now, by the window; how many bytes of payload it will have (none of
 * a READ request, whose answer the window counts all the same). */
static inline bool wf_qp_may_request(const struct wf_qp *qp, uint32_t *payload_len)
{
    const struct wf_requester *r = &qp->req;

    if (r->at == r->tail || r->next_seq - r->una_seq >= r->room)
        return false;
    *payload_len = r->next_len;
    return r->next_seq == r->una_seq ||
           r->next_byte - r->una_byte + r->next_len <= qp->cfg.window_bytes;
}
/* The next request packet; only when wf_qp_may_request() says so. */
void wf_qp_pull_request(struct wf_qp *qp, uint64_t now_ps, struct wf_qp_out *out);
static inline bool wf_qp_may_answer(const struct wf_qp *qp)
{
    return qp->resp.answer || qp->resp.data;
}
/* The answer that waits; only when wf_qp_may_answer() says so. */
void wf_qp_pull_answer(struct wf_qp *qp, struct wf_qp_out *out);
/* BTH and extended headers as bytes; room for WF_QP_HDR_MAX. Returns their length. */
uint32_t wf_qp_hdr_put(uint8_t *buf, const struct wf_qp_out *out);

/* When to call wf_qp_tick(); WF_TIME_NEVER: no timer runs. Ask after every call above. */
static inline uint64_t wf_qp_timer_ps(const struct wf_qp *qp)
{
    return qp->req.timer_ps;
}
/* Nothing happens when it is too early. */
void wf_qp_tick(struct wf_qp *qp, uint64_t now_ps);

#endif
