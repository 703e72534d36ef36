/* SPDX-License-Identifier: BSD-3-Clause */
/* The invariant CRC of RoCE. See icrc.h. */
#include "wire/icrc.h"

#include "base/assert.h"
#include "wire/bth.h"

#define LRH_LEN   8 /* InfiniBand's local header, which RoCE lacks: ones */
#define IP6_LEN   40
#define UDP_LEN   8
#define TAIL_LEN  (UDP_LEN + WF_BTH_LEN)
#define HEAD_MAX  (60 + TAIL_LEN) /* the longest IPv4 header, UDP and BTH */
#define PROTO_IBA 27

static void mask_ip(uint8_t *l3)
{
    if (l3[0] >> 4 == 4) {
        l3[1] = 0xff;           /* type of service */
        l3[8] = 0xff;           /* TTL */
        l3[10] = l3[11] = 0xff; /* header checksum */
    } else {
        l3[0] |= 0x0f; /* traffic class and flow label */
        l3[1] = l3[2] = l3[3] = 0xff;
        l3[7] = 0xff; /* hop limit */
    }
}

static void mask_bth(uint8_t *bth, bool udp)
{
    if (udp)
        bth[-2] = bth[-1] = 0xff; /* UDP checksum */
    bth[4] = 0xff;                /* FECN, BECN, resv6 */
}

/* IPv6 extension headers lie between the IP header and UDP: they are covered as they are. */
static uint32_t begin_long(const uint8_t *l3, uint32_t bth_off)
{
    uint8_t head[LRH_LEN + IP6_LEN], tail[TAIL_LEN];
    uint32_t crc;

    memset(head, 0xff, LRH_LEN);
    memcpy(head + LRH_LEN, l3, IP6_LEN);
    mask_ip(head + LRH_LEN);
    memcpy(tail, l3 + bth_off - UDP_LEN, TAIL_LEN);
    mask_bth(tail + UDP_LEN, true);
    crc = wf_crc32_update(0, head, sizeof(head));
    crc = wf_crc32_update(crc, l3 + IP6_LEN, bth_off - UDP_LEN - IP6_LEN);
    return wf_crc32_update(crc, tail, sizeof(tail));
}

uint32_t wf_icrc_begin(const uint8_t *l3, uint32_t len, uint32_t bth_off)
{
    uint8_t head[LRH_LEN + HEAD_MAX];
    bool grh = l3[0] >> 4 == 6 && l3[6] == PROTO_IBA;
    uint32_t n = bth_off + WF_BTH_LEN, crc;

    WF_ASSERT(len >= n && bth_off >= (grh ? IP6_LEN : 20 + UDP_LEN));
    if (n > HEAD_MAX) {
        crc = begin_long(l3, bth_off);
    } else {
        memset(head, 0xff, LRH_LEN);
        memcpy(head + LRH_LEN, l3, n);
        mask_ip(head + LRH_LEN);
        mask_bth(head + LRH_LEN + bth_off, !grh);
        crc = wf_crc32_update(0, head, LRH_LEN + n);
    }
    return wf_crc32_update(crc, l3 + n, len - n);
}

uint32_t wf_icrc_of(const uint8_t *frame, uint32_t caplen, const struct wf_parsed *p)
{
    uint32_t have = caplen < p->icrc_off ? caplen : p->icrc_off;
    uint32_t crc;

    WF_ASSERT(p->bth_off && p->icrc_off);
    crc = wf_icrc_begin(frame + p->l3_off, have - p->l3_off, (uint32_t)(p->bth_off - p->l3_off));
    return wf_crc32_zeros(crc, p->icrc_off - have);
}

enum wf_icrc_state wf_icrc_check(const uint8_t *frame, uint32_t caplen, const struct wf_parsed *p)
{
    if (!(p->flags & WF_P_BTH) || !p->icrc_off || caplen < p->icrc_off + WF_ICRC_LEN)
        return WF_ICRC_ABSENT;
    return wf_icrc_of(frame, caplen, p) == wf_ld32le(frame + p->icrc_off) ? WF_ICRC_OK
                                                                          : WF_ICRC_BAD;
}
