/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weft lab`: soft-RoCE guests and namespace hosts on a live fabric that runs in the background.
 * Here: the command line, down and status; cmd_lab_up.c brings a lab up.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "cmd_lab.h"
#include "ctl/client.h"
#include "lab/netns.h"
#include "sim/clock.h"

#define DOWN_LIMIT_MS 15000
#define PACK_LIMIT_S  600

static const char help[] =
    "usage: weft lab up [options] SCENARIO\n"
    "       weft lab down [-i NAME]\n"
    "       weft lab status\n\n"
    "up    starts the scenario's fabric in real time in the background, boots a guest with a real\n"
    "      kernel for each host that is attached by vhost_user, and waits until they can be used.\n"
    "      Hosts may also be network namespaces (place: {netns: NAME}), which are made if need "
    "be.\n"
    "down  ends it, leaves nothing behind, and prints the summary; exit status 1 when an "
    "expectation\n"
    "      failed\n"
    "status lists what runs\n\n"
    "  -i NAME             name of the instance (default: the scenario's)\n"
    "  --share DIR|none    folder that guests see at the same path (default: the working "
    "directory)\n"
    "  --kernel PKG|FILE   another kernel for the guests, a Debian package or a .deb file\n"
    "  --packages A,B      more Debian packages for the guests, such as openmpi-bin\n"
    "  --memory SIZE       memory of each guest, such as 1GiB\n"
    "  --accel KIND        auto, kvm or tcg\n"
    "  --set KEY=VALUE     another value than the scenario's, as for weft run\n"
    "  --lcores N          run the fabric on N cores (default 1)\n"
    "  --record FILE       what came from outside, the scenario, the result and the captures as "
    "one\n"
    "                      file, which 'weft run FILE' repeats in virtual time; ready after "
    "'down'\n"
    "  --payload cut       record no payload bytes\n"
    "  --foreground        stay, and end with Ctrl-C\n\n"
    "Commands run on the hosts with 'weft exec'. The scenario's lab: section sets the same "
    "things;\n"
    "options win. Exit status: 0, 2 wrong usage or scenario, 3 something is missing here.\n";

static int usage(const char *fmt, const char *what)
{
    fprintf(stderr, "weft lab: ");
    fprintf(stderr, fmt, what);
    fprintf(stderr, "; 'weft lab --help' says more\n");
    return WF_EXIT_USAGE;
}

/* One option of `up`; its value is argv[1]. 1 or 2 words taken, 0: unknown, -1: no value, -2: a
 * wrong one, and it was said. */
static int up_option(struct wf_lab_up_args *a, char **argv)
{
    const struct {
        const char *name, **to;
    } options[] = {
        {"-i", &a->instance},         {"--share", &a->share},     {"--kernel", &a->kernel},
        {"--packages", &a->packages}, {"--memory", &a->memory},   {"--accel", &a->accel},
        {"--record", &a->record},     {"--payload", &a->payload},
    };

    if (!strcmp(argv[0], "--foreground")) {
        a->foreground = true;
        return 1;
    }
    if (argv[1] && (!strcmp(argv[0], "--set") || !strcmp(argv[0], "--lcores"))) {
        bool set = !strcmp(argv[0], "--set");
        struct wf_err err;

        if (set ? wf_cmd_set_add(&a->sets, argv[1], &err)
                : wf_cmd_lcores(argv[1], &a->lcores, &err)) {
            wf_cmd_fail("lab", WF_EXIT_USAGE, &err);
            return -2;
        }
        return 2;
    }
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (!strcmp(argv[0], options[i].name)) {
            *options[i].to = argv[1];
            return argv[1] ? 2 : -1;
        }
    return !strcmp(argv[0], "--set") || !strcmp(argv[0], "--lcores") ? -1 : 0;
}

static int up(char **argv)
{
    struct wf_lab_up_args a = {0};

    while (*argv) {
        int n = 1;

        if (argv[0][0] == '-') {
            n = up_option(&a, argv);
            if (n == -2)
                return WF_EXIT_USAGE;
            if (n <= 0)
                return usage(n ? "%s needs a value" : "unknown option %s", argv[0]);
        } else if (a.scenario) {
            return usage("one scenario only, not '%s' too", argv[0]);
        } else {
            a.scenario = argv[0];
        }
        argv += n;
    }
    if (!a.scenario)
        return usage("no scenario%s", "");
    return wf_lab_up(&a);
}

static bool wait_dead(const struct wf_instance *in, int ms)
{
    for (; ms > 0 && wf_instance_alive(in); ms -= 20)
        poll(NULL, 0, 20);
    return !wf_instance_alive(in);
}

/* A long recording takes its time to become one file. */
static bool wait_packed(const struct wf_instance *in)
{
    char path[300];

    for (int s = 0; s < PACK_LIMIT_S; s++) {
        if (access(wf_instance_path(in, WF_LAB_PACK, path, sizeof(path)), F_OK))
            return wait_dead(in, 1000);
        if (wait_dead(in, 1000))
            return true;
    }
    return false;
}

/* Take away what a dead instance has left; the one way to do it, for up too. */
int wf_lab_sweep(const char *name, struct wf_err *err)
{
    struct wf_instance in;
    char path[300];
    int rc = wf_instance_find(&in, name, err);

    if (rc || access(in.dir, F_OK))
        return rc;
    if (wf_instance_alive(&in))
        return wf_err_set(err, EEXIST,
                          "instance '%s' is running already (process %d); end it with 'weft lab "
                          "down -i %s', or give this one another name with -i",
                          name, (int)wf_instance_pid(&in), name);
    wf_lab_netns_down(wf_instance_path(&in, WF_LAB_UNDO, path, sizeof(path)));
    rc = wf_instance_claim(&in, name, err);
    if (!rc)
        wf_instance_remove(&in);
    return rc;
}

/* What the instance wrote since it was asked to stop; its file may have gone, we have it open. The
 * exit status that stands in the last line. */
static int print_rest(int fd)
{
    FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
    char *line = NULL;
    size_t cap = 0;
    int code = 0;

    while (f && getline(&line, &cap, f) > 0)
        if (sscanf(line, WF_LAB_EXIT "%d", &code) != 1)
            fputs(line, stdout);
    free(line);
    if (f)
        fclose(f);
    return code;
}

static int end(struct wf_client *c, const struct wf_instance *in)
{
    char path[300];
    struct wf_err err;
    pid_t pid = wf_instance_pid(in);
    int code,
        log = open(wf_instance_path(in, WF_LAB_LOG, path, sizeof(path)), O_RDONLY | O_CLOEXEC);

    if (log >= 0)
        lseek(log, 0, SEEK_END);
    wf_client_ask(c, "stop", NULL);
    json_decref(wf_client_next(c, &err));
    if (!wait_dead(in, DOWN_LIMIT_MS) && !wait_packed(in) && pid > 1) {
        fprintf(stderr, "weft lab: process %d does not end: killing it\n", (int)pid);
        kill(pid, SIGKILL);
        wait_dead(in, 2000);
    }
    code = print_rest(log);
    if (wf_lab_sweep(in->name, &err))
        return wf_cmd_fail("lab", WF_EXIT_ENVIRONMENT, &err);
    printf("lab '%s' is down\n", in->name);
    return code;
}

static int down(char **argv)
{
    const char *name = NULL;
    struct wf_instance in;
    struct wf_client c;
    struct wf_err err;
    int rc;

    if (*argv && !strcmp(*argv, "-i")) {
        if (!argv[1])
            return usage("-i needs a name%s", "");
        name = argv[1];
        argv += 2;
    }
    if (*argv)
        return usage("what is '%s'?", *argv);
    if (wf_client_connect(&c, name, &in, &err)) {
        /* a dead one's leavings go as well */
        if (name && !wf_instance_find(&in, name, NULL) && !access(in.dir, F_OK) &&
            !wf_instance_alive(&in) && !wf_lab_sweep(name, &err)) {
            printf("instance '%s' had died; what it left is gone\n", name);
            return WF_EXIT_PASS;
        }
        return wf_cmd_fail("lab", WF_EXIT_ENVIRONMENT, &err);
    }
    rc = end(&c, &in);
    wf_client_close(&c);
    return rc;
}

static void print_hosts(const json_t *answer)
{
    const json_t *h, *e;
    size_t i, k;

    json_array_foreach (json_object_get(answer, "hosts"), i, h) {
        const char *guest = json_string_value(json_object_get(h, "guest"));
        const char *netns = json_string_value(json_object_get(h, "netns"));

        printf("  %-8s %s %s", json_string_value(json_object_get(h, "name")),
               guest ? "in guest" : "in namespace",
               guest   ? guest
               : netns ? netns
                       : "?");
        json_array_foreach (json_object_get(h, "env"), k, e)
            if (!strncmp(json_string_value(e), "WEFT_IP", 7) ||
                !strncmp(json_string_value(e), "WEFT_RDMA_DEV", 13))
                printf("  %s", strchr(json_string_value(e), '=') + 1);
        printf("\n");
    }
}

static int print_one(void *arg, const struct wf_instance *in)
{
    struct wf_instance found;
    struct wf_client c;
    struct wf_err err;
    json_t *answer;

    ++*(int *)arg;
    if (!wf_instance_alive(in)) {
        printf("%s: dead; 'weft lab down -i %s' takes away what it left\n", in->name, in->name);
        return 0;
    }
    printf("%s: process %d, %s\n", in->name, (int)wf_instance_pid(in), in->dir);
    if (wf_client_connect(&c, in->name, &found, &err))
        return 0;
    wf_client_ask(&c, "lab", NULL);
    answer = wf_client_next(&c, &err);
    if (answer)
        print_hosts(answer);
    json_decref(answer);
    wf_client_close(&c);
    return 0;
}

static int status(char **argv)
{
    struct wf_err err;
    int n = 0;

    if (*argv)
        return usage("what is '%s'?", *argv);
    if (wf_instance_each(print_one, &n, &err))
        return wf_cmd_fail("lab", WF_EXIT_ENVIRONMENT, &err);
    if (!n)
        printf("nothing runs\n");
    return WF_EXIT_PASS;
}

int wf_cmd_lab(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*fn)(char **argv);
    } verbs[] = {{"up", up}, {"down", down}, {"status", status}};

    if (argc >= 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(help, stdout);
        return WF_EXIT_PASS;
    }
    for (size_t i = 0; argc >= 2 && i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if (strcmp(argv[1], verbs[i].name))
            continue;
        if (argv[2] && (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h"))) {
            fputs(help, stdout);
            return WF_EXIT_PASS;
        }
        return verbs[i].fn(argv + 2);
    }
    return usage("say 'up', 'down' or 'status'%s", argc >= 2 ? ", and not that" : "");
}
