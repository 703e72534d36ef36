/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of fabric/: how a run ends, when it is looked at, and that pacing changes nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/run.h"
#include "support.h"
#include "wire/edit.h"

static struct wf_arena arena;
static struct wf_desc desc;

static void star(uint32_t hosts)
{
    wf_arena_free(&arena);
    desc = (struct wf_desc){.name = "test",
                            .seed = 1,
                            .duration_ps = WF_KEY_AUTO,
                            .time_limit_ps = WF_PS_PER_MS,
                            .time_scale = 1};
    wf_desc_leaf_spine(&desc, &arena, 1, 0, hosts);
    wf_desc_address(&desc, &arena);
}

static void burst(struct wf_fabric *f, uint32_t from, uint32_t to, unsigned n)
{
    uint8_t buf[WF_ROCE_HDR_MAX];
    uint32_t len;

    for (unsigned i = 0; i < n; i++) {
        uint32_t hdr = wft_roce(f, from, to, 26, WF_ECN_ECT0, i, 1024, buf, &len);

        wft_send(f, from, wf_fabric_now_ps(f), 3, buf, hdr, len);
    }
}

static void a_run_ends_when_nothing_is_left(void **state)
{
    struct wf_fabric *f;
    struct wf_run r;

    star(2);
    f = wft_build(&desc);
    assert_int_equal(wf_run_init(&r, f), 0);
    burst(f, 0, 1, 100);
    assert_int_equal(wf_run_loop(&r), WF_RUN_DONE);
    assert_int_equal(wft_probe(f, 1)->n_seen, 100);
    assert_int_equal(wf_fabric_last_event_ps(f), wft_probe(f, 1)->seen[99].t_ps);
    wf_run_fini(&r);
    wf_fabric_free(f);
}

static void a_run_that_is_not_done_by_its_limit_says_so(void **state)
{
    struct wf_desc_step late = {.at_ps = 2 * WF_PS_PER_MS, .action = WF_DO_LINK_DOWN};
    struct wf_fabric *f;
    struct wf_run r;

    star(2);
    desc.steps = &late;
    desc.n_steps = 1;
    f = wft_build(&desc);
    wf_run_init(&r, f);
    assert_int_equal(wf_run_loop(&r), WF_RUN_TIME_LIMIT);
    assert_int_equal(wf_fabric_now_ps(f), WF_PS_PER_MS);
    wf_run_fini(&r);
    wf_fabric_free(f);
}

static sig_atomic_t enough;

static uint64_t stop_when_down(void *arg, struct wf_fabric *f)
{
    enough = !f->links[0].up;
    return WF_TIME_NEVER;
}

/* A lab has no time limit: an event behind the scenario's runs at its time. */
static void an_open_ended_run_goes_on_behind_the_limit(void **state)
{
    struct wf_desc_step late = {.at_ps = 2 * WF_PS_PER_MS, .action = WF_DO_LINK_DOWN};
    struct wf_fabric *f;
    struct wf_run r;

    star(2);
    desc.steps = &late;
    desc.n_steps = 1;
    f = wft_build(&desc);
    wf_fabric_clock(f)->paced = true;
    wf_run_init(&r, f);
    r.open_ended = true;
    r.stop = &enough;
    r.look = stop_when_down;
    r.look_every_ps = WF_PS_PER_MS;
    enough = 0;
    assert_int_equal(wf_run_loop(&r), WF_RUN_STOPPED);
    assert_true(wf_fabric_now_ps(f) >= 2 * WF_PS_PER_MS);
    wf_run_fini(&r);
    wf_fabric_free(f);
}

static void a_duration_is_kept_to_the_picosecond(void **state)
{
    struct wf_fabric *f;
    struct wf_run r;

    star(2);
    desc.duration_ps = 5 * WF_PS_PER_US;
    f = wft_build(&desc);
    wf_run_init(&r, f);
    burst(f, 0, 1, 100);
    assert_int_equal(wf_run_loop(&r), WF_RUN_DONE);
    assert_int_equal(wf_fabric_now_ps(f), 5 * WF_PS_PER_US);
    assert_true(wft_probe(f, 1)->n_seen > 30 && wft_probe(f, 1)->n_seen < 60);
    wft_check(f); /* with packets on the wire and in queues */
    wf_run_fini(&r);
    wf_fabric_free(f);
}

static void a_stop_ends_it_at_once(void **state)
{
    volatile sig_atomic_t stop = 1;
    struct wf_fabric *f;
    struct wf_run r;

    star(2);
    f = wft_build(&desc);
    wf_run_init(&r, f);
    r.stop = &stop;
    burst(f, 0, 1, 100);
    assert_int_equal(wf_run_loop(&r), WF_RUN_STOPPED);
    assert_int_equal(wft_probe(f, 1)->n_seen, 0);
    wf_run_fini(&r);
    wf_fabric_free(f);
}

struct looks {
    unsigned n;
    uint64_t last_ps, wish_ps;
    bool met;
};

static uint64_t look(void *arg, struct wf_fabric *f)
{
    struct looks *l = arg;

    l->n++;
    l->met |= wf_fabric_now_ps(f) == l->wish_ps;
    l->last_ps = wf_fabric_now_ps(f);
    return wf_fabric_now_ps(f) < l->wish_ps ? l->wish_ps : WF_TIME_NEVER;
}

/* 100 frames take about 9 us: a look each microsecond, one at the wished instant, and silence is
 * not looked at. Looking does not change the digest. */
static void looks_come_in_time_and_change_nothing(void **state)
{
    struct wf_desc_step late = {.at_ps = 900 * WF_PS_PER_US, .action = WF_DO_LINK_DOWN};
    struct looks l = {.wish_ps = 3333333};
    uint64_t digest[2];

    for (int with = 0; with < 2; with++) {
        struct wf_fabric *f;
        struct wf_run r;

        star(2);
        desc.steps = &late;
        desc.n_steps = 1;
        f = wft_build(&desc);
        wf_run_init(&r, f);
        if (with) {
            r.look = look;
            r.arg = &l;
            r.look_every_ps = WF_PS_PER_US;
            r.look_at_ps = l.wish_ps;
        }
        burst(f, 0, 1, 100);
        assert_int_equal(wf_run_loop(&r), WF_RUN_DONE);
        digest[with] = wf_fabric_digest(f).h;
        wf_run_fini(&r);
        wf_fabric_free(f);
    }
    assert_true(l.met);
    assert_in_range(l.n, 9, 20);
    assert_int_equal(digest[0], digest[1]);
}

/* Stops: all events before the instant have run and none at it; the timeline goes first, then what
 * came from outside, then those that look, which no run waits for. */
struct stopper {
    struct wf_stops stops; /* first */
    uint64_t every_ps;
    unsigned n;
    bool late, link_was_up;
};

static void count_stop(struct wf_stops *s, struct wf_fabric *f)
{
    struct stopper *c = (struct stopper *)s;

    c->n++;
    c->late |= wf_fabric_now_ps(f) != s->at_ps ||
               (wf_fabric_events(f) && wf_fabric_last_event_ps(f) >= s->at_ps);
    c->link_was_up = f->links[0].up;
    s->at_ps += c->every_ps;
}

static void stops_act_at_their_instant_and_in_order(void **state)
{
    struct wf_desc_step down = {.at_ps = 50 * WF_PS_PER_US, .action = WF_DO_LINK_DOWN};
    struct stopper input = {.stops = {.at_ps = 0, .act = count_stop, .kind = WF_STOPS_INPUT}};
    struct stopper sample = {.stops = {.at_ps = 0, .act = count_stop, .kind = WF_STOPS_SAMPLE}};
    struct wf_fabric *f;
    struct wf_run r;

    star(2);
    desc.steps = &down;
    desc.n_steps = 1;
    f = wft_build(&desc);
    wf_run_init(&r, f);
    input.every_ps = 50 * WF_PS_PER_US;
    sample.every_ps = WF_PS_PER_US;
    wf_run_add_stops(&r, &sample.stops); /* in whatever order they come */
    wf_run_add_stops(&r, &input.stops);
    burst(f, 0, 1, 100); /* about 9 us */
    desc.time_limit_ps = 60 * WF_PS_PER_US;
    assert_int_equal(wf_run_loop(&r), WF_RUN_TIME_LIMIT);
    assert_int_equal(input.n, 2);
    assert_false(input.late || sample.late);
    assert_false(input.link_was_up); /* the timeline's step of that instant came first */
    assert_int_equal(sample.n, 61);  /* at 0, 1, .. 60 us */
    wf_run_fini(&r);
    wf_fabric_free(f);
}

static void no_run_waits_for_a_sampler(void **state)
{
    struct stopper sample = {.stops = {.at_ps = 0, .act = count_stop, .kind = WF_STOPS_SAMPLE}};
    struct wf_fabric *f;
    struct wf_run r;

    star(2);
    f = wft_build(&desc);
    wf_run_init(&r, f);
    sample.every_ps = WF_PS_PER_US;
    wf_run_add_stops(&r, &sample.stops);
    burst(f, 0, 1, 100);
    assert_int_equal(wf_run_loop(&r), WF_RUN_DONE);
    assert_int_equal(wf_fabric_now_ps(f), wf_fabric_last_event_ps(f));
    assert_int_equal(sample.n, wf_fabric_now_ps(f) / WF_PS_PER_US + 1);
    wf_run_fini(&r);
    wf_fabric_free(f);
}

static void pacing_changes_nothing(void **state)
{
    uint64_t digest[2];

    for (int paced = 0; paced < 2; paced++) {
        struct wf_fabric *f;
        struct wf_run r;

        star(4);
        desc.seed = 5;
        desc.links[1].cfg.loss = (struct wf_fraction){1, 10};
        desc.time_scale = 20;
        f = wft_build(&desc);
        wf_fabric_clock(f)->paced = paced;
        wf_run_init(&r, f);
        for (uint32_t h = 1; h < 4; h++)
            burst(f, h, 0, 200);
        assert_int_equal(wf_run_loop(&r), WF_RUN_DONE);
        wft_check(f);
        digest[paced] = wf_fabric_digest(f).h;
        wf_run_fini(&r);
        wf_fabric_free(f);
    }
    assert_int_equal(digest[0], digest[1]);
}

/* Several fabrics in a process, interleaved, don't know of each other. */
static void fabrics_share_nothing(void **state)
{
    struct wf_fabric *f[2];

    star(2);
    for (int i = 0; i < 2; i++) {
        f[i] = wft_build(&desc);
        burst(f[i], 0, 1, 50);
    }
    for (uint64_t t = 0; t < 20 * WF_PS_PER_US; t += WF_PS_PER_US / 4)
        for (int i = 0; i < 2; i++)
            wf_fabric_turn(f[i], t);
    for (int i = 0; i < 2; i++)
        wft_check(f[i]);
    assert_int_equal(wf_fabric_digest(f[0]).h, wf_fabric_digest(f[1]).h);
    assert_int_equal(wft_probe(f[1], 1)->n_seen, 50);
    wf_fabric_free(f[0]);
    wf_fabric_free(f[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_ends_when_nothing_is_left),
        cmocka_unit_test(a_run_that_is_not_done_by_its_limit_says_so),
        cmocka_unit_test(an_open_ended_run_goes_on_behind_the_limit),
        cmocka_unit_test(a_duration_is_kept_to_the_picosecond),
        cmocka_unit_test(a_stop_ends_it_at_once),
        cmocka_unit_test(looks_come_in_time_and_change_nothing),
        cmocka_unit_test(stops_act_at_their_instant_and_in_order),
        cmocka_unit_test(no_run_waits_for_a_sampler),
        cmocka_unit_test(pacing_changes_nothing),
        cmocka_unit_test(fabrics_share_nothing),
    };

    wft_eal(256);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
