/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transmission selection and shapers at a switch's port: a probe holds all queues by PFC, they
 * fill, and it lets them go. What comes out is held against closed forms: turns byte by byte,
 * shares, and each frame's time to the picosecond.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "burst.h"
#include "eth/ets.h"
#include "wire/edit.h"

#define US   WF_PS_PER_US
#define NS   WF_PS_PER_NS
#define GBPS 1000000000ull

/* Queue q gets traffic with DSCP 8q. */
struct load {
    uint8_t queue;
    uint32_t payload, n; /* 62 bytes more with FCS */
};

static struct wf_switch_port_cfg *one_leaf(struct wf_desc **d)
{
    *d = wft_leaf_spine(1, 0, 2);
    return &(*d)->switches[0].cfg.port;
}

static struct wf_fabric *held_and_let_go(const struct wf_desc *d, const struct load *loads, int n)
{
    struct wf_fabric *f = wft_build(d);
    uint32_t all = 0;

    wft_pfc(f, 1, 0xff, 65535);
    wft_run(f, 2 * US);
    for (int i = 0; i < n; i++) {
        wft_burst(f, 0, 1, (uint8_t)(8 * loads[i].queue), WF_ECN_ECT0, loads[i].payload,
                  loads[i].n);
        all += loads[i].n;
    }
    wft_run(f, 300 * US);
    assert_int_equal(wft_probe(f, 1)->n_seen, 0);
    wft_pfc(f, 1, 0xff, 0);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(wft_probe(f, 1)->n_seen, all);
    wft_check(f);
    return f;
}

static const struct wft_seen *seen(struct wf_fabric *f, uint32_t i)
{
    return &wft_probe(f, 1)->seen[i];
}

static unsigned queue_of(struct wf_fabric *f, uint32_t i)
{
    return seen(f, i)->p.dscp / 8u;
}

/* Quanta of 64 bytes times the weight that are whole frames: each turn is exactly 32 frames and
 * 32,704, 4,032 or 2,112 bytes, whatever a frame's length. */
static void turns_are_exact_to_the_byte(void **state)
{
    static const struct load loads[] = {{1, 960, 320}, {2, 64, 320}, {4, 4, 320}};
    struct wf_desc *d;
    struct wf_switch_port_cfg *c = one_leaf(&d);
    struct wf_fabric *f;

    c->queue[1].weight = 511; /* 1,022 bytes */
    c->queue[2].weight = 63;  /* 126 */
    c->queue[4].weight = 33;  /* 66 */
    f = held_and_let_go(d, loads, 3);
    for (uint32_t i = 0; i < 960; i++) {
        static const unsigned order[] = {1, 2, 4};

        assert_int_equal(queue_of(f, i), order[i / 32 % 3]);
    }
    wf_fabric_free(f);
}

/* Weights that divide nothing: at every frame, while all three wait, what each got divided by its
 * quantum differs by less than a turn and a frame of each. */
static void shares_never_stray(void **state)
{
    static const struct load loads[] = {{0, 1024, 900}, {3, 300, 900}, {5, 2048, 900}};
    struct wf_desc *d;
    struct wf_switch_port_cfg *c = one_leaf(&d);
    double sent[8] = {0}, left[8] = {0};
    struct wf_fabric *f;

    c->queue[0].weight = 17;
    c->queue[3].weight = 5;
    c->queue[5].weight = 101;
    for (int i = 0; i < 3; i++)
        left[loads[i].queue] = loads[i].n;
    f = held_and_let_go(d, loads, 3);
    for (uint32_t i = 0; left[0] && left[3] && left[5]; i++) {
        unsigned q = queue_of(f, i);

        sent[q] += seen(f, i)->len + 4;
        left[q]--;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                unsigned x = loads[a].queue, y = loads[b].queue;
                double qx = c->queue[x].weight * 64., qy = c->queue[y].weight * 64.;

                assert_true(sent[x] / qx - sent[y] / qy < 1 + 2110 / qx + 2110 / qy);
            }
    }
    assert_true(sent[5] > 100000);
    wf_fabric_free(f);
}

/* Round robin by frames: 3 to 1, though the one's are ten times as long. */
static void wrr_counts_frames(void **state)
{
    static const struct load loads[] = {{1, 64, 300}, {2, 1500, 100}};
    struct wf_desc *d;
    struct wf_switch_port_cfg *c = one_leaf(&d);
    struct wf_fabric *f;

    c->queue[1].sched = c->queue[2].sched = WF_SCHED_WRR;
    c->queue[1].weight = 3;
    c->queue[2].weight = 1;
    f = held_and_let_go(d, loads, 2);
    for (uint32_t i = 0; i < 400; i++)
        assert_int_equal(queue_of(f, i), i % 4 < 3 ? 1 : 2);
    wf_fabric_free(f);
}

/* Group 0 (queues 1 and 2) and group 3 (queue 5) share 3 to 1 whatever the weights of queues, and
 * group 0's queues share 2 to 1 between them; strict queue 7 is before all. All by bytes: frames of
 * 66 bytes, a turn of a group is exactly 32 or 96 of them, of a queue of group 0 some 60 or 30. */
static void groups_share_and_strict_goes_first(void **state)
{
    static const struct load loads[] = {{1, 4, 800}, {2, 4, 400}, {5, 4, 400}, {7, 4, 50}};
    struct wf_desc *d;
    struct wf_switch_port_cfg *c = one_leaf(&d);
    uint32_t n[8] = {0};
    struct wf_fabric *f;

    c->queue[1].weight = 62;
    c->queue[2].weight = 31;
    c->queue[5].weight = 1;
    c->queue[5].group = 3;
    c->queue[7].sched = WF_SCHED_STRICT;
    c->queue[7].group = 3;
    c->group[0].weight = 99;
    c->group[3].weight = 33;
    f = held_and_let_go(d, loads, 4);
    for (uint32_t i = 0; i < 50; i++)
        assert_int_equal(queue_of(f, i), 7);
    for (uint32_t i = 50; i < 50 + 1280; i++) {
        uint32_t at = (i - 50) % 128;

        n[queue_of(f, i)]++;
        assert_int_equal(queue_of(f, i) == 5, at >= 96);
    }
    assert_int_equal(n[5], 320);
    assert_in_range(n[1], 640 - 64, 640 + 64);
    assert_int_equal(n[1] + n[2], 960);
    wf_fabric_free(f);
}

/* A group that empties takes no credit along: both groups fill again, and the turn that it had
 * begun is not gone on with. */
static void an_empty_group_saves_nothing_up(void **state)
{
    static const struct load loads[] = {{1, 960, 40}, {5, 960, 100}};
    struct wf_desc *d;
    struct wf_switch_port_cfg *c = one_leaf(&d);
    struct wf_fabric *f;
    uint32_t first, n = 0;

    c->queue[5].group = 3;
    c->group[0].weight = c->group[3].weight = 511; /* 32 frames a turn */
    f = held_and_let_go(d, loads, 2);
    /* turns: 32 of queue 1, 32 of 5, 8 of 1, which ends, then all that is left of 5 */
    for (uint32_t i = 0; i < 140; i++)
        assert_int_equal(queue_of(f, i) == 1, i < 32 || (i >= 64 && i < 72));
    first = wft_probe(f, 1)->n_seen;
    wft_pfc(f, 1, 0xff, 65535);
    wft_run(f, wf_fabric_now_ps(f) + 2 * US);
    wft_burst(f, 0, 1, 8, WF_ECN_ECT0, 960, 100);
    wft_burst(f, 0, 1, 40, WF_ECN_ECT0, 960, 100);
    wft_run(f, wf_fabric_now_ps(f) + 50 * US);
    wft_pfc(f, 1, 0xff, 0);
    wft_run(f, WF_TIME_NEVER);
    /* the first turn is a whole one, of either */
    while (queue_of(f, first + n) == queue_of(f, first))
        n++;
    assert_int_equal(n, 32);
    wf_fabric_free(f);
}

/* ceil(n x frame bits / rate): when frame n begins behind the first. */
/* Nor does a queue that was alone for a while: the next one that comes gets its share at once. */
static void who_was_alone_saves_nothing_up(void **state)
{
    enum { WEIGHT = 40, LONG = 300 }; /* a turn is some two frames */
    struct wf_desc *d;
    struct wf_switch_port_cfg *c = one_leaf(&d);
    uint32_t first = 0, got[2] = {0};
    struct wf_fabric *f;

    (void)state;
    c->queue[1].weight = c->queue[2].weight = WEIGHT;
    c->queue[2].group = 3;
    c->group[0].weight = c->group[3].weight = WEIGHT;
    f = wft_build(d);
    wft_pfc(f, 1, 0xff, 65535);
    wft_run(f, 2 * US);
    wft_burst(f, 0, 1, 8, WF_ECN_ECT0, 1024, 3 * LONG);
    wft_run(f, 200 * US);
    wft_pfc(f, 1, 0xff, 0);
    wft_run(f, 207 * US);
    wft_burst(f, 0, 1, 16, WF_ECN_ECT0, 1024, LONG);
    wft_run(f, WF_TIME_NEVER);
    while (queue_of(f, first) != 2)
        first++;
    assert_in_range(first, 80, 100); /* 7 us of frames alone, and the way of the first of two */
    for (uint32_t i = first; got[1] < LONG; i++) {
        got[queue_of(f, i) - 1]++;
        assert_true(got[0] <= got[1] + 8 && got[1] <= got[0] + 8);
    }
    wf_fabric_free(f);
}

static uint64_t even_ps(uint64_t n, uint64_t wire_bytes, uint64_t rate_bps)
{
    unsigned __int128 x = (unsigned __int128)n * wire_bytes * 8 * WF_PS_PER_S;

    return (uint64_t)((x + rate_bps - 1) / rate_bps);
}

/* A port's shaper at a rate that divides nothing: every frame comes when the closed form says, to
 * the picosecond, whichever of the queues it is from. */
static void a_port_is_shaped_to_the_picosecond(void **state)
{
    static const struct load loads[] = {{1, 960, 1000}, {6, 960, 500}};
    uint64_t rate = 7 * GBPS + 7;
    struct wf_desc *d;
    struct wf_switch_port_cfg *c = one_leaf(&d);
    struct wf_fabric *f;

    c->max.rate_bps = rate;
    f = held_and_let_go(d, loads, 2);
    for (uint32_t i = 1; i < 1500; i++) {
        uint64_t want = seen(f, 0)->t_ps + even_ps(i, 1042, rate);

        assert_in_range(seen(f, i)->t_ps, want - 1, want + 1);
    }
    wf_fabric_free(f);
}

/* One queue alone, with a burst: at the line's rate until more than the burst is out, then evenly,
 * as if it had been even from the start, less the burst. */
static void a_burst_goes_first(void **state)
{
    static const struct load loads[] = {{3, 960, 800}};
    uint64_t rate = 10 * GBPS, burst = 100 * 1042;
    struct wf_desc *d;
    struct wf_switch_port_cfg *c = one_leaf(&d);
    struct wf_fabric *f;

    c->queue[3].max = (struct wf_shaper_cfg){rate, burst};
    f = held_and_let_go(d, loads, 1);
    for (uint32_t i = 1; i < 800; i++) {
        uint64_t line = i * 1042ull * 80;
        uint64_t even = i > 100 ? even_ps(i - 100, 1042, rate) : 0;

        assert_int_equal(seen(f, i)->t_ps - seen(f, 0)->t_ps, line > even ? line : even);
    }
    wf_fabric_free(f);
}

/* A strict queue limited to 25 of 100 Gb/s leaves the rest to the one below it. */
static void what_a_limit_leaves_is_for_others(void **state)
{
    static const struct load loads[] = {{7, 960, 400}, {1, 960, 1200}};
    struct wf_desc *d;
    struct wf_switch_port_cfg *c = one_leaf(&d);
    struct wf_fabric *f;

    c->queue[7].sched = WF_SCHED_STRICT;
    c->queue[7].max.rate_bps = 25 * GBPS;
    f = held_and_let_go(d, loads, 2);
    for (uint32_t i = 0; i < 1600; i++) {
        assert_int_equal(queue_of(f, i) == 7, i % 4 == 0);
        assert_int_equal(seen(f, i)->t_ps - seen(f, 0)->t_ps, i * 1042ull * 80);
    }
    wf_fabric_free(f);
}

/* A minimum rate is kept even against strict queues, and is no maximum: alone it gets all. */
static void a_minimum_is_kept_against_strict(void **state)
{
    static const struct load loads[] = {{7, 960, 900}, {1, 960, 300}};
    struct wf_desc *d;
    struct wf_switch_port_cfg *c = one_leaf(&d);
    struct wf_fabric *f;

    c->queue[7].sched = WF_SCHED_STRICT;
    c->queue[1].min.rate_bps = 10 * GBPS;
    f = held_and_let_go(d, loads, 2);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(queue_of(f, i) == 1, i % 10 == 0);
    for (uint32_t i = 1000; i < 1200; i++)
        assert_int_equal(queue_of(f, i), 1);
    assert_int_equal(seen(f, 1199)->t_ps - seen(f, 0)->t_ps, 1199ull * 1042 * 80);
    wf_fabric_free(f);
}

/* What a pause stops is the queue that its map says, not that of the traffic which the peer means.
 */
static void a_wrong_map_stops_the_wrong_queue(void **state)
{
    struct wf_desc *d;
    struct wf_switch_port_cfg *c = one_leaf(&d);
    struct wf_fabric *f;
    uint32_t n[8] = {0};

    c->pfc_priority_to_queue[3] = 5;
    f = wft_build(d);
    wft_pfc(f, 1, 1 << 3, 65535);
    wft_run(f, 2 * US);
    wft_burst(f, 0, 1, 24, WF_ECN_ECT0, 960, 100);
    wft_burst(f, 0, 1, 40, WF_ECN_ECT0, 960, 100);
    wft_run(f, 100 * US);
    for (uint32_t i = 0; i < wft_probe(f, 1)->n_seen; i++)
        n[queue_of(f, i)]++;
    assert_int_equal(n[3], 100);
    assert_int_equal(n[5], 0);
    wf_fabric_free(f);
}

/* Pauses pass the shaper of a port that is in debt. */
static void pauses_pass_a_shaper(void **state)
{
    struct wf_desc *d;
    struct wf_switch_port_cfg *c = one_leaf(&d);
    struct wf_fabric *f;

    c->max.rate_bps = 1000000; /* a frame of 1,042 bytes is 8 ms of it */
    c->pg[3].lossless = true;
    c->pg[3].xoff_bytes = 20000;
    f = wft_build(d);
    wft_burst(f, 1, 0, 24, WF_ECN_ECT0, 960, 100);
    wft_burst(f, 0, 1, 24, WF_ECN_ECT0, 960, 100);
    wft_run(f, 20 * US);
    assert_true(wft_probe(f, 0)->n_control > 0 && wft_probe(f, 1)->n_control > 0);
    assert_int_equal(wft_probe(f, 1)->n_seen, 1);
    wf_fabric_free(f);
}

/* A million frames: no frame begins more than a picosecond from the closed form, at rates that
 * divide nothing; idle time fills the bucket, and no more than the burst. */
static void a_shaper_does_not_drift(void **state)
{
    static const uint64_t rates[] = {1000, 33300000, 7 * GBPS + 7, 1600 * GBPS - 1};

    for (int i = 0; i < 8; i++) {
        uint64_t start = 12345678, now = start, rate = rates[i / 2], burst = i % 2 ? 5000 : 0;
        struct wf_shaper s;

        wf_shaper_init(&s, &(struct wf_shaper_cfg){rate, burst});
        for (uint64_t n = 0; n < 1000000 && now < 1ull << 60; n++) {
            uint64_t due = n * 1538 > burst ? even_ps(1, n * 1538 - burst, rate) : 0;

            now = wf_shaper_next_ps(&s) > now ? wf_shaper_next_ps(&s) : now;
            assert_int_equal(now, start + due);
            wf_shaper_take(&s, now, 1538);
        }
        now += even_ps(1, 1538 + 5000, rate) + WF_PS_PER_S;
        for (int n = 0; n < (burst ? 4 : 1); n++) { /* 4 x 1,538 is beyond 5,000 bytes, 3 are not */
            assert_true(wf_shaper_next_ps(&s) <= now);
            wf_shaper_take(&s, now, 1538);
        }
        assert_int_equal(wf_shaper_next_ps(&s),
                         now + even_ps(1, burst ? 4 * 1538 - burst : 1538, rate));
    }
}

/* Weights and strict queues alone need no state, and a queue alone is served without asking. */
static void what_is_off_costs_nothing(void **state)
{
    struct wf_desc *d;
    struct wf_switch_port_cfg *c = one_leaf(&d);
    struct wf_fabric *f;

    c->queue[7].sched = WF_SCHED_STRICT;
    for (int i = 0; i < 8; i++)
        c->queue[i].group = 5; /* all in one is none */
    f = wft_build(d);
    assert_null(wf_fabric_switch(f, 0)->ports[0].sched_state);
    assert_int_equal(wf_fabric_switch(f, 0)->ports[0].ask_sched, 0);
    wf_fabric_free(f);
    c = one_leaf(&d);
    c->queue[2].max.rate_bps = 1000;
    f = wft_build(d);
    assert_int_equal(wf_fabric_switch(f, 0)->ports[0].ask_sched, 1 << 2);
    wf_fabric_free(f);
}

/* A bucket of 30 MB at a few bits a second: its debt is longer than 64 bits of picoseconds hold,
 * and yet it is not full two seconds later. What is beyond the burst waits to the picosecond. */
static void a_burst_may_last_for_months(void **state)
{
    static const struct {
        uint64_t rate, bytes;
    } rows[] = {{8, 18446745}, {7, 16140902}}; /* just beyond 2^64 ps */

    for (unsigned i = 0; i < 2; i++) {
        uint64_t over = (rows[i].bytes + 15000000 - 30000000) * 8, bps = rows[i].rate;
        struct wf_shaper s;

        wf_shaper_init(&s, &(struct wf_shaper_cfg){bps, 30000000});
        wf_shaper_take(&s, 0, rows[i].bytes);
        assert_int_equal(wf_shaper_next_ps(&s), 0);
        wf_shaper_take(&s, 2 * WF_PS_PER_S, 15000000);
        assert_int_equal(wf_shaper_next_ps(&s),
                         over / bps * WF_PS_PER_S + (over % bps * WF_PS_PER_S + bps - 1) / bps);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_are_exact_to_the_byte),
        cmocka_unit_test(shares_never_stray),
        cmocka_unit_test(wrr_counts_frames),
        cmocka_unit_test(groups_share_and_strict_goes_first),
        cmocka_unit_test(an_empty_group_saves_nothing_up),
        cmocka_unit_test(who_was_alone_saves_nothing_up),
        cmocka_unit_test(a_port_is_shaped_to_the_picosecond),
        cmocka_unit_test(a_burst_goes_first),
        cmocka_unit_test(what_a_limit_leaves_is_for_others),
        cmocka_unit_test(a_minimum_is_kept_against_strict),
        cmocka_unit_test(a_wrong_map_stops_the_wrong_queue),
        cmocka_unit_test(pauses_pass_a_shaper),
        cmocka_unit_test(a_shaper_does_not_drift),
        cmocka_unit_test(a_burst_may_last_for_months),
        cmocka_unit_test(what_is_off_costs_nothing),
    };

    wft_eal(128);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
