/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The canonical text of a scenario, and its SHA-256 (see manifest.h): the trees of the file and of
 * its profiles as JSON on one line each, scalars as text, then the hashes of other files that it
 * names. An empty plain value is null, since loaders tell it from "". A key that --set put behind
 * those of the file may stand twice.
 */
#include <sha256.h>
#include <stdlib.h>

#include "base/assert.h"
#include "scen/scen_priv.h"

static void scalar(const struct wf_yaml_node *n, FILE *out)
{
    if (!n->text[0] && !n->quoted) {
        fputs("null", out);
        return;
    }
    fputc('"', out);
    for (const char *c = n->text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            fprintf(out, "\\u%04x", (unsigned)(unsigned char)*c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

static void tree(const struct wf_yaml_node *n, FILE *out)
{
    if (n->kind == WF_YAML_SCALAR) {
        scalar(n, out);
        return;
    }
    fputc(n->kind == WF_YAML_MAPPING ? '{' : '[', out);
    for (size_t i = 0; i < n->n; i++) {
        if (i)
            fputc(',', out);
        if (n->kind == WF_YAML_MAPPING) {
            scalar(wf_yaml_key(n, i), out);
            fputc(':', out);
            tree(wf_yaml_value(n, i), out);
        } else {
            tree(&n->items[i], out);
        }
    }
    fputc(n->kind == WF_YAML_MAPPING ? '}' : ']', out);
}

void wf_scenario_canonical(const struct wf_scenario *s, FILE *out)
{
    if (s->root)
        tree(s->root, out);
    fputc('\n', out);
    for (uint32_t i = 0; i < s->n_profiles; i++) {
        tree(s->profile_roots[i], out);
        fputc('\n', out);
    }
    for (uint32_t i = 0; i < s->n_files; i++) {
        char hash[65];

        SHA256Data(s->files[i].text, s->files[i].len, hash);
        fprintf(out, "file %s sha256 %s\n", s->file_names[i], hash);
    }
}

void wf_scen_hash(struct wf_scenario *s)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);

    WF_ASSERT(f);
    wf_scenario_canonical(s, f);
    WF_ASSERT(!fclose(f));
    SHA256Data((const uint8_t *)text, len, s->sha256);
    free(text);
}
