/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The holders of counters that a fabric will have, named from its description alone, so that
 * `weft check` can say which expectations match nothing. A test compares them with a fabric's.
 */
#include "scen/scen_priv.h"

struct list {
    struct wf_arena *a;
    uint64_t *zeros; /* all of them share these */
    struct wf_ctr_obj *v;
    size_t n;
};

static void add(struct list *l, const char *name, const struct wf_ctr_table *table)
{
    if (l->v)
        l->v[l->n] = (struct wf_ctr_obj){.name = name, .table = table, .values = l->zeros};
    l->n++;
}

static const char *part(struct list *l, const char *port, const char *kind, unsigned i)
{
    return l->v ? wf_arena_printf(l->a, "%s.%s%u", port, kind, i) : port;
}

static void add_port(struct list *l, const char *port, bool host)
{
    add(l, port, &wf_ctrs_port);
    add(l, port, &wf_ctrs_drop);
    for (unsigned i = 0; i < WF_PRIOS; i++)
        add(l, part(l, port, "prio", i), &wf_ctrs_prio);
    for (unsigned i = 0; i < WF_QUEUES; i++)
        add(l, part(l, port, "q", i), &wf_ctrs_queue);
    for (unsigned i = 0; i < WF_PGS && !host; i++)
        add(l, part(l, port, "pg", i), &wf_ctrs_pg);
}

static void add_all(const struct wf_scenario *s, struct list *l)
{
    const struct wf_desc *d = &s->desc;

    for (uint32_t i = 0; i < d->n_links; i++)
        for (int e = 0; e < 2; e++) {
            struct wf_desc_end end = e ? d->links[i].b : d->links[i].a;

            add_port(l, wf_scen_port(s, i, e), end.is_host);
            if (end.is_host && d->hosts[end.index].cfg.attach.type != WF_ATTACH_NONE)
                add(l, d->hosts[end.index].name, &wf_ctrs_edge);
        }
    for (uint32_t i = 0; i < d->n_flows; i++)
        add(l, l->v ? wf_arena_printf(l->a, "flow.%s", d->flows[i].name) : "", &wf_ctrs_flow);
    add(l, "fabric", &wf_ctrs_fabric);
}

size_t wf_scenario_objs(const struct wf_scenario *s, struct wf_arena *a, struct wf_ctr_obj **out)
{
    struct list l = {.a = a};
    size_t most = 0;

    for (size_t t = 0; wf_ctr_tables[t]; t++)
        if (wf_ctr_tables[t]->n > most)
            most = wf_ctr_tables[t]->n;
    l.zeros = WF_ARENA_ARRAY(a, uint64_t, most);
    add_all(s, &l);
    l.v = WF_ARENA_ARRAY(a, struct wf_ctr_obj, l.n);
    l.n = 0;
    add_all(s, &l);
    *out = l.v;
    return l.n;
}
