/* SPDX-License-Identifier: BSD-3-Clause */
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <rte_eal.h>

#include "eth/ets.h"
#include "fabric/run.h"
#include "fabric/run.h"

static void remove_runtime_dir(void)
{
    (void)rmdir(rte_eal_get_runtime_dir());
}

void wft_eal(unsigned mbytes)
{
    static char prefix[32], mem[16];
    char *argv[] = {"test",
                    "--no-huge",
                    "--no-shconf",
                    "--no-pci",
                    "--no-telemetry",
                    "--lcores",
                    "0@(0-1)",
                    "-m",
                    mem,
                    "--file-prefix",
                    prefix,
                    "--log-level=*:error",
                    NULL};

    snprintf(prefix, sizeof(prefix), "wft%d", (int)getpid());
    snprintf(mem, sizeof(mem), "%u", mbytes);
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        argv[6] = "0@0";
    if (rte_eal_init(sizeof(argv) / sizeof(argv[0]) - 1, argv) < 0) {
        printf("SKIP: EAL does not start here\n");
        exit(77);
    }
    atexit(remove_runtime_dir);
}

static void probe_rx(struct wf_node *node, struct wf_port *port, struct wf_pkt *pkt)
{
    struct wft_probe *h = (struct wft_probe *)node;

    if (h->n_seen < WFT_SEEN_MAX) {
        struct wft_seen *s = &h->seen[h->n_seen++];
        uint32_t n = wf_pkt_caplen(pkt);
        uint64_t bits = (pkt->frame_len + WF_WIRE_PREAMBLE) * 8ull;

        *s =
            (struct wft_seen){.t_ps = pkt->last_bit_ps,
                              .first_ps = pkt->last_bit_ps - wf_txclock_span(&port->peer->tx, bits),
                              .len = pkt->frame_len - WF_FCS_LEN,
                              .caplen = n,
                              .p = pkt->p};
        memcpy(s->bytes, wf_pkt_bytes(pkt), n < WF_HDR_ROOM ? n : WF_HDR_ROOM);
    }
    wf_pkt_deliver(node->net, pkt);
}

static void probe_tap(struct wf_tap *tap, struct wf_port *port, struct wf_pkt *pkt,
                      enum wf_tap_dir dir, enum wf_reason why)
{
    struct wft_probe *h = WF_CONTAINER_OF(tap, struct wft_probe, tap);

    if (dir != WF_TAP_RX || !(pkt->p.flags & WF_P_MAC_CONTROL) || h->n_control == WFT_SEEN_MAX)
        return;
    h->control_ps[h->n_control] = pkt->last_bit_ps;
    memcpy(h->control[h->n_control++], wf_pkt_bytes(pkt), 60);
}

static void probe_ready(struct wf_node *node, struct wf_arena *arena)
{
    static const uint8_t identity[WF_PRIOS] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const struct wf_pfc_cfg pfc = {.enable = true, .quanta = 65535, .response_ps = 0};
    struct wft_probe *h = (struct wft_probe *)node;

    node->ports[0].sched = &wf_ets_ops;
    wf_pfc_attach(&node->ports[0], &pfc, identity, arena);
    for (unsigned q = 0; q < WF_QUEUES; q++)
        node->ports[0].q[q].quantum = 1100; /* full frames of path MTU 1024 alternate */
    h->tap.fn = probe_tap;
    wf_port_tap(&node->ports[0], &h->tap);
}

static const struct wf_node_ops probe_ops = {
    .kind = "probe",
    .rx = probe_rx,
    .ready = probe_ready,
};

static struct wf_node *make_probe(void *arg, struct wf_fabric *f, uint32_t host)
{
    struct wft_probe *h;

    if (host < 64 && *(const uint64_t *)arg >> host & 1)
        return NULL;
    h = WF_ARENA_NEW(&f->arena, struct wft_probe);
    h->node.ops = &probe_ops;
    return &h->node;
}

struct wf_fabric *wft_build(const struct wf_desc *d)
{
    return wft_build_some(d, 0);
}

struct wf_fabric *wft_build_some(const struct wf_desc *d, uint64_t models)
{
    struct wf_fabric_opts opts = {.make_host = make_probe, .arg = &models, .full_frames = 256};
    struct wf_fabric *f;
    struct wf_err err;

    if (wf_fabric_build(&f, d, &opts, &err)) {
        print_error("%s\n", err.msg);
        fail();
    }
    return f;
}

struct wft_probe *wft_probe(struct wf_fabric *f, uint32_t host)
{
    return (struct wft_probe *)wf_fabric_host(f, host);
}

void wft_send(struct wf_fabric *f, uint32_t host, uint64_t t_ps, unsigned prio,
              const uint8_t *frame, uint32_t caplen, uint32_t len)
{
    struct wf_node *node = wf_fabric_host(f, host);
    struct wf_pkt *pkt = wf_pkt_new(node->net, caplen);

    assert_non_null(pkt);
    memcpy(wf_pkt_hdr_rw(pkt), frame, caplen);
    pkt->frame_len = len + WF_FCS_LEN < WF_FRAME_MIN ? WF_FRAME_MIN : len + WF_FCS_LEN;
    pkt->payload = caplen < len ? WF_PAYLOAD_NONE : WF_PAYLOAD_REAL;
    pkt->malformed = wf_pkt_parse(pkt) != WF_DROP_NONE;
    pkt->queue = pkt->prio = (uint8_t)prio;
    pkt->ready_ps = t_ps;
    pkt->port = &node->ports[0];
    wf_pkt_injected(node->net, pkt);
    wf_port_enqueue(&node->ports[0], pkt);
}

void wft_run(struct wf_fabric *f, uint64_t t_ps)
{
    uint64_t before, n;

    do {
        before = wf_fabric_now_ps(f);
        n = wf_fabric_turn(f, t_ps);
    } while (wf_fabric_now_ps(f) < t_ps && (n || wf_fabric_now_ps(f) > before));
    for (uint32_t i = 0; i < f->n_nodes; i++) /* for who reads counters at their place */
        for (uint16_t p = 0; p < f->nodes[i]->n_ports; p++)
            wf_port_count(&f->nodes[i]->ports[p]);
}

uint64_t wft_next_ps(const struct wf_fabric *f)
{
    uint64_t stop = wf_fabric_next_stop_ps(f, WF_STOPS_INPUT), next = wf_fabric_next_ps(f);

    return stop < next ? stop : next;
}

uint32_t wft_roce(struct wf_fabric *f, uint32_t from, uint32_t to, uint8_t dscp, uint8_t ecn,
                  uint32_t psn, uint32_t payload, uint8_t *buf, uint32_t *len)
{
    const struct wf_host_cfg *a = &f->desc->hosts[from].cfg, *b = &f->desc->hosts[to].cfg;
    struct wf_node *sw = wf_fabric_host(f, from)->ports[0].peer->node;
    struct wf_roce h = {.encap = WF_ROCE_V2_IP4,
                        .dscp = dscp,
                        .ecn = ecn,
                        .ttl = 64,
                        .sport = (uint16_t)(0xc000 | from),
                        .bth = {.opcode = WF_SERVICE_RC | WF_OP_WRITE_MIDDLE,
                                .pkey = WF_BTH_PKEY,
                                .dqpn = 0x11,
                                .psn = psn},
                        .payload_len = payload};
    uint32_t hdr;

    memcpy(h.src_mac, a->mac, 6);
    memcpy(h.dst_mac,
           f->addr.hosts[from].sw == f->addr.hosts[to].sw ||
                   ((struct wf_switch *)sw)->cfg.forwarding == WF_FORWARD_L2
               ? b->mac
               : sw->mac,
           6);
    memcpy(h.src_ip, a->ip.addr, 16);
    memcpy(h.dst_ip, b->ip.addr, 16);
    hdr = wf_roce_hdr_build(buf, WF_ROCE_HDR_MAX, &h);
    assert_int_not_equal(hdr, 0);
    *len = wf_roce_frame_len(hdr, payload);
    return hdr;
}

void wft_check(struct wf_fabric *f)
{
    struct wf_err err;

    wf_fabric_settle(f);
    if (wf_fabric_check(f, &err)) {
        print_error("%s\n", err.msg);
        fail();
    }
}
