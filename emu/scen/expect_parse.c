/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text of an expectation to a condition:
 *
 *   condition  := names "completes" [ "before" names ] | sum CMP sum [ TOLERANCE ]
 *   sum        := product { ("+" | "-") product }
 *   product    := value { ("*" | "/") value }
 *   value      := NUMBER[UNIT] | reference | FUNCTION "(" reference ")" | "(" sum ")"
 *   CMP        := == != < <= > >= ~          TOLERANCE := ("+-" | "within") (NUMBER[UNIT] |
 * PERCENT)
 *
 * Operators stand between blanks, since '-' and '*' also occur in names.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "scen/expect_priv.h"

static int comparison(struct wf_exp_parser *q, struct wf_expect_cond *c, bool *about)
{
    static const struct {
        const char *op;
        enum wf_cmp cmp;
    } ops[] = {
        {"==", WF_CMP_EQ}, {"!=", WF_CMP_NE}, {"<=", WF_CMP_LE}, {">=", WF_CMP_GE},
        {"<", WF_CMP_LT},  {">", WF_CMP_GT},  {"~", WF_CMP_EQ},
    };

    wf_exp_blanks(q);
    *about = *q->p == '~';
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        if (wf_exp_eat(q, ops[i].op)) {
            c->cmp = ops[i].cmp;
            return 0;
        }
    wf_exp_bad(q, q->p);
    if (*q->p)
        return wf_err_set(q->err, EINVAL, "expected one of == != < <= > >= ~, found '%.20s'", q->p);
    return wf_err_set(q->err, EINVAL, "nothing to compare with, expected one of == != < <= > >= ~");
}

static int tolerance(struct wf_exp_parser *q, struct wf_expect_cond *c, bool about)
{
    struct wf_term t = {.op = WF_TERM_NUM};
    const struct wf_term *other;
    const char *at;
    char word[WF_EXP_WORD_MAX];
    uint32_t ppm;

    if (!wf_exp_eat(q, "+-") && !wf_exp_eat_word(q, "within")) {
        if (!about)
            return 0;
        wf_exp_bad(q, q->p);
        return wf_err_set(q->err, EINVAL, "'~' needs a tolerance, such as within 5%%");
    }
    wf_exp_blanks(q);
    at = q->p;
    c->has_tolerance = true;
    t.off = (int)(at - q->text);
    if (c->cmp != WF_CMP_EQ && c->cmp != WF_CMP_NE) {
        wf_exp_bad(q, at);
        return wf_err_set(q->err, EINVAL, "a tolerance goes with ==, != and ~ only");
    }
    snprintf(word, sizeof(word), "%.*s", (int)wf_exp_word_len(at), at);
    if (strchr(word, '%') && !wf_parse_percent(word, &ppm, NULL)) {
        c->relative = true;
        c->tolerance = (long double)ppm / 1000000;
        q->p += wf_exp_word_len(at);
        return 0;
    }
    if (wf_exp_number(q, &c->tolerance, &t.dim))
        return -EINVAL;
    t.num = c->tolerance;
    other = c->left->dim == WF_DIM_LITERAL ? c->right : c->left;
    return wf_exp_common_dim(q, other, &t) < 0 ? -EINVAL : 0;
}

/* Flows by name for "completes": a reference to their completion. */
static struct wf_term *flows(struct wf_exp_parser *q)
{
    struct wf_term *t;
    char *s = wf_exp_name(q);

    if (!s)
        return NULL;
    t = wf_exp_new_term(q, WF_TERM_REF, q->p - strlen(s));
    t->pattern = s;
    t->counter = "completion_ps";
    t->completion = true;
    t->dim = WF_DIM_TIME;
    t->kind = 'G';
    return t;
}

static bool is_completes(const struct wf_exp_parser *q)
{
    const char *p = q->p + strspn(q->p, " ");

    p += wf_exp_word_len(p);
    p += strspn(p, " ");
    return wf_exp_word_is(p, wf_exp_word_len(p), "completes");
}

static int parse_order(struct wf_exp_parser *q, struct wf_expect_cond *c)
{
    c->cmp = WF_CMP_COMPLETES;
    c->left = flows(q);
    if (!c->left)
        return -EINVAL;
    wf_exp_eat_word(q, "completes");
    if (!wf_exp_eat_word(q, "before"))
        return 0;
    c->cmp = WF_CMP_BEFORE;
    c->right = flows(q);
    return c->right ? 0 : -EINVAL;
}

static int parse_comparison(struct wf_exp_parser *q, struct wf_expect_cond *c)
{
    bool about;

    c->left = wf_exp_sum(q);
    if (!c->left || comparison(q, c, &about))
        return -EINVAL;
    c->right = wf_exp_sum(q);
    if (!c->right || wf_exp_common_dim(q, c->left, c->right) < 0 || tolerance(q, c, about))
        return -EINVAL;
    c->quant = q->quant;
    c->spreads = q->spread;
    return 0;
}

static bool has_reference(const struct wf_term *t)
{
    return t && (t->op == WF_TERM_REF || has_reference(t->left) || has_reference(t->right));
}

struct wf_expect_cond *wf_expect_cond_parse(struct wf_arena *a, const char *text, int *off,
                                            struct wf_err *err)
{
    struct wf_expect_cond *c = WF_ARENA_NEW(a, struct wf_expect_cond);
    struct wf_exp_parser q = {.arena = a, .err = err};
    int rc;

    /* work on a copy: names are cut out of it, and the text lives as long as the condition */
    q.text = q.p = c->text = wf_arena_strdup(a, text);
    c->spread = 1;
    rc = is_completes(&q) ? parse_order(&q, c) : parse_comparison(&q, c);
    wf_exp_blanks(&q);
    if (!rc && *q.p) {
        wf_exp_bad(&q, q.p);
        rc = wf_err_set(err, EINVAL, "'%.40s' is too much behind the comparison", q.p);
    }
    if (!rc && !has_reference(c->left) && !has_reference(c->right)) {
        wf_exp_bad(&q, q.text);
        rc = wf_err_set(err, EINVAL, "compares numbers only, expected a counter on one side");
    }
    *off = q.bad_off;
    return rc ? NULL : c;
}

static bool any_term(const struct wf_term *t, bool (*is)(const struct wf_term *))
{
    return t && (is(t) || any_term(t->left, is) || any_term(t->right, is));
}

static bool is_time(const struct wf_term *t)
{
    return t->op == WF_TERM_REF && t->dim == WF_DIM_TIME;
}

static bool is_level(const struct wf_term *t)
{
    return t->op == WF_TERM_REF && t->kind == 'G';
}

bool wf_expect_cond_timing(const struct wf_expect_cond *c)
{
    return c->cmp == WF_CMP_BEFORE || (c->cmp != WF_CMP_COMPLETES &&
                                       (any_term(c->left, is_time) || any_term(c->right, is_time)));
}

bool wf_expect_cond_level(const struct wf_expect_cond *c)
{
    return any_term(c->left, is_level) || any_term(c->right, is_level);
}
