/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standing deadlocks: egress queues of switches, each stopped by a pause of the next switch, whose
 * group holds what waits in the next queue of the circle, and so round (Guo et al., SIGCOMM 2016,
 * 4.2; Hu et al., HotNets 2016). Nothing outside the circle can end it but a watchdog or a link.
 *
 * Found at looks, from the state alone. Of the queues that are stopped by a group of the next
 * switch and sent nothing for longer than a pause lasts, those are taken away of whose pausing
 * groups enough waits elsewhere for an XON, until no more can be; what is left never moves again,
 * and has a circle in it. So a storm's victims are none: the queue that the storm stops is not
 * stopped by a group. Left out: hosts, which take what comes; what
 * looks did not see; with dynamic thresholds, that XON rises as others leave the pool: then a
 * circle may be told that ends by itself.
 */
#ifndef WEFT_FABRIC_DEADLOCK_H
#define WEFT_FABRIC_DEADLOCK_H

#include "fabric/fabric.h"

/* An egress queue of a switch that the peer's group `pg` keeps stopped, by pauses of `prio`. */
struct wf_deadlock_hop {
    struct wf_port *port;
    uint8_t queue, prio, pg;
    uint64_t waiting_bytes; /* of the group, in the queue of the next hop */
};

struct wf_deadlock {
    struct wf_deadlock_hop *hops; /* each waits for the next one, the last for the first */
    uint32_t n_hops;
    uint64_t since_ps; /* from this look on nothing moved */
    uint64_t found_ps;
    uint64_t until_ps; /* the look at which it was over; WF_TIME_NEVER: it stands */
};

struct wf_stopped;

struct wf_deadlocks {
    struct wf_arena arena;
    struct wf_deadlock *cycles; /* in the order in which they were found */
    uint32_t n, cap;
    /* queues that were stopped at the last look, in entity order */
    struct wf_stopped *stopped;
    uint32_t n_stopped, cap_stopped;
    uint64_t seen; /* what was judged last, as a hash */
};

/* Look at the fabric while it stands. Counts what it finds as fabric.deadlock_events. */
void wf_deadlocks_look(struct wf_deadlocks *d, struct wf_fabric *f);
void wf_deadlocks_free(struct wf_deadlocks *d);
/* How many stand now. */
uint32_t wf_deadlocks_standing(const struct wf_deadlocks *d);
/* Whether the queue is in a circle, also one that is over. */
bool wf_deadlocks_has(const struct wf_deadlocks *d, const struct wf_port *port, uint8_t queue);

#endif
