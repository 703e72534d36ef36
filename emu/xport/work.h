/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is asked of a queue pair and what it says when it is done: work requests, receives and
 * receive queues, completions (IBA vol. 1, 10.7 and 11.4 to 11.6). Left out: memory windows, local
 * keys (local memory is pieces of memory, checked by a callback where somebody wants that).
 */
#ifndef WEFT_XPORT_WORK_H
#define WEFT_XPORT_WORK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

enum { WF_QP_SGE_MAX = 4 }; /* pieces of memory of one work request or receive */

enum wf_work_op {
    WF_WORK_WRITE,
    WF_WORK_WRITE_IMM,
    WF_WORK_SEND,
    WF_WORK_SEND_IMM,
    WF_WORK_SEND_INV,
    WF_WORK_READ, /* from here on: what the peer answers with data */
    WF_WORK_CMP_SWAP,
    WF_WORK_FETCH_ADD,
    WF_WORK_OPS
};

/* What one operation looks like on the wire: operation codes without the service. */
struct wf_work_form {
    const char *name;
    uint8_t first, middle, last, only; /* enum wf_op */
};

extern const struct wf_work_form wf_work_forms[WF_WORK_OPS];

enum wf_wc_status {
    WF_WC_SUCCESS,
    WF_WC_RETRY_EXC,     /* no answer, or no progress, within the retries */
    WF_WC_REM_INV_REQ,   /* the peer refused the request itself */
    WF_WC_REM_ACCESS,    /* ... its key, address or length */
    WF_WC_REM_OP,        /* the peer could not carry it out */
    WF_WC_FLUSH,         /* behind one that failed */
    WF_WC_RNR_RETRY_EXC, /* the peer had no receive posted, within the RNR retries */
    WF_WC_LOC_LEN,       /* more came than the receive has room for */
    WF_WC_LOC_PROT,      /* our own memory may not be used so */
    WF_WC_LOC_QP_OP,     /* our own end could not carry it out */
    WF_WC_BAD_RESP,      /* the peer answered what nobody can make sense of */
    WF_WC_STATUSES
};

/* "IBV_WC_RETRY_EXC_ERR" */
extern const char *const wf_wc_status_names[WF_WC_STATUSES];

enum wf_work_flag {
    WF_WORK_SOLICITED = 1, /* its last packet carries SE */
    WF_WORK_FENCE = 2,     /* not before all READs and atomics in front of it are done */
};

/* A work request. With n_sge 0 the payload is virtual: len bytes of zeros that nobody holds; what
 * a READ or an atomic brings back is forgotten then. */
struct wf_work {
    enum wf_work_op op;
    uint32_t flags; /* enum wf_work_flag, or-ed */
    uint64_t id;
    uint64_t raddr;
    uint32_t rkey;
    uint32_t len; /* 8 of an atomic */
    uint32_t n_sge;
    uint32_t imm;                    /* immediate data, or the key to invalidate */
    struct iovec sge[WF_QP_SGE_MAX]; /* their lengths add up to len */
    union {
        uint64_t compare; /* CmpSwap */
        struct {
            uint32_t dqpn, qkey;
        } ud; /* whom a datagram is for */
    };
    union {
        uint64_t swap_add; /* of CmpSwap what it swaps in, of FetchAdd what it adds */
        const void *ah;    /* UD: the user's own word for the way there; handed on in wf_qp_out */
    };
};

/* Room for one message that comes in. With n_sge 0 it is virtual: len bytes that are forgotten. */
struct wf_recv {
    uint64_t id;
    uint32_t len;
    uint32_t n_sge;
    struct iovec sge[WF_QP_SGE_MAX]; /* their lengths add up to len */
};

/* A receive queue, of one queue pair or shared (SRQ). */
struct wf_rq {
    struct wf_recv *places;
    uint32_t mask, head, tail; /* oldest, next free; free running */
    bool shared;
    /* Shared: called once when fewer than `limit` are left; the
     * limit is 0 then, until somebody sets it anew. */
    uint32_t limit;
    void (*low)(void *arg);
    void *arg;
};

struct wf_wc {
    uint64_t id;
    enum wf_wc_status status;
    enum wf_work_op op; /* of a receive: what the peer did */
    uint32_t len;       /* of a receive: what came; of UD with 40 bytes in front of it */
    uint32_t imm;       /* of a receive: immediate data, or the key that was invalidated */
    bool solicited;
    uint32_t src_qpn;          /* UD */
    const struct wf_qp_in *in; /* UD: the packet it came in; only during the callback */
};

/* places has n places, a power of two, and lives as long as the queue. 0, or -EINVAL. */
int wf_rq_init(struct wf_rq *rq, struct wf_recv *places, uint32_t n, bool shared);
/* 0, -ENOBUFS when it is full, -EINVAL. A queue of one queue pair: wf_qp_post_recv(). */
int wf_rq_post(struct wf_rq *rq, const struct wf_recv *recv);
static inline uint32_t wf_rq_count(const struct wf_rq *rq)
{
    return rq->tail - rq->head;
}

#endif
