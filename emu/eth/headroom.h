/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much may still arrive after a switch has decided to send XOFF: the least headroom that a
 * lossless priority group needs (802.1Q annex N; the components are SONiC's).
 */
#ifndef WEFT_ETH_HEADROOM_H
#define WEFT_ETH_HEADROOM_H

#include <stdint.h>

struct wf_headroom_in {
    uint64_t rate_bps;
    uint64_t delay_ps;    /* one way */
    uint64_t response_ps; /* of the peer */
    uint32_t frame_max;   /* longest frame with FCS, both directions */
    uint32_t frame_min;   /* shortest that may come */
    uint32_t cell;        /* what a frame takes is rounded up to this; 1: bytes */
};

/* Time that a peer may take to stop: quanta by speed (802.3 31B.3.7), of 512 bit times. */
uint64_t wf_pfc_response_ps(uint64_t rate_bps);
/* Bytes (frames with FCS) that a group can hold above its threshold: the last of the frame that
 * crosses it, and what arrives between the decision and silence. */
uint64_t wf_headroom_bytes(const struct wf_headroom_in *in);

#endif
