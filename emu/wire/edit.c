/* SPDX-License-Identifier: BSD-3-Clause */
/* The edits of a switch. See edit.h. */
#include "wire/edit.h"

#include "base/assert.h"

/* Change one 16-bit word of an IPv4 header, and its checksum by the difference. */
static inline void set_ip4_word(uint8_t *ip, uint32_t off, uint16_t to)
{
    uint16_t from = wf_ld16(ip + off);

    wf_st16(ip + off, to);
    wf_st16(ip + 10, wf_checksum_adjust(wf_ld16(ip + 10), from, to));
}

static void set_tos(uint8_t *frame, struct wf_parsed *p, uint8_t tos)
{
    uint8_t *ip = frame + p->l3_off;

    if (p->flags & WF_P_IP4)
        set_ip4_word(ip, 0, (uint16_t)(ip[0] << 8 | tos));
    else
        wf_st16(ip, (uint16_t)((wf_ld16(ip) & 0xf00f) | tos << 4));
    p->dscp = tos >> 2;
    p->ecn = tos & 3;
}

bool wf_edit_set_ce(uint8_t *frame, struct wf_parsed *p)
{
    if (!(p->flags & WF_P_IP) || p->ecn == WF_ECN_NOT_ECT || p->ecn == WF_ECN_CE)
        return false;
    set_tos(frame, p, (uint8_t)(p->dscp << 2 | WF_ECN_CE));
    return true;
}

bool wf_edit_set_ecn(uint8_t *frame, struct wf_parsed *p, uint8_t ecn)
{
    if (!(p->flags & WF_P_IP))
        return false;
    set_tos(frame, p, (uint8_t)(p->dscp << 2 | (ecn & 3)));
    return true;
}

bool wf_edit_set_dscp(uint8_t *frame, struct wf_parsed *p, uint8_t dscp)
{
    if (!(p->flags & WF_P_IP))
        return false;
    set_tos(frame, p, (uint8_t)((dscp & 63) << 2 | p->ecn));
    return true;
}

bool wf_edit_dec_ttl(uint8_t *frame, struct wf_parsed *p)
{
    return wf_edit_ttl_down(frame, p);
}

bool wf_edit_set_pcp(uint8_t *frame, struct wf_parsed *p, uint8_t pcp)
{
    if (!(p->flags & WF_P_VLAN))
        return false;
    p->pcp = pcp & 7;
    frame[14] = (uint8_t)(p->pcp << 5 | (frame[14] & 0x1f));
    return true;
}

void wf_edit_set_macs(uint8_t *frame, struct wf_parsed *p, const uint8_t dst[6],
                      const uint8_t src[6])
{
    WF_ASSERT(p->flags & WF_P_ETH);
    wf_edit_mac_words(frame, p, wf_edit_mac_word(dst), wf_edit_mac_word(src));
}

uint16_t wf_ip4_checksum(const uint8_t *hdr, uint32_t len)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i + 1 < len; i += 2)
        if (i != 10)
            sum += wf_ld16(hdr + i);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

bool wf_ip4_checksum_ok(const uint8_t *frame, uint32_t caplen, const struct wf_parsed *p)
{
    const uint8_t *ip = frame + p->l3_off;
    uint32_t len;

    if (!(p->flags & WF_P_IP4))
        return false;
    len = (ip[0] & 15u) * 4;
    return p->l3_off + len <= caplen && wf_ld16(ip + 10) == wf_ip4_checksum(ip, len);
}
