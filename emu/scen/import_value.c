/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of CONFIG_DB: all of them texts, numbers too; references in two spellings. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "scen/fill.h"
#include "scen/import_priv.h"

static const char *const type_names[] = {
    [JSON_OBJECT] = "an object",   [JSON_ARRAY] = "a list", [JSON_STRING] = "a text",
    [JSON_INTEGER] = "an integer", [JSON_REAL] = "a real",  [JSON_TRUE] = "true",
    [JSON_FALSE] = "false",        [JSON_NULL] = "null",
};

static const char *quote(struct wf_importing *in, const char *s)
{
    return wf_import_clean(&in->im->arena, s);
}

json_t *wf_import_table(struct wf_importing *in, const char *table)
{
    json_t *t = json_object_get(in->root, table);

    if (!t || json_is_object(t))
        return t;
    wf_import_note(in, WF_IMPORT_ERROR, (struct wf_import_at){table, NULL, NULL},
                   "expected an object, found %s", type_names[json_typeof(t)]);
    return NULL;
}

const char *wf_import_text(struct wf_importing *in, json_t *row, struct wf_import_at at)
{
    json_t *v = json_object_get(row, at.field);

    if (!v)
        return NULL;
    if (json_is_integer(v))
        return wf_arena_printf(&in->im->arena, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
    if (json_is_string(v))
        return json_string_value(v);
    wf_import_note(in, WF_IMPORT_ERROR, at, "expected a text, found %s",
                   type_names[json_typeof(v)]);
    return NULL;
}

bool wf_import_int(struct wf_importing *in, json_t *row, struct wf_import_at at, int64_t min,
                   int64_t max, int64_t *v)
{
    const char *s = wf_import_text(in, row, at);
    char *end;

    if (!s)
        return false;
    errno = 0;
    *v = strtoll(s, &end, 10);
    if (s[strspn(s, "-0123456789")] == 0 && s[0] && !*end && !errno && *v >= min && *v <= max)
        return true;
    wf_import_note(in, WF_IMPORT_ERROR, at,
                   "'%s': expected a whole number from %" PRId64 " to %" PRId64, quote(in, s), min,
                   max);
    return false;
}

static void set_bit(void *arg, size_t i)
{
    *(uint32_t *)arg |= 1u << i;
}

bool wf_import_bits(struct wf_importing *in, struct wf_import_at at, const char *text, unsigned n,
                    uint32_t *bits)
{
    struct wf_err err;

    *bits = 0;
    if (!wf_fill_numbers(text, n, set_bit, bits, &err))
        return true;
    wf_import_note(in, WF_IMPORT_ERROR, at,
                   "'%s': expected numbers from 0 to %u, such as 3-4 or 3,4", quote(in, text),
                   n - 1);
    return false;
}

static void unknown(struct wf_importing *in, struct wf_import_at at, const char *name,
                    const char *table)
{
    const char *names[64], *key;
    struct wf_err err;
    size_t n = 0;
    json_t *v;

    wf_err_set(&err, EINVAL, "%s has no '%s'", table, quote(in, name));
    json_object_foreach (json_object_get(in->root, table), key, v) {
        names[n++] = quote(in, key);
        if (n == sizeof(names) / sizeof(names[0]))
            break;
    }
    wf_err_suggest(&err, quote(in, name), names, n);
    wf_import_note(in, WF_IMPORT_ERROR, at, "%s", err.msg);
}

struct wf_import_row wf_import_ref(struct wf_importing *in, json_t *row, struct wf_import_at at,
                                   const char *table)
{
    const char *s = wf_import_text(in, row, at), *bar;
    struct wf_import_row none = {NULL, NULL}, out;
    size_t len;

    if (!s || !s[0])
        return none;
    bar = s[0] == '[' ? strchr(s, '|') : NULL;
    len = strlen(s);
    if (bar && s[len - 1] == ']') {
        if ((size_t)(bar - s) - 1 != strlen(table) || strncmp(s + 1, table, strlen(table))) {
            wf_import_note(in, WF_IMPORT_ERROR, at, "'%s': expected a name in %s", quote(in, s),
                           table);
            return none;
        }
        s = wf_arena_printf(&in->im->arena, "%.*s", (int)(len - (size_t)(bar - s) - 2), bar + 1);
    }
    out = (struct wf_import_row){s, json_object_get(wf_import_table(in, table), s)};
    if (!out.json)
        unknown(in, at, s, table);
    else if (!json_is_object(out.json))
        wf_import_note(in, WF_IMPORT_ERROR, (struct wf_import_at){table, s, NULL},
                       "expected an object, found %s", type_names[json_typeof(out.json)]);
    else
        return out;
    return none;
}
