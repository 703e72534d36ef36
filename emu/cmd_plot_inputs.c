/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is to be drawn: tables, told apart by their columns, and folders of sweeps, whose tables and
 * whose runs' traces are taken.
 */
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd_plot.h"

static bool has(const struct wf_csv *c, const char *const *names)
{
    for (; *names; names++)
        if (wf_csv_col(c, *names) < 0)
            return false;
    return true;
}

static int kind_of(const struct wf_csv *c)
{
    static const char *const flows[] = {"seed", "flow", "size_bytes", "completion_ps", NULL};
    static const char *const summary[] = {"metric", "mean", "ci95_low", NULL};
    static const char *const trace[] = {"time_ps", "object", "series", "value", NULL};
    static const char *const runs[] = {"seed", "metric", "value", NULL};

    return has(c, trace)     ? WF_PLOT_TRACE
           : has(c, flows)   ? WF_PLOT_FLOWS
           : has(c, summary) ? WF_PLOT_SUMMARY
           : has(c, runs)    ? WF_PLOT_RUNS
                             : -1;
}

/* The last word of a key, "kmin" of switches.*.queue.3.kmin. */
static const char *short_key(const char *key)
{
    const char *dot = strrchr(key, '.');

    return dot ? dot + 1 : key;
}

static bool varies(const struct wf_csv *c, size_t col)
{
    for (size_t i = 1; i < c->n_rows; i++)
        if (strcmp(wf_csv_cell(c, i, col), wf_csv_cell(c, 0, col)))
            return true;
    return false;
}

/* Settings stand before the seed, or before the metric of a summary. */
static void find_keys(struct wf_plot_input *in)
{
    int end = wf_csv_col(&in->csv, in->kind == WF_PLOT_SUMMARY ? "metric" : "seed");

    in->n_keys = end > 0 ? (size_t)end : 0;
    for (size_t k = 0; k < in->n_keys; k++)
        in->varies[k] = varies(&in->csv, k);
}

static int add_table(struct wf_plot *p, const char *path, const char *group, struct wf_err *err)
{
    struct wf_plot_input *in = &p->inputs[p->n_inputs];
    int rc, kind;

    if (p->n_inputs == WF_PLOT_INPUTS_MAX)
        return wf_err_set(err, E2BIG, "more than %d tables", WF_PLOT_INPUTS_MAX);
    rc = wf_csv_read(&in->csv, path, err);
    kind = rc ? -1 : kind_of(&in->csv);
    if (!rc && kind < 0)
        rc = wf_err_at(err, EINVAL, path, 0, 0,
                       "neither a table of weft sweep nor a trace: its columns are %s ...",
                       wf_csv_name(&in->csv, 0));
    if (rc) {
        wf_csv_free(&in->csv);
        return rc;
    }
    in->kind = (enum wf_plot_kind)kind;
    in->path = wf_arena_strdup(&p->arena, path);
    in->group = group;
    find_keys(in);
    p->n_inputs++;
    return 0;
}

void wf_plot_inputs_free(struct wf_plot *p)
{
    for (size_t i = 0; i < p->n_inputs; i++)
        wf_csv_free(&p->inputs[i].csv);
    free(p->inputs);
}

static const char *join(struct wf_plot *p, const char *label, const char *key, const char *value)
{
    return wf_arena_printf(&p->arena, "%s%s%s=%s", label, label[0] ? ", " : "", short_key(key),
                           value);
}

const char *wf_plot_label(const struct wf_plot_input *in, size_t row, const char *but, char *buf,
                          size_t len)
{
    size_t used = 0;

    buf[0] = 0;
    for (size_t k = 0; k < in->n_keys && used < len; k++)
        if (in->varies[k] && (!but || strcmp(but, wf_csv_name(&in->csv, k))))
            used += (size_t)snprintf(buf + used, len - used, "%s%s=%s", used ? ", " : "",
                                     short_key(wf_csv_name(&in->csv, k)),
                                     wf_csv_cell(&in->csv, row, k));
    if (!buf[0])
        snprintf(buf, len, "all runs");
    return buf;
}

/* ---- a sweep's folder ---- */

/* The label of a setting by its number: axes as mixed radix, the first slowest. */
static const char *setting_label(struct wf_plot *p, const json_t *axes, size_t setting)
{
    const char *values[64], *label = "";
    size_t n = json_array_size(axes) < 64 ? json_array_size(axes) : 64;

    for (size_t i = n; i-- > 0;) {
        const json_t *list = json_object_get(json_array_get(axes, i), "values");
        size_t k = json_array_size(list);
        const char *text = k ? json_string_value(json_array_get(list, setting % k)) : NULL;

        values[i] = text ? text : "";
        setting /= k ? k : 1;
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *axis = json_array_get(axes, i);
        const char *key = json_string_value(json_object_get(axis, "key"));

        if (key && json_array_size(json_object_get(axis, "values")) > 1)
            label = join(p, label, key, values[i]);
    }
    return label[0] ? label : "all runs";
}

/* All tables in a run's folder that are traces; others are none of ours. */
static int add_traces(struct wf_plot *p, const char *folder, const char *group, struct wf_err *err)
{
    struct dirent *e;
    DIR *d = opendir(folder);
    int rc = 0;

    while (d && !rc && (e = readdir(d))) {
        size_t n = strlen(e->d_name);
        char path[8192];

        if (n < 5 || strcmp(e->d_name + n - 4, ".csv"))
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
        rc = add_table(p, path, group, err);
    }
    if (d)
        closedir(d);
    return rc;
}

static int add_sweep(struct wf_plot *p, const char *dir, struct wf_err *err)
{
    static const char *const names[] = {"flows.csv", "summary.csv"};
    char path[4096];
    json_t *j, *run;
    int rc = 0;
    size_t i;

    snprintf(path, sizeof(path), "%s/sweep.json", dir);
    j = json_load_file(path, 0, NULL);
    if (!j)
        return wf_err_at(err, EINVAL, dir, 0, 0, "no folder of weft sweep: no sweep.json in it");
    for (i = 0; i < 2 && !rc; i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
        rc = add_table(p, path, NULL, err);
    }
    json_array_foreach (json_object_get(j, "runs"), i, run) {
        const char *id = json_string_value(json_object_get(run, "id"));
        json_int_t setting = json_integer_value(json_object_get(run, "setting"));

        if (rc || !id || strchr(id, '/') || setting < 0)
            break;
        snprintf(path, sizeof(path), "%s/runs/%s", dir, id);
        rc =
            add_traces(p, path, setting_label(p, json_object_get(j, "axes"), (size_t)setting), err);
    }
    json_decref(j);
    return rc;
}

/* A run's result, which is read when it is drawn. */
static int add_result(struct wf_plot *p, const char *path, struct wf_err *err)
{
    if (p->n_results == WF_PLOT_NAMES_MAX)
        return wf_err_set(err, E2BIG, "more than %d results", WF_PLOT_NAMES_MAX);
    p->results[p->n_results++] = path;
    return 0;
}

static bool is_result(const char *path)
{
    size_t n = strlen(path);

    return n > 5 && !strcmp(path + n - 5, ".json");
}

int wf_plot_input(struct wf_plot *p, const char *path, struct wf_err *err)
{
    struct stat st;

    if (!p->inputs)
        p->inputs = calloc(WF_PLOT_INPUTS_MAX, sizeof(*p->inputs));
    if (!p->inputs)
        return wf_err_set(err, ENOMEM, "out of memory");
    if (stat(path, &st))
        return wf_err_at(err, errno, path, 0, 0, "cannot be read: %s", strerror(errno));
    if (!S_ISDIR(st.st_mode) && is_result(path))
        return add_result(p, path, err);
    return S_ISDIR(st.st_mode) ? add_sweep(p, path, err) : add_table(p, path, NULL, err);
}
