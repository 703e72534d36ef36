/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults on demand at a port's egress. A fault says which packets it means (class, ends, queue
 * pair, opcode, PSN, message, how often the PSN has passed, time), which of these it takes (the
 * n-th, each n-th, by chance, so many at most), and what becomes of them: lost, marked, changed,
 * twice, later, behind the next ones, cut short, or reason for a packet that nobody sent (answers
 * of a responder, CNP, PFC, pause). It counts what it matched and hit; one that never hit is
 * reported at the end of a run.
 *
 * Where the address needs more than the packet itself, the port remembers the streams of packets
 * that pass it, see fault_qps.h. All of it stands behind port->risky: without faults it costs a
 * port nothing.
 * Left out: what is within a VXLAN tunnel, RoCE over IPv4 fragments.
 */
#ifndef WEFT_NET_FAULT_H
#define WEFT_NET_FAULT_H

#include "base/arena.h"
#include "base/key.h"
#include "base/list.h"
#include "base/prng.h"
#include "net/packet.h"

struct wf_fault_streams;
struct wf_stream;
struct wf_stream_qp;

enum wf_fault_action {
    WF_FAULT_DROP,
    WF_FAULT_CE,
    WF_FAULT_CORRUPT,
    WF_FAULT_DUPLICATE,
    WF_FAULT_REORDER,
    WF_FAULT_DELAY,
    WF_FAULT_TRUNCATE,
    WF_FAULT_NAK, /* from here on a packet is made */
    WF_FAULT_RNR,
    WF_FAULT_ACK,
    WF_FAULT_CNP,
    WF_FAULT_PFC,
    WF_FAULT_PAUSE,
    WF_FAULT_END,   /* live: those that are there end */
    WF_FAULT_LEARN, /* live: the port learns of queue pairs from now on */
};
extern const char *const wf_fault_action_names[]; /* NULL-terminated, by enum wf_fault_action */

enum wf_fault_class {
    WF_FAULT_ROCE_DATA, /* RoCE packets that carry payload */
    WF_FAULT_ROCE_ACK,  /* ACK and NAK */
    WF_FAULT_ROCE,      /* any RoCE packet */
    WF_FAULT_ANY,       /* any frame but MAC control */
    WF_FAULT_CONTROL,   /* MAC control: PFC and pause */
};
extern const char *const wf_fault_class_names[]; /* NULL-terminated, by enum wf_fault_class */

/* How sums follow a change of a frame's bytes. */
enum wf_fault_crc {
    WF_FAULT_CRC_FCS,      /* none does: damaged on the wire, the next receiver drops it */
    WF_FAULT_CRC_ICRC,     /* FCS right, ICRC not: an end point drops it */
    WF_FAULT_CRC_REPAIRED, /* lengths, checksum and ICRC made right: an end point takes it */
};
/* Where offsets count from. */
enum wf_fault_part {
    WF_FAULT_OF_PAYLOAD,
    WF_FAULT_OF_EXT, /* behind the BTH: RETH, AETH, DETH ... */
    WF_FAULT_OF_BTH,
    WF_FAULT_OF_L3,
    WF_FAULT_OF_FRAME,
};
/* What becomes of a packet that made another one. */
enum wf_fault_matched { WF_FAULT_MATCHED_AUTO, WF_FAULT_MATCHED_PASS, WF_FAULT_MATCHED_DROP };

/* An end: addresses that it has; none of them: any. */
struct wf_fault_addr {
    bool has4, has6;
    uint8_t ip4[4], ip6[16];
};

/* A direction between ends: to a queue pair by its number, or to any. */
struct wf_fault_ends {
    struct wf_fault_addr src, dst;
    bool has_qpn;
    bool by_mate; /* the number is the other side's, whose connection it is */
    uint32_t qpn;
};

struct wf_fault_psns {
    bool used, relative; /* to the stream's first */
    uint32_t first, last;
};

/* What a made or changed packet is like. */
struct wf_fault_how {
    uint64_t delay_ps, within_ps;
    uint32_t copies, behind;
    enum wf_fault_crc crc;
    enum wf_fault_part part;
    uint32_t offset, bytes, keep_bytes;
    uint8_t flip; /* XORed into each of the bytes */
    enum wf_fault_matched matched;
    uint8_t nak_code, rnr_timer, dscp, priorities;
    uint16_t quanta;
    bool force;                   /* ce: also what is not ECN-capable */
    bool psn_given, psn_relative; /* else the matched packet's */
    int32_t psn;
    bool reply_qpn_given;
    uint32_t reply_qpn;
};

struct wf_fault {
    struct wf_fault *next;
    enum wf_fault_action action;
    enum wf_fault_class match;
    uint64_t every; /* 0, 1: each */
    uint64_t limit; /* hits; 0: no limit */
    uint64_t matched, hits;

    bool at_time; /* it acts at from_ps, for the queue pairs that it means; no packet has to pass */
    struct wf_event due;
    uint32_t event; /* the scenario's, from 1: at several ports it is one; 0: one of its own */
    bool coming_in; /* the port that was asked for is the peer */
    bool may_not_fire;
    bool needs_streams;         /* any of what follows that a packet alone does not tell */
    uint64_t from_ps, until_ps; /* until 0: for ever */
    struct wf_fault_ends ends[2];
    uint32_t n_ends;  /* 0: any */
    uint32_t ordinal; /* of the queue pair between two ends, from 1; 0: any */
    bool by_opcode;
    uint8_t opcodes[32]; /* a bit each */
    struct wf_fault_psns psn;
    uint32_t message, iteration; /* 0: any */
    uint64_t nth;                /* of those that match; 0: any */
    struct wf_fraction chance;   /* den 0: always */
    struct wf_prng prng;
    struct wf_fault_how how;

    uint64_t lacking; /* hits that came to nothing: what a packet needs was not known */
    /* REORDER: held until `left` of those that match have passed, or until the event; what faults
     * before it have made of the packet is done then */
    struct wf_pkt *held;
    uint32_t left, held_copies;
    uint64_t held_delay_ps;
    struct wf_event release;
    struct wf_port *port;
};

/* Of faults that came later than the scenario: records of ended ones are kept, for reports, until
 * a port has so many; so many may live at once. */
enum { WF_FAULTS_INJECTED = 64 };

/* The faults of a port. */
struct wf_faults {
    struct wf_fault *first;
    uint32_t added;      /* ever */
    uint32_t n_injected; /* records that came later than the scenario */
    uint64_t gone, idle; /* such ones that had ended and made room, and that never hit of them */
    struct wf_fault_streams *streams; /* NULL: no fault needs them */
    uint64_t held; /* packets that are neither in a queue nor on the wire: held, or just made */
};

/* What becomes of a frame that is about to be put on the wire. */
struct wf_fate {
    struct wf_pkt *pkt; /* maybe another one than it was; NULL: held back */
    enum wf_reason why; /* it is lost */
    uint64_t delay_ps;
    uint32_t copies;       /* of it, right behind it */
    struct wf_fifo behind; /* other packets behind it, by their q; ready_ps: so much later */
};

/* Let a port's faults decide. */
void wf_faults_pass(struct wf_port *port, struct wf_fate *fate);
/* Begin a fault at a port: behind those that are there. It lives as long as the port; what it needs
 * comes from the arena. */
void wf_faults_add(struct wf_port *port, struct wf_fault *fault, struct wf_arena *arena);
/* The record of a fault that has ended, to be filled anew, when the port has as many as it may;
 * NULL: there is none, or room for more. */
struct wf_fault *wf_faults_reuse(struct wf_port *port);
/* Whether one more may be injected: not too many are alive. */
bool wf_faults_room(const struct wf_port *port);
/* The port remembers the queue pairs that it sees from now on. */
void wf_faults_learn(struct wf_port *port, struct wf_arena *arena);
/* No fault of the port, of those asked for in this direction, hits any more. */
void wf_faults_end(struct wf_port *port, bool coming_in);
/* The first of a port's faults, or NULL. */
const struct wf_fault *wf_faults_of(const struct wf_port *port);
/* Packets that a fault may hold or make at once, for the pools: whole frames and others. */
void wf_fault_packets(const struct wf_fault *fault, uint64_t data, uint64_t *hdr, uint64_t *full);

/* fault_act.c: on a packet that was hit. False: it has no such bytes. */
bool wf_fault_corrupt(const struct wf_fault *f, struct wf_net *net, struct wf_fate *fate);
bool wf_fault_truncate(const struct wf_fault *f, struct wf_net *net, struct wf_fate *fate);
/* fault_make.c: a packet is made, since this one was hit. False: something is not known. */
bool wf_fault_make(struct wf_fault *f, struct wf_port *port, const struct wf_stream *stream,
                   struct wf_fate *fate);
/* The same without a packet, for a queue pair that packets leave by the port for. */
bool wf_fault_make_for(struct wf_fault *f, struct wf_port *port, struct wf_stream_qp *qp);

#endif
