/* SPDX-License-Identifier: BSD-3-Clause */
/* What an import has to say: each thing once, with the place where it was met first. */
#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "scen/import_priv.h"

enum { TEXT_MAX = 80, NOTES_MAX = 1000 };

const char *wf_import_clean(struct wf_arena *a, const char *s)
{
    char buf[TEXT_MAX + 1];
    size_t i;

    /* line breaks of YAML are not only those of ASCII */
    for (i = 0; s[i] && i < TEXT_MAX; i++)
        buf[i] = isprint((unsigned char)s[i]) && (unsigned char)s[i] < 0x7f ? s[i] : '?';
    buf[i] = 0;
    if (s[i])
        memcpy(buf + TEXT_MAX - 3, "...", 3);
    return wf_arena_strdup(a, buf);
}

static const char *step(struct wf_arena *a, const char *s)
{
    size_t plain = 0;

    if (!s)
        return "";
    while (isalnum((unsigned char)s[plain]) || s[plain] == '_')
        plain++;
    if (plain && !s[plain] && plain < TEXT_MAX)
        return wf_arena_printf(a, ".%s", s);
    return wf_arena_printf(a, "[\"%s\"]", wf_import_clean(a, s));
}

static const char *path(struct wf_arena *a, struct wf_import_at at)
{
    return wf_arena_printf(a, "$%s%s%s", step(a, at.table), step(a, at.key), step(a, at.field));
}

/* The same words of the same table and field are one note. */
static char *identity(struct wf_importing *in, enum wf_import_kind kind, struct wf_import_at at,
                      const char *text)
{
    struct wf_arena *a = &in->im->arena;

    return wf_arena_printf(a, "%d %s %s %s", (int)kind, step(a, at.table), step(a, at.field), text);
}

static struct wf_import_note *another(struct wf_import *im)
{
    if (im->n_notes == im->cap) {
        size_t cap = im->cap ? 2 * im->cap : 64;
        struct wf_import_note *more = WF_ARENA_ARRAY(&im->arena, struct wf_import_note, cap);

        if (im->n_notes)
            memcpy(more, im->notes, im->n_notes * sizeof(*more));
        im->notes = more;
        im->cap = cap;
    }
    return &im->notes[im->n_notes++];
}

void wf_import_note(struct wf_importing *in, enum wf_import_kind kind, struct wf_import_at at,
                    const char *fmt, ...)
{
    struct wf_import *im = in->im;
    char text[512];
    const char *id, *place;
    json_t *had;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    id = identity(in, kind, at, text);
    had = json_object_get(im->seen, id);
    place = wf_arena_printf(&im->arena, "%s @ %s", id, path(&im->arena, at));
    if (json_object_get(im->seen, place))
        return;
    json_object_set_new(im->seen, place, json_true());
    if (had) {
        im->notes[json_integer_value(had)].n++;
        return;
    }
    im->errors += kind == WF_IMPORT_ERROR;
    if (kind == WF_IMPORT_ERROR && im->errors > NOTES_MAX)
        return;
    json_object_set_new(im->seen, id, json_integer((json_int_t)im->n_notes));
    *another(im) =
        (struct wf_import_note){kind, path(&im->arena, at), wf_arena_strdup(&im->arena, text), 1};
}

static void print(const struct wf_import_note *n, const char *before, FILE *to)
{
    static const char *const kinds[] = {"error", "differs", "ignored"};

    fprintf(to, "%s%s: %s", before, kinds[n->kind], n->where);
    if (n->n > 1)
        fprintf(to, " (and %u more)", n->n - 1);
    fprintf(to, "%s%s\n", n->text[0] ? ": " : "", n->text);
}

void wf_import_print_notes(const struct wf_import *im, const char *before, FILE *to)
{
    for (int kind = WF_IMPORT_ERROR; kind <= WF_IMPORT_IGNORED; kind++)
        for (size_t i = 0; i < im->n_notes; i++)
            if ((int)im->notes[i].kind == kind)
                print(&im->notes[i], before, to);
    if (im->errors > NOTES_MAX)
        fprintf(to, "%serror: more than %d errors\n", before, NOTES_MAX);
}
