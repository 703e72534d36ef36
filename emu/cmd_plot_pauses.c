/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pause tree of a result (weft run --json): a row a queue that was stopped, below the one that
 * stopped it and in the summary's order, as long as it was kept so; queues of a deadlock; flows
 * that suffered without passing a root.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_plot.h"

enum { ROWS_MAX = 200, DEPTH_MAX = 12 };

struct tree {
    struct wf_plot *p;
    const json_t *edges;
    FILE *out;
    struct wf_plot_groups groups;
    const char *tics;
    unsigned rows, left_out;
};

/* Integers from 2^53 on are strings. */
static double number(const json_t *j)
{
    return json_is_string(j) ? strtod(json_string_value(j), NULL) : (double)json_integer_value(j);
}

static const char *text(const json_t *j, const char *key)
{
    const char *s = json_string_value(json_object_get(j, key));

    return s ? s : "";
}

/* A tic's label, in single quotes. */
static const char *quoted(struct wf_plot *p, const char *s)
{
    char buf[256];
    size_t n = 0;

    for (; *s && n + 3 < sizeof(buf); s++) {
        if (*s == '\'')
            buf[n++] = '\'';
        buf[n++] = (char)((unsigned char)*s < 0x20 ? ' ' : *s);
    }
    buf[n] = 0;
    return wf_arena_printf(&p->arena, "'%s'", buf);
}

static void row(struct tree *t, const char *group, unsigned depth, const char *name,
                const char *cause, double paused_ps, double xoffs)
{
    int g = wf_plot_group(t->p, &t->groups, group);
    const char *label =
        depth ? name : wf_arena_printf(&t->p->arena, "%s %s", group, name); /* those have no bar */

    if (g < 0 || t->rows == ROWS_MAX) {
        t->left_out++;
        return;
    }
    t->tics = wf_arena_printf(&t->p->arena, "%s%s%s -%u", t->tics, t->rows ? ", " : "",
                              quoted(t->p, label), t->rows + 1);
    fprintf(t->out, "%d,%u,%u,", g + 1, ++t->rows, depth);
    wf_csv_put(t->out, name);
    fputc(',', t->out);
    wf_csv_put(t->out, cause);
    fprintf(t->out, ",%.6f,%.0f\n", paused_ps / 1e6, xoffs);
}

static void branch(struct tree *t, const char *cause, unsigned depth)
{
    json_t *e;
    size_t i;

    json_array_foreach (t->edges, i, e) {
        if (strcmp(text(e, "cause"), cause) || number(json_object_get(e, "depth")) != depth ||
            t->rows == ROWS_MAX || depth > DEPTH_MAX)
            continue;
        row(t, wf_arena_printf(&t->p->arena, "paused, depth %u", depth), depth, text(e, "paused"),
            cause, number(json_object_get(e, "paused_ps")), number(json_object_get(e, "xoffs")));
        branch(t, text(e, "paused"), depth + 1);
    }
}

static void deadlocks(struct tree *t, const json_t *result)
{
    double end = number(json_object_get(result, "time_ps"));
    json_t *d, *h;
    size_t i, k;

    json_array_foreach (json_object_get(result, "deadlocks"), i, d) {
        const json_t *over = json_object_get(d, "until_ps"), *cycle = json_object_get(d, "cycle");
        size_t n = json_array_size(cycle);
        double since = number(json_object_get(d, "since_ps"));

        json_array_foreach (cycle, k, h)
            row(t, "deadlock", 0, text(h, "queue"),
                text(json_array_get(cycle, (k + 1) % n), "queue"),
                (over ? number(over) : end) - since, 1);
    }
}

static void rows(struct tree *t, const json_t *result)
{
    const json_t *pauses = json_object_get(result, "pauses");
    json_t *j;
    size_t i;

    t->edges = json_object_get(pauses, "edges");
    fputs("curve,row,depth,queue,cause,paused_us,xoffs\n", t->out);
    deadlocks(t, result);
    json_array_foreach (json_object_get(pauses, "roots"), i, j) {
        const char *name = json_string_value(j) ? json_string_value(j) : "";

        row(t, "root", 0, name, "", 0, 0);
        branch(t, name, 1);
    }
    json_array_foreach (json_object_get(pauses, "victims"), i, j)
        row(t, "victim", 0, json_string_value(j) ? json_string_value(j) : "", "", 0, 0);
}

static int figure(struct wf_plot *p, const json_t *result, const char *name, struct wf_err *err)
{
    struct tree t = {.p = p, .tics = ""};
    struct wf_csv source = {.comment = wf_arena_strdup(&p->arena, text(result, "digest"))};
    struct wf_plot_style style = {
        .title = wf_arena_printf(&p->arena, "Who paused whom: %s", text(result, "name")),
        .xlabel = "kept paused for [us]",
        .ylabel = "",
        .with =
            "using (column(\"curve\") == i ? column(\"paused_us\") / 2 : NaN):(-column(\"row\"))"
            ":(0):(column(\"paused_us\")):(-column(\"row\") - 0.35):(-column(\"row\") + 0.35) "
            "with boxxyerror fillstyle solid 0.6",
    };

    t.out = wf_plot_begin(p, name, &source, err);
    if (!t.out)
        return -EIO;
    rows(&t, result);
    style.groups = t.groups.names;
    style.n_groups = t.groups.n;
    style.more = wf_arena_printf(
        &p->arena, "set ytics (%s)\nset yrange [-%u:0]\nset xrange [0:*]\n", t.tics, t.rows + 1);
    if (t.left_out && !p->quiet)
        fprintf(stderr, "weft plot: %s has %u rows more, which are left out\n", name, t.left_out);
    return wf_plot_end(p, name, t.out, &style, err);
}

static bool has_any(const json_t *result)
{
    const json_t *pauses = json_object_get(result, "pauses");

    return json_array_size(json_object_get(pauses, "edges")) ||
           json_array_size(json_object_get(result, "deadlocks"));
}

int wf_plot_pauses(struct wf_plot *p, struct wf_err *err)
{
    int rc = 0;

    for (size_t i = 0; i < p->n_results && !rc; i++) {
        const char *path = p->results[i];
        json_t *j = json_load_file(path, 0, NULL);

        if (!j || strcmp(text(j, "schema"), "weft.run/1"))
            rc = wf_err_at(err, EINVAL, path, 0, 0, "no result of weft run --json (weft.run/1)");
        else if (!has_any(j))
            rc = wf_err_at(err, EINVAL, path, 0, 0, "nobody paused anybody in this run");
        else
            rc = figure(p, j, i ? wf_arena_printf(&p->arena, "pauses_%zu", i + 1) : "pauses", err);
        json_decref(j);
    }
    return rc;
}
