/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Model hosts in whole fabrics: completion times against closed forms to the picosecond, goodput
 * against M/(M+82), go-back-N under injected loss, incast under PFC, pacing, and digests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

#include "switch/switch.h"

/* A leaf-spine fabric and its flows; pg 3 (DSCP 26) is lossless when `lossless`. */
struct setup {
    struct wf_arena arena;
    struct wf_desc d;
    struct wf_fabric *f;
};

static void describe(struct setup *s, uint32_t leaves, uint32_t spines, uint32_t hosts,
                     uint32_t max_flows)
{
    memset(s, 0, sizeof(*s));
    s->d.name = "test";
    s->d.seed = 1;
    s->d.duration_ps = WF_KEY_AUTO;
    wf_desc_leaf_spine(&s->d, &s->arena, leaves, spines, hosts);
    s->d.flows = WF_ARENA_ARRAY(&s->arena, struct wf_desc_flow, max_flows);
    for (uint32_t i = 0; i < s->d.n_switches; i++)
        s->d.switches[i].cfg.pg[3].lossless = true;
}

static struct wf_flow_cfg *flow(struct setup *s, uint32_t from, uint32_t to, uint64_t bytes)
{
    struct wf_desc_flow *w = &s->d.flows[s->d.n_flows];

    w->name = wf_arena_printf(&s->arena, "f%u", s->d.n_flows++);
    w->from = from;
    w->to = to;
    wf_keyset_defaults(&wf_flow_keys, &w->cfg);
    w->cfg.size_bytes = bytes;
    return &w->cfg;
}

static void build(struct setup *s)
{
    struct wf_fabric_opts opts = {0};
    struct wf_err err = {0};

    wf_desc_address(&s->d, &s->arena);
    if (wf_fabric_build(&s->f, &s->d, &opts, &err))
        fail_msg("%s", err.msg);
}

static void run(struct setup *s)
{
    wft_run(s->f, WF_TIME_NEVER);
    wf_fabric_settle(s->f);
    wft_check(s->f);
}

static void done(struct setup *s)
{
    wf_fabric_free(s->f);
    wf_arena_free(&s->arena);
}

static uint64_t *counters(struct setup *s, const char *name)
{
    for (uint32_t i = 0; i < s->f->n_objs; i++)
        if (!strcmp(s->f->objs[i].name, name) && s->f->objs[i].table == &wf_ctrs_flow)
            return s->f->objs[i].values;
    fail_msg("no counters of %s", name);
    return NULL;
}

/*
 * By hand, 100 Gb/s (80 ps a byte), links of 500 ns, one store-and-forward switch of 500 ns.
 * n packets of 4096: frames of 4174 (First, with RETH), then 4158. The first one's last bit is at
 * the switch after (8 + 4174) * 80 + 500 ns; from then on the egress never idles, since the frames
 * behind are shorter. The last frame leaves it n - 1 frames and gaps later. The ACK of 66 bytes
 * then crosses both links alone.
 */
static void test_closed_form(void **state)
{
    const uint64_t B = 80, D = 500000, L = 500000, n = 32;
    uint64_t at_switch = (8 + 4174) * B + D + L;
    uint64_t last_begins = at_switch + (4174 + 20) * B + (n - 2) * (4158 + 20) * B;
    uint64_t at_host = last_begins + (8 + 4158) * B + D;
    uint64_t ack = 2 * ((8 + 66) * B + D) + L;
    struct setup s;
    uint64_t *c;

    describe(&s, 1, 0, 2, 1);
    flow(&s, 0, 1, n * 4096)->start_ps = 12345;
    build(&s);
    run(&s);
    c = counters(&s, "flow.f0");
    assert_int_equal(c[WF_FLOW_BYTES], n * 4096);
    assert_int_equal(c[WF_FLOW_MSGS], 1);
    assert_int_equal(c[WF_FLOW_TX_PACKETS], n);
    assert_int_equal(c[WF_FLOW_RETX_PACKETS], 0);
    assert_int_equal(c[WF_FLOW_START_PS], 12345);
    assert_int_equal(c[WF_FLOW_COMPLETION_PS], at_host + ack);
    assert_int_equal(s.f->lc->wheel.count, 0);
    done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_form),
    };

    wft_eal(256);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
