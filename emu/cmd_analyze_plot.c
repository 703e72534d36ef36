/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures of weft analyze. See cmd_analyze_plot.h. */
#include "cmd_analyze_plot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/bins.h"
#include "cmd_plot.h"

struct figure {
    const char *name, *title, *ylabel, *column;
    double (*value)(const struct wf_an_bins *b, const struct wf_an_bin *bin);
};

static double goodput(const struct wf_an_bins *b, const struct wf_an_bin *bin)
{
    return (double)bin->bytes * 8 * 1e12 / (double)b->width_ps / 1e9;
}

static double number(const struct wf_an_bins *b, const struct wf_an_bin *bin)
{
    (void)b;
    return (double)bin->psn;
}

static double again(const struct wf_an_bins *b, const struct wf_an_bin *bin)
{
    (void)b;
    return (double)bin->again;
}

static const struct figure figures[] = {
    {"analyze_goodput", "New payload", "Gb/s", "gbps", goodput},
    {"analyze_psn", "Sequence numbers", "PSN since the first", "psn", number},
    {"analyze_again", "Sent again", "packets", "packets", again},
};

static void rows(const struct figure *f, int curve, const struct wf_an_stream *s,
                 const struct wf_analyze *a, FILE *out)
{
    const struct wf_an_bins *b = s->bins;

    for (unsigned i = 0; i < b->n; i++) {
        const struct wf_an_bin *bin = &b->bin[i];
        double t = (double)(b->from_ps - a->first_t_ps) + (double)b->width_ps * i;

        /* where nothing was sent there is no number */
        if (bin->packets || f->value == goodput)
            fprintf(out, "%d,%.3f,%.6g\n", curve, t / 1e6, f->value(b, bin));
    }
}

static int draw(struct wf_plot *p, const struct figure *f, const struct wf_analyze *a,
                const struct wf_an_stream **list, size_t n, struct wf_err *err)
{
    const struct wf_csv source = {.comment = "captures"};
    struct wf_plot_groups groups = {.n = 0};
    struct wf_plot_style style = {
        .title = f->title, .xlabel = "time (us)", .ylabel = f->ylabel, .from_zero_y = true};
    FILE *out = wf_plot_begin(p, f->name, &source, err);
    char text[160];

    if (!out)
        return -EIO;
    fprintf(out, "curve,time_us,%s\n", f->column);
    for (size_t i = 0; i < n; i++) {
        int curve;

        if (!list[i]->bins)
            continue;
        curve = wf_plot_group(p, &groups, wf_an_stream_text(list[i], text, sizeof(text)));
        if (curve >= 0)
            rows(f, curve + 1, list[i], a, out);
    }
    style.groups = groups.names;
    style.n_groups = groups.n;
    style.with = wf_arena_printf(&p->arena,
                                 "using (column(\"time_us\")):(column(\"curve\") == i ? "
                                 "column(\"%s\") : NaN) with points pointtype 7 pointsize 0.3",
                                 f->column);
    return wf_plot_end(p, f->name, out, &style, err);
}

int wf_analyze_plot(const struct wf_analyze *a, const char *folder, const char *command,
                    struct wf_err *err)
{
    struct wf_plot p = {.out = folder, .command = command, .quiet = true};
    const struct wf_an_stream **list;
    size_t n;
    int rc = 0;

    list = wf_an_rows(a, &n);
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]) && !rc; i++)
        rc = draw(&p, &figures[i], a, list, n, err);
    if (!rc)
        rc = wf_plot_draw(&p, err);
    free(list);
    wf_arena_free(&p.arena);
    return rc;
}
