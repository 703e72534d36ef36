/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Out-of-order placement with selective NAK: the bytes of it, losses and reordering that cost what
 * is lost and no more, data that is right in the end; most of it of WRITEs (sel_ops has the rest).
 */
#include "pair.h"

#include "../wire/hex.h"
#include "base/prng.h"
#include "xport/sel.h"

static struct wf_qp_sel sel_a, sel_b;
static struct wf_sel_early sel_b_early, *early = &sel_b_early;
static uint8_t data[65536];

static void fresh(uint32_t psn, uint32_t mtu)
{
    struct wf_qp_cfg cfg = end_cfg(psn, mtu, 1 << 20);

    fill(data, sizeof(data), 11);
    cfg.retransmit = WF_SELECTIVE;
    cfg.rnr_retry = 7;
    begin_with(cfg);
    end_serve(&b, 2);
    assert_int_equal(wf_qp_set_sel(&a.qp, &sel_a, NULL), 0);
    assert_int_equal(wf_qp_set_sel(&b.qp, &sel_b, early), 0);
}

/* Twelve packets of which the second is lost: each says where it goes, the NAK which are here, and
 * the lost one alone comes again, once. */
static void test_bytes(void **state)
{
    struct frame f[12], nak, g;
    uint8_t bytes[64];

    fresh(0xfffffe, 256);
    assert_int_equal(post_write(&a, 1, data, 12 * 256 - 56, MEM_VA), 0);
    for (int i = 0; i < 12; i++)
        assert_true(pull(&a, 0, &f[i]));
    hex_bytes("0a 40 ffff 00 000022 00 000001 00007f0012340300 00001234 00000100", bytes, 64);
    assert_memory_equal(f[3].hdr, bytes, 28);
    hex_bytes("0a 40 ffff 00 000022 80 000009 00007f0012340b00 00001234 000000c8", bytes, 64);
    assert_memory_equal(f[11].hdr, bytes, 28);
    for (int i = 0; i < 12; i++)
        if (i != 1)
            deliver(&b, &f[i], 0);
    assert_true(pull(&b, 0, &nak));
    hex_bytes("12 40 ffff 00 000011 00 ffffff 7f 000000 00000000000003ff", bytes, 64);
    assert_int_equal(nak.hdr_len, 24);
    assert_memory_equal(nak.hdr, bytes, 24);
    assert_false(pull(&b, 0, &g));
    assert_int_equal(deliver(&a, &nak, 0), WF_QP_TAKEN);
    assert_true(pull(&a, 0, &g));
    assert_int_equal(psn_of(&g), 0xffffff);
    assert_true(g.again);
    assert_int_equal(deliver(&a, &nak, 0), WF_QP_TAKEN); /* the same once more */
    assert_false(pull(&a, 0, &nak));
    deliver(&b, &g, 0);
    assert_true(pull(&b, 0, &nak));
    hex_bytes("11 40 ffff 00 000011 00 000009 1f 00000c", bytes, 64);
    assert_memory_equal(nak.hdr, bytes, 16);
    deliver(&a, &nak, 0);
    assert_int_equal(a.n_wc, 1);
    assert_memory_equal(b.mem + GUARD, data, 12 * 256 - 56);
    assert_int_equal(a.qp.req.retx_packets, 1);
    assert_int_equal(wf_qp_timer_ps(&a.qp), WF_TIME_NEVER);
}

/* Packets that swap places by less than the tolerance are placed, and nothing is sent again. */
static void test_reordering_costs_nothing(void **state)
{
    struct frame f[7];

    fresh(0, 256);
    assert_int_equal(post_write(&a, 1, data, 70 * 256, MEM_VA), 0);
    for (int round = 0; round < 10; round++) {
        struct frame g;

        for (int i = 0; i < 7; i++)
            assert_true(pull(&a, 0, &f[i]));
        for (int i = 6; i >= 0; i--) {
            deliver(&b, &f[i], 0);
            if (pull(&b, 0, &g))
                deliver(&a, &g, 0);
        }
    }
    assert_int_equal(a.n_wc, 1);
    assert_int_equal(a.qp.req.retx_packets, 0);
    assert_int_equal(a.qp.req.naks, 0);
    assert_int_equal(sel_b.placed, 60);
    assert_memory_equal(b.mem + GUARD, data, 70 * 256);
}

/* A message of more packets than may be in flight, in a window that is larger still: an answer is
 * asked for before they are used up, so nobody waits for the timer. */
static void test_asks_within_the_span(void **state)
{
    for (uint64_t ask = 0; ask <= 1 << 29; ask += 1 << 28) {
        struct wf_qp_cfg cfg = end_cfg(0, 256, 1 << 30);

        cfg.retransmit = WF_SELECTIVE;
        cfg.ask_bytes = ask;
        end_init(&a, &cfg);
        cfg.qpn = 0x22;
        cfg.dqpn = 0x11;
        end_init(&b, &cfg);
        b.mr.len = 4 * WF_SEL_SPAN * 256;
        b.mr.base = NULL;
        assert_int_equal(wf_qp_set_sel(&a.qp, &sel_a, NULL), 0);
        assert_int_equal(wf_qp_set_sel(&b.qp, &sel_b, early), 0);
        assert_int_equal(post_write(&a, 1, NULL, 4 * WF_SEL_SPAN * 256, MEM_VA), 0);
        run_both(0);
        assert_int_equal(a.n_wc, 1);
        assert_int_equal(a.qp.req.retx_packets, 0);
    }
}

/* A wire that loses, repeats and shuffles both ways: all arrives, right and in order. */
static void test_hostile_wire(void **state)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct frame air[64];
        uint32_t n = 0, lost = 0, posted = 0;
        struct wf_prng p;
        uint64_t now = 0;

        fresh(0xffff80, 256);
        wf_prng_init(&p, seed, "wire");
        for (uint32_t turn = 0; a.n_wc < 40 && turn < 200000; turn++) {
            struct frame f;
            uint64_t t = wf_qp_timer_ps(&a.qp);
            bool sent = false;

            while (posted < 40 &&
                   !post_write(&a, posted, data + posted * 1600, 1600, MEM_VA + posted * 1600ull))
                posted++;
            for (int e = 0; e < 2 && n < 62; e++)
                if (pull(e ? &b : &a, now, &f)) {
                    sent = true;
                    if (wf_prng_below(&p, 20) == 0) {
                        lost++;
                        continue;
                    }
                    f.again = e; /* whose it is */
                    air[n++] = f;
                    if (wf_prng_below(&p, 50) == 0)
                        air[n++] = f;
                }
            if (n && (!sent || wf_prng_below(&p, 2))) {
                uint32_t i = (uint32_t)wf_prng_below(&p, n < 5 ? n : 5);

                f = air[i];
                memmove(air + i, air + i + 1, (--n - i) * sizeof(f));
                deliver(f.again ? &a : &b, &f, now);
            } else if (!n && !sent && t != WF_TIME_NEVER) {
                now = t;
                wf_qp_tick(&a.qp, now);
            }
        }
        assert_int_equal(a.n_wc, 40);
        for (uint32_t i = 0; i < 40; i++) {
            assert_int_equal(a.wc[i].id, i);
            assert_int_equal(a.wc[i].status, WF_WC_SUCCESS);
        }
        assert_memory_equal(b.mem + GUARD, data, 64000);
        assert_int_equal(b.qp.state, WF_QP_READY);
        assert_true(a.qp.req.retx_packets < 12 * lost + 40);
        end_guards(&b);
    }
}

/* What comes backwards gets there all the same. */
static void test_the_rest(void **state)
{
    struct frame f[8], g;

    fresh(0, 256);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(post_recv(&b, i, 32768 + 512 * (uint32_t)i, 512), 0);
    assert_int_equal(post_write(&a, 0, data, 256, MEM_VA), 0);
    assert_int_equal(post_op(&a, WF_WORK_SEND, 1, data, 500), 0);
    assert_int_equal(post_op(&a, WF_WORK_WRITE_IMM, 2, data, 500), 0);
    assert_int_equal(post_op(&a, WF_WORK_READ, 3, data, 500), -22);
    for (int i = 0; i < 5; i++)
        assert_true(pull(&a, 0, &f[i]));
    assert_false(pull(&a, 0, &g));
    assert_int_equal(f[3].hdr[0], 0x0a);
    assert_int_equal(f[4].hdr[0], 0x0b);
    for (int i = 4; i > 0; i--)
        deliver(&b, &f[i], 0);
    run_both(0);
    while (wf_qp_timer_ps(&a.qp) != WF_TIME_NEVER) {
        wf_qp_tick(&a.qp, wf_qp_timer_ps(&a.qp));
        run_both(0);
    }
    assert_int_equal(a.n_wc, 3);
    assert_int_equal(b.n_rwc, 2);
    assert_int_equal(b.rwc[0].op, WF_WORK_SEND);
    assert_int_equal(b.rwc[0].len, 500);
    assert_int_equal(b.rwc[1].imm, 0xabcd0002);
    assert_memory_equal(b.mem + GUARD + 32768, data, 500);
    assert_memory_equal(b.mem + GUARD, data, 500);
}

/* A packet that comes early and may not be placed is refused when its turn comes. */
static void test_refused_in_turn(void **state)
{
    struct frame f[2], g;

    fresh(0, 256);
    assert_int_equal(post_write(&a, 1, data, 8, MEM_VA), 0);
    assert_int_equal(post_write(&a, 2, data, 8, MEM_VA + MEM_LEN), 0);
    assert_true(pull(&a, 0, &f[0]) && pull(&a, 0, &f[1]));
    deliver(&b, &f[1], 0);
    assert_int_equal(b.qp.state, WF_QP_READY);
    deliver(&b, &f[0], 0);
    while (pull(&b, 0, &g))
        deliver(&a, &g, 0);
    assert_int_equal(a.n_wc, 1);
    assert_int_equal(a.wc[0].status, WF_WC_SUCCESS);
    wf_qp_tick(&a.qp, wf_qp_timer_ps(&a.qp));
    run_both(0);
    assert_int_equal(a.n_wc, 2);
    assert_int_equal(a.wc[1].status, WF_WC_REM_ACCESS);
    end_guards(&b);
}

/* No receive for what is expected while what follows is here already, or comes before the RNR NAK
 * is out: the RNR NAK is said, and when there is a receive nothing waits for the timer of losses.
 */
static void test_rnr_nak_stays(void **state)
{
    for (int early_first = 0; early_first < 2; early_first++) {
        struct frame f[2], g;

        fresh(0, 256);
        assert_int_equal(post_op(&a, WF_WORK_WRITE_IMM, 1, data, 200), 0);
        assert_int_equal(post_write(&a, 2, data, 100, MEM_VA + 200), 0);
        assert_true(pull(&a, 0, &f[0]) && pull(&a, 0, &f[1]));
        deliver(&b, &f[early_first], 0);
        if (early_first) {
            assert_true(pull(&b, 0, &g));
            assert_int_equal(g.hdr[12], WF_SEL_SYNDROME);
            deliver(&a, &g, 0);
        }
        deliver(&b, &f[!early_first], 0);
        assert_int_equal(sel_b.placed, 1);
        assert_true(pull(&b, 0, &g));
        assert_int_equal(g.hdr[0], 0x11);
        assert_int_equal(g.hdr[12], WF_AETH_RNR_NAK);
        assert_int_equal(psn_of(&g), 0);
        deliver(&a, &g, 0);
        assert_int_equal(post_recv(&b, 7, 32768, 8), 0);
        assert_int_equal(wf_qp_timer_ps(&a.qp), wf_rnr_timer_ps(0));
        wf_qp_tick(&a.qp, wf_rnr_timer_ps(0));
        run_both(wf_rnr_timer_ps(0));
        assert_int_equal(a.n_wc, 2);
        assert_int_equal(b.n_rwc, 1);
        assert_int_equal(a.qp.req.timeouts, 0);
        assert_int_equal(b.qp.respm.rnr_naks, 1);
        assert_memory_equal(b.mem + GUARD, data, 200);
        assert_memory_equal(b.mem + GUARD + 200, data, 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_reordering_costs_nothing),
        cmocka_unit_test(test_hostile_wire),
        cmocka_unit_test(test_the_rest),
        cmocka_unit_test(test_refused_in_turn),
        cmocka_unit_test(test_rnr_nak_stays),
        cmocka_unit_test(test_asks_within_the_span),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
