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

static enum wf_ctr_port kind_of(const struct wf_desc *d, uint32_t end_at, struct wf_desc_end end)
{
    if (end.is_host)
        return WF_CTR_PORT_HOST;
    return wf_desc_port_cfg(d, end_at / 2, end_at % 2)->watchdog.action != WF_WD_OFF
               ? WF_CTR_PORT_WATCHED
               : WF_CTR_PORT_SWITCH;
}

static bool link_next(struct wf_ctr_walk *w, const struct wf_scenario *s)
{
    const struct wf_desc *d = &s->desc;

    for (; w->at < 2 * d->n_links; w->at++) {
        const struct wf_desc_link *l = &d->links[w->at / 2];
        struct wf_desc_end end = w->at % 2 ? l->b : l->a;

        if (w->tables & wf_ctr_port_tables() && !w->cursor &&
            wf_ctr_port_next(w, s->ports[w->at], kind_of(d, w->at, end)))
            return true;
        w->sub = 0;
        if (!w->cursor && end.is_host && w->tables & wf_ctr_table_bit(&wf_ctrs_edge) &&
            d->hosts[end.index].cfg.attach.type != WF_ATTACH_NONE) {
            w->table = &wf_ctrs_edge;
            w->holder = d->hosts[end.index].name;
            w->part = NULL;
            w->cursor = s; /* this end is told of */
            return true;
        }
        w->cursor = NULL;
    }
    return false;
}

static bool scenario_next(struct wf_ctr_walk *w)
{
    const struct wf_scenario *s = w->of;
    bool flows = w->tables & wf_ctr_table_bit(&wf_ctrs_flow);

    if (link_next(w, s))
        return true;
    w->part = NULL;
    if (flows && w->port < s->desc.n_flows) {
        snprintf(w->buf, sizeof(w->buf), "flow.%s", s->desc.flows[w->port++].name);
        w->table = &wf_ctrs_flow;
        w->holder = w->buf;
        return true;
    }
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

void wf_scen_objs(struct wf_scenario *s)
{
    for (size_t t = 0; wf_ctr_tables[t]; t++)
        WF_ASSERT(wf_ctr_tables[t]->n <= MOST_ROWS);
    s->zeros = WF_ARENA_ARRAY(&s->arena, uint64_t, MOST_ROWS);
}
