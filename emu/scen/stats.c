/* SPDX-License-Identifier: BSD-3-Clause */
#include "scen/stats.h"

#include <math.h>
#include <stdlib.h>

#include "base/assert.h"

/* 0.975 quantiles of Student's t, upwards in degrees of freedom. */
static const struct {
    size_t df;
    double t;
} t975[] = {
    {1, 12.7062},  {2, 4.3027},  {3, 3.1824},  {4, 2.7764},  {5, 2.5706},  {6, 2.4469},
    {7, 2.3646},   {8, 2.3060},  {9, 2.2622},  {10, 2.2281}, {11, 2.2010}, {12, 2.1788},
    {13, 2.1604},  {14, 2.1448}, {15, 2.1314}, {16, 2.1199}, {17, 2.1098}, {18, 2.1009},
    {19, 2.0930},  {20, 2.0860}, {21, 2.0796}, {22, 2.0739}, {23, 2.0687}, {24, 2.0639},
    {25, 2.0595},  {26, 2.0555}, {27, 2.0518}, {28, 2.0484}, {29, 2.0452}, {30, 2.0423},
    {35, 2.0301},  {40, 2.0211}, {50, 2.0086}, {60, 2.0003}, {80, 1.9901}, {100, 1.9840},
    {200, 1.9719},
};

double wf_stats_t975(size_t df)
{
    size_t i = sizeof(t975) / sizeof(t975[0]) - 1;

    WF_ASSERT(df > 0);
    while (t975[i].df > df)
        i--;
    return t975[i].t;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double wf_stats_rank(const double *sorted, size_t n, double percent)
{
    size_t rank = (size_t)ceil(percent * (double)n / 100 - 1e-9); /* 99.9 is no binary number */

    return sorted[rank > n ? n - 1 : rank ? rank - 1 : 0];
}

void wf_stats(double *v, size_t n, struct wf_stats *out)
{
    double sum = 0, squares = 0;

    WF_ASSERT(n > 0);
    qsort(v, n, sizeof(v[0]), by_value);
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    out->n = n;
    out->mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (v[i] - out->mean) * (v[i] - out->mean);
    out->sd = n > 1 ? sqrt(squares / (double)(n - 1)) : NAN;
    out->ci95 = n > 1 ? wf_stats_t975(n - 1) * out->sd / sqrt((double)n) : NAN;
    out->median = (v[(n - 1) / 2] + v[n / 2]) / 2;
    out->min = v[0];
    out->max = v[n - 1];
}
