/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The notification point: which frames make a CNP, how it is paced by each kind, and its bytes
 * against those of a ConnectX-4 Lx. Hosts 0 and 2 send to host 1, all are models; host 3 is a probe
 * that says what nobody should answer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

#include "base/prng.h"
#include "host/host.h"
#include "wire/edit.h"
#include "wire/icrc.h"
#include "xport/work.h"

enum { FLOWS = 4, CNPS_MAX = 4096 };

/* CNPs that host 1 sends. */
struct cnp_tap {
    struct wf_tap tap;
    uint32_t n;
    uint64_t t_ps[CNPS_MAX];
    uint32_t dqpn[CNPS_MAX];
    uint8_t dst[CNPS_MAX]; /* last byte of the address */
    uint8_t bytes[96];
    uint32_t len;
    uint8_t queue;
};

static struct {
    struct wf_arena arena;
    struct wf_desc d;
    struct wf_fabric *f;
    struct cnp_tap tap;
} s;

static void see(struct wf_tap *tap, struct wf_port *port, struct wf_pkt *pkt, enum wf_tap_dir dir,
                enum wf_reason why)
{
    struct cnp_tap *t = WF_CONTAINER_OF(tap, struct cnp_tap, tap);

    if (dir != WF_TAP_TX || pkt->p.opcode != WF_OPCODE_CNP || !(pkt->p.flags & WF_P_BTH))
        return;
    assert_true(t->n < CNPS_MAX);
    t->t_ps[t->n] = wf_now(port);
    t->dqpn[t->n] = pkt->p.dqpn;
    t->dst[t->n++] = wf_pkt_bytes(pkt)[pkt->p.l3_off + 19];
    t->len = wf_pkt_real_bytes(pkt, t->bytes, sizeof(t->bytes));
    t->queue = pkt->queue;
}

static int setup(void **state)
{
    memset(&s, 0, sizeof(s));
    s.d.seed = 3;
    s.d.duration_ps = WF_KEY_AUTO;
    wf_desc_leaf_spine(&s.d, &s.arena, 1, 0, 4);
    wf_desc_address(&s.d, &s.arena);
    s.d.flows = WF_ARENA_ARRAY(&s.arena, struct wf_desc_flow, FLOWS);
    s.d.steps = WF_ARENA_ARRAY(&s.arena, struct wf_desc_step, 1);
    s.d.hosts[1].cfg.nic.cnp = WF_TRI_ON;
    return 0;
}

static void flow(uint32_t from, uint64_t bytes)
{
    struct wf_desc_flow *w = &s.d.flows[s.d.n_flows];

    w->name = wf_arena_printf(&s.arena, "f%u", s.d.n_flows++);
    w->from = from;
    w->to = 1;
    wf_keyset_defaults(&wf_flow_keys, &w->cfg);
    w->cfg.size_bytes = bytes;
    w->cfg.path_mtu = 1024;
}

/* The leaf does this to every n-th frame of data for host 1. */
static void inject(enum wf_fault_action what, enum wf_fault_class match, uint64_t every)
{
    s.d.steps[s.d.n_steps++] =
        (struct wf_desc_step){.action = WF_DO_INJECT,
                              .where = "leaf0:p1",
                              .fault = {.action = what, .match = match, .every = every}};
}

static void run(void)
{
    s.f = wft_build_some(&s.d, 7);
    s.tap.tap.fn = see;
    wf_port_tap(&wf_fabric_host(s.f, 1)->ports[0], &s.tap.tap);
    wft_run(s.f, WF_TIME_NEVER);
    wf_fabric_settle(s.f);
    wft_check(s.f);
}

static int teardown(void **state)
{
    wf_fabric_free(s.f);
    wf_arena_free(&s.arena);
    return 0;
}

static uint64_t ctr(const char *name, enum wf_ctr_FLOW c)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(s.f, wf_ctr_table_bit(&wf_ctrs_flow));

    while (wf_ctr_next(&w))
        if (!strcmp(w.holder, name))
            return w.values[c];
    fail_msg("no %s", name);
    return 0;
}

/* Bit by bit what the NIC sent, but for addresses, queue pair and IP identification. */
static void bytes_of_a_connectx4(void **state)
{
    static const uint8_t want[78 - 4] = {
        [12] = 8,    [14] = 0x45, [15] = 0xc2,      [17] = 60,         [20] = 0x40,
        [22] = 64,   [23] = 17,   [36] = 4791 >> 8, [37] = 4791 & 255, [39] = 40,
        [42] = 0x81, [44] = 0xff, [45] = 0xff,      [46] = 0x40};
    uint8_t icrc[4];
    struct wf_parsed p;

    flow(0, 100000);
    inject(WF_FAULT_CE, WF_FAULT_ROCE_DATA, 10);
    run();
    assert_true(s.tap.n > 0);
    assert_int_equal(s.tap.len, sizeof(want));
    assert_int_equal(s.tap.queue, 6);
    for (uint32_t i = 0; i < sizeof(want) - 4; i++)
        if (!(i < 12 || i == 18 || i == 19 || i == 24 || i == 25 || (i >= 26 && i < 34) ||
              (i >= 47 && i < 50)))
            assert_int_equal(s.tap.bytes[i], want[i]);
    assert_int_equal(wf_parse(s.tap.bytes, s.tap.len, s.tap.len, &p), WF_DROP_NONE);
    assert_true(wf_ip4_checksum_ok(s.tap.bytes, s.tap.len, &p));
    wf_icrc_store(icrc, wf_icrc_of(s.tap.bytes, s.tap.len, &p));
    assert_memory_equal(s.tap.bytes + s.tap.len - 4, icrc, 4);
    assert_int_equal(p.dqpn, 0x11); /* the sender's queue pair */
    assert_int_equal(ctr("flow.f0", WF_FLOW_CNP_TX), s.tap.n);
    assert_int_equal(ctr("flow.f0", WF_FLOW_CNP_RX), s.tap.n);
}

/* All data is marked: CNPs of what paces together are an interval apart at least, and come as often
 * as it allows. `same`: which two do. */
static void paced(int kind, uint32_t n_flows, bool (*same)(uint32_t a, uint32_t b))
{
    const uint64_t interval = 4 * WF_PS_PER_US;
    uint64_t least = WF_TIME_NEVER;
    bool together = false;

    s.d.hosts[1].cfg.nic.cnp_pacing = kind;
    s.d.hosts[1].cfg.nic.cnp_interval_ps = interval;
    for (uint32_t i = 0; i < n_flows; i++)
        flow(i % 2 ? 2 : 0, 200000);
    inject(WF_FAULT_CE, WF_FAULT_ROCE_DATA, 1);
    run();
    assert_true(s.tap.n > 10);
    for (uint32_t i = 0; i < s.tap.n; i++)
        for (uint32_t j = 0; j < i; j++) {
            uint64_t apart = s.tap.t_ps[i] - s.tap.t_ps[j];

            if (!same(j, i)) {
                together = together || apart < interval;
                continue;
            }
            /* the wire may be busy with an ACK when one is due */
            assert_true(apart + 30 * WF_PS_PER_NS > interval);
            least = apart < least ? apart : least;
        }
    assert_true(least < interval + WF_PS_PER_US);
    assert_int_equal(together, kind != WF_CNP_PER_PORT);
}

static bool any(uint32_t a, uint32_t b)
{
    return true;
}
static bool same_address(uint32_t a, uint32_t b)
{
    return s.tap.dst[a] == s.tap.dst[b];
}
static bool same_qp(uint32_t a, uint32_t b)
{
    return s.tap.dqpn[a] == s.tap.dqpn[b];
}

static void paced_by_port(void **state)
{
    paced(WF_CNP_PER_PORT, 4, any);
}
static void paced_by_ip_pair(void **state)
{
    paced(WF_CNP_PER_IP_PAIR, 4, same_address);
}
static void paced_by_dest_ip(void **state)
{
    paced(WF_CNP_PER_DEST_IP, 4, same_address);
}
static void paced_by_qp(void **state)
{
    paced(WF_CNP_PER_QP, 4, same_qp);
}

static void delayed(void **state)
{
    uint64_t first;

    flow(0, 1024);
    inject(WF_FAULT_CE, WF_FAULT_ROCE_DATA, 1);
    run();
    first = s.tap.t_ps[0];
    assert_int_equal(s.tap.n, 1);
    teardown(state);
    setup(state);
    s.d.hosts[1].cfg.nic.cnp_delay_ps = 7 * WF_PS_PER_US;
    flow(0, 1024);
    inject(WF_FAULT_CE, WF_FAULT_ROCE_DATA, 1);
    run();
    assert_int_equal(s.tap.n, 1);
    /* at once, the ACK was on the wire before it, or it before the ACK */
    assert_in_range(s.tap.t_ps[0] - first, 7 * WF_PS_PER_US - 20000, 7 * WF_PS_PER_US);
}

/* ConnectX-5 and 6 send one with a NAK, ConnectX-4 Lx and E810 do not. */
static void with_a_nak(void **state)
{
    static const struct {
        int profile;
        bool cnp;
    } rows[] = {{WF_NIC_CONNECTX5, true}, {WF_NIC_CONNECTX6, true}, {WF_NIC_E810, false}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (i) {
            teardown(state);
            setup(state);
        }
        s.d.hosts[1].cfg.nic.profile = rows[i].profile;
        s.d.hosts[1].cfg.nic.cnp_interval_ps = WF_KEY_AUTO;
        flow(0, 500000);
        inject(WF_FAULT_DROP, WF_FAULT_ROCE_DATA, 100);
        run();
        assert_true(ctr("flow.f0", WF_FLOW_NAK_TX) > 2);
        assert_int_equal(s.tap.n, rows[i].cnp ? ctr("flow.f0", WF_FLOW_NAK_TX) : 0);
    }
}

static void no_cnp_unless_it_is_on(void **state)
{
    s.d.hosts[1].cfg.nic.cnp = WF_TRI_AUTO;
    flow(0, 100000);
    inject(WF_FAULT_CE, WF_FAULT_ROCE_DATA, 1);
    run();
    assert_true(ctr("flow.f0", WF_FLOW_CE_RX) > 0);
    assert_int_equal(s.tap.n, 0);
}

/* A frame with CE as if host 0 had sent it, to a queue pair that notifies. */
static void say(uint8_t opcode, uint32_t psn, uint32_t payload, bool group, bool ce)
{
    struct wf_roce h = {.encap = WF_ROCE_V2_IP4,
                        .dscp = 26,
                        .ecn = ce ? WF_ECN_CE : WF_ECN_ECT0,
                        .ttl = 64,
                        .sport = 50000,
                        .bth = {.opcode = opcode, .pkey = WF_BTH_PKEY, .dqpn = 0x12, .psn = psn},
                        .payload_len = payload};
    uint8_t b[WF_ROCE_HDR_MAX];
    uint32_t hdr;

    memcpy(h.src_mac, s.d.hosts[3].cfg.mac, 6);
    memcpy(h.dst_mac, s.d.hosts[1].cfg.mac, 6);
    if (group)
        memcpy(h.dst_mac, "\x01\x00\x5e\x00\x00\x05", 6);
    memcpy(h.src_ip, s.d.hosts[0].cfg.ip.addr, 16);
    memcpy(h.dst_ip, s.d.hosts[1].cfg.ip.addr, 16);
    h.ext.reth = (struct wf_reth){0x100000000ull, 1, payload};
    hdr = wf_roce_hdr_build(b, sizeof(b), &h);
    wft_send(s.f, 3, 0, 0, b, hdr, wf_roce_frame_len(hdr, payload));
    wft_run(s.f, wf_fabric_now_ps(s.f) + 100 * WF_PS_PER_US);
}

static void only_data_makes_one(void **state)
{
    struct wf_prng prng;
    uint32_t psn;

    flow(0, 1024);
    s.d.flows[0].cfg.start_ps = WF_PS_PER_S;
    wf_prng_init(&prng, 3, "flow.f0");
    psn = (uint32_t)wf_prng_below(&prng, 1 << 24);
    s.f = wft_build_some(&s.d, 7);
    s.tap.tap.fn = see;
    wf_port_tap(&wf_fabric_host(s.f, 1)->ports[0], &s.tap.tap);
    say(WF_OPCODE_CNP, 0, WF_CNP_PAYLOAD, false, true);
    say(WF_SERVICE_RC | WF_OP_ACK, psn, 0, false, true);
    say(WF_SERVICE_RC | WF_OP_WRITE_ONLY, psn, 256, true, true);
    say(WF_SERVICE_RC | WF_OP_WRITE_ONLY, psn + 1, 256, false, false);
    assert_int_equal(s.tap.n, 0);
    say(WF_SERVICE_RC | WF_OP_WRITE_ONLY, psn + 1, 256, false, true);
    assert_int_equal(s.tap.n, 1);
    say(WF_SERVICE_RC | WF_OP_WRITE_ONLY, psn + 9, 256, false, true); /* behind a gap: data too */
    assert_int_equal(s.tap.n, 2);
    wft_check(s.f);
}

/* The field's case O11: what a frame is follows from its headers. An ACK and a SEND of 4 bytes are
 * both 62 bytes long; one is data. */
static void fc_O11_by_header_not_by_size(void **state)
{
    flow(0, 1024);
    s.d.flows[0].cfg.start_ps = WF_PS_PER_S;
    s.f = wft_build_some(&s.d, 7);
    s.tap.tap.fn = see;
    wf_port_tap(&wf_fabric_host(s.f, 1)->ports[0], &s.tap.tap);
    say(WF_SERVICE_RC | WF_OP_ACK, 0, 0, false, true);
    assert_int_equal(s.tap.n, 0);
    say(WF_SERVICE_RC | WF_OP_SEND_ONLY, 0, 4, false, true);
    assert_int_equal(s.tap.n, 1);
    wft_check(s.f);
}

/* The answers of a READ are data: who reads notifies the queue pair that answers. */
static void answers_of_a_read(void **state)
{
    flow(0, 100000);
    s.d.flows[0].from = 1;
    s.d.flows[0].to = 0;
    s.d.flows[0].cfg.op = WF_WORK_READ;
    inject(WF_FAULT_CE, WF_FAULT_ROCE_DATA, 10);
    run();
    assert_true(s.tap.n > 0);
    for (uint32_t i = 0; i < s.tap.n; i++)
        assert_int_equal(s.tap.dqpn[i], wf_host_flow_qpn(0, false));
    assert_int_equal(ctr("flow.f0", WF_FLOW_CE_RX), 9);
    assert_int_equal(ctr("flow.f0", WF_FLOW_CNP_TX), s.tap.n);
    assert_int_equal(ctr("flow.f0", WF_FLOW_CNP_RX), s.tap.n);
    assert_true(ctr("flow.f0", WF_FLOW_DELAY_MAX_PS) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bytes_of_a_connectx4, setup, teardown),
        cmocka_unit_test_setup_teardown(paced_by_port, setup, teardown),
        cmocka_unit_test_setup_teardown(paced_by_ip_pair, setup, teardown),
        cmocka_unit_test_setup_teardown(paced_by_dest_ip, setup, teardown),
        cmocka_unit_test_setup_teardown(paced_by_qp, setup, teardown),
        cmocka_unit_test_setup_teardown(delayed, setup, teardown),
        cmocka_unit_test_setup_teardown(with_a_nak, setup, teardown),
        cmocka_unit_test_setup_teardown(answers_of_a_read, setup, teardown),
        cmocka_unit_test_setup_teardown(no_cnp_unless_it_is_on, setup, teardown),
        cmocka_unit_test_setup_teardown(only_data_makes_one, setup, teardown),
        cmocka_unit_test_setup_teardown(fc_O11_by_header_not_by_size, setup, teardown),
    };

    wft_eal(128);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
