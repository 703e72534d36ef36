/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion time and slowdown by size: of the flows of each setting that have one size, median and
 * 5th to 95th percentile, over all seeds. Flows that never completed are counted beside.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "cmd_plot.h"
#include "scen/stats.h"

struct point {
    int group;
    double size, completion, slowdown; /* completion 0: never */
};

struct flows {
    struct point *v;
    size_t n, cap;
    struct wf_plot_groups groups;
    const struct wf_csv *source;
};

static int by_group_and_size(const void *a, const void *b)
{
    const struct point *x = a, *y = b;

    if (x->group != y->group)
        return (x->group > y->group) - (x->group < y->group);
    return (x->size > y->size) - (x->size < y->size);
}

static double cell(const struct wf_csv *c, size_t row, const char *name)
{
    int col = wf_csv_col(c, name);

    return col < 0 ? 0 : strtod(wf_csv_cell(c, row, (size_t)col), NULL);
}

static void collect(struct wf_plot *p, struct flows *f, const struct wf_plot_input *in)
{
    const struct wf_csv *c = &in->csv;
    char label[512];

    f->source = c;
    f->v = realloc(f->v, (f->n + c->n_rows + 1) * sizeof(*f->v));
    WF_ASSERT(f->v);
    for (size_t i = 0; i < c->n_rows; i++) {
        int g = wf_plot_group(p, &f->groups, wf_plot_label(in, i, NULL, label, sizeof(label)));

        if (g >= 0)
            f->v[f->n++] = (struct point){g, cell(c, i, "size_bytes"), cell(c, i, "completion_ps"),
                                          cell(c, i, "slowdown")};
    }
}

/* The rows of points i to end, which are of one group and size. */
static void row(const struct flows *f, size_t i, size_t end, bool slowdown, double *v, FILE *out)
{
    static const double percents[] = {50, 5, 95, 99};
    double cells[5] = {0};
    struct wf_stats st;
    size_t n = 0;

    for (size_t k = i; k < end; k++) {
        double x = slowdown ? f->v[k].slowdown : f->v[k].completion;

        if (x > 0)
            v[n++] = x;
    }
    fprintf(out, "%d,%.0f,%zu,%zu", f->v[i].group + 1, f->v[i].size, end - i, n);
    if (n) {
        wf_stats(v, n, &st);
        for (size_t k = 0; k < 4; k++)
            cells[k] = wf_stats_rank(v, n, percents[k]);
        cells[4] = st.mean;
    }
    for (size_t k = 0; k < 5; k++) {
        fputc(',', out);
        wf_csv_put_number(out, n ? cells[k] : NAN);
    }
    fputc(',', out);
    wf_csv_put(out, f->groups.names[f->v[i].group]);
    fputc('\n', out);
}

static int figure(struct wf_plot *p, const struct flows *f, bool slowdown, struct wf_err *err)
{
    const char *factor = slowdown ? "1" : "1e6"; /* ps to us */
    const char *name = slowdown ? "slowdown" : "completion";
    struct wf_plot_style style = {
        .title = slowdown ? "Slowdown by size: median, 5% to 95% of flows"
                          : "Completion time by size: median, 5% to 95% of flows",
        .xlabel = "flow size (the curves stand a little apart)",
        .ylabel = slowdown ? "completion time / ideal time of the path" : "completion time [us]",
        .log_x = true,
        .log_y = true,
        .groups = f->groups.names,
        .n_groups = f->groups.n,
        .more = "set format x '%.0s%cB'\n",
    };
    double *v = calloc(f->n + 1, sizeof(*v));
    FILE *out = wf_plot_begin(p, name, f->source, err);

    WF_ASSERT(v);
    if (!out) {
        free(v);
        return -EIO;
    }
    style.with = wf_arena_printf(
        &p->arena,
        "using (column(\"size_bytes\") * (1 + 0.04 * (i - %g))):(column(\"curve\") == i ? "
        "column(\"p50\") / %s : NaN):(column(\"p5\") / %s):(column(\"p95\") / %s) "
        "with yerrorlines pointtype 7 pointsize 0.4",
        ((double)f->groups.n + 1) / 2, factor, factor, factor);
    fputs("curve,size_bytes,flows,completed,p50,p5,p95,p99,mean,setting\n", out);
    for (size_t i = 0, end; i < f->n; i = end) {
        for (end = i + 1; end < f->n && !by_group_and_size(&f->v[i], &f->v[end]); end++)
            ;
        row(f, i, end, slowdown, v, out);
    }
    free(v);
    wf_plot_told(p, name, &f->groups);
    return wf_plot_end(p, name, out, &style, err);
}

int wf_plot_flows(struct wf_plot *p, struct wf_err *err)
{
    struct flows f = {.n = 0};
    int rc = 0;

    for (size_t i = 0; i < p->n_inputs; i++)
        if (p->inputs[i].kind == WF_PLOT_FLOWS)
            collect(p, &f, &p->inputs[i]);
    if (f.n) {
        qsort(f.v, f.n, sizeof(*f.v), by_group_and_size);
        rc = figure(p, &f, false, err);
        if (!rc)
            rc = figure(p, &f, true, err);
    }
    free(f.v);
    return rc;
}
