/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows of datagrams whose peer is found by SIDR_REQ, between model hosts: what goes, what comes
 * back, what is lost. Real programs meet the same in tests/lab/test_peers.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "meet.h"

#include "host/endpoint.h"

static struct wf_flow_cfg *datagrams(uint64_t size, uint32_t count, int recv)
{
    struct wf_flow_cfg *c = flow(PORT, size, count);

    s.d.hosts[1].cfg.listen.recv = recv;
    c->service = WF_FLOW_UD;
    c->op = WF_WORK_SEND;
    return c;
}

static void are_taken(void **state)
{
    (void)state;
    datagrams(1000, 300, WF_LISTEN_SINK);
    run();
    assert_int_equal(FLOW(MSGS), 300);
    assert_int_equal(FLOW(TX_PACKETS), 300);
    assert_int_equal(FLOW(RECEIVED), 0);
    assert_int_equal(ENDPOINT(CM_RESOLVED), 1);
    assert_int_equal(ENDPOINT(CM_RX), 1);
    assert_int_equal(ENDPOINT(CM_TX), 1);
    assert_int_equal(ENDPOINT(CM_CONNECTED), 0);
    assert_int_equal(ENDPOINT(RECEIVED), 300);
    assert_int_equal(ENDPOINT(RX_MSGS), 300);
    assert_int_equal(ENDPOINT(RX_BYTES), 300000); /* without the 40 in front of each */
    assert_int_equal(ENDPOINT(RIGHT_BYTES), 300000);
    assert_int_equal(ENDPOINT(WRONG_BYTES), 0);
}

static void come_back(void **state)
{
    struct wf_flow_cfg *c = datagrams(4096, 100, WF_LISTEN_ECHO);

    (void)state;
    c->path_mtu = 4096;
    c->op = WF_WORK_SEND_IMM;
    c->family = WF_FAMILY_IP6;
    flow(PORT, 1, 50)->op = WF_WORK_SEND; /* beside it, over IPv4 */
    s.d.flows[1].cfg.service = WF_FLOW_UD;
    run();
    assert_int_equal(ENDPOINT(RECEIVED), 150);
    assert_int_equal(ENDPOINT(ECHOED), 150);
    assert_int_equal(ENDPOINT(RIGHT_BYTES), 100 * 4096 + 50);
    assert_int_equal(FLOW(RECEIVED), 100);
    assert_int_equal(FLOW(RIGHT_BYTES), 100 * 4096);
    assert_int_equal(counters("flow.f1", &wf_ctrs_flow)[WF_FLOW_RIGHT_BYTES], 50);
    assert_int_equal(ENDPOINT(WRONG_BYTES) + FLOW(WRONG_BYTES), 0);
}

/* Each third is lost on the way there, each fifth of the others on the way back. */
static void are_lost_and_nobody_minds(void **state)
{
    static struct wf_desc_step lose[2];

    (void)state;
    datagrams(500, 300, WF_LISTEN_ECHO);
    for (int k = 0; k < 2; k++)
        lose[k] =
            (struct wf_desc_step){.action = WF_DO_INJECT,
                                  .where = k ? "leaf0:p0" : "leaf1:p0",
                                  .at_ps = WF_PS_PER_US, /* the SIDR_REQ is through */
                                  .fault = {.action = WF_FAULT_DROP,
                                            .match = WF_FAULT_ROCE_DATA,
                                            .every = k ? 5 : 3,
                                            .by_opcode = true,
                                            .opcodes = {[12] = 1 << 4}}}; /* UD SEND Only, 0x64 */
    s.d.flows[0].cfg.start_ps = 2 * WF_PS_PER_US;
    s.d.steps = lose;
    s.d.n_steps = 2;
    run();
    assert_int_equal(FLOW(MSGS), 300);
    assert_in_range(ENDPOINT(RECEIVED), 199, 201);
    assert_in_range(FLOW(RECEIVED), 158, 162);
    assert_int_equal(ENDPOINT(RIGHT_BYTES), 500 * ENDPOINT(RECEIVED));
    assert_int_equal(FLOW(RIGHT_BYTES), 500 * FLOW(RECEIVED));
    assert_int_equal(ENDPOINT(WRONG_BYTES) + FLOW(WRONG_BYTES), 0);
}

/* The connection manager's first datagram is lost: it is asked again. */
static void a_lost_request_is_sent_again(void **state)
{
    static struct wf_desc_step lose;

    (void)state;
    datagrams(500, 3, WF_LISTEN_SINK);
    lose = (struct wf_desc_step){
        .action = WF_DO_INJECT,
        .where = "leaf1:p0",
        .fault = {.action = WF_FAULT_DROP, .match = WF_FAULT_ROCE_DATA, .limit = 1}};
    s.d.steps = &lose;
    s.d.n_steps = 1;
    run();
    assert_int_equal(FLOW(MSGS), 3);
    assert_int_equal(ENDPOINT(CM_RX), 1);
    assert_int_equal(ENDPOINT(RIGHT_BYTES), 1500);
}

static void nobody_takes_datagrams(void **state)
{
    (void)state;
    datagrams(500, 3, WF_LISTEN_NONE);
    run();
    assert_int_equal(FLOW(MSGS_FAILED), 3);
    assert_int_equal(FLOW(TX_PACKETS), 0);
    assert_int_equal(ENDPOINT(CM_RESOLVED), 0);
}

static void is_refused(void **state)
{
    (void)state;
    datagrams(500, 3, WF_LISTEN_SINK);
    s.d.hosts[1].cfg.listen.refuse = 28;
    run();
    assert_int_equal(FLOW(MSGS_FAILED), 3);
    assert_int_equal(ENDPOINT(CM_RESOLVED), 0);
}

/* More than a receive holds is not sent; without receives nothing is taken. */
static void too_long_or_no_receive(void **state)
{
    (void)state;
    datagrams(500, 3, WF_LISTEN_SINK);
    flow(PORT, 501, 3)->op = WF_WORK_SEND;
    s.d.flows[1].cfg.service = WF_FLOW_UD;
    s.d.hosts[1].cfg.listen.recv_bytes = 500;
    s.d.hosts[1].cfg.listen.recv_depth = 0;
    run();
    assert_int_equal(FLOW(MSGS), 3);
    assert_int_equal(counters("flow.f1", &wf_ctrs_flow)[WF_FLOW_MSGS_FAILED], 3);
    assert_int_equal(ENDPOINT(RECEIVED), 0);
    assert_int_equal(counters("h1:p0", &wf_ctrs_drop)[WF_DROP_NO_RECEIVE], 3);
}

/* As annex A17.4.5.2 has it, from a frame's bytes. */
static void forty_bytes_in_front(void **state)
{
    uint8_t b[128] = {0}, grh[WF_QP_GRH_LEN];
    struct wf_qp_in in = {0};
    struct wf_pkt *pkt;

    (void)state;
    datagrams(500, 1, WF_LISTEN_SINK);
    run();
    for (int v6 = 0; v6 < 2; v6++) {
        for (uint8_t i = 0; i < sizeof(b); i++)
            b[i] = i;
        pkt = wf_pkt_new(&s.f->nets[0], sizeof(b));
        memcpy(wf_pkt_hdr_rw(pkt), b, sizeof(b));
        pkt->p.l3_off = 14;
        pkt->p.flags = v6 ? WF_P_IP6 : WF_P_IP4;
        memset(grh, 0xee, sizeof(grh));
        wf_datagrams_arrive(pkt, &in, grh);
        assert_ptr_equal(in.grh, grh);
        for (uint8_t i = 0; i < 40; i++)
            assert_int_equal(grh[i], v6 ? 14 + i : i < 20 ? 0 : 14 + i - 20);
        wf_pkt_generated(&s.f->nets[0], pkt);
        wf_pkt_deliver(&s.f->nets[0], pkt);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(are_taken, start, stop),
        cmocka_unit_test_setup_teardown(come_back, start, stop),
        cmocka_unit_test_setup_teardown(are_lost_and_nobody_minds, start, stop),
        cmocka_unit_test_setup_teardown(a_lost_request_is_sent_again, start, stop),
        cmocka_unit_test_setup_teardown(nobody_takes_datagrams, start, stop),
        cmocka_unit_test_setup_teardown(is_refused, start, stop),
        cmocka_unit_test_setup_teardown(too_long_or_no_receive, start, stop),
        cmocka_unit_test_setup_teardown(forty_bytes_in_front, start, stop),
    };

    wft_eal(64);
    return cmocka_run_group_tests_name("host/datagrams", tests, NULL, NULL);
}
