/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Priority flow control at a port (802.1Q clause 36, 802.1Qbb) and 802.3x pause (802.3 annex 31B).
 * Receiving: each priority has its own timer in quanta of 512 bit times of the link; it stops the
 * queue that the priority maps to after the response delay, counts from reception, and expires.
 * Sending: XOFF with the configured quanta, refreshed at half of it while it lasts, XON as quanta
 * 0. A pause never preempts a frame. A port has either of the two, or none, or obeys 802.3x beside
 * PFC: the link's timer and those of the priorities run apart, and a queue stops while either does.
 * What a port does not obey it counts. Frames that are no valid PFC or pause for this port are
 * counted and change nothing: another address than 01-80-C2-00-00-01 and its own, a tag, an unknown
 * opcode, too few bytes. The high byte of the class-enable vector and whatever pads the frame are
 * ignored.
 */
#ifndef WEFT_ETH_PFC_H
#define WEFT_ETH_PFC_H

#include "base/arena.h"
#include "net/port.h"

enum wf_flow_control { WF_FLOW_PFC, WF_FLOW_PAUSE, WF_FLOW_NONE };

struct wf_pfc_cfg {
    int flow_control;    /* enum wf_flow_control: what is sent, and what is obeyed */
    bool enable;         /* obey received PFC; sending is the owner's decision */
    bool obey_pause;     /* obey 802.3x too */
    uint32_t quanta;     /* asked for in an XOFF */
    uint32_t priorities; /* bit mask of those that PFC is enabled for; 0: all */
    uint64_t
        response_ps; /* from reception until the queue stops; WF_KEY_AUTO: by the link's rate */
};

extern const struct wf_keyset wf_pfc_keys;
extern const char *const wf_flow_control_names[]; /* NULL-terminated, by enum wf_flow_control */

/* An interval in which something may not send, and how long it has been so in all. */
struct wf_hold {
    uint64_t from_ps, until_ps;
    uint64_t settled_ps, total_ps;
};

/* What one kind of frame asked for; over when until_ps has come. */
struct wf_span {
    uint64_t from_ps, until_ps;
};

struct wf_pfc_port {
    struct wf_port *port;
    struct wf_pfc_cfg cfg;
    uint64_t response_ps;
    uint8_t queue_of_prio[WF_PRIOS];
    struct wf_span by_pause, by_pfc[WF_PRIOS]; /* received: 802.3x of the link, PFC */
    struct wf_hold prio[WF_PRIOS];             /* both together */
    struct wf_hold queue[WF_QUEUES];           /* what that means for our queues */
    uint8_t xoff_sent;                         /* bit per priority that we keep paused */
    uint64_t xoff_since_ps[WF_PRIOS];
    uint64_t told_until_ps[WF_PRIOS]; /* how long the peer stops by the frames that were sent */
    uint64_t period_ps;               /* from refresh to refresh */
    uint8_t pausing; /* bit per priority that a received PFC frame paused, until that is over */
    uint8_t ignored; /* bit per priority whose received pauses stop nothing for now */
    uint8_t off;     /* bit per priority without PFC for now, whatever is configured */
    uint8_t vector;  /* what is in the last frame made */
    uint16_t said[WF_PRIOS];
    struct wf_event refresh;
    /* A PFC frame pauses a priority, or prolongs that; NULL: nobody wants to know. */
    void (*on_pause)(struct wf_port *port, unsigned prio);
};

extern const struct wf_ll_ops wf_pfc_ops;

enum {
    WF_PFC_WIRE_BITS = (WF_FRAME_MIN + WF_WIRE_OVERHEAD) * 8,
    WF_PFC_REFRESHES_MAX = 4096, /* under way on a link at once */
};

/* Refreshes that one end of a link can have under way at once; never more than that, whatever
 * becomes of its rate. */
uint32_t wf_pfc_refreshes(const struct wf_pfc_cfg *cfg, const struct wf_link *link);

/* Make it the link layer of a port whose link is known. */
void wf_pfc_attach(struct wf_port *port, const struct wf_pfc_cfg *cfg,
                   const uint8_t queue_of_prio[WF_PRIOS], struct wf_arena *arena);
/* Pause the peer's priority, or let it go on; no effect when it is so already. */
void wf_pfc_xoff(struct wf_port *port, unsigned prio);
void wf_pfc_xon(struct wf_port *port, unsigned prio);
static inline struct wf_pfc_port *wf_pfc_of(const struct wf_port *port)
{
    return port->ll;
}
/* Let received pauses of a priority stop nothing from now on, or stop again. They are counted. */
void wf_pfc_ignore(struct wf_port *port, unsigned prio, bool ignore);
/* Switch PFC off for all priorities but these (of those configured), until told otherwise. Pauses
 * of one that goes off end on both sides; one that comes back says what it has to. */
void wf_pfc_allow(struct wf_port *port, uint8_t prios);
/* Priorities that PFC is enabled for at the port. */
static inline uint8_t wf_pfc_priorities(const struct wf_pfc_cfg *cfg)
{
    return cfg->flow_control != WF_FLOW_PFC ? 0 : cfg->priorities ? (uint8_t)cfg->priorities : 0xff;
}
/* Whether a received pause stops this priority now; *until_ps: how long, as far as known. */
bool wf_pfc_paused(const struct wf_port *port, unsigned prio, uint64_t *until_ps);
/* 512 bit times of the port's link, n of them, rounded to the nearest picosecond. */
uint64_t wf_pfc_quanta_ps(const struct wf_port *port, uint64_t n);

#endif
