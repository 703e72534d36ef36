/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is wrong with a scenario: all of it, not only the first mistake. Loading goes on after an
 * error as long as that makes sense; the same message at the same place is kept once.
 */
#ifndef WEFT_SCEN_DIAG_H
#define WEFT_SCEN_DIAG_H

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/err.h"

enum { WF_DIAGS_MAX = 100 };

struct wf_diag {
    bool warning;
    struct wf_err err;
};

struct wf_diags {
    struct wf_arena *arena;
    struct wf_diag *items[WF_DIAGS_MAX];
    size_t n;
    size_t errors, warnings; /* all of them, also those beyond WF_DIAGS_MAX */
};

struct wf_yaml_node;

/* Take over an error; false when the same one was known. */
bool wf_diag_add(struct wf_diags *d, bool warning, const struct wf_err *err);
/* Errors and warnings placed at a node (NULL: no place). */
void wf_diag_error(struct wf_diags *d, const struct wf_yaml_node *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void wf_diag_warn(struct wf_diags *d, const struct wf_yaml_node *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* An error about the word `word`, with a suggestion from names when one is near. */
void wf_diag_unknown(struct wf_diags *d, const struct wf_yaml_node *at, const char *word,
                     const char *const *names, size_t n, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
/* "file:line:col: error: msg", one a line, in the order of the file. */
void wf_diags_print(struct wf_diags *d, FILE *out);

#endif
