/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What flows that connect do at a model that listens, operation by operation: what either end
 * compares, and that it would tell. Numbers of packets are closed forms of sizes and path MTU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "meet.h"

static void lose(uint32_t every)
{
    static struct wf_desc_step step[2];

    for (int k = 0; k < 2; k++)
        step[k] = (struct wf_desc_step){
            .action = WF_DO_INJECT,
            .where = k ? "leaf0:p0" : "leaf1:p0",
            .fault = {.action = WF_FAULT_DROP, .match = WF_FAULT_ROCE, .every = every}};
    s.d.steps = step;
    s.d.n_steps = 2;
}

/* All of the answer waits in front of a slow link: it has buffers. */
static void a_long_read_over_a_slow_link(void **state)
{
    struct wf_flow_cfg *c = flow(PORT, 1 << 20, 1);

    (void)state;
    c->op = WF_WORK_READ;
    c->path_mtu = 256;
    c->dscp = 0;
    s.d.hosts[1].cfg.listen.connections = 1;
    for (uint32_t i = 0; i < s.d.n_links; i++)
        if (s.d.links[i].b.is_host ? s.d.links[i].b.index == 0
                                   : s.d.links[i].a.is_host && s.d.links[i].a.index == 0)
            s.d.links[i].cfg.rate_bps = 1000000000;
    run();
    assert_int_equal(FLOW(MSGS), 1);
    assert_int_equal(FLOW(RIGHT_BYTES), 1 << 20);
}

/* 300 x 50,001 bytes need more places than the flow's memory has beside each other. */
static void reads_are_compared(void **state)
{
    (void)state;
    flow(PORT, 50001, 300)->op = WF_WORK_READ;
    run();
    assert_int_equal(FLOW(MSGS), 300);
    assert_int_equal(FLOW(BYTES), 300 * 50001);
    assert_int_equal(FLOW(TX_PACKETS), 300); /* a request each */
    assert_int_equal(FLOW(RIGHT_BYTES), 300 * 50001);
    assert_int_equal(FLOW(WRONG_BYTES), 0);
    assert_int_equal(ENDPOINT(RX_BYTES), 0);
    assert_int_equal(ENDPOINT(RIGHT_BYTES) + ENDPOINT(WRONG_BYTES), 0);
}

static void lost_reads_are_made_good(void **state)
{
    struct wf_flow_cfg *c = flow(PORT, 30000, 50);

    (void)state;
    c->op = WF_WORK_READ;
    c->max_rd_atomic = 3;
    c->ack_timeout_ps = WF_PS_PER_S / 1000;
    lose(13);
    run();
    assert_int_equal(FLOW(MSGS), 50);
    assert_true(FLOW(RETX_PACKETS) > 0);
    assert_int_equal(FLOW(RIGHT_BYTES), 50 * 30000);
    assert_int_equal(FLOW(WRONG_BYTES), 0);
}

static void nobody_says_what_is_read(void **state)
{
    (void)state;
    s.d.hosts[1].cfg.listen.pattern = 0;
    flow(PORT, 1000, 1)->op = WF_WORK_READ;
    run();
    assert_int_equal(FLOW(MSGS), 1);
    assert_int_equal(FLOW(BYTES), 1000);
    assert_int_equal(FLOW(RIGHT_BYTES) + FLOW(WRONG_BYTES), 0);
}

static void words_are_added_to(void **state)
{
    (void)state;
    flow(PORT, 1000, 200)->op = WF_WORK_FETCH_ADD; /* a size of 8, whatever is said */
    run();
    assert_int_equal(FLOW(MSGS), 200);
    assert_int_equal(FLOW(RIGHT_BYTES), 200 * 8);
    assert_int_equal(FLOW(WRONG_BYTES), 0);
    assert_int_equal(ENDPOINT(RIGHT_BYTES), 8);
    assert_int_equal(ENDPOINT(WRONG_BYTES), 0);
}

/* Each finds what the one before it has put there: one that was carried out twice, or in another
 * order, would not. */
static void words_are_swapped_through_losses(void **state)
{
    struct wf_flow_cfg *c = flow(PORT, 8, 200);

    (void)state;
    c->op = WF_WORK_CMP_SWAP;
    c->ack_timeout_ps = WF_PS_PER_S / 1000;
    lose(7);
    run();
    assert_int_equal(FLOW(MSGS), 200);
    assert_true(FLOW(RETX_PACKETS) > 0);
    assert_int_equal(FLOW(RIGHT_BYTES), 200 * 8);
    assert_int_equal(FLOW(WRONG_BYTES), 0);
    assert_int_equal(ENDPOINT(RIGHT_BYTES), 8);
}

/* One byte of what comes back, or of what is added, is changed on the way and its ICRC made
 * right: only who compares can tell. */
static void change(const char *where, uint8_t opcode, struct wf_fault_how how)
{
    static struct wf_desc_step step;

    how.crc = WF_FAULT_CRC_REPAIRED;
    how.bytes = 1;
    how.flip = 1;
    step = (struct wf_desc_step){.action = WF_DO_INJECT,
                                 .where = where,
                                 .fault = {.action = WF_FAULT_CORRUPT,
                                           .match = WF_FAULT_ROCE,
                                           .by_opcode = true,
                                           .limit = 1,
                                           .how = how}};
    step.fault.opcodes[opcode / 8] = (uint8_t)(1 << opcode % 8);
    s.d.steps = &step;
    s.d.n_steps = 1;
}

static void a_read_that_goes_wrong_is_told(void **state)
{
    (void)state;
    flow(PORT, 5000, 4)->op = WF_WORK_READ;
    change("leaf0:p0", WF_SERVICE_RC | WF_OP_READ_RESPONSE_MIDDLE,
           (struct wf_fault_how){.part = WF_FAULT_OF_PAYLOAD, .offset = 17});
    run();
    assert_int_equal(FLOW(MSGS), 4);
    assert_int_equal(FLOW(RIGHT_BYTES), 4 * 5000 - 1);
    assert_int_equal(FLOW(WRONG_BYTES), 1);
}

/* All behind the first find what nobody expects. */
static void an_atomic_that_goes_wrong_is_told(void **state)
{
    (void)state;
    flow(PORT, 8, 10)->op = WF_WORK_FETCH_ADD;
    change("leaf1:p0", WF_SERVICE_RC | WF_OP_FETCH_ADD,
           (struct wf_fault_how){.part = WF_FAULT_OF_EXT, .offset = 8 + 4 + 7});
    run();
    assert_int_equal(FLOW(MSGS), 10);
    assert_int_equal(FLOW(RIGHT_BYTES), 8);
    assert_int_equal(FLOW(WRONG_BYTES), 9 * 8);
    assert_int_equal(ENDPOINT(RIGHT_BYTES), 0);
    assert_int_equal(ENDPOINT(WRONG_BYTES), 8);
}

static void immediate_data_takes_receives(void **state)
{
    (void)state;
    s.d.hosts[1].cfg.listen.recv = WF_LISTEN_SINK;
    s.d.hosts[1].cfg.listen.recv_depth = 3;
    flow(PORT, 5000, 40)->op = WF_WORK_WRITE_IMM;
    run();
    assert_int_equal(FLOW(MSGS), 40);
    assert_int_equal(FLOW(TX_PACKETS), 40 * 5);
    assert_int_equal(ENDPOINT(RECEIVED), 40);
    assert_int_equal(ENDPOINT(RX_BYTES), 40 * 5000);
    assert_int_equal(ENDPOINT(RIGHT_BYTES), 40 * 5000);
    assert_int_equal(ENDPOINT(WRONG_BYTES), 0);
}

/* An end that takes no receives, or has less memory than a message: nothing is sent to it. */
static void what_the_peer_does_not_offer(void **state)
{
    static const enum wf_work_op ops[] = {WF_WORK_WRITE_IMM, WF_WORK_READ, WF_WORK_WRITE};

    (void)state;
    s.d.hosts[1].cfg.listen.memory_bytes = 4096;
    for (uint32_t i = 0; i < 3; i++)
        flow(PORT, 4096 + (i > 0), 1)->op = ops[i];
    run();
    assert_int_equal(ENDPOINT(CM_REJECTED), 3);
    for (uint32_t i = 0; i < 3; i++) {
        const uint64_t *c = counters(wf_arena_printf(&s.arena, "flow.f%u", i), &wf_ctrs_flow);

        assert_int_equal(c[WF_FLOW_MSGS_FAILED], 1);
        assert_int_equal(c[WF_FLOW_TX_PACKETS], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_long_read_over_a_slow_link, start, stop),
        cmocka_unit_test_setup_teardown(reads_are_compared, start, stop),
        cmocka_unit_test_setup_teardown(lost_reads_are_made_good, start, stop),
        cmocka_unit_test_setup_teardown(nobody_says_what_is_read, start, stop),
        cmocka_unit_test_setup_teardown(words_are_added_to, start, stop),
        cmocka_unit_test_setup_teardown(words_are_swapped_through_losses, start, stop),
        cmocka_unit_test_setup_teardown(a_read_that_goes_wrong_is_told, start, stop),
        cmocka_unit_test_setup_teardown(an_atomic_that_goes_wrong_is_told, start, stop),
        cmocka_unit_test_setup_teardown(immediate_data_takes_receives, start, stop),
        cmocka_unit_test_setup_teardown(what_the_peer_does_not_offer, start, stop),
    };

    wft_eal(128);
    return cmocka_run_group_tests_name("host/errand", tests, NULL, NULL);
}
