/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Model hosts that meet by the connection manager, in virtual time: one asks, the other listens,
 * and all that crosses are real frames with real bytes, which both ends check. The same frames are
 * what real hosts see; those are in tests/lab/test_peers.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "meet.h"

static void connects_writes_and_disconnects(void **state)
{
    (void)state;
    flow(PORT, 10000, 20);
    run();
    assert_int_equal(FLOW(MSGS), 20);
    assert_int_equal(FLOW(MSGS_FAILED), 0);
    assert_int_equal(FLOW(BYTES), 200000);
    assert_int_equal(FLOW(TX_PACKETS), 200);
    assert_int_equal(FLOW(RETX_PACKETS), 0);
    assert_int_equal(ENDPOINT(CM_CONNECTED), 1);
    assert_int_equal(ENDPOINT(CM_DISCONNECTED), 1);
    assert_int_equal(ENDPOINT(CM_REJECTED), 0);
    assert_int_equal(ENDPOINT(CM_RX), 3); /* REQ, RTU, DREQ */
    assert_int_equal(ENDPOINT(CM_TX), 2); /* REP, DREP */
    assert_int_equal(ENDPOINT(CM_RETX), 0);
    assert_int_equal(ENDPOINT(RX_MSGS), 20);
    assert_int_equal(ENDPOINT(RX_BYTES), 200000);
    assert_int_equal(ENDPOINT(RIGHT_BYTES), 200000);
    assert_int_equal(ENDPOINT(WRONG_BYTES), 0);
}

static void over_ipv6_at_4096(void **state)
{
    struct wf_flow_cfg *c = flow(PORT, 100001, 3);

    (void)state;
    c->family = WF_FAMILY_IP6;
    c->path_mtu = 4096;
    run();
    assert_int_equal(FLOW(MSGS), 3);
    assert_int_equal(FLOW(TX_PACKETS), 3 * 25);
    assert_int_equal(ENDPOINT(RIGHT_BYTES), 300003);
    assert_int_equal(ENDPOINT(WRONG_BYTES), 0);
}

/* What was announced and not written is told of as wrong: the comparison can fail. */
static void less_memory_takes_turns(void **state)
{
    (void)state;
    s.d.hosts[1].cfg.listen.memory_bytes = 2500;
    flow(PORT, 1000, 7);
    run();
    assert_int_equal(FLOW(MSGS), 7);
    assert_int_equal(ENDPOINT(RX_BYTES), 7000);
    assert_in_range(ENDPOINT(RIGHT_BYTES), 2000, 2020); /* of the rest few are right by chance */
    assert_int_equal(ENDPOINT(RIGHT_BYTES) + ENDPOINT(WRONG_BYTES), 2500);
}

static void nobody_listens_there(void **state)
{
    (void)state;
    flow(PORT + 1, 1000, 7);
    run();
    assert_int_equal(FLOW(MSGS), 0);
    assert_int_equal(FLOW(MSGS_FAILED), 7);
    assert_int_equal(FLOW(TX_PACKETS), 0);
    assert_int_equal(ENDPOINT(CM_REJECTED), 1);
}

/* Three times in all: at once, after one second and after two. */
static void asks_again_while_nobody_listens(void **state)
{
    (void)state;
    flow(PORT + 1, 1000, 7)->connect_wait_ps = 2 * WF_PS_PER_S + WF_PS_PER_S / 2;
    run();
    assert_int_equal(FLOW(MSGS_FAILED), 7);
    assert_int_equal(ENDPOINT(CM_REJECTED), 3);
}

/* A path MTU whose packets the listener's host can't take is refused, not found out by timeouts. */
static void a_path_mtu_that_the_host_cannot_take(void **state)
{
    (void)state;
    s.d.hosts[1].cfg.mtu = 1500;
    flow(PORT, 1000, 1)->path_mtu = 2048;
    run();
    assert_int_equal(FLOW(MSGS_FAILED), 1);
    assert_int_equal(FLOW(TX_PACKETS), 0);
    assert_int_equal(ENDPOINT(CM_REJECTED), 1);
}

static void too_many_at_once(void **state)
{
    (void)state;
    s.d.hosts[1].cfg.listen.connections = 2;
    flow(PORT, 1000, 1);
    flow(PORT, 1000, 1);
    flow(PORT, 1000, 1);
    run();
    assert_int_equal(counters("flow.f0", &wf_ctrs_flow)[WF_FLOW_MSGS] +
                         counters("flow.f1", &wf_ctrs_flow)[WF_FLOW_MSGS] +
                         counters("flow.f2", &wf_ctrs_flow)[WF_FLOW_MSGS],
                     2);
    assert_int_equal(ENDPOINT(CM_CONNECTED), 2);
    assert_int_equal(ENDPOINT(CM_REJECTED), 1);
}

static void one_after_the_other(void **state)
{
    (void)state;
    s.d.hosts[1].cfg.listen.connections = 1;
    flow(PORT, 1000, 1);
    flow(PORT, 1000, 2)->start_ps = WF_PS_PER_S; /* TimeWait is over by then */
    run();
    assert_int_equal(counters("flow.f1", &wf_ctrs_flow)[WF_FLOW_MSGS], 2);
    assert_int_equal(ENDPOINT(CM_CONNECTED), 2);
    assert_int_equal(ENDPOINT(RIGHT_BYTES), 3000);
}

static void nobody_answers(void **state)
{
    static struct wf_desc_step cut;

    (void)state;
    flow(PORT, 1000, 7);
    cut = (struct wf_desc_step){.action = WF_DO_LINK_DOWN, .link = 1};
    s.d.steps = &cut;
    s.d.n_steps = 1;
    run();
    assert_int_equal(FLOW(MSGS_FAILED), 7);
    assert_int_equal(ENDPOINT(CM_RX), 0);
}

/* Every n-th packet of either way is lost, MADs among them: all of it arrives in the end, and
 * right. */
static void loss_is_made_good(void **state)
{
    static struct wf_desc_step lose[2];

    (void)state;
    flow(PORT, 30000, 20)->ack_timeout_ps = WF_PS_PER_S / 1000;
    for (int k = 0; k < 2; k++)
        lose[k] = (struct wf_desc_step){
            .action = WF_DO_INJECT,
            .where = k ? "leaf0:p0" : "leaf1:p0",
            .fault = {.action = WF_FAULT_DROP, .match = WF_FAULT_ROCE, .every = k ? 2 : 7}};
    s.d.steps = lose;
    s.d.n_steps = 2;
    run();
    assert_int_equal(FLOW(MSGS), 20);
    assert_true(FLOW(RETX_PACKETS) > 0);
    assert_int_equal(ENDPOINT(CM_CONNECTED), 1);
    assert_int_equal(ENDPOINT(RX_BYTES), 600000);
    assert_int_equal(ENDPOINT(RIGHT_BYTES), 600000);
    assert_true(ENDPOINT(NAK_TX) > 0);
}

/* Each message takes a receive, and holds the pattern of its number; the places that they are made
 * in are used in turn. */
static void sends_are_taken(void **state)
{
    struct wf_listen_cfg *l = &s.d.hosts[1].cfg.listen;

    (void)state;
    l->recv = WF_LISTEN_SINK;
    l->recv_bytes = 50001;
    l->recv_depth = 2;
    flow(PORT, 50001, 300)->op = WF_WORK_SEND;
    flow(PORT, 3, 1)->op = WF_WORK_SEND_IMM;
    run();
    assert_int_equal(FLOW(MSGS), 300);
    assert_int_equal(FLOW(TX_PACKETS), 300 * 49);
    assert_int_equal(counters("flow.f1", &wf_ctrs_flow)[WF_FLOW_MSGS], 1);
    assert_int_equal(ENDPOINT(RECEIVED), 301);
    assert_int_equal(ENDPOINT(RX_MSGS), 301);
    assert_int_equal(ENDPOINT(RIGHT_BYTES), 300 * 50001 + 3);
    assert_int_equal(ENDPOINT(WRONG_BYTES), 0);
    assert_int_equal(ENDPOINT(RNR_TX), 0);
    assert_int_equal(ENDPOINT(ECHOED), 0);
}

static void lost_sends_are_made_good(void **state)
{
    static struct wf_desc_step lose;

    (void)state;
    s.d.hosts[1].cfg.listen.recv = WF_LISTEN_SINK;
    flow(PORT, 4096, 200)->op = WF_WORK_SEND;
    lose = (struct wf_desc_step){
        .action = WF_DO_INJECT,
        .where = "leaf1:p0",
        .fault = {.action = WF_FAULT_DROP, .match = WF_FAULT_ROCE_DATA, .every = 37}};
    s.d.steps = &lose;
    s.d.n_steps = 1;
    run();
    assert_int_equal(FLOW(MSGS), 200);
    assert_true(FLOW(RETX_PACKETS) > 0);
    assert_int_equal(ENDPOINT(RECEIVED), 200);
    assert_int_equal(ENDPOINT(RIGHT_BYTES), 200 * 4096);
    assert_int_equal(ENDPOINT(WRONG_BYTES), 0);
}

/* Longer than the receive: an invalid request, and the connection is over. */
static void too_long_a_send(void **state)
{
    (void)state;
    s.d.hosts[1].cfg.listen.recv = WF_LISTEN_SINK;
    flow(PORT, 4097, 3)->op = WF_WORK_SEND;
    run();
    assert_int_equal(FLOW(MSGS_FAILED), 3);
    assert_int_equal(ENDPOINT(RECEIVED), 0);
    assert_int_equal(ENDPOINT(CM_DISCONNECTED), 1);
}

/* The first try and two more, each told to come later. */
static void no_receive_is_ever_posted(void **state)
{
    struct wf_flow_cfg *c = flow(PORT, 1000, 3);

    (void)state;
    s.d.hosts[1].cfg.listen.recv = WF_LISTEN_SINK;
    s.d.hosts[1].cfg.listen.recv_depth = 0;
    c->op = WF_WORK_SEND;
    c->rnr_retry = 2;
    run();
    assert_int_equal(FLOW(MSGS_FAILED), 3);
    assert_int_equal(ENDPOINT(RNR_TX), 3);
    assert_int_equal(ENDPOINT(RECEIVED), 0);
}

/* Who says that no SENDs are taken gets none. */
static void nobody_takes_sends(void **state)
{
    (void)state;
    flow(PORT, 1000, 3)->op = WF_WORK_SEND;
    run();
    assert_int_equal(FLOW(MSGS_FAILED), 3);
    assert_int_equal(FLOW(TX_PACKETS), 0);
}

/* By the layout of offer.h, which programs write again, and SplitMix64's published numbers: its
 * stream of seed 0 begins with these. */
static void offers_and_patterns(void **state)
{
    static const uint8_t bytes[WF_OFFER_LEN] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
                                                0, 1, 0, 0, 0, 0, 0, 5, 1, 2,  1,  0};
    struct wf_offer o;
    uint8_t again[WF_OFFER_LEN], whole[64], part[64];

    (void)state;
    assert_true(wf_offer_get(bytes, sizeof(bytes), &o));
    assert_int_equal(o.va, 0x0102030405060708);
    assert_int_equal(o.rkey, 0x090a0b0c);
    assert_int_equal(o.len, 65536);
    assert_int_equal(o.pattern, 5);
    assert_int_equal(o.recv, 2);
    assert_true(o.does == WF_OFFER_SENDS);
    wf_offer_put(again, &o);
    assert_memory_equal(again, bytes, sizeof(bytes));
    assert_false(wf_offer_get(bytes, sizeof(bytes) - 1, &o));
    again[20] = 2;
    assert_false(wf_offer_get(again, sizeof(again), &o));
    wf_pattern_fill(whole, 1, 0, sizeof(whole));
    for (uint64_t off = 0; off < 20; off++) {
        wf_pattern_fill(part, 1, off, 30);
        assert_memory_equal(part, whole + off, 30);
    }
    assert_int_equal(wf_pattern_right(whole, 1, 0, sizeof(whole)), sizeof(whole));
    assert_true(wf_pattern_right(whole, 2, 0, sizeof(whole)) < 8);
    wf_pattern_fill(part, 0, 3, 30);
    assert_int_equal(part[0] | part[29], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(connects_writes_and_disconnects, start, stop),
        cmocka_unit_test_setup_teardown(over_ipv6_at_4096, start, stop),
        cmocka_unit_test_setup_teardown(less_memory_takes_turns, start, stop),
        cmocka_unit_test_setup_teardown(nobody_listens_there, start, stop),
        cmocka_unit_test_setup_teardown(asks_again_while_nobody_listens, start, stop),
        cmocka_unit_test_setup_teardown(a_path_mtu_that_the_host_cannot_take, start, stop),
        cmocka_unit_test_setup_teardown(too_many_at_once, start, stop),
        cmocka_unit_test_setup_teardown(one_after_the_other, start, stop),
        cmocka_unit_test_setup_teardown(nobody_answers, start, stop),
        cmocka_unit_test_setup_teardown(loss_is_made_good, start, stop),
        cmocka_unit_test_setup_teardown(sends_are_taken, start, stop),
        cmocka_unit_test_setup_teardown(lost_sends_are_made_good, start, stop),
        cmocka_unit_test_setup_teardown(too_long_a_send, start, stop),
        cmocka_unit_test_setup_teardown(no_receive_is_ever_posted, start, stop),
        cmocka_unit_test_setup_teardown(nobody_takes_sends, start, stop),
        cmocka_unit_test(offers_and_patterns),
    };

    wft_eal(64);
    return cmocka_run_group_tests_name("host/endpoint", tests, NULL, NULL);
}
