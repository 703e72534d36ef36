/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a model host does with frames of a stranger: host 0 is a probe that sends bytes, hosts 1 and
 * 2 are models with a flow between them that begins much later. All on one leaf.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

#include "base/prng.h"
#include "wire/arp.h"
#include "wire/edit.h"
#include "wire/icrc.h"
#include "wire/ip4.h"
#include "wire/nd.h"
#include "wire/udp.h"

enum { MODELS = 1 << 1 | 1 << 2, FRAME_MAX = 9000 };

static struct {
    struct wf_arena arena;
    struct wf_desc d;
    struct wf_fabric *f;
    uint64_t t_ps;
    uint32_t psn; /* that the responder at host 2 expects */
} s;

static int setup(void **state)
{
    struct wf_prng prng;

    memset(&s, 0, sizeof(s));
    s.d.seed = 5;
    s.d.duration_ps = WF_KEY_AUTO;
    wf_desc_leaf_spine(&s.d, &s.arena, 1, 0, 3);
    wf_desc_address(&s.d, &s.arena);
    s.d.n_flows = 1;
    s.d.flows = WF_ARENA_ARRAY(&s.arena, struct wf_desc_flow, 1);
    s.d.flows[0] = (struct wf_desc_flow){.name = "f0", .from = 1, .to = 2};
    wf_keyset_defaults(&wf_flow_keys, &s.d.flows[0].cfg);
    s.d.flows[0].cfg.start_ps = WF_PS_PER_S;
    s.d.flows[0].cfg.path_mtu = 1024;
    s.f = wft_build_some(&s.d, MODELS);
    wf_prng_init(&prng, 5, "flow.f0");
    s.psn = (uint32_t)wf_prng_below(&prng, 1 << 24);
    return 0;
}

static int teardown(void **state)
{
    wf_fabric_free(s.f);
    wf_arena_free(&s.arena);
    return 0;
}

/* Send whole frames and let everything settle, but the flow. */
static void send(const uint8_t *frame, uint32_t len)
{
    s.t_ps += 100 * WF_PS_PER_US;
    wft_send(s.f, 0, 0, 0, frame, len, len);
    wft_run(s.f, s.t_ps);
    wft_check(s.f);
}

static const uint64_t *drops(uint32_t host)
{
    return wf_fabric_host(s.f, host)->ports[0].drops;
}

static uint64_t delivered(void)
{
    return wf_fabric_ctr(s.f, WF_FABRIC_DELIVERED);
}

static const struct wf_host_cfg *cfg(uint32_t host)
{
    return &s.d.hosts[host].cfg;
}

static void seal(uint8_t *b, uint32_t len)
{
    struct wf_parsed p;

    if (wf_parse(b, len, len, &p) == WF_DROP_NONE && p.icrc_off)
        wf_icrc_store(b + p.icrc_off, wf_icrc_of(b, len, &p));
}

/* A RoCE frame of real bytes to host 2, ICRC included, as if host 1 had sent it. */
static uint32_t roce(uint8_t *buf, uint8_t opcode, uint32_t dqpn, uint32_t psn, uint32_t payload)
{
    struct wf_roce h = {
        .encap = WF_ROCE_V2_IP4,
        .dscp = 26,
        .ttl = 64,
        .sport = 69,
        .bth = {.opcode = opcode, .pkey = WF_BTH_PKEY, .dqpn = dqpn, .ackreq = true, .psn = psn},
        .payload_len = payload};
    uint32_t len;

    memcpy(h.src_mac, cfg(0)->mac, 6);
    memcpy(h.dst_mac, cfg(2)->mac, 6);
    memcpy(h.src_ip, cfg(1)->ip.addr, 16);
    memcpy(h.dst_ip, cfg(2)->ip.addr, 16);
    h.ext.reth = (struct wf_reth){0x100000000ull, 1, payload};
    memset(buf, 0x77, FRAME_MAX);
    len = wf_roce_frame_len(wf_roce_hdr_build(buf, WF_ROCE_HDR_MAX, &h), payload);
    seal(buf, len);
    return len;
}

static uint64_t *flow_ctr(void)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(s.f, wf_ctr_table_bit(&wf_ctrs_flow));

    wf_fabric_settle(s.f);
    return wf_ctr_next(&w) ? w.values : NULL;
}

static void test_arp(void **state)
{
    /* who has 10.0.0.3? tell 10.0.0.1 */
    static const uint8_t ask[60] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0,  1, 8, 6,
                                    0,    1,    8,    0,    6,    4,    0, 1, 2, 0, 0,  0, 0, 1,
                                    10,   0,    0,    1,    0,    0,    0, 0, 0, 0, 10, 0, 0, 3};
    static const uint8_t want[60] = {2,  0, 0, 0, 0, 1, 2, 0, 0, 0, 0,  3, 8, 6,
                                     0,  1, 8, 0, 6, 4, 0, 2, 2, 0, 0,  0, 0, 3,
                                     10, 0, 0, 3, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1};
    struct wft_probe *h = wft_probe(s.f, 0);
    uint8_t other[60];

    send(ask, 60);
    assert_int_equal(h->n_seen, 1);
    assert_int_equal(h->seen[0].len, 60);
    assert_memory_equal(h->seen[0].bytes, want, 60);
    memcpy(other, ask, 60);
    other[41] = 9; /* nobody's */
    send(other, 60);
    other[41] = 3;
    other[21] = 2; /* not a question */
    send(other, 60);
    assert_int_equal(h->n_seen, 1);
    assert_int_equal(wf_fabric_ctr(s.f, WF_FABRIC_DROPPED), 0);
}

static void test_solicitation(void **state)
{
    struct wf_nd_msg m = {.nd = {.type = WF_ND_SOLICIT}};
    struct wft_probe *h = wft_probe(s.f, 0);
    uint8_t buf[WF_ND_FRAME_LEN];
    struct wf_ndopt opt;
    struct wf_rd r;
    struct wf_nd na;

    memcpy(m.src_mac, cfg(0)->mac, 6);
    memcpy(m.src_ip, cfg(0)->ip6.addr, 16);
    memcpy(m.nd.target, cfg(2)->ip6.addr, 16);
    wf_nd_group(m.nd.target, m.dst_ip, m.dst_mac);
    send(buf, wf_nd_build(buf, &m));
    assert_int_equal(h->n_seen, 1);
    assert_memory_equal(h->seen[0].bytes, cfg(0)->mac, 6);
    assert_memory_equal(h->seen[0].bytes + 6, cfg(2)->mac, 6);
    assert_int_equal(h->seen[0].p.ttl, 255);
    r = wf_rd_init(h->seen[0].bytes, h->seen[0].caplen);
    wf_rd_skip(&r, h->seen[0].p.l4_off);
    assert_int_equal(wf_nd_get(&r, &na), 0);
    assert_int_equal(na.type, WF_ND_ADVERTISE);
    assert_true(na.solicited && na.override && !na.router);
    assert_memory_equal(na.target, cfg(2)->ip6.addr, 16);
    assert_int_equal(wf_ndopt_get(&r, &opt), 0);
    assert_int_equal(opt.type, WF_ND_OPT_TARGET);
    assert_memory_equal(opt.lladdr, cfg(2)->mac, 6);
    assert_int_equal(
        wf_l4_checksum(h->seen[0].bytes + 14, WF_IPPROTO_ICMP6, h->seen[0].bytes + 54, 32), 0);
    m.nd.target[15] ^= 0x40; /* of nobody, though the group is heard */
    send(buf, wf_nd_build(buf, &m));
    memcpy(m.nd.target, cfg(2)->ip6.addr, 16);
    wf_nd_build(buf, &m);
    buf[14 + 7] = 254; /* it came from beyond the link */
    send(buf, WF_ND_FRAME_LEN);
    assert_int_equal(h->n_seen, 1);
}

/* An echo request of 1,000 bytes of data, real or cut to its headers. */
static uint32_t ping(uint8_t *b, bool v4)
{
    uint32_t l3 = v4 ? 20 : 40, len = 14 + l3 + 8 + 1000;

    memset(b, 0, 14 + l3);
    memcpy(b, cfg(2)->mac, 6);
    memcpy(b + 6, cfg(0)->mac, 6);
    wf_st16(b + 12, v4 ? 0x0800 : 0x86dd);
    if (v4) {
        static const uint8_t ip[20] = {0x45, 0, 4,  4, 0, 1, 0x40, 0, 9, 1,
                                       0,    0, 10, 0, 0, 1, 10,   0, 0, 3};

        memcpy(b + 14, ip, 20);
        wf_st16(b + 24, wf_ip4_checksum(b + 14, 20));
    } else {
        b[14] = 0x60;
        wf_st16(b + 18, 1008);
        b[20] = 58;
        b[21] = 9;
        memcpy(b + 22, cfg(0)->ip6.addr, 16);
        memcpy(b + 38, cfg(2)->ip6.addr, 16);
    }
    for (uint32_t i = 0; i < 1008; i++)
        b[14 + l3 + i] = (uint8_t)(i * 3);
    b[14 + l3] = v4 ? 8 : 128;
    b[14 + l3 + 1] = b[14 + l3 + 2] = b[14 + l3 + 3] = 0;
    if (v4) {
        uint32_t sum = 0;

        for (uint32_t i = 0; i < 1008; i += 2)
            sum += wf_ld16(b + 34 + i);
        sum = (sum & 0xffff) + (sum >> 16);
        sum = (sum & 0xffff) + (sum >> 16);
        wf_st16(b + 36, (uint16_t)~sum);
    } else {
        wf_st16(b + 56, wf_l4_checksum(b + 14, 58, b + 54, 1008));
    }
    return len;
}

static uint8_t last[FRAME_MAX];

static void keep(struct wf_tap *tap, struct wf_port *port, struct wf_pkt *pkt, enum wf_tap_dir dir,
                 enum wf_reason why)
{
    if (dir == WF_TAP_TX)
        wf_pkt_real_bytes(pkt, last, sizeof(last));
}

static void test_ping(void **state)
{
    struct wf_tap tap = {.fn = keep};
    static uint8_t b[FRAME_MAX];

    wf_port_tap(&wf_fabric_host(s.f, 2)->ports[0], &tap);
    for (int v4 = 0; v4 < 2; v4++) {
        uint32_t l3 = v4 ? 20 : 40, len = ping(b, v4), sum = 0;

        send(b, len);
        assert_int_equal(wft_probe(s.f, 0)->n_seen, (uint32_t)v4 + 1);
        assert_int_equal(wft_probe(s.f, 0)->seen[v4].len, len);
        assert_memory_equal(last, cfg(0)->mac, 6);
        assert_memory_equal(last + 6, cfg(2)->mac, 6);
        assert_int_equal(last[14 + l3], v4 ? 0 : 129);
        assert_memory_equal(last + 14 + l3 + 4, b + 14 + l3 + 4, 1004);
        assert_int_equal(last[14 + (v4 ? 8 : 7)], 64);
        if (v4) {
            assert_memory_equal(last + 26, b + 30, 4);
            assert_int_equal(wf_ld16(last + 24), wf_ip4_checksum(last + 14, 20));
            for (uint32_t i = 0; i < 1008; i += 2)
                sum += wf_ld16(last + 34 + i);
            while (sum >> 16)
                sum = (sum & 0xffff) + (sum >> 16);
            assert_int_equal(sum, 0xffff);
        } else {
            assert_memory_equal(last + 22, b + 38, 16);
            assert_int_equal(wf_l4_checksum(last + 14, 58, last + 54, 1008), 0);
        }
    }
    assert_int_equal(wf_fabric_ctr(s.f, WF_FABRIC_DROPPED), 0);
    ping(b, true);
    b[33] = 2; /* another host's address on our MAC */
    wf_st16(b + 24, wf_ip4_checksum(b + 14, 20));
    send(b, 14 + 20 + 1008);
    assert_int_equal(wft_probe(s.f, 0)->n_seen, 2);
    assert_int_equal(drops(2)[WF_DROP_NOT_HANDLED], 1);
    wf_port_untap(&wf_fabric_host(s.f, 2)->ports[0], &tap);
}

/* A peer that exists only as bytes: its WRITE is placed and acknowledged. */
static void test_write_of_a_stranger(void **state)
{
    static uint8_t b[FRAME_MAX];

    send(b, roce(b, 0x0a, 0x12, s.psn, 1021)); /* pad 3 */
    assert_int_equal(flow_ctr()[WF_FLOW_BYTES], 1021);
    /* its ACK goes to host 1, which has sent nothing so far: a ghost there, and delivered */
    assert_int_equal(delivered(), 2);
    assert_int_equal(wf_fabric_ctr(s.f, WF_FABRIC_DROPPED), 0);
    send(b, roce(b, 0x0a, 0x12, s.psn + 5, 16));
    assert_int_equal(flow_ctr()[WF_FLOW_NAK_TX], 1);
    send(b, roce(b, WF_OPCODE_CNP, 0x11, 0, 16)); /* for the QP of host 1: host 2 has no such */
    assert_int_equal(drops(2)[WF_DROP_NO_QP], 1);
}

/* One frame a reason; each leaves everything else as it was. */
static void test_refusals(void **state)
{
    static uint8_t b[FRAME_MAX];
    uint32_t len;

    len = roce(b, 0x0a, 0x12, s.psn, 100);
    b[len - 20] ^= 1;
    send(b, len);
    assert_int_equal(drops(2)[WF_DROP_ICRC], 1);

    send(b, roce(b, 0x0a, 0x13, s.psn, 100));
    assert_int_equal(drops(2)[WF_DROP_NO_QP], 1);

    len = roce(b, 0x0a, 0x12, s.psn, 100);
    b[29] = 77; /* not its peer's address */
    wf_st16(b + 24, wf_ip4_checksum(b + 14, 20));
    seal(b, len);
    send(b, len);
    assert_int_equal(drops(2)[WF_DROP_NO_QP], 2);

    send(b, roce(b, 0x2a, 0x12, s.psn, 100)); /* UC */
    send(b, roce(b, 0xff, 0x12, s.psn, 100));
    assert_int_equal(drops(2)[WF_DROP_BAD_OPCODE], 2);

    len = roce(b, 0x0a, 0x12, s.psn, 100);
    b[24] ^= 1;
    send(b, len);
    assert_int_equal(drops(2)[WF_DROP_IP_CHECKSUM], 1);

    len = roce(b, 0x0a, 0x12, s.psn, 100);
    b[33] = 2; /* host 1's address */
    send(b, len);
    assert_int_equal(drops(2)[WF_DROP_NOT_FOR_US], 1);

    len = roce(b, 0x0a, 0x12, s.psn, 100);
    b[17] = 0xff; /* longer than the frame */
    b[16] = 0xff;
    send(b, len);
    assert_int_equal(wf_fabric_switch(s.f, 0)->ports[0].drops[WF_DROP_MALFORMED], 1);

    len = roce(b, 0x0a, 0x12, s.psn, 4250);
    send(b, len);
    assert_int_equal(drops(2)[WF_DROP_MTU], 1);

    len = roce(b, 0x0a, 0x12, s.psn, 100);
    wf_st16(b + 36, 53); /* another UDP port */
    send(b, len);
    len = ping(b, true);
    b[34] = 13; /* timestamp request */
    send(b, len);
    assert_int_equal(drops(2)[WF_DROP_NOT_HANDLED], 2);

    assert_int_equal(flow_ctr()[WF_FLOW_BYTES], 0);
    assert_int_equal(delivered(), 0);
    assert_int_equal(wf_fabric_ctr(s.f, WF_FABRIC_DROPPED), 11);
}

/* Whatever the opcode and the length: delivered or dropped with a reason, and the flow that begins
 * later is none the worse, for none of these PSNs is near its own. */
static void test_all_opcodes(void **state)
{
    static uint8_t b[FRAME_MAX];
    uint64_t sent = 0;

    for (uint32_t opcode = 0; opcode < 256; opcode++)
        for (uint32_t len = 0; len <= 80; len += 1 + (opcode > 0x40)) {
            uint32_t n = 14 + 20 + 8 + len;

            roce(b, (uint8_t)opcode, 0x12, s.psn + 100, 0);
            wf_st16(b + 16, (uint16_t)(n - 14));
            wf_st16(b + 38, (uint16_t)(8 + len));
            wf_st16(b + 24, wf_ip4_checksum(b + 14, 20));
            seal(b, n);
            send(b, n < 60 ? 60 : n);
            sent++;
        }
    assert_int_equal(wf_fabric_ctr(s.f, WF_FABRIC_INJECTED), sent);
    assert_int_equal(wft_probe(s.f, 0)->n_seen, 0);
    assert_in_range(drops(2)[WF_DROP_BAD_OPCODE], 1000, sent);
    assert_in_range(drops(2)[WF_DROP_MALFORMED], 1000, sent);
    wft_run(s.f, WF_TIME_NEVER);
    wft_check(s.f);
    assert_int_equal(flow_ctr()[WF_FLOW_BYTES], s.d.flows[0].cfg.size_bytes);
    assert_int_equal(flow_ctr()[WF_FLOW_MSGS], 1);
    assert_int_equal(flow_ctr()[WF_FLOW_NAK_TX], 1); /* the one gap of those PSNs */
}

/* A flood of questions costs no buffers: each answer is in its question's. */
static void test_flood(void **state)
{
    static uint8_t b[FRAME_MAX];
    uint32_t len = ping(b, false);

    for (int i = 0; i < 200; i++)
        wft_send(s.f, 0, 0, 0, b, len, len);
    wft_run(s.f, 500 * WF_PS_PER_US);
    wft_check(s.f);
    assert_int_equal(wft_probe(s.f, 0)->n_seen, 200);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_arp),      T(test_solicitation), T(test_ping),  T(test_write_of_a_stranger),
        T(test_refusals), T(test_all_opcodes),  T(test_flood),
    };

    wft_eal(256);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
