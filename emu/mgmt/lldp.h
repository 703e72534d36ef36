/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The LLDP agents of a fabric's switch ports (802.1AB clause 9), with DCBX on top. An agent sends
 * at its interval, and a few frames faster when a neighbour is new; it keeps what its neighbours
 * say until their time to live is over. Listening changes nothing but what the agent knows, unless
 * the port was told to be willing: then queues are served and PFC is used as the peer says (see
 * dcbx.h), without a change of the link. A port without `lldp` has no agent, and LLDP frames end
 * there as those of any reserved address.
 *
 * Frames go by the queue of the highest traffic class, so that they don't stand before PFC frames;
 * an agent whose last frame has not left yet sends no other. Left out: transmission credits (an
 * agent never sends faster than fast_interval), the shutdown LLDPDU, addresses other than the
 * nearest bridge's.
 */
#ifndef WEFT_MGMT_LLDP_H
#define WEFT_MGMT_LLDP_H

#include "mgmt/dcbx.h"
#include "switch/switch.h"

enum { WF_LLDP_NEIGHBOURS = 4, WF_LLDP_NAME_MAX = 256, WF_LLDP_FRAME_MAX = 1024 };

struct wf_lldp_name {
    uint8_t subtype;
    uint16_t len;
    uint8_t bytes[WF_LLDP_NAME_MAX];
};

struct wf_lldp_neighbour {
    bool used;
    uint8_t mac[6]; /* that its frames come from */
    struct wf_lldp_name chassis, port, system_name;
    uint16_t ttl_s;
    uint64_t since_ps, heard_ps, expires_ps;
    uint64_t frames;
    struct wf_dcbx dcbx; /* as it was received last */
};

struct wf_lldp_stats { /* 802.1AB 9.2.6 */
    uint64_t tx_frames, rx_frames, rx_error_frames, ageouts, no_room_frames;
    uint64_t tx_held_frames; /* not sent, since the one before had not left yet */
};

struct wf_lldp_agent {
    struct wf_port *port;
    const struct wf_switch_port_cfg *cfg;
    uint32_t index;      /* among the fabric's agents */
    uint32_t peer_scale; /* the peer's seconds are so many times shorter than the fabric's */
    uint64_t start_ps;   /* of its first frame */
    struct wf_event tx, age;
    uint32_t fast; /* frames left to send at the fast interval */
    uint8_t queue;
    uint64_t ticket; /* the queue's count of sent frames when our last one has left */
    uint32_t ticket_downs;
    const char *error; /* of the last LLDPDU, if it was malformed */
    uint64_t error_until_ps;
    struct wf_lldp_neighbour neighbours[WF_LLDP_NEIGHBOURS];
    struct wf_lldp_stats stats;
    struct wf_dcbx own; /* what we say, when dcbx is on */
    struct wf_cee cee;
    bool speaks_cee;          /* now */
    bool applied;             /* the port goes by something of the peer's */
    struct wf_dcbx_oper oper; /* which */
};

/* All agents of a fabric, in the order of its switches and ports. */
struct wf_lldp {
    struct wf_lldp_agent *agents;
    uint32_t n;
};

/* The agent of a port, whose switch is ready: schedules its first frame. */
void wf_lldp_attach(struct wf_lldp_agent *a, uint32_t index, uint32_t n, uint32_t peer_scale,
                    struct wf_port *port, struct wf_arena *arena);

/* The one neighbour that speaks DCBX: NULL when there is none or several. */
const struct wf_lldp_neighbour *wf_lldp_dcbx_peer(const struct wf_lldp_agent *a);
/* How many of them speak it. */
unsigned wf_lldp_dcbx_speakers(const struct wf_lldp_agent *a);
enum wf_dcbx_peer wf_lldp_peer_state(const struct wf_lldp_agent *a, uint64_t now_ps);
/* Why it is malformed, or NULL. */
const char *wf_lldp_peer_error(const struct wf_lldp_agent *a, uint64_t now_ps);
void wf_lldp_oper(const struct wf_lldp_agent *a, struct wf_dcbx_oper *out);
/* An LLDPDU in a frame as the agent would send it now; its length without FCS. */
uint32_t wf_lldp_frame(const struct wf_lldp_agent *a, uint8_t buf[WF_LLDP_FRAME_MAX]);

#endif
