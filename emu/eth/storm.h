/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC or pause frames out of a port on purpose: once, or again and again, whatever the port's
 * buffers say. A NIC that went mad, a peer to test a switch with. A storm that is faster than the
 * wire fills the wire; while the port is down it is silent.
 */
#ifndef WEFT_ETH_STORM_H
#define WEFT_ETH_STORM_H

#include "base/arena.h"
#include "net/port.h"

struct wf_storm_cfg {
    uint64_t period_ps; /* between two frames; 0: there is one only */
    uint64_t limit;     /* frames; 0: no limit */
    uint16_t quanta;    /* of each priority */
    uint8_t vector;     /* priorities, a bit each */
    bool pause;         /* 802.3x instead of PFC */
};

/* Begin now; the first frame goes at once. What it needs comes from the arena. */
void wf_storm_start(struct wf_port *port, const struct wf_storm_cfg *cfg, struct wf_arena *arena);
/* Frames of it that can be alive at once. */
uint64_t wf_storm_packets(const struct wf_storm_cfg *cfg, uint64_t delay_ps, uint64_t rate_bps);

#endif
