/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two queue pairs, memory with guard bytes around it, and what was completed: shared by the tests
 * of the transport. Packets cross as bytes, as they would on a wire.
 */
#ifndef WEFT_TESTS_XPORT_PAIR_H
#define WEFT_TESTS_XPORT_PAIR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "xport/qp.h"

enum { SQ_LEN = 16, MEM_LEN = 1 << 16, GUARD = 4096, WC_MAX = 1024, RQ_LEN = 16, RES_MAX = 16 };
#define MEM_VA   0x7f0012340000ull
#define MEM_RKEY 0x1234u
#define GUARDS   0xa5

/* One end: its queue pair, the memory that it opens to the peer, its completions. */
struct end {
    struct wf_qp qp;
    struct wf_wqe sq[SQ_LEN];
    struct wf_mr mr;
    uint8_t mem[GUARD + MEM_LEN + GUARD];
    struct wf_wc wc[WC_MAX], rwc[WC_MAX]; /* of requests, of receives */
    uint32_t n_wc, n_rwc;
    struct wf_rq rq;
    struct wf_recv recvs[RQ_LEN];
    struct wf_rd_res res[RES_MAX];
    uint32_t invalidated, bad_local; /* a length that the callback refuses; 0: none */
};

/* A packet as bytes. */
struct frame {
    uint8_t hdr[WF_QP_HDR_MAX];
    uint32_t hdr_len, payload_len;
    uint8_t payload[4096];
    bool again;
};

static inline int end_mem(void *arg, uint32_t rkey, uint64_t va, uint64_t len,
                          enum wf_mem_access access, uint8_t **at)
{
    return wf_mr_reach(&((struct end *)arg)->mr, 1, rkey, va, len, access, at);
}

static inline void end_complete(void *arg, const struct wf_wc *wc)
{
    struct end *e = arg;

    assert_true(e->n_wc < WC_MAX);
    e->wc[e->n_wc++] = *wc;
}

static inline void end_received(void *arg, const struct wf_wc *wc)
{
    struct end *e = arg;

    assert_true(e->n_rwc < WC_MAX);
    e->rwc[e->n_rwc++] = *wc;
}

static inline int end_invalidate(void *arg, uint32_t rkey)
{
    struct end *e = arg;

    e->invalidated = rkey;
    return rkey == MEM_RKEY ? 0 : -1;
}

static inline int end_local(void *arg, const struct iovec *sge, uint32_t n_sge, bool write)
{
    struct end *e = arg;

    return n_sge && e->bad_local && sge[0].iov_len == e->bad_local ? -1 : 0;
}

static inline struct wf_qp_cfg end_cfg(uint32_t psn, uint32_t mtu, uint64_t window)
{
    return (struct wf_qp_cfg){
        .qpn = 0x11,
        .dqpn = 0x22,
        .sq_psn = psn,
        .rq_psn = psn,
        .pkey = 0xffff,
        .path_mtu = mtu,
        .window_bytes = window,
        .ack_timeout_ps = 1000000,
        .retries = 3,
    };
}

static inline void end_init(struct end *e, const struct wf_qp_cfg *cfg)
{
    struct wf_qp_user user = {.arg = e,
                              .mem = end_mem,
                              .complete = end_complete,
                              .received = end_received,
                              .invalidate = end_invalidate,
                              .local = end_local};

    memset(e, 0, sizeof(*e));
    memset(e->mem, GUARDS, GUARD);
    memset(e->mem + GUARD + MEM_LEN, GUARDS, GUARD);
    e->mr = (struct wf_mr){MEM_RKEY, WF_MEM_REMOTE_WRITE, MEM_VA, MEM_LEN, e->mem + GUARD};
    assert_int_equal(wf_qp_init(&e->qp, cfg, &user, e->sq, SQ_LEN), 0);
}

/* It receives messages, answers n_res READs and atomics at once, and lets them reach its memory. */
static inline void end_serve(struct end *e, uint32_t n_res)
{
    assert_int_equal(wf_rq_init(&e->rq, e->recvs, RQ_LEN, false), 0);
    wf_qp_set_rq(&e->qp, &e->rq);
    wf_qp_set_resources(&e->qp, e->res, n_res);
    e->mr.access = WF_MEM_REMOTE_WRITE | WF_MEM_REMOTE_READ | WF_MEM_REMOTE_ATOMIC;
}

/* Room for `len` bytes at `off` of its memory. */
static inline int post_recv(struct end *e, uint64_t id, uint32_t off, uint32_t len)
{
    struct wf_recv r = {.id = id, .len = len, .n_sge = 1};

    r.sge[0] = (struct iovec){e->mem + GUARD + off, len};
    return wf_qp_post_recv(&e->qp, &r);
}

/* Nothing outside of the region was written. */
static inline void end_guards(const struct end *e)
{
    for (uint32_t i = 0; i < GUARD; i++)
        if (e->mem[i] != GUARDS || e->mem[GUARD + MEM_LEN + i] != GUARDS)
            fail_msg("a byte outside of the region was written");
}

static inline int post_op(struct end *e, enum wf_work_op op, uint64_t id, const uint8_t *from,
                          uint32_t len)
{
    struct wf_work w = {.op = op,
                        .id = id,
                        .len = len,
                        .imm = 0xabcd0000 + (uint32_t)id,
                        .raddr = MEM_VA,
                        .rkey = MEM_RKEY};

    if (from && len) {
        w.n_sge = 1;
        w.sge[0] = (struct iovec){(void *)(uintptr_t)from, len};
    }
    return wf_qp_post(&e->qp, &w);
}

static inline int post_write(struct end *e, uint64_t id, const uint8_t *from, uint32_t len,
                             uint64_t raddr)
{
    struct wf_work w = {
        .op = WF_WORK_WRITE, .id = id, .raddr = raddr, .rkey = MEM_RKEY, .len = len};

    if (from && len) {
        w.n_sge = 1;
        w.sge[0] = (struct iovec){(void *)(uintptr_t)from, len};
    }
    return wf_qp_post(&e->qp, &w);
}

static inline void to_frame(struct frame *f, const struct wf_qp_out *out)
{
    f->hdr_len = wf_qp_hdr_put(f->hdr, out);
    f->payload_len = out->payload_len;
    f->again = out->again;
    wf_iov_copy(f->payload, out->payload_len, out->n_iov ? out->iov : NULL, out->n_iov);
}

/* The next packet of an end, answers first; false when it has none. */
static inline bool pull(struct end *e, uint64_t now, struct frame *f)
{
    struct wf_qp_out out;
    uint32_t len;

    if (wf_qp_may_answer(&e->qp)) {
        wf_qp_pull_answer(&e->qp, &out);
    } else if (wf_qp_may_request(&e->qp, &len)) {
        wf_qp_pull_request(&e->qp, now, &out);
        assert_int_equal(out.payload_len, len);
    } else {
        return false;
    }
    to_frame(f, &out);
    return true;
}

static inline enum wf_qp_verdict deliver(struct end *e, const struct frame *f, uint64_t now)
{
    struct iovec iov = {(void *)(uintptr_t)f->payload, f->payload_len};
    struct wf_qp_in in = {.hdr = f->hdr,
                          .hdr_len = f->hdr_len,
                          .payload_len = f->payload_len,
                          .iov = &iov,
                          .n_iov = 1};

    return wf_qp_rx(&e->qp, &in, now);
}

static inline uint32_t psn_of(const struct frame *f)
{
    return wf_ld24(f->hdr + 9);
}

static inline bool asks_ack(const struct frame *f)
{
    return f->hdr[8] & 0x80;
}

/* An answer typed by hand. */
static inline void make_answer(struct frame *f, uint8_t syndrome, uint32_t psn, uint32_t msn)
{
    static const uint8_t bth[12] = {0x11, 0x40, 0xff, 0xff, 0, 0, 0, 0x11, 0, 0, 0, 0};

    memset(f, 0, sizeof(*f));
    memcpy(f->hdr, bth, 12);
    wf_st24(f->hdr + 9, psn);
    f->hdr[12] = syndrome;
    wf_st24(f->hdr + 13, msn);
    f->hdr_len = 16;
}

/* The two ends, afresh. */
static struct end a, b;

/* Both with this configuration, but for their numbers. */
static inline void begin_with(struct wf_qp_cfg cfg)
{
    end_init(&a, &cfg);
    cfg.qpn = 0x22;
    cfg.dqpn = 0x11;
    end_init(&b, &cfg);
}

static inline void begin(uint32_t psn, uint32_t mtu, uint64_t window)
{
    begin_with(end_cfg(psn, mtu, window));
}

/* Bytes that show where they belong; another step is other bytes. */
static inline void fill(uint8_t *data, uint32_t len, uint32_t step)
{
    for (uint32_t i = 0; i < len; i++)
        data[i] = (uint8_t)(i * step + i / 256);
}

/* All packets of either side to the other, until both are silent. */
static inline void run_both(uint64_t now)
{
    struct frame f;
    bool more = true;

    while (more) {
        more = false;
        for (; pull(&a, now, &f); more = true)
            deliver(&b, &f, now);
        for (; pull(&b, now, &f); more = true)
            deliver(&a, &f, now);
    }
}

/* Send n packets of a message of n, deliver those that `mask` has, in order. */
static inline void send_some(uint32_t n, uint32_t mask, uint64_t now)
{
    struct frame f;

    for (uint32_t i = 0; i < n; i++) {
        assert_true(pull(&a, now, &f));
        if (mask >> i & 1)
            deliver(&b, &f, now);
    }
}

#endif
