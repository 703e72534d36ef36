/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of packet sequence numbers in one direction of a flow, as an observer sees it (IBA
 * vol. 1, 9.7.3): 24 bits, serial arithmetic. Requests of a queue pair count up by one; a READ
 * request takes as many numbers as it has response packets, which an observer does not know, so
 * that what follows one may be any later number. Responses repeat or coalesce the numbers of the
 * requests: for them only a step back is out of order.
 */
#ifndef WEFT_CAP_PSN_H
#define WEFT_CAP_PSN_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/bth.h"

struct wf_psn_track {
    bool started, loose;
    uint32_t next;     /* requests: expected; responses: the last one */
    uint64_t in_order; /* packets */
    uint64_t gaps;     /* times that numbers were missing ... */
    uint64_t missing;  /* ... and how many in all */
    uint64_t repeats;  /* packets with a number that was passed already */
};

/* a - b in serial arithmetic, -2^23 .. 2^23-1. */
static inline int32_t wf_psn_diff(uint32_t a, uint32_t b)
{
    return (int32_t)((a - b) << 8) >> 8;
}

/* What the packet is to the observer: it has an order at all, and of which kind. */
enum wf_psn_kind { WF_PSN_NONE, WF_PSN_REQUEST, WF_PSN_RESPONSE };
enum wf_psn_kind wf_psn_kind(uint8_t opcode);
void wf_psn_take(struct wf_psn_track *t, uint8_t opcode, uint32_t psn);

#endif
