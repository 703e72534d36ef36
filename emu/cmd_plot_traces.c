/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces: how long a queue was how full, as a distribution over time, and series over time.
 *
 * A row's value holds until the next row of its object and series. In the distribution each value
 * counts for as long as it held, over all objects and, for a sweep, over all seeds of a setting. A
 * curve of many rows is thinned: of a distribution every n-th step is kept, of a series the highest
 * and the lowest of each interval.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "cmd_plot.h"
#include "scen/match.h"

enum { STEPS_MAX = 500, BUCKETS = 2000, OBJECTS_MAX = 65536 };

/* A row of a trace: value from t on, for as long as `held`. */
struct step {
    int group;
    double t, value, held;
};

struct steps {
    struct step *v;
    size_t n;
    struct wf_plot_groups groups;
    const struct wf_csv *source;
};

struct columns {
    size_t time, object, series, value;
};

static struct columns columns_of(const struct wf_csv *c)
{
    return (struct columns){(size_t)wf_csv_col(c, "time_ps"), (size_t)wf_csv_col(c, "object"),
                            (size_t)wf_csv_col(c, "series"), (size_t)wf_csv_col(c, "value")};
}

/* The last step of an object, by an open hash over its name's text: files name few. */
struct last {
    const char *object;
    size_t step;
};

static struct last *find_last(struct last *table, const char *object)
{
    uint64_t h = 14695981039346656037ull;
    size_t i;

    for (const char *c = object; *c; c++)
        h = (h ^ (unsigned char)*c) * 1099511628211ull;
    i = (size_t)(h % OBJECTS_MAX);
    for (size_t n = 0; n < OBJECTS_MAX; n++, i = (i + 1) % OBJECTS_MAX)
        if (!table[i].object || !strcmp(table[i].object, object))
            return &table[i];
    return NULL;
}

/* The steps of one series in one table. A group for the whole table when it has one, else one for
 * each object. */
static void collect(struct wf_plot *p, struct steps *s, const struct wf_plot_input *in,
                    const char *series)
{
    const struct wf_csv *c = &in->csv;
    const struct columns k = columns_of(c);
    struct last *table = calloc(OBJECTS_MAX, sizeof(*table));

    s->v = realloc(s->v, (s->n + c->n_rows + 1) * sizeof(*s->v));
    WF_ASSERT(s->v && table);
    if (!s->source) /* of many runs the sweep, which stands before them, says more than the first */
        s->source = in->group ? &p->inputs[0].csv : c;
    for (size_t i = 0; i < c->n_rows; i++) {
        const char *object = wf_csv_cell(c, i, k.object);
        double t = strtod(wf_csv_cell(c, i, k.time), NULL);
        struct last *l;
        int g;

        if (strcmp(wf_csv_cell(c, i, k.series), series) || (p->at && !wf_match(p->at, object)))
            continue;
        l = find_last(table, object);
        g = l ? wf_plot_group(p, &s->groups, in->group ? in->group : object) : -1;
        if (g < 0)
            continue;
        if (l->object)
            s->v[l->step].held = t - s->v[l->step].t;
        l->object = object;
        l->step = s->n;
        s->v[s->n++] = (struct step){g, t, strtod(wf_csv_cell(c, i, k.value), NULL), 0};
    }
    free(table);
}

static int by_group_and_value(const void *a, const void *b)
{
    const struct step *x = a, *y = b;

    if (x->group != y->group)
        return (x->group > y->group) - (x->group < y->group);
    return (x->value > y->value) - (x->value < y->value);
}

static int by_group_and_time(const void *a, const void *b)
{
    const struct step *x = a, *y = b;

    if (x->group != y->group)
        return (x->group > y->group) - (x->group < y->group);
    return (x->t > y->t) - (x->t < y->t);
}

/* Where the steps of one group end that begin at i. */
static size_t group_end(const struct steps *s, size_t i)
{
    size_t end = i;

    while (end < s->n && s->v[end].group == s->v[i].group)
        end++;
    return end;
}

static void distribution(const struct steps *s, size_t i, size_t end, FILE *out)
{
    double all = 0, sum = 0, told = -1;

    for (size_t k = i; k < end; k++)
        all += s->v[k].held;
    for (size_t k = i; k < end && all > 0; k++) {
        bool last = k + 1 == end;

        sum += s->v[k].held;
        if (!last && s->v[k + 1].value == s->v[k].value)
            continue;
        if (!last && sum / all - told < 1.0 / STEPS_MAX)
            continue;
        told = sum / all;
        fprintf(out, "%d,", s->v[k].group + 1);
        wf_csv_put_number(out, s->v[k].value);
        fprintf(out, ",%.8g,", told);
        wf_csv_put(out, s->groups.names[s->v[k].group]);
        fputc('\n', out);
    }
}

static void one_point(const struct steps *s, size_t k, FILE *out)
{
    fprintf(out, "%d,", s->v[k].group + 1);
    wf_csv_put_number(out, s->v[k].t);
    fputc(',', out);
    wf_csv_put_number(out, s->v[k].value);
    fputc(',', out);
    wf_csv_put(out, s->groups.names[s->v[k].group]);
    fputc('\n', out);
}

/* A curve over time; of many rows the lowest and highest of each bucket in their order. */
static void curve(const struct steps *s, size_t i, size_t end, FILE *out)
{
    size_t n = end - i, size = n > 2 * BUCKETS ? n / BUCKETS : 1;

    for (size_t b = i; b < end; b += size) {
        size_t lo = b, hi = b, stop = b + size < end ? b + size : end;

        for (size_t k = b; k < stop; k++) {
            lo = s->v[k].value < s->v[lo].value ? k : lo;
            hi = s->v[k].value > s->v[hi].value ? k : hi;
        }
        one_point(s, lo < hi ? lo : hi, out);
        if (lo != hi)
            one_point(s, lo < hi ? hi : lo, out);
    }
    if (size > 1)
        one_point(s, end - 1, out);
}

/* "queue_bytes" in kB and so on, as metrics. */
static const char *unit_of(struct wf_plot *p, const char *series, const char **factor)
{
    size_t n = strlen(series);

    *factor = "1";
    if (n > 6 && !strcmp(series + n - 6, "_bytes")) {
        *factor = "1e3";
        return wf_arena_printf(&p->arena, "%.*s [kB]", (int)(n - 6), series);
    }
    if (n > 4 && !strcmp(series + n - 4, "_bps")) {
        *factor = "1e9";
        return wf_arena_printf(&p->arena, "%.*s [Gbit/s]", (int)(n - 4), series);
    }
    return series;
}

/* A trace that ends at the instant at which it begins has no share of any time. */
static bool any_time(const struct steps *s)
{
    for (size_t k = 0; k < s->n; k++)
        if (s->v[k].held > 0)
            return true;
    return false;
}

static int figure(struct wf_plot *p, struct steps *s, const char *series, bool cdf,
                  struct wf_err *err)
{
    const char *factor, *unit = unit_of(p, series, &factor);
    const char *name = wf_arena_printf(&p->arena, "%s_%s", cdf ? "cdf" : "series",
                                       strcmp(series, "queue_bytes") || !cdf ? series : "queue");
    struct wf_plot_style style = {
        .title = cdf ? wf_arena_printf(&p->arena, "%s: share of the time at or below", series)
                     : wf_arena_printf(&p->arena, "%s over time", series),
        .xlabel = cdf ? unit : "fabric time [us]",
        .ylabel = cdf ? "share of the time" : unit,
        .from_zero_y = true,
        .groups = s->groups.names,
        .n_groups = s->groups.n,
        .with = cdf ? wf_arena_printf(&p->arena,
                                      "using (column(\"value\") / %s):(column(\"curve\") == i ? "
                                      "column(\"share\") : NaN) with steps linewidth 1.5",
                                      factor)
                    : wf_arena_printf(&p->arena,
                                      "using (column(\"time_ps\") / 1e6):(column(\"curve\") == i ? "
                                      "column(\"value\") / %s : NaN) with steps",
                                      factor)};
    FILE *out = wf_plot_begin(p, name, s->source, err);

    if (!out)
        return -EIO;
    qsort(s->v, s->n, sizeof(*s->v), cdf ? by_group_and_value : by_group_and_time);
    fputs(cdf ? "curve,value,share,group\n" : "curve,time_ps,value,group\n", out);
    for (size_t i = 0; i < s->n; i = group_end(s, i))
        (cdf ? distribution : curve)(s, i, group_end(s, i), out);
    wf_plot_told(p, name, &s->groups);
    return wf_plot_end(p, name, out, &style, err);
}

/* The figures of one series: its distribution, and for traces given by themselves its course. */
static int draw(struct wf_plot *p, const char *series, bool wanted, struct wf_err *err)
{
    struct steps s = {.n = 0};
    bool alone = false;
    int rc = 0;

    for (size_t i = 0; i < p->n_inputs; i++)
        if (p->inputs[i].kind == WF_PLOT_TRACE) {
            collect(p, &s, &p->inputs[i], series);
            alone |= !p->inputs[i].group;
        }
    if (any_time(&s) && (wanted || alone || !strcmp(series, "queue_bytes")))
        rc = figure(p, &s, series, true, err);
    if (!rc && s.n && alone)
        rc = figure(p, &s, series, false, err);
    if (!rc && !s.n && wanted)
        rc = wf_err_set(err, EINVAL, "no series '%s'%s%s in the traces", series,
                        p->at ? " at " : "", p->at ? p->at : "");
    free(s.v);
    return rc;
}

/* The names of all series in traces, each once; those that --series named when there are any. */
static size_t series_of(struct wf_plot *p, const char **names)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n_inputs; i++) {
        const struct wf_csv *c = &p->inputs[i].csv;
        size_t col;

        if (p->inputs[i].kind != WF_PLOT_TRACE)
            continue;
        col = columns_of(c).series;
        for (size_t r = 0; r < c->n_rows && n < WF_PLOT_NAMES_MAX; r++) {
            const char *name = wf_csv_cell(c, r, col);
            bool seen = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(name);

            for (size_t k = 0; k < n && !seen; k++)
                seen = !strcmp(names[k], name);
            if (!seen && name[0])
                names[n++] = name;
        }
    }
    return n;
}

int wf_plot_traces(struct wf_plot *p, struct wf_err *err)
{
    const char *names[WF_PLOT_NAMES_MAX];
    size_t n = p->n_series ? 0 : series_of(p, names);
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++)
        rc = draw(p, names[i], false, err);
    for (size_t i = 0; i < p->n_series && !rc; i++)
        rc = draw(p, p->series[i], true, err);
    return rc;
}
