/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/form.h"

#include <string.h>

#include "base/assert.h"
#include "wire/edit.h"

enum { IP4_ID = 4, IP4_SUM = 10, BTH_ACKREQ = 8, BTH_PSN = 9, HALF = WF_HDR_ROOM / 2 };

void wf_form_make(struct wf_form *f, const struct wf_roce *frame)
{
    uint32_t len = wf_roce_hdr_build(f->bytes, sizeof(f->bytes), frame);
    const uint8_t *ip;

    WF_ASSERT(len > WF_FORM_FIXED);
    f->len = (uint8_t)len;
    f->opcode = frame->bth.opcode;
    f->ecn = frame->ecn;
    f->payload_len = frame->payload_len;
    f->frame_len = wf_roce_frame_len(len, frame->payload_len) + WF_FCS_LEN;
    WF_ASSERT(wf_parse(f->bytes, len, f->frame_len - WF_FCS_LEN, &f->p) == WF_DROP_NONE);
    WF_ASSERT(f->p.flags & WF_P_IP && f->p.flags & WF_P_BTH && f->p.l3_off <= WF_FORM_FIXED);
    f->flow_hash = wf_flow_hash(f->bytes, &f->p);
    f->hash = wf_hash_more(wf_hash_begin(f->frame_len, len), f->bytes, WF_FORM_FIXED);
    ip = f->bytes + f->p.l3_off;
    f->ip_id = wf_ld16(ip + IP4_ID);
    f->ip_sum = wf_ld16(ip + IP4_SUM);
}

static void put_ext(const struct wf_form *f, const struct wf_roce *frame, struct wf_pkt *pkt)
{
    uint32_t off = f->p.bth_off + WF_BTH_LEN;
    struct wf_wr w = wf_wr_init(pkt->data + off, WF_HDR_ROOM - off);

    wf_ext_put(&w, f->opcode, &frame->ext);
    if (f->p.flags & WF_P_AETH)
        pkt->p.aeth_syndrome = pkt->data[off + wf_opcodes[f->opcode].aeth - 1];
}

/* wf_hash_more() from WF_FORM_FIXED on, of a buffer that is longer than the headers. */
static inline uint64_t hash_rest(const struct wf_form *f, const uint8_t *b)
{
    uint32_t at = WF_FORM_FIXED, rest = f->len % 8u;
    uint64_t h = f->hash, w;

    for (; at + 8 <= f->len; at += 8) {
        memcpy(&w, b + at, 8);
        h = wf_mix(h, w);
    }
    if (!rest)
        return h;
    memcpy(&w, b + at, 8);
    return wf_mix(h, (w & ~(~0ull << 8 * rest)) ^ (uint64_t)rest << 56);
}

void wf_form_fill(const struct wf_form *f, const struct wf_roce *frame, struct wf_pkt *pkt)
{
    uint8_t *b = pkt->data, *ip = b + f->p.l3_off, *bth = b + f->p.bth_off;

    memcpy(b, f->bytes, HALF); /* whole lines: nobody looks beyond caplen */
    if (f->len > HALF)
        memcpy(b + HALF, f->bytes + HALF, HALF);
    pkt->p = f->p;
    pkt->caplen = f->len;
    pkt->frame_len = f->frame_len;
    pkt->flow_hash = f->flow_hash;
    pkt->dst_host = f->dst_host;
    pkt->dst_sw = f->dst_sw;
    pkt->payload = WF_PAYLOAD_NONE;
    pkt->flags |= WF_PKT_IP_OK;
    if (f->p.flags & WF_P_IP4) {
        wf_st16(ip + IP4_ID, frame->ip_id);
        wf_st16(ip + IP4_SUM, wf_checksum_adjust(f->ip_sum, f->ip_id, frame->ip_id));
    }
    bth[BTH_ACKREQ] = (uint8_t)((bth[BTH_ACKREQ] & 0x7f) | frame->bth.ackreq << 7);
    wf_st24(bth + BTH_PSN, frame->bth.psn);
    pkt->p.psn = frame->bth.psn;
    pkt->p.ackreq = frame->bth.ackreq;
    if (wf_opcodes[f->opcode].ext_len)
        put_ext(f, frame, pkt);
    pkt->hash = hash_rest(f, b);
}
