/* SPDX-License-Identifier: BSD-3-Clause */
/* ARP for IPv4 over Ethernet (RFC 826). Left out: other hardware and protocol types. */
#ifndef WEFT_WIRE_ARP_H
#define WEFT_WIRE_ARP_H

#include <stdint.h>

#include "base/cursor.h"
#include "wire/field.h"

#define WF_ARP_LEN     28
#define WF_ARP_REQUEST 1
#define WF_ARP_REPLY   2

struct wf_arp {
    uint16_t htype, ptype; /* 1, 0x0800 */
    uint8_t hlen, plen;    /* 6, 4 */
    uint16_t oper;
    uint8_t sha[6];
    uint32_t spa;
    uint8_t tha[6];
    uint32_t tpa;
};

int wf_arp_get(struct wf_rd *r, struct wf_arp *h);
void wf_arp_put(struct wf_wr *w, const struct wf_arp *h);
/* 0 when it is ARP of Ethernet and IPv4, else -EBADMSG. */
int wf_arp_check(const struct wf_arp *h);
/* A whole untagged frame of 60 bytes without FCS, from h->sha to dst_mac; types and sizes are
 * filled in. Returns its length. */
uint32_t wf_arp_build(uint8_t buf[60], const uint8_t dst_mac[6], const struct wf_arp *h);

extern const struct wf_fmt wf_fmt_arp;

#endif
