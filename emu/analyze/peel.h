/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a record of a capture to the frame that matters: what a mirror port or an overlay has put
 * around it is taken off. VLAN stacks of any depth (802.1Q 9), MPLS labels (RFC 3032), VXLAN
 * (RFC 7348), Geneve (RFC 8926), GRE (RFC 2784, 2890) with a frame or IP in it, ERSPAN types I, II
 * and III, IP in IP; link types Ethernet, Linux cooked (v1, v2) and raw IP.
 * Left out: fragments of outer packets, IPv6 extension headers between tunnels.
 */
#ifndef WEFT_ANALYZE_PEEL_H
#define WEFT_ANALYZE_PEEL_H

#include "cap/reader.h"
#include "wire/parse.h"

enum wf_an_tunnel {
    WF_AN_PLAIN,
    WF_AN_VXLAN,
    WF_AN_GENEVE,
    WF_AN_GRE,
    WF_AN_ERSPAN1,
    WF_AN_ERSPAN2,
    WF_AN_ERSPAN3,
    WF_AN_IPIP,
    WF_AN_MPLS,
    WF_AN_TUNNELS
};

extern const char *const wf_an_tunnel_names[WF_AN_TUNNELS];

enum { WF_AN_TAGS_MAX = 8, WF_AN_DEPTH_MAX = 6, WF_AN_SCRATCH = 14 + 10240 };

/* What was around it. */
struct wf_an_around {
    uint32_t tunnel_id; /* VNI, ERSPAN session, GRE key */
    uint16_t ethertype;
    uint16_t vid;   /* outermost tag of the innermost frame */
    uint8_t pcp;    /* likewise */
    uint8_t n_tags; /* of the innermost frame */
    uint8_t tunnel; /* the innermost */
    uint8_t depth;  /* tunnels taken off */
    bool macs;      /* the frame begins with its own MAC addresses */
};

/* Begins like an Ethernet frame: 14 bytes of which the last two say what follows. */
struct wf_an_peeled {
    const uint8_t *frame;
    uint32_t cap_bytes, len_bytes;
    struct wf_an_around around;
    bool cut_by_mirror; /* shorter than its IP header says, though not by a snaplen */
    uint8_t scratch[WF_AN_SCRATCH];
};

/* False: nothing that can be looked into (another link type, too short). */
bool wf_an_peel(const struct wf_cap_rec *rec, struct wf_an_peeled *p);
/* Whether frames of this link type can be looked into. */
bool wf_an_peels(uint16_t link_type);

#endif
