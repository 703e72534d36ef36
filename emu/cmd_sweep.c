/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weft sweep: a scenario over settings and seeds, as processes of its own, into tidy tables.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "cmd_sweep.h"

static const char usage[] =
    "usage: weft sweep [OPTION]... --out DIR SCENARIO\n"
    "\n"
    "Runs a scenario in virtual time for every combination of settings and for several seeds, and\n"
    "writes tables: DIR/runs.csv (a row for each run and metric), DIR/flows.csv (each run and\n"
    "flow), DIR/summary.csv (mean, median, 95% confidence interval over the seeds). Run again it\n"
    "goes on where it ended: what is finished is not run again. `weft plot DIR` draws it.\n"
    "\n"
    "  --set KEY=A,B,C   each of these values; again for more keys, of which every combination is\n"
    "                    run. Keys as for weft run --set: switches.leaf*.queue.3.kmin\n"
    "  --seeds N         each with N seeds (default 1)\n"
    "  --seed FIRST      from this one on (default: the scenario's)\n"
    "  --jobs N          at most N runs at a time (default: the number of processors)\n"
    "  --out DIR         the folder for tables and results; made when it is not there\n"
    "  --quiet           no progress, no summary\n"
    "\n"
    "Exit status: 0 all passed, 1 an expectation failed in a run, 2 bad input, 3 environment "
    "(also\n"
    "when a run gave no result), 4 an invariant broke, 130 interrupted.\n";

enum { OPT_SET = 256, OPT_SEEDS, OPT_SEED, OPT_JOBS, OPT_OUT, OPT_QUIET };

static const struct option long_options[] = {
    {"set", required_argument, NULL, OPT_SET},
    {"seeds", required_argument, NULL, OPT_SEEDS},
    {"seed", required_argument, NULL, OPT_SEED},
    {"jobs", required_argument, NULL, OPT_JOBS},
    {"out", required_argument, NULL, OPT_OUT},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int number(const char *option, uint64_t max, uint32_t *out, struct wf_err *err)
{
    uint64_t v;

    if (wf_parse_uint(optarg, &v, err))
        return -EINVAL;
    if (!v || v > max)
        return wf_err_set(err, ERANGE, "%s %s: expected 1 to %llu", option, optarg,
                          (unsigned long long)max);
    *out = (uint32_t)v;
    return 0;
}

static int set_option(int c, struct wf_sweep *s, char **argv, struct wf_err *err)
{
    switch (c) {
    case OPT_SET:
        return wf_sweep_axis(s, optarg, err);
    case OPT_SEEDS:
        return number("--seeds", WF_SWEEP_RUNS_MAX, &s->seeds, err);
    case OPT_SEED:
        s->seeded = true;
        return wf_parse_uint(optarg, &s->first_seed, err);
    case OPT_JOBS:
        return number("--jobs", WF_SWEEP_JOBS_MAX, &s->jobs, err);
    case OPT_OUT:
        s->out = optarg;
        return 0;
    case OPT_QUIET:
        s->quiet = true;
        return 0;
    case ':':
        return wf_err_set(err, EINVAL, "%s needs a value", argv[optind - 1]);
    default:
        return wf_cmd_unknown(argv[optind - 1], long_options, err);
    }
}

/* 0, 1 when help was asked for, or -errno. */
static int parse_options(int argc, char **argv, struct wf_sweep *s, struct wf_err *err)
{
    char *real;
    int c, rc;

    opterr = 0;
    optind = 1;
    while ((c = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (c == 'h') {
            fputs(usage, stdout);
            return 1;
        }
        rc = set_option(c, s, argv, err);
        if (rc)
            return rc;
    }
    if (optind + 1 != argc)
        return wf_err_set(err, EINVAL,
                          optind == argc ? "no scenario given" : "one scenario at a time");
    if (!s->out)
        return wf_err_set(err, EINVAL, "no --out DIR given");
    if (!strcmp(argv[optind], "-"))
        return wf_err_set(err, EINVAL, "a sweep reads its scenario often: give it as a file");
    s->given = argv[optind];
    real = realpath(argv[optind], NULL);
    if (!real)
        return wf_err_set(err, errno, "%s: cannot be read: %s", argv[optind], strerror(errno));
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
