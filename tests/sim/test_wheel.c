/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wheel against an oracle that looks at every event each time: schedules, cancels and moves
 * drawn from seeds. Built twice: with the wheel, and with the heap of tests/support in its place.
 *   WEFT_SEEDS=N runs that many; WEFT_SEED=S only that one.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/prng.h"
#include "base/units.h"
#include "sim/lcore.h"

enum { MOST = 400, STEPS = 3000, GRAIN_PS = 1 << WF_WHEEL_GRAIN_BITS };

struct game {
    struct wf_wheel *w;
    struct wf_prng p;
    struct wf_event ev[MOST];
    uint64_t t_ps[MOST], key[MOST]; /* the oracle's own copy */
    bool in[MOST];
    uint32_t n, n_in, seq, entities;
    uint64_t now_ps;
};

static void fn_a(struct wf_lcore *lc, struct wf_event *ev)
{
}
static void fn_b(struct wf_lcore *lc, struct wf_event *ev)
{
}

static wf_event_fn *fn_of(uint32_t i)
{
    return i & 1 ? fn_a : fn_b;
}

static uint32_t below(struct game *g, uint32_t n)
{
    return (uint32_t)wf_prng_below(&g->p, n);
}

/* Any of the ways of ranking that this machine has, the best one too. */
static void reserve(struct wf_wheel *w, size_t n, uint64_t draw)
{
    const struct wf_ranker *r;
    size_t ways = 0;

    memset(w, 0, sizeof(*w));
    assert_int_equal(wf_wheel_reserve(w, n), 0);
    while (wf_ranker_at(ways))
        ways++;
    r = wf_ranker_at(draw % ways);
    w->rank = r->rank;
    w->rank_most = r->most;
}

static struct game *begin(uint64_t seed, uint32_t n)
{
    struct game *g = calloc(1, sizeof(*g));

    g->w = aligned_alloc(64, (sizeof(*g->w) + 63) / 64 * 64);
    wf_prng_init(&g->p, seed, "wheel");
    g->n = n;
    g->entities = 3;
    reserve(g->w, n, seed);
    return g;
}

static void end(struct game *g)
{
    wf_wheel_fini(g->w);
    free(g->w);
    free(g);
}

static void schedule(struct game *g, uint32_t i, uint64_t t_ps)
{
    g->t_ps[i] = t_ps;
    g->key[i] = wf_event_key(WF_ENTITY_FIRST + below(g, g->entities),
                             (enum wf_event_kind)below(g, WF_EV_SAMPLE + 1), g->seq++);
    g->in[i] = true;
    g->n_in++;
    g->ev[i] = (struct wf_event){t_ps, g->key[i], fn_of(i)};
    wf_wheel_insert(g->w, &g->ev[i]);
}

static void cancel(struct game *g, uint32_t i)
{
    g->in[i] = false;
    g->n_in--;
    wf_wheel_remove(g->w, &g->ev[i]);
    assert_false(wf_event_pending(&g->ev[i]));
}

/* The first event in order, or -1. */
static int first(const struct game *g)
{
    int best = -1;

    for (uint32_t i = 0; i < g->n; i++)
        if (g->in[i] && (best < 0 || g->t_ps[i] < g->t_ps[best] ||
                         (g->t_ps[i] == g->t_ps[best] && g->key[i] < g->key[best])))
            best = (int)i;
    return best;
}

/* A time from now on: this instant, this slot, that of some other event, near, far, anywhere. */
static uint64_t draw_time(struct game *g)
{
    uint64_t left = WF_TIME_NEVER - 1 - g->now_ps, d = 0;
    uint32_t other = below(g, g->n);

    switch (below(g, 8)) {
    case 0:
        break;
    case 1:
        d = below(g, GRAIN_PS);
        break;
    case 2:
        if (g->in[other])
            return g->t_ps[other];
        break;
    case 3:
        d = below(g, 100) * (uint64_t)GRAIN_PS;
        break;
    case 4:
        d = 5120 + below(g, 3) * 80000;
        break;
    case 5:
        d = below(g, 3000000);
        break;
    case 6: /* near the first level's end */
        d = (WF_WHEEL_SLOTS - 2) * (uint64_t)GRAIN_PS + below(g, 4 * GRAIN_PS);
        break;
    default:
        d = wf_prng_u64(&g->p) >> (8 + below(g, 56));
    }
    return g->now_ps + (d < left ? d : left);
}

static void check_next(struct game *g)
{
    uint64_t next = wf_wheel_next_ps(g->w);
    int want = first(g);

    assert_int_equal(wf_wheel_count(g->w), g->n_in);
    if (want < 0) {
        assert_int_equal(next, WF_TIME_NEVER);
        return;
    }
    assert_true(next <= g->t_ps[want]);
    /* few events: it is exact */
    assert_int_equal(next, g->t_ps[want]);
}

/* Take all before the limit, or only some of them. */
static void take(struct game *g, uint64_t limit_ps, uint32_t most)
{
    struct wf_event *ev;
    wf_event_fn *fn;
    int want;

    for (; most; most--) {
        want = first(g);
        fn = NULL;
        ev = wf_wheel_pop(g->w, limit_ps, &fn);
        if (want < 0 || g->t_ps[want] >= limit_ps) {
            assert_null(ev);
            g->now_ps = limit_ps > g->now_ps && limit_ps != WF_TIME_NEVER ? limit_ps : g->now_ps;
            return;
        }
        assert_ptr_equal(ev, &g->ev[want]);
        assert_ptr_equal(fn, fn_of((uint32_t)want));
        assert_false(wf_event_pending(ev));
        g->in[want] = false;
        g->n_in--;
        g->now_ps = g->t_ps[want];
        if (below(g, 4) == 0) /* from its own handler */
            schedule(g, (uint32_t)want, draw_time(g));
    }
}

static void step(struct game *g)
{
    uint32_t i = below(g, g->n), kind = below(g, 10);
    int soonest;

    if (kind < 4) {
        if (!g->in[i])
            schedule(g, i, draw_time(g));
    } else if (kind == 4) {
        if (g->in[i])
            cancel(g, i);
    } else if (kind == 5) { /* moved, sometimes within its slot, sometimes to the same instant */
        if (g->in[i]) {
            uint64_t t = g->t_ps[i];

            cancel(g, i);
            t = below(g, 2) ? draw_time(g) : t;
            schedule(g, i, t);
        }
    } else if (kind == 6) { /* the one that is next: it is in `due` as often as not */
        soonest = first(g);
        if (soonest >= 0) {
            cancel(g, (uint32_t)soonest);
            if (below(g, 2))
                schedule(g, (uint32_t)soonest, draw_time(g));
        }
    } else if (kind == 7) {
        uint64_t t = draw_time(g);

        /* far jumps seldom, or the end of time is near at once */
        if (t - g->now_ps < WF_PS_PER_MS || below(g, 50) == 0)
            take(g, t, UINT32_MAX);
    } else if (kind == 8) {
        take(g, g->now_ps + below(g, 2 * GRAIN_PS), 1 + below(g, 4));
    } else {
        check_next(g);
    }
}

static void play(uint64_t seed)
{
    struct game *g = begin(seed, 0);

    wf_wheel_fini(g->w);
    g->n = 1 + below(g, below(g, 2) ? 8 : MOST);
    g->entities = seed % 3 ? 3 : 1 << 19;
    reserve(g->w, g->n, seed);
    for (int i = 0; i < STEPS && g->now_ps < WF_TIME_NEVER / 2; i++)
        step(g);
    check_next(g);
    take(g, WF_TIME_NEVER, UINT32_MAX);
    assert_int_equal(g->n_in, 0);
    check_next(g);
    end(g);
}

static void wheel_equals_the_oracle(void **state)
{
    const char *n = getenv("WEFT_SEEDS"), *one = getenv("WEFT_SEED");
    uint64_t from = one ? strtoull(one, NULL, 10) : 1;
    uint64_t last = one ? from : n ? strtoull(n, NULL, 10) : 150;

    for (uint64_t seed = from; seed <= last; seed++) {
        if (one || n)
            printf("seed %llu\n", (unsigned long long)seed);
        play(seed);
    }
}

static int by_order(const void *a, const void *b)
{
    const struct wf_event *x = *(const struct wf_event *const *)a,
                          *y = *(const struct wf_event *const *)b;

    return wf_event_before(x, y) ? -1 : wf_event_before(y, x) ? 1 : 0;
}

/* Many in one slot: the sort's long way, with runs of all kinds. */
static void many_in_a_slot_come_in_order(void **state)
{
    enum { N = 30000 };
    struct wf_wheel *w = aligned_alloc(64, (sizeof(*w) + 63) / 64 * 64);
    struct wf_event *ev = calloc(N, sizeof(*ev)), **want = calloc(N, sizeof(*want));
    struct wf_prng p;
    wf_event_fn *fn;

    wf_prng_init(&p, 3, "wheel");
    for (int kind = 0; kind < 4; kind++) {
        size_t n = kind ? N : 1000;

        reserve(w, n, (uint64_t)kind);
        for (size_t i = 0; i < n; i++) {
            uint64_t t = kind == 1   ? i * 2000 / n
                         : kind == 2 ? 2000 - i * 2000 / n
                         : kind == 3 ? (i % 7) * 100 + i / 100
                                     : wf_prng_below(&p, 2000);

            ev[i] = (struct wf_event){GRAIN_PS * 5ull + t % GRAIN_PS,
                                      wf_event_key(16, WF_EV_TIMER, (uint32_t)i), fn_a};
            wf_wheel_insert(w, &ev[i]);
            want[i] = &ev[i];
        }
        qsort(want, n, sizeof(*want), by_order);
        for (size_t i = 0; i < n; i++)
            assert_ptr_equal(wf_wheel_pop(w, WF_TIME_NEVER, &fn), want[i]);
        assert_null(wf_wheel_pop(w, WF_TIME_NEVER, &fn));
        wf_wheel_fini(w);
    }
    free(w);
    free(ev);
    free(want);
}

/* As many in a slot as any way of ordering it begins or ends with, one after another from one
 * wheel, with others in the slots behind. */
static void each_number_in_a_slot_comes_in_order(void **state)
{
    enum { N = 340, WAYS = 3 };
    struct wf_wheel *w = aligned_alloc(64, (sizeof(*w) + 63) / 64 * 64);
    struct wf_event *ev = calloc(N, sizeof(*ev)), **want = calloc(N, sizeof(*want));
    struct wf_prng p;
    wf_event_fn *fn;

    wf_prng_init(&p, 4, "wheel");
    for (uint64_t way = 0; way < WAYS; way++) {
        reserve(w, N, way);
        for (size_t n = 1; n <= N; n++) {
            for (size_t i = 0; i < n; i++) {
                uint64_t t = (3 * n + (i % 50 == 49)) * GRAIN_PS + wf_prng_below(&p, 300);

                ev[i] = (struct wf_event){
                    t, wf_event_key(16 + (uint32_t)(i * 7 % N), i % 2, (uint32_t)i), fn_a};
                wf_wheel_insert(w, &ev[i]);
                want[i] = &ev[i];
            }
            qsort(want, n, sizeof(*want), by_order);
            for (size_t i = 0; i < n; i++)
                assert_ptr_equal(wf_wheel_pop(w, WF_TIME_NEVER, &fn), want[i]);
            assert_null(wf_wheel_pop(w, WF_TIME_NEVER, &fn));
        }
        wf_wheel_fini(w);
    }
    free(w);
    free(ev);
    free(want);
}

/* Cancelled and scheduled again far more often than there is room for: into ever new slots, into
 * one slot, into the slot that is being taken. */
static void cancelled_events_take_no_room(void **state)
{
    static const uint64_t spans[] = {WF_PS_PER_MS, 1, 3};

    for (int kind = 0; kind < 3; kind++) {
        struct game *g = begin(11, 20);
        uint64_t from = kind == 1 ? 7 * WF_PS_PER_MS : 0;

        for (uint32_t k = 0; k < 100000; k++) {
            uint32_t i = below(g, g->n);

            if (g->in[i])
                cancel(g, i);
            schedule(g, i, from + wf_prng_below(&g->p, spans[kind]));
            if (k % 20000 == 0)
                assert_true(wf_wheel_next_ps(g->w) <= g->t_ps[first(g)]);
        }
#ifndef WEFT_TEST_HEAP
        assert_int_equal(kind<2, g->w->sweeps> 0);
#endif
        take(g, WF_TIME_NEVER, UINT32_MAX);
        assert_int_equal(g->n_in, 0);
        end(g);
    }
}

/* More than was reserved is our bug and is said, whatever was cancelled before. */
static void more_than_reserved_is_a_bug(void **state)
{
    struct game *g = begin(12, 8);
    int status;
    pid_t pid;

    for (uint32_t i = 0; i < g->n; i++)
        schedule(g, i, 1000 * i);
    fflush(NULL);
    pid = fork();
    if (!pid) {
        struct wf_event one = {.t_ps = 5, .fn = fn_a};

        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        signal(SIGABRT, SIG_DFL);
        wf_wheel_insert(g->w, &one);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    cancel(g, 3);
    schedule(g, 3, 77);
    take(g, WF_TIME_NEVER, UINT32_MAX);
    end(g);
}

static uint32_t runs;
static void move_the_other(struct wf_lcore *lc, struct wf_event *ev)
{
    struct wf_event *other = ev + 1;

    if (runs++ > 100)
        return;
    wf_lcore_cancel(lc, other); /* the same slot, twice */
    wf_lcore_schedule(lc, other, lc->now_ps + 1, other->key, other->fn ? other->fn : fn_a);
    wf_lcore_cancel(lc, other);
    wf_lcore_schedule(lc, other, lc->now_ps + 1, other->key, fn_b);
    wf_lcore_schedule(lc, ev, lc->now_ps + 1, ev->key, move_the_other);
}

/* Through the lcore: a handler moves its neighbour within the slot; each runs as often as it was
 * scheduled and left there. */
static void moved_within_the_slot_runs_once(void **state)
{
    struct wf_lcore *lc = aligned_alloc(64, (sizeof(*lc) + 63) / 64 * 64);
    struct wf_event ev[2] = {0};

    runs = 0;
    wf_lcore_init(lc, false, 1, WF_TIME_NEVER);
    assert_int_equal(wf_wheel_reserve(&lc->wheel, 2), 0);
    ev[1].key = wf_event_key(15, WF_EV_TIMER, 0);
    wf_lcore_schedule(lc, &ev[0], 5000000, wf_event_key(16, WF_EV_TIMER, 0), move_the_other);
    /* the second runs first at each instant but the first one */
    assert_int_equal(wf_lcore_turn(lc), 102 + 101);
    assert_int_equal(wf_wheel_count(&lc->wheel), 0);
    assert_int_equal(lc->now_ps, 5000000 + 101);
    wf_wheel_fini(&lc->wheel);
    free(lc);
}

static void cancel_behind(struct wf_lcore *lc, struct wf_event *ev)
{
    for (unsigned i = 1; i <= 3; i++)
        wf_lcore_cancel(lc, ev + i);
}

/* Whatever a handler cancels of its own slot, of the next ones and far ahead, the run goes on with
 * what is left: by itself, watched over by a budget, and up to a limit inside a slot. */
static void the_rest_runs_when_a_slot_is_cancelled(void **state)
{
    uint64_t from = 100 * GRAIN_PS;

    for (uint64_t gap = 1; gap < 1ull << 50; gap *= 3)
        for (uint64_t budget = 0; budget < 6; budget++) {
            struct wf_lcore *lc = aligned_alloc(64, (sizeof(*lc) + 63) / 64 * 64);
            struct wf_event ev[8] = {0};

            wf_lcore_init(lc, false, 1, WF_TIME_NEVER);
            assert_int_equal(wf_wheel_reserve(&lc->wheel, 8), 0);
            for (unsigned i = 0; i < 8; i++)
                wf_lcore_schedule(lc, &ev[i], from + i * gap, wf_event_key(16, WF_EV_TIMER, i),
                                  i % 4 ? fn_a : cancel_behind);
            for (uint64_t to = from; to < from + 1 + 7 * gap && lc->events < 2;) {
                uint64_t limit = budget % 2 ? to + gap + 1 : WF_TIME_NEVER;
                uint64_t reached = wf_lcore_run(lc, limit, budget / 2);

                assert_true(reached > lc->last_event_ps);
                assert_true(wf_wheel_next_ps(&lc->wheel) >= reached);
                to = reached;
            }
            assert_int_equal(lc->events, 2);
            assert_int_equal(lc->last_event_ps, from + 4 * gap);
            assert_int_equal(wf_wheel_count(&lc->wheel), 0);
            assert_int_equal(wf_wheel_next_ps(&lc->wheel), WF_TIME_NEVER);
            wf_wheel_fini(&lc->wheel);
            free(lc);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wheel_equals_the_oracle),
        cmocka_unit_test(many_in_a_slot_come_in_order),
        cmocka_unit_test(each_number_in_a_slot_comes_in_order),
        cmocka_unit_test(cancelled_events_take_no_room),
        cmocka_unit_test(more_than_reserved_is_a_bug),
        cmocka_unit_test(moved_within_the_slot_runs_once),
        cmocka_unit_test(the_rest_runs_when_a_slot_is_cancelled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
