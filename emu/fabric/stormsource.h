/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who storms: ends of links that kept their peer paused although nothing behind them was full. Told
 * by observation at the end of a run: the peer was paused for longer than the groups of this end
 * asked for, by more than frames on their way, lost XONs and PFC frames that wait for the wire can
 * explain. Whether a host went mad, a frame was made on purpose, or comes from a real NIC whose own
 * buffer weft does not see, is all the same.
 */
#ifndef WEFT_FABRIC_STORMSOURCE_H
#define WEFT_FABRIC_STORMSOURCE_H

#include "fabric/fabric.h"

struct wf_storm_source {
    struct wf_port *port; /* who sent the pauses: its peer was paused */
    uint8_t prio;
    uint64_t paused_ps, asked_ps; /* the peer; for buffers of this end */
    uint64_t frames;              /* PFC frames that began or prolonged a pause */
    const uint64_t *watchdog;     /* counters of the peer's, WF_PFCWD_CTRS; NULL: it has none */
};

struct wf_storm_sources {
    struct wf_storm_source *v; /* in entity order of the peers */
    uint32_t n;
};

/* The array comes from the arena. After wf_fabric_settle(). */
void wf_storm_sources(struct wf_fabric *f, struct wf_arena *arena, struct wf_storm_sources *s);

#endif
