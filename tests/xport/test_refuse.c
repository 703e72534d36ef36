/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a queue pair refuses, and what becomes of requests that its peer refuses. Nothing is ever
 * written outside of a region.
 */
#include "pair.h"

#include "../wire/hex.h"

/* What the peer refuses: the request that the NAK names, those before it are done. */
static void test_remote_errors(void **state)
{
    static const struct {
        uint8_t syndrome;
        enum wf_wc_status status;
    } rows[] = {{0x61, WF_WC_REM_INV_REQ}, {0x62, WF_WC_REM_ACCESS}, {0x63, WF_WC_REM_OP}};
    struct frame f;

    for (int i = 0; i < 3; i++) {
        begin(0, 256, 1 << 20);
        for (uint64_t id = 0; id < 4; id++)
            assert_int_equal(post_write(&a, id, NULL, 512, MEM_VA), 0);
        send_some(8, 0, 0);
        make_answer(&f, rows[i].syndrome, 3, 1);
        assert_int_equal(deliver(&a, &f, 0), WF_QP_TAKEN);
        assert_int_equal(a.n_wc, 4);
        assert_int_equal(a.wc[0].status, WF_WC_SUCCESS);
        assert_int_equal(a.wc[1].status, rows[i].status);
        assert_int_equal(a.wc[2].status, WF_WC_FLUSH);
        assert_int_equal(a.wc[3].status, WF_WC_FLUSH);
        assert_false(pull(&a, 0, &f));
    }
}

/* Requests that must be refused; the code, and then silence. In bytes from the RETH on. */
static void test_refused(void **state)
{
    static const struct {
        const char *what;
        const char *hdr; /* BTH and RETH; PSN 0 */
        uint32_t payload;
        uint8_t syndrome;
    } rows[] = {
        {"unknown key", "0a40ffff0000002280000000 00007f0012340000 00001235 00000004", 4, 0x62},
        {"before", "0a40ffff0000002280000000 00007f001233ffff 00001234 00000004", 4, 0x62},
        {"across the end", "0a40ffff0000002280000000 00007f001234fffd 00001234 00000004", 4, 0x62},
        {"address wraps", "0a40ffff0000002280000000 fffffffffffffffe 00001234 00000004", 4, 0x62},
        {"first byte behind", "0a40ffff0000002280000000 00007f0012350000 00001234 00000001", 1,
         0x62},
        {"too long in all", "0640ffff0000002200000000 00007f0012340000 00001234 00010001", 256,
         0x62},
        {"huge", "0640ffff0000002200000000 00007f0012340000 00001234 ffffffff", 256, 0x62},
        {"Only shorter", "0a40ffff0000002280000000 00007f0012340000 00001234 00000005", 4, 0x61},
        {"Only longer", "0a40ffff0000002280000000 00007f0012340000 00001234 00000003", 4, 0x61},
        {"Only beyond MTU", "0a40ffff0000002280000000 00007f0012340000 00001234 00000101", 257,
         0x61},
        {"First short", "0640ffff0000002200000000 00007f0012340000 00001234 00000200", 255, 0x61},
        {"First is all", "0640ffff0000002200000000 00007f0012340000 00001234 00000100", 256, 0x61},
        {"Middle alone", "0740ffff0000002200000000", 256, 0x61},
        {"Last alone", "0840ffff0000002280000000", 256, 0x61},
        {"SEND", "0440ffff0000002280000000", 4, 0x61},
        {"WRITE Only Imm", "0b40ffff0000002280000000 00007f0012340000 00001234 00000004 00000000",
         4, 0x61},
        {"READ", "0c40ffff0000002280000000 00007f0012340000 00001234 00000004", 0, 0x61},
        {"FetchAdd",
         "1440ffff0000002280000000 00007f0012340000 00001234 00000000 00000000 "
         "00000000 00000000",
         0, 0x61},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        static const uint8_t zero[MEM_LEN];
        struct frame f, g;

        begin(0, 256, 1 << 20);
        memset(&f, 0, sizeof(f));
        memset(f.payload, 0xee, sizeof(f.payload));
        f.hdr_len = hex_bytes(rows[i].hdr, f.hdr, sizeof(f.hdr));
        f.payload_len = rows[i].payload;
        assert_int_equal(deliver(&b, &f, 0), WF_QP_TAKEN);
        if (!pull(&b, 0, &g) || g.hdr[12] != rows[i].syndrome || psn_of(&g) != 0)
            fail_msg("%s: answered 0x%02x", rows[i].what, g.hdr[12]);
        assert_int_equal(deliver(&b, &f, 0), WF_QP_DISCARDED);
        assert_false(pull(&b, 0, &g));
        assert_memory_equal(b.mem + GUARD, zero, MEM_LEN);
        end_guards(&b);
    }
}

/* Within a message: another one begins, its end does not fit, or the region goes away. */
static void test_refused_within(void **state)
{
    static const struct {
        const char *hdr;
        uint32_t payload;
        uint8_t syndrome;
        bool gone;
    } rows[] = {
        {"0a40ffff0000002280000001 00007f0012340000 00001234 00000004", 4, 0x61, false},
        {"0640ffff0000002200000001 00007f0012340000 00001234 00000200", 256, 0x61, false},
        {"0840ffff0000002280000001", 255, 0x61, false}, /* 256 are left */
        {"0840ffff0000002280000001", 0, 0x61, false},
        {"0740ffff0000002200000001", 256, 0x61, false}, /* a Middle that would be the end */
        {"0840ffff0000002280000001", 256, 0x62, true},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct frame f, g;

        begin(0, 256, 1 << 20);
        assert_int_equal(post_write(&a, 1, NULL, 512, MEM_VA), 0);
        assert_true(pull(&a, 0, &f));
        assert_int_equal(deliver(&b, &f, 0), WF_QP_TAKEN);
        b.mr.access = rows[i].gone ? 0 : b.mr.access;
        f.hdr_len = hex_bytes(rows[i].hdr, f.hdr, sizeof(f.hdr));
        f.payload_len = rows[i].payload;
        assert_int_equal(deliver(&b, &f, 0), WF_QP_TAKEN);
        assert_true(pull(&b, 0, &g));
        assert_int_equal(g.hdr[12], rows[i].syndrome);
        assert_int_equal(psn_of(&g), 1);
        assert_int_equal(b.qp.resp.messages, 0);
    }
}

/* An empty WRITE needs no key; a virtual region and a virtual payload need no memory. */
static void test_nothing_to_place(void **state)
{
    struct wf_qp_in in;
    struct frame f;

    begin(0, 256, 1 << 20);
    b.mr.rkey = 1;
    assert_int_equal(post_write(&a, 1, NULL, 0, 0), 0);
    assert_true(pull(&a, 0, &f));
    assert_int_equal(deliver(&b, &f, 0), WF_QP_TAKEN);
    assert_int_equal(b.qp.resp.messages, 1);
    b.mr.rkey = MEM_RKEY;
    memset(b.mem + GUARD, 0xee, 64);
    assert_int_equal(post_write(&a, 2, NULL, 64, MEM_VA), 0);
    assert_true(pull(&a, 0, &f));
    in = (struct wf_qp_in){.hdr = f.hdr, .hdr_len = f.hdr_len, .payload_len = 64, .ce = true};
    assert_int_equal(wf_qp_rx(&b.qp, &in, 0), WF_QP_TAKEN);
    for (int i = 0; i < 64; i++)
        assert_int_equal(b.mem[GUARD + i], 0);
    assert_int_equal(b.qp.resp.ce_packets, 1);
    b.mr.base = NULL;
    assert_int_equal(post_write(&a, 3, NULL, 64, MEM_VA), 0);
    assert_true(pull(&a, 0, &f));
    assert_int_equal(deliver(&b, &f, 0), WF_QP_TAKEN);
    assert_int_equal(b.qp.resp.bytes, 128);
}

static void test_not_ours(void **state)
{
    struct frame f, g;

    begin(0, 256, 1 << 20);
    assert_int_equal(post_write(&a, 1, NULL, 4, MEM_VA), 0);
    assert_true(pull(&a, 0, &f));
    g = f;
    g.hdr[2] = 0x7f;
    assert_int_equal(deliver(&b, &g, 0), WF_QP_TAKEN); /* limited, and we are full */
    begin(0, 256, 1 << 20);
    g.hdr[3] = 0xfe;
    assert_int_equal(deliver(&b, &g, 0), WF_QP_BAD_PKEY);
    g = f;
    g.hdr[1] |= 1;
    assert_int_equal(deliver(&b, &g, 0), WF_QP_MALFORMED); /* header version */
    g = f;
    g.hdr_len = 27;
    assert_int_equal(deliver(&b, &g, 0), WF_QP_MALFORMED);
    g.hdr_len = 11;
    assert_int_equal(deliver(&b, &g, 0), WF_QP_MALFORMED);
    g = f;
    g.hdr[0] = 0x2a; /* UC */
    assert_int_equal(deliver(&b, &g, 0), WF_QP_BAD_OPCODE);
    g.hdr[0] = 0x1e;
    assert_int_equal(deliver(&b, &g, 0), WF_QP_BAD_OPCODE);
    make_answer(&g, 0x1f, 0, 0);
    g.payload_len = 4; /* an ACK carries nothing */
    assert_int_equal(deliver(&b, &g, 0), WF_QP_MALFORMED);
    assert_false(wf_qp_may_answer(&b.qp));
    assert_int_equal(deliver(&b, &f, 0), WF_QP_TAKEN);
}

static void test_config(void **state)
{
    struct wf_qp_cfg cfg = end_cfg(0, 256, 1);
    struct wf_qp_user user = {&a, end_mem, end_complete};

    for (uint32_t mtu = 0; mtu < 9000; mtu++) {
        cfg.path_mtu = mtu;
        assert_int_equal(
            wf_qp_init(&a.qp, &cfg, &user, a.sq, SQ_LEN),
            mtu == 256 || mtu == 512 || mtu == 1024 || mtu == 2048 || mtu == 4096 ? 0 : -22);
    }
    cfg.path_mtu = 256;
    assert_int_equal(wf_qp_init(&a.qp, &cfg, &user, a.sq, 0), -22);
    assert_int_equal(wf_qp_init(&a.qp, &cfg, &user, a.sq, 12), -22);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remote_errors),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_within), cmocka_unit_test(test_nothing_to_place),
        cmocka_unit_test(test_not_ours),       cmocka_unit_test(test_config),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
