/* SPDX-License-Identifier: BSD-3-Clause */
#include "scen/csv.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct parse {
    struct wf_csv *c;
    const char *path;
    char *at, *end;
    size_t n, cap; /* cells */
    int line;
    struct wf_err *err;
};

static int fail(const struct parse *p, const char *msg)
{
    return wf_err_at(p->err, EINVAL, p->path, p->line, 1, "%s", msg);
}

static int add(struct parse *p, const char *cell)
{
    if (p->n == p->cap) {
        size_t cap = p->cap ? 2 * p->cap : 1024;
        const char **more = realloc(p->c->cells, cap * sizeof(*more));

        if (!more)
            return wf_err_at(p->err, ENOMEM, p->path, p->line, 1, "out of memory");
        p->c->cells = more;
        p->cap = cap;
    }
    p->c->cells[p->n++] = cell;
    return 0;
}

/* A cell in quotes, in place; leaves p->at behind it. */
static int quoted(struct parse *p, const char **cell)
{
    char *out = ++p->at;

    *cell = out;
    for (; p->at < p->end; p->at++) {
        if (*p->at == '"') {
            if (p->at[1] != '"')
                break;
            p->at++;
        }
        p->line += *p->at == '\n';
        *out++ = *p->at;
    }
    if (p->at == p->end)
        return fail(p, "a quote that is never closed");
    p->at++;
    if (p->at < p->end && *p->at != ',' && *p->at != '\n' && *p->at != '\r')
        return fail(p, "text behind a closing quote");
    *out = 0;
    return 0;
}

static int plain(struct parse *p, const char **cell)
{
    *cell = p->at;
    while (p->at < p->end && *p->at != ',' && *p->at != '\n' && *p->at != '\r')
        if (*p->at++ == '"')
            return fail(p, "a quote within a cell");
    return 0;
}

/* One row; *n is how many cells it has. */
static int row(struct parse *p, size_t *n)
{
    for (*n = 1;; (*n)++) {
        const char *cell;
        char *behind;
        int rc = *p->at == '"' ? quoted(p, &cell) : plain(p, &cell);

        if (!rc)
            rc = add(p, cell);
        if (rc)
            return rc;
        behind = p->at;
        if (behind < p->end && *behind == '\r')
            p->at++;
        if (p->at < p->end && *p->at == ',') {
            *behind = 0;
            p->at++;
            continue;
        }
        if (p->at < p->end && *p->at != '\n')
            return fail(p, "a carriage return within a row");
        p->at += p->at < p->end;
        *behind = 0;
        return 0;
    }
}

static void comment(struct parse *p)
{
    char *text = p->at + 1;

    p->at += strcspn(p->at, "\n");
    if (p->at < p->end)
        *p->at++ = 0;
    if (!p->c->comment[0])
        p->c->comment = text + strspn(text, " ");
}

static int parse(struct parse *p)
{
    struct wf_csv *c = p->c;

    while (p->at < p->end) {
        size_t n;
        int rc;

        p->line++;
        if (*p->at == '#' && !c->n_cols) {
            comment(p);
            continue;
        }
        rc = row(p, &n);
        if (rc)
            return rc;
        if (c->n_cols && n != c->n_cols)
            return wf_err_at(p->err, EINVAL, p->path, p->line, 1,
                             "%zu cells, expected %zu as in the header", n, c->n_cols);
        if (n > WF_CSV_COLS_MAX)
            return fail(p, "more than 256 columns");
        c->n_rows += c->n_cols != 0;
        c->n_cols = n;
    }
    return c->n_cols ? 0 : fail(p, "no table in it");
}

static char *read_all(FILE *f, size_t *len)
{
    size_t cap = 1 << 16, n = 0, got;
    char *text = malloc(cap + 1);

    while (text && (got = fread(text + n, 1, cap - n, f))) {
        n += got;
        if (n == cap) {
            char *more = cap < WF_CSV_BYTES_MAX ? realloc(text, 2 * cap + 1) : NULL;

            if (!more) {
                free(text);
                return NULL;
            }
            text = more;
            cap *= 2;
        }
    }
    *len = n;
    return text;
}

int wf_csv_read(struct wf_csv *c, const char *path, struct wf_err *err)
{
    struct parse p = {.c = c, .path = path, .err = err};
    FILE *f = fopen(path, "re");
    size_t len;

    *c = (struct wf_csv){.comment = ""};
    if (!f)
        return wf_err_at(err, errno, path, 0, 0, "cannot be read: %s", strerror(errno));
    c->text = read_all(f, &len);
    if (!c->text || ferror(f)) {
        fclose(f);
        return wf_err_at(err, EIO, path, 0, 0, "cannot be read, or larger than 1 GiB");
    }
    fclose(f);
    if (memchr(c->text, 0, len))
        return wf_err_at(err, EINVAL, path, 0, 0, "no text: it has a NUL character");
    c->text[len] = 0;
    p.at = c->text;
    p.end = c->text + len;
    return parse(&p);
}

void wf_csv_free(struct wf_csv *c)
{
    free(c->text);
    free(c->cells);
    *c = (struct wf_csv){0};
}

int wf_csv_col(const struct wf_csv *c, const char *name)
{
    for (size_t i = 0; i < c->n_cols; i++)
        if (!strcmp(c->cells[i], name))
            return (int)i;
    return -1;
}

void wf_csv_put(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\n\r") && text[0] != '#') {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void wf_csv_put_number(FILE *out, double v)
{
    if (isnan(v))
        return;
    if (v == floor(v) && fabs(v) < 9007199254740992.0)
        fprintf(out, "%.0f", v);
    else
        fprintf(out, "%.10g", v);
}
