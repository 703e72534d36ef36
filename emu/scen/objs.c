/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The holders of counters that a fabric will have, named from its description alone, so that
 * `weft check` can say which expectations match nothing. A test compares them with a fabric's.
 */
#include <stdio.h>

#include "base/assert.h"
#include "fabric/fabric.h"
#include "scen/scen_priv.h"

enum { MOST_ROWS = 256 };

static unsigned kind_of(const struct wf_scenario *s, uint32_t end_at, struct wf_desc_end end)
{
    const struct wf_desc *d = &s->desc;
    unsigned what = WF_CTR_PORT_SWITCH;

    if (end.is_host)
        return WF_CTR_PORT_HOST;
    if (wf_desc_port_cfg(d, end_at / 2, end_at % 2)->watchdog.action != WF_WD_OFF)
        what |= WF_CTR_PORT_WATCHED;
    return what | (s->counts_egress[end.index] ? WF_CTR_PORT_COUNTING : 0);
}

/* What a host has beside its port. */
static bool host_next(struct wf_ctr_walk *w, const struct wf_desc_host *h)
{
    const struct wf_ctr_table *t = h->cfg.attach.type != WF_ATTACH_NONE ? &wf_ctrs_edge
                                   : h->cfg.listen.port                 ? &wf_ctrs_endpoint
                                                                        : NULL;

    if (!t || !(w->tables & wf_ctr_table_bit(t)))
        return false;
    w->table = t;
    w->holder = h->name;
    w->part = NULL;
    return true;
}

static bool link_next(struct wf_ctr_walk *w, const struct wf_scenario *s)
{
    const struct wf_desc *d = &s->desc;

    for (; w->at < 2 * d->n_links; w->at++) {
        const struct wf_desc_link *l = &d->links[w->at / 2];
        struct wf_desc_end end = w->at % 2 ? l->b : l->a;

        if (w->tables & wf_ctr_port_tables() && !w->cursor &&
            wf_ctr_port_next(w, s->ports[w->at], kind_of(s, w->at, end)))
            return true;
        w->sub = 0;
        if (!w->cursor && end.is_host && host_next(w, &d->hosts[end.index])) {
            w->cursor = s; /* this end is told of */
            return true;
        }
        w->cursor = NULL;
    }
    return false;
}

/* Each flow, then its control: `sub` says that a flow's counters were told of. */
static bool flow_next(struct wf_ctr_walk *w, const struct wf_scenario *s)
{
    for (; w->port < s->desc.n_flows; w->port++, w->sub = 0) {
        const struct wf_desc_flow *f = &s->desc.flows[w->port];
        const struct wf_ctr_table *cc = f->cfg.control ? f->cfg.control->table : NULL;

        for (; w->sub < 2; w->sub++) {
            w->table = w->sub ? cc : &wf_ctrs_flow;
            if (!w->table || !(w->tables & wf_ctr_table_bit(w->table)))
                continue;
            snprintf(w->buf, sizeof(w->buf), "flow.%s", f->name);
            w->holder = w->buf;
            w->unjudged = f->cfg.unjudged;
            w->sub++;
            return true;
        }
    }
    return false;
}

static bool scenario_next(struct wf_ctr_walk *w)
{
    const struct wf_scenario *s = w->of;

    if (link_next(w, s))
        return true;
    for (; w->at < 2 * s->desc.n_links + s->desc.n_switches; w->at++)
        if (wf_ctr_pool_next(w, s->desc.switches[w->at - 2 * s->desc.n_links].name))
            return true;
    w->part = NULL;
    if (flow_next(w, s))
        return true;
    if (w->count++ || !(w->tables & wf_ctr_table_bit(&wf_ctrs_fabric)))
        return false;
    w->table = &wf_ctrs_fabric;
    w->holder = "fabric";
    return true;
}

struct wf_ctr_walk wf_scenario_ctrs(const struct wf_scenario *s, unsigned tables)
{
    return (struct wf_ctr_walk){
        .next = scenario_next, .of = s, .tables = tables, .values = s->zeros};
}

void wf_scen_counting(struct wf_scenario *s)
{
    const struct wf_desc *d = &s->desc;

    s->counts_egress = WF_ARENA_ARRAY(&s->arena, bool, d->n_switches + 1);
    for (uint32_t i = 0; i < 2 * d->n_links; i++) {
        struct wf_desc_end e = i % 2 ? d->links[i / 2].b : d->links[i / 2].a;

        if (!e.is_host &&
            wf_egress_counts(&d->switches[e.index].cfg, wf_desc_port_cfg(d, i / 2, (int)(i % 2))))
            s->counts_egress[e.index] = true;
    }
}

void wf_scen_objs(struct wf_scenario *s)
{
    for (size_t t = 0; wf_ctr_tables[t]; t++)
        WF_ASSERT(wf_ctr_tables[t]->n <= MOST_ROWS);
    s->zeros = WF_ARENA_ARRAY(&s->arena, uint64_t, MOST_ROWS);
}
