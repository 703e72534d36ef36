/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Figures of sweeps and traces: of each a table with what is drawn, a gnuplot script that draws it
 * from there alone, and what gnuplot made of it. For emu/cmd_plot*.c only.
 */
#ifndef WEFT_CMD_PLOT_H
#define WEFT_CMD_PLOT_H

#include <stdio.h>

#include "base/arena.h"
#include "cmd.h"
#include "scen/csv.h"

enum {
    WF_PLOT_INPUTS_MAX = 4096,
    WF_PLOT_NAMES_MAX = 32,  /* --metric, --series */
    WF_PLOT_GROUPS_MAX = 16, /* curves of a figure; others are left out, and told */
    WF_PLOT_FIGURES_MAX = 96,
};

enum wf_plot_kind { WF_PLOT_FLOWS, WF_PLOT_SUMMARY, WF_PLOT_TRACE, WF_PLOT_RUNS };

/* A table, and for those of a sweep's runs which setting they are of. */
struct wf_plot_input {
    enum wf_plot_kind kind;
    struct wf_csv csv;
    const char *path, *group; /* group NULL: none */
    size_t n_keys;            /* the first columns are settings */
    bool varies[WF_CSV_COLS_MAX];
};

struct wf_plot {
    struct wf_arena arena;
    const char *out; /* folder of the figures */
    const char *metrics[WF_PLOT_NAMES_MAX], *series[WF_PLOT_NAMES_MAX], *at;
    size_t n_metrics, n_series;
    const char *x; /* --x: the key along the axis of metrics */
    bool png, quiet;
    const char *command;
    struct wf_plot_input *inputs;
    size_t n_inputs;
    const char *results[WF_PLOT_NAMES_MAX]; /* of weft run --json */
    size_t n_results;
    const char *figures[WF_PLOT_FIGURES_MAX];
    size_t n_figures;
};

/* How the script draws the table. */
struct wf_plot_style {
    const char *title, *xlabel, *ylabel;
    bool log_x, log_y, from_zero_y;
    const char *const *groups; /* of the rows whose column `curve` is 1, 2 and so on */
    size_t n_groups;
    const char *with; /* "using ... with ...", for curve i */
    const char *more; /* lines before the plot; may be NULL */
};

/* inputs.c: tables and folders of sweeps. -errno and *err. */
int wf_plot_input(struct wf_plot *p, const char *path, struct wf_err *err);
void wf_plot_inputs_free(struct wf_plot *p);
/* "kmin=20kB" of the settings of a row; only those that vary in the table, and without the key
 * `but`, which may be NULL. Returns buf. */
const char *wf_plot_label(const struct wf_plot_input *in, size_t row, const char *but, char *buf,
                          size_t len);

/* gnuplot.c: begin a figure's table, with the manifests of its sources; end it, write its script.
 * NULL or -errno, and *err. */
FILE *wf_plot_begin(struct wf_plot *p, const char *name, const struct wf_csv *source,
                    struct wf_err *err);
int wf_plot_end(struct wf_plot *p, const char *name, FILE *table, const struct wf_plot_style *style,
                struct wf_err *err);
/* Run gnuplot on all scripts. -ENOENT: it is not installed. */
int wf_plot_draw(struct wf_plot *p, struct wf_err *err);

/* flows.c, traces.c, metrics.c, pauses.c: the figures. -errno and *err. */
int wf_plot_flows(struct wf_plot *p, struct wf_err *err);
int wf_plot_traces(struct wf_plot *p, struct wf_err *err);
int wf_plot_metrics(struct wf_plot *p, struct wf_err *err);
int wf_plot_pauses(struct wf_plot *p, struct wf_err *err);

/* Groups in the order of their first mention. */
struct wf_plot_groups {
    const char *names[WF_PLOT_GROUPS_MAX];
    size_t n, left_out;
};
/* Index of a name, adding a copy of it; -1: too many. */
int wf_plot_group(struct wf_plot *p, struct wf_plot_groups *g, const char *name);
/* Say on standard error that some were left out of a figure. */
void wf_plot_told(const struct wf_plot *p, const char *figure, const struct wf_plot_groups *g);

#endif
