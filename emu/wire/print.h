/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A frame as one line of text, for comments in captures, `weft why` and what a fuzz target found:
 *   10.0.0.1 > 10.0.0.2 dscp 26 ecn CE RoCEv2 RC WRITE First dqp 0x11 psn 5 len 1024 va ...
 * Any bytes are welcome. Left out: what end points keep to themselves (payload, checksums that are
 * right).
 */
#ifndef WEFT_WIRE_PRINT_H
#define WEFT_WIRE_PRINT_H

#include <stddef.h>
#include <stdint.h>

/* frame[0..caplen) of frame_len bytes without FCS. Returns buf, cut to len, always ended. A whole
 * RoCE packet with a wrong ICRC is said to have one. 1,024 bytes are enough. */
const char *wf_frame_text(char *buf, size_t len, const uint8_t *frame, uint32_t caplen,
                          uint32_t frame_len);
/* "ACK", "RNR NAK", "NAK PSN sequence" ... of an AETH syndrome. */
const char *wf_aeth_name(uint8_t syndrome);

#endif
