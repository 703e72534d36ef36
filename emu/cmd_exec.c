/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weft exec`: run commands on the hosts of a lab.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "cmd.h"
#include "lab/jobs.h"

#define NEXT_GROUP ":::"

static const char help[] =
    "usage: weft exec [options] HOST... -- CMD [ARG...] [::: HOST... -- CMD [ARG...]]...\n\n"
    "Runs a command on each of the hosts (guests, or hosts in network namespaces) and passes on\n"
    "what they print, as they print it. Groups set apart by ':::' start one after the other, each\n"
    "when the one before it has settled: its commands wait for something and use no CPU.\n\n"
    "  weft exec h0 h1 -- rdma link\n"
    "  weft exec h1 -- ib_write_bw -d rxe0 ::: h0 -- ib_write_bw -d rxe0 h1\n\n"
    "  -i NAME           the instance, when several run\n"
    "  -e, --env K=V     an environment variable for all; may be given again\n"
    "  -t, --timeout T   time limit of each command, such as 60s (exit status 124)\n"
    "  --settle T        start the next group after this time at the latest (default 5s)\n"
    "  --linger T        how long earlier commands may still run once the last group has ended\n"
    "                    or a command has failed; then they are stopped (default 10s)\n"
    "  --cwd DIR         working directory (default: this one, where it is in the shared folder)\n"
    "  --stdin           pass standard input on to the commands of the first group\n"
    "  --[no-]prefix     begin each line with its host (default: when there are several "
    "commands)\n\n"
    "Commands find WEFT_HOST, WEFT_IP, WEFT_IP6, WEFT_NETDEV, WEFT_RDMA_DEV and WEFT_GID_INDEX in\n"
    "their environment, and all hosts' names in /etc/hosts.\n"
    "Exit status: that of the first command that failed, 0 when none did; 2 wrong usage, 3 no "
    "such\n"
    "instance, 124 time limit, 125 the host has gone, 126/127 not started, 130 interrupted.\n";

struct exec_args {
    struct wf_jobs *jobs;
    const char *instance;
    const char *env[64];
    uint32_t n_env;
    bool cwd_given;
};

static int usage(const char *fmt, const char *what)
{
    fprintf(stderr, "weft exec: ");
    fprintf(stderr, fmt, what);
    fprintf(stderr, "; 'weft exec --help' says more\n");
    return WF_EXIT_USAGE;
}

static int time_option(const char *name, const char *text, uint64_t *ms)
{
    struct wf_err err;
    uint64_t ps;

    if (!text)
        return usage("%s needs a time", name);
    if (wf_parse_time(text, &ps, &err))
        return wf_cmd_fail("exec", WF_EXIT_USAGE, &err);
    *ms = ps / 1000000000;
    return 0;
}

/* One option at argv[*i]; advances *i over its argument. 0 or an exit code. */
static int option(struct exec_args *a, char **argv, int *i)
{
    struct wf_job_opts *o = &a->jobs->opts;
    const char *name = argv[*i], *value = argv[*i + 1];

    if (!strcmp(name, "--prefix") || !strcmp(name, "--no-prefix")) {
        o->prefix = name[2] == 'p';
        return 0;
    }
    if (!strcmp(name, "--stdin")) {
        o->give_stdin = true;
        return 0;
    }
    ++*i;
    if (!strcmp(name, "-t") || !strcmp(name, "--timeout"))
        return time_option(name, value, &o->timeout_ms);
    if (!strcmp(name, "--settle"))
        return time_option(name, value, &o->settle_ms);
    if (!strcmp(name, "--linger"))
        return time_option(name, value, &o->linger_ms);
    if (strcmp(name, "-i") && strcmp(name, "-e") && strcmp(name, "--env") && strcmp(name, "--cwd"))
        return usage("unknown option %s", name);
    if (!value)
        return usage("%s needs a value", name);
    if (!strcmp(name, "-i")) {
        a->instance = value;
    } else if (!strcmp(name, "--cwd")) {
        o->cwd = value;
    } else {
        if (!strchr(value, '=') || a->n_env == 63)
            return usage("--env takes NAME=value, at most 63 times, not '%s'", value);
        a->env[a->n_env++] = value;
    }
    return 0;
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

static int parse(struct exec_args *a, char **argv)
{
    int i = 1, rc;

    for (; argv[i] && argv[i][0] == '-' && strcmp(argv[i], "--"); i++) {
        rc = option(a, argv, &i);
        if (rc)
            return rc;
    }
    if (!argv[i])
        return usage("no host and no command%s", "");
    while (argv[i]) {
        rc = group(a->jobs, argv, &i);
        if (rc)
            return rc;
    }
    return 0;
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
    struct exec_args a = {.jobs = j};
    struct wf_instance in;
    struct wf_client c;
    struct wf_err err;
    json_t *answer;
    char cwd[4096];
    int rc;

    (void)argc;
    if (argv[1] && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(help, stdout);
        free(j);
        return WF_EXIT_PASS;
    }
    j->opts = (struct wf_job_opts){.prefix = -1, .settle_ms = 5000, .linger_ms = 10000};
    j->opts.env = a.env;
    rc = parse(&a, argv);
    if (!rc && wf_client_connect(&c, a.instance, &in, &err))
        rc = wf_cmd_fail("exec", WF_EXIT_ENVIRONMENT, &err);
    if (rc) {
        free(j);
        return rc;
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
