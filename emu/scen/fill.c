/* SPDX-License-Identifier: BSD-3-Clause */
/* Filling configuration structs from YAML, see fill.h. */
#include "scen/fill.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/units.h"

enum { NAMES_MAX = 128 };

static void record(struct wf_fill *f, const void *field, const struct wf_yaml_node *v)
{
    struct wf_origin o = {.profile = f->profile, .file = v->file, .line = v->line, .col = v->col};

    if (f->origins)
        wf_origins_set(f->origins, field, &o);
}

/* Put "key: " before a message that doesn't name the key, and the place of the value. */
static void complain(struct wf_fill *f, const struct wf_key *key, const struct wf_yaml_node *v,
                     struct wf_err *err)
{
    char msg[sizeof(err->msg)], named[64];

    snprintf(msg, sizeof(msg), "%s", err->msg);
    snprintf(named, sizeof(named), " for %s is ", key->name); /* as errors about bounds say */
    if (!strstr(msg, named))
        snprintf(err->msg, sizeof(err->msg), "%s: %.*s", key->name, (int)sizeof(msg) - 80, msg);
    wf_err_place(err, v->file, v->line, v->col);
    wf_diag_add(f->diags, false, err);
}

static int one_range(const char *text, const char *end, size_t n, size_t *lo, size_t *hi,
                     struct wf_err *err)
{
    char buf[48];
    char *dash;
    uint64_t a, b;

    if ((size_t)(end - text) >= sizeof(buf))
        return wf_err_set(err, EINVAL, "'%s' is not a number or a range", text);
    snprintf(buf, sizeof(buf), "%.*s", (int)(end - text), text);
    if (!strcmp(buf, "*")) {
        *lo = 0;
        *hi = n - 1;
        return 0;
    }
    dash = strchr(buf, '-');
    if (dash)
        *dash = 0;
    if (wf_parse_uint(buf, &a, NULL) || (dash && wf_parse_uint(dash + 1, &b, NULL)))
        return wf_err_set(err, EINVAL,
                          "'%.*s' is not a number or a range, expected such as 3, 0-7 or \"*\"",
                          (int)(end - text), text);
    if (!dash)
        b = a;
    if (a > b)
        return wf_err_set(err, EINVAL, "'%.*s' runs backwards", (int)(end - text), text);
    if (b >= n)
        return wf_err_set(err, ERANGE, "'%.*s' is out of range, expected 0 to %zu",
                          (int)(end - text), text, n - 1);
    *lo = (size_t)a;
    *hi = (size_t)b;
    return 0;
}

int wf_fill_numbers(const char *text, size_t n, void (*set)(void *arg, size_t i), void *arg,
                    struct wf_err *err)
{
    while (1) {
        const char *end = text + strcspn(text, ",");
        size_t lo = 0, hi = 0;
        int rc = one_range(text, end, n, &lo, &hi, err);

        if (rc)
            return rc;
        for (size_t i = lo; i <= hi; i++)
            set(arg, i);
        if (!*end)
            return 0;
        text = end + 1;
        text += strspn(text, " ");
    }
}

static void set_bit(void *arg, size_t i)
{
    *(uint32_t *)arg |= 1u << i;
}

/* The bit of a word. */
static int set_word(const struct wf_key *key, const char *text, uint32_t *mask, struct wf_err *err)
{
    const struct wf_key word = {.type = WF_KEY_ENUM, .names = key->names};
    int bit = 0, rc = wf_key_set(&word, &bit, text, err);

    if (!rc)
        *mask |= 1u << bit;
    return rc;
}

static void fill_mask(struct wf_fill *f, const struct wf_key *key, void *base,
                      const struct wf_yaml_node *v)
{
    size_t n = key->max ? (size_t)key->max + 1 : 32;
    uint32_t mask = 0;
    bool bad = false;
    struct wf_err err = {0};

    if (v->kind != WF_YAML_SEQUENCE) {
        wf_err_set(&err, EINVAL, "expected a list such as %s, found %s",
                   key->names ? "[src_ip, dst_ip]" : "[3, 4]", wf_yaml_what(v));
        complain(f, key, v, &err);
        return;
    }
    for (size_t i = 0; i < v->n; i++) {
        const struct wf_yaml_node *x = &v->items[i];

        err = (struct wf_err){0};
        if (x->kind != WF_YAML_SCALAR)
            wf_err_set(&err, EINVAL, "expected a %s, found %s", key->names ? "word" : "number",
                       wf_yaml_what(x));
        else if (!(key->names ? set_word(key, x->text, &mask, &err)
                              : wf_fill_numbers(x->text, n, set_bit, &mask, &err)))
            continue;
        complain(f, key, x, &err);
        bad = true;
    }
    if (bad)
        return;
    *(uint32_t *)((char *)base + key->off) = mask;
    record(f, (char *)base + key->off, v);
}

struct map_arg {
    struct wf_fill *f;
    const struct wf_yaml_node *v;
    uint8_t *at;
    uint8_t value;
};

static void set_map(void *arg, size_t i)
{
    struct map_arg *m = arg;

    m->at[i] = m->value;
    record(m->f, &m->at[i], m->v);
}

static void fill_map(struct wf_fill *f, const struct wf_key *key, void *base,
                     const struct wf_yaml_node *v)
{
    uint64_t max = key->max ? key->max : UINT8_MAX;
    struct wf_err err = {0};

    if (v->kind != WF_YAML_MAPPING) {
        wf_err_set(&err, EINVAL, "expected a map such as {26: 3, \"0-7\": 1}, found %s",
                   wf_yaml_what(v));
        complain(f, key, v, &err);
        return;
    }
    for (size_t i = 0; i < v->n; i++) {
        const struct wf_yaml_node *from = wf_yaml_key(v, i), *to = wf_yaml_value(v, i);
        struct map_arg m = {f, to, (uint8_t *)base + key->off, 0};
        uint64_t x;

        err = (struct wf_err){0};
        if (to->kind != WF_YAML_SCALAR) {
            wf_err_set(&err, EINVAL, "expected a number, found %s", wf_yaml_what(to));
        } else if (!wf_parse_uint(to->text, &x, &err)) {
            m.value = (uint8_t)x;
            if (x > max)
                wf_err_set(&err, ERANGE, "'%s' is out of range, expected 0 to %u", to->text,
                           (unsigned)max);
            else if (!wf_fill_numbers(from->text, key->count, set_map, &m, &err))
                continue;
            else
                to = from;
        }
        complain(f, key, to, &err);
    }
}

/* A text, or a list of texts. */
static void fill_names(struct wf_fill *f, const struct wf_key *key, void *base,
                       const struct wf_yaml_node *v)
{
    bool list = v->kind == WF_YAML_SEQUENCE;
    size_t n = list ? v->n : 1;
    const char **names = WF_ARENA_ARRAY(f->diags->arena, const char *, n + 1);

    for (size_t i = 0; i < n; i++) {
        const struct wf_yaml_node *x = list ? &v->items[i] : v;
        struct wf_err err = {.line = 0};

        names[i] = x->text;
        if (x->kind == WF_YAML_SCALAR && x->text[0])
            continue;
        wf_err_set(&err, EINVAL, "expected a name or a list of names, found %s", wf_yaml_what(x));
        complain(f, key, x, &err);
        return;
    }
    *(struct wf_names *)((char *)base + key->off) = (struct wf_names){names, (uint32_t)n};
    record(f, (char *)base + key->off, v);
}

static void fill_key(struct wf_fill *f, const struct wf_key *key, void *base,
                     const struct wf_yaml_node *v)
{
    struct wf_err err = {0};

    if (key->type == WF_KEY_MASK) {
        fill_mask(f, key, base, v);
        return;
    }
    if (key->type == WF_KEY_MAP) {
        fill_map(f, key, base, v);
        return;
    }
    if (key->type == WF_KEY_NAMES) {
        fill_names(f, key, base, v);
        return;
    }
    if (v->kind != WF_YAML_SCALAR || (!v->text[0] && !v->quoted)) {
        wf_err_set(&err, EINVAL, "expected a value, found %s", wf_yaml_what(v));
        complain(f, key, v, &err);
    } else if (wf_key_set(key, base, v->text, &err)) {
        complain(f, key, v, &err);
    } else {
        record(f, (char *)base + key->off, v);
    }
}

struct sub_arg {
    struct wf_fill *f;
    const struct wf_key_sub *sub;
    char *base;
    const struct wf_yaml_node *v;
};

/* One step down; returns where the path ended before. */
static size_t path_push(struct wf_fill *f, const char *name, int number)
{
    size_t was = strlen(f->path), room = sizeof(f->path) - was;

    if (number < 0)
        snprintf(f->path + was, room, "%s.", name);
    else
        snprintf(f->path + was, room, "%s.%d.", name, number);
    return was;
}

static void fill_numbered(void *arg, size_t i)
{
    struct sub_arg *s = arg;

    size_t was = path_push(s->f, s->sub->name, (int)i);

    wf_fill(s->f, s->sub->set, s->base + s->sub->off + i * s->sub->set->size, s->v, NULL);
    s->f->path[was] = 0;
}

static void fill_sub(struct wf_fill *f, const struct wf_key_sub *sub, void *base,
                     const struct wf_yaml_node *v)
{
    if (!sub->count) {
        size_t was = path_push(f, sub->name, -1);

        wf_fill(f, sub->set, (char *)base + sub->off, v, NULL);
        f->path[was] = 0;
        return;
    }
    if (v->kind != WF_YAML_MAPPING) {
        wf_diag_error(f->diags, v,
                      "%s: expected a mapping from numbers such as {3: {...}}, found %s", sub->name,
                      wf_yaml_what(v));
        return;
    }
    for (size_t i = 0; i < v->n; i++) {
        const struct wf_yaml_node *k = wf_yaml_key(v, i);
        struct sub_arg s = {f, sub, base, wf_yaml_value(v, i)};
        struct wf_err err = {0};

        if (!wf_fill_numbers(k->text, sub->count, fill_numbered, &s, &err))
            continue;
        wf_diag_error(f->diags, k, "%s: %s", sub->name, err.msg);
    }
}

static size_t names_of(const struct wf_keyset *set, const char **names, size_t n)
{
    for (size_t i = 0; i < set->n_keys && n < NAMES_MAX; i++)
        names[n++] = set->keys[i].name;
    for (size_t i = 0; i < set->n_subs && n < NAMES_MAX; i++)
        if (set->subs[i].name)
            names[n++] = set->subs[i].name;
        else
            n = names_of(set->subs[i].set, names, n);
    return n;
}

static void unknown_key(struct wf_fill *f, const struct wf_keyset *set, const char *const *also,
                        const struct wf_yaml_node *key)
{
    const char *names[NAMES_MAX];
    size_t n = names_of(set, names, 0);

    for (; also && *also && n < NAMES_MAX; also++)
        names[n++] = *also;
    wf_diag_unknown(f->diags, key, key->text, names, n, "unknown key '%s' in %s", key->text,
                    set->name);
}

static bool callers(const char *const *also, const char *name)
{
    for (; also && *also; also++)
        if (!strcmp(*also, name))
            return true;
    return false;
}

static const struct wf_key_sub *find_sub(const struct wf_keyset *set, const char *name)
{
    for (size_t i = 0; i < set->n_subs; i++)
        if (set->subs[i].name && !strcmp(set->subs[i].name, name))
            return &set->subs[i];
    return NULL;
}

static void changed(struct wf_fill *f, const char *name)
{
    struct wf_changes *c = f->changes;
    char full[WF_CHANGE_LEN];

    if (snprintf(full, sizeof(full), "%s%s", f->path, name) >= (int)sizeof(full))
        return;
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->names[i], full))
            return;
    if (c->n == WF_CHANGES_MAX)
        c->more++;
    else
        memcpy(c->names[c->n++], full, sizeof(full));
}

/* The key, and whether that made a difference. */
static void fill_compared(struct wf_fill *f, const struct wf_key *key, void *base,
                          const struct wf_yaml_node *v)
{
    char before[1024], after[1024];

    if (!f->changes) {
        fill_key(f, key, base, v);
        return;
    }
    wf_key_text(key, base, before, sizeof(before));
    fill_key(f, key, base, v);
    if (strcmp(before, wf_key_text(key, base, after, sizeof(after))))
        changed(f, key->name);
}

/* One pair; false when the table doesn't know the key. */
static bool fill_pair(struct wf_fill *f, const struct wf_keyset *set, void *base,
                      const struct wf_yaml_node *k, const struct wf_yaml_node *v)
{
    const struct wf_key *key = wf_keyset_find(set, k->text);
    const struct wf_key_sub *sub = key ? NULL : find_sub(set, k->text);

    if (key)
        fill_compared(f, key, base, v);
    else if (sub)
        fill_sub(f, sub, base, v);
    for (size_t i = 0; i < set->n_subs && !key && !sub; i++)
        if (!set->subs[i].name &&
            fill_pair(f, set->subs[i].set, (char *)base + set->subs[i].off, k, v))
            return true;
    return key || sub;
}

void wf_fill_known(struct wf_fill *f, const struct wf_keyset *set, void *base,
                   const struct wf_yaml_node *map)
{
    for (size_t i = 0; i < map->n; i++)
        fill_pair(f, set, base, wf_yaml_key(map, i), wf_yaml_value(map, i));
}

void wf_fill(struct wf_fill *f, const struct wf_keyset *set, void *base,
             const struct wf_yaml_node *map, const char *const *also)
{
    if (map->kind != WF_YAML_MAPPING) {
        wf_diag_error(f->diags, map, "%s: expected a mapping, found %s", set->name,
                      wf_yaml_what(map));
        return;
    }
    for (size_t i = 0; i < map->n; i++) {
        const struct wf_yaml_node *k = wf_yaml_key(map, i);

        if (!callers(also, k->text) && !fill_pair(f, set, base, k, wf_yaml_value(map, i)))
            unknown_key(f, set, also, k);
    }
}

void wf_fill_required(struct wf_fill *f, const struct wf_keyset *set, const void *base,
                      const struct wf_yaml_node *at)
{
    WF_ASSERT(f->origins);
    for (size_t i = 0; i < set->n_keys; i++) {
        const struct wf_key *k = &set->keys[i];

        /* a key that is there with a wrong value has its own error */
        if (!k->def && !wf_origins_find(f->origins, (const char *)base + k->off) &&
            !wf_yaml_get(at, k->name))
            wf_diag_error(f->diags, at, "'%s' is missing in %s: %s", k->name, set->name, k->doc);
    }
}
