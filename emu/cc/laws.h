/* SPDX-License-Identifier: BSD-3-Clause */
/* The laws that come with weft; each is one file of this folder and one row of the table. */
#ifndef WEFT_CC_LAWS_H
#define WEFT_CC_LAWS_H

#include "cc/cc.h"

/*
 * Bounds that keys of several laws share. What a law computes with values within them neither wraps
 * nor divides by zero; each table says why where a bound is its own.
 */
enum {
    WF_CC_ONE = 1000000,    /* of a fraction: a share is at most all of it */
    WF_CC_GAIN_MIN = 100,   /* of a fraction: a value that decays so is gone in some 10^5 steps */
    WF_CC_TIMES_MAX = 1000, /* how often a step is taken at once */
    WF_CC_TIMES_MILLIONTHS = 1000000000, /* the same of a fraction */
};
#define WF_CC_TIME_MAX   1000000000000ull   /* 1 s, at most 65 of which are added */
#define WF_CC_RATE_MAX   100000000000000ull /* 100 Tbit/s: a thousand of them fit 64 bits */
#define WF_CC_RATE_MIN   1000ull            /* 1 kbit/s: a packet still goes within a minute */
#define WF_CC_WINDOW_MAX (1ull << 31)       /* that of a flow */

extern const struct wf_cc_law wf_cc_fixed, wf_cc_dcqcn, wf_cc_hpcc, wf_cc_timely, wf_cc_swift,
    wf_cc_dctcp;

/* NULL-terminated, in the order of the documentation. */
extern const struct wf_cc_law *const wf_cc_laws[];

/* By name, or NULL. */
const struct wf_cc_law *wf_cc_find(const char *name);

/* a * b / c without overflow, rounded down; what does not fit is UINT64_MAX. */
static inline uint64_t wf_cc_scale(uint64_t a, uint64_t b, uint64_t c)
{
    unsigned __int128 x = (unsigned __int128)a * b / c;

    return x > UINT64_MAX ? UINT64_MAX : (uint64_t)x;
}

#endif
