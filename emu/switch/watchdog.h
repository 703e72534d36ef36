/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PFC watchdog of a port, in SONiC's terms: it polls, and a priority that its peer keeps
 * paused for the detection time is in a storm until no PFC frame for it has come for the
 * restoration time. Meanwhile the action is taken: `drop` flushes the queue that the priority
 * stops, drops what comes for that queue, and at the same port what comes in for the groups that
 * pause this priority, which then ask for no pause; `forward` lets the queue send as if there were
 * no PFC; `alert` only counts.
 *
 * A poll finds a priority stuck when it is paused now, was so at the poll before, and no pause of
 * it ended in between, by XON or by running out (ON2OFF). Stuck polls use up the detection time,
 * one poll interval each; any other restores it. That is SONiC's condition for Broadcom, but that
 * PFC frames need not have come between the two polls: a poll may be shorter here than one pause.
 * Nothing is asked of the queue. Polls are at multiples of the interval; those at which nothing is
 * paused and no storm lasts can change nothing, and are left out.
 * Which priorities are watched: those of the port's lossless groups.
 */
#ifndef WEFT_SWITCH_WATCHDOG_H
#define WEFT_SWITCH_WATCHDOG_H

#include "switch/switch.h"

/* What it knows of one priority. */
struct wf_wd_prio {
    uint64_t ctr[WF_PFCWD_CTRS];
    uint64_t left_ps;              /* of the detection time, or of the restoration time */
    uint64_t on2off, rx;           /* at the last poll */
    bool paused, storm;            /* at the last poll */
    uint64_t tx_mark, rx_mark;     /* what queue and groups had counted when the storm began */
    uint64_t tx_before, rx_before; /* frames of the storms before */
};

struct wf_watchdog {
    struct wf_event poll;
    struct wf_switch *sw;
    struct wf_port *port;
    const struct wf_watchdog_cfg *cfg;
    uint8_t watched; /* priorities */
    uint8_t drop_queues, drop_groups;
    struct wf_wd_prio prio[WF_PRIOS];
};

/* Give the port one, when its configuration has it on. After its link layer. */
void wf_watchdog_attach(struct wf_switch *sw, struct wf_port *port, struct wf_arena *arena);
/* Bring its counters up to now. */
void wf_watchdog_settle(struct wf_watchdog *wd);
/* The stage, while some storm's action is to drop. */
enum wf_step wf_switch_watchdog(struct wf_switch *sw, struct wf_visit *v);
/* Its half about the queue, for a packet that is given another one later: the drop's reason, which
 * is counted, or none. */
enum wf_reason wf_switch_watchdog_out(struct wf_switch *sw, const struct wf_visit *v);

#endif
