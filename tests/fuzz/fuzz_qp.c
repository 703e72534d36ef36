/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue pair of any service and way to repeat, in any state that its user or its peer can bring
 * it to. The input is a script: a byte says what it is, then posts of all operations, receives,
 * states, packets pulled, timers, and packets of any bytes, with a PSN near the expected one if it
 * says so. Nothing outside of the region and the receives is written, each request completes once
 * and in order, and what must not be answered is not: UC, UD, answers, CNPs, anything in a state
 * that hears nothing.
 */
#include <errno.h>
#include <string.h>

#include "xport/qp.h"
#include "xport/sel.h"

#include "fuzz.h"

enum { SQ_LEN = 8, RQ_LEN = 4, N_RES = 2, MEM_LEN = 512, MTU = 256, RECV_LEN = 600 };
#define MEM_VA   0x1000ull
#define MEM_RKEY 0x00000102u

struct peer {
    struct wf_qp qp;
    struct wf_wqe sq[SQ_LEN];
    struct wf_mr mr;
    struct wf_rq rq;
    struct wf_recv recvs[RQ_LEN];
    struct wf_rd_res res[N_RES];
    struct wf_qp_sel sel;
    struct wf_sel_early early;
    uint8_t *room; /* of all receives: they share it */
    uint64_t posted, completed, recv_posted, received;
    bool failed;
};

static int reach(void *arg, uint32_t rkey, uint64_t va, uint64_t len, enum wf_mem_access access,
                 uint8_t **at)
{
    struct peer *p = arg;

    if (wf_mr_reach(&p->mr, 1, rkey, va, len, access, at))
        return -1;
    FUZZ_CHECK(len <= MEM_LEN && *at >= p->mr.base && *at + len <= p->mr.base + MEM_LEN);
    return 0;
}

static void complete(void *arg, const struct wf_wc *wc)
{
    struct peer *p = arg;

    FUZZ_CHECK(wc->id == p->completed++ && p->completed <= p->posted);
    FUZZ_CHECK(!p->failed || wc->status == WF_WC_FLUSH);
    p->failed |= wc->status != WF_WC_SUCCESS;
}

static void received(void *arg, const struct wf_wc *wc)
{
    struct peer *p = arg;

    FUZZ_CHECK(wc->id == p->received++ && p->received <= p->recv_posted);
    if (wc->op == WF_WORK_WRITE_IMM) /* selective: of parts that may all go to one place */
        FUZZ_CHECK(wc->len <= (p->qp.sel ? 1u << 31 : MEM_LEN));
    else
        FUZZ_CHECK(wc->len <= RECV_LEN);
}

/* A packet of these bytes, in memory of its own. */
static void packet(struct peer *p, uint8_t op, const uint8_t *data, size_t n)
{
    struct wf_qp_in in = {
        .hdr_len = (uint32_t)n, .payload_len = n ? data[n - 1] * 2u : 0, .ce = op & 16};
    uint8_t *hdr = malloc(n + 1), *payload = calloc(1, in.payload_len + 1);
    struct iovec iov = {payload, in.payload_len};
    bool response, dead = p->qp.resp.dead, quiet = p->qp.cfg.service != WF_SERVICE_RC;
    bool data_before;
    enum wf_qp_verdict v;

    memcpy(hdr, data, n);
    if (n >= WF_BTH_LEN && op & 128)
        wf_st24(hdr + 9, (uint32_t)(p->qp.resp.expect_psn + (hdr[11] & 7) - 2));
    if (n >= WF_BTH_LEN && op & 64)
        wf_st24(hdr + 9, (uint32_t)(p->qp.req.una_seq + (hdr[11] & 7) - 2));
    response = n >= WF_BTH_LEN && wf_opcodes[hdr[0]].flags & WF_OPF_RESPONSE;
    in.hdr = hdr;
    in.iov = op & 32 ? &iov : NULL;
    in.n_iov = 1;
    quiet |= response || dead || n < WF_BTH_LEN || hdr[0] == WF_OPCODE_CNP;
    data_before = p->qp.resp.data;
    p->qp.resp.answer = false;
    v = wf_qp_rx(&p->qp, &in, 1000);
    FUZZ_CHECK(!quiet || !p->qp.resp.answer);
    FUZZ_CHECK(!quiet || p->qp.resp.data == data_before);
    FUZZ_CHECK(!p->qp.resp.answer || v == WF_QP_TAKEN || v == WF_QP_DISCARDED);
    free(hdr);
    free(payload);
}

static void pull(struct peer *p)
{
    struct wf_qp_out out;
    uint32_t len;

    if (wf_qp_may_answer(&p->qp)) {
        FUZZ_CHECK(p->qp.cfg.service == WF_SERVICE_RC);
        wf_qp_pull_answer(&p->qp, &out);
        FUZZ_CHECK(out.payload_len <= MTU && wf_opcodes[out.bth.opcode].flags & WF_OPF_RESPONSE);
    } else if (wf_qp_may_request(&p->qp, &len)) {
        FUZZ_CHECK(p->qp.state == WF_QP_READY);
        wf_qp_pull_request(&p->qp, 500, &out);
        FUZZ_CHECK(out.payload_len == len && len <= MTU);
        FUZZ_CHECK(p->qp.cfg.service != WF_SERVICE_RC || wf_qp_timer_ps(&p->qp) != WF_TIME_NEVER);
    }
}

static void post(struct peer *p, uint8_t op, uint32_t len)
{
    struct wf_work w = {
        .op = (enum wf_work_op)(op >> 2 & 7), .id = p->posted, .len = len, .flags = op >> 5 & 3};

    if (w.op >= WF_WORK_CMP_SWAP)
        w.len = 8;
    p->posted += !wf_qp_post(&p->qp, &w);
}

static void post_recv(struct peer *p)
{
    struct wf_recv r = {.id = p->recv_posted, .len = RECV_LEN, .n_sge = 1};

    r.sge[0] = (struct iovec){p->room, RECV_LEN};
    p->recv_posted += !wf_qp_post_recv(&p->qp, &r);
}

/* As its user may: what was posted is forgotten by RESET alone. */
static void modify(struct peer *p, uint8_t to)
{
    if (!wf_qp_modify(&p->qp, (enum wf_qp_state)(to % 6), NULL) && to % 6 == WF_QP_RESET) {
        p->completed = p->posted;
        p->received = p->recv_posted;
        p->failed = false;
    }
    p->failed |= p->qp.state == WF_QP_ERROR;
}

static void begin(struct peer *p, uint8_t what)
{
    static const enum wf_service services[] = {WF_SERVICE_RC, WF_SERVICE_RC, WF_SERVICE_UC,
                                               WF_SERVICE_UD};
    struct wf_qp_cfg cfg = {.qpn = 1,
                            .dqpn = 2,
                            .sq_psn = 0xfffffe,
                            .rq_psn = 0xffffff,
                            .pkey = 0xffff,
                            .path_mtu = MTU,
                            .window_bytes = 1024,
                            .ack_timeout_ps = 1000,
                            .retries = 2,
                            .rnr_retry = 2,
                            .max_rd_atomic = 2,
                            .service = services[what & 3],
                            .retransmit = (enum wf_retransmit)((what >> 2) % 3)};
    struct wf_qp_user user = {.arg = p, .mem = reach, .complete = complete, .received = received};

    FUZZ_CHECK(!wf_qp_init(&p->qp, &cfg, &user, p->sq, SQ_LEN));
    FUZZ_CHECK(!wf_rq_init(&p->rq, p->recvs, RQ_LEN, false));
    if (what & 16)
        wf_qp_set_rq(&p->qp, &p->rq);
    if (what & 32)
        wf_qp_set_resources(&p->qp, p->res, N_RES);
    if (cfg.retransmit == WF_SELECTIVE)
        FUZZ_CHECK(wf_qp_set_sel(&p->qp, &p->sel, what & 64 ? NULL : &p->early) ==
                   (cfg.service == WF_SERVICE_RC ? 0 : -EINVAL));
}

static void check(const struct peer *p)
{
    const struct wf_requester *r = &p->qp.req;
    bool runs = wf_qp_timer_ps(&p->qp) != WF_TIME_NEVER;

    if (p->qp.cfg.service == WF_SERVICE_RC)
        FUZZ_CHECK(runs == (p->qp.state == WF_QP_READY && r->max_seq > r->una_seq));
    else
        FUZZ_CHECK(!runs);
    FUZZ_CHECK(r->next_byte >= r->una_byte || p->qp.state == WF_QP_ERROR);
    FUZZ_CHECK(r->tail - r->head <= SQ_LEN && r->rd_out <= r->rd_posted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct peer p;
    uint8_t *mem = malloc(MEM_LEN);

    memset(&p, 0, sizeof(p));
    p.room = malloc(RECV_LEN);
    p.mr = (struct wf_mr){MEM_RKEY, 7, MEM_VA, MEM_LEN, mem};
    memset(mem, 0, MEM_LEN);
    begin(&p, size ? data[0] : 0);
    for (size_t i = 1; i + 2 <= size;) {
        uint8_t op = data[i], n = data[i + 1];

        i += 2;
        if ((op & 3) == 0) {
            post(&p, op, n * 9u);
        } else if ((op & 3) == 1) {
            pull(&p);
        } else if ((op & 7) == 6) {
            if (op & 8)
                modify(&p, n);
            else
                post_recv(&p);
        } else if ((op & 3) == 2) {
            wf_qp_tick(&p.qp, wf_qp_timer_ps(&p.qp));
        } else {
            size_t len = n < size - i ? n : size - i;

            packet(&p, op, data + i, len);
            i += len;
        }
        check(&p);
    }
    free(p.room);
    free(mem);
    return 0;
}
