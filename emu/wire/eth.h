/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ethernet II with up to two VLAN tags (802.3 3.2; 802.1Q 9.6 C-tag 0x8100 and S-tag 0x88a8).
 * Left out: LLC/SNAP behind an 802.3 length, and a third tag: both stay as `ethertype`.
 */
#ifndef WEFT_WIRE_ETH_H
#define WEFT_WIRE_ETH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "wire/field.h"

#define WF_ETH_LEN       14
#define WF_ETH_FCS_LEN   4
#define WF_ETH_MIN_LEN   60 /* without FCS */
#define WF_VLAN_TAG_LEN  4
#define WF_VLAN_TAGS_MAX 2

#define WF_ETHERTYPE_IP4         0x0800
#define WF_ETHERTYPE_ARP         0x0806
#define WF_ETHERTYPE_VLAN        0x8100
#define WF_ETHERTYPE_IP6         0x86dd
#define WF_ETHERTYPE_MAC_CONTROL 0x8808
#define WF_ETHERTYPE_QINQ        0x88a8
#define WF_ETHERTYPE_LLDP        0x88cc
#define WF_ETHERTYPE_ROCEV1      0x8915

struct wf_vlan {
    uint16_t tpid; /* 0x8100 or 0x88a8 */
    uint8_t pcp;
    bool dei;
    uint16_t vid;
};

struct wf_eth {
    uint8_t dst[6], src[6];
    uint8_t n_tags;
    struct wf_vlan tag[WF_VLAN_TAGS_MAX]; /* outer first */
    uint16_t ethertype;                   /* after the tags; below 0x600 an 802.3 length */
};

int wf_eth_get(struct wf_rd *r, struct wf_eth *h);
void wf_eth_put(struct wf_wr *w, const struct wf_eth *h);
/* One tag, from its TPID on. */
int wf_vlan_get(struct wf_rd *r, struct wf_vlan *h);
void wf_vlan_put(struct wf_wr *w, const struct wf_vlan *h);

/* wf_fmt_eth is the untagged header. */
extern const struct wf_fmt wf_fmt_eth, wf_fmt_vlan;

#endif
