/* SPDX-License-Identifier: BSD-3-Clause */
/* Read a file of decisions, and find things in it. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cmd_why.h"

static char *read_all(const char *path, size_t *len, struct wf_err *err)
{
    FILE *in = !strcmp(path, "-") ? stdin : fopen(path, "r");
    size_t cap = 1 << 16, n;
    char *text = in ? malloc(cap) : NULL;

    *len = 0;
    if (!in)
        wf_err_set(err, errno, "cannot read %s: %s", path, strerror(errno));
    while (text && (n = fread(text + *len, 1, cap - *len - 1, in))) {
        *len += n;
        if (*len + 1 == cap) {
            char *more = realloc(text, cap *= 2);

            if (!more)
                free(text);
            text = more;
        }
    }
    if (text && ferror(in)) {
        wf_err_set(err, errno, "cannot read %s: %s", path, strerror(errno));
        free(text);
        text = NULL;
    } else if (in && !text)
        wf_err_set(err, ENOMEM, "%s does not fit into memory", path);
    if (in && in != stdin)
        fclose(in);
    if (text)
        text[*len] = '\0';
    return text;
}

static int kind_of(const char *what)
{
    for (int i = 0; what && wf_why_kind_names[i]; i++)
        if (!strcmp(what, wf_why_kind_names[i]))
            return i;
    return -1;
}

uint64_t wf_why_num(const json_t *j, const char *key)
{
    const json_t *v = json_object_get(j, key);
    uint64_t n = 0;

    if (json_is_string(v))
        sscanf(json_string_value(v), "%" SCNu64, &n);
    return json_is_integer(v) ? (uint64_t)json_integer_value(v) : n;
}

json_t *wf_why_get(const struct wf_why_line *l)
{
    return json_loadb(l->text, l->len, 0, NULL);
}

/* Names repeat: the last one is often the same again. */
static const char *intern(struct wf_why_file *f, const char *name)
{
    if (f->n && !strcmp(f->lines[f->n - 1].at, name))
        return f->lines[f->n - 1].at;
    return wf_arena_strdup(&f->arena, name);
}

static int take_line(struct wf_why_file *f, const char *text, size_t len, size_t number,
                     struct wf_err *err)
{
    json_t *j = json_loadb(text, len, 0, NULL);
    const char *at = json_string_value(json_object_get(j, "at"));
    int kind = kind_of(json_string_value(json_object_get(j, "what")));

    if (!at || kind < 0) {
        json_decref(j);
        return wf_err_at(err, EINVAL, f->path, (int)number, 1, "this is no recorded decision");
    }
    f->lines[f->n] = (struct wf_why_line){
        .t_ps = wf_why_num(j, "t_ps"),
        .born_ps = wf_why_num(j, "born_ps"),
        .text = text,
        .at = intern(f, at),
        .len = (uint32_t)len,
        .hash = (uint32_t)wf_why_num(j, "hash"),
        .dqpn = (uint32_t)wf_why_num(j, "dqpn"),
        .psn = (uint32_t)wf_why_num(j, "psn"),
        .kind = (uint8_t)kind,
        .prio = (uint8_t)wf_why_num(j, "prio"),
        .queue = (uint8_t)wf_why_num(j, "queue"),
        .packet = json_object_get(j, "len") != NULL,
        .roce = json_object_get(j, "psn") != NULL,
    };
    f->n++;
    json_decref(j);
    return 0;
}

static int take_head(struct wf_why_file *f, const char *text, size_t len, struct wf_err *err)
{
    const char *schema;

    f->head = json_loadb(text, len, 0, NULL);
    schema = json_string_value(json_object_get(f->head, "schema"));
    if (schema && !strcmp(schema, "weft.why/1"))
        return 0;
    return wf_err_set(err, EINVAL, "%s is no record of decisions, as weft run --why writes it",
                      f->path);
}

int wf_why_load(struct wf_why_file *f, const char *path, struct wf_err *err)
{
    size_t len, lines = 0, number = 0;
    const char *at;
    int rc = 0;

    *f = (struct wf_why_file){.path = path};
    f->text = read_all(path, &len, err);
    if (!f->text)
        return -EINVAL;
    for (at = f->text; (at = strchr(at, '\n')); at++)
        lines++;
    f->lines = calloc(lines + 1, sizeof(*f->lines));
    if (!f->lines)
        return wf_err_set(err, ENOMEM, "%s does not fit into memory", path);
    for (at = f->text; !rc && *at; number++) {
        size_t n = strcspn(at, "\n");

        rc = number ? take_line(f, at, n, number + 1, err) : take_head(f, at, n, err);
        f->cut = rc && number && !at[n];
        rc = f->cut ? 0 : rc;
        at += n + (at[n] == '\n');
    }
    return !rc && !number ? take_head(f, "", 0, err) : rc;
}

void wf_why_unload(struct wf_why_file *f)
{
    json_decref(f->head);
    free(f->lines);
    free(f->text);
    wf_arena_free(&f->arena);
}

const json_t *wf_why_flow(const struct wf_why_file *f, const char *name)
{
    const json_t *flows = json_object_get(f->head, "flows");
    const json_t *w;
    size_t i;

    json_array_foreach (flows, i, w) {
        const char *have = json_string_value(json_object_get(w, "name"));

        if (have && !strcmp(have, name))
            return w;
    }
    return NULL;
}

/* ---- pauses ---- */

const struct wf_why_line *wf_why_xoff_at(const struct wf_why_file *f, const char *port,
                                         unsigned prio, uint64_t t_ps)
{
    const struct wf_why_line *found = NULL;

    for (size_t i = 0; i < f->n && f->lines[i].t_ps <= t_ps; i++) {
        const struct wf_why_line *l = &f->lines[i];

        if ((l->kind != WF_WHY_XOFF && l->kind != WF_WHY_XON) || l->prio != prio ||
            strcmp(l->at, port))
            continue;
        found = l->kind == WF_WHY_XOFF ? l : NULL;
    }
    return found;
}

const struct wf_why_line *wf_why_stopped_at(const struct wf_why_file *f, const char *port,
                                            unsigned prio, unsigned queue, uint64_t t_ps)
{
    const struct wf_why_line *found = NULL;
    uint64_t until_ps = 0;

    for (size_t i = 0; i < f->n && f->lines[i].t_ps <= t_ps; i++) {
        const struct wf_why_line *l = &f->lines[i];
        json_t *j;

        if (l->kind != WF_WHY_PAUSE_RX || strcmp(l->at, port) ||
            (prio < WF_PRIOS ? l->prio != prio : l->queue != queue))
            continue;
        j = wf_why_get(l);
        if (!wf_why_num(j, "quanta"))
            found = NULL;
        else if (!found || until_ps <= l->t_ps) /* not a refresh */
            found = l;
        until_ps = wf_why_num(j, "until_ps");
        json_decref(j);
    }
    return found && until_ps > t_ps ? found : NULL;
}

uint64_t wf_why_over_ps(const struct wf_why_file *f, const struct wf_why_line *l)
{
    for (const struct wf_why_line *x = l + 1; x < f->lines + f->n; x++)
        if (x->kind == (l->kind == WF_WHY_XOFF ? WF_WHY_XON : WF_WHY_PAUSE_RX) &&
            x->prio == l->prio && !strcmp(x->at, l->at)) {
            json_t *j = wf_why_get(x);
            bool ends = l->kind == WF_WHY_XOFF || !wf_why_num(j, "quanta");

            json_decref(j);
            if (ends)
                return x->t_ps;
        }
    return WF_TIME_NEVER;
}
