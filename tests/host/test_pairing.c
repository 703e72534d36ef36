/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which queue pairs belong together: connections that a list of packets makes up, and what is to be
 * known of them at each point.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "host/pairing.h"

enum { HALVES = 16 };

static const uint8_t peer_a[16] = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 1};
static const uint8_t peer_b[16] = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 2};

static struct wf_half halves[HALVES], *hash[32];
static struct wf_pairing p;

static int begin(void **state)
{
    (void)state;
    memset(halves, 0, sizeof(halves));
    memset(hash, 0, sizeof(hash));
    wf_pairing_init(&p, halves, HALVES, hash, 32);
    return 0;
}

static void send(uint32_t to, uint32_t psn)
{
    wf_pairing_request(&p, WF_PAIR_OUT, peer_a, to, psn);
}

static void ack(uint32_t to, uint32_t psn)
{
    wf_pairing_answer(&p, WF_PAIR_IN, peer_a, to, psn);
}

/* The peer's queue pair that ours talks to; 0: not known. */
static uint32_t mate_of(uint32_t own)
{
    const struct wf_half *h = wf_pairing_find(&p, WF_PAIR_IN, peer_a, own);

    return h && h->mate ? h->mate->qpn : 0;
}

static void an_ack_names_its_sender(void **state)
{
    (void)state;
    send(0x22, 100);
    send(0x22, 101);
    assert_int_equal(mate_of(0x11), 0);
    ack(0x11, 101);
    assert_int_equal(mate_of(0x11), 0x22);
    assert_int_equal(wf_pairing_find(&p, WF_PAIR_OUT, peer_a, 0x22)->mate->qpn, 0x11);
    assert_int_equal(p.by_psn, 1);
    wf_pairing_request(&p, WF_PAIR_IN, peer_a, 0x13, 0xfffffe); /* seen from the other side */
    wf_pairing_request(&p, WF_PAIR_IN, peer_a, 0x13, 0xffffff);
    wf_pairing_request(&p, WF_PAIR_IN, peer_a, 0x13, 0);
    wf_pairing_answer(&p, WF_PAIR_OUT, peer_a, 0x24, 0); /* across the wrap */
    assert_int_equal(mate_of(0x13), 0x24);
}

static void two_that_fit_are_ambiguous_until_one_does_not(void **state)
{
    (void)state;
    send(0x22, 100);
    send(0x23, 100);
    ack(0x11, 100);
    assert_int_equal(mate_of(0x11), 0);
    assert_int_equal(p.ambiguous, 1);
    send(0x22, 101); /* only one has come so far */
    ack(0x11, 101);
    assert_int_equal(mate_of(0x11), 0x22);
    ack(0x12, 100); /* and then there is only one left */
    assert_int_equal(mate_of(0x12), 0x23);
}

static void what_does_not_fit_joins_nothing(void **state)
{
    (void)state;
    send(0x22, 100);
    ack(0x11, 99);
    ack(0x11, 101);
    wf_pairing_answer(&p, WF_PAIR_IN, peer_b, 0x11, 100); /* another host's */
    assert_int_equal(mate_of(0x11), 0);
    assert_int_equal(p.by_psn, 0);
}

/* The connection manager is right, whatever PSNs look like. */
static void the_connection_manager_says_it(void **state)
{
    (void)state;
    wf_pairing_told(&p, peer_a, 0x11, 0x22);
    assert_int_equal(mate_of(0x11), 0x22);
    send(0x22, 100);
    send(0x23, 100);
    ack(0x11, 100);
    assert_int_equal(p.ambiguous, 0);
    ack(0x12, 100);
    assert_int_equal(mate_of(0x12), 0x23);
    wf_pairing_told(&p, peer_a, 0x11, 0x25); /* used anew */
    assert_int_equal(mate_of(0x11), 0x25);
    assert_null(wf_pairing_find(&p, WF_PAIR_OUT, peer_a, 0x22)->mate);
    assert_int_equal(p.by_cm, 2);
}

/* A queue pair that was destroyed and made again is another one. */
static void a_wrong_couple_parts(void **state)
{
    (void)state;
    send(0x22, 100);
    ack(0x11, 100);
    send(0x23, 900000);
    ack(0x11, 900000);
    assert_int_equal(mate_of(0x11), 0x23);
    assert_int_equal(p.parted, 1);
}

static uint32_t gone;

static void count_gone(void *arg, struct wf_half *h)
{
    assert_ptr_equal(arg, &p);
    assert_true(h->used);
    gone++;
}

/* Whatever is sent, memory stays what it is and no couple is crooked. */
static void any_packets_are_safe(void **state)
{
    struct wf_prng r;
    unsigned n = 0;

    (void)state;
    gone = 0;
    p.evict = count_gone;
    p.arg = &p;
    wf_prng_init(&r, 1, "pairing");
    for (int i = 0; i < 20000; i++) {
        enum wf_pair_dir dir = wf_prng_u64(&r) & 1;
        const uint8_t *peer = wf_prng_u64(&r) & 1 ? peer_a : peer_b;
        uint32_t qpn = (uint32_t)wf_prng_below(&r, 24), psn = (uint32_t)wf_prng_below(&r, 8);

        if (wf_prng_below(&r, 3) == 0)
            wf_pairing_answer(&p, dir, peer, qpn, psn);
        else if (wf_prng_below(&r, 20))
            wf_pairing_request(&p, dir, peer, qpn, psn);
        else
            wf_pairing_told(&p, peer, qpn, qpn + 1);
    }
    for (struct wf_half *h = p.oldest; h; h = h->newer) {
        n++;
        assert_true(!h->mate || (h->mate->mate == h && h->mate->dir != h->dir &&
                                 !memcmp(h->mate->peer, h->peer, 16)));
        assert_ptr_equal(wf_pairing_find(&p, h->dir, h->peer, h->qpn), h);
    }
    assert_int_equal(n, HALVES);
    assert_int_equal(gone, p.evicted);
    assert_true(p.evicted > 1000 && p.by_psn > 100 && p.ambiguous > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_ack_names_its_sender, begin),
        cmocka_unit_test_setup(two_that_fit_are_ambiguous_until_one_does_not, begin),
        cmocka_unit_test_setup(what_does_not_fit_joins_nothing, begin),
        cmocka_unit_test_setup(the_connection_manager_says_it, begin),
        cmocka_unit_test_setup(a_wrong_couple_parts, begin),
        cmocka_unit_test_setup(any_packets_are_safe, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
