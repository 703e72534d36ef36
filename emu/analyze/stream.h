/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stream is all RoCE packets from one address to one queue pair at another: the requests of the
 * queue pair at its far end, and that queue pair's responses to what comes the other way. Two
 * streams that answer each other are the two directions of a connection.
 *
 * Requests are followed in the order of sending: a run is what the sender sends in ascending order
 * until it goes back (IBA vol. 1, 9.7.3, 9.7.5). What is remembered of each packet stands in a
 * ring by its number, which grows within a budget; what is older than the ring is forgotten.
 */
#ifndef WEFT_ANALYZE_STREAM_H
#define WEFT_ANALYZE_STREAM_H

#include "analyze/finding.h"
#include "base/list.h"
#include "net/pairing.h"
#include "wire/bth.h"

#define WF_AN_NONE UINT32_MAX /* no stream */

enum {
    WF_AN_HOLES = 16, /* open ones of a stream; more: the oldest can't be told */
    WF_AN_RING_MIN = 64,
    WF_AN_RING_MAX = 16384,
    WF_AN_RING_ALONE = 1024, /* when nothing answers */
    WF_AN_JUMP_PSNS = 1 << 18,
    WF_AN_SIGHTS = 16, /* further capture points that see one stream */
};

static inline int32_t wf_an_diff(uint32_t a, uint32_t b)
{
    return (int32_t)((a - b) << 8) >> 8;
}

static inline uint32_t wf_an_psn(uint32_t v)
{
    return v & WF_PSN_MASK;
}

enum wf_an_sent_flag {
    WF_AN_SEEN = 1,
    WF_AN_BAD_ICRC = 2,
    WF_AN_AGAIN = 4,    /* sent more than once */
    WF_AN_ANSWERED = 8, /* of a READ: responses have begun */
};

struct wf_an_sent {
    struct wf_an_ref ref;
    int64_t t_ps;
    uint32_t psn, hash;
    uint16_t hashed, ip_id;
    uint8_t opcode, flags;
};

/* Numbers that were passed over in a run. */
struct wf_an_hole {
    uint32_t first, n;
    int64_t t_ps;
    struct wf_an_ref behind; /* the frame that showed it */
    bool again;              /* in a run that repeats: the packets were seen before */
    bool filled;             /* what fills it is under way: see the run */
    bool doubt;              /* whether what is missing was sent again is not sure */
};

struct wf_an_nak {
    bool pending;
    bool late;                 /* what it names came, late */
    bool ahead;                /* what it names had come before others that were late */
    bool seen_bad, seen_twice; /* what it names, when it was sent last before: its ICRC; again */
    struct wf_an_ref seen;     /* 0: not seen here */
    int64_t seen_ps;
    uint8_t syndrome;
    uint32_t psn, repeats;
    int64_t t_ps;
    struct wf_an_ref ref;
};

/* Since the sender went back. */
struct wf_an_run {
    bool open;
    bool late_only; /* nothing so far that would not be a late packet */
    bool ahead;     /* it had come before others that were late */
    bool is_next;   /* all before it was acknowledged */
    bool twice;     /* its first packet was sent again before */
    bool first_bad; /* the ICRC was wrong when it was sent before */
    bool waits;     /* the receiver has asked for `asked`, and did not get it: */
    bool answered;  /* what was sent before it had arrived: an answer shows it */
    uint8_t cause;
    uint32_t asked, from, resume,
        back_to; /* from: where it began, where the sender was, where it ends */
    uint32_t packets;
    int64_t t_ps, quiet_ps;      /* quiet_ps: since the last progress, until it began */
    int64_t silent_ps;           /* since anything was sent */
    struct wf_an_ref ref;        /* its first packet */
    struct wf_an_ref first_time; /* that one when it was sent before */
    struct wf_an_ref last;       /* the furthest packet before it */
    int64_t first_ps, last_ps;   /* the times of both */
    struct wf_an_nak nak;        /* what it follows */
};

struct wf_an_requests {
    bool started, loose, acked_known, asked_known;
    uint32_t asked;           /* what the last sequence NAK named */
    uint32_t first, cur, max; /* first seen; next in this run; beyond the furthest */
    uint32_t acked;           /* beyond what was acknowledged here */
    int64_t acked_t_ps, last_t_ps, paused_ps;
    struct wf_an_ref acked_ref, last_ref;
    struct wf_an_sent *ring;
    uint32_t ring_mask;
    struct wf_an_hole holes[WF_AN_HOLES];
    unsigned n_holes;
    struct wf_an_nak nak, nak_before; /* nak_before: the sender may not have seen its successor */
    struct wf_an_run run;
    int64_t late_from_ps, late_to_ps; /* while the last late packet was missing */
    uint8_t last_opcode, id_steps;
    uint16_t last_ip_id;
    uint64_t packets, bytes, new_packets, new_bytes, messages;
    uint64_t again_packets, again_bytes, again[WF_AN_CAUSES];
    uint64_t gaps, missing; /* in runs, whatever the reason */
    uint64_t reads, reads_again;
    uint64_t late, copies, changed;
    uint64_t by_opcode[32];
};

struct wf_an_answers {
    uint64_t packets, acks, naks, seq_naks, rnr_naks, error_naks, read_packets, read_bytes;
    uint64_t new_read_bytes, atomics, unpaired, repeated_naks;
    uint32_t rcur, rmax;        /* READ responses: next in this one, furthest */
    uint32_t sel_psn, sel_naks; /* selective NAKs in a row of one PSN */
    bool rmax_known;
    struct wf_an_ref rmax_ref;
    uint64_t reads_since; /* READ requests since the oldest hole */
    struct wf_an_hole holes[WF_AN_HOLES];
    unsigned n_holes;
    uint64_t gaps, missing, again_packets;
    uint64_t cut; /* ACKs that a snaplen cut before they say what they are */
    uint8_t last_rnr;
};

/* Times are a stranger's: sums of them stay where they can be said. */
static inline void wf_an_add(int64_t *sum, int64_t v)
{
    if (__builtin_add_overflow(*sum, v, sum))
        *sum = v > 0 ? INT64_MAX : INT64_MIN;
}

/* Minimum, mean, maximum. */
struct wf_an_stat {
    uint64_t n;
    int64_t min_ps, max_ps, sum_ps;
};

static inline void wf_an_stat_add(struct wf_an_stat *s, int64_t v)
{
    if (!s->n || v < s->min_ps)
        s->min_ps = v;
    if (!s->n || v > s->max_ps)
        s->max_ps = v;
    wf_an_add(&s->sum_ps, v);
    s->n++;
}

enum wf_an_stall_why {
    WF_AN_STALL_RNR,
    WF_AN_STALL_TIMEOUT,
    WF_AN_STALL_PAUSE,
    WF_AN_STALL_ACK,
    WF_AN_STALL_IDLE,
    WF_AN_STALL_UNTOLD,
    WF_AN_STALLS
};

extern const char *const wf_an_stall_names[WF_AN_STALLS];

struct wf_an_key {
    struct wf_an_addr src, dst;
    uint32_t dqpn;
    uint8_t family, v1;
    uint16_t zero;
};

/* The stream at another capture point. */
struct wf_an_sight {
    uint16_t point;
    bool started;
    uint32_t next; /* number, of a service that nobody answers */
    uint64_t packets;
    int64_t lag_sum_ps; /* behind the point that judges */
    uint64_t lags;
    struct wf_an_glimpse *ring;
};

struct wf_an_stream {
    struct wf_half half; /* its mate is the stream that answers this one */
    struct wf_an_key key;
    uint32_t serial;
    uint32_t next;                 /* in the chain of the hash table */
    uint32_t lru_newer, lru_older; /* most recently seen first */
    bool used, port_changed, primary_moved;
    uint16_t primary; /* the capture point that judges */
    uint16_t sport, vid;
    uint8_t service, n_tags, tunnel, pcp, dscp;
    bool tos_changed;
    int64_t first_t_ps, last_t_ps;
    struct wf_an_ref first_ref, last_ref;
    uint64_t packets, bytes, ecn[4];
    uint32_t max_payload, full_payload; /* of any packet; of a First or Middle */
    uint64_t icrc[3];
    uint64_t elsewhere; /* at other points */
    struct wf_an_requests req;
    struct wf_an_answers resp;
    struct wf_an_stat ack_delay, recovery, nak_gap, rnr_wait;
    uint64_t stalls[WF_AN_STALLS];
    int64_t stalled_ps[WF_AN_STALLS];
    int timeout_n; /* 4.096 us x 2^n fits the shortest timeout seen; -1: none */
    /* CNPs that came in for the queue pair whose requests go the other way */
    uint64_t cnps;
    struct wf_an_stat cnp_gap;
    int64_t last_cnp_t_ps;
    struct {
        int64_t slot;
        uint64_t bytes, before, armed_before;
        bool armed;
        int64_t armed_slot;
        double ratio_sum;
        uint64_t reactions;
    } rate;
    uint64_t gbn_ok, gbn_bad, rnr_early, selective;
    uint64_t losses[WF_AN_VERDICTS];
    struct wf_an_sight *sights;
    unsigned n_sights;
    struct wf_an_bins *bins; /* only for figures */
};

static inline struct wf_an_stream *wf_an_of(struct wf_half *h)
{
    return WF_CONTAINER_OF(h, struct wf_an_stream, half);
}

/* The stream that answers this one; NULL: not known. */
static inline struct wf_an_stream *wf_an_peer(const struct wf_an_stream *s)
{
    return s->half.mate ? wf_an_of(s->half.mate) : NULL;
}

#endif
