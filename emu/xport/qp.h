/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reliable-connected queue pair as a pure state machine (IBA vol. 1, chapter 9.7): both halves,
 * the requester that cuts work into packets and the responder that places them. Bytes go in by
 * wf_qp_rx() and come out by wf_qp_pull_*(); the caller passes the time and is told when to come
 * back; memory is reached through a callback, and so are completions. No allocation, no clock, no
 * packet buffers: it also builds as a shared object that links only libc.
 *
 * RDMA WRITE so far. Segmentation at the path MTU, AckReq at the end of each message and once a
 * quarter of the window, go-back-N on NAK and on local ACK timeout. Left out: SEND, READ,
 * atomics, immediate data (a row in wf_work_forms[] and what it does at the responder), RNR, other
 * services, automatic path migration (MigReq is sent as 1 and ignored).
 */
#ifndef WEFT_XPORT_QP_H
#define WEFT_XPORT_QP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/units.h"
#include "wire/bth.h"
#include "xport/mem.h"

enum {
    WF_QP_SGE_MAX = 4, /* pieces of memory of one work request */
    WF_QP_HDR_MAX = WF_BTH_LEN + WF_EXT_LEN_MAX,
    WF_QP_PSN_SPAN = 1 << 23, /* PSNs in flight stay below half the number space */
};

enum wf_work_op { WF_WORK_WRITE, WF_WORK_OPS };

/* What one operation looks like on the wire: operation codes without the service. */
struct wf_work_form {
    const char *name;
    uint8_t first, middle, last, only; /* enum wf_op */
};

extern const struct wf_work_form wf_work_forms[WF_WORK_OPS];

enum wf_wc_status {
    WF_WC_SUCCESS,
    WF_WC_RETRY_EXC,   /* no answer, or no progress, within the retries */
    WF_WC_REM_INV_REQ, /* the peer refused the request itself */
    WF_WC_REM_ACCESS,  /* ... its key, address or length */
    WF_WC_REM_OP,      /* the peer could not carry it out */
    WF_WC_FLUSH,       /* behind one that failed */
};

/* A work request. With n_sge 0 the payload is virtual: len bytes of zeros that nobody holds. */
struct wf_work {
    enum wf_work_op op;
    uint64_t id;
    uint64_t raddr;
    uint32_t rkey;
    uint32_t len;
    uint32_t n_sge;
    struct iovec sge[WF_QP_SGE_MAX]; /* their lengths add up to len */
};

struct wf_wc {
    uint64_t id;
    enum wf_wc_status status;
    enum wf_work_op op;
    uint32_t len;
};

/* A place in the send queue. */
struct wf_wqe {
    struct wf_work work;
    uint64_t first_seq; /* of its first packet */
    uint32_t packets;
    uint64_t first_byte; /* payload bytes posted before it */
};

/* What the queue pair asks of whoever runs it. */
struct wf_qp_user {
    void *arg;
    wf_mem_fn *mem;
    /* May post again. */
    void (*complete)(void *arg, const struct wf_wc *wc);
};

struct wf_qp_cfg {
    uint32_t qpn, dqpn;
    uint32_t sq_psn, rq_psn; /* first PSN that we send, and that we expect */
    uint16_t pkey;
    uint32_t path_mtu;       /* 256 ... 4096 */
    uint64_t window_bytes;   /* most payload in flight; one packet always may be */
    uint64_t ask_bytes;      /* AckReq once in so many; 0: a quarter of the window */
    uint64_t ack_timeout_ps; /* 0: none */
    uint32_t retries;        /* of timeouts and NAKs without progress */
};

enum wf_qp_state { WF_QP_READY, WF_QP_ERROR };

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
    uint64_t unasked_bytes;       /* sent since the last AckReq */
    uint64_t timer_ps;            /* WF_TIME_NEVER: not running */
    uint32_t retries_left;
    uint64_t tx_packets, retx_packets, retx_bytes, acks, naks, timeouts;
};

/* Responder half. */
struct wf_responder {
    uint32_t expect_psn, msn;
    bool nak_sent; /* for the gap at expect_psn */
    bool dead;     /* after an error that ends the connection: silent */
    bool open;     /* within a message: a First was taken */
    uint64_t va;   /* of the open message: where its next byte goes */
    uint32_t rkey, left;
    bool answer; /* an ACK or NAK waits to be pulled; a later one takes its place */
    uint8_t syndrome;
    uint32_t answer_psn, answer_msn;
    uint64_t bytes, messages, naks, duplicates, ce_packets;
};

struct wf_qp {
    struct wf_qp_cfg cfg;
    struct wf_qp_user user;
    enum wf_qp_state state;
    struct wf_requester req;
    struct wf_responder resp;
};

/* A packet that came in, from its BTH on. iov NULL: the payload is virtual. */
struct wf_qp_in {
    const uint8_t *hdr; /* BTH and extended headers; bytes behind them are not looked at */
    uint32_t hdr_len;
    uint32_t payload_len; /* without pad and ICRC */
    const struct iovec *iov;
    uint32_t n_iov;
    bool ce; /* IP said: congestion experienced */
};

enum wf_qp_verdict {
    WF_QP_TAKEN,      /* moved the queue pair on */
    WF_QP_DISCARDED,  /* well-formed, and nothing to be done but what the protocol says: duplicates,
                         packets behind a gap, stale answers, anything after an error */
    WF_QP_BAD_OPCODE, /* not of this service, reserved, or not known here */
    WF_QP_MALFORMED,  /* headers cut short, or a header version that is not 0 */
    WF_QP_BAD_PKEY,
};

/* A packet to send: headers as structs (wf_qp_hdr_put makes bytes of them) and its payload. */
struct wf_qp_out {
    struct wf_bth bth;
    struct wf_ext_hdrs ext; /* what the opcode calls for is set, nothing else */
    uint32_t payload_len;
    uint32_t n_iov; /* 0: virtual */
    struct iovec iov[WF_QP_SGE_MAX];
    bool again; /* it was sent before */
};

/* sq has sq_len places, a power of two, and lives as long as the queue pair. 0, or -EINVAL. */
int wf_qp_init(struct wf_qp *qp, const struct wf_qp_cfg *cfg, const struct wf_qp_user *user,
               struct wf_wqe *sq, uint32_t sq_len);
/* 0, -ENOBUFS when the send queue is full, -EPIPE after an error, -EINVAL. */
int wf_qp_post(struct wf_qp *qp, const struct wf_work *work);
enum wf_qp_verdict wf_qp_rx(struct wf_qp *qp, const struct wf_qp_in *in, uint64_t now_ps);

/* Whether a request may be sent now, by the window; how many bytes of payload it will have. */
static inline bool wf_qp_may_request(const struct wf_qp *qp, uint32_t *payload_len)
{
    const struct wf_requester *r = &qp->req;

    if (r->at == r->tail || r->next_seq - r->una_seq >= WF_QP_PSN_SPAN - 1)
        return false;
    *payload_len = r->next_len;
    return r->next_seq == r->una_seq ||
           r->next_byte - r->una_byte + r->next_len <= qp->cfg.window_bytes;
}
/* The next request packet; only when wf_qp_may_request() says so. */
void wf_qp_pull_request(struct wf_qp *qp, uint64_t now_ps, struct wf_qp_out *out);
static inline bool wf_qp_may_answer(const struct wf_qp *qp)
{
    return qp->resp.answer;
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
