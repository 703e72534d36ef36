/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --set KEY=VALUE: a value put into a scenario's tree before it is read, so that it is checked and
 * complained of as if it stood in the file. KEY is the way to it with dots between:
 *
 *   seed, topology.leaves          a key at the top, a key of a section
 *   switches.leaf*.queue.3.kmin    below links, switches, ports and hosts a pattern comes next;
 * what is set goes behind all that the file says, so that it wins workload.in.size the entry of a
 * list by its name, or by its number from 0
 *
 * VALUE is a scalar as it stands, or YAML when it begins with [ or {.
 * Left out: `expect`, whose claims belong to the file and are told of by their place in it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/units.h"
#include "scen/scen_priv.h"

enum { WORDS_MAX = 12, NAMES_MAX = 256 };

struct set {
    struct wf_scenario *s;
    const char *origin; /* "--set KEY=VALUE": what stands for the file's name in messages */
    const char *words[WORDS_MAX];
    size_t n;
    struct wf_yaml_node value;
    struct wf_err *err;
};

static int fail(const struct set *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int fail(const struct set *t, const char *fmt, ...)
{
    char msg[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(msg, sizeof(msg), fmt, ap);
    va_end(ap);
    return wf_err_at(t->err, EINVAL, t->origin, 0, 0, "%s", msg);
}

/* The words of the key, at dots outside of brackets. */
static int split(struct set *t, char *key)
{
    int depth = 0;

    t->words[t->n++] = key;
    for (char *c = key; *c; c++) {
        depth += (*c == '[') - (*c == ']');
        if (*c != '.' || depth > 0)
            continue;
        if (t->n == WORDS_MAX)
            return fail(t, "more than %d words in the key", WORDS_MAX);
        *c = 0;
        t->words[t->n++] = c + 1;
    }
    for (size_t i = 0; i < t->n; i++)
        if (!t->words[i][0])
            return fail(t, "an empty word in the key, expected such as topology.leaves");
    return 0;
}

static void stamp(struct wf_yaml_node *n, const char *origin)
{
    size_t below = n->kind == WF_YAML_MAPPING ? 2 * n->n : n->n;

    n->file = origin;
    n->line = n->col = 0;
    for (size_t i = 0; n->kind != WF_YAML_SCALAR && i < below; i++)
        stamp(&n->items[i], origin);
}

static int read_value(struct set *t, const char *text)
{
    const struct wf_yaml_node *root;
    struct wf_err err = {0};

    if (text[0] != '[' && text[0] != '{') {
        t->value = (struct wf_yaml_node){.kind = WF_YAML_SCALAR, .text = text, .file = t->origin};
        return 0;
    }
    if (wf_yaml_parse(&t->s->arena, t->origin, text, strlen(text), &root, &err))
        return fail(t, "%s", err.msg);
    t->value = *root;
    stamp(&t->value, t->origin);
    return 0;
}

static struct wf_yaml_node word_node(const struct set *t, size_t i)
{
    return (struct wf_yaml_node){
        .kind = WF_YAML_SCALAR, .text = t->words[i], .file = t->origin, .quoted = true};
}

/* The value within mappings of words[first..]. */
static struct wf_yaml_node wrapped(const struct set *t, size_t first)
{
    struct wf_yaml_node n = t->value;

    for (size_t i = t->n; i > first; i--) {
        struct wf_yaml_node *pair = WF_ARENA_ARRAY(&t->s->arena, struct wf_yaml_node, 2);

        pair[0] = word_node(t, i - 1);
        pair[1] = n;
        n = (struct wf_yaml_node){
            .kind = WF_YAML_MAPPING, .file = t->origin, .n = 1, .items = pair};
    }
    return n;
}

/* Items of a node of our own, with room for one more. */
static void own_items(const struct set *t, struct wf_yaml_node *n)
{
    size_t each = n->kind == WF_YAML_MAPPING ? 2 : 1;
    struct wf_yaml_node *items =
        WF_ARENA_ARRAY(&t->s->arena, struct wf_yaml_node, each * (n->n + 1));

    memcpy(items, n->items, each * n->n * sizeof(*items));
    n->items = items;
}

static void append(const struct set *t, struct wf_yaml_node *map, size_t at)
{
    own_items(t, map);
    map->items[2 * map->n] = word_node(t, at);
    map->items[2 * map->n + 1] = wrapped(t, at + 1);
    map->n++;
}

static int put(const struct set *t, struct wf_yaml_node *n, size_t at);

/* The entry of a list: its number, or the value of its key `name`. */
static int put_in_list(const struct set *t, struct wf_yaml_node *list, size_t at)
{
    const char *names[NAMES_MAX];
    size_t n_names = 0;
    uint64_t i;

    own_items(t, list);
    if (!wf_parse_uint(t->words[at], &i, NULL)) {
        if (i < list->n)
            return put(t, &list->items[i], at + 1);
        return fail(t, "'%s' has %zu entries, there is no number %s", t->words[at - 1], list->n,
                    t->words[at]);
    }
    for (size_t k = 0; k < list->n; k++) {
        const struct wf_yaml_node *name = wf_yaml_get(&list->items[k], "name");

        if (!name || name->kind != WF_YAML_SCALAR)
            continue;
        if (!strcmp(name->text, t->words[at]))
            return put(t, &list->items[k], at + 1);
        if (n_names < NAMES_MAX)
            names[n_names++] = name->text;
    }
    fail(t, "no entry '%s' in %s", t->words[at], t->words[at - 1]);
    wf_err_suggest(t->err, t->words[at], names, n_names);
    return -EINVAL;
}

/* Below n, which is ours to change (its items are not), the words from `at` on. */
static int put(const struct set *t, struct wf_yaml_node *n, size_t at)
{
    if (at == t->n) {
        *n = t->value;
        return 0;
    }
    if (n->kind == WF_YAML_SEQUENCE)
        return put_in_list(t, n, at);
    if (n->kind == WF_YAML_SCALAR)
        return fail(t, "'%s' is a value, there is nothing below it", t->words[at - 1]);
    for (size_t i = 0; i < n->n; i++)
        if (!strcmp(wf_yaml_key(n, i)->text, t->words[at])) {
            own_items(t, n);
            return put(t, &n->items[2 * i + 1], at + 1);
        }
    append(t, n, at);
    return 0;
}

static bool is_pattern_section(const char *word)
{
    return !strcmp(word, "links") || !strcmp(word, "switches") || !strcmp(word, "hosts") ||
           !strcmp(word, "ports");
}

/* links, switches, ports, hosts: a new entry behind the others. */
static int put_behind(const struct set *t, struct wf_yaml_node *root)
{
    if (t->n < 3)
        return fail(t, "expected a pattern and a key below '%s', such as %s.*.%s", t->words[0],
                    t->words[0],
                    t->words[0][0] == 'l'   ? "rate"
                    : t->words[0][0] == 's' ? "latency"
                    : t->words[0][0] == 'p' ? "trust"
                                            : "mtu");
    for (size_t i = 0; i < root->n; i++)
        if (!strcmp(wf_yaml_key(root, i)->text, t->words[0])) {
            struct wf_yaml_node *section = &root->items[2 * i + 1];

            if (section->kind == WF_YAML_MAPPING) /* else the loader complains of it */
                append(t, section, 1);
            return 0;
        }
    append(t, root, 0);
    return 0;
}

static int apply(struct wf_scenario *s, struct wf_yaml_node *root, const char *text,
                 struct wf_err *err)
{
    struct set t = {.s = s, .err = err};
    char *copy = wf_arena_strdup(&s->arena, text), *eq = strchr(copy, '=');
    int rc;

    t.origin = wf_arena_printf(&s->arena, "--set %.200s", text);
    if (!eq || eq == copy)
        return fail(&t, "expected KEY=VALUE, such as topology.leaves=4");
    *eq = 0;
    rc = split(&t, copy);
    if (!rc)
        rc = read_value(&t, eq + 1);
    if (rc)
        return rc;
    if (!strcmp(t.words[0], "expect"))
        return fail(&t, "expectations can't be set, they belong to the file");
    own_items(&t, root);
    return is_pattern_section(t.words[0]) ? put_behind(&t, root) : put(&t, root, 0);
}

int wf_scen_sets(struct wf_scenario *s, const char *const *sets, size_t n)
{
    struct wf_yaml_node *root = WF_ARENA_NEW(&s->arena, struct wf_yaml_node);
    struct wf_err err;
    int rc = 0;

    if (s->root->kind != WF_YAML_MAPPING)
        return 0; /* the loader says so */
    *root = *s->root;
    for (size_t i = 0; i < n; i++) {
        err = (struct wf_err){0};
        if (!apply(s, root, sets[i], &err))
            continue;
        wf_diag_add(&s->diags, false, &err);
        rc = -EINVAL;
    }
    s->root = root;
    return rc;
}
