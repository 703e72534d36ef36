/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fabrics drawn from a seed: topology, rates, delays, both kinds of forwarding and switching, small
 * buffers, lossy and lossless groups, ECN, loss and damage on links, faults, links that flap, flows
 * of every shape. Whatever comes: the invariants hold at many instants and at the end, each flow
 * ends complete or with an error, nothing is left to do, and the same seed gives the same digest.
 *   WEFT_SEEDS=N runs that many; WEFT_SEED=S only that one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"
#include "xport/qp.h"

enum { FLOWS_MAX = 24, STEPS_MAX = 8, LOOKS = 40 };

struct draw {
    struct wf_arena arena;
    struct wf_prng prng;
    struct wf_desc d;
    bool clean; /* nothing in it may lose a packet */
};

static uint32_t below(struct draw *w, uint32_t n)
{
    return (uint32_t)wf_prng_below(&w->prng, n);
}

static bool one_in(struct draw *w, uint32_t n)
{
    return below(w, n) == 0;
}

static void draw_switch(struct draw *w, struct wf_switch_cfg *c, bool l2, bool lossless)
{
    c->forwarding = l2 ? WF_FORWARD_L2 : WF_FORWARD_ROUTED;
    c->mode = one_in(w, 2) ? WF_MODE_CUT_THROUGH : WF_MODE_STORE_AND_FORWARD;
    c->latency_ps = below(w, 2000000);
    for (int i = 0; i < 8; i++) {
        c->port.pg[i].lossless = lossless;
        c->port.pg[i].xoff_bytes = 20000 + below(w, 100000);
        c->port.pg[i].limit_bytes = w->clean ? 1u << 30 : 20000 + below(w, 200000);
        c->port.queue[i].limit_bytes = w->clean ? 1u << 30 : 20000 + below(w, 200000);
        c->port.queue[i].ecn.enable = one_in(w, 2);
        c->port.queue[i].ecn.kmin_bytes = below(w, 30000);
        c->port.queue[i].ecn.kmax_bytes = c->port.queue[i].ecn.kmin_bytes + 1 + below(w, 100000);
        c->port.queue[i].sched = one_in(w, 4) ? WF_SCHED_STRICT : WF_SCHED_DWRR;
        c->port.queue[i].weight = 1 + below(w, 30);
    }
    c->buffer_bytes = 1u << 30;
    c->port.pfc.quanta = one_in(w, 3) ? 100 + below(w, 1000) : 65535;
}

static void draw_link(struct draw *w, struct wf_link_cfg *c)
{
    static const uint64_t rates[] = {10000000000ull, 25000000000ull, 33300000000ull,
                                     100000000000ull};

    c->rate_bps = rates[below(w, 4)];
    c->delay_ps = 1000 + below(w, 2000000);
    if (!w->clean && one_in(w, 3))
        c->loss = (struct wf_fraction){1, 50 + below(w, 1000)};
    if (!w->clean && one_in(w, 3))
        c->corrupt = (struct wf_fraction){1, 50 + below(w, 1000)};
}

/* Whatever is not a WRITE that goes back by N. */
static void draw_operation(struct draw *w, struct wf_flow_cfg *c)
{
    c->op = (int)below(w, WF_WORK_OPS);
    c->retransmit = (int)below(w, 3);
    if (c->op >= WF_WORK_CMP_SWAP)
        c->size_bytes = 8;
    if (c->retransmit == WF_GO_BACK_0 && c->size_bytes > 4 * c->path_mtu)
        c->retransmit = WF_SELECTIVE; /* long messages would begin anew for ever */
    c->max_rd_atomic = 1 + below(w, 4);
    if (w->clean) /* an RNR NAK repeats packets */
        return;
    c->recv_depth = 1 + below(w, 4);
    c->recv_time_ps = below(w, 3) * 700000;
    c->min_rnr_timer = 1;
}

static void draw_flow(struct draw *w, struct wf_desc_flow *f, uint32_t i)
{
    static const uint32_t mtus[] = {256, 512, 1024, 2048, 4096};

    f->name = wf_arena_printf(&w->arena, "f%u", i);
    f->from = below(w, w->d.n_hosts);
    f->to = (f->from + 1 + below(w, w->d.n_hosts - 1)) % w->d.n_hosts;
    if (one_in(w, 2)) { /* many of them into one host */
        f->to = 0;
        f->from = 1 + below(w, w->d.n_hosts - 1);
    }
    wf_keyset_defaults(&wf_flow_keys, &f->cfg);
    f->cfg.size_bytes = 1 + below(w, one_in(w, 2) ? 200 : 100000);
    f->cfg.count = 1 + below(w, 5);
    f->cfg.path_mtu = mtus[below(w, 5)];
    f->cfg.window_bytes = 256 + below(w, 200000);
    f->cfg.start_ps = below(w, 20000000);
    f->cfg.dscp = below(w, 64);
    f->cfg.ecn = one_in(w, 2);
    f->cfg.rate_bps = one_in(w, 4) ? 100000000ull + below(w, 1u << 30) : 0;
    f->cfg.ack_timeout_ps = w->clean ? WF_PS_PER_S : WF_PS_PER_MS;
    f->cfg.retries = below(w, 8);
    if (one_in(w, 2))
        draw_operation(w, &f->cfg);
}

static void draw_steps(struct draw *w)
{
    struct wf_desc *d = &w->d;

    d->steps = WF_ARENA_ARRAY(&w->arena, struct wf_desc_step, STEPS_MAX);
    d->n_steps = w->clean ? 0 : below(w, STEPS_MAX);
    for (uint32_t i = 0; i < d->n_steps; i++) {
        struct wf_desc_step *st = &d->steps[i];
        char name[64];

        st->at_ps = (i + 1) * 10000000ull + below(w, 1000000);
        st->link = below(w, d->n_links);
        st->action = i & 1 ? WF_DO_LINK_UP : WF_DO_LINK_DOWN;
        if (i & 1)
            st->link = d->steps[i - 1].link;
        if (one_in(w, 3) && !(i & 1)) {
            wf_desc_port_name(d, st->link, (int)below(w, 2), name, sizeof(name));
            st->action = WF_DO_INJECT;
            st->where = wf_arena_strdup(&w->arena, name);
            st->fault = (struct wf_fault){.action = (enum wf_fault_action)below(w, 3),
                                          .match = (enum wf_fault_class)below(w, 4),
                                          .every = 1 + below(w, 50),
                                          .limit = 1 + below(w, 20)};
        }
    }
}

static void draw(struct draw *w, uint64_t seed)
{
    bool l2, lossless;

    memset(w, 0, sizeof(*w));
    wf_prng_init(&w->prng, seed, "fabrics");
    w->d.seed = seed;
    w->d.duration_ps = WF_KEY_AUTO;
    w->clean = one_in(w, 3);
    l2 = one_in(w, 3);
    lossless = w->clean || one_in(w, 2);
    wf_desc_leaf_spine(&w->d, &w->arena, 1 + below(w, 3), 1 + below(w, 3), 2 + below(w, 4));
    for (uint32_t i = 0; i < w->d.n_switches; i++)
        draw_switch(w, &w->d.switches[i].cfg, l2, lossless);
    for (uint32_t i = 0; i < w->d.n_links; i++)
        draw_link(w, &w->d.links[i].cfg);
    wf_desc_address(&w->d, &w->arena);
    w->d.n_flows = 1 + below(w, FLOWS_MAX);
    w->d.flows = WF_ARENA_ARRAY(&w->arena, struct wf_desc_flow, FLOWS_MAX);
    for (uint32_t i = 0; i < w->d.n_flows; i++)
        draw_flow(w, &w->d.flows[i], i);
    draw_steps(w);
}

static void check_flows(struct draw *w, struct wf_fabric *f)
{
    struct wf_ctr_walk walk = wf_fabric_ctrs(f, wf_ctr_table_bit(&wf_ctrs_flow));

    for (uint32_t n = 1; wf_ctr_next(&walk); n++) {
        const uint64_t *c = walk.values;
        unsigned long i = strtoul(walk.holder + strlen("flow.f"), NULL, 10);

        assert_in_range(n, 1, w->d.n_flows);
        assert_in_range(i, 0, w->d.n_flows - 1);
        assert_int_equal(c[WF_FLOW_MSGS] + c[WF_FLOW_MSGS_FAILED], c[WF_FLOW_MSGS_POSTED]);
        assert_true(c[WF_FLOW_TX_PACKETS] >= c[WF_FLOW_RETX_PACKETS]);
        if (w->d.flows[i].cfg.retransmit != WF_SELECTIVE) /* where they are losses told of */
            assert_true(c[WF_FLOW_NAK_RX] <= c[WF_FLOW_NAK_TX]);
        if (w->clean) {
            assert_int_equal(c[WF_FLOW_MSGS_FAILED], 0);
            assert_int_equal(c[WF_FLOW_RETX_PACKETS], 0);
            assert_int_equal(c[WF_FLOW_BYTES], c[WF_FLOW_POSTED_BYTES]);
        }
        if (!c[WF_FLOW_MSGS_FAILED])
            assert_int_equal(c[WF_FLOW_BYTES], c[WF_FLOW_POSTED_BYTES]);
    }
}

static uint64_t run(uint64_t seed)
{
    struct wf_fabric *f;
    struct draw w;
    uint64_t digest;

    draw(&w, seed);
    f = wft_build_some(&w.d, UINT64_MAX);
    for (uint64_t i = 1; i <= LOOKS; i++) {
        wft_run(f, i * 3777777);
        wft_check(f);
    }
    for (uint64_t t = LOOKS * 3777777; !wf_fabric_idle(f); t *= 2) {
        wft_run(f, t);
        assert_true(t < 1000 * WF_PS_PER_S);
    }
    wft_check(f);
    check_flows(&w, f);
    assert_int_equal(wf_fabric_in_flight(f), 0);
    if (w.clean)
        assert_int_equal(wf_fabric_ctr(f, WF_FABRIC_DROPPED), 0);
    digest = wf_fabric_digest(f).h;
    wf_fabric_free(f);
    wf_arena_free(&w.arena);
    return digest;
}

static void test_fabrics(void **state)
{
    const char *n = getenv("WEFT_SEEDS"), *one = getenv("WEFT_SEED");
    uint64_t first = one ? strtoull(one, NULL, 10) : 1;
    uint64_t last = one ? first : n ? strtoull(n, NULL, 10) : 60;

    for (uint64_t seed = first; seed <= last; seed++) {
        uint64_t digest;

        printf("seed %llu\n", (unsigned long long)seed);
        fflush(stdout);
        digest = run(seed);
        assert_int_equal(run(seed), digest);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fabrics)};

    wft_eal(256);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
