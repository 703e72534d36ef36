/* SPDX-License-Identifier: BSD-3-Clause */
/* The walk through a fabric's holders of counters, see base/counter.h. */
#include <stdio.h>

#include "fabric/fabric.h"
#include "switch/watchdog.h"

/* What hangs on a port, in this order; groups on a switch's ports only, then its queues where
 * egress accounts for them, and its watchdog. */
enum {
    PORT,
    DROPS,
    PRIO,
    QUEUE = PRIO + WF_PRIOS,
    PG = QUEUE + WF_QUEUES,
    EGRESS = PG + WF_PGS,
    PFCWD = EGRESS + WF_QUEUES,
    SUBS = PFCWD + WF_PRIOS,
};

static const struct wf_ctr_table *table_of(unsigned sub)
{
    return sub == PORT    ? &wf_ctrs_port
           : sub == DROPS ? &wf_ctrs_drop
           : sub < QUEUE  ? &wf_ctrs_prio
           : sub < PG     ? &wf_ctrs_queue
           : sub < EGRESS ? &wf_ctrs_pg
           : sub < PFCWD  ? &wf_ctrs_egress
                          : &wf_ctrs_pfcwd;
}

static uint64_t *values_of(struct wf_node *node, struct wf_port *p, unsigned sub)
{
    struct wf_switch *sw = (struct wf_switch *)node;

    return sub == PORT    ? p->ctr
           : sub == DROPS ? p->drops
           : sub < QUEUE  ? p->prio_ctr[sub - PRIO]
           : sub < PG     ? p->q[sub - QUEUE].ctr
           : sub < EGRESS ? sw->pg[p->index][sub - PG].ctr
           : sub < PFCWD  ? sw->egress[p->index][sub - EGRESS].ctr
                          : sw->watchdog[p->index]->prio[sub - PFCWD].ctr;
}

unsigned wf_ctr_port_tables(void)
{
    return wf_ctr_table_bit(&wf_ctrs_port) | wf_ctr_table_bit(&wf_ctrs_drop) |
           wf_ctr_table_bit(&wf_ctrs_prio) | wf_ctr_table_bit(&wf_ctrs_queue) |
           wf_ctr_table_bit(&wf_ctrs_pg) | wf_ctr_table_bit(&wf_ctrs_egress) |
           wf_ctr_table_bit(&wf_ctrs_pfcwd);
}

/* Whether a port of this kind has such a part. */
static bool has(unsigned what, unsigned sub)
{
    return sub < PG || (sub < EGRESS && what & WF_CTR_PORT_SWITCH) ||
           (sub >= EGRESS && sub < PFCWD && what & WF_CTR_PORT_COUNTING) ||
           (sub >= PFCWD && what & WF_CTR_PORT_WATCHED);
}

bool wf_ctr_port_next(struct wf_ctr_walk *w, const char *port, unsigned what)
{
    unsigned subs = SUBS;

    for (; w->sub < subs; w->sub++) {
        const struct wf_ctr_table *table = table_of(w->sub);
        static const struct {
            const char *part;
            unsigned first;
        } parts[] = {{"prio", PRIO}, {"q", QUEUE}, {"pg", PG}, {"q", EGRESS}, {"pfcwd", PFCWD}};
        int part = w->sub < PRIO     ? -1
                   : w->sub < QUEUE  ? 0
                   : w->sub < PG     ? 1
                   : w->sub < EGRESS ? 2
                   : w->sub < PFCWD  ? 3
                                     : 4;

        if (!(w->tables & wf_ctr_table_bit(table)) || !has(what, w->sub))
            continue;
        w->table = table;
        w->holder = port;
        w->part = part < 0 ? NULL : parts[part].part;
        w->index = part < 0 ? 0 : w->sub - parts[part].first;
        w->sub++;
        return true;
    }
    w->sub = 0;
    return false;
}

static unsigned kind_of(const struct wf_node *node, uint32_t port)
{
    const struct wf_switch *sw = (const struct wf_switch *)node;

    if (node->ops != &wf_switch_ops)
        return WF_CTR_PORT_HOST;
    return WF_CTR_PORT_SWITCH | (sw->watchdog && sw->watchdog[port] ? WF_CTR_PORT_WATCHED : 0) |
           (sw->egress ? WF_CTR_PORT_COUNTING : 0);
}

static bool port_next(struct wf_ctr_walk *w, struct wf_node *node)
{
    if (!(w->tables & wf_ctr_port_tables()))
        w->port = node->n_ports;
    for (; w->port < node->n_ports; w->port++) {
        struct wf_port *p = &node->ports[w->port];

        if (wf_ctr_port_next(w, p->name, kind_of(node, w->port))) {
            w->values = values_of(node, p, w->sub - 1);
            return true;
        }
    }
    return false;
}

bool wf_ctr_pool_next(struct wf_ctr_walk *w, const char *sw)
{
    if (!(w->tables & wf_ctr_table_bit(&wf_ctrs_pool)) || w->sub == 2 * WF_POOLS) {
        w->sub = 0;
        return false;
    }
    snprintf(w->buf, sizeof(w->buf), "%s.%s%u", sw, w->sub < WF_POOLS ? "ipool" : "epool",
             w->sub % WF_POOLS);
    w->table = &wf_ctrs_pool;
    w->holder = w->buf;
    w->part = NULL;
    w->sub++;
    return true;
}

static bool pool_next(struct wf_ctr_walk *w, struct wf_node *node)
{
    struct wf_switch *sw = (struct wf_switch *)node;
    unsigned i = w->sub;

    if (node->ops != &wf_switch_ops || !wf_ctr_pool_next(w, node->name))
        return false;
    w->values = i < WF_POOLS ? sw->ipool[i].ctr : sw->epool[i - WF_POOLS].ctr;
    return true;
}

static bool node_next(struct wf_ctr_walk *w, struct wf_node *node)
{
    struct wf_ctr_obj o;

    if (port_next(w, node) || pool_next(w, node))
        return true;
    while (node->ops->counters && node->ops->counters(node, &w->cursor, &o)) {
        if (!(w->tables & wf_ctr_table_bit(o.table))) {
            if (o.table == &wf_ctrs_endpoint ||
                w->tables & (wf_ctr_table_bit(&wf_ctrs_flow) | wf_ctr_table_bit(NULL)))
                continue; /* a host has an endpoint, flows and their controls */
            break;
        }
        w->table = o.table;
        w->values = o.values;
        w->holder = o.name;
        w->unjudged = o.unjudged;
        w->part = NULL;
        return true;
    }
    w->cursor = NULL;
    w->port = 0;
    return false;
}

static bool fabric_next(struct wf_ctr_walk *w)
{
    const struct wf_fabric *f = w->of;

    for (; w->at < f->n_nodes; w->at++)
        if (node_next(w, f->nodes[w->at]))
            return true;
    if (w->at++ > f->n_nodes || !(w->tables & wf_ctr_table_bit(&wf_ctrs_fabric)))
        return false;
    w->table = &wf_ctrs_fabric;
    w->values = (uint64_t *)f->ctr;
    w->holder = "fabric";
    w->part = NULL;
    return true;
}

struct wf_ctr_walk wf_fabric_ctrs(const struct wf_fabric *f, unsigned tables)
{
    return (struct wf_ctr_walk){.next = fabric_next, .of = f, .tables = tables};
}
