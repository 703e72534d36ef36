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
#include "net/halves.h"
#include "wire/bth.h"
#include "wire/cm.h"

enum { HALVES = 16, SEND = WF_SERVICE_RC | WF_OP_SEND_ONLY, ACK = WF_SERVICE_RC | WF_OP_ACK };

static const uint8_t us[16] = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 9};
static const uint8_t peer_a[16] = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 1};
static const uint8_t peer_b[16] = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 2};

static struct wf_arena arena;
static struct wf_halves t;
static struct wf_pairing *const p = &t.pairing;

static int begin(void **state)
{
    (void)state;
    wf_halves_init(&t, &arena, HALVES, sizeof(struct wf_half));
    return 0;
}

static int end(void **state)
{
    (void)state;
    wf_arena_free(&arena);
    return 0;
}

static void passes(const uint8_t *src, const uint8_t *dst, uint32_t to, uint8_t opcode,
                   uint32_t psn, uint16_t sport)
{
    wf_pairing_packet(p, wf_halves_see(&t, src, dst, to), opcode, psn & WF_PSN_MASK, sport);
}

static void send(uint32_t to, uint32_t psn)
{
    passes(us, peer_a, to, SEND, psn, 0);
}

static void ack(uint32_t to, uint32_t psn)
{
    passes(peer_a, us, to, ACK, psn, 0);
}

/* The peer's queue pair that ours talks to; 0: not known. */
static uint32_t mate_of(uint32_t own)
{
    const struct wf_half *h = wf_halves_find(&t, peer_a, us, own);

    return h && h->mate ? h->mate->qpn : 0;
}

static struct wf_half *out(uint32_t qpn)
{
    return wf_halves_find(&t, us, peer_a, qpn);
}

static void an_ack_names_its_sender(void **state)
{
    (void)state;
    send(0x22, 100);
    send(0x22, 101);
    assert_int_equal(mate_of(0x11), 0);
    ack(0x11, 101);
    assert_int_equal(mate_of(0x11), 0x22);
    assert_int_equal(out(0x22)->mate->qpn, 0x11);
    assert_int_equal(out(0x22)->how, WF_PAIRED_PSN);
    assert_int_equal(p->by_psn, 1);
    for (uint32_t psn = 0xfffffe; psn <= 0x1000000; psn++) /* seen from the other side */
        passes(peer_a, us, 0x13, SEND, psn, 0);
    passes(us, peer_a, 0x24, ACK, 0, 0); /* across the wrap */
    assert_int_equal(mate_of(0x13), 0x24);
}

/* Where both addresses are the same, as a stranger may write them, both directions are. */
static void nobody_is_a_mate_of_itself(void **state)
{
    const struct wf_half *h;

    (void)state;
    passes(us, us, 0x22, SEND, 100, 0);
    passes(us, us, 0x22, ACK, 100, 0);
    h = wf_halves_find(&t, us, us, 0x22);
    assert_null(h->mate);
    passes(us, us, 0x11, ACK, 100, 0);
    assert_ptr_equal(h->mate, wf_halves_find(&t, us, us, 0x11));
    assert_ptr_equal(h->mate->mate, h);
}

static void two_that_fit_are_ambiguous_until_one_does_not(void **state)
{
    (void)state;
    send(0x22, 100);
    send(0x23, 100);
    ack(0x11, 100);
    assert_int_equal(mate_of(0x11), 0);
    assert_int_equal(p->ambiguous, 1);
    send(0x22, 101); /* only one has come so far */
    ack(0x11, 101);
    assert_int_equal(mate_of(0x11), 0x22);
    ack(0x12, 100); /* and then there is only one left */
    assert_int_equal(mate_of(0x12), 0x23);
}

static void ports_tell_two_that_fit(void **state)
{
    (void)state;
    passes(us, peer_a, 0x22, SEND, 100, 50000);
    passes(us, peer_a, 0x23, SEND, 100, 50001);
    passes(peer_a, us, 0x11, ACK, 100, 50001);
    assert_int_equal(mate_of(0x11), 0x23);
    assert_int_equal(out(0x23)->how, WF_PAIRED_PORT);
    assert_int_equal(p->ambiguous, 0);
    passes(us, peer_a, 0x24, SEND, 300, 50009); /* numbers are more than ports */
    passes(us, peer_a, 0x25, SEND, 400, 50005);
    passes(peer_a, us, 0x12, ACK, 300, 50005);
    assert_int_equal(mate_of(0x12), 0x24);
}

static void what_does_not_fit_joins_nothing(void **state)
{
    (void)state;
    send(0x22, 100);
    ack(0x11, 99);
    ack(0x11, 101);
    passes(peer_b, us, 0x11, ACK, 100, 0);     /* another host's */
    passes(peer_a, peer_b, 0x11, ACK, 100, 0); /* to another one */
    passes(us, peer_a, 0x26, WF_SERVICE_UC | WF_OP_SEND_ONLY, 500, 0);
    ack(0x11, 500); /* UC has no answers */
    assert_int_equal(mate_of(0x11), 0);
    assert_int_equal(p->by_psn, 0);
}

/* A READ of three packets takes three numbers; the next request follows them. */
static void read_responses_are_of_their_request(void **state)
{
    (void)state;
    passes(us, peer_a, 0x22, WF_SERVICE_RC | WF_OP_READ_REQUEST, 100, 0);
    passes(peer_a, us, 0x11, WF_SERVICE_RC | WF_OP_READ_RESPONSE_FIRST, 100, 0);
    passes(peer_a, us, 0x11, WF_SERVICE_RC | WF_OP_READ_RESPONSE_MIDDLE, 101, 0);
    passes(peer_a, us, 0x11, WF_SERVICE_RC | WF_OP_READ_RESPONSE_LAST, 102, 0);
    assert_int_equal(mate_of(0x11), 0x22);
    assert_int_equal(p->parted, 0);
    ack(0x11, 102);
    assert_int_equal(mate_of(0x11), 0x22);
}

/* The connection manager is right, whatever PSNs look like. */
static void the_connection_manager_says_it(void **state)
{
    (void)state;
    wf_pairing_told(p, wf_halves_see(&t, peer_a, us, 0x11), wf_halves_see(&t, us, peer_a, 0x22));
    assert_int_equal(mate_of(0x11), 0x22);
    send(0x22, 100);
    send(0x23, 100);
    ack(0x11, 100);
    assert_int_equal(p->ambiguous, 0);
    ack(0x11, 105); /* what it asked went another way */
    assert_int_equal(mate_of(0x11), 0x22);
    ack(0x12, 100);
    assert_int_equal(mate_of(0x12), 0x23);
    wf_pairing_told(p, wf_halves_see(&t, peer_a, us, 0x11), wf_halves_see(&t, us, peer_a, 0x25));
    assert_int_equal(mate_of(0x11), 0x25); /* used anew */
    assert_null(out(0x22)->mate);
    assert_int_equal(p->by_cm, 2);
}

static void mad(const uint8_t *src, const uint8_t *dst, const struct wf_cm_msg *m,
                enum wf_pair_mad want)
{
    uint8_t bytes[WF_MAD_LEN];

    wf_cm_msg_put(bytes, m);
    assert_int_equal(wf_pairing_mad(p, NULL, src, dst, bytes, WF_MAD_LEN), want);
    bytes[0] = 0; /* no MAD */
    bytes[1] = 3;
    assert_int_equal(wf_pairing_mad(p, NULL, src, dst, bytes, WF_MAD_LEN), WF_PAIR_NO_CM);
}

/* Two exchanges at once, from both sides; who begins with which PSN says the other's message. */
static void its_messages_are_read(void **state)
{
    struct wf_cm_msg m;

    (void)state;
    wf_cm_msg_init(&m, WF_CM_REQ, 1);
    m.req = (struct wf_cm_req){.local_comm_id = 70, .local_qpn = 0x11, .starting_psn = 900};
    mad(us, peer_a, &m, WF_PAIR_CM);
    m.req = (struct wf_cm_req){.local_comm_id = 70, .local_qpn = 0x31, .starting_psn = 5};
    mad(peer_a, us, &m, WF_PAIR_CM);
    wf_cm_msg_init(&m, WF_CM_REP, 1);
    m.rep = (struct wf_cm_rep){
        .local_comm_id = 8, .remote_comm_id = 71, .local_qpn = 0x22, .starting_psn = 100};
    mad(peer_a, us, &m, WF_PAIR_CM); /* to what was not asked */
    assert_int_equal(mate_of(0x11), 0);
    m.rep.remote_comm_id = 70;
    mad(peer_b, us, &m, WF_PAIR_CM);
    mad(peer_a, us, &m, WF_PAIR_TOLD);
    assert_int_equal(mate_of(0x11), 0x22);
    assert_int_equal(out(0x22)->first_psn, 100);
    assert_int_equal(out(0x22)->mate->first_psn, 900);
    assert_int_equal(out(0x22)->how, WF_PAIRED_CM);
    mad(peer_a, us, &m, WF_PAIR_CM); /* once */
    m.rep.local_qpn = 0x32;
    mad(us, peer_a, &m, WF_PAIR_TOLD);
    assert_int_equal(mate_of(0x32), 0x31);
    assert_int_equal(p->by_cm, 2);
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
    assert_int_equal(p->parted, 1);
    wf_pairing_told(p, wf_halves_see(&t, peer_a, us, 0x11), wf_halves_see(&t, us, peer_a, 0x22));
    send(0x22, 100);
    send(0x24, 700000);
    ack(0x11, 700000); /* far from all that the connection manager's mate can have asked */
    assert_int_equal(mate_of(0x11), 0x24);
}

/* Packets may be missing in a capture: what is near fits, what was seen fits better. */
static void a_capture_is_loose(void **state)
{
    (void)state;
    p->loose = true;
    send(0x22, 100);
    ack(0x11, 103);
    assert_int_equal(mate_of(0x11), 0x22);
    ack(0x11, 900000);
    assert_int_equal(p->parted, 0);
    send(0x23, 500);
    send(0x24, 510);
    ack(0x12, 510);
    assert_int_equal(mate_of(0x12), 0x24);
    ack(0x13, 300000);
    assert_int_equal(mate_of(0x13), 0);
}

static void what_is_alone_is_alone(void **state)
{
    (void)state;
    send(0x22, 100);
    passes(peer_a, us, 0x11, WF_OPCODE_CNP, 0, 0);
    passes(peer_a, us, 0x12, WF_SERVICE_UD | WF_OP_SEND_ONLY, 0, 0);
    wf_pairing_alone(p, out(0x22));
    assert_int_equal(mate_of(0x11), 0x22);
    assert_int_equal(out(0x22)->how, WF_PAIRED_ADDRESS);
    passes(us, peer_b, 0x22, SEND, 1, 0);
    passes(peer_b, us, 0x11, SEND, 1, 0);
    passes(peer_b, us, 0x12, SEND, 1, 0);
    wf_pairing_alone(p, wf_halves_find(&t, us, peer_b, 0x22));
    wf_pairing_alone(p, wf_halves_find(&t, peer_b, us, 0x11));
    assert_null(wf_halves_find(&t, us, peer_b, 0x22)->mate);
}

static uint32_t gone;

static void count_gone(void *arg, struct wf_half *h)
{
    assert_ptr_equal(arg, &t);
    assert_ptr_equal(wf_halves_find(&t, h->src, h->dst, h->qpn), h);
    gone++;
}

/* What others have not been seen for long enough stays. */
static void the_young_stay(void **state)
{
    (void)state;
    t.keep = 20;
    for (uint32_t i = 0; i < HALVES; i++)
        send(0x20 + i, 100);
    assert_null(wf_halves_see(&t, us, peer_b, 1));
    assert_int_equal(t.refused, 1);
    for (uint32_t i = 0; i < 5; i++)
        send(0x2f, 101 + i);
    assert_non_null(wf_halves_see(&t, us, peer_b, 1));
    assert_null(out(0x20));
    assert_non_null(out(0x21));
    assert_int_equal(t.evicted, 1);
}

/* Whatever is sent, memory stays what it is and no couple is crooked. */
static void any_packets_are_safe(void **state)
{
    struct wf_prng r;
    unsigned n = 0, chained = 0;

    (void)state;
    gone = 0;
    t.evict = count_gone;
    t.arg = &t;
    wf_prng_init(&r, 1, "pairing");
    for (int i = 0; i < 20000; i++) {
        const uint8_t *peer = wf_prng_u64(&r) & 1 ? peer_a : peer_b;
        const uint8_t *src = wf_prng_u64(&r) & 1 ? peer : us, *dst = src == us ? peer : us;
        uint32_t qpn = (uint32_t)wf_prng_below(&r, 24), psn = (uint32_t)wf_prng_below(&r, 8);

        if (wf_prng_below(&r, 3) == 0)
            passes(src, dst, qpn, ACK, psn, 0);
        else if (wf_prng_below(&r, 20))
            passes(src, dst, qpn, SEND, psn, 0);
        else
            wf_pairing_told(p, wf_halves_see(&t, peer, us, qpn),
                            wf_halves_see(&t, us, peer, qpn + 1));
    }
    for (struct wf_half *h = t.oldest; h; h = h->newer) {
        n++;
        assert_true(!h->mate || (h->mate->mate == h && !memcmp(h->mate->src, h->dst, 16) &&
                                 !memcmp(h->mate->dst, h->src, 16)));
        assert_ptr_equal(wf_halves_find(&t, h->src, h->dst, h->qpn), h);
    }
    for (int i = 0; i < 4; i++) {
        const uint8_t *peer = i & 1 ? peer_a : peer_b;
        struct wf_half *h = wf_pairing_between(p, i & 2 ? us : peer, i & 2 ? peer : us);

        for (; h; h = wf_pairing_next(h))
            chained++;
    }
    assert_int_equal(n, HALVES);
    assert_int_equal(chained, HALVES);
    assert_int_equal(gone, t.evicted);
    assert_true(t.evicted > 1000 && p->by_psn > 100 && p->ambiguous > 10);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(an_ack_names_its_sender),
        TEST(nobody_is_a_mate_of_itself),
        TEST(two_that_fit_are_ambiguous_until_one_does_not),
        TEST(ports_tell_two_that_fit),
        TEST(what_does_not_fit_joins_nothing),
        TEST(read_responses_are_of_their_request),
        TEST(the_connection_manager_says_it),
        TEST(its_messages_are_read),
        TEST(a_wrong_couple_parts),
        TEST(a_capture_is_loose),
        TEST(what_is_alone_is_alone),
        TEST(the_young_stay),
        TEST(any_packets_are_safe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
