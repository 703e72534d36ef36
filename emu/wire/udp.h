/* SPDX-License-Identifier: BSD-3-Clause */
/* The UDP header (RFC 768), and the checksum that UDP and ICMPv6 share (RFC 768, RFC 8200 8.1). */
#ifndef WEFT_WIRE_UDP_H
#define WEFT_WIRE_UDP_H

#include <stdint.h>

#include "base/cursor.h"
#include "wire/field.h"

#define WF_UDP_LEN 8

struct wf_udp {
    uint16_t sport, dport;
    uint16_t len;      /* header and payload */
    uint16_t checksum; /* 0: none, as RoCEv2 sends it */
};

int wf_udp_get(struct wf_rd *r, struct wf_udp *h);
void wf_udp_put(struct wf_wr *w, const struct wf_udp *h);

/*
 * The checksum over pseudo header and l4[0..len), which counts the checksum field as it stands:
 * with a zero there it is the one to be stored, with the right one there it is 0.
 * l3 is the IPv4 or IPv6 header (by its version), proto the upper-layer protocol.
 */
uint16_t wf_l4_checksum(const uint8_t *l3, uint8_t proto, const uint8_t *l4, uint32_t len);

extern const struct wf_fmt wf_fmt_udp;

#endif
