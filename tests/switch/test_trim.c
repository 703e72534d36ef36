/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packet trimming: the cases of the public test plan (size, DSCP, queue, asymmetric DSCP, packets
 * shorter than the size, lossless trim queue, counters), byte by byte, and what is never trimmed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"
#include "wire/edit.h"
#include "wire/icrc.h"

enum { HOSTS = 3, ETH = 14, SIZE = 256, DSCP = 48, QUEUE = 6, ROOM = 4500, MTU = 1024 };
enum { FRAME = ETH + 20 + 8 + 12 + MTU + 4 + 4 };

static struct wf_arena arena;
static struct wf_desc desc;

/* Two leaves; the queue 0 of every port takes four frames and then trims. */
static struct wf_switch_cfg *describe(void)
{
    wf_arena_free(&arena);
    desc = (struct wf_desc){.name = "trim",
                            .seed = 1,
                            .duration_ps = WF_KEY_AUTO,
                            .time_limit_ps = WF_PS_PER_S,
                            .time_scale = 1};
    wf_desc_leaf_spine(&desc, &arena, 2, 1, HOSTS);
    for (uint32_t i = 0; i < desc.n_switches; i++) {
        struct wf_switch_cfg *c = &desc.switches[i].cfg;

        c->latency_ps = 0;
        c->trim.size_bytes = SIZE;
        c->trim.dscp = DSCP;
        c->trim.queue = QUEUE;
        c->port.queue[0].limit_bytes = ROOM;
        c->port.queue[0].discard = WF_DISCARD_TRIM;
        c->port.queue[QUEUE].sched = WF_SCHED_STRICT;
    }
    wf_desc_address(&desc, &arena);
    return &desc.switches[0].cfg;
}

static void send(struct wf_fabric *f, uint32_t from, uint32_t to, uint8_t dscp, uint32_t payload)
{
    uint8_t buf[WF_ROCE_HDR_MAX];
    uint32_t len, hdr = wft_roce(f, from, to, dscp, WF_ECN_ECT0, 1, payload, buf, &len);

    wft_send(f, from, wf_fabric_now_ps(f), 0, buf, hdr, len);
}

/* Two hosts send n packets each to a third at the same time. */
static void congest(struct wf_fabric *f, uint32_t to, uint8_t dscp, uint32_t payload, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        send(f, 0, to, dscp, payload);
        send(f, 1, to, dscp, payload);
    }
    wft_run(f, WF_TIME_NEVER);
}

static void end(struct wf_fabric *f)
{
    wft_check(f);
    wf_fabric_free(f);
}

struct got {
    uint32_t whole, trimmed, other;
};

static struct got got(struct wf_fabric *f, uint32_t host, uint32_t whole_len)
{
    const struct wft_probe *h = wft_probe(f, host);
    struct got g = {0};

    for (uint32_t i = 0; i < h->n_seen; i++) {
        g.whole += h->seen[i].len == whole_len && h->seen[i].p.dscp == 0;
        g.trimmed += h->seen[i].len == SIZE && h->seen[i].p.dscp == DSCP;
    }
    g.other = h->n_seen - g.whole - g.trimmed;
    return g;
}

static const struct wft_seen *first_of(struct wf_fabric *f, uint32_t host, uint8_t dscp)
{
    const struct wft_probe *h = wft_probe(f, host);

    for (uint32_t i = 0; i < h->n_seen; i++)
        if (h->seen[i].p.dscp == dscp)
            return &h->seen[i];
    fail();
    return NULL;
}

/* Cases 2 and 3: nothing is lost, what is trimmed has the size and the DSCP, went by its queue, and
 * all counters agree. */
static void all_arrive_whole_or_trimmed(void **state)
{
    struct wf_fabric *f;
    const struct wf_port *out;
    struct got g;

    describe();
    f = wft_build(&desc);
    congest(f, 2, 0, MTU, 50);
    out = &wf_fabric_switch(f, 0)->ports[2];
    g = got(f, 2, FRAME - WF_FCS_LEN);
    assert_int_equal(g.whole + g.trimmed, 100);
    assert_int_equal(g.other, 0);
    assert_in_range(g.trimmed, 40, 70); /* half of 2:1, and what trimmed packets take */
    assert_int_equal(wf_fabric_ctr(f, WF_FABRIC_DROPPED), 0);
    assert_int_equal(out->ctr[WF_PORT_TRIM_FRAMES], g.trimmed);
    assert_int_equal(out->ctr[WF_PORT_TRIM_TX_FRAMES], g.trimmed);
    assert_int_equal(out->ctr[WF_PORT_TRIM_DROP_FRAMES], 0);
    assert_int_equal(out->q[0].ctr[WF_QUEUE_TRIM_FRAMES], g.trimmed);
    assert_int_equal(out->q[0].ctr[WF_QUEUE_TRIM_TX_FRAMES], g.trimmed);
    assert_int_equal(out->q[0].ctr[WF_QUEUE_DROP_FRAMES], g.trimmed); /* as SAI counts */
    assert_int_equal(out->q[QUEUE].ctr[WF_QUEUE_TX_FRAMES], g.trimmed);
    assert_int_equal(out->q[QUEUE].ctr[WF_QUEUE_TRIM_FRAMES], 0);
    assert_int_equal(out->q[0].ctr[WF_QUEUE_TX_FRAMES], g.whole);
    assert_int_equal(out->q[0].ctr[WF_QUEUE_MAX_BYTES], ROOM / FRAME * FRAME);
    end(f);
}

/* The bytes: everything up to the size as it was, but for DSCP, TTL, MACs and the lengths. */
static void check_lengths(int ip_length, bool v6)
{
    const struct wft_seen *s;
    struct wf_fabric *f;
    const uint8_t *ip;

    describe();
    for (uint32_t i = 0; i < desc.n_switches; i++)
        desc.switches[i].cfg.trim.ip_length = ip_length;
    f = wft_build(&desc);
    for (uint32_t i = 0; i < 30; i++)
        for (uint32_t from = 0; from < 2; from++) {
            const struct wf_host_cfg *a = &desc.hosts[from].cfg, *b = &desc.hosts[5].cfg;
            struct wf_roce h = {.encap = v6 ? WF_ROCE_V2_IP6 : WF_ROCE_V2_IP4,
                                .ttl = 64,
                                .sport = 0xc000,
                                .bth = {.opcode = WF_OP_WRITE_MIDDLE, .pkey = 0xffff, .dqpn = 9},
                                .payload_len = MTU};
            uint8_t buf[WF_ROCE_HDR_MAX];
            uint32_t hdr;

            memcpy(h.src_mac, a->mac, 6);
            memcpy(h.dst_mac, wf_fabric_switch(f, 0)->mac, 6);
            memcpy(h.src_ip, v6 ? a->ip6.addr : a->ip.addr, 16);
            memcpy(h.dst_ip, v6 ? b->ip6.addr : b->ip.addr, 16);
            hdr = wf_roce_hdr_build(buf, sizeof(buf), &h);
            wft_send(f, from, 0, 0, buf, hdr, wf_roce_frame_len(hdr, MTU));
        }
    wft_run(f, WF_TIME_NEVER);
    s = first_of(f, 5, DSCP);
    ip = s->bytes + ETH;
    assert_int_equal(s->len, SIZE);
    if (v6)
        assert_int_equal(wf_ld16(ip + 4),
                         ip_length == WF_TRIM_LENGTH_UPDATED ? SIZE - ETH - 40 : 8 + 12 + MTU + 4);
    else
        assert_int_equal(wf_ld16(ip + 2),
                         ip_length == WF_TRIM_LENGTH_UPDATED ? SIZE - ETH : 20 + 8 + 12 + MTU + 4);
    if (!v6)
        assert_int_equal(wf_ld16(ip + 10), wf_ip4_checksum(ip, 20));
    ip += v6 ? 40 : 20;
    assert_int_equal(wf_ld16(ip + 4), 8 + 12 + MTU + 4); /* UDP's, as it was */
    assert_int_equal(s->p.ttl, 61);
    assert_int_equal(s->p.ecn, WF_ECN_NOT_ECT);
    assert_int_equal(s->p.icrc_off, 0);
    end(f);
}

static void lengths_are_as_told(void **state)
{
    for (int v6 = 0; v6 < 2; v6++) {
        check_lengths(WF_TRIM_LENGTH_UPDATED, v6);
        check_lengths(WF_TRIM_LENGTH_KEPT, v6);
    }
}

/* What is real is cut too, and what is left of it is what was there. */
static void real_bytes_are_kept(void **state)
{
    uint8_t frame[ETH + 20 + 8 + 12 + MTU + 4], out[sizeof(frame)];
    struct wf_switch_cfg *c;
    struct wf_fabric *f;
    struct wf_pkt *pkt = NULL;
    uint32_t len, hdr;

    c = describe();
    c->port.queue[QUEUE].sched = WF_SCHED_DWRR; /* so that some wait */
    f = wft_build(&desc);
    hdr = wft_roce(f, 1, 2, 0, WF_ECN_ECT0, 1, MTU, frame, &len);
    for (uint32_t i = hdr; i < len; i++)
        frame[i] = (uint8_t)(i * 7);
    for (uint32_t i = 0; i < 30; i++) {
        send(f, 0, 2, 0, MTU);
        wft_send(f, 1, 0, 0, frame, len, len);
    }
    for (uint64_t t = 0; !pkt && t < 10; t++) { /* until one waits in the trim queue */
        const struct wf_fifo_node *n;

        wft_run(f, t * WF_PS_PER_US);
        for (n = wf_fabric_switch(f, 0)->ports[2].q[QUEUE].fifo.head; n && !pkt; n = n->next) {
            pkt = WF_CONTAINER_OF(n, struct wf_pkt, q);
            if (pkt->payload != WF_PAYLOAD_REAL)
                pkt = NULL;
        }
    }
    assert_non_null(pkt);
    assert_int_equal(wf_pkt_real_bytes(pkt, out, sizeof(out)), SIZE);
    assert_memory_equal(out + ETH + 20 + 8, frame + ETH + 20 + 8, SIZE - ETH - 20 - 8);
    wft_run(f, WF_TIME_NEVER);
    end(f);
}

/* Case 3, about 100 bytes: not cut, but of another DSCP. */
static void short_packets_get_the_dscp_only(void **state)
{
    struct wf_fabric *f;
    struct got g;

    describe();
    for (uint32_t i = 0; i < desc.n_switches; i++)
        desc.switches[i].cfg.port.queue[0].limit_bytes = 500;
    f = wft_build(&desc);
    congest(f, 2, 0, 44, 50);
    g = got(f, 2, 102);
    assert_int_equal(g.whole + g.other, 100);
    assert_true(g.whole > 0 && g.other > 20);
    assert_int_equal(first_of(f, 2, DSCP)->len, 102);
    assert_int_equal(first_of(f, 2, DSCP)->p.icrc_off, 102 - WF_ICRC_LEN); /* still whole */
    end(f);
}

/* Asymmetric: the DSCP says at which hop; hosts' ports say 10, those to spines 20. */
static void the_dscp_tells_the_hop(void **state)
{
    for (int up = 0; up < 2; up++) {
        struct wf_switch_cfg *c = describe();
        struct wf_switch_port_cfg to_spine;
        struct wf_fabric *f;

        c->trim.dscp_mode = WF_TRIM_DSCP_FROM_TC;
        c->trim.tc = 5;
        c->port.tc_to_dscp[5] = 10;
        to_spine = c->port;
        to_spine.tc_to_dscp[5] = 20;
        desc.links[2 * HOSTS].port_cfg[0] = &to_spine; /* leaf0-spine0 */
        f = wft_build(&desc);
        congest(f, up ? 5 : 2, 0, MTU, 50);
        assert_int_equal(first_of(f, up ? 5 : 2, up ? 20 : 10)->len, SIZE);
        for (uint32_t i = 0; i < wft_probe(f, up ? 5 : 2)->n_seen; i++)
            assert_int_not_equal(wft_probe(f, up ? 5 : 2)->seen[i].p.dscp, up ? 10 : 20);
        end(f);
    }
}

/* dynamic: by the DSCP map, 48 is class 6, which the maps put into queue 2. */
static void the_queue_may_follow_the_dscp(void **state)
{
    struct wf_switch_cfg *c = describe();
    struct wf_fabric *f;

    c->trim.queue_mode = WF_TRIM_QUEUE_DYNAMIC;
    c->port.tc_to_queue[6] = 2;
    f = wft_build(&desc);
    congest(f, 2, 0, MTU, 50);
    assert_true(wf_fabric_switch(f, 0)->ports[2].q[2].ctr[WF_QUEUE_TX_FRAMES] > 20);
    assert_int_equal(wf_fabric_switch(f, 0)->ports[2].q[QUEUE].ctr[WF_QUEUE_TX_FRAMES], 0);
    end(f);
}

/* dynamic, and the port out has a map of its own: that one, as for all packets. */
static void the_queue_is_that_of_the_port_out(void **state)
{
    struct wf_switch_cfg *c = describe();
    struct wf_switch_port_cfg out;
    struct wf_fabric *f;

    c->trim.queue_mode = WF_TRIM_QUEUE_DYNAMIC;
    c->port.tc_to_queue[6] = 2;
    out = c->port;
    out.tc_to_queue[6] = 5;
    desc.links[2].port_cfg[desc.links[2].a.is_host] = &out;
    f = wft_build(&desc);
    congest(f, 2, 0, MTU, 50);
    assert_true(wf_fabric_switch(f, 0)->ports[2].q[5].ctr[WF_QUEUE_TX_FRAMES] > 20);
    assert_int_equal(wf_fabric_switch(f, 0)->ports[2].q[2].ctr[WF_QUEUE_TX_FRAMES], 0);
    end(f);
}

/* Two tags and all 40 bytes of IPv4 options end at byte 82: a size of less cuts no header, and the
 * packet is dropped. */
static void no_ip_header_is_cut(void **state)
{
    for (int fits = 0; fits < 2; fits++) {
        struct wf_switch_cfg *c = describe();
        const struct wf_port *out;
        struct wf_fabric *f;

        c->trim.size_bytes = fits ? 82 : 81;
        f = wft_build(&desc);
        for (uint32_t i = 0; i < 60; i++) {
            uint8_t hdr[WF_ROCE_HDR_MAX], b[WF_ROCE_HDR_MAX + 48] = {0};
            uint32_t len, n = wft_roce(f, i % 2, 2, 0, WF_ECN_ECT0, i, MTU, hdr, &len);
            uint8_t *ip = b + ETH + 8;

            memcpy(b, hdr, 12);
            memcpy(b + 12, "\x81\x00\x00\x0a\x81\x00\x00\x0b\x08\x00", 10);
            memcpy(ip, hdr + ETH, 20);
            memcpy(ip + 60, hdr + ETH + 20, n - ETH - 20);
            ip[0] = 0x4f;
            wf_st16(ip + 2, (uint16_t)(wf_ld16(ip + 2) + 40));
            wf_st16(ip + 10, wf_ip4_checksum(ip, 60));
            wft_send(f, i % 2, 0, 0, b, n + 48, len + 48);
        }
        wft_run(f, WF_TIME_NEVER);
        out = &wf_fabric_switch(f, 0)->ports[2];
        assert_int_equal(out->ctr[WF_PORT_TRIM_FRAMES] > 10, fits);
        assert_int_equal(wf_fabric_ctr(f, WF_FABRIC_DROPPED) > 10, !fits);
        assert_int_equal(out->ctr[WF_PORT_TRIM_FRAMES] != 0, fits);
        end(f);
    }
}

/* When its own queue is full too, it is dropped: trimmed = sent + dropped. */
static void a_full_trim_queue_drops(void **state)
{
    struct wf_switch_cfg *c = describe();
    const struct wf_port *out;
    struct wf_fabric *f;
    struct got g;

    c->port.queue[QUEUE].sched = WF_SCHED_DWRR;
    c->port.queue[QUEUE].weight = 1;
    c->port.queue[0].weight = 100;
    c->port.queue[QUEUE].limit_bytes = 2 * (SIZE + WF_FCS_LEN);
    f = wft_build(&desc);
    congest(f, 2, 0, MTU, 100);
    out = &wf_fabric_switch(f, 0)->ports[2];
    g = got(f, 2, FRAME - WF_FCS_LEN);
    assert_true(g.trimmed > 0);
    assert_true(out->ctr[WF_PORT_TRIM_DROP_FRAMES] > 10);
    assert_int_equal(out->ctr[WF_PORT_TRIM_TX_FRAMES], g.trimmed);
    assert_int_equal(out->ctr[WF_PORT_TRIM_FRAMES], g.trimmed + out->ctr[WF_PORT_TRIM_DROP_FRAMES]);
    assert_int_equal(out->q[0].ctr[WF_QUEUE_TRIM_DROP_FRAMES], out->ctr[WF_PORT_TRIM_DROP_FRAMES]);
    assert_int_equal(wf_fabric_ctr(f, WF_FABRIC_DROPPED), out->ctr[WF_PORT_TRIM_DROP_FRAMES]);
    assert_int_equal(g.whole + g.trimmed + out->ctr[WF_PORT_TRIM_DROP_FRAMES], 200);
    end(f);
}

/* WRED of the trim queue drops them all, at the ports that they came in by: they count where they
 * were trimmed. */
static void wred_drops_trimmed_packets(void **state)
{
    struct wf_switch_cfg *c = describe();
    const struct wf_port *p;
    struct wf_fabric *f;

    c->port.queue[QUEUE].ecn = (struct wf_ecn_cfg){.drop = true, .pmax_ppm = 1000000};
    f = wft_build(&desc);
    congest(f, 2, 0, MTU, 50);
    p = wf_fabric_switch(f, 0)->ports;
    assert_true(p[2].ctr[WF_PORT_TRIM_FRAMES] > 20);
    assert_int_equal(p[2].ctr[WF_PORT_TRIM_DROP_FRAMES], p[2].ctr[WF_PORT_TRIM_FRAMES]);
    assert_int_equal(p[2].q[0].ctr[WF_QUEUE_TRIM_DROP_FRAMES], p[2].ctr[WF_PORT_TRIM_FRAMES]);
    assert_int_equal(p[0].drops[WF_DROP_WRED] + p[1].drops[WF_DROP_WRED],
                     p[2].ctr[WF_PORT_TRIM_FRAMES]);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(p[i].ctr[WF_PORT_TRIM_DROP_FRAMES], 0);
    end(f);
}

/* A link that goes down under waiting trimmed packets: they count as dropped. */
static void a_dead_link_drops_trimmed_packets(void **state)
{
    struct wf_switch_cfg *c = describe();
    struct wf_fabric *f;
    struct wf_port *out;

    c->port.queue[QUEUE].sched = WF_SCHED_DWRR;
    c->port.queue[QUEUE].weight = 1;
    f = wft_build(&desc);
    for (uint32_t i = 0; i < 100; i++) {
        send(f, 0, 2, 0, MTU);
        send(f, 1, 2, 0, MTU);
    }
    wft_run(f, 5 * WF_PS_PER_US);
    out = &wf_fabric_switch(f, 0)->ports[2];
    assert_true(out->q[QUEUE].fifo.count > 2);
    wf_fabric_link_set(f, out->link, false);
    assert_int_equal(out->ctr[WF_PORT_TRIM_FRAMES],
                     out->ctr[WF_PORT_TRIM_TX_FRAMES] + out->ctr[WF_PORT_TRIM_DROP_FRAMES]);
    wft_run(f, WF_TIME_NEVER);
    end(f);
}

enum { VID = 10, TAG = 4 };

/* Hosts 0 and 1 of leaf0, and host 5 of leaf1, which is behind a trunk when `tagged`; trunks
 * between the switches. */
static void with_vlans(int ip_length, bool l2, bool tagged)
{
    static struct wf_switch_port_cfg access, trunk;
    struct wf_switch_cfg *c = describe();

    for (uint32_t i = 0; i < desc.n_switches; i++) {
        desc.switches[i].cfg.trim.ip_length = ip_length;
        desc.switches[i].cfg.forwarding = l2 ? WF_FORWARD_L2 : WF_FORWARD_ROUTED;
    }
    access = trunk = c->port;
    access.vlan = (struct wf_vlan_cfg){.mode = WF_VLAN_ACCESS, .pvid = VID};
    trunk.vlan = (struct wf_vlan_cfg){.mode = WF_VLAN_TRUNK, .pvid = 1, .svi = VID};
    for (uint32_t i = 0; i < desc.n_links; i++) {
        bool to_host = desc.links[i].a.is_host || desc.links[i].b.is_host;
        const struct wf_switch_port_cfg *of = to_host ? &access : &trunk;

        if (tagged && i == 5)
            of = &trunk;
        if (l2 || i == 5)
            desc.links[i].port_cfg[0] = desc.links[i].port_cfg[1] = of;
        if (to_host)
            desc.links[i].port_cfg[!desc.links[i].a.is_host ? 1 : 0] = NULL;
    }
}

static void to_behind_the_trunk(struct wf_fabric *f, bool l2)
{
    for (uint32_t i = 0; i < 30; i++)
        for (uint32_t from = 0; from < 2; from++) {
            uint8_t buf[WF_ROCE_HDR_MAX];
            uint32_t len, hdr = wft_roce(f, from, 5, 0, WF_ECN_ECT0, i, MTU, buf, &len);

            if (l2)
                memcpy(buf, desc.hosts[5].cfg.mac, 6);
            wft_send(f, from, 0, 0, buf, hdr, len);
        }
    wft_run(f, WF_TIME_NEVER);
}

/* Trimmed within the fabric, then a tag is taken off or put on: what a switch knew of it before it
 * was cut holds on, with both lengths, and a model host takes it for what it is. */
static void check_tags(int ip_length, bool l2, bool tagged)
{
    uint32_t tag = tagged ? TAG : 0, size = l2 ? SIZE - TAG + tag : SIZE + tag;
    const struct wft_seen *s;
    struct wf_fabric *f;
    const struct wf_port *p;

    with_vlans(ip_length, l2, tagged);
    f = wft_build(&desc);
    to_behind_the_trunk(f, l2);
    s = first_of(f, 5, DSCP);
    assert_int_equal(s->len, size);
    assert_int_equal(s->p.flags & WF_P_VLAN, tagged ? WF_P_VLAN : 0);
    assert_int_equal(s->p.vid, tagged ? VID : 0);
    assert_int_equal(s->p.n_tags, tagged);
    assert_int_equal(s->p.l3_off, ETH + tag);
    assert_true(s->p.flags & WF_P_BTH && s->p.flags & WF_P_ROCEV2);
    assert_int_equal(s->p.bth_off, ETH + tag + 28);
    assert_int_equal(s->p.opcode, s->bytes[ETH + tag + 28]);
    assert_int_equal(s->p.payload_off, ETH + tag + 40);
    assert_int_equal(s->p.payload_len, size - s->p.payload_off);
    assert_int_equal(s->p.icrc_off, 0);
    assert_int_equal(wf_ld16(s->bytes + ETH + tag - 2), 0x0800);
    assert_int_equal(wf_ld16(s->bytes + s->p.l3_off + 2), ip_length == WF_TRIM_LENGTH_UPDATED
                                                              ? s->len - s->p.l3_off
                                                              : 20 + 8 + 12 + MTU + 4);
    end(f);
    with_vlans(ip_length, l2, tagged);
    f = wft_build_some(&desc, 1 << 5);
    to_behind_the_trunk(f, l2);
    p = &wf_fabric_host(f, 5)->ports[0];
    assert_true(p->ctr[WF_PORT_TRIM_RX_FRAMES] > 10);
    assert_int_equal(p->ctr[WF_PORT_TRIM_RX_FRAMES],
                     wf_fabric_switch(f, 0)->ports[HOSTS].ctr[WF_PORT_TRIM_TX_FRAMES]);
    assert_int_equal(p->drops[WF_DROP_MALFORMED], 0);
    end(f);
}

static void tags_come_and_go_behind_a_trim(void **state)
{
    for (int kept = 0; kept < 2; kept++)
        for (int way = 0; way < 3; way++) /* bridged: the tag goes or stays; routed: one comes */
            check_tags(kept ? WF_TRIM_LENGTH_KEPT : WF_TRIM_LENGTH_UPDATED, way<2, way> 0);
}

/* Lossless groups, queues that are not told to, and what is not IP unicast. */
static void others_are_dropped_or_paused(void **state)
{
    for (int what = 0; what < 4; what++) {
        struct wf_switch_cfg *c = describe();
        struct wf_fabric *f;
        uint8_t buf[WF_ROCE_HDR_MAX];
        uint32_t len, hdr;

        c->port.pg[0].lossless = what == 0;
        c->port.pg[0].xoff_bytes = 20000;
        f = wft_build(&desc);
        for (uint32_t i = 0; i < 100; i++)
            for (uint32_t from = 0; from < 2; from++) {
                hdr = wft_roce(f, from, 2, what == 1 ? 8 : 0, WF_ECN_ECT0, 1, MTU, buf, &len);
                if (what == 2)
                    buf[12] = 0x88; /* an EtherType that nobody knows */
                if (what == 3)
                    memcpy(buf, "\x01\x00\x5e\x01\x01\x01", 6);
                wft_send(f, from, 0, 0, buf, hdr, len);
            }
        wft_run(f, WF_TIME_NEVER);
        assert_int_equal(wf_fabric_switch(f, 0)->ports[2].ctr[WF_PORT_TRIM_FRAMES], 0);
        end(f);
    }
}

/* A model host that gets one knows what it is, and takes it for no damage. */
static void a_model_host_knows_a_trimmed_packet(void **state)
{
    struct wf_fabric *f;
    const struct wf_port *p;

    describe();
    f = wft_build_some(&desc, 1 << 2);
    congest(f, 2, 0, MTU, 50);
    p = &wf_fabric_host(f, 2)->ports[0];
    assert_int_equal(p->ctr[WF_PORT_TRIM_RX_FRAMES],
                     wf_fabric_switch(f, 0)->ports[2].ctr[WF_PORT_TRIM_FRAMES]);
    assert_true(p->ctr[WF_PORT_TRIM_RX_FRAMES] > 20);
    assert_int_equal(p->drops[WF_DROP_ICRC] + p->drops[WF_DROP_MALFORMED], 0);
    end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_arrive_whole_or_trimmed),
        cmocka_unit_test(lengths_are_as_told),
        cmocka_unit_test(real_bytes_are_kept),
        cmocka_unit_test(short_packets_get_the_dscp_only),
        cmocka_unit_test(the_dscp_tells_the_hop),
        cmocka_unit_test(the_queue_may_follow_the_dscp),
        cmocka_unit_test(the_queue_is_that_of_the_port_out),
        cmocka_unit_test(no_ip_header_is_cut),
        cmocka_unit_test(a_full_trim_queue_drops),
        cmocka_unit_test(wred_drops_trimmed_packets),
        cmocka_unit_test(a_dead_link_drops_trimmed_packets),
        cmocka_unit_test(tags_come_and_go_behind_a_trim),
        cmocka_unit_test(others_are_dropped_or_paused),
        cmocka_unit_test(a_model_host_knows_a_trimmed_packet),
    };

    wft_eal(96);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
