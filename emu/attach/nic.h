/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An RNIC between a real stack and the fabric, so that soft-RoCE behaves like a hardware NIC. What
 * the host sends waits here, a queue for each queue pair that it sends to, and leaves at the rate
 * that the congestion control allows; CNPs that come in are taken out and slow down the queue pair
 * that they are about; data that comes in with CE is answered by CNPs (IBA annex A17.9.3). Behind
 * it are the port's eight queues, which obey PFC. Frames themselves are left alone.
 *
 * Which queue pair a CNP is about is known from net/pairing.h; while it is not, all that the host
 * sends to that address is slowed down, and CNPs go to queue pair 0, which another of these NICs
 * takes for the same. What waits is bounded: then frames stay in the peer's ring, untouched.
 * Left out: processing time but for the delay of a CNP; windows (a real stack has its own), so laws
 * that only answer windows do nothing; round trips are not measured.
 */
#ifndef WEFT_ATTACH_NIC_H
#define WEFT_ATTACH_NIC_H

#include "base/arena.h"
#include "cc/cc.h"
#include "host/cc.h"
#include "host/cnp.h"
#include "host/config.h"
#include "net/halves.h"
#include "net/port.h"
#include "wire/roce.h"

struct wf_edge;
struct wf_edge_nic;

enum {
    WF_EDGE_NIC_HALVES = 1024, /* directions of connections that it knows at once */
    WF_EDGE_NIC_PLACES = 256,  /* of addresses that CNPs are paced by */
    WF_EDGE_NIC_LATE = 64,     /* CNPs that wait for their delay; one more is not sent */
    WF_EDGE_NIC_WAITING = 64,  /* with so many waiting it takes no more: a stack's timers run */
};

/* What goes to one queue pair: of the peer, or of the host. */
struct wf_edge_half {
    struct wf_half half;
    struct wf_edge_flow *flow; /* what the host sends to it; NULL: nothing so far */
    uint64_t next_cnp_ps;
    bool ours; /* the host sends it */
};

/* What the host sends to one queue pair. */
struct wf_edge_flow {
    struct wf_edge_nic *nic;
    struct wf_edge_half *half; /* NULL: free */
    struct wf_cc cc;
    struct wf_txclock pace; /* rate 0: unpaced */
    struct wf_event timer;  /* the next packet may go, or the law wants to be called */
    struct wf_fifo waiting; /* of struct wf_pkt */
    uint64_t waiting_bytes;
    struct wf_edge_flow *next_free;
};

struct wf_edge_np_place {
    uint8_t peer[16];
    uint64_t next_ps;
};

/* A CNP that is not due yet. */
struct wf_edge_np_late {
    uint64_t due_ps;
    uint32_t qpn, len;
    uint8_t frame[WF_CNP_FRAME_MAX];
};

struct wf_edge_nic {
    struct wf_edge *edge;
    const struct wf_host_cfg *cfg;
    const struct wf_cc_use *use;
    struct wf_halves halves;
    struct wf_edge_flow *flows, *free;
    uint32_t waiting; /* frames in all flows */
    bool notifies;    /* CE is answered by CNPs */
    struct wf_np_cfg np;
    struct wf_edge_np_place places[WF_EDGE_NIC_PLACES];
    struct wf_edge_np_late *late; /* a ring of WF_EDGE_NIC_LATE; NULL: CNPs have no delay */
    uint32_t late_head, n_late;
    struct wf_event late_event; /* the oldest is due */
};

/* From the arena, when the host's `nic` says so; else NULL. */
struct wf_edge_nic *wf_edge_nic_new(struct wf_edge *e, struct wf_arena *arena);
/* A frame of the host's, dressed and counted: it waits, or is queued at the port. */
void wf_edge_nic_send(struct wf_edge_nic *nic, struct wf_pkt *pkt);
/* A frame for the host; true: it was the NIC's own, and has ended. */
bool wf_edge_nic_receive(struct wf_edge_nic *nic, struct wf_pkt *pkt);
/* Counters that the pairing keeps. */
void wf_edge_nic_settle(struct wf_edge_nic *nic);
/* Packets that wait in it. */
uint64_t wf_edge_nic_held(const struct wf_edge_nic *nic);

#endif
