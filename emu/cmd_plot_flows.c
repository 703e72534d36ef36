/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion time and slowdown by size: of the flows of each setting that have one size, median and
 * 5th to 95th percentile, over all seeds; where sizes are drawn, by decades of size. And the tail
 * of the slowdown by decades: 50th, 95th, 99th and 99.9th percentile. Flows that never completed
 * are counted beside, and in the tail as slower than all others.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "cmd_plot.h"
#include "scen/slowdown.h"
#include "scen/stats.h"

enum { SIZES_MAX = 32 }; /* more different ones in a setting: they are drawn */

struct point {
    int group;
    double size, completion, slowdown; /* completion 0: never */
};

struct flows {
    struct point *v;
    size_t n, cap;
    struct wf_plot_groups groups;
    const struct wf_csv *source;
    bool by_decade;
};

/* A figure: which column, of which flows one row, what of them. */
struct figure {
    const char *name;
    struct wf_plot_style style;
    bool slowdown, by_decade;
    double percents[5];
    const char *head; /* of the table */
    const char *low, *mid, *high, *factor;
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

static bool same(const struct point *a, const struct point *b, bool decade)
{
    if (!decade)
        return !by_group_and_size(a, b);
    return a->group == b->group &&
           wf_slow_bucket((uint64_t)a->size) == wf_slow_bucket((uint64_t)b->size);
}

static bool many_sizes(const struct flows *f)
{
    size_t sizes = 0;

    for (size_t i = 0; i < f->n && sizes <= SIZES_MAX; i++) {
        if (i && f->v[i].group != f->v[i - 1].group)
            sizes = 0;
        sizes += !i || by_group_and_size(&f->v[i], &f->v[i - 1]);
    }
    return sizes > SIZES_MAX;
}

/* The row of points i to end. A flow that never completed is as slow as can be where tails are
 * asked for, and is not there where the spread is. */
static void row(const struct flows *f, size_t i, size_t end, const struct figure *g, double *v,
                FILE *out)
{
    bool tail = g->percents[3] == 99.9;
    size_t n = 0, done = 0;
    double size = 0, sum = 0, x;

    for (size_t k = i; k < end; k++) {
        x = g->slowdown ? f->v[k].slowdown : f->v[k].completion;
        size += f->v[k].size / (double)(end - i);
        if (x > 0)
            v[n++] = x;
        done += x > 0;
        sum += x > 0 ? x : 0;
        if (!(x > 0) && tail)
            v[n++] = INFINITY;
    }
    fprintf(out, "%d,%.0f,%zu,%zu", f->v[i].group + 1, size, end - i, done);
    if (n)
        wf_stats(v, n, &(struct wf_stats){0});
    for (size_t k = 0; k < 4; k++) {
        x = n ? wf_stats_rank(v, n, g->percents[k]) : NAN;
        fputc(',', out);
        wf_csv_put_number(out, isfinite(x) ? x : NAN);
    }
    fputc(',', out);
    wf_csv_put_number(out, done ? sum / (double)done : NAN);
    fputc(',', out);
    wf_csv_put(out, f->groups.names[f->v[i].group]);
    fputc('\n', out);
}

static int draw(struct wf_plot *p, const struct flows *f, struct figure *g, struct wf_err *err)
{
    double *v = calloc(f->n + 1, sizeof(*v));
    FILE *out = wf_plot_begin(p, g->name, f->source, err);

    WF_ASSERT(v);
    if (!out) {
        free(v);
        return -EIO;
    }
    g->style.log_x = g->style.log_y = true;
    g->style.groups = f->groups.names;
    g->style.n_groups = f->groups.n;
    g->style.more = "set format x '%.0s%cB'\n";
    g->style.with = wf_arena_printf(
        &p->arena,
        "using (column(\"size_bytes\") * (1 + 0.04 * (i - %g))):(column(\"curve\") == i ? "
        "column(\"%s\") / %s : NaN):(column(\"%s\") / %s):(column(\"%s\") / %s) "
        "with yerrorlines pointtype 7 pointsize 0.4",
        ((double)f->groups.n + 1) / 2, g->mid, g->factor, g->low, g->factor, g->high, g->factor);
    fprintf(out, "curve,size_bytes,flows,completed,%s,mean,setting\n", g->head);
    for (size_t i = 0, end; i < f->n; i = end) {
        for (end = i + 1; end < f->n && same(&f->v[i], &f->v[end], g->by_decade); end++)
            ;
        row(f, i, end, g, v, out);
    }
    free(v);
    wf_plot_told(p, g->name, &f->groups);
    return wf_plot_end(p, g->name, out, &g->style, err);
}

static int spread(struct wf_plot *p, const struct flows *f, bool slowdown, struct wf_err *err)
{
    struct figure g = {
        .name = slowdown ? "slowdown" : "completion",
        .style = {.title = slowdown ? "Slowdown by size: median, 5% to 95% of flows"
                                    : "Completion time by size: median, 5% to 95% of flows",
                  .xlabel = "flow size (the curves stand a little apart)",
                  .ylabel = slowdown ? "completion time / ideal time of the path"
                                     : "completion time [us]"},
        .slowdown = slowdown,
        .by_decade = f->by_decade,
        .percents = {50, 5, 95, 99},
        .head = "p50,p5,p95,p99",
        .low = "p5",
        .mid = "p50",
        .high = "p95",
        .factor = slowdown ? "1" : "1e6", /* ps to us */
    };

    return draw(p, f, &g, err);
}

static int tail(struct wf_plot *p, const struct flows *f, struct wf_err *err)
{
    struct figure g = {
        .name = "slowdown_tail",
        .style = {.title = "Slowdown by decade of size: 99% of flows, from median to 99.9%",
                  .xlabel = "mean size in the decade (the curves stand a little apart)",
                  .ylabel = "completion time / ideal time of the path"},
        .slowdown = true,
        .by_decade = true,
        .percents = {50, 95, 99, 99.9},
        .head = "p50,p95,p99,p99_9",
        .low = "p50",
        .mid = "p99",
        .high = "p99_9",
        .factor = "1",
    };

    return draw(p, f, &g, err);
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
        f.by_decade = many_sizes(&f);
        rc = spread(p, &f, false, err);
        if (!rc)
            rc = spread(p, &f, true, err);
        if (!rc && f.by_decade)
            rc = tail(p, &f, err);
    }
    free(f.v);
    return rc;
}
