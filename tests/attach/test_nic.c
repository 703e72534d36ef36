/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NICs between real stacks and the fabric, in virtual time and without devices: what passes, what
 * is slowed down by which CNP, and which CNPs are sent. h0 and h1 send to h3, all with a NIC; h2
 * has none and sees what comes to a real host.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "attach/ingress.h"
#include "cc/laws.h"
#include "host/cc_guard.h"
#include "host/cc_law.h"
#include "support.h"
#include "wire/edit.h"
#include "wire/icrc.h"
#include "wire/roce.h"

enum { HOSTS = 4, MTU = 1024, FRAME = 14 + 20 + 8 + 12 + MTU + 4, RATE = 1000000000 };

static struct wf_arena arena;
static struct wf_desc desc;
static struct wf_edges edges;
static struct wf_fabric *f;
static struct wf_cc_use use;
static uint64_t cnp_delay_ps = WF_KEY_AUTO;

static struct wf_edge *edge(uint32_t host)
{
    return edges.edges[host];
}

static void describe(void)
{
    wf_arena_free(&arena);
    desc = (struct wf_desc){.name = "nic",
                            .seed = 1,
                            .duration_ps = WF_KEY_AUTO,
                            .time_limit_ps = 1000 * WF_PS_PER_S,
                            .time_scale = 1};
    wf_desc_leaf_spine(&desc, &arena, 1, 0, HOSTS);
    wf_desc_address(&desc, &arena);
    use = (struct wf_cc_use){.name = "dcqcn", .law = wf_cc_find("dcqcn")};
    use.cfg = wf_arena_alloc(&arena, use.law->cfg_size + 1);
    wf_keyset_defaults(wf_cc_keyset(use.law, &arena), (void *)(uintptr_t)use.cfg);
    for (uint32_t i = 0; i < HOSTS; i++) {
        desc.links[i].cfg.rate_bps = RATE;
        desc.hosts[i].cfg.attach.type = WF_ATTACH_ETHDEV;
        desc.hosts[i].cfg.attach.fifo_frames = 400;
        desc.hosts[i].cfg.nic.control = i == 2 ? NULL : &use;
        desc.hosts[i].cfg.nic.cnp_delay_ps = cnp_delay_ps;
    }
}

static int begin(void **state)
{
    struct wf_fabric_opts opts = {.lcores = 1};
    struct wf_err err;

    (void)state;
    describe();
    wf_edges_init(&edges, NULL, NULL, NULL);
    wf_edges_opts(&edges, &desc, &opts);
    if (wf_fabric_build(&f, &desc, &opts, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(wf_edges_repeat(&edges, f, &err), 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    wft_check(f);
    wf_edges_close(&edges);
    wf_fabric_free(f);
    return 0;
}

struct what {
    uint8_t opcode, ecn;
    uint32_t to_qpn, psn;
    uint8_t syndrome;
};

/* From host to host, by the connected service unless the opcode says otherwise. */
static void say(uint32_t from, uint32_t to, const struct what *w)
{
    const struct wf_host_cfg *a = &desc.hosts[from].cfg, *b = &desc.hosts[to].cfg;
    bool data = w->opcode != (WF_SERVICE_RC | WF_OP_ACK);
    struct wf_roce h = {
        .dscp = 26,
        .ecn = w->ecn,
        .ttl = 64,
        .sport = 0xc001,
        .bth = {.opcode = w->opcode, .pkey = 0xffff, .dqpn = w->to_qpn, .psn = w->psn},
        .ext.aeth.syndrome = w->syndrome,
        .payload_len = data ? MTU : 0};
    uint8_t buf[2048];
    struct wf_parsed p;
    struct wf_pkt *pkt;
    uint32_t hdr, len;

    memcpy(h.src_mac, a->mac, 6);
    memcpy(h.dst_mac, b->mac, 6);
    memcpy(h.src_ip, a->ip.addr, 16);
    memcpy(h.dst_ip, b->ip.addr, 16);
    memset(buf, (int)w->psn, sizeof(buf));
    hdr = wf_roce_hdr_build(buf, sizeof(buf), &h);
    len = wf_roce_frame_len(hdr, h.payload_len);
    wf_parse(buf, len, len, &p);
    wf_icrc_store(buf + len - 4, wf_icrc_of(buf, len, &p));
    pkt = wf_pkt_new(f->nets, len);
    memcpy(wf_pkt_hdr_rw(pkt), buf, len);
    wf_ingress_frame(edge(from), pkt);
}

static void data(uint32_t from, uint32_t to, uint32_t to_qpn, uint32_t psn, uint8_t ecn)
{
    say(from, to, &(struct what){WF_SERVICE_RC | WF_OP_WRITE_MIDDLE, ecn, to_qpn, psn});
}

static void ack(uint32_t from, uint32_t to, uint32_t to_qpn, uint32_t psn)
{
    say(from, to, &(struct what){WF_SERVICE_RC | WF_OP_ACK, 0, to_qpn, psn});
}

static void nak(uint32_t from, uint32_t to, uint32_t to_qpn, uint32_t psn)
{
    say(from, to, &(struct what){WF_SERVICE_RC | WF_OP_ACK, 0, to_qpn, psn, 0x60});
}

static void run(uint64_t us)
{
    wft_run(f, wf_fabric_now_ps(f) + us * WF_PS_PER_US);
}

/* Frames that have come to the host, and the newest of them. */
static uint32_t come(uint32_t host, const uint8_t **last)
{
    struct wf_edge *e = edge(host);

    if (last && e->fifo_count)
        *last = rte_pktmbuf_mtod(e->fifo[(e->fifo_head + e->fifo_count - 1) % e->fifo_len],
                                 const uint8_t *);
    return e->fifo_count;
}

static uint64_t ctr(uint32_t host, enum wf_ctr_EDGE c)
{
    wf_edge_settle(edge(host));
    return edge(host)->ctr[c];
}

/* Frames that come out in 250 us of 60 that were given at once. */
static uint32_t burst(uint32_t from, uint32_t to_qpn, uint32_t psn)
{
    uint32_t before = come(3, NULL);

    for (uint32_t i = 0; i < 60; i++)
        data(from, 3, to_qpn, psn + i, WF_ECN_ECT0);
    run(250);
    return come(3, NULL) - before;
}

/* 250 us of 1 Gb/s at 1,106 bytes on the wire, less what the first one takes to cross the switch.
 * DCQCN's first step back to the line rate comes after 300 us. */
enum { AT_LINE_RATE = 27 };

static void without_cnps_nothing_changes(void **state)
{
    const uint8_t *last = NULL;
    uint8_t want[MTU];
    uint32_t n;

    (void)state;
    n = burst(0, 0x33, 5);
    assert_in_range(n, AT_LINE_RATE - 1, AT_LINE_RATE + 1);
    run(1000);
    assert_int_equal(come(3, &last), 60);
    memset(want, 64, sizeof(want));
    assert_memory_equal(last + 54, want, MTU);
    assert_int_equal(ctr(3, WF_EDGE_OUT_ICRC_OK), 60);
    assert_int_equal(ctr(0, WF_EDGE_RP_CNP) + ctr(3, WF_EDGE_NP_CNP), 0);
}

/* Until an acknowledgement has shown who is whose, all to that address is slowed down. */
static void a_cnp_without_a_pair_is_about_the_address(void **state)
{
    uint32_t n;

    (void)state;
    data(0, 3, 0x33, 5, WF_ECN_CE);
    data(0, 3, 0x44, 70, WF_ECN_ECT0);
    data(0, 1, 0x55, 70, WF_ECN_ECT0);
    run(100);
    assert_int_equal(ctr(3, WF_EDGE_NP_CE), 1);
    assert_int_equal(ctr(3, WF_EDGE_NP_CNP), 1);
    assert_int_equal(ctr(3, WF_EDGE_NP_CNP_BY_ADDRESS), 1);
    assert_int_equal(ctr(0, WF_EDGE_RP_CNP), 1);
    assert_int_equal(ctr(0, WF_EDGE_RP_CNP_BY_ADDRESS), 1);
    assert_int_equal(come(0, NULL), 0); /* the NIC took it */
    n = burst(0, 0x44, 71);             /* half of the line */
    assert_in_range(n, AT_LINE_RATE / 2 - 1, AT_LINE_RATE / 2 + 2);
    assert_true(ctr(0, WF_EDGE_NIC_WAITING_MAX) > 20);
}

static void a_cnp_is_about_one_queue_pair(void **state)
{
    uint32_t slow, fast;

    (void)state;
    data(0, 3, 0x33, 5, WF_ECN_ECT0);
    data(0, 3, 0x44, 70, WF_ECN_ECT0);
    run(50);
    ack(3, 0, 0x30, 5);
    ack(3, 0, 0x40, 70);
    run(50);
    assert_int_equal(ctr(0, WF_EDGE_NIC_PAIRED_PSN), 2);
    assert_int_equal(ctr(3, WF_EDGE_NIC_PAIRED_PSN), 2);
    data(0, 3, 0x33, 6, WF_ECN_CE);
    run(50);
    assert_int_equal(ctr(3, WF_EDGE_NP_CNP_BY_ADDRESS) + ctr(0, WF_EDGE_RP_CNP_BY_ADDRESS), 0);
    assert_int_equal(ctr(0, WF_EDGE_RP_CNP), 1);
    slow = burst(0, 0x33, 7);
    run(2000);
    data(0, 3, 0x33, 100, WF_ECN_CE);
    run(50);
    fast = burst(0, 0x44, 71);
    assert_in_range(slow, AT_LINE_RATE / 2 - 1, AT_LINE_RATE / 2 + 2);
    assert_in_range(fast, AT_LINE_RATE - 1, AT_LINE_RATE + 1);
}

/* Whoever has no such NIC gets a CNP as a ConnectX sends it: 0x81, BECN, his own queue pair. */
static void the_frame_is_a_cnp(void **state)
{
    const uint8_t *b = NULL;
    struct wf_parsed p;

    (void)state;
    data(2, 3, 0x33, 5, WF_ECN_ECT0);
    run(50);
    ack(3, 2, 0x77, 5);
    run(50);
    data(2, 3, 0x33, 6, WF_ECN_CE);
    run(50);
    assert_int_equal(come(2, &b), 2);
    assert_int_equal(wf_parse(b, 74, 74, &p), WF_DROP_NONE);
    assert_int_equal(p.opcode, 0x81);
    assert_int_equal(p.dqpn, 0x77);
    assert_true(p.becn && !p.ackreq);
    assert_int_equal(p.psn, 0);
    assert_int_equal(p.dscp, 48);
    assert_int_equal(p.l3_len, 60);
    assert_int_equal(wf_icrc_check(b, 74, &p), WF_ICRC_OK);
    assert_memory_equal(b + 26, desc.hosts[3].cfg.ip.addr + 12, 4);
    assert_memory_equal(b, desc.hosts[2].cfg.mac, 6);
}

/* CE on what is no data of a connection; and CE that comes too soon after the last CNP. */
static void what_must_not_be_answered(void **state)
{
    (void)state;
    say(0, 3, &(struct what){WF_SERVICE_RC | WF_OP_ACK, WF_ECN_CE, 0x33, 5});
    say(0, 3, &(struct what){WF_OPCODE_CNP, WF_ECN_CE, 0x33, 0});
    say(0, 3, &(struct what){WF_SERVICE_UD | WF_OP_SEND_ONLY, WF_ECN_CE, 0x33, 5});
    run(100);
    assert_int_equal(ctr(3, WF_EDGE_NP_CNP), 0);
    assert_int_equal(ctr(3, WF_EDGE_RP_CNP), 1);
    data(0, 3, 0x33, 6, WF_ECN_CE);
    run(3);                         /* less than the time between two CNPs; a frame takes 8.8 us */
    data(1, 3, 0x34, 6, WF_ECN_CE); /* another queue pair's: the time is its own */
    run(100);
    assert_int_equal(ctr(3, WF_EDGE_NP_CNP), 2);
    assert_int_equal(ctr(3, WF_EDGE_NP_CE), 2);
}

/* As other NICs do it: one interval for all of a port, or of an address; one with each NAK. */
static void paced_as_configured(void **state)
{
    struct wf_np_cfg *np = &edge(3)->nic->np;

    (void)state;
    np->interval_ps = 50 * WF_PS_PER_US;
    np->pacing = WF_CNP_PER_PORT;
    data(0, 3, 0x33, 6, WF_ECN_CE);
    data(1, 3, 0x34, 6, WF_ECN_CE);
    run(40);
    assert_int_equal(ctr(3, WF_EDGE_NP_CNP), 1);
    run(100);
    np->pacing = WF_CNP_PER_IP_PAIR;
    data(0, 3, 0x33, 7, WF_ECN_CE);
    data(0, 3, 0x35, 7, WF_ECN_CE);
    data(1, 3, 0x34, 7, WF_ECN_CE);
    run(40);
    assert_int_equal(ctr(3, WF_EDGE_NP_CNP), 3);
    run(100);
    np->pacing = WF_CNP_PER_QP;
    nak(3, 0, 0x30, 8);
    run(40);
    assert_int_equal(ctr(3, WF_EDGE_NP_CNP), 3);
    np->on_nak = true;
    nak(3, 0, 0x30, 8);
    run(40);
    assert_int_equal(ctr(3, WF_EDGE_NP_CNP), 4);
    assert_int_equal(ctr(0, WF_EDGE_RP_CNP), 3);
}

static int begin_late(void **state)
{
    int rc;

    cnp_delay_ps = 300 * WF_PS_PER_US;
    rc = begin(state);
    cnp_delay_ps = WF_KEY_AUTO;
    return rc;
}

/* CNPs leave so much later than the data came, paced by when it did; too many at once are not
 * sent. */
static void late_as_configured(void **state)
{
    (void)state;
    edge(3)->nic->np.interval_ps = 100 * WF_PS_PER_US;
    for (uint32_t i = 0; i < 5; i++) { /* comes within 20 us of being said */
        data(0, 3, 0x33, i, WF_ECN_CE);
        run(60);
    }
    assert_int_equal(ctr(3, WF_EDGE_NP_CE), 5);
    assert_int_equal(ctr(3, WF_EDGE_NP_CNP), 0);
    run(30); /* 330 us after the first */
    assert_int_equal(ctr(3, WF_EDGE_NP_CNP), 1);
    assert_int_equal(ctr(0, WF_EDGE_RP_CNP), 1);
    run(120); /* 450 us: the next one was for the frame that came at 138 */
    assert_int_equal(ctr(3, WF_EDGE_NP_CNP), 2);
    run(1000);
    assert_int_equal(ctr(3, WF_EDGE_NP_CNP), 3);
    edge(3)->nic->np.pacing = WF_CNP_PER_QP;
    edge(3)->nic->np.delay_ps = 900 * WF_PS_PER_US; /* within which all of these come */
    for (uint32_t q = 0; q < WF_EDGE_NIC_LATE + 10; q++) {
        data(q & 1, 3, 0x100 + q, q, WF_ECN_CE);
        if (q % 8 == 7)
            run(30);
    }
    run(2000);
    assert_int_equal(ctr(3, WF_EDGE_NP_CNP), 3 + WF_EDGE_NIC_LATE);
}

/* More connections than it can know: the oldest make room, what waits goes on its way. */
static void memory_is_bounded(void **state)
{
    (void)state;
    for (uint32_t q = 0; q < 3 * WF_EDGE_NIC_HALVES; q++) {
        data(0, 3, 0x1000 + q, q, WF_ECN_CE);
        run(10);
        if (q % 300 == 0)
            wf_edge_discard(edge(3));
    }
    run(10000);
    assert_int_equal(wf_edge_nic_held(edge(0)->nic), 0);
    assert_true(ctr(0, WF_EDGE_NIC_FORGOTTEN) >= 2 * WF_EDGE_NIC_HALVES);
    assert_true(ctr(3, WF_EDGE_NIC_FORGOTTEN) >= 2 * WF_EDGE_NIC_HALVES);
}

static void start_with_a_timer(struct wf_cc *c)
{
    c->out.timer_ps = c->now_ps + 1000;
}

static void crash(struct wf_cc *c)
{
    (void)c;
    raise(SIGFPE);
}

static void crash_at_send(struct wf_cc *c, uint32_t payload_bytes, bool again)
{
    (void)c, (void)payload_bytes, (void)again;
    raise(SIGFPE);
}

/* Data with CE, and so a CNP, under this law of a shared object. */
static void provoke(const struct wf_cc_law *law)
{
    use.law = law;
    use.path = "./broken.so";
    wf_cc_guard();
    data(0, 3, 0x33, 5, WF_ECN_CE);
    run(100);
}

/* Whose a crash is, is said for each hook; the program ends with status 4. */
static void a_control_that_crashes_is_named(void **state)
{
    static const struct wf_cc_law laws[] = {
        {.name = "a", .flags = WF_CC_CNP, .on_start = crash},
        {.name = "b", .flags = WF_CC_CNP, .on_start = start_with_a_timer, .on_timer = crash},
        {.name = "c", .flags = WF_CC_CNP, .on_start = start_with_a_timer, .on_cnp = crash},
        {.name = "d", .on_start = start_with_a_timer, .on_send = crash_at_send},
    };
    static const char *const hooks[] = {"on_start", "on_timer", "on_cnp", "on_send"};
    char said[256], want[256];

    (void)state;
    for (int i = 0; i < 4; i++) {
        int fds[2], status;
        FILE *from;
        pid_t pid;

        assert_int_equal(pipe(fds), 0);
        pid = fork();
        if (!pid) {
            dup2(fds[1], STDERR_FILENO);
            provoke(&laws[i]);
            _exit(0);
        }
        close(fds[1]);
        from = fdopen(fds[0], "r");
        said[0] = 0;
        assert_true(fgets(said, sizeof(said), from) || feof(from));
        fclose(from);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        snprintf(want, sizeof(want),
                 "weft: control './broken.so' crashed in its hook %s (SIGFPE)\n", hooks[i]);
        assert_string_equal(said, want);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_cnps_nothing_changes, begin, end),
        cmocka_unit_test_setup_teardown(a_cnp_without_a_pair_is_about_the_address, begin, end),
        cmocka_unit_test_setup_teardown(a_cnp_is_about_one_queue_pair, begin, end),
        cmocka_unit_test_setup_teardown(the_frame_is_a_cnp, begin, end),
        cmocka_unit_test_setup_teardown(what_must_not_be_answered, begin, end),
        cmocka_unit_test_setup_teardown(paced_as_configured, begin, end),
        cmocka_unit_test_setup_teardown(late_as_configured, begin_late, end),
        cmocka_unit_test_setup_teardown(memory_is_bounded, begin, end),
        cmocka_unit_test_setup_teardown(a_control_that_crashes_is_named, begin, end),
    };

    wft_eal(512);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
