/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port: eight egress queues, a transmitter, and the receiving side of a link. What may be sent
 * now is the link layer's word (PFC, later IB credits), which queue goes first the scheduler's;
 * both plug in here. Two events a frame and hop: its arrival at the peer, and the moment at which
 * the transmitter may start the next one.
 *
 * A queue that is alone in holding packets is served here; the scheduler is asked when there is a
 * choice, or when it shapes. An arrival runs at the last bit at a store-and-forward node and at
 * hosts, and at the end of the headers at a cut-through node; MAC control frames always at the last
 * bit.
 */
#ifndef WEFT_NET_PORT_H
#define WEFT_NET_PORT_H

#include "base/arena.h"
#include "base/counter.h"
#include "base/digest.h"
#include "base/prng.h"
#include "net/fault.h"
#include "net/link.h"
#include "net/packet.h"
#include "net/txclock.h"
#include "sim/mailbox.h"

enum { WF_QUEUES = 8, WF_PRIOS = 8, WF_PGS = 8 };
enum { WF_CUT_THROUGH_BYTES = 64 }; /* preamble, and headers up to the BTH of an IPv4 frame */

struct wf_node;
struct wf_port;

/* All that queueing and sending count of it is in its first cache line. */
struct wf_queue {
    struct wf_fifo fifo;
    uint64_t ctr[WF_QUEUE_CTRS];
    int32_t deficit;       /* its bit in port->saved is set when it may be other than 0 */
    uint32_t quantum : 30, /* what a turn adds to the deficit, when not strict: bytes, or frames */
        by_frames : 1, strict : 1;
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct wf_queue, ctr) + 8 * WF_QUEUE_TX_BYTES < 64 &&
                   sizeof(struct wf_queue) == 128,
               "two lines, one of them for hops");

/* What the link layer says of a class of traffic (Ethernet: a queue; InfiniBand: a VL). */
struct wf_ll_ops {
    /* Earliest time at which the class may send: <= now, a later time, or WF_TIME_NEVER until the
     * link layer kicks the port itself. Asked only while the class's bit is set in port->held. */
    uint64_t (*may_send)(const struct wf_port *port, unsigned class, uint32_t bytes);
    /* May be NULL, always or never. */
    void (*on_tx)(struct wf_port *port, unsigned class, const struct wf_pkt *pkt);
    /* A MAC control frame came in; the callee ends the packet. */
    void (*rx_control)(struct wf_port *port, struct wf_pkt *pkt);
    /* A MAC control frame begins to be sent. */
    void (*on_control)(struct wf_port *port, const struct wf_pkt *pkt);
    /* How long the class has been stopped in all, until now. */
    uint64_t (*paused_ps)(const struct wf_port *port, unsigned class);
    /* Bring time counters up to now before somebody reads them. */
    void (*settle)(struct wf_port *port);
    void (*link_changed)(struct wf_port *port, bool up);
    /* The link's properties are known, or others than before. */
    void (*link_known)(struct wf_port *port);
};

/* Of the queues that hold packets, the one whose head goes next (ready, allowed), or -1 and in
 * *when_ps the earliest time at which that may change. Bookkeeping of a choice is done in it. */
struct wf_sched_ops {
    int (*pick)(struct wf_port *port, uint64_t *when_ps);
};

struct wf_node_ops {
    const char *kind; /* "switch", "host", "edge" */
    void (*rx)(struct wf_node *node, struct wf_port *port, struct wf_pkt *pkt);
    /* A queued packet begins to be sent: release its buffer, mark it, queue the next. May be NULL.
     */
    void (*dequeued)(struct wf_node *node, struct wf_port *port, struct wf_pkt *pkt);
    /* A packet was dropped at this node's port, after it was accounted. May be NULL. */
    void (*dropped)(struct wf_node *node, struct wf_port *port, struct wf_pkt *pkt,
                    enum wf_reason why);
    void (*link_changed)(struct wf_node *node, struct wf_port *port, bool up);
    /* After the link layers of both ends: the link's properties are known, or others than before.
     * May be NULL. */
    void (*link_known)(struct wf_node *node, struct wf_port *port);
    /* Its ports and links are in place: attach link layers, schedule what is to begin. */
    void (*ready)(struct wf_node *node, struct wf_arena *arena);
    /* Holders of counters besides its ports', one a call; *at is NULL at first, and then what the
     * call before left there. False: there are no more. May be NULL. */
    bool (*counters)(struct wf_node *node, const void **at, struct wf_ctr_obj *out);
    /* Bring its counters up to now before somebody reads them. May be NULL. */
    void (*settle)(struct wf_node *node);
    /* Packets that it holds outside its ports' queues. */
    uint64_t (*held)(const struct wf_node *node);
};

struct wf_node {
    const char *name;
    const struct wf_node_ops *ops;
    struct wf_net *net;
    uint32_t index;  /* in the fabric, over all nodes */
    uint32_t entity; /* for its own timers; its ports have theirs */
    uint32_t seq;
    uint16_t n_ports;
    struct wf_port *ports;
    bool cut_through;
    bool ignores_pause; /* an attached peer that may go on sending when told to stop */
    uint8_t mac[6];
};

/* Looks at what passes a port: captures, why. Never changes anything. */
enum wf_tap_dir { WF_TAP_RX, WF_TAP_TX, WF_TAP_DROP };
struct wf_tap {
    struct wf_tap *next;
    void (*fn)(struct wf_tap *tap, struct wf_port *port, struct wf_pkt *pkt, enum wf_tap_dir dir,
               enum wf_reason why);
};

enum { WF_OCCUPIED_CONTROL = 1 << WF_QUEUES };

/* Frames that were counted nowhere else yet, of the priority of the last one: how many, and below
 * that their bytes, counted in one addition. */
enum { WF_UNCOUNTED_FRAMES = 40 };

/*
 * Three cache lines are what a hop needs besides a queue: an arrival the first, queueing and the
 * transmitter the others. Of the node, the link and the peer they hold copies of what never changes
 * but by wf_link_tell() and wf_link_set(). What is sent is counted at its queue; the port's and the
 * priorities' counters, and those of the priorities that come in, are brought up to that by
 * wf_port_settle(), or when another priority's turn comes.
 */
struct wf_port {
    struct wf_node *node;
    const void *class; /* the node's own: how it takes what comes in here */
    uint32_t downs;    /* the link's */
    uint16_t index;
    uint8_t rx_prio;     /* of rx_new */
    uint8_t rx_line : 7; /* of a packet, that an arrival at this node is going to touch */
    bool rx_tapped : 1;  /* first_tap is not NULL; with it, another line is fetched in vain */
    uint64_t rx_new;
    const void *rx_ahead; /* what an arrival is likely to touch at the node: two cache lines; only
                             ever prefetched */
    uint64_t ctr[WF_PORT_CTRS] __attribute__((aligned(8)));

    struct wf_event kick
        __attribute__((aligned(64))); /* the transmitter's next look at the queues */
    const struct wf_pkt *tx_ahead;    /* what it may find: only ever prefetched */
    uint64_t busy_until_ps;
    const struct wf_queue *q_ahead; /* likewise */
    uint32_t entity, seq;
    uint16_t occupied; /* bit per queue that holds packets, and WF_OCCUPIED_CONTROL */
    uint8_t held;      /* bit per class that the link layer may be holding back */
    uint8_t ask_sched; /* bit per queue for which the scheduler has a say even when it is alone */
    uint8_t saved;     /* bit per queue that may have a deficit */
    uint8_t marks_out; /* the node's own: bit per queue of whose packets it looks at each leave */
    uint8_t tx_prio;   /* of tx_new */
    bool up : 1, tapped : 1, /* as rx_tapped */
        cut_through : 1,     /* the peer's node */
        tells_ll : 1,        /* the link layer wants to hear what is sent */
        risky : 1,           /* frames may be lost or damaged on the way: configured, or a fault */
        far : 1;             /* the peer's node is another lcore's */

    struct wf_digest digest __attribute__((aligned(64)));
    uint64_t ps_per_byte; /* as in tx */
    uint64_t last_ps;     /* from when the wire is free again to the last bit at the peer: delay_ps
                             without the gap between frames, which may make it negative */
    struct wf_port *peer;
    struct wf_node *tx_node; /* as node */
    uint64_t tx_new;
    uint32_t tx_downs;   /* as downs */
    uint16_t tx_index;   /* as index */
    uint16_t mtu;        /* the link's */
    uint8_t peer_mac[8]; /* and two zeros */

    uint64_t delay_ps; /* the link's */
    struct wf_txclock tx;
    struct wf_link *link;
    struct wf_mailbox *mailbox; /* far: to the peer's lcore */
    const struct wf_ll_ops *ll_ops;
    void *ll;
    struct wf_tap *first_tap; /* wf_port_tap() */
    const struct wf_sched_ops *sched;
    void *sched_state;         /* the scheduler's own */
    uint8_t sched_at;          /* DWRR's place */
    struct wf_faults *faults;  /* NULL: none */
    struct wf_prng prng;       /* what the link does to the frames that it sends */
    struct wf_fifo control;    /* MAC control frames go before everything */
    uint64_t tx_lost, rx_lost; /* sent but lost on the link; lost on arrival */
    const char *name;          /* "leaf0:p3" */
    struct wf_queue q[WF_QUEUES];
    uint64_t prio_ctr[WF_PRIOS][WF_PRIO_CTRS];
    uint64_t drops[WF_DROP_COUNT];
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct wf_port, ctr) + 8 * WF_PORT_RX_ROCE_FRAMES < 64 &&
                   offsetof(struct wf_port, digest) == offsetof(struct wf_port, kick) + 64 &&
                   offsetof(struct wf_port, delay_ps) == offsetof(struct wf_port, digest) + 64,
               "three lines");
_Static_assert(offsetof(struct wf_port, tx_ahead) - offsetof(struct wf_port, kick) ==
                       offsetof(struct wf_event_ahead, first) &&
                   offsetof(struct wf_port, q_ahead) - offsetof(struct wf_port, kick) ==
                       offsetof(struct wf_event_ahead, second) &&
                   offsetof(struct wf_port, rx_new) ==
                       offsetof(struct wf_next_ahead, event_line) + 1 &&
                   offsetof(struct wf_port, rx_ahead) == offsetof(struct wf_next_ahead, next),
               "what is prefetched ahead of its events");

/* Queue a packet (pkt->queue, ready_ps set) and let the transmitter look; wf_port_put() is the same
 * in one piece with who calls it. */
void wf_port_enqueue(struct wf_port *port, struct wf_pkt *pkt);
/* Two parts of it: whether the packet may be queued, or was dropped, where the port is down or
 * tapped; and the transmitter, which was not to look, or later. */
bool wf_port_receives(struct wf_port *port, struct wf_pkt *pkt);
void wf_port_look_for(struct wf_port *port, const struct wf_pkt *pkt);
/* Queue a MAC control frame in front of everything. */
void wf_port_control(struct wf_port *port, struct wf_pkt *pkt);
/* Drop all that waits in a queue; returns how many that was. */
uint32_t wf_port_flush(struct wf_port *port, unsigned qi, enum wf_reason why);
/* Let the transmitter look at t_ps, or earlier when it will anyway. */
void wf_port_kick(struct wf_port *port, uint64_t t_ps);
void wf_port_link_changed(struct wf_port *port, bool up);
/* Take over what the link and the peer are. */
void wf_port_link_known(struct wf_port *port);
/* Frames that nobody queued go right behind what is on the wire, by their q; each arrives as much
 * later as its ready_ps says. */
void wf_port_extras(struct wf_port *port, struct wf_fifo *pkts);
/* A frame that nobody sent comes in by the port, later at this instant. */
void wf_port_comes_in(struct wf_port *port, struct wf_pkt *pkt);
/* Somebody who looks on, before those who do already; and no more. */
void wf_port_tap(struct wf_port *port, struct wf_tap *tap);
void wf_port_untap(struct wf_port *port, const struct wf_tap *tap);
/* Bring the port's and its priorities' counters up to what was sent and received, and the link
 * layer's up to now, before somebody reads them. */
void wf_port_settle(struct wf_port *port);
/* The former alone. */
void wf_port_count(struct wf_port *port);
/* Bytes that wait in all its queues. */
uint64_t wf_port_backlog(const struct wf_port *port);

/* The first packet of a queue that is not empty. */
static inline struct wf_pkt *wf_queue_head(const struct wf_queue *q)
{
    return WF_CONTAINER_OF(q->fifo.head, struct wf_pkt, q);
}

static inline uint64_t wf_now(const struct wf_port *port)
{
    return port->node->net->lc->now_ps;
}

/* The same, by the cache line of queueing and sending. */
static inline uint64_t wf_tx_now(const struct wf_port *port)
{
    return port->tx_node->net->lc->now_ps;
}

static inline uint64_t wf_uncounted_frames(uint64_t u)
{
    return u >> WF_UNCOUNTED_FRAMES;
}

static inline uint64_t wf_uncounted_bytes(uint64_t u)
{
    return u & ((1ull << WF_UNCOUNTED_FRAMES) - 1);
}

/* So many frames with one of not more than WF_FULL_ROOM bytes; false: they are too many. */
static inline bool wf_uncounted_add(uint64_t *u, uint32_t bytes)
{
    uint64_t sum = *u + (1ull << WF_UNCOUNTED_FRAMES) + bytes;

    *u = sum;
    return !(sum >> 63);
}

/* Of what came in: the node finds out the priority. */
static inline void wf_port_count_rx(struct wf_port *port, unsigned prio, uint32_t bytes)
{
    if (__builtin_expect(prio != port->rx_prio, 0)) {
        wf_port_count(port);
        port->rx_prio = (uint8_t)prio;
    }
    if (!wf_uncounted_add(&port->rx_new, bytes))
        wf_port_count(port);
}

static inline void wf_max_u64(uint64_t *max, uint64_t v)
{
    if (v > *max)
        *max = v;
}

/* Of a watermark that may rise each time: a choice without a branch. */
static inline uint64_t wf_most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline void wf_port_put(struct wf_port *port, struct wf_pkt *pkt)
{
    struct wf_queue *q = &port->q[pkt->queue];
    uint64_t looks_ps = port->busy_until_ps, bytes;

    WF_IN_REGISTER(q);
    if (__builtin_expect(!port->up || port->tapped, 0)) {
        if (!wf_port_receives(port, pkt))
            return;
    } else {
        pkt->flags &= (uint16_t)~WF_PKT_WATCHED;
    }
    if (q->fifo.head)
        WF_CONTAINER_OF(q->fifo.tail, struct wf_pkt, q)->next_ready_ps = pkt->ready_ps;
    wf_fifo_push(&q->fifo, &pkt->q);
    port->occupied |= (uint16_t)(1u << pkt->queue);
    bytes = q->ctr[WF_QUEUE_BYTES] + pkt->frame_len;
    q->ctr[WF_QUEUE_ENQ_FRAMES]++;
    q->ctr[WF_QUEUE_BYTES] = bytes;
    q->ctr[WF_QUEUE_MAX_BYTES] = wf_most(q->ctr[WF_QUEUE_MAX_BYTES], bytes);
    /* a busy wire and a packet that has to wait are no reason to look earlier: one comparison */
    if (looks_ps < pkt->ready_ps)
        looks_ps = pkt->ready_ps;
    if (!wf_event_pending(&port->kick) || port->kick.t_ps > looks_ps)
        wf_port_look_for(port, pkt);
}

#endif
