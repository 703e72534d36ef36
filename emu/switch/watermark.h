/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watermarks as SONiC has them: of each kind a user one and a persistent one, each cleared by
 * itself (`sonic-clear priority-group watermark shared` and so on). The persistent one is the
 * maximum in the table of counters. The user one is the same until one of the two is cleared for
 * the first time; from then on it is kept apart.
 */
#ifndef WEFT_SWITCH_WATERMARK_H
#define WEFT_SWITCH_WATERMARK_H

#include "switch/switch.h"

enum wf_watermark {
    WF_WATERMARK_PG_SHARED,     /* at: port, index: group */
    WF_WATERMARK_PG_HEADROOM,   /* likewise */
    WF_WATERMARK_QUEUE,         /* at: port, index: queue */
    WF_WATERMARK_POOL,          /* index: ingress pool */
    WF_WATERMARK_POOL_HEADROOM, /* likewise */
    WF_WATERMARK_EGRESS_POOL,   /* index: egress pool */
    WF_WATERMARKS
};
enum { WF_WATERMARK_ALL = (1 << WF_WATERMARKS) - 1 };

uint64_t wf_switch_watermark(const struct wf_switch *sw, enum wf_watermark kind, unsigned at,
                             unsigned index, bool persistent);
/* Begin anew from what is held now. kinds: bit per enum wf_watermark. The first time it allocates
 * from the arena, so between turns only. Clearing persistent ones changes counters. */
void wf_switch_watermarks_clear(struct wf_switch *sw, struct wf_arena *arena, unsigned kinds,
                                bool persistent);

#endif
