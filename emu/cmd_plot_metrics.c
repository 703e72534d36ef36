/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A metric of a sweep against one of its settings, with the mean's 95% confidence interval; the
 * other settings make the curves.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cmd_plot.h"
#include "scen/tidy.h"

/* A value of a scenario as a number in its base unit; what it is measured in, NULL: no number. */
static const char *measure(const char *text, double *out)
{
    uint64_t v;
    uint32_t ppm;

    if (!wf_parse_uint(text, &v, NULL)) {
        *out = (double)v;
        return "";
    }
    if (!wf_parse_bytes(text, &v, NULL)) {
        *out = (double)v;
        return "bytes";
    }
    if (!wf_parse_time(text, &v, NULL)) {
        *out = (double)v;
        return "ps";
    }
    if (!wf_parse_rate(text, &v, NULL)) {
        *out = (double)v;
        return "bit/s";
    }
    if (!wf_parse_percent(text, &ppm, NULL)) {
        *out = ppm;
        return "ppm";
    }
    return NULL;
}

/* Column of the key along x: --x, else the first that varies. -1: there is none. */
static int x_column(const struct wf_plot *p, const struct wf_plot_input *in, struct wf_err *err)
{
    const char *names[WF_CSV_COLS_MAX];

    for (size_t k = 0; k < in->n_keys; k++) {
        names[k] = wf_csv_name(&in->csv, k);
        if (p->x ? !strcmp(p->x, names[k]) : in->varies[k])
            return (int)k;
    }
    if (!p->x)
        return in->n_keys ? 0
                          : wf_err_at(err, EINVAL, in->path, 0, 0,
                                      "a sweep without --set has nothing to draw a metric against");
    wf_err_at(err, EINVAL, in->path, 0, 0, "no setting '%s'", p->x);
    wf_err_suggest(err, p->x, names, in->n_keys);
    return -EINVAL;
}

/* Scale of y and its label, from the unit in the metric's name. */
static const char *y_unit(struct wf_plot *p, const char *metric, const char **factor)
{
    static const struct {
        const char *ending, *unit, *factor;
    } units[] = {{"_ps", "us", "1e6"}, {"_bps", "Gbit/s", "1e9"}, {"_bytes", "kB", "1e3"}};
    size_t n = strlen(metric);

    *factor = "1";
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t k = strlen(units[i].ending);

        if (n <= k || strcmp(metric + n - k, units[i].ending))
            continue;
        *factor = units[i].factor;
        return wf_arena_printf(&p->arena, "%.*s [%s]", (int)(n - k), metric, units[i].unit);
    }
    return metric;
}

/* What all values of the column are measured in; NULL: they are words. */
static const char *column_unit(const struct wf_csv *c, int x)
{
    const char *unit = "";
    double v;

    for (size_t i = 0; i < c->n_rows; i++) {
        const char *one = measure(wf_csv_cell(c, i, (size_t)x), &v);

        if (!one)
            return NULL;
        if (one[0] && unit[0] && strcmp(one, unit))
            return NULL;
        unit = one[0] ? one : unit;
    }
    return unit;
}

/* The rows of one metric. Words stand along x in the order of their first mention. */
static void rows(struct wf_plot *p, const struct wf_plot_input *in, const char *metric, int x,
                 struct wf_plot_groups *groups, const char *unit, FILE *out)
{
    struct wf_plot_groups words = {.n = 0};
    static const char *const cells[] = {"mean", "ci95_low", "ci95_high", "median"};
    const struct wf_csv *c = &in->csv;
    int at = wf_csv_col(c, "metric");

    for (size_t i = 0; i < c->n_rows; i++) {
        const char *text = wf_csv_cell(c, i, (size_t)x);
        char label[512];
        double v = 0;
        int curve;

        if (strcmp(wf_csv_cell(c, i, (size_t)at), metric))
            continue;
        wf_plot_label(in, i, wf_csv_name(c, (size_t)x), label, sizeof(label));
        curve = wf_plot_group(p, groups, label);
        if (curve < 0)
            continue;
        if (unit)
            measure(text, &v);
        else
            v = wf_plot_group(p, &words, text);
        fprintf(out, "%d,%.10g", curve + 1, v);
        for (size_t k = 0; k < 4; k++) {
            const char *cell = wf_csv_cell(c, i, (size_t)wf_csv_col(c, cells[k]));

            /* one seed has no interval: then it is the mean */
            fprintf(out, ",%s", cell[0] ? cell : wf_csv_cell(c, i, (size_t)wf_csv_col(c, "mean")));
        }
        fputc(',', out);
        wf_csv_put(out, text);
        fputc(',', out);
        wf_csv_put(out, label);
        fputc('\n', out);
    }
}

static int no_metric(const struct wf_plot_input *in, const char *metric, struct wf_err *err)
{
    const struct wf_csv *c = &in->csv;
    const char *names[128];
    size_t n = 0, at = (size_t)wf_csv_col(c, "metric");

    for (size_t i = 0; i < c->n_rows && n < 128; i++)
        if (!n || strcmp(names[n - 1], wf_csv_cell(c, i, at)))
            names[n++] = wf_csv_cell(c, i, at);
    wf_err_at(err, EINVAL, in->path, 0, 0, "no metric '%s'", metric);
    wf_err_suggest(err, metric, names, n);
    return -EINVAL;
}

static bool known(const struct wf_csv *c, const char *metric)
{
    size_t at = (size_t)wf_csv_col(c, "metric");

    for (size_t i = 0; i < c->n_rows; i++)
        if (!strcmp(wf_csv_cell(c, i, at), metric))
            return true;
    return false;
}

static int figure(struct wf_plot *p, const struct wf_plot_input *in, const char *metric,
                  struct wf_err *err)
{
    int x = x_column(p, in, err);
    const char *key, *factor, *unit, *meaning = wf_tidy_meaning(metric);
    const char *name = wf_arena_printf(&p->arena, "metric_%s", metric);
    struct wf_plot_groups groups = {.n = 0};
    struct wf_plot_style style = {.from_zero_y = true};
    FILE *out;

    if (x < 0)
        return x;
    if (!known(&in->csv, metric) ||
        strspn(metric, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(metric))
        return no_metric(in, metric, err);
    key = wf_csv_name(&in->csv, (size_t)x);
    unit = column_unit(&in->csv, x);
    out = wf_plot_begin(p, name, &in->csv, err);
    if (!out)
        return -EIO;
    fputs("curve,x,mean,ci95_low,ci95_high,median,setting,group\n", out);
    rows(p, in, metric, x, &groups, unit, out);
    style.ylabel = y_unit(p, metric, &factor);
    style.title = wf_arena_printf(&p->arena, "%s: mean and its 95%% confidence interval",
                                  meaning ? meaning : metric);
    style.xlabel = key;
    style.groups = groups.names;
    style.n_groups = groups.n;
    style.with = wf_arena_printf(
        &p->arena,
        "using (column(\"x\")):(column(\"curve\") == i ? column(\"mean\") / %s : "
        "NaN):(column(\"ci95_low\") / %s)"
        ":(column(\"ci95_high\") / %s):xticlabels(7) with yerrorlines pointtype 7 pointsize 0.4",
        factor, factor, factor);
    style.more = "set xtics rotate by -30\nset offsets graph 0.04, graph 0.04, 0, 0\n";
    wf_plot_told(p, name, &groups);
    return wf_plot_end(p, name, out, &style, err);
}

int wf_plot_metrics(struct wf_plot *p, struct wf_err *err)
{
    const struct wf_plot_input *in = NULL;
    int rc = 0;

    for (size_t i = 0; i < p->n_inputs; i++)
        if (p->inputs[i].kind == WF_PLOT_SUMMARY)
            in = &p->inputs[i];
    if (p->n_metrics && !in)
        return wf_err_set(err, EINVAL, "--metric needs a sweep: its folder, or its summary.csv");
    for (size_t i = 0; i < p->n_metrics && !rc; i++)
        rc = figure(p, in, p->metrics[i], err);
    return rc;
}
