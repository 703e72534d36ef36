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
    const struct wf_ctr_obj *objs;
    size_t n;
    struct wf_err err;
};

static const uint64_t *counter_of(const struct wf_ctr_obj *o, const char *counter)
{
    for (size_t i = 0; i < o->table->n; i++)
        if (o->table->rows[i].name && !strcmp(o->table->rows[i].name, counter))
            return &o->values[i];
    return NULL;
}

/* Why nothing matched: no such object, or one without that counter. */
static int no_match(struct binder *b, const struct wf_term *t)
{
    const char *names[512];
    const char *scopes = "";
    size_t n = 0, seen = 0;

    for (size_t i = 0; i < b->n; i++) {
        if (!wf_match(t->pattern, b->objs[i].name))
            continue;
        if (!strstr(scopes, b->objs[i].table->scope))
            scopes = wf_arena_printf(b->arena, "%s%s%s", scopes, seen ? ", " : "",
                                     b->objs[i].table->scope);
        seen++;
    }
    if (seen)
        return wf_err_set(&b->err, ENOENT,
                          "'%s' matches objects of the kind %s, none has the counter '%s'",
                          t->pattern, scopes, t->counter);
    for (size_t i = 0; i < b->n && n < 512; i++)
        if (counter_of(&b->objs[i], t->counter))
            names[n++] = b->objs[i].name;
    wf_err_set(&b->err, ENOENT, "'%s.%s' matches nothing", t->pattern, t->counter);
    wf_err_suggest(&b->err, t->pattern, names, n);
    if (n && !strstr(b->err.msg, "did you mean"))
        snprintf(b->err.msg + strlen(b->err.msg), sizeof(b->err.msg) - strlen(b->err.msg),
                 "; '%s' is one that has this counter", names[0]);
    return -ENOENT;
}

static int bind_ref(struct binder *b, struct wf_term *t)
{
    size_t n = 0;

    for (size_t i = 0; i < b->n; i++)
        n += wf_match(t->pattern, b->objs[i].name) && counter_of(&b->objs[i], t->counter);
    if (!n)
        return no_match(b, t);
    if (n > t->cap_hits) { /* bound again for each run of many: the memory is used again */
        t->hits = WF_ARENA_ARRAY(b->arena, struct wf_ref_hit, n);
        t->cap_hits = n;
    }
    t->n_hits = 0;
    for (size_t i = 0; i < b->n; i++) {
        const struct wf_ctr_obj *o = &b->objs[i];
        const uint64_t *v = counter_of(o, t->counter);

        if (v && wf_match(t->pattern, o->name))
            t->hits[t->n_hits++] = (struct wf_ref_hit){o->name, v, counter_of(o, "start_ps")};
    }
    return 0;
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

void wf_expects_bind(struct wf_expects *x, const struct wf_ctr_obj *objs, size_t n,
                     struct wf_diags *d)
{
    for (size_t i = 0; i < x->n; i++) {
        struct wf_expect *e = &x->items[i];
        struct binder b = {.arena = x->arena, .objs = objs, .n = n};

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
