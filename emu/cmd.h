/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands of the weft program, one file each, and what they share. A command gets its own
 * name as argv[0] and returns the exit code.
 */
#ifndef WEFT_CMD_H
#define WEFT_CMD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum wf_exit {
    WF_EXIT_PASS = 0,
    WF_EXIT_EXPECTATION = 1, /* an expectation failed */
    WF_EXIT_USAGE = 2,       /* bad usage or input */
    WF_EXIT_ENVIRONMENT = 3, /* something is missing or not permitted */
    WF_EXIT_INVARIANT = 4,   /* weft's own bug */
    WF_EXIT_SKIPPED = 77,
    WF_EXIT_INTERRUPTED = 130,
};

int wf_cmd_analyze(int argc, char **argv);
int wf_cmd_clear(int argc, char **argv);
int wf_cmd_diff(int argc, char **argv);
int wf_cmd_exec(int argc, char **argv);
int wf_cmd_inject(int argc, char **argv);
int wf_cmd_lab(int argc, char **argv);
int wf_cmd_check(int argc, char **argv);
int wf_cmd_plot(int argc, char **argv);
int wf_cmd_qos(int argc, char **argv);
int wf_cmd_replay(int argc, char **argv);
int wf_cmd_run(int argc, char **argv);
int wf_cmd_show(int argc, char **argv);
int wf_cmd_sweep(int argc, char **argv);
int wf_cmd_why(int argc, char **argv);

/* The streams as they were, and what stands behind those in their place: where nothing else holds
 * on to it, LeakSanitizer, which wraps such streams, takes it for lost. */
struct wf_cmd_out {
    FILE *out, *err;
    void *cookies[2];
};

/* From now on stdout and stderr let only plain text through, see base/plain.h. */
void wf_cmd_out_begin(struct wf_cmd_out *o);
/* As they were before. */
void wf_cmd_out_end(struct wf_cmd_out *o);
/* A file for what a command makes, "-": the standard output. NULL and *err. */
FILE *wf_cmd_create(const char *path, struct wf_err *err);
/* Written to its end? Else it is removed. 0, or -errno and *err. */
int wf_cmd_finish(FILE *f, const char *path, struct wf_err *err);
/* The command line as text, for manifests. Before getopt, which moves the words. */
void wf_cmd_line(int argc, char **argv, char *buf, size_t len);

/* What --set was given. */
struct wf_cmd_sets {
    const char *items[64];
    size_t n;
};
/* -EINVAL when there are too many. */
int wf_cmd_set_add(struct wf_cmd_sets *sets, const char *text, struct wf_err *err);

/* Print "weft COMMAND: <error>" and return the code. */
int wf_cmd_fail(const char *command, enum wf_exit code, const struct wf_err *err);
/* Say so when the fabric runs on fewer lcores than were asked for. */
void wf_cmd_say_lcores(const char *command, uint32_t asked, uint32_t got);
/* Start EAL with `bytes` for packets, without hugepages, leaving nothing behind. Once a process.
 * fast: use hugepages. pci: devices of the PCI bus can be plugged in by name. 0 or -errno and *err.
 */
int wf_cmd_eal(uint64_t bytes, unsigned lcores, bool fast, bool pci, struct wf_err *err);
void wf_cmd_eal_end(void);
/* Set by SIGINT, SIGTERM and SIGHUP once installed. */
extern volatile sig_atomic_t wf_cmd_stop;
void wf_cmd_catch_signals(void);

#endif
