/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of a whole fat tree: which ways packets take, while links fail and come back, and that all
 * bytes of a permutation arrive meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/run.h"
#include "support.h"

enum { K = 4, HALF = K / 2, HOSTS = K * K * K / 4, PATH_MAX_PORTS = 16 };

static struct wf_arena arena;
static struct wf_desc d;

static struct wf_fabric *build(void)
{
    struct wf_fabric_opts opts = {0};
    struct wf_fabric *f;
    struct wf_err err;

    wf_desc_address(&d, &arena);
    if (wf_fabric_build(&f, &d, &opts, &err))
        fail_msg("%s", err.msg);
    return f;
}

static int setup(void **state)
{
    (void)state;
    d = (struct wf_desc){.name = "fat tree",
                         .seed = 1,
                         .duration_ps = WF_KEY_AUTO,
                         .time_limit_ps = WF_PS_PER_S,
                         .time_scale = 1};
    wf_desc_fat_tree(&d, &arena, &(struct wf_fat_tree){K, K, HALF});
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    wf_arena_free(&arena);
    return 0;
}

/* Links between two hosts of a fat tree: by the edge, within the pod, or by a core. */
static int want_links(uint32_t from, uint32_t to)
{
    return from / HALF == to / HALF ? 2 : from / (HALF * HALF) == to / (HALF * HALF) ? 4 : 6;
}

static void ways_are_the_shortest_and_all_are_used(void **state)
{
    struct wf_fabric *f = build();

    (void)state;
    for (uint32_t from = 0; from < HOSTS; from++)
        for (uint32_t to = 0; to < HOSTS; to++) {
            int want = want_links(from, to);
            uint32_t ways = 0;

            for (uint32_t hash = 0; hash < 64 && from != to; hash++) {
                struct wf_port *path[PATH_MAX_PORTS];
                struct wf_port *last, *top;

                assert_int_equal(wf_fabric_path(f, from, to, hash, path, PATH_MAX_PORTS), want);
                last = path[want - 1]->peer;
                assert_ptr_equal(last->node, wf_fabric_host(f, to));
                top = path[want / 2 - 1]->peer; /* where it turns around */
                ways |= 1u << top->node->index % (HALF * HALF);
            }
            if (from != to)
                assert_int_equal(__builtin_popcount(ways), want == 2 ? 1 : want == 4 ? HALF : 4);
        }
    wf_fabric_free(f);
}

static bool passes(struct wf_fabric *f, const struct wf_link *link, uint32_t from, uint32_t to)
{
    for (uint32_t hash = 0; hash < 64; hash++) {
        struct wf_port *path[PATH_MAX_PORTS];
        int n = wf_fabric_path(f, from, to, hash, path, PATH_MAX_PORTS);

        assert_true(n > 0 && n <= PATH_MAX_PORTS);
        for (int i = 0; i < n; i++)
            if (path[i]->link == link)
                return true;
    }
    return false;
}

static void nothing_passes_a_link_that_is_down(void **state)
{
    struct wf_fabric *f = build();

    (void)state;
    for (uint32_t i = HOSTS; i < d.n_links; i++) {
        struct wf_link *link = &f->links[i];
        bool used[2] = {false};

        for (int down = 1; down >= 0; down--) {
            wf_fabric_link_set(f, link, !down);
            for (uint32_t from = 0; from < HOSTS; from += 3)
                for (uint32_t to = 0; to < HOSTS; to++)
                    used[down] |= from != to && passes(f, link, from, to);
        }
        assert_false(used[1]);
        assert_true(used[0]);
    }
    wf_fabric_free(f);
}

/* A permutation, and links that go down and come up under it. */
static void all_bytes_arrive_while_links_flap(void **state)
{
    struct wf_desc_step steps[8];
    struct wf_ctr_walk w;
    struct wf_fabric *f;
    struct wf_run r;
    uint32_t flows = 0;

    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t link = HOSTS + i * 9 % (d.n_links - HOSTS);

        steps[i] = (struct wf_desc_step){(20 + i) * WF_PS_PER_US, WF_DO_LINK_DOWN, .link = link};
        steps[4 + i] = (struct wf_desc_step){(60 + i) * WF_PS_PER_US, WF_DO_LINK_UP, .link = link};
    }
    d.steps = steps;
    d.n_steps = 8;
    d.flows = WF_ARENA_ARRAY(&arena, struct wf_desc_flow, HOSTS);
    for (; d.n_flows < HOSTS; d.n_flows++) {
        struct wf_desc_flow *x = &d.flows[d.n_flows];

        x->name = wf_arena_printf(&arena, "f%u", d.n_flows);
        x->from = d.n_flows;
        x->to = (d.n_flows + 5) % HOSTS;
        wf_keyset_defaults(&wf_flow_keys, &x->cfg);
        x->cfg.size_bytes = 1000000;
    }
    f = build();
    assert_int_equal(wf_run_init(&r, f), 0);
    assert_int_equal(wf_run_loop(&r), WF_RUN_DONE);
    wf_run_fini(&r);
    wf_fabric_settle(f);
    wft_check(f);
    w = wf_fabric_ctrs(f, wf_ctr_table_bit(&wf_ctrs_flow));
    for (; wf_ctr_next(&w); flows++)
        assert_int_equal(w.values[WF_FLOW_BYTES], 1000000);
    assert_int_equal(flows, HOSTS);
    for (uint32_t i = 0; i < f->graph.n; i++)
        assert_null(f->graph.nodes[i].row); /* whole again */
    wf_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ways_are_the_shortest_and_all_are_used, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_passes_a_link_that_is_down, setup, teardown),
        cmocka_unit_test_setup_teardown(all_bytes_arrive_while_links_flap, setup, teardown),
    };

    wft_eal(256);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
