/* SPDX-License-Identifier: BSD-3-Clause */
/* The names in expectations resolved against the counters of a fabric. See expect.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "scen/expect_priv.h"
#include "scen/match.h"

struct binder {
    struct wf_arena *arena;
    const struct wf_ctr_walk *objs; /* a fresh walk through all */
    struct wf_err err;
};

enum { TABLES_MAX = 32, NAMES_MAX = 512 };

static int row_of(const struct wf_ctr_table *table, const char *counter)
{
    for (size_t i = 0; i < table->n; i++)
        if (table->rows[i].name && !strcmp(table->rows[i].name, counter))
            return (int)i;
    return -1;
}

/* Those objects of a walk that have a counter and that a pattern means. A name with a part has one
 * dot, and no star crosses it: the pattern before its dot is matched once for each port. */
struct search {
    struct wf_ctr_walk w;
    int rows[TABLES_MAX]; /* of the counter, by table */
    const char *pattern, *head, *tail;
    const char *holder; /* was looked at last */
    bool holder_fits;
};

static void search_begin(struct binder *b, struct search *k, const char *pattern)
{
    const char *dot = strrchr(pattern, '.');

    *k = (struct search){.w = *b->objs, .pattern = pattern};
    if (!dot)
        return;
    k->head = wf_arena_printf(b->arena, "%.*s", (int)(dot - pattern), pattern);
    k->tail = dot + 1;
}

/* Only tables that have the counter. */
static void search_counter(struct search *k, const char *counter)
{
    k->w.tables = 0;
    for (unsigned i = 0; wf_ctr_tables[i] && i < TABLES_MAX; i++) {
        k->rows[i] = row_of(wf_ctr_tables[i], counter);
        if (k->rows[i] >= 0)
            k->w.tables |= 1u << i;
    }
}

static bool fits(struct search *k)
{
    char part[32];

    if (k->w.table == &wf_ctrs_flow && k->w.unjudged && wf_match_is_pattern(k->pattern))
        return false; /* patterns mean flows that are judged */
    if (!k->w.part)
        return wf_match(k->pattern, k->w.holder);
    if (k->w.holder != k->holder) {
        k->holder = k->w.holder;
        k->holder_fits = k->tail && wf_match(k->head, k->holder);
    }
    if (!k->holder_fits)
        return false;
    snprintf(part, sizeof(part), "%s%u", k->w.part, k->w.index);
    return wf_match(k->tail, part);
}

static bool search_next(struct search *k)
{
    while (wf_ctr_next(&k->w))
        if (fits(k))
            return true;
    return false;
}

static const uint64_t *counter_of(const struct search *k)
{
    for (unsigned i = 0; wf_ctr_tables[i]; i++)
        if (wf_ctr_tables[i] == k->w.table)
            return &k->w.values[k->rows[i]];
    return NULL;
}

/* Why nothing matched: no such object, or one without that counter. */
static int no_match(struct binder *b, const struct wf_term *t)
{
    const char *names[NAMES_MAX];
    const char *scopes = "";
    char name[WF_CTR_NAME_MAX];
    size_t n = 0, seen = 0;
    struct search k;

    search_begin(b, &k, t->pattern);
    while (search_next(&k)) {
        if (!strstr(scopes, k.w.table->scope))
            scopes =
                wf_arena_printf(b->arena, "%s%s%s", scopes, seen ? ", " : "", k.w.table->scope);
        seen++;
    }
    if (seen)
        return wf_err_set(&b->err, ENOENT,
                          "'%s' matches objects of the kind %s, none has the counter '%s'",
                          t->pattern, scopes, t->counter);
    search_begin(b, &k, t->pattern);
    search_counter(&k, t->counter);
    while (n < NAMES_MAX && wf_ctr_next(&k.w))
        names[n++] = wf_arena_strdup(b->arena, wf_ctr_name(&k.w, name));
    wf_err_set(&b->err, ENOENT, "'%s.%s' matches nothing", t->pattern, t->counter);
    wf_err_suggest(&b->err, t->pattern, names, n);
    if (n && !strstr(b->err.msg, "did you mean"))
        snprintf(b->err.msg + strlen(b->err.msg), sizeof(b->err.msg) - strlen(b->err.msg),
                 "; '%s' is one that has this counter", names[0]);
    return -ENOENT;
}

static void grow_hits(struct binder *b, struct wf_term *t)
{
    size_t cap = t->cap_hits ? 2 * t->cap_hits : 4;
    struct wf_ref_hit *more = WF_ARENA_ARRAY(b->arena, struct wf_ref_hit, cap);

    if (t->cap_hits)
        memcpy(more, t->hits, t->cap_hits * sizeof(*more));
    t->hits = more;
    t->cap_hits = cap;
}

/* Bound again for each run of many: places and names are the same then, and used again. */
static int bind_ref(struct binder *b, struct wf_term *t)
{
    char buf[WF_CTR_NAME_MAX];
    struct search k;

    t->n_hits = 0;
    search_begin(b, &k, t->pattern);
    search_counter(&k, t->counter);
    while (search_next(&k)) {
        const char *name = wf_ctr_name(&k.w, buf);
        struct wf_ref_hit *hit;
        int start = row_of(k.w.table, "start_ps");

        if (t->n_hits == t->cap_hits)
            grow_hits(b, t);
        hit = &t->hits[t->n_hits++];
        if (!hit->name || strcmp(hit->name, name))
            hit->name = wf_arena_strdup(b->arena, name);
        hit->value = counter_of(&k);
        hit->start = start < 0 ? NULL : &k.w.values[start];
    }
    return t->n_hits ? 0 : no_match(b, t);
}

static int bind_term(struct binder *b, struct wf_term *t)
{
    int rc;

    if (!t || t->op == WF_TERM_NUM)
        return 0;
    if (t->op == WF_TERM_REF)
        return bind_ref(b, t);
    rc = bind_term(b, t->left);
    return rc ? rc : bind_term(b, t->right);
}

/* All references that are gone through together must mean the same objects in the same order. */
static int check_pairs(struct binder *b, const struct wf_expect_cond *c, const struct wf_term *t)
{
    int rc;

    if (!t || t->op == WF_TERM_NUM)
        return 0;
    if (t->op != WF_TERM_REF) {
        rc = check_pairs(b, c, t->left);
        return rc ? rc : check_pairs(b, c, t->right);
    }
    if (t == c->spreads || t->agg != WF_AGG_NONE || t->n_hits == 1)
        return 0;
    for (size_t i = 0; i < t->n_hits; i++)
        if (t->n_hits != c->spread || strcmp(t->hits[i].name, c->spreads->hits[i].name))
            return wf_err_set(&b->err, EINVAL,
                              "the objects that have '%s' are not those that have '%s'", t->counter,
                              c->spreads->counter);
    return 0;
}

static int bind_cond(struct binder *b, struct wf_expect_cond *c)
{
    int rc = bind_term(b, c->left);

    if (!rc)
        rc = bind_term(b, c->right);
    if (rc || !c->spreads)
        return rc;
    c->spread = c->spreads->n_hits;
    rc = check_pairs(b, c, c->left);
    return rc ? rc : check_pairs(b, c, c->right);
}

void wf_expects_bind(struct wf_expects *x, const struct wf_ctr_walk *objs, struct wf_diags *d)
{
    for (size_t i = 0; i < x->n; i++) {
        struct wf_expect *e = &x->items[i];
        struct binder b = {.arena = x->arena, .objs = objs};

        e->verdict = WF_VERDICT_PENDING;
        e->found = e->expected = e->place = "";
        e->first_ps = e->since_ps = 0;
        e->was_wrong = true;
        e->over_all = false;
        if (!bind_cond(&b, e->cond)) {
            /* nothing has happened yet: what holds now and not at the end went wrong in between */
            e->was_wrong = wf_expect_cond_eval(e->cond, false, false).truth != WF_TRUE;
            continue;
        }
        wf_err_place(&b.err, e->file, e->line, e->col);
        wf_diag_add(d, false, &b.err);
    }
}
