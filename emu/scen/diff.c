/* SPDX-License-Identifier: BSD-3-Clause */
#include "scen/diff.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/assert.h"
#include "cap/bundle.h"
#include "scen/csv.h"

enum { NAME_LEN = 2048 };

static bool one_of(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(word, *list))
            return true;
    return false;
}

static void put(json_t *values, const char *name, json_t *v)
{
    char again[NAME_LEN + 16];

    snprintf(again, sizeof(again), "%.*s", NAME_LEN - 1, name);
    for (int i = 2; json_object_get(values, again); i++)
        snprintf(again, sizeof(again), "%.*s#%d", NAME_LEN - 1, name, i);
    json_object_set(values, again, v);
}

/* ---- JSON ---- */

static const char *const not_results[] = {"schema", "manifest", "lateness", "captures",
                                          "weft",   "why",      NULL};
/* What tells the entries of a list apart, the first that is there; two words go together. */
static const char *const ids[][2] = {
    {"name", NULL},      {"flow", NULL},      {"port", "reason"},
    {"cause", "paused"}, {"text", NULL},      {"seed", NULL},
    {"address", NULL},   {"reason", "place"}, {"workload", "size_max_bytes"},
    {"workload", NULL}};

static const char *cell_text(const json_t *v, char *buf, size_t len)
{
    if (json_is_string(v))
        return json_string_value(v);
    snprintf(buf, len, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
    return buf;
}

/* The name of an entry, and in *row which of ids it is; NULL: it has none. */
static const char *name_of(const json_t *entry, size_t *row, char *buf, size_t len)
{
    char a[32], b[32];

    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        const json_t *x = json_object_get(entry, ids[i][0]);
        const json_t *y = ids[i][1] ? json_object_get(entry, ids[i][1]) : NULL;

        if (!x || (ids[i][1] && !y))
            continue;
        *row = i;
        snprintf(buf, len, "%s%s%s", cell_text(x, a, sizeof(a)), y ? "." : "",
                 y ? cell_text(y, b, sizeof(b)) : "");
        return buf;
    }
    return NULL;
}

static void flatten(json_t *values, const char *prefix, const json_t *v, const char *const *skip,
                    int depth);

static void flatten_list(json_t *values, const char *prefix, const json_t *list, int depth)
{
    const json_t *entry;
    size_t i;

    json_array_foreach (list, i, entry) {
        char id[1024], name[NAME_LEN];
        size_t row = 0;
        const char *word = name_of(entry, &row, id, sizeof(id));

        if (!word)
            snprintf(name, sizeof(name), "%s[%zu]", prefix, i);
        else if (!row) /* holders of counters have names of their own */
            snprintf(name, sizeof(name), "%s", word);
        else
            snprintf(name, sizeof(name), "%s[%s]", prefix, word);
        flatten(values, name, entry,
                word ? (const char *const[]){ids[row][0], ids[row][1], NULL}
                     : (const char *const[]){NULL},
                depth + 1);
    }
}

static bool all_scalars(const json_t *list)
{
    const json_t *v;
    size_t i;

    json_array_foreach (list, i, v)
        if (json_is_object(v) || json_is_array(v))
            return false;
    return true;
}

static void flatten(json_t *values, const char *prefix, const json_t *v, const char *const *skip,
                    int depth)
{
    const char *key;
    json_t *x;

    if (depth > 32)
        return;
    if (json_is_array(v) && !all_scalars(v)) {
        flatten_list(values, prefix, v, depth);
    } else if (json_is_object(v)) {
        json_object_foreach ((json_t *)v, key, x) {
            char name[NAME_LEN];

            if (one_of(key, skip) || (!depth && one_of(key, not_results)))
                continue;
            snprintf(name, sizeof(name), "%s%s%s", prefix, prefix[0] ? "." : "", key);
            flatten(values, name, x, (const char *const[]){NULL}, depth + 1);
        }
    } else if (!json_is_array(v) || json_array_size(v)) {
        put(values, prefix, (json_t *)v);
    }
}

static void flatten_result(json_t *values, const char *prefix, const json_t *root)
{
    const json_t *runs = json_object_get(root, "runs"), *run;
    size_t i;

    flatten(values, prefix, root,
            runs ? (const char *const[]){"runs", NULL} : (const char *const[]){NULL}, 0);
    json_array_foreach (runs, i, run) {
        char seed[64], buf[32];
        const json_t *v = json_object_get(run, "seed");
        json_t *inner = json_object(), *x;
        const char *key;

        snprintf(seed, sizeof(seed), "seed %s: ", v ? cell_text(v, buf, sizeof(buf)) : "?");
        flatten(inner, "", run, (const char *const[]){"seed", NULL}, 0);
        json_object_foreach (inner, key, x) {
            char name[NAME_LEN + 64];

            snprintf(name, sizeof(name), "%s%s", seed, key);
            put(values, name, x);
        }
        json_decref(inner);
    }
}

json_t *wf_diff_values(const json_t *result)
{
    json_t *values = json_object();

    flatten_result(values, "", result);
    return values;
}

/* Of a recording its summary. */
static json_t *load(const char *path, json_error_t *why)
{
    struct wf_bundle *b;
    const char *text;
    json_t *root;
    size_t len = 0;
    struct wf_err err;

    if (!wf_bundle_is(path))
        return json_load_file(path, JSON_REJECT_DUPLICATES, why);
    *why = (json_error_t){.line = -1, .column = -1};
    if (wf_bundle_open(&b, path, &err)) {
        snprintf(why->text, sizeof(why->text), "%.150s", err.msg);
        return NULL;
    }
    text = wf_bundle_text(b, WF_BUNDLE_SUMMARY, &len);
    root = text ? json_loadb(text, len, JSON_REJECT_DUPLICATES, why) : NULL;
    if (!text)
        snprintf(why->text, sizeof(why->text), "the recording has no %s", WF_BUNDLE_SUMMARY);
    wf_bundle_close(b);
    return root;
}

static int read_json(struct wf_diff_side *s, struct wf_err *err)
{
    static const char *const known[] = {"weft.run/1", "weft.runs/1", "weft.replay/1", NULL};
    static const char *const context[] = {"version", "scenario_sha256", "seed"};
    json_error_t why;
    json_t *root = load(s->path, &why);
    const char *schema = json_string_value(json_object_get(root, "schema"));
    int rc = 0;

    if (!root)
        return wf_err_at(err, EINVAL, s->path, why.line > 0 ? why.line : 0,
                         why.column > 0 ? why.column : 0, "no JSON: %s", why.text);
    if (!schema || !one_of(schema, known)) {
        rc = wf_err_at(err, EINVAL, s->path, 0, 0,
                       "no result of weft: its schema is '%s', expected weft.run/1, weft.runs/1 or "
                       "weft.replay/1",
                       schema ? schema : "");
    } else {
        snprintf(s->schema, sizeof(s->schema), "%s", schema);
        flatten_result(s->values, "", root);
        for (size_t i = 0; i < sizeof(context) / sizeof(context[0]); i++) {
            json_t *v = json_object_get(json_object_get(root, "manifest"), context[i]);

            if (v)
                json_object_set(s->context, context[i], v);
        }
    }
    json_decref(root);
    return rc;
}

/* ---- tables ---- */

/* Columns that are observed; the others name the row. */
static const char *const observed[] = {"status",
                                       "digest",
                                       "value",
                                       "size_bytes",
                                       "messages",
                                       "start_ps",
                                       "completion_ps",
                                       "ideal_ps",
                                       "retransmitted_packets",
                                       "ce_packets",
                                       "slowdown",
                                       "runs",
                                       "not_passed",
                                       "n",
                                       "mean",
                                       "sd",
                                       "ci95_low",
                                       "ci95_high",
                                       "median",
                                       "min",
                                       "max",
                                       NULL};

static json_t *cell_value(const char *text)
{
    char *end;
    double v = strtod(text, &end);

    if (!text[0] || *end)
        return json_string(text);
    return strspn(text, "0123456789") == strlen(text) && strlen(text) < 16
               ? json_integer((json_int_t)v)
               : json_real(v);
}

static void flatten_row(json_t *values, const struct wf_csv *c, size_t row)
{
    char key[NAME_LEN] = "", name[NAME_LEN + 64];
    size_t used = 0;
    int metric = wf_csv_col(c, "metric");
    bool first = metric < 0 || !strcmp(wf_csv_cell(c, row, (size_t)metric), "exit_status");

    for (size_t i = 0; i < c->n_cols && used < sizeof(key); i++)
        if (!one_of(wf_csv_name(c, i), observed))
            used += (size_t)snprintf(key + used, sizeof(key) - used, "%s%s=%s", used ? " " : "",
                                     wf_csv_name(c, i), wf_csv_cell(c, row, i));
    for (size_t i = 0; i < c->n_cols; i++) {
        const char *col = wf_csv_name(c, i);
        json_t *v;

        /* of a run's rows one says how it went */
        if (!one_of(col, observed) ||
            (!first && (!strcmp(col, "status") || !strcmp(col, "digest"))))
            continue;
        v = cell_value(wf_csv_cell(c, row, i));
        snprintf(name, sizeof(name), "%s%s%s", key, strcmp(col, "value") ? ": " : "",
                 strcmp(col, "value") ? col : "");
        put(values, name, v);
        json_decref(v);
    }
}

static int read_table(struct wf_diff_side *s, const char *path, struct wf_err *err)
{
    struct wf_csv c;
    int rc = wf_csv_read(&c, path, err);
    size_t used = 0;

    if (!rc) {
        for (size_t i = 0; i < c.n_cols && used < sizeof(s->schema); i++)
            used += (size_t)snprintf(s->schema + used, sizeof(s->schema) - used, "%s%s",
                                     i ? "," : "table ", wf_csv_name(&c, i));
        for (size_t i = 0; i < c.n_rows; i++)
            flatten_row(s->values, &c, i);
    }
    wf_csv_free(&c);
    return rc;
}

int wf_diff_read(struct wf_diff_side *s, const char *path, struct wf_err *err)
{
    size_t n = strlen(path);
    char table[4096];
    struct stat st;

    *s = (struct wf_diff_side){.path = path, .values = json_object(), .context = json_object()};
    if (stat(path, &st))
        return wf_err_at(err, errno, path, 0, 0, "cannot be read: %s", strerror(errno));
    if (S_ISDIR(st.st_mode) && !wf_bundle_is(path)) {
        snprintf(table, sizeof(table), "%s/runs.csv", path);
        return read_table(s, table, err);
    }
    return n > 4 && !strcmp(path + n - 4, ".csv") ? read_table(s, path, err) : read_json(s, err);
}

void wf_diff_free(struct wf_diff_side *s)
{
    json_decref(s->values);
    json_decref(s->context);
}

int wf_diff_match(const struct wf_diff_side *a, const struct wf_diff_side *b, struct wf_err *err)
{
    if (!strcmp(a->schema, b->schema))
        return 0;
    return wf_err_set(err, EINVAL, "%s is a %s, %s is a %s", a->path, a->schema, b->path,
                      b->schema);
}

/* ---- what changed ---- */

/* A number, or a string of digits that stands for one. */
static bool number_of(const json_t *v, double *out)
{
    if (json_is_number(v)) {
        *out = json_number_value(v);
        return true;
    }
    if (!json_is_string(v) || strlen(json_string_value(v)) < 16 ||
        strspn(json_string_value(v), "0123456789") != strlen(json_string_value(v)))
        return false;
    *out = strtod(json_string_value(v), NULL);
    return true;
}

static void compare(json_t *out, const char *name, json_t *a, json_t *b)
{
    double x = 0, y = 0;
    bool numbers = (!a || number_of(a, &x)) && (!b || number_of(b, &y));
    json_t *change;

    if (a && b && json_equal(a, b))
        return;
    if (numbers && x == y && (!a || !b)) /* absent is 0 */
        return;
    change = json_object();
    json_object_set_new(change, "what", json_string(name));
    if (numbers && !a)
        json_object_set_new(change, "a", json_integer(0));
    else
        json_object_set(change, "a", a ? a : json_null());
    if (numbers && !b)
        json_object_set_new(change, "b", json_integer(0));
    else
        json_object_set(change, "b", b ? b : json_null());
    if (numbers && x != 0 && strcmp(name, "seed"))
        json_object_set_new(change, "relative", json_real((y - x) / x));
    json_array_append_new(out, change);
}

/* Verdicts and digests are what people look for first. */
static int rank(const char *name)
{
    static const char *const first[] = {"name", "seed",      "first_seed", "digest", "verdict",
                                        "end",  "invariant", "live",       NULL};

    return one_of(name, first) ? 0 : strstr(name, "expectations[") ? 1 : 2;
}

json_t *wf_diff(const json_t *a, const json_t *b)
{
    json_t *out = json_array(), *v;
    const char *name;

    for (int pass = 0; pass < 3; pass++) {
        json_object_foreach ((json_t *)a, name, v)
            if (rank(name) == pass)
                compare(out, name, v, json_object_get(b, name));
        json_object_foreach ((json_t *)b, name, v)
            if (rank(name) == pass && !json_object_get(a, name))
                compare(out, name, NULL, v);
    }
    return out;
}
