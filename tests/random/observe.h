/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An account of a fabric that is kept apart from the fabric: what it says comes from taps at the
 * ports and from the description, computed anew, never from the models' own state. The fabric is
 * run one instant at a time, and both accounts are held against each other. The first thing that
 * does not hold is kept, as a word and a sentence.
 */
#ifndef WEFT_TESTS_RANDOM_OBSERVE_H
#define WEFT_TESTS_RANDOM_OBSERVE_H

#include "fabric/fabric.h"

struct observer;
struct ob_port;

/* A frame that is on its way over a link. */
struct ob_wire {
    const struct wf_pkt *pkt;
    uint64_t start_ps, rate_bps;
    uint32_t frame_len;
};

/* A data frame from its first transmission to its end. */
struct ob_frame {
    struct ob_frame *next;
    const struct wf_pkt *pkt;
    struct ob_port *in; /* switch port that it came in by; NULL: elsewhere */
    bool admitted;
    bool cut, cut_here;     /* a switch has trimmed it, or only changed its class and queue */
    uint8_t pg, queue, ecn; /* by our own classification; ECN field when it came in */
    uint8_t tc, dscp;
    uint32_t len;
    /* VLANs: as it came in, without what the switch makes of it */
    uint32_t came_len;
    uint8_t came_tc;
    bool routed;
    int tci;                     /* of its tag; -1: none */
    uint16_t vlan;               /* 0: its port knows none */
    enum wf_reason vlan_refuses; /* what is to become of it */
    uint64_t takes;              /* of the buffer, in cells */
    uint16_t out;                /* port of the switch */
    uint32_t flow;               /* destination's queue pair less the first */
    uint64_t serial;             /* of its flow, in the order in which the host sent */
    uint64_t epoch;              /* of the topology, when the host sent it */
    uint64_t at_ps, last_ps;
};

struct ob_hold {
    uint64_t from_ps, until_ps;
};

/* Bits times 1e12 that a shaper is owed, at a time. */
struct ob_level {
    unsigned __int128 level;
    uint64_t at_ps;
};

struct ob_group {
    uint64_t bytes, shared, head; /* in all; of them shared in the pool, and in the headroom */
    uint64_t cap;                 /* headroom that it has */
    bool keeps;                   /* it is to have less when it is empty */
    bool xoff;
};

struct ob_queue {
    uint64_t bytes, shared;
};

/* Of a switch. */
struct ob_buffer {
    uint64_t used, shared[WF_POOLS], head[WF_POOLS], egress[WF_POOLS];
};

struct ob_port {
    struct wf_tap tap; /* first */
    struct observer *ob;
    struct wf_port *port;
    struct ob_port *peer;
    const struct wf_switch_cfg *sw; /* NULL: a host's */
    const struct wf_switch_port_cfg *cfg;
    const struct wf_host_cfg *host;
    const struct wf_pfc_cfg *pfc;
    /* transmitter */
    uint64_t end_ps; /* of what was sent last, with the gap */
    uint64_t sent, lost, received, rx_lost;
    struct ob_wire *wire; /* frames under way from here, a ring */
    uint32_t wire_first, wire_n, wire_cap;
    uint64_t *last_serial, *last_epoch; /* by flow */
    /* pauses */
    struct ob_hold hold[WF_PRIOS]; /* what was received */
    uint8_t sent_xoff;             /* priorities that the last frames sent keep paused */
    uint64_t xoff_sent_ps[WF_PRIOS];
    uint64_t xoff_wanted_ps[WF_PRIOS]; /* since when some group wants it */
    uint32_t downs;
    bool flapped;
    uint64_t rate_bps, rate_since_ps;
    /* ingress of a switch */
    struct ob_group group[WF_PGS];
    uint64_t bound, response_ps; /* of headroom, and of the peer that it is for */
    uint64_t landed_ps;          /* what was sent at another rate is here */
    struct ob_queue queue[WF_QUEUES];
    uint64_t drops;
    /* egress queues of a switch: average length, and when the last packet left */
    double average[WF_QUEUES];
    uint64_t empty_ps[WF_QUEUES];
    struct ob_level shaped, q_shaped[WF_QUEUES];
};

struct ob_flow {
    const struct wf_desc_flow *cfg;
    uint64_t serial[2]; /* data, answers */
    bool begun;
    uint32_t first_psn;
    uint64_t una, expect;      /* packets: acknowledged at the sender, in order at the receiver */
    uint64_t bytes, messages;  /* placed */
    uint64_t paced_bits, sent; /* of data frames so far */
};

struct ob_stats {
    uint64_t instants, frames, pauses, refreshes, marks, drops, lossless_drops, reached_limit;
    uint64_t faults;                     /* hits of injected ones */
    uint64_t trims, flaps, headroom_ppm; /* most of a group's headroom bound that was used */
};

struct observer {
    struct wf_fabric *f;
    struct ob_port **nodes; /* [node][port] */
    struct ob_flow *flows;
    struct ob_buffer *buffers; /* of each switch */
    struct ob_frame **table, *spare;
    uint64_t epoch; /* topology changes so far */
    uint64_t now_ps;
    uint64_t next_check_ps;
    struct ob_frame *pending; /* came into a switch; admitted unless the next tap says dropped */
    uint64_t drops[WF_DROP_COUNT];
    uint64_t tight_pg[WF_PGS]; /* most bytes above XOFF of each group, anywhere */
    bool lossless;             /* no lossless packet may be dropped */
    bool wred;                 /* some queue may drop early */
    bool overtakes;            /* packets of a flow may take several ways at once */
    bool floods;               /* frames multiply: then buffers and order are nobody's to reckon */
    bool
        strange; /* faults multiply, hold back or change frames: nobody reckons links and buffers */
    struct ob_stats stats;
    const char *kind; /* what broke; NULL: nothing yet */
    char what[512];
};

void ob_begin(struct observer *ob, struct wf_fabric *f, bool lossless);
void ob_end(struct observer *ob);
/* All events up to now_ps have run, and none comes before next_ps. False: something broke. */
bool ob_instant(struct observer *ob, uint64_t now_ps, uint64_t next_ps);
/* Nothing is left to do. */
bool ob_final(struct observer *ob);

/* Keep the first failure. Returns false. */
bool ob_fail(struct observer *ob, const char *kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
struct ob_port *ob_port_of(struct observer *ob, const struct wf_port *port);
struct ob_frame *ob_frame_find(struct observer *ob, const struct wf_pkt *pkt);
/* Picoseconds that so many bytes take, rounded down. */
uint64_t ob_span_ps(uint64_t rate_bps, uint64_t bytes);

/* observe_pause.c */
void ob_pause_sent(struct ob_port *p, const struct wf_pkt *pkt);
void ob_pause_received(struct ob_port *p, const struct wf_pkt *pkt);
void ob_pause_link_changed(struct ob_port *p);
/* The first time from t on at which no pause holds the queue. */
uint64_t ob_pause_free_ps(const struct ob_port *p, unsigned queue, uint64_t t);
void ob_pause_check(struct ob_port *p);

/* observe_switch.c */
void ob_switch_received(struct ob_port *p, const struct wf_pkt *pkt, uint64_t head_ps);
void ob_switch_dropped(struct ob_port *p, struct ob_frame *fr, enum wf_reason why);
/* What trimming makes of a frame. */
void ob_switch_cut(const struct ob_port *p, struct ob_frame *fr);
void ob_switch_sent(struct ob_port *p, struct ob_frame *fr, const struct wf_pkt *pkt);
/* Priorities of the peer that the groups of this port want stopped. */
uint8_t ob_switch_wants(struct ob_port *p);

/* observe_vlan.c */
uint32_t ob_l3_off(const struct wf_pkt *pkt);
int ob_pcp(const struct wf_pkt *pkt);
void ob_vlan_received(struct ob_port *p, const struct wf_pkt *pkt, struct ob_frame *fr);
void ob_vlan_admitted(struct ob_port *p, const struct ob_frame *fr);
void ob_vlan_dropped(const struct ob_port *p, const struct ob_frame *fr, enum wf_reason why);
void ob_vlan_sent(struct ob_port *p, const struct ob_frame *fr, const struct wf_pkt *pkt);
/* Whether that port carries its VLAN, and how long it is for the buffer on its way there. */
bool ob_vlan_takes(const struct ob_port *out, const struct ob_frame *fr);
uint32_t ob_vlan_len(const struct ob_port *out, const struct ob_frame *fr);

/* observe_buffer.c */
void ob_buffer_begin(struct ob_port *p);
void ob_buffer_rate(struct ob_port *p);
struct ob_buffer *ob_buffer_of(const struct ob_port *p);
void ob_switch_settle(struct observer *ob);
void ob_buffer_refused(struct ob_port *p, const struct ob_frame *fr, enum wf_reason why);
void ob_buffer_passed(const struct ob_port *p, const struct ob_frame *fr);
void ob_buffer_left(struct ob_frame *fr);
void ob_egress_came(struct ob_port *p, struct ob_frame *fr);
void ob_egress_left(struct ob_port *p, struct ob_frame *fr);
void ob_buffer_check(struct ob_port *p);
uint32_t ob_frame_max(const struct wf_link_cfg *link);

/* observe_sched.c */
void ob_sched_sent(struct ob_port *p, const struct wf_pkt *pkt);
/* From when on no shaper holds the queue. */
uint64_t ob_sched_free_ps(const struct ob_port *p, unsigned queue);

/* observe_flow.c */
void ob_flow_sent(struct ob_port *p, const struct wf_pkt *pkt, struct ob_frame *fr);
/* A host's port was down: it never got onto the wire. */
void ob_flow_begins(struct observer *ob);
void ob_flow_begun(struct observer *ob, const struct wf_pkt *pkt);
void ob_flow_received(struct ob_port *p, const struct wf_pkt *pkt);
void ob_flow_order(struct ob_port *p, const struct ob_frame *fr);
void ob_flow_final(struct observer *ob);

#endif
