/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/tunnel_config.h"

#define ROW(field) offsetof(struct wf_tunnel_cfg, field)

static const char *const dscp_names[] = {"uniform", "pipe", NULL};
static const char *const ecn_names[] = {"standard", "copy_from_outer", NULL};

static const struct wf_key rows[] = {
    {"vni", WF_KEY_UINT, ROW(vni), "0", 0, 0xffffff,
     .doc = "Network identifier of all hosts of this leaf; 0: it is no tunnel end point. Leaves "
            "with the same one are one broadcast domain over the routed fabric."},
    {"ip", WF_KEY_IP, ROW(ip), "",
     .doc = "Outer address of this end point, IPv4. Default: 172.31.0.0 plus the number of the "
            "switch."},
    {"dscp_mode", WF_KEY_ENUM, ROW(dscp_mode), "uniform", .names = dscp_names,
     .doc = "uniform: DSCP is copied outwards and back. pipe: outside it is `dscp`, and the inner "
            "one stays as it was (SONiC: dscp_mode)."},
    {"dscp", WF_KEY_UINT, ROW(dscp), "0", 0, 63, .doc = "pipe: the outer DSCP."},
    {"ecn_mode", WF_KEY_ENUM, ROW(ecn_mode), "standard", .names = ecn_names,
     .doc = "At decapsulation. standard: RFC 6040. copy_from_outer: the outer field replaces that "
            "of an ECN-capable inner packet (SONiC: ecn_mode)."},
    {"ttl", WF_KEY_UINT, ROW(ttl), "64", 1, 255, .doc = "Outer TTL at the start."},
};

const struct wf_keyset wf_tunnel_keys = {
    .name = "vxlan",
    .doc = "A VXLAN tunnel end point.",
    .keys = rows,
    .n_keys = sizeof(rows) / sizeof(rows[0]),
    .size = sizeof(struct wf_tunnel_cfg),
};
