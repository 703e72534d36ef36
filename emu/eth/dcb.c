/* SPDX-License-Identifier: BSD-3-Clause */
#include "eth/dcb.h"

#include "base/units.h"

#define COUNT(a)    (sizeof(a) / sizeof((a)[0]))
#define LLDP(field) offsetof(struct wf_lldp_cfg, field)
#define DCBX(field) offsetof(struct wf_dcbx_cfg, field)
#define APP(field)  offsetof(struct wf_dcbx_app_cfg, field)

static const struct wf_key lldp_rows[] = {
    {"enable", WF_KEY_BOOL, LLDP(enable), "false",
     .doc = "Send LLDP out of the port and keep what its neighbour says; else LLDP frames are "
            "dropped (reserved_mac)."},
    {"interval", WF_KEY_TIME, LLDP(interval_ps), "30s", WF_PS_PER_S, 3600 * WF_PS_PER_S,
     .doc = "Between two frames.", .source = "802.1AB 9.2.5.7"},
    {"hold", WF_KEY_UINT, LLDP(hold), "4", 1, 100,
     .doc = "The time to live is so many intervals, and a second.", .source = "802.1AB 9.2.5.6"},
    {"fast_interval", WF_KEY_TIME, LLDP(fast_ps), "1s", WF_PS_PER_MS, 3600 * WF_PS_PER_S,
     .doc = "Between two frames after a neighbour appeared.", .source = "802.1AB 9.2.5.5"},
    {"fast_count", WF_KEY_UINT, LLDP(fast_count), "4", 1, 8, .doc = "How many of those.",
     .source = "802.1AB 9.2.5.19"},
};

const struct wf_keyset wf_lldp_keys = {
    .name = "lldp",
    .doc = "Link layer discovery at a port.",
    .keys = lldp_rows,
    .n_keys = COUNT(lldp_rows),
    .size = sizeof(struct wf_lldp_cfg),
};

static const char *const selector_names[] = {"none",     "ethertype", "tcp", "udp",
                                             "any_port", "dscp",      NULL};

static const struct wf_key app_rows[] = {
    {"selector", WF_KEY_ENUM, APP(selector), "none", .names = selector_names,
     .doc = "What the number in `protocol` is (802.1Q D.2.11: 1 to 5)."},
    {"protocol", WF_KEY_UINT, APP(protocol), "0", 0, 65535, .doc = "EtherType, port or DSCP."},
    {"priority", WF_KEY_UINT, APP(priority), "0", 0, 7, .doc = "Its priority."},
};

static const struct wf_keyset app_keys = {
    .name = "app",
    .doc = "An entry of the application priorities that a port sends.",
    .keys = app_rows,
    .n_keys = COUNT(app_rows),
    .size = sizeof(struct wf_dcbx_app_cfg),
};

static const char *const roce_names[] = {"auto", "none", "0", "1", "2", "3",
                                         "4",    "5",    "6", "7", NULL};

static const char *const version_names[] = {"ieee", "cee", "auto", NULL};

static const struct wf_key dcbx_rows[] = {
    {"enable", WF_KEY_BOOL, DCBX(enable), "false",
     .doc = "Send DCBX in the port's LLDP frames (`lldp` has to be on): ETS, PFC and applications "
            "as the port is configured."},
    {"version", WF_KEY_ENUM, DCBX(version), "ieee", .names = version_names,
     .doc = "What is spoken; auto: IEEE, but CEE while the peer speaks CEE only."},
    {"ets_willing", WF_KEY_BOOL, DCBX(ets_willing), "false",
     .doc = "Take over the ETS that the peer recommends (CEE: its priority groups): algorithms and "
            "weights of the queues, not which priority has which."},
    {"pfc_willing", WF_KEY_BOOL, DCBX(pfc_willing), "false",
     .doc =
         "Take over the peer's PFC: priorities that it does not have are neither paused nor "
         "obeyed. When both are willing the lower MAC address decides (CEE: each keeps its own)."},
    {"app_willing", WF_KEY_BOOL, DCBX(app_willing), "false",
     .doc =
         "Take over the peer's application priorities: shown; how frames are classified stays the "
         "port's `trust` and maps."},
    {"recommend", WF_KEY_BOOL, DCBX(recommend), "true",
     .doc = "Recommend the port's own ETS to the peer."},
    {"roce_priority", WF_KEY_ENUM, DCBX(roce), "auto", .names = roce_names,
     .doc = "Sent as the priority of UDP port 4791; auto: the lowest with PFC, if any."},
};

static const struct wf_key_sub dcbx_subs[] = {
    {"app", &app_keys, DCBX(app), WF_DCBX_APP_CFGS, "More application priorities, 0 to 7."},
};

const struct wf_keyset wf_dcbx_keys = {
    .name = "dcbx",
    .doc = "Data centre bridging exchange at a port.",
    .keys = dcbx_rows,
    .n_keys = COUNT(dcbx_rows),
    .subs = dcbx_subs,
    .n_subs = COUNT(dcbx_subs),
    .size = sizeof(struct wf_dcbx_cfg),
};
