/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of `weft lab` share. */
#ifndef WEFT_CMD_LAB_H
#define WEFT_CMD_LAB_H

#include <stdbool.h>

#include "cmd_record.h"
#include "ctl/instance.h"
#include "lab/config.h"
#include "lab/lab.h"
#include "lab/text.h"
#include "scen/scenario.h"

#define WF_LAB_LOG  "log"          /* what the background process says */
#define WF_LAB_EXIT "exit status " /* its last line, unless it is 0 */
#define WF_LAB_UNDO "undo"         /* how its namespaces are taken away */
#define WF_LAB_PACK "packing"      /* is there while a recording becomes one file */

/* As given on the command line, NULL: not given. */
struct wf_lab_up_args {
    const char *scenario, *instance, *share, *kernel, *packages, *memory, *accel, *record, *payload;
    struct wf_cmd_sets sets;
    uint32_t lcores; /* 0: not given */
    bool foreground;
};

/* Everything that is known before the fabric is built. */
struct wf_lab_setup {
    struct wf_scenario scen;
    struct wf_lab_cfg cfg;
    struct wf_instance in;
    struct wf_machine machine;
    struct wf_image image;
    struct wf_lab_plan plan;
    char share[512]; /* "": none */
    struct wf_record record;
    bool records;
    uint32_t lcores;
    int tell_fd; /* where progress goes, see wf_lab_tell; -1: standard error */
};

/* Bring a lab up; the exit code. */
int wf_lab_up(const struct wf_lab_up_args *args);
/* Take away what a dead instance of this name has left. -EEXIST while one lives. */
int wf_lab_sweep(const char *name, struct wf_err *err);
/* The live fabric with its guests, from build to the end: the exit code. Removes the instance. */
int wf_lab_live(struct wf_lab_setup *s);
/* One line to whoever waits for the lab: kind 's' progress, 'r' ready, 'e' an error. */
void wf_lab_tell(const struct wf_lab_setup *s, char kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
