/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the scenario loader share. */
#ifndef WEFT_SCEN_PRIV_H
#define WEFT_SCEN_PRIV_H

#include "host/cc.h"
#include "scen/scenario.h"

enum {
    WF_SCEN_NODES_MAX = 131072,
    WF_SCEN_LINKS_MAX = 262144,
    WF_SCEN_FLOWS_MAX = 131072,
    WF_SCEN_PORTS_MAX = 16384,  /* of a switch */
    WF_SCEN_WAYS_MAX = 1 << 26, /* switches times those with hosts, where each pair has a route */
};

enum wf_work_kind {
    WF_WORK_FLOW,
    WF_WORK_INCAST,
    WF_WORK_PERMUTATION,
    WF_WORK_ALL_TO_ALL,
    WF_WORK_POISSON,
    WF_WORK_FILE
};
enum wf_work_format { WF_FILE_WEFT, WF_FILE_HPCC, WF_FILE_HTSIM };

struct wf_sizes;

struct wf_scen_work {
    const char *name;
    int kind; /* enum wf_work_kind */
    struct wf_flow_cfg cfg;
    uint64_t jitter_ps;
    const struct wf_cc_use *control; /* that it names */
    uint64_t warm_up_ps, cut_off_ps; /* cut_off: WF_KEY_AUTO: never */
    const char *sizes_name;          /* poisson */
    uint32_t load_ppm;
    uint64_t arrivals_ps;
    uint32_t fan_in, rounds; /* incast */
    uint64_t period_ps;
    const char *path; /* file */
    int format;       /* enum wf_work_format */
    int align;        /* whether the first flow's start counts as 0 */
    const struct wf_yaml_node *at;
    struct wf_desc_flow *entries; /* of the file, without names */
    uint32_t n_entries;
    uint32_t *from, n_from; /* hosts */
    uint32_t *to, n_to;
    const struct wf_sizes *sizes;
    bool good; /* it can be drawn */
    uint32_t first_flow, n_flows;
};
extern const struct wf_keyset wf_work_keys;

struct wf_scen_topology {
    int kind; /* enum wf_topology_kind */
    uint32_t leaves, spines, hosts_per_leaf;
    uint32_t k, pods, hosts_per_edge; /* fat_tree; 0: as k says */
    uint32_t size, hosts_per_switch;  /* ring */
    int routing;                      /* ring: enum wf_turn */
    const char *path;                 /* file */
    int format;                       /* file: 0 hpcc, 1 htsim */
};
enum wf_topology_kind {
    WF_TOPOLOGY_LEAF_SPINE,
    WF_TOPOLOGY_FAT_TREE,
    WF_TOPOLOGY_EXPLICIT,
    WF_TOPOLOGY_RING,
    WF_TOPOLOGY_FILE
};
extern const struct wf_keyset wf_topology_keys;

struct wf_scen_step {
    uint64_t at_ps;
    int action; /* enum wf_scen_do */
    const char *link, *where;
    uint64_t rate_bps;
    uint64_t every, limit;
    int match; /* enum wf_fault_class */
    uint32_t priorities, quanta;
    uint64_t period_ps, down_for_ps;
};
enum wf_scen_do {
    WF_SCEN_LINK_DOWN,
    WF_SCEN_LINK_UP,
    WF_SCEN_LINK_RATE,
    WF_SCEN_LINK_FLAP,
    WF_SCEN_DROP,
    WF_SCEN_CE,
    WF_SCEN_CORRUPT,
    WF_SCEN_PFC,
    WF_SCEN_PAUSE,
};
extern const struct wf_keyset wf_step_keys;

/* Each reads its section, which may be absent, and reports what is wrong with it. */
void wf_scen_topology(struct wf_scenario *s);
void wf_scen_profiles(struct wf_scenario *s);
/* The links, switches and hosts sections of a file or profile. */
void wf_scen_nodes(struct wf_scenario *s, const struct wf_yaml_node *root, bool profile);
/* The ports sections of the profiles and of the file, once all switches are known. */
void wf_scen_ports(struct wf_scenario *s);
/* Delays of links that only have a cable. */
void wf_scen_cables(struct wf_scenario *s);
/* A control that flows or hosts name. */
struct wf_scen_cc {
    struct wf_cc_use use;
    const struct wf_keyset *keys;
    void *cfg;
};
void wf_scen_ccs(struct wf_scenario *s);
/* Those of NICs at attachments. */
void wf_scen_nic_ccs(struct wf_scenario *s);
/* reference_cc.c */
void wf_scen_reference_sets(FILE *out, const struct wf_cc_law *law);
void wf_scen_reference_nics(FILE *out);
/* nics.c: what model hosts and flows have of their NICs' profiles. */
void wf_scen_nics(struct wf_scenario *s);
bool wf_scen_nics_told(const struct wf_scenario *s); /* some are other than generic */
void wf_scen_nics_text(const struct wf_scenario *s, FILE *out);
void wf_scen_nics_explain(const struct wf_scenario *s, const struct wf_scen_work *w, FILE *out);
const char *wf_scen_auto_time(uint64_t ps, char buf[32]); /* "auto" of WF_KEY_AUTO */
/* That of a name; NULL: none, or there is none such, and it is said at the field's origin. */
const struct wf_cc_use *wf_scen_cc(struct wf_scenario *s, const char *name, const void *field,
                                   const struct wf_yaml_node *at);
void wf_scen_workload(struct wf_scenario *s);
/* files.c: a file that the scenario names at a node; NULL: it is said why not. */
const struct wf_scen_text *wf_scen_file(struct wf_scenario *s, const struct wf_yaml_node *at,
                                        const char *name);
void wf_scen_draw(struct wf_scenario *s);        /* all flows, from desc.seed */
bool wf_scen_drawn(const struct wf_scenario *s); /* some of them depend on it */
/* work_hosts.c: the `from` and `to` of a workload; false: they don't go with its kind. */
bool wf_scen_work_hosts(struct wf_scenario *s, struct wf_scen_work *w, const char *kind);
/* Hosts that a node names or a list of them, each once, in the order of the list. */
int wf_scen_find_host(const struct wf_scenario *s, const char *name);
/* work_file.c: its flows, from its file; false: it is said what is wrong. */
bool wf_scen_work_file(struct wf_scenario *s, struct wf_scen_work *w);
struct wf_scen_topology;
/* topo_file.c: nodes and links of a topology's file; none after a mistake. */
void wf_scen_topo_file(struct wf_scenario *s, const struct wf_scen_topology *t,
                       const struct wf_yaml_node *at);
void wf_scen_timeline(struct wf_scenario *s);
void wf_scen_faults(struct wf_scenario *s);
void wf_scen_captures(struct wf_scenario *s);
void wf_scen_traces(struct wf_scenario *s);
void wf_scen_why(struct wf_scenario *s);
void wf_scen_check(struct wf_scenario *s);
void wf_scen_objs(struct wf_scenario *s);
void wf_scen_counting(struct wf_scenario *s);
void wf_scen_check_buffer(struct wf_scenario *s);
/* Thresholds of a group at a link's end, and when it is lossless what headroom it needs there. */
void wf_scen_pg(const struct wf_scenario *s, uint32_t link, int end, unsigned g,
                struct wf_pg_limits *lim, struct wf_pg_bounds *bounds);
/* leaf: for each host the end of its link at the switch, 2 x link + end */
static inline uint32_t wf_scen_leaf(const struct wf_scenario *s, uint32_t end)
{
    const struct wf_desc_link *l = &s->desc.links[end / 2];

    return end % 2 ? l->b.index : l->a.index;
}
/* What a full group of a port sends must be what its peer obeys. */
void wf_scen_check_obeyed(struct wf_scenario *s, const struct wf_switch_port_cfg *self,
                          const struct wf_pfc_cfg *peer, unsigned g, const char *port);
void wf_scen_check_pauses(struct wf_scenario *s);
/* What it stops between switches; check_hop.c. */
void wf_scen_check_hops(struct wf_scenario *s, const uint32_t *leaf);
/* Traffic class of an untagged frame with this DSCP. */
static inline unsigned wf_scen_class_of(const struct wf_switch_port_cfg *port, unsigned dscp)
{
    return port->trust == WF_TRUST_DSCP ? port->dscp_to_tc[dscp & 63] : port->pcp_to_tc[0];
}
void wf_scen_check_maps(struct wf_scenario *s);
void wf_scen_check_tunnels(struct wf_scenario *s);
void wf_scen_check_lb(struct wf_scenario *s, const uint32_t *leaf);
/* check_discovery.c */
void wf_scen_check_discovery(struct wf_scenario *s);
/* The priority that a full group of its leaf pauses must be the one in which the host sends that
 * traffic, or its ACKs. */
bool wf_scen_check_priority(struct wf_scenario *s, const struct wf_scen_work *w, uint32_t host,
                            const struct wf_switch_port_cfg *leaf);

/* --set: changes the tree, before it is read. */
int wf_scen_sets(struct wf_scenario *s, const char *const *sets, size_t n);
void wf_scen_hash(struct wf_scenario *s);

/* "leaf0:p3" of a link's end, "leaf0:p3-spine1:p0". */
static inline const char *wf_scen_port(const struct wf_scenario *s, uint32_t link, int end)
{
    return s->ports[2 * link + (uint32_t)end];
}
/* A node's name is a word of letters, digits and '_', which begins with no digit. */
bool wf_scen_name_ok(const char *name);
/* An error at the origin of a field, or at `at` when the field has its default. */
void wf_scen_complain(struct wf_scenario *s, bool warning, const void *field,
                      const struct wf_yaml_node *at, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

#endif
