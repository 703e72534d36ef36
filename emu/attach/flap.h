/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links that flap by command: down and up again, so many times. Each change is a stimulus of its
 * own, so that a recording repeats it without knowing of flaps.
 */
#ifndef WEFT_ATTACH_FLAP_H
#define WEFT_ATTACH_FLAP_H

#include "attach/edges.h"

enum { WF_FLAPS_MAX = 16, WF_FLAP_TIMES_MAX = 1000 };

struct wf_flap_cfg {
    uint64_t down_ps,
        period_ps; /* how long it is down; from one time that it goes down to the next */
    uint32_t count;
};

/* From now on. 0, or -EINVAL and *err. */
int wf_flap_start(struct wf_edges *es, struct wf_link *link, const struct wf_flap_cfg *cfg,
                  struct wf_err *err);

#endif
