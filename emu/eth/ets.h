/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transmission selection (802.1Q 8.6.8, 802.1Qaz ETS). A queue takes part when its head is ready,
 * the link layer lets its class send and its maximum rate permits. Then, in this order:
 *
 *   1. queues below their minimum rate, the highest first;
 *   2. strict queues, the highest first;
 *   3. groups of queues (traffic class groups) by their weights, and within a group its queues by
 *      theirs: deficit round robin, exact to the byte, for queues `wrr` by frames instead.
 *
 * What goes by a minimum rate is not charged to weights. A port's own maximum rate holds all queues
 * back; MAC control frames pass shapers. A group or a queue that empties saves nothing up.
 * Left out: CBS, strict priorities within a group.
 */
#ifndef WEFT_ETH_ETS_H
#define WEFT_ETH_ETS_H

#include "eth/shaper.h"
#include "net/port.h"

enum { WF_ETS_GROUPS = 8 };

struct wf_ets_queue_cfg {
    bool strict, by_frames;
    uint32_t weight;
    uint32_t group;
    struct wf_shaper_cfg min, max;
};

struct wf_ets_cfg {
    struct wf_ets_queue_cfg queue[WF_QUEUES];
    uint32_t group_weight[WF_ETS_GROUPS];
    struct wf_shaper_cfg max;
};

/* Strict and weights only, for ports that set up their queues themselves. */
extern const struct wf_sched_ops wf_ets_ops;

/* Make it the scheduler of a port; what is of no use to this configuration takes no memory. */
void wf_ets_attach(struct wf_port *port, const struct wf_ets_cfg *cfg, struct wf_arena *arena);
/* From now on other queues are strict and others weigh as much; groups and shapers stay. Weights
 * are 1 or more. */
void wf_ets_retune(struct wf_port *port, uint8_t strict, const uint32_t weight[WF_QUEUES]);

#endif
