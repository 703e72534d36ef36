/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weft sweep: a scenario over settings and seeds, as processes of its own, into tidy tables.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd_opt.h"
#include "cmd_sweep.h"

static int take_axis(void *options, const struct wf_opt *opt, const char *value, struct wf_err *err)
{
    (void)opt;
    return wf_sweep_axis(options, value, err);
}

#define FIELD(name) .off = offsetof(struct wf_sweep, name)

static const struct wf_opt opts[] = {
    {.name = "set",
     .kind = WF_OPT_CALL,
     .value = "KEY=A,B,C",
     .take = take_axis,
     .help = "each of these values; again for more keys, of which every combination\n"
             "is run. Keys as for weft run --set: switches.leaf*.queue.3.kmin"},
    {.name = "seeds",
     .kind = WF_OPT_UINT,
     FIELD(seeds),
     .min = 1,
     .max = WF_SWEEP_RUNS_MAX,
     .value = "N",
     .help = "each with N seeds (default 1)"},
    {.name = "seed",
     .kind = WF_OPT_UINT64,
     FIELD(first_seed),
     .given = offsetof(struct wf_sweep, seeded),
     .value = "FIRST",
     .help = "from this one on (default: the scenario's)"},
    {.name = "jobs",
     .kind = WF_OPT_UINT,
     FIELD(jobs),
     .min = 1,
     .max = WF_SWEEP_JOBS_MAX,
     .value = "N",
     .help = "at most N runs at a time (default: the number of processors)"},
    {.name = "out",
     .kind = WF_OPT_TEXT,
     FIELD(out),
     .value = "DIR",
     .help = "the folder for tables and results; made when it is not there"},
    {.name = "quiet", .kind = WF_OPT_FLAG, FIELD(quiet), .help = "no progress, no summary"},
    {.name = NULL},
};

static const struct wf_opt_page page = {
    .head =
        "usage: weft sweep [OPTION]... --out DIR SCENARIO\n"
        "\n"
        "Runs a scenario in virtual time for every combination of settings and for several seeds, "
        "and\n"
        "writes tables: DIR/runs.csv (a row for each run and metric), DIR/flows.csv (each run and\n"
        "flow), DIR/summary.csv (mean, median, 95% confidence interval over the seeds). Run again "
        "it\n"
        "goes on where it ended: what is finished is not run again. `weft plot DIR` draws it.\n"
        "\n",
    .opts = opts,
    .tail =
        "\n"
        "Exit status: 0 all passed, 1 an expectation failed in a run, 2 bad input, 3 environment "
        "(also\n"
        "when a run gave no result), 4 an invariant broke, 130 interrupted.\n",
};

/* 0, 1 when help was asked for, or -errno. */
static int parse_options(int argc, char **argv, struct wf_sweep *s, struct wf_err *err)
{
    char *real;
    int n, rc = wf_opt_parse(&page, s, argc, argv, &n, err);

    if (rc)
        return rc;
    if (n != 1)
        return wf_err_set(err, EINVAL, n ? "one scenario at a time" : "no scenario given");
    if (!s->out)
        return wf_err_set(err, EINVAL, "no --out DIR given");
    if (!strcmp(argv[1], "-"))
        return wf_err_set(err, EINVAL, "a sweep reads its scenario often: give it as a file");
    s->given = argv[1];
    real = realpath(argv[1], NULL);
    if (!real)
        return wf_err_set(err, errno, "%s: cannot be read: %s", argv[1], strerror(errno));
    s->path = wf_arena_strdup(&s->arena, real);
    free(real);
    return 0;
}

/* What stands at the end, for people; the exit status. */
static int judge(const struct wf_sweep *s)
{
    size_t passed = 0, failed = 0, broken = 0, errors = 0, open = 0, reused = 0;

    for (size_t i = 0; i < s->n_runs; i++) {
        const struct wf_sweep_run *r = &s->runs[i];

        reused += r->reused;
        open += r->state == WF_SWEEP_TO_RUN;
        errors += r->state == WF_SWEEP_ERROR;
        if (r->state != WF_SWEEP_FINISHED)
            continue;
        passed += r->exit_code == WF_EXIT_PASS;
        failed += r->exit_code == WF_EXIT_EXPECTATION;
        broken += r->exit_code == WF_EXIT_INVARIANT;
    }
    if (!s->quiet) {
        printf("%s: %zu settings x %u seeds = %zu runs: %zu passed, %zu failed", s->name,
               s->n_settings, s->seeds, s->n_runs, passed, failed);
        if (broken)
            printf(", %zu BROKEN", broken);
        if (errors)
            printf(", %zu without a result", errors);
        if (open)
            printf(", %zu not run", open);
        if (reused)
            printf(" (%zu were there)", reused);
        printf("\nwritten to %s: runs.csv, flows.csv, summary.csv, sweep.json\n", s->out);
    }
    if (wf_cmd_stop && open)
        return WF_EXIT_INTERRUPTED;
    return broken   ? WF_EXIT_INVARIANT
           : errors ? WF_EXIT_ENVIRONMENT
           : failed ? WF_EXIT_EXPECTATION
                    : WF_EXIT_PASS;
}

static int sweep(struct wf_sweep *s)
{
    struct wf_err err;
    int rc = wf_sweep_plan(s, &err);

    if (rc)
        return wf_cmd_fail("sweep", WF_EXIT_USAGE, &err);
    wf_cmd_catch_signals();
    rc = wf_sweep_open(s, &err);
    if (!rc)
        rc = wf_sweep_jobs(s, &err);
    if (!rc)
        rc = wf_sweep_tables(s, &err);
    return rc ? wf_cmd_fail("sweep", WF_EXIT_ENVIRONMENT, &err) : judge(s);
}

int wf_cmd_sweep(int argc, char **argv)
{
    struct wf_sweep s = {.seeds = 1, .lock_fd = -1};
    char command[4096];
    struct wf_err err;
    int rc;

    wf_cmd_line(argc, argv, command, sizeof(command));
    s.command = command;
    s.jobs = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    rc = parse_options(argc, argv, &s, &err);
    if (rc)
        rc = rc > 0 ? WF_EXIT_PASS : wf_cmd_fail("sweep", WF_EXIT_USAGE, &err);
    else
        rc = sweep(&s);
    if (s.lock_fd >= 0)
        close(s.lock_fd);
    wf_arena_free(&s.arena);
    return rc;
}
