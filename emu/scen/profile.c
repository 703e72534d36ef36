/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The `profile:` key: files with `links:`, `switches:`, `ports:` and `hosts:` sections that are
 * applied before the scenario's own. A name is looked for in profiles/ beside the scenario, then in
 * scenarios/profiles/ of each folder above it, then where weft was installed or built; a word with
 * a '/' is a path from the scenario's folder.
 */
#include <base/weft_build.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "scen/scen_priv.h"

static const char *const known[] = {"weft", "description", "links", "switches", "ports", "hosts"};

static const char *folder_of(struct wf_arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return ".";
    return slash == path ? "/" : wf_arena_printf(a, "%.*s", (int)(slash - path), path);
}

static const char *try(struct wf_arena *a, const char *folder, const char *below, const char *name)
{
    const char *path = wf_arena_printf(a, "%s/%s%s.yaml", folder, below, name);

    return access(path, R_OK) ? NULL : path;
}

/* WEFT_PROFILE_DIRS: folders with ':' between. */
static const char *try_installed(struct wf_arena *a, const char *name)
{
    const char *at = WEFT_PROFILE_DIRS;

    while (*at) {
        size_t n = strcspn(at, ":");
        const char *hit = try(a, wf_arena_printf(a, "%.*s", (int)n, at), "", name);

        if (hit)
            return hit;
        at += n + (at[n] == ':');
    }
    return NULL;
}

static const char *find(struct wf_scenario *s, const char *name)
{
    const char *folder = folder_of(&s->arena, s->path), *hit;

    if (strchr(name, '/'))
        return name[0] == '/' ? name : wf_arena_printf(&s->arena, "%s/%s", folder, name);
    hit = try(&s->arena, folder, "profiles/", name);
    for (int up = 0; !hit && up < 8; up++) {
        hit = try(&s->arena, folder, "scenarios/profiles/", name);
        folder = wf_arena_printf(&s->arena, "%s/..", folder);
    }
    return hit ? hit : try_installed(&s->arena, name);
}

static void check_keys(struct wf_scenario *s, const struct wf_yaml_node *root)
{
    const struct wf_yaml_node *v = wf_yaml_get(root, "weft");
    const size_t n = sizeof(known) / sizeof(known[0]);

    if (!v || v->kind != WF_YAML_SCALAR || strcmp(v->text, "1"))
        wf_diag_error(&s->diags, v ? v : root, "expected weft: 1 in a profile");
    for (size_t i = 0; i < root->n; i++) {
        const struct wf_yaml_node *k = wf_yaml_key(root, i);
        bool ok = false;

        for (size_t j = 0; j < n; j++)
            ok = ok || !strcmp(k->text, known[j]);
        if (!ok)
            wf_diag_unknown(&s->diags, k, k->text, known, n, "unknown key '%s' in a profile",
                            k->text);
    }
}

/* The file, or the text that stands for it. False: it is said why not. */
static bool load(struct wf_scenario *s, const struct wf_yaml_node *at,
                 const struct wf_yaml_node **root)
{
    const struct wf_scen_text *text = s->texts ? &s->texts[s->n_profiles + 1] : NULL;
    const char *path = text ? NULL : find(s, at->text);
    struct wf_err err = {0};
    int rc;

    if (text ? s->n_profiles + 1 >= s->n_texts : !path) {
        wf_diag_error(&s->diags, at,
                      text ? "no profile '%s' is there with it"
                           : "no profile '%s': looked for profiles/%s.yaml beside the scenario, "
                             "and for scenarios/profiles/%s.yaml above it",
                      at->text, at->text, at->text);
        return false;
    }
    rc = text ? wf_yaml_parse(&s->arena, text->name, text->text, text->len, root, &err)
              : wf_yaml_load(&s->arena, path, root, &err);
    if (rc)
        wf_diag_add(&s->diags, false, &err);
    return !rc;
}

static void apply(struct wf_scenario *s, const struct wf_yaml_node *at)
{
    const struct wf_yaml_node *root;

    if (at->kind != WF_YAML_SCALAR || !at->text[0]) {
        wf_diag_error(&s->diags, at, "profile: expected a name, found %s", wf_yaml_what(at));
        return;
    }
    if (s->n_profiles == WF_SCEN_PROFILES_MAX) {
        wf_diag_error(&s->diags, at, "more than %d profiles", WF_SCEN_PROFILES_MAX);
        return;
    }
    if (!load(s, at, &root))
        return;
    if (root->kind != WF_YAML_MAPPING) {
        wf_diag_error(&s->diags, root, "a profile is a mapping, found %s", wf_yaml_what(root));
        return;
    }
    s->profile_roots[s->n_profiles] = root;
    s->profiles[s->n_profiles++] = at->text;
    check_keys(s, root);
    s->fill.profile = at->text;
    wf_scen_nodes(s, root, true);
    s->fill.profile = NULL;
}

void wf_scen_profiles(struct wf_scenario *s)
{
    const struct wf_yaml_node *at = wf_yaml_get(s->root, "profile");

    if (at && at->kind == WF_YAML_SEQUENCE)
        for (size_t i = 0; i < at->n; i++)
            apply(s, &at->items[i]);
    else if (at)
        apply(s, at);
}
