/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/lb_config.h"

#include "base/units.h"

#define ROW(field) offsetof(struct wf_lb_cfg, field)

static const char *const mode_names[] = {"ecmp", "flowlet", "spray", "adaptive", NULL};
static const char *const spray_names[] = {"random", "round_robin", NULL};
static const char *const choice_names[] = {"random", "least_loaded", NULL};
static const char *const resilient_names[] = {"off", "return", "stay", NULL};
static const char *const field_names[] = {
    "src_ip",           "dst_ip",  "ip_protocol", "l4_src_port", "l4_dst_port",
    "rdma_bth_dest_qp", "in_port", "vlan_id",     NULL,
};

static const struct wf_key rows[] = {
    {"mode", WF_KEY_ENUM, ROW(mode), "ecmp", .names = mode_names,
     .doc = "ecmp: by the flow's hash. flowlet: a flow may change its port after a gap. spray: "
            "each packet for itself. adaptive: each packet to the port with the least bytes."},
    {"fields", WF_KEY_MASK, ROW(fields), "[src_ip, dst_ip, ip_protocol, l4_src_port, l4_dst_port]",
     .names = field_names,
     .doc = "What the hash is over. Frames without IP are hashed by their MAC addresses.",
     .source = "SAI: SAI_SWITCH_ATTR_ECMP_HASH and its native fields"},
    {"salt", WF_KEY_UINT64, ROW(salt), "auto", .may_auto = true,
     .doc = "What the hash is mixed with; auto: another number in each switch. Switches of "
            "several tiers with the same salt polarise.",
     .source = "SAI: SAI_SWITCH_ATTR_ECMP_DEFAULT_HASH_SEED"},
    {"spray", WF_KEY_ENUM, ROW(spray), "random", .names = spray_names,
     .doc = "spray: how the port of a packet is found; round_robin counts for each destination."},
    {"gap", WF_KEY_TIME, ROW(gap_ps), "50us", 1, WF_PS_PER_S,
     .doc = "flowlet: a packet that comes so long after the one before begins a new flowlet.",
     .source = "assumed"},
    {"flowlets", WF_KEY_UINT, ROW(flowlets), "0", 0, 1 << 20,
     .doc = "flowlet: entries of the table, rounded up to a power of two; flows that share one "
            "share its port. 0: four for each flow of the scenario, 256 to 65,536.",
     .source = "assumed"},
    {"choice", WF_KEY_ENUM, ROW(choice), "random", .names = choice_names,
     .doc = "flowlet: the port of a new flowlet, at random or as adaptive does."},
    {"quantum", WF_KEY_BYTES, ROW(quantum), "8kB", 1, 1ull << 40,
     .doc = "Least loaded: bytes that wait at a port count in steps of this; ports of the same "
            "step are equal, one of them is drawn.",
     .source = "assumed"},
    {"levels", WF_KEY_UINT, ROW(levels), "8", 2, WF_LB_LEVELS_MAX,
     .doc = "Least loaded: number of steps; what is fuller counts as the last.",
     .source = "assumed"},
    {"resilient", WF_KEY_ENUM, ROW(resilient), "off", .names = resilient_names,
     .doc = "ecmp when a next hop is lost: off: all flows are hashed anew. return: only its flows "
            "move, and come back with it. stay: they stay where they went."},
    {"buckets", WF_KEY_UINT, ROW(buckets), "64", 2, 4096,
     .doc = "resilient: hash buckets of each destination, each of which has one next hop.",
     .source = "assumed"},
};

const struct wf_keyset wf_lb_keys = {
    .name = "lb",
    .doc = "Load balancing over equal paths.",
    .keys = rows,
    .n_keys = sizeof(rows) / sizeof(rows[0]),
    .size = sizeof(struct wf_lb_cfg),
};
