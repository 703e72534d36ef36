/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What people hit in the field and a switch has to do right, with whole frames, ICRC included:
 * RoCEv1 and link-local GIDs at routers, TTL, a frame that is for its own sender.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/hints.h"
#include "support.h"
#include "wire/edit.h"
#include "wire/eth.h"
#include "wire/icrc.h"
#include "wire/ip4.h"

enum { PAYLOAD = 8, ETH = 14 };

static struct wf_arena arena;
static struct wf_desc desc;

static void leaf_spine(uint32_t leaves, uint32_t spines, uint32_t hosts, int forwarding)
{
    wf_arena_free(&arena);
    desc = (struct wf_desc){.name = "field",
                            .seed = 1,
                            .duration_ps = WF_KEY_AUTO,
                            .time_limit_ps = WF_PS_PER_S,
                            .time_scale = 1};
    wf_desc_leaf_spine(&desc, &arena, leaves, spines, hosts);
    for (uint32_t i = 0; i < desc.n_switches; i++)
        desc.switches[i].cfg.forwarding = forwarding;
    wf_desc_address(&desc, &arena);
}

/* From h0 to the last host, whatever lies between: by its MAC, or by the gateway's. */
static struct wf_roce roce(struct wf_fabric *f, enum wf_roce_encap encap, uint8_t ttl)
{
    uint32_t to = desc.n_hosts - 1;
    bool routed = f->addr.hosts[0].sw != f->addr.hosts[to].sw &&
                  desc.switches[0].cfg.forwarding == WF_FORWARD_ROUTED;
    struct wf_roce h = {.encap = encap,
                        .dscp = 26,
                        .ttl = ttl,
                        .sport = 0xc001,
                        .bth = {.opcode = WF_SERVICE_RC | WF_OP_SEND_ONLY,
                                .pkey = WF_BTH_PKEY,
                                .dqpn = 0x17,
                                .psn = 5},
                        .payload_len = PAYLOAD};
    const struct wf_host_cfg *a = &desc.hosts[0].cfg, *b = &desc.hosts[to].cfg;

    memcpy(h.src_mac, a->mac, 6);
    memcpy(h.dst_mac, routed ? wf_fabric_switch(f, 0)->mac : b->mac, 6);
    memcpy(h.src_ip, encap == WF_ROCE_V2_IP4 ? a->ip.addr : a->ip6.addr, 16);
    memcpy(h.dst_ip, encap == WF_ROCE_V2_IP4 ? b->ip.addr : b->ip6.addr, 16);
    return h;
}

/* The whole frame with payload and ICRC; returns its length. */
static uint32_t whole(const struct wf_roce *h, uint8_t buf[WF_HDR_ROOM])
{
    uint32_t hdr = wf_roce_hdr_build(buf, WF_HDR_ROOM, h);
    uint32_t len = wf_roce_frame_len(hdr, h->payload_len);
    struct wf_parsed p;

    assert_true(hdr && len <= WF_HDR_ROOM);
    for (uint32_t i = 0; i < h->payload_len; i++)
        buf[hdr + i] = (uint8_t)(0xa0 + i);
    assert_int_equal(wf_parse(buf, len, len, &p), WF_DROP_NONE);
    wf_icrc_store(buf + len - WF_ICRC_LEN, wf_icrc_of(buf, len - WF_ICRC_LEN, &p));
    assert_int_equal(wf_icrc_check(buf, len, &p), WF_ICRC_OK);
    return len < WF_ETH_MIN_LEN ? WF_ETH_MIN_LEN : len;
}

static void send(struct wf_fabric *f, const uint8_t *buf, uint32_t len)
{
    wft_send(f, 0, wf_fabric_now_ps(f), 3, buf, len, len);
}

static struct wft_probe *last(struct wf_fabric *f)
{
    return wft_probe(f, desc.n_hosts - 1);
}

static uint64_t drops(struct wf_fabric *f, uint32_t sw, enum wf_reason why)
{
    uint64_t n = 0;

    for (uint16_t p = 0; p < wf_fabric_switch(f, sw)->n_ports; p++)
        n += wf_fabric_switch(f, sw)->ports[p].drops[why];
    return n;
}

static void end(struct wf_fabric *f)
{
    wft_check(f);
    wf_fabric_free(f);
}

/* How many lines of hints there are, and that one of them says it. */
static unsigned hints(struct wf_fabric *f, const char *says)
{
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    unsigned n = 0;

    assert_non_null(out);
    wf_fabric_hints(f, out);
    assert_int_equal(fclose(out), 0);
    for (const char *c = text; *c; c++)
        n += *c == '\n';
    if (n)
        assert_non_null(strstr(text, says));
    free(text);
    return n;
}

/* RoCEv1 and v2 within a leaf are carried unchanged and counted apart; v1 crosses no router, and
 * that is told once, however many frames there were. */
static void fc_E1(void **state)
{
    uint8_t v1[WF_HDR_ROOM], v2[WF_HDR_ROOM];
    struct wf_roce h1, h2;
    struct wf_fabric *f;
    uint32_t len1, len2;

    for (int l2 = 0; l2 < 2; l2++) {
        leaf_spine(1, 0, 2, l2 ? WF_FORWARD_L2 : WF_FORWARD_ROUTED);
        f = wft_build(&desc);
        h1 = roce(f, WF_ROCE_V1, 64);
        h2 = roce(f, WF_ROCE_V2_IP4, 64);
        len1 = whole(&h1, v1);
        len2 = whole(&h2, v2);
        for (int i = 0; i < 3; i++)
            send(f, v1, len1);
        send(f, v2, len2);
        wft_run(f, WF_TIME_NEVER);
        assert_int_equal(last(f)->n_seen, 4);
        assert_int_equal(last(f)->seen[0].len, len1);
        assert_memory_equal(last(f)->seen[0].bytes, v1, len1);
        assert_memory_equal(last(f)->seen[3].bytes, v2, len2);
        assert_int_equal(wf_fabric_switch(f, 0)->ports[0].ctr[WF_PORT_RX_ROCEV1_FRAMES], 3);
        assert_int_equal(wf_fabric_switch(f, 0)->ports[0].ctr[WF_PORT_RX_ROCE_FRAMES], 1);
        assert_int_equal(hints(f, ""), 0);
        end(f);
    }
    leaf_spine(2, 1, 1, WF_FORWARD_ROUTED);
    f = wft_build(&desc);
    h1 = roce(f, WF_ROCE_V1, 64);
    len1 = whole(&h1, v1);
    for (int i = 0; i < 5; i++)
        send(f, v1, len1);
    memcpy(v1, desc.hosts[1].cfg.mac, 6); /* nor by the MAC of the host itself */
    send(f, v1, len1);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(last(f)->n_seen, 0);
    assert_int_equal(drops(f, 0, WF_DROP_NOT_ROUTABLE), 6);
    assert_int_equal(hints(f, "RoCEv1 frames at routed ports, such as leaf0:p0"), 1);
    end(f);
}

/* A TCP segment that looks like somebody's bootstrap. */
static uint32_t tcp(struct wf_fabric *f, uint8_t buf[WF_HDR_ROOM])
{
    struct wf_roce h = roce(f, WF_ROCE_V2_IP4, 64);
    uint32_t len = whole(&h, buf);

    buf[ETH + 9] = WF_IPPROTO_TCP;
    wf_st16(buf + ETH + 10, wf_ip4_checksum(buf + ETH, 20));
    wf_st16(buf + ETH + 22, 18515); /* destination port */
    buf[ETH + 32] = 5 << 4;         /* 20 bytes of header */
    return len;
}

static void link_local(uint8_t ip[16], uint8_t n)
{
    memset(ip, 0, 16);
    ip[0] = 0xfe;
    ip[1] = 0x80;
    ip[15] = n;
}

/* Two leaves that only routing joins: TCP and RoCEv2 get through, RoCEv1 and link-local GIDs do
 * not, and the counters say why. */
static void fc_E5(void **state)
{
    uint8_t buf[WF_HDR_ROOM];
    struct wf_fabric *f;
    struct wf_roce h;

    leaf_spine(2, 1, 1, WF_FORWARD_ROUTED);
    f = wft_build(&desc);
    send(f, buf, tcp(f, buf));
    for (int encap = WF_ROCE_V2_IP4; encap <= WF_ROCE_V1; encap++) {
        h = roce(f, (enum wf_roce_encap)encap, 64);
        send(f, buf, whole(&h, buf));
    }
    h = roce(f, WF_ROCE_V2_IP6, 64); /* either end is enough */
    link_local(h.src_ip, 1);
    send(f, buf, whole(&h, buf));
    link_local(h.dst_ip, 2);
    send(f, buf, whole(&h, buf));
    memcpy(h.src_ip, desc.hosts[0].cfg.ip6.addr, 16);
    send(f, buf, whole(&h, buf));
    h = roce(f, WF_ROCE_V2_IP4, 64);
    memcpy(h.src_ip + 12, "\xa9\xfe\x01\x02", 4);
    send(f, buf, whole(&h, buf));
    h = roce(f, WF_ROCE_V2_IP6, 64); /* an address that nobody has is another matter */
    h.dst_ip[15] = 77;
    send(f, buf, whole(&h, buf));
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(last(f)->n_seen, 3);
    assert_true(last(f)->seen[0].p.flags & WF_P_TCP);
    assert_true(last(f)->seen[1].p.flags & last(f)->seen[2].p.flags & WF_P_ROCEV2);
    assert_int_equal(drops(f, 0, WF_DROP_NOT_ROUTABLE), 1);
    assert_int_equal(drops(f, 0, WF_DROP_LINK_LOCAL), 4);
    assert_int_equal(drops(f, 0, WF_DROP_NO_ROUTE), 1);
    assert_int_equal(hints(f, "a GID of fe80:: does not leave its subnet"), 2);
    end(f);
}

/* Link-local is right where there is no router. */
static void fc_E5_within_a_subnet(void **state)
{
    uint8_t buf[WF_HDR_ROOM];
    struct wf_fabric *f;
    struct wf_roce h;

    leaf_spine(1, 0, 2, WF_FORWARD_ROUTED);
    f = wft_build(&desc);
    h = roce(f, WF_ROCE_V2_IP6, 1);
    link_local(h.src_ip, 1);
    link_local(h.dst_ip, 2);
    send(f, buf, whole(&h, buf));
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(last(f)->n_seen, 1);
    end(f);
}

struct fate {
    unsigned passed;
    int ttl;        /* as it arrived */
    int dropped_at; /* switch; -1: nowhere */
};

static struct fate fate_of(enum wf_roce_encap encap, uint8_t ttl, bool routed)
{
    struct fate x = {.ttl = -1, .dropped_at = -1};
    uint8_t buf[WF_HDR_ROOM];
    struct wf_fabric *f;
    struct wf_roce h;

    leaf_spine(routed ? 2 : 1, routed ? 1 : 0, routed ? 1 : 2, WF_FORWARD_ROUTED);
    f = wft_build(&desc);
    h = roce(f, encap, ttl);
    send(f, buf, whole(&h, buf));
    wft_run(f, WF_TIME_NEVER);
    x.passed = last(f)->n_seen;
    for (uint32_t i = 0; i < desc.n_switches; i++)
        if (drops(f, i, WF_DROP_TTL))
            x.dropped_at = (int)i;
    if (x.passed) {
        const struct wft_seen *s = &last(f)->seen[0];

        x.ttl = s->p.ttl;
        assert_int_equal(wf_icrc_check(s->bytes, s->caplen, &s->p), WF_ICRC_OK);
        if (encap == WF_ROCE_V2_IP4)
            assert_int_equal(wf_ld16(s->bytes + ETH + 10), wf_ip4_checksum(s->bytes + ETH, 20));
        else
            assert_int_equal(s->bytes[ETH + 7], x.ttl);
    }
    end(f);
    return x;
}

/* A hop limit of 1 is enough for a flat leaf and for no router; leaf 0 is switch 0, leaf 1 is 1,
 * the spine between them is 2. What arrives has a right ICRC and a right checksum. */
static void fc_E6(void **state)
{
    static const struct {
        uint8_t ttl;
        int at_l2, at_l3, dropped_at;
    } want[] = {{1, 1, -1, 0}, {2, 2, -1, 2}, {3, 3, -1, 1}, {4, 4, 1, -1}, {64, 64, 61, -1}};

    for (int encap = WF_ROCE_V2_IP4; encap <= WF_ROCE_V2_IP6; encap++)
        for (unsigned i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
            struct fate l2 = fate_of((enum wf_roce_encap)encap, want[i].ttl, false);
            struct fate l3 = fate_of((enum wf_roce_encap)encap, want[i].ttl, true);

            assert_int_equal(l2.passed, 1);
            assert_int_equal(l2.ttl, want[i].at_l2);
            assert_int_equal(l3.passed, want[i].at_l3 > 0);
            assert_int_equal(l3.ttl, want[i].at_l3);
            assert_int_equal(l3.dropped_at, want[i].dropped_at);
        }
}

/* A frame whose destination is its own source is dropped where it comes in, and floods nowhere. */
static void fc_O4(void **state)
{
    uint8_t buf[WF_HDR_ROOM];

    for (int l2 = 0; l2 < 2; l2++)
        for (int known = 0; known < 2; known++) {
            struct wf_fabric *f;
            struct wf_roce h;

            leaf_spine(2, 2, 3, l2 ? WF_FORWARD_L2 : WF_FORWARD_ROUTED);
            f = wft_build(&desc);
            h = roce(f, WF_ROCE_V2_IP6, 64);
            if (!known)
                h.src_mac[5] = 0x99;
            memcpy(h.dst_mac, h.src_mac, 6);
            send(f, buf, whole(&h, buf));
            wft_run(f, WF_TIME_NEVER);
            assert_int_equal(wf_fabric_switch(f, 0)->ports[0].drops[WF_DROP_OWN_SOURCE], 1);
            assert_int_equal(wf_fabric_ctr(f, WF_FABRIC_DROPPED), 1);
            assert_int_equal(wf_fabric_ctr(f, WF_FABRIC_REPLICATED), 0);
            for (uint32_t i = 0; i < desc.n_hosts; i++)
                assert_int_equal(wft_probe(f, i)->n_seen, 0);
            end(f);
        }
}

/* UD to a group (224.1.1.1, 01-00-5E-01-01-01): every host of the domain gets it once, the sender
 * does not get it back, and the destination QP is what it was: 0xffffff. The domain is a routed
 * leaf, or the whole fabric with l2 forwarding. */
static void fc_O3(void **state)
{
    static const uint8_t mac[6] = {0x01, 0x00, 0x5e, 0x01, 0x01, 0x01};

    for (int l2 = 0; l2 < 2; l2++) {
        uint8_t buf[WF_HDR_ROOM];
        struct wf_fabric *f;
        struct wf_roce h;
        uint32_t len;

        leaf_spine(2, 2, 3, l2 ? WF_FORWARD_L2 : WF_FORWARD_ROUTED);
        f = wft_build(&desc);
        h = roce(f, WF_ROCE_V2_IP4, 1);
        memcpy(h.dst_mac, mac, 6);
        memcpy(h.dst_ip + 12, "\xe0\x01\x01\x01", 4);
        h.bth.opcode = WF_SERVICE_UD | WF_OP_SEND_ONLY;
        h.bth.dqpn = 0xffffff;
        h.ext.deth.qkey = 0x11111111;
        h.ext.deth.sqpn = 0x42;
        len = whole(&h, buf);
        send(f, buf, len);
        wft_run(f, WF_TIME_NEVER);
        for (uint32_t i = 0; i < desc.n_hosts; i++) {
            unsigned want = i && (l2 || i < 3);

            assert_int_equal(wft_probe(f, i)->n_seen, want);
            if (!want)
                continue;
            assert_memory_equal(wft_probe(f, i)->seen[0].bytes, buf, len);
            assert_int_equal(wft_probe(f, i)->seen[0].p.dqpn, 0xffffff);
        }
        assert_int_equal(wf_fabric_switch(f, 0)->ports[0].ctr[WF_PORT_TX_FRAMES], 0);
        end(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fc_E1), cmocka_unit_test(fc_E5), cmocka_unit_test(fc_E5_within_a_subnet),
        cmocka_unit_test(fc_E6), cmocka_unit_test(fc_O4), cmocka_unit_test(fc_O3),
    };

    wft_eal(96);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
