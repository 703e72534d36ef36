/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weft exec`: run commands on the hosts of a lab.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "cmd.h"
#include "cmd_opt.h"
#include "lab/jobs.h"

#define NEXT_GROUP ":::"

struct exec_args {
    struct wf_jobs *jobs;
    const char *instance, *cwd;
    const char *env[64];
    uint32_t n_env;
    uint64_t timeout_ps, settle_ps, linger_ps;
    bool prefix, no_prefix, give_stdin;
};

static int take_env(void *options, const struct wf_opt *opt, const char *value, struct wf_err *err)
{
    struct exec_args *a = options;

    if (!strchr(value, '=') || value[0] == '=')
        return wf_err_set(err, EINVAL, "--%s '%.80s': expected %s", opt->name, value, opt->value);
    if (a->n_env == 63)
        return wf_err_set(err, E2BIG, "--%s '%.80s': expected at most 63 of them", opt->name,
                          value);
    a->env[a->n_env++] = value;
    return 0;
}

#define FIELD(name) .off = offsetof(struct exec_args, name)

static const struct wf_opt opts[] = {
    {.name = "instance",
     .letter = 'i',
     .kind = WF_OPT_TEXT,
     FIELD(instance),
     .value = "NAME",
     .help = "the instance, when several run"},
    {.name = "env",
     .letter = 'e',
     .kind = WF_OPT_CALL,
     .value = "NAME=VALUE",
     .take = take_env,
     .help = "an environment variable for all; may be given again"},
    {.name = "timeout",
     .letter = 't',
     .kind = WF_OPT_TIME,
     FIELD(timeout_ps),
     .value = "TIME",
     .min = WF_PS_PER_MS,
     .max = WF_TIME_MAX,
     .help = "time limit of each command, such as 60s (exit status 124)"},
    {.name = "settle",
     .kind = WF_OPT_TIME,
     FIELD(settle_ps),
     .value = "TIME",
     .max = WF_TIME_MAX,
     .help = "start the next group after this time at the latest (default 5s)"},
    {.name = "linger",
     .kind = WF_OPT_TIME,
     FIELD(linger_ps),
     .value = "TIME",
     .max = WF_TIME_MAX,
     .help = "how long earlier commands may still run once the last group has ended\n"
             "or a command has failed; then they are stopped (default 10s)"},
    {.name = "cwd",
     .kind = WF_OPT_TEXT,
     FIELD(cwd),
     .value = "DIR",
     .help = "working directory (default: this one, where it is in the shared folder)"},
    {.name = "stdin",
     .kind = WF_OPT_FLAG,
     FIELD(give_stdin),
     .help = "pass standard input on to the commands of the first group"},
    {.name = "prefix",
     .kind = WF_OPT_FLAG,
     FIELD(prefix),
     .help = "begin each line with its host (default: when there are several commands)"},
    {.name = "no-prefix", .kind = WF_OPT_FLAG, FIELD(no_prefix), .help = "don't"},
    {.name = NULL},
};

static const struct wf_opt_page page = {
    .head =
        "usage: weft exec [options] HOST... -- CMD [ARG...] [::: HOST... -- CMD [ARG...]]...\n\n"
        "Runs a command on each of the hosts (guests, or hosts in network namespaces) and passes "
        "on\n"
        "what they print, as they print it. Groups set apart by ':::' start one after the other, "
        "each\n"
        "when the one before it has settled: its commands wait for something and use no CPU.\n\n"
        "  weft exec h0 h1 -- rdma link\n"
        "  weft exec h1 -- ib_write_bw -d rxe0 ::: h0 -- ib_write_bw -d rxe0 h1\n\n",
    .opts = opts,
    .tail =
        "\nCommands find WEFT_HOST, WEFT_IP, WEFT_IP6, WEFT_NETDEV, WEFT_RDMA_DEV and "
        "WEFT_GID_INDEX in\n"
        "their environment, and all hosts' names in /etc/hosts.\n"
        "Exit status: that of the first command that failed, 0 when none did; 2 wrong usage, 3 no "
        "such\n"
        "instance, 124 time limit, 125 the host has gone, 126/127 not started, 130 interrupted.\n",
    .first = true,
};

static int usage(const char *fmt, const char *what)
{
    fprintf(stderr, "weft exec: ");
    fprintf(stderr, fmt, what);
    fprintf(stderr, "; 'weft exec --help' says more\n");
    return WF_EXIT_USAGE;
}

/* HOST... -- CMD..., up to ':::' or the end; argv is changed so that CMD ends with NULL. */
static int group(struct wf_jobs *j, char **argv, int *i)
{
    int first = *i, cmd;

    while (argv[*i] && strcmp(argv[*i], "--") && strcmp(argv[*i], NEXT_GROUP))
        ++*i;
    if (!argv[*i] || strcmp(argv[*i], "--"))
        return usage("'--' has to stand between hosts and command%s", "");
    if (*i == first)
        return usage("no host before '--'%s", "");
    cmd = ++*i;
    while (argv[*i] && strcmp(argv[*i], NEXT_GROUP))
        ++*i;
    if (*i == cmd)
        return usage("no command after '--'%s", "");
    for (int h = first; h < cmd - 1; h++) {
        if (j->n == WF_JOBS)
            return usage("too many commands%s", "");
        j->jobs[j->n++] = (struct wf_job){
            .group = j->groups, .host = argv[h], .argv = (const char *const *)argv + cmd};
    }
    if (++j->groups > WF_JOB_GROUPS)
        return usage("too many groups%s", "");
    if (argv[*i]) {
        argv[*i] = NULL;
        if (!argv[++*i])
            return usage("nothing after '%s'", NEXT_GROUP);
    }
    return 0;
}

/* 0, 1: --help was answered, or -EINVAL, and what is wrong was said. */
static int parse(struct exec_args *a, int argc, char **argv)
{
    struct wf_job_opts *o = &a->jobs->opts;
    struct wf_err err;
    int n, i = 1, rc = wf_opt_parse(&page, a, argc, argv, &n, &err);

    if (rc < 0)
        wf_cmd_fail("exec", WF_EXIT_USAGE, &err);
    if (rc)
        return rc;
    *o = (struct wf_job_opts){.prefix = a->no_prefix ? 0
                                        : a->prefix  ? 1
                                                     : -1,
                              .give_stdin = a->give_stdin,
                              .timeout_ms = a->timeout_ps / WF_PS_PER_MS,
                              .settle_ms = a->settle_ps / WF_PS_PER_MS,
                              .linger_ms = a->linger_ps / WF_PS_PER_MS,
                              .cwd = a->cwd,
                              .env = a->env};
    if (!n)
        rc = usage("no host and no command%s", "");
    while (!rc && argv[i])
        rc = group(a->jobs, argv, &i);
    return rc ? -EINVAL : 0;
}

/* A JSON array of strings as a NULL-terminated array; the strings stay the array's. */
static const char *const *strings(const json_t *a)
{
    const char **v = calloc(json_array_size(a) + 1, sizeof(*v));

    for (size_t i = 0; v && i < json_array_size(a); i++)
        v[i] = json_string_value(json_array_get(a, i));
    return v;
}

/* What the instance knows by this name: a host, a guest, or nothing. */
static const json_t *find_host(const json_t *answer, const char *name)
{
    const json_t *list = json_object_get(answer, "hosts"), *h;
    size_t i;

    json_array_foreach (list, i, h)
        if (!strcmp(json_string_value(json_object_get(h, "name")), name))
            return h;
    list = json_object_get(answer, "guests");
    json_array_foreach (list, i, h)
        if (!strcmp(json_string_value(h), name))
            return h;
    return NULL;
}

static int unknown_host(const json_t *answer, const char *name, struct wf_err *err)
{
    const json_t *list = json_object_get(answer, "hosts"), *h;
    const char *names[256];
    size_t n = 0, i;

    json_array_foreach (list, i, h)
        if (n < 256)
            names[n++] = json_string_value(json_object_get(h, "name"));
    wf_err_set(err, ENOENT, "no host '%s' that commands can run on", name);
    wf_err_suggest(err, name, names, n);
    return -ENOENT;
}

/* Hosts in namespaces run here: find them, and refuse names that the instance does not know. */
static int resolve(struct wf_jobs *j, const json_t *answer, struct wf_err *err)
{
    for (uint32_t k = 0; k < j->n; k++) {
        const json_t *h = find_host(answer, j->jobs[k].host);

        if (!h)
            return unknown_host(answer, j->jobs[k].host, err);
        j->jobs[k].netns = json_string_value(json_object_get(h, "netns"));
        if (j->jobs[k].netns)
            j->jobs[k].env = strings(json_object_get(h, "env"));
    }
    return 0;
}

/* The folder that we are in, when the guests have it at the same path. */
static const char *shared_cwd(const json_t *answer, char *buf, size_t len)
{
    const char *share = json_string_value(json_object_get(answer, "share"));
    size_t n = share ? strlen(share) : 0;

    if (!n || !getcwd(buf, len) || strncmp(buf, share, n) || (buf[n] && buf[n] != '/'))
        return NULL;
    return buf;
}

int wf_cmd_exec(int argc, char **argv)
{
    struct wf_jobs *j = calloc(1, sizeof(*j));
    struct exec_args a = {.jobs = j, .settle_ps = 5 * WF_PS_PER_S, .linger_ps = 10 * WF_PS_PER_S};
    struct wf_instance in;
    struct wf_client c;
    struct wf_err err;
    json_t *answer;
    char cwd[4096];
    int rc;

    if (!j)
        return WF_EXIT_ENVIRONMENT;
    rc = parse(&a, argc, argv);
    if (rc)
        rc = rc > 0 ? -1 : WF_EXIT_USAGE;
    else if (wf_client_connect(&c, a.instance, &in, &err))
        rc = wf_cmd_fail("exec", WF_EXIT_ENVIRONMENT, &err);
    if (rc) {
        free(j);
        return rc > 0 ? rc : WF_EXIT_PASS;
    }
    wf_client_ask(&c, "lab", NULL);
    answer = wf_client_next(&c, &err);
    if (!answer) {
        rc = wf_cmd_fail("exec", WF_EXIT_ENVIRONMENT, &err);
    } else if (resolve(j, answer, &err)) {
        rc = wf_cmd_fail("exec", WF_EXIT_USAGE, &err);
    } else {
        if (!j->opts.cwd)
            j->opts.cwd = shared_cwd(answer, cwd, sizeof(cwd));
        j->client = &c;
        j->stop = &wf_cmd_stop;
        wf_cmd_catch_signals();
        rc = wf_jobs_run(j);
    }
    for (uint32_t i = 0; i < j->n; i++)
        free((void *)j->jobs[i].env);
    json_decref(answer);
    wf_client_close(&c);
    free(j);
    return rc;
}
