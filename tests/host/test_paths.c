/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Model hosts over every kind of network that they may find: IPv6 only, one bridged domain, back to
 * back without a switch, one subnet on two leaves; a pause that stops one priority, a link that
 * goes down and comes back, many flows of one host.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

#include "../wire/hex.h"
#include "switch/switch.h"

static struct {
    struct wf_arena arena;
    struct wf_desc d;
    struct wf_fabric *f;
} s;

static void describe(uint32_t leaves, uint32_t spines, uint32_t hosts, uint32_t max_flows)
{
    memset(&s, 0, sizeof(s));
    s.d.seed = 1;
    s.d.duration_ps = WF_KEY_AUTO;
    wf_desc_leaf_spine(&s.d, &s.arena, leaves, spines, hosts);
    s.d.flows = WF_ARENA_ARRAY(&s.arena, struct wf_desc_flow, max_flows);
}

static struct wf_flow_cfg *flow(uint32_t from, uint32_t to, uint64_t bytes)
{
    struct wf_desc_flow *w = &s.d.flows[s.d.n_flows];

    w->name = wf_arena_printf(&s.arena, "f%u", s.d.n_flows++);
    w->from = from;
    w->to = to;
    wf_keyset_defaults(&wf_flow_keys, &w->cfg);
    w->cfg.size_bytes = bytes;
    return &w->cfg;
}

static void build(void)
{
    wf_desc_address(&s.d, &s.arena);
    s.f = wft_build_some(&s.d, UINT64_MAX);
}

static void run(uint64_t t_ps)
{
    wft_run(s.f, t_ps);
    wft_check(s.f);
}

static void done(void)
{
    wf_fabric_free(s.f);
    wf_arena_free(&s.arena);
}

static uint64_t *ctr(uint32_t i)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(s.f, wf_ctr_table_bit(&wf_ctrs_flow));
    char name[16];

    snprintf(name, sizeof(name), "flow.f%u", i);
    while (wf_ctr_next(&w))
        if (!strcmp(w.holder, name))
            return w.values;
    fail_msg("no %s", name);
    return NULL;
}

static struct wf_port *host_port(uint32_t i)
{
    return &wf_fabric_host(s.f, i)->ports[0];
}

/* What the first data packet of a host looked like. */
struct look {
    struct wf_tap tap;
    uint32_t n, len;
    struct wf_parsed p;
    uint8_t bytes[4200]; /* whole, as an attachment would see it */
};

static void look(struct wf_tap *tap, struct wf_port *port, struct wf_pkt *pkt, enum wf_tap_dir dir,
                 enum wf_reason why)
{
    struct look *l = WF_CONTAINER_OF(tap, struct look, tap);

    if (dir != WF_TAP_TX || !(pkt->p.flags & WF_P_BTH) || l->n++)
        return;
    l->len = pkt->frame_len;
    l->p = pkt->p;
    assert_int_equal(wf_pkt_real_bytes(pkt, l->bytes, sizeof(l->bytes)), l->len - 4);
}

static void run_and_look(struct look *l, uint32_t host)
{
    *l = (struct look){.tap.fn = look};
    wf_port_tap(host_port(host), &l->tap);
    run(WF_TIME_NEVER);
    assert_int_equal(wf_fabric_ctr(s.f, WF_FABRIC_DROPPED), 0);
    assert_int_equal(ctr(0)[WF_FLOW_BYTES], s.d.flows[0].cfg.size_bytes);
    assert_int_equal(ctr(0)[WF_FLOW_MSGS], 1);
    assert_int_equal(ctr(0)[WF_FLOW_TIMEOUTS], 0);
}

static void test_headers(void **state)
{
    uint8_t masked[2000];
    struct look l;

    describe(2, 1, 1, 1);
    flow(0, 1, 1000)->dscp = 10;
    build();
    run_and_look(&l, 0);
    assert_int_equal(l.len, 14 + 20 + 8 + 12 + 16 + 1000 + 4 + 4);
    assert_memory_equal(l.bytes, wf_fabric_switch(s.f, 0)->mac, 6);
    assert_memory_equal(l.bytes + 6, wf_fabric_host(s.f, 0)->mac, 6);
    assert_int_equal(l.bytes[14], 0x45);
    assert_int_equal(l.bytes[15], 10 << 2 | 2);      /* ECT(0) */
    assert_int_equal(wf_ld16(l.bytes + 20), 0x4000); /* don't fragment */
    assert_int_equal(l.bytes[22], 64);
    assert_in_range(l.p.sport, 0xc000, 0xffff);
    assert_int_equal(l.p.dport, 4791);
    assert_int_equal(wf_ld16(l.bytes + 40), 0); /* no UDP checksum */
    /* the ICRC by hand: masked fields as ones behind eight bytes of ones, bit by bit */
    memset(masked, 0xff, 8);
    memcpy(masked + 8, l.bytes + 14, 20 + 8 + 12 + 16 + 1000);
    masked[8 + 1] = masked[8 + 8] = masked[8 + 10] = masked[8 + 11] = 0xff;
    masked[8 + 26] = masked[8 + 27] = masked[8 + 32] = 0xff;
    assert_int_equal(wf_ld32le(l.bytes + 14 + 20 + 8 + 12 + 16 + 1000),
                     plain_crc32(0, masked, 8 + 20 + 8 + 12 + 16 + 1000));
    assert_int_equal(host_port(0)->q[1].ctr[WF_QUEUE_TX_FRAMES], 1);
    assert_int_equal(host_port(1)->q[1].ctr[WF_QUEUE_TX_FRAMES], 1);
    done();
}

static void test_ip6_only(void **state)
{
    struct look l;

    describe(2, 1, 1, 1);
    flow(0, 1, 100000)->ecn = 0;
    wf_desc_address(&s.d, &s.arena);
    s.d.hosts[1].cfg.ip.family = 0;
    s.f = wft_build_some(&s.d, UINT64_MAX);
    run_and_look(&l, 0);
    assert_int_equal(l.len, 14 + 40 + 8 + 12 + 16 + 4096 + 4 + 4);
    assert_int_equal(l.p.ecn, 0);
    done();
}

/* One broadcast domain over leaves and spine: frames go to the host's own address. */
static void test_l2(void **state)
{
    struct look l;

    describe(2, 1, 2, 1);
    flow(0, 3, 100000);
    for (uint32_t i = 0; i < s.d.n_switches; i++)
        s.d.switches[i].cfg.forwarding = WF_FORWARD_L2;
    build();
    run_and_look(&l, 0);
    assert_memory_equal(l.bytes, wf_fabric_host(s.f, 3)->mac, 6);
    done();
}

static void test_back_to_back(void **state)
{
    struct look l;

    describe(1, 0, 2, 1);
    flow(0, 1, 4096);
    s.d.n_switches = 0;
    s.d.n_links = 1;
    s.d.links[0].a = (struct wf_desc_end){true, 0};
    s.d.links[0].b = (struct wf_desc_end){true, 1};
    build();
    run_and_look(&l, 0);
    assert_memory_equal(l.bytes, wf_fabric_host(s.f, 1)->mac, 6);
    assert_int_equal(ctr(0)[WF_FLOW_COMPLETION_PS], (8 + 4174) * 80 + (8 + 66) * 80 + 2 * 500000);
    done();
}

/* Addresses of one prefix on two leaves: the leaf is a proxy, so frames go to it. */
static void test_one_subnet_on_two_leaves(void **state)
{
    struct look l;

    describe(2, 1, 1, 1);
    flow(0, 1, 4096);
    wf_desc_address(&s.d, &s.arena);
    for (int i = 0; i < 2; i++)
        s.d.hosts[i].cfg.ip.len = 8;
    s.f = wft_build_some(&s.d, UINT64_MAX);
    run_and_look(&l, 0);
    assert_memory_equal(l.bytes, wf_fabric_switch(s.f, 0)->mac, 6);
    done();
}

/* XOFF of a priority: its queue pairs stop, two frames of theirs wait and no more; the flow of the
 * other priority goes on at the full rate. */
static void test_pause_one_priority(void **state)
{
    uint64_t before, during, other;

    describe(1, 0, 3, 2);
    flow(0, 1, 1 << 24)->window_bytes = 1 << 24;
    flow(0, 2, 1 << 24)->window_bytes = 1 << 24;
    s.d.flows[1].cfg.dscp = 34; /* priority 4 */
    build();
    run(50 * WF_PS_PER_US);
    /* by hand: no group wants it, which wft_check() would not have */
    wf_pfc_xoff(&wf_fabric_switch(s.f, 0)->ports[0], 3);
    wft_run(s.f, 60 * WF_PS_PER_US);
    before = host_port(0)->q[3].ctr[WF_QUEUE_TX_FRAMES];
    other = host_port(0)->q[4].ctr[WF_QUEUE_TX_FRAMES];
    wft_run(s.f, 160 * WF_PS_PER_US);
    during = host_port(0)->q[3].ctr[WF_QUEUE_TX_FRAMES] - before;
    other = host_port(0)->q[4].ctr[WF_QUEUE_TX_FRAMES] - other;
    assert_int_equal(during, 0);
    assert_int_equal(host_port(0)->q[3].fifo.count, 2);
    assert_in_range(other, 298, 300); /* 100 us of 4,178 bytes each */
    wf_fabric_settle(s.f);
    assert_in_range(host_port(0)->prio_ctr[3][WF_PRIO_PAUSED_PS], 100 * WF_PS_PER_US,
                    110 * WF_PS_PER_US);
    wf_pfc_xon(&wf_fabric_switch(s.f, 0)->ports[0], 3);
    run(WF_TIME_NEVER);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(ctr(i)[WF_FLOW_BYTES], 1 << 24);
        assert_int_equal(ctr(i)[WF_FLOW_RETX_PACKETS], 0);
    }
    done();
}

/* The link goes down in the middle and comes back: what was on its way is lost. The window was not
 * full, so the next packet shows the receiver the gap, before the timer would. */
static void test_link_flap(void **state)
{
    describe(1, 0, 2, 1);
    flow(0, 1, 1 << 20)->ack_timeout_ps = WF_PS_PER_MS;
    build();
    run(30 * WF_PS_PER_US);
    wf_fabric_link_set(s.f, &s.f->links[0], false);
    run(200 * WF_PS_PER_US);
    assert_in_range(ctr(0)[WF_FLOW_BYTES], 1, (1 << 20) - 1);
    wf_fabric_link_set(s.f, &s.f->links[0], true);
    run(300 * WF_PS_PER_US); /* at once: the rest of it takes less than 84 us */
    assert_int_equal(ctr(0)[WF_FLOW_BYTES], 1 << 20);
    run(WF_TIME_NEVER);
    assert_int_equal(ctr(0)[WF_FLOW_BYTES], 1 << 20);
    assert_int_equal(ctr(0)[WF_FLOW_TIMEOUTS], 0);
    assert_int_equal(ctr(0)[WF_FLOW_NAK_RX], 1);
    assert_in_range(ctr(0)[WF_FLOW_RETX_PACKETS], 1, 34);
    done();
}

/* The link is down for good, before a flow has sent anything: it fails all the same. */
static void test_link_down(void **state)
{
    describe(1, 0, 2, 2);
    flow(0, 1, 1 << 20)->start_ps = 50 * WF_PS_PER_US;
    flow(0, 1, 4096)->start_ps = 1;
    s.d.flows[0].cfg.ack_timeout_ps = s.d.flows[1].cfg.ack_timeout_ps = WF_PS_PER_MS;
    build();
    run(20 * WF_PS_PER_US);
    wf_fabric_link_set(s.f, &s.f->links[0], false);
    run(WF_TIME_NEVER);
    assert_int_equal(ctr(0)[WF_FLOW_MSGS_FAILED], 1);
    assert_int_equal(ctr(0)[WF_FLOW_TIMEOUTS], 8);
    assert_int_equal(ctr(0)[WF_FLOW_TX_PACKETS], 1);
    assert_int_equal(ctr(1)[WF_FLOW_MSGS], 1);
    assert_int_equal(wf_fabric_last_event_ps(s.f), 50 * WF_PS_PER_US + 8 * WF_PS_PER_MS);
    done();
}

/* 200 queue pairs of one host share its port alike, and each is found again among the others. */
static void test_many_flows(void **state)
{
    uint64_t first = UINT64_MAX, last = 0;

    describe(1, 0, 3, 200);
    for (uint32_t i = 0; i < 200; i++)
        flow(0, 1 + i % 2, 20000)->count = 3;
    build();
    run(WF_TIME_NEVER);
    for (uint32_t i = 0; i < 200; i++) {
        uint64_t t = ctr(i)[WF_FLOW_COMPLETION_PS];

        assert_int_equal(ctr(i)[WF_FLOW_BYTES], 60000);
        assert_int_equal(ctr(i)[WF_FLOW_MSGS], 3);
        assert_int_equal(ctr(i)[WF_FLOW_RETX_PACKETS], 0);
        first = t < first ? t : first;
        last = t > last ? t : last;
    }
    /* round robin: all end within the last rounds */
    assert_in_range(first, last * 8 / 10, last);
    done();
}

/* More messages than the send queue has places: posted as places come free, completed in order. */
static void test_long_queue(void **state)
{
    describe(1, 0, 2, 1);
    flow(0, 1, 100)->count = 1000;
    build();
    run(WF_TIME_NEVER);
    assert_int_equal(ctr(0)[WF_FLOW_MSGS_POSTED], 1000);
    assert_int_equal(ctr(0)[WF_FLOW_MSGS], 1000);
    assert_int_equal(ctr(0)[WF_FLOW_BYTES], 100000);
    assert_int_equal(ctr(0)[WF_FLOW_POSTED_BYTES], 100000);
    assert_int_equal(ctr(0)[WF_FLOW_ACK_RX], wf_fabric_ctr(s.f, WF_FABRIC_DELIVERED) - 1000);
    done();
}

/* Hundreds of flows of tiny messages before a slow port: all that can be alive has a buffer. */
static void test_many_small_packets(void **state)
{
    describe(1, 0, 5, 300);
    for (uint32_t i = 0; i < 300; i++)
        flow(i % 4, 4, 64)->count = 150;
    s.d.links[4].cfg.rate_bps = 1000000000;
    s.d.switches[0].cfg.port.queue[3].limit_bytes = 32000000;
    s.d.switches[0].cfg.port.pg[3].limit_bytes = 32000000;
    build();
    run(WF_TIME_NEVER);
    assert_in_range(wf_fabric_switch(s.f, 0)->ports[4].q[3].ctr[WF_QUEUE_MAX_BYTES],
                    300 * 120 * 146, 300 * 128 * 150);
    for (uint32_t i = 0; i < 300; i++)
        assert_int_equal(ctr(i)[WF_FLOW_MSGS], 150);
    assert_int_equal(wf_fabric_ctr(s.f, WF_FABRIC_DROPPED), 0);
    done();
}

/* The ECN bits of data arrive as CE where a switch marks, and are counted there. */
static void test_marks(void **state)
{
    uint64_t marked = 0;

    describe(1, 0, 3, 2);
    flow(0, 2, 1 << 20)->window_bytes = 1 << 20;
    flow(1, 2, 1 << 20)->ecn = 0;
    s.d.switches[0].cfg.port.queue[3].ecn.enable = true;
    s.d.switches[0].cfg.port.queue[3].ecn.kmin_bytes = 10000;
    s.d.switches[0].cfg.port.queue[3].ecn.kmax_bytes = 50000;
    build();
    run(WF_TIME_NEVER);
    marked = wf_fabric_switch(s.f, 0)->ports[2].ctr[WF_PORT_ECN_MARKED_FRAMES];
    assert_in_range(marked, 10, 256);
    assert_int_equal(ctr(0)[WF_FLOW_CE_RX], marked);
    assert_int_equal(ctr(1)[WF_FLOW_CE_RX], 0);
    done();
}

static void test_refused_descriptions(void **state)
{
    struct wf_fabric_opts opts = {0};
    struct wf_err err = {0};

    describe(1, 0, 2, 1);
    flow(1, 1, 10);
    wf_desc_address(&s.d, &s.arena);
    assert_int_equal(wf_fabric_build(&s.f, &s.d, &opts, &err), -22);
    assert_non_null(strstr(err.msg, "'f0'"));
    s.d.flows[0].from = 0;
    s.d.n_links = 1; /* host 1 hangs on nothing */
    assert_int_equal(wf_fabric_build(&s.f, &s.d, &opts, &err), -22);
    wf_arena_free(&s.arena);
}

/* A link-local address at either end does not pass a router, be it a model host's, and the run says
 * why; between two hosts of one leaf it is right. */
static void link_local(uint32_t leaves, unsigned ends, bool v6)
{
    describe(leaves, 1, 2 / leaves, 1);
    flow(0, 1, 1000)->ack_timeout_ps = 100 * WF_PS_PER_US;
    wf_desc_address(&s.d, &s.arena);
    for (uint32_t i = 0; i < 2; i++) {
        struct wf_host_cfg *c = &s.d.hosts[i].cfg;
        struct wf_ip_prefix *ip = v6 ? &c->ip6 : &c->ip;
        uint8_t *begin = ip->addr + (v6 ? 0 : 12);

        if (v6)
            c->ip.family = 0;
        if (ends >> i & 1) {
            memcpy(begin, v6 ? "\xfe\x80" : "\xa9\xfe", 2);
            memset(begin + 2, 0, v6 ? 13 : 1);
            ip->addr[15] = (uint8_t)(i + 1);
            ip->len = v6 ? 64 : 16;
        }
    }
    s.f = wft_build_some(&s.d, UINT64_MAX);
    run(WF_TIME_NEVER);
    assert_int_equal(ctr(0)[WF_FLOW_MSGS], leaves == 1);
    assert_true((host_port(0)->peer->drops[WF_DROP_LINK_LOCAL] > 0) == (leaves == 2));
    assert_int_equal(host_port(1)->ctr[WF_PORT_RX_FRAMES] > 0, leaves == 1);
    done();
}

static void test_link_local(void **state)
{
    for (int v6 = 0; v6 < 2; v6++) {
        for (unsigned ends = 1; ends <= 3; ends++)
            link_local(2, ends, v6);
        link_local(1, 3, v6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_link_local),
        cmocka_unit_test(test_ip6_only),
        cmocka_unit_test(test_l2),
        cmocka_unit_test(test_back_to_back),
        cmocka_unit_test(test_one_subnet_on_two_leaves),
        cmocka_unit_test(test_pause_one_priority),
        cmocka_unit_test(test_link_flap),
        cmocka_unit_test(test_link_down),
        cmocka_unit_test(test_many_flows),
        cmocka_unit_test(test_long_queue),
        cmocka_unit_test(test_many_small_packets),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_refused_descriptions),
    };

    wft_eal(256);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
