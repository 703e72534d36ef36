/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The description that a fabric is built from: plain structs, filled by a scenario file, a test or
 * a driver. Everything is named; indexes run over the arrays here. Whoever fills it owns it and
 * keeps it alive as long as the fabric.
 */
#ifndef WEFT_FABRIC_DESC_H
#define WEFT_FABRIC_DESC_H

#include "base/arena.h"
#include "eth/storm.h"
#include "host/config.h"
#include "net/fault.h"
#include "net/link.h"
#include "switch/config.h"
#include "topo/graph.h"

struct wf_desc_switch {
    const char *name;
    struct wf_switch_cfg cfg;
};

struct wf_desc_host {
    const char *name;
    struct wf_host_cfg cfg; /* addresses left absent are given by the fabric, see wf_desc_address */
};

/* End of a link: a switch (index into switches) or a host. Ports count up in order of the links. */
struct wf_desc_end {
    bool is_host;
    uint32_t index;
};

struct wf_desc_link {
    struct wf_desc_end a, b;
    struct wf_link_cfg cfg;
    /* of a's and b's end, a switch's port that differs from the others; NULL: the switch's */
    const struct wf_switch_port_cfg *port_cfg[2];
};

enum wf_desc_op { WF_FLOW_WRITE };

/* One flow: a queue pair between two model hosts and the messages posted on it. */
struct wf_desc_flow {
    const char *name;
    uint32_t from, to; /* hosts */
    struct wf_flow_cfg cfg;
};

enum wf_desc_action {
    WF_DO_LINK_DOWN,
    WF_DO_LINK_UP,
    WF_DO_LINK_RATE, /* both directions from now on */
    WF_DO_INJECT,    /* add `fault` at the egress of the port */
    WF_DO_STORM,     /* PFC or pause frames out of the port */
};

struct wf_desc_step {
    uint64_t at_ps;
    enum wf_desc_action action;
    uint32_t link;     /* LINK_*: index */
    uint64_t rate_bps; /* LINK_RATE */
    const char *where; /* INJECT, STORM: port name, "leaf0:p3" */
    struct wf_fault fault;
    struct wf_storm_cfg storm;
};

/* A fault that is there from the beginning, at the egress of a port. */
struct wf_desc_fault {
    const char *port;
    struct wf_fault fault;
};

struct wf_desc {
    const char *name;
    uint64_t seed;
    uint64_t duration_ps;   /* WF_KEY_AUTO: until nothing is left to do */
    uint64_t time_limit_ps; /* a run without duration that is not done by then has failed */
    uint32_t time_scale;
    uint64_t lateness_bound_ps; /* live: p99 lateness beyond it makes timing unreliable */
    bool clock_slip;
    bool best_effort;      /* lossless: best_effort: what can't be lossless is a warning */
    struct wf_shape shape; /* of the switches, when a generator made them */
    struct wf_desc_switch *switches;
    uint32_t n_switches;
    struct wf_desc_host *hosts;
    uint32_t n_hosts;
    struct wf_desc_link *links;
    uint32_t n_links;
    struct wf_desc_flow *flows;
    uint32_t n_flows;
    struct wf_desc_step *steps; /* in order of time */
    uint32_t n_steps;
    struct wf_desc_fault *faults;
    uint32_t n_faults;
};

/* Leaf-spine: leaves "leaf0".., spines "spine0".., hosts "h0".. filled leaf by leaf. Each leaf's
 * ports: its hosts first, then one to each spine. Links between switches follow the hosts' links.
 * Arrays come from the arena; configurations are defaults. */
void wf_desc_leaf_spine(struct wf_desc *d, struct wf_arena *arena, uint32_t leaves, uint32_t spines,
                        uint32_t hosts_per_leaf);

/* Fat tree of k-port switches (Al-Fares et al., SIGCOMM 2008): each pod has k/2 edge and k/2
 * aggregation switches, (k/2)^2 core switches join the pods. Switches count pod by pod: "edge0"..,
 * then "agg0".., then "core0".., so pod p has edges and aggregation switches p k/2 to p k/2 + k/2 -
 * 1; hosts "h0".. are filled edge by edge. The j-th aggregation switch of each pod is linked to the
 * cores j k/2 to j k/2 + k/2 - 1. Ports: an edge's hosts first, then up in order of aggregation
 * switches; an aggregation switch's edges first, then up in order of cores; a core's are the pods.
 */
struct wf_fat_tree {
    uint32_t k;              /* even */
    uint32_t pods;           /* 1 to k */
    uint32_t hosts_per_edge; /* k/2: not oversubscribed */
};
void wf_desc_fat_tree(struct wf_desc *d, struct wf_arena *arena, const struct wf_fat_tree *t);
/* Ring of at least three switches "sw0".., each linked to the next one, the last to the first;
 * hosts "h0".. are filled switch by switch. Ports: hosts first, then in order of the links
 * sw0-sw1, sw1-sw2 and so on. */
void wf_desc_ring(struct wf_desc *d, struct wf_arena *arena, uint32_t switches,
                  uint32_t hosts_per_switch, enum wf_turn turn);
/* Counts of what it will have, for whoever must bound it. */
void wf_fat_tree_counts(const struct wf_fat_tree *t, uint64_t *hosts, uint64_t *switches,
                        uint64_t *links);

/*
 * Give each host without address one. Each switch with hosts is an IPv4 and an IPv6 subnet, in l2
 * fabrics all hosts share the first. With <leaf> the number of the switch and <n> that of the host
 * on it, from 1:
 *   switches up to 256, hosts up to 65,533 a subnet: 10.<leaf>.0.<n>/16, gateway 10.<leaf>.255.254
 *   more switches, hosts up to 253: 10.<leaf / 256>.<leaf % 256>.<n>/24, gateway .254 of it
 *   else the shortest prefix with room for the switches, gateway the last but one address; hosts
 *   for which 10.0.0.0/8 has no room in this way get IPv6 addresses only
 * and fd00:<leaf>::<n>/64 with gateway fd00:<leaf>::ff:fffe. MACs are 02:00:<host + 1>.
 */
void wf_desc_address(struct wf_desc *d, struct wf_arena *arena);
/* What a link's end at a switch is configured as. */
static inline const struct wf_switch_port_cfg *wf_desc_port_cfg(const struct wf_desc *d,
                                                                uint32_t link, int end)
{
    const struct wf_desc_link *l = &d->links[link];

    return l->port_cfg[end] ? l->port_cfg[end]
                            : &d->switches[end ? l->b.index : l->a.index].cfg.port;
}
/* Index by name, or -1. */
int wf_desc_find_host(const struct wf_desc *d, const char *name);
int wf_desc_find_switch(const struct wf_desc *d, const char *name);
/* Name of a link's end as its port: "leaf0:p3" (counting links in order); buf returned. */
const char *wf_desc_port_name(const struct wf_desc *d, uint32_t link, int end, char *buf,
                              size_t len);

#endif
