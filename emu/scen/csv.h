/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables as CSV (RFC 4180, with lines ended by LF): a header of names, then rows of as many cells.
 * Lines that begin with '#' before the header are the manifest.
 */
#ifndef WEFT_SCEN_CSV_H
#define WEFT_SCEN_CSV_H

#include <stdio.h>

#include "base/err.h"

enum { WF_CSV_BYTES_MAX = 1 << 30, WF_CSV_COLS_MAX = 256 };

struct wf_csv {
    const char *comment;   /* the first line that began with #, without it; "": none */
    char *text;            /* the file; cells point into it */
    const char **cells;    /* row by row, the header first */
    size_t n_cols, n_rows; /* rows without the header */
};

/* 0, or -errno and *err with the line. Free it in either case. */
int wf_csv_read(struct wf_csv *c, const char *path, struct wf_err *err);
void wf_csv_free(struct wf_csv *c);
/* Index of a column, or -1. */
int wf_csv_col(const struct wf_csv *c, const char *name);

static inline const char *wf_csv_name(const struct wf_csv *c, size_t col)
{
    return c->cells[col];
}

static inline const char *wf_csv_cell(const struct wf_csv *c, size_t row, size_t col)
{
    return c->cells[(row + 1) * c->n_cols + col];
}

/* One cell, in quotes where it needs them. */
void wf_csv_put(FILE *out, const char *text);
/* A number: whole ones exactly, others with 10 digits, NAN as nothing. */
void wf_csv_put_number(FILE *out, double v);

#endif
