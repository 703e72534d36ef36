/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VXLAN between leaves, with real frames: what stands on the wire between the switches is judged by
 * tshark, what comes out is the frame that went in but for DSCP and ECN, its ICRC still right.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/host.h"
#include "support.h"
#include "wire/edit.h"
#include "wire/icrc.h"
#include "wire/vxlan.h"

enum { HOSTS = 2, VNI = 0x1234, ETH = 14, PAYLOAD = 16, WIRE_MAX = 256 };

static struct wf_arena arena;
static struct wf_desc desc;

static void describe(void)
{
    wf_arena_free(&arena);
    desc = (struct wf_desc){.name = "tunnel",
                            .seed = 1,
                            .duration_ps = WF_KEY_AUTO,
                            .time_limit_ps = WF_PS_PER_S,
                            .time_scale = 1};
    wf_desc_leaf_spine(&desc, &arena, 3, 1, HOSTS);
    for (uint32_t i = 0; i < 2; i++) /* leaf 2 takes no part */
        desc.switches[i].cfg.vxlan.vni = VNI;
    wf_desc_address(&desc, &arena);
}

static void spine_marks_all(void)
{
    desc.switches[3].cfg.port.queue[3].ecn =
        (struct wf_ecn_cfg){.enable = true, .kmin_bytes = 0, .kmax_bytes = 0, .pmax_ppm = 1000000};
}

/* Whole frame from host 0 to a host by its own MAC; returns its length. */
static uint32_t frame_to(uint32_t to, uint8_t dscp, uint8_t ecn, uint16_t sport, uint8_t *buf)
{
    const struct wf_host_cfg *a = &desc.hosts[0].cfg, *b = &desc.hosts[to].cfg;
    struct wf_roce h = {.encap = WF_ROCE_V2_IP4,
                        .dscp = dscp,
                        .ecn = ecn,
                        .ttl = 64,
                        .sport = sport,
                        .bth = {.opcode = WF_SERVICE_RC | WF_OP_SEND_ONLY,
                                .pkey = WF_BTH_PKEY,
                                .dqpn = 0x17,
                                .psn = 5},
                        .payload_len = PAYLOAD};
    struct wf_parsed p;
    uint32_t hdr, len;

    memcpy(h.src_mac, a->mac, 6);
    memcpy(h.dst_mac, b->mac, 6);
    memcpy(h.src_ip, a->ip.addr, 16);
    memcpy(h.dst_ip, b->ip.addr, 16);
    hdr = wf_roce_hdr_build(buf, WF_HDR_ROOM, &h);
    len = wf_roce_frame_len(hdr, PAYLOAD);
    memset(buf + hdr, 0xa5, PAYLOAD);
    assert_int_equal(wf_parse(buf, len, len, &p), WF_DROP_NONE);
    wf_icrc_store(buf + len - 4, wf_icrc_of(buf, len - 4, &p));
    return len;
}

/* What leaves the spine towards leaf 1. */
struct wire {
    struct wf_tap tap;
    uint32_t n, len[64];
    uint8_t bytes[64][WIRE_MAX];
};

static struct wire wire;

static void on_wire(struct wf_tap *tap, struct wf_port *port, struct wf_pkt *pkt,
                    enum wf_tap_dir dir, enum wf_reason why)
{
    if (dir != WF_TAP_TX || wire.n == 64)
        return;
    wire.len[wire.n] = wf_pkt_real_bytes(pkt, wire.bytes[wire.n], WIRE_MAX);
    wire.n++;
}

static struct wf_fabric *start(uint64_t models)
{
    struct wf_fabric *f = wft_build_some(&desc, models);

    memset(&wire, 0, sizeof(wire));
    wire.tap.fn = on_wire;
    wf_port_tap(&wf_fabric_switch(f, 3)->ports[1], &wire.tap);
    return f;
}

static void end(struct wf_fabric *f)
{
    wft_check(f);
    wf_fabric_free(f);
}

static void send(struct wf_fabric *f, const uint8_t *buf, uint32_t len)
{
    wft_send(f, 0, wf_fabric_now_ps(f), 3, buf, len, len);
}

static const struct wft_seen *only(struct wf_fabric *f, uint32_t host)
{
    assert_int_equal(wft_probe(f, host)->n_seen, 1);
    return &wft_probe(f, host)->seen[0];
}

/* RFC 6040 figure 4, all sixteen. */
static void ecn_at_the_end_is_as_in_rfc_6040(void **state)
{
    static const int want[4][4] = {
        /* outer: Not-ECT, ECT(1), ECT(0), CE; rows: inner likewise */
        {0, 0, 0, -1},
        {1, 1, 1, 3},
        {2, 1, 2, 3},
        {3, 3, 3, 3},
    };

    for (uint8_t inner = 0; inner < 4; inner++)
        for (uint8_t outer = 0; outer < 4; outer++)
            assert_int_equal(wf_ecn_decap(inner, outer), want[inner][outer]);
}

/* CE that the spine puts on the outside is inside behind the tunnel, the ICRC is right, and but for
 * it all bytes are those that were sent. */
static void fc_O14(void **state)
{
    for (int ecn_mode = 0; ecn_mode < 2; ecn_mode++)
        for (int pipe = 0; pipe < 2; pipe++) {
            uint8_t buf[WF_HDR_ROOM], want[WF_HDR_ROOM];
            const struct wft_seen *s;
            struct wf_fabric *f;
            struct wf_parsed p;
            uint32_t len;

            describe();
            spine_marks_all();
            for (uint32_t i = 0; i < 2; i++) {
                desc.switches[i].cfg.vxlan.dscp_mode = pipe;
                desc.switches[i].cfg.vxlan.dscp = 24; /* class 3 as well */
                desc.switches[i].cfg.vxlan.ecn_mode = ecn_mode;
            }
            f = start(0);
            len = frame_to(2, 26, WF_ECN_ECT0, 0xc123, buf);
            send(f, buf, len);
            wft_run(f, WF_TIME_NEVER);
            assert_int_equal(wire.n, 1);
            assert_int_equal(wire.len[0], len + WF_VXLAN_OUTER);
            assert_int_equal(wire.bytes[0][ETH + 1], (pipe ? 24 : 26) << 2 | WF_ECN_CE);
            s = only(f, 2);
            assert_int_equal(s->len, len);
            assert_int_equal(s->p.ecn, WF_ECN_CE);
            assert_int_equal(s->p.dscp, 26);
            assert_int_equal(wf_icrc_check(s->bytes, s->caplen, &s->p), WF_ICRC_OK);
            memcpy(want, buf, len);
            assert_int_equal(wf_parse(want, len, len, &p), WF_DROP_NONE);
            assert_true(wf_edit_set_ce(want, &p));
            assert_memory_equal(s->bytes, want, len);
            end(f);
        }
}

/* What is not ECN-capable inside is marked by nobody; a DSCP that is changed on the way outside
 * comes in (uniform) or not (pipe). */
static void fc_O14_dscp_and_not_ect(void **state)
{
    for (int pipe = 0; pipe < 2; pipe++) {
        uint8_t buf[WF_HDR_ROOM];
        struct wf_fabric *f;

        describe();
        spine_marks_all();
        for (uint32_t i = 0; i < 2; i++)
            desc.switches[i].cfg.vxlan.dscp_mode = pipe;
        f = start(0);
        send(f, buf, frame_to(2, 26, WF_ECN_NOT_ECT, 0xc000, buf));
        wft_run(f, WF_TIME_NEVER);
        assert_int_equal(only(f, 2)->p.ecn, WF_ECN_NOT_ECT);
        assert_int_equal(only(f, 2)->p.dscp, 26);
        assert_int_equal(wire.bytes[0][ETH + 1], pipe ? 0 : 26 << 2);
        end(f);
    }
}

/* Frames of VXLAN that come from elsewhere: CE over not-ECT is dropped, another network too, and a
 * changed outer DSCP is taken in when uniform. */
static void foreign_tunnel_frames(void **state)
{
    static const struct {
        uint32_t vni;
        uint8_t dscp, ecn, inner_ecn;
        enum wf_reason why;
    } cases[] = {
        {VNI, 10, WF_ECN_CE, WF_ECN_NOT_ECT, WF_DROP_TUNNEL_CE},
        {VNI + 1, 10, 0, 0, WF_DROP_TUNNEL_VNI},
        {VNI, 10, WF_ECN_CE, WF_ECN_ECT1, WF_DROP_NONE},
        {VNI, 10, WF_ECN_ECT1, WF_ECN_ECT0, WF_DROP_NONE},
    };

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_vxlan h = {.dscp = cases[i].dscp,
                             .ecn = cases[i].ecn,
                             .ttl = 9,
                             .sport = 50000,
                             .vni = cases[i].vni};
        uint8_t buf[WF_VXLAN_OUTER + WF_HDR_ROOM];
        struct wf_fabric *f;
        uint32_t len;

        describe();
        f = start(0);
        len = frame_to(1, 26, cases[i].inner_ecn, 0xc000, buf + WF_VXLAN_OUTER);
        memcpy(h.dst_mac, wf_fabric_switch(f, 0)->mac, 6);
        memcpy(h.src_mac, desc.hosts[0].cfg.mac, 6);
        memcpy(h.src_ip, "\xc0\x00\x02\x01", 4);
        memcpy(h.dst_ip, "\xac\x1f\x00\x00", 4); /* leaf 0's own */
        wf_vxlan_put(buf, &h, len);
        send(f, buf, len + WF_VXLAN_OUTER);
        wft_run(f, WF_TIME_NEVER);
        if (cases[i].why) {
            assert_int_equal(wf_fabric_switch(f, 0)->ports[0].drops[cases[i].why], 1);
            assert_int_equal(wft_probe(f, 1)->n_seen, 0);
        } else {
            const struct wft_seen *s = only(f, 1);

            assert_int_equal(s->p.dscp, 10);
            assert_int_equal(s->p.ecn, wf_ecn_decap(cases[i].inner_ecn, cases[i].ecn));
            assert_int_equal(s->bytes[ETH + 8], 64); /* the inner TTL stays */
            assert_int_equal(wf_ld16(s->bytes + ETH + 10), wf_ip4_checksum(s->bytes + ETH, 20));
        }
        end(f);
    }
}

/* One link's own frames do not come through a tunnel: PFC for another host's port, LLDP, and what
 * check refuses at a port. */
static void frames_of_one_link_within(void **state)
{
    static const uint8_t pfc[] = {0x88, 0x08, 0x01, 0x01, 0x00, 0xff, 0xff, 0xff};
    static char own[6]; /* leaf 0's */
    static const struct {
        const char *dst, *src; /* NULL: host 1's, host 0's */
        enum wf_reason why;
        bool tag;
    } cases[] = {
        {"\x01\x80\xc2\0\0\1", NULL, WF_DROP_RESERVED_MAC, false},
        {"\x01\x80\xc2\0\0\x0e", NULL, WF_DROP_RESERVED_MAC, false},
        {NULL, NULL, WF_DROP_RESERVED_MAC, false},
        {NULL, NULL, WF_DROP_RESERVED_MAC, true},
        {"\2\0\0\0\7\7", "\2\0\0\0\7\7", WF_DROP_OWN_SOURCE, false},
        {NULL, own, WF_DROP_OWN_SOURCE, false},
    };

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_vxlan h = {.ttl = 9, .sport = 50000, .vni = VNI};
        uint8_t buf[WF_VXLAN_OUTER + 60] = {0}, *in = buf + WF_VXLAN_OUTER;
        struct wf_fabric *f;

        describe();
        f = start(0);
        memcpy(h.dst_mac, wf_fabric_switch(f, 0)->mac, 6);
        memcpy(h.src_mac, desc.hosts[0].cfg.mac, 6);
        memcpy(h.src_ip, "\xc0\x00\x02\x01", 4);
        memcpy(h.dst_ip, "\xac\x1f\x00\x00", 4); /* leaf 0's own */
        wf_vxlan_put(buf, &h, 60);
        memcpy(own, h.dst_mac, 6);
        memcpy(in, cases[i].dst ? (const uint8_t *)cases[i].dst : desc.hosts[1].cfg.mac, 6);
        memcpy(in + 6, cases[i].src ? (const uint8_t *)cases[i].src : desc.hosts[0].cfg.mac, 6);
        memcpy(in + 12, "\x81\0\0\x0a", 4);
        memcpy(in + 12 + 4 * cases[i].tag, pfc, sizeof(pfc));
        if (cases[i].why == WF_DROP_OWN_SOURCE)
            memcpy(in + 12, "\x88\xb5", 2);
        send(f, buf, sizeof(buf));
        wft_run(f, WF_TIME_NEVER);
        assert_int_equal(wf_fabric_switch(f, 0)->ports[0].drops[cases[i].why], 1);
        assert_int_equal(wf_fabric_host(f, 1)->ports[0].ctr[WF_PORT_RX_FRAMES], 0);
        end(f);
    }
}

/* A frame of 40 bytes, which a foreign end did not pad, leaves as a legal one, padded with zeros
 * and not with what the buffer held. */
static void a_short_frame_is_padded(void **state)
{
    enum { SHORT = 40 };
    struct wf_vxlan h = {.ttl = 9, .sport = 50000, .vni = VNI};
    uint8_t buf[WF_VXLAN_OUTER + SHORT], *in = buf + WF_VXLAN_OUTER;
    const struct wft_seen *s;
    struct wf_fabric *f;

    describe();
    f = start(0);
    memcpy(h.dst_mac, wf_fabric_switch(f, 0)->mac, 6);
    memcpy(h.src_mac, desc.hosts[0].cfg.mac, 6);
    memcpy(h.src_ip, "\xc0\x00\x02\x01", 4);
    memcpy(h.dst_ip, "\xac\x1f\x00\x00", 4); /* leaf 0's own */
    wf_vxlan_put(buf, &h, SHORT);
    memset(in, 0xee, SHORT);
    memcpy(in, desc.hosts[1].cfg.mac, 6);
    memcpy(in + 6, desc.hosts[0].cfg.mac, 6);
    memcpy(in + 12, "\x88\xb5", 2);
    send(f, buf, sizeof(buf));
    wft_run(f, WF_TIME_NEVER);
    s = only(f, 1);
    assert_int_equal(s->len, 60);
    assert_int_equal(s->caplen, 60);
    for (uint32_t i = 14; i < 60; i++)
        assert_int_equal(s->bytes[i], i < SHORT ? 0xee : 0);
    end(f);
}

/* The outer source port is the inner flow's: equal for equal ones, and spread over 49152 to 65535.
 */
static void the_source_port_is_the_inner_flow(void **state)
{
    uint8_t buf[WF_HDR_ROOM];
    unsigned differ = 0;
    struct wf_fabric *f;

    describe();
    f = start(0);
    for (uint16_t i = 0; i < 32; i++)
        for (int twice = 0; twice < 2; twice++)
            send(f, buf, frame_to(2, 26, 0, (uint16_t)(0xc000 + i), buf));
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(wire.n, 64);
    for (unsigned i = 0; i < 64; i += 2) {
        uint16_t port = wf_ld16(wire.bytes[i] + ETH + 20);

        assert_true(port >= 49152);
        assert_int_equal(port, wf_ld16(wire.bytes[i + 1] + ETH + 20));
        differ += i && port != wf_ld16(wire.bytes[i - 1] + ETH + 20);
    }
    assert_true(differ > 28);
    end(f);
}

/* The outer packet has to fit, to the byte: 14 of the inner Ethernet and 36 of IP, UDP and VXLAN
 * more than what is inside. */
static void the_mtu_is_the_outer_packets(void **state)
{
    uint8_t buf[WF_ROCE_HDR_MAX];

    for (uint32_t less = 0; less < 2; less++) {
        struct wf_fabric *f;
        uint32_t len, hdr;

        describe();
        for (uint32_t i = 0; i < desc.n_links; i++)
            desc.links[i].cfg.mtu = 20 + 8 + 12 + 1404 + 4 + 14 + 36 - less;
        f = start(0);
        hdr = wft_roce(f, 0, 2, 26, 0, 1, 1404, buf, &len);
        memcpy(buf, desc.hosts[2].cfg.mac, 6);
        wft_send(f, 0, 0, 3, buf, hdr, len);
        wft_run(f, WF_TIME_NEVER);
        assert_int_equal(wft_probe(f, 2)->n_seen, 1 - less);
        assert_int_equal(wf_fabric_switch(f, 0)->ports[0].drops[WF_DROP_MTU], less);
        end(f);
    }
}

/* Broadcasts go to all hosts of the network, once, and not to the leaf outside it nor back. */
static void broadcasts_reach_the_network(void **state)
{
    static const unsigned want[3 * HOSTS] = {0, 1, 1, 1, 0, 0};
    uint8_t buf[WF_HDR_ROOM];
    struct wf_fabric *f;
    uint32_t len;

    for (int unknown = 0; unknown < 2; unknown++) {
        describe();
        f = start(0);
        len = frame_to(2, 26, 0, 0xc000, buf);
        memcpy(buf, unknown ? "\x02\x99\x99\x99\x99\x99" : "\xff\xff\xff\xff\xff\xff", 6);
        send(f, buf, len);
        wft_run(f, WF_TIME_NEVER);
        for (uint32_t i = 0; i < desc.n_hosts; i++)
            assert_int_equal(wft_probe(f, i)->n_seen, want[i]);
        assert_memory_equal(only(f, 3)->bytes, buf, len);
        end(f);
    }
}

/* The links between switches are trunks of VLAN 10, at the spine's end or at both. */
static void trunks(bool both, struct wf_switch_port_cfg cfg[2])
{
    cfg[0] = desc.switches[0].cfg.port;
    cfg[1] = desc.switches[3].cfg.port;
    for (uint32_t end = !both; end < 2; end++) {
        cfg[end].vlan = (struct wf_vlan_cfg){.mode = WF_VLAN_TRUNK, .pvid = 1, .svi = 10};
        for (uint32_t i = desc.n_hosts; i < desc.n_links; i++)
            desc.links[i].port_cfg[end] = &cfg[end];
    }
}

/* A tag that the outer frame got on its way, and its VLAN, end with the tunnel. */
static void a_tag_outside_ends_with_the_tunnel(void **state)
{
    for (int both = 0; both < 2; both++) {
        struct wf_switch_port_cfg cfg[2];
        uint8_t buf[WF_HDR_ROOM];
        struct wf_fabric *f;
        uint32_t len;

        describe();
        trunks(both, cfg);
        f = start(0);
        len = frame_to(2, 26, WF_ECN_ECT0, 0xc123, buf);
        send(f, buf, len);
        wft_run(f, WF_TIME_NEVER);
        assert_int_equal(wire.n, 1);
        assert_int_equal(wire.len[0], len + WF_VXLAN_OUTER + 4);
        assert_int_equal(wf_ld32(wire.bytes[0] + 12) & 0xffff0fff, 0x8100000a);
        assert_int_equal(only(f, 2)->len, len);
        assert_memory_equal(only(f, 2)->bytes, buf, len);
        end(f);
    }
}

/* On the wire the ICRC within is the right one behind a tag too. */
static void virtual_payload_behind_a_tag(void **state)
{
    struct wf_switch_port_cfg cfg[2];
    uint8_t buf[WF_HDR_ROOM];
    struct wf_fabric *f;
    struct wf_parsed p;
    uint32_t len, hdr;

    describe();
    trunks(true, cfg);
    f = start(0);
    hdr = wft_roce(f, 0, 2, 26, 0, 1, 64, buf, &len);
    memcpy(buf, desc.hosts[2].cfg.mac, 6);
    wft_send(f, 0, 0, 3, buf, hdr, len);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(wire.n, 1);
    assert_int_equal(wire.len[0], len + WF_VXLAN_OUTER + 4);
    assert_int_equal(wf_parse(wire.bytes[0] + WF_VXLAN_OUTER + 4, len, len, &p), WF_DROP_NONE);
    assert_int_equal(wf_icrc_check(wire.bytes[0] + WF_VXLAN_OUTER + 4, len, &p), WF_ICRC_OK);
    end(f);
}

static void spoil(struct wf_tap *tap, struct wf_port *port, struct wf_pkt *pkt, enum wf_tap_dir dir,
                  enum wf_reason why)
{
    if (dir == WF_TAP_TX)
        wf_pkt_hdr_rw(pkt)[ETH + 20 + 8] = 0; /* "there is a VNI" */
}

/* For a tunnel's end, which does not take it: dropped by name. */
static void what_the_end_does_not_take(void **state)
{
    uint8_t buf[WF_HDR_ROOM];
    struct wf_fabric *f;

    describe();
    f = start(0);
    wire.tap.fn = spoil;
    send(f, buf, frame_to(2, 26, 0, 0xc123, buf));
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(wf_fabric_switch(f, 1)->ports[HOSTS].drops[WF_DROP_NOT_ROUTABLE], 1);
    assert_int_equal(wft_probe(f, 2)->n_seen + wft_probe(f, 3)->n_seen, 0);
    end(f);
}

/* Model hosts over a tunnel: they believe to be in one subnet. IPv6 too, whose headers are longer.
 */
static void model_hosts_write_over_a_tunnel(void **state)
{
    static struct wf_desc_flow flow;

    for (int v6 = 0; v6 < 2; v6++) {
        struct wf_fabric *f;
        uint64_t *ctr;

        describe();
        flow = (struct wf_desc_flow){.name = "a", .from = 0, .to = 3};
        wf_keyset_defaults(&wf_flow_keys, &flow.cfg);
        flow.cfg.size_bytes = 100000;
        flow.cfg.dscp = 26;
        desc.flows = &flow;
        desc.n_flows = 1;
        for (uint32_t i = 0; i < desc.n_hosts && v6; i++)
            desc.hosts[i].cfg.ip.family = 0;
        f = start(UINT64_MAX);
        wft_run(f, WF_TIME_NEVER);
        wf_fabric_settle(f);
        ctr = wf_host_flow_ctr(f->flows[0]);
        assert_int_equal(ctr[WF_FLOW_MSGS], 1);
        assert_int_equal(ctr[WF_FLOW_RETX_PACKETS], 0);
        assert_true(wire.n > 20);
        for (unsigned i = 0; i < wire.n; i++)
            assert_int_equal(wf_ld16(wire.bytes[i] + ETH + 22), WF_VXLAN_UDP_PORT);
        end(f);
    }
}

/* --- what somebody else reads ----------------------------------------------------------------- */

static void write_pcap(const char *path)
{
    static const uint32_t head[6] = {0xa1b2c3d4, 4 << 16 | 2, 0, 0, 65535, 1};
    FILE *out = fopen(path, "wb");

    assert_non_null(out);
    assert_int_equal(fwrite(head, sizeof(head), 1, out), 1);
    for (uint32_t i = 0; i < wire.n; i++) {
        uint32_t rec[4] = {i, 0, wire.len[i], wire.len[i]};

        assert_int_equal(fwrite(rec, sizeof(rec), 1, out), 1);
        assert_int_equal(fwrite(wire.bytes[i], wire.len[i], 1, out), 1);
    }
    assert_int_equal(fclose(out), 0);
}

static void tshark_reads_the_wire(void **state)
{
    char path[] = "/tmp/weft-tunnel-XXXXXX", cmd[1024], line[512];
    uint8_t buf[WF_HDR_ROOM];
    struct wf_fabric *f;
    FILE *p;

    if (system("tshark --version >/dev/null 2>&1")) {
        print_message("skipped: no tshark\n");
        skip();
    }
    describe();
    spine_marks_all();
    f = start(0);
    send(f, buf, frame_to(2, 26, WF_ECN_ECT0, 0xc001, buf));
    wft_run(f, WF_TIME_NEVER);
    end(f);
    assert_int_not_equal(mkstemp(path), -1);
    write_pcap(path);
    snprintf(cmd, sizeof(cmd),
             "tshark -n -r %s -o ip.check_checksum:TRUE -T fields -E separator=/s "
             "-e ip.version -e ip.dsfield.dscp -e ip.dsfield.ecn -e ip.len -e ip.ttl "
             "-e ip.checksum.status -e ip.src -e ip.dst -e udp.dstport -e udp.length -e vxlan.vni "
             "-e infiniband.bth.opcode 2>/dev/null",
             path);
    p = popen(cmd, "r");
    assert_non_null(p);
    assert_non_null(fgets(line, sizeof(line), p));
    (void)pclose(p);
    (void)unlink(path);
    assert_string_equal(line, "4,4 26,26 3,2 110,60 63,64 1,1 172.31.0.0,10.0.0.1 "
                              "172.31.0.1,10.0.0.3 4789,4791 90,40 4660 4\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ecn_at_the_end_is_as_in_rfc_6040),
        cmocka_unit_test(fc_O14),
        cmocka_unit_test(fc_O14_dscp_and_not_ect),
        cmocka_unit_test(foreign_tunnel_frames),
        cmocka_unit_test(frames_of_one_link_within),
        cmocka_unit_test(a_short_frame_is_padded),
        cmocka_unit_test(the_source_port_is_the_inner_flow),
        cmocka_unit_test(the_mtu_is_the_outer_packets),
        cmocka_unit_test(broadcasts_reach_the_network),
        cmocka_unit_test(a_tag_outside_ends_with_the_tunnel),
        cmocka_unit_test(virtual_payload_behind_a_tag),
        cmocka_unit_test(what_the_end_does_not_take),
        cmocka_unit_test(model_hosts_write_over_a_tunnel),
        cmocka_unit_test(tshark_reads_the_wire),
    };

    wft_eal(96);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
