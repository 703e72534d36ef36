/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that take a receive: SEND in its kinds and WRITE with immediate data over RC and UC,
 * receives too short or missing, RNR and its timer and retries, shared receive queues.
 */
#include "pair.h"

#include "../wire/hex.h"

static uint8_t data[4096];

static void fresh(uint32_t mtu, enum wf_service service, uint8_t rnr_retry)
{
    struct wf_qp_cfg cfg = end_cfg(0xfffffe, mtu, 1 << 20);

    fill(data, sizeof(data), 13);
    cfg.service = service;
    cfg.rnr_retry = rnr_retry;
    cfg.min_rnr_timer = 12;
    begin_with(cfg);
    end_serve(&b, 0);
}

/* Bytes of a SEND Imm of 300 at MTU 256, of an empty SEND Inv, of a WRITE Imm (IBA 9.2, 9.3). */
static void test_bytes(void **state)
{
    static const char *const want[] = {
        "00 40 ffff 00 000022 00 fffffe",
        "03 40 ffff 00 000022 80 ffffff abcd0001",
        "17 c0 ffff 00 000022 80 000000 abcd0002",
        "0b 40 ffff 00 000022 80 000001 00007f0012340000 00001234 00000007 abcd0003",
    };
    struct wf_work inv = {
        .op = WF_WORK_SEND_INV, .id = 2, .imm = 0xabcd0002, .flags = WF_WORK_SOLICITED};
    uint8_t bytes[64];
    struct frame f;

    fresh(256, WF_SERVICE_RC, 7);
    assert_int_equal(post_op(&a, WF_WORK_SEND_IMM, 1, data, 300), 0);
    assert_int_equal(wf_qp_post(&a.qp, &inv), 0);
    assert_int_equal(post_op(&a, WF_WORK_WRITE_IMM, 3, data, 7), 0);
    for (int i = 0; i < 4; i++) {
        uint32_t n = hex_bytes(want[i], bytes, sizeof(bytes));

        assert_true(pull(&a, 0, &f));
        assert_int_equal(f.hdr_len, n);
        assert_memory_equal(f.hdr, bytes, n);
    }
    assert_false(pull(&a, 0, &f));
}

static void test_kinds(void **state)
{
    static const struct {
        enum wf_work_op op;
        uint32_t len;
    } rows[] = {{WF_WORK_SEND, 0},      {WF_WORK_SEND, 1},        {WF_WORK_SEND, 1024},
                {WF_WORK_SEND, 1025},   {WF_WORK_SEND_IMM, 0},    {WF_WORK_SEND_IMM, 3000},
                {WF_WORK_WRITE_IMM, 0}, {WF_WORK_WRITE_IMM, 2049}};

    for (int uc = 0; uc < 2; uc++)
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
            bool write = rows[i].op == WF_WORK_WRITE_IMM;

            fresh(1024, uc ? WF_SERVICE_UC : WF_SERVICE_RC, 7);
            assert_int_equal(post_recv(&b, 70, 8192, 3000), 0);
            assert_int_equal(post_op(&a, rows[i].op, 9, data, rows[i].len), 0);
            run_both(0);
            assert_int_equal(a.n_wc, 1);
            assert_int_equal(a.wc[0].status, WF_WC_SUCCESS);
            assert_int_equal(a.wc[0].op, rows[i].op);
            assert_int_equal(b.n_rwc, 1);
            assert_int_equal(b.rwc[0].status, WF_WC_SUCCESS);
            assert_int_equal(b.rwc[0].id, 70);
            assert_int_equal(b.rwc[0].op, rows[i].op);
            assert_int_equal(b.rwc[0].len, rows[i].len);
            assert_int_equal(b.rwc[0].imm, rows[i].op == WF_WORK_SEND ? 0 : 0xabcd0009);
            assert_memory_equal(b.mem + GUARD + (write ? 0 : 8192), data, rows[i].len);
            assert_int_equal(b.qp.resp.bytes, rows[i].len);
            end_guards(&b);
        }
}

/* The key that the peer invalidates: ours to judge. */
static void test_invalidate(void **state)
{
    struct wf_work w = {.op = WF_WORK_SEND_INV, .id = 1, .imm = MEM_RKEY};

    fresh(1024, WF_SERVICE_RC, 7);
    assert_int_equal(post_recv(&b, 1, 0, 100), 0);
    assert_int_equal(post_recv(&b, 2, 0, 100), 0);
    assert_int_equal(wf_qp_post(&a.qp, &w), 0);
    run_both(0);
    assert_int_equal(b.rwc[0].op, WF_WORK_SEND_INV);
    assert_int_equal(b.rwc[0].imm, MEM_RKEY);
    assert_int_equal(b.invalidated, MEM_RKEY);
    w.imm = 77;
    assert_int_equal(wf_qp_post(&a.qp, &w), 0);
    run_both(0);
    assert_int_equal(a.wc[1].status, WF_WC_REM_ACCESS);
    assert_int_equal(b.rwc[1].status, WF_WC_REM_INV_REQ);
}

/* None posted: RNR NAK, silence for what follows, and the rest when the timer has run out. */
static void test_rnr(void **state)
{
    struct frame f, nak;
    uint8_t bytes[16];

    fresh(256, WF_SERVICE_RC, 2);
    assert_int_equal(post_op(&a, WF_WORK_SEND, 1, data, 600), 0);
    assert_true(pull(&a, 0, &f));
    deliver(&b, &f, 0);
    assert_true(pull(&b, 0, &nak));
    hex_bytes("11 40 ffff 00 000011 00 fffffe 2c 000000", bytes, 16);
    assert_memory_equal(nak.hdr, bytes, 16);
    assert_true(pull(&a, 0, &f));
    deliver(&b, &f, 0);
    assert_false(pull(&b, 0, &f)); /* not a gap: it waits for the first */
    assert_int_equal(b.qp.resp.naks, 0);
    assert_int_equal(deliver(&a, &nak, 1000), WF_QP_TAKEN);
    assert_false(pull(&a, 1000, &f));
    assert_int_equal(wf_qp_timer_ps(&a.qp), 1000 + 640000000); /* 0.64 ms */
    wf_qp_tick(&a.qp, 640000999);
    assert_false(pull(&a, 640000999, &f));
    assert_int_equal(post_recv(&b, 1, 0, 600), 0);
    wf_qp_tick(&a.qp, 640001000);
    run_both(640001000);
    assert_int_equal(a.n_wc, 1);
    assert_int_equal(a.wc[0].status, WF_WC_SUCCESS);
    assert_memory_equal(b.mem + GUARD, data, 600);
    assert_int_equal(wf_qp_timer_ps(&a.qp), WF_TIME_NEVER);
}

/* WRITE with immediate and no receive: what does not fit is refused (9.7.4.1: the sequence is
 * looked at before the resources), what fits is asked to come again. */
static void test_write_imm_without_receive(void **state)
{
    static const struct {
        const char *what, *first, *hdr; /* the WRITE First of 300 bytes before it, if any */
        uint32_t payload;
        uint8_t syndrome;
    } rows[] = {
#define FIRST "0640ffff00000022 00 fffffe 00007f0012340000 00001234 0000012c"
        {"Last alone", NULL, "0940ffff00000022 80 fffffe abcd0001", 44, 0x61},
        {"Only too short", NULL,
         "0b40ffff00000022 80 fffffe 00007f0012340000 00001234 00000008 abcd0001", 7, 0x61},
        {"Only within", FIRST,
         "0b40ffff00000022 80 ffffff 00007f0012340000 00001234 00000008 abcd0001", 8, 0x61},
        {"Last too short", FIRST, "0940ffff00000022 80 ffffff abcd0001", 43, 0x61},
        {"Only", NULL, "0b40ffff00000022 80 fffffe 00007f0012340000 00001234 00000008 abcd0001", 8,
         0x2c},
        {"Last", FIRST, "0940ffff00000022 80 ffffff abcd0001", 44, 0x2c},
#undef FIRST
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct frame f = {.payload_len = 256}, g = {.hdr_len = 0};

        fresh(256, WF_SERVICE_RC, 7);
        if (rows[i].first) {
            f.hdr_len = hex_bytes(rows[i].first, f.hdr, sizeof(f.hdr));
            assert_int_equal(deliver(&b, &f, 0), WF_QP_TAKEN);
        }
        f.hdr_len = hex_bytes(rows[i].hdr, f.hdr, sizeof(f.hdr));
        f.payload_len = rows[i].payload;
        deliver(&b, &f, 0);
        if (!pull(&b, 0, &g) || g.hdr[12] != rows[i].syndrome)
            fail_msg("%s: answered 0x%02x", rows[i].what, g.hdr[12]);
    }
}

static void test_rnr_retries(void **state)
{
    static const uint8_t retry[] = {0, 2, 6, 7};

    for (int i = 0; i < 4; i++) {
        uint32_t n = 0;

        fresh(256, WF_SERVICE_RC, retry[i]);
        assert_int_equal(post_op(&a, WF_WORK_SEND, 1, data, 600), 0);
        assert_int_equal(post_op(&a, WF_WORK_SEND, 2, data, 6), 0);
        for (run_both(0); wf_qp_timer_ps(&a.qp) != WF_TIME_NEVER && n < 50; n++) {
            uint64_t t = wf_qp_timer_ps(&a.qp);

            wf_qp_tick(&a.qp, t);
            run_both(t);
        }
        assert_int_equal(n, retry[i] == 7 ? 50 : retry[i]);
        assert_int_equal(a.qp.reqm.rnr_naks, n + 1);
        assert_int_equal(a.n_wc, retry[i] == 7 ? 0 : 2);
        if (retry[i] == 7)
            continue;
        assert_int_equal(a.wc[0].status, WF_WC_RNR_RETRY_EXC);
        assert_int_equal(a.wc[1].status, WF_WC_FLUSH);
        assert_int_equal(a.qp.req.timeouts, 0);
    }
}

/* IBA table 45, in hundredths of a millisecond. */
static void test_rnr_timers(void **state)
{
    static const uint32_t want[32] = {65536, 1,    2,    3,     4,     6,     8,     12,
                                      16,    24,   32,   48,    64,    96,    128,   192,
                                      256,   384,  512,  768,   1024,  1536,  2048,  3072,
                                      4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};

    for (unsigned i = 0; i < 32; i++)
        assert_int_equal(wf_rnr_timer_ps(i), want[i] * 10000000ull);
    assert_int_equal(wf_ack_timeout_ps(14), 67108864000ull);
    assert_int_equal(wf_ack_timeout_ps(0), 0);
}

/* More than the receive holds, in the first packet or later; memory that may not be used. */
static void test_bad_receives(void **state)
{
    for (int i = 0; i < 3; i++) {
        fresh(256, WF_SERVICE_RC, 7);
        assert_int_equal(post_recv(&b, 5, 0, i ? 299 : 99), 0);
        assert_int_equal(post_recv(&b, 6, 0, 1000), 0);
        b.bad_local = i == 2 ? 299 : 0;
        assert_int_equal(post_op(&a, WF_WORK_SEND, 1, data, 300), 0);
        run_both(0);
        assert_int_equal(a.n_wc, 1);
        assert_int_equal(a.wc[0].status, i == 2 ? WF_WC_REM_OP : WF_WC_REM_INV_REQ);
        assert_int_equal(b.n_rwc, 2);
        assert_int_equal(b.rwc[0].id, 5);
        assert_int_equal(b.rwc[0].status, i == 2 ? WF_WC_LOC_PROT : WF_WC_LOC_LEN);
        assert_int_equal(b.rwc[1].status, WF_WC_FLUSH);
        assert_int_equal(b.qp.state, WF_QP_ERROR);
        assert_int_equal(post_recv(&b, 7, 0, 10), -32);
        end_guards(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_invalidate),   cmocka_unit_test(test_rnr),
        cmocka_unit_test(test_rnr_retries),  cmocka_unit_test(test_rnr_timers),
        cmocka_unit_test(test_bad_receives), cmocka_unit_test(test_write_imm_without_receive),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
