/* SPDX-License-Identifier: BSD-3-Clause */
/* The value of a condition now, and the words for what was found. See expect.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "scen/expect_priv.h"

struct ctx {
    bool final;
    bool unknown;
    size_t index;
};

static int by_value(const void *a, const void *b)
{
    long double x = *(const long double *)a, y = *(const long double *)b;

    return (x > y) - (x < y);
}

/* Nearest rank: the smallest value that at least p percent of them don't exceed. */
long double wf_percentile(long double *v, size_t n, double p)
{
    size_t rank = (size_t)ceil(p * (double)n / 100.0 - 1e-9); /* 99.9 is no binary number */

    qsort(v, n, sizeof(v[0]), by_value);
    return v[rank ? rank - 1 : 0];
}

static long double hit_value(struct ctx *x, const struct wf_term *t, size_t i)
{
    uint64_t v = *t->hits[i].value;

    if (t->completion && !v) {
        if (!x->final)
            x->unknown = true;
        return INFINITY;
    }
    return v;
}

static long double percentile_of(struct ctx *x, const struct wf_term *t)
{
    long double *v = malloc(t->n_hits * sizeof(*v)), r;

    if (!v)
        return INFINITY;
    for (size_t i = 0; i < t->n_hits; i++)
        v[i] = hit_value(x, t, i);
    r = wf_percentile(v, t->n_hits, t->percentile);
    free(v);
    return r;
}

static long double aggregate(struct ctx *x, const struct wf_term *t)
{
    long double r = hit_value(x, t, 0);

    if (t->agg == WF_AGG_PERCENTILE)
        return percentile_of(x, t);
    for (size_t i = 1; i < t->n_hits; i++) {
        long double v = hit_value(x, t, i);

        if (t->agg == WF_AGG_SUM || t->agg == WF_AGG_MEAN)
            r += v;
        else if (t->agg == WF_AGG_MIN ? v < r : v > r)
            r = v;
    }
    return t->agg == WF_AGG_MEAN ? r / (long double)t->n_hits : r;
}

static long double eval_term(struct ctx *x, const struct wf_term *t)
{
    long double a, b;

    if (t->op == WF_TERM_NUM)
        return t->num;
    if (t->op == WF_TERM_REF)
        return t->agg != WF_AGG_NONE ? aggregate(x, t)
                                     : hit_value(x, t, t->n_hits > 1 ? x->index : 0);
    a = eval_term(x, t->left);
    b = eval_term(x, t->right);
    switch (t->op) {
    case WF_TERM_ADD:
        return a + b;
    case WF_TERM_SUB:
        return a - b;
    case WF_TERM_MUL:
        return a * b;
    default:
        return a / b;
    }
}

/* A quotient by zero is not a number: it fulfils no comparison, != neither. */
static bool compare(const struct wf_expect_cond *c, long double a, long double b)
{
    long double tol = c->relative ? fabsl(b) * c->tolerance : c->tolerance;
    bool equal = a == b || (c->has_tolerance && fabsl(a - b) <= tol);

    if (isnan(a) || isnan(b))
        return false;
    switch (c->cmp) {
    case WF_CMP_EQ:
        return equal;
    case WF_CMP_NE:
        return !equal;
    case WF_CMP_LT:
        return a < b;
    case WF_CMP_LE:
        return a <= b;
    case WF_CMP_GT:
        return a > b;
    default:
        return a >= b;
    }
}

static struct wf_finding eval_completes(const struct wf_expect_cond *c, bool final)
{
    struct wf_finding f = {.truth = WF_TRUE};

    for (size_t i = 0; i < c->left->n_hits; i++)
        if (!*c->left->hits[i].value) {
            f.truth = final ? WF_FALSE : WF_UNKNOWN;
            f.index = i;
            f.left = INFINITY;
            return f;
        }
    return f;
}

static long double end_of(const struct wf_ref_hit *h)
{
    return *h->value ? (long double)*h->value + *h->start : (long double)INFINITY;
}

/* The last of the left ones completes before the first of the right ones. */
static struct wf_finding eval_before(const struct wf_expect_cond *c, bool final)
{
    struct wf_finding f = {.left = -1, .right = INFINITY};

    for (size_t i = 0; i < c->left->n_hits; i++)
        if (end_of(&c->left->hits[i]) > f.left) {
            f.left = end_of(&c->left->hits[i]);
            f.index = i;
        }
    for (size_t i = 0; i < c->right->n_hits; i++)
        if (end_of(&c->right->hits[i]) < f.right)
            f.right = end_of(&c->right->hits[i]);
    if (isinf(f.left) && isinf(f.right) && !final)
        f.truth = WF_UNKNOWN;
    else
        f.truth = f.left < f.right ? WF_TRUE : WF_FALSE;
    return f;
}

struct wf_finding wf_expect_cond_eval(const struct wf_expect_cond *c, bool final, bool want_any)
{
    bool any = c->quant == WF_QUANT_ANY || (c->quant == WF_QUANT_DEFAULT && want_any);
    struct wf_finding f = {0};
    bool unknown = false;

    if (c->cmp == WF_CMP_COMPLETES)
        return eval_completes(c, final);
    if (c->cmp == WF_CMP_BEFORE)
        return eval_before(c, final);
    for (size_t i = 0; i < c->spread; i++) {
        struct ctx x = {.final = final, .index = i};
        long double a = eval_term(&x, c->left), b = eval_term(&x, c->right);
        bool ok = compare(c, a, b);

        if (x.unknown) {
            unknown = true;
            continue;
        }
        f = (struct wf_finding){ok ? WF_TRUE : WF_FALSE, i, a, b};
        if (ok == any)
            return f;
    }
    if (unknown)
        f.truth = WF_UNKNOWN;
    return f;
}

/* Exact, in the largest unit that leaves a whole part, with as many decimals as it takes. */
static void exact_time(uint64_t ps, char *buf, size_t len)
{
    static const char *const units[] = {"ps", "ns", "us", "ms", "s"};
    uint64_t scale = 1;
    unsigned u = 0;
    int n;

    for (; u < 4 && ps >= scale * 1000; u++)
        scale *= 1000;
    n = snprintf(buf, len, "%" PRIu64 ".%0*" PRIu64, ps / scale, (int)(3 * u), ps % scale);
    while (n > 0 && buf[n - 1] == '0')
        n--;
    if (n > 0 && buf[n - 1] == '.')
        n--;
    snprintf(buf + n, len - (size_t)n, "%s", units[u]);
}

const char *wf_dim_text(enum wf_dim dim, long double v, char *buf, size_t len)
{
    bool whole = v >= 0 && v < 18446744073709551615.0L && v == floorl(v);

    if (isinf(v) && dim == WF_DIM_TIME)
        snprintf(buf, len, "not completed");
    else if (isnan(v))
        snprintf(buf, len, "a division by zero");
    else if (whole && dim == WF_DIM_TIME)
        exact_time((uint64_t)v, buf, len);
    else if (whole && dim == WF_DIM_BYTES)
        snprintf(buf, len, "%" PRIu64 "B", (uint64_t)v);
    else if (whole)
        snprintf(buf, len, "%" PRIu64, (uint64_t)v);
    else
        snprintf(buf, len, "%.6Lg%s", v,
                 dim == WF_DIM_TIME    ? "ps"
                 : dim == WF_DIM_BYTES ? "B"
                                       : "");
    return buf;
}

static bool constant(const struct wf_term *t)
{
    if (t->op == WF_TERM_REF)
        return false;
    return t->op == WF_TERM_NUM || (constant(t->left) && constant(t->right));
}

static void describe_order(struct wf_arena *a, struct wf_expect *e, const struct wf_finding *f)
{
    const struct wf_expect_cond *c = e->cond;
    char l[64], r[64];

    e->place = c->left->hits[f->index].name;
    if (c->cmp == WF_CMP_COMPLETES)
        e->found = "not completed";
    else
        e->found =
            wf_arena_printf(a, "%s against %s", wf_dim_text(WF_DIM_TIME, f->left, l, sizeof(l)),
                            wf_dim_text(WF_DIM_TIME, f->right, r, sizeof(r)));
}

void wf_expect_describe(struct wf_arena *a, struct wf_expect *e, const struct wf_finding *f)
{
    const struct wf_expect_cond *c = e->cond;
    char l[64], r[64];

    e->expected = e->text;
    e->place = "";
    if (c->cmp == WF_CMP_COMPLETES || c->cmp == WF_CMP_BEFORE) {
        describe_order(a, e, f);
        return;
    }
    if (c->spreads)
        e->place = c->spreads->hits[f->index].name;
    else if (c->left->op == WF_TERM_REF && c->left->n_hits == 1)
        e->place = c->left->hits[0].name;
    wf_dim_text(c->left->dim, f->left, l, sizeof(l));
    wf_dim_text(c->right->dim, f->right, r, sizeof(r));
    e->found =
        constant(c->right) ? wf_arena_strdup(a, l) : wf_arena_printf(a, "%s against %s", l, r);
}
