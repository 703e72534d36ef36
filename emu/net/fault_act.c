/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults that change a frame's bytes or cut it. Bytes that are virtual are made real first, where
 * a sum that is made right would not show the change otherwise; a wrong ICRC over a virtual payload
 * is a flag of the packet.
 */
#include <string.h>

#include "net/fault.h"
#include "wire/bth.h"
#include "wire/edit.h"
#include "wire/icrc.h"
#include "wire/ip4.h"
#include "wire/ip6.h"
#include "wire/roce.h"
#include "wire/udp.h"

enum { SPARE_FRAMES = 32, BTH_PAD = 1, BTH_PAD_SHIFT = 4 };

/* Where offsets count from; false: the frame has no such part. */
static bool base_of(const struct wf_parsed *p, enum wf_fault_part part, uint32_t *base)
{
    bool bth = p->flags & WF_P_BTH;

    switch (part) {
    case WF_FAULT_OF_PAYLOAD:
        *base = p->payload_off;
        return bth && !(p->flags & WF_P_ROCE_SHORT);
    case WF_FAULT_OF_EXT:
        *base = p->bth_off + WF_BTH_LEN;
        return bth;
    case WF_FAULT_OF_BTH:
        *base = p->bth_off;
        return bth;
    case WF_FAULT_OF_L3:
        *base = p->l3_off;
        return p->l3_off;
    case WF_FAULT_OF_FRAME:
        *base = 0;
        return true;
    }
    return false;
}

/* All bytes of the frame are there. False: no buffer. */
static bool make_real(struct wf_net *net, struct wf_fate *fate)
{
    struct wf_pkt *pkt = fate->pkt, *full;
    uint32_t len = pkt->frame_len - WF_FCS_LEN;

    if (wf_pkt_caplen(pkt) >= len)
        return true;
    if (len > WF_FULL_ROOM || rte_mempool_avail_count(net->full_pool) < SPARE_FRAMES)
        return false;
    full = wf_pkt_new(net, len);
    if (!full)
        return false;
    wf_pkt_like(full, pkt);
    wf_pkt_real_bytes(pkt, wf_pkt_hdr_rw(full), len);
    full->payload = WF_PAYLOAD_REAL;
    wf_pkt_free(net, pkt);
    fate->pkt = full;
    return true;
}

/* The frame is another one now: forwarding, hosts and the digest see it as it is. */
static void look_again(struct wf_pkt *pkt)
{
    pkt->dst_host = 0;
    pkt->flags &= (uint16_t)~WF_PKT_IP_OK;
    pkt->malformed = wf_pkt_parse(pkt) != WF_DROP_NONE;
}

/* Checksum and ICRC that belong to the bytes. */
static void repair(struct wf_pkt *pkt)
{
    uint8_t *b = wf_pkt_hdr_rw(pkt);
    uint32_t have = wf_pkt_caplen(pkt), ihl;
    const struct wf_parsed *p;

    look_again(pkt);
    p = &pkt->p;
    ihl = p->flags & WF_P_IP4 ? (b[p->l3_off] & 15) * 4u : 0;
    if (ihl >= WF_IP4_LEN && p->l3_off + ihl <= have)
        wf_st16(b + p->l3_off + 10, wf_ip4_checksum(b + p->l3_off, ihl));
    pkt->flags &= (uint16_t)~WF_PKT_BAD_ICRC;
    if (p->flags & WF_P_BTH && p->icrc_off && p->icrc_off + WF_ICRC_LEN <= have)
        wf_icrc_store(b + p->icrc_off, wf_icrc_of(b, have, p));
    wf_pkt_rehash(pkt);
}

bool wf_fault_corrupt(const struct wf_fault *f, struct wf_net *net, struct wf_fate *fate)
{
    const struct wf_fault_how *how = &f->how;
    uint32_t from, to, len = fate->pkt->frame_len - WF_FCS_LEN;

    if (how->crc == WF_FAULT_CRC_FCS) {
        fate->pkt->flags |= WF_PKT_DAMAGED;
        return true;
    }
    if (!base_of(&fate->pkt->p, how->part, &from) || from + how->offset >= len)
        return false;
    from += how->offset;
    to = how->bytes < len - from ? from + how->bytes : len;
    if (how->crc == WF_FAULT_CRC_REPAIRED && to > wf_pkt_caplen(fate->pkt) && !make_real(net, fate))
        return false;
    for (uint32_t i = from; i < to && i < wf_pkt_caplen(fate->pkt); i++)
        wf_pkt_hdr_rw(fate->pkt)[i] ^= how->flip;
    if (how->crc == WF_FAULT_CRC_REPAIRED) {
        repair(fate->pkt);
        return true;
    }
    if (fate->pkt->payload != WF_PAYLOAD_REAL)
        fate->pkt->flags |= WF_PKT_BAD_ICRC;
    look_again(fate->pkt);
    return true;
}

static void cut_to(struct wf_pkt *pkt, uint32_t len)
{
    uint32_t frame = len + WF_FCS_LEN;

    pkt->frame_len = frame < WF_FRAME_MIN ? WF_FRAME_MIN : frame;
    if (wf_pkt_caplen(pkt) > len)
        wf_pkt_trim(pkt, len);
}

/* A RoCE packet with so much of its payload, and all lengths say so. */
static void shorten(struct wf_pkt *pkt, uint32_t keep)
{
    const struct wf_parsed p = pkt->p;
    uint8_t *b = wf_pkt_hdr_rw(pkt), *ip = b + p.l3_off;
    uint32_t pad = wf_roce_pad(keep), end = p.payload_off + keep + pad + WF_ICRC_LEN;

    if (p.flags & WF_P_IP4)
        wf_st16(ip + 2, (uint16_t)(end - p.l3_off));
    else
        wf_st16(ip + 4, (uint16_t)(end - p.l3_off - WF_IP6_LEN));
    if (p.flags & WF_P_ROCEV2)
        wf_st16(b + p.l4_off + 4, (uint16_t)(end - p.l4_off));
    b[p.bth_off + BTH_PAD] =
        (uint8_t)((b[p.bth_off + BTH_PAD] & ~(3u << BTH_PAD_SHIFT)) | pad << BTH_PAD_SHIFT);
    if (wf_pkt_caplen(pkt) > p.payload_off + keep)
        memset(b + p.payload_off + keep, 0, wf_pkt_caplen(pkt) - p.payload_off - keep);
    cut_to(pkt, end);
    repair(pkt);
}

bool wf_fault_truncate(const struct wf_fault *f, struct wf_net *net, struct wf_fate *fate)
{
    struct wf_pkt *pkt = fate->pkt;
    uint32_t base, len = pkt->frame_len - WF_FCS_LEN;

    if (!base_of(&pkt->p, f->how.part, &base))
        return false;
    if (f->how.crc == WF_FAULT_CRC_REPAIRED) {
        if (f->how.part != WF_FAULT_OF_PAYLOAD || f->how.keep_bytes >= pkt->p.payload_len ||
            wf_pkt_caplen(pkt) < pkt->p.payload_off)
            return false;
        shorten(pkt, f->how.keep_bytes);
        return true;
    }
    if (base + f->how.keep_bytes >= len)
        return false;
    cut_to(pkt, base + f->how.keep_bytes);
    look_again(pkt);
    if (f->how.crc == WF_FAULT_CRC_FCS)
        pkt->flags |= WF_PKT_DAMAGED;
    return true;
}
