/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact tails of the binomial distribution, for counts of random decisions: a test says how many
 * draws there were, with which probability, and that what it saw is not one in a million.
 */
#ifndef WEFT_TESTS_BINOMIAL_H
#define WEFT_TESTS_BINOMIAL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* P(a <= X <= b) of n draws. */
static inline double wft_binomial(uint32_t n, double p, uint32_t a, uint32_t b)
{
    double sum = 0;

    for (uint32_t k = a; k <= b && k <= n; k++)
        sum += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) + k * log(p) +
                   (n - k) * log1p(-p));
    return sum;
}

/* Neither so many nor so few are less likely than one in a million. */
static inline bool wft_binomial_ok(uint32_t n, double p, uint32_t seen)
{
    return seen <= n && wft_binomial(n, p, 0, seen) > 1e-6 && wft_binomial(n, p, seen, n) > 1e-6;
}

#endif
