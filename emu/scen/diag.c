/* SPDX-License-Identifier: BSD-3-Clause */
/* Collecting the errors and warnings of a scenario, see diag.h. */
#include "scen/diag.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "scen/yaml.h"

static bool same(const struct wf_err *a, const struct wf_err *b)
{
    return a->line == b->line && a->col == b->col && !strcmp(a->msg, b->msg) &&
           !strcmp(a->file, b->file);
}

bool wf_diag_add(struct wf_diags *d, bool warning, const struct wf_err *err)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->items[i]->warning == warning && same(&d->items[i]->err, err))
            return false;
    d->errors += !warning;
    d->warnings += warning;
    if (d->n < WF_DIAGS_MAX) {
        struct wf_diag *x = WF_ARENA_NEW(d->arena, struct wf_diag);

        x->warning = warning;
        x->err = *err;
        d->items[d->n++] = x;
    }
    return true;
}

static void place(struct wf_err *err, const struct wf_yaml_node *at)
{
    if (at)
        wf_err_place(err, at->file, at->line, at->col);
}

static void add_va(struct wf_diags *d, bool warning, const struct wf_yaml_node *at, const char *fmt,
                   va_list ap)
{
    struct wf_err err = {0};

    vsnprintf(err.msg, sizeof(err.msg), fmt, ap);
    place(&err, at);
    wf_diag_add(d, warning, &err);
}

void wf_diag_error(struct wf_diags *d, const struct wf_yaml_node *at, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add_va(d, false, at, fmt, ap);
    va_end(ap);
}

void wf_diag_warn(struct wf_diags *d, const struct wf_yaml_node *at, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add_va(d, true, at, fmt, ap);
    va_end(ap);
}

void wf_diag_unknown(struct wf_diags *d, const struct wf_yaml_node *at, const char *word,
                     const char *const *names, size_t n, const char *fmt, ...)
{
    struct wf_err err = {0};
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(err.msg, sizeof(err.msg), fmt, ap);
    va_end(ap);
    wf_err_suggest(&err, word, names, n);
    place(&err, at);
    wf_diag_add(d, false, &err);
}

/* Files in the order in which they were first named, then by place. */
static bool after(const struct wf_diags *d, const struct wf_diag *a, const struct wf_diag *b)
{
    if (strcmp(a->err.file, b->err.file)) {
        for (size_t i = 0; i < d->n; i++) {
            if (!strcmp(d->items[i]->err.file, a->err.file))
                return false;
            if (!strcmp(d->items[i]->err.file, b->err.file))
                return true;
        }
    }
    if (a->err.line != b->err.line)
        return a->err.line > b->err.line;
    return a->err.col > b->err.col;
}

void wf_diags_print(struct wf_diags *d, FILE *out)
{
    char buf[1200];

    for (size_t i = 1; i < d->n; i++)
        for (size_t j = i; j > 0 && after(d, d->items[j - 1], d->items[j]); j--) {
            struct wf_diag *t = d->items[j];

            d->items[j] = d->items[j - 1];
            d->items[j - 1] = t;
        }
    for (size_t i = 0; i < d->n; i++) {
        const struct wf_err *e = &d->items[i]->err;

        if (e->file[0] && e->line > 0)
            fprintf(out, "%s:%d:%d: ", e->file, e->line, e->col);
        else if (e->file[0])
            fprintf(out, "%s: ", e->file);
        snprintf(buf, sizeof(buf), "%s", e->msg);
        fprintf(out, "%s: %s\n", d->items[i]->warning ? "warning" : "error", buf);
    }
    if (d->errors + d->warnings > d->n)
        fprintf(out, "and %zu more\n", d->errors + d->warnings - d->n);
}
