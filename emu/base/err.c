/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/err.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/plain.h"

static void fill(struct wf_err *err, const char *file, int line, int col, const char *fmt,
                 va_list ap)
{
    snprintf(err->file, sizeof(err->file), "%s", file ? file : "");
    err->line = line;
    err->col = col;
    vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
    wf_plain(err->file);
    wf_plain(err->msg);
}

int wf_err_set(struct wf_err *err, int code, const char *fmt, ...)
{
    va_list ap;

    if (err) {
        va_start(ap, fmt);
        fill(err, NULL, 0, 0, fmt, ap);
        va_end(ap);
    }
    return -code;
}

int wf_err_at(struct wf_err *err, int code, const char *file, int line, int col, const char *fmt,
              ...)
{
    va_list ap;

    if (err) {
        va_start(ap, fmt);
        fill(err, file, line, col, fmt, ap);
        va_end(ap);
    }
    return -code;
}

void wf_err_place(struct wf_err *err, const char *file, int line, int col)
{
    if (!err || err->file[0])
        return;
    snprintf(err->file, sizeof(err->file), "%s", file ? file : "");
    wf_plain(err->file);
    err->line = line;
    err->col = col;
}

const char *wf_err_text(const struct wf_err *err, char *buf, size_t len)
{
    if (err->file[0] && err->line > 0)
        snprintf(buf, len, "%s:%d:%d: %s", err->file, err->line, err->col, err->msg);
    else if (err->file[0])
        snprintf(buf, len, "%s: %s", err->file, err->msg);
    else
        snprintf(buf, len, "%s", err->msg);
    return buf;
}

enum { WORD_MAX = 48 };

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned m = a < b ? a : b;

    return m < c ? m : c;
}

/* Damerau-Levenshtein with adjacent swaps; words longer than WORD_MAX count as far away. */
static unsigned distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    uint8_t d[WORD_MAX + 1][WORD_MAX + 1];

    if (n > WORD_MAX || m > WORD_MAX)
        return WORD_MAX;
    for (size_t i = 0; i <= n; i++)
        d[i][0] = (uint8_t)i;
    for (size_t j = 0; j <= m; j++)
        d[0][j] = (uint8_t)j;
    for (size_t i = 1; i <= n; i++) {
        for (size_t j = 1; j <= m; j++) {
            unsigned cost = a[i - 1] != b[j - 1];
            unsigned v = min3(d[i - 1][j] + 1u, d[i][j - 1] + 1u, d[i - 1][j - 1] + cost);

            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[i - 2][j - 2] + 1u < v)
                v = d[i - 2][j - 2] + 1u;
            d[i][j] = (uint8_t)v;
        }
    }
    return d[n][m];
}

const char *wf_did_you_mean(const char *word, const char *const *names, size_t n)
{
    const char *best = NULL;
    unsigned best_d = WORD_MAX;

    for (size_t i = 0; i < n; i++) {
        unsigned d = distance(word, names[i]);
        size_t len = strlen(names[i]);

        if (d < best_d && d <= (len + 2) / 3) {
            best = names[i];
            best_d = d;
        }
    }
    return best;
}

void wf_err_suggest(struct wf_err *err, const char *word, const char *const *names, size_t n)
{
    const char *near = wf_did_you_mean(word, names, n);
    size_t used;

    if (!err || !near)
        return;
    used = strlen(err->msg);
    snprintf(err->msg + used, sizeof(err->msg) - used, "; did you mean '%s'?", near);
}
