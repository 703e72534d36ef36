/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The IPv6 header (RFC 8200 3), and InfiniBand's GRH, which has the same layout (IBA 8.3; before
 * the BTH of RoCEv1 its next header is 27, annex A16). Left out: extension headers.
 */
#ifndef WEFT_WIRE_IP6_H
#define WEFT_WIRE_IP6_H

#include <stdint.h>

#include "base/cursor.h"
#include "wire/field.h"

#define WF_IP6_LEN 40
#define WF_GRH_LEN 40

struct wf_ip6 {
    uint8_t version, dscp, ecn;
    uint32_t flow_label;
    uint16_t payload_len;
    uint8_t next, hop_limit;
    uint8_t src[16], dst[16];
};

struct wf_grh {
    uint8_t version, tclass;
    uint32_t flow_label;
    uint16_t payload_len; /* from the BTH through the ICRC */
    uint8_t next, hop_limit;
    uint8_t sgid[16], dgid[16];
};

int wf_ip6_get(struct wf_rd *r, struct wf_ip6 *h);
void wf_ip6_put(struct wf_wr *w, const struct wf_ip6 *h);
int wf_grh_get(struct wf_rd *r, struct wf_grh *h);
void wf_grh_put(struct wf_wr *w, const struct wf_grh *h);

extern const struct wf_fmt wf_fmt_ip6, wf_fmt_grh;

#endif
