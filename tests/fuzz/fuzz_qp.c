/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue pair in any state that a peer can bring it to. The input is a script: posts, packets
 * pulled, timers, and packets of any bytes, with a PSN near the expected one if it says so. Nothing
 * outside of the region is written, each request completes once and in order, and what must not be
 * answered is not.
 */
#include <string.h>

#include "xport/qp.h"

#include "fuzz.h"

enum { SQ_LEN = 8, MEM_LEN = 512, MTU = 256 };
#define MEM_VA   0x1000ull
#define MEM_RKEY 0x00000102u

struct peer {
    struct wf_qp qp;
    struct wf_wqe sq[SQ_LEN];
    struct wf_mr mr;
    uint64_t posted, completed;
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
    FUZZ_CHECK(wc->status == WF_WC_SUCCESS ? !p->failed : p->failed == (wc->status == WF_WC_FLUSH));
    p->failed |= wc->status != WF_WC_SUCCESS;
}

/* A packet of these bytes, in memory of its own. */
static void packet(struct peer *p, uint8_t op, const uint8_t *data, size_t n)
{
    struct wf_qp_in in = {
        .hdr_len = (uint32_t)n, .payload_len = n ? data[n - 1] * 2u : 0, .ce = op & 16};
    uint8_t *hdr = malloc(n + 1), *payload = calloc(1, in.payload_len + 1);
    struct iovec iov = {payload, in.payload_len};
    bool response, dead = p->qp.resp.dead;
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
    p->qp.resp.answer = false;
    v = wf_qp_rx(&p->qp, &in, 1000);
    FUZZ_CHECK(!p->qp.resp.answer || !(response || dead || n < WF_BTH_LEN));
    FUZZ_CHECK(!p->qp.resp.answer || v == WF_QP_TAKEN || v == WF_QP_DISCARDED);
    free(hdr);
    free(payload);
}

static void pull(struct peer *p)
{
    struct wf_qp_out out;
    uint32_t len;

    if (wf_qp_may_answer(&p->qp)) {
        wf_qp_pull_answer(&p->qp, &out);
    } else if (wf_qp_may_request(&p->qp, &len)) {
        FUZZ_CHECK(p->qp.state == WF_QP_READY);
        wf_qp_pull_request(&p->qp, 500, &out);
        FUZZ_CHECK(out.payload_len == len && len <= MTU);
        FUZZ_CHECK(wf_qp_timer_ps(&p->qp) != WF_TIME_NEVER);
    }
}

static void post(struct peer *p, uint32_t len)
{
    struct wf_work w = {.op = WF_WORK_WRITE, .id = p->posted, .len = len};

    p->posted += !wf_qp_post(&p->qp, &w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct wf_qp_cfg cfg = {.qpn = 1,
                                         .dqpn = 2,
                                         .sq_psn = 0xfffffe,
                                         .rq_psn = 0xffffff,
                                         .pkey = 0xffff,
                                         .path_mtu = MTU,
                                         .window_bytes = 1024,
                                         .ack_timeout_ps = 1000,
                                         .retries = 2};
    static struct peer p;
    struct wf_qp_user user = {.arg = &p, .mem = reach, .complete = complete};
    uint8_t *mem = malloc(MEM_LEN);

    memset(&p, 0, sizeof(p));
    p.mr = (struct wf_mr){MEM_RKEY, WF_MEM_REMOTE_WRITE, MEM_VA, MEM_LEN, mem};
    FUZZ_CHECK(!wf_qp_init(&p.qp, &cfg, &user, p.sq, SQ_LEN));
    for (size_t i = 0; i + 2 <= size;) {
        uint8_t op = data[i], n = data[i + 1];

        i += 2;
        if ((op & 3) == 0) {
            post(&p, n * 9u);
        } else if ((op & 3) == 1) {
            pull(&p);
        } else if ((op & 3) == 2) {
            wf_qp_tick(&p.qp, wf_qp_timer_ps(&p.qp));
        } else {
            size_t len = n < size - i ? n : size - i;

            packet(&p, op, data + i, len);
            i += len;
        }
        FUZZ_CHECK((wf_qp_timer_ps(&p.qp) != WF_TIME_NEVER) ==
                   (p.qp.state == WF_QP_READY && p.qp.req.max_seq > p.qp.req.una_seq));
        FUZZ_CHECK(p.qp.req.next_byte >= p.qp.req.una_byte || p.qp.state == WF_QP_ERROR);
    }
    free(mem);
    return 0;
}
