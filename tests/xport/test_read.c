/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * READs and atomics: bytes by hand, both ends against each other, what is lost on the way there and
 * back, duplicates, the limits of either end, fences.
 */
#include "script.h"

static uint8_t into[65536];

static void fresh(uint32_t psn, uint32_t mtu, uint32_t outstanding, uint32_t resources)
{
    struct wf_qp_cfg cfg = end_cfg(psn, mtu, 1 << 20);

    cfg.max_rd_atomic = outstanding;
    begin_with(cfg);
    end_serve(&b, resources);
    fill(b.mem + GUARD, MEM_LEN, 7);
    memset(into, 0, sizeof(into));
}

/* A READ of 600 at MTU 256 and a FetchAdd behind it, as bytes, over the PSN wrap. */
static void test_bytes(void **state)
{
    static const char *const want_a[] = {
        "0c 40 ffff 00 000022 80 fffffe 00007f0012340000 00001234 00000258",
        "14 40 ffff 00 000022 80 000001 00007f0012340000 00001234 0000000000000005 "
        "0000000000000000",
        "13 40 ffff 00 000022 80 000002 00007f0012340000 00001234 0000000000000009 "
        "0000000000000001",
    };
    static const char *const want_b[] = {
        "0d 40 ffff 00 000011 00 fffffe 1f 000001",
        "0e 40 ffff 00 000011 00 ffffff",
        "0f 40 ffff 00 000011 00 000000 1f 000001",
        "12 40 ffff 00 000011 00 000001 1f 000002 0102030405060708",
        "12 40 ffff 00 000011 00 000002 1f 000003 010203040506070d",
    };
    static const uint32_t payload[] = {256, 256, 88, 0, 0};
    uint64_t v = 0x0102030405060708;
    uint8_t bytes[64], got[2][8];
    struct wf_work w = {.op = WF_WORK_FETCH_ADD,
                        .id = 2,
                        .raddr = MEM_VA,
                        .rkey = MEM_RKEY,
                        .len = 8,
                        .n_sge = 1,
                        .swap_add = 5};
    struct frame f;

    fresh(0xfffffe, 256, 4, 4);
    assert_int_equal(post_op(&a, WF_WORK_READ, 1, into, 600), 0);
    w.sge[0] = (struct iovec){got[0], 8};
    assert_int_equal(wf_qp_post(&a.qp, &w), 0);
    w.op = WF_WORK_CMP_SWAP;
    w.id = 3;
    w.swap_add = 9;
    w.compare = 1;
    w.sge[0] = (struct iovec){got[1], 8};
    assert_int_equal(wf_qp_post(&a.qp, &w), 0);
    memcpy(b.mem + GUARD, &v, 8);
    for (int i = 0; i < 3; i++) {
        uint32_t n = hex_bytes(want_a[i], bytes, sizeof(bytes));

        assert_true(pull(&a, 0, &f));
        assert_int_equal(f.hdr_len, n);
        assert_memory_equal(f.hdr, bytes, n);
        assert_int_equal(f.payload_len, 0);
        assert_int_equal(deliver(&b, &f, 0), WF_QP_TAKEN);
    }
    for (int i = 0; i < 5; i++) {
        uint32_t n = hex_bytes(want_b[i], bytes, sizeof(bytes));

        assert_true(pull(&b, 0, &f));
        assert_int_equal(f.hdr_len, n);
        assert_memory_equal(f.hdr, bytes, n);
        assert_int_equal(f.payload_len, payload[i]);
        assert_int_equal(deliver(&a, &f, 0), WF_QP_TAKEN);
    }
    assert_false(pull(&b, 0, &f));
    assert_int_equal(a.n_wc, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(a.wc[i].status, WF_WC_SUCCESS);
    memcpy(&v, got[0], 8);
    assert_int_equal(v, 0x0102030405060708);
    memcpy(&v, got[1], 8);
    assert_int_equal(v, 0x010203040506070d); /* it was not 1 */
    memcpy(&v, b.mem + GUARD, 8);
    assert_int_equal(v, 0x010203040506070d);
    assert_memory_equal(into + 8, b.mem + GUARD + 8, 592);
    assert_int_equal(wf_qp_timer_ps(&a.qp), WF_TIME_NEVER);
}

/*
 * The field's case: WRITE 40, READ 41, WRITE 42; the READ's response is lost and the ACK of 42
 * comes. It acknowledges the WRITE of 40 and nothing beyond: the READ is asked for again.
 */
static void fc_O6(void **state)
{
    struct wf_qp_cfg cfg = end_cfg(40, 256, 1 << 20);

    cfg.max_rd_atomic = 4;
    end_init(&a, &cfg);
    SCRIPT({0, 'w', 100, NULL}, {0, 'r', 200, NULL}, {0, 'w', 50, NULL},
           {0, '>', 0, "0a 40 ffff 00 000022 80 000028 00007f0012340000 00001234 00000064"},
           {0, '>', 0, "0c 40 ffff 00 000022 80 000029 00007f0012340000 00001234 000000c8"},
           {0, '>', 0, "0a 40 ffff 00 000022 80 00002a 00007f0012340000 00001234 00000032"},
           {0, '.', 0, NULL}, {5, '<', 0, "11 40 ffff 00 000011 00 00002a 1f 000003"});
    assert_int_equal(a.n_wc, 1);
    assert_int_equal(a.wc[0].op, WF_WORK_WRITE);
    assert_int_equal(a.qp.reqm.implied_naks, 1);
    SCRIPT({5, '>', 0, "0c 40 ffff 00 000022 80 000029 00007f0012340000 00001234 000000c8"},
           {5, '>', 0, "0a 40 ffff 00 000022 80 00002a 00007f0012340000 00001234 00000032"},
           {6, '<', 0, "11 40 ffff 00 000011 00 00002a 1f 000003"}, /* once more: no new loss */
           {6, '.', 0, NULL}, {9, '<', 200, "10 40 ffff 00 000011 00 000029 1f 000002"});
    assert_int_equal(a.n_wc, 2);
    assert_int_equal(a.wc[1].op, WF_WORK_READ);
    SCRIPT({9, '<', 0, "11 40 ffff 00 000011 00 00002a 1f 000003"});
    assert_int_equal(a.n_wc, 3);
    assert_int_equal(a.qp.reqm.implied_naks, 1);
    assert_int_equal(wf_qp_timer_ps(&a.qp), WF_TIME_NEVER);
}

/* One response of the middle is lost: what came before it stays, the rest is asked for by a request
 * of its own, and nothing of it twice. */
static void test_rest_of_a_read(void **state)
{
    struct wf_qp_cfg cfg = end_cfg(0x10, 256, 1 << 20);

    cfg.max_rd_atomic = 4;
    end_init(&a, &cfg);
    SCRIPT({0, 'r', 1000, NULL},
           {0, '>', 0, "0c 40 ffff 00 000022 80 000010 00007f0012340000 00001234 000003e8"},
           {1, '<', 256, "0d 40 ffff 00 000011 00 000010 1f 000001"},
           {2, '<', 256, "0e 40 ffff 00 000011 00 000012"},
           {2, '>', 0, "0c 40 ffff 00 000022 80 000011 00007f0012340100 00001234 000002e8"},
           {3, '<', 232, "0f 40 ffff 00 000011 00 000013 1f 000001"}, {3, '.', 0, NULL},
           {4, '<', 256, "0d 40 ffff 00 000011 00 000011 1f 000001"},
           {5, '<', 256, "0e 40 ffff 00 000011 00 000012"});
    assert_int_equal(a.n_wc, 0);
    /* the rest is lost again; now it is time that tells */
    SCRIPT({1000005, 't', 0, NULL},
           {1000005, '>', 0, "0c 40 ffff 00 000022 80 000013 00007f0012340300 00001234 000000e8"},
           {1000006, '<', 232, "10 40 ffff 00 000011 00 000013 1f 000001"},
           {1000006, '.', 0, NULL});
    assert_int_equal(a.n_wc, 1);
    assert_int_equal(a.wc[0].status, WF_WC_SUCCESS);
    assert_int_equal(a.qp.reqm.read_bytes, 1000);
    assert_int_equal(a.qp.req.timeouts, 1);
}

/* Either end against the other, any packet of either way lost once. */
static void test_each_loss(void **state)
{
    for (uint32_t lost = 0; lost < 40; lost++) {
        uint64_t now = 0, sum = 0;
        uint32_t n = 0;
        struct frame f;

        fresh(0xfffff0, 256, 3, 3);
        memset(b.mem + GUARD + 4096, 0, 8);
        for (uint64_t i = 0; i < 4; i++) {
            struct wf_work add = {.op = WF_WORK_FETCH_ADD,
                                  .id = 10 + i,
                                  .raddr = MEM_VA + 4096,
                                  .rkey = MEM_RKEY,
                                  .len = 8,
                                  .swap_add = 1};

            assert_int_equal(post_op(&a, WF_WORK_READ, i, into + 1024 * i, 1000), 0);
            assert_int_equal(post_write(&a, 20 + i, NULL, 300, MEM_VA + 8192), 0);
            assert_int_equal(wf_qp_post(&a.qp, &add), 0);
        }
        for (int rounds = 0; a.n_wc < 12 && rounds < 100; rounds++) {
            bool moved = true;

            while (moved) {
                moved = false;
                for (; pull(&a, now, &f); moved = true)
                    if (n++ != lost)
                        deliver(&b, &f, now);
                for (; pull(&b, now, &f); moved = true)
                    if (n++ != lost)
                        deliver(&a, &f, now);
            }
            if (wf_qp_timer_ps(&a.qp) != WF_TIME_NEVER) {
                now = wf_qp_timer_ps(&a.qp);
                wf_qp_tick(&a.qp, now);
            }
        }
        assert_int_equal(a.n_wc, 12);
        for (uint32_t i = 0; i < 12; i++)
            assert_int_equal(a.wc[i].status, WF_WC_SUCCESS);
        for (uint32_t i = 0; i < 4; i++)
            assert_memory_equal(into + 1024 * i, b.mem + GUARD, 1000);
        memcpy(&sum, b.mem + GUARD + 4096, 8);
        assert_int_equal(sum, 4); /* each added once, however often it was asked for */
        assert_int_equal(b.qp.state, WF_QP_READY);
    }
}

/* As many as either side allows: we hold back, and a peer that does not is refused. */
static void test_limits(void **state)
{
    struct frame f;
    uint32_t n = 0;

    fresh(0, 256, 2, 8);
    for (uint64_t i = 0; i < 5; i++)
        assert_int_equal(post_op(&a, WF_WORK_READ, i, into, 10), 0);
    assert_int_equal(post_write(&a, 9, NULL, 10, MEM_VA), 0);
    while (pull(&a, 0, &f)) {
        deliver(&b, &f, 0);
        n++;
    }
    assert_int_equal(n, 2);
    assert_true(pull(&b, 0, &f));
    deliver(&a, &f, 0);
    for (n = 0; pull(&a, 0, &f); n++)
        deliver(&b, &f, 0);
    assert_int_equal(n, 1);
    run_both(0);
    assert_int_equal(a.n_wc, 6);
    fresh(0, 256, 3, 2);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(post_op(&a, WF_WORK_READ, i, into, 10), 0);
    run_both(0);
    assert_int_equal(a.n_wc, 3);
    assert_int_equal(a.wc[1].status, WF_WC_SUCCESS);
    assert_int_equal(a.wc[2].status, WF_WC_REM_INV_REQ);
    fresh(0, 256, 0, 2);
    assert_int_equal(post_op(&a, WF_WORK_READ, 1, into, 10), -22);
}

/* A READ that was sent twice: what answers the copy waits behind other traffic while the first
 * answer frees the requester for its next READ. That takes the place; one beyond those is refused
 * still. */
static void test_copy_waits(void **state)
{
    struct frame f, copy, g;

    fresh(0, 256, 1, 1);
    assert_int_equal(post_op(&a, WF_WORK_READ, 1, into, 600), 0);
    assert_int_equal(post_op(&a, WF_WORK_READ, 2, into + 1024, 300), 0);
    assert_int_equal(post_op(&a, WF_WORK_READ, 3, into + 2048, 20), 0);
    assert_true(pull(&a, 0, &copy));
    deliver(&b, &copy, 0);
    for (int i = 0; i < 3; i++) {
        assert_true(pull(&b, 0, &g));
        deliver(&a, &g, 0);
    }
    deliver(&b, &copy, 0);
    assert_true(pull(&b, 0, &g)); /* a part of it has gone out */
    deliver(&b, &copy, 0);
    assert_true(pull(&a, 0, &f));
    assert_int_equal(deliver(&b, &f, 0), WF_QP_TAKEN);
    assert_int_equal(b.qp.state, WF_QP_READY);
    run_both(0);
    assert_int_equal(a.n_wc, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(a.wc[i].status, WF_WC_SUCCESS);
    assert_memory_equal(into, b.mem + GUARD, 600);
    assert_memory_equal(into + 1024, b.mem + GUARD, 300);

    fresh(0, 256, 2, 1);
    assert_int_equal(post_op(&a, WF_WORK_READ, 1, into, 600), 0);
    assert_int_equal(post_op(&a, WF_WORK_READ, 2, into, 600), 0);
    assert_true(pull(&a, 0, &copy) && pull(&a, 0, &f));
    deliver(&b, &copy, 0);
    assert_true(pull(&b, 0, &g));
    deliver(&b, &copy, 0); /* before it was answered in full */
    deliver(&b, &f, 0);
    assert_int_equal(b.qp.state, WF_QP_ERROR);
    assert_int_equal(b.qp.respm.rem_inv_req, 1);
}

/* Go-back-0 asks for all of a READ again, and what comes counts once. */
static void test_go_back_0(void **state)
{
    struct wf_qp_cfg cfg = end_cfg(0x10, 256, 1 << 20);

    cfg.max_rd_atomic = 4;
    cfg.retransmit = WF_GO_BACK_0;
    end_init(&a, &cfg);
    SCRIPT({0, 'r', 600, NULL}, {0, 'r', 600, NULL},
           {0, '>', 0, "0c 40 ffff 00 000022 80 000010 00007f0012340000 00001234 00000258"},
           {0, '>', 0, "0c 40 ffff 00 000022 80 000013 00007f0012340000 00001234 00000258"},
           {1, '<', 256, "0d 40 ffff 00 000011 00 000010 1f 000001"},
           {1, '<', 256, "0e 40 ffff 00 000011 00 000011"},
           {1, '<', 88, "0f 40 ffff 00 000011 00 000012 1f 000001"},
           {2, '<', 256, "0d 40 ffff 00 000011 00 000013 1f 000002"},
           {3, '<', 88, "0f 40 ffff 00 000011 00 000015 1f 000002"},
           {3, '>', 0, "0c 40 ffff 00 000022 80 000013 00007f0012340000 00001234 00000258"},
           {4, '<', 256, "0d 40 ffff 00 000011 00 000013 1f 000002"},
           {4, '<', 256, "0e 40 ffff 00 000011 00 000014"},
           {4, '<', 88, "0f 40 ffff 00 000011 00 000015 1f 000002"}, {4, '.', 0, NULL});
    assert_int_equal(a.n_wc, 2);
    assert_int_equal(a.wc[1].status, WF_WC_SUCCESS);
    assert_int_equal(a.qp.reqm.implied_naks, 1);
    assert_int_equal(a.qp.reqm.read_bytes, 1200);
}

/* A fence waits for READs; without one the WRITE goes out at once. */
static void test_fence(void **state)
{
    struct wf_work w = {.op = WF_WORK_WRITE,
                        .id = 2,
                        .raddr = MEM_VA,
                        .rkey = MEM_RKEY,
                        .len = 8,
                        .flags = WF_WORK_FENCE};
    struct frame f;

    fresh(0, 256, 2, 2);
    assert_int_equal(post_op(&a, WF_WORK_READ, 1, into, 10), 0);
    assert_int_equal(wf_qp_post(&a.qp, &w), 0);
    assert_true(pull(&a, 0, &f));
    deliver(&b, &f, 0);
    assert_false(pull(&a, 0, &f));
    assert_true(pull(&b, 0, &f));
    deliver(&a, &f, 0);
    assert_true(pull(&a, 0, &f));
    assert_int_equal(f.hdr[0], 0x0a);
}

/* What the peer may not read, and what it may not add to. */
static void test_refused(void **state)
{
    static const struct {
        enum wf_work_op op;
        uint64_t va;
        uint32_t rkey, len;
        unsigned access;
        enum wf_wc_status status;
    } rows[] = {
        {WF_WORK_READ, MEM_VA, MEM_RKEY + 1, 8, 7, WF_WC_REM_ACCESS},
        {WF_WORK_READ, MEM_VA, MEM_RKEY, 8, WF_MEM_REMOTE_WRITE, WF_WC_REM_ACCESS},
        {WF_WORK_READ, MEM_VA + MEM_LEN - 7, MEM_RKEY, 8, 7, WF_WC_REM_ACCESS},
        {WF_WORK_READ, UINT64_MAX - 6, MEM_RKEY, 8, 7, WF_WC_REM_ACCESS},
        {WF_WORK_READ, 0, 0, 0, 0, WF_WC_SUCCESS},
        {WF_WORK_FETCH_ADD, MEM_VA + 4, MEM_RKEY, 8, 7, WF_WC_REM_INV_REQ},
        {WF_WORK_FETCH_ADD, MEM_VA + MEM_LEN, MEM_RKEY, 8, 7, WF_WC_REM_ACCESS},
        {WF_WORK_CMP_SWAP, MEM_VA, MEM_RKEY, 8, 3, WF_WC_REM_ACCESS},
        {WF_WORK_CMP_SWAP, MEM_VA, MEM_RKEY, 8, 4, WF_WC_SUCCESS},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wf_work w = {
            .op = rows[i].op, .raddr = rows[i].va, .rkey = rows[i].rkey, .len = rows[i].len};

        fresh(0, 256, 2, 2);
        b.mr.access = rows[i].access;
        assert_int_equal(post_write(&a, 1, NULL, 0, 0), 0);
        assert_int_equal(wf_qp_post(&a.qp, &w), 0);
        run_both(0);
        assert_int_equal(a.n_wc, 2);
        assert_int_equal(a.wc[0].status, WF_WC_SUCCESS);
        if (a.wc[1].status != rows[i].status)
            fail_msg("row %zu: %s", i, wf_wc_status_names[a.wc[1].status]);
        end_guards(&b);
    }
}

/* Memory that goes away between the request and its answer; an answer that does not fit. */
static void test_broken_answers(void **state)
{
    struct frame f;

    fresh(0, 256, 2, 2);
    assert_int_equal(post_op(&a, WF_WORK_READ, 1, into, 600), 0);
    assert_true(pull(&a, 0, &f));
    deliver(&b, &f, 0);
    assert_true(pull(&b, 0, &f));
    deliver(&a, &f, 0);
    b.mr.access = 0;
    run_both(0);
    assert_int_equal(a.wc[0].status, WF_WC_REM_ACCESS);
    assert_false(pull(&b, 0, &f));
    fresh(0, 256, 2, 2);
    assert_int_equal(post_op(&a, WF_WORK_READ, 1, into, 600), 0);
    assert_true(pull(&a, 0, &f));
    deliver(&b, &f, 0);
    assert_true(pull(&b, 0, &f));
    f.payload_len = 255;
    assert_int_equal(deliver(&a, &f, 0), WF_QP_TAKEN);
    assert_int_equal(a.wc[0].status, WF_WC_BAD_RESP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),          cmocka_unit_test(fc_O6),
        cmocka_unit_test(test_rest_of_a_read), cmocka_unit_test(test_each_loss),
        cmocka_unit_test(test_limits),         cmocka_unit_test(test_fence),
        cmocka_unit_test(test_refused),        cmocka_unit_test(test_broken_answers),
        cmocka_unit_test(test_copy_waits),     cmocka_unit_test(test_go_back_0),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
