/* SPDX-License-Identifier: BSD-3-Clause */
/* The words and values of an expectation's text, up to sums; the grammar is in expect_parse.c. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "scen/expect_priv.h"
#include "scen/match.h"

enum { DEPTH_MAX = 16, NAMES_MAX = 256 };

void *wf_exp_bad(struct wf_exp_parser *q, const char *at)
{
    q->bad_off = (int)(at - q->text);
    return NULL;
}

void wf_exp_blanks(struct wf_exp_parser *q)
{
    q->p += strspn(q->p, " \t\n");
}

/* A word is a keyword, a number with unit or a name; '-' belongs to it when none of its sides is
 * blank, ',' only within brackets. */
size_t wf_exp_word_len(const char *p)
{
    size_t i = 0;
    int depth = 0;

    for (; p[i]; i++) {
        unsigned char c = (unsigned char)p[i], next = (unsigned char)p[i + 1];

        depth += c == '[';
        depth -= c == ']';
        if (isalnum(c) || (c && strchr("_*?:.[]%", c)) || (c == ',' && depth > 0))
            continue;
        if (c == '-' && depth > 0)
            continue;
        if (c == '-' && i > 0 && (isalnum(next) || (next && strchr("_*?[", next))))
            continue;
        break;
    }
    return i;
}

bool wf_exp_word_is(const char *p, size_t n, const char *word)
{
    return strlen(word) == n && !strncmp(p, word, n);
}

bool wf_exp_eat_word(struct wf_exp_parser *q, const char *word)
{
    wf_exp_blanks(q);
    if (!wf_exp_word_is(q->p, wf_exp_word_len(q->p), word))
        return false;
    q->p += strlen(word);
    return true;
}

bool wf_exp_eat(struct wf_exp_parser *q, const char *op)
{
    wf_exp_blanks(q);
    if (strncmp(q->p, op, strlen(op)))
        return false;
    q->p += strlen(op);
    return true;
}

/* + - * / only with a blank behind; so "leaf0-spine1" and "*.drop_frames" stay names. */
static bool eat_binary(struct wf_exp_parser *q, char op)
{
    wf_exp_blanks(q);
    if (q->p[0] != op || (q->p[1] != ' ' && q->p[1] != '\t' && q->p[1] != '('))
        return false;
    q->p++;
    return true;
}

struct wf_term *wf_exp_new_term(struct wf_exp_parser *q, enum wf_term_op op, const char *at)
{
    struct wf_term *t = WF_ARENA_NEW(q->arena, struct wf_term);

    t->op = op;
    t->off = (int)(at - q->text);
    return t;
}

/* "200us", "64KiB" or "3"; a percentage is none. */
int wf_exp_number(struct wf_exp_parser *q, long double *v, enum wf_dim *dim)
{
    char word[WF_EXP_WORD_MAX];
    const char *at = q->p, *unit;
    size_t n = wf_exp_word_len(at);
    uint64_t x;

    if (!n || n >= sizeof(word)) {
        wf_exp_bad(q, at);
        return wf_err_set(q->err, EINVAL, "expected a number, found '%.20s'", at);
    }
    snprintf(word, sizeof(word), "%.*s", (int)n, at);
    unit = word + strspn(word, "0123456789.");
    if (!wf_parse_time(word, &x, NULL) && *unit) {
        *dim = WF_DIM_TIME;
    } else if (!wf_parse_bytes(word, &x, NULL) && *unit) {
        *dim = WF_DIM_BYTES;
    } else if (!*unit && strspn(word, "0123456789") == n && !wf_parse_uint(word, &x, NULL)) {
        *dim = WF_DIM_LITERAL;
    } else {
        wf_exp_bad(q, at);
        return wf_err_set(q->err, EINVAL,
                          "'%s' is not a number, a time (ps ns us ms s) or a size (B kB KiB ...)",
                          word);
    }
    *v = x;
    q->p += n;
    return 0;
}

static enum wf_dim dim_of_counter(const char *name)
{
    size_t n = strlen(name);

    if (n > 3 && !strcmp(name + n - 3, "_ps"))
        return WF_DIM_TIME;
    if (n > 6 && !strcmp(name + n - 6, "_bytes"))
        return WF_DIM_BYTES;
    return WF_DIM_COUNT;
}

static const struct wf_ctr_desc *find_counter(const char *name)
{
    for (size_t t = 0; wf_ctr_tables[t]; t++)
        for (size_t i = 0; i < wf_ctr_tables[t]->n; i++)
            if (wf_ctr_tables[t]->rows[i].name && !strcmp(wf_ctr_tables[t]->rows[i].name, name))
                return &wf_ctr_tables[t]->rows[i];
    return NULL;
}

static void suggest_counter(struct wf_err *err, const char *name)
{
    const char *names[NAMES_MAX];
    size_t n = 0;

    for (size_t t = 0; wf_ctr_tables[t]; t++)
        for (size_t i = 0; i < wf_ctr_tables[t]->n && n < NAMES_MAX; i++)
            if (wf_ctr_tables[t]->rows[i].name)
                names[n++] = wf_ctr_tables[t]->rows[i].name;
    wf_err_suggest(err, name, names, n);
}

/* The word at q->p into a fresh string; NULL with an error when there is none that can be a name.
 */
char *wf_exp_name(struct wf_exp_parser *q)
{
    const char *at;
    size_t n;
    char *s;

    wf_exp_blanks(q);
    at = q->p;
    n = wf_exp_word_len(at);
    if (!n) {
        if (*at)
            wf_err_set(q->err, EINVAL, "expected a counter or a number, found '%.20s'", at);
        else
            wf_err_set(q->err, EINVAL, "expected a counter or a number at the end");
        return wf_exp_bad(q, at);
    }
    if (n >= WF_EXP_WORD_MAX) {
        wf_err_set(q->err, EINVAL, "a name of more than %d characters", WF_EXP_WORD_MAX - 1);
        return wf_exp_bad(q, at);
    }
    s = wf_arena_printf(q->arena, "%.*s", (int)n, at);
    if (wf_match_check(s, q->err))
        return wf_exp_bad(q, at);
    q->p += n;
    return s;
}

/* One spread pattern an expression: two of them would have to be paired somehow. */
static struct wf_term *set_spread(struct wf_exp_parser *q, struct wf_term *t)
{
    if (!wf_match_is_pattern(t->pattern))
        return t;
    if (q->spread && strcmp(q->spread->pattern, t->pattern)) {
        wf_err_set(q->err, EINVAL,
                   "'%s' and '%s' both stand for several objects; put one into sum(), max() or the "
                   "like",
                   q->spread->pattern, t->pattern);
        return wf_exp_bad(q, q->text + t->off);
    }
    q->spread = t;
    return t;
}

/* "leaf0:p*.prio3.pfc_xoff_tx_frames": the counter is behind the last dot. */
static struct wf_term *reference(struct wf_exp_parser *q)
{
    struct wf_term *t;
    const struct wf_ctr_desc *row;
    char *s = wf_exp_name(q), *dot;
    const char *at = q->p - (s ? strlen(s) : 0);

    if (!s)
        return NULL;
    dot = strrchr(s, '.');
    if (!dot || !dot[1] || dot == s) {
        wf_err_set(q->err, EINVAL, "'%s' is not OBJECT.COUNTER, such as leaf0:p3.drop_frames", s);
        return wf_exp_bad(q, at);
    }
    *dot = 0;
    t = wf_exp_new_term(q, WF_TERM_REF, at);
    t->pattern = s;
    t->counter = dot + 1;
    row = find_counter(t->counter);
    if (!row) {
        wf_err_set(q->err, EINVAL, "no counter has the name '%s'", t->counter);
        suggest_counter(q->err, t->counter);
        return wf_exp_bad(q, t->counter - s + at);
    }
    t->kind = row->kind;
    t->dim = dim_of_counter(t->counter);
    t->completion =
        !strcmp(t->counter, "completion_ps") || !strcmp(t->counter, "slowdown_permille");
    return t;
}

static bool function_of(const char *word, size_t n, struct wf_term *t, enum wf_quant *quant)
{
    static const struct {
        const char *name;
        enum wf_agg agg;
        enum wf_quant quant;
        double percentile;
    } functions[] = {
        {"sum", WF_AGG_SUM, 0, 0},
        {"min", WF_AGG_MIN, 0, 0},
        {"max", WF_AGG_MAX, 0, 0},
        {"mean", WF_AGG_MEAN, 0, 0},
        {"median", WF_AGG_PERCENTILE, 0, 50},
        {"any", WF_AGG_NONE, WF_QUANT_ANY, 0},
        {"all", WF_AGG_NONE, WF_QUANT_ALL, 0},
    };
    char *end;
    double p;

    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (wf_exp_word_is(word, n, functions[i].name)) {
            t->agg = functions[i].agg;
            t->percentile = functions[i].percentile;
            *quant = functions[i].quant;
            return true;
        }
    if (n < 2 || word[0] != 'p' || !isdigit((unsigned char)word[1]))
        return false;
    p = strtod(word + 1, &end);
    if (end != word + n || !(p > 0 && p <= 100))
        return false;
    t->agg = WF_AGG_PERCENTILE;
    t->percentile = p;
    return true;
}

static struct wf_term *call(struct wf_exp_parser *q, size_t n)
{
    static const char *const names[] = {"sum", "min", "max", "mean", "median", "any", "all", "p99"};
    struct wf_term f = {0}, *t;
    enum wf_quant quant = WF_QUANT_DEFAULT;
    const char *at = q->p;
    char word[WF_EXP_WORD_MAX];

    snprintf(word, sizeof(word), "%.*s", (int)n, at);
    if (!function_of(at, n, &f, &quant)) {
        wf_err_set(q->err, EINVAL,
                   "'%s' is not one of the functions sum, min, max, mean, median, p0 to p100, any, "
                   "all",
                   word);
        wf_err_suggest(q->err, word, names, sizeof(names) / sizeof(names[0]));
        return wf_exp_bad(q, at);
    }
    q->p += n;
    wf_exp_eat(q, "(");
    t = reference(q);
    if (!t)
        return NULL;
    t->agg = f.agg;
    t->percentile = f.percentile;
    if (!wf_exp_eat(q, ")")) {
        wf_err_set(q->err, EINVAL, "expected ')' after the name in %s()", word);
        return wf_exp_bad(q, q->p);
    }
    if (t->agg != WF_AGG_NONE)
        return t;
    q->quant = quant;
    return set_spread(q, t);
}

static struct wf_term *value(struct wf_exp_parser *q)
{
    struct wf_term *t;
    const char *after;
    size_t n;

    wf_exp_blanks(q);
    if (wf_exp_eat(q, "(")) {
        if (++q->depth > DEPTH_MAX) {
            wf_err_set(q->err, EINVAL, "more than %d parentheses in each other", DEPTH_MAX);
            return wf_exp_bad(q, q->p);
        }
        t = wf_exp_sum(q);
        q->depth--;
        if (t && !wf_exp_eat(q, ")")) {
            wf_err_set(q->err, EINVAL, "expected ')'");
            return wf_exp_bad(q, q->p);
        }
        return t;
    }
    if (isdigit((unsigned char)*q->p)) {
        t = wf_exp_new_term(q, WF_TERM_NUM, q->p);
        return wf_exp_number(q, &t->num, &t->dim) ? NULL : t;
    }
    n = wf_exp_word_len(q->p);
    after = q->p + n + strspn(q->p + n, " ");
    if (n && n < WF_EXP_WORD_MAX && *after == '(')
        return call(q, n);
    t = reference(q);
    return t ? set_spread(q, t) : NULL;
}

static const char *dim_name(enum wf_dim d)
{
    static const char *const names[] = {"a bare number", "a count", "bytes", "a time", "a product"};

    return names[d];
}

/* The dimension of a + b or of a compared with b; -1 with an error when they don't go together. */
int wf_exp_common_dim(struct wf_exp_parser *q, const struct wf_term *a, const struct wf_term *b)
{
    const struct wf_term *lit = a->dim == WF_DIM_LITERAL ? a : b, *other = lit == a ? b : a;

    if (a->dim == b->dim)
        return (int)a->dim;
    if (a->dim == WF_DIM_MIXED || b->dim == WF_DIM_MIXED)
        return WF_DIM_MIXED;
    if (lit->dim == WF_DIM_LITERAL &&
        (other->dim == WF_DIM_COUNT || (lit->op == WF_TERM_NUM && lit->num == 0)))
        return (int)other->dim;
    wf_exp_bad(q, q->text + b->off);
    if (lit->dim == WF_DIM_LITERAL)
        return wf_err_set(q->err, EINVAL, "a bare number beside %s, expected one with a unit",
                          dim_name(other->dim));
    return wf_err_set(q->err, EINVAL, "%s and %s cannot be compared or added", dim_name(a->dim),
                      dim_name(b->dim));
}

static struct wf_term *product(struct wf_exp_parser *q)
{
    struct wf_term *t = value(q);

    while (t) {
        enum wf_term_op op = eat_binary(q, '*')   ? WF_TERM_MUL
                             : eat_binary(q, '/') ? WF_TERM_DIV
                                                  : WF_TERM_NUM;
        struct wf_term *x;

        if (op == WF_TERM_NUM)
            break;
        x = wf_exp_new_term(q, op, q->text + t->off);
        x->left = t;
        x->right = value(q);
        if (!x->right)
            return NULL;
        if (x->right->dim == WF_DIM_LITERAL)
            x->dim = t->dim;
        else if (t->dim == WF_DIM_LITERAL && op == WF_TERM_MUL)
            x->dim = x->right->dim;
        else
            x->dim = WF_DIM_MIXED;
        t = x;
    }
    return t;
}

struct wf_term *wf_exp_sum(struct wf_exp_parser *q)
{
    struct wf_term *t = product(q);

    while (t) {
        enum wf_term_op op = eat_binary(q, '+')   ? WF_TERM_ADD
                             : eat_binary(q, '-') ? WF_TERM_SUB
                                                  : WF_TERM_NUM;
        struct wf_term *x;
        int dim;

        if (op == WF_TERM_NUM)
            break;
        x = wf_exp_new_term(q, op, q->text + t->off);
        x->left = t;
        x->right = product(q);
        if (!x->right)
            return NULL;
        dim = wf_exp_common_dim(q, t, x->right);
        if (dim < 0)
            return NULL;
        x->dim = (enum wf_dim)dim;
        t = x;
    }
    return t;
}
