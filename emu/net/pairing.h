/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which queue pairs belong together, for whoever sees packets pass: faults at a port, a NIC at the
 * edge, the analysis of captures. A packet names only the queue pair that it goes to; what answers
 * it goes to the other one. A half is all that goes from one address to one queue pair of another;
 * two halves of opposite directions that answer each other are mates.
 *
 * The connection manager's messages say it (REQ and REP, IBA vol. 1, 12.6). Else an answer (9.7.5)
 * is of that half in the other direction whose outstanding PSNs it fits: the only one that does, or
 * the only one of these with the same UDP source port. Two that fit as well are none, and counted.
 * At the end of a capture two halves may also be told by being alone between their addresses.
 *
 * Halves are the caller's, as is how many there are (halves.h is a bounded table of them). Pure: no
 * packets, no clock.
 * Left out: datagrams, which name their source; READ responses but the first tell nothing.
 */
#ifndef WEFT_NET_PAIRING_H
#define WEFT_NET_PAIRING_H

#include <stdbool.h>
#include <stdint.h>

enum wf_paired {
    WF_UNPAIRED,
    WF_PAIRED_CM,
    WF_PAIRED_PSN,
    WF_PAIRED_PORT, /* by PSN, and the UDP source ports are the same */
    WF_PAIRED_ADDRESS
};

struct wf_half {
    struct wf_half *next, **at; /* in a chain of those between the same addresses */
    struct wf_half *mate;
    struct wf_half *hash_next, *older, *newer; /* halves.h */
    uint64_t seen;                             /* halves.h */
    uint8_t src[16], dst[16];                  /* IPv4 as ::ffff:a.b.c.d */
    uint32_t qpn;
    uint8_t how;       /* enum wf_paired */
    bool requests;     /* some were seen, and una and psn are known */
    bool datagram;     /* UD: it has no mate */
    bool told;         /* the connection manager has said its first PSN */
    uint16_t sport;    /* of the last packet */
    uint32_t una, psn; /* of requests: the oldest that may be outstanding; behind the newest */
    uint32_t first_psn;
    uint32_t tries; /* answers that fitted nobody */
};

enum { WF_PAIR_ASKS = 256 };

/* A REQ that was not answered yet. */
struct wf_pair_ask {
    uint8_t src[16], dst[16];
    uint32_t comm_id, qpn, psn;
    bool used;
};

struct wf_pairing {
    struct wf_half **chains;
    uint32_t mask;
    /* Packets may be missing: an answer may also be of requests that were not seen, and what was
     * never asked proves nothing. */
    bool loose;
    /* The half of this queue pair, from now on if it is not there; NULL: no room. `what` is the
     * caller's, of wf_pairing_mad(). */
    struct wf_half *(*half_of)(void *arg, const void *what, const uint8_t src[16],
                               const uint8_t dst[16], uint32_t qpn);
    void *arg;
    uint64_t by_cm, by_psn, ambiguous;
    uint64_t parted; /* mates that proved wrong */
    uint32_t ask_at; /* the next to be taken, round and round */
    struct wf_pair_ask asks[WF_PAIR_ASKS];
};

/* n: a power of two; chains: n, all NULL. */
void wf_pairing_init(struct wf_pairing *p, struct wf_half **chains, uint32_t n);
/* A half with its addresses and queue pair, all else 0; and it is no more. */
void wf_pairing_add(struct wf_pairing *p, struct wf_half *h);
void wf_pairing_remove(struct wf_half *h);
/* The halves from src to dst, one after the other. */
struct wf_half *wf_pairing_between(const struct wf_pairing *p, const uint8_t src[16],
                                   const uint8_t dst[16]);
struct wf_half *wf_pairing_next(const struct wf_half *h);
/* A packet of the half passes. */
void wf_pairing_packet(struct wf_pairing *p, struct wf_half *h, uint8_t opcode, uint32_t psn,
                       uint16_t sport);
enum wf_pair_mad {
    WF_PAIR_NO_CM,
    WF_PAIR_CM,  /* a message of the connection manager */
    WF_PAIR_TOLD /* that tells of two mates */
};
/* A packet to queue pair 1, with a payload of len bytes. */
enum wf_pair_mad wf_pairing_mad(struct wf_pairing *p, const void *what, const uint8_t src[16],
                                const uint8_t dst[16], const uint8_t *payload, uint32_t len);
/* The connection manager said so. */
void wf_pairing_told(struct wf_pairing *p, struct wf_half *a, struct wf_half *b);
/* Join it with the one in the other direction if both are alone between their addresses. */
void wf_pairing_alone(struct wf_pairing *p, struct wf_half *h);

#endif
