/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sweep: a scenario run for every combination of settings and for several seeds. For
 * emu/cmd_sweep*.c only.
 *
 * In its folder each run that is complete has a folder runs/ID with its result.json, put there by
 * one rename; what was killed is in runs/ID.part and is run again, as are runs that gave no result
 * (runs/ID.failed). ID is the scenario's hash, which has the settings in it, and the seed. All
 * tables are written anew from the results, each by one rename.
 */
#ifndef WEFT_CMD_SWEEP_H
#define WEFT_CMD_SWEEP_H

#include <jansson.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/arena.h"
#include "cmd.h"

enum { WF_SWEEP_AXES_MAX = 16, WF_SWEEP_RUNS_MAX = 100000, WF_SWEEP_JOBS_MAX = 256 };

/* --set KEY=A,B,C */
struct wf_axis {
    const char *key;
    const char **values;
    size_t n;
};

enum wf_sweep_state {
    WF_SWEEP_TO_RUN,
    WF_SWEEP_RUNNING,
    WF_SWEEP_FINISHED, /* it has a result */
    WF_SWEEP_ERROR,    /* it ran and has none */
};

struct wf_sweep_run {
    size_t setting;
    uint64_t seed;
    char id[48];
    enum wf_sweep_state state;
    pid_t pid;
    int exit_code; /* of weft run; 128 + signal when it was killed */
    bool reused;   /* finished before this sweep began */
};

struct wf_sweep {
    struct wf_arena arena;
    const char *path, *out; /* the scenario, absolute; the folder */
    const char *given;      /* the scenario as it was named */
    const char *name, *command;
    struct wf_axis axes[WF_SWEEP_AXES_MAX];
    size_t n_axes, n_settings;
    char (*sha256)[65]; /* of the scenario, by setting */
    uint64_t first_seed;
    uint32_t seeds, jobs;
    bool seeded, quiet;
    struct wf_sweep_run
        *runs; /* settings in the order of the axes, the first slowest; then seeds */
    size_t n_runs;
    int lock_fd;
};

/* plan.c: options to runs. -EINVAL and *err. */
int wf_sweep_axis(struct wf_sweep *s, const char *text, struct wf_err *err);
int wf_sweep_plan(struct wf_sweep *s, struct wf_err *err);
/* The value of an axis in a setting. */
const char *wf_sweep_value(const struct wf_sweep *s, size_t setting, size_t axis);

/* jobs.c: everything that is not finished, at most `jobs` at a time. -errno and *err when the
 * folder can't be used. wf_cmd_stop ends it early, and its children. */
int wf_sweep_open(struct wf_sweep *s, struct wf_err *err);
int wf_sweep_jobs(struct wf_sweep *s, struct wf_err *err);
/* The result of a finished run, or NULL. */
json_t *wf_sweep_result(const struct wf_sweep *s, const struct wf_sweep_run *r);
/* "passed", "failed", "broken", "error", "not_run" */
const char *wf_sweep_status(const struct wf_sweep_run *r, const json_t *result);

/* tables.c: runs.csv, flows.csv, summary.csv and sweep.json. -errno and *err. */
int wf_sweep_tables(const struct wf_sweep *s, struct wf_err *err);

#endif
