/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which lcore runs which node. Hosts go with the switch of their first link, and nodes whose link
 * is shorter than the floor stay together: what is so near would have to be agreed upon too often.
 * The switches are taken tier by tier (the distance from those that have hosts) and each tier is
 * split into contiguous parts of about the same number of ports, so that neighbours stay together
 * and every lcore has work at every distance from the hosts. A tier of fewer groups than lcores
 * goes to those that have least.
 *
 * Two lcores may run apart by their lookahead: delay plus serialisation of the shortest frame, the
 * least over all links between them.
 */
#ifndef WEFT_FABRIC_PARTITION_H
#define WEFT_FABRIC_PARTITION_H

#include <stdio.h>

#include "fabric/fabric.h"

#define WF_PARTITION_FLOOR_PS (20 * WF_PS_PER_NS)
enum { WF_LCORES_MAX = 64 };

struct wf_partition {
    uint32_t asked, n;              /* lcores: wanted, and what the fabric can be split into */
    uint32_t *lcore_of;             /* by node: switches, then hosts */
    uint32_t n_groups;              /* of nodes that stay together */
    uint32_t n_cut, n_near;         /* links between lcores; links below the floor */
    uint64_t weight[WF_LCORES_MAX]; /* by lcore: ports */
    uint32_t nodes[WF_LCORES_MAX];
};

/* The least time from the cause of a frame at one end of a link to its arrival at the other. */
uint64_t wf_link_lookahead(const struct wf_link_cfg *cfg);
/* For 1 to WF_LCORES_MAX lcores. */
void wf_partition(struct wf_partition *p, const struct wf_desc *d, uint32_t lcores,
                  struct wf_arena *arena);
/* What it says and why, for weft check. */
void wf_partition_print(const struct wf_partition *p, const struct wf_desc *d, FILE *out);
/* Of a built fabric: the lookaheads between its lcores, after links have changed. */
void wf_fabric_lookaheads(struct wf_fabric *f);

#endif
