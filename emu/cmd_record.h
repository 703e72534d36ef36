/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --record FILE: a run as one bundle (cap/bundle.h), and `weft run BUNDLE`, which repeats it.
 *
 * While the run goes on its parts grow in the folder FILE.part; at the end they become FILE, whole
 * or not at all. A killed run leaves the folder, which `weft run FILE.part` repeats as far as it
 * goes. A full disk ends the log, not the run: the bundle then says `incomplete`.
 */
#ifndef WEFT_CMD_RECORD_H
#define WEFT_CMD_RECORD_H

#include <jansson.h>
#include <limits.h>

#include "attach/edges.h"
#include "cap/bundle.h"
#include "cap/ingress_log.h"
#include "cmd.h"
#include "scen/report.h"

#define WF_BUNDLE_SCHEMA "weft.bundle/1"

struct wf_record {
    const char *path;
    char part[PATH_MAX];
    bool made; /* the folder is there */
    bool cut;  /* payload bytes stay out of the log */
    json_t *head;
    struct wf_ingress_log *log;
    struct wf_ingress_log_sum sum;
    bool failed; /* something could not be written */
};

struct wf_record_conf {
    const char *path;
    bool cut, live;
    const struct wf_cmd_sets *sets; /* NULL: none */
    const char *command;            /* the command line */
};

/* Make the folder, with the scenario in it. Before the run, and before a fork. -errno and *err. */
int wf_record_begin(struct wf_record *r, const struct wf_record_conf *conf,
                    const struct wf_scenario *scen, struct wf_err *err);
/* The fabric is built, no device is open yet: from now on the log hears of everything. endless: the
 * run takes no notice of the scenario's duration. */
int wf_record_start(struct wf_record *r, struct wf_edges *es, const struct wf_scenario *scen,
                    bool endless, struct wf_err *err);
/* The file has failed, once. */
bool wf_record_take_error(struct wf_record *r, struct wf_err *err);
/* The run has ended: no stimulus comes any more. `summary` is weft.run/1; stopped: the run did not
 * end by itself. */
void wf_record_end(struct wf_record *r, struct wf_edges *es, const struct wf_report *rep,
                   bool stopped, const json_t *summary);
/* Captures are closed: make the bundle, take the folder away, say so to `say` (NULL: nobody).
 * Without an end only the folder goes. Free in either case. -errno and *err when there is no
 * bundle; the folder then stays. */
int wf_record_finish(struct wf_record *r, FILE *say, struct wf_err *err);

/* --- repeating -------------------------------------------------------------------------------- */

struct wf_repeat {
    struct wf_stops stops; /* first */
    struct wf_bundle *bundle;
    json_t *head, *summary; /* summary NULL: the recorded run did not come to its end */
    bool live, endless, complete, killed;
    uint64_t seed;
    struct wf_cmd_sets sets;
    struct wf_ingress_reader *log;
    struct wf_stimulus next;
    struct wf_edges *es;
    struct wf_run *run;
    uint64_t done; /* stimuli */
    bool at_end;
    int rc; /* not 0: the log does not fit, *err says how */
    struct wf_err err;
    char why[256]; /* why it is not complete */
    /* what wf_repeat_compare found */
    size_t compared;
    json_t *differences; /* as wf_diff() gives them: a is recorded, b repeated */
};

/* Open a bundle and load its scenario (free it in either case). A usage error is in *err, or in
 * the scenario's diags. */
int wf_repeat_open(struct wf_repeat *p, const char *path, struct wf_scenario *scen,
                   struct wf_err *err);
/* The fabric is built, its run prepared: the recording acts in it. */
int wf_repeat_start(struct wf_repeat *p, struct wf_edges *es, struct wf_fabric *f,
                    struct wf_run *run, struct wf_err *err);
/* Hold the result against the recorded one. */
void wf_repeat_compare(struct wf_repeat *p, const json_t *summary);
/* 0 equal; WF_EXIT_INVARIANT: the same weft gave another result; WF_EXIT_EXPECTATION: it differs,
 * or there is nothing to compare with, for a reason that is said. */
enum wf_exit wf_repeat_exit(const struct wf_repeat *p);
void wf_repeat_text(const struct wf_repeat *p, FILE *out);
json_t *wf_repeat_json(const struct wf_repeat *p);
void wf_repeat_close(struct wf_repeat *p);

#endif
