/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an end of a connection tells the other of its memory, in the private data of its REQ or
 * REP, and the pattern that fills memory whose bytes somebody wants to check. Both are weft's own
 * and meant to be written again in a program beside it (docs/howto-peers.md):
 *
 *   bytes   0  8  address of the region          all numbers in network order
 *           8  4  its rkey; of a SIDR_REQ the number of the queue pair that sends
 *          12  4  its length; of a SIDR_REP that of the longest datagram
 *          16  4  pattern that fills it; 0: zeros, or nobody says
 *          20  1  version, 1
 *          21  1  what becomes of SENDs to this end: 0 none are taken, 1 counted, 2 sent back,
 *                 3 answered as rping does
 *          22  1  of a REQ with a pattern p, enum wf_offer_does: 0 its WRITEs leave p at the same
 *                 offsets of the peer's memory; 1 its n-th SEND, from 0, holds pattern p + n; 2 it
 *                 only READs; 3 and 4: length / 8 atomics go to the first word of the peer's
 *                 memory, of which each adds p's first word (3), or the n-th puts p's n-th word in
 *                 the place of the one before it (4)
 *          23  1  zero
 *
 * Pattern p: bytes 8k to 8k+7 are, little-endian, the number SplitMix64 makes of p x 2^32 + k + 1.
 */
#ifndef WEFT_HOST_OFFER_H
#define WEFT_HOST_OFFER_H

#include <stdbool.h>
#include <stdint.h>

enum { WF_OFFER_LEN = 24, WF_OFFER_VERSION = 1 };

enum wf_offer_does {
    WF_OFFER_WRITES,
    WF_OFFER_SENDS,
    WF_OFFER_READS,
    WF_OFFER_ADDS,
    WF_OFFER_SWAPS,
    WF_OFFER_DOES
};

struct wf_offer {
    uint64_t va;
    uint32_t rkey, len, pattern;
    uint8_t recv; /* enum wf_listen_recv */
    uint8_t does; /* enum wf_offer_does */
};

void wf_offer_put(uint8_t to[WF_OFFER_LEN], const struct wf_offer *o);
/* False: it is none, or one of another version. */
bool wf_offer_get(const uint8_t *from, uint32_t len, struct wf_offer *o);
/* Bytes 8k to 8k + 7 of a pattern, as a number; of pattern 0 that is 0. */
uint64_t wf_pattern_word(uint32_t pattern, uint64_t k);
/* Bytes [off, off + len) of a pattern. */
void wf_pattern_fill(uint8_t *to, uint32_t pattern, uint64_t off, uint64_t len);

/* How many bytes at `at` are the pattern's, from off on. */
uint64_t wf_pattern_right(const uint8_t *at, uint32_t pattern, uint64_t off, uint64_t len);

#endif
