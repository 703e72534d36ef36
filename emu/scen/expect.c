/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of expectations: read from YAML, stepped with the run, ended with a verdict. */
#include "scen/expect.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/units.h"
#include "scen/expect_priv.h"

struct reader {
    struct wf_expects *x;
    struct wf_diags *d;
};

/* Place an error of the condition's text; a quoted scalar begins one column further right. */
static void complain_at(struct reader *r, const struct wf_yaml_node *n, int off, struct wf_err *err)
{
    wf_err_place(err, n->file, n->line, n->col + off + n->quoted);
    wf_diag_add(r->d, false, err);
}

static void set_cond(struct reader *r, struct wf_expect *e, const struct wf_yaml_node *n, int skip)
{
    struct wf_err err = {0};
    int off = 0;

    if (n->kind != WF_YAML_SCALAR || !n->text[0]) {
        wf_diag_error(r->d, n,
                      "expected an expectation such as \"sum(leaf*.drop_frames) == 0\", "
                      "found %s",
                      wf_yaml_what(n));
        return;
    }
    e->cond = wf_expect_cond_parse(r->x->arena, n->text + skip, &off, &err);
    if (!e->cond)
        complain_at(r, n, off + skip, &err);
}

static bool set_by(struct reader *r, struct wf_expect *e, const struct wf_yaml_node *n,
                   const char *text)
{
    struct wf_err err = {0};

    e->mode = WF_EXPECT_BY;
    if (!wf_parse_time(text, &e->by_ps, &err))
        return true;
    wf_err_place(&err, n->file, n->line, n->col);
    wf_diag_add(r->d, false, &err);
    return false;
}

/* "always: x > 0" and "by 1ms: x > 0" in one string. */
static void read_text(struct reader *r, struct wf_expect *e, const struct wf_yaml_node *n)
{
    const char *t = n->text, *colon = strstr(t, ": ");
    char word[32] = "";
    int skip = colon ? (int)(colon + 2 - t) : 0;

    if (colon && colon - t < (int)sizeof(word))
        snprintf(word, sizeof(word), "%.*s", (int)(colon - t), t);
    if (!strcmp(word, "always"))
        e->mode = WF_EXPECT_ALWAYS;
    else if (!strcmp(word, "never"))
        e->mode = WF_EXPECT_NEVER;
    else if (!strncmp(word, "by ", 3))
        set_by(r, e, n, word + 3);
    else
        skip = 0;
    set_cond(r, e, n, skip);
}

static void read_over_runs(struct reader *r, struct wf_expect *e, const struct wf_yaml_node *v)
{
    char *end;

    if (v->kind == WF_YAML_SCALAR && v->text[0] == 'p') {
        e->over_runs = strtod(v->text + 1, &end);
        if (end != v->text + 1 && !*end && e->over_runs > 0 && e->over_runs <= 100)
            return;
    }
    e->over_runs = 0;
    wf_diag_error(r->d, v, "over_runs: expected a percentile such as p90, found %s",
                  v->kind == WF_YAML_SCALAR ? v->text : wf_yaml_what(v));
}

static void read_share(struct reader *r, struct wf_expect *e, const struct wf_yaml_node *v)
{
    struct wf_err err = {0};

    if (v->kind == WF_YAML_SCALAR && !wf_parse_percent(v->text, &e->share_ppm, &err))
        return;
    if (!err.msg[0])
        wf_err_set(&err, EINVAL, "runs: expected a percentage, found %s", wf_yaml_what(v));
    wf_err_place(&err, v->file, v->line, v->col);
    wf_diag_add(r->d, false, &err);
}

/* One pair of a mapping; false when it isn't about the condition or its form. */
static void read_pair(struct reader *r, struct wf_expect *e, const struct wf_yaml_node *k,
                      const struct wf_yaml_node *v, const struct wf_yaml_node **cond)
{
    static const char *const names[] = {
        "that", "always", "never", "by", "runs", "over_runs", "lossless_drops_expected"};
    const char *key = k->text;
    bool form = !strcmp(key, "that") || !strcmp(key, "always") || !strcmp(key, "never") ||
                !strncmp(key, "by ", 3);

    if (form && *cond)
        wf_diag_error(r->d, k, "'%s' beside another form, expected one of them", key);
    if (form)
        *cond = v;
    if (!strcmp(key, "always"))
        e->mode = WF_EXPECT_ALWAYS;
    else if (!strcmp(key, "never"))
        e->mode = WF_EXPECT_NEVER;
    else if (!strncmp(key, "by ", 3))
        set_by(r, e, k, key + 3);
    else if (!strcmp(key, "by") && v->kind == WF_YAML_SCALAR)
        set_by(r, e, v, v->text);
    else if (!strcmp(key, "by"))
        wf_diag_error(r->d, v, "by: expected a time, found %s", wf_yaml_what(v));
    else if (!strcmp(key, "runs"))
        read_share(r, e, v);
    else if (!strcmp(key, "over_runs"))
        read_over_runs(r, e, v);
    else if (!form)
        wf_diag_unknown(r->d, k, key, names, sizeof(names) / sizeof(names[0]),
                        "unknown key '%s' in an expectation", key);
}

static void read_mapping(struct reader *r, struct wf_expect *e, const struct wf_yaml_node *n)
{
    const struct wf_yaml_node *cond = NULL;

    for (size_t i = 0; i < n->n; i++)
        read_pair(r, e, wf_yaml_key(n, i), wf_yaml_value(n, i), &cond);
    if (cond)
        set_cond(r, e, cond, 0);
    else
        wf_diag_error(r->d, n, "an expectation without 'that', 'always' or 'never'");
}

/* {lossless_drops_expected: true} is an option and no comparison. */
static bool read_option(struct reader *r, const struct wf_yaml_node *n)
{
    const struct wf_yaml_node *v = wf_yaml_get(n, "lossless_drops_expected");

    if (!v || n->n != 1)
        return false;
    if (v->kind == WF_YAML_SCALAR && !strcmp(v->text, "true"))
        r->x->lossless_drops_expected = true;
    else if (v->kind != WF_YAML_SCALAR || strcmp(v->text, "false"))
        wf_diag_error(r->d, v, "lossless_drops_expected: expected true or false");
    return true;
}

static const char *whole_text(struct wf_arena *a, const struct wf_expect *e)
{
    char t[32];

    switch (e->mode) {
    case WF_EXPECT_ALWAYS:
        return wf_arena_printf(a, "always: %s", e->cond->text);
    case WF_EXPECT_NEVER:
        return wf_arena_printf(a, "never: %s", e->cond->text);
    case WF_EXPECT_BY:
        return wf_arena_printf(a, "by %s: %s", wf_time_text(e->by_ps, t, sizeof(t)), e->cond->text);
    default:
        return e->cond->text;
    }
}

static void check_over_runs(struct reader *r, const struct wf_expect *e,
                            const struct wf_yaml_node *n)
{
    if (!e->over_runs)
        return;
    if (e->mode != WF_EXPECT_END || e->cond->spreads || e->cond->cmp == WF_CMP_COMPLETES ||
        e->cond->cmp == WF_CMP_BEFORE || e->cond->right->op != WF_TERM_NUM)
        wf_diag_error(r->d, n,
                      "over_runs goes with one value compared with a number, such as "
                      "max(flow.*.completion_ps) < 1ms");
}

static void read_one(struct reader *r, const struct wf_yaml_node *n)
{
    struct wf_expect e = {.file = n->file, .line = n->line, .col = n->col, .share_ppm = 1000000};

    if (n->kind == WF_YAML_SCALAR)
        read_text(r, &e, n);
    else if (n->kind != WF_YAML_MAPPING)
        wf_diag_error(r->d, n, "expected an expectation, found %s", wf_yaml_what(n));
    else if (read_option(r, n))
        return;
    else
        read_mapping(r, &e, n);
    if (!e.cond)
        return;
    e.text = whole_text(r->x->arena, &e);
    e.timing = e.mode == WF_EXPECT_BY || wf_expect_cond_timing(e.cond);
    e.sampled =
        (e.mode == WF_EXPECT_ALWAYS || e.mode == WF_EXPECT_NEVER) && wf_expect_cond_level(e.cond);
    check_over_runs(r, &e, n);
    r->x->deadlocks_judged |= strstr(e.text, "fabric.deadlock_events") != NULL;
    r->x->failures_judged |= strstr(e.text, "failed_messages") != NULL;
    r->x->items[r->x->n++] = e;
}

void wf_expects_parse(struct wf_expects *x, const struct wf_yaml_node *list, struct wf_diags *d)
{
    struct reader r = {x, d};

    if (list->kind != WF_YAML_SEQUENCE) {
        wf_diag_error(d, list, "expect: expected a list, found %s", wf_yaml_what(list));
        return;
    }
    x->items = WF_ARENA_ARRAY(x->arena, struct wf_expect, list->n + 1);
    for (size_t i = 0; i < list->n; i++)
        read_one(&r, &list->items[i]);
}

uint64_t wf_expects_next(const struct wf_expects *x, uint64_t now_ps)
{
    uint64_t next = WF_TIME_NEVER;

    for (size_t i = 0; i < x->n; i++) {
        const struct wf_expect *e = &x->items[i];

        if (e->mode == WF_EXPECT_BY && e->verdict == WF_VERDICT_PENDING && e->by_ps > now_ps &&
            e->by_ps < next)
            next = e->by_ps;
    }
    return next;
}

static void fail(struct wf_expects *x, struct wf_expect *e, const struct wf_finding *f,
                 uint64_t first_ps)
{
    e->verdict = WF_VERDICT_FAIL;
    e->first_ps = first_ps;
    wf_expect_describe(x->arena, e, f);
}

static void step_by(struct wf_expects *x, struct wf_expect *e, uint64_t now, bool final)
{
    struct wf_finding f = wf_expect_cond_eval(e->cond, false, false);

    if (f.truth == WF_TRUE && now <= e->by_ps) {
        e->verdict = WF_VERDICT_PASS;
    } else if (now >= e->by_ps || final) {
        f = wf_expect_cond_eval(e->cond, true, false);
        fail(x, e, &f, now);
    }
}

/* At the end it counts; before, it is only watched, so that a failure can say since when. */
static void step_end(struct wf_expects *x, struct wf_expect *e, uint64_t now, bool final)
{
    struct wf_finding f = wf_expect_cond_eval(e->cond, final, false);
    bool wrong = f.truth != WF_TRUE;

    if (wrong && !e->was_wrong)
        e->since_ps = now;
    e->was_wrong = wrong;
    if (!final)
        return;
    if (wrong)
        fail(x, e, &f, e->since_ps);
    else
        e->verdict = WF_VERDICT_PASS;
}

static void step_one(struct wf_expects *x, struct wf_expect *e, uint64_t now, bool final)
{
    bool never = e->mode == WF_EXPECT_NEVER;
    struct wf_finding f;

    if (e->verdict != WF_VERDICT_PENDING)
        return;
    if (e->mode == WF_EXPECT_BY) {
        step_by(x, e, now, final);
        return;
    }
    if (e->mode == WF_EXPECT_END) {
        step_end(x, e, now, final);
        return;
    }
    f = wf_expect_cond_eval(e->cond, final, never);
    if (f.truth == (never ? WF_TRUE : WF_FALSE))
        fail(x, e, &f, now);
    else if (final)
        e->verdict = WF_VERDICT_PASS;
}

void wf_expects_step(struct wf_expects *x, uint64_t now_ps)
{
    for (size_t i = 0; i < x->n; i++)
        step_one(x, &x->items[i], now_ps, false);
}

static void remember_value(struct wf_expects *x, struct wf_expect *e)
{
    struct wf_finding f = wf_expect_cond_eval(e->cond, true, false);

    if (e->runs == e->values_cap) {
        uint32_t cap = e->values_cap ? 2 * e->values_cap : 32;
        long double *v = WF_ARENA_ARRAY(x->arena, long double, cap);

        if (e->values)
            memcpy(v, e->values, e->runs * sizeof(*v));
        e->values = v;
        e->values_cap = cap;
    }
    e->values[e->runs] = f.left;
}

void wf_expects_interrupt(struct wf_expects *x)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->items[i].verdict == WF_VERDICT_PENDING)
            x->items[i].verdict = WF_VERDICT_SKIPPED;
}

void wf_expects_end(struct wf_expects *x, uint64_t now_ps, bool timing_reliable)
{
    for (size_t i = 0; i < x->n; i++) {
        struct wf_expect *e = &x->items[i];

        step_one(x, e, now_ps, true);
        if (e->over_runs && e->verdict != WF_VERDICT_SKIPPED) {
            remember_value(x, e);
            e->verdict = WF_VERDICT_PENDING; /* wf_expects_runs_end judges */
        }
        if (e->timing && !timing_reliable)
            e->verdict = WF_VERDICT_SKIPPED;
    }
}

size_t wf_expects_count(const struct wf_expects *x, enum wf_verdict v)
{
    size_t n = 0;

    for (size_t i = 0; i < x->n; i++)
        n += x->items[i].verdict == v;
    return n;
}

void wf_expects_run_done(struct wf_expects *x, uint64_t seed)
{
    for (size_t i = 0; i < x->n; i++) {
        struct wf_expect *e = &x->items[i];

        if (e->verdict == WF_VERDICT_FAIL && !e->runs_failed++)
            e->failed_seed = seed;
        e->runs++;
    }
}

static void judge_over_runs(struct wf_expects *x, struct wf_expect *e)
{
    char l[64];
    struct wf_expect_cond one = *e->cond;
    struct wf_term value = {.op = WF_TERM_NUM, .dim = e->cond->left->dim};
    struct wf_finding f;

    value.num = wf_percentile(e->values, e->runs, e->over_runs);
    one.left = &value;
    f = wf_expect_cond_eval(&one, true, false);
    e->verdict = f.truth == WF_TRUE ? WF_VERDICT_PASS : WF_VERDICT_FAIL;
    e->expected =
        wf_arena_printf(x->arena, "p%g over %u runs of %s", e->over_runs, e->runs, e->text);
    e->found = wf_arena_strdup(x->arena, wf_dim_text(value.dim, value.num, l, sizeof(l)));
    e->place = "";
    e->first_ps = 0;
}

void wf_expects_runs_end(struct wf_expects *x)
{
    for (size_t i = 0; i < x->n; i++) {
        struct wf_expect *e = &x->items[i];
        uint64_t passed = e->runs - e->runs_failed;

        if (!e->runs)
            continue;
        e->over_all = true;
        if (e->verdict == WF_VERDICT_SKIPPED)
            continue;
        if (e->over_runs) {
            judge_over_runs(x, e);
            continue;
        }
        if (passed * 1000000 >= (uint64_t)e->runs * e->share_ppm) {
            e->verdict = WF_VERDICT_PASS;
            continue;
        }
        e->verdict = WF_VERDICT_FAIL;
        e->expected = e->text;
        e->place = "";
        e->first_ps = 0;
        e->found = wf_arena_printf(x->arena, "%u of %u runs failed it, the first with seed %llu",
                                   e->runs_failed, e->runs, (unsigned long long)e->failed_seed);
    }
}

const char *wf_verdict_name(enum wf_verdict v)
{
    static const char *const names[] = {"pending", "pass", "fail", "skipped"};

    return names[v];
}

const char *wf_expect_failure(const struct wf_expect *e, char *buf, size_t len)
{
    const char *at = e->place[0] ? " at " : "";
    char t[32];

    wf_time_short(e->first_ps, t, sizeof(t));
    if (e->over_all)
        snprintf(buf, len, "expected %s, found %s", e->expected, e->found);
    else if (e->mode == WF_EXPECT_END && !e->first_ps)
        snprintf(buf, len, "expected %s, found %s%s%s, from the start on", e->expected, e->found,
                 at, e->place);
    else
        snprintf(buf, len, "expected %s, found %s%s%s, %s %s", e->expected, e->found, at, e->place,
                 e->mode == WF_EXPECT_END  ? "since"
                 : e->mode == WF_EXPECT_BY ? "at"
                                           : "first at",
                 t);
    return buf;
}
