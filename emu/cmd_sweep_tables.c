/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of a sweep, made from the results that lie there: the same whatever the number of
 * jobs, and however often it was interrupted. Each is written beside its place and renamed.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/version.h"
#include "cmd_sweep.h"
#include "scen/csv.h"
#include "scen/manifest.h"
#include "scen/stats.h"
#include "scen/tidy.h"

/* All observations, for the summary. */
struct obs {
    const char *name; /* of the metric; its text is constant */
    size_t setting;
    double value;
};

struct tables {
    const struct wf_sweep *s;
    FILE *runs, *flows, *summary;
    struct obs *obs;
    size_t n_obs, *failed; /* runs that did not pass, by setting */
    json_t *list;          /* for sweep.json */
};

static const char *file_path(const struct wf_sweep *s, const char *name, bool part, char buf[4096])
{
    snprintf(buf, 4096, "%s/%s%s", s->out, name, part ? ".part" : "");
    return buf;
}

static FILE *create(const struct wf_sweep *s, const char *name, struct wf_err *err)
{
    char path[4096];
    FILE *f = fopen(file_path(s, name, true, path), "we");

    if (!f)
        wf_err_set(err, errno, "cannot write %s: %s", path, strerror(errno));
    return f;
}

/* Close it, and put it in its place when all of it could be written. */
static int commit(const struct wf_sweep *s, const char *name, FILE *f, struct wf_err *err)
{
    char part[4096], path[4096];
    bool bad = ferror(f);
    int code;

    file_path(s, name, true, part);
    file_path(s, name, false, path);
    errno = 0;
    if (!fclose(f) && !bad && !rename(part, path))
        return 0;
    code = errno ? errno : ENOSPC;
    unlink(part);
    return wf_err_set(err, code, "cannot write %s: %s", path, strerror(code));
}

/* What it takes to make it again, but nothing that differs between two ways to the same table. */
static void head(const struct wf_sweep *s, FILE *out)
{
    char name[128];

    snprintf(name, sizeof(name), "%s", s->name);
    for (char *c = name; *c; c++)
        *c = (unsigned char)*c < 0x20 ? ' ' : *c;
    fprintf(out,
            "# weft %s, sweep of %s, seeds %llu to %llu; sweep.json beside it has the manifest\n",
            wf_version(), name, (unsigned long long)s->first_seed,
            (unsigned long long)(s->first_seed + s->seeds - 1));
    for (size_t a = 0; a < s->n_axes; a++) {
        wf_csv_put(out, s->axes[a].key);
        fputc(',', out);
    }
}

static void settings(const struct wf_sweep *s, size_t setting, FILE *out)
{
    for (size_t a = 0; a < s->n_axes; a++) {
        wf_csv_put(out, wf_sweep_value(s, setting, a));
        fputc(',', out);
    }
}

static void key_cells(const struct wf_sweep *s, const struct wf_sweep_run *r, const char *status,
                      FILE *out)
{
    settings(s, r->setting, out);
    fprintf(out, "%llu,%s", (unsigned long long)r->seed, status);
}

static void metric(struct tables *t, const struct wf_sweep_run *r, const char *status,
                   const char *digest, const char *name, double value)
{
    key_cells(t->s, r, status, t->runs);
    fprintf(t->runs, ",%s,%s,", digest, name);
    wf_csv_put_number(t->runs, value);
    fputc('\n', t->runs);
}

static void one_run(struct tables *t, const struct wf_sweep_run *r)
{
    struct wf_tidy_metric m[WF_TIDY_METRICS_MAX];
    json_t *j = r->state == WF_SWEEP_FINISHED ? wf_sweep_result(t->s, r) : NULL, *f;
    const char *status = wf_sweep_status(r, j);
    const char *digest = j ? json_string_value(json_object_get(j, "digest")) : "";
    size_t n = j ? wf_tidy_metrics(j, m) : 0, i;

    metric(t, r, status, digest, "exit_status", r->state == WF_SWEEP_TO_RUN ? NAN : r->exit_code);
    for (i = 0; i < n; i++) {
        metric(t, r, status, digest, m[i].name, m[i].value);
        t->obs[t->n_obs++] = (struct obs){m[i].name, r->setting, m[i].value};
    }
    json_array_foreach (json_object_get(j, "flows"), i, f) {
        if (!wf_tidy_judged(f))
            continue;
        key_cells(t->s, r, status, t->flows);
        wf_tidy_flow(f, t->flows);
        fputc('\n', t->flows);
    }
    t->failed[r->setting] += strcmp(status, "passed") != 0;
    json_array_append_new(t->list, json_pack("{s:s, s:i, s:s, s:s, s:s, s:i}", "id", r->id,
                                             "setting", (int)r->setting, "status", status, "digest",
                                             digest, "scenario_sha256", t->s->sha256[r->setting],
                                             "exit_status", r->exit_code));
    json_object_set_new(json_array_get(t->list, json_array_size(t->list) - 1), "seed",
                        json_integer((json_int_t)r->seed));
    json_decref(j);
}

/* A row for each metric of a setting, in the order in which the runs have them. */
static void summarise(struct tables *t, size_t setting, const struct obs *o, size_t n)
{
    double *v = calloc(n + 1, sizeof(*v));
    struct wf_stats st;

    WF_ASSERT(v);
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        bool seen = false;

        for (size_t j = 0; j < i && !seen; j++)
            seen = o[j].name == o[i].name;
        for (size_t j = i; j < n && !seen; j++)
            if (o[j].name == o[i].name)
                v[k++] = o[j].value;
        if (seen)
            continue;
        wf_stats(v, k, &st);
        settings(t->s, setting, t->summary);
        fprintf(t->summary, "%s,%u,%zu,%zu", o[i].name, t->s->seeds, t->failed[setting], st.n);
        for (const double *x = (const double[]){st.mean, st.sd, st.mean - st.ci95,
                                                st.mean + st.ci95, st.median, st.min, st.max},
                          *end = x + 7;
             x < end; x++) {
            fputc(',', t->summary);
            wf_csv_put_number(t->summary, *x);
        }
        fputc('\n', t->summary);
    }
    free(v);
}

static void fill(struct tables *t)
{
    const struct wf_sweep *s = t->s;

    head(s, t->runs);
    fputs("seed,status,digest,metric,value\n", t->runs);
    head(s, t->flows);
    fputs("seed,status", t->flows);
    wf_tidy_flow_header(t->flows);
    fputc('\n', t->flows);
    head(s, t->summary);
    fputs("metric,runs,not_passed,n,mean,sd,ci95_low,ci95_high,median,min,max\n", t->summary);
    for (size_t k = 0; k < s->n_settings; k++) {
        t->n_obs = 0;
        for (size_t i = 0; i < s->seeds; i++)
            one_run(t, &s->runs[k * s->seeds + i]);
        summarise(t, k, t->obs, t->n_obs);
    }
}

static json_t *axes(const struct wf_sweep *s)
{
    json_t *list = json_array();

    for (size_t a = 0; a < s->n_axes; a++) {
        json_t *values = json_array();

        for (size_t i = 0; i < s->axes[a].n; i++)
            json_array_append_new(values, json_string(s->axes[a].values[i]));
        json_array_append_new(list,
                              json_pack("{s:s, s:o}", "key", s->axes[a].key, "values", values));
    }
    return list;
}

static int write_json(struct tables *t, struct wf_err *err)
{
    const struct wf_sweep *s = t->s;
    json_t *m = wf_manifest_machine(), *j;
    FILE *f = create(s, "sweep.json", err);
    int rc;

    json_object_set_new(m, "scenario", json_string(s->given));
    json_object_set_new(m, "command", json_string(s->command));
    j = json_pack("{s:s, s:s, s:o, s:I, s:i, s:O, s:o}", "schema", "weft.sweep/1", "name", s->name,
                  "axes", axes(s), "first_seed", (json_int_t)s->first_seed, "seeds", (int)s->seeds,
                  "runs", t->list, "manifest", m);
    if (!f || !j) {
        json_decref(j);
        return f ? -EINVAL : -EIO;
    }
    json_dumpf(j, f, JSON_INDENT(1));
    fputc('\n', f);
    rc = commit(s, "sweep.json", f, err);
    json_decref(j);
    return rc;
}

int wf_sweep_tables(const struct wf_sweep *s, struct wf_err *err)
{
    struct tables t = {.s = s, .list = json_array()};
    int rc = -EIO, one;

    t.obs = calloc((size_t)s->seeds * WF_TIDY_METRICS_MAX, sizeof(*t.obs));
    t.failed = calloc(s->n_settings, sizeof(*t.failed));
    WF_ASSERT(t.obs && t.failed);
    t.runs = create(s, "runs.csv", err);
    t.flows = t.runs ? create(s, "flows.csv", err) : NULL;
    t.summary = t.flows ? create(s, "summary.csv", err) : NULL;
    if (t.summary) {
        fill(&t);
        rc = commit(s, "summary.csv", t.summary, err);
    }
    if (t.flows) {
        one = commit(s, "flows.csv", t.flows, rc ? NULL : err);
        rc = rc ? rc : one;
    }
    if (t.runs) {
        one = commit(s, "runs.csv", t.runs, rc ? NULL : err);
        rc = rc ? rc : one;
    }
    if (!rc)
        rc = write_json(&t, err);
    json_decref(t.list);
    free(t.obs);
    free(t.failed);
    return rc;
}
