/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which queue pairs belong together, as seen from beside one end of them. A packet names only the
 * queue pair that it goes to; who stands at a NIC and sees what its host sends and gets needs the
 * other one too: a CNP that comes in names the sending queue pair, the data that it is about the
 * receiving one. CM messages say both (IBA vol. 1, 12.6); else an acknowledgement is of that stream
 * of requests in the other direction whose outstanding PSNs it fits, when there is only one such.
 *
 * Memory is bounded: the half that was not seen for longest makes room. Pure: no packets, no clock.
 * Left out: datagrams, which name their source; PSNs of READ responses but the first.
 */
#ifndef WEFT_HOST_PAIRING_H
#define WEFT_HOST_PAIRING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

enum wf_pair_dir { WF_PAIR_OUT, WF_PAIR_IN, WF_PAIR_DIRS }; /* packets from our host, or to it */

/* The packets of one direction to one queue pair: that of the peer (out), or our host's (in). */
struct wf_half {
    struct wf_half *hash_next;
    struct wf_half *older, *newer; /* by when they were seen */
    struct wf_half *mate;          /* of the other direction, the same connection */
    void *user;                    /* whoever runs it; see wf_pairing.evict */
    uint64_t user_ps;              /* his, too */
    uint8_t peer[16];              /* IPv4 as ::ffff:a.b.c.d */
    uint32_t qpn;                  /* that the packets go to */
    uint8_t dir;                   /* enum wf_pair_dir */
    bool used, requests;
    uint32_t una,
        next; /* PSNs of requests: the oldest that may be outstanding, behind the newest */
};

enum { WF_PAIR_ASKS = 16 };

/* A REQ that was not answered yet. */
struct wf_pair_ask {
    uint8_t peer[16];
    uint32_t comm_id, qpn;
    uint8_t dir;
    bool used;
};

struct wf_pairing {
    struct wf_pair_ask asks[WF_PAIR_ASKS];
    uint32_t ask_at; /* the next to be taken, round and round */
    struct wf_half *halves, **hash;
    uint32_t n, hash_mask, n_used;
    struct wf_half *oldest, *newest;
    /* A half is forgotten; NULL: nobody cares. */
    void (*evict)(void *arg, struct wf_half *h);
    void *arg;
    uint64_t by_cm, by_psn, ambiguous, evicted,
        parted; /* parted: joined before, and proved wrong */
};

/* halves: n of them, all zero; hash: the power of two above, n_hash places, all NULL. */
void wf_pairing_init(struct wf_pairing *p, struct wf_half *halves, uint32_t n,
                     struct wf_half **hash, uint32_t n_hash);
struct wf_half *wf_pairing_find(const struct wf_pairing *p, enum wf_pair_dir dir,
                                const uint8_t peer[16], uint32_t qpn);
/* A packet of a connected service passes. Returns its half. */
struct wf_half *wf_pairing_request(struct wf_pairing *p, enum wf_pair_dir dir,
                                   const uint8_t peer[16], uint32_t qpn, uint32_t psn);
struct wf_half *wf_pairing_answer(struct wf_pairing *p, enum wf_pair_dir dir,
                                  const uint8_t peer[16], uint32_t qpn, uint32_t psn);
/* The connection manager said so: our host's queue pair and the peer's. */
void wf_pairing_told(struct wf_pairing *p, const uint8_t peer[16], uint32_t own_qpn,
                     uint32_t peer_qpn);
/* The same from its messages: a REQ in this direction has the sender's communication ID and queue
 * pair, the REP that answers it names that ID. */
void wf_pairing_asked(struct wf_pairing *p, enum wf_pair_dir dir, const uint8_t peer[16],
                      uint32_t comm_id, uint32_t qpn);
void wf_pairing_agreed(struct wf_pairing *p, enum wf_pair_dir dir, const uint8_t peer[16],
                       uint32_t remote_comm_id, uint32_t qpn);

#endif
