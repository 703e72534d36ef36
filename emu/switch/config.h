/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a user can set at a switch, and the tables of its keys. Names are SONiC's and SAI's where
 * they have one. Here `xoff` is the threshold of a priority group's bytes at which XOFF is sent
 * (SONiC calls the headroom's size xoff; that one is `headroom` here).
 */
#ifndef WEFT_SWITCH_CONFIG_H
#define WEFT_SWITCH_CONFIG_H

#include "eth/dcb.h"
#include "eth/ecn.h"
#include "eth/ets.h"
#include "eth/pfc.h"
#include "switch/lb_config.h"
#include "switch/trim_config.h"
#include "switch/vlan.h"
#include "switch/tunnel_config.h"

enum wf_forwarding { WF_FORWARD_ROUTED, WF_FORWARD_L2 };
enum wf_trust { WF_TRUST_DSCP, WF_TRUST_PCP };
enum wf_rewrite { WF_REWRITE_NONE, WF_REWRITE_DSCP, WF_REWRITE_PCP, WF_REWRITE_BOTH };
enum wf_queue_sched { WF_SCHED_DWRR, WF_SCHED_STRICT, WF_SCHED_WRR };
enum wf_flood_lossless { WF_FLOOD_LOSSLESS_FORWARD, WF_FLOOD_LOSSLESS_DROP };
enum wf_mode { WF_MODE_STORE_AND_FORWARD, WF_MODE_CUT_THROUGH };
enum wf_discard { WF_DISCARD_DROP, WF_DISCARD_TRIM };
enum wf_mark_at { WF_MARK_DEQUEUE, WF_MARK_ENQUEUE };

enum wf_pool_mode { WF_POOL_STATIC, WF_POOL_DYNAMIC };
enum { WF_POOLS = 4 };

/* A pool of the buffer, of ingress or of egress accounting. */
struct wf_pool_cfg {
    uint64_t size_bytes; /* with what is reserved of it; WF_KEY_AUTO: what is left of the buffer */
    int mode;            /* enum wf_pool_mode: of the thresholds of those that use it */
    uint64_t headroom_bytes; /* ingress: shared by all groups' headroom; 0: each has its own */
};

struct wf_pg_cfg {
    bool lossless;
    uint32_t pool;
    uint64_t reserved_bytes;
    struct wf_fraction alpha;  /* dynamic: shared threshold as a share of what is free */
    uint64_t xoff_bytes;       /* static, lossless: shared threshold */
    uint64_t xon_bytes;        /* XON when it is back at this; WF_KEY_AUTO: by xon_offset alone */
    uint64_t xon_offset_bytes; /* below XOFF's point; WF_KEY_AUTO: two frames unless xon is given */
    uint64_t headroom_bytes;   /* above xoff; WF_KEY_AUTO: computed from the link */
    uint64_t limit_bytes;      /* static, lossy: shared threshold */
};

struct wf_queue_cfg {
    int sched;       /* enum wf_queue_sched */
    uint32_t weight; /* DWRR: of bytes; WRR: frames a turn */
    uint32_t group;
    struct wf_shaper_cfg min, max;
    struct wf_ecn_cfg ecn;
    int mark_at; /* enum wf_mark_at */
    uint32_t pool;
    uint64_t reserved_bytes;
    struct wf_fraction alpha; /* dynamic: shared threshold as a share of what is free */
    uint64_t limit_bytes;     /* static: shared threshold; lossy packets beyond are dropped */
    int discard;              /* enum wf_discard: or trimmed */
};

/* Queues that share a part of the link. */
struct wf_sched_group_cfg {
    uint32_t weight;
};

enum wf_wd_action { WF_WD_OFF, WF_WD_DROP, WF_WD_FORWARD, WF_WD_ALERT };

/* See watchdog.h. */
struct wf_watchdog_cfg {
    int action; /* enum wf_wd_action */
    uint64_t detect_ps, restore_ps, poll_ps;
};

extern const struct wf_keyset wf_watchdog_keys;

/* What each port has of its own. */
struct wf_switch_port_cfg {
    int trust; /* enum wf_trust */
    uint8_t dscp_to_tc[64];
    uint8_t pcp_to_tc[8];
    uint8_t tc_to_pg[8];
    uint8_t tc_to_queue[8];
    uint8_t pg_to_pfc_priority[8];    /* whom do I pause */
    uint8_t pfc_priority_to_queue[8]; /* what does a received pause stop */
    int rewrite;                      /* enum wf_rewrite: what is written into what leaves */
    uint8_t tc_to_dscp[8], tc_to_pcp[8];
    struct wf_vlan_cfg vlan;
    struct wf_pfc_cfg pfc;
    struct wf_watchdog_cfg watchdog;
    struct wf_pg_cfg pg[WF_PGS];
    struct wf_queue_cfg queue[WF_QUEUES];
    struct wf_sched_group_cfg group[WF_ETS_GROUPS];
    struct wf_shaper_cfg max;
    struct wf_lldp_cfg lldp;
    struct wf_dcbx_cfg dcbx;
};

struct wf_switch_cfg {
    int forwarding;      /* enum wf_forwarding */
    int mode;            /* enum wf_mode */
    uint64_t latency_ps; /* from the last bit in (cut-through: the header) to the first bit out */
    uint64_t buffer_bytes;
    uint64_t cell_bytes; /* frames are accounted in whole cells */
    struct wf_pool_cfg ingress_pool[WF_POOLS], egress_pool[WF_POOLS];
    uint64_t mac_age_ps; /* WF_KEY_AUTO: for ever */
    int flood_lossless;  /* enum wf_flood_lossless */
    struct wf_lb_cfg lb;
    struct wf_trim_cfg trim;
    struct wf_tunnel_cfg vxlan;
    struct wf_switch_port_cfg port; /* of all ports that have no other */
};

/* Keys of a switch, those of its ports among them; and those of a port alone. */
extern const struct wf_keyset wf_switch_keys;
extern const struct wf_keyset wf_switch_port_keys;

/* The defaults of the tables, and of the maps: DSCP d to class d / 8, all else one to one. */
void wf_switch_cfg_defaults(struct wf_switch_cfg *cfg);

/* The power of two that a share of the free buffer is: alpha = 2^shift. False: it is none. */
bool wf_alpha_shift(const struct wf_fraction *alpha, int8_t *shift);

/* What a frame of this many bytes takes of the buffer. */
static inline uint64_t wf_cells_bytes(uint64_t cell, uint64_t len)
{
    return cell == 1 ? len : (uint32_t)(len + cell - 1) / (uint32_t)cell * cell;
}

/* A group's thresholds at a port once "auto" is resolved. */
struct wf_pg_limits {
    uint64_t reserved;
    uint64_t limit; /* static shared threshold: of a lossless group its xoff */
    uint64_t headroom;
    uint64_t xon;        /* XON at this, or ... */
    uint64_t xon_offset; /* ... so much below the point of XOFF; UINT64_MAX: never by it */
};
/* Least headroom that can't lose anything: frames of any length, and frames as long as the link
 * takes (small ones waste more of their cells). */
struct wf_pg_bounds {
    uint64_t headroom, headroom_long;
};
struct wf_link_cfg;
void wf_pg_resolve(const struct wf_switch_cfg *sw, const struct wf_pg_cfg *pg,
                   const struct wf_link_cfg *link, uint64_t peer_response_ps,
                   struct wf_pg_limits *out);
void wf_pg_bounds(const struct wf_switch_cfg *sw, const struct wf_link_cfg *link,
                  uint64_t peer_response_ps, struct wf_pg_bounds *out);

/* What of the buffer the ports' groups and queues have to themselves. */
struct wf_carved {
    uint64_t reserved[WF_POOLS], headroom[WF_POOLS]; /* by ingress pool; headroom of their own */
    uint64_t queue_reserved[WF_POOLS];               /* by egress pool */
    uint32_t pausing[WF_POOLS];                      /* lossless groups, by ingress pool */
    bool used[WF_POOLS];                             /* ingress pools that some group uses */
};
void wf_carve_port(struct wf_carved *c, const struct wf_switch_cfg *sw,
                   const struct wf_switch_port_cfg *port, const struct wf_pg_limits lim[WF_PGS]);
/* Sizes of the pools with "auto" resolved, and what of it is shared; 0 when nothing is left. */
struct wf_pool_sizes {
    uint64_t size[WF_POOLS], shared[WF_POOLS];               /* ingress */
    uint64_t egress_size[WF_POOLS], egress_shared[WF_POOLS]; /* egress */
};
void wf_pool_sizes(const struct wf_switch_cfg *sw, const struct wf_carved *c,
                   struct wf_pool_sizes *out);
/* Whether something of the egress accounting differs from counting a queue's bytes. */
bool wf_egress_counts(const struct wf_switch_cfg *sw, const struct wf_switch_port_cfg *port);

#endif
