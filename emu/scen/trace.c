/* SPDX-License-Identifier: BSD-3-Clause */
/* The `trace:` section: which values are written over time, and to which file. */
#include "scen/trace.h"

#include <string.h>

#include "scen/match.h"
#include "scen/scen_priv.h"

enum { NAMES_MAX = 512 };

static bool hits(const struct wf_trace_cfg *c, const char *name)
{
    for (uint32_t i = 0; i < c->at.n; i++)
        if (wf_match(c->at.v[i], name))
            return true;
    return false;
}

/* The item of a list, or the value that stands for a list of one. */
static const struct wf_yaml_node *item(const struct wf_yaml_node *v, size_t i)
{
    return v && v->kind == WF_YAML_SEQUENCE ? &v->items[i] : v;
}

/* The tables of objects that have this series. */
static unsigned tables_with(const struct wf_scenario *sc, const char *series)
{
    unsigned set = 0;
    struct wf_series s;

    for (size_t t = 0; wf_ctr_tables[t]; t++)
        if (wf_series_find(wf_ctr_tables[t], series, &s))
            set |= wf_ctr_table_bit(wf_ctr_tables[t]);
    for (uint32_t i = 0; i < sc->n_ccs; i++)
        if (wf_series_find(sc->ccs[i]->use.table, series, &s))
            set |= wf_ctr_table_bit(sc->ccs[i]->use.table);
    return set;
}

static unsigned tables_with_any(const struct wf_scenario *s, const struct wf_trace_cfg *c)
{
    unsigned set = 0;

    for (uint32_t i = 0; i < c->what.n; i++)
        set |= tables_with(s, c->what.v[i]);
    return set;
}

/* An object of these tables, for messages; "" when there is none. */
static const char *example(struct wf_scenario *s, unsigned tables)
{
    struct wf_ctr_walk w = wf_scenario_ctrs(s, tables);
    char name[WF_CTR_NAME_MAX];

    return wf_ctr_next(&w) ? wf_arena_strdup(&s->arena, wf_ctr_name(&w, name)) : "";
}

/* A series that no object has, or none of those that are meant, or not in this form. True when some
 * object that is meant has it. */
static bool check_what(struct wf_scenario *s, const struct wf_trace_cfg *c, uint32_t i,
                       const struct wf_yaml_node *at)
{
    const char *what = c->what.v[i], *why = NULL, **names;
    struct wf_ctr_walk w = wf_scenario_ctrs(s, tables_with(s, what));
    char name[WF_CTR_NAME_MAX];
    struct wf_series series;
    bool any = false;

    if (!w.tables) {
        size_t n = wf_series_names(&s->arena, &names);

        wf_diag_unknown(&s->diags, at, what, names, n, "no series has the name '%s'", what);
        return false;
    }
    while (!why && wf_ctr_next(&w)) {
        if (!hits(c, wf_ctr_name(&w, name)) || !wf_series_find(w.table, what, &series))
            continue;
        any = true;
        if (c->on == WF_TRACE_CHANGE)
            why = wf_series_only_sampled(w.table, &series);
    }
    if (why)
        wf_diag_error(&s->diags, at,
                      "'%s' cannot be written on change: %s; expected such as every: 10us", what,
                      why);
    else if (!any && example(s, tables_with(s, what))[0])
        wf_diag_error(&s->diags, at, "none of the objects has '%s'; '%s' is one that has", what,
                      example(s, tables_with(s, what)));
    else if (!any)
        wf_diag_error(&s->diags, at, "nothing in this scenario has '%s'", what);
    return any;
}

static bool matches_any(struct wf_scenario *s, const char *pattern, unsigned tables)
{
    struct wf_ctr_walk w = wf_scenario_ctrs(s, tables);
    char name[WF_CTR_NAME_MAX];

    while (wf_ctr_next(&w))
        if (wf_match(pattern, wf_ctr_name(&w, name)))
            return true;
    return false;
}

/* A pattern that is none, or matches nothing. */
static bool check_at(struct wf_scenario *s, const struct wf_trace_cfg *c, const char *pattern,
                     const struct wf_yaml_node *at)
{
    unsigned tables = tables_with_any(s, c);
    struct wf_ctr_walk w = wf_scenario_ctrs(s, tables ? tables : (unsigned)WF_CTR_ALL_TABLES);
    const char *names[NAMES_MAX];
    char name[WF_CTR_NAME_MAX];
    struct wf_err err = {.line = 0};
    size_t n = 0;

    if (wf_match_check(pattern, &err)) {
        wf_diag_error(&s->diags, at, "at: %s", err.msg);
        return false;
    }
    if (matches_any(s, pattern, (unsigned)WF_CTR_ALL_TABLES))
        return true;
    while (n < NAMES_MAX && wf_ctr_next(&w))
        names[n++] = wf_arena_strdup(&s->arena, wf_ctr_name(&w, name));
    wf_diag_unknown(&s->diags, at, pattern, names, n, "'%s' matches nothing", pattern);
    return false;
}

static void check_entry(struct wf_scenario *s, const struct wf_trace_cfg *c,
                        const struct wf_yaml_node *at)
{
    const struct wf_yaml_node *every = wf_yaml_get(at, "every");
    bool any = false, good = true;

    if (c->on == WF_TRACE_CHANGE && every && c->every_ps != WF_KEY_AUTO)
        wf_diag_error(&s->diags, every, "every beside on: change, expected one of them");
    if (c->on == WF_TRACE_SAMPLE && !every)
        wf_diag_error(&s->diags, at,
                      "neither every nor on in trace, expected such as every: 10us or on: change");
    else if (c->on == WF_TRACE_SAMPLE && c->every_ps == WF_KEY_AUTO &&
             !strcmp(every->text ? every->text : "", "auto"))
        wf_diag_error(&s->diags, every, "every: expected a time such as 10us");
    for (uint32_t i = 0; i < c->at.n; i++)
        good &= check_at(s, c, c->at.v[i], item(wf_yaml_get(at, "at"), i));
    for (uint32_t i = 0; i < c->what.n && c->at.n && good; i++)
        any |= check_what(s, c, i, item(wf_yaml_get(at, "what"), i));
    for (uint32_t i = 0; i < c->at.n && any; i++)
        if (!matches_any(s, c->at.v[i], tables_with_any(s, c)))
            wf_diag_error(&s->diags, item(wf_yaml_get(at, "at"), i),
                          "what '%s' matches has none of the series of the entry", c->at.v[i]);
}

static void read_entry(struct wf_scenario *s, const struct wf_yaml_node *at)
{
    struct wf_trace_cfg *c = &s->traces[s->n_traces];

    wf_keyset_defaults(&wf_trace_keys, c);
    wf_fill(&s->fill, &wf_trace_keys, c, at, NULL);
    if (at->kind != WF_YAML_MAPPING)
        return;
    wf_fill_required(&s->fill, &wf_trace_keys, c, at);
    s->n_traces++;
    check_entry(s, c, at);
}

void wf_scen_traces(struct wf_scenario *s)
{
    const struct wf_yaml_node *list = wf_yaml_get(s->root, "trace");

    if (!list)
        return;
    if (list->kind != WF_YAML_SEQUENCE) {
        wf_diag_error(&s->diags, list, "trace: expected a list, found %s", wf_yaml_what(list));
        return;
    }
    s->traces = WF_ARENA_ARRAY(&s->arena, struct wf_trace_cfg, list->n + 1);
    for (size_t i = 0; i < list->n; i++)
        read_entry(s, &list->items[i]);
}

static int add_entry(const struct wf_scenario *s, const struct wf_trace_cfg *c, struct wf_fabric *f,
                     struct wf_traces *t, struct wf_err *err)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(f, tables_with_any(s, c));
    char name[WF_CTR_NAME_MAX];
    int rc = 0;

    while (!rc && wf_ctr_next(&w))
        for (uint32_t i = 0; hits(c, wf_ctr_name(&w, name)) && i < c->what.n && !rc; i++)
            rc = wf_traces_add(t, c, &w, c->what.v[i], err);
    return rc;
}

static const char *const usual_at[] = {"*.q*", "*.prio*"};
static const char *const usual_what[] = {"queue_bytes", "paused"};
static const struct wf_trace_cfg usual = {
    .at = {usual_at, 2}, .what = {usual_what, 2}, .on = WF_TRACE_CHANGE, .file = "-"};

int wf_scenario_trace(const struct wf_scenario *s, struct wf_fabric *f, struct wf_traces *t,
                      struct wf_err *err)
{
    int rc = 0;

    for (uint32_t i = 0; i < s->n_traces && !rc; i++)
        rc = add_entry(s, &s->traces[i], f, t, err);
    return s->n_traces || rc ? rc : add_entry(s, &usual, f, t, err);
}
