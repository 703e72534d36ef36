/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a switch may change in a frame: MAC addresses, PCP, DSCP, ECN, TTL. Each edit keeps the
 * IPv4 header checksum right by the difference (RFC 1624), so that a wrong one stays wrong: a
 * switch never repairs. None of these fields is covered by the ICRC, or each is masked in it
 * (IBA annex A17.3.3), so the ICRC needs no change. The FCS is the port's business.
 * Edits also keep *p, the parse of this frame, true.
 */
#ifndef WEFT_WIRE_EDIT_H
#define WEFT_WIRE_EDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/parse.h"

#define WF_ECN_NOT_ECT 0
#define WF_ECN_ECT1    1
#define WF_ECN_ECT0    2
#define WF_ECN_CE      3

/* ECT(0) or ECT(1) to CE. False when the frame can't be marked (no IP, not ECT) or is CE already:
 * the frame is then as it was. */
bool wf_edit_set_ce(uint8_t *frame, struct wf_parsed *p);
/* TTL or hop limit down by one. False, and nothing changed, when it is 0 or 1 or there is no IP. */
bool wf_edit_dec_ttl(uint8_t *frame, struct wf_parsed *p);
/* False when there is no IP header. dscp 0..63. */
bool wf_edit_set_dscp(uint8_t *frame, struct wf_parsed *p, uint8_t dscp);
/* False when there is no IP header. ecn 0..3. */
bool wf_edit_set_ecn(uint8_t *frame, struct wf_parsed *p, uint8_t ecn);
/* Of the outer tag; false when there is none. pcp 0..7. */
bool wf_edit_set_pcp(uint8_t *frame, struct wf_parsed *p, uint8_t pcp);
/* Also the multicast, broadcast and reserved flags. */
void wf_edit_set_macs(uint8_t *frame, struct wf_parsed *p, const uint8_t dst[6],
                      const uint8_t src[6]);
/* The checksum that belongs into an IPv4 header of len bytes (20..60, a multiple of 4), whatever
 * stands there now; in host order. */
uint16_t wf_ip4_checksum(const uint8_t *hdr, uint32_t len);
/* Whether a whole header's checksum is right; false when it is not there in full. */
bool wf_ip4_checksum_ok(const uint8_t *frame, uint32_t caplen, const struct wf_parsed *p);
/* RFC 1624 equation 3: the checksum after one 16-bit word went from `from` to `to`. */
static inline uint16_t wf_checksum_adjust(uint16_t sum, uint16_t from, uint16_t to)
{
    uint32_t x = (uint32_t)(uint16_t)~sum + (uint16_t)~from + to;

    x = (x & 0xffff) + (x >> 16);
    x = (x & 0xffff) + (x >> 16);
    return (uint16_t)~x;
}

/* wf_checksum_adjust() of the stored checksum when the TTL's byte, the high one of its word, is
 * less by 1. One's complement sums are the same in either order of bytes (RFC 1071, 2), so as it
 * lies. */
static inline void wf_edit_sum_less_ttl(uint8_t *sum)
{
    uint16_t s;

    memcpy(&s, sum, 2);
    s = (uint16_t)(s + 1 + (s >= 0xfffe)); /* ~(~s + 0xfffe), its carry added */
    memcpy(sum, &s, 2);
}

/* What wf_edit_dec_ttl() does, and wf_edit_route() each hop: in one piece with who calls it. */
static inline bool wf_edit_ttl_down(uint8_t *frame, struct wf_parsed *p)
{
    uint8_t *ip = frame + p->l3_off;
    uint32_t flags = p->flags, w;

    memcpy(&w, &p->pcp, sizeof(w)); /* pcp to ttl: so will the digest ask for it */
    if (!(flags & WF_P_IP) || w >> 24 <= 1)
        return false;
    w -= 1u << 24;
    memcpy(&p->pcp, &w, sizeof(w));
    if (flags & WF_P_IP4) {
        ip[8] = (uint8_t)(w >> 24);
        wf_edit_sum_less_ttl(ip + 10);
    } else {
        ip[7] = (uint8_t)(w >> 24);
    }
    return true;
}

static inline uint64_t wf_edit_mac_word(const uint8_t mac[6])
{
    uint32_t low;
    uint16_t high;

    memcpy(&low, mac, 4);
    memcpy(&high, mac + 4, 2);
    return low | (uint64_t)high << 32;
}

/* Both MACs, as wf_edit_mac_word() has them. Returns the first eight bytes of the frame as they are
 * then. */
static inline uint64_t wf_edit_mac_words(uint8_t *frame, struct wf_parsed *p, uint64_t dst,
                                         uint64_t src)
{
    uint64_t begins = dst | src << 48;
    uint32_t rest = (uint32_t)(src >> 16);

    memcpy(frame, &begins, 8);
    memcpy(frame + 8, &rest, 4);
    if (__builtin_expect((p->flags & WF_P_MAC_FLAGS) | (dst & 1), 0)) /* either was no unicast */
        p->flags = (p->flags & ~(uint32_t)WF_P_MAC_FLAGS) | wf_parse_mac_flags(frame);
    return begins;
}

/* What a router does: TTL down and both MACs. False, and nothing changed, as wf_edit_dec_ttl. The
 * frame has an Ethernet header; *begins is its first eight bytes after that. */
static inline bool wf_edit_route(uint8_t *frame, struct wf_parsed *p, uint64_t dst, uint64_t src,
                                 uint64_t *begins)
{
    if (!wf_edit_ttl_down(frame, p))
        return false;
    *begins = wf_edit_mac_words(frame, p, dst, src);
    return true;
}

#endif
