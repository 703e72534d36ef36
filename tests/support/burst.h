/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small fabric of probe hosts under test: leaf-spine, bursts of RoCE frames, and PFC frames by
 * which a probe holds the queues of its switch and lets them go.
 */
#ifndef WEFT_TESTS_BURST_H
#define WEFT_TESTS_BURST_H

#include "support.h"

/* Description of a leaf-spine of switches with the defaults and no response delay; valid until the
 * next call. */
struct wf_desc *wft_leaf_spine(uint32_t leaves, uint32_t spines, uint32_t hosts);
/* n RoCE frames back to back from host to host, with this DSCP (priority dscp / 8), ECN field and
 * RoCE payload: 62 bytes more with FCS. */
void wft_burst(struct wf_fabric *f, uint32_t from, uint32_t to, uint8_t dscp, uint8_t ecn,
               uint32_t payload, uint32_t n);
/* A PFC frame of a host to its switch: quanta for the priorities in `vector`; 0 lets go. */
void wft_pfc(struct wf_fabric *f, uint32_t host, uint8_t vector, uint16_t quanta);

#endif
