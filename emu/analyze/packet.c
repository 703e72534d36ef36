/* SPDX-License-Identifier: BSD-3-Clause */
/* A frame's RoCE headers. See packet.h. */
#include "analyze/packet.h"

#include "wire/bth.h"
#include "wire/eth.h"

static void addresses(const struct wf_an_peeled *f, const struct wf_parsed *p,
                      struct wf_an_pkt *pkt)
{
    const uint8_t *l3 = f->frame + p->l3_off;

    if (p->flags & WF_P_IP4) {
        pkt->family = 4;
        for (int i = 10; i < 12; i++)
            pkt->src.ip[i] = pkt->dst.ip[i] = 0xff;
        memcpy(pkt->src.ip + 12, l3 + 12, 4);
        memcpy(pkt->dst.ip + 12, l3 + 16, 4);
        pkt->ip_id = wf_ld16(l3 + 4);
    } else {
        pkt->family = 6;
        memcpy(pkt->src.ip, l3 + 8, 16);
        memcpy(pkt->dst.ip, l3 + 24, 16);
    }
    pkt->v1 = p->flags & WF_P_ROCEV1;
    pkt->sport = p->flags & WF_P_PORTS ? p->sport : 0;
    pkt->dscp = p->dscp;
    pkt->ecn = p->ecn;
    if (pkt->v1) { /* the GRH's traffic class */
        pkt->dscp = (uint8_t)(wf_ld16(l3) >> 6 & 63);
        pkt->ecn = l3[1] >> 4 & 3;
    }
}

/* The extended headers of interest, as far as they were captured. */
static void extended(const struct wf_an_peeled *f, const struct wf_parsed *p, struct wf_an_pkt *pkt)
{
    const struct wf_opcode *op = &wf_opcodes[p->opcode];
    uint32_t off = p->bth_off + WF_BTH_LEN;

    if (p->flags & WF_P_ROCE_SHORT)
        return;
    for (int i = 0; i < WF_EXT_MAX && op->ext[i]; i++) {
        uint32_t n = wf_ext_bytes((enum wf_ext)op->ext[i]);
        const uint8_t *h = f->frame + off;

        if (off + n > f->cap_bytes)
            return;
        if (op->ext[i] == WF_EXT_AETH) {
            pkt->has_aeth = true;
            pkt->syndrome = h[0];
            pkt->msn = wf_ld24(h + 1);
        } else if (op->ext[i] == WF_EXT_RETH) {
            pkt->has_reth = true;
            pkt->dma_len = wf_ld32(h + 12);
        }
        off += n;
    }
}

static void payload(const struct wf_an_peeled *f, const struct wf_parsed *p, struct wf_an_pkt *pkt)
{
    uint32_t n = p->payload_len;

    pkt->payload_len = n;
    if (p->payload_off >= f->cap_bytes)
        return;
    if (n > f->cap_bytes - p->payload_off)
        n = f->cap_bytes - p->payload_off;
    pkt->payload = f->frame + p->payload_off;
    pkt->payload_cap = n;
    pkt->hashed = (uint16_t)(n < 0xffff ? n : 0xffff);
    pkt->hash = wf_crc32_update(0, pkt->payload, pkt->hashed);
}

enum wf_an_kind wf_an_packet(const struct wf_an_peeled *f, struct wf_parsed *p,
                             struct wf_an_pkt *pkt)
{
    enum wf_reason bad = wf_parse(f->frame, f->cap_bytes, f->len_bytes, p);

    *pkt = (struct wf_an_pkt){0};
    if (p->flags & WF_P_MAC_CONTROL)
        return WF_AN_CONTROL;
    if (!(p->flags & WF_P_ROCE)) {
        /* what would be RoCE but for the snaplen */
        bool cut = p->flags & WF_P_CUT && p->flags & WF_P_IP && p->ip_proto == 17 &&
                   !(p->flags & WF_P_UDP);

        return cut ? WF_AN_CUT_BTH : WF_AN_OTHER;
    }
    if (!(p->flags & WF_P_BTH))
        return p->flags & WF_P_CUT ? WF_AN_CUT_BTH : WF_AN_BAD;
    if (bad || p->flags & WF_P_ROCE_SHORT)
        return WF_AN_BAD;
    addresses(f, p, pkt);
    pkt->pcp = f->around.pcp;
    pkt->vid = f->around.vid;
    pkt->n_tags = f->around.n_tags;
    pkt->tunnel = f->around.tunnel;
    pkt->opcode = p->opcode;
    pkt->ackreq = p->ackreq;
    pkt->becn = p->becn;
    pkt->fecn = p->fecn;
    pkt->dqpn = p->dqpn;
    pkt->psn = p->psn;
    pkt->wire_len = f->len_bytes;
    extended(f, p, pkt);
    payload(f, p, pkt);
    pkt->icrc = wf_icrc_check(f->frame, f->cap_bytes, p);
    return WF_AN_ROCE;
}
