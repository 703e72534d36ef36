/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frames of one queue pair are alike: those of one opcode, length and ECN differ in IP
 * identification, PSN, AckReq and extended headers only. A form is such a frame with its parse and
 * what of its hash stays the same; filling it in gives to the bit what building, parsing and
 * hashing a frame gives.
 */
#ifndef WEFT_HOST_FORM_H
#define WEFT_HOST_FORM_H

#include "net/packet.h"
#include "wire/roce.h"

enum { WF_FORM_FIXED = 16 }; /* bytes before the first that differs: the hash of those is kept */

struct wf_form {
    uint32_t payload_len, frame_len, flow_hash;
    uint32_t dst_host, dst_sw; /* as in a packet; the queue pair's, 0: the first router asks */
    uint16_t ip_id, ip_sum;    /* IPv4: those in bytes */
    uint8_t len;               /* of the headers; 0: there is no form yet */
    uint8_t opcode, ecn;
    uint64_t hash; /* of the first WF_FORM_FIXED bytes */
    struct wf_parsed p;
    uint8_t bytes[WF_HDR_ROOM];
};

/* Whether this frame is of the form, given that it is of the queue pair that the form is of. */
static inline bool wf_form_fits(const struct wf_form *f, const struct wf_roce *frame)
{
    return f->len && f->opcode == frame->bth.opcode && f->payload_len == frame->payload_len &&
           f->ecn == frame->ecn;
}

/* The form of a frame of IPv4 or IPv6 that fits into a header packet. */
void wf_form_make(struct wf_form *f, const struct wf_roce *frame);
/* A new packet becomes this frame, which fits the form; its payload is virtual. */
void wf_form_fill(const struct wf_form *f, const struct wf_roce *frame, struct wf_pkt *pkt);

#endif
