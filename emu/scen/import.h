/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A SONiC switch's config_db.json as a scenario: one switch, a host at each port that is up. What
 * the file says and a scenario can't, or does otherwise, is told note by note; nothing is left out
 * silently. After SONiC's schema of CONFIG_DB and SAI's attributes. Left out: all that is not QoS,
 * multicast queues, colours other than green, and what only the ASIC knows (cell size, whole
 * buffer).
 */
#ifndef WEFT_SCEN_IMPORT_H
#define WEFT_SCEN_IMPORT_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/err.h"

enum wf_import_kind {
    WF_IMPORT_ERROR,   /* the file is wrong: there is no scenario */
    WF_IMPORT_DIFFERS, /* a value that the scenario says otherwise */
    WF_IMPORT_IGNORED, /* a table or key without counterpart */
};

struct wf_import_note {
    enum wf_import_kind kind;
    const char *where, *text; /* a JSON path; text: empty for what is only ignored */
    uint32_t n;               /* so many places, where is the first */
};

struct wf_import {
    struct wf_arena arena;
    json_t *seen; /* notes by kind, table, key and text: their number */
    struct wf_import_note *notes;
    size_t n_notes, cap;
    uint32_t errors;
    char *yaml; /* the scenario; NULL when there are errors */
    size_t yaml_len;
};

/* Read a file. 0, or -EINVAL and *err when it can't be read or is no JSON object. Errors in what
 * it says are notes. */
int wf_import_file(struct wf_import *im, const char *path, struct wf_err *err);
/* The same from JSON that is read; name: what it is called. Does not take the reference. */
void wf_import_json(struct wf_import *im, const char *name, json_t *root);
void wf_import_print_notes(const struct wf_import *im, const char *before, FILE *to);
void wf_import_free(struct wf_import *im);

#endif
