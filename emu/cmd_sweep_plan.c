/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From --set KEY=A,B,C and --seeds N to a list of runs: the cross product. Every setting is loaded
 * once before anything runs, so that a mistake ends the sweep at its beginning.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "cmd_sweep.h"
#include "scen/scenario.h"

/* Where a value ends: at a comma outside of brackets and quotes. */
static size_t value_len(const char *text)
{
    int depth = 0;
    char quote = 0;
    size_t i = 0;

    for (; text[i] && (text[i] != ',' || depth > 0 || quote); i++) {
        if (quote)
            quote = text[i] == quote ? 0 : quote;
        else if (text[i] == '"' || text[i] == '\'')
            quote = text[i];
        else
            depth += (strchr("[{", text[i]) != NULL) - (strchr("]}", text[i]) != NULL);
    }
    return i;
}

static int check_axis(const struct wf_sweep *s, const struct wf_axis *a, struct wf_err *err)
{
    if (!strcmp(a->key, "seed") || !strcmp(a->key, "repeat.seeds"))
        return wf_err_set(err, EINVAL, "--set %s: seeds are given by --seeds N and --seed FIRST",
                          a->key);
    for (size_t i = 0; i < s->n_axes; i++)
        if (!strcmp(s->axes[i].key, a->key))
            return wf_err_set(err, EINVAL, "--set %s is given twice, expected %s=A,B,C", a->key,
                              a->key);
    for (size_t i = 0; i < a->n; i++) {
        if (!a->values[i][0])
            return wf_err_set(err, EINVAL, "--set %s: an empty value", a->key);
        for (size_t k = 0; k < i; k++)
            if (!strcmp(a->values[i], a->values[k]))
                return wf_err_set(err, EINVAL, "--set %s: the value %s stands twice", a->key,
                                  a->values[i]);
    }
    return 0;
}

int wf_sweep_axis(struct wf_sweep *s, const char *text, struct wf_err *err)
{
    struct wf_axis *a = &s->axes[s->n_axes];
    const char *eq = strchr(text, '='), *at = eq + 1;
    int rc;

    if (!eq || eq == text)
        return wf_err_set(err, EINVAL, "--set '%s': expected KEY=A,B,C", text);
    if (s->n_axes == WF_SWEEP_AXES_MAX)
        return wf_err_set(err, EINVAL, "--set is given more than %d times", WF_SWEEP_AXES_MAX);
    a->key = wf_arena_printf(&s->arena, "%.*s", (int)(eq - text), text);
    a->values = WF_ARENA_ARRAY(&s->arena, const char *, strlen(text) + 1);
    for (a->n = 0;; at++) {
        size_t n = value_len(at);

        a->values[a->n++] = wf_arena_printf(&s->arena, "%.*s", (int)n, at);
        at += n;
        if (!*at)
            break;
    }
    rc = check_axis(s, a, err);
    s->n_axes += !rc;
    return rc;
}

const char *wf_sweep_value(const struct wf_sweep *s, size_t setting, size_t axis)
{
    for (size_t i = s->n_axes - 1; i > axis; i--)
        setting /= s->axes[i].n;
    return s->axes[axis].values[setting % s->axes[axis].n];
}

/* Load the scenario as the runs of this setting will, for its hash and its mistakes. */
static int load(struct wf_sweep *s, size_t setting, struct wf_err *err)
{
    const char *sets[WF_SWEEP_AXES_MAX];
    struct wf_scenario scen;
    int rc;

    for (size_t i = 0; i < s->n_axes; i++)
        sets[i] =
            wf_arena_printf(&s->arena, "%s=%s", s->axes[i].key, wf_sweep_value(s, setting, i));
    rc = wf_scenario_load_set(&scen, s->path, sets, s->n_axes);
    if (!rc)
        rc = wf_scenario_check_mode(&scen, false);
    if (rc || !setting)
        wf_diags_print(&scen.diags, stderr);
    if (!rc && scen.opts.repeat.seeds > 1)
        rc = wf_err_set(err, EINVAL, "%s has repeat: {seeds: %u}: a sweep has --seeds instead",
                        s->path, scen.opts.repeat.seeds);
    else if (rc)
        wf_err_set(err, EINVAL, "%s is not in order%s%s", s->given, s->n_axes ? " with " : "",
                   s->n_axes ? sets[s->n_axes - 1] : "");
    memcpy(s->sha256[setting], scen.sha256, sizeof(scen.sha256));
    if (!rc && !setting) {
        s->name = wf_arena_strdup(&s->arena, scen.opts.name);
        s->first_seed = s->seeded ? s->first_seed : scen.opts.seed;
    }
    wf_scenario_free(&scen);
    return rc ? -EINVAL : 0;
}

int wf_sweep_plan(struct wf_sweep *s, struct wf_err *err)
{
    size_t n = s->seeds;

    for (size_t i = 0; i < s->n_axes && n <= WF_SWEEP_RUNS_MAX; i++)
        n *= s->axes[i].n;
    if (n > WF_SWEEP_RUNS_MAX)
        return wf_err_set(err, EINVAL, "more than %d runs", WF_SWEEP_RUNS_MAX);
    s->n_runs = n;
    s->n_settings = n / s->seeds;
    s->sha256 = wf_arena_alloc(&s->arena, s->n_settings * sizeof(*s->sha256));
    s->runs = WF_ARENA_ARRAY(&s->arena, struct wf_sweep_run, n);
    for (size_t i = 0; i < s->n_settings; i++) {
        int rc = load(s, i, err);

        if (rc)
            return rc;
    }
    for (size_t i = 0; i < n; i++) {
        struct wf_sweep_run *r = &s->runs[i];

        r->setting = i / s->seeds;
        r->seed = s->first_seed + i % s->seeds;
        snprintf(r->id, sizeof(r->id), "%.16s-%llu", s->sha256[r->setting],
                 (unsigned long long)r->seed);
    }
    return 0;
}
