/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCQCN's reaction point against the equations of the paper in double precision, and against
 * figures that can be worked out by hand.
 */
#include <math.h>
#include <string.h>

#include "base/prng.h"
#include "law.h"

#define LINE 40000000000ull

/* The paper's machine, in Mb/s and us, written from its section 3.1. */
struct oracle {
    double g, alpha_us, timer_us, bytes, ai, hai, min;
    int f;
    double alpha, rc, rt, alpha_at, timer_at, sent;
    int t, b;
    int on, began;
};

static void oracle_step(struct oracle *o)
{
    if (fmin(o->t, o->b) > o->f)
        o->rt += o->hai;
    else if (fmax(o->t, o->b) > o->f)
        o->rt += o->ai;
    o->rt = fmin(o->rt, LINE / 1e6);
    o->rc = (o->rc + o->rt) / 2;
    if (o->rc >= LINE / 1e6 - 1e-5)
        o->on = 0;
}

static void oracle_until(struct oracle *o, double us)
{
    while (1) {
        double a = o->alpha_at + o->alpha_us, t = o->on ? o->timer_at + o->timer_us : 1e30;

        if (!o->began || fmin(a, t) > us + 1e-9)
            return;
        if (a <= t) {
            o->alpha *= 1 - o->g;
            o->alpha_at = a;
        } else {
            o->timer_at = t;
            o->t++;
            oracle_step(o);
        }
    }
}

static void oracle_cnp(struct oracle *o, double us)
{
    oracle_until(o, us);
    o->rt = o->rc;
    o->rc = fmax(o->min, o->rc * (1 - o->alpha / 2));
    o->alpha = (1 - o->g) * o->alpha + o->g;
    o->alpha_at = o->timer_at = us;
    o->t = o->b = 0;
    o->sent = 0;
    o->on = o->began = 1;
}

static void oracle_sent(struct oracle *o, double us, double bytes)
{
    oracle_until(o, us);
    if (!o->on)
        return;
    o->sent += bytes;
    if (o->sent >= o->bytes) {
        o->sent -= o->bytes;
        o->b++;
        oracle_step(o);
    }
}

static void same(const struct law_run *r, const struct oracle *o)
{
    double rate = law_column(r, "current_rate_bps") / 1e6;
    double target = law_column(r, "target_rate_bps") / 1e6;

    /* bits and 2^-32 parts, rounded a few thousand times */
    assert_true(fabs(rate - o->rc) < 1e-3 + 1e-6 * o->rc);
    assert_true(fabs(target - o->rt) < 1e-3 + 1e-6 * o->rt);
}

static void paper_trajectory(void **state)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct oracle o = {.g = 1 / 256.0,
                           .alpha_us = 55,
                           .timer_us = 55,
                           .bytes = 10e6,
                           .ai = 40,
                           .hai = 40,
                           .min = 10,
                           .f = 5,
                           .alpha = 1,
                           .rc = LINE / 1e6,
                           .rt = LINE / 1e6};
        struct wf_prng p;
        struct law_run r;
        uint64_t t = 0;

        wf_prng_init(&p, seed, "dcqcn");
        law_begin(&r, "dcqcn", "sigcomm15", NULL, LINE, 0);
        assert_int_equal(r.c.out.rate_bps, 0);
        for (int i = 0; i < 400; i++) {
            bool cnp = i == 0 || wf_prng_below(&p, 4) == 0;

            /* never at the instant of a timer: which of the two is first is a choice */
            t += cnp ? (50 + wf_prng_below(&p, 300)) * US + 7777 : 13 * US + 333;
            law_until(&r, t);
            if (cnp) {
                r.law->on_cnp(&r.c);
                oracle_cnp(&o, t / 1e6);
            } else {
                r.law->on_send(&r.c, 1500000, false);
                oracle_sent(&o, t / 1e6, 1500000);
            }
            same(&r, &o);
        }
        law_end(&r);
    }
}

/* alpha 1023/1024: the first CNP leaves 1 - 1023/2048 of the line's rate. */
static void firmware_first_cnp(void **state)
{
    struct law_run r;

    law_begin(&r, "dcqcn", "nvidia-fw", NULL, 100000000000ull, 0);
    law_until(&r, 10 * US);
    r.law->on_cnp(&r.c);
    assert_int_equal(r.c.out.rate_bps,
                     100000000000ull / 2048 * 1025 + 100000000000ull % 2048 * 1025 / 2048);
    /* not again within 4 us; alpha grows all the same */
    law_until(&r, 13 * US);
    r.law->on_cnp(&r.c);
    assert_int_equal(r.c.out.rate_bps, 50048828125ull);
    law_until(&r, 14 * US);
    r.law->on_cnp(&r.c);
    assert_true(r.c.out.rate_bps < 26000000000ull && r.c.out.rate_bps >= 25024414062ull);
    assert_int_equal(law_column(&r, "target_rate_bps"), 100000000000ull);
    law_end(&r);
}

/* Halving the way back needs no timer any more once it is there. */
static void comes_back(void **state)
{
    struct law_run r;

    law_begin(&r, "dcqcn", "sigcomm15", NULL, LINE, 0);
    law_until(&r, US);
    r.law->on_cnp(&r.c);
    assert_int_equal(r.c.out.rate_bps, LINE / 2);
    law_until(&r, US + 55 * US);
    assert_int_equal(r.c.out.rate_bps, LINE / 4 * 3);
    law_until(&r, 100000 * US);
    assert_int_equal(r.c.out.rate_bps, 0);
    assert_int_equal(r.c.out.timer_ps, WF_CC_NEVER);
    law_end(&r);
}

static void never_below_min(void **state)
{
    struct law_run r;

    law_begin(&r, "dcqcn", "nvidia-fw", NULL, LINE, 0);
    for (uint64_t i = 1; i <= 100; i++) {
        law_until(&r, i * 5 * US);
        r.law->on_cnp(&r.c);
    }
    assert_int_equal(r.c.out.rate_bps, 1000000);
    law_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paper_trajectory),
        cmocka_unit_test(firmware_first_cnp),
        cmocka_unit_test(comes_back),
        cmocka_unit_test(never_below_min),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
