/* SPDX-License-Identifier: BSD-3-Clause */
/* Pauses as a capture point sees them: how long a priority was stopped in all until some time. */
#ifndef WEFT_ANALYZE_PAUSE_H
#define WEFT_ANALYZE_PAUSE_H

#include "base/units.h"
#include "cap/reader.h"
#include "wire/pfc.h"

struct wf_an_pause {
    int64_t sum_ps, from_ps, until_ps; /* sum_ps: before from_ps */
};

struct wf_an_point;
void wf_an_pause_take(struct wf_an_point *pt, const struct wf_pfc *f, enum wf_cap_dir dir,
                      int64_t t_ps);
int64_t wf_an_paused_ps(const struct wf_an_pause *q, int64_t t_ps);

#endif
