/* SPDX-License-Identifier: BSD-3-Clause */
/* The one-pass parser of frames. See parse.h. */
#include "wire/parse.h"

#include "wire/bth.h"
#include "wire/eth.h"

#define ETH_LEN     14
#define TAG_LEN     4
#define IP4_LEN     20
#define IP6_LEN     40
#define UDP_LEN     8
#define PROTO_ICMP  1
#define PROTO_TCP   6
#define PROTO_UDP   17
#define PROTO_IBA   27
#define PROTO_ICMP6 58
#define IP6_EXT_MAX 8

/* What is left to look at: bytes [off, end) by the headers so far, of which those below cap exist.
 */
struct view {
    const uint8_t *frame;
    uint32_t off, end, cap;
};

/* Whether n more bytes are within the packet (else malformed) and within caplen (else cut). */
enum fit { FIT, FIT_CUT, FIT_NOT };

static inline enum fit fits(const struct view *v, uint32_t n, struct wf_parsed *p)
{
    if (v->end - v->off < n)
        return FIT_NOT;
    if (v->off + n > v->cap) {
        p->flags |= WF_P_CUT;
        return FIT_CUT;
    }
    return FIT;
}

static void parse_bth(struct view *v, struct wf_parsed *p)
{
    const uint8_t *h = v->frame + v->off;
    const struct wf_opcode *op;
    uint32_t need;

    switch (fits(v, WF_BTH_LEN, p)) {
    case FIT_NOT:
        p->flags |= WF_P_ROCE_SHORT;
        return;
    case FIT_CUT:
        return;
    case FIT:
        break;
    }
    p->flags |= WF_P_BTH;
    p->bth_off = (uint16_t)v->off;
    p->opcode = h[0];
    p->pad = h[1] >> 4 & 3;
    p->fecn = h[4] >> 7;
    p->becn = h[4] >> 6 & 1;
    p->dqpn = wf_ld24(h + 5);
    p->ackreq = h[8] >> 7;
    p->psn = wf_ld24(h + 9);
    op = &wf_opcodes[p->opcode];
    v->off += WF_BTH_LEN;
    p->payload_off = (uint16_t)(v->off + op->ext_len);
    need = (uint32_t)op->ext_len + p->pad + WF_ICRC_LEN;
    if (v->end - v->off < need) {
        p->flags |= WF_P_ROCE_SHORT;
        p->payload_len = 0;
        return;
    }
    p->icrc_off = v->end - WF_ICRC_LEN;
    p->payload_len = v->end - v->off - need;
    if (op->aeth) {
        uint32_t aeth = v->off + op->aeth - 1u;

        if (aeth + 4 > v->cap) {
            p->flags |= WF_P_CUT;
            return;
        }
        p->flags |= WF_P_AETH;
        p->aeth_syndrome = v->frame[aeth];
    }
}

static enum wf_reason parse_udp(struct view *v, struct wf_parsed *p)
{
    const uint8_t *h = v->frame + v->off;
    uint32_t len;

    switch (fits(v, UDP_LEN, p)) {
    case FIT_NOT:
        return WF_DROP_MALFORMED;
    case FIT_CUT:
        return WF_DROP_NONE;
    case FIT:
        break;
    }
    p->flags |= WF_P_UDP | WF_P_PORTS;
    p->l4_off = (uint16_t)v->off;
    p->sport = wf_ld16(h);
    p->dport = wf_ld16(h + 2);
    len = wf_ld16(h + 4);
    if (len < UDP_LEN || len > v->end - v->off)
        return WF_DROP_MALFORMED;
    v->end = v->off + len; /* a shorter UDP length leaves bytes that are nobody's */
    v->off += UDP_LEN;
    p->payload_off = (uint16_t)v->off;
    p->payload_len = len - UDP_LEN;
    if (p->dport == WF_ROCE_UDP_PORT) {
        p->flags |= WF_P_ROCEV2;
        parse_bth(v, p);
    }
    return WF_DROP_NONE;
}

static enum wf_reason parse_l4(struct view *v, struct wf_parsed *p)
{
    uint32_t need;

    if (p->flags & WF_P_FRAGMENT)
        return WF_DROP_NONE;
    switch (p->ip_proto) {
    case PROTO_UDP:
        return parse_udp(v, p);
    case PROTO_TCP:
        need = 20;
        break;
    case PROTO_ICMP:
    case PROTO_ICMP6:
        need = 4;
        break;
    default:
        return WF_DROP_NONE;
    }
    if (v->end - v->off < need)
        return WF_DROP_MALFORMED;
    if (v->off + 4 > v->cap) {
        p->flags |= WF_P_CUT;
        return WF_DROP_NONE;
    }
    p->l4_off = (uint16_t)v->off;
    if (p->ip_proto == PROTO_TCP) {
        p->flags |= WF_P_TCP | WF_P_PORTS;
        p->sport = wf_ld16(v->frame + v->off);
        p->dport = wf_ld16(v->frame + v->off + 2);
        return WF_DROP_NONE;
    }
    p->flags |= WF_P_ICMP;
    p->icmp_type = v->frame[v->off];
    if (p->ip_proto == PROTO_ICMP6 && p->icmp_type >= 133 && p->icmp_type <= 137)
        p->flags |= WF_P_ND;
    return WF_DROP_NONE;
}

static enum wf_reason parse_ip4(struct view *v, struct wf_parsed *p)
{
    const uint8_t *h = v->frame + v->off;
    uint32_t ihl, total, frag;

    switch (fits(v, IP4_LEN, p)) {
    case FIT_NOT:
        return WF_DROP_MALFORMED;
    case FIT_CUT:
        return WF_DROP_NONE;
    case FIT:
        break;
    }
    ihl = (h[0] & 15u) * 4;
    total = wf_ld16(h + 2);
    if (h[0] >> 4 != 4 || ihl < IP4_LEN || total < ihl || total > v->end - v->off)
        return WF_DROP_MALFORMED;
    p->flags |= WF_P_IP4;
    p->dscp = h[1] >> 2;
    p->ecn = h[1] & 3;
    p->ttl = h[8];
    p->ip_proto = h[9];
    p->l3_len = total;
    frag = wf_ld16(h + 6);
    if (frag & 0x3fff) /* more fragments, or an offset */
        p->flags |= WF_P_FRAGMENT;
    v->end = v->off + total;
    v->off += ihl;
    return parse_l4(v, p);
}

/* Bytes of an IPv6 extension header that begins at h; 0: `next` is not one that we step over. */
static uint32_t ip6_ext_len(uint8_t next, const uint8_t *h)
{
    switch (next) {
    case 0:  /* hop-by-hop */
    case 43: /* routing */
    case 60: /* destination options */
        return (h[1] + 1u) * 8;
    case 44: /* fragment */
        return 8;
    case 51: /* authentication */
        return (h[1] + 2u) * 4;
    default:
        return 0;
    }
}

static bool ip6_is_ext(uint8_t next)
{
    return next == 0 || next == 43 || next == 60 || next == 44 || next == 51;
}

static __attribute__((noinline)) enum wf_reason parse_ip6_ext(struct view *v, struct wf_parsed *p)
{
    for (int i = 0; i < IP6_EXT_MAX && ip6_is_ext(p->ip_proto); i++) {
        const uint8_t *h = v->frame + v->off;
        uint32_t len;

        switch (fits(v, 8, p)) {
        case FIT_NOT:
            return WF_DROP_MALFORMED;
        case FIT_CUT:
            return WF_DROP_NONE;
        case FIT:
            break;
        }
        len = ip6_ext_len(p->ip_proto, h);
        if (len > v->end - v->off)
            return WF_DROP_MALFORMED;
        if (p->ip_proto == 44 && (wf_ld16(h + 2) & 0xfff9)) /* an atomic fragment is none */
            p->flags |= WF_P_FRAGMENT;
        p->ip_proto = h[0];
        v->off += len;
    }
    return parse_l4(v, p);
}

static enum wf_reason parse_ip6(struct view *v, struct wf_parsed *p)
{
    const uint8_t *h = v->frame + v->off;
    uint32_t len;

    switch (fits(v, IP6_LEN, p)) {
    case FIT_NOT:
        return WF_DROP_MALFORMED;
    case FIT_CUT:
        return WF_DROP_NONE;
    case FIT:
        break;
    }
    len = wf_ld16(h + 4);
    if (h[0] >> 4 != 6 || len > v->end - v->off - IP6_LEN)
        return WF_DROP_MALFORMED;
    p->flags |= WF_P_IP6;
    p->dscp = (uint8_t)(wf_ld16(h) >> 6 & 63);
    p->ecn = h[1] >> 4 & 3;
    p->ip_proto = h[6];
    p->ttl = h[7];
    p->l3_len = IP6_LEN + len;
    v->off += IP6_LEN;
    v->end = v->off + len;
    if (__builtin_expect(ip6_is_ext(p->ip_proto), 0))
        return parse_ip6_ext(v, p);
    return parse_l4(v, p);
}

static enum wf_reason parse_rocev1(struct view *v, struct wf_parsed *p)
{
    const uint8_t *h = v->frame + v->off;
    uint32_t len;

    switch (fits(v, IP6_LEN, p)) {
    case FIT_NOT:
        return WF_DROP_MALFORMED;
    case FIT_CUT:
        return WF_DROP_NONE;
    case FIT:
        break;
    }
    len = wf_ld16(h + 4);
    if (h[0] >> 4 != 6 || len > v->end - v->off - IP6_LEN)
        return WF_DROP_MALFORMED;
    if (h[6] != PROTO_IBA) /* a GRH before something else, which only end points judge */
        return WF_DROP_NONE;
    p->flags |= WF_P_ROCEV1;
    v->off += IP6_LEN;
    v->end = v->off + len;
    parse_bth(v, p);
    return WF_DROP_NONE;
}

/* Up to two tags; v->off ends behind the last EtherType. False: no room for it or cut. */
static __attribute__((noinline)) enum fit parse_tags(struct view *v, struct wf_parsed *p)
{
    while (p->n_tags < 2 &&
           (p->ethertype == WF_ETHERTYPE_VLAN || p->ethertype == WF_ETHERTYPE_QINQ)) {
        enum fit fit = fits(v, TAG_LEN, p);
        uint16_t tci;

        if (fit != FIT)
            return fit;
        tci = wf_ld16(v->frame + v->off);
        if (p->n_tags++ == 0) {
            p->flags |= WF_P_VLAN;
            p->pcp = (uint8_t)(tci >> 13);
            p->dei = tci >> 12 & 1;
            p->vid = tci & 0xfff;
        } else {
            p->inner_vid = tci & 0xfff;
        }
        p->ethertype = wf_ld16(v->frame + v->off + 2);
        v->off += TAG_LEN;
    }
    return FIT;
}

enum wf_reason wf_parse(const uint8_t *frame, uint32_t caplen, uint32_t frame_len,
                        struct wf_parsed *p)
{
    struct view v = {frame, ETH_LEN, frame_len, caplen < frame_len ? caplen : frame_len};

    *p = (struct wf_parsed){0};
    if (frame_len < ETH_LEN)
        return WF_DROP_MALFORMED;
    if (caplen < ETH_LEN) {
        p->flags = WF_P_CUT;
        return WF_DROP_NONE;
    }
    p->flags = WF_P_ETH | wf_parse_mac_flags(frame);
    p->ethertype = wf_ld16(frame + 12);
    if (p->ethertype == WF_ETHERTYPE_VLAN || p->ethertype == WF_ETHERTYPE_QINQ) {
        enum fit fit = parse_tags(&v, p);

        if (fit != FIT)
            return fit == FIT_NOT ? WF_DROP_MALFORMED : WF_DROP_NONE;
    }
    p->l3_off = (uint16_t)v.off;
    p->l3_len = v.end - v.off;
    switch (p->ethertype) {
    case WF_ETHERTYPE_IP4:
        return parse_ip4(&v, p);
    case WF_ETHERTYPE_IP6:
        return parse_ip6(&v, p);
    case WF_ETHERTYPE_ROCEV1:
        return parse_rocev1(&v, p);
    case WF_ETHERTYPE_ARP:
        p->flags |= WF_P_ARP;
        break;
    case WF_ETHERTYPE_MAC_CONTROL:
        p->flags |= WF_P_MAC_CONTROL;
        break;
    case WF_ETHERTYPE_LLDP:
        p->flags |= WF_P_LLDP;
        break;
    default:
        if (p->ethertype < 0x0600)
            p->flags |= WF_P_LLC;
        break;
    }
    return WF_DROP_NONE;
}
