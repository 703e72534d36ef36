/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A switch: the state that the stages of its pipeline share. Buffers are accounted per ingress
 * (port, priority group) from a packet's arrival until its transmission begins.
 */
#ifndef WEFT_SWITCH_SWITCH_H
#define WEFT_SWITCH_SWITCH_H

#include "net/port.h"
#include "switch/config.h"
#include "topo/addr.h"
#include "topo/graph.h"

enum { WF_BLAMES = 4, WF_FDB_SLOTS = 256 };

/* Which egress queue a priority group's bytes were waiting for when it sent XOFF. */
struct wf_blame {
    uint16_t port;
    uint8_t queue;
    uint32_t xoffs;        /* 0: unused */
    uint32_t while_paused; /* of those: the queue was itself stopped by a received pause */
    uint64_t paused_ps;    /* how long the peer was kept paused for it */
};

/* Why a group's peer is, and was, paused. */
struct wf_blames {
    struct wf_blame of[WF_BLAMES];
    uint64_t xoff_at_ps;
    uint8_t last; /* the pause that lasts now is this one's */
};

/* What a hop asks for and counts is in its second cache line. */
struct wf_pg {
    struct wf_pg_limits lim;
    struct wf_blames *blames; /* of a lossless group */
    uint64_t ctr[WF_PG_CTRS];
    uint64_t calm; /* admit.h: bytes up to which a frame is taken without another look, or 0 */
    bool lossless, xoff;
    uint8_t prio; /* whom to pause */
    uint8_t pool; /* ingress pool */
    bool dynamic; /* its share is bounded by what is free of the pool, times 2^shift */
    int8_t shift;
    bool shrinks;      /* it has more headroom than its link needs now, until it is empty */
    bool reserves : 1, /* lim.reserved is not 0 */
        plain : 1,     /* its frames are counted in bytes, at ingress alone, to one threshold */
        stirred : 1;   /* a release has to look: XOFF, headroom, shrinks, or it is not plain */
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct wf_pg, ctr) + 8 * WF_PG_BYTES == 64 && sizeof(struct wf_pg) == 128,
               "two lines, one of them for hops");

/* A pool of the buffer: what is shared of it, and the headroom that its groups share (0: each has
 * its own). */
struct wf_pool {
    uint64_t ctr[WF_POOL_CTRS];
    uint64_t shared, headroom; /* sizes */
} __attribute__((aligned(64)));

/* A link before its rate changed: when what was sent then is here, and the peer's response. */
struct wf_was {
    uint64_t landed_ps, response_ps;
};

/* A queue of a port in a switch whose egress accounts for itself. */
struct wf_egress {
    uint64_t ctr[WF_EGRESS_CTRS];
    uint64_t bytes, reserved, limit;
    uint8_t pool;
    bool dynamic;
    int8_t shift;
} __attribute__((aligned(64)));

/* What the maps make of a DSCP or PCP. */
struct wf_lane {
    uint8_t tc, pg, queue, prio;
};

/* A port's configuration, in the form in which the pipeline asks for it; ports with the same one
 * share it. */
struct wf_port_class {
    bool trust_dscp;
    bool averages;         /* some queue's WRED goes by an average */
    uint8_t marks[2];      /* by enum wf_mark_at: bit per queue whose WRED acts then ... */
    uint8_t marks_empty;   /* of a queue that is empty alone: its average fell meanwhile */
    uint8_t rewrite;       /* as in cfg */
    uint8_t tc_to_dscp[8]; /* likewise */
    const struct wf_switch_port_cfg *cfg;
    const struct wf_vlan_set *vlan; /* VLANs that it carries; NULL: it knows of none */
    struct wf_lane by_dscp[64], by_pcp[8];
};

/* A MAC address learned at an edge port (forwarding l2), besides those of the scenario. */
struct wf_fdb_entry {
    uint8_t mac[6];
    uint16_t port;
    bool used;
    uint64_t heard_ps;
};

struct wf_switch;

/* What manages a switch's ports, above it in the house. */
struct wf_switch_mgmt_ops {
    /* A frame to a reserved address. True: it was for us, and is ended. */
    bool (*rx)(struct wf_switch *sw, struct wf_port *in, struct wf_pkt *pkt);
    void (*link_changed)(struct wf_switch *sw, struct wf_port *port, bool up);
};

struct wf_switch {
    /* four cache lines for hops, and that of the first pool, and of `class` */
    struct wf_node node; /* first */
    uint32_t sw;         /* index in the graph */
    bool trims;          /* some queue does */
    bool vlans;          /* some port knows VLANs */
    bool edits;          /* some port changes tags, DSCP or PCP of what it sends */
    bool marks_in;       /* some queue's WRED acts on what is put into it */
    bool l2;             /* cfg.forwarding */
    bool routes;         /* and nothing else: not l2, no end of tunnels, no address ever ages */

    uint64_t mac_word; /* the node's, as wf_edit_mac_word() has it */
    const struct wf_graph *graph;
    const struct wf_graph_node *at;   /* its place there */
    struct wf_pg (*pg)[WF_PGS];       /* [port][pg] */
    struct wf_lb *lb;                 /* NULL: plain ECMP */
    const struct wf_tunnel_end *ends; /* by switch; NULL: this one is no end of tunnels */
    struct wf_age *age;               /* NULL: addresses are known for ever */
    struct wf_port_class **class_of;  /* [port]; NULL: all ports have `class` */
    const struct wf_addr_table *addr;
    struct wf_egress (*egress)[WF_QUEUES]; /* [port][queue]; NULL: the queues' own bytes will do */

    uint64_t used_bytes, buffer_bytes;                      /* of cfg.buffer_bytes */
    uint32_t cell_bytes;                                    /* as in cfg */
    uint32_t dropping_ports;                                /* whose watchdog drops now */
    struct wf_watermarks *user;                             /* NULL: nobody cleared any */
    uint64_t latency_ps;                                    /* as in cfg */
    struct wf_port_class class __attribute__((aligned(8))); /* of cfg.port */

    struct wf_pool ipool[WF_POOLS];
    struct wf_pool epool[WF_POOLS];
    struct wf_watchdog **watchdog; /* [port], NULL: it has none; NULL: no port has one */
    uint32_t n_flows;              /* of the scenario: what sizes tables of flows */
    struct wf_carved carved;       /* of the buffer, for ports' groups and queues alone */
    struct wf_was *was;            /* [port] */
    struct wf_switch_cfg cfg;
    const struct wf_switch_port_cfg **port_cfg; /* [port], NULL: cfg.port; NULL: of all ports */
    struct wf_prng prng;
    struct wf_ecn_avg (*avg)[WF_QUEUES];   /* [port][queue], when there are averages */
    struct wf_fdb_entry *fdb;              /* forwarding l2 only */
    const struct wf_switch_mgmt_ops *mgmt; /* NULL: none */
    void **mgmt_ports;                     /* its own, [port] */
};

extern const struct wf_node_ops wf_switch_ops;

/* The same for a port that a packet goes out by: by another line of it. */
static inline const struct wf_port_class *wf_switch_out_class(const struct wf_switch *sw,
                                                              const struct wf_port *port)
{
    return sw->class_of ? sw->class_of[port->tx_index] : &sw->class;
}

static inline const struct wf_port_class *wf_switch_class(const struct wf_switch *sw,
                                                          const struct wf_port *port)
{
    return sw->class_of ? sw->class_of[port->index] : &sw->class;
}

/* A port's configuration; right before the switch is ready too. */
static inline const struct wf_switch_port_cfg *wf_switch_port_cfg(const struct wf_switch *sw,
                                                                  const struct wf_port *port)
{
    return sw->port_cfg && sw->port_cfg[port->index] ? sw->port_cfg[port->index] : &sw->cfg.port;
}

/* node.ops' ready: cfg, port_cfg, sw, graph and addr are set, name, ports and links in place. */
void wf_switch_ready(struct wf_node *node, struct wf_arena *arena);
void wf_switch_link_known(struct wf_node *node, struct wf_port *port);
void wf_switch_settle(struct wf_node *node);

/* The pipeline, in the order of its table. A stage passes the packet on or has ended it. */
enum wf_step { WF_NEXT, WF_DONE };
struct wf_visit {
    struct wf_port *in, *out;
    struct wf_pkt *pkt;
};
struct wf_stage {
    const char *name;
    enum wf_step (*fn)(struct wf_switch *sw, struct wf_visit *v);
};
extern const struct wf_stage wf_switch_stages[]; /* ends with a NULL name */

/* What no switch lets through, whatever its tables say, come by a port or out of a tunnel. */
static inline enum wf_reason wf_switch_refuses(const struct wf_switch *sw, const struct wf_pkt *pkt)
{
    uint64_t dst, src; /* and what follows them: the EtherType is there too */

    if (!(pkt->p.flags & WF_P_ETH))
        return WF_DROP_MALFORMED;
    memcpy(&dst, wf_pkt_bytes(pkt), 8);
    memcpy(&src, wf_pkt_bytes(pkt) + 6, 8);
    if (!((dst ^ src) << 16) || !((src ^ sw->mac_word) << 16))
        return WF_DROP_OWN_SOURCE;
    return pkt->p.flags & (WF_P_RESERVED_MAC | WF_P_MAC_CONTROL) ? WF_DROP_RESERVED_MAC
                                                                 : WF_DROP_NONE;
}

enum wf_step wf_switch_drop(struct wf_visit *v, enum wf_reason why);
/* The stages behind forwarding, for a packet whose way out is known. */
void wf_switch_output(struct wf_switch *sw, struct wf_visit *v);
/* The egress port towards a host for a flow hash; -1 when there is no way. */
int wf_switch_next_port(const struct wf_switch *sw, const struct wf_host_addr *dst,
                        uint32_t flow_hash);
/* The egress port of this packet towards a switch; -1 when there is no way. */
int wf_switch_port_to(struct wf_switch *sw, const struct wf_visit *v, uint32_t dst_sw);
enum wf_step wf_switch_forward(struct wf_switch *sw, struct wf_visit *v);
/* To whom: hosts of this switch, all of the fabric along its tree, whatever port is up. */
enum wf_flood { WF_FLOOD_HOSTS, WF_FLOOD_TREE, WF_FLOOD_ALL };
enum wf_step wf_switch_flood(struct wf_switch *sw, struct wf_visit *v, enum wf_flood to);
/* neighbour.c, of ARP and ND: WF_DONE when the switch answered a request itself. */
enum wf_step wf_switch_neighbour(struct wf_switch *sw, struct wf_visit *v);
/* A frame whose last bit is yet to come: before this its first bit can't leave, or the egress, at
 * the rate that it has now, would run out of bits. */
static inline uint64_t wf_switch_fed_ps(const struct wf_switch *sw, const struct wf_port *out,
                                        const struct wf_pkt *pkt)
{
    uint64_t fed = pkt->last_bit_ps + sw->latency_ps;
    uint64_t out_ps = wf_txclock_span(&out->tx, (pkt->frame_len + WF_WIRE_PREAMBLE) * 8ull);

    return fed > out_ps ? fed - out_ps : 0;
}
/* mmu.c: see also admit.h */
/* What the group holds no longer asks for a pause. */
void wf_switch_unpause(struct wf_switch *sw, struct wf_port *port, unsigned pg);
/* Bytes at which a group's headroom begins, as its pool stands; and at which XON is sent. */
uint64_t wf_switch_xoff_point(const struct wf_switch *sw, const struct wf_pg *pg);
uint64_t wf_switch_xon_level(const struct wf_switch *sw, const struct wf_pg *pg);
/* pool.c */
void wf_switch_buffer_link(struct wf_switch *sw, struct wf_port *port);
void wf_switch_buffer_ready(struct wf_switch *sw, struct wf_arena *arena);
void wf_switch_shrink(struct wf_switch *sw, struct wf_port *port);
/* watermark.c */
void wf_switch_watermarks_note(struct wf_switch *sw, const struct wf_visit *v);
void wf_switch_link_changed(struct wf_node *node, struct wf_port *port, bool up);
/* wred.c, for queues with their bit in `marks` */
enum wf_step wf_switch_wred(struct wf_switch *sw, struct wf_visit *v);
void wf_switch_wred_leaves(struct wf_switch *sw, struct wf_port *out, struct wf_pkt *pkt);
/* A packet of the queue was dropped by a flush; where there are averages. */
void wf_switch_wred_flushed(struct wf_switch *sw, const struct wf_port *out, unsigned queue);

#endif
