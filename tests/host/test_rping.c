/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocol of rping between two models. That it is rping's is shown by rping itself, both ways,
 * in tests/lab/test_peers.py. Packets of a ping: four SENDs, the READ with its answer, the WRITE.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "meet.h"

#include "host/endpoint.h"
#include "host/host.h"

static struct wf_flow_cfg *pings(uint64_t size, uint32_t n)
{
    struct wf_flow_cfg *c = flow(PORT, size, n);

    c->program = WF_PROGRAM_RPING;
    s.d.hosts[1].cfg.listen.recv = WF_LISTEN_RPING;
    return c;
}

static void go_and_come_back(void **state)
{
    (void)state;
    pings(5000, 30);
    run();
    assert_int_equal(FLOW(MSGS), 30);
    assert_int_equal(FLOW(MSGS_FAILED), 0);
    assert_int_equal(FLOW(TX_PACKETS), 2 * 30);
    assert_int_equal(FLOW(RIGHT_BYTES), 30 * 5000);
    assert_int_equal(FLOW(WRONG_BYTES), 0);
    assert_int_equal(ENDPOINT(RECEIVED), 2 * 30);
    assert_int_equal(ENDPOINT(ECHOED), 30);
    assert_int_equal(ENDPOINT(CM_CONNECTED), 1);
    assert_int_equal(ENDPOINT(CM_DISCONNECTED), 1);
}

static void survive_losses(void **state)
{
    static struct wf_desc_step lose[2];

    (void)state;
    pings(20000, 50)->ack_timeout_ps = WF_PS_PER_S / 1000;
    for (int k = 0; k < 2; k++)
        lose[k] = (struct wf_desc_step){
            .action = WF_DO_INJECT,
            .where = k ? "leaf0:p0" : "leaf1:p0",
            .fault = {.action = WF_FAULT_DROP, .match = WF_FAULT_ROCE, .every = k ? 37 : 41}};
    s.d.steps = lose;
    s.d.n_steps = 2;
    run();
    assert_int_equal(FLOW(MSGS), 50);
    assert_int_equal(FLOW(RIGHT_BYTES), 50 * 20000);
    assert_int_equal(FLOW(WRONG_BYTES), 0);
    assert_int_equal(ENDPOINT(ECHOED), 50);
}

/* A byte that is changed on its way is told of. */
static void wrong_bytes_are_told(void **state)
{
    static struct wf_desc_step step;

    (void)state;
    pings(3000, 2);
    step = (struct wf_desc_step){
        .action = WF_DO_INJECT,
        .where = "leaf0:p0",
        .fault = {.action = WF_FAULT_CORRUPT,
                  .match = WF_FAULT_ROCE,
                  .by_opcode = true,
                  .opcodes = {1 << WF_OP_WRITE_MIDDLE},
                  .limit = 1,
                  .how = {.crc = WF_FAULT_CRC_REPAIRED, .bytes = 1, .flip = 1, .offset = 5}}};
    s.d.steps = &step;
    s.d.n_steps = 1;
    run();
    assert_int_equal(FLOW(MSGS), 2);
    assert_int_equal(FLOW(RIGHT_BYTES), 2 * 3000 - 1);
    assert_int_equal(FLOW(WRONG_BYTES), 1);
}

/* Who names more than there is memory for, or SENDs what names nothing, is disconnected. */
static void nonsense_ends_the_connection(void **state)
{
    struct wf_flow_cfg *c;

    (void)state;
    s.d.hosts[1].cfg.listen.memory_bytes = 4096;
    pings(4097, 3);
    c = flow(PORT, 64, 3); /* weft's own way: it is told that no SENDs are taken */
    c->op = WF_WORK_SEND;
    run();
    assert_int_equal(FLOW(MSGS), 0);
    assert_int_equal(FLOW(MSGS_FAILED), 3);
    assert_int_equal(ENDPOINT(CM_DISCONNECTED), 1);
    assert_int_equal(ENDPOINT(ECHOED), 0);
    assert_int_equal(counters("flow.f1", &wf_ctrs_flow)[WF_FLOW_MSGS_FAILED], 3);
    assert_int_equal(counters("flow.f1", &wf_ctrs_flow)[WF_FLOW_TX_PACKETS], 0);
}

static struct wf_peer_qp *client(void)
{
    return ((struct wf_host *)wf_fabric_host(s.f, 0))->flows->tx->peer;
}

/* What a server says that nobody has asked counts as no ping. */
static void whoever_goes_on_is_not_heard(void **state)
{
    static const uint8_t said[WF_RPING_LEN];

    (void)state;
    pings(100, 3);
    run();
    wf_rping_received(client(), said, sizeof(said));
    wf_rping_received(client(), said, sizeof(said));
    wf_fabric_settle(s.f);
    assert_int_equal(FLOW(MSGS), 3);
    assert_int_equal(FLOW(RIGHT_BYTES), 300);
}

/* What a client has put there is nothing that the next one may see, nor that it is compared with.
 */
static void the_next_client_finds_the_pattern(void **state)
{
    enum { SIZE = 5000, PATTERN = 77 };
    struct wf_fabric_opts opts = {0};
    struct wf_err err = {0};
    struct wf_peer_qp *p;

    (void)state;
    pings(SIZE, 2);
    s.d.hosts[1].cfg.listen.pattern = PATTERN;
    wf_desc_address(&s.d, &s.arena);
    assert_int_equal(wf_fabric_build(&s.f, &s.d, &opts, &err), 0);
    p = &((struct wf_host *)wf_fabric_host(s.f, 1))->endpoint->listeners[0];
    for (int later = 0; later < 2; later++) {
        wf_region_open(p);
        for (uint64_t off = 0; off < SIZE; off += 1000)
            wf_region_touch(p, off, 1000, false);
        assert_int_equal(wf_pattern_right(p->mem, PATTERN, 0, SIZE), SIZE);
        wft_run(s.f, WF_TIME_NEVER);
    }
    wf_fabric_settle(s.f);
    assert_int_equal(FLOW(RIGHT_BYTES), 2 * SIZE);
}

/* A queue pair that the server's nonsense has ended, while nothing of ours was outstanding. */
static void a_dead_queue_pair_ends_the_flow(void **state)
{
    struct wf_fabric_opts opts = {0};
    struct wf_err err = {0};
    uint64_t done;

    (void)state;
    pings(100, 10000);
    wf_desc_address(&s.d, &s.arena);
    assert_int_equal(wf_fabric_build(&s.f, &s.d, &opts, &err), 0);
    wft_run(s.f, 2 * WF_PS_PER_S / 1000);
    wf_inbox_received(client()->nq, &(struct wf_wc){.status = WF_WC_FLUSH});
    wft_run(s.f, WF_TIME_NEVER);
    wf_fabric_settle(s.f);
    wft_check(s.f);
    done = FLOW(MSGS);
    assert_in_range(done, 1, 9999);
    assert_int_equal(FLOW(MSGS_FAILED), 10000 - done);
    assert_int_equal(ENDPOINT(CM_DISCONNECTED), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(go_and_come_back, start, stop),
        cmocka_unit_test_setup_teardown(survive_losses, start, stop),
        cmocka_unit_test_setup_teardown(wrong_bytes_are_told, start, stop),
        cmocka_unit_test_setup_teardown(nonsense_ends_the_connection, start, stop),
        cmocka_unit_test_setup_teardown(whoever_goes_on_is_not_heard, start, stop),
        cmocka_unit_test_setup_teardown(the_next_client_finds_the_pattern, start, stop),
        cmocka_unit_test_setup_teardown(a_dead_queue_pair_ends_the_flow, start, stop),
    };

    wft_eal(64);
    return cmocka_run_group_tests_name("host/rping", tests, NULL, NULL);
}
