/* SPDX-License-Identifier: BSD-3-Clause */
/* The laws that come with weft; each is one file of this folder and one row of the table. */
#ifndef WEFT_CC_LAWS_H
#define WEFT_CC_LAWS_H

#include "cc/cc.h"

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
