/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a packet was dropped: one named row each, never a return code. Each has a counter
 * `drop_<name>_frames` on the port where it happened.
 */
#ifndef WEFT_BASE_REASON_H
#define WEFT_BASE_REASON_H

#include <stdint.h>

/* clang-format off */
/* X(ID, "name", "meaning") */
#define WF_REASONS(X) \
    X(MALFORMED, "malformed", "headers cut short or lengths that contradict each other") \
    X(FCS, "fcs", "frame damaged on the link: its FCS is wrong") \
    X(LINK_DOWN, "link_down", "the link was down") \
    X(LINK_LOSS, "link_loss", "lost on the link by its configured loss") \
    X(INJECTED, "injected", "dropped on purpose by an injected fault") \
    X(OWN_SOURCE, "own_source", "source address is the destination's or the switch's own") \
    X(RESERVED_MAC, "reserved_mac", "link-local group address or MAC control: a bridge never forwards it (802.1Q 8.6.3)") \
    X(HAIRPIN, "hairpin", "the only way out is the port it came from") \
    X(MTU, "mtu", "longer than the egress link takes; never cut, never fragmented") \
    X(TTL, "ttl_exceeded", "TTL or hop limit would reach 0 at a routed hop") \
    X(IP_CHECKSUM, "ip_checksum", "wrong IPv4 header checksum at a routed hop") \
    X(NO_ROUTE, "no_route", "no route to the destination address") \
    X(NOT_ROUTABLE, "not_routable", "no IP header at a routed hop (RoCEv1, other EtherTypes)") \
    X(LINK_LOCAL, "link_local", "link-local address at a routed hop: never forwarded (RFC 4291 2.5.6, RFC 3927 7)") \
    X(NO_NEIGHBOUR, "no_neighbour", "destination address is of this subnet but no host has it") \
    X(UNKNOWN_UNICAST, "unknown_unicast", "destination MAC unknown and flooding has no other port") \
    X(TUNNEL_CE, "tunnel_ce", "CE outside a tunnel, and the packet inside is not ECN-capable (RFC 6040 4.2)") \
    X(TUNNEL_VNI, "tunnel_vni", "VXLAN of a network that the tunnel's end does not have") \
    X(FLOOD_LOSSLESS, "flood_lossless", "packet of a lossless group that would have been flooded (flood_lossless: drop)") \
    X(NO_HEADROOM, "lossless_drop", "lossless priority group out of headroom") \
    X(INGRESS_FULL, "ingress_full", "priority group over its limit") \
    X(EGRESS_FULL, "egress_full", "egress queue over its limit") \
    X(WRED, "wred", "dropped early by WRED: not ECN-capable, or the queue does not mark") \
    X(BUFFER_FULL, "buffer_full", "no cell left in the switch's buffer") \
    X(PEER_IGNORED_PAUSE, "peer_ignored_pause", "out of headroom since the attached peer went on sending") \
    X(EDGE_STALLED, "edge_stalled", "the attached peer took no frame for longer than the edge holds") \
    X(EDGE_TOO_LONG, "edge_too_long", "longer than the attached interface takes") \
    X(EDGE_INT, "edge_telemetry", "carries weft's own telemetry, which never leaves by an attachment") \
    X(NOT_FOR_US, "not_for_us", "a host got a frame for another address") \
    X(ICRC, "icrc", "a host got a RoCE packet with a wrong ICRC") \
    X(NO_QP, "no_qp", "a host got a RoCE packet for a queue pair that it does not have") \
    X(BAD_PKEY, "bad_pkey", "a host got a RoCE packet of another partition than its queue pair's") \
    X(BAD_QKEY, "bad_qkey", "a host got a datagram with another Q_Key than its queue pair's") \
    X(NO_RECEIVE, "no_receive", "a queue pair of an unreliable service had no receive posted that holds the message") \
    X(BAD_OPCODE, "bad_opcode", "a host got a RoCE opcode that its queue pair does not take") \
    X(NOT_HANDLED, "not_handled", "a model host has no use for this protocol") \
    X(PFCWD_FLUSH, "pfcwd_flush", "waited in a queue that the PFC watchdog flushed as a storm began") \
    X(PFCWD_EGRESS, "pfcwd_egress", "for a queue that the PFC watchdog drops during a storm") \
    X(PFCWD_INGRESS, "pfcwd_ingress", "came in at a port in a priority that the PFC watchdog drops during a storm") \
    X(POOL_FULL, "ingress_pool", "the ingress pool has no room left to share") \
    X(EGRESS_POOL, "egress_pool", "the egress pool has no room left to share") \
    X(HEADROOM_POOL, "headroom_pool", "lossless, but the headroom that the pool's groups share is used up") \
    X(VLAN_TAG, "vlan_tag_not_allowed", "tagged frame at an access port") \
    X(VLAN_IN, "ingress_vlan_filter", "of a VLAN that the port it came by does not carry") \
    X(VLAN_OUT, "egress_vlan_filter", "of a VLAN that the port towards its destination does not carry")
/* clang-format on */

enum wf_reason {
    WF_DROP_NONE,
/* clang-format off */
#define X(id, name, meaning) WF_DROP_##id,
    WF_REASONS(X)
#undef X
    /* clang-format on */
    WF_DROP_COUNT
};

/* "mtu"; "none" for WF_DROP_NONE. */
const char *wf_reason_name(enum wf_reason r);
const char *wf_reason_meaning(enum wf_reason r);
/* What stands for it in digests: of its name, so that rows may come and move. */
uint64_t wf_reason_code(enum wf_reason r);

#endif
