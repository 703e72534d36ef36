/* SPDX-License-Identifier: BSD-3-Clause */
/* The tunnel end point of a leaf: what a user can set. See tunnel.h. */
#ifndef WEFT_SWITCH_TUNNEL_CONFIG_H
#define WEFT_SWITCH_TUNNEL_CONFIG_H

#include <string.h>

#include "base/key.h"

enum wf_tunnel_dscp { WF_TUNNEL_UNIFORM, WF_TUNNEL_PIPE };
enum wf_tunnel_ecn { WF_TUNNEL_ECN_STANDARD, WF_TUNNEL_ECN_COPY_FROM_OUTER };

struct wf_tunnel_cfg {
    uint32_t vni; /* 0: no end point */
    struct wf_ip_prefix ip;
    int dscp_mode; /* enum wf_tunnel_dscp */
    uint32_t dscp;
    int ecn_mode; /* enum wf_tunnel_ecn */
    uint32_t ttl;
};

extern const struct wf_keyset wf_tunnel_keys;

/* The address of the end point at switch number sw. */
static inline void wf_tunnel_ip(const struct wf_tunnel_cfg *c, uint32_t sw, uint8_t ip[4])
{
    const uint8_t own[4] = {172, 31, (uint8_t)(sw >> 8), (uint8_t)sw};

    memcpy(ip, c->ip.family == 4 ? c->ip.addr + 12 : own, 4);
}

#endif
