/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files of a queue pair: what qp.c hands a checked packet to. */
#ifndef WEFT_XPORT_HALVES_H
#define WEFT_XPORT_HALVES_H

#include "xport/qp.h"

/* a - b in the arithmetic of 24-bit PSNs: -2^23 .. 2^23 - 1. */
static inline int32_t wf_psn_distance(uint32_t a, uint32_t b)
{
    return (int32_t)((a - b) << 8) >> 8;
}

/* *ext holds what the opcode calls for. */
enum wf_qp_verdict wf_requester_rx(struct wf_qp *qp, const struct wf_bth *bth,
                                   const struct wf_ext_hdrs *ext, uint64_t now_ps);
enum wf_qp_verdict wf_responder_rx(struct wf_qp *qp, const struct wf_qp_in *in,
                                   const struct wf_bth *bth, const struct wf_ext_hdrs *ext);

#endif
