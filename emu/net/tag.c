/* SPDX-License-Identifier: BSD-3-Clause */
/* VLAN tags that a bridge adds, takes and changes (802.1Q 6.9, 9). See packet.h. */
#include <string.h>

#include "base/assert.h"
#include "net/packet.h"
#include "wire/eth.h"

enum { MACS_LEN = 12 };

static void move(uint16_t *off, int by)
{
    if (*off)
        *off = (uint16_t)(*off + by);
}

/* What was parsed before it was cut stays true but for the tags, by one more, one less or none. */
static void retag(struct wf_pkt *pkt, int tags)
{
    struct wf_parsed *p = &pkt->p;
    const uint8_t *tag = pkt->data + MACS_LEN;
    int by = tags * WF_VLAN_TAG_LEN;
    uint16_t tci;

    p->n_tags = (uint8_t)(p->n_tags + tags);
    move(&p->l3_off, by);
    move(&p->l4_off, by);
    move(&p->bth_off, by);
    move(&p->payload_off, by);
    tci = p->n_tags ? wf_ld16(tag + 2) : 0;
    p->flags = (p->flags & ~WF_P_VLAN) | (p->n_tags ? WF_P_VLAN : 0);
    p->pcp = (uint8_t)(tci >> 13);
    p->dei = tci >> 12 & 1;
    p->vid = tci & 0xfff;
    p->inner_vid = p->n_tags > 1 ? wf_ld16(tag + WF_VLAN_TAG_LEN + 2) & 0xfff : 0;
    wf_pkt_rehash(pkt);
}

/* A trimmed packet's lengths contradict what is left of it, by design: no parser may judge it. */
static void reparse(struct wf_pkt *pkt, int tags)
{
    if (pkt->flags & WF_PKT_TRIMMED)
        retag(pkt, tags);
    else
        pkt->malformed = wf_pkt_parse(pkt) != WF_DROP_NONE;
}

/* Room for n more bytes in front of what is there, or behind it; NULL: the buffer is too small. */
static uint8_t *room_for(struct wf_pkt *pkt, uint32_t n)
{
    uint8_t *begin = (uint8_t *)(pkt + 1), *end = begin + (pkt->full ? WF_FULL_ROOM : WF_HDR_ROOM);

    if (pkt->data >= begin + n) {
        memmove(pkt->data - n, pkt->data, MACS_LEN);
        return pkt->data - n;
    }
    if (pkt->data + pkt->caplen + n > end)
        return NULL;
    memmove(pkt->data + MACS_LEN + n, pkt->data + MACS_LEN, pkt->caplen - MACS_LEN);
    return pkt->data;
}

/* The same packet in a buffer of whole frames. */
static struct wf_pkt *larger(struct wf_net *net, struct wf_pkt *pkt)
{
    struct wf_pkt *big = wf_pkt_new(net, WF_HDR_ROOM + 1);

    if (!big)
        return NULL;
    wf_pkt_like(big, pkt);
    memcpy(big->data, pkt->data, pkt->caplen);
    big->caplen = pkt->caplen;
    wf_pkt_free(net, pkt);
    return big;
}

struct wf_pkt *wf_pkt_tag_push(struct wf_net *net, struct wf_pkt *pkt, uint16_t tpid, uint16_t tci)
{
    uint8_t *data = room_for(pkt, WF_VLAN_TAG_LEN);

    WF_ASSERT(pkt->p.flags & WF_P_ETH && !(pkt->flags & WF_PKT_ACCOUNTED));
    if (!data) {
        struct wf_pkt *big = larger(net, pkt);

        if (!big)
            return NULL;
        pkt = big;
        data = room_for(pkt, WF_VLAN_TAG_LEN);
        WF_ASSERT(data);
    }
    pkt->data = data;
    wf_st16(data + MACS_LEN, tpid);
    wf_st16(data + MACS_LEN + 2, tci);
    pkt->caplen = (uint16_t)(pkt->caplen + WF_VLAN_TAG_LEN);
    pkt->frame_len += WF_VLAN_TAG_LEN;
    reparse(pkt, 1);
    return pkt;
}

void wf_pkt_pad(struct wf_pkt *pkt)
{
    uint32_t len = WF_FRAME_MIN - WF_FCS_LEN;

    if (pkt->frame_len >= WF_FRAME_MIN)
        return;
    pkt->frame_len = WF_FRAME_MIN;
    if (pkt->payload == WF_PAYLOAD_REAL) {
        memset(pkt->data + pkt->caplen, 0, len - pkt->caplen);
        pkt->caplen = (uint16_t)len;
    }
}

void wf_pkt_tag_pop(struct wf_pkt *pkt)
{
    WF_ASSERT(pkt->p.flags & WF_P_VLAN && !(pkt->flags & WF_PKT_ACCOUNTED));
    memmove(pkt->data + WF_VLAN_TAG_LEN, pkt->data, MACS_LEN);
    pkt->data += WF_VLAN_TAG_LEN;
    pkt->caplen = (uint16_t)(pkt->caplen - WF_VLAN_TAG_LEN);
    pkt->frame_len -= WF_VLAN_TAG_LEN;
    wf_pkt_pad(pkt);
    reparse(pkt, -1);
}

void wf_pkt_tag_set(struct wf_pkt *pkt, uint16_t vid)
{
    uint8_t *tci = pkt->data + MACS_LEN + 2;

    WF_ASSERT(pkt->p.flags & WF_P_VLAN);
    wf_st16(tci, (uint16_t)((wf_ld16(tci) & 0xf000) | vid));
    reparse(pkt, 0);
}
