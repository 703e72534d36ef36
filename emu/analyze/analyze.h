/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Analysis of captured RoCE traffic, one pass in bounded memory: records go in by wf_an_take(), in
 * the order of time, and what is known of each queue pair and what was found is there at any time.
 *
 * What can be said rests on the protocol (IBA vol. 1, 9.7): an ACK, an RNR NAK or a READ response
 * tells that everything before it has arrived; a sequence-error NAK tells which packet has not; a
 * sender goes back for a reason. A packet that is missing in the capture and was acknowledged
 * without being sent again was lost by the capture; one that a NAK names, or at which the sender
 * began again, was lost in the network; what neither shows can't be told, and is said to be so.
 *
 * Left out: RD, IPv6 extension headers beyond wire/parse.h, reassembly of IP fragments, the meaning
 * of UD numbers (they count all that a queue pair sends, to whomever).
 */
#ifndef WEFT_ANALYZE_ANALYZE_H
#define WEFT_ANALYZE_ANALYZE_H

#include "analyze/cnp.h"
#include "analyze/finding.h"
#include "analyze/pause.h"
#include "analyze/table.h"

enum {
    WF_AN_POINTS = 1024,
};

struct wf_an_conf {
    uint32_t max_streams;        /* 0: 32768 */
    uint32_t max_findings;       /* 0: 100000 */
    uint64_t ring_bytes;         /* 0: 128 MiB, besides a small ring a stream */
    int64_t stall_ps;            /* silences from here on are told; 0: 1 ms */
    const struct wf_an_nic *nic; /* profile to judge by; NULL: the standard alone */
    bool series;                 /* keep time series of each stream */
};

/* A capture point: a file, or an interface of one. */
struct wf_an_point {
    char name[64];
    uint64_t frames, rocev2, rocev1, others, cut, bad, control, backwards;
    uint64_t not_peeled; /* of link types that can't be looked into */
    uint64_t snapped;    /* frames cut by a snaplen or a mirror */
    uint32_t snap_min;   /* shortest that a cut frame was left with */
    uint64_t untimed, drop_records;
    bool drops_told; /* the file says how many frames were not captured ... */
    uint64_t drops;  /* ... namely */
    uint64_t tunnels[WF_AN_TUNNELS];
    uint64_t tagged, pause_frames;
    int64_t last_t_ps;
    struct wf_an_pause pauses[2][8]; /* by direction (1: out) and priority */
    uint64_t speed_bps;              /* 0: not said */
};

struct wf_analyze {
    struct wf_an_conf conf;
    struct wf_an_table table;
    struct wf_an_findings findings;
    struct wf_an_pacing pacing;
    struct wf_an_point *points;
    unsigned n_points;
    uint64_t cm_messages, cm_pairs;
    int64_t first_t_ps, last_t_ps;
    uint64_t frames;
    /* of streams that had to give way */
    uint64_t evicted_packets, evicted_again;
    bool no_memory;
    struct wf_an_peeled peeled; /* of the record that is being taken */
};

int wf_an_init(struct wf_analyze *a, const struct wf_an_conf *conf);
void wf_an_free(struct wf_analyze *a);
/* The number of the capture point of this name, new when it was not there. Beyond WF_AN_POINTS all
 * are the last one. */
uint16_t wf_an_point_of(struct wf_analyze *a, const char *name);
/* t_ps: since the first record, on the clock that all points share. */
void wf_an_take(struct wf_analyze *a, const struct wf_cap_rec *rec, unsigned file, uint16_t point,
                int64_t t_ps);
/* Nothing more comes: what is still open is told. */
void wf_an_end(struct wf_analyze *a);

/* ---- between the files of this folder ---- */

/* A request packet of its stream, at the point that judges. */
void wf_an_request(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p);
/* A response packet: ACK, NAK, READ response, atomic ACK. */
void wf_an_answer(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p);
/* pair.c: which streams answer each other. */
void wf_an_pair_init(struct wf_analyze *a);
void wf_an_pair_rest(struct wf_analyze *a);
/* A packet to queue pair 1: a connection manager's message, maybe. */
void wf_an_cm_take(struct wf_analyze *a, const struct wf_an_pkt *p);
/* All before `until` has arrived, as `p` tells. */
void wf_an_arrived(struct wf_analyze *a, struct wf_an_stream *s, uint32_t until,
                   const struct wf_an_pkt *p);
void wf_an_take_nak(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p);
/* A hole in READ responses of which nothing more will be known, or that was the capture's. */
void wf_an_read_given_up(struct wf_analyze *a, struct wf_an_stream *y, struct wf_an_hole *h,
                         bool arrived);
/* The stream ends, or gives way. */
void wf_an_stream_end(struct wf_analyze *a, struct wf_an_stream *s);
/* The sender has been silent until this packet, maybe for long enough to ask why. */
void wf_an_silence(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p);
/* A finding of this stream with the fields that all have. */
struct wf_an_finding wf_an_new(const struct wf_an_stream *s, enum wf_an_what what,
                               enum wf_an_verdict verdict, uint32_t psn, int64_t t_ps);
void wf_an_tell(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_finding *f);
/* RNR timer of a syndrome in picoseconds (IBA table 45). */
int64_t wf_an_rnr_ps(uint8_t syndrome);
/* n of 4.096 us x 2^n that is at most `ps`; -1: shorter than the shortest. */
int wf_an_timeout_n(int64_t ps);

/* Holes of a stream: of its requests (req true) or READ responses. */
struct wf_an_hole *wf_an_hole_with(struct wf_an_hole *holes, unsigned n, uint32_t psn);
void wf_an_hole_drop(struct wf_an_hole *holes, unsigned *n, struct wf_an_hole *h);

#endif
