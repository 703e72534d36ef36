/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that a scenario names besides its profiles: sizes of flows, flows, topologies. A path is
 * seen from the scenario's folder. In a scenario that lies in memory they follow the profiles, in
 * the order in which they are asked for, which is the same each time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scen/scen_priv.h"

static uint32_t count_profiles(const struct wf_scenario *s)
{
    const struct wf_yaml_node *at = wf_yaml_get(s->root, "profile");

    return !at ? 0 : at->kind == WF_YAML_SEQUENCE ? (uint32_t)at->n : 1;
}

static const char *path_of(struct wf_scenario *s, const char *name)
{
    const char *slash = strrchr(s->path, '/');

    if (name[0] == '/' || !slash)
        return name;
    return wf_arena_printf(&s->arena, "%.*s/%s", (int)(slash - s->path), s->path, name);
}

/* Its bytes into the arena; 0 or an errno. */
static int slurp(struct wf_scenario *s, struct wf_scen_text *t)
{
    FILE *f = fopen(t->name, "re");
    char *text = NULL;
    long len = -1;
    int rc = 0;

    if (!f)
        return errno;
    if (!fseek(f, 0, SEEK_END) && (len = ftell(f)) >= 0 && len <= WF_SCEN_FILE_MAX) {
        rewind(f);
        text = wf_arena_alloc(&s->arena, (size_t)len + 1);
        rc = fread(text, 1, (size_t)len, f) == (size_t)len ? 0 : EIO;
    } else {
        rc = len > WF_SCEN_FILE_MAX ? EFBIG : EINVAL;
    }
    fclose(f);
    t->text = text;
    t->len = (size_t)len;
    return rc;
}

const struct wf_scen_text *wf_scen_file(struct wf_scenario *s, const struct wf_yaml_node *at,
                                        const char *name)
{
    struct wf_scen_text *t = &s->files[s->n_files];
    size_t i = 1u + count_profiles(s) + s->n_files;
    int rc = 0;

    for (uint32_t k = 0; k < s->n_files; k++)
        if (!strcmp(s->file_names[k], name))
            return &s->files[k];
    if (s->n_files == WF_SCEN_FILES_MAX) {
        wf_diag_error(&s->diags, at, "more than %d files", WF_SCEN_FILES_MAX);
        return NULL;
    }
    if (s->texts && i >= s->n_texts) {
        wf_diag_error(&s->diags, at, "no file '%s' is there with it", name);
        return NULL;
    }
    if (s->texts) {
        *t = s->texts[i];
    } else {
        t->name = path_of(s, name);
        rc = slurp(s, t);
    }
    if (rc) {
        wf_diag_error(&s->diags, at, "'%s' can't be read: %s", t->name, strerror(rc));
        return NULL;
    }
    s->file_names[s->n_files++] = name;
    return t;
}
