/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Views of a fabric as JSON rows: one row an object, its counters under the names of the counter
 * table. Ports always show all of theirs, the many small objects only what is not zero.
 */
#include <errno.h>
#include <string.h>

#include "ctl/commands.h"
#include "cap/json.h"
#include "ctl/names.h"
#include "scen/discovery.h"
#include "scen/match.h"

const char *const wf_ctl_views[] = {"ports",  "flows",      "drops",      "edges",     "queues",
                                    "groups", "priorities", "watermarks", "watchdogs", "lldp",
                                    "dcbx",   "endpoints",  "faults",     "links",     NULL};

struct view {
    struct wf_fabric *f;
    const char *at;
    json_t *rows;
};

static bool fits(const struct view *v, const char *name)
{
    return !v->at || wf_match(v->at, name);
}

static json_t *row(const struct view *v, const char *name)
{
    json_t *r = json_object();

    json_object_set_new(r, "name", json_string(name));
    json_array_append_new(v->rows, r);
    return r;
}

static void counters(json_t *r, const struct wf_ctr_walk *o, bool zeros)
{
    for (size_t i = 0; i < o->table->n; i++)
        if (o->table->rows[i].name && (zeros || o->values[i]))
            json_object_set_new(r, o->table->rows[i].name, wf_json_u64(o->values[i]));
}

/* Whether any of its counters is not zero. */
static bool moved(const struct wf_ctr_walk *o)
{
    for (size_t i = 0; i < o->table->n; i++)
        if (o->table->rows[i].name && o->values[i])
            return true;
    return false;
}

static void add_ports(struct view *v)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(v->f, wf_ctr_table_bit(&wf_ctrs_port));

    while (wf_ctr_next(&w)) {
        const struct wf_port *p;
        json_t *r;

        if (!fits(v, w.holder))
            continue;
        p = wf_fabric_port(v->f, w.holder);
        r = row(v, w.holder);
        json_object_set_new(r, "kind", json_string(p->node->ops->kind));
        json_object_set_new(r, "peer", json_string(p->peer->name));
        json_object_set_new(r, "up", json_boolean(p->up));
        json_object_set_new(r, "rate_bps", wf_json_u64(p->link->cfg.rate_bps));
        json_object_set_new(r, "waiting_bytes", wf_json_u64(wf_port_backlog(p)));
        counters(r, &w, true);
    }
}

static void add_objects(struct view *v, const struct wf_ctr_table *table, bool zeros)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(v->f, wf_ctr_table_bit(table));
    char name[WF_CTR_NAME_MAX];

    while (wf_ctr_next(&w)) {
        json_t *r;

        if ((!zeros && !moved(&w)) || !fits(v, wf_ctr_name(&w, name)))
            continue;
        r = row(v, wf_ctr_name(&w, name));
        counters(r, &w, zeros);
    }
}

/* One row a port and reason. */
static void add_drops(struct view *v)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(v->f, wf_ctr_table_bit(&wf_ctrs_drop));

    while (wf_ctr_next(&w))
        for (size_t why = 1; why < WF_DROP_COUNT; why++) {
            json_t *r;

            if (!w.values[why] || !fits(v, w.holder))
                continue;
            r = row(v, w.holder);
            json_object_set_new(r, "reason", json_string(wf_reason_name((enum wf_reason)why)));
            json_object_set_new(r, "frames", wf_json_u64(w.values[why]));
            json_object_set_new(r, "meaning", json_string(wf_reason_meaning((enum wf_reason)why)));
        }
}

static void add_faults(struct view *v)
{
    for (uint32_t n = 0; n < v->f->n_nodes; n++)
        for (uint16_t p = 0; p < v->f->nodes[n]->n_ports; p++) {
            const struct wf_port *port = &v->f->nodes[n]->ports[p];

            for (const struct wf_fault *x = wf_faults_of(port); x; x = x->next) {
                const char *name = x->coming_in ? port->peer->name : port->name;
                json_t *r;

                if (!fits(v, name))
                    continue;
                r = row(v, name);
                json_object_set_new(r, "action", json_string(wf_fault_action_names[x->action]));
                json_object_set_new(r, "dir", json_string(x->coming_in ? "in" : "out"));
                json_object_set_new(r, "class", json_string(wf_fault_class_names[x->match]));
                json_object_set_new(r, "every", wf_json_u64(x->every));
                json_object_set_new(r, "limit", wf_json_u64(x->limit));
                json_object_set_new(r, "matched_frames", wf_json_u64(x->matched));
                json_object_set_new(r, "hit_frames", wf_json_u64(x->hits));
                json_object_set_new(r, "lacking_frames", wf_json_u64(x->lacking));
            }
        }
}

static void add_links(struct view *v)
{
    for (uint32_t i = 0; i < v->f->desc->n_links; i++) {
        const struct wf_link *l = &v->f->links[i];
        json_t *r;

        if (!fits(v, l->name))
            continue;
        r = row(v, l->name);
        json_object_set_new(r, "up", json_boolean(l->up));
        json_object_set_new(r, "rate_bps", wf_json_u64(l->cfg.rate_bps));
        json_object_set_new(r, "delay_ps", wf_json_u64(l->cfg.delay_ps));
        json_object_set_new(r, "mtu_bytes", wf_json_u64(l->cfg.mtu));
    }
}

/* What has no counters of the tables. */
static void add_other(struct view *v, const char *what)
{
    json_t *more = NULL;

    if (!strcmp(what, "faults"))
        add_faults(v);
    else if (!strcmp(what, "links"))
        add_links(v);
    else if (!strcmp(what, "watermarks"))
        more = wf_ctl_watermarks(v->f, v->at);
    else
        more =
            !strcmp(what, "lldp") ? wf_discovery_lldp(v->f, v->at) : wf_discovery_dcbx(v->f, v->at);
    json_array_extend(v->rows, more);
    json_decref(more);
}

static void add_table(struct view *v, const struct wf_ctr_table *table, bool zeros)
{
    if (table == &wf_ctrs_port)
        add_ports(v);
    else if (table == &wf_ctrs_drop)
        add_drops(v);
    else
        add_objects(v, table, zeros);
}

enum { NAMES_MAX = 4096 };

/* Why there are no rows: nothing of that name (false, and *err), or nothing has happened to it. */
static bool exists(const struct view *v, const char *what, const struct wf_ctr_table *table,
                   struct wf_err *err)
{
    unsigned tables = !strcmp(what, "watermarks")
                          ? wf_ctr_table_bit(&wf_ctrs_pg) | wf_ctr_table_bit(&wf_ctrs_queue) |
                                wf_ctr_table_bit(&wf_ctrs_pool)
                          : wf_ctr_table_bit(table ? table : &wf_ctrs_port);
    struct wf_ctr_walk w = wf_fabric_ctrs(v->f, tables);
    json_t *names = json_array();
    char name[WF_CTR_NAME_MAX];
    bool any = false;

    if (!strcmp(what, "links"))
        for (uint32_t i = 0; i < v->f->desc->n_links; i++)
            json_array_append_new(names, json_string(v->f->links[i].name));
    else
        while (!any && wf_ctr_next(&w)) {
            any = wf_match(v->at, wf_ctr_name(&w, name));
            if (json_array_size(names) < NAMES_MAX)
                json_array_append_new(names, json_string(wf_ctr_name(&w, name)));
        }
    if (!any)
        wf_ctl_nothing_fits(what, v->at, names, err);
    json_decref(names);
    return any;
}

json_t *wf_ctl_show(struct wf_fabric *f, const char *what, const char *at, struct wf_err *err)
{
    static const struct {
        const char *what;
        const struct wf_ctr_table *table;
        bool zeros;
    } tables[] = {{"ports", &wf_ctrs_port, true},
                  {"flows", &wf_ctrs_flow, true},
                  {"drops", &wf_ctrs_drop, false},
                  {"edges", &wf_ctrs_edge, true},
                  {"endpoints", &wf_ctrs_endpoint, true},
                  {"queues", &wf_ctrs_queue, false},
                  {"groups", &wf_ctrs_pg, false},
                  {"priorities", &wf_ctrs_prio, false},
                  {"watermarks", NULL, false},
                  {"watchdogs", &wf_ctrs_pfcwd, true},
                  {"faults", NULL, false},
                  {"links", NULL, false},
                  {"lldp", NULL, false},
                  {"dcbx", NULL, false}};
    struct view v = {.f = f, .at = at, .rows = json_array()};
    size_t i = 0;

    while (i < sizeof(tables) / sizeof(tables[0]) && strcmp(tables[i].what, what))
        i++;
    if (i == sizeof(tables) / sizeof(tables[0])) {
        json_decref(v.rows);
        wf_ctl_not_one_of("view", what, wf_ctl_views, i, err);
        return NULL;
    }
    wf_fabric_settle(f);
    if (tables[i].table)
        add_table(&v, tables[i].table, tables[i].zeros);
    else
        add_other(&v, what);
    if (!at || json_array_size(v.rows) || exists(&v, what, tables[i].table, err))
        return v.rows;
    json_decref(v.rows);
    return NULL;
}
