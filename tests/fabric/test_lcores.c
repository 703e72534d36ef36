/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fabric on several lcores: the same digest and the same counters as on one, whoever runs them,
 * whatever the mailboxes hold, and whatever happens at stops. Windows over silence are counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/partition.h"
#include "fabric/run.h"
#include "support.h"

static struct wf_arena arena;
static struct wf_desc desc;

static void reset(void)
{
    wf_arena_free(&arena);
    desc = (struct wf_desc){.name = "test",
                            .seed = 7,
                            .duration_ps = WF_KEY_AUTO,
                            .time_limit_ps = 10 * WF_PS_PER_S,
                            .time_scale = 1};
}

static struct wf_desc_flow *flow(uint32_t from, uint32_t to, uint64_t bytes)
{
    struct wf_desc_flow *f;

    if (!desc.flows)
        desc.flows = WF_ARENA_ARRAY(&arena, struct wf_desc_flow, 256);
    f = &desc.flows[desc.n_flows];
    f->name = wf_arena_printf(&arena, "f%u", desc.n_flows++);
    f->from = from;
    f->to = to;
    wf_keyset_defaults(&wf_flow_keys, &f->cfg);
    f->cfg.size_bytes = bytes;
    f->cfg.path_mtu = 1024;
    return f;
}

static void lossless(void)
{
    for (uint32_t i = 0; i < desc.n_switches; i++) {
        desc.switches[i].cfg.port.pg[3].lossless = true;
        desc.switches[i].cfg.port.pg[3].xoff_bytes = 20000;
    }
}

/* 16 hosts; a permutation, and all others to one host, which pauses through the whole fabric. */
static void fat_tree(uint64_t bytes)
{
    const struct wf_fat_tree t = {.k = 4, .pods = 4, .hosts_per_edge = 2};

    reset();
    wf_desc_fat_tree(&desc, &arena, &t);
    wf_desc_address(&desc, &arena);
    lossless();
    for (uint32_t h = 0; h < 16; h++)
        flow(h, (h + 7) % 16, bytes);
    for (uint32_t h = 1; h < 16; h++)
        flow(h, 0, bytes / 2);
}

struct how {
    uint32_t lcores, slots;
    enum wf_team_mode mode;
    bool paced;
};

struct result {
    uint64_t digest, time_ps, hops;
    uint64_t pauses;
    uint32_t lcores;
    struct wf_team_stats stats;
};

static uint64_t pauses(struct wf_fabric *f)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(f, wf_ctr_table_bit(&wf_ctrs_prio));
    uint64_t n = 0;

    while (wf_ctr_next(&w))
        n += w.values[WF_PRIO_XOFF_RX];
    return n;
}

static struct result run(struct how how)
{
    struct wf_fabric_opts opts = {
        .lcores = how.lcores, .threads = how.mode, .mailbox_slots = how.slots, .paced = how.paced};
    struct result res = {0};
    struct wf_fabric *f;
    struct wf_err err;
    struct wf_run r;

    if (wf_fabric_build(&f, &desc, &opts, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(wf_run_init(&r, f), 0);
    assert_int_equal(wf_run_loop(&r), WF_RUN_DONE);
    wft_check(f);
    res.digest = wf_fabric_digest(f).h;
    res.time_ps = wf_fabric_now_ps(f);
    res.hops = wf_fabric_ctr(f, WF_FABRIC_LINK_HOPS);
    res.pauses = pauses(f);
    res.lcores = f->n_lcs;
    assert_int_equal(wf_fabric_in_flight(f), 0);
    if (f->team)
        res.stats = wf_team_stats(f->team);
    wf_run_fini(&r);
    wf_fabric_free(f);
    return res;
}

/* On 2 and 4 lcores, by one thread and by many, with roomy mailboxes and with the smallest. */
static struct result same_everywhere(void)
{
    struct result one = run((struct how){.lcores = 1}), many = one;

    for (uint32_t lcores = 2; lcores <= 4; lcores += 2)
        for (int mode = WF_TEAM_AUTO; mode <= WF_TEAM_THREADS; mode++)
            for (uint32_t slots = 0; slots <= (mode != WF_TEAM_AUTO); slots++) {
                many = run((struct how){lcores, slots, (enum wf_team_mode)mode});
                assert_int_equal(many.lcores, lcores);
                assert_int_equal(many.digest, one.digest);
                assert_int_equal(many.time_ps, one.time_ps);
                assert_int_equal(many.hops, one.hops);
                assert_int_equal(many.pauses, one.pauses);
                assert_true(many.stats.messages > 0);
                assert_int_equal(many.stats.phases > 0,
                                 mode == WF_TEAM_THREADS || (!mode && many.stats.phases));
                if (slots)
                    assert_true(many.stats.overflowed > 0);
            }
    return one;
}

static void pauses_and_acks_cross_the_cut(void **state)
{
    fat_tree(30000);
    assert_true(same_everywhere().pauses > 10);
}

/* Losses, damage, ECN and faults draw from streams that no other lcore touches. */
static void losses_are_drawn_alike(void **state)
{
    fat_tree(12000);
    for (uint32_t i = 0; i < desc.n_links; i += 3) {
        desc.links[i].cfg.loss = (struct wf_fraction){1, 50};
        desc.links[i].cfg.corrupt = (struct wf_fraction){1, 60};
    }
    same_everywhere();
}

static void cut_through_switches_too(void **state)
{
    fat_tree(12000);
    for (uint32_t i = 0; i < desc.n_switches; i += 2)
        desc.switches[i].cfg.mode = WF_MODE_CUT_THROUGH;
    same_everywhere();
}

/* Links at the floor are the shortest that may be cut, and each of another rate. */
static void links_at_the_floor(void **state)
{
    static const uint64_t rates[] = {400000000000ull, 100000000000ull, 33333333ull * 1000};

    fat_tree(12000);
    for (uint32_t i = 0; i < desc.n_links; i++) {
        desc.links[i].cfg.delay_ps = WF_PARTITION_FLOOR_PS;
        desc.links[i].cfg.rate_bps = rates[i % 3];
    }
    same_everywhere();
}

/* Down and up, slower and faster: what two lcores share changes while both stand still. */
static void links_change_at_stops(void **state)
{
    struct wf_desc_step steps[6];

    fat_tree(20000);
    for (unsigned i = 0; i < 6; i++)
        steps[i] = (struct wf_desc_step){.at_ps = (i + 1) * 3 * WF_PS_PER_US,
                                         .link = desc.n_links - 1 - i / 2 * 5,
                                         .action = i % 2 ? WF_DO_LINK_UP : WF_DO_LINK_DOWN};
    steps[2].action = steps[3].action = WF_DO_LINK_RATE;
    steps[2].rate_bps = 1000000000;
    steps[3].rate_bps = 1600000000000; /* the lookahead shrinks */
    desc.steps = steps;
    desc.n_steps = 6;
    same_everywhere();
}

/* Live: a turn is a short call of the team, up to where wall time stands. */
static void pacing_changes_nothing(void **state)
{
    struct result one, many;

    fat_tree(12000);
    desc.time_scale = 2000;
    one = run((struct how){.lcores = 1});
    for (int mode = WF_TEAM_ALONE; mode <= WF_TEAM_THREADS; mode++) {
        many = run((struct how){2, 0, (enum wf_team_mode)mode, true});
        assert_int_equal(many.digest, one.digest);
        assert_true(many.stats.calls > 1); /* how many is up to who else uses the machine */
    }
}

/* A second of silence between two short flows, on 50 ns of cable: 2e7 lookaheads. */
static void silence_is_jumped_over(void **state)
{
    static const uint32_t lcores[] = {2, 4};
    uint64_t digest;

    fat_tree(1000);
    desc.n_flows = 0;
    for (uint32_t i = 0; i < desc.n_links; i++)
        desc.links[i].cfg.delay_ps = 50 * WF_PS_PER_NS;
    for (uint32_t i = 0; i < 8; i++)
        flow(i, 15 - i, 5000)->cfg.start_ps = i * WF_PS_PER_S / 8;
    digest = run((struct how){.lcores = 1}).digest;
    for (unsigned i = 0; i < 2; i++)
        for (int mode = WF_TEAM_ALONE; mode <= WF_TEAM_THREADS; mode++) {
            struct result r = run((struct how){lcores[i], 0, (enum wf_team_mode)mode});

            assert_int_equal(r.digest, digest);
            assert_true(r.time_ps > 7 * WF_PS_PER_S / 8);
            assert_true(r.stats.jumps > 0);
            assert_in_range(r.stats.windows, 1, 40 * r.hops);
            assert_in_range(r.stats.promises, 1, 40 * r.hops * lcores[i]);
        }
}

static sig_atomic_t enough;

static void stop_soon(void *arg, struct wf_fabric *f)
{
    enough = 1;
}

/* A signal ends it within a turn, at an instant at which all lcores stand. */
static void a_stop_ends_all_lcores_at_one_instant(void **state)
{
    struct wf_fabric_opts opts = {.lcores = 2, .threads = WF_TEAM_THREADS};
    struct wf_fabric *f;
    struct wf_err err;
    struct wf_run r;

    fat_tree(4000000000ull);
    assert_int_equal(wf_fabric_build(&f, &desc, &opts, &err), 0);
    wf_run_init(&r, f);
    r.stop = &enough;
    r.progress = stop_soon; /* after a second */
    enough = 0;
    assert_int_equal(wf_run_loop(&r), WF_RUN_STOPPED);
    assert_int_equal(f->lcs[0].now_ps, f->lcs[1].now_ps);
    assert_true(wf_fabric_now_ps(f) > wf_fabric_last_event_ps(f));
    assert_true(wf_fabric_in_flight(f) > 0);
    wft_check(f); /* what waited in mailboxes is on the wire */
    wf_run_fini(&r);
    wf_fabric_free(f);
}

/* ---- the partition ---- */

static struct wf_partition part(uint32_t lcores)
{
    struct wf_partition p;

    wf_partition(&p, &desc, lcores, &arena);
    return p;
}

static void hosts_stay_with_their_switch(void **state)
{
    struct wf_partition p;

    fat_tree(1000);
    p = part(4);
    assert_int_equal(p.n, 4);
    for (uint32_t i = 0; i < desc.n_links; i++)
        if (desc.links[i].a.is_host || desc.links[i].b.is_host) {
            struct wf_desc_end h = desc.links[i].a.is_host ? desc.links[i].a : desc.links[i].b;
            struct wf_desc_end s = desc.links[i].a.is_host ? desc.links[i].b : desc.links[i].a;

            assert_int_equal(p.lcore_of[desc.n_switches + h.index], p.lcore_of[s.index]);
        }
    /* a pod an lcore: edges 2p, 2p + 1, aggregation switches behind the 8 edges, then 4 cores */
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(p.lcore_of[i], i % 8 / 2);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(p.lcore_of[16 + i], i);
        assert_int_equal(p.weight[i], p.weight[0]);
        assert_int_equal(p.nodes[i], 9);
    }
    assert_int_equal(p.n_cut, 12); /* each core reaches three other pods */
}

static void near_nodes_are_not_cut(void **state)
{
    struct wf_partition p;

    fat_tree(1000);
    for (uint32_t i = 0; i < desc.n_links; i++)
        desc.links[i].cfg.delay_ps = WF_PARTITION_FLOOR_PS - (i % 5 == 0);
    p = part(2);
    for (uint32_t i = 0; i < desc.n_links; i++) {
        const struct wf_desc_link *l = &desc.links[i];
        uint32_t a = l->a.is_host ? desc.n_switches + l->a.index : l->a.index;
        uint32_t b = l->b.is_host ? desc.n_switches + l->b.index : l->b.index;

        if (l->cfg.delay_ps < WF_PARTITION_FLOOR_PS)
            assert_int_equal(p.lcore_of[a], p.lcore_of[b]);
    }
    for (uint32_t i = 0; i < desc.n_links; i++)
        desc.links[i].cfg.delay_ps = 0;
    p = part(2);
    assert_int_equal(p.n, 1);
    assert_int_equal(p.n_groups, 1);
    assert_int_equal(p.n_cut, 0);
}

static void what_can_not_be_split_takes_fewer_lcores(void **state)
{
    reset();
    wf_desc_leaf_spine(&desc, &arena, 1, 0, 8);
    assert_int_equal(part(4).n, 1);
    reset();
    wf_desc_leaf_spine(&desc, &arena, 2, 1, 8);
    assert_int_equal(part(2).n, 2);
    assert_int_equal(part(64).n, 3); /* two leaves and a spine */
}

static void lookahead_is_delay_and_the_shortest_frame(void **state)
{
    struct wf_link_cfg cfg = {.rate_bps = 100000000000ull, .delay_ps = 50000};

    assert_int_equal(wf_link_lookahead(&cfg), 50000 + 64 * 80);
    cfg.rate_bps = 1000;
    assert_int_equal(wf_link_lookahead(&cfg), 50000 + 512 * WF_PS_PER_S / 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pauses_and_acks_cross_the_cut),
        cmocka_unit_test(losses_are_drawn_alike),
        cmocka_unit_test(cut_through_switches_too),
        cmocka_unit_test(links_at_the_floor),
        cmocka_unit_test(links_change_at_stops),
        cmocka_unit_test(pacing_changes_nothing),
        cmocka_unit_test(silence_is_jumped_over),
        cmocka_unit_test(a_stop_ends_all_lcores_at_one_instant),
        cmocka_unit_test(hosts_stay_with_their_switch),
        cmocka_unit_test(near_nodes_are_not_cut),
        cmocka_unit_test(what_can_not_be_split_takes_fewer_lcores),
        cmocka_unit_test(lookahead_is_delay_and_the_shortest_frame),
    };

    wft_eal(256);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
