/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Edges on devices that are rings in memory, driven at random in virtual time: frames of every
 * kind, a peer that takes nothing for a while, comes and goes, commands. What the log says of it
 * lets the same happen again without devices: equal digest, equal counters. Everything is drawn
 * from a seed, which a failure names.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#include "attach/ingress.h"
#include "base/prng.h"
#include "base/units.h"
#include "cap/ingress_log.h"
#include "cc/laws.h"
#include "host/cc_law.h"
#include "support.h"
#include "wire/icrc.h"
#include "wire/pfc.h"

enum { EDGES = 3, STEPS = 600, RING = 64, FRAMES = 16384, SEEDS = 12 };

static const uint32_t attached[EDGES] = {0, 1, 3};
static struct rte_ring *to_fabric[EDGES], *to_peer[EDGES];
static uint16_t ports[EDGES];
static char devargs[EDGES][32], path[64];
static struct rte_mempool *pool;

/* What of a run has to be equal. */
struct outcome {
    struct wf_digest digest;
    uint64_t end_ps, values[20000];
    size_t n;
};

static struct outcome recorded, repeated;

struct world {
    struct wf_arena arena;
    struct wf_desc desc;
    struct wf_edges edges;
    struct wf_fabric *f;
};

static void make_devices(void)
{
    pool = rte_pktmbuf_pool_create("peer", FRAMES, 0, 0, 128 + WF_FULL_ROOM, SOCKET_ID_ANY);
    assert_non_null(pool);
    for (int i = 0; i < EDGES; i++) {
        char name[32];
        int port;

        snprintf(name, sizeof(name), "in%d", i);
        to_fabric[i] = rte_ring_create(name, RING, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
        snprintf(name, sizeof(name), "out%d", i);
        to_peer[i] = rte_ring_create(name, RING, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
        assert_true(to_fabric[i] && to_peer[i]);
        snprintf(name, sizeof(name), "edge%d", i);
        port = rte_eth_from_rings(name, &to_fabric[i], 1, &to_peer[i], 1, SOCKET_ID_ANY);
        assert_true(port >= 0);
        ports[i] = (uint16_t)port;
        assert_int_equal(rte_eth_dev_get_name_by_port(ports[i], devargs[i]), 0);
    }
}

static void empty(struct rte_ring *r, unsigned most)
{
    void *m;

    while (most-- && !rte_ring_dequeue(r, &m))
        rte_pktmbuf_free(m);
}

/* Two leaves, two spines, three hosts a leaf; h0, h1 and h3 are attached, the rest are models. */
static void describe(struct world *w, uint64_t seed)
{
    static const struct wf_desc_step steps[] = {
        {.at_ps = 0, .action = WF_DO_LINK_DOWN, .link = 7},
        {.at_ps = 300 * WF_PS_PER_US, .action = WF_DO_LINK_UP, .link = 7},
        {.at_ps = 700 * WF_PS_PER_US, .action = WF_DO_LINK_RATE, .link = 6, .rate_bps = 300000000},
    };
    static struct wf_desc_flow flow;
    static struct wf_cc_use use;

    memset(w, 0, sizeof(*w));
    w->desc = (struct wf_desc){.name = "repeat",
                               .seed = seed,
                               .duration_ps = WF_KEY_AUTO,
                               .time_limit_ps = WF_PS_PER_S,
                               .time_scale = 1};
    wf_desc_leaf_spine(&w->desc, &w->arena, 2, 2, 3);
    wf_desc_address(&w->desc, &w->arena);
    for (uint32_t i = 0; i < w->desc.n_links; i++)
        w->desc.links[i].cfg.rate_bps = i < w->desc.n_hosts ? 1000000000 : 400000000;
    for (uint32_t i = 0; i < w->desc.n_switches; i++) {
        struct wf_switch_cfg *c = &w->desc.switches[i].cfg;

        c->port.pg[3].lossless = true;
        c->port.pg[3].xoff_bytes = 20000;
        c->port.pg[3].xon_bytes = 10000;
    }
    for (int i = 0; i < EDGES; i++) {
        struct wf_attach_cfg *a = &w->desc.hosts[attached[i]].cfg.attach;

        a->type = WF_ATTACH_ETHDEV;
        a->devargs = devargs[i];
        a->pfc = i;
        a->fifo_frames = 8;
    }
    if (seed & 1) { /* with NICs in between */
        use = (struct wf_cc_use){.name = "dcqcn", .law = wf_cc_find("dcqcn")};
        use.cfg = wf_arena_alloc(&w->arena, use.law->cfg_size + 1);
        wf_keyset_defaults(wf_cc_keyset(use.law, &w->arena), (void *)(uintptr_t)use.cfg);
        for (int i = 0; i < EDGES; i++)
            w->desc.hosts[attached[i]].cfg.nic.control = &use;
    }
    flow = (struct wf_desc_flow){.name = "f", .from = 2, .to = 5};
    wf_keyset_defaults(&wf_flow_keys, &flow.cfg);
    flow.cfg.size_bytes = 3000000;
    w->desc.flows = &flow;
    w->desc.n_flows = 1;
    w->desc.steps = (struct wf_desc_step *)(uintptr_t)steps;
    w->desc.n_steps = sizeof(steps) / sizeof(steps[0]);
}

static void build_described(struct world *w, uint32_t lcores)
{
    struct wf_fabric_opts opts = {.lcores = lcores};
    struct wf_err err;

    wf_edges_init(&w->edges, NULL, NULL, NULL);
    wf_edges_opts(&w->edges, &w->desc, &opts);
    if (wf_fabric_build(&w->f, &w->desc, &opts, &err))
        fail_msg("%s", err.msg);
    wf_edges_bind(&w->edges, w->f);
}

static void build(struct world *w, uint64_t seed, uint32_t lcores)
{
    describe(w, seed);
    build_described(w, lcores);
}

static void finish(struct world *w, struct outcome *o)
{
    struct wf_ctr_walk walk;
    struct wf_err err;

    wf_fabric_settle(w->f);
    if (wf_fabric_check(w->f, &err))
        fail_msg("%s", err.msg);
    o->digest = wf_fabric_digest(w->f);
    o->end_ps = wf_fabric_now_ps(w->f);
    o->n = 0;
    for (walk = wf_fabric_ctrs(w->f, ~0u); wf_ctr_next(&walk);)
        for (size_t c = 0; c < walk.table->n; c++) {
            assert_true(o->n < sizeof(o->values) / sizeof(o->values[0]));
            o->values[o->n++] = walk.values[c];
        }
    wf_edges_close(&w->edges);
    wf_fabric_free(w->f);
    wf_arena_free(&w->arena);
}

static void run_to(struct wf_fabric *f, uint64_t t_ps)
{
    while (wf_fabric_now_ps(f) < t_ps)
        wf_fabric_turn(f, t_ps);
}

/* ---- what the peers do ----------------------------------------------------------------------- */

/* A RoCEv2 packet to one of the hosts, sometimes with a wrong ICRC. */
static uint32_t roce_frame(struct world *w, struct wf_prng *p, int edge, uint8_t *b)
{
    uint32_t to = wf_prng_below(p, w->desc.n_hosts), len, hdr;
    uint8_t head[WF_ROCE_HDR_MAX];
    struct wf_parsed parsed;

    if (to == attached[edge])
        to = (to + 1) % w->desc.n_hosts;
    hdr = wft_roce(w->f, attached[edge], to, wf_prng_below(p, 2) ? 26 : 0,
                   (uint8_t)wf_prng_below(p, 4), wf_prng_below(p, 1000), wf_prng_below(p, 4097),
                   head, &len);
    memcpy(b, head, hdr);
    for (uint32_t i = hdr; i < len; i++)
        b[i] = (uint8_t)wf_prng_below(p, 256);
    wf_parse(b, len, len, &parsed);
    wf_icrc_store(b + len - 4, wf_icrc_of(b, len, &parsed) ^ !wf_prng_below(p, 8));
    return len;
}

static uint32_t any_frame(struct world *w, struct wf_prng *p, int edge, uint8_t *b)
{
    uint32_t len = wf_prng_below(p, 200);
    uint16_t times[8] = {0, 0, 0, 200, 0, 0, 0, 0};

    switch (wf_prng_below(p, 12)) {
    case 0: /* anything */
        for (uint32_t i = 0; i < len; i++)
            b[i] = (uint8_t)wf_prng_below(p, 256);
        return len;
    case 1: /* a pause of the peer */
        wf_pfc_build(b, (const uint8_t[]){2, 0, 0, 0, 0, 9}, 8, times);
        return WF_PFC_FRAME_LEN;
    case 2: /* a broadcast, too long for some links */
        len = 60 + wf_prng_below(p, 9400);
        memset(b, 0xff, 12);
        memset(b + 12, (int)edge, len - 12);
        b[6] = 2;
        return len;
    default:
        return roce_frame(w, p, edge, b);
    }
}

static void peer_sends(struct world *w, struct wf_prng *p, int edge)
{
    for (uint32_t n = wf_prng_below(p, 20); n; n--) {
        struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
        uint8_t b[9600];
        uint32_t len = any_frame(w, p, edge, b);

        assert_non_null(m);
        memcpy(rte_pktmbuf_append(m, (uint16_t)len), b, len);
        if (rte_ring_enqueue(to_fabric[edge], m)) {
            rte_pktmbuf_free(m);
            return;
        }
    }
}

static void command(struct world *w, struct wf_prng *p)
{
    struct wf_link *link = &w->f->links[wf_prng_below(p, w->desc.n_links)];
    struct wf_port *port = link->ends[wf_prng_below(p, 2)];
    static const char *const more[] = {
        "", " copies=2", " crc=repaired", " part=frame", " probability=1/2", " psn=+0-3"};
    struct wf_err err;
    char fault[200];

    snprintf(fault, sizeof(fault),
             "do=%s where=%s match=%s every=%u limit=%u within=20us delay=9us%s",
             wf_fault_action_names[wf_prng_below(p, 13)], port->name,
             wf_fault_class_names[wf_prng_below(p, 4)], 1 + (unsigned)wf_prng_below(p, 9),
             1 + (unsigned)wf_prng_below(p, 9), more[wf_prng_below(p, 6)]);
    switch (wf_prng_below(p, 5)) {
    case 0:
        wf_ingress_link(&w->edges, link, wf_prng_below(p, 3) != 0);
        break;
    case 1:
        wf_ingress_link(&w->edges, link, true);
        break;
    case 2:
        wf_ingress_link_rate(&w->edges, link, 100000000 + wf_prng_below(p, 900000000));
        break;
    case 3:
        wf_ingress_fault(&w->edges, fault, &err);
        break;
    default:
        wf_ingress_pfc(&w->edges, port, (uint8_t)(1 + wf_prng_below(p, 255)),
                       (uint16_t)wf_prng_below(p, 2000));
    }
}

/* One instant: peers act, then the fabric's side of the devices is polled, then a command. */
static void step(struct world *w, struct wf_prng *p)
{
    int edge = (int)wf_prng_below(p, EDGES);
    uint64_t next_ns = 0;

    peer_sends(w, p, edge);
    if (wf_prng_below(p, 40) == 0)
        empty(to_peer[wf_prng_below(p, EDGES)], wf_prng_below(p, RING));
    if (wf_prng_below(p, 40) == 0)
        rte_eth_dev_set_link_down(ports[edge]);
    if (wf_prng_below(p, 10) == 0)
        rte_eth_dev_set_link_up(ports[wf_prng_below(p, EDGES)]);
    w->edges.due_ns = 0;
    w->edges.look_ns = wf_prng_below(p, 4) ? UINT64_MAX : 0;
    w->edges.poller.poll(&w->edges.poller, w->f, &next_ns);
    if (wf_prng_below(p, 20) == 0)
        wf_ingress_mtu(w->edges.edges[edge], 1000 + wf_prng_below(p, 8000));
    if (wf_prng_below(p, 12) == 0)
        command(w, p);
}

static struct wf_ingress_log *open_log(struct world *w, bool cut)
{
    const char *names[EDGES];
    const struct wf_ingress_log_conf conf = {.edges = names, .n_edges = EDGES, .cut = cut};
    struct wf_ingress_log *log;
    struct wf_err err;

    assert_int_equal(w->edges.n, EDGES);
    for (int i = 0; i < EDGES; i++)
        names[i] = w->edges.edges[i]->node.name;
    assert_int_equal(wf_ingress_log_create(&log, path, &conf, &err), 0);
    w->edges.log = wf_ingress_log_sink(log);
    return log;
}

static uint64_t seen[WF_STIM_KINDS], stalls, pauses;

static void record(uint64_t seed)
{
    struct wf_ingress_log_sum sum;
    struct wf_ingress_log *log;
    struct wf_prng p;
    struct world w;
    struct wf_err err;

    wf_prng_init(&p, seed, "test");
    build(&w, seed, 1 + (uint32_t)(seed / 2 % 2));
    if (seed % 3 == 0)
        rte_eth_dev_set_link_down(ports[0]);
    log = open_log(&w, seed & 1);
    if (wf_edges_open(&w.edges, w.f, &err))
        fail_msg("%s", err.msg);
    for (int i = 0; i < STEPS; i++) {
        run_to(w.f, wf_fabric_now_ps(w.f) + wf_prng_below(&p, 100) * WF_PS_PER_US +
                        wf_prng_below(&p, 1000));
        step(&w, &p);
    }
    run_to(w.f, wf_fabric_now_ps(w.f) + WF_PS_PER_US);
    w.edges.log = NULL;
    for (int i = 0; i < EDGES; i++) {
        stalls += w.edges.edges[i]->ctr[WF_EDGE_STALLS];
        pauses += w.edges.edges[i]->ctr[WF_EDGE_BACKPRESSURE_PS];
    }
    assert_int_equal(wf_ingress_log_close(log, wf_fabric_now_ps(w.f), &sum, &err), 0);
    assert_int_equal(sum.lost, 0);
    finish(&w, &recorded);
    for (int i = 0; i < EDGES; i++) {
        empty(to_fabric[i], RING);
        empty(to_peer[i], RING);
    }
}

static void repeat(uint64_t seed, uint32_t lcores)
{
    struct wf_ingress_reader *log;
    struct wf_stimulus st;
    struct world w;
    struct wf_err err;
    int rc;

    build(&w, seed, lcores);
    assert_int_equal(wf_edges_repeat(&w.edges, w.f, &err), 0);
    if (wf_ingress_open(&log, path, &err))
        fail_msg("seed %" PRIu64 ": %s", seed, err.msg);
    while ((rc = wf_ingress_next(log, &st, &err)) == 1) {
        if (!st.first)
            run_to(w.f, st.t_ps);
        seen[st.kind]++;
        if (wf_ingress_repeat(&w.edges, &st, &err))
            fail_msg("seed %" PRIu64 ": %s", seed, err.msg);
    }
    if (rc)
        fail_msg("seed %" PRIu64 ": %s", seed, err.msg);
    run_to(w.f, wf_ingress_tail(log).end_ps);
    wf_ingress_close(log);
    finish(&w, &repeated);
}

static void compare(uint64_t seed, uint32_t lcores)
{
    repeat(seed, lcores);
    if (recorded.digest.h != repeated.digest.h || recorded.end_ps != repeated.end_ps)
        fail_msg("seed %" PRIu64 " on %u lcores: digests differ", seed, lcores);
    assert_int_equal(recorded.n, repeated.n);
    for (size_t i = 0; i < recorded.n; i++)
        if (recorded.values[i] != repeated.values[i])
            fail_msg("seed %" PRIu64 " on %u lcores: counter %zu: %" PRIu64 " and %" PRIu64, seed,
                     lcores, i, recorded.values[i], repeated.values[i]);
}

static void what_the_log_holds_happens_again(void **state)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        record(seed);
        compare(seed, 1);
        compare(seed, 2);
    }
    for (int k = 0; k < WF_STIM_KINDS; k++)
        if (k != WF_STIM_COUNT && !seen[k])
            fail_msg("no stimulus of kind %d came", k);
    assert_true(stalls > 0);
    assert_true(pauses > 0);
}

/* ---- logs that do not fit -------------------------------------------------------------------- */

static void what_does_not_fit_is_refused(void **state)
{
    static const uint8_t b[200];
    const struct wf_stimulus wrong[] = {
        {.kind = WF_STIM_KINDS},
        {.kind = WF_STIM_PEER, .edge = EDGES},
        {.kind = WF_STIM_TAKEN, .value = 1},
        {.kind = WF_STIM_TAKEN, .value = 0},
        {.kind = WF_STIM_TAKEN, .value = 1ull << 40},
        {.kind = WF_STIM_MTU, .value = 1ull << 33},
        {.kind = WF_STIM_COUNT, .where = "in_frames"},
        {.kind = WF_STIM_LINK, .where = "leaf0:p9-leaf1:p9"},
        {.kind = WF_STIM_LINK},
        {.kind = WF_STIM_RATE, .where = "leaf0:p3-spine0:p0", .value = 0},
        {.kind = WF_STIM_FAULT, .where = "leaf0:p0"},
        {.kind = WF_STIM_FAULT},
        {.kind = WF_STIM_FAULT, .where = "do=drop"},
        {.kind = WF_STIM_FAULT, .where = "do=drop where=leaf7:p0"},
        {.kind = WF_STIM_FAULT, .where = "do=drop where=leaf0:p0 psn=x"},
        {.kind = WF_STIM_FAULT, .where = "do=drop where=leaf0:p0 every=1 \xff"},
        {.kind = WF_STIM_PFC, .where = "leaf7:p0"},
        {.kind = WF_STIM_FRAME, .frame = b, .cap_bytes = 200, .len_bytes = WF_FULL_ROOM + 1},
        {.kind = WF_STIM_FRAME, .frame = b, .cap_bytes = 200, .len_bytes = 100},
        {.kind = WF_STIM_FRAME,
         .frame = b,
         .cap_bytes = 200,
         .len_bytes = 900,
         .icrc = WF_STIM_ICRC_OK},
    };
    struct world w;
    struct wf_err err;

    build(&w, 1, 1);
    assert_int_equal(wf_edges_repeat(&w.edges, w.f, &err), 0);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        err.msg[0] = '\0';
        assert_true(wf_ingress_repeat(&w.edges, &wrong[i], &err) < 0);
        assert_true(err.msg[0]);
    }
    finish(&w, &repeated);
}

/* ---- priorities ------------------------------------------------------------------------------ */

/* A tagged RoCEv2 packet of h0: priority 3 by its tag, 0 by its DSCP. */
static uint32_t tagged(struct wf_fabric *f, uint8_t *b)
{
    static const uint8_t tag[4] = {0x81, 0x00, 0x60, 0x00};
    uint8_t head[WF_ROCE_HDR_MAX];
    struct wf_parsed parsed;
    uint32_t len, hdr;

    hdr = wft_roce(f, 0, 2, 0, 0, 1, 100, head, &len);
    memset(b, 0, len + 4);
    memcpy(b, head, 12);
    memcpy(b + 12, tag, 4);
    memcpy(b + 16, head + 12, hdr - 12);
    wf_parse(b, len + 4, len + 4, &parsed);
    wf_icrc_store(b + len, wf_icrc_of(b, len + 4, &parsed));
    return len + 4;
}

/* A pause of priority 3 stops it where the leaf's port trusts tags, one of priority 0 where it goes
 * by DSCP; whatever the leaf's other ports trust. */
static void a_pause_stops_what_the_own_port_trusts(void **state)
{
    for (unsigned i = 0; i < 8; i++) {
        bool by_pcp = i & 1, others = i & 2;
        unsigned prio = i & 4 ? 3 : 0;
        struct wf_switch_port_cfg own;
        struct wf_desc_link *l;
        struct wf_port *leaf;
        struct wf_err err;
        uint8_t b[400];
        uint32_t len;
        struct world w;

        describe(&w, 1);
        l = &w.desc.links[0];
        own = w.desc.switches[0].cfg.port;
        own.trust = by_pcp ? WF_TRUST_PCP : WF_TRUST_DSCP;
        l->port_cfg[l->a.is_host] = &own;
        w.desc.switches[0].cfg.port.trust = others ? WF_TRUST_PCP : WF_TRUST_DSCP;
        build_described(&w, 1);
        assert_int_equal(wf_edges_repeat(&w.edges, w.f, &err), 0);
        leaf = wf_fabric_host(w.f, 0)->ports[0].peer;
        wf_pfc_xoff(leaf, prio);
        run_to(w.f, 10 * WF_PS_PER_US);
        len = tagged(w.f, b);
        assert_int_equal(wf_ingress_repeat(&w.edges,
                                           &(struct wf_stimulus){.kind = WF_STIM_FRAME,
                                                                 .frame = b,
                                                                 .cap_bytes = len,
                                                                 .len_bytes = len},
                                           &err),
                         0);
        run_to(w.f, 30 * WF_PS_PER_US);
        assert_int_equal(leaf->ctr[WF_PORT_RX_FRAMES], prio != (by_pcp ? 3 : 0));
        wf_pfc_xon(leaf, prio);
        run_to(w.f, 60 * WF_PS_PER_US);
        assert_int_equal(leaf->ctr[WF_PORT_RX_FRAMES], 1);
        finish(&w, &repeated);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_log_holds_happens_again),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(a_pause_stops_what_the_own_port_trusts),
    };
    int fd, rc;

    wft_eal(768);
    strcpy(path, "/tmp/weft-repeat.XXXXXX");
    fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    make_devices();
    rc = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return rc;
}
