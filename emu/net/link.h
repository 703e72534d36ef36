/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link: two directions, each with the sender's rate. Serialisation happens in the sending port,
 * propagation here; a lost frame has taken its time on the wire.
 */
#ifndef WEFT_NET_LINK_H
#define WEFT_NET_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/key.h"

#define WF_LINK_RATE_MIN_BPS 1000ull
#define WF_LINK_RATE_MAX_BPS 1600000000000ull

struct wf_link_cfg {
    uint64_t rate_bps;
    uint64_t delay_ps;          /* propagation */
    uint64_t cable_mm;          /* what gave the delay; 0: nobody said */
    uint32_t mtu;               /* L3 bytes, as Linux means it */
    struct wf_fraction loss;    /* share of frames lost, at random */
    struct wf_fraction corrupt; /* share of frames damaged (wrong FCS at the receiver) */
};

extern const struct wf_keyset wf_link_keys;

/* Propagation along a cable at 1.98e8 m/s, to the nearest picosecond. */
static inline uint64_t wf_cable_ps(uint64_t mm)
{
    return (mm * 1000 + 99) / 198;
}

struct wf_port;

struct wf_link {
    const char *name; /* "leaf0:p3-spine1:p0" */
    struct wf_link_cfg cfg;
    uint64_t rate_max_bps; /* highest rate that it is foreseen to have; 0: the one of now */
    struct wf_port *ends[2];
    bool up;
    uint32_t downs; /* times it went down: a frame sent before the last of them is lost */
};

/* Take a link down or up now; both ports are told. Queued frames of a dead port are dropped. */
void wf_link_set(struct wf_link *link, bool up);

/* Another rate for frames whose transmission begins from now on. What was computed from the rate
 * (response time, headroom) follows; thresholds stay. */
void wf_link_set_rate(struct wf_link *link, uint64_t rate_bps);
/* Tell both ends what the link is: first their link layers, then their nodes. */
void wf_link_tell(struct wf_link *link);

#endif
