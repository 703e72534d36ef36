/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arithmetic of WRED against double precision: the average and its fall while the queue is
 * empty, the probability of a mark against exact binomial bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/prng.h"
#include "eth/ecn.h"

/* avg += (q - avg) / 2^n for queues that wander and jump: less than a byte too long, never short.
 */
static void average_is_less_than_a_byte_off(void **state)
{
    for (unsigned n = 1; n <= WF_ECN_AVERAGE_MAX; n++) {
        struct wf_ecn_avg avg = {0};
        struct wf_prng rng;
        uint64_t q = 0;
        double want = 0;

        wf_prng_init(&rng, n, "average");
        for (unsigned i = 0; i < 200000; i++) {
            double got;

            q = wf_prng_below(&rng, 50) ? q / 2 + wf_prng_below(&rng, 20000)
                                        : wf_prng_below(&rng, 1ull << 40);
            wf_ecn_avg_sample(&avg, n, q);
            want += ((double)q - want) / (1 << n);
            got = (double)avg.scaled / (1 << n);
            assert_true(got > want - 1e-3 - want * 1e-12);
            assert_true(got < want + 1 + 1e-3 + want * 1e-12);
        }
    }
}

/* Idle time in one step is the power of 1 - 2^-n, for a few samples and for very many. */
static void idle_is_the_power(void **state)
{
    static const uint64_t samples[] = {0, 1, 2, 3, 17, 100, 4096, 100000, 1ull << 40, UINT64_MAX};

    for (unsigned n = 1; n <= WF_ECN_AVERAGE_MAX; n++)
        for (unsigned i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
            struct wf_ecn_avg avg = {.scaled = 1500000ull << n};
            double want = 1500000 * pow(1 - pow(2, -(double)n), (double)samples[i]);

            wf_ecn_avg_idle(&avg, n, samples[i]);
            assert_true(fabs((double)avg.scaled / (1 << n) - want) < 0.5 + want * 1e-9);
        }
}

/* A sample of an empty queue, a thousand times, and all at once. */
static void idle_is_many_empty_samples(void **state)
{
    for (unsigned n = 1; n <= WF_ECN_AVERAGE_MAX; n++) {
        struct wf_ecn_avg one = {.scaled = 123456789ull << n}, all = one;

        for (unsigned i = 0; i < 1000; i++)
            wf_ecn_avg_sample(&one, n, 0);
        wf_ecn_avg_idle(&all, n, 1000);
        assert_true(fabs((double)one.scaled - (double)all.scaled) <= 1 << (n + 1));
    }
}

/* P(X <= k) of a binomial, by its terms. */
static double binomial_cdf(unsigned k, unsigned n, double p)
{
    double sum = 0;

    for (unsigned i = 0; i <= k; i++)
        sum += exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) + i * log(p) +
                   (n - i) * log1p(-p));
    return sum;
}

/* Below Kmin nothing, from Kmax on everything; between them the draws are as likely as said: each
 * count lies within the bounds that a binomial leaves once in ten million. */
static void probability_rises_to_pmax(void **state)
{
    enum { DRAWS = 5000 };
    struct wf_ecn_cfg c = {
        .enable = true, .kmin_bytes = 500000, .kmax_bytes = 2000000, .pmax_ppm = 50000};
    struct wf_prng rng;

    wf_prng_init(&rng, 7, "marks");
    for (uint64_t q = 0; q <= 2500000; q += 20011) {
        double p = q < 500000 ? 0 : q >= 2000000 ? 1 : 0.05 * (double)(q - 500000) / 1500000;
        unsigned hits = 0;

        for (unsigned i = 0; i < DRAWS; i++)
            hits += wf_ecn_decide(&c, q, &rng);
        if (p == 0 || p == 1) {
            assert_int_equal(hits, p * DRAWS);
            continue;
        }
        assert_true(binomial_cdf(hits, DRAWS, p) > 1e-7);
        assert_true(!hits || 1 - binomial_cdf(hits - 1, DRAWS, p) > 1e-7);
    }
}

/* To the byte: Kmin itself is marked when Kmax is there too, a byte less is not. */
static void thresholds_are_exact(void **state)
{
    struct wf_ecn_cfg c = {
        .enable = true, .kmin_bytes = 100000, .kmax_bytes = 100000, .pmax_ppm = 0};
    struct wf_prng rng;

    wf_prng_init(&rng, 7, "marks");
    assert_false(wf_ecn_decide(&c, 99999, &rng));
    assert_true(wf_ecn_decide(&c, 100000, &rng));
    c.kmax_bytes = 100001;
    assert_false(wf_ecn_decide(&c, 100000, &rng)); /* p = 0 */
    assert_true(wf_ecn_decide(&c, 100001, &rng));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(average_is_less_than_a_byte_off),
        cmocka_unit_test(idle_is_the_power),
        cmocka_unit_test(idle_is_many_empty_samples),
        cmocka_unit_test(probability_rises_to_pmax),
        cmocka_unit_test(thresholds_are_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
