/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weft lab`: soft-RoCE guests and namespace hosts on a live fabric that runs in the background.
 * Here: the command line, down and status; cmd_lab_up.c brings a lab up.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "cmd_lab.h"
#include "cmd_opt.h"
#include "ctl/client.h"
#include "fabric/partition.h"
#include "lab/netns.h"
#include "sim/clock.h"

#define DOWN_LIMIT_MS 15000
#define PACK_LIMIT_S  600

#define FIELD(name) .off = offsetof(struct wf_lab_up_args, name)

static const struct wf_opt opts[] = {
    {.name = "instance",
     .letter = 'i',
     .kind = WF_OPT_TEXT,
     FIELD(instance),
     .value = "NAME",
     .help = "name of the instance (default: the scenario's)"},
    {.name = "share",
     .kind = WF_OPT_TEXT,
     FIELD(share),
     .value = "DIR|none",
     .help = "folder that guests see at the same path (default: the working\n"
             "directory)"},
    {.name = "kernel",
     .kind = WF_OPT_TEXT,
     FIELD(kernel),
     .value = "PKG|FILE",
     .help = "another kernel for the guests, a Debian package or a .deb file"},
    {.name = "packages",
     .kind = WF_OPT_TEXT,
     FIELD(packages),
     .value = "A,B",
     .help = "more Debian packages for the guests, such as openmpi-bin"},
    {.name = "memory",
     .kind = WF_OPT_TEXT,
     FIELD(memory),
     .value = "SIZE",
     .help = "memory of each guest, such as 1GiB"},
    {.name = "accel",
     .kind = WF_OPT_TEXT,
     FIELD(accel),
     .value = "KIND",
     .help = "auto, kvm or tcg"},
    {.name = "set",
     .kind = WF_OPT_SET,
     FIELD(sets),
     .value = "KEY=VALUE",
     .help = "another value than the scenario's, as for weft run"},
    {.name = "lcores",
     .kind = WF_OPT_UINT,
     FIELD(lcores),
     .min = 1,
     .max = WF_LCORES_MAX,
     .value = "N",
     .help = "run the fabric on N cores (default 1)"},
    {.name = "record",
     .kind = WF_OPT_TEXT,
     FIELD(record),
     .value = "FILE",
     .help = "what came from outside, the scenario, the result and the captures as\n"
             "one file, which 'weft run FILE' repeats in virtual time; ready after\n"
             "'down'"},
    {.name = "payload",
     .kind = WF_OPT_TEXT,
     FIELD(payload),
     .value = "whole|cut",
     .help = "cut: record no payload bytes"},
    {.name = "foreground",
     .kind = WF_OPT_FLAG,
     FIELD(foreground),
     .help = "stay, and end with Ctrl-C"},
    {.name = NULL},
};

static const char head[] =
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
    "status lists what runs\n\n";

static const char tail[] =
    "\n"
    "Commands run on the hosts with 'weft exec'. The scenario's lab: section sets the same "
    "things;\n"
    "options win. Exit status: 0, 2 wrong usage or scenario, 3 something is missing here.\n";

static const struct wf_opt_page page = {.head = head, .opts = opts, .tail = tail};

static int usage(const char *fmt, const char *what)
{
    fprintf(stderr, "weft lab: ");
    fprintf(stderr, fmt, what);
    fprintf(stderr, "; 'weft lab --help' says more\n");
    return WF_EXIT_USAGE;
}

static int up(int argc, char **argv)
{
    struct wf_lab_up_args a = {0};
    struct wf_err err;
    int n, rc = wf_opt_parse(&page, &a, argc, argv, &n, &err);

    if (rc)
        return rc > 0 ? WF_EXIT_PASS : wf_cmd_fail("lab", WF_EXIT_USAGE, &err);
    if (n > 1)
        return usage("one scenario only, not '%s' too", argv[2]);
    if (!n)
        return usage("no scenario%s", "");
    a.scenario = argv[1];
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

static int down(int argc, char **argv)
{
    const struct wf_opt only[] = {opts[0], {.name = NULL}};
    const struct wf_opt_page its = {.head = "usage: weft lab down [-i NAME]\n\n"
                                            "Ends a lab, leaves nothing behind, and prints the "
                                            "summary; exit status 1 when an\n"
                                            "expectation failed.\n\n",
                                    .opts = only};
    struct wf_lab_up_args a = {0};
    struct wf_instance in;
    struct wf_client c;
    const char *name;
    struct wf_err err;
    int n, rc = wf_opt_parse(&its, &a, argc, argv, &n, &err);

    if (rc)
        return rc > 0 ? WF_EXIT_PASS : wf_cmd_fail("lab", WF_EXIT_USAGE, &err);
    if (n)
        return usage("what is '%s'?", argv[1]);
    name = a.instance;
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

static int status(int argc, char **argv)
{
    static const struct wf_opt none[] = {{.name = NULL}};
    static const struct wf_opt_page its = {.head = "usage: weft lab status\n\nLists what runs.\n",
                                           .opts = none};
    struct wf_err err;
    int found, n = 0, rc = wf_opt_parse(&its, NULL, argc, argv, &found, &err);

    if (rc)
        return rc > 0 ? WF_EXIT_PASS : wf_cmd_fail("lab", WF_EXIT_USAGE, &err);
    if (found)
        return usage("what is '%s'?", argv[1]);
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
        int (*fn)(int argc, char **argv);
    } verbs[] = {{"up", up}, {"down", down}, {"status", status}};

    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        wf_opt_help(&page);
        return WF_EXIT_PASS;
    }
    for (size_t i = 0; argc >= 2 && i < sizeof(verbs) / sizeof(verbs[0]); i++)
        if (!strcmp(argv[1], verbs[i].name))
            return verbs[i].fn(argc - 1, argv + 1);
    return argc < 2 ? usage("say 'up', 'down' or 'status'%s", "")
                    : usage("say 'up', 'down' or 'status', not '%s'", argv[1]);
}
