/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagrams, gaps in unreliable connections, receives that queue pairs share, states.
 */
#include "pair.h"

#include "../wire/hex.h"

static uint8_t data[4096];

static void fresh(enum wf_service service, uint32_t qkey)
{
    struct wf_qp_cfg cfg = end_cfg(0x10, 256, 1 << 20);

    fill(data, sizeof(data), 5);
    cfg.service = service;
    cfg.qkey = qkey;
    cfg.rnr_retry = 7;
    begin_with(cfg);
    end_serve(&b, 0);
}

/* The bytes of a datagram with immediate data; its receive has 40 bytes in front; who sent it. */
static void test_ud(void **state)
{
    struct wf_work w = {.op = WF_WORK_SEND_IMM,
                        .id = 1,
                        .len = 100,
                        .n_sge = 1,
                        .imm = 0xabcd0001,
                        .ud = {0x22, 0x80010000}};
    struct wf_qp_in in = {.n_iov = 1};
    struct iovec iov;
    uint8_t bytes[64], grh[40];
    struct frame f, g;

    fresh(WF_SERVICE_UD, 0x80010000);
    memset(grh, 0x6b, sizeof(grh));
    w.sge[0] = (struct iovec){data, 100};
    assert_int_equal(post_recv(&b, 7, 0, 140), 0);
    assert_int_equal(wf_qp_post(&a.qp, &w), 0);
    assert_true(pull(&a, 0, &f));
    hex_bytes("65 40 ffff 00 000022 00 000010 80010000 00 000011 abcd0001", bytes, 64);
    assert_int_equal(f.hdr_len, 24);
    assert_memory_equal(f.hdr, bytes, 24);
    assert_int_equal(a.n_wc, 1); /* nobody will answer */
    assert_int_equal(wf_qp_timer_ps(&a.qp), WF_TIME_NEVER);
    iov = (struct iovec){f.payload, f.payload_len};
    in.hdr = f.hdr;
    in.hdr_len = f.hdr_len;
    in.payload_len = f.payload_len;
    in.iov = &iov;
    in.grh = grh;
    assert_int_equal(wf_qp_rx(&b.qp, &in, 0), WF_QP_TAKEN);
    assert_int_equal(b.n_rwc, 1);
    assert_int_equal(b.rwc[0].len, 140);
    assert_int_equal(b.rwc[0].src_qpn, 0x11);
    assert_int_equal(b.rwc[0].imm, 0xabcd0001);
    assert_memory_equal(b.mem + GUARD, grh, 40);
    assert_memory_equal(b.mem + GUARD + 40, data, 100);
    assert_false(pull(&b, 0, &g));
}

/* Dropped, counted and not answered: another Q_Key, no receive, too short a one. */
static void test_ud_refused(void **state)
{
    struct wf_work w = {.op = WF_WORK_SEND, .id = 1, .len = 100, .ud = {0x22, 5}};
    struct frame f, g;

    fresh(WF_SERVICE_UD, 5);
    assert_int_equal(wf_qp_post(&a.qp, &w), 0);
    assert_true(pull(&a, 0, &f));
    assert_int_equal(deliver(&b, &f, 0), WF_QP_NO_RECEIVE);
    assert_int_equal(post_recv(&b, 7, 0, 139), 0);
    assert_int_equal(deliver(&b, &f, 0), WF_QP_NO_RECEIVE);
    assert_int_equal(b.qp.respm.no_receive, 2);
    f.hdr[15] ^= 1;
    assert_int_equal(deliver(&b, &f, 0), WF_QP_BAD_QKEY);
    assert_int_equal(b.qp.respm.bad_qkey, 1);
    assert_int_equal(b.n_rwc, 0);
    assert_false(pull(&b, 0, &g));
    w.len = 257;
    assert_int_equal(wf_qp_post(&a.qp, &w), -22); /* beyond one packet */
    w.len = 4;
    w.op = WF_WORK_WRITE;
    assert_int_equal(wf_qp_post(&a.qp, &w), -22);
}

/* A packet of the middle is lost: its message never ends, the receive serves the next one whole. */
static void test_uc_gap(void **state)
{
    struct frame f, g;

    fresh(WF_SERVICE_UC, 0);
    assert_int_equal(post_recv(&b, 7, 0, 1000), 0);
    assert_int_equal(post_op(&a, WF_WORK_SEND, 1, data, 700), 0);
    assert_int_equal(post_op(&a, WF_WORK_SEND, 2, data + 700, 300), 0);
    for (int i = 0; pull(&a, 0, &f); i++)
        if (i != 1)
            deliver(&b, &f, 0);
    assert_int_equal(a.n_wc, 2);
    assert_int_equal(b.n_rwc, 1);
    assert_int_equal(b.rwc[0].len, 300);
    assert_memory_equal(b.mem + GUARD, data + 700, 300);
    assert_int_equal(b.qp.respm.uc_gaps, 1);
    assert_int_equal(b.qp.resp.messages, 1);
    assert_false(pull(&b, 0, &g));
}

static uint32_t told;

static void low(void *arg)
{
    told++;
}

/* Two queue pairs, one queue of receives: taken in the order of the messages, asked for once when
 * few are left, and they outlive the one that fails. */
static void test_shared(void **state)
{
    static struct wf_recv places[4];
    struct wf_recv r = {.len = 512};
    struct wf_rq srq;
    struct frame f;

    fresh(WF_SERVICE_RC, 0);
    assert_int_equal(wf_rq_init(&srq, places, 4, true), 0);
    srq.limit = 3;
    srq.low = low;
    wf_qp_set_rq(&a.qp, &srq);
    wf_qp_set_rq(&b.qp, &srq);
    assert_int_equal(wf_qp_post_recv(&b.qp, &r), -22);
    for (r.id = 0; r.id < 4; r.id++)
        assert_int_equal(wf_rq_post(&srq, &r), 0);
    assert_int_equal(wf_rq_post(&srq, &r), -105);
    assert_int_equal(post_op(&a, WF_WORK_SEND, 1, data, 10), 0);
    assert_int_equal(post_op(&b, WF_WORK_SEND, 2, data, 10), 0);
    run_both(0);
    assert_int_equal(a.rwc[0].id + b.rwc[0].id, 1);
    assert_int_equal(told, 1);
    assert_int_equal(post_op(&a, WF_WORK_SEND, 3, data, 513), 0);
    run_both(0);
    assert_int_equal(told, 1);
    assert_int_equal(b.rwc[1].status, WF_WC_LOC_LEN);
    assert_int_equal(b.n_rwc, 2);
    assert_int_equal(wf_rq_count(&srq), 1);
    assert_false(pull(&b, 0, &f));
}

/* Deaf before RTR, answers from RTR on, sends from RTS on; ERROR flushes, RESET forgets. */
static void test_states(void **state)
{
    struct wf_qp_cfg cfg;
    struct frame f, g;

    fresh(WF_SERVICE_RC, 0);
    cfg = b.qp.cfg;
    assert_int_equal(wf_qp_modify(&b.qp, WF_QP_INIT, NULL), -22);
    assert_int_equal(wf_qp_modify(&b.qp, WF_QP_RESET, NULL), 0);
    assert_int_equal(post_recv(&b, 1, 0, 100), -22);
    assert_int_equal(wf_qp_modify(&b.qp, WF_QP_INIT, NULL), 0);
    assert_int_equal(post_recv(&b, 1, 0, 100), 0);
    assert_int_equal(post_op(&a, WF_WORK_SEND, 1, data, 100), 0);
    assert_true(pull(&a, 0, &f));
    assert_int_equal(deliver(&b, &f, 0), WF_QP_DISCARDED);
    assert_false(pull(&b, 0, &g));
    assert_int_equal(wf_qp_modify(&b.qp, WF_QP_RTR, &cfg), 0);
    assert_int_equal(post_op(&b, WF_WORK_SEND, 1, data, 100), -22);
    assert_int_equal(deliver(&b, &f, 0), WF_QP_TAKEN);
    assert_int_equal(b.n_rwc, 1);
    assert_true(pull(&b, 0, &g));
    assert_int_equal(wf_qp_modify(&b.qp, WF_QP_READY, NULL), 0);
    assert_int_equal(post_op(&b, WF_WORK_WRITE, 5, data, 100), 0);
    assert_int_equal(post_recv(&b, 2, 0, 100), 0);
    assert_int_equal(wf_qp_modify(&b.qp, WF_QP_ERROR, NULL), 0);
    assert_int_equal(b.wc[0].status, WF_WC_FLUSH);
    assert_int_equal(b.rwc[1].status, WF_WC_FLUSH);
    assert_int_equal(deliver(&b, &f, 0), WF_QP_DISCARDED);
    assert_false(pull(&b, 0, &g));
}

/* 0x2a00 and 0xaa00 are one partition; two limited members don't hear each other; 0 is none. */
static void test_pkeys(void **state)
{
    static const struct {
        uint16_t ours, theirs;
        bool heard;
    } rows[] = {{0xffff, 0xffff, true},  {0xaa00, 0x2a00, true},  {0x2a00, 0xaa00, true},
                {0x2a00, 0x2a00, false}, {0xaa00, 0xaa01, false}, {0x8000, 0x8000, false}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct frame f, g;

        fresh(WF_SERVICE_RC, 0);
        a.qp.cfg.pkey = rows[i].theirs;
        b.qp.cfg.pkey = rows[i].ours;
        assert_int_equal(post_write(&a, 1, data, 8, MEM_VA), 0);
        assert_true(pull(&a, 0, &f));
        assert_int_equal(deliver(&b, &f, 0), rows[i].heard ? WF_QP_TAKEN : WF_QP_BAD_PKEY);
        assert_int_equal(pull(&b, 0, &g), rows[i].heard);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ud),     cmocka_unit_test(test_ud_refused),
        cmocka_unit_test(test_uc_gap), cmocka_unit_test(test_shared),
        cmocka_unit_test(test_states), cmocka_unit_test(test_pkeys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
