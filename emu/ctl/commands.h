/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a live fabric answers and does by command. Looking changes nothing; whatever changes
 * something goes through attach/ingress.h, where everything from outside passes.
 *   status                         name, scenario, time, digest, lateness, packets
 *   show   what, at?               rows of one of wf_ctl_views: {"name": ..., counter: value ...}
 *   hosts  at?                     attached hosts: where they are and whether they are there
 *   inject action, at, class?, every?, count?     drop | ce | corrupt at a port's egress
 *   link   at, up                  by its name or by a port at either end; or down_ps, period_ps?,
 *                                  count?: down and up again, so many times
 *   pfc    at, priorities, quanta  an XOFF (XON: 0) out of a port
 *   clear  what, at?               user watermarks, in sonic-clear's words, of switches that fit;
 *                                  no result has them, so this alone is not recorded
 *   stop                           the run ends
 */
#ifndef WEFT_CTL_COMMANDS_H
#define WEFT_CTL_COMMANDS_H

#include "attach/edges.h"
#include "ctl/server.h"

struct wf_ctl_fabric {
    struct wf_fabric *f;
    struct wf_run *run;
    struct wf_edges *edges; /* bound to the fabric, also when it has none */
    const char *instance;
};

extern const struct wf_ctl_group wf_ctl_fabric_group; /* its argument: struct wf_ctl_fabric */
/* Names of the views, NULL-terminated. */
extern const char *const wf_ctl_views[];

/* show.c: the rows of a view, only those whose name fits the pattern (NULL: all). NULL and *err:
 * there is no such view, or no object that fits. */
json_t *wf_ctl_show(struct wf_fabric *f, const char *what, const char *at, struct wf_err *err);

/* watermarks.c: rows of what has held anything. */
json_t *wf_ctl_watermarks(struct wf_fabric *f, const char *at);
/* What can be cleared, NULL-terminated. */
extern const char *const wf_ctl_clears[];
/* Between turns. 0, or -errno and *err. */
int wf_ctl_clear(struct wf_fabric *f, const char *what, const char *at, struct wf_err *err);

#endif
