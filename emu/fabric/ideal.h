/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ideal completion time of a flow: what it takes on the same path when nobody else is there
 * and its window is no limit. From the first message's posting: all its frames with headers,
 * preambles and gaps at the slowest link (or its own `rate`, when that is slower), the first
 * frame's way to that link, the last one's way from there to the receiver, and the way back of the
 * ACK that completes it; propagation, switch latencies, store-and-forward or cut-through of each
 * switch.
 *
 * It is a lower bound (but for rounding, a picosecond a link), exact when frames are of one length
 * and one link is the slowest. The ACK, and what a READ brings, is taken to go back by the links of
 * the way out. Selective retransmission has a RETH in each packet (xport/sel.h). Left out: what a
 * switch does to the flow itself, such as a loss on purpose or a shaper; a law's telemetry; UC and
 * UD, which are done when they are sent and have none.
 */
#ifndef WEFT_FABRIC_IDEAL_H
#define WEFT_FABRIC_IDEAL_H

#include "fabric/fabric.h"

/* Of the i-th flow of the description; 0 when there is no way. Links as they are now. */
uint64_t wf_fabric_ideal_ps(struct wf_fabric *f, uint32_t flow);
/* Into the counters (ideal_ps) of all flows; flows under congestion control learn what a full
 * packet and its ACK take. */
void wf_fabric_ideals(struct wf_fabric *f);

#endif
