/* SPDX-License-Identifier: BSD-3-Clause */
/* YAML to a tree with places, see yaml.h. */
#include "scen/yaml.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct loader {
    struct wf_arena *arena;
    const char *file;
    struct wf_err *err;
    yaml_document_t *doc;
    uint8_t *open; /* by node index: 1 while we are inside that node */
    size_t nodes;
};

static int fail(struct loader *l, const yaml_mark_t *m, const char *msg)
{
    return wf_err_at(l->err, EINVAL, l->file, (int)m->line + 1, (int)m->column + 1, "%s", msg);
}

/* libyaml gives a byte offset for bad encodings, not a mark. */
static int fail_reader(struct loader *l, const yaml_parser_t *p, const char *text, size_t len)
{
    size_t off = p->problem_offset < len ? p->problem_offset : len;
    int line = 1, col = 1;

    for (size_t i = 0; i < off; i++) {
        if (text[i] == '\n') {
            line++;
            col = 0;
        }
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            col++;
    }
    return wf_err_at(l->err, EINVAL, l->file, line, col, "not valid UTF-8 text: %s",
                     p->problem ? p->problem : "unreadable");
}

static int fail_parser(struct loader *l, const yaml_parser_t *p, const char *text, size_t len)
{
    const yaml_mark_t *m = &p->problem_mark;

    if (p->error == YAML_READER_ERROR)
        return fail_reader(l, p, text, len);
    if (p->error == YAML_MEMORY_ERROR)
        return wf_err_at(l->err, ENOMEM, l->file, 0, 0, "out of memory");
    if (p->context)
        return wf_err_at(l->err, EINVAL, l->file, (int)m->line + 1, (int)m->column + 1,
                         "YAML syntax: %s (%s that began in line %zu)", p->problem, p->context,
                         p->context_mark.line + 1);
    return wf_err_at(l->err, EINVAL, l->file, (int)m->line + 1, (int)m->column + 1,
                     "YAML syntax: %s", p->problem ? p->problem : "unreadable");
}

static int copy_node(struct loader *l, int index, int depth, struct wf_yaml_node *out);

static int copy_scalar(struct loader *l, const yaml_node_t *n, struct wf_yaml_node *out)
{
    size_t len = n->data.scalar.length;
    char *s;

    if (memchr(n->data.scalar.value, 0, len))
        return fail(l, &n->start_mark, "a NUL character in a value");
    s = wf_arena_alloc(l->arena, len + 1);
    memcpy(s, n->data.scalar.value, len);
    out->text = s;
    out->quoted = n->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return 0;
}

static int copy_sequence(struct loader *l, const yaml_node_t *n, int depth,
                         struct wf_yaml_node *out)
{
    const yaml_node_item_t *first = n->data.sequence.items.start;

    out->n = (size_t)(n->data.sequence.items.top - first);
    out->items = WF_ARENA_ARRAY(l->arena, struct wf_yaml_node, out->n);
    for (size_t i = 0; i < out->n; i++) {
        int rc = copy_node(l, first[i], depth + 1, &out->items[i]);

        if (rc)
            return rc;
    }
    return 0;
}

static int by_text_then_place(const void *a, const void *b)
{
    const struct wf_yaml_node *x = *(const struct wf_yaml_node *const *)a;
    const struct wf_yaml_node *y = *(const struct wf_yaml_node *const *)b;
    int c = strcmp(x->text, y->text);

    if (!c)
        c = (x > y) - (x < y); /* one array: the order of the file */
    return c;
}

static int refuse_duplicates(struct loader *l, const struct wf_yaml_node *map)
{
    const struct wf_yaml_node **keys, *dup = NULL;
    int first = 0;

    if (map->n < 2)
        return 0;
    keys = WF_ARENA_ARRAY(l->arena, const struct wf_yaml_node *, map->n);
    for (size_t i = 0; i < map->n; i++)
        keys[i] = wf_yaml_key(map, i);
    qsort(keys, map->n, sizeof(keys[0]), by_text_then_place);
    for (size_t i = 1; i < map->n; i++)
        if (!strcmp(keys[i - 1]->text, keys[i]->text) && (!dup || keys[i] < dup)) {
            dup = keys[i];
            first = keys[i - 1]->line;
        }
    if (!dup)
        return 0;
    return wf_err_at(l->err, EINVAL, l->file, dup->line, dup->col,
                     "the key '%s' stands twice, first in line %d", dup->text, first);
}

static int copy_mapping(struct loader *l, const yaml_node_t *n, int depth, struct wf_yaml_node *out)
{
    const yaml_node_pair_t *first = n->data.mapping.pairs.start;

    out->n = (size_t)(n->data.mapping.pairs.top - first);
    out->items = WF_ARENA_ARRAY(l->arena, struct wf_yaml_node, 2 * out->n);
    for (size_t i = 0; i < out->n; i++) {
        const yaml_node_t *key = yaml_document_get_node(l->doc, first[i].key);
        int rc;

        if (!key || key->type != YAML_SCALAR_NODE)
            return fail(l, key ? &key->start_mark : &n->start_mark, "a key must be a plain word");
        rc = copy_node(l, first[i].key, depth + 1, &out->items[2 * i]);
        if (!rc && !strcmp(out->items[2 * i].text, "<<"))
            rc = fail(l, &key->start_mark, "merge keys (<<) are not supported");
        if (!rc)
            rc = copy_node(l, first[i].value, depth + 1, &out->items[2 * i + 1]);
        if (rc)
            return rc;
    }
    return refuse_duplicates(l, out);
}

static bool tagged(const yaml_node_t *n)
{
    static const char *const plain[] = {
        [YAML_SCALAR_NODE] = YAML_DEFAULT_SCALAR_TAG,
        [YAML_SEQUENCE_NODE] = YAML_DEFAULT_SEQUENCE_TAG,
        [YAML_MAPPING_NODE] = YAML_DEFAULT_MAPPING_TAG,
    };

    return n->tag && strcmp((const char *)n->tag, plain[n->type]) != 0;
}

static int copy_node(struct loader *l, int index, int depth, struct wf_yaml_node *out)
{
    const yaml_node_t *n = yaml_document_get_node(l->doc, index);
    int rc;

    if (!n || n->type == YAML_NO_NODE)
        return wf_err_at(l->err, EINVAL, l->file, 0, 0, "an alias without a target");
    if (++l->nodes > WF_YAML_NODES_MAX)
        return fail(l, &n->start_mark, "too large: more than 200000 values with aliases resolved");
    if (depth > WF_YAML_DEPTH_MAX)
        return fail(l, &n->start_mark, "nested deeper than 32 levels");
    if (l->open[index])
        return fail(l, &n->start_mark, "an alias that contains itself");
    if (tagged(n))
        return fail(l, &n->start_mark, "tags are not supported");
    out->file = l->file;
    out->line = (int)n->start_mark.line + 1;
    out->col = (int)n->start_mark.column + 1;
    l->open[index] = 1;
    if (n->type == YAML_SCALAR_NODE) {
        out->kind = WF_YAML_SCALAR;
        rc = copy_scalar(l, n, out);
    } else if (n->type == YAML_SEQUENCE_NODE) {
        out->kind = WF_YAML_SEQUENCE;
        rc = copy_sequence(l, n, depth, out);
    } else {
        out->kind = WF_YAML_MAPPING;
        rc = copy_mapping(l, n, depth, out);
    }
    l->open[index] = 0;
    return rc;
}

static int copy_document(struct loader *l, yaml_document_t *doc, struct wf_yaml_node *root)
{
    size_t n = (size_t)(doc->nodes.top - doc->nodes.start);

    if (!yaml_document_get_root_node(doc))
        return wf_err_at(l->err, EINVAL, l->file, 1, 1, "the file is empty");
    l->doc = doc;
    l->open = wf_arena_alloc(l->arena, n + 1);
    return copy_node(l, 1, 0, root);
}

/* Only one document: a second one would be ignored silently otherwise. */
static int refuse_second(struct loader *l, yaml_parser_t *p, const char *text, size_t len)
{
    yaml_document_t doc;
    int rc = 0;

    if (!yaml_parser_load(p, &doc))
        return fail_parser(l, p, text, len);
    if (yaml_document_get_root_node(&doc))
        rc = fail(l, &doc.start_mark, "a second document in the file, expected one");
    yaml_document_delete(&doc);
    return rc;
}

static int count_event(struct loader *l, const yaml_event_t *e, int *depth, int *anchors)
{
    bool anchor = false;

    switch (e->type) {
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        if (++*depth > WF_YAML_DEPTH_MAX)
            return fail(l, &e->start_mark, "nested deeper than 32 levels");
        anchor = e->type == YAML_MAPPING_START_EVENT ? e->data.mapping_start.anchor != NULL
                                                     : e->data.sequence_start.anchor != NULL;
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        --*depth;
        break;
    case YAML_SCALAR_EVENT:
        anchor = e->data.scalar.anchor != NULL;
        break;
    default:
        break;
    }
    *anchors += anchor;
    if (*anchors > WF_YAML_ANCHORS_MAX)
        return fail(l, &e->start_mark, "more than 1000 anchors");
    return 0;
}

/*
 * libyaml's loader needs quadratic time for deep nesting, many anchors and many directives: look
 * for those first, on the stream of events, which ends at the first excess.
 */
static int refuse_excess(struct loader *l, const char *text, size_t len)
{
    yaml_parser_t p;
    yaml_event_t e;
    int rc = 0, depth = 0, anchors = 0, line = 1;
    bool more = true;

    for (size_t i = 0; i < len; i++) {
        if (text[i] == '%' && (i == 0 || text[i - 1] == '\n' || text[i - 1] == '\r'))
            return wf_err_at(l->err, EINVAL, l->file, line, 1, "directives (%%) are not supported");
        line += text[i] == '\n';
    }
    if (!yaml_parser_initialize(&p))
        return wf_err_at(l->err, ENOMEM, l->file, 0, 0, "out of memory");
    yaml_parser_set_input_string(&p, (const unsigned char *)text, len);
    yaml_parser_set_encoding(&p, YAML_UTF8_ENCODING);
    while (!rc && more) {
        if (!yaml_parser_parse(&p, &e)) {
            rc = fail_parser(l, &p, text, len);
            break;
        }
        more = e.type != YAML_STREAM_END_EVENT;
        rc = count_event(l, &e, &depth, &anchors);
        yaml_event_delete(&e);
    }
    yaml_parser_delete(&p);
    return rc;
}

int wf_yaml_parse(struct wf_arena *a, const char *name, const void *text, size_t len,
                  const struct wf_yaml_node **root, struct wf_err *err)
{
    struct wf_yaml_node *out = WF_ARENA_NEW(a, struct wf_yaml_node);
    struct loader l = {.arena = a, .file = wf_arena_strdup(a, name), .err = err};
    yaml_parser_t p;
    yaml_document_t doc;
    int rc;

    *root = NULL;
    if (len > WF_YAML_BYTES_MAX)
        return wf_err_at(err, EFBIG, name, 0, 0, "larger than %d MiB, the limit for a scenario",
                         WF_YAML_BYTES_MAX >> 20);
    rc = refuse_excess(&l, text, len);
    if (rc)
        return rc;
    if (!yaml_parser_initialize(&p))
        return wf_err_at(err, ENOMEM, name, 0, 0, "out of memory");
    yaml_parser_set_input_string(&p, text, len);
    yaml_parser_set_encoding(&p, YAML_UTF8_ENCODING);
    if (!yaml_parser_load(&p, &doc)) {
        rc = fail_parser(&l, &p, text, len);
        goto out;
    }
    rc = copy_document(&l, &doc, out);
    yaml_document_delete(&doc);
    if (!rc)
        rc = refuse_second(&l, &p, text, len);
    if (!rc)
        *root = out;
out:
    yaml_parser_delete(&p);
    return rc;
}

int wf_yaml_load(struct wf_arena *a, const char *path, const struct wf_yaml_node **root,
                 struct wf_err *err)
{
    bool standard = !strcmp(path, "-");
    FILE *f = standard ? stdin : fopen(path, "re");
    size_t cap = WF_YAML_BYTES_MAX + 1, len;
    char *text;
    int rc;

    *root = NULL;
    if (!f)
        return wf_err_at(err, errno, path, 0, 0, "cannot be read: %s", strerror(errno));
    text = malloc(cap);
    if (!text) {
        if (!standard)
            fclose(f);
        return wf_err_at(err, ENOMEM, path, 0, 0, "out of memory");
    }
    errno = 0;
    len = fread(text, 1, cap, f);
    if (ferror(f)) {
        int code = errno ? errno : EIO;

        rc = wf_err_at(err, code, path, 0, 0, "cannot be read: %s", strerror(code));
    } else {
        rc = wf_yaml_parse(a, standard ? "stdin" : path, text, len, root, err);
    }
    if (!standard)
        fclose(f);
    free(text);
    return rc;
}

const struct wf_yaml_node *wf_yaml_get(const struct wf_yaml_node *map, const char *key)
{
    if (!map || map->kind != WF_YAML_MAPPING)
        return NULL;
    for (size_t i = 0; i < map->n; i++)
        if (!strcmp(wf_yaml_key(map, i)->text, key))
            return wf_yaml_value(map, i);
    return NULL;
}

const char *wf_yaml_what(const struct wf_yaml_node *n)
{
    if (n->kind == WF_YAML_MAPPING)
        return "a mapping";
    if (n->kind == WF_YAML_SEQUENCE)
        return "a list";
    return n->text[0] || n->quoted ? "a value" : "nothing";
}
