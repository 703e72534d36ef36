/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults on demand between probe hosts: each way to say which packets are meant, each thing that
 * may become of them, byte by byte and to the picosecond. Faults are given as people write them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "burst.h"
#include "fabric/faults.h"
#include "net/fault_qps.h"
#include "support.h"
#include "wire/cm.h"
#include "wire/edit.h"
#include "wire/icrc.h"
#include "wire/pfc.h"

#define US WF_PS_PER_US
#define MS WF_PS_PER_MS

enum { RC = WF_SERVICE_RC, PAYLOAD = 256, QP = 0x20 };

static struct wf_fabric *fab;

/* One leaf: leaf0:p0 leads to h0, and so on. */
static void begin(uint32_t hosts)
{
    fab = wft_build(wft_leaf_spine(1, 0, hosts));
}

static void end(void)
{
    wft_run(fab, WF_TIME_NEVER);
    wft_check(fab);
    wf_fabric_free(fab);
}

static struct wf_fault *fault(const char *text)
{
    struct wf_fault f;
    struct wf_port *port;
    struct wf_err err;

    if (wf_fabric_fault_parse(fab, text, &f, &port, &err)) {
        print_error("%s: %s\n", text, err.msg);
        fail();
    }
    return wf_fabric_inject(fab, port, &f);
}

struct packet {
    uint32_t from, to;
    uint8_t opcode;
    uint32_t dqpn, psn, payload;
    uint16_t sport;
    uint8_t syndrome;
    bool real;
    uint8_t no_ecn;       /* 1: not ECN-capable; 2: CE already */
    const uint8_t *bytes; /* the payload; NULL: something */
};

static struct wf_roce roce_of(const struct packet *k)
{
    const struct wf_host_cfg *a = &fab->desc->hosts[k->from].cfg, *b = &fab->desc->hosts[k->to].cfg;
    struct wf_roce h = {
        .encap = WF_ROCE_V2_IP4,
        .dscp = 26,
        .ecn = k->no_ecn == 1   ? WF_ECN_NOT_ECT
               : k->no_ecn == 2 ? WF_ECN_CE
                                : WF_ECN_ECT0,
        .ttl = 64,
        .sport = k->sport ? k->sport : 0xc000,
        .bth = {.opcode = k->opcode, .pkey = 0x8765, .m = true, .dqpn = k->dqpn, .psn = k->psn},
        .payload_len = k->payload};

    h.ext.aeth = (struct wf_aeth){k->syndrome, 77};
    h.ext.deth = (struct wf_deth){WF_GSI_QKEY, WF_GSI_QPN};
    h.ext.reth = (struct wf_reth){0x1000, 0xabcd, k->payload};
    memcpy(h.src_mac, a->mac, 6);
    memcpy(h.dst_mac, b->mac, 6);
    memcpy(h.src_ip, a->ip.addr, 16);
    memcpy(h.dst_ip, b->ip.addr, 16);
    return h;
}

static void send(const struct packet *k)
{
    struct wf_roce h = roce_of(k);
    uint8_t buf[WF_ROCE_HDR_MAX + 8192];
    uint32_t hdr = wf_roce_hdr_build(buf, WF_ROCE_HDR_MAX, &h);
    uint32_t len = wf_roce_frame_len(hdr, k->payload);
    struct wf_parsed p;

    if (k->real) {
        for (uint32_t i = hdr; i < len; i++)
            buf[i] = k->bytes && i - hdr < k->payload ? k->bytes[i - hdr] : (uint8_t)i;
        assert_int_equal(wf_parse(buf, len, len, &p), WF_DROP_NONE);
        wf_icrc_store(buf + p.icrc_off, wf_icrc_of(buf, len, &p));
    }
    wft_send(fab, k->from, wf_fabric_now_ps(fab), 3, buf, k->real ? len : hdr, len);
}

/* WRITE Middle from h0 to h1 with these PSNs, of queue pair QP. */
static void data(uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        send(&(struct packet){.to = 1,
                              .opcode = RC | WF_OP_WRITE_MIDDLE,
                              .dqpn = QP,
                              .psn = (first + i) & WF_PSN_MASK,
                              .payload = PAYLOAD});
}

static void run(void)
{
    wft_run(fab, WF_TIME_NEVER);
}

/* PSNs that a host saw, as text. */
static const char *seen(uint32_t host)
{
    static char text[WFT_SEEN_MAX * 9];
    const struct wft_probe *h = wft_probe(fab, host);
    size_t used = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < h->n_seen; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u", i ? " " : "",
                                 h->seen[i].p.psn);
    return text;
}

/* What is left of PSNs first.. when this fault is at leaf0's port to h1. */
static const char *left(const char *what, uint32_t first, uint32_t n, uint64_t hits)
{
    static char kept[256];
    char text[200];
    struct wf_fault *f;

    begin(3);
    snprintf(text, sizeof(text), "do=drop where=leaf0:p1 %s", what);
    f = fault(text);
    data(first, n);
    run();
    assert_int_equal(f->hits, hits);
    assert_int_equal(fab->nets[0].ctr[WF_FABRIC_DROPPED], hits);
    assert_int_equal(wf_fabric_port(fab, "leaf0:p1")->drops[WF_DROP_INJECTED], hits);
    snprintf(kept, sizeof(kept), "%s", seen(1));
    end();
    return kept;
}

static void by_psn_and_count(void **state)
{
    assert_string_equal(left("psn=102", 100, 5, 1), "100 101 103 104");
    assert_string_equal(left("psn=101-103", 100, 5, 3), "100 104");
    assert_string_equal(left("psn=16777214-1", 16777213, 7, 4), "16777213 2 3");
    assert_string_equal(left("psn=+0", 100, 5, 1), "101 102 103 104");
    assert_string_equal(left("psn=+3-4", 16777214, 5, 2), "16777214 16777215 0");
    assert_string_equal(left("nth=2", 100, 5, 1), "100 102 103 104");
    assert_string_equal(left("every=2", 100, 5, 2), "100 102 104");
    assert_string_equal(left("every=2 limit=1", 100, 5, 1), "100 102 103 104");
    assert_string_equal(left("limit=2", 100, 5, 2), "102 103 104");
    assert_string_equal(left("psn=101-104 nth=3", 100, 6, 1), "100 101 102 104 105");
    assert_string_equal(left("match=roce_ack", 100, 3, 0), "100 101 102");
    assert_string_equal(left("probability=0", 100, 3, 0), "100 101 102");
    assert_string_equal(left("probability=1", 100, 3, 3), "");
}

static void by_ends_and_queue_pair(void **state)
{
    assert_string_equal(left("from=h0", 1, 2, 2), "");
    assert_string_equal(left("from=h2", 1, 2, 0), "1 2");
    assert_string_equal(left("to=h1", 1, 2, 2), "");
    assert_string_equal(left("to=10.0.0.2", 1, 2, 2), "");
    assert_string_equal(left("to=10.0.0.3", 1, 2, 0), "1 2");
    assert_string_equal(left("from=h0 to=h1 qp=0x20", 1, 2, 2), "");
    assert_string_equal(left("qp=33", 1, 2, 0), "1 2");
    assert_string_equal(left("qp=h1:qp32", 1, 2, 2), "");
    assert_string_equal(left("qp=h2:qp32", 1, 2, 0), "1 2");
    assert_string_equal(left("from=h0 to=h1 qp=#1", 1, 2, 2), "");
    assert_string_equal(left("from=h0 to=h1 qp=#2", 1, 2, 0), "1 2");
}

/* Two queue pairs between each two hosts, and the general services' beside them: their numbers do
 * not matter, nor which PSNs they use. */
static void queue_pairs_are_numbered_as_they_come(void **state)
{
    struct wf_fault *f;

    begin(3);
    f = fault("do=drop where=leaf0:p1 from=h2 to=h1 qp=#2");
    for (uint32_t round = 0; round < 3; round++) {
        send(&(struct packet){.from = 2, .to = 1, .opcode = 0x64, .dqpn = 1, .payload = 256});
        for (uint32_t i = 0; i < 4; i++)
            send(&(struct packet){.from = i / 2 ? 2 : 0,
                                  .to = 1,
                                  .opcode = RC | WF_OP_SEND_ONLY,
                                  .dqpn = 900 - i,
                                  .psn = 10 * i + round,
                                  .payload = 100});
        run();
    }
    assert_int_equal(f->hits, 3);
    for (uint32_t i = 0; i < wft_probe(fab, 1)->n_seen; i++)
        assert_int_not_equal(wft_probe(fab, 1)->seen[i].p.dqpn, 897);
    assert_int_equal(wft_probe(fab, 1)->n_seen, 12);
    end();
}

static void by_opcode(void **state)
{
    static const uint8_t ops[] = {RC | WF_OP_WRITE_FIRST, RC | WF_OP_WRITE_MIDDLE,
                                  RC | WF_OP_WRITE_LAST,  WF_SERVICE_UC | WF_OP_WRITE_LAST,
                                  RC | WF_OP_ACK,         RC | WF_OP_READ_REQUEST};
    static const struct {
        const char *what, *left;
    } t[] = {{"opcode=write_last", "0 1 4 5"},         {"opcode=rc_write_last,ack", "0 1 3 5"},
             {"opcode=[write_first,0x11]", "1 2 3 5"}, {"opcode=read_request", "0 1 2 3 4"},
             {"match=roce_ack", "0 1 2 3 5"},          {"match=roce", ""}};

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        char text[100];

        begin(2);
        snprintf(text, sizeof(text), "do=drop where=leaf0:p1 %s", t[i].what);
        fault(text);
        for (uint32_t k = 0; k < sizeof(ops); k++)
            send(&(struct packet){.to = 1,
                                  .opcode = ops[k],
                                  .dqpn = QP,
                                  .psn = k,
                                  .payload = wf_opcodes[ops[k]].flags & WF_OPF_PAYLOAD ? 64 : 0});
        run();
        assert_string_equal(seen(1), t[i].left);
        end();
    }
}

/* Messages of 3, 1 and 2 packets; the second one is sent again, and then the first. */
static void by_message_and_iteration(void **state)
{
    static const struct {
        uint32_t psn;
        uint8_t op;
    } stream[] = {{7, WF_OP_SEND_FIRST},  {8, WF_OP_SEND_MIDDLE}, {9, WF_OP_SEND_LAST},
                  {10, WF_OP_SEND_ONLY},  {11, WF_OP_SEND_FIRST}, {10, WF_OP_SEND_ONLY},
                  {11, WF_OP_SEND_FIRST}, {12, WF_OP_SEND_LAST},  {8, WF_OP_SEND_MIDDLE},
                  {9, WF_OP_SEND_LAST},   {10, WF_OP_SEND_ONLY}};
    static const struct {
        const char *what, *left;
    } t[] = {{"message=2", "7 8 9 11 11 12 8 9"},
             {"message=1", "10 11 10 11 12 10"},
             {"message=3", "7 8 9 10 10 8 9 10"},
             {"message=4", "7 8 9 10 11 10 11 12 8 9 10"},
             {"iteration=1", "10 11 8 9 10"},
             {"iteration=2", "7 8 9 10 11 12 10"},
             {"iteration=3", "7 8 9 10 11 10 11 12 8 9"},
             {"message=1 iteration=2", "7 8 9 10 11 10 11 12 10"},
             {"psn=+3 iteration=2", "7 8 9 10 11 11 12 8 9 10"}};

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        char text[100];

        begin(2);
        snprintf(text, sizeof(text), "do=drop where=leaf0:p1 %s", t[i].what);
        fault(text);
        for (size_t k = 0; k < sizeof(stream) / sizeof(stream[0]); k++)
            send(&(struct packet){.to = 1,
                                  .opcode = RC | stream[k].op,
                                  .dqpn = QP,
                                  .psn = stream[k].psn,
                                  .payload = 64});
        run();
        assert_string_equal(seen(1), t[i].left);
        end();
    }
}

/* A window of PSNs is remembered: what is older than it is of no iteration. */
static void iterations_are_bounded(void **state)
{
    struct wf_fault *f;

    begin(2);
    f = fault("do=drop where=leaf0:p1 iteration=2");
    data(0, 3);
    data(WF_STREAM_WINDOW, 1); /* PSN 0 is out of it, PSN 1 is not */
    data(0, 2);
    run();
    assert_int_equal(f->hits, 1);
    data(WF_STREAM_WINDOW * 9, 1);
    data(WF_STREAM_WINDOW * 9 - 1, 1);
    run();
    assert_int_equal(f->hits, 1);
    end();
}

static void streams_are_bounded(void **state)
{
    struct wf_faults *all;
    struct wf_fault *f;

    begin(2);
    f = fault("do=drop where=leaf0:p1 psn=+1");
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < WF_STREAMS_MAX + 40; i++) {
            send(&(struct packet){.to = 1,
                                  .opcode = RC | WF_OP_SEND_ONLY,
                                  .dqpn = 100 + i,
                                  .psn = i + round,
                                  .payload = 64});
            run();
        }
    all = wf_fabric_port(fab, "leaf0:p1")->faults;
    assert_int_equal(f->hits, WF_STREAMS_MAX);
    assert_int_equal(all->streams->halves.used, WF_STREAMS_MAX);
    assert_int_equal(all->streams->unknown, 80);
    end();
}

static void by_time_and_direction(void **state)
{
    struct wf_fault *f;

    begin(2);
    f = fault("do=drop where=leaf0:p1 after=10us until=20us");
    for (uint32_t i = 0; i < 4; i++) {
        wft_run(fab, i * 7 * US);
        data(i, 1);
    }
    run();
    assert_string_equal(seen(1), "0 1 3");
    assert_int_equal(f->matched, 1);
    end();

    begin(2);
    f = fault("do=drop where=leaf0:p0 dir=in nth=1");
    assert_ptr_equal(f->port, wf_fabric_port(fab, "h0:p0"));
    data(0, 2);
    run();
    assert_string_equal(seen(1), "1");
    assert_int_equal(wf_fabric_port(fab, "h0:p0")->drops[WF_DROP_INJECTED], 1);
    end();
}

/* 4,000 packets at 1/4: within four standard deviations of 1,000, and the same in each run. */
static void by_chance(void **state)
{
    uint64_t hits[2];

    for (int i = 0; i < 2; i++) {
        struct wf_fault *f;

        begin(2);
        f = fault("do=drop where=leaf0:p1 probability=1/4");
        data(0, 4000);
        run();
        hits[i] = f->hits;
        assert_in_range(f->hits, 1000 - 110, 1000 + 110);
        end();
    }
    assert_int_equal(hits[0], hits[1]);
}

/* Bits of a data frame on the wire: headers 14 + 20 + 8 + 12, payload, ICRC, FCS, 20 around it. */
static uint64_t wire_ps(void)
{
    return wf_txclock_span(&wf_fabric_port(fab, "leaf0:p1")->tx, (54 + PAYLOAD + 4 + 4 + 20) * 8);
}

static void duplicates_come_right_behind(void **state)
{
    const struct wft_probe *h;

    begin(2);
    fault("do=duplicate where=leaf0:p1 psn=1 copies=3");
    data(0, 3);
    run();
    assert_string_equal(seen(1), "0 1 1 1 1 2");
    h = wft_probe(fab, 1);
    for (uint32_t i = 1; i < 6; i++)
        assert_int_equal(h->seen[i].t_ps - h->seen[i - 1].t_ps, wire_ps());
    assert_memory_equal(h->seen[1].bytes, h->seen[4].bytes, h->seen[1].caplen);
    assert_int_equal(fab->nets[0].ctr[WF_FABRIC_REPLICATED], 3);
    assert_int_equal(wf_fabric_port(fab, "leaf0:p1")->ctr[WF_PORT_TX_FRAMES], 6);
    end();
}

static void delays_let_others_pass(void **state)
{
    uint64_t plain[4];
    const struct wft_probe *h;

    begin(2);
    data(0, 4);
    run();
    for (uint32_t i = 0; i < 4; i++)
        plain[i] = wft_probe(fab, 1)->seen[i].t_ps;
    end();
    begin(2);
    fault("do=delay where=leaf0:p1 psn=1 delay=7us");
    data(0, 4);
    run();
    assert_string_equal(seen(1), "0 2 3 1");
    h = wft_probe(fab, 1);
    assert_int_equal(h->seen[0].t_ps, plain[0]);
    assert_int_equal(h->seen[1].t_ps, plain[2]);
    assert_int_equal(h->seen[2].t_ps, plain[3]);
    assert_int_equal(h->seen[3].t_ps, plain[1] + 7 * US);
    end();
}

static void reordering_swaps(void **state)
{
    struct wf_fault *f;
    uint64_t t;

    begin(2);
    f = fault("do=reorder where=leaf0:p1 every=3");
    data(0, 8);
    run();
    assert_string_equal(seen(1), "0 1 3 2 4 6 5 7");
    assert_int_equal(f->hits, 2);
    end();

    begin(2);
    fault("do=reorder where=leaf0:p1 psn=1-9 behind=3 limit=1");
    data(0, 6);
    run();
    assert_string_equal(seen(1), "0 2 3 4 1 5");
    end();

    begin(2); /* nobody comes: it waits for its time, and goes on then */
    fault("do=reorder where=leaf0:p1 nth=1 within=50us");
    data(0, 1);
    wft_run(fab, 40 * US);
    wft_check(fab);
    assert_int_equal(wft_probe(fab, 1)->n_seen, 0);
    t = wf_fabric_port(fab, "leaf0:p1")->busy_until_ps - wire_ps();
    run();
    assert_int_equal(wft_probe(fab, 1)->seen[0].t_ps,
                     t + 50 * US + wf_fabric_port(fab, "leaf0:p1")->last_ps + wire_ps());
    end();

    begin(2); /* a link that goes down takes it along */
    fault("do=reorder where=leaf0:p1 nth=1 within=50us");
    data(0, 1);
    wft_run(fab, 40 * US);
    wf_fabric_link_set(fab, wf_fabric_port(fab, "leaf0:p1")->link, false);
    run();
    assert_int_equal(wf_fabric_port(fab, "leaf0:p1")->drops[WF_DROP_LINK_DOWN], 1);
    end();
}

static void marks(void **state)
{
    begin(2);
    fault("do=ce where=leaf0:p1 psn=1");
    data(0, 2);
    run();
    assert_int_equal(wft_probe(fab, 1)->seen[0].p.ecn, WF_ECN_ECT0);
    assert_int_equal(wft_probe(fab, 1)->seen[1].p.ecn, WF_ECN_CE);
    end();
}

/* Not-ECT, CE, ECT(0), which are PSNs 0, 1, 2; the first that may be marked is the first match. */
static void only_ect_is_marked(void **state)
{
    static const struct {
        const char *what;
        uint64_t hits, lacking;
        uint8_t ecn[3];
    } t[] = {{"nth=1", 1, 2, {0, 3, 3}},
             {"match=any", 1, 2, {0, 3, 3}},
             {"psn=0", 0, 1, {0, 3, 2}},
             {"force=true", 2, 1, {3, 3, 3}},
             {"force=true limit=1", 1, 0, {3, 3, 2}}};

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        char text[100];
        struct wf_fault *f;

        begin(2);
        snprintf(text, sizeof(text), "do=ce where=leaf0:p1 %s", t[i].what);
        f = fault(text);
        for (uint32_t k = 0; k < 3; k++)
            send(&(struct packet){.to = 1,
                                  .opcode = RC | WF_OP_SEND_ONLY,
                                  .dqpn = QP,
                                  .psn = k,
                                  .payload = 64,
                                  .no_ecn = (uint8_t)((k + 1) % 3)});
        run();
        assert_int_equal(f->hits, t[i].hits);
        assert_int_equal(f->matched, t[i].hits);
        assert_int_equal(f->lacking, t[i].lacking);
        for (unsigned k = 0; k < 3; k++)
            assert_int_equal(wft_probe(fab, 1)->seen[k].p.ecn, t[i].ecn[k]);
        end();
    }
}

/* What faults before it do to a packet that is held is done when it goes on. */
static void what_is_held_keeps_its_faults(void **state)
{
    uint64_t plain;

    begin(2);
    fault("do=duplicate where=leaf0:p1 psn=1 copies=2");
    fault("do=reorder where=leaf0:p1 nth=2 behind=2");
    data(0, 5);
    run();
    assert_string_equal(seen(1), "0 2 3 1 1 1 4");
    assert_int_equal(fab->nets[0].ctr[WF_FABRIC_REPLICATED], 2);
    end();

    begin(2); /* and when nobody has come */
    fault("do=duplicate where=leaf0:p1 psn=1");
    fault("do=reorder where=leaf0:p1 nth=2 within=5us");
    data(0, 2);
    run();
    assert_string_equal(seen(1), "0 1 1");
    end();

    begin(2);
    fault("do=reorder where=leaf0:p1 nth=2");
    data(0, 4);
    run();
    plain = wft_probe(fab, 1)->seen[2].t_ps;
    end();
    begin(2);
    fault("do=delay where=leaf0:p1 psn=1 delay=7us");
    fault("do=reorder where=leaf0:p1 nth=2");
    data(0, 4);
    run();
    assert_string_equal(seen(1), "0 2 3 1");
    assert_int_equal(wft_probe(fab, 1)->seen[3].t_ps, plain + 7 * US);
    end();
}

/* What a port has sent is the sum of what its priorities have, whatever faults made of it. */
static void priorities_add_up(void **state)
{
    static const char *const what[] = {"do=duplicate psn=1 copies=3",
                                       "do=reorder psn=1-2 nth=1",
                                       "do=truncate keep=8 crc=repaired psn=1",
                                       "do=drop psn=1",
                                       "do=delay delay=3us psn=1",
                                       "do=ack matched=pass reply_qp=5 match=roce_ack",
                                       "do=pfc priorities=3 match=roce_data"};

    for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
        uint64_t frames = 0, bytes = 0, control = 0;
        struct wf_port *port;
        char text[100];

        begin(2);
        port = wf_fabric_port(fab, "leaf0:p1");
        snprintf(text, sizeof(text), "where=leaf0:p1 %s", what[i]);
        fault(text);
        data(0, 4);
        send(&(struct packet){.to = 1, .opcode = RC | WF_OP_ACK, .dqpn = 9, .psn = 3});
        run();
        wf_port_settle(port);
        control = wft_probe(fab, 1)->n_control;
        for (unsigned p = 0; p < WF_PRIOS; p++) {
            frames += port->prio_ctr[p][WF_PRIO_TX_FRAMES];
            bytes += port->prio_ctr[p][WF_PRIO_TX_BYTES];
        }
        assert_int_equal(port->ctr[WF_PORT_TX_FRAMES], frames + control);
        assert_int_equal(port->ctr[WF_PORT_TX_BYTES], bytes + control * WF_FRAME_MIN);
        end();
    }
}

static struct wft_seen *one_real(const char *what)
{
    static struct wft_seen copy;
    char text[200];

    begin(2);
    snprintf(text, sizeof(text), "where=leaf0:p1 %s", what);
    assert_int_equal(fault(text)->hits, 0);
    send(&(struct packet){.to = 1,
                          .opcode = RC | WF_OP_WRITE_ONLY,
                          .dqpn = QP,
                          .psn = 5,
                          .payload = 32,
                          .real = true});
    run();
    memset(&copy, 0, sizeof(copy));
    if (wft_probe(fab, 1)->n_seen)
        copy = wft_probe(fab, 1)->seen[0];
    end();
    return &copy;
}

/* Headers: 14, 20, 8, 12, RETH 16. */
enum { BTH_AT = 42, RETH_AT = 54, PAYLOAD_AT = 70, WHOLE = PAYLOAD_AT + 32 + 4 };

static void corrupts(void **state)
{
    struct wft_seen plain = *one_real("do=corrupt nth=9"), *s;

    assert_int_equal(plain.len, WHOLE);
    assert_int_equal(wf_icrc_check(plain.bytes, WHOLE, &plain.p), WF_ICRC_OK);

    assert_int_equal(one_real("do=corrupt")->len, 0); /* the FCS: h1 has dropped it */

    s = one_real("do=corrupt crc=icrc offset=3 bytes=2 flip=15");
    assert_int_equal(s->len, WHOLE);
    for (unsigned i = 0; i < WHOLE; i++)
        assert_int_equal(s->bytes[i] ^ plain.bytes[i],
                         i == PAYLOAD_AT + 3 || i == PAYLOAD_AT + 4 ? 15 : 0);
    assert_int_equal(wf_icrc_check(s->bytes, WHOLE, &s->p), WF_ICRC_BAD);

    s = one_real("do=corrupt crc=repaired part=ext offset=8 bytes=4");
    for (unsigned i = 0; i < WHOLE - 4; i++)
        assert_int_equal(s->bytes[i] ^ plain.bytes[i],
                         i >= RETH_AT + 8 && i < RETH_AT + 12 ? 255 : 0);
    assert_int_equal(wf_icrc_check(s->bytes, WHOLE, &s->p), WF_ICRC_OK);

    s = one_real("do=corrupt crc=repaired part=bth offset=11 flip=1");
    assert_int_equal(s->p.psn, 4);
    assert_int_equal(wf_icrc_check(s->bytes, WHOLE, &s->p), WF_ICRC_OK);

    s = one_real("do=corrupt crc=repaired part=l3 offset=4"); /* the identification */
    assert_int_equal(s->bytes[18] ^ plain.bytes[18], 255);
    assert_true(wf_ip4_checksum_ok(s->bytes, WHOLE, &s->p));
    assert_int_equal(wf_icrc_check(s->bytes, WHOLE, &s->p), WF_ICRC_OK);
}

/* A payload that was virtual is there when it has to be, and its ICRC is known to be wrong. */
static void corrupts_what_is_virtual(void **state)
{
    struct wft_probe *h;

    begin(2);
    fault("do=corrupt crc=icrc where=leaf0:p1 psn=0 offset=9");
    fault("do=corrupt crc=repaired where=leaf0:p1 psn=1 offset=9");
    data(0, 2);
    run();
    h = wft_probe(fab, 1);
    assert_int_equal(h->seen[0].caplen, 54);
    assert_int_equal(h->seen[1].caplen, 54 + PAYLOAD + 4);
    for (unsigned i = 0; i < 60; i++)
        assert_int_equal(h->seen[1].bytes[54 + i], i == 9 ? 255 : 0);
    end();
}

static void truncates(void **state)
{
    struct wft_seen *s;

    assert_int_equal(one_real("do=truncate keep=8")->len, 0); /* damaged */

    s = one_real("do=truncate keep=8 crc=icrc");
    assert_int_equal(s->len, PAYLOAD_AT + 8);
    assert_int_equal(wf_ld16(s->bytes + 16), WHOLE - 14); /* IP still says what it was */

    s = one_real("do=truncate keep=9 crc=repaired");
    assert_int_equal(s->len, PAYLOAD_AT + 12 + 4);
    assert_int_equal(wf_ld16(s->bytes + 16), s->len - 14);
    assert_int_equal(wf_ld16(s->bytes + 38), s->len - 34);
    assert_int_equal(s->p.pad, 3);
    assert_int_equal(s->p.payload_len, 9);
    assert_true(wf_ip4_checksum_ok(s->bytes, s->len, &s->p));
    assert_int_equal(wf_icrc_check(s->bytes, s->len, &s->p), WF_ICRC_OK);
    assert_memory_equal(s->bytes + PAYLOAD_AT + 9, "\0\0\0", 3);
}

/* --- packets that nobody sent ----------------------------------------------------------------- */

static void ack(uint32_t psn)
{
    send(&(struct packet){.from = 1,
                          .opcode = RC | WF_OP_ACK,
                          .dqpn = 0x99,
                          .psn = psn,
                          .syndrome = WF_AETH_CREDIT_INVALID});
}

/* An answer to a queue pair of h0 that is right in all its bytes. */
static void is_answer_to(const struct wft_seen *s, uint32_t dqpn, uint8_t syndrome, uint32_t psn,
                         uint32_t msn)
{
    struct packet k = {
        .from = 1, .opcode = RC | WF_OP_ACK, .dqpn = dqpn, .psn = psn, .syndrome = syndrome};
    struct wf_roce h = roce_of(&k);
    uint8_t buf[WF_ROCE_HDR_MAX];
    uint32_t hdr;

    h.ecn = 0;
    h.ext.aeth.msn = msn;
    hdr = wf_roce_hdr_build(buf, sizeof(buf), &h);
    assert_int_equal(s->caplen, hdr);
    assert_memory_equal(s->bytes, buf, hdr);
    assert_int_equal(s->len, hdr + 4 < 60 ? 60 : hdr + 4);
}

static void is_answer(const struct wft_seen *s, uint8_t syndrome, uint32_t psn, uint32_t msn)
{
    is_answer_to(s, 0x99, syndrome, psn, msn);
}

/* From an ACK on its way, at the port to the requester. */
static void answers_in_place_of_an_ack(void **state)
{
    static const struct {
        const char *what;
        uint8_t syndrome;
        uint32_t psn;
    } t[] = {{"do=nak", 0x60, 8},
             {"do=nak code=invalid_request", 0x61, 8},
             {"do=nak code=remote_access answer_psn=-2", 0x62, 6},
             {"do=nak code=remote_operational answer_psn=70", 0x63, 70},
             {"do=rnr timer=0", 0x20, 8},
             {"do=rnr timer=31 answer_psn=+1", 0x3f, 9},
             {"do=ack answer_psn=+4", 0x1f, 12}};

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        char text[100];
        struct wf_fault *f;

        begin(2);
        snprintf(text, sizeof(text), "where=leaf0:p0 %s psn=8 opcode=ack", t[i].what);
        f = fault(text);
        ack(7);
        ack(8);
        run();
        assert_int_equal(f->hits, 1);
        assert_int_equal(wft_probe(fab, 0)->n_seen, 2);
        is_answer(&wft_probe(fab, 0)->seen[1], t[i].syndrome, t[i].psn, 77);
        assert_int_equal(fab->nets[0].ctr[WF_FABRIC_DROPPED], 1);
        assert_int_equal(fab->nets[0].ctr[WF_FABRIC_INJECTED], 3);
        end();
    }
    begin(2); /* beside it */
    fault("do=ack where=leaf0:p0 matched=pass answer_psn=+1");
    ack(7);
    run();
    assert_string_equal(seen(0), "7 8");
    end();
}

/* A request was hit: the answer goes back, to the queue pair that an ACK before has told. */
static void answers_to_a_request(void **state)
{
    struct wf_fault *f;

    begin(2);
    f = fault("do=nak code=remote_access where=leaf0:p1 match=roce_data psn=1");
    data(0, 1);
    run();
    ack(0);
    run();
    data(1, 2);
    run();
    assert_int_equal(f->hits, 1);
    assert_int_equal(f->lacking, 0);
    assert_string_equal(seen(1), "0 2");
    assert_int_equal(wft_probe(fab, 0)->n_seen, 2);
    is_answer(&wft_probe(fab, 0)->seen[1], 0x62, 1, 77);
    end();

    begin(2); /* nothing has told of it: nothing is done, and counted */
    f = fault("do=nak where=leaf0:p1 match=roce_data");
    data(0, 2);
    run();
    assert_int_equal(f->hits, 0);
    assert_int_equal(f->lacking, 2);
    assert_string_equal(seen(1), "0 1");
    end();

    begin(2); /* it is given; a ghost: the data never comes, and is acknowledged */
    fault("do=ack where=leaf0:p1 match=roce_data psn=1 reply_qp=0x99");
    data(0, 2);
    run();
    assert_string_equal(seen(1), "0");
    is_answer(&wft_probe(fab, 0)->seen[0], 0x1f, 1, 1);
    end();
}

/* Two queue pairs between the same hosts: told apart by their UDP ports, or not at all. */
static void two_that_may_be_meant(void **state)
{
    for (uint16_t other = 0xc000; other <= 0xc001; other++) {
        struct wf_fault *f;

        begin(2);
        f = fault("do=nak where=leaf0:p1 psn=+1 qp=0x20 match=roce_data");
        for (uint32_t i = 0; i < 2; i++) {
            send(&(struct packet){.to = 1,
                                  .opcode = RC | WF_OP_SEND_ONLY,
                                  .dqpn = QP + i,
                                  .psn = 5,
                                  .payload = 64,
                                  .sport = i ? other : 0xc000});
            run();
        }
        for (uint32_t i = 0; i < 2; i++) {
            send(&(struct packet){.from = 1,
                                  .opcode = RC | WF_OP_ACK,
                                  .dqpn = 0x99 + i,
                                  .psn = 5,
                                  .sport = i ? other : 0xc000});
            run();
        }
        data(6, 1);
        run();
        assert_int_equal(f->hits, other == 0xc001);
        assert_int_equal(f->lacking, other == 0xc000);
        if (f->hits)
            assert_int_equal(wft_probe(fab, 0)->seen[2].p.dqpn, 0x99);
        end();
    }
}

/* h0 asks for a connection of its queue pair 0x99 + i, h1 grants it with QP + i. */
static void cm_connects(uint32_t i)
{
    struct wf_cm_msg m;
    uint8_t mad[WF_MAD_LEN];

    for (uint32_t from = 0; from < 2; from++) {
        wf_cm_msg_init(&m, from ? WF_CM_REP : WF_CM_REQ, 9);
        if (from)
            m.rep = (struct wf_cm_rep){.local_comm_id = 50 + i,
                                       .remote_comm_id = 40 + i,
                                       .local_qpn = QP + i,
                                       .starting_psn = 100};
        else
            m.req = (struct wf_cm_req){
                .local_comm_id = 40 + i, .local_qpn = 0x99 + i, .starting_psn = 200};
        wf_cm_msg_put(mad, &m);
        send(&(struct packet){.from = from,
                              .to = !from,
                              .opcode = WF_SERVICE_UD | WF_OP_SEND_ONLY,
                              .dqpn = WF_GSI_QPN,
                              .payload = WF_MAD_LEN,
                              .real = true,
                              .bytes = mad});
        run();
    }
}

static void request(uint32_t dqpn, uint32_t psn)
{
    send(&(struct packet){
        .to = 1, .opcode = RC | WF_OP_SEND_ONLY, .dqpn = dqpn, .psn = psn, .payload = 64});
    run();
}

/* The connection manager's exchange tells all of a queue pair before its first packet: its number
 * among those between two hosts, whose answers are its, and its first PSN. */
static void the_connection_manager_tells(void **state)
{
    struct wf_fault *f, *g;

    begin(2);
    f = fault("do=nak code=remote_access where=leaf0:p1 match=roce_data from=h0 to=h1 qp=#2");
    g = fault("do=drop where=leaf0:p1 from=h0 to=h1 qp=#1 psn=+1 match=roce_data");
    cm_connects(0);
    cm_connects(1);
    request(QP + 1, 100); /* the second one sends first */
    assert_int_equal(f->hits, 1);
    assert_int_equal(f->lacking, 0);
    is_answer_to(&wft_probe(fab, 0)->seen[2], 0x9a, 0x62, 100, 0);
    request(QP, 101); /* PSN 100 was lost on the way here */
    assert_int_equal(g->hits, 1);
    end();

    begin(2); /* the same without it: nobody knows */
    f = fault("do=nak code=remote_access where=leaf0:p1 match=roce_data from=h0 to=h1 qp=#1");
    request(QP + 1, 100);
    assert_int_equal(f->hits, 0);
    assert_int_equal(f->lacking, 1);
    end();
}

/* Two queue pairs with requests 0 to 2 and 5 to 7, acknowledged up to 1 and 5. */
static void two_talk(void)
{
    for (uint32_t i = 0; i < 6; i++)
        send(&(struct packet){.to = 1,
                              .opcode = RC | WF_OP_SEND_ONLY,
                              .dqpn = QP + i / 3,
                              .psn = i < 3 ? i : i + 2,
                              .payload = 64});
    wft_run(fab, 100 * US);
    for (uint32_t i = 0; i < 2; i++)
        send(&(struct packet){.from = 1,
                              .opcode = RC | WF_OP_ACK,
                              .dqpn = 0x99 + i,
                              .psn = 1 + 4 * i,
                              .syndrome = WF_AETH_CREDIT_INVALID});
}

/* Made at a time, without a packet that passes: at the port to the requester, and at the one to the
 * responder, from where it comes back. */
static void answers_at_a_time(void **state)
{
    static const struct {
        const char *what;
        uint8_t syndrome;
        uint32_t n;
        uint32_t dqpn[2], psn[2], msn;
    } t[] = {
        {"where=leaf0:p0 do=nak code=remote_operational", 0x63, 2, {0x99, 0x9a}, {2, 7}, 77},
        {"where=leaf0:p0 do=nak from=h1 to=h0 qp=#2", 0x60, 1, {0x9a}, {7}, 77},
        {"where=leaf0:p0 do=nak from=h1 to=h0 qp=0x99", 0x60, 1, {0x99}, {2}, 77},
        {"where=leaf0:p0 do=rnr timer=3 limit=1", 0x23, 1, {0x99}, {2}, 77},
        {"where=leaf0:p0 do=ack answer_psn=-1 limit=1", 0x1f, 1, {0x99}, {1}, 77},
        {"where=leaf0:p0 do=ack answer_psn=9 limit=1", 0x1f, 1, {0x99}, {9}, 77},
        {"where=leaf0:p1 do=nak match=roce_data to=h1", 0x60, 2, {0x99, 0x9a}, {2, 7}, 77},
        {"where=leaf0:p1 do=nak match=roce_data qp=h1:qp33", 0x60, 1, {0x9a}, {7}, 77},
        {"where=leaf0:p1 do=ack match=roce_data limit=1", 0x1f, 1, {0x99}, {2}, 78},
        {"where=leaf0:p1 do=nak from=h0 to=h1", 0, 0, {0}, {0}, 0}, /* no answers leave there */
        {"where=leaf0:p0 do=nak from=h2", 0, 0, {0}, {0}, 0},
    };

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
        for (int later = 0; later < 2; later++) {
            const struct wft_probe *h;
            struct wf_fault *f = NULL;
            char text[120];

            begin(3);
            snprintf(text, sizeof(text), "%s trigger=time after=%dus", t[i].what, later * 500);
            if (later)
                f = fault(text);
            else
                wf_faults_learn(wf_fabric_port(fab, i < 6 || i == 10 ? "leaf0:p0" : "leaf0:p1"),
                                &fab->arena);
            two_talk();
            if (!later) {
                wft_run(fab, 200 * US);
                f = fault(text);
            }
            run();
            h = wft_probe(fab, 0);
            if (f->hits != t[i].n)
                print_error("%s\n", text);
            assert_int_equal(f->hits, t[i].n);
            assert_int_equal(f->lacking, !t[i].n);
            assert_int_equal(h->n_seen, 2 + t[i].n);
            for (uint32_t k = 0; k < t[i].n; k++)
                is_answer_to(&h->seen[2 + k], t[i].dqpn[k], t[i].syndrome, t[i].psn[k], t[i].msn);
            if (later && t[i].n)
                assert_in_range(h->seen[2].t_ps, 500 * US, 510 * US);
            assert_int_equal(wft_probe(fab, 1)->n_seen, 6);
            end();
        }
}

static void at_a_time_by_what_the_connection_manager_said(void **state)
{
    struct wf_fault *f;
    const struct wft_seen *s;

    begin(2);
    wf_faults_learn(wf_fabric_port(fab, "leaf0:p0"), &fab->arena);
    f = fault("do=ack where=leaf0:p0 trigger=time"); /* nothing is known yet */
    run();
    assert_int_equal(f->hits, 0);
    assert_int_equal(f->lacking, 1);
    cm_connects(0);
    f = fault("do=ack where=leaf0:p0 trigger=time from=h1 to=h0 qp=#1");
    run();
    assert_int_equal(f->hits, 1);
    assert_int_equal(wft_probe(fab, 0)->n_seen, 2);
    is_answer_to(&wft_probe(fab, 0)->seen[1], 0x99, 0x1f, 100, 0);
    f = fault("do=cnp where=leaf0:p0 trigger=time from=h1");
    run();
    assert_int_equal(f->hits, 1);
    s = &wft_probe(fab, 0)->seen[2];
    assert_int_equal(s->p.opcode, 0x81);
    assert_int_equal(s->p.dqpn, 0x99);
    assert_int_equal(wf_icrc_check(s->bytes, s->len, &s->p), WF_ICRC_OK);
    f = fault("do=cnp where=leaf0:p0 trigger=time after=1s");
    wf_faults_end(f->port, false);
    run();
    assert_int_equal(f->hits, 0);
    assert_true(wf_fabric_now_ps(fab) < WF_PS_PER_S);
    end();
}

static void cnps(void **state)
{
    struct wft_seen *s;

    begin(2);
    fault("do=cnp where=leaf0:p0"); /* beside an ACK */
    /* for data, back to its sender */
    fault("do=cnp where=leaf0:p1 match=roce_data psn=4 dscp=46");
    data(3, 1);
    run();
    ack(3);
    run();
    data(4, 1);
    run();
    assert_int_equal(wft_probe(fab, 0)->n_seen, 3);
    for (unsigned i = 1; i < 3; i++) {
        s = &wft_probe(fab, 0)->seen[i];
        assert_int_equal(s->len, 74); /* facts: IP total length 60, UDP 40 */
        assert_int_equal(wf_ld16(s->bytes + 16), 60);
        assert_int_equal(wf_ld16(s->bytes + 38), 40);
        assert_int_equal(s->p.opcode, 0x81);
        assert_int_equal(s->p.becn, 1);
        assert_int_equal(wf_ld16(s->bytes + BTH_AT + 2), 0xffff);
        assert_int_equal(s->p.psn, 0);
        assert_int_equal(s->p.dqpn, 0x99);
        assert_int_equal(wf_icrc_check(s->bytes, s->len, &s->p), WF_ICRC_OK);
    }
    assert_int_equal(wft_probe(fab, 0)->seen[1].p.dscp, 48);
    assert_int_equal(wft_probe(fab, 0)->seen[2].p.dscp, 46);
    end();
}

static void pauses(void **state)
{
    begin(2);
    fault("do=pfc where=leaf0:p1 psn=1 priorities=[0,7] quanta=4660");
    fault("do=pause where=leaf0:p1 psn=2 quanta=0");
    data(0, 3);
    run();
    assert_string_equal(seen(1), "0 1 2");
    assert_int_equal(wft_probe(fab, 1)->n_control, 2);
    assert_memory_equal(wft_probe(fab, 1)->control[0] + 12,
                        "\x88\x08\x01\x01\x00\x81\x12\x34\0\0\0\0\0\0\0\0\0\0\0\0\x12\x34", 22);
    assert_memory_equal(wft_probe(fab, 1)->control[1] + 12, "\x88\x08\0\x01\0\0", 6);
    end();
}

/* O9: each fourth packet of a UC flow is lost. The others come when they came, in their order. */
static void fc_O9(void **state)
{
    static struct wft_seen plain[100];

    for (int faulty = 0; faulty < 2; faulty++) {
        const struct wft_probe *h;

        begin(2);
        if (faulty)
            fault("do=drop where=leaf0:p1 every=4");
        for (uint32_t i = 0; i < 100; i++)
            send(&(struct packet){.to = 1,
                                  .opcode = WF_SERVICE_UC | WF_OP_WRITE_ONLY,
                                  .dqpn = QP,
                                  .psn = i,
                                  .payload = 64 + 40 * (i % 7)});
        run();
        h = wft_probe(fab, 1);
        assert_int_equal(h->n_seen, faulty ? 75 : 100);
        for (uint32_t i = 0; i < h->n_seen; i++)
            if (!faulty)
                plain[i] = h->seen[i];
            else
                assert_memory_equal(&h->seen[i], &plain[i / 3 * 4 + i % 3], sizeof(plain[0]));
        end();
    }
}

/* Live only: what is there ends, what comes later does not. */
static void faults_end(void **state)
{
    struct wf_fault *first;

    begin(2);
    first = fault("do=drop where=leaf0:p1 psn=0-9");
    data(0, 2);
    run();
    wf_faults_end(first->port, true); /* the other direction's */
    data(2, 1);
    run();
    wf_faults_end(first->port, false);
    data(3, 1);
    run();
    fault("do=drop where=leaf0:p1 psn=4");
    data(4, 2);
    run();
    assert_string_equal(seen(1), "3 5");
    assert_int_equal(first->hits, 3);
    end();
}

/* Records of faults that have ended are used anew, and the arena does not grow. */
static void ended_faults_make_room(void **state)
{
    struct wf_fault *idle;
    struct wf_faults *all;
    uint64_t bytes = 0;

    begin(2);
    idle = fault("do=drop where=leaf0:p1 psn=5 until=1ps");
    for (uint32_t i = 0; i < 3 * WF_FAULTS_INJECTED; i++) {
        if (i == WF_FAULTS_INJECTED)
            bytes = fab->arena.bytes;
        fault("do=drop where=leaf0:p1 from=h0 to=h1 limit=1");
        data(i, 1);
        run();
    }
    assert_true(wf_faults_room(idle->port));
    all = idle->port->faults;
    assert_int_equal(fab->arena.bytes, bytes);
    assert_int_equal(wft_probe(fab, 1)->n_seen, 0);
    assert_int_equal(all->n_injected, WF_FAULTS_INJECTED);
    assert_int_equal(all->gone, 2 * WF_FAULTS_INJECTED + 1);
    assert_int_equal(all->idle, 1);
    end();

    begin(2); /* those that live are never touched */
    for (uint32_t i = 0; i < WF_FAULTS_INJECTED; i++)
        fault("do=drop where=leaf0:p1 psn=5");
    assert_false(wf_faults_room(wf_fabric_port(fab, "leaf0:p1")));
    wf_faults_end(wf_fabric_port(fab, "leaf0:p1"), false);
    wft_run(fab, US);
    assert_true(wf_faults_room(wf_fabric_port(fab, "leaf0:p1")));
    end();
}

static void what_is_no_fault(void **state)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"", "needs 'do' and 'where'"},
        {"do=drop", "needs 'do' and 'where'"},
        {"where=leaf0:p0", "needs 'do' and 'where'"},
        {"do=drop where=leaf0:p9", "no port 'leaf0:p9'"},
        {"do=dropp where=leaf0:p0", "did you mean 'drop'"},
        {"do=drop where=leaf0:p0 psm=3", "did you mean 'psn'"},
        {"do=drop where=leaf0:p0 psn=x", "'x' is no PSN"},
        {"do=drop where=leaf0:p0 psn=3-", "is no PSN"},
        {"do=drop where=leaf0:p0 psn=16777216", "is no PSN"},
        {"do=drop where=leaf0:p0 qp=#1", "'from' and 'to' are missing"},
        {"do=drop where=leaf0:p0 qp=#0 from=h0 to=h1", "no queue pair"},
        {"do=drop where=leaf0:p0 qp=h9:qp1", "neither a host nor an address"},
        {"do=drop where=leaf0:p0 qp=h1:qp1 to=h1", "'to' does too"},
        {"do=drop where=leaf0:p0 from=h7", "neither a host nor an address"},
        {"do=drop where=leaf0:p0 flow=f", "no flow"},
        {"do=drop where=leaf0:p0 opcode=write", "no opcode"},
        {"do=drop where=leaf0:p0 match=any psn=3", "'match' does not go with them"},
        {"do=drop where=leaf0:p0 after=2us until=1us", "ends before it begins"},
        {"do=drop where=leaf0:p0 every=0", "every"},
        {"do=delay where=leaf0:p0", "'delay' is missing"},
        {"do=nak where=leaf0:p0 trigger=time psn=3", "'psn' asks for a packet"},
        {"do=nak where=leaf0:p0 trigger=time until=3s", "'until' asks for a packet"},
        {"do=nak where=leaf0:p0 trigger=time match=any", "'match' asks for a packet"},
        {"do=nak where=leaf0:p0 trigger=never", "trigger"},
        {"do=nak where=leaf0:p0 answer_psn=+", "no PSN"},
        {"do=pfc where=leaf0:p0 priorities=8", "out of range"},
        {"do=pfc where=leaf0:p0 priorities=[]", "empty list"},
        {"do=drop where=leaf0:p0 \x01", "no KEY=VALUE"},
        {"do=drop where=leaf0:p0 psn", "no KEY=VALUE"},
    };

    begin(2);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct wf_fault f;
        struct wf_port *port;
        struct wf_err err = {.msg = ""};

        assert_int_not_equal(wf_fabric_fault_parse(fab, wrong[i].text, &f, &port, &err), 0);
        if (!strstr(err.msg, wrong[i].says)) {
            print_error("%s: %s\n", wrong[i].text, err.msg);
            fail();
        }
    }
    end();
}

int main(void)
{
#define TEST(f) cmocka_unit_test(f)
    const struct CMUnitTest tests[] = {
        TEST(by_psn_and_count),
        TEST(by_ends_and_queue_pair),
        TEST(queue_pairs_are_numbered_as_they_come),
        TEST(by_opcode),
        TEST(by_message_and_iteration),
        TEST(iterations_are_bounded),
        TEST(streams_are_bounded),
        TEST(by_time_and_direction),
        TEST(by_chance),
        TEST(duplicates_come_right_behind),
        TEST(delays_let_others_pass),
        TEST(reordering_swaps),
        TEST(marks),
        TEST(only_ect_is_marked),
        TEST(what_is_held_keeps_its_faults),
        TEST(priorities_add_up),
        TEST(corrupts),
        TEST(corrupts_what_is_virtual),
        TEST(truncates),
        TEST(answers_in_place_of_an_ack),
        TEST(answers_to_a_request),
        TEST(two_that_may_be_meant),
        TEST(the_connection_manager_tells),
        TEST(answers_at_a_time),
        TEST(at_a_time_by_what_the_connection_manager_said),
        TEST(cnps),
        TEST(pauses),
        TEST(fc_O9),
        TEST(faults_end),
        TEST(ended_faults_make_room),
        TEST(what_is_no_fault),
    };

    wft_eal(96);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
