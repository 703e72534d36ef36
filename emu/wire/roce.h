/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole RoCE packets: all headers from Ethernet through the extended ones in one go, as a host
 * sends them (IBA annexes A16, A17). The payload, pad and ICRC follow and are the caller's.
 * Left out: IPv4 options, IPv6 extension headers, a UDP checksum (RoCEv2 may send 0).
 */
#ifndef WEFT_WIRE_ROCE_H
#define WEFT_WIRE_ROCE_H

#include <stdint.h>

#include "wire/bth.h"
#include "wire/eth.h"
#include "wire/parse.h"

/* Ethernet, two tags, IPv6, UDP, BTH, the longest extended headers. */
#define WF_ROCE_HDR_MAX (14 + 8 + 40 + 8 + 12 + WF_EXT_LEN_MAX)
#define WF_CNP_PAYLOAD  16 /* reserved zeros */
/* A CNP of IPv6 with a tag, ICRC included, without FCS. */
#define WF_CNP_FRAME_MAX (14 + 8 + 40 + 8 + 12 + WF_CNP_PAYLOAD + 4)

enum wf_roce_encap {
    WF_ROCE_V2_IP4,
    WF_ROCE_V2_IP6,
    WF_ROCE_V1,
};

struct wf_roce {
    uint8_t dst_mac[6], src_mac[6];
    uint8_t n_tags;
    struct wf_vlan tag[WF_VLAN_TAGS_MAX]; /* tpid 0: 0x8100 */
    enum wf_roce_encap encap;
    uint8_t src_ip[16], dst_ip[16]; /* IPv4 as ::ffff:a.b.c.d */
    uint8_t dscp, ecn, ttl;
    uint16_t ip_id;      /* IPv4; DF is set */
    uint32_t flow_label; /* IPv6, GRH */
    uint16_t sport;
    struct wf_bth bth; /* pad is computed */
    struct wf_ext_hdrs ext;
    uint32_t payload_len;
};

/* Writes the headers. Returns their length; 0 when they don't fit into `room` or the packet is
 * longer than IP's 16-bit lengths can say. */
uint32_t wf_roce_hdr_build(uint8_t *buf, uint32_t room, const struct wf_roce *h);

static inline uint32_t wf_roce_pad(uint32_t payload_len)
{
    return -payload_len & 3;
}

/* Length of the whole frame without FCS. */
static inline uint32_t wf_roce_frame_len(uint32_t hdr_len, uint32_t payload_len)
{
    return hdr_len + payload_len + wf_roce_pad(payload_len) + WF_ICRC_LEN;
}

/*
 * A CNP, ICRC included: h gives addresses, tags, dscp, ecn, ttl, sport and bth.dqpn; the rest of
 * the BTH is the CNP's own (opcode 0x81, BECN, P_Key 0xffff, PSN 0; annex A17.9.3). Returns the
 * frame's length without FCS, or 0 when it does not fit.
 */
uint32_t wf_cnp_build(uint8_t *buf, uint32_t room, const struct wf_roce *h);

#endif
