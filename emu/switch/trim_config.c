/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/trim_config.h"

#define ROW(field) offsetof(struct wf_trim_cfg, field)

static const char *const dscp_names[] = {"value", "from_tc", NULL};
static const char *const queue_names[] = {"static", "dynamic", NULL};
static const char *const length_names[] = {"updated", "kept", NULL};

static const struct wf_key rows[] = {
    {"size", WF_KEY_BYTES, ROW(size_bytes), "128B", 64, 9216,
     .doc = "Bytes of a trimmed frame, without FCS; a shorter one keeps its length.",
     .source = "SAI: SAI_SWITCH_ATTR_PACKET_TRIM_SIZE"},
    {"dscp_mode", WF_KEY_ENUM, ROW(dscp_mode), "value", .names = dscp_names,
     .doc = "value: all trimmed packets get `dscp`. from_tc: that which the egress port's "
            "tc_to_dscp says for `tc`, so that it tells where a packet was trimmed."},
    {"dscp", WF_KEY_UINT, ROW(dscp), "0", 0, 63, .doc = "DSCP of trimmed packets.",
     .source = "SAI: SAI_SWITCH_ATTR_PACKET_TRIM_DSCP_VALUE"},
    {"tc", WF_KEY_UINT, ROW(tc), "0", 0, 7, .doc = "from_tc: traffic class of trimmed packets.",
     .source = "SAI: SAI_SWITCH_ATTR_PACKET_TRIM_TC_VALUE"},
    {"queue_mode", WF_KEY_ENUM, ROW(queue_mode), "static", .names = queue_names,
     .doc = "static: trimmed packets wait in `queue`. dynamic: where the maps put their DSCP."},
    {"queue", WF_KEY_UINT, ROW(queue), "0", 0, 7, .doc = "static: the queue.",
     .source = "SAI: SAI_SWITCH_ATTR_PACKET_TRIM_QUEUE_INDEX"},
    {"ip_length", WF_KEY_ENUM, ROW(ip_length), "updated", .names = length_names,
     .doc = "Whether IP's length says what is left (and IPv4's checksum follows), as SAI's text "
            "demands, or what was, as SONiC's test plan says of a real switch. UDP's length "
            "stays in either case."},
};

const struct wf_keyset wf_trim_keys = {
    .name = "trim",
    .doc = "Trimming instead of dropping, at queues with packet_discard_action: trim.",
    .keys = rows,
    .n_keys = sizeof(rows) / sizeof(rows[0]),
    .size = sizeof(struct wf_trim_cfg),
};
