/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Model hosts in whole fabrics: completion times against closed forms to the picosecond, goodput
 * against M/(M+82), go-back-N under injected loss, incast under PFC, pacing, and digests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

#include "switch/switch.h"

/* A leaf-spine fabric and its flows; pg 3 (DSCP 26) is lossless when `lossless`. */
struct setup {
    struct wf_arena arena;
    struct wf_desc d;
    struct wf_fabric *f;
};

static void describe(struct setup *s, uint32_t leaves, uint32_t spines, uint32_t hosts,
                     uint32_t max_flows)
{
    memset(s, 0, sizeof(*s));
    s->d.name = "test";
    s->d.seed = 1;
    s->d.duration_ps = WF_KEY_AUTO;
    wf_desc_leaf_spine(&s->d, &s->arena, leaves, spines, hosts);
    s->d.flows = WF_ARENA_ARRAY(&s->arena, struct wf_desc_flow, max_flows);
    for (uint32_t i = 0; i < s->d.n_switches; i++)
        s->d.switches[i].cfg.port.pg[3].lossless = true;
}

static struct wf_flow_cfg *flow(struct setup *s, uint32_t from, uint32_t to, uint64_t bytes)
{
    struct wf_desc_flow *w = &s->d.flows[s->d.n_flows];

    w->name = wf_arena_printf(&s->arena, "f%u", s->d.n_flows++);
    w->from = from;
    w->to = to;
    wf_keyset_defaults(&wf_flow_keys, &w->cfg);
    w->cfg.size_bytes = bytes;
    return &w->cfg;
}

static void build(struct setup *s)
{
    struct wf_fabric_opts opts = {0};
    struct wf_err err = {0};

    wf_desc_address(&s->d, &s->arena);
    if (wf_fabric_build(&s->f, &s->d, &opts, &err))
        fail_msg("%s", err.msg);
}

static void run(struct setup *s)
{
    wft_run(s->f, WF_TIME_NEVER);
    wf_fabric_settle(s->f);
    wft_check(s->f);
}

static void done(struct setup *s)
{
    wf_fabric_free(s->f);
    wf_arena_free(&s->arena);
}

static uint64_t *counters(struct setup *s, const char *name)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(s->f, wf_ctr_table_bit(&wf_ctrs_flow));

    while (wf_ctr_next(&w))
        if (!strcmp(w.holder, name))
            return w.values;
    fail_msg("no counters of %s", name);
    return NULL;
}

/* The first packet of a port, read off its wire. */
struct psn_tap {
    struct wf_tap tap;
    uint32_t first_psn;
    uint32_t n;
    uint8_t first_opcode;
};

static void see_psn(struct wf_tap *tap, struct wf_port *port, struct wf_pkt *pkt,
                    enum wf_tap_dir dir, enum wf_reason why)
{
    struct psn_tap *t = WF_CONTAINER_OF(tap, struct psn_tap, tap);

    if (dir == WF_TAP_TX && pkt->p.flags & WF_P_BTH && !t->n++) {
        t->first_psn = pkt->p.psn;
        t->first_opcode = pkt->p.opcode;
    }
}

/*
 * By hand, 100 Gb/s (80 ps a byte), links of 500 ns, one store-and-forward switch of 500 ns.
 * n packets of 4096: frames of 4174 (First, with RETH), then 4158. The first one's last bit is at
 * the switch after (8 + 4174) * 80 + 500 ns; from then on the egress never idles, since the frames
 * behind are shorter. The last frame leaves it n - 1 frames and gaps later. The ACK of 66 bytes
 * then crosses both links alone.
 */
static void test_closed_form(void **state)
{
    const uint64_t B = 80, D = 500000, L = 500000, n = 32;
    uint64_t at_switch = (8 + 4174) * B + D + L;
    uint64_t last_begins = at_switch + (4174 + 20) * B + (n - 2) * (4158 + 20) * B;
    uint64_t at_host = last_begins + (8 + 4158) * B + D;
    uint64_t ack = 2 * ((8 + 66) * B + D) + L;
    struct setup s;
    uint64_t *c;

    describe(&s, 1, 0, 2, 1);
    flow(&s, 0, 1, n * 4096)->start_ps = 12345;
    build(&s);
    run(&s);
    c = counters(&s, "flow.f0");
    assert_int_equal(c[WF_FLOW_BYTES], n * 4096);
    assert_int_equal(c[WF_FLOW_MSGS], 1);
    assert_int_equal(c[WF_FLOW_TX_PACKETS], n);
    assert_int_equal(c[WF_FLOW_RETX_PACKETS], 0);
    assert_int_equal(c[WF_FLOW_START_PS], 12345);
    assert_int_equal(c[WF_FLOW_COMPLETION_PS], at_host + ack);
    assert_int_equal(c[WF_FLOW_IDEAL_PS], at_host + ack);
    /* the First is the longest, and what waited in the NIC does not count */
    assert_int_equal(c[WF_FLOW_DELAY_MAX_PS], at_switch + (8 + 4174) * B + D);
    assert_true(wf_fabric_idle(s.f));
    done(&s);
}

/* Delivered payload between two instants, as a share of the line: M / (M + 82) for IPv4 without
 * tags (8 + 14 + 20 + 8 + 12 + M + 4 + 4 + 12). The instants lie a whole number of packets apart,
 * so that the share is exact up to one packet in 8,192. */
static void test_goodput(void **state)
{
    static const uint32_t mtus[] = {256, 512, 1024, 2048, 4096};
    static const uint32_t share[] = {7574, 8620, 9259, 9615, 9804}; /* facts O6 */

    for (int i = 0; i < 5; i++) {
        uint64_t M = mtus[i], step = 8192 * (M + 82) * 80, bytes;
        struct setup s;

        describe(&s, 1, 0, 2, 1);
        flow(&s, 0, 1, 16384 * M)->path_mtu = mtus[i];
        s.d.flows[0].cfg.window_bytes = 1 << 20;
        build(&s);
        wft_run(s.f, 20000000);
        wf_fabric_settle(s.f);
        bytes = counters(&s, "flow.f0")[WF_FLOW_BYTES];
        wft_run(s.f, 20000000 + step);
        wf_fabric_settle(s.f);
        bytes = counters(&s, "flow.f0")[WF_FLOW_BYTES] - bytes;
        assert_int_equal(bytes, 8192 * M);
        /* bytes in `step` at 12.5 bytes a nanosecond, to four digits */
        assert_int_equal((bytes * 80 * 10000 + step / 2) / step, share[i]);
        run(&s);
        assert_int_equal(counters(&s, "flow.f0")[WF_FLOW_BYTES], 16384 * M);
        done(&s);
    }
}

/* What a lossy link costs: every 97th data packet that leaves the sender is dropped. */
static void test_loss(void **state)
{
    static const struct wf_fault fault = {
        .action = WF_FAULT_DROP, .match = WF_FAULT_ROCE_DATA, .every = 97};
    const uint64_t n = 4000;
    struct wf_fault *hit;
    struct setup s;
    uint64_t *c, lost;

    describe(&s, 1, 0, 2, 1);
    flow(&s, 0, 1, 4096 * 40)->count = n / 40;
    s.d.flows[0].cfg.ack_timeout_ps = WF_PS_PER_MS;
    build(&s);
    hit = wf_fabric_inject(s.f, wf_fabric_port(s.f, "h0:p0"), &fault);
    run(&s);
    c = counters(&s, "flow.f0");
    lost = hit->hits;
    assert_int_equal(c[WF_FLOW_BYTES], 4096 * n);
    assert_int_equal(c[WF_FLOW_MSGS], n / 40);
    assert_int_equal(c[WF_FLOW_MSGS_FAILED], 0);
    assert_int_equal(c[WF_FLOW_TX_PACKETS], n + c[WF_FLOW_RETX_PACKETS]);
    assert_int_equal(lost, c[WF_FLOW_TX_PACKETS] / 97);
    assert_in_range(lost, n / 97 + 1, n);
    assert_int_equal(wf_fabric_ctr(s.f, WF_FABRIC_DROPPED), lost);
    /* no ACK or NAK is lost; each gap makes one, and each one a step back */
    assert_int_equal(c[WF_FLOW_NAK_TX], c[WF_FLOW_NAK_RX]);
    assert_in_range(c[WF_FLOW_NAK_RX], 1, lost);
    assert_in_range(c[WF_FLOW_RETX_PACKETS], c[WF_FLOW_NAK_RX], 33 * lost);
    assert_int_equal(c[WF_FLOW_RETX_BYTES], 4096 * c[WF_FLOW_RETX_PACKETS]);
    /* a lost packet that nothing follows is found by the timer alone, and a second loss of one */
    assert_in_range(c[WF_FLOW_NAK_RX] + c[WF_FLOW_TIMEOUTS], 1, lost);
    done(&s);
}

/* A loss with a closed form: the packet number 10 of 20, once. The receiver has 1 to 9 and
 * discards 11 and what was on its way until the NAK turned the sender round. */
static void test_one_loss(void **state)
{
    static const struct wf_fault fault = {
        .action = WF_FAULT_DROP, .match = WF_FAULT_ROCE_DATA, .every = 10, .limit = 1};
    const uint64_t B = 80, D = 500000, L = 500000, n = 200;
    /* packet 11 begins 10 packets after the start, and arrives; the NAK comes back */
    uint64_t begins = (4174 + 20 + 9 * (4158 + 20)) * B;
    uint64_t nak = begins + 2 * ((8 + 4158) * B + D) + L + 2 * ((8 + 66) * B + D) + L;
    /* by then so many have begun, and the NIC has drawn two more ahead of the wire */
    uint64_t begun = 1 + (nak - (4174 + 20) * B) / ((4158 + 20) * B) + 1;
    struct setup s;
    uint64_t *c;

    describe(&s, 1, 0, 2, 1);
    flow(&s, 0, 1, n * 4096)->window_bytes = 1 << 20;
    build(&s);
    wf_fabric_inject(s.f, wf_fabric_port(s.f, "h0:p0"), &fault);
    run(&s);
    c = counters(&s, "flow.f0");
    assert_int_equal(c[WF_FLOW_NAK_RX], 1);
    assert_int_equal(c[WF_FLOW_TIMEOUTS], 0);
    assert_int_equal(c[WF_FLOW_RETX_PACKETS], begun + 2 - 9);
    assert_int_equal(c[WF_FLOW_TX_PACKETS], n + begun + 2 - 9);
    assert_int_equal(c[WF_FLOW_DUP_RX], 0);
    done(&s);
}

/* Nobody there: the timer, the retries, the error, and quiet. */
static void test_dead_peer(void **state)
{
    static const struct wf_fault fault = {
        .action = WF_FAULT_DROP, .match = WF_FAULT_ROCE_ACK, .every = 1};
    struct setup s;
    uint64_t *c;

    describe(&s, 1, 0, 2, 1);
    flow(&s, 0, 1, 4096)->count = 3;
    s.d.flows[0].cfg.retries = 2;
    s.d.flows[0].cfg.ack_timeout_ps = WF_PS_PER_MS;
    build(&s);
    wf_fabric_inject(s.f, wf_fabric_port(s.f, "h1:p0"), &fault);
    run(&s);
    c = counters(&s, "flow.f0");
    assert_int_equal(c[WF_FLOW_TIMEOUTS], 3);
    assert_int_equal(c[WF_FLOW_MSGS], 0);
    assert_int_equal(c[WF_FLOW_MSGS_FAILED], 3);
    assert_int_equal(c[WF_FLOW_COMPLETION_PS], 0);
    assert_int_equal(c[WF_FLOW_DUP_RX], 6); /* three packets, sent again twice */
    assert_int_equal(c[WF_FLOW_BYTES], 3 * 4096);
    assert_int_equal(wf_fabric_last_event_ps(s.f), 3 * WF_PS_PER_MS);
    done(&s);
}

/* Eight senders at full rate into one port: paused, nothing lost, everybody served alike. */
static void test_incast(void **state)
{
    uint64_t first = UINT64_MAX, last = 0, xoff = 0, n = 64;
    struct setup s;

    describe(&s, 1, 0, 9, 8);
    for (uint32_t i = 0; i < 8; i++)
        flow(&s, i, 8, n * 4096)->window_bytes = 1 << 20;
    s.d.switches[0].cfg.port.pg[3].xoff_bytes = 40000;
    build(&s);
    run(&s);
    for (uint32_t i = 0; i < 8; i++) {
        uint64_t *c = counters(&s, wf_arena_printf(&s.arena, "flow.f%u", i));

        assert_int_equal(c[WF_FLOW_BYTES], n * 4096);
        assert_int_equal(c[WF_FLOW_RETX_PACKETS], 0);
        first = c[WF_FLOW_COMPLETION_PS] < first ? c[WF_FLOW_COMPLETION_PS] : first;
        last = c[WF_FLOW_COMPLETION_PS] > last ? c[WF_FLOW_COMPLETION_PS] : last;
        xoff += wf_fabric_switch(s.f, 0)->ports[i].prio_ctr[3][WF_PRIO_XOFF_TX];
        assert_int_equal(wf_fabric_host(s.f, i)->ports[0].prio_ctr[3][WF_PRIO_XOFF_RX],
                         wf_fabric_switch(s.f, 0)->ports[i].prio_ctr[3][WF_PRIO_XOFF_TX]);
        /* what waits in a paused NIC is two frames, not a queue */
        assert_in_range(wf_fabric_host(s.f, i)->ports[0].q[3].ctr[WF_QUEUE_MAX_BYTES], 1, 2 * 4174);
    }
    assert_int_equal(wf_fabric_ctr(s.f, WF_FABRIC_DROPPED), 0);
    assert_in_range(xoff, 8, 8 * n);
    assert_int_equal(wf_fabric_switch(s.f, 0)->ports[8].prio_ctr[3][WF_PRIO_XOFF_TX], 0);
    /* the port into the sink never idles: 8 n frames take so long, and a few microseconds more */
    assert_in_range(last, 8 * n * (4158 + 20) * 80, 8 * n * (4158 + 20) * 80 + 8000000);
    assert_true(first > last / 2);
    done(&s);
}

/* A tenth of the line's rate, in bits on the wire: the last of n packets begins n - 1 of them
 * later. */
static void test_pace(void **state)
{
    const uint64_t n = 50, D = 500000, L = 500000;
    uint64_t last = (4174 + 20) * 800 + (n - 2) * (4158 + 20) * 800;
    uint64_t ack = 2 * ((8 + 66) * 80 + D) + L;
    struct setup s;

    describe(&s, 1, 0, 2, 1);
    flow(&s, 0, 1, n * 4096)->rate_bps = 10000000000ull;
    s.d.flows[0].cfg.window_bytes = 1 << 20;
    build(&s);
    run(&s);
    assert_int_equal(counters(&s, "flow.f0")[WF_FLOW_COMPLETION_PS],
                     last + 2 * ((8 + 4158) * 80 + D) + L + ack);
    assert_int_equal(counters(&s, "flow.f0")[WF_FLOW_IDEAL_PS],
                     last + 2 * ((8 + 4158) * 80 + D) + L + ack);
    done(&s);
}

/* Across leaves the packet is routed by two leaves and a spine: one way is a link and a switch
 * longer twice over. */
static void test_across_spine(void **state)
{
    const uint64_t B = 80, D = 500000, L = 500000;
    struct setup s;

    describe(&s, 2, 2, 1, 1);
    flow(&s, 0, 1, 1000);
    build(&s);
    run(&s);
    /* 14+20+8+12+16+1000+4+4 = 1078 */
    assert_int_equal(counters(&s, "flow.f0")[WF_FLOW_COMPLETION_PS],
                     4 * ((8 + 1078) * B + D) + 3 * L + 4 * ((8 + 66) * B + D) + 3 * L);
    assert_int_equal(counters(&s, "flow.f0")[WF_FLOW_IDEAL_PS],
                     4 * ((8 + 1078) * B + D) + 3 * L + 4 * ((8 + 66) * B + D) + 3 * L);
    assert_int_equal(counters(&s, "flow.f0")[WF_FLOW_DELAY_MAX_PS],
                     4 * ((8 + 1078) * B + D) + 3 * L);
    done(&s);
}

static struct wf_digest digest_of(struct setup *s)
{
    struct wf_digest d;

    build(s);
    run(s);
    d = wf_fabric_digest(s->f);
    done(s);
    return d;
}

static void mixed(struct setup *s, uint64_t seed)
{
    describe(s, 2, 2, 3, 8);
    s->d.seed = seed;
    for (uint32_t i = 0; i < 6; i++)
        flow(s, i, (i + 2) % 6, 300000)->start_ps = i * 777;
    for (uint32_t i = 0; i < s->d.n_switches; i++)
        s->d.switches[i].cfg.port.queue[3].ecn.enable = true;
}

static void test_digest(void **state)
{
    struct setup s;
    struct wf_digest a, b, other;

    mixed(&s, 7);
    a = digest_of(&s);
    mixed(&s, 7);
    b = digest_of(&s);
    mixed(&s, 8);
    other = digest_of(&s);
    assert_int_equal(a.h, b.h);
    assert_int_not_equal(a.h, other.h);
}

/* PSNs come from the flow's name and the seed: another flow before it does not move them. And
 * hosts of whom a new flow is no neighbour see the same frames at the same times. */
static void test_flows_are_independent(void **state)
{
    uint64_t at_host[2];
    uint32_t psn[2];

    for (int extra = 0; extra < 2; extra++) {
        struct psn_tap tap = {.tap.fn = see_psn};
        struct setup s;

        describe(&s, 2, 0, 2, 2);
        flow(&s, 0, 1, 50000);
        if (extra)
            flow(&s, 2, 3, 50000);
        build(&s);
        run(&s);
        at_host[extra] = wf_fabric_host(s.f, 0)->ports[0].digest.h;
        done(&s);

        describe(&s, 2, 0, 2, 2);
        if (extra)
            flow(&s, 2, 3, 50000)->start_ps = 1;
        flow(&s, 0, 1, 50000);
        s.d.flows[s.d.n_flows - 1].name = "same";
        build(&s);
        wf_port_tap(&wf_fabric_host(s.f, 0)->ports[0], &tap.tap);
        run(&s);
        assert_int_equal(tap.first_opcode, WF_SERVICE_RC | WF_OP_WRITE_FIRST);
        psn[extra] = tap.first_psn;
        done(&s);
    }
    assert_int_equal(at_host[0], at_host[1]);
    assert_int_equal(psn[0], psn[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_form), cmocka_unit_test(test_goodput),
        cmocka_unit_test(test_loss),        cmocka_unit_test(test_one_loss),
        cmocka_unit_test(test_dead_peer),   cmocka_unit_test(test_incast),
        cmocka_unit_test(test_pace),        cmocka_unit_test(test_across_spine),
        cmocka_unit_test(test_digest),      cmocka_unit_test(test_flows_are_independent),
    };

    wft_eal(256);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
