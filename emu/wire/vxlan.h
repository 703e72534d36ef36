/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VXLAN (RFC 7348): a frame without FCS behind Ethernet, IPv4, UDP and eight bytes with the network
 * identifier; and what becomes of ECN at a tunnel's end (RFC 6040). The UDP checksum is 0 and the
 * source port is the caller's, from the inner flow. Left out: an outer IPv6 header, writing outer
 * tags.
 */
#ifndef WEFT_WIRE_VXLAN_H
#define WEFT_WIRE_VXLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/parse.h"

#define WF_VXLAN_UDP_PORT 4789
#define WF_VXLAN_OUTER    (14 + 20 + 8 + 8)

struct wf_vxlan {
    uint8_t dst_mac[6], src_mac[6];
    uint8_t src_ip[4], dst_ip[4];
    uint8_t dscp, ecn, ttl;
    uint16_t sport;
    uint32_t vni;
};

/* Write what goes before an inner frame of inner_len bytes without FCS. */
void wf_vxlan_put(uint8_t outer[WF_VXLAN_OUTER], const struct wf_vxlan *h, uint32_t inner_len);
/* Where the inner frame begins when frame[0..caplen) is VXLAN of an outer IPv4 header without
 * options, behind whatever tags, and of which network; else 0. */
uint32_t wf_vxlan_get(const uint8_t *frame, uint32_t caplen, const struct wf_parsed *p,
                      uint32_t *vni);

/* RFC 6040 4.2: the ECN field of a packet that leaves a tunnel; -1: to be dropped (CE, and the
 * inner packet is not ECN-capable). */
int wf_ecn_decap(uint8_t inner, uint8_t outer);

#endif
