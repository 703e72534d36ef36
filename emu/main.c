/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The weft program: finds the command and runs it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/version.h"
#include "cmd.h"

struct command {
    const char *name, *args, *what;
    int (*fn)(int argc, char **argv);
};

static const struct command commands[] = {
    {"lab", "up|down|status", "guests with real RDMA stacks on a live fabric", wf_cmd_lab},
    {"exec", "HOST... -- CMD", "run commands on the hosts of a lab", wf_cmd_exec},
    {"show", "WHAT", "look into a live fabric, or at a result", wf_cmd_show},
    {"clear", "WHAT", "begin watermarks of a live fabric anew", wf_cmd_clear},
    {"inject", "WHAT", "break something in a live fabric", wf_cmd_inject},
    {"run", "SCENARIO", "run a scenario and say what it has shown", wf_cmd_run},
    {"check", "SCENARIO...", "say what is wrong with scenario files, explain their values",
     wf_cmd_check},
    {"replay", "CAPTURE SCENARIO", "send a capture through a fabric, say what became of it",
     wf_cmd_replay},
    {"analyze", "CAPTURE...", "say what captures of RoCE traffic show: losses, causes, stalls",
     wf_cmd_analyze},
    {"diff", "A B", "say what differs between two results", wf_cmd_diff},
    {"plot", "DIR|CSV...", "draw sweeps and traces", wf_cmd_plot},
    {"sweep", "SCENARIO", "run a scenario over settings and seeds, into tables", wf_cmd_sweep},
    {"qos", "import|mlnx", "a scenario from a SONiC switch's or a NIC's configuration", wf_cmd_qos},
    {"why", "RECORD QUESTION", "say why a packet waited, was marked, dropped or paused",
     wf_cmd_why},
};

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

volatile sig_atomic_t wf_cmd_stop;

static void on_signal(int sig)
{
    (void)sig;
    if (wf_cmd_stop) { /* the second time the user means it */
        signal(sig, SIG_DFL);
        raise(sig);
    }
    wf_cmd_stop = 1;
}

void wf_cmd_catch_signals(void)
{
    struct sigaction sa = {.sa_handler = on_signal}, was;

    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    sigaction(SIGHUP, NULL, &was);
    if (was.sa_handler != SIG_IGN) /* nohup */
        sigaction(SIGHUP, &sa, NULL);
    signal(SIGPIPE, SIG_IGN);
}

int wf_cmd_fail(const char *command, enum wf_exit code, const struct wf_err *err)
{
    char buf[sizeof(struct wf_err) + 64];

    fprintf(stderr, "weft %s: %s\n", command, wf_err_text(err, buf, sizeof(buf)));
    return (int)code;
}

void wf_cmd_line(int argc, char **argv, char *buf, size_t len)
{
    size_t used = (size_t)snprintf(buf, len, "weft");

    for (int i = 0; i < argc && used < len; i++)
        used += (size_t)snprintf(buf + used, len - used, " %s", argv[i]);
}

int wf_cmd_set_add(struct wf_cmd_sets *sets, const char *text, struct wf_err *err)
{
    const size_t max = sizeof(sets->items) / sizeof(sets->items[0]);

    if (sets->n == max)
        return wf_err_set(err, 22, "--set is given more than %zu times", max);
    sets->items[sets->n++] = text;
    return 0;
}

static void help(FILE *to)
{
    fprintf(to,
            "weft %s: a RoCE fabric in user space that real RDMA stacks plug into\n\n"
            "usage: weft COMMAND ...\n\n",
            wf_version());
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(to, "  %-8s %-20s %s\n", commands[i].name, commands[i].args, commands[i].what);
    fprintf(to, "\n`weft COMMAND --help` says more.\n");
}

static int unknown(const char *word)
{
    const char *names[N_COMMANDS];
    struct wf_err err;

    for (int i = 0; i < N_COMMANDS; i++)
        names[i] = commands[i].name;
    wf_err_set(&err, 22, "'%s' is not a command", word);
    wf_err_suggest(&err, word, names, N_COMMANDS);
    fprintf(stderr, "weft: %s\n", err.msg);
    return WF_EXIT_USAGE;
}

static const struct command *find(const char *word)
{
    for (int i = 0; i < N_COMMANDS; i++)
        if (!strcmp(word, commands[i].name))
            return &commands[i];
    return NULL;
}

/* `weft help`, and `weft help run`, which is `weft run --help`. */
static int answer_help(int argc, char **argv)
{
    char option[] = "--help";
    char *args[] = {argc > 2 ? argv[2] : NULL, option, NULL};
    const struct command *c = argc > 2 ? find(argv[2]) : NULL;

    if (c)
        return c->fn(2, args);
    if (argc > 2)
        return unknown(argv[2]);
    help(stdout);
    return WF_EXIT_PASS;
}

static int command(int argc, char **argv)
{
    const struct command *c;

    if (argc < 2) {
        help(stderr);
        return WF_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
        return answer_help(argc, argv);
    if (!strcmp(argv[1], "--version")) {
        printf("weft %s\n", wf_version());
        return WF_EXIT_PASS;
    }
    c = find(argv[1]);
    return c ? c->fn(argc - 1, argv + 1) : unknown(argv[1]);
}

/* What could not be printed, to a full disk for example, is no success. */
int main(int argc, char **argv)
{
    struct wf_cmd_out out;
    int rc;

    wf_cmd_out_begin(&out);
    rc = command(argc, argv);
    if ((fflush(stdout) || ferror(stdout)) && rc == WF_EXIT_PASS) {
        fprintf(stderr, "weft: cannot write to the standard output\n");
        rc = WF_EXIT_ENVIRONMENT;
    }
    wf_cmd_out_end(&out);
    return rc;
}
