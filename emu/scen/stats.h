/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics over the runs of a sweep: mean, sample deviation, median, percentiles, and the 95%
 * confidence interval of a mean by Student's t. They describe runs, and never enter one.
 */
#ifndef WEFT_SCEN_STATS_H
#define WEFT_SCEN_STATS_H

#include <stddef.h>

struct wf_stats {
    size_t n;
    double mean, sd, median, min, max;
    double ci95; /* half the interval: mean - ci95 ... mean + ci95; NAN for n < 2 */
};

/* Sorts v. n > 0. */
void wf_stats(double *v, size_t n, struct wf_stats *out);
/* By nearest rank, of a sorted list; n > 0, percent 0 to 100. */
double wf_stats_rank(const double *sorted, size_t n, double percent);
/* The 0.975 quantile of Student's t; between two rows of the table the larger. df > 0. */
double wf_stats_t975(size_t df);

#endif
