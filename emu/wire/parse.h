/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One pass over an untrusted frame, as a switch's parser does it: where the headers lie, and the
 * fields that forwarding, queueing, marking and reports ask for. Lengths in the headers are held
 * against the frame's true length; checksums and the ICRC are not looked at (see edit.h, icrc.h).
 * Clauses: 802.1Q 9 (tags), 802.3 31 (MAC control), RFC 791, 8200, 768; IBA annexes A16, A17.
 * Left out: a third VLAN tag, IPv6 extension headers beyond the eighth, ports of IP fragments (a
 * later fragment has none, so that all fragments of a packet hash alike).
 */
#ifndef WEFT_WIRE_PARSE_H
#define WEFT_WIRE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cursor.h"
#include "base/reason.h"

enum wf_parsed_flag {
    WF_P_ETH = 1 << 0,  /* the Ethernet header is there: nothing else is set without it */
    WF_P_VLAN = 1 << 1, /* at least one tag; vid 0 is a priority tag */
    WF_P_IP4 = 1 << 2,  /* dscp, ecn, ttl, ip_proto, l3_len are valid, also with IP6 */
    WF_P_IP6 = 1 << 3,
    WF_P_UDP = 1 << 4,          /* l4_off is a whole UDP header */
    WF_P_TCP = 1 << 5,          /* l4_off begins a TCP header */
    WF_P_PORTS = 1 << 6,        /* sport, dport are valid */
    WF_P_ROCEV2 = 1 << 7,       /* UDP destination port 4791, whatever comes after it */
    WF_P_ROCEV1 = 1 << 8,       /* EtherType 0x8915 with a GRH whose next header is IBA */
    WF_P_BTH = 1 << 9,          /* the BTH is there: opcode ... psn are valid */
    WF_P_AETH = 1 << 10,        /* the opcode has an AETH and it is there */
    WF_P_ROCE_SHORT = 1 << 11,  /* RoCE too short for its opcode's headers, pad and ICRC */
    WF_P_MAC_CONTROL = 1 << 12, /* EtherType 0x8808: PFC, pause */
    WF_P_ARP = 1 << 13,
    WF_P_ND = 1 << 14,   /* ICMPv6 133..137; icmp_type says which */
    WF_P_ICMP = 1 << 15, /* ICMP or ICMPv6; icmp_type is valid */
    WF_P_LLDP = 1 << 16,
    WF_P_LLC = 1 << 17,       /* 802.3 length instead of an EtherType */
    WF_P_MULTICAST = 1 << 18, /* group bit of the destination, broadcast included */
    WF_P_BROADCAST = 1 << 19,
    WF_P_RESERVED_MAC = 1 << 20, /* 01-80-C2-00-00-0x: never forwarded by a bridge */
    WF_P_FRAGMENT = 1 << 21,     /* part of a fragmented IP packet: no ports, never RoCE */
    WF_P_CUT = 1 << 22,          /* a header that the frame has lies beyond caplen */
};

#define WF_P_IP        (WF_P_IP4 | WF_P_IP6)
#define WF_P_ROCE      (WF_P_ROCEV1 | WF_P_ROCEV2)
#define WF_P_MAC_FLAGS (WF_P_MULTICAST | WF_P_BROADCAST | WF_P_RESERVED_MAC)

/* An offset of 0 means: no such header, or beyond caplen. First what each hop asks for. */
struct wf_parsed {
    uint32_t flags;
    uint16_t l3_off;                       /* behind the EtherType; IP header or GRH */
    uint8_t pcp, ecn, dscp, ttl, ip_proto; /* in this order: see wf_parsed_mutable() */
    uint8_t opcode;

    uint32_t l3_len;      /* IP: total length; else what follows the EtherType */
    uint32_t payload_len; /* RoCE: without extended headers, pad and ICRC; UDP: after its header */
    uint32_t icrc_off;    /* RoCE: where the ICRC stands, maybe beyond caplen; 0 when SHORT */
    uint32_t dqpn;
    uint32_t psn;
    uint16_t ethertype; /* after the tags */
    uint16_t l4_off;
    uint16_t bth_off;
    uint16_t payload_off; /* may lie beyond caplen */
    uint16_t sport, dport;
    uint16_t vid, inner_vid; /* outer and second tag */
    uint8_t n_tags, dei;
    uint8_t icmp_type;
    uint8_t ackreq, fecn, becn, pad;
    uint8_t aeth_syndrome;
};

enum { WF_PARSED_HOP = 12 }; /* bytes of it that a hop asks for */

_Static_assert(offsetof(struct wf_parsed, l3_len) == WF_PARSED_HOP, "what a hop asks for is first");

/* What of a parsed frame a switch may change besides its MACs, as one number:
 * ttl << 48 | dscp << 40 | ecn << 32 | pcp. */
static inline uint64_t wf_parsed_mutable(const struct wf_parsed *p)
{
    uint32_t w;

    memcpy(&w, &p->pcp, sizeof(w));
    return (uint64_t)(w >> 8) << 32 | (w & 0xff);
}

/*
 * frame[0..caplen) is what we have of a frame of frame_len bytes without FCS. WF_DROP_NONE, or
 * WF_DROP_MALFORMED when the lengths and versions in it contradict each other; *p then holds what
 * was found until there. A frame that is only cut short by caplen is not malformed.
 */
enum wf_reason wf_parse(const uint8_t *frame, uint32_t caplen, uint32_t frame_len,
                        struct wf_parsed *p);

/* Those of WF_P_MAC_FLAGS that a destination address has. */
static inline uint32_t wf_parse_mac_flags(const uint8_t dst[6])
{
    uint64_t mac = wf_ld48(dst);

    if (__builtin_expect(!(dst[0] & 1), 1))
        return 0;
    if (mac == 0xffffffffffffull)
        return WF_P_MULTICAST | WF_P_BROADCAST;
    if (mac >> 4 == 0x0180c200000ull)
        return WF_P_MULTICAST | WF_P_RESERVED_MAC;
    return WF_P_MULTICAST;
}

/* With WF_P_IP4: addresses in host order. */
static inline uint32_t wf_parsed_src4(const uint8_t *frame, const struct wf_parsed *p)
{
    return wf_ld32(frame + p->l3_off + 12);
}

static inline uint32_t wf_parsed_dst4(const uint8_t *frame, const struct wf_parsed *p)
{
    return wf_ld32(frame + p->l3_off + 16);
}

/* Of four bytes (RFC 3927) and of sixteen (RFC 4291 2.5.6). */
static inline bool wf_ip4_is_link_local(const uint8_t *ip)
{
    return wf_ld16(ip) == 0xa9fe;
}

static inline bool wf_ip6_is_link_local(const uint8_t *ip)
{
    return (wf_ld16(ip) & 0xffc0) == 0xfe80;
}

/* With WF_P_IP: source or destination is link-local, which no router forwards (RFC 4291 2.5.6,
 * RFC 3927 7). */
static inline bool wf_ip_link_local(const uint8_t *frame, const struct wf_parsed *p)
{
    const uint8_t *ip = frame + p->l3_off;

    if (p->flags & WF_P_IP4)
        return wf_ip4_is_link_local(ip + 12) || wf_ip4_is_link_local(ip + 16);
    return wf_ip6_is_link_local(ip + 8) || wf_ip6_is_link_local(ip + 24);
}

/* With WF_P_IP6 or WF_P_ROCEV1: the 16 bytes of an address or GID, in place. */
static inline const uint8_t *wf_parsed_src6(const uint8_t *frame, const struct wf_parsed *p)
{
    return frame + p->l3_off + 8;
}

static inline const uint8_t *wf_parsed_dst6(const uint8_t *frame, const struct wf_parsed *p)
{
    return frame + p->l3_off + 24;
}

/* One of them, IPv4 as ::ffff:a.b.c.d. */
static inline void wf_parsed_addr(const uint8_t *frame, const struct wf_parsed *p, bool dst,
                                  uint8_t ip[16])
{
    if (p->flags & WF_P_IP4) {
        memset(ip, 0, 10);
        memset(ip + 10, 0xff, 2);
        wf_st32(ip + 12, dst ? wf_parsed_dst4(frame, p) : wf_parsed_src4(frame, p));
    } else {
        memcpy(ip, dst ? wf_parsed_dst6(frame, p) : wf_parsed_src6(frame, p), 16);
    }
}

#endif
