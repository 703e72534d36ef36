/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weft check --explain`: every effective value of a configuration struct and where it comes from.
 * Numbered subs that say the same are folded: "pg.0-2,4-7.lossless = false".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "scen/fill.h"

static size_t one_origin(const struct wf_origin *o, char *buf, size_t len)
{
    int n;

    if (!o->line) /* --set */
        n = snprintf(buf, len, "%s", o->file);
    else if (o->profile)
        n = snprintf(buf, len, "profile %s, %s:%d:%d", o->profile, o->file, o->line, o->col);
    else
        n = snprintf(buf, len, "%s:%d:%d", o->file, o->line, o->col);
    return (size_t)n < len ? (size_t)n : len - 1;
}

/* A map has an origin per element: each place is named once. */
static void origin_text(const struct wf_key *key, const void *base, const struct wf_origins *o,
                        char *buf, size_t len)
{
    const char *at = (const char *)base + key->off;
    size_t n = key->type == WF_KEY_MAP ? key->count : 1, used = 0;
    const struct wf_origin *last = NULL;

    for (size_t i = 0; i < n; i++) {
        const struct wf_origin *x = wf_origins_find(o, at + i);

        if (!x || (last && last->file == x->file && last->line == x->line && last->col == x->col))
            continue;
        if (last && used + 3 < len)
            used += (size_t)sprintf(buf + used, "; ");
        used += one_origin(x, buf + used, len - used);
        last = x;
    }
    if (!last && key->source && key->source[0])
        snprintf(buf, len, "default: %s", key->source);
    else if (!last)
        snprintf(buf, len, "default");
}

static void explain(FILE *out, const struct wf_keyset *set, const void *base,
                    const struct wf_origins *o, const char *prefix);

static char *sub_text(const struct wf_key_sub *s, size_t i, const void *base,
                      const struct wf_origins *o)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);

    WF_ASSERT(f);
    explain(f, s->set, (const char *)base + s->off + i * s->set->size, o, "");
    fclose(f);
    return text;
}

static void print_lines(FILE *out, const char *prefix, const char *lines)
{
    while (*lines) {
        size_t n = strcspn(lines, "\n");

        fprintf(out, "%s%.*s\n", prefix, (int)n, lines);
        lines += n + (lines[n] == '\n');
    }
}

/* "0-2,4" from the indices whose text equals that of index first. */
static void numbers_text(char **texts, size_t n, size_t first, char *buf, size_t len)
{
    size_t used = 0;

    buf[0] = 0;
    for (size_t i = first; i < n; i++) {
        size_t j = i;

        if (strcmp(texts[i], texts[first]))
            continue;
        while (j + 1 < n && !strcmp(texts[j + 1], texts[first]))
            j++;
        if (used < len)
            used += (size_t)snprintf(buf + used, len - used, j > i ? "%s%zu-%zu" : "%s%zu",
                                     used ? "," : "", i, j);
        i = j;
    }
}

static void explain_numbered(FILE *out, const struct wf_key_sub *s, const void *base,
                             const struct wf_origins *o, const char *prefix)
{
    char **texts = calloc(s->count, sizeof(*texts));
    char path[256], nums[96];

    WF_ASSERT(texts);
    for (size_t i = 0; i < s->count; i++)
        texts[i] = sub_text(s, i, base, o);
    for (size_t i = 0; i < s->count; i++) {
        bool seen = false;

        for (size_t j = 0; j < i; j++)
            seen = seen || !strcmp(texts[j], texts[i]);
        if (seen)
            continue;
        numbers_text(texts, s->count, i, nums, sizeof(nums));
        snprintf(path, sizeof(path), "%s%s.%s.", prefix, s->name, nums);
        print_lines(out, path, texts[i]);
    }
    for (size_t i = 0; i < s->count; i++)
        free(texts[i]);
    free(texts);
}

static void explain(FILE *out, const struct wf_keyset *set, const void *base,
                    const struct wf_origins *o, const char *prefix)
{
    char value[1024], from[400], path[256];

    for (size_t i = 0; i < set->n_keys; i++) {
        const struct wf_key *k = &set->keys[i];

        origin_text(k, base, o, from, sizeof(from));
        fprintf(out, "%s%s = %s  # %s\n", prefix, k->name,
                wf_key_text(k, base, value, sizeof(value)), from);
    }
    for (size_t i = 0; i < set->n_subs; i++) {
        const struct wf_key_sub *s = &set->subs[i];

        if (s->count) {
            explain_numbered(out, s, base, o, prefix);
            continue;
        }
        snprintf(path, sizeof(path), "%s%s%s", prefix, s->name ? s->name : "", s->name ? "." : "");
        explain(out, s->set, (const char *)base + s->off, o, path);
    }
}

void wf_fill_explain(FILE *out, const struct wf_keyset *set, const void *base,
                     const struct wf_origins *o, const char *indent)
{
    explain(out, set, base, o, indent);
}
