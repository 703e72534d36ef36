/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weft plot: figures of sweeps and traces, by gnuplot.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd_opt.h"
#include "cmd_plot.h"
#include "scen/match.h"

static int add(const char **list, size_t *n, const struct wf_opt *opt, const char *value,
               struct wf_err *err)
{
    if (*n == WF_PLOT_NAMES_MAX)
        return wf_err_set(err, EINVAL, "--%s is given more than %d times", opt->name,
                          WF_PLOT_NAMES_MAX);
    list[(*n)++] = value;
    return 0;
}

static int take_metric(void *options, const struct wf_opt *opt, const char *value,
                       struct wf_err *err)
{
    struct wf_plot *p = options;

    return add(p->metrics, &p->n_metrics, opt, value, err);
}

static int take_series(void *options, const struct wf_opt *opt, const char *value,
                       struct wf_err *err)
{
    struct wf_plot *p = options;

    return add(p->series, &p->n_series, opt, value, err);
}

static int take_at(void *options, const struct wf_opt *opt, const char *value, struct wf_err *err)
{
    (void)opt;
    ((struct wf_plot *)options)->at = value;
    return wf_match_check(value, err);
}

#define FIELD(name) .off = offsetof(struct wf_plot, name)

static const struct wf_opt opts[] = {
    {.name = "metric",
     .kind = WF_OPT_CALL,
     .value = "NAME",
     .take = take_metric,
     .help = "draw this metric of a sweep; may be given again"},
    {.name = "x",
     .kind = WF_OPT_TEXT,
     FIELD(x),
     .value = "KEY",
     .help = "along this setting (default: the first that varies)"},
    {.name = "series",
     .kind = WF_OPT_CALL,
     .value = "NAME",
     .take = take_series,
     .help = "only this series of traces; may be given again"},
    {.name = "at",
     .kind = WF_OPT_CALL,
     .value = "PATTERN",
     .take = take_at,
     .help = "only objects that match, such as 'leaf0:p0.q3'"},
    {.name = "out",
     .kind = WF_OPT_TEXT,
     FIELD(out),
     .value = "DIR",
     .help = "where the figures go (default: plots/ in a sweep's folder, else here)"},
    {.name = "png", .kind = WF_OPT_FLAG, FIELD(png), .help = "PNG instead of SVG"},
    {.name = "quiet", .kind = WF_OPT_FLAG, FIELD(quiet), .help = "no list of what was drawn"},
    {.name = NULL},
};

static const struct wf_opt_page page = {
    .head =
        "usage: weft plot [OPTION]... DIR|CSV|RESULT.json...\n"
        "\n"
        "Draws the folder of a sweep, its tables, traces (trace: in a scenario), or what weft run\n"
        "--json wrote. Of each figure there are NAME.csv, what is drawn; NAME.gp, the script,\n"
        "which `gnuplot NAME.gp` runs again; and NAME.svg.\n"
        "\n"
        "  completion, slowdown   by flow size, for each setting (flows.csv)\n"
        "  metric_NAME            against a setting, with confidence intervals (summary.csv)\n"
        "  cdf_queue              how long queues were how full (traces; of a sweep, each "
        "setting's)\n"
        "  cdf_NAME, series_NAME  the same of other series; series over time (traces)\n"
        "  pauses                 who paused whom, how deep and for how long; deadlocks; victims\n"
        "                         (result)\n"
        "\n",
    .opts = opts,
    .tail = "\n"
            "Exit status: 0, 2 bad input, 3 environment: no gnuplot (tables and scripts are "
            "written all\n"
            "the same), a folder that can't be written.\n",
};

/* 0, 1 when help was asked for, or -errno. */
static int parse_options(int argc, char **argv, struct wf_plot *p, int *n, struct wf_err *err)
{
    struct stat st;
    int rc = wf_opt_parse(&page, p, argc, argv, n, err);

    if (rc)
        return rc;
    if (!*n)
        return wf_err_set(err, EINVAL,
                          "nothing to draw: expected the folder of a sweep, or tables");
    if (!p->out)
        p->out = !stat(argv[1], &st) && S_ISDIR(st.st_mode)
                     ? wf_arena_printf(&p->arena, "%s/plots", argv[1])
                     : ".";
    return 0;
}

/* Tables and scripts; the exit status of what is wrong. */
static enum wf_exit write_figures(struct wf_plot *p, struct wf_err *err)
{
    int rc = wf_plot_flows(p, err);

    if (!rc)
        rc = wf_plot_metrics(p, err);
    if (!rc)
        rc = wf_plot_traces(p, err);
    if (!rc)
        rc = wf_plot_pauses(p, err);
    if (!rc && !p->n_figures)
        rc = wf_err_set(err, EINVAL,
                        "nothing to draw: no flows, no trace, and no --metric of a summary.csv");
    return !rc ? WF_EXIT_PASS : rc == -EINVAL ? WF_EXIT_USAGE : WF_EXIT_ENVIRONMENT;
}

static int plot(struct wf_plot *p, int n, char **paths)
{
    struct wf_err err;
    enum wf_exit code;

    for (int i = 0; i < n; i++)
        if (wf_plot_input(p, paths[i], &err))
            return wf_cmd_fail("plot", WF_EXIT_USAGE, &err);
    code = write_figures(p, &err);
    if (code)
        return wf_cmd_fail("plot", code, &err);
    if (wf_plot_draw(p, &err))
        return wf_cmd_fail("plot", WF_EXIT_ENVIRONMENT, &err);
    for (size_t i = 0; i < p->n_figures && !p->quiet; i++)
        printf("%s/%s.%s\n", p->out, p->figures[i], p->png ? "png" : "svg");
    return WF_EXIT_PASS;
}

int wf_cmd_plot(int argc, char **argv)
{
    struct wf_plot p = {.n_inputs = 0};
    char command[4096];
    struct wf_err err;
    int n, rc;

    wf_cmd_line(argc, argv, command, sizeof(command));
    p.command = command;
    rc = parse_options(argc, argv, &p, &n, &err);
    if (rc)
        rc = rc > 0 ? WF_EXIT_PASS : wf_cmd_fail("plot", WF_EXIT_USAGE, &err);
    else
        rc = plot(&p, n, argv + 1);
    wf_plot_inputs_free(&p);
    wf_arena_free(&p.arena);
    return rc;
}
