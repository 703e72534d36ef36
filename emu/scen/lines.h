/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text files of lines of words, as simulators write them and weft's own tables: each word with its
 * place, so that whoever reads them can say file:line:col, what was found and what was expected.
 * Empty lines and what follows a '#' are passed over.
 */
#ifndef WEFT_SCEN_LINES_H
#define WEFT_SCEN_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { WF_LINE_WORDS_MAX = 2048, WF_LINE_WORD_MAX = 128 };

struct wf_lines {
    const char *file, *text;
    size_t len, at;
    char separator;      /* between words; 0: blanks and tabs, and what they are, too */
    int line, next_line; /* of the words, from 1; of what comes */
    struct {
        uint32_t off, len;
        int col;
    } words[WF_LINE_WORDS_MAX];
    uint32_t n;
    bool more; /* the line has more words than that */
    bool end;  /* there is no line any more; the words are those of the last one */
};

void wf_lines_begin(struct wf_lines *l, const char *file, const char *text, size_t len,
                    char separator);
/* The next line that has words; false: there is none. */
bool wf_lines_next(struct wf_lines *l);
/* Its i-th word, cut at WF_LINE_WORD_MAX; buf holds as many. "" behind the last. */
const char *wf_lines_word(const struct wf_lines *l, uint32_t i, char *buf);
bool wf_lines_is(const struct wf_lines *l, uint32_t i, const char *word);
/* -EINVAL, at the i-th word: "expected WHAT, found 'x'" or "..., found the end of the line". */
int wf_lines_expected(const struct wf_lines *l, uint32_t i, struct wf_err *err, const char *what);
/* A whole number from min to max; what: "a node from 0 to 7". */
int wf_lines_uint(const struct wf_lines *l, uint32_t i, uint64_t min, uint64_t max, uint64_t *out,
                  struct wf_err *err, const char *what);
/* A number with a fraction of at most 9 digits, in 10^-9: "0.25" is 250000000; at most max of them
 * before the point. */
int wf_lines_nano(const struct wf_lines *l, uint32_t i, uint64_t max, uint64_t *out,
                  struct wf_err *err, const char *what);

#endif
