/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workloads that are drawn: sizes against the published points, gaps against the exponential
 * distribution, who is judged, and slowdowns against ranks counted by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"
#include "fabric/fabric.h"
#include "host/host.h"
#include "scen/scenario.h"
#include "scen/sizes.h"
#include "scen/slowdown.h"
#include "support.h"

#define HEAD "weft: 1\ntopology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}\n"
#define WEB                                                                                        \
    HEAD "workload: [{name: w, kind: poisson, from: 'h*', sizes: web_search, load: 50%, "          \
         "arrivals: 100ms, start: 1ms"

static void load(struct wf_scenario *s, const char *text)
{
    if (wf_scenario_parse(s, "t.yaml", text, strlen(text))) {
        wf_diags_print(&s->diags, stderr);
        fail();
    }
}

/* The exponential distribution: mean 1, variance 1, and P(x > k) = e^-k; and each value is -ln of
 * the number that it was drawn from, which the double-precision library knows too. */
static void exponential_numbers(void **state)
{
    enum { N = 200000 };
    struct wf_prng p, q;
    double sum = 0, squares = 0;
    int beyond[6] = {0};

    (void)state;
    wf_prng_init(&p, 1, "x");
    q = p;
    for (int i = 0; i < N; i++) {
        double x = (double)wf_prng_exp(&p) / 4294967296.0;
        double u = ((double)wf_prng_u64(&q) + 1) / 18446744073709551616.0;

        assert_true(fabs(x + log(u)) < 1e-9);
        sum += x;
        squares += x * x;
        for (int k = 0; k < 6; k++)
            beyond[k] += x > k;
    }
    assert_true(fabs(sum / N - 1) < 5 / sqrt(N));
    assert_true(fabs(squares / N - 2) < 5 * sqrt(20.0 / N));
    for (int k = 1; k < 6; k++)
        assert_true(fabs(beyond[k] - N * exp(-k)) < 5 * sqrt(N * exp(-k)));
}

/* Shares at the published points, and halfway between two of them. */
static void sizes_follow_the_points(void **state)
{
    static const struct {
        const char *name;
        double mean; /* by hand, from the points */
        uint64_t bytes;
        double share;
    } points[] = {
        {"web_search", 1711250, 10000, .15},  {"web_search", 1711250, 80000, .53},
        {"web_search", 1711250, 600000, .65}, {"web_search", 1711250, 10000000, .97},
        {"hadoop", 120420.75, 1000, .60},     {"hadoop", 120420.75, 450, .25},
        {"hadoop", 120420.75, 300000, .95},   {"storage", 40869.80, 8000, .6921},
        {"storage", 40869.80, 64000, .9353},  {"storage", 40869.80, 1128000, .98765},
    };
    enum { N = 100000 };

    (void)state;
    for (size_t k = 0; k < sizeof(points) / sizeof(points[0]); k++) {
        const struct wf_sizes *z = wf_sizes_find(points[k].name);
        double want = points[k].share;
        struct wf_prng p;
        int below = 0;

        assert_non_null(z);
        assert_true(fabs(wf_sizes_mean_bytes(z) - points[k].mean) < 0.01);
        wf_prng_init(&p, k, "sizes");
        for (int i = 0; i < N; i++)
            below += wf_sizes_draw(z, &p) <= points[k].bytes;
        if (fabs((double)below / N - want) > 5 * sqrt(want * (1 - want) / N))
            fail_msg("%s: %d of %d are up to %llu", z->name, below, N,
                     (unsigned long long)points[k].bytes);
    }
}

static void files_of_sizes(void **state)
{
    static const struct {
        const char *text, *msg;
    } bad[] = {
        {"", "f:1:1: expected a line such as 10000 15, found the end of the file"},
        {"# none\n\n", "f:3:1: expected a line such as 10000 15, found the end of the file"},
        {"0 0\n1000\n", "f:2:5: expected a share from 0 to 100 (percent) or to 1, found the end of "
                        "the line"},
        {"0 0\n 1k 5\n", "f:2:2: expected a size in bytes, up to 2147483648, found '1k'"},
        {"10 0\n5 100\n", "f:2:1: expected no smaller size than in the line before, found '5'"},
        {"10 50\n20 5\n", "f:2:4: expected no smaller share than in the line before, found '5'"},
        {"10 50\n20 99 # so\n#\n", "f:2:4: expected 100 (percent) or 1 at the end, found '99'"},
        {"10 50\n20 101\n", "f:2:4: expected a share from 0 to 100 (percent) or to 1, found '101'"},
        {"10 0 1\n", "f:1:6: expected two words, BYTES SHARE, found '1'"},
        {"0 0\n0 1\n", "f:2:1: expected some size above 0, found '0'"},
    };
    static const char *const good[] = {"0 0\n100 25\n# more\n300 100\n", "0 0\n100 .25\n300 1\n"};
    struct wf_arena arena = {0};
    struct wf_sizes z;
    struct wf_err err;
    char text[1024];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_true(wf_sizes_parse(&z, &arena, "f", bad[i].text, strlen(bad[i].text), &err) < 0);
        assert_string_equal(wf_err_text(&err, text, sizeof(text)), bad[i].msg);
    }
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(wf_sizes_parse(&z, &arena, "f", good[i], strlen(good[i]), &err), 0);
        assert_true(wf_sizes_mean_bytes(&z) == .25 * 50 + .75 * 200);
    }
    wf_arena_free(&arena);
}

/* Eight hosts of 100 Gb/s at half load for 100 ms: as many flows as that takes, bytes too; gaps
 * at a host as spread as exponential ones are; nobody sends to itself, everybody to everybody. */
static void poisson_load(void **state)
{
    uint64_t gaps = 0, last[8] = {0};
    double bytes = 0, sum = 0, squares = 0, want = 8 * .5 * 100e9 / 8 * .1 / 1711250;
    unsigned pairs[8][8] = {0};
    struct wf_scenario s;

    (void)state;
    load(&s, WEB "}]\n");
    for (uint32_t i = 0; i < s.desc.n_flows; i++) {
        const struct wf_desc_flow *f = &s.desc.flows[i];
        double gap = (double)(f->cfg.start_ps - last[f->from]);

        assert_true(f->cfg.start_ps >= WF_PS_PER_MS && f->cfg.start_ps < 101 * WF_PS_PER_MS);
        bytes += (double)f->cfg.size_bytes;
        pairs[f->from][f->to]++;
        if (last[f->from]) {
            gaps++;
            sum += gap;
            squares += gap * gap;
        }
        last[f->from] = f->cfg.start_ps;
    }
    assert_true(fabs(s.desc.n_flows - want) < 5 * sqrt(want));
    assert_true(fabs(bytes / (want * 1711250) - 1) < 5 * 2.5 / sqrt(want));
    sum /= (double)gaps;
    assert_true(fabs(squares / (double)gaps / (sum * sum) - 2) < .25); /* 1 when they were equal */
    for (int a = 0; a < 8; a++)
        for (int b = 0; b < 8; b++)
            assert_true((a == b) == !pairs[a][b]);
    wf_scenario_free(&s);
}

/* Another seed draws anew, the first comes back; a host draws what it draws without the others. */
static void poisson_is_of_the_seed(void **state)
{
    struct wf_scenario s, t;
    uint64_t first, start;

    (void)state;
    load(&s, WEB "}]\n");
    first = s.desc.n_flows;
    start = s.desc.flows[first - 1].cfg.start_ps;
    wf_scenario_seed(&s, 2);
    assert_true(s.desc.flows[s.desc.n_flows - 1].cfg.start_ps != start);
    wf_scenario_seed(&s, 1);
    assert_int_equal(s.desc.n_flows, first);
    assert_int_equal(s.desc.flows[first - 1].cfg.start_ps, start);
    load(&t, HEAD "workload: [{name: w, kind: poisson, from: h7, to: 'h*', sizes: web_search, "
                  "load: 50%, arrivals: 100ms, start: 1ms}]\n");
    assert_int_equal(t.desc.flows[t.desc.n_flows - 1].cfg.start_ps, start);
    wf_scenario_free(&t);
    wf_scenario_free(&s);
}

static void incasts_come_again(void **state)
{
    struct wf_scenario s;
    unsigned rounds[50] = {0}, senders[8] = {0};

    (void)state;
    load(&s, HEAD "workload: [{name: in, kind: incast, from: 'h*', to: h2, fan_in: 3, rounds: 50, "
                  "period: 40us, start: 10us}]\n");
    assert_int_equal(s.desc.n_flows, 150);
    for (uint32_t i = 0; i < 150; i++) {
        const struct wf_desc_flow *f = &s.desc.flows[i];
        uint64_t round = (f->cfg.start_ps - 10 * WF_PS_PER_US) / (40 * WF_PS_PER_US);

        assert_int_equal(f->cfg.start_ps, (10 + 40 * round) * WF_PS_PER_US);
        assert_int_equal(f->to, 2);
        assert_int_not_equal(f->from, 2);
        rounds[round]++;
        senders[f->from]++;
        for (uint32_t k = 0; k < i; k++) /* no host twice in a round */
            assert_true(s.desc.flows[k].from != f->from ||
                        s.desc.flows[k].cfg.start_ps != f->cfg.start_ps);
    }
    assert_string_equal(s.desc.flows[149].name + 5, "-h2:49");
    for (int i = 0; i < 50; i++)
        assert_int_equal(rounds[i], 3);
    for (int i = 0; i < 8; i++)
        assert_true((i == 2) == !senders[i]);
    wf_scenario_free(&s);
}

/* Nor do patterns in expectations mean them; a name does. */
static void flows_outside_are_not_judged(void **state)
{
    struct wf_fabric_opts opts = {0};
    uint32_t unjudged = 0;
    struct wf_scenario s;
    struct wf_ctr_walk w;
    struct wf_fabric *f;
    struct wf_err err;

    (void)state;
    load(&s, HEAD "workload: [{name: w, kind: poisson, from: 'h*', sizes: storage, load: 1%, "
                  "arrivals: 100ms, start: 1ms, warm_up: 20ms, cut_off: 90ms}]\n"
                  "expect: ['min(flow.*.start_ps) >= 21ms', 'max(flow.w:*.start_ps) <= 91ms', "
                  "'all(flow.w:h[0-7]-h[0-7]:*.start_ps) > 20.9ms', "
                  "'p99(flow.*.slowdown_permille) < 1000000']\n");
    for (uint32_t i = 0; i < s.desc.n_flows; i++) {
        const struct wf_flow_cfg *c = &s.desc.flows[i].cfg;

        assert_true(c->unjudged ==
                    (c->start_ps < 21 * WF_PS_PER_MS || c->start_ps > 91 * WF_PS_PER_MS));
        unjudged += c->unjudged;
    }
    assert_true(unjudged > s.desc.n_flows / 5 && unjudged < s.desc.n_flows * 2 / 5);
    assert_int_equal(wf_fabric_build(&f, &s.desc, &opts, &err), 0);
    wf_fabric_settle(f);
    w = wf_fabric_ctrs(f, (unsigned)WF_CTR_ALL_TABLES);
    wf_expects_bind(&s.expects, &w, &s.diags);
    wf_expects_end(&s.expects, 0, true);
    assert_int_equal(wf_expects_count(&s.expects, WF_VERDICT_PASS), 3);
    assert_int_equal(wf_expects_count(&s.expects, WF_VERDICT_FAIL), 1); /* it never ran */
    wf_fabric_free(f);
    wf_scenario_free(&s);
}

/* 1,000 flows of slowdown 1 to 1000 and 100 of another decade that never end. */
static void slowdowns_by_size(void **state)
{
    struct wf_fabric_opts opts = {0};
    struct wf_arena arena = {0};
    struct wf_slow_row *rows;
    struct wf_scenario s;
    struct wf_fabric *f;
    struct wf_err err;

    (void)state;
    load(&s, HEAD "workload:\n  - {name: a, kind: incast, from: 'h[1-5]', to: h0, rounds: 200, "
                  "size: 5kB}\n  - {name: b, from: h1, to: h2, size: 10001B}\n");
    assert_int_equal(wf_fabric_build(&f, &s.desc, &opts, &err), 0);
    for (uint32_t i = 0; i < 1000; i++) {
        uint64_t *ctr = wf_host_flow_ctr(f->flows[i]);

        assert_true(ctr[WF_FLOW_IDEAL_PS] > 0);
        ctr[WF_FLOW_IDEAL_PS] = 1000;
        ctr[WF_FLOW_COMPLETION_PS] = 1000 * (uint64_t)(1 + (i * 7919) % 1000);
    }
    assert_int_equal(wf_slow_rows(&s, f, &arena, &rows), 4);
    assert_string_equal(rows[0].work, "a");
    assert_int_equal(rows[0].bucket, -1);
    assert_int_equal(rows[1].bucket, 1);
    assert_int_equal(rows[0].flows, 1000);
    assert_true(rows[0].mean == 500.5 && rows[0].max == 1000);
    assert_true(rows[1].ranks[0] == 500 && rows[1].ranks[1] == 950);
    assert_true(rows[1].ranks[2] == 990 && rows[1].ranks[3] == 999);
    assert_string_equal(rows[3].work, "b");
    assert_int_equal(rows[3].bucket, 2);
    assert_int_equal(rows[3].completed, 0);
    assert_true(isinf(rows[3].ranks[0]) && isnan(rows[3].mean));
    wf_arena_free(&arena);
    wf_fabric_free(f);
    wf_scenario_free(&s);
}

static void mistakes(void **state)
{
    static const struct {
        const char *text, *msg;
    } bad[] = {
        {"{name: w, kind: poisson, from: 'h*'}",
         "t.yaml:3:12: poisson needs 'sizes': web_search, hadoop, storage or the path of a file"},
        {"{name: w, kind: poisson, from: h1, sizes: hadoop}",
         "t.yaml:3:43: poisson needs at least two hosts"},
        {"{name: w, kind: poisson, from: 'h*', sizes: hadoop, size: 1kB}",
         "t.yaml:3:70: 'size' does not go with kind poisson"},
        {"{name: w, from: h1, to: h2, load: 10%}",
         "t.yaml:3:46: 'load' does not go with kind flow"},
        {"{name: w, kind: poisson, from: 'h*', sizes: web_serch}",
         "t.yaml:3:56: 'web_serch' can't be read: No such file or directory"},
        {"{name: w, kind: incast, from: 'h*', to: h1, fan_in: 8}",
         "t.yaml:3:64: fan_in: 8 of the 7 hosts that may send"},
        {"{name: w, kind: poisson, from: 'h*', sizes: hadoop, arrivals: 100s}",
         "t.yaml:3:11: more than 131072 flows"},
    };
    char text[1024];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct wf_scenario s;

        snprintf(text, sizeof(text), HEAD "workload: [%s]\n", bad[i].text);
        assert_true(wf_scenario_parse(&s, "t.yaml", text, strlen(text)) < 0);
        assert_string_equal(wf_err_text(&s.diags.items[0]->err, text, sizeof(text)), bad[i].msg);
        wf_scenario_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponential_numbers),
        cmocka_unit_test(sizes_follow_the_points),
        cmocka_unit_test(files_of_sizes),
        cmocka_unit_test(poisson_load),
        cmocka_unit_test(poisson_is_of_the_seed),
        cmocka_unit_test(incasts_come_again),
        cmocka_unit_test(flows_outside_are_not_judged),
        cmocka_unit_test(slowdowns_by_size),
        cmocka_unit_test(mistakes),
    };

    wft_eal(256);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
