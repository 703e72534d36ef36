/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The edge: a host of the fabric whose other side is real. The model ends at the port's wire.
 *
 * Towards the peer a frame is delivered at model time, then waits in a bounded FIFO until the
 * peer's ring takes it; what the ring does not take is offered again, never dropped. Only a full
 * FIFO is seen by the fabric: the edge is then stalled, and frames end with edge_stalled.
 * From the peer frames are pulled at the link's line rate, and only while the edge's own port has
 * room. How a pause reaches the peer is the attachment's `pfc`: `backpressure` leaves frames
 * untouched in the peer's ring while the fabric's XOFF holds, `honour` sends it real 802.1Qbb
 * frames, `ignore` does neither. PFC frames that the peer sends go to the leaf and are obeyed there
 * (802.1Q 36), except with `ignore`.
 * Left out: several queues of a peer; a frame that waits behind a paused one waits too.
 */
#ifndef WEFT_ATTACH_EDGE_H
#define WEFT_ATTACH_EDGE_H

#include "attach/device.h"
#include "attach/nic.h"
#include "base/counter.h"
#include "fabric/fabric.h"
#include "fabric/stimulus.h"

struct wf_edges;

struct wf_edge {
    struct wf_node node; /* first */
    struct wf_edges *owner;
    const struct wf_host_cfg *cfg;
    uint32_t host;  /* index in the description */
    uint32_t index; /* among the edges */
    uint32_t mtu;   /* L3 bytes that the peer's device takes, as the model knows it */
    struct wf_edge_dev dev;
    struct wf_ll_ops ll_ops; /* PFC's, with what an edge does otherwise */
    bool trust_pcp;          /* as the leaf's port does */
    bool peer_up;            /* the peer is there and its link up */
    bool took_down;          /* the link is down since the peer is not there */
    bool mac_learned;
    uint8_t probes; /* ARP probes sent to find out its MAC address */
    /* frames that wait for the peer, oldest first; a ring of fifo_len places */
    struct rte_mbuf **fifo;
    uint32_t fifo_len, fifo_head, fifo_count;
    bool fresh; /* frames came since the last offer to the peer */
    bool stalled;
    uint64_t stalled_ps; /* since when, counted up to here */
    bool held;           /* pulling has stopped, since the fabric paused us */
    uint64_t held_ps;
    struct wf_edge_nic *nic; /* between the peer and the port; NULL: nothing */
    uint64_t ctr[WF_EDGE_CTRS];
};

extern const struct wf_node_ops wf_edge_ops;

/* Offer what waits to the peer. Returns how many frames it took. */
unsigned wf_edge_flush(struct wf_edge *e);
/* Take frames from the peer, as many as the port has room for. Returns how many. */
unsigned wf_edge_pull(struct wf_edge *e);
/* Ask the peer for its MAC address by an ARP probe (RFC 5227), as its gateway would. */
void wf_edge_probe(struct wf_edge *e);
/* The peer took no frame for longer than the edge could hold, or takes them again. */
void wf_edge_stall(struct wf_edge *e, bool stalled);
/* Bring the time counters up to now. */
void wf_edge_settle(struct wf_edge *e);
/* Give back all that waits for the peer. */
void wf_edge_discard(struct wf_edge *e);

static inline struct wf_port *wf_edge_port(struct wf_edge *e)
{
    return &e->node.ports[0];
}

#endif
