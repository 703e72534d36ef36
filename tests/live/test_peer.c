/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an edge owes a real peer over a kernel interface: bytes, single copies, pauses, and an end.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cursor.h"
#include "live.h"
#include "support.h"

#define TEST_ETHERTYPE    0x88b5 /* local experimental (802) */
#define CONTROL_ETHERTYPE 0x8808

static struct lv_ns ns[4];
static struct lv live;
static struct lv_tap tap;
static const uint8_t everyone[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

static int teardown(void **state)
{
    lv_abandon(&live);
    for (int i = 0; i < 4; i++)
        lv_ns_drop(&ns[i]);
    return 0;
}

/* n namespaces on an l2 fabric of two leaves and two spines, MACs known. */
static void set_up(uint32_t n, unsigned mtu)
{
    lv_desc(&live, 2, 2, (n + 1) / 2);
    for (uint32_t i = 0; i < live.desc.n_switches; i++) {
        struct wf_switch_cfg *c = &live.desc.switches[i].cfg;

        c->forwarding = WF_FORWARD_L2;
        c->port.trust = WF_TRUST_PCP;
    }
    for (uint32_t i = 0; i < n; i++) {
        lv_ns_make(&ns[i], i, mtu, NULL, NULL);
        lv_attach(&live, i, &ns[i]);
        memcpy(live.desc.hosts[i].cfg.mac, ns[i].mac, 6);
        live.desc.hosts[i].cfg.mtu = mtu;
    }
}

static void fill(uint8_t *f, const uint8_t dst[6], const uint8_t src[6], size_t len, unsigned seed)
{
    memcpy(f, dst, 6);
    memcpy(f + 6, src, 6);
    wf_st16(f + 12, TEST_ETHERTYPE);
    for (size_t i = 14; i < len; i++)
        f[i] = (uint8_t)(i * 131 + seed + (i >> 8));
}

/* A priority-tagged frame, so that the leaf and the edge see a class. */
static void fill_prio(uint8_t *f, const uint8_t dst[6], const uint8_t src[6], unsigned prio)
{
    memcpy(f, dst, 6);
    memcpy(f + 6, src, 6);
    wf_st16(f + 12, 0x8100);
    wf_st16(f + 14, (uint16_t)(prio << 13));
    wf_st16(f + 16, TEST_ETHERTYPE);
}

/* fc_E14: short, RoCE's and jumbo frames, both ways, every byte. */
static void frames_pass_to_the_byte(void **state)
{
    static const size_t lens[] = {14, 15, 42, 60, 61, 128, 129, 1086, 4096, 4170, 8900, 9214};
    uint8_t out[9300], in[9300];

    set_up(2, 9200);
    lv_start(&live);
    lv_go(&live);
    for (unsigned i = 0; i < 2 * sizeof(lens) / sizeof(lens[0]); i++) {
        const struct lv_ns *a = &ns[i & 1], *b = &ns[~i & 1];
        size_t len = lens[i / 2];

        fill(out, b->mac, a->mac, len, i);
        lv_send(a, out, len);
        assert_int_equal(lv_recv(b, TEST_ETHERTYPE, in, sizeof(in), 5000), len);
        assert_memory_equal(in, out, len);
    }
    lv_stop(&live);
    assert_int_equal(wf_fabric_ctr(live.f, WF_FABRIC_DROPPED), 0);
    lv_free(&live);
}

static void a_broadcast_arrives_once_at_each_other_host(void **state)
{
    uint8_t out[100], in[200];

    set_up(4, 1500);
    lv_start(&live);
    lv_go(&live);
    fill(out, everyone, ns[1].mac, sizeof(out), 1);
    lv_send(&ns[1], out, sizeof(out));
    for (int i = 0; i < 4; i++) {
        int want = i == 1 ? -1 : (int)sizeof(out);

        assert_int_equal(lv_recv(&ns[i], TEST_ETHERTYPE, in, sizeof(in), i == 1 ? 100 : 5000),
                         want);
        assert_int_equal(lv_recv(&ns[i], TEST_ETHERTYPE, in, sizeof(in), 100), -1);
    }
    lv_stop(&live);
    lv_free(&live);
}

static void lossless_bottleneck(enum wf_attach_pfc pfc)
{
    set_up(2, 1500);
    for (uint32_t i = 0; i < live.desc.n_switches; i++) {
        struct wf_switch_cfg *c = &live.desc.switches[i].cfg;

        c->port.pg[3].lossless = true;
        c->port.pg[3].xoff_bytes = 20000;
    }
    live.desc.hosts[0].cfg.attach.pfc = pfc;
    live.desc.links[0].cfg.rate_bps = 10000000000ull;
    live.desc.links[1].cfg.rate_bps = 50000000;
    lv_start(&live);
    lv_go(&live);
}

static void flood(unsigned n)
{
    uint8_t out[1000] = {0};

    fill_prio(out, ns[1].mac, ns[0].mac, 3);
    for (unsigned i = 0; i < n; i++) {
        wf_st32(out + 18, i);
        lv_send(&ns[0], out, sizeof(out));
    }
}

/* The peer knows no PFC, yet nothing is lost, nor out of order: its frames wait in the ring. */
static void backpressure_leaves_frames_in_the_ring(void **state)
{
    uint8_t in[1100];

    lossless_bottleneck(WF_PFC_BACKPRESSURE);
    flood(300);
    for (unsigned i = 0; i < 300; i++) {
        /* the kernel takes the tag off: what is left are addresses and the EtherType */
        assert_int_equal(lv_recv(&ns[1], TEST_ETHERTYPE, in, sizeof(in), 10000), 996);
        assert_int_equal(wf_ld32(in + 14), i);
    }
    lv_stop(&live);
    assert_int_equal(wf_fabric_ctr(live.f, WF_FABRIC_DROPPED), 0);
    assert_true(live.edges.edges[0]->ctr[WF_EDGE_BACKPRESSURE_PS] > 0);
    assert_true(wf_fabric_port(live.f, "leaf0:p0")->prio_ctr[3][WF_PRIO_XOFF_TX] > 0);
    lv_free(&live);
}

/* The peer gets real 802.1Qbb frames; since it ignores them, the loss is laid at its door. */
static void honour_sends_the_peer_real_pauses(void **state)
{
    static const uint8_t head[] = {0x01, 0x80, 0xc2, 0, 0, 1};
    struct wf_port *leaf;
    uint8_t in[200];
    int xoff = 0, xon = 0;

    lossless_bottleneck(WF_PFC_HONOUR);
    leaf = wf_fabric_port(live.f, "leaf0:p0");
    flood(300);
    while (!xoff || !xon) {
        assert_int_equal(lv_recv(&ns[0], CONTROL_ETHERTYPE, in, sizeof(in), 10000), 60);
        assert_memory_equal(in, head, 6);
        assert_int_equal(wf_ld16(in + 14), 0x0101);
        assert_int_equal(wf_ld16(in + 16), 1 << 3);
        xoff += wf_ld16(in + 18 + 2 * 3) == 65535;
        xon += wf_ld16(in + 18 + 2 * 3) == 0;
    }
    lv_stop(&live);
    assert_true(leaf->drops[WF_DROP_PEER_IGNORED_PAUSE] > 0);
    assert_int_equal(leaf->drops[WF_DROP_NO_HEADROOM], 0);
    assert_int_equal(live.edges.edges[0]->ctr[WF_EDGE_BACKPRESSURE_PS], 0);
    lv_free(&live);
}

/* An XOFF of q quanta from the peer: in fabric time, as the leaf's port sees it, exactly its
 * priority is silent for q x 512 bit times, one frame more or less, and another goes on. */
static void an_xoff_from_the_peer_counts_in_fabric_time(void **state)
{
    const uint64_t rate = 20000000, quanta = 4000, frame_ps = 1024 * 8 * (WF_PS_PER_S / rate);
    const uint64_t pause_ps = quanta * 512 * (WF_PS_PER_S / rate);
    uint8_t out[1000] = {0}, pause[60] = {1, 0x80, 0xc2, 0, 0, 1};
    uint64_t at = 0, gap[8] = {0}, last[8] = {0};

    set_up(2, 1500);
    live.desc.links[1].cfg.rate_bps = rate;
    lv_start(&live);
    lv_tap(&live, "leaf1:p0", &tap);
    lv_go(&live);
    for (unsigned i = 0; i < 480; i++) { /* 197 ms of work in two classes; the pause lasts 102 */
        fill_prio(out, ns[1].mac, ns[0].mac, i & 1 ? 3 : 4);
        lv_send(&ns[0], out, sizeof(out));
    }
    for (int i = 0; i < 10; i++)
        assert_true(lv_recv(&ns[1], TEST_ETHERTYPE, out, sizeof(out), 5000) > 0);
    memcpy(pause + 6, ns[1].mac, 6);
    wf_st16(pause + 12, CONTROL_ETHERTYPE);
    wf_st16(pause + 14, 0x0101);
    wf_st16(pause + 16, 1 << 3);
    wf_st16(pause + 18 + 2 * 3, (uint16_t)quanta);
    lv_send(&ns[1], pause, sizeof(pause));
    for (int i = 10; i < 480; i++)
        assert_true(lv_recv(&ns[1], TEST_ETHERTYPE, out, sizeof(out), 5000) > 0);
    lv_stop(&live);
    for (uint32_t i = 0; i < tap.n; i++) {
        const struct lv_seen *s = &tap.seen[i];

        if (s->control && s->dir == WF_TAP_RX)
            at = s->t_ps;
        if (s->dir != WF_TAP_TX || s->control)
            continue;
        if (at && last[s->prio] && s->t_ps - last[s->prio] > gap[s->prio])
            gap[s->prio] = s->t_ps - last[s->prio];
        last[s->prio] = s->t_ps;
    }
    assert_true(at > 0);
    assert_in_range(gap[3], pause_ps - frame_ps, pause_ps + 3 * frame_ps);
    assert_in_range(gap[4], 1, 3 * frame_ps); /* never more than its turn */
    assert_int_equal(wf_fabric_ctr(live.f, WF_FABRIC_DROPPED), 0);
    lv_free(&live);
}

static void an_interface_that_vanishes_takes_its_link_down(void **state)
{
    uint8_t out[100];
    uint64_t polls;

    set_up(2, 1500);
    lv_start(&live);
    lv_go(&live);
    lv_sh("ip link del %s", ns[1].iface);
    for (int i = 0; i < 5000 && !lv_said(&live, "has vanished"); i++)
        usleep(2000);
    assert_true(lv_said(&live, "h1: interface"));
    fill(out, ns[1].mac, ns[0].mac, sizeof(out), 1);
    lv_send(&ns[0], out, sizeof(out));
    polls = live.polls;
    usleep(300000);
    assert_true(live.polls - polls < 30000); /* a busy loop makes millions */
    lv_stop(&live);
    assert_int_equal(wf_fabric_port(live.f, "leaf1:p0")->up, 0);
    assert_true(wf_fabric_port(live.f, "leaf1:p0")->drops[WF_DROP_LINK_DOWN] >= 1);
    lv_free(&live);
}

/* fc_E12: the user is told at the start, and the frame is counted where it ends. */
static void an_interface_with_a_small_mtu_is_told(void **state)
{
    uint8_t out[1600];

    set_up(2, 1500);
    lv_sh("ip link set %s mtu 1000", ns[1].iface);
    lv_start(&live);
    assert_true(lv_said(&live, "takes an MTU of 1000, the scenario says 1500"));
    lv_go(&live);
    fill(out, ns[1].mac, ns[0].mac, sizeof(out), 1);
    lv_send(&ns[0], out, 1014);
    assert_int_equal(lv_recv(&ns[1], TEST_ETHERTYPE, out, sizeof(out), 5000), 1014);
    fill(out, ns[1].mac, ns[0].mac, sizeof(out), 1);
    lv_send(&ns[0], out, 1015);
    assert_int_equal(lv_recv(&ns[1], TEST_ETHERTYPE, out, sizeof(out), 200), -1);
    lv_stop(&live);
    assert_int_equal(wf_fabric_port(live.f, "h1:p0")->drops[WF_DROP_EDGE_TOO_LONG], 1);
    lv_free(&live);
}

static void refused(int want, const char *why)
{
    struct wf_err err = {0};

    assert_int_equal(lv_open(&live, &err), -want);
    if (!strstr(err.msg, why))
        print_error("%s\n", err.msg);
    assert_non_null(strstr(err.msg, why));
}

static void interfaces_that_cannot_be_taken(void **state)
{
    struct wf_edge_dev dev = {.kind = &wf_attach_af_packet, .cfg = NULL, .host = "h0", .mtu = 1500};
    struct wf_attach_cfg cfg = {.iface = "lo"};
    int status;
    pid_t pid;

    lv_desc(&live, 1, 1, 1);
    live.desc.hosts[0].cfg.attach.type = WF_ATTACH_AF_PACKET;
    live.desc.hosts[0].cfg.attach.iface = "wftnone0";
    refused(ENODEV, "wftnone0");
    set_up(2, 1500);
    live.desc.hosts[1].cfg.attach.iface = ns[0].iface;
    refused(EBUSY, "another weft uses it");
    pid = fork();
    if (!pid) {
        struct wf_err err = {0};
        char args[512];

        dev.cfg = &cfg;
        if (setresuid(65534, 65534, 65534))
            _exit(1);
        _exit(dev.kind->prepare(&dev, args, sizeof(args), &err) == -EPERM &&
                      strstr(err.msg, "CAP_NET_RAW")
                  ? 0
                  : 2);
    }
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(frames_pass_to_the_byte, teardown),
        cmocka_unit_test_teardown(a_broadcast_arrives_once_at_each_other_host, teardown),
        cmocka_unit_test_teardown(backpressure_leaves_frames_in_the_ring, teardown),
        cmocka_unit_test_teardown(honour_sends_the_peer_real_pauses, teardown),
        cmocka_unit_test_teardown(an_xoff_from_the_peer_counts_in_fabric_time, teardown),
        cmocka_unit_test_teardown(an_interface_that_vanishes_takes_its_link_down, teardown),
        cmocka_unit_test_teardown(an_interface_with_a_small_mtu_is_told, teardown),
        cmocka_unit_test_teardown(interfaces_that_cannot_be_taken, teardown),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    lv_need_namespaces();
    wft_eal(512);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
