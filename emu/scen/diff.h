/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What differs between two results: of runs (weft.run/1, weft.runs/1, weft.replay/1, recordings),
 * or tables of sweeps and traces. Each is flattened to values under names such as
 * leaf0:p3.q3.ecn_marked_frames; lists are taken apart by their entries' names and not by their
 * order. A counter that is absent is 0, since lists hold only what is not zero.
 *
 * What depends on the machine and its clock is no result: lateness, the manifest, names of capture
 * files. Program, scenario and seed of the manifests are context, told beside the changes.
 */
#ifndef WEFT_SCEN_DIFF_H
#define WEFT_SCEN_DIFF_H

#include <jansson.h>

#include "base/err.h"

struct wf_diff_side {
    const char *path;
    char schema[64]; /* "weft.run/1", or the columns of a table */
    json_t *values;  /* name -> value, in the order of the file */
    json_t *context; /* of the manifest: version, scenario_sha256, seed */
};

/* A JSON result, a recording (of which the summary counts), a CSV table, or the folder of a sweep.
 * 0, or -errno and *err. Free it in either case. */
int wf_diff_read(struct wf_diff_side *s, const char *path, struct wf_err *err);
void wf_diff_free(struct wf_diff_side *s);
/* The values of a result that is there as JSON already; a new object. */
json_t *wf_diff_values(const json_t *result);
/* -EINVAL and *err when they are no results of one kind. */
int wf_diff_match(const struct wf_diff_side *a, const struct wf_diff_side *b, struct wf_err *err);
/* An array of {what, a, b, relative}, without relative where it says nothing; verdicts and
 * expectations first. Of `values`, or of `context`. */
json_t *wf_diff(const json_t *a, const json_t *b);

#endif
