/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The user's input was wrong: what was found, what was expected, and where. Functions that read
 * input return 0 or -errno and fill one of these; they never print and never exit.
 */
#ifndef WEFT_BASE_ERR_H
#define WEFT_BASE_ERR_H

#include <stdarg.h>
#include <stddef.h>

struct wf_err {
    char file[256]; /* empty: no file involved */
    int line, col;  /* from 1; 0: unknown */
    char msg[768];
};

/* Fill *err (may be NULL) with a message without place; returns -code (code > 0, an errno). */
int wf_err_set(struct wf_err *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with a place; file may be NULL, line and col 0 when unknown. */
int wf_err_at(struct wf_err *err, int code, const char *file, int line, int col, const char *fmt,
              ...) __attribute__((format(printf, 6, 7)));
/* Give an error that has no place yet this one. */
void wf_err_place(struct wf_err *err, const char *file, int line, int col);
/* "file:line:col: msg" or "msg", into buf; returns buf. */
const char *wf_err_text(const struct wf_err *err, char *buf, size_t len);

/*
 * The name of names[0..n) nearest to word by Damerau-Levenshtein distance, or NULL when none is
 * near enough (more than a third of its length away) to be worth suggesting.
 */
const char *wf_did_you_mean(const char *word, const char *const *names, size_t n);
/* Append "; did you mean 'x'?" to the message when a name is near enough. */
void wf_err_suggest(struct wf_err *err, const char *word, const char *const *names, size_t n);

#endif
