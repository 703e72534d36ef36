/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telemetry: what each switch writes, what it costs on the wire, what comes back, and that nothing
 * of it leaves by an attachment. h0 (on leaf0) sends to h2 (on leaf1) by way of one spine, under
 * HPCC; h1 and h3 are attached, without devices.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "attach/ingress.h"
#include "cc/laws.h"
#include "host/cc_law.h"
#include "net/int.h"
#include "support.h"
#include "wire/edit.h"

enum { MTU = 1024, HDR = 14 + 20 + 8 + 12, SEEN_MAX = 512 };

/* Frames of RoCE that come to a port. */
struct seen {
    struct wf_tap tap;
    uint32_t n;
    struct {
        uint32_t frame_len, hops;
        uint64_t t_ps;
        struct wf_int_hop hop[WF_INT_HOPS];
        uint8_t resv7;
    } at[SEEN_MAX];
};

static struct wf_arena arena;
static struct wf_desc desc;
static struct wf_edges edges;
static struct wf_fabric *f;
static struct wf_cc_use use;
static struct seen to_h2, to_h0;

static void see(struct wf_tap *tap, struct wf_port *port, struct wf_pkt *pkt, enum wf_tap_dir dir,
                enum wf_reason why)
{
    struct seen *s = WF_CONTAINER_OF(tap, struct seen, tap);

    if (dir != WF_TAP_RX || !(pkt->p.flags & WF_P_BTH) || s->n == SEEN_MAX)
        return;
    s->at[s->n].frame_len = pkt->frame_len;
    s->at[s->n].t_ps = wf_now(port);
    s->at[s->n].resv7 = wf_pkt_bytes(pkt)[pkt->p.bth_off + 8] & 0x7f;
    s->at[s->n].hops = wf_int_get(pkt, s->at[s->n].hop);
    s->n++;
}

static int begin(void **state)
{
    struct wf_fabric_opts opts = {.lcores = 1};
    struct wf_err err;

    wf_arena_free(&arena);
    memset(&to_h2, 0, sizeof(to_h2));
    memset(&to_h0, 0, sizeof(to_h0));
    desc = (struct wf_desc){.name = "int",
                            .seed = 1,
                            .duration_ps = WF_KEY_AUTO,
                            .time_limit_ps = 1000 * WF_PS_PER_S,
                            .time_scale = 1};
    wf_desc_leaf_spine(&desc, &arena, 2, 1, 2);
    wf_desc_address(&desc, &arena);
    use = (struct wf_cc_use){.name = "hpcc", .law = wf_cc_find("hpcc")};
    use.cfg = wf_arena_alloc(&arena, use.law->cfg_size + 1);
    wf_keyset_defaults(wf_cc_keyset(use.law, &arena), (void *)(uintptr_t)use.cfg);
    desc.flows = WF_ARENA_ARRAY(&arena, struct wf_desc_flow, 1);
    desc.n_flows = 1;
    desc.flows[0] = (struct wf_desc_flow){.name = "f", .from = 0, .to = 2};
    wf_keyset_defaults(&wf_flow_keys, &desc.flows[0].cfg);
    desc.flows[0].cfg.path_mtu = MTU;
    desc.flows[0].cfg.size_bytes = 20 * MTU;
    desc.flows[0].cfg.control = &use;
    desc.hosts[1].cfg.attach.type = desc.hosts[3].cfg.attach.type = WF_ATTACH_ETHDEV;
    desc.hosts[1].cfg.attach.fifo_frames = desc.hosts[3].cfg.attach.fifo_frames = 400;
    wf_edges_init(&edges, NULL, NULL, NULL);
    wf_edges_opts(&edges, &desc, &opts);
    if (wf_fabric_build(&f, &desc, &opts, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(wf_edges_repeat(&edges, f, &err), 0);
    to_h2.tap.fn = to_h0.tap.fn = see;
    wf_port_tap(&wf_fabric_host(f, 2)->ports[0], &to_h2.tap);
    wf_port_tap(&wf_fabric_host(f, 0)->ports[0], &to_h0.tap);
    return 0;
}

static int end(void **state)
{
    wft_check(f);
    wf_edges_close(&edges);
    wf_fabric_free(f);
    return 0;
}

/* 100 Gb/s, 80 ps a byte: the first frame leaves each switch as soon as it has come and been
 * looked at, with nothing queued; of what the port has sent it is itself the first. */
static void what_switches_write(void **state)
{
    const struct wf_int_hop *h = to_h2.at[0].hop;
    uint32_t first = HDR + 16 + WF_INT_LEN + MTU + 4 + 4;

    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(to_h2.n, 20);
    assert_int_equal(to_h2.at[0].frame_len, first);
    assert_int_equal(to_h2.at[1].frame_len, first - 16);
    for (uint32_t i = 0; i < 20; i++) {
        assert_int_equal(to_h2.at[i].hops, 3);
        assert_int_equal(to_h2.at[i].resv7, WF_INT_MAGIC);
        for (int k = 0; k < 3; k++) {
            assert_int_equal(to_h2.at[i].hop[k].rate_kbps, 100000000);
            assert_int_equal(to_h2.at[i].hop[k].qlen_bytes, 0);
            assert_int_equal(to_h2.at[i].hop[k].tx_bytes, first + i * (first - 16));
        }
    }
    for (int k = 1; k < 3; k++) { /* serialisation, 500 ns of cable, 500 ns of switch */
        uint64_t hop_ps = (8 + first) * 80ull + 1000000;

        assert_in_range(h[k].ts_ns - h[k - 1].ts_ns, hop_ps / 1000, hop_ps / 1000 + 1);
    }
    assert_in_range(to_h2.at[0].t_ps / 1000 - h[2].ts_ns, ((8 + first) * 80ull + 500000) / 1000,
                    ((8 + first) * 80ull + 500000) / 1000 + 1);
}

static void acks_bring_it_back(void **state)
{
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(to_h0.n, 20);
    for (uint32_t i = 0; i < 20; i++) {
        assert_int_equal(to_h0.at[i].frame_len, HDR + 4 + WF_INT_LEN + 4 + 4);
        assert_int_equal(to_h0.at[i].hops, 3);
        assert_memory_equal(to_h0.at[i].hop, to_h2.at[i].hop, 3 * sizeof(struct wf_int_hop));
    }
}

/* A frame of telemetry for an attached host: dropped by name, and so is not given out. */
static void never_out_of_an_attachment(void **state)
{
    const struct wf_host_cfg *a = &desc.hosts[0].cfg, *b = &desc.hosts[1].cfg;
    struct wf_roce h = {.dscp = 26,
                        .ttl = 64,
                        .sport = 0xc001,
                        .bth = {.opcode = WF_OP_WRITE_MIDDLE, .pkey = 0xffff, .dqpn = 5},
                        .payload_len = WF_INT_LEN + 256};

    memcpy(h.src_mac, a->mac, 6);
    memcpy(h.dst_mac, b->mac, 6);
    memcpy(h.src_ip, a->ip.addr, 16);
    memcpy(h.dst_ip, b->ip.addr, 16);
    for (int with = 0; with < 2; with++) {
        struct wf_pkt *pkt = wf_pkt_new(f->nets, WF_HDR_ROOM_INT);
        struct wf_port *port = &wf_fabric_host(f, 0)->ports[0];

        pkt->caplen = (uint16_t)wf_roce_hdr_build(pkt->data, WF_HDR_ROOM, &h);
        pkt->frame_len = wf_roce_frame_len(pkt->caplen, h.payload_len) + WF_FCS_LEN;
        pkt->payload = WF_PAYLOAD_NONE;
        assert_int_equal(wf_pkt_parse(pkt), WF_DROP_NONE);
        if (with)
            wf_int_add(pkt, false, NULL, 0);
        pkt->ready_ps = wf_fabric_now_ps(f);
        wf_pkt_generated(f->nets, pkt);
        wf_port_enqueue(port, pkt);
        wft_run(f, wf_fabric_now_ps(f) + 100 * WF_PS_PER_US);
        assert_int_equal(wf_fabric_host(f, 1)->ports[0].drops[WF_DROP_EDGE_INT], with);
        assert_int_equal(edges.edges[0]->fifo_count, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_switches_write, begin, end),
        cmocka_unit_test_setup_teardown(acks_bring_it_back, begin, end),
        cmocka_unit_test_setup_teardown(never_out_of_an_attachment, begin, end),
    };

    wft_eal(256);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
