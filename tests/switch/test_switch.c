/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of the switch between probe hosts: timing against closed forms, PFC both ways, ECN at
 * dequeue, scheduling, forwarding. All times are fabric time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "eth/pfc.h"
#include "fabric/pausetree.h"
#include "burst.h"
#include "support.h"
#include "wire/arp.h"
#include "wire/edit.h"
#include "wire/eth.h"
#include "wire/pfc.h"

#define US WF_PS_PER_US
#define NS WF_PS_PER_NS

static struct wf_arena arena;
static struct wf_desc desc;

static struct wf_desc *leaf_spine(uint32_t leaves, uint32_t spines, uint32_t hosts)
{
    wf_arena_free(&arena);
    desc = (struct wf_desc){.name = "test",
                            .seed = 1,
                            .duration_ps = WF_KEY_AUTO,
                            .time_limit_ps = WF_PS_PER_S,
                            .time_scale = 1};
    wf_desc_leaf_spine(&desc, &arena, leaves, spines, hosts);
    wf_desc_address(&desc, &arena);
    return &desc;
}

static void every_switch(void (*set)(struct wf_switch_cfg *c))
{
    for (uint32_t i = 0; i < desc.n_switches; i++)
        set(&desc.switches[i].cfg);
}

static void set_cut_through(struct wf_switch_cfg *c)
{
    c->mode = WF_MODE_CUT_THROUGH;
}

static void set_l2(struct wf_switch_cfg *c)
{
    c->forwarding = WF_FORWARD_L2;
}

/* 1,024 B of payload: 1,086 B with FCS, 1,106 on the wire, 80 ps a byte at 100 Gb/s. */
static void store_and_forward_is_the_closed_form(void **state)
{
    struct wf_fabric *f = wft_build(leaf_spine(2, 1, 1));
    uint64_t frame = (1086 + 8) * 80, hop = 500 * NS + 500 * NS; /* propagation, latency */

    wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 1024, 1);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(wft_probe(f, 1)->n_seen, 1);
    /* four links, three switches; the gap is not waited for */
    assert_int_equal(wft_probe(f, 1)->seen[0].t_ps, 4 * frame + 3 * hop + 500 * NS);
    wft_check(f);
    wf_fabric_free(f);
}

static void cut_through_is_the_closed_form(void **state)
{
    struct wf_fabric *f;
    uint64_t head = 64 * 80, frame = (1086 + 8) * 80, hop = 500 * NS + 500 * NS;

    leaf_spine(2, 1, 1);
    every_switch(set_cut_through);
    f = wft_build(&desc);
    wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 1024, 1);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(wft_probe(f, 1)->n_seen, 1);
    assert_int_equal(wft_probe(f, 1)->seen[0].t_ps, 3 * (head + hop) + frame + 500 * NS);
    wft_check(f);
    wf_fabric_free(f);
}

/* From 10 to 100 Gb/s the last bit out can't leave before the last bit in has come and waited. */
static void cut_through_never_runs_out_of_bits(void **state)
{
    struct wf_fabric *f;

    leaf_spine(1, 0, 2);
    every_switch(set_cut_through);
    desc.links[0].cfg.rate_bps = 10000000000ull;
    f = wft_build(&desc);
    wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 1024, 1);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(wft_probe(f, 1)->seen[0].t_ps,
                     (1086 + 8) * 800 + 500 * NS /* in */ + 500 * NS /* latency */ + 500 * NS);
    wf_fabric_free(f);
}

static void rate_of_1(struct wf_fabric *f, uint64_t bps)
{
    wf_fabric_link_rate(f, wf_fabric_switch(f, 0)->ports[1].link, bps);
}

/* Nor when the egress becomes faster while frames wait for their time, nor when it is slower for a
 * while; 1,086 B come in over 875.2 ns, their headers are there after 551.2 ns. */
static void cut_through_at_a_raised_rate_sends_no_bit_too_early(void **state)
{
    for (unsigned slower_first = 0; slower_first < 2; slower_first++) {
        struct wf_fabric *f;
        uint64_t in = (1086 + 8) * 800, wire = 1106 * 800;
        struct wft_probe *h;

        leaf_spine(1, 0, 2);
        every_switch(set_cut_through);
        desc.links[0].cfg.rate_bps = desc.links[1].cfg.rate_bps = 10000000000ull;
        f = wft_build(&desc);
        h = wft_probe(f, 1);
        wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 1024, 2);
        wft_run(f, 600 * NS); /* the first is queued, the second follows by itself */
        if (slower_first)
            rate_of_1(f, 5000000000ull);
        rate_of_1(f, 100000000000ull);
        wft_run(f, WF_TIME_NEVER);
        assert_int_equal(h->n_seen, 2);
        assert_int_equal(h->seen[0].t_ps, in + 1500 * NS);
        assert_int_equal(h->seen[1].t_ps, in + wire + 1500 * NS);
        wft_check(f);
        wf_fabric_free(f);
    }
}

/* Back to back at 100 Gb/s: no drift over many frames, and goodput M / (M + 82). */
static void frames_follow_each_other_without_drift(void **state)
{
    struct wf_fabric *f = wft_build(leaf_spine(1, 0, 2));
    struct wft_probe *h = wft_probe(f, 1);

    wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 1024, 1000);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(h->n_seen, 1000);
    assert_int_equal(h->seen[999].t_ps - h->seen[0].t_ps, 999ull * 1106 * 80);
    wft_check(f);
    wf_fabric_free(f);
}

/* A rate that divides nothing: 33.3 Mb/s; the end of frame n is round(n * bits / rate). */
static void odd_rates_round_once(void **state)
{
    struct wf_fabric *f;
    struct wft_probe *h;
    uint64_t start;

    leaf_spine(1, 0, 2);
    desc.links[0].cfg.rate_bps = 33300000;
    f = wft_build(&desc);
    h = wft_probe(f, 1);
    wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 1024, 100);
    wft_run(f, WF_TIME_NEVER);
    start = h->seen[0].t_ps;
    for (unsigned i = 1; i < 100; i++) {
        long double want = (long double)i * 1106 * 8 * 1e12L / 33300000;
        long double got = (long double)(h->seen[i].t_ps - start);

        assert_true(got - want <= 2 && want - got <= 2);
    }
    wf_fabric_free(f);
}

static void pfc_frame(struct wf_fabric *f, uint32_t host, uint8_t vector, uint16_t quanta)
{
    uint8_t buf[WF_PFC_FRAME_LEN];
    uint16_t q[8];

    for (int i = 0; i < 8; i++)
        q[i] = quanta;
    wf_pfc_build(buf, f->desc->hosts[host].cfg.mac, vector, q);
    wft_send(f, host, wf_fabric_now_ps(f), 7, buf, sizeof(buf), sizeof(buf));
}

static uint64_t longest_gap(const struct wft_probe *h, uint8_t dscp, uint64_t *end_ps)
{
    uint64_t last = 0, gap = 0;

    for (uint32_t i = 0; i < h->n_seen; i++) {
        if (h->seen[i].p.dscp != dscp)
            continue;
        if (last && h->seen[i].t_ps - last > gap) {
            gap = h->seen[i].t_ps - last;
            *end_ps = h->seen[i].t_ps;
        }
        last = h->seen[i].t_ps;
    }
    return gap;
}

static void no_response_delay(struct wf_switch_cfg *c)
{
    c->port.pfc.response_ps = 0;
}

/* XOFF of q quanta for priority 3: silence of exactly that priority for q x 512 bit times, one
 * frame more or less; priority 2 goes on. Its sender keeps half the link. */
static void xoff_silences_one_priority_for_its_quanta(void **state)
{
    static const uint16_t quanta[] = {1, 100, 1000, 5000};

    for (unsigned i = 0; i < 4; i++) {
        struct wf_fabric *f;
        struct wft_probe *h;
        uint64_t end = 0, gap, frame = 1106 * 80, want = quanta[i] * 512ull * 10;

        leaf_spine(1, 0, 2);
        every_switch(no_response_delay);
        f = wft_build(&desc);
        h = wft_probe(f, 1);
        wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 1024, 500);
        wft_burst(f, 0, 1, 18, WF_ECN_ECT0, 1024, 500);
        wft_run(f, 20 * US);
        pfc_frame(f, 1, 1 << 3, quanta[i]);
        wft_run(f, WF_TIME_NEVER);
        assert_int_equal(h->n_seen, 1000);
        gap = longest_gap(h, 26, &end);
        assert_in_range(gap + 3 * frame, want, want + 6 * frame);
        assert_true(longest_gap(h, 18, &end) <= 4 * frame);
        wft_check(f);
        wf_fabric_free(f);
    }
}

static void xon_ends_a_pause_early(void **state)
{
    struct wf_fabric *f;
    struct wft_probe *h;
    uint64_t end = 0, gap;

    leaf_spine(1, 0, 2);
    every_switch(no_response_delay);
    f = wft_build(&desc);
    h = wft_probe(f, 1);
    wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 1024, 500);
    wft_run(f, 5 * US);
    pfc_frame(f, 1, 1 << 3, 65535);
    wft_run(f, 25 * US);
    pfc_frame(f, 1, 1 << 3, 0);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(h->n_seen, 500);
    gap = longest_gap(h, 26, &end);
    assert_in_range(gap, 20 * US - 1106 * 80, 20 * US + 2 * 1106 * 80);
    assert_int_equal(wf_fabric_switch(f, 0)->ports[1].prio_ctr[3][WF_PRIO_XOFF_RX], 1);
    assert_int_equal(wf_fabric_switch(f, 0)->ports[1].prio_ctr[3][WF_PRIO_XON_RX], 1);
    assert_int_equal(wf_fabric_switch(f, 0)->ports[1].prio_ctr[3][WF_PRIO_PAUSED_PS], 0);
    wf_fabric_settle(f);
    assert_int_equal(wf_fabric_switch(f, 0)->ports[1].prio_ctr[3][WF_PRIO_PAUSED_PS], 20 * US);
    wf_fabric_free(f);
}

static void lossless_3(struct wf_switch_cfg *c)
{
    c->port.pg[3].lossless = true;
    c->port.pg[3].xoff_bytes = 20000;
    c->port.pg[3].xon_bytes = 10000;
}

/* 2:1: both senders are paused and nothing is lost; XOFF leaves when the group passes its
 * threshold; the pauses are real frames and every one ends. */
static void incast_pauses_and_loses_nothing(void **state)
{
    struct wf_fabric *f;
    struct wf_switch *sw;

    leaf_spine(1, 0, 3);
    every_switch(lossless_3);
    f = wft_build(&desc);
    sw = (struct wf_switch *)wf_fabric_switch(f, 0);
    wft_burst(f, 0, 2, 26, WF_ECN_ECT0, 1024, 1000);
    wft_burst(f, 1, 2, 26, WF_ECN_ECT0, 1024, 1000);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(wft_probe(f, 2)->n_seen, 2000);
    for (unsigned h = 0; h < 2; h++) {
        struct wft_probe *p = wft_probe(f, h);
        struct wf_port *port = &sw->node.ports[h];

        assert_true(p->n_control > 0);
        assert_memory_equal(p->control[0], wf_mac_control_dst, 6);
        assert_memory_equal(p->control[0] + 6, sw->node.mac, 6);
        assert_memory_equal(p->control[0] + 12, "\x88\x08\x01\x01\x00\x08", 6);
        assert_memory_equal(p->control[0] + 24, "\xff\xff", 2);
        assert_int_equal(port->prio_ctr[3][WF_PRIO_XOFF_TX], port->prio_ctr[3][WF_PRIO_XON_TX]);
        assert_int_equal(p->n_control, port->ctr[WF_PORT_PFC_TX_FRAMES]);
        assert_true(sw->pg[h][3].ctr[WF_PG_MAX_BYTES] > 20000);
        assert_true(sw->pg[h][3].ctr[WF_PG_MAX_BYTES] <= 20000 + sw->pg[h][3].lim.headroom);
        assert_int_equal(sw->pg[h][3].blames->of[0].port, 2);
    }
    wft_check(f);
    assert_int_equal(wf_fabric_ctr(f, WF_FABRIC_LOSSLESS_DROPS), 0);
    wf_fabric_free(f);
}

static void short_quanta(struct wf_switch_cfg *c)
{
    lossless_3(c);
    c->port.pfc.quanta = 100;
}

/* A pause that must outlast its quanta is refreshed before it expires: no frame slips through. */
static void xoff_is_refreshed_before_it_expires(void **state)
{
    struct wf_fabric *f;
    struct wf_switch *sw;
    struct wft_probe *h;

    leaf_spine(1, 0, 2);
    every_switch(short_quanta);
    every_switch(no_response_delay);
    f = wft_build(&desc);
    sw = (struct wf_switch *)wf_fabric_switch(f, 0);
    h = wft_probe(f, 0);
    pfc_frame(f, 1, 1 << 3, 20000); /* the sink stops the switch for 102.4 us */
    wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 1024, 200);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(wft_probe(f, 1)->n_seen, 200);
    assert_true(sw->node.ports[0].prio_ctr[3][WF_PRIO_REFRESH_TX] > 100);
    for (uint32_t i = 1; i < h->n_control && h->control_ps[i] < 90 * US; i++)
        assert_true(h->control_ps[i] - h->control_ps[i - 1] < 100 * 5120);
    assert_true(sw->pg[0][3].ctr[WF_PG_MAX_BYTES] <= 20000 + sw->pg[0][3].lim.headroom);
    wft_check(f);
    wf_fabric_free(f);
}

static void no_headroom(struct wf_switch_cfg *c)
{
    lossless_3(c);
    c->port.pg[3].headroom_bytes = 0;
}

static void headroom_0_loses(void **state)
{
    struct wf_fabric *f;

    leaf_spine(1, 0, 3);
    every_switch(no_headroom);
    f = wft_build(&desc);
    wft_burst(f, 0, 2, 26, WF_ECN_ECT0, 1024, 1000);
    wft_burst(f, 1, 2, 26, WF_ECN_ECT0, 1024, 1000);
    wft_run(f, WF_TIME_NEVER);
    assert_true(wf_fabric_ctr(f, WF_FABRIC_LOSSLESS_DROPS) > 0);
    assert_int_equal(wft_probe(f, 2)->n_seen + wf_fabric_ctr(f, WF_FABRIC_LOSSLESS_DROPS), 2000);
    wft_check(f);
    wf_fabric_free(f);
}

/* Host 0 does not stop, port 1 is stopped: frames of 1,086 bytes fill group 3 of port 0. */
static void fill(struct wf_fabric *f, uint32_t n)
{
    wf_pfc_of(&wft_probe(f, 0)->node.ports[0])->cfg.enable = false;
    pfc_frame(f, 1, 1 << 3, 65535);
    wft_run(f, 2 * US);
    wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 1024, n);
    wft_run(f, 100 * US);
}

/* XOFF is sent above the threshold and not at it; what fits into the headroom to the byte is kept,
 * and one byte more is not. */
static void thresholds_count_to_the_byte(void **state)
{
    enum { FRAME = 1086, XOFF = 10 * FRAME, KEPT = 30 };

    for (uint32_t missing = 0; missing < 2; missing++) {
        struct wf_fabric *f;
        struct wf_switch *sw;

        leaf_spine(1, 0, 2);
        every_switch(lossless_3);
        desc.switches[0].cfg.port.pg[3].xoff_bytes = XOFF;
        desc.switches[0].cfg.port.pg[3].headroom_bytes = KEPT * FRAME - XOFF - missing;
        f = wft_build(&desc);
        sw = (struct wf_switch *)wf_fabric_switch(f, 0);
        fill(f, 10);
        assert_int_equal(sw->node.ports[0].prio_ctr[3][WF_PRIO_XOFF_TX], 0);
        wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 1024, 1);
        wft_run(f, 110 * US);
        assert_int_equal(sw->node.ports[0].prio_ctr[3][WF_PRIO_XOFF_TX], 1);
        wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 1024, KEPT + 5 - 11);
        wft_run(f, 200 * US);
        assert_int_equal(sw->pg[0][3].ctr[WF_PG_BYTES], (KEPT - missing) * FRAME);
        assert_int_equal(sw->node.ports[0].drops[WF_DROP_NO_HEADROOM], 5 + missing);
        wft_check(f);
        wf_fabric_free(f);
    }
}

static void ecn_100k(struct wf_switch_cfg *c)
{
    c->port.queue[3].ecn = (struct wf_ecn_cfg){true, 100000, 100000, 1000000};
    c->port.pfc.response_ps = 0;
}

/* sonic-mgmt's egress ECN test: Kmin = Kmax = N KB, the queue is held by PFC while 2N 1-KB packets
 * come, then released: the first is marked, the last is not, all arrive. */
static void ecn_marks_at_dequeue(void **state)
{
    struct wf_fabric *f;
    struct wft_probe *h;
    uint32_t marked = 0;

    leaf_spine(1, 0, 2);
    every_switch(ecn_100k);
    f = wft_build(&desc);
    h = wft_probe(f, 1);
    pfc_frame(f, 1, 1 << 3, 65535);
    wft_run(f, 2 * US);
    wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 938, 200); /* frames of 1,000 B with FCS */
    wft_run(f, 100 * US);
    assert_int_equal(h->n_seen, 0);
    pfc_frame(f, 1, 1 << 3, 0);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(h->n_seen, 200);
    assert_int_equal(h->seen[0].p.ecn, WF_ECN_CE);
    assert_int_equal(h->seen[199].p.ecn, WF_ECN_ECT0);
    for (uint32_t i = 0; i < 200; i++) {
        marked += h->seen[i].p.ecn == WF_ECN_CE;
        assert_true(wf_ip4_checksum_ok(h->seen[i].bytes, h->seen[i].caplen, &h->seen[i].p));
    }
    /* packet i leaves (199 - i) thousand bytes behind: 0..99 see at least 100,000 */
    assert_int_equal(marked, 100);
    assert_int_equal(wf_fabric_switch(f, 0)->ports[1].q[3].ctr[WF_QUEUE_MARKED_FRAMES], 100);
    wf_fabric_free(f);
}

static void weights_3_to_1(struct wf_switch_cfg *c)
{
    c->port.queue[1].weight = 30;
    c->port.queue[2].weight = 10;
    c->port.queue[7].sched = WF_SCHED_STRICT;
    c->port.pfc.response_ps = 0;
}

/* Three queues held back together, then released: strict first, then 3 to 1 by bytes. */
static void strict_goes_first_then_weights(void **state)
{
    struct wf_fabric *f;
    struct wft_probe *h;
    uint32_t n1 = 0, n2 = 0;

    leaf_spine(1, 0, 2);
    every_switch(weights_3_to_1);
    f = wft_build(&desc);
    h = wft_probe(f, 1);
    pfc_frame(f, 1, 0xff, 65535);
    wft_run(f, 2 * US);
    wft_burst(f, 0, 1, 8, WF_ECN_ECT0, 1024, 400);
    wft_burst(f, 0, 1, 16, WF_ECN_ECT0, 1024, 400);
    wft_burst(f, 0, 1, 56, WF_ECN_ECT0, 1024, 100);
    wft_run(f, 150 * US);
    pfc_frame(f, 1, 0xff, 0);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(h->n_seen, 900);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(h->seen[i].p.dscp, 56);
    for (uint32_t i = 100; i < 500; i++) {
        n1 += h->seen[i].p.dscp == 8;
        n2 += h->seen[i].p.dscp == 16;
    }
    assert_in_range(n1, 296, 304);
    assert_in_range(n2, 96, 104);
    wf_fabric_free(f);
}

static void weights_1000(struct wf_switch_cfg *c)
{
    c->port.queue[1].weight = c->port.queue[2].weight = 1000; /* 64,000 bytes a turn */
    c->port.pfc.response_ps = 0;
}

/* Queues 1 and 2 held back together, then released with n1 and n2 frames of 1,086 bytes. Returns
 * how many of queue 2 came before the first of queue 1. */
static uint32_t release_both(struct wf_fabric *f, uint32_t n1, uint32_t n2)
{
    struct wft_probe *h = wft_probe(f, 1);
    uint32_t first = h->n_seen, n = 0;

    pfc_frame(f, 1, 0xff, 65535);
    wft_run(f, wf_fabric_now_ps(f) + 2 * US);
    wft_burst(f, 0, 1, 8, WF_ECN_ECT0, 1024, n1);
    wft_burst(f, 0, 1, 16, WF_ECN_ECT0, 1024, n2);
    wft_run(f, wf_fabric_now_ps(f) + 100 * US);
    pfc_frame(f, 1, 0xff, 0);
    wft_run(f, wf_fabric_now_ps(f) + 300 * US);
    assert_int_equal(h->n_seen, first + n1 + n2);
    while (h->seen[first + n].p.dscp == 16)
        n++;
    return n;
}

/* Turns of 58 frames. Queue 1 has used one up and been granted the next when queue 2 has its own;
 * then queue 1 is alone, and ends. What it had been granted is gone: it is queue 2's turn. */
static void an_empty_queue_saves_nothing_up(void **state)
{
    struct wf_fabric *f;

    leaf_spine(1, 0, 2);
    every_switch(weights_1000);
    f = wft_build(&desc);
    assert_int_equal(release_both(f, 100, 58), 0);
    assert_int_equal(wft_probe(f, 1)->seen[58].p.dscp, 16);
    assert_int_equal(release_both(f, 100, 100), 58);
    wft_check(f);
    wf_fabric_free(f);
}

static void arp_request(uint8_t buf[60], const struct wf_host_cfg *from, const uint8_t target[4])
{
    static const uint8_t all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    struct wf_arp a = {
        .oper = WF_ARP_REQUEST, .spa = wf_ld32(from->ip.addr + 12), .tpa = wf_ld32(target)};

    memcpy(a.sha, from->mac, 6);
    wf_arp_build(buf, all, &a);
}

static void broadcast_arrives_exactly_once_everywhere(void **state)
{
    static const uint8_t nobody[4] = {10, 9, 9, 9};
    struct wf_fabric *f;
    uint8_t buf[60];

    leaf_spine(3, 2, 4);
    every_switch(set_l2);
    wf_desc_address(&desc, &arena);
    f = wft_build(&desc);
    arp_request(buf, &desc.hosts[5].cfg, nobody);
    wft_send(f, 5, 0, 0, buf, 60, 60);
    wft_run(f, WF_TIME_NEVER);
    for (uint32_t h = 0; h < 12; h++) {
        assert_int_equal(wft_probe(f, h)->n_seen, h == 5 ? 0 : 1);
        if (h != 5)
            assert_memory_equal(wft_probe(f, h)->seen[0].bytes, buf, 60);
    }
    wft_check(f);
    wf_fabric_free(f);
}

/* The gateway and hosts behind other leaves are answered for, hosts of the same leaf asked. */
static void leaf_answers_arp_for_the_gateway_and_far_hosts(void **state)
{
    struct wf_fabric *f = wft_build(leaf_spine(2, 2, 2));
    const struct wf_host_cfg *c = &desc.hosts[0].cfg;
    struct wft_probe *h = wft_probe(f, 0);
    uint8_t buf[60];

    arp_request(buf, c, c->gateway.addr + 12);
    wft_send(f, 0, 0, 0, buf, 60, 60);
    arp_request(buf, c, desc.hosts[2].cfg.ip.addr + 12);
    wft_send(f, 0, 0, 0, buf, 60, 60);
    arp_request(buf, c, desc.hosts[1].cfg.ip.addr + 12);
    wft_send(f, 0, 0, 0, buf, 60, 60);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(h->n_seen, 2);
    assert_memory_equal(h->seen[0].bytes, c->mac, 6);
    assert_memory_equal(h->seen[0].bytes + 22, wf_fabric_switch(f, 0)->mac, 6);
    assert_memory_equal(h->seen[0].bytes + 28, c->gateway.addr + 12, 4);
    assert_memory_equal(h->seen[1].bytes + 28, desc.hosts[2].cfg.ip.addr + 12, 4);
    assert_int_equal(wft_probe(f, 1)->n_seen, 1); /* the third went to its owner, and only there */
    assert_int_equal(wft_probe(f, 2)->n_seen, 0);
    wft_check(f);
    wf_fabric_free(f);
}

static void routing_rewrites_macs_and_ttl_and_nothing_else(void **state)
{
    struct wf_fabric *f = wft_build(leaf_spine(2, 2, 1));
    uint8_t buf[WF_ROCE_HDR_MAX];
    const struct wft_seen *s;
    uint32_t len, hdr = wft_roce(f, 0, 1, 26, WF_ECN_ECT0, 7, 64, buf, &len);

    wft_send(f, 0, 0, 3, buf, hdr, len);
    wft_run(f, WF_TIME_NEVER);
    s = &wft_probe(f, 1)->seen[0];
    assert_int_equal(wft_probe(f, 1)->n_seen, 1);
    assert_memory_equal(s->bytes, desc.hosts[1].cfg.mac, 6);
    assert_memory_equal(s->bytes + 6, wf_fabric_switch(f, 1)->mac, 6);
    assert_int_equal(s->p.ttl, 61);
    assert_true(wf_ip4_checksum_ok(s->bytes, s->caplen, &s->p));
    buf[22] = 61;
    memcpy(buf + 24, s->bytes + 24, 2);
    assert_memory_equal(s->bytes + 12, buf + 12, hdr - 12);
    wf_fabric_free(f);
}

static void what_cannot_be_routed_is_dropped_with_its_reason(void **state)
{
    struct wf_fabric *f = wft_build(leaf_spine(2, 1, 1));
    struct wf_node *leaf = wf_fabric_switch(f, 0);
    uint8_t buf[WF_ROCE_HDR_MAX];
    uint32_t len, hdr = wft_roce(f, 0, 1, 26, WF_ECN_ECT0, 7, 64, buf, &len);
    uint64_t drops = 0;

    buf[22] = 1; /* the header checksum is wrong now: that is looked at first */
    wft_send(f, 0, 0, 3, buf, hdr, len);
    wf_st16(buf + 24, wf_ip4_checksum(buf + 14, 20));
    wft_send(f, 0, 0, 3, buf, hdr, len);
    wft_roce(f, 0, 1, 26, WF_ECN_ECT0, 7, 64, buf, &len);
    memcpy(buf + 30, "\x0a\x63\x00\x01", 4);
    wf_st16(buf + 24, wf_ip4_checksum(buf + 14, 20));
    wft_send(f, 0, 0, 3, buf, hdr, len);
    memcpy(buf, buf + 6, 6); /* its own address */
    wft_send(f, 0, 0, 3, buf, hdr, len);
    memcpy(buf, "\x01\x80\xc2\x00\x00\x0e", 6);
    wft_send(f, 0, 0, 3, buf, hdr, len);
    memcpy(buf, leaf->mac, 6);
    memcpy(buf + 12, "\x88\xb5", 2); /* no IP */
    wft_send(f, 0, 0, 3, buf, hdr, len);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(leaf->ports[0].drops[WF_DROP_IP_CHECKSUM], 1);
    assert_int_equal(leaf->ports[0].drops[WF_DROP_TTL], 1);
    assert_int_equal(leaf->ports[0].drops[WF_DROP_NO_ROUTE], 1);
    assert_int_equal(leaf->ports[0].drops[WF_DROP_OWN_SOURCE], 1);
    assert_int_equal(leaf->ports[0].drops[WF_DROP_RESERVED_MAC], 1);
    assert_int_equal(leaf->ports[0].drops[WF_DROP_NOT_ROUTABLE], 1);
    for (unsigned i = 0; i < WF_DROP_COUNT; i++)
        drops += leaf->ports[0].drops[i];
    assert_int_equal(drops, 6);
    assert_int_equal(wft_probe(f, 1)->n_seen, 0);
    wft_check(f);
    wf_fabric_free(f);
}

/* fc_E2: a spine link of MTU 1500 takes path MTU 1024 and drops 4096 whole, exactly there. */
static void fc_E2(void **state)
{
    struct wf_fabric *f;
    struct wf_node *leaf;

    leaf_spine(2, 1, 1);
    desc.links[2].cfg.mtu = 1500;
    f = wft_build(&desc);
    leaf = wf_fabric_switch(f, 0);
    wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 1024, 10);
    wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 4096, 10);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(wft_probe(f, 1)->n_seen, 10);
    assert_int_equal(leaf->ports[0].drops[WF_DROP_MTU], 10);
    assert_int_equal(leaf->ports[1].ctr[WF_PORT_TX_FRAMES], 10);
    wft_check(f);
    wf_fabric_free(f);
}

/* ECMP: a flow stays on one path, flows spread, and the path can be told beforehand. */
static void ecmp_keeps_a_flow_on_the_path_foretold(void **state)
{
    struct wf_fabric *f = wft_build(leaf_spine(2, 4, 16));
    struct wf_node *leaf = wf_fabric_switch(f, 0);
    unsigned used = 0;

    for (uint32_t h = 0; h < 16; h++)
        wft_burst(f, h, 16 + h, 26, WF_ECN_ECT0, 1024, 5);
    wft_run(f, WF_TIME_NEVER);
    for (unsigned s = 0; s < 4; s++) {
        assert_int_equal(leaf->ports[16 + s].ctr[WF_PORT_TX_FRAMES] % 5, 0);
        used += leaf->ports[16 + s].ctr[WF_PORT_TX_FRAMES] > 0;
    }
    assert_true(used >= 3);
    wft_check(f);
    wf_fabric_free(f);
}

/* A link that goes down takes what is on it, its queue is dropped, and routing goes round it. */
static void link_down_loses_what_was_on_it_and_is_avoided(void **state)
{
    struct wf_fabric *f = wft_build(leaf_spine(2, 2, 1));
    struct wf_node *leaf = wf_fabric_switch(f, 0);
    uint64_t lost = 0;

    wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 4096, 100);
    wft_run(f, 10 * US);
    for (unsigned s = 1; s <= 2; s++)
        if (leaf->ports[s].ctr[WF_PORT_TX_FRAMES]) {
            wf_fabric_link_set(f, leaf->ports[s].link, false);
            break;
        }
    wft_run(f, WF_TIME_NEVER);
    for (uint32_t i = 0; i < f->n_nodes; i++)
        for (uint16_t p = 0; p < f->nodes[i]->n_ports; p++)
            lost += f->nodes[i]->ports[p].drops[WF_DROP_LINK_DOWN];
    assert_true(lost > 0);
    assert_true(lost < 50);
    assert_int_equal(wft_probe(f, 1)->n_seen + lost, 100);
    wft_check(f);
    wf_fabric_free(f);
}

/* After a change of rate each frame takes the new time, from the next one on. */
static void rate_changes_between_frames(void **state)
{
    struct wf_fabric *f = wft_build(leaf_spine(1, 0, 2));
    struct wft_probe *h = wft_probe(f, 1);

    wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 1024, 20);
    wft_run(f, 10 * 1106 * 80 - 40 * NS); /* in the middle of the tenth */
    wf_fabric_link_rate(f, f->nodes[1]->ports[0].link, 10000000000ull);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(h->n_seen, 20);
    assert_int_equal(h->seen[9].t_ps - h->seen[8].t_ps, 1106 * 80);
    for (unsigned i = 12; i < 20; i++)
        assert_int_equal(h->seen[i].t_ps - h->seen[i - 1].t_ps, 1106 * 800);
    wf_fabric_free(f);
}

/* Every BTH opcode with every length from 0 to 80 behind it is forwarded bit by bit, or dropped
 * with a reason; routed, only MACs, TTL and checksum may differ. */
static void all_opcodes_pass_untouched(void **state)
{
    struct wf_fabric *f = wft_build(leaf_spine(1, 0, 2));
    struct wft_probe *h = wft_probe(f, 1);
    uint8_t buf[WF_HDR_ROOM];
    uint32_t len, passed = 0;

    wft_roce(f, 0, 1, 26, WF_ECN_ECT0, 7, 0, buf, &len);
    for (unsigned op = 0; op < 256; op++)
        for (unsigned n = 0; n <= 80; n++) {
            uint32_t all = 14 + 20 + 8 + 12 + n > 60 ? 14 + 20 + 8 + 12 + n : 60;

            h->n_seen = 0;
            buf[42] = (uint8_t)op;
            memset(buf + 54, (int)(op ^ n), WF_HDR_ROOM - 54);
            wf_st16(buf + 16, (uint16_t)(20 + 8 + 12 + n));
            wf_st16(buf + 38, (uint16_t)(8 + 12 + n));
            wf_st16(buf + 24, wf_ip4_checksum(buf + 14, 20));
            if (all > WF_HDR_ROOM)
                continue;
            wft_send(f, 0, wf_fabric_now_ps(f), 3, buf, all, all);
            wft_run(f, WF_TIME_NEVER);
            if (!h->n_seen)
                continue;
            passed++;
            assert_int_equal(h->seen[0].len, all);
            assert_memory_equal(h->seen[0].bytes, buf, all);
        }
    assert_int_equal(passed + wf_fabric_ctr(f, WF_FABRIC_DROPPED),
                     wf_fabric_ctr(f, WF_FABRIC_INJECTED));
    assert_true(passed > 256 * 60);
    wft_check(f);
    wf_fabric_free(f);
}

static uint64_t run_digest(uint64_t seed)
{
    struct wf_fabric *f;
    struct wf_digest d;

    leaf_spine(2, 2, 4);
    every_switch(lossless_3);
    desc.seed = seed;
    for (uint32_t i = 0; i < desc.n_switches; i++)
        desc.switches[i].cfg.port.queue[3].ecn = (struct wf_ecn_cfg){true, 5000, 50000, 500000};
    f = wft_build(&desc);
    for (uint32_t h = 1; h < 8; h++)
        wft_burst(f, h, 0, 26, WF_ECN_ECT0, 1024, 100);
    wft_run(f, WF_TIME_NEVER);
    wft_check(f);
    d = wf_fabric_digest(f);
    wf_fabric_free(f);
    return d.h;
}

static void digest_is_a_function_of_scenario_and_seed(void **state)
{
    uint64_t a = run_digest(1);

    assert_int_equal(a, run_digest(1));
    assert_int_not_equal(a, run_digest(2)); /* other draws of ECN */
}

static void tight(struct wf_switch_cfg *c)
{
    lossless_3(c);
    c->port.pg[3].xoff_bytes = 10000;
    c->port.pg[3].xon_bytes = 5000;
}

/* Hosts of two leaves flood h0; h3 of leaf 1 also sends to its innocent neighbour h4. The root is
 * leaf 0's queue to h0, and the innocent flow is a victim, since it shares h3's paused priority. */
static void pause_tree_names_root_and_victim(void **state)
{
    struct wf_port *path[8];
    struct wf_pause_tree t;
    struct wf_fabric *f;
    uint16_t deepest = 0;
    int n;

    leaf_spine(2, 1, 3);
    every_switch(tight);
    f = wft_build(&desc);
    for (int round = 0; round < 20; round++) {
        wft_burst(f, 1, 0, 26, WF_ECN_ECT0, 1024, 30);
        wft_burst(f, 2, 0, 26, WF_ECN_ECT0, 1024, 30);
        wft_burst(f, 3, 0, 26, WF_ECN_ECT0, 1024, 30);
        wft_burst(f, 3, 4, 26, WF_ECN_ECT0, 1024, 10);
    }
    wft_run(f, WF_TIME_NEVER);
    wf_pause_tree(f, &f->arena, &t);
    assert_int_equal(t.n_roots, 1);
    assert_string_equal(t.roots[0].port->name, "leaf0:p0");
    assert_int_equal(t.roots[0].queue, 3);
    assert_false(t.cycle);
    for (uint32_t i = 0; i < t.n_edges; i++)
        deepest = t.edges[i].depth > deepest ? t.edges[i].depth : deepest;
    assert_int_equal(deepest, 3); /* leaf 0 stops the spine, it stops leaf 1, it stops h3 */
    n = wf_fabric_path(f, 3, 4, 0, path, 8);
    assert_int_equal(n, 2);
    assert_string_equal(path[1]->name, "leaf1:p1");
    assert_true(wf_pause_is_victim(&t, path, n, 3));
    n = wf_fabric_path(f, 3, 0, 0, path, 8);
    assert_int_equal(n, 4);
    assert_false(wf_pause_is_victim(&t, path, n, 3));
    n = wf_fabric_path(f, 4, 5, 0, path, 8);
    assert_false(wf_pause_is_victim(&t, path, n, 3));
    wft_check(f);
    wf_fabric_free(f);
}

static void one_queue(struct wf_switch_cfg *c)
{
    c->port.pfc.response_ps = 10 * US;
    c->port.pfc_priority_to_queue[4] = 3;
}

/* Two priorities stop one queue: in the gap between the pauses it sends. */
static void a_gap_between_two_pauses_is_one(void **state)
{
    struct wf_fabric *f;
    struct wft_probe *h;
    uint32_t in_gap = 0;

    leaf_spine(1, 0, 2);
    every_switch(one_queue);
    f = wft_build(&desc);
    h = wft_probe(f, 1);
    pfc_frame(f, 1, 1 << 3, 4000); /* arrives at 0.5 us: stops from 10.5 to 21 us */
    wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 1024, 600);
    wft_run(f, 18 * US);
    pfc_frame(f, 1, 1 << 4, 4000); /* from 28.5 us */
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(h->n_seen, 600);
    for (uint32_t i = 0; i < h->n_seen; i++)
        in_gap += h->seen[i].t_ps > 22 * US && h->seen[i].t_ps < 28 * US;
    assert_in_range(in_gap, 60, 70); /* 6 us of 88.48 ns */
    wft_check(f);
    wf_fabric_free(f);
}

/* Down and up within one instant, at 0 too: what was on the wire is lost, what comes after is not.
 */
static void a_flap_in_one_instant_loses_only_what_was_sent(void **state)
{
    struct wf_fabric *f = wft_build(leaf_spine(1, 0, 2));
    struct wf_link *link = wf_fabric_host(f, 0)->ports[0].link;

    wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 1024, 1);
    wft_run(f, 1); /* its first bit is on the wire */
    wf_fabric_link_set(f, link, false);
    wf_fabric_link_set(f, link, true);
    wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 1024, 10);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(wft_probe(f, 1)->n_seen, 10);
    assert_int_equal(wf_fabric_ctr(f, WF_FABRIC_DROPPED), 1);
    wft_check(f);
    wf_fabric_free(f);
}

static void slow_to_stop(struct wf_switch_cfg *c)
{
    lossless_3(c);
    c->port.pfc.response_ps = 20 * US;
}

/* Headroom that is computed knows how long the peer may take to stop, and follows the rate. */
static void headroom_knows_the_peer_and_the_rate(void **state)
{
    struct wf_fabric *f;
    struct wf_switch *leaf;
    struct wf_pg_limits *lim;
    uint64_t before;

    leaf_spine(2, 1, 1);
    every_switch(slow_to_stop);
    f = wft_build(&desc);
    leaf = (struct wf_switch *)wf_fabric_switch(f, 0);
    /* port 0: a probe that stops at once; port 1: a spine that takes 20 us of 100 Gb/s */
    assert_int_equal(leaf->pg[1][3].lim.headroom - leaf->pg[0][3].lim.headroom, 250000);
    lim = &leaf->pg[1][3].lim;
    before = lim->headroom;
    wf_fabric_link_rate(f, leaf->node.ports[1].link, 400000000000ull);
    assert_in_range(lim->headroom, 3 * before, 4 * before);
    wf_fabric_free(f);
}

/* A group that is still full when its link comes back asks for its pause again: else the peer runs
 * into the headroom. */
static void a_flap_does_not_lose_the_pause(void **state)
{
    struct wf_fabric *f;
    struct wf_switch *sw;
    uint64_t xoffs;

    leaf_spine(1, 0, 2);
    every_switch(lossless_3);
    every_switch(no_response_delay);
    f = wft_build(&desc);
    sw = (struct wf_switch *)wf_fabric_switch(f, 0);
    pfc_frame(f, 1, 1 << 3, 65535); /* the sink stops the switch for 335 us */
    wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 1024, 100);
    wft_run(f, 50 * US);
    xoffs = sw->node.ports[0].prio_ctr[3][WF_PRIO_XOFF_TX];
    assert_true(sw->pg[0][3].xoff);
    wf_fabric_link_set(f, sw->node.ports[0].link, false);
    wft_run(f, 60 * US);
    wf_fabric_link_set(f, sw->node.ports[0].link, true);
    wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 1024, 500);
    wft_run(f, WF_TIME_NEVER);
    assert_true(sw->node.ports[0].prio_ctr[3][WF_PRIO_XOFF_TX] > xoffs);
    assert_int_equal(wf_fabric_ctr(f, WF_FABRIC_LOSSLESS_DROPS), 0);
    wft_check(f);
    wf_fabric_free(f);
}

static void groups_3_and_4_share_priority_3(struct wf_switch_cfg *c)
{
    lossless_3(c);
    c->port.pg[4] = c->port.pg[3];
    c->port.pg_to_pfc_priority[4] = 3;
    c->port.pfc.response_ps = 0;
}

/* Two groups that pause the same priority: the first to drain must not let the peer go on. */
static void xon_waits_for_all_groups_of_the_priority(void **state)
{
    struct wf_fabric *f;
    struct wf_port *port;

    leaf_spine(1, 0, 2);
    every_switch(groups_3_and_4_share_priority_3);
    f = wft_build(&desc);
    port = &wf_fabric_switch(f, 0)->ports[0];
    pfc_frame(f, 1, 1 << 3 | 1 << 4, 65535);
    wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 1024, 25);
    wft_burst(f, 0, 1, 34, WF_ECN_ECT0, 1024, 25);
    wft_run(f, 50 * US);
    assert_int_equal(port->prio_ctr[3][WF_PRIO_XOFF_TX], 1); /* one pause, for both */
    pfc_frame(f, 1, 1 << 3, 0);                              /* group 3 drains */
    wft_run(f, 100 * US);
    assert_int_equal(port->prio_ctr[3][WF_PRIO_XON_TX], 0);
    pfc_frame(f, 1, 1 << 4, 0);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(port->prio_ctr[3][WF_PRIO_XON_TX], 1);
    assert_int_equal(wft_probe(f, 1)->n_seen, 50);
    wft_check(f);
    wf_fabric_free(f);
}

static void quantum_1(struct wf_switch_cfg *c)
{
    lossless_3(c);
    c->port.pfc.quanta = 1;
    c->port.pfc.response_ps = 0;
}

/* Quanta shorter than a PFC frame: refreshes don't pile up in front of the port. */
static void the_shortest_quanta_exhaust_nothing(void **state)
{
    struct wf_fabric *f;

    leaf_spine(1, 0, 2);
    every_switch(quantum_1);
    f = wft_build(&desc);
    pfc_frame(f, 1, 1 << 3, 65535);
    wft_burst(f, 0, 1, 26, WF_ECN_ECT0, 1024, 30);
    wft_run(f, 300 * US);
    assert_true(wf_fabric_switch(f, 0)->ports[0].control.count <= 1);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(wft_probe(f, 1)->n_seen, 30);
    wft_check(f);
    wf_fabric_free(f);
}

/* A host that asks and asks, and lets no answer out: the switch keeps a bounded number of them. */
static void arp_answers_do_not_pile_up(void **state)
{
    struct wf_fabric *f;
    struct wf_node *leaf;
    uint8_t buf[60];

    leaf_spine(2, 1, 1);
    every_switch(no_response_delay);
    f = wft_build(&desc);
    leaf = wf_fabric_switch(f, 0);
    arp_request(buf, &desc.hosts[0].cfg, desc.hosts[0].cfg.gateway.addr + 12);
    pfc_frame(f, 0, 0xff, 65535);
    for (unsigned i = 0; i < 3000; i++) {
        wft_send(f, 0, wf_fabric_now_ps(f), 0, buf, 60, 60);
        wft_run(f, wf_fabric_now_ps(f) + 100 * NS);
    }
    assert_int_equal(leaf->ports[0].q[0].fifo.count, 1024);
    assert_true(leaf->ports[0].drops[WF_DROP_EGRESS_FULL] > 1000);
    wft_check(f);
    wf_fabric_free(f);
}

/* A PFC frame that is sent is forgotten: what somebody else queues in the same buffer is not it. */
static void a_foreign_pfc_frame_stays_as_it_is(void **state)
{
    struct wf_fabric *f = wft_build(leaf_spine(1, 0, 2));
    struct wft_probe *h = wft_probe(f, 0);
    struct wf_port *leaf = &wf_fabric_switch(f, 0)->ports[0];
    uint16_t times[8] = {[5] = 7};
    struct wf_pkt *pkt;

    wf_pfc_xoff(leaf, 3);
    wft_run(f, 2 * US);
    assert_int_equal(h->n_control, 1);
    pkt = wf_pkt_new(leaf->node->net, WF_PFC_FRAME_LEN); /* the buffer that became free last */
    wf_pfc_build(wf_pkt_hdr_rw(pkt), leaf->node->mac, 1 << 5, times);
    pkt->frame_len = WF_FRAME_MIN;
    pkt->payload = WF_PAYLOAD_REAL;
    assert_int_equal(wf_pkt_parse(pkt), WF_DROP_NONE);
    wf_pkt_injected(leaf->node->net, pkt);
    wf_port_control(leaf, pkt);
    wf_pfc_xon(leaf, 3);
    wft_run(f, 4 * US);
    assert_int_equal(h->n_control, 3);
    assert_int_equal(h->control[1][17], 1 << 5);
    assert_int_equal(h->control[1][18 + 2 * 5 + 1], 7);
    assert_int_equal(h->control[2][17], 1 << 3);
    wf_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_and_forward_is_the_closed_form),
        cmocka_unit_test(cut_through_is_the_closed_form),
        cmocka_unit_test(cut_through_never_runs_out_of_bits),
        cmocka_unit_test(cut_through_at_a_raised_rate_sends_no_bit_too_early),
        cmocka_unit_test(frames_follow_each_other_without_drift),
        cmocka_unit_test(odd_rates_round_once),
        cmocka_unit_test(xoff_silences_one_priority_for_its_quanta),
        cmocka_unit_test(xon_ends_a_pause_early),
        cmocka_unit_test(incast_pauses_and_loses_nothing),
        cmocka_unit_test(xoff_is_refreshed_before_it_expires),
        cmocka_unit_test(headroom_0_loses),
        cmocka_unit_test(thresholds_count_to_the_byte),
        cmocka_unit_test(ecn_marks_at_dequeue),
        cmocka_unit_test(strict_goes_first_then_weights),
        cmocka_unit_test(an_empty_queue_saves_nothing_up),
        cmocka_unit_test(broadcast_arrives_exactly_once_everywhere),
        cmocka_unit_test(leaf_answers_arp_for_the_gateway_and_far_hosts),
        cmocka_unit_test(routing_rewrites_macs_and_ttl_and_nothing_else),
        cmocka_unit_test(what_cannot_be_routed_is_dropped_with_its_reason),
        cmocka_unit_test(fc_E2),
        cmocka_unit_test(ecmp_keeps_a_flow_on_the_path_foretold),
        cmocka_unit_test(link_down_loses_what_was_on_it_and_is_avoided),
        cmocka_unit_test(rate_changes_between_frames),
        cmocka_unit_test(all_opcodes_pass_untouched),
        cmocka_unit_test(pause_tree_names_root_and_victim),
        cmocka_unit_test(a_gap_between_two_pauses_is_one),
        cmocka_unit_test(a_flap_in_one_instant_loses_only_what_was_sent),
        cmocka_unit_test(headroom_knows_the_peer_and_the_rate),
        cmocka_unit_test(a_flap_does_not_lose_the_pause),
        cmocka_unit_test(xon_waits_for_all_groups_of_the_priority),
        cmocka_unit_test(the_shortest_quanta_exhaust_nothing),
        cmocka_unit_test(arp_answers_do_not_pile_up),
        cmocka_unit_test(a_foreign_pfc_frame_stays_as_it_is),
        cmocka_unit_test(digest_is_a_function_of_scenario_and_seed),
    };

    wft_eal(256);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
