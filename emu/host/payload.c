/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames with a payload of their own: all bytes are there, and the ICRC is right (IBA A17.3.3). */
#include <string.h>

#include "base/assert.h"
#include "host/nic.h"
#include "wire/icrc.h"

struct wf_pkt *wf_nic_real(struct wf_net *net, const struct wf_roce *frame, const struct iovec *iov,
                           uint32_t n_iov)
{
    uint8_t hdr[WF_ROCE_HDR_MAX];
    uint32_t hdr_len = wf_roce_hdr_build(hdr, sizeof(hdr), frame);
    uint32_t len = wf_roce_frame_len(hdr_len, frame->payload_len), padded;
    struct wf_pkt *pkt = wf_pkt_new(net, len);
    uint8_t *b;

    WF_ASSERT(hdr_len);
    if (!pkt)
        return NULL;
    b = wf_pkt_hdr_rw(pkt);
    padded = frame->payload_len + wf_roce_pad(frame->payload_len);
    memcpy(b, hdr, hdr_len);
    memset(b + hdr_len + frame->payload_len, 0, padded - frame->payload_len);
    wf_iov_copy(b + hdr_len, frame->payload_len, iov, n_iov);
    pkt->payload = WF_PAYLOAD_REAL;
    pkt->frame_len = len + WF_FCS_LEN < WF_FRAME_MIN ? WF_FRAME_MIN : len + WF_FCS_LEN;
    WF_ASSERT(wf_pkt_parse(pkt) == WF_DROP_NONE && pkt->p.icrc_off == hdr_len + padded);
    wf_icrc_store(b + pkt->p.icrc_off, wf_icrc_of(b, len, &pkt->p));
    return pkt;
}
