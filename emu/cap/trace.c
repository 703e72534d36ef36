/* SPDX-License-Identifier: BSD-3-Clause */
/* Which series there are, and their files. See trace.h; samples are in trace_sample.c, changes in
 * trace_change.c, lines in trace_csv.c. */
#include "cap/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "cap/trace_priv.h"

int wf_traces_new(struct wf_traces **out, const struct wf_traces_conf *conf, struct wf_err *err)
{
    struct wf_traces *t = calloc(1, sizeof(*t));

    *out = t;
    if (!t)
        return wf_err_set(err, ENOMEM, "no memory for traces");
    t->conf = *conf;
    t->last_file = &t->files;
    t->last = &t->all;
    return 0;
}

/* ---- which series ---- */

/* Objects come in the order of nodes: the search begins where the last one was found. len: of the
 * node's name. */
static struct wf_node *node_of(struct wf_traces *t, const char *name, size_t len)
{
    struct wf_fabric *f = t->conf.f;

    for (uint32_t i = 0; i < f->n_nodes; i++) {
        uint32_t n = (t->at_node + i) % f->n_nodes;

        if (!strncmp(name, f->nodes[n]->name, len) && !f->nodes[n]->name[len]) {
            t->at_node = n;
            return f->nodes[n];
        }
    }
    return NULL;
}

/* A flow's counters are brought together by the host that sends it. */
static struct wf_node *flow_node(struct wf_traces *t, const char *flow)
{
    const struct wf_desc *d = t->conf.f->desc;

    for (uint32_t i = 0; i < d->n_flows; i++)
        if (!strcmp(d->flows[i].name, flow + sizeof("flow.") - 1))
            return wf_fabric_host(t->conf.f, d->flows[i].from);
    return NULL;
}

static void find_owner(struct wf_traces *t, struct wf_trace_one *o, const struct wf_ctr_walk *w)
{
    size_t len = strcspn(w->holder, ":");

    if (w->table == &wf_ctrs_fabric)
        return;
    if (!strncmp(w->holder, "flow.", strlen("flow."))) {
        o->node = flow_node(t, w->holder);
        return;
    }
    o->node = node_of(t, w->holder, len);
    WF_ASSERT(o->node);
    if (w->holder[len]) /* ":p3" */
        o->port = &o->node->ports[strtoul(w->holder + len + 2, NULL, 10)];
    if (o->def.kind == WF_SERIES_PAUSED || o->def.kind == WF_SERIES_PAUSING) {
        o->pfc = wf_pfc_of(o->port);
        o->prio = w->index;
    }
}

static struct wf_trace_file *file_of(struct wf_traces *t, const char *path)
{
    struct wf_trace_file *f;

    path = t->conf.file ? t->conf.file : path;
    for (f = t->files; f; f = f->next)
        if (!strcmp(f->path, path))
            return f;
    f = WF_ARENA_NEW(&t->arena, struct wf_trace_file);
    f->path = wf_arena_strdup(&t->arena, path);
    *t->last_file = f;
    t->last_file = &f->next;
    return f;
}

static struct wf_sampler *sampler_of(struct wf_traces *t, const struct wf_trace_cfg *cfg)
{
    struct wf_sampler *s;

    for (s = t->samplers; s; s = s->next)
        if (s->cfg == cfg)
            return s;
    s = WF_ARENA_NEW(&t->arena, struct wf_sampler);
    s->set = t;
    s->cfg = cfg;
    s->next = t->samplers;
    t->samplers = s;
    return s;
}

int wf_traces_add(struct wf_traces *t, const struct wf_trace_cfg *cfg,
                  const struct wf_ctr_walk *obj, const char *series, struct wf_err *err)
{
    char name[WF_CTR_NAME_MAX];
    struct wf_series def;
    struct wf_trace_one *o;

    if (!wf_series_find(obj->table, series, &def))
        return 0; /* a port has two tables, and this is in the other one */
    if (cfg->on == WF_TRACE_CHANGE && wf_series_only_sampled(obj->table, &def))
        return wf_err_set(err, EINVAL, "%s of %s cannot be written on change: %s", series,
                          wf_ctr_name(obj, name), wf_series_only_sampled(obj->table, &def));
    o = WF_ARENA_NEW(&t->arena, struct wf_trace_one);
    o->object = wf_arena_strdup(&t->arena, wf_ctr_name(obj, name));
    o->name = series;
    o->def = def;
    o->cfg = cfg;
    o->value = &obj->values[def.row];
    o->file = file_of(t, cfg->file);
    o->key = o->file->n++;
    find_owner(t, o, obj);
    if (cfg->on == WF_TRACE_SAMPLE)
        sampler_of(t, cfg)->n++;
    *t->last = o;
    t->last = &o->next;
    t->n++;
    return 0;
}

/* ---- files ---- */

static void write_record(void *arg, uint64_t t_ps, uint64_t key, const void *data, uint32_t len)
{
    struct wf_trace_file *f = arg;
    struct wf_row row;

    WF_ASSERT(len == sizeof(row));
    memcpy(&row, data, sizeof(row));
    wf_trace_csv_row(f->csv, f->rec, t_ps, key, &row);
}

static void flush_file(void *arg)
{
    struct wf_trace_file *f = arg;

    wf_trace_csv_flush(f->csv, false);
}

static int open_file(struct wf_traces *t, struct wf_trace_file *f, struct wf_err *err)
{
    const struct wf_recorder_conf conf = {
        .rings = t->conf.f->n_lcs,
        .lossy = t->conf.live,
        .ring_bytes = t->conf.ring_bytes,
        .published_ps = t->conf.published_ps,
        .published_arg = t->conf.published_arg,
        .write = write_record,
        .flush = flush_file,
        .arg = f,
    };
    int rc = wf_trace_csv_open(&f->csv, f->path, t->conf.comment, err);

    if (rc)
        return rc;
    f->series = WF_ARENA_ARRAY(&t->arena, struct wf_trace_csv_series, f->n);
    for (struct wf_trace_one *o = t->all; o; o = o->next)
        if (o->file == f) {
            f->series[o->key].object = o->object;
            f->series[o->key].name = o->name;
        }
    wf_trace_csv_series(f->csv, f->series);
    return wf_recorder_new(&f->rec, &conf, err);
}

int wf_traces_start(struct wf_traces *t, struct wf_run *run, struct wf_err *err)
{
    int rc = 0;

    for (struct wf_trace_file *f = t->files; f && !rc; f = f->next)
        rc = open_file(t, f, err);
    if (rc)
        return rc;
    t->run = run;
    for (struct wf_sampler *s = t->samplers; s; s = s->next)
        wf_trace_start_sampler(t, s);
    wf_trace_fill_groups(t);
    if (t->watching)
        wf_trace_watch(t, run);
    return 0;
}

bool wf_traces_take_error(struct wf_traces *t, struct wf_err *err)
{
    bool any = false;

    for (struct wf_trace_file *f = t->files; f && !any; f = f->next) {
        if (!f->rec)
            continue;
        if (!t->run)
            wf_recorder_lock(f->rec);
        else if (!wf_recorder_try(f->rec)) /* it is being written to: the next time */
            continue;
        any = wf_trace_csv_take_error(f->csv, err);
        wf_recorder_unlock(f->rec);
    }
    return any;
}

struct wf_traces_totals wf_traces_totals(const struct wf_traces *t)
{
    struct wf_traces_totals sum = {0};

    for (const struct wf_trace_file *f = t->files; f; f = f->next) {
        uint64_t lost;

        sum.files++;
        if (!f->rec)
            continue;
        wf_recorder_lock(f->rec);
        sum.rows += wf_trace_csv_rows(f->csv, &lost);
        wf_recorder_unlock(f->rec);
        sum.lost += lost + wf_recorder_lost(f->rec);
    }
    return sum;
}

const char *wf_traces_file(const struct wf_traces *t, unsigned i)
{
    const struct wf_trace_file *f = t->files;

    while (f && i--)
        f = f->next;
    return f ? f->path : NULL;
}

static void take_off(struct wf_traces *t)
{
    struct wf_fabric *f = t->conf.f;
    struct wf_poller **at = &t->run->pollers;

    for (struct wf_sampler *s = t->samplers; s; s = s->next)
        wf_fabric_remove_stops(f, &s->stops);
    if (!t->watching)
        return;
    for (uint32_t i = 0; i < f->n_lcs; i++)
        f->lcs[i].watch = NULL;
    wf_fabric_remove_stops(f, &t->behind);
    while (*at && *at != &t->poller)
        at = &(*at)->next;
    if (*at)
        *at = t->poller.next;
}

/* Each series ends with a row of the end's time. */
static void last_rows(struct wf_traces *t)
{
    uint64_t now = wf_fabric_now_ps(t->conf.f);

    for (struct wf_sampler *s = t->samplers; s; s = s->next)
        wf_trace_sample(s, t->conf.f, false);
    wf_trace_check_all(t, t->conf.f);
    for (struct wf_trace_one *o = t->all; o; o = o->next)
        if (o->cfg->on == WF_TRACE_CHANGE)
            wf_trace_put(t, o, now, WF_ROW_ALWAYS, wf_trace_value(o, now, false), 0);
    for (struct wf_trace_file *f = t->files; f; f = f->next) {
        wf_recorder_drain(f->rec, now);
        wf_recorder_lock(f->rec);
        wf_trace_csv_flush(f->csv, true);
        wf_recorder_unlock(f->rec);
    }
}

void wf_traces_stop(struct wf_traces *t)
{
    if (!t->run)
        return;
    take_off(t);
    last_rows(t);
    t->run = NULL;
}

void wf_traces_free(struct wf_traces *t)
{
    if (!t)
        return;
    wf_traces_stop(t);
    for (struct wf_trace_file *f = t->files; f; f = f->next) {
        wf_recorder_free(f->rec);
        wf_trace_csv_close(f->csv);
    }
    wf_arena_free(&t->arena);
    free(t);
}
