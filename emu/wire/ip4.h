/* SPDX-License-Identifier: BSD-3-Clause */
/* The IPv4 header (RFC 791; DSCP RFC 2474, ECN RFC 3168). Options are carried, not understood. */
#ifndef WEFT_WIRE_IP4_H
#define WEFT_WIRE_IP4_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "wire/field.h"

#define WF_IP4_LEN 20

#define WF_IPPROTO_ICMP  1
#define WF_IPPROTO_TCP   6
#define WF_IPPROTO_UDP   17
#define WF_IPPROTO_IBA   27 /* GRH next header: a BTH follows */
#define WF_IPPROTO_ICMP6 58

struct wf_ip4 {
    uint8_t version, ihl; /* ihl in words */
    uint8_t dscp, ecn;
    uint16_t total_len, id;
    bool rf, df, mf;
    uint16_t frag_off; /* in units of 8 bytes */
    uint8_t ttl, proto;
    uint16_t checksum; /* written as it stands: see wf_ip4_checksum in edit.h */
    uint32_t src, dst;
    uint8_t options[40]; /* (ihl - 5) * 4 bytes of them */
};

/* -EBADMSG when bytes are missing, options included; an ihl below 5 counts as 5. */
int wf_ip4_get(struct wf_rd *r, struct wf_ip4 *h);
void wf_ip4_put(struct wf_wr *w, const struct wf_ip4 *h);

extern const struct wf_fmt wf_fmt_ip4; /* without options */

#endif
