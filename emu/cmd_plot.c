/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weft plot: figures of sweeps and traces, by gnuplot.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd_plot.h"
#include "scen/match.h"

static const char usage[] =
    "usage: weft plot [OPTION]... DIR|CSV|RESULT.json...\n"
    "\n"
    "Draws the folder of a sweep, its tables, traces (trace: in a scenario), or what weft run "
    "--json\n"
    "wrote. Of each figure there are NAME.csv, what is drawn; NAME.gp, the script, which `gnuplot "
    "NAME.gp` runs again; "
    "and\n"
    "NAME.svg.\n"
    "\n"
    "  completion, slowdown   by flow size, for each setting (flows.csv)\n"
    "  metric_NAME            against a setting, with confidence intervals (summary.csv)\n"
    "  cdf_queue              how long queues were how full (traces; of a sweep, each setting's)\n"
    "  cdf_NAME, series_NAME  the same of other series; series over time (traces)\n"
    "  pauses                 who paused whom, how deep and for how long; deadlocks; victims\n"
    "                         (result)\n"
    "\n"
    "  --metric NAME     draw this metric of a sweep; may be given again\n"
    "  --x KEY           along this setting (default: the first that varies)\n"
    "  --series NAME     only this series of traces; may be given again\n"
    "  --at PATTERN      only objects that match, such as 'leaf0:p0.q3'\n"
    "  --out DIR         where the figures go (default: plots/ in a sweep's folder, else here)\n"
    "  --png             PNG instead of SVG\n"
    "  --quiet           no list of what was drawn\n"
    "\n"
    "Exit status: 0, 2 bad input, 3 environment: no gnuplot (tables and scripts are written all\n"
    "the same), a folder that can't be written.\n";

enum { OPT_METRIC = 256, OPT_X, OPT_SERIES, OPT_AT, OPT_OUT, OPT_PNG, OPT_QUIET };

static const struct option long_options[] = {
    {"metric", required_argument, NULL, OPT_METRIC},
    {"x", required_argument, NULL, OPT_X},
    {"series", required_argument, NULL, OPT_SERIES},
    {"at", required_argument, NULL, OPT_AT},
    {"out", required_argument, NULL, OPT_OUT},
    {"png", no_argument, NULL, OPT_PNG},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int add(const char **list, size_t *n, const char *option, struct wf_err *err)
{
    if (*n == WF_PLOT_NAMES_MAX)
        return wf_err_set(err, EINVAL, "%s is given more than %d times", option, WF_PLOT_NAMES_MAX);
    list[(*n)++] = optarg;
    return 0;
}

static int set_option(int c, struct wf_plot *p, char **argv, struct wf_err *err)
{
    switch (c) {
    case OPT_METRIC:
        return add(p->metrics, &p->n_metrics, "--metric", err);
    case OPT_SERIES:
        return add(p->series, &p->n_series, "--series", err);
    case OPT_X:
        p->x = optarg;
        return 0;
    case OPT_AT:
        p->at = optarg;
        return wf_match_check(optarg, err);
    case OPT_OUT:
        p->out = optarg;
        return 0;
    case OPT_PNG:
        p->png = true;
        return 0;
    case OPT_QUIET:
        p->quiet = true;
        return 0;
    case ':':
        return wf_err_set(err, EINVAL, "%s needs a value", argv[optind - 1]);
    default:
        return wf_cmd_unknown(argv[optind - 1], long_options, err);
    }
}

/* 0, 1 when help was asked for, or -errno. */
static int parse_options(int argc, char **argv, struct wf_plot *p, struct wf_err *err)
{
    struct stat st;
    int c, rc;

    opterr = 0;
    optind = 1;
    while ((c = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (c == 'h') {
            fputs(usage, stdout);
            return 1;
        }
        rc = set_option(c, p, argv, err);
        if (rc)
            return rc;
    }
    if (optind == argc)
        return wf_err_set(err, EINVAL,
                          "nothing to draw: expected the folder of a sweep, or tables");
    if (!p->out)
        p->out = !stat(argv[optind], &st) && S_ISDIR(st.st_mode)
                     ? wf_arena_printf(&p->arena, "%s/plots", argv[optind])
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
    int rc;

    wf_cmd_line(argc, argv, command, sizeof(command));
    p.command = command;
    rc = parse_options(argc, argv, &p, &err);
    if (rc)
        rc = rc > 0 ? WF_EXIT_PASS : wf_cmd_fail("plot", WF_EXIT_USAGE, &err);
    else
        rc = plot(&p, argc - optind, argv + optind);
    wf_plot_inputs_free(&p);
    wf_arena_free(&p.arena);
    return rc;
}
