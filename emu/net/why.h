/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why: each decision about a packet or a pause, with the numbers that it was taken on, recorded
 * where and when it is taken. Off by default: an lcore's net->why is NULL then, and ports have no
 * tap of it, which is all that the dataplane looks at. Recording changes nothing: it draws nothing,
 * and what it reads is there.
 *
 * A record belongs to a node; in the order of (time, node, order of putting) they are the same on
 * any number of lcores (cap/why_log.h).
 */
#ifndef WEFT_NET_WHY_H
#define WEFT_NET_WHY_H

#include <stdbool.h>
#include <stdint.h>

#include "net/port.h"

enum wf_why_kind {
    WF_WHY_ARRIVAL,  /* a frame is at the port */
    WF_WHY_ADMIT,    /* the buffer's verdict on it */
    WF_WHY_DROP,     /* it ended here */
    WF_WHY_MARK,     /* CE or not, of a packet whose queue was looked at */
    WF_WHY_TRIM,     /* cut to its headers instead of dropped */
    WF_WHY_ENQUEUE,  /* put into an egress queue */
    WF_WHY_DEQUEUE,  /* its first bit leaves */
    WF_WHY_XOFF,     /* a priority group wants its peer stopped */
    WF_WHY_XON,      /* and no longer */
    WF_WHY_PAUSE_TX, /* a PFC frame says so, first or again */
    WF_WHY_PAUSE_RX, /* a PFC or pause frame stops a priority, or lets it go on */
    WF_WHY_WATCHDOG, /* a queue's PFC watchdog: storm, or over */
    WF_WHY_KINDS
};

extern const char *const wf_why_kind_names[]; /* by enum wf_why_kind: "arrival", NULL-terminated */

/* On a packet that comes, before it is counted anywhere. */
struct wf_why_admit {
    uint64_t pg_bytes;                 /* that its priority group holds */
    uint64_t pg_limit;                 /* lossless: beyond it XOFF; lossy: beyond it a drop */
    uint64_t pg_room;                  /* lossless: headroom above it */
    uint64_t pool_bytes, pool_size;    /* of the buffer, or of the group's pool */
    uint64_t queue_bytes, queue_limit; /* of its egress queue */
    uint16_t out;                      /* egress port */
    bool lossless;
};
/* The length that counted, and the draw below `of`: marked when it is less than `chance`. Without a
 * draw `of` is 0 and `marked` follows from the length alone. */
struct wf_why_mark {
    uint64_t queue_bytes, kmin, kmax;
    uint64_t chance, of, draw;
    bool marked, at_enqueue, was_ce, dropped;
};
/* The queue that refused it, and why, are its queue and reason. */
struct wf_why_trim {
    uint32_t was_bytes;
    uint8_t to_queue, to_dscp;
};
struct wf_why_queue {
    uint64_t queue_bytes; /* ahead of it when it was put there */
    uint64_t waited_ps, paused_ps;
};
struct wf_why_pause {
    uint64_t pg_bytes, pg_limit; /* XOFF, XON: what the group held, and beyond what */
    uint64_t until_ps;           /* how long it lasts as far as is known */
    uint64_t from_ps;            /* PAUSE_RX: behind the response delay */
    uint64_t queue_bytes;        /* XOFF: of the egress queue that its packets wait for */
    uint32_t quanta;             /* of the frame */
    uint16_t out;                /* XOFF: the port of that queue */
    bool stopped;                /* XOFF: that queue was itself stopped by a pause */
};
struct wf_why_watchdog {
    uint64_t queue_bytes; /* of the queue that the priority stops */
    const char *action;   /* what is done */
    bool storm;           /* false: it is over */
};

struct wf_why_rec {
    uint64_t t_ps;
    /* of a packet, born_ps tells it from others of the same flow and PSN; no packet: frame_len 0 */
    uint64_t born_ps;
    uint32_t flow_hash, dqpn, psn, frame_len;
    uint32_t node;
    uint16_t port;
    uint8_t kind;   /* enum wf_why_kind */
    uint8_t opcode; /* of a BTH */
    uint8_t pg, queue, prio, ecn, dscp;
    uint8_t reason; /* ADMIT, DROP, TRIM: enum wf_reason */
    bool roce;
    union {
        struct wf_why_admit admit;
        struct wf_why_mark mark;
        struct wf_why_trim trim;
        struct wf_why_queue q;
        struct wf_why_pause pause;
        struct wf_why_watchdog watchdog;
    };
};

/* One an lcore. */
struct wf_why {
    void (*put)(struct wf_why *w, const struct wf_why_rec *rec);
    const uint8_t *ports;  /* bit by the port's entity: which are recorded */
    const uint32_t *flows; /* ECMP hashes, ascending, of the flows that are; NULL: all packets */
    uint32_t n_flows;
};

static inline struct wf_why *wf_why_of(const struct wf_port *port)
{
    return port->node->net->why;
}

/* Begin a record of a port, with a packet or NULL. False: it is not wanted. */
bool wf_why_begin(const struct wf_why *w, struct wf_why_rec *rec, enum wf_why_kind kind,
                  const struct wf_port *port, const struct wf_pkt *pkt);

/* A tap for each port that is recorded: arrivals, departures, drops, PFC frames on the wire. */
void wf_why_tap(struct wf_tap *tap, struct wf_port *port, struct wf_pkt *pkt, enum wf_tap_dir dir,
                enum wf_reason why);
/* What net/ and eth/ decide besides; w is not NULL. The switch's are in switch/why.h. */
void wf_why_enqueue(struct wf_why *w, const struct wf_port *port, struct wf_pkt *pkt);
/* Of a priority, which stops `queue`. */
void wf_why_pause_rx(struct wf_why *w, const struct wf_port *port, unsigned prio, unsigned queue,
                     uint32_t quanta, uint64_t from_ps, uint64_t until_ps);

#endif
