/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The streams of RoCE packets that pass a port in either direction: requests, or answers, from one
 * address to one queue pair of another. What a fault asks about a packet's place in its stream
 * (PSN from the first one on, message, how often this PSN has passed) and what a made packet needs
 * (the other side's queue pair number, UDP port, MSN) is learned from packets alone; whose answers
 * are whose requests' says pairing.h, from the connection manager's messages on.
 * Bounded: WF_STREAMS_MAX queue pairs; one that was not seen while 65,536 packets of others passed
 * gives way to a new one, else the new one is unknown, and counted.
 */
#ifndef WEFT_NET_FAULT_QPS_H
#define WEFT_NET_FAULT_QPS_H

#include "net/halves.h"
#include "net/port.h"
#include "wire/roce.h"

enum {
    WF_STREAMS_MAX = 512,
    WF_STREAM_MESSAGES = 32,   /* beginnings of messages that are remembered */
    WF_STREAM_WINDOW = 1 << 11 /* PSNs whose passes are counted, up to the newest */
};

struct wf_stream_qp;

/* Requests, or answers. */
struct wf_stream {
    struct wf_stream_qp *qp;
    uint32_t first_psn, max_psn, n_seen;
    uint32_t messages; /* begun */
    uint32_t begins[WF_STREAM_MESSAGES];
    uint32_t msn;    /* of the last AETH */
    uint8_t *passes; /* of each PSN in the window; NULL: nobody asks */
};

enum { WF_STREAM_REQUESTS, WF_STREAM_ANSWERS, WF_STREAM_KINDS };

/* What packets from one address to another are like at this port, beside what is in their BTH. */
struct wf_stream_like {
    struct wf_roce roce; /* addresses, tags, DSCP, TTL, UDP port, P_Key, MigReq */
    uint8_t service, queue, prio;
};

/* All that goes from one address to one queue pair. */
struct wf_stream_qp {
    struct wf_half half;
    uint32_t ordinal; /* among those from src to dst, from 1; 0: QP0, QP1 */
    bool out;         /* they leave by the port */
    struct wf_stream_like like;
    struct wf_stream of[WF_STREAM_KINDS];
};

struct wf_fault_streams {
    struct wf_tap tap; /* what comes in by the port */
    struct wf_halves halves;
    uint64_t unknown; /* packets of streams that found no room */
};

struct wf_fault_streams *wf_streams_new(struct wf_port *port, struct wf_arena *arena);
/* Count passes from now on. */
void wf_streams_count(struct wf_fault_streams *s, struct wf_arena *arena);
/* A packet passes, out of the port or into it: its stream, brought up to date; NULL: it has none,
 * or it is not known. */
struct wf_stream *wf_streams_note(struct wf_fault_streams *s, const struct wf_pkt *pkt, bool out);
/* Of a RoCE packet; back: of one that goes the other way. */
void wf_stream_like(const struct wf_pkt *pkt, bool back, struct wf_stream_like *l);
/* The stream's message that a PSN is of, from 1; 0: not known. */
uint32_t wf_stream_message(const struct wf_stream *s, uint32_t psn);
/* How often it has passed, this time included; 0: not known. */
uint32_t wf_stream_passes(const struct wf_stream *s, uint32_t psn);
/* The other direction of a queue pair's connection; NULL: not known. */
struct wf_stream_qp *wf_stream_mate(const struct wf_stream_qp *qp);
/* Of the other direction. */
void wf_stream_turn(struct wf_stream_like *l);
/* The answers to a stream of requests, or the requests of one of answers; NULL: not known. */
const struct wf_stream *wf_streams_other(const struct wf_stream *s);

#endif
