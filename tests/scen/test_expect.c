/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of expectations: every form, what passes and fails and since when, and each mistake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"
#include "scen/expect.h"

#define US WF_PS_PER_US

/* Two ports with queue and drops each, three flows. */
struct world {
    struct wf_arena a;
    struct wf_diags d;
    struct wf_expects x;
    uint64_t port[2][WF_PORT_CTRS], drop[2][WF_DROP_COUNT], queue[2][WF_QUEUE_CTRS];
    uint64_t flow[3][WF_FLOW_CTRS];
    struct wf_ctr_obj objs[9];
};

static void load(struct world *w, const char *yaml)
{
    const struct wf_yaml_node *root;
    struct wf_err err;

    w->d.arena = w->x.arena = &w->a;
    assert_int_equal(wf_yaml_parse(&w->a, "t.yaml", yaml, strlen(yaml), &root, &err), 0);
    wf_expects_parse(&w->x, root, &w->d);
}

static void setup(struct world *w, const char *yaml)
{
    static const char *const ports[] = {"leaf0:p0", "leaf0:p1"};
    static const char *const queues[] = {"leaf0:p0.q3", "leaf0:p1.q3"};
    static const char *const flows[] = {"flow.a", "flow.b:h1-h0", "flow.b:h2-h0"};
    struct wf_ctr_walk walk;
    size_t n = 0;

    memset(w, 0, sizeof(*w));
    load(w, yaml);
    for (size_t i = 0; i < 2; i++) {
        w->objs[n++] = (struct wf_ctr_obj){ports[i], &wf_ctrs_port, w->port[i]};
        w->objs[n++] = (struct wf_ctr_obj){ports[i], &wf_ctrs_drop, w->drop[i]};
        w->objs[n++] = (struct wf_ctr_obj){queues[i], &wf_ctrs_queue, w->queue[i]};
    }
    for (size_t i = 0; i < 3; i++)
        w->objs[n++] = (struct wf_ctr_obj){flows[i], &wf_ctrs_flow, w->flow[i]};
    walk = wf_ctr_array(w->objs, n);
    wf_expects_bind(&w->x, &walk, &w->d);
    for (size_t i = 0; i < w->d.n; i++)
        print_error("%s\n", w->d.items[i]->err.msg);
    assert_int_equal(w->d.errors, 0);
}

/* A world in which each value is known. */
static void settle(struct world *w)
{
    w->port[0][WF_PORT_TX_FRAMES] = 100;
    w->port[1][WF_PORT_TX_FRAMES] = 97;
    w->port[1][WF_PORT_DROP_FRAMES] = 3;
    w->drop[1][WF_DROP_MTU] = 3;
    w->queue[0][WF_QUEUE_MAX_BYTES] = 65536;
    w->queue[1][WF_QUEUE_MAX_BYTES] = 1000;
    for (size_t i = 0; i < 3; i++) {
        w->flow[i][WF_FLOW_START_PS] = 10 * US;
        w->flow[i][WF_FLOW_COMPLETION_PS] = (100 + 50 * i) * US;
        w->flow[i][WF_FLOW_BYTES] = 1000000;
    }
}

static void judge(const char *text, bool pass)
{
    struct world w;
    char yaml[512], why[1024];

    snprintf(yaml, sizeof(yaml), "- '%s'\n", text);
    setup(&w, yaml);
    settle(&w);
    wf_expects_end(&w.x, 1000 * US, true);
    if (w.x.items[0].verdict != (pass ? WF_VERDICT_PASS : WF_VERDICT_FAIL))
        fail_msg("%s: %s (%s)", text, wf_verdict_name(w.x.items[0].verdict),
                 pass ? wf_expect_failure(&w.x.items[0], why, sizeof(why)) : "");
    wf_arena_free(&w.a);
}

static void comparisons_are_judged(void **state)
{
    (void)state;
    judge("leaf0:p0.tx_frames == 100", true);
    judge("leaf0:p0.tx_frames == 101", false);
    judge("leaf0:p0.tx_frames != 100", false);
    judge("leaf0:p*.tx_frames >= 97", true);
    judge("leaf0:p*.tx_frames > 97", false);
    judge("any(leaf0:p*.tx_frames) > 97", true);
    judge("any(leaf0:p*.tx_frames) > 100", false);
    judge("all(leaf0:p*.tx_frames) > 96", true);
    judge("sum(leaf*.drop_frames) == 3", true);
    judge("sum(leaf*.drop_mtu_frames) == sum(leaf*.drop_frames)", true);
    judge("max(leaf*.q*.queue_max_bytes) <= 64KiB", true);
    judge("max(leaf*.q*.queue_max_bytes) < 64KiB", false);
    judge("min(leaf*.q3.queue_max_bytes) == 1kB", true);
    judge("mean(leaf*.tx_frames) * 2 == 197", true);
}

static void numbers_have_tolerances(void **state)
{
    (void)state;
    judge("leaf0:p1.tx_frames ~ leaf0:p0.tx_frames within 3%", true);
    judge("leaf0:p1.tx_frames ~ leaf0:p0.tx_frames within 2%", false);
    judge("leaf0:p1.tx_frames == 90 +- 7", true);
    judge("leaf0:p1.tx_frames == 90 +- 6", false);
    judge("leaf0:p1.tx_frames != 90 +- 7", false);
    judge("flow.a.completion_ps ~ 110us within 10us", true);
    judge("flow.a.completion_ps ~ 110us within 9us", false);
}

static void arithmetic_has_precedence(void **state)
{
    (void)state;
    judge("leaf0:p1.tx_frames + leaf0:p1.drop_frames == leaf0:p0.tx_frames", true);
    judge("leaf0:p0.tx_frames - 2 * 3 == 94", true);
    judge("(leaf0:p0.tx_frames - 2) * 3 == 294", true);
    judge("sum(flow.*.delivered_bytes) / 3 == 1MB", true);
    judge("leaf0:p0.tx_frames - 200 < 0", true);
    judge("leaf0:p0.tx_frames / leaf0:p0.drop_frames > 0", true);
    judge("leaf0:p0.drop_frames / leaf0:p0.drop_frames != 5", false); /* 0 / 0 is nothing */
    judge("leaf0:p*.tx_frames >= leaf0:p*.drop_frames", true);
}

static void flows_have_percentiles_and_an_order(void **state)
{
    (void)state;
    judge("max(flow.*.completion_ps) <= 200us", true);
    judge("p50(flow.*.completion_ps) == 150us", true);
    judge("median(flow.*.completion_ps) == 150us", true);
    judge("p66.6(flow.*.completion_ps) == 150us", true);
    judge("p67(flow.*.completion_ps) == 200us", true);
    judge("p99.9(flow.*.completion_ps) == 200us", true);
    judge("flow.a completes before flow.b*", true);
    judge("flow.b* completes before flow.a", false);
    judge("flow.* completes", true);
    judge("flow.b:h1-h0.completion_ps == 150us", true);
}

/* A flow that hangs never has a small completion time. */
static void what_never_completed_is_infinite(void **state)
{
    struct world w;
    char why[1024];

    (void)state;
    setup(&w, "- max(flow.*.completion_ps) < 1s\n- flow.* completes\n"
              "- flow.a completes before flow.b*\n- always: flow.*.completion_ps < 1s\n"
              "- by 90us: flow.a completes\n");
    wf_expects_step(&w.x, 50 * US);
    assert_int_equal(wf_expects_count(&w.x, WF_VERDICT_FAIL), 0);
    w.flow[1][WF_FLOW_COMPLETION_PS] = 10;
    assert_int_equal(wf_expects_next(&w.x, 50 * US), 90 * US);
    wf_expects_step(&w.x, 90 * US);
    assert_int_equal(w.x.items[4].verdict, WF_VERDICT_FAIL);
    assert_int_equal(wf_expects_next(&w.x, 90 * US), WF_TIME_NEVER);
    wf_expects_end(&w.x, 100 * US, true);
    assert_int_equal(wf_expects_count(&w.x, WF_VERDICT_FAIL), 5);
    assert_string_equal(wf_expect_failure(&w.x.items[0], why, sizeof(why)),
                        "expected max(flow.*.completion_ps) < 1s, found not completed, from the "
                        "start on");
    assert_string_equal(wf_expect_failure(&w.x.items[1], why, sizeof(why)),
                        "expected flow.* completes, found not completed at flow.a, from the start "
                        "on");
    assert_string_equal(wf_expect_failure(&w.x.items[4], why, sizeof(why)),
                        "expected by 90us: flow.a completes, found not completed at flow.a, at "
                        "90.00us");
    wf_arena_free(&w.a);
}

static void always_never_and_by(void **state)
{
    struct world w;
    char why[1024];

    (void)state;
    setup(&w, "- sum(leaf*.drop_frames) == 0\n- never: leaf*.q*.queue_bytes > 10kB\n"
              "- \"always: leaf0:p*.tx_frames < 5\"\n"
              "- {that: any(leaf0:p*.ecn_marked_frames) > 0, by: 30us}\n"
              "- never: leaf*.q*.queue_max_bytes > 10kB\n- always: any(leaf0:p*.tx_frames) == 0\n");
    assert_true(w.x.items[1].sampled);
    assert_false(w.x.items[2].sampled);
    assert_false(w.x.items[4].sampled);
    assert_true(w.x.items[3].timing);
    wf_expects_step(&w.x, 10 * US);
    w.queue[1][WF_QUEUE_BYTES] = 10001;
    w.port[1][WF_PORT_ECN_MARKED_FRAMES] = 1;
    w.port[0][WF_PORT_DROP_FRAMES] = 1;
    w.port[0][WF_PORT_TX_FRAMES] = 4;
    wf_expects_step(&w.x, 20 * US);
    assert_int_equal(w.x.items[3].verdict, WF_VERDICT_PASS);
    w.queue[1][WF_QUEUE_BYTES] = 0;
    w.port[0][WF_PORT_TX_FRAMES] = 5;
    wf_expects_end(&w.x, 30 * US, true);
    assert_string_equal(wf_expect_failure(&w.x.items[0], why, sizeof(why)),
                        "expected sum(leaf*.drop_frames) == 0, found 1, since 20.00us");
    assert_string_equal(wf_expect_failure(&w.x.items[1], why, sizeof(why)),
                        "expected never: leaf*.q*.queue_bytes > 10kB, found 10001B at leaf0:p1.q3, "
                        "first at 20.00us");
    assert_string_equal(wf_expect_failure(&w.x.items[2], why, sizeof(why)),
                        "expected always: leaf0:p*.tx_frames < 5, found 5 at leaf0:p0, first at "
                        "30.00us");
    assert_int_equal(w.x.items[4].verdict, WF_VERDICT_PASS);
    assert_int_equal(w.x.items[5].verdict, WF_VERDICT_PASS);
    wf_arena_free(&w.a);
}

static void unreliable_timing_is_skipped(void **state)
{
    struct world w;

    (void)state;
    setup(&w, "- flow.a.completion_ps < 1us\n- flow.a completes before flow.b*\n"
              "- leaf0:p0.tx_frames == 100\n- by 1ms: leaf0:p0.tx_frames == 100\n"
              "- flow.* completes\n");
    settle(&w);
    wf_expects_end(&w.x, 1000 * US, false);
    assert_int_equal(w.x.items[0].verdict, WF_VERDICT_SKIPPED);
    assert_int_equal(w.x.items[1].verdict, WF_VERDICT_SKIPPED);
    assert_int_equal(w.x.items[2].verdict, WF_VERDICT_PASS);
    assert_int_equal(w.x.items[3].verdict, WF_VERDICT_SKIPPED);
    assert_int_equal(w.x.items[4].verdict, WF_VERDICT_PASS);
    wf_arena_free(&w.a);
}

static void runs_are_judged_together(void **state)
{
    struct world w;
    char why[1024];

    (void)state;
    setup(&w, "- sum(leaf*.drop_frames) < 9\n- {that: sum(leaf*.drop_frames) < 9, runs: 90%}\n"
              "- {that: sum(leaf*.drop_frames) < 9, over_runs: p90}\n"
              "- {that: sum(leaf*.drop_frames) < 8, over_runs: p90}\n"
              "- {that: sum(leaf*.drop_frames) < 1, over_runs: p10}\n");
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct wf_ctr_walk walk = wf_ctr_array(w.objs, 9);

        wf_expects_bind(&w.x, &walk, &w.d);
        w.port[0][WF_PORT_DROP_FRAMES] = 9 - seed; /* 9 8 ... 0 */
        wf_expects_end(&w.x, 1000 * US, true);
        wf_expects_run_done(&w.x, seed + 100);
    }
    wf_expects_runs_end(&w.x);
    assert_string_equal(wf_expect_failure(&w.x.items[0], why, sizeof(why)),
                        "expected sum(leaf*.drop_frames) < 9, found 1 of 10 runs failed it, the "
                        "first with seed 100");
    assert_int_equal(w.x.items[1].verdict, WF_VERDICT_PASS);
    assert_int_equal(w.x.items[2].verdict, WF_VERDICT_PASS);
    assert_string_equal(wf_expect_failure(&w.x.items[3], why, sizeof(why)),
                        "expected p90 over 10 runs of sum(leaf*.drop_frames) < 8, found 8");
    assert_int_equal(w.x.items[4].verdict, WF_VERDICT_PASS);
    wf_arena_free(&w.a);
}

static void each_mistake_has_its_message(void **state)
{
    static const struct {
        const char *text, *expect;
    } cases[] = {
        {"- leaf0:p0.tx_frame == 1\n",
         "t.yaml:1:12: no counter has the name 'tx_frame'; did you mean 'tx_frames'?"},
        {"- 'leaf0:p0.tx_frames'\n",
         "t.yaml:1:22: nothing to compare with, expected one of == != < <= > >= ~"},
        {"- leaf0:p0.tx_frames = 1\n",
         "t.yaml:1:22: expected one of == != < <= > >= ~, found '= 1'"},
        {"- leaf0 > 1\n",
         "t.yaml:1:3: 'leaf0' is not OBJECT.COUNTER, such as leaf0:p3.drop_frames"},
        {"- leaf0:p0.tx_frames > 1us\n",
         "t.yaml:1:24: a count and a time cannot be compared or added"},
        {"- flow.a.completion_ps < 100\n",
         "t.yaml:1:26: a bare number beside a time, expected one with a unit"},
        {"- flow.a.completion_ps < 100xs\n",
         "t.yaml:1:26: '100xs' is not a number, a time (ps ns us ms s) or a size (B kB KiB ...)"},
        {"- leaf0:p0.tx_frames ~ 5\n", "t.yaml:1:25: '~' needs a tolerance, such as within 5%"},
        {"- leaf0:p0.tx_frames < 5 +- 2\n", "t.yaml:1:29: a tolerance goes with ==, != and ~ only"},
        {"- leaf0:p0.tx_frames == 5 +- 2us\n",
         "t.yaml:1:30: a count and a time cannot be compared or added"},
        {"- leaf0:p*.tx_frames == spine*.rx_frames\n",
         "t.yaml:1:25: 'leaf0:p*' and 'spine*' both stand for several objects; put one into sum(), "
         "max() or the like"},
        {"- summ(leaf0:p*.tx_frames) == 1\n",
         "t.yaml:1:3: 'summ' is not one of the functions sum, min, max, mean, median, p0 to p100, "
         "any, all; did you mean 'sum'?"},
        {"- p101(leaf0:p*.tx_frames) == 1\n",
         "t.yaml:1:3: 'p101' is not one of the functions sum, min, max, mean, median, p0 to p100, "
         "any, all"},
        {"- sum(leaf0:p*.tx_frames == 1\n", "t.yaml:1:26: expected ')' after the name in sum()"},
        {"- 1 == 1\n", "t.yaml:1:3: compares numbers only, expected a counter on one side"},
        {"- leaf0:p0.tx_frames == 1 and more\n",
         "t.yaml:1:27: 'and more' is too much behind the comparison"},
        {"- h[1-.tx_frames == 1\n", "t.yaml:1:3: bad range in 'h[1-.tx_frames', expected such as "
                                    "h[1-8]"},
        {"- sometimes: leaf0:p0.tx_frames == 1\n",
         "t.yaml:1:3: unknown key 'sometimes' in an expectation"},
        {"- {that: flow.* completes, nevr: x}\n",
         "t.yaml:1:28: unknown key 'nevr' in an expectation; did you mean 'never'?"},
        {"- {that: flow.* completes, never: flow.* completes}\n",
         "t.yaml:1:28: 'never' beside another form, expected one of them"},
        {"- by 1: flow.* completes\n", "t.yaml:1:3: '1' has no unit, expected a time with one of "
                                       "ps, ns, us, ms, s"},
        {"- {by: 1ms}\n", "t.yaml:1:3: an expectation without 'that', 'always' or 'never'"},
        {"- {that: flow.* completes, over_runs: p90}\n",
         "t.yaml:1:3: over_runs goes with one value compared with a number, such as "
         "max(flow.*.completion_ps) < 1ms"},
        {"- {that: sum(leaf0.tx_frames) < 1, runs: 20}\n",
         "t.yaml:1:42: '20' is not a percentage, expected such as '12.5%'"},
        {"- [x]\n", "t.yaml:1:3: expected an expectation, found a list"},
        {"a: 1\n", "t.yaml:1:1: expect: expected a list, found a mapping"},
        {"- ((((((((((((((((((1)))))))))))))))))) == leaf0.tx_frames\n",
         "t.yaml:1:20: more than 16 parentheses in each other"},
    };
    char text[1200];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world w;

        memset(&w, 0, sizeof(w));
        load(&w, cases[i].text);
        assert_true(w.d.n > 0);
        assert_string_equal(wf_err_text(&w.d.items[0]->err, text, sizeof(text)), cases[i].expect);
        wf_arena_free(&w.a);
    }
}

/* Only a fabric knows which objects there are. */
static void what_matches_nothing_is_an_error(void **state)
{
    static const struct {
        const char *text, *expect;
    } cases[] = {
        {"- leaf0:p9.tx_frames == 1\n",
         "t.yaml:1:3: 'leaf0:p9.tx_frames' matches nothing; did you mean 'leaf0:p0'?"},
        {"- sum(xyzzy*.tx_frames) == 1\n", "t.yaml:1:3: 'xyzzy*.tx_frames' matches nothing; "
                                           "'leaf0:p0' is one that has this counter"},
        {"- leaf0:p0.queue_bytes == 1B\n",
         "t.yaml:1:3: 'leaf0:p0' matches objects of the kind port, drop, none has the counter "
         "'queue_bytes'"},
        {"- flow.c completes\n",
         "t.yaml:1:3: 'flow.c.completion_ps' matches nothing; did you mean 'flow.a'?"},
    };
    char text[1200];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world w;
        struct world whole;
        struct wf_ctr_walk walk;

        setup(&whole, "[]\n");
        walk = wf_ctr_array(whole.objs, 9);
        memset(&w, 0, sizeof(w));
        load(&w, cases[i].text);
        assert_int_equal(w.d.errors, 0);
        wf_expects_bind(&w.x, &walk, &w.d);
        assert_int_equal(w.d.errors, 1);
        assert_string_equal(wf_err_text(&w.d.items[0]->err, text, sizeof(text)), cases[i].expect);
        wf_arena_free(&w.a);
        wf_arena_free(&whole.a);
    }
}

static void options_are_no_comparisons(void **state)
{
    struct world w;

    (void)state;
    setup(&w, "- lossless_drops_expected: true\n- flow.* completes\n");
    assert_true(w.x.lossless_drops_expected);
    assert_int_equal(w.x.n, 1);
    wf_arena_free(&w.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparisons_are_judged),
        cmocka_unit_test(numbers_have_tolerances),
        cmocka_unit_test(arithmetic_has_precedence),
        cmocka_unit_test(flows_have_percentiles_and_an_order),
        cmocka_unit_test(what_never_completed_is_infinite),
        cmocka_unit_test(always_never_and_by),
        cmocka_unit_test(unreliable_timing_is_skipped),
        cmocka_unit_test(runs_are_judged_together),
        cmocka_unit_test(each_mistake_has_its_message),
        cmocka_unit_test(what_matches_nothing_is_an_error),
        cmocka_unit_test(options_are_no_comparisons),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
