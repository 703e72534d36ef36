/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VLANs and remarking between probe hosts: what gets in, what comes out, byte by byte, and that the
 * ICRC and the IPv4 checksum of what was edited are right.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "burst.h"
#include "wire/arp.h"
#include "wire/edit.h"
#include "wire/eth.h"
#include "wire/icrc.h"

#define US WF_PS_PER_US

enum { HOSTS = 4, LEN = 98 }; /* of a RoCE frame without FCS and tags: 24 bytes of payload */

static struct wf_desc *d;
static struct wf_switch_port_cfg cfg[HOSTS];
static bool six; /* frames are of IPv6 */

static void vlan(uint32_t host, int mode, uint32_t pvid, const char *allowed)
{
    static const char *texts[HOSTS];

    texts[host] = allowed;
    cfg[host].vlan = (struct wf_vlan_cfg){
        .mode = mode, .pvid = pvid, .allowed = {.v = &texts[host], .n = allowed != NULL}};
}

/* A bridge with four hosts, each port with a configuration of its own. */
static void bridge(uint32_t leaves, int forwarding)
{
    d = wft_leaf_spine(leaves, leaves > 1, HOSTS / leaves);
    for (uint32_t i = 0; i < d->n_switches; i++) {
        d->switches[i].cfg.forwarding = forwarding;
        d->switches[i].cfg.port.trust = WF_TRUST_PCP;
    }
    if (forwarding == WF_FORWARD_L2)
        for (uint32_t i = 0; i < HOSTS; i++) /* no gateway in between */
            d->hosts[i].cfg.gateway.family = 0;
    for (uint32_t i = 0; i < HOSTS; i++) {
        cfg[i] = d->switches[0].cfg.port;
        d->links[i].port_cfg[d->links[i].a.is_host] = &cfg[i];
    }
}

static uint32_t roce6(uint32_t from, uint32_t to, uint8_t *hdr, uint32_t *len)
{
    struct wf_roce h = {.encap = WF_ROCE_V2_IP6,
                        .dscp = 26,
                        .ecn = WF_ECN_ECT1,
                        .ttl = 64,
                        .sport = 0xc000,
                        .bth = {.opcode = WF_SERVICE_RC | WF_OP_WRITE_MIDDLE,
                                .pkey = WF_BTH_PKEY,
                                .dqpn = 0x11,
                                .psn = 7},
                        .payload_len = 24};
    uint32_t n;

    memcpy(h.src_mac, d->hosts[from].cfg.mac, 6);
    memcpy(h.dst_mac, d->hosts[to].cfg.mac, 6);
    memcpy(h.src_ip, d->hosts[from].cfg.ip6.addr, 16);
    memcpy(h.dst_ip, d->hosts[to].cfg.ip6.addr, 16);
    n = wf_roce_hdr_build(hdr, WF_ROCE_HDR_MAX, &h);
    *len = wf_roce_frame_len(n, 24);
    return n;
}

/* A whole frame with a right ICRC; `tags` are put behind the addresses as they are. */
static uint32_t frame_of(struct wf_fabric *f, uint32_t from, uint32_t to, const char *tags,
                         uint32_t n_tags, uint8_t *b)
{
    uint8_t hdr[WF_ROCE_HDR_MAX];
    uint32_t len, n = six ? roce6(from, to, hdr, &len)
                          : wft_roce(f, from, to, 26, WF_ECN_ECT1, 7, 24, hdr, &len);
    struct wf_parsed p;

    memset(b, 0x5a, 160);
    memcpy(b, hdr, 12);
    memcpy(b + 12, tags, 4 * n_tags);
    memcpy(b + 12 + 4 * n_tags, hdr + 12, n - 12);
    len += 4 * n_tags;
    assert_int_equal(wf_parse(b, len, len, &p), WF_DROP_NONE);
    wf_icrc_store(b + p.icrc_off, wf_icrc_of(b, len, &p));
    return len;
}

static void send(struct wf_fabric *f, uint32_t from, const uint8_t *b, uint32_t len)
{
    for (uint32_t i = 0; i < HOSTS; i++)
        wft_probe(f, i)->n_seen = 0;
    wft_send(f, from, wf_fabric_now_ps(f), 0, b, len, len);
    wft_run(f, WF_TIME_NEVER);
    wft_check(f);
}

static void good(const struct wft_seen *s)
{
    assert_int_equal(wf_icrc_check(s->bytes, s->len, &s->p), WF_ICRC_OK);
    assert_true(s->p.flags & WF_P_IP6 || wf_ip4_checksum_ok(s->bytes, s->caplen, &s->p));
}

/* Sent by `from` with these tags it arrives at `to` with those, and is the same behind them. */
static void passes(struct wf_fabric *f, uint32_t from, uint32_t to, const char *in, uint32_t n_in,
                   const char *out, uint32_t n_out)
{
    const struct wft_seen *s = &wft_probe(f, to)->seen[0];
    uint8_t b[160];
    uint32_t len = frame_of(f, from, to, in, n_in, b);

    send(f, from, b, len);
    assert_int_equal(wft_probe(f, to)->n_seen, 1);
    assert_int_equal(s->len, len - 4 * n_in + 4 * n_out);
    assert_memory_equal(s->bytes, b, 12);
    assert_memory_equal(s->bytes + 12, out, 4 * n_out);
    assert_memory_equal(s->bytes + 12 + 4 * n_out, b + 12 + 4 * n_in, len - 12 - 4 * n_in);
    good(s);
}

static void refuses(struct wf_fabric *f, uint32_t from, uint32_t to, const char *in, uint32_t n_in,
                    enum wf_reason why)
{
    struct wf_port *port = wf_fabric_host(f, from)->ports[0].peer;
    uint64_t before = port->drops[why];
    uint8_t b[160];
    uint32_t len = frame_of(f, from, to, in, n_in, b);

    send(f, from, b, len);
    for (uint32_t i = 0; i < HOSTS; i++)
        assert_int_equal(wft_probe(f, i)->n_seen, 0);
    assert_int_equal(port->drops[why], before + 1);
}

#define TAG_10     "\x81\x00\x00\x0a"
#define TAG_10_P5  "\x81\x00\xa0\x0a"
#define TAG_20     "\x81\x00\x00\x14"
#define TAG_0_P5   "\x81\x00\xa0\x00"
#define TAG_4095   "\x81\x00\x0f\xff"
#define STAG_10_P5 "\x88\xa8\xb0\x0a" /* DEI set */
#define TAG_77     "\x81\x00\x60\x4d"

/* h0 and h1 access 10 and 20, h2 a trunk of 10 and 20, h3 one of 10 with VLAN 20 untagged. */
static struct wf_fabric *four_ports(void)
{
    bridge(1, WF_FORWARD_L2);
    vlan(0, WF_VLAN_ACCESS, 10, NULL);
    vlan(1, WF_VLAN_ACCESS, 20, NULL);
    vlan(2, WF_VLAN_TRUNK, 0, "10,19-20");
    vlan(3, WF_VLAN_TRUNK, 20, "10-20");
    return wft_build(d);
}

static void access_and_trunk_ports(void **state)
{
    struct wf_fabric *f = four_ports();

    passes(f, 0, 2, "", 0, TAG_10, 1); /* PCP is the class: untagged counts as 0 */
    passes(f, 2, 0, TAG_10_P5, 1, "", 0);
    passes(f, 2, 1, TAG_20, 1, "", 0);
    passes(f, 2, 3, TAG_10_P5, 1, TAG_10_P5, 1);
    passes(f, 2, 3, TAG_20, 1, "", 0); /* its own VLAN goes untagged */
    passes(f, 3, 2, "", 0, TAG_20, 1);
    passes(f, 3, 1, "", 0, "", 0);
    refuses(f, 0, 1, "", 0, WF_DROP_VLAN_OUT);
    refuses(f, 2, 1, TAG_10, 1, WF_DROP_VLAN_OUT);
    refuses(f, 0, 2, TAG_10, 1, WF_DROP_VLAN_TAG);
    refuses(f, 2, 0, TAG_77, 1, WF_DROP_VLAN_IN);
    refuses(f, 2, 0, TAG_4095, 1, WF_DROP_VLAN_IN);
    refuses(f, 2, 0, "", 0, WF_DROP_VLAN_IN); /* a trunk without a VLAN of its own */
    wf_fabric_free(f);
}

/* A frame that fills the largest buffer has no room for a tag, and is too large for any link. */
static void a_frame_without_room_for_a_tag(void **state)
{
    static uint8_t b[WF_FULL_ROOM];
    struct wf_fabric *f = four_ports();
    struct wf_port *in = wf_fabric_host(f, 0)->ports[0].peer;

    memcpy(b, d->hosts[2].cfg.mac, 6);
    memcpy(b + 6, d->hosts[0].cfg.mac, 6);
    memcpy(b + 12, "\x88\xb5", 2);
    for (uint32_t len = WF_FULL_ROOM - 4; len <= WF_FULL_ROOM; len++)
        send(f, 0, b, len);
    assert_int_equal(wft_probe(f, 2)->n_seen, 0);
    assert_int_equal(in->drops[WF_DROP_MTU], 5);
    wf_fabric_free(f);
}

/* VID 0 carries a priority and no VLAN: it counts as untagged, and its PCP decides the class. */
static void priority_tags(void **state)
{
    struct wf_fabric *f = four_ports();
    struct wf_node *leaf = wf_fabric_switch(f, 0);

    passes(f, 0, 2, TAG_0_P5, 1, TAG_10_P5, 1);
    assert_int_equal(leaf->ports[2].q[5].ctr[WF_QUEUE_TX_FRAMES], 1);
    assert_int_equal(leaf->ports[0].prio_ctr[5][WF_PRIO_RX_FRAMES], 1);
    passes(f, 3, 1, TAG_0_P5, 1, "", 0);
    assert_int_equal(leaf->ports[1].q[5].ctr[WF_QUEUE_TX_FRAMES], 1);
    refuses(f, 2, 0, TAG_0_P5, 1, WF_DROP_VLAN_IN);
    wf_fabric_free(f);
}

/* Two tags: the outer one decides and may go, S-tags as C-tags; the inner one is carried. */
static void inner_tags_are_carried(void **state)
{
    struct wf_fabric *f = four_ports();

    passes(f, 2, 3, STAG_10_P5 TAG_77, 2, STAG_10_P5 TAG_77, 2);
    passes(f, 2, 0, STAG_10_P5 TAG_77, 2, TAG_77, 1);
    passes(f, 2, 0, TAG_10_P5 TAG_20, 2, TAG_20, 1);
    wf_fabric_free(f);
    bridge(1, WF_FORWARD_L2); /* and ports that know no VLANs carry everything */
    f = wft_build(d);
    passes(f, 0, 1, TAG_77 TAG_20, 2, TAG_77 TAG_20, 2);
    passes(f, 0, 1, TAG_4095, 1, TAG_4095, 1);
    passes(f, 0, 1, TAG_0_P5, 1, TAG_0_P5, 1);
    wf_fabric_free(f);
}

/* A frame of 64 bytes whose tag goes is padded to 64 again, one that gets a tag is 68 long. And one
 * that fills its buffer to the last byte gets its tag too. */
static void lengths_stay_legal(void **state)
{
    struct wf_fabric *f = four_ports();
    const struct wft_seen *s;
    uint8_t b[WF_HDR_ROOM] = {0}, zeros[4] = {0};

    for (uint32_t len = 60; len <= WF_HDR_ROOM; len += WF_HDR_ROOM - 60) {
        for (uint32_t i = 0; i < len; i++)
            b[i] = (uint8_t)i;
        memcpy(b, d->hosts[2].cfg.mac, 6);
        memcpy(b + 6, d->hosts[0].cfg.mac, 6);
        memcpy(b + 12, "\x88\xb5", 2);
        send(f, 0, b, len);
        s = &wft_probe(f, 2)->seen[0];
        assert_int_equal(wft_probe(f, 2)->n_seen, 1);
        assert_int_equal(s->len, len + 4);
        assert_memory_equal(s->bytes + 12, TAG_10, 4);
        assert_memory_equal(s->bytes + 16, b + 12, (len < 112 ? len : 112) - 12);
    }
    memcpy(b, d->hosts[0].cfg.mac, 6);
    memcpy(b + 6, d->hosts[2].cfg.mac, 6);
    memcpy(b + 12, TAG_10, 4);
    send(f, 2, b, 60);
    s = &wft_probe(f, 0)->seen[0];
    assert_int_equal(wft_probe(f, 0)->n_seen, 1);
    assert_int_equal(s->len, 60);
    assert_memory_equal(s->bytes + 12, b + 16, 44);
    assert_memory_equal(s->bytes + 56, zeros, 4);
    wf_fabric_free(f);
}

static void broadcast(struct wf_fabric *f, uint32_t from, const char *tags, uint32_t n,
                      uint32_t want)
{
    static const uint8_t all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    uint8_t b[160];
    uint32_t len = frame_of(f, from, (from + 1) % HOSTS, tags, n, b);

    memcpy(b, all, 6);
    send(f, from, b, len);
    for (uint32_t i = 0; i < HOSTS; i++)
        assert_int_equal(wft_probe(f, i)->n_seen, want >> i & 1);
}

/* Floods reach the ports of their VLAN, and nobody counts a drop for the others. */
static void floods_stay_in_their_vlan(void **state)
{
    struct wf_fabric *f = four_ports();

    broadcast(f, 0, "", 0, 1 << 2 | 1 << 3);
    assert_memory_equal(wft_probe(f, 2)->seen[0].bytes + 12, TAG_10, 4);
    assert_memory_equal(wft_probe(f, 3)->seen[0].bytes + 12, TAG_10, 4);
    broadcast(f, 2, TAG_20, 1, 1 << 1 | 1 << 3);
    assert_memory_equal(wft_probe(f, 1)->seen[0].bytes + 12, "\x08\x00", 2);
    assert_memory_equal(wft_probe(f, 3)->seen[0].bytes + 12, "\x08\x00", 2);
    assert_int_equal(wf_fabric_ctr(f, WF_FABRIC_DROPPED), 0);
    wf_fabric_free(f);
}

/* A switch's own address as source, as if it had routed the frame, opens no VLAN: neither to one
 * host nor to all, in a bridge or a routed leaf. */
static void the_switchs_address_as_source(void **state)
{
    static const uint8_t all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

    for (int forwarding = WF_FORWARD_ROUTED; forwarding <= WF_FORWARD_L2; forwarding++) {
        struct wf_fabric *f;
        struct wf_port *in;
        uint8_t b[160];
        uint32_t len;

        bridge(1, forwarding);
        for (uint32_t i = 0; i < HOSTS; i++)
            vlan(i, WF_VLAN_ACCESS, 10 * (i + 1), NULL);
        f = wft_build(d);
        in = &wf_fabric_switch(f, 0)->ports[0];
        len = frame_of(f, 0, 1, "", 0, b);
        for (uint32_t to = 1; to <= HOSTS; to++) {
            memcpy(b, to < HOSTS ? d->hosts[to].cfg.mac : all, 6);
            memcpy(b + 6, in->node->mac, 6);
            send(f, 0, b, len);
            for (uint32_t i = 0; i < HOSTS; i++)
                assert_int_equal(wft_probe(f, i)->n_seen, 0);
            assert_int_equal(in->drops[WF_DROP_OWN_SOURCE], to);
        }
        wf_fabric_free(f);
    }
}

/* DSCP and PCP by class, in either family; ECN stays, checksum and ICRC are right. What has no IP
 * or no tag is left alone. */
static void remarking(void **state)
{
    static const struct {
        int rewrite;
        uint8_t dscp;
        const char *tag;
    } rows[] = {{WF_REWRITE_NONE, 26, TAG_10_P5},
                {WF_REWRITE_DSCP, 46, TAG_10_P5},
                {WF_REWRITE_PCP, 26, "\x81\x00\x20\x0a"},
                {WF_REWRITE_BOTH, 46, "\x81\x00\x20\x0a"}};

    for (unsigned i = 0; i < 4; i++) {
        const struct wft_seen *s;
        struct wf_fabric *f;
        uint8_t b[160];
        uint32_t len;

        bridge(1, WF_FORWARD_L2);
        cfg[1].rewrite = rows[i].rewrite;
        cfg[1].tc_to_dscp[5] = 46;
        cfg[1].tc_to_pcp[5] = 1;
        f = wft_build(d);
        for (int n = 0; n < 2; n++) {
            six = n;
            len = frame_of(f, 0, 1, TAG_10_P5, 1, b);
            send(f, 0, b, len);
            s = &wft_probe(f, 1)->seen[0];
            assert_int_equal(wft_probe(f, 1)->n_seen, 1);
            assert_int_equal(s->p.dscp, rows[i].dscp);
            assert_int_equal(s->p.ecn, WF_ECN_ECT1);
            assert_memory_equal(s->bytes + 12, rows[i].tag, 4);
            assert_int_equal(!!(s->p.flags & WF_P_IP6), n);
            good(s);
        }
        six = false;
        passes(f, 1, 0, TAG_10_P5, 1, TAG_10_P5, 1); /* not in the other direction */
        wf_fabric_free(f);
    }
}

static uint32_t arp(uint8_t *b, const struct wf_host_cfg *from, const uint8_t *target,
                    const char *tag)
{
    static const uint8_t all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    struct wf_arp a = {
        .oper = WF_ARP_REQUEST, .spa = wf_ld32(from->ip.addr + 12), .tpa = wf_ld32(target)};
    uint8_t plain[60];

    memcpy(a.sha, from->mac, 6);
    wf_arp_build(plain, all, &a);
    memcpy(b, plain, 12);
    memcpy(b + 12, tag, 4);
    memcpy(b + 16, plain + 12, 48);
    return 64;
}

/* Two routed leaves, tagged at one host (its gateway in VLAN 10), untagged at the other: the
 * gateway answers with the tag, the fabric between is untagged, and each side gets what its port
 * has. */
static void routing_ends_a_vlan(void **state)
{
    const struct wft_seen *s;
    struct wf_fabric *f;
    uint8_t b[160];
    uint32_t len;

    bridge(2, WF_FORWARD_ROUTED);
    vlan(0, WF_VLAN_TRUNK, 0, "10");
    cfg[0].vlan.svi = 10;
    f = wft_build(d);
    len = arp(b, &d->hosts[0].cfg, d->hosts[0].cfg.gateway.addr + 12, TAG_10_P5);
    send(f, 0, b, len);
    s = &wft_probe(f, 0)->seen[0];
    assert_int_equal(wft_probe(f, 0)->n_seen, 1);
    assert_memory_equal(s->bytes + 12, TAG_10_P5 "\x08\x06", 6);
    len = frame_of(f, 0, 2, TAG_10_P5, 1, b);
    send(f, 0, b, len);
    s = &wft_probe(f, 2)->seen[0];
    assert_int_equal(wft_probe(f, 2)->n_seen, 1);
    assert_memory_equal(s->bytes + 12, "\x08\x00", 2);
    assert_int_equal(s->len, len - 4);
    good(s);
    len = frame_of(f, 2, 0, "", 0, b);
    send(f, 2, b, len);
    s = &wft_probe(f, 0)->seen[0];
    assert_int_equal(wft_probe(f, 0)->n_seen, 1);
    assert_memory_equal(s->bytes + 12, TAG_10, 4);
    good(s);
    wf_fabric_free(f);
}

/* What is no VLAN is refused with its text, and ranges mean what they say. */
static void texts_of_vlans(void **state)
{
    static const char *const bad[] = {"0", "4095", "x", "20-10", "10-", "10 20", "-5", "1,,2"};
    const char *text = "1,100-102,4094";
    struct wf_vlan_cfg c = {.mode = WF_VLAN_TRUNK, .allowed = {&text, 1}};
    struct wf_vlan_set s;
    struct wf_err err;
    unsigned n = 0;

    assert_int_equal(wf_vlan_set_parse(&c, &s, &err), 0);
    for (unsigned vid = 0; vid <= 4095; vid++)
        n += wf_vlan_has(&s, vid);
    assert_int_equal(n, 5);
    assert_true(wf_vlan_has(&s, 1) && wf_vlan_has(&s, 101) && wf_vlan_has(&s, 4094));
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        c.allowed.v = &bad[i];
        assert_int_not_equal(wf_vlan_set_parse(&c, &s, &err), 0);
    }
    c.allowed.n = 0;
    assert_int_equal(wf_vlan_set_parse(&c, &s, &err), 0);
    assert_true(!wf_vlan_has(&s, 0) && wf_vlan_has(&s, 1) && wf_vlan_has(&s, 4094) &&
                !wf_vlan_has(&s, 4095));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(access_and_trunk_ports),
        cmocka_unit_test(priority_tags),
        cmocka_unit_test(a_frame_without_room_for_a_tag),
        cmocka_unit_test(inner_tags_are_carried),
        cmocka_unit_test(lengths_stay_legal),
        cmocka_unit_test(floods_stay_in_their_vlan),
        cmocka_unit_test(remarking),
        cmocka_unit_test(the_switchs_address_as_source),
        cmocka_unit_test(routing_ends_a_vlan),
        cmocka_unit_test(texts_of_vlans),
    };

    wft_eal(128);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
