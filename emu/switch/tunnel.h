/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VXLAN tunnel end points on routed leaves (RFC 7348). The hosts of leaves with the same network
 * identifier are one broadcast domain: a frame for a host's MAC behind another such leaf travels
 * within UDP to that leaf's address, by the fabric's routes; broadcasts and unknown addresses are
 * copied to each of these leaves by the one that they came in at, which never passes them on. The
 * outer UDP source port is a hash of the inner flow. TTL of the inner packet stays; its DSCP and
 * ECN as configured, ECN outwards always as it is inside (RFC 6040 4.1, normal mode). The MTU is
 * held against the outer packet. Where a MAC is is known from the scenario, as EVPN would tell.
 *
 * Class, group and queue at the end of the tunnel are those of the outer header.
 * Left out: an outer IPv6 header, VLANs within, routing between networks, fragmentation.
 */
#ifndef WEFT_SWITCH_TUNNEL_H
#define WEFT_SWITCH_TUNNEL_H

#include "switch/switch.h"

/* All end points of a fabric, by switch; vni 0: none. */
struct wf_tunnel_end {
    uint32_t vni;
    uint8_t ip[4];
};

/* A packet's dst_host, when its dst_sw is the end of a tunnel. */
#define WF_DST_TUNNEL UINT32_MAX

/* A frame at a leaf that is an end point. NOT: none of the tunnel's. DONE: dropped. OUT: put into a
 * tunnel, v->out is set. BRIDGE: taken out of one, for the leaf's own hosts. */
enum wf_tunnel_step { WF_TUNNEL_NOT, WF_TUNNEL_DONE, WF_TUNNEL_OUT, WF_TUNNEL_BRIDGE };
enum wf_tunnel_step wf_tunnel_forward(struct wf_switch *sw, struct wf_visit *v);
/* Broadcasts and unknown addresses from a host: copies to all other ends. */
void wf_tunnel_flood(struct wf_switch *sw, const struct wf_visit *v);
/* Whether the host is in this leaf's broadcast domain, behind another leaf. */
bool wf_tunnel_reaches(const struct wf_switch *sw, const struct wf_host_addr *host);

#endif
