/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IPv6 neighbour discovery: solicitation and advertisement with their link-layer address option
 * (RFC 4861 4.3, 4.4, 4.6.1). Left out: router discovery, redirect, other options.
 */
#ifndef WEFT_WIRE_ND_H
#define WEFT_WIRE_ND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "wire/field.h"

#define WF_ND_LEN       24
#define WF_ND_OPT_LEN   8
#define WF_ND_FRAME_LEN (14 + 40 + 24 + 8)

#define WF_ND_SOLICIT    135
#define WF_ND_ADVERTISE  136
#define WF_ND_OPT_SOURCE 1 /* link-layer address in a solicitation */
#define WF_ND_OPT_TARGET 2 /* in an advertisement */

struct wf_nd {
    uint8_t type, code;
    uint16_t checksum;
    bool router, solicited, override; /* of an advertisement */
    uint32_t resv;                    /* 29 bits */
    uint8_t target[16];
};

struct wf_ndopt {
    uint8_t type, len; /* len in units of 8 bytes */
    uint8_t lladdr[6];
};

int wf_nd_get(struct wf_rd *r, struct wf_nd *h);
void wf_nd_put(struct wf_wr *w, const struct wf_nd *h);
/* One link-layer address option. */
int wf_ndopt_get(struct wf_rd *r, struct wf_ndopt *h);
void wf_ndopt_put(struct wf_wr *w, const struct wf_ndopt *h);
/* Steps over the options behind the fixed part; true when one of `type` was found. */
bool wf_nd_lladdr(struct wf_rd *r, uint8_t type, uint8_t mac[6]);

/* The solicited-node group of an address and its MAC (RFC 4291 2.7.1, RFC 2464 7). */
void wf_nd_group(const uint8_t ip[16], uint8_t group[16], uint8_t mac[6]);

struct wf_nd_msg {
    uint8_t dst_mac[6], src_mac[6]; /* src_mac is also the option's address */
    uint8_t src_ip[16], dst_ip[16];
    struct wf_nd nd; /* its checksum is computed */
};

/* A whole untagged frame without FCS, checksum included. Returns its length. */
uint32_t wf_nd_build(uint8_t buf[WF_ND_FRAME_LEN], const struct wf_nd_msg *m);

extern const struct wf_fmt wf_fmt_nd, wf_fmt_ndopt;

#endif
