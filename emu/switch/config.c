/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/config.h"

#include "eth/headroom.h"
#include "net/link.h"

#define PG(field)    offsetof(struct wf_pg_cfg, field)
#define QUEUE(field) offsetof(struct wf_queue_cfg, field)
#define PORT(field)  offsetof(struct wf_switch_port_cfg, field)
#define POOL(field)  offsetof(struct wf_pool_cfg, field)
#define ROW(field)   offsetof(struct wf_switch_cfg, field)
#define CELL_MAX     4096
#define BYTES_MAX    (1ull << 40) /* so that sums and ECN's products stay exact */
#define COUNT(a)     (sizeof(a) / sizeof((a)[0]))

static const char *const pool_mode_names[] = {"static", "dynamic", NULL};

static const struct wf_key ingress_pool_rows[] = {
    {"size", WF_KEY_BYTES, POOL(size_bytes), "auto", 0, BYTES_MAX, .may_auto = true,
     .doc = "What is reserved in it, and what its groups share; auto: what the headroom and the "
            "other pools leave of the buffer, in equal parts."},
    {"mode", WF_KEY_ENUM, POOL(mode), "static", .names = pool_mode_names,
     .doc = "What bounds a group's share: xoff or limit (static), or alpha times what is free "
            "(dynamic)."},
    {"headroom_pool", WF_KEY_BYTES, POOL(headroom_bytes), "0", 0, BYTES_MAX,
     .doc = "Headroom that all groups of the pool share, beside its size (SONiC: xoff of the "
            "pool); 0: each group has its headroom to itself."},
};

static const struct wf_keyset ingress_pool_keys = {
    .name = "ingress_pool",
    .doc = "A pool of the buffer that ingress groups share.",
    .keys = ingress_pool_rows,
    .n_keys = COUNT(ingress_pool_rows),
    .size = sizeof(struct wf_pool_cfg),
};

static const struct wf_key egress_pool_rows[] = {
    {"size", WF_KEY_BYTES, POOL(size_bytes), "auto", 0, BYTES_MAX, .may_auto = true,
     .doc = "What is reserved in it, and what its queues share; auto: the whole buffer, which "
            "ingress accounts too."},
    {"mode", WF_KEY_ENUM, POOL(mode), "static", .names = pool_mode_names,
     .doc = "What bounds a queue's share: limit (static), or alpha times what is free (dynamic)."},
};

static const struct wf_keyset egress_pool_keys = {
    .name = "egress_pool",
    .doc = "A pool of the buffer that egress queues share.",
    .keys = egress_pool_rows,
    .n_keys = COUNT(egress_pool_rows),
    .size = sizeof(struct wf_pool_cfg),
};

static const struct wf_key pg_rows[] = {
    {"lossless", WF_KEY_BOOL, PG(lossless), "false", .doc = "Pause the peer instead of dropping."},
    {"pool", WF_KEY_UINT, PG(pool), "0", 0, WF_POOLS - 1, .doc = "Ingress pool that it uses."},
    {"reserved", WF_KEY_BYTES, PG(reserved_bytes), "0", 0, BYTES_MAX,
     .doc = "Bytes of the pool that the group has to itself at each port (SONiC: size)."},
    {"alpha", WF_KEY_FRACTION, PG(alpha), "1",
     .doc = "In a dynamic pool: the group's share is at most this times what is free of the pool "
            "(SONiC: dynamic_th, its logarithm). A power of two."},
    {"xoff", WF_KEY_BYTES, PG(xoff_bytes), "200kB", 0, BYTES_MAX,
     .doc = "Lossless, in a static pool: XOFF is sent when the group's share at a port would be "
            "more than this.",
     .source = "assumed"},
    {"xon", WF_KEY_BYTES, PG(xon_bytes), "auto", 0, BYTES_MAX, .may_auto = true,
     .doc = "Lossless: XON is sent when the group holds no more than this, or when xon_offset says "
            "so; auto: by xon_offset alone."},
    {"xon_offset", WF_KEY_BYTES, PG(xon_offset_bytes), "auto", 0, BYTES_MAX, .may_auto = true,
     .doc = "Lossless: XON is sent when the group holds no more than the point of XOFF less this; "
            "auto: two frames, and when xon is given only that counts."},
    {"headroom", WF_KEY_BYTES, PG(headroom_bytes), "auto", 0, BYTES_MAX, .may_auto = true,
     .doc = "Lossless: bytes beyond XOFF for what is still on its way (SONiC: xoff).",
     .source = "auto: the bound of 802.1Q annex N for this link"},
    {"limit", WF_KEY_BYTES, PG(limit_bytes), "4MB", 0, BYTES_MAX,
     .doc = "Lossy, in a static pool: most that the group's share holds at a port.",
     .source = "assumed"},
};

static const struct wf_keyset pg_keys = {
    .name = "pg",
    .doc = "An ingress priority group.",
    .keys = pg_rows,
    .n_keys = COUNT(pg_rows),
    .size = sizeof(struct wf_pg_cfg),
};

static const char *const sched_names[] = {"dwrr", "strict", "wrr", NULL};
static const char *const mark_names[] = {"dequeue", "enqueue", NULL};

static const char *const discard_names[] = {"drop", "trim", NULL};

static const struct wf_key queue_rows[] = {
    {"sched", WF_KEY_ENUM, QUEUE(sched), "dwrr", .names = sched_names,
     .doc = "Strict queues go before all others, the highest first; dwrr shares by bytes, wrr by "
            "frames."},
    {"weight", WF_KEY_UINT, QUEUE(weight), "10", 1, 1000,
     .doc = "Share among the queues of its group; wrr: frames a turn."},
    {"group", WF_KEY_UINT, QUEUE(group), "0", 0, WF_ETS_GROUPS - 1,
     .doc = "Group of queues that shares a part of the link (802.1Qaz: bandwidth group)."},
    {"min_rate", WF_KEY_RATE, QUEUE(min.rate_bps), "0", 0, WF_LINK_RATE_MAX_BPS,
     .doc = "Below this rate the queue goes before all others, in bits on the wire (SONiC: cir); "
            "0: none."},
    {"min_burst", WF_KEY_BYTES, QUEUE(min.burst_bytes), "0", 0, BYTES_MAX,
     .doc = "What may go beyond min_rate at once (SONiC: cbs)."},
    {"max_rate", WF_KEY_RATE, QUEUE(max.rate_bps), "0", 0, WF_LINK_RATE_MAX_BPS,
     .doc = "Most that the queue sends, in bits on the wire (SONiC: pir); 0: no limit."},
    {"max_burst", WF_KEY_BYTES, QUEUE(max.burst_bytes), "0", 0, BYTES_MAX,
     .doc = "What may go beyond max_rate at once (SONiC: pbs). 0 spaces frames "
            "evenly, and what a frame waits for other queues is not made up: with a frame's "
            "length or more the queue comes to max_rate beside others too."},
    {"ecn", WF_KEY_BOOL, QUEUE(ecn.enable), "false", .doc = "Mark CE between kmin and kmax."},
    {"kmin", WF_KEY_BYTES, QUEUE(ecn.kmin_bytes), "150kB", 0, BYTES_MAX,
     .doc = "No packet is marked while the queue is shorter.", .source = "Cumulus RoCE default"},
    {"kmax", WF_KEY_BYTES, QUEUE(ecn.kmax_bytes), "1500kB", 0, BYTES_MAX,
     .doc = "Every packet is marked from this length on.", .source = "Cumulus RoCE default"},
    {"pmax", WF_KEY_PERCENT, QUEUE(ecn.pmax_ppm), "100%",
     .doc = "Probability of a mark just below kmax.", .source = "assumed"},
    {"mark_at", WF_KEY_ENUM, QUEUE(mark_at), "dequeue", .names = mark_names,
     .doc = "Which length counts: the bytes left behind a packet that leaves, or those ahead of "
            "one that comes; never its own."},
    {"ecn_average", WF_KEY_UINT, QUEUE(ecn.average), "0", 0, WF_ECN_AVERAGE_MAX,
     .doc = "Exponent n of the average, avg += (length - avg) / 2^n for each packet (SAI: "
            "WRED_ATTR_WEIGHT); 0: the length as it is."},
    {"wred_drop", WF_KEY_BOOL, QUEUE(ecn.drop), "false",
     .doc = "Drop lossy IP packets that are not marked, as they come, with the same probability: "
            "those that are not ECN-capable, or all when ecn is off."},
    {"pool", WF_KEY_UINT, QUEUE(pool), "0", 0, WF_POOLS - 1, .doc = "Egress pool that it uses."},
    {"reserved", WF_KEY_BYTES, QUEUE(reserved_bytes), "0", 0, BYTES_MAX,
     .doc = "Bytes of the pool that the queue has to itself (SONiC: size)."},
    {"alpha", WF_KEY_FRACTION, QUEUE(alpha), "1",
     .doc = "In a dynamic pool: the queue's share is at most this times what is free of the pool "
            "(SONiC: dynamic_th, its logarithm). A power of two. Lossless packets count and are "
            "never refused."},
    {"limit", WF_KEY_BYTES, QUEUE(limit_bytes), "4MB", 0, BYTES_MAX,
     .doc = "In a static pool: lossy packets that would make the queue's share larger are dropped. "
            "Lossless packets count and are never refused.",
     .source = "assumed"},
    {"packet_discard_action", WF_KEY_ENUM, QUEUE(discard), "drop", .names = discard_names,
     .doc = "trim: lossy packets that are refused for want of buffer are trimmed (SONiC: of the "
            "buffer profile)."},
};

static const struct wf_keyset queue_keys = {
    .name = "queue",
    .doc = "An egress queue.",
    .keys = queue_rows,
    .n_keys = COUNT(queue_rows),
    .size = sizeof(struct wf_queue_cfg),
};

static const struct wf_key group_rows[] = {
    {"weight", WF_KEY_UINT, offsetof(struct wf_sched_group_cfg, weight), "10", 1, 1000,
     .doc = "Share of the link among the groups, by bytes."},
};

static const struct wf_keyset group_keys = {
    .name = "group",
    .doc = "A group of egress queues.",
    .keys = group_rows,
    .n_keys = COUNT(group_rows),
    .size = sizeof(struct wf_sched_group_cfg),
};

static const char *const trust_names[] = {"dscp", "pcp", NULL};

static const char *const rewrite_names[] = {"none", "dscp", "pcp", "both", NULL};

static const struct wf_key port_rows[] = {
    {"trust", WF_KEY_ENUM, PORT(trust), "dscp", .names = trust_names,
     .doc = "What decides a packet's traffic class."},
    {"dscp_to_tc", WF_KEY_MAP, PORT(dscp_to_tc), "d: d / 8", .max = 7, .count = 64,
     .doc = "DSCP to traffic class."},
    {"pcp_to_tc", WF_KEY_MAP, PORT(pcp_to_tc), "p: p", .max = 7, .count = 8,
     .doc = "802.1p priority to traffic class; untagged frames count as 0."},
    {"tc_to_pg", WF_KEY_MAP, PORT(tc_to_pg), "t: t", .max = 7, .count = 8,
     .doc = "Traffic class to ingress priority group (SONiC: TC_TO_PRIORITY_GROUP_MAP)."},
    {"tc_to_queue", WF_KEY_MAP, PORT(tc_to_queue), "t: t", .max = 7, .count = 8,
     .doc = "Traffic class to egress queue (SONiC: TC_TO_QUEUE_MAP)."},
    {"pg_to_pfc_priority", WF_KEY_MAP, PORT(pg_to_pfc_priority), "g: g", .max = 7, .count = 8,
     .doc = "Whom a full group pauses (SONiC: PFC_PRIORITY_TO_PRIORITY_GROUP_MAP, inverted)."},
    {"pfc_priority_to_queue", WF_KEY_MAP, PORT(pfc_priority_to_queue), "p: p", .max = 7, .count = 8,
     .doc = "What a received pause stops (SONiC: MAP_PFC_PRIORITY_TO_QUEUE)."},
    {"rewrite", WF_KEY_ENUM, PORT(rewrite), "none", .names = rewrite_names,
     .doc = "What is written by traffic class into packets that leave: DSCP of IP, PCP of tags."},
    {"tc_to_dscp", WF_KEY_MAP, PORT(tc_to_dscp), "t: 8 * t", .max = 63, .count = 8,
     .doc = "Traffic class to the DSCP written (SAI: TC_AND_COLOR_TO_DSCP)."},
    {"tc_to_pcp", WF_KEY_MAP, PORT(tc_to_pcp), "t: t", .max = 7, .count = 8,
     .doc = "Traffic class to the PCP written (SAI: TC_AND_COLOR_TO_DOT1P)."},
    {"max_rate", WF_KEY_RATE, PORT(max.rate_bps), "0", 0, WF_LINK_RATE_MAX_BPS,
     .doc = "Most that the port sends, in bits on the wire; 0: the link's rate. Pauses pass."},
    {"max_burst", WF_KEY_BYTES, PORT(max.burst_bytes), "0", 0, BYTES_MAX,
     .doc = "What may go beyond max_rate at once; 0 spaces frames evenly."},
    {"flow_control", WF_KEY_ENUM, PORT(pfc.flow_control), "pfc", .names = wf_flow_control_names,
     .doc = "What a full lossless group sends and what the port obeys: PFC, 802.3x pause frames, "
            "which stop all priorities, or nothing."},
};

static const struct wf_key_sub port_subs[] = {
    {"pfc", &wf_pfc_keys, PORT(pfc), 0, "Priority flow control."},
    {"watchdog", &wf_watchdog_keys, PORT(watchdog), 0,
     "What ends a peer's endless pauses of lossless priorities (SONiC: PFC_WD)."},
    {"vlan", &wf_vlan_keys, PORT(vlan), 0, "Virtual LANs (802.1Q)."},
    {"pg", &pg_keys, PORT(pg), WF_PGS, "Ingress priority groups 0 to 7."},
    {"queue", &queue_keys, PORT(queue), WF_QUEUES, "Egress queues 0 to 7."},
    {"group", &group_keys, PORT(group), WF_ETS_GROUPS, "Groups of egress queues 0 to 7."},
    {"lldp", &wf_lldp_keys, PORT(lldp), 0, "Link layer discovery."},
    {"dcbx", &wf_dcbx_keys, PORT(dcbx), 0, "Data centre bridging exchange."},
};

const struct wf_keyset wf_switch_port_keys = {
    .name = "port",
    .doc = "A port of a switch.",
    .keys = port_rows,
    .n_keys = COUNT(port_rows),
    .subs = port_subs,
    .n_subs = COUNT(port_subs),
    .size = sizeof(struct wf_switch_port_cfg),
};

static const char *const forwarding_names[] = {"routed", "l2", NULL};
static const char *const mode_names[] = {"store_and_forward", "cut_through", NULL};

static const char *const flood_names[] = {"forward", "drop", NULL};

static const struct wf_key rows[] = {
    {"forwarding", WF_KEY_ENUM, ROW(forwarding), "routed", .names = forwarding_names,
     .doc = "routed: each leaf is a subnet with a gateway, ECMP between leaves. l2: one broadcast "
            "domain."},
    {"mode", WF_KEY_ENUM, ROW(mode), "store_and_forward", .names = mode_names,
     .doc = "When a frame may leave: after its last bit, or after its headers."},
    {"latency", WF_KEY_TIME, ROW(latency_ps), "500ns", 0, WF_PS_PER_S,
     .doc = "From the last bit in (cut-through: the headers) to the first bit out.",
     .source = "assumed"},
    {"buffer", WF_KEY_BYTES, ROW(buffer_bytes), "32MB", 0, BYTES_MAX,
     .doc = "Packet buffer of the whole switch.", .source = "assumed"},
    {"cell", WF_KEY_BYTES, ROW(cell_bytes), "1B", 1, CELL_MAX,
     .doc = "Unit of the accounting: a frame takes whole cells, such as 208B, 254B or 256B."},
    {"mac_age", WF_KEY_TIME, ROW(mac_age_ps), "auto", 1, 0, .may_auto = true,
     .doc = "A MAC address that was silent for longer, or whose port went down, is forgotten: what "
            "is for it floods, from a routed leaf by all its ports. l2: all addresses are learned, "
            "along the flooding tree. auto: never; the paths to the scenario's hosts are known."},
    {"flood_lossless", WF_KEY_ENUM, ROW(flood_lossless), "forward", .names = flood_names,
     .doc = "What becomes of a packet of a lossless group that would be flooded; dropping it keeps "
            "floods from closing a circle of pauses."},
};

static const struct wf_key_sub subs[] = {
    {"ingress_pool", &ingress_pool_keys, ROW(ingress_pool), WF_POOLS,
     "Pools that ingress groups share."},
    {"egress_pool", &egress_pool_keys, ROW(egress_pool), WF_POOLS,
     "Pools that egress queues share."},
    {NULL, &wf_switch_port_keys, ROW(port), 0, NULL},
    {"trim", &wf_trim_keys, ROW(trim), 0, "Trimming of packets that queues refuse."},
    {"vxlan", &wf_tunnel_keys, ROW(vxlan), 0, "Tunnels between leaves."},
    {"lb", &wf_lb_keys, ROW(lb), 0, "Load balancing over equal paths."},
};

const struct wf_keyset wf_switch_keys = {
    .name = "switch",
    .doc = "A switch.",
    .keys = rows,
    .n_keys = COUNT(rows),
    .subs = subs,
    .n_subs = COUNT(subs),
    .size = sizeof(struct wf_switch_cfg),
};

void wf_switch_cfg_defaults(struct wf_switch_cfg *cfg)
{
    struct wf_switch_port_cfg *port = &cfg->port;

    *cfg = (struct wf_switch_cfg){0};
    wf_keyset_defaults(&wf_switch_keys, cfg);
    cfg->lb.fields = WF_LB_FIELDS_DEFAULT;
    for (unsigned i = 0; i < 64; i++)
        port->dscp_to_tc[i] = (uint8_t)(i / 8);
    for (unsigned i = 0; i < 8; i++) {
        port->pcp_to_tc[i] = port->tc_to_pg[i] = port->tc_to_queue[i] = (uint8_t)i;
        port->tc_to_dscp[i] = (uint8_t)(8 * i);
        port->tc_to_pcp[i] = (uint8_t)i;
        port->pg_to_pfc_priority[i] = port->pfc_priority_to_queue[i] = (uint8_t)i;
    }
}
