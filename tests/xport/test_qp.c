/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue pair step by step: bytes on the wire against bytes typed by hand, segmentation, the
 * window, ACK, NAK, duplicates, timeouts and retries.
 */
#include "pair.h"

#include "../wire/hex.h"

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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
