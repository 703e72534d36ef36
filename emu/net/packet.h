/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one packet type: an rte_mbuf whose private area holds struct wf_pkt. The mbuf's data is the
 * frame without FCS: all of it (payload real), or its headers only, and then the rest is virtual
 * and reads as zeros, with the ICRC that belongs there. Sizes: frame_len is the MAC frame with
 * FCS, on the wire 20 bytes more.
 *
 * A packet ends only by deliver, consume, drop or absorb, and multiplies only by replicate; each
 * is counted, so that a run can prove that none got lost.
 */
#ifndef WEFT_NET_PACKET_H
#define WEFT_NET_PACKET_H

#include <rte_mbuf.h>

#include "base/counter.h"
#include "base/digest.h"
#include "base/list.h"
#include "base/reason.h"
#include "sim/lcore.h"
#include "wire/parse.h"

struct wf_port;
struct wf_why;

enum {
    WF_FCS_LEN = 4,
    WF_WIRE_OVERHEAD = 20, /* preamble and SFD 8, inter-packet gap 12 */
    WF_WIRE_PREAMBLE = 8,
    WF_FRAME_MIN = 64,        /* with FCS */
    WF_HDR_ROOM = 128,        /* data room of a header segment */
    WF_HDR_ROOM_TUNNEL = 192, /* where tunnels put more headers before them */
    WF_FULL_ROOM = 9728,      /* of a full frame: L3 MTU 9,216 and its headers fit */
};

enum wf_payload {
    WF_PAYLOAD_NONE, /* virtual: zeros behind the headers */
    WF_PAYLOAD_REAL, /* every byte of the frame is in the mbuf */
};

enum wf_pkt_flag {
    WF_PKT_MARKED = 1,      /* CE was set by this fabric */
    WF_PKT_BAD_ICRC = 2,    /* virtual payload whose ICRC is to be wrong */
    WF_PKT_DAMAGED = 4,     /* FCS is wrong: the next receiver drops it */
    WF_PKT_ACCOUNTED = 8,   /* the switch's buffer holds it */
    WF_PKT_REPLAYED = 16,   /* read from a capture */
    WF_PKT_IP_OK = 32,      /* its IPv4 checksum was right, and edits keep it so */
    WF_PKT_WATCHED = 64,    /* somebody looked on when it was enqueued */
    WF_PKT_OWN_PFC = 128,   /* made by the link layer of the port that it waits at */
    WF_PKT_TRIMMED = 256,   /* a switch has cut it: it ends within its payload */
    WF_PKT_TRIM_HERE = 512, /* trimmed by the switch that it is at; and the queue that refused it */
    WF_PKT_TRIM_QUEUE = 7 << 10,
    WF_PKT_TRIM_SHIFT = 10,
    WF_PKT_INT = 1 << 14,    /* telemetry of ours behind its headers, see int.h */
    WF_PKT_TUNNEL = 1 << 13, /* VXLAN of ours: a frame of ours is within */
};

/* While decisions are recorded (why.h): those of the switch that it is in, for captures. */
struct wf_pkt_why {
    uint32_t pg_bytes, pg_limit, pool_bytes; /* at admission */
    uint32_t mark_bytes, chance_ppm, draw_ppm;
    bool admitted, looked, drawn; /* which of these are there */
};

/*
 * In the mbuf's private area, right behind struct rte_mbuf, whose own lines are touched at edges
 * only. A hop at a switch needs two cache lines of it and one of the headers, which follow the
 * struct; a third holds what hosts ask for besides. Times: the fabric's picoseconds.
 */
struct wf_pkt {
    struct wf_event ev;    /* its arrival */
    struct wf_port *port;  /* where it is: the port that it came in by, or will come in by */
    void *at;              /* what its node will touch when it begins to be sent. WF_PKT_ACCOUNTED:
                              the switch's group that has booked it, else only ever prefetched */
    uint8_t *data;         /* the bytes that are there, caplen of them */
    struct wf_fifo_node q; /* in an egress queue */
    union {
        uint64_t next_ready_ps; /* in a queue: when q.next may be sent, so that it need not be asked
                                   itself */
        uint32_t link_downs;    /* on a link: the link's when it was sent */
    };

    uint64_t hash; /* of the headers as they are; what the digest sees */
    uint32_t frame_len;
    uint16_t caplen;
    uint16_t flags;
    uint8_t tc, pg, queue; /* and prio: as in a switch's lanes */
    uint8_t prio;          /* whom a PFC frame of the receiver stops: 802.1p priority */
    uint16_t charge;       /* WF_PKT_ACCOUNTED: bytes that the switch's buffer has booked ... */
    uint16_t out;          /* ... for this port of it */
    uint64_t last_bit_ps;  /* of the FCS, at that port */
    uint64_t ready_ps;     /* not sent before */
    uint32_t flow_hash;    /* of addresses, protocol, ports: ECMP */
    uint32_t dst_host;     /* whom its IP destination is, + 1; 0: nobody has asked yet */
    uint32_t dst_sw : 24,  /* switch that this host hangs on */
        payload : 1,       /* enum wf_payload */
        malformed : 1,     /* lengths contradict each other: fit for bridging only */
        full : 1;          /* its buffer is of the pool of whole frames */
    struct wf_parsed p;    /* its beginning, which a hop asks for, is of this line */

    uint64_t born_ps;
    uint16_t vlan; /* that the last switch which knows VLANs put it into; 0: none */

    /* WF_PKT_WATCHED: when it was put into the queue, and how that was then */
    _Alignas(64) uint64_t enqueued_ps;
    uint64_t pause_mark_ps; /* the queue's paused time */
    uint32_t depth_bytes;   /* ahead of it */
    uint64_t cookie;        /* WF_PKT_REPLAYED: the number of its record */
    struct wf_pkt_why why;
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct wf_pkt, port) == offsetof(struct wf_event_ahead, first) &&
                   offsetof(struct wf_pkt, data) == offsetof(struct wf_event_ahead, second) &&
                   offsetof(struct wf_pkt, at) == offsetof(struct wf_next_ahead, next),
               "what is prefetched ahead of its events");
_Static_assert(offsetof(struct wf_pkt, hash) == 64 &&
                   offsetof(struct wf_pkt, p) + WF_PARSED_HOP == 128 &&
                   offsetof(struct wf_pkt, enqueued_ps) == 192,
               "what one step of a hop needs is one cache line");

enum { WF_PKT_SPARE = 512, WF_PKT_BULK = 128 };

/* Per-lcore context of everything in net/ and above. */
struct wf_net {
    struct wf_lcore *lc;
    struct wf_why *why;            /* decisions are recorded, see net/why.h; NULL: they are not */
    struct rte_mempool *hdr_pool;  /* header segments */
    struct rte_mempool *full_pool; /* whole frames */
    uint64_t seed;
    uint32_t hdr_room;   /* data room of header packets; 0 before wf_net_pools: WF_HDR_ROOM */
    bool out_of_buffers; /* a pool ran empty: an error of the run, never a drop */
    /* Header packets at hand, last in first out, so that the next one is in a near cache; only
     * lots of WF_PKT_BULK go to and from the pool that all lcores share. */
    uint32_t n_spare;
    struct wf_pkt *spare[WF_PKT_SPARE];
    uint64_t ctr[WF_FABRIC_CTRS];
    uint8_t apart[64]; /* another lcore's may follow in memory: no line is shared */
};

static inline struct rte_mbuf *wf_pkt_mbuf(struct wf_pkt *pkt)
{
    return (struct rte_mbuf *)pkt - 1;
}

static inline struct wf_pkt *wf_pkt_of(struct rte_mbuf *m)
{
    return rte_mbuf_to_priv(m);
}

/* The bytes that are there: headers, or the whole frame without FCS. Read only. */
static inline const uint8_t *wf_pkt_bytes(const struct wf_pkt *pkt)
{
    return pkt->data;
}

static inline uint32_t wf_pkt_caplen(const struct wf_pkt *pkt)
{
    return pkt->caplen;
}

/* Pools of at least n packets of each kind, named after `name` (unique in the process). 0/-errno */
int wf_net_pools(struct wf_net *net, const char *name, unsigned n_hdr, unsigned n_full);
void wf_net_pools_free(struct wf_net *net);
/* Bytes of memory that such pools take, for EAL's -m. */
uint64_t wf_net_pools_bytes(unsigned n_hdr, unsigned n_full);

/* A new packet with `room` bytes of data to fill (contiguous). Chooses the pool. NULL when the pool
 * is empty, and net->out_of_buffers is set. born_ps is now. */
struct wf_pkt *wf_pkt_new(struct wf_net *net, uint32_t room);
/* An mbuf that came from outside, in one piece and ours alone, from the pool of whole frames. */
struct wf_pkt *wf_pkt_adopt(struct wf_net *net, struct rte_mbuf *m);
/* Its mbuf, which says of its data what the packet says: to hand it to a driver. */
struct rte_mbuf *wf_pkt_to_mbuf(struct wf_pkt *pkt);
/* Take over everything but the buffer and the place in queues. */
void wf_pkt_like(struct wf_pkt *to, const struct wf_pkt *from);
/* The buffer goes back, nothing is counted. */
void wf_pkt_free(struct wf_net *net, struct wf_pkt *pkt);
/* Header packets that can still be had, by this lcore alone. */
unsigned wf_net_spare(const struct wf_net *net);
/* Parse and hash its bytes; frame_len is set, headers are there. */
enum wf_reason wf_pkt_parse(struct wf_pkt *pkt);
/* The same without the parse, which stays what it was. */
void wf_pkt_rehash(struct wf_pkt *pkt);
/* What ECMP hashes of a parsed frame: addresses, protocol, ports; without IP its MACs and type. */
uint32_t wf_flow_hash(const uint8_t *bytes, const struct wf_parsed *p);
/* Headers to edit; the caller tells the digest by wf_pkt_edited(). */
static inline uint8_t *wf_pkt_hdr_rw(struct wf_pkt *pkt)
{
    return pkt->data;
}
/* MACs, TTL, DSCP, ECN and PCP are all that a switch may change. `begins`: the first eight bytes.
 */
static inline void wf_pkt_edited_to(struct wf_pkt *pkt, uint64_t begins)
{
    pkt->hash = wf_mix(pkt->hash, begins ^ wf_parsed_mutable(&pkt->p));
}
static inline void wf_pkt_edited(struct wf_pkt *pkt)
{
    uint64_t w;

    memcpy(&w, pkt->data, sizeof(w));
    wf_pkt_edited_to(pkt, w);
}
/* Add a VLAN tag, take the outer one, or give it another VID, before the packet is accounted. A
 * packet without room for a tag moves to another buffer: what is returned; NULL as wf_pkt_new.
 * With the tag it must not be larger than WF_FULL_ROOM. */
struct wf_pkt *wf_pkt_tag_push(struct wf_net *net, struct wf_pkt *pkt, uint16_t tpid, uint16_t tci);
void wf_pkt_tag_pop(struct wf_pkt *pkt);
/* What became shorter than a frame may be gets zeros behind it (802.1Q 6.7.1). Not accounted yet.
 */
void wf_pkt_pad(struct wf_pkt *pkt);
void wf_pkt_tag_set(struct wf_pkt *pkt, uint16_t vid);
/* Only the first len bytes of data are used. */
static inline void wf_pkt_trim(struct wf_pkt *pkt, uint32_t len)
{
    pkt->caplen = (uint16_t)len;
}
/* The packet ends at the node that it was for, and its buffer becomes that node's answer, of
 * caplen bytes (what it has, or at most WF_HDR_ROOM): counted as consumed and generated. */
void wf_pkt_answer(struct wf_net *net, struct wf_pkt *pkt, uint32_t caplen);
/* A copy with a header segment of its own; the payload's bytes are copied too: replication is for
 * the few broadcasts of Ethernet. NULL as wf_pkt_new. */
struct wf_pkt *wf_pkt_replicate(struct wf_net *net, const struct wf_pkt *pkt);
/* The frame without FCS as it stands on the wire, with the virtual bytes and the ICRC made real.
 * Returns its length, at most cap bytes are written. */
uint32_t wf_pkt_real_bytes(const struct wf_pkt *pkt, uint8_t *to, uint32_t cap);

/* How packets begin (one of the two) ... */
void wf_pkt_injected(struct wf_net *net, struct wf_pkt *pkt);
void wf_pkt_generated(struct wf_net *net, struct wf_pkt *pkt);
/* ... and end. deliver: to a host, model or real; consume: by a node that it was for. */
void wf_pkt_deliver(struct wf_net *net, struct wf_pkt *pkt);
/* To a real host: counted as delivered; the mbuf is the caller's, who hands it on or frees it. */
struct rte_mbuf *wf_pkt_deliver_out(struct wf_net *net, struct wf_pkt *pkt);
void wf_pkt_consume(struct wf_net *net, struct wf_pkt *pkt);
void wf_pkt_absorb(struct wf_net *net, struct wf_pkt *pkt);
/* At a port, with a reason; counted there and seen by its taps and its digest. */
void wf_pkt_drop(struct wf_port *port, struct wf_pkt *pkt, enum wf_reason why);
/* Packets that have begun and not ended. */
uint64_t wf_net_in_flight(const struct wf_net *net);

#endif
