/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fabric: built from a description, stepped, checked for its invariants, asked for its digest.
 * Only fabric/ and the folders below it in the house see the whole. Several may live in a process.
 * EAL is initialised by the program, never here.
 */
#ifndef WEFT_FABRIC_FABRIC_H
#define WEFT_FABRIC_FABRIC_H

#include "fabric/desc.h"
#include "mgmt/lldp.h"
#include "net/port.h"
#include "sim/team.h"
#include "switch/switch.h"

struct wf_fabric;
struct wf_stops;

struct wf_fabric_opts {
    bool paced;                /* live: bound to wall time */
    uint32_t lcores;           /* to run on; 0: one. Fewer when it can't be split so */
    enum wf_team_mode threads; /* who runs them */
    uint32_t mailbox_slots;    /* 0: the default */
    bool no_jumps;             /* over silence: as if the lcores could not see each other */
    unsigned full_frames;      /* whole frames that attachments and replay need; 0: a few */
    /* Hosts that are not weft's model: gives the node for host index `host`, its ops set, from the
     * arena; NULL: use the model. May be NULL. */
    struct wf_node *(*make_host)(void *arg, struct wf_fabric *f, uint32_t host);
    void *arg;
};

struct wf_fabric {
    struct wf_arena arena;
    const struct wf_desc *desc;
    struct wf_lcore *lcs; /* n_lcs of them; read through the accessors below */
    struct wf_net *nets;  /* one an lcore; a node's is node->net */
    uint32_t n_lcs;
    struct wf_team *team; /* of more than one lcore */
    struct wf_graph graph;
    struct wf_addr_table addr;
    struct wf_node **nodes; /* switches, then hosts */
    uint32_t n_nodes;
    struct wf_link *links;    /* as in the description */
    struct wf_flow **flows;   /* likewise; host/host.h */
    struct wf_lldp lldp;      /* agents of the switch ports that have one */
    struct wf_stops *stops;   /* in the order in which they act, see run.h; the timeline first */
    struct wf_node **by_name; /* nodes in the order of their names */
    uint32_t next_entity;
    uint64_t ctr[WF_FABRIC_CTRS]; /* over all lcores, as of the last wf_fabric_settle() */
};

/* -errno and *err (ENOMEM: pools, EINVAL: what the description asks for can't be built). */
int wf_fabric_build(struct wf_fabric **out, const struct wf_desc *d,
                    const struct wf_fabric_opts *opts, struct wf_err *err);
/* Ends all packets that are left, frees everything; f may be NULL. */
void wf_fabric_free(struct wf_fabric *f);
/* Bytes that EAL needs for it, before EAL is there. */
uint64_t wf_fabric_memory(const struct wf_desc *d, const struct wf_fabric_opts *opts);

static inline struct wf_node *wf_fabric_switch(struct wf_fabric *f, uint32_t i)
{
    return f->nodes[i];
}

static inline struct wf_node *wf_fabric_host(struct wf_fabric *f, uint32_t i)
{
    return f->nodes[f->desc->n_switches + i];
}

/* For whoever records what the lcores see: nothing before it will be seen by this one any more. */
uint64_t wf_fabric_published_ps(void *fabric, unsigned lcore);
/* Where fabric time stands; all lcores agree between turns. */
static inline uint64_t wf_fabric_now_ps(const struct wf_fabric *f)
{
    return f->lcs[0].now_ps;
}

/* The clock that paces a live run; virtual time has one too, that never waits. */
static inline struct wf_clock *wf_fabric_clock(const struct wf_fabric *f)
{
    return &f->lcs[0].clock;
}

/* Over all lcores, between turns: a counter of the fabric, events run, the time of the last one,
 * the next one's (a lower bound; WF_TIME_NEVER: none), packets that have begun and not ended. */
uint64_t wf_fabric_ctr(const struct wf_fabric *f, enum wf_ctr_FABRIC ctr);
uint64_t wf_fabric_events(const struct wf_fabric *f);
uint64_t wf_fabric_last_event_ps(const struct wf_fabric *f);
uint64_t wf_fabric_next_ps(const struct wf_fabric *f);
uint64_t wf_fabric_in_flight(const struct wf_fabric *f);
/* A packet pool ran empty: the run is worth nothing. */
bool wf_fabric_out_of_buffers(const struct wf_fabric *f);
/* No event is left; stops may be. */
bool wf_fabric_idle(const struct wf_fabric *f);

/* All holders of counters of these tables, see base/counter.h; settle the fabric first. */
struct wf_ctr_walk wf_fabric_ctrs(const struct wf_fabric *f, unsigned tables);
/* For other walks that have ports: the next holder at a port of this name, or false, and then the
 * walk may go on with another port. Sets all but values. */
enum wf_ctr_port {
    WF_CTR_PORT_HOST = 0,
    WF_CTR_PORT_SWITCH = 1,
    WF_CTR_PORT_WATCHED = 2,  /* a switch's, with a watchdog */
    WF_CTR_PORT_COUNTING = 4, /* a switch's, whose egress accounts for its queues */
};
bool wf_ctr_port_next(struct wf_ctr_walk *w, const char *port, unsigned what);
/* Pools of a switch by number, "leaf0.ipool0" to "leaf0.epool3"; false: no more. */
bool wf_ctr_pool_next(struct wf_ctr_walk *w, const char *sw);
unsigned wf_ctr_port_tables(void);

/* Port by name ("leaf0:p3"), or NULL. */
struct wf_port *wf_fabric_port(struct wf_fabric *f, const char *name);
struct wf_link *wf_fabric_link(struct wf_fabric *f, const char *name);
/* Take a link down or up now: forwarding follows at once. Between turns, or in a stop. */
void wf_fabric_link_set(struct wf_fabric *f, struct wf_link *link, bool up);
/* Another rate, for frames whose transmission begins from now on. Likewise. */
void wf_fabric_link_rate(struct wf_fabric *f, struct wf_link *link, uint64_t rate_bps);
/* Add a fault at a port's egress now; the copy lives as long as the fabric. */
struct wf_fault *wf_fabric_inject(struct wf_fabric *f, struct wf_port *port,
                                  const struct wf_fault *fault);
/* Bring all time counters up to now. Call before reading counters. */
void wf_fabric_settle(struct wf_fabric *f);
/* The invariants of design: conservation, queue and group bytes. 0, or -EPROTO and what broke. */
int wf_fabric_check(struct wf_fabric *f, struct wf_err *err);
/* Digest over all entities; time and direction are in it, the machine is not. */
struct wf_digest wf_fabric_digest(const struct wf_fabric *f);
/* The ports that a packet of this flow hash takes from host to host, egress ports in order,
 * hosts' included; -1 when there is no way, else how many (at most max are written). */
int wf_fabric_path(struct wf_fabric *f, uint32_t from, uint32_t to, uint32_t flow_hash,
                   struct wf_port **out, int max);

#endif
