/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue pair step by step: bytes on the wire against bytes typed by hand, segmentation, ACK,
 * NAK, timeouts, errors, and what a real and a hand-made capture say of ACK and NAK.
 */
#include "pair.h"

#include "../wire/hex.h"
#include "wire/parse.h"

static struct end a, b;

static void begin(uint32_t psn, uint32_t mtu, uint64_t window)
{
    struct wf_qp_cfg cfg = end_cfg(psn, mtu, window);

    end_init(&a, &cfg);
    cfg.qpn = 0x22;
    cfg.dqpn = 0x11;
    end_init(&b, &cfg);
}

/* A WRITE of 600 bytes at MTU 256 over the PSN wrap (IBA 9.2, 9.3.3). */
static void test_bytes(void **state)
{
    static const char *const want[] = {
        "06 40 ffff 00 000022 00 fffffe 00007f0012340010 00001234 00000258",
        "07 40 ffff 00 000022 00 ffffff",
        "08 40 ffff 00 000022 80 000000",
        "0a 40 ffff 00 000022 80 000001 00007f0012340000 00001234 00000007",
    };
    static const uint32_t payload[] = {256, 256, 88, 7};
    static uint8_t data[600];
    uint8_t bytes[64];
    struct frame f;

    for (int i = 0; i < 600; i++)
        data[i] = (uint8_t)(i * 7);
    begin(0xfffffe, 256, 1 << 20);
    assert_int_equal(post_write(&a, 1, data, 600, MEM_VA + 16), 0);
    assert_int_equal(post_write(&a, 2, data, 7, MEM_VA), 0);
    for (int i = 0; i < 4; i++) {
        uint32_t n = hex_bytes(want[i], bytes, sizeof(bytes));

        assert_true(pull(&a, 0, &f));
        assert_int_equal(f.hdr_len, n);
        assert_memory_equal(f.hdr, bytes, n);
        assert_int_equal(f.payload_len, payload[i]);
        assert_int_equal(deliver(&b, &f, 0), WF_QP_TAKEN);
    }
    assert_false(pull(&a, 0, &f));
    assert_memory_equal(b.mem + GUARD + 16, data, 600);
    assert_memory_equal(b.mem + GUARD, data, 7);
    end_guards(&b);
    /* one answer for both messages, by the later PSN; credits are not counted */
    assert_true(pull(&b, 0, &f));
    assert_int_equal(f.hdr_len, hex_bytes("11 40 ffff 00 000011 00 000001 1f 000002", bytes, 64));
    assert_memory_equal(f.hdr, bytes, 16);
    assert_false(pull(&b, 0, &f));
    make_answer(&f, 0x1f, 1, 2);
    assert_int_equal(deliver(&a, &f, 0), WF_QP_TAKEN);
    assert_int_equal(a.n_wc, 2);
    assert_int_equal(a.wc[0].id, 1);
    assert_int_equal(a.wc[1].id, 2);
    assert_int_equal(a.wc[1].status, WF_WC_SUCCESS);
    assert_int_equal(wf_qp_timer_ps(&a.qp), WF_TIME_NEVER);
}

static void test_segmentation(void **state)
{
    static const struct {
        uint32_t len, packets, last;
    } rows[] = {{0, 1, 0},    {1, 1, 1},       {1023, 1, 1023}, {1024, 1, 1024},
                {1025, 2, 1}, {2048, 2, 1024}, {2049, 3, 1},    {65536, 64, 1024}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint32_t n = 0;
        struct frame f;

        begin(5, 1024, 1 << 20);
        assert_int_equal(post_write(&a, 1, NULL, rows[i].len, MEM_VA), 0);
        while (pull(&a, 0, &f)) {
            uint8_t op = rows[i].packets == 1       ? 0x0a
                         : n == 0                   ? 0x06
                         : n == rows[i].packets - 1 ? 0x08
                                                    : 0x07;

            assert_int_equal(f.hdr[0], op);
            assert_int_equal(asks_ack(&f), n == rows[i].packets - 1);
            assert_int_equal(f.payload_len, n == rows[i].packets - 1 ? rows[i].last : 1024);
            assert_int_equal(deliver(&b, &f, 0), WF_QP_TAKEN);
            n++;
        }
        assert_int_equal(n, rows[i].packets);
        assert_int_equal(b.qp.resp.bytes, rows[i].len);
        assert_int_equal(b.qp.resp.messages, 1);
    }
}

/* Payload gathered from pieces, cut anywhere. */
static void test_pieces(void **state)
{
    static uint8_t data[3000];
    struct wf_work w = {
        .op = WF_WORK_WRITE, .raddr = MEM_VA, .rkey = MEM_RKEY, .len = 3000, .n_sge = 4};
    static const uint32_t cut[] = {0, 1, 700, 701, 3000};
    struct frame f;

    for (int i = 0; i < 3000; i++)
        data[i] = (uint8_t)(i * 31 + i / 256);
    begin(5, 512, 1 << 20);
    for (int i = 0; i < 4; i++)
        w.sge[i] = (struct iovec){data + cut[i], cut[i + 1] - cut[i]};
    assert_int_equal(wf_qp_post(&a.qp, &w), 0);
    while (pull(&a, 0, &f))
        assert_int_equal(deliver(&b, &f, 0), WF_QP_TAKEN);
    assert_memory_equal(b.mem + GUARD, data, 3000);
    w.len = 2999;
    assert_int_equal(wf_qp_post(&a.qp, &w), -22);
    w.n_sge = 5;
    assert_int_equal(wf_qp_post(&a.qp, &w), -22);
}

/* Four packets fit the window of 1,000 bytes less one: three fly, each answer lets more go. */
static void test_window(void **state)
{
    struct frame f, ack;
    uint32_t n = 0;

    begin(9, 256, 1000);
    assert_int_equal(post_write(&a, 1, NULL, 2560, MEM_VA), 0);
    while (pull(&a, 0, &f))
        n++;
    assert_int_equal(n, 3);
    assert_true(asks_ack(&f)); /* else nobody would open the window again */
    make_answer(&ack, 0x1f, 10, 0);
    assert_int_equal(deliver(&a, &ack, 0), WF_QP_TAKEN);
    for (n = 0; pull(&a, 0, &f); n++)
        ;
    assert_int_equal(n, 2);
    /* smaller than a packet: one at a time all the same */
    begin(9, 1024, 256);
    assert_int_equal(post_write(&a, 1, NULL, 2048, MEM_VA), 0);
    assert_true(pull(&a, 0, &f));
    assert_true(asks_ack(&f));
    assert_false(pull(&a, 0, &f));
}

/* However wide the window, no more PSNs fly than half of their numbers can tell apart. */
static void test_psn_span(void **state)
{
    struct wf_qp_out out;
    uint32_t n = 0, len;

    begin(77, 256, UINT64_MAX);
    assert_int_equal(post_write(&a, 1, NULL, 1u << 31, MEM_VA), 0);
    assert_int_equal(post_write(&a, 2, NULL, (1u << 31) + 1, MEM_VA), -22);
    for (; wf_qp_may_request(&a.qp, &len); n++)
        wf_qp_pull_request(&a.qp, 0, &out);
    assert_int_equal(n, (1 << 23) - 1);
}

static void test_full_queue(void **state)
{
    struct frame ack;
    struct frame f;

    begin(0, 256, 1 << 20);
    for (int i = 0; i < SQ_LEN; i++)
        assert_int_equal(post_write(&a, (uint64_t)i, NULL, 10, MEM_VA), 0);
    assert_int_equal(post_write(&a, 99, NULL, 10, MEM_VA), -105);
    while (pull(&a, 0, &f))
        ;
    make_answer(&ack, 0x1f, 4, 5); /* the first five at once */
    deliver(&a, &ack, 0);
    assert_int_equal(a.n_wc, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(post_write(&a, 100, NULL, 10, MEM_VA), 0);
    assert_int_equal(post_write(&a, 99, NULL, 10, MEM_VA), -105);
}

/* Send n packets of a message of n, deliver those that `mask` has, in order. */
static void send_some(uint32_t n, uint32_t mask, uint64_t now)
{
    struct frame f;

    for (uint32_t i = 0; i < n; i++) {
        assert_true(pull(&a, now, &f));
        if (mask >> i & 1)
            deliver(&b, &f, now);
    }
}

static void test_nak_once_per_gap(void **state)
{
    struct frame f;
    uint8_t bytes[16];

    begin(0xfffffd, 256, 1 << 20);
    assert_int_equal(post_write(&a, 1, NULL, 8 * 256, MEM_VA), 0);
    send_some(8, 0xf7, 0); /* the fourth is lost, its PSN is 0 */
    assert_int_equal(b.qp.resp.naks, 1);
    assert_true(pull(&b, 0, &f));
    hex_bytes("11 40 ffff 00 000011 00 000000 60 000000", bytes, 16);
    assert_memory_equal(f.hdr, bytes, 16);
    assert_false(pull(&b, 0, &f));
    assert_int_equal(deliver(&a, &f, 5), WF_QP_TAKEN);
    assert_int_equal(a.qp.req.naks, 1);
    assert_int_equal(wf_qp_timer_ps(&a.qp), 5 + 1000000);
    /* the same once more: what was repeated is repeated, a NAK of the past does nothing */
    for (uint32_t i = 0; i < 5; i++) {
        struct frame g;

        assert_true(pull(&a, 5, &g));
        assert_int_equal(psn_of(&g), i);
        assert_true(g.again);
        assert_int_equal(deliver(&b, &g, 5), WF_QP_TAKEN);
    }
    assert_int_equal(a.qp.req.retx_packets, 5);
    assert_int_equal(a.qp.req.retx_bytes, 5 * 256);
    assert_true(pull(&b, 5, &f));
    assert_int_equal(psn_of(&f), 4);
    assert_int_equal(f.hdr[15], 1); /* MSN */
    deliver(&a, &f, 6);
    assert_int_equal(a.n_wc, 1);
    make_answer(&f, 0x60, 0, 0);
    assert_int_equal(deliver(&a, &f, 7), WF_QP_DISCARDED);
    assert_false(pull(&a, 7, &f));
}

/* A second gap behind the first, both NAKs on their own; one that closes before its NAK has gone
 * out becomes an ACK. */
static void test_nak_again(void **state)
{
    struct frame f, g[8];

    begin(0, 256, 1 << 20);
    assert_int_equal(post_write(&a, 1, NULL, 8 * 256, MEM_VA), 0);
    for (int i = 0; i < 8; i++)
        assert_true(pull(&a, 0, &g[i]));
    deliver(&b, &g[0], 0);
    deliver(&b, &g[2], 0);
    assert_true(pull(&b, 0, &f));
    assert_int_equal(f.hdr[12], 0x60);
    assert_int_equal(psn_of(&f), 1);
    deliver(&b, &g[3], 0);
    assert_false(pull(&b, 0, &f)); /* the same gap */
    deliver(&b, &g[1], 0);
    deliver(&b, &g[3], 0);
    deliver(&b, &g[0], 0); /* an old one: the NAK that waits says more */
    assert_true(pull(&b, 0, &f));
    assert_int_equal(f.hdr[12], 0x60);
    assert_int_equal(psn_of(&f), 2);
    begin(0, 256, 1 << 20);
    deliver(&b, &g[1], 0);
    deliver(&b, &g[0], 0); /* it was only late */
    assert_true(pull(&b, 0, &f));
    assert_int_equal(f.hdr[12], 0x1f);
    assert_int_equal(psn_of(&f), 0);
}

static void test_duplicates_are_acked_again(void **state)
{
    static uint8_t data[256];
    struct frame f, g;

    begin(100, 256, 1 << 20);
    assert_int_equal(post_write(&a, 1, data, 256, MEM_VA), 0);
    assert_true(pull(&a, 0, &f));
    assert_int_equal(deliver(&b, &f, 0), WF_QP_TAKEN);
    assert_true(pull(&b, 0, &g));
    memset(f.payload, 0xee, 256); /* it must not be placed a second time */
    for (int i = 0; i < 3; i++) {
        assert_int_equal(deliver(&b, &f, 0), WF_QP_DISCARDED);
        assert_true(pull(&b, 0, &g));
        assert_int_equal(g.hdr[12], 0x1f);
        assert_int_equal(psn_of(&g), 100);
        assert_int_equal(g.hdr[15], 1);
    }
    assert_int_equal(b.qp.resp.duplicates, 3);
    assert_memory_equal(b.mem + GUARD, data, 256);
    /* as far back as half the number space; from there on it is a gap */
    wf_st24(f.hdr + 9, (101 - (1 << 23)) & 0xffffff);
    deliver(&b, &f, 0);
    assert_int_equal(b.qp.resp.duplicates, 4);
    wf_st24(f.hdr + 9, (101 - (1 << 23) - 1) & 0xffffff);
    deliver(&b, &f, 0);
    assert_int_equal(b.qp.resp.naks, 1);
}

static void test_timeout(void **state)
{
    struct frame f;

    begin(0, 256, 1 << 20);
    assert_int_equal(post_write(&a, 1, NULL, 512, MEM_VA), 0);
    assert_int_equal(post_write(&a, 2, NULL, 256, MEM_VA), 0);
    assert_int_equal(wf_qp_timer_ps(&a.qp), WF_TIME_NEVER);
    wf_qp_tick(&a.qp, UINT64_MAX); /* no timer runs */
    assert_int_equal(a.qp.req.timeouts, 0);
    assert_true(pull(&a, 50, &f));
    assert_true(pull(&a, 60, &f));
    assert_true(pull(&a, 70, &f));
    assert_int_equal(wf_qp_timer_ps(&a.qp), 50 + 1000000);
    wf_qp_tick(&a.qp, 50 + 999999); /* too early */
    assert_int_equal(a.qp.req.timeouts, 0);
    make_answer(&f, 0x1f, 0, 0); /* progress within the first message */
    deliver(&a, &f, 80);
    assert_int_equal(wf_qp_timer_ps(&a.qp), 80 + 1000000);
    for (uint32_t i = 1; i <= 3; i++) {
        uint64_t t = wf_qp_timer_ps(&a.qp);

        assert_int_equal(t, 80 + i * 1000000);
        wf_qp_tick(&a.qp, t);
        assert_int_equal(a.qp.req.timeouts, i);
        for (uint32_t k = 1; k < 3; k++) {
            assert_true(pull(&a, t, &f));
            assert_int_equal(psn_of(&f), k);
        }
        assert_false(pull(&a, t, &f));
    }
    wf_qp_tick(&a.qp, wf_qp_timer_ps(&a.qp));
    assert_int_equal(a.n_wc, 2);
    assert_int_equal(a.wc[0].status, WF_WC_RETRY_EXC);
    assert_int_equal(a.wc[1].status, WF_WC_FLUSH);
    assert_int_equal(wf_qp_timer_ps(&a.qp), WF_TIME_NEVER);
    assert_false(pull(&a, 0, &f));
    assert_int_equal(post_write(&a, 3, NULL, 1, MEM_VA), -32);
    make_answer(&f, 0x1f, 2, 2); /* too late */
    assert_int_equal(deliver(&a, &f, 0), WF_QP_DISCARDED);
    assert_int_equal(a.n_wc, 2);
}

/* After an error nothing more goes out, of what was posted and not yet sent either, and requests of
 * the peer meet silence. */
static void test_error_is_final(void **state)
{
    struct frame f, g;

    begin(0, 256, 1 << 20);
    for (uint64_t id = 0; id < 4; id++)
        assert_int_equal(post_write(&a, id, NULL, 512, MEM_VA), 0);
    send_some(1, 0, 0);
    make_answer(&f, 0x62, 0, 0);
    deliver(&a, &f, 0);
    assert_int_equal(a.n_wc, 4);
    assert_false(pull(&a, 0, &f));
    assert_int_equal(post_write(&b, 0, NULL, 256, MEM_VA), 0);
    assert_true(pull(&b, 0, &f));
    assert_int_equal(deliver(&a, &f, 0), WF_QP_DISCARDED);
    assert_false(pull(&a, 0, &g));
    assert_int_equal(a.qp.resp.bytes, 0);
}

/* Retries count what comes without progress: each ACK of something new gives all of them back. */
static void test_progress_renews_retries(void **state)
{
    struct frame f;

    begin(0, 256, 1 << 20);
    assert_int_equal(post_write(&a, 1, NULL, 20 * 256, MEM_VA), 0);
    while (pull(&a, 0, &f))
        ;
    for (uint32_t i = 1; i < 20; i++) { /* a NAK for the next each time */
        make_answer(&f, 0x60, i, 0);
        assert_int_equal(deliver(&a, &f, i), WF_QP_TAKEN);
        while (pull(&a, 0, &f))
            ;
    }
    assert_int_equal(a.n_wc, 0);
    for (uint32_t i = 0; i < 3; i++) {
        make_answer(&f, 0x60, 19, 0);
        assert_int_equal(deliver(&a, &f, i), WF_QP_TAKEN);
        while (pull(&a, 0, &f))
            ;
        assert_int_equal(a.n_wc, i == 2);
    }
    assert_int_equal(a.wc[0].status, WF_WC_RETRY_EXC);
}

/* An ACK that overtakes a step back: what it covers is not sent again. */
static void test_ack_ahead_of_resend(void **state)
{
    struct frame f;

    begin(0xffffff, 256, 1 << 20);
    assert_int_equal(post_write(&a, 1, NULL, 512, MEM_VA), 0);
    assert_int_equal(post_write(&a, 2, NULL, 512, MEM_VA), 0);
    send_some(4, 0, 0);
    wf_qp_tick(&a.qp, 1000000);
    make_answer(&f, 0x1f, 1, 1); /* the third */
    deliver(&a, &f, 1000001);
    assert_int_equal(a.n_wc, 1);
    assert_true(pull(&a, 1000001, &f));
    assert_int_equal(psn_of(&f), 2);
    assert_false(pull(&a, 1000001, &f));
    make_answer(&f, 0x1f, 3, 2); /* a ghost: never sent */
    assert_int_equal(deliver(&a, &f, 0), WF_QP_DISCARDED);
    make_answer(&f, 0x1f, 0xfffffe, 2); /* from before the beginning */
    assert_int_equal(deliver(&a, &f, 0), WF_QP_DISCARDED);
    make_answer(&f, 0x1f, 2, 2);
    assert_int_equal(deliver(&a, &f, 0), WF_QP_TAKEN);
    assert_int_equal(a.n_wc, 2);
}

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

/* Feed the RoCE requests of one connection of a capture to b; its answers to the same connection,
 * as 4 bytes of PSN and AETH each, stand in the capture too. */
struct answers {
    uint32_t n;
    uint8_t aeth[64][8];
};

static void note(struct answers *s, const uint8_t *bth)
{
    assert_true(s->n < 64);
    wf_st32(s->aeth[s->n], wf_ld24(bth + 9));
    memcpy(s->aeth[s->n++] + 4, bth + 12, 4);
}

/* The shipped capture: WRITE over the wrap and its ACK, then a packet beyond a gap and its NAK. */
static void test_against_shipped_capture(void **state)
{
    struct answers ours = {0}, theirs = {0};
    struct wf_qp_cfg cfg = end_cfg(0xfffffe, 1024, 1 << 20);
    char path[4096], err[PCAP_ERRBUF_SIZE];
    const char *src = getenv("WEFT_SOURCE");
    struct pcap_pkthdr *h;
    const uint8_t *data;
    pcap_t *pc;

    snprintf(path, sizeof(path), "%s/captures/rocev2-vlan-ecn-cnp.pcap", src ? src : ".");
    pc = pcap_open_offline(path, err);
    if (!pc)
        fail_msg("%s", err);
    end_init(&b, &cfg);
    b.mr.base = NULL;
    b.mr.va = 0;
    b.mr.len = UINT64_MAX;
    while (pcap_next_ex(pc, &h, &data) == 1) {
        struct wf_parsed p;
        struct frame f = {0};

        if (wf_parse(data, h->caplen, h->len, &p) || !(p.flags & WF_P_BTH))
            continue;
        if (p.opcode == 0x11 && WF_AETH_KIND(p.aeth_syndrome) != 1)
            note(&theirs, data + p.bth_off); /* all but the RNR NAK */
        if (p.dqpn != 0x11)
            continue;
        f.hdr_len = (uint32_t)(p.payload_off - p.bth_off);
        memcpy(f.hdr, data + p.bth_off, f.hdr_len);
        f.payload_len = p.payload_len;
        if (p.opcode == 0x06)
            b.mr.rkey = wf_ld32(f.hdr + 20);
        deliver(&b, &f, 0);
        if (pull(&b, 0, &f))
            note(&ours, f.hdr);
    }
    pcap_close(pc);
    assert_int_equal(theirs.n, 2);
    assert_int_equal(ours.n, theirs.n);
    assert_memory_equal(ours.aeth, theirs.aeth, 8 * ours.n);
    assert_int_equal(b.qp.resp.bytes, 3072);
}

/*
 * A real soft-RoCE capture holds SENDs in two packets each. With their PSNs and AckReq bits, as
 * WRITEs, our responder must answer as the real one did: the same PSNs and MSNs in the same order
 * (credits, which we don't count, aside). The last three packets are left out: a shorter message,
 * of which the real one acknowledged a packet that did not ask, and one of another kind.
 */
static void test_against_real_capture(void **state)
{
    struct answers ours = {0}, theirs = {0};
    struct wf_qp_cfg cfg = end_cfg(0, 1024, 1 << 20);
    struct pcap_pkthdr *h;
    const uint8_t *data;
    pcap_t *pc = capture_open("roce-softroce.pcap");

    if (!pc)
        skip();
    end_init(&b, &cfg);
    while (pcap_next_ex(pc, &h, &data) == 1) {
        static const uint8_t turned[] = {[0] = 0x06, [3] = 0x08};
        struct wf_parsed p;
        struct frame f = {0};

        if (wf_parse(data, h->caplen, h->len, &p) || !(p.flags & WF_P_BTH))
            continue;
        if (p.psn >= 64)
            continue;
        if (p.dqpn == 0x48 && p.opcode == 0x11)
            note(&theirs, data + p.bth_off);
        if (p.dqpn != 0x45 || (p.opcode != 0 && p.opcode != 3))
            continue;
        memcpy(f.hdr, data + p.bth_off, 12);
        f.hdr[0] = turned[p.opcode];
        f.hdr_len = 12;
        if (p.opcode == 0) { /* 1,024 bytes here and as many in the Last */
            wf_st64(f.hdr + 12, MEM_VA);
            wf_st32(f.hdr + 20, MEM_RKEY);
            wf_st32(f.hdr + 24, 2048);
            f.hdr_len = 28;
        }
        f.payload_len = 1024;
        assert_int_equal(deliver(&b, &f, 0), WF_QP_TAKEN);
        if (pull(&b, 0, &f))
            note(&ours, f.hdr);
    }
    pcap_close(pc);
    assert_int_equal(theirs.n, 33);
    assert_int_equal(ours.n, theirs.n);
    for (uint32_t i = 0; i < ours.n; i++)
        theirs.aeth[i][4] = 0x1f;
    assert_memory_equal(ours.aeth, theirs.aeth, 8 * ours.n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_segmentation),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_psn_span),
        cmocka_unit_test(test_full_queue),
        cmocka_unit_test(test_nak_once_per_gap),
        cmocka_unit_test(test_nak_again),
        cmocka_unit_test(test_duplicates_are_acked_again),
        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_error_is_final),
        cmocka_unit_test(test_progress_renews_retries),
        cmocka_unit_test(test_ack_ahead_of_resend),
        cmocka_unit_test(test_remote_errors),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_within),
        cmocka_unit_test(test_nothing_to_place),
        cmocka_unit_test(test_not_ours),
        cmocka_unit_test(test_config),
        cmocka_unit_test(test_against_shipped_capture),
        cmocka_unit_test(test_against_real_capture),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
