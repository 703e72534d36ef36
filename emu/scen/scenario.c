/* SPDX-License-Identifier: BSD-3-Clause */
/* Loading a scenario: the frame, the options of the run, and the order of everything else. */
#include "scen/scenario.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/units.h"
#include "scen/scen_priv.h"

#define ROW(field)    offsetof(struct wf_scen_opts, field)
#define REPEAT(field) offsetof(struct wf_scen_repeat, field)
#define COUNT(a)      (sizeof(a) / sizeof((a)[0]))

static const char *const clock_names[] = {"catch_up", "slip", NULL};
static const char *const lossless_names[] = {"strict", "best_effort", NULL};

static const struct wf_key repeat_rows[] = {
    {"seeds", WF_KEY_UINT, REPEAT(seeds), "1", 1, 10000,
     .doc =
         "Run this many times, with seed, seed + 1 and so on; expectations are judged over all."},
};

static const struct wf_keyset repeat_keys = {
    .name = "repeat",
    .doc = "The scenario over several seeds.",
    .keys = repeat_rows,
    .n_keys = COUNT(repeat_rows),
    .size = sizeof(struct wf_scen_repeat),
};

static const struct wf_key rows[] = {
    {"name", WF_KEY_STRING, ROW(name), "", .doc = "Name of the scenario; default: the file's."},
    {"description", WF_KEY_STRING, ROW(description), "",
     .doc = "The one question that it asks, and what is expected."},
    {"seed", WF_KEY_UINT64, ROW(seed), "1", .doc = "Everything random is drawn from it."},
    {"duration", WF_KEY_TIME, ROW(duration_ps), "auto", .may_auto = true,
     .doc = "End of the run in fabric time; auto: when all of the workload is complete."},
    {"time_limit", WF_KEY_TIME, ROW(time_limit_ps), "10s",
     .doc = "A run without duration that is not complete by then has failed."},
    {"time_scale", WF_KEY_UINT, ROW(time_scale), "1", 1, 1000000,
     .doc = "The fabric runs this many times slower than the scenario says; for live runs."},
    {"lateness_bound", WF_KEY_TIME, ROW(lateness_bound_ps), "1ms",
     .doc = "Live: when the p99 lateness exceeds it, timing expectations count as skipped."},
    {"clock", WF_KEY_ENUM, ROW(clock), "catch_up", .names = clock_names,
     .doc = "Live, after the machine was away: jump to wall time in bounded steps, or stretch."},
    {"lossless", WF_KEY_ENUM, ROW(lossless), "strict", .names = lossless_names,
     .doc = "best_effort: what makes a lossless class lossy is a warning and no error."},
    {"sample", WF_KEY_TIME, ROW(sample_ps), "auto", 1000, 0, .may_auto = true,
     .doc = "Time between two evaluations of always and never; auto: a thousandth of the "
            "duration, at least 1us."},
};

static const struct wf_key_sub subs[] = {
    {"repeat", &repeat_keys, ROW(repeat), 0, "Several seeds."},
};

const struct wf_keyset wf_scen_keys = {
    .name = "scenario",
    .doc = "Options of the run, at the top level of the file.",
    .keys = rows,
    .n_keys = COUNT(rows),
    .subs = subs,
    .n_subs = COUNT(subs),
    .size = sizeof(struct wf_scen_opts),
};

/* Sections that are no options. */
static const char *const sections[] = {
    "weft",   "topology", "profile", "links", "switches", "ports", "hosts", "workload", "timeline",
    "faults", "capture",  "trace",   "why",   "expect",   "lab",   "cc",    NULL};

bool wf_scen_name_ok(const char *name)
{
    size_t n = 0;

    for (; name[n]; n++)
        if (!isalnum((unsigned char)name[n]) && name[n] != '_')
            return false;
    return n > 0 && n <= 32 && !isdigit((unsigned char)name[0]);
}

void wf_scen_complain(struct wf_scenario *s, bool warning, const void *field,
                      const struct wf_yaml_node *at, const char *fmt, ...)
{
    const struct wf_origin *o = field ? wf_origins_find(&s->origins, field) : NULL;
    struct wf_err err = {0};
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(err.msg, sizeof(err.msg), fmt, ap);
    va_end(ap);
    if (o)
        wf_err_place(&err, o->file, o->line, o->col);
    else if (at)
        wf_err_place(&err, at->file, at->line, at->col);
    else
        wf_err_place(&err, s->path, 0, 0);
    wf_diag_add(&s->diags, warning, &err);
}

static bool check_version(struct wf_scenario *s)
{
    const struct wf_yaml_node *root = s->root, *v;

    if (root->kind != WF_YAML_MAPPING) {
        wf_diag_error(&s->diags, root,
                      "a scenario is a mapping that begins with 'weft: 1', found %s",
                      wf_yaml_what(root));
        return false;
    }
    v = wf_yaml_get(root, "weft");
    if (!v) {
        wf_diag_error(&s->diags, root, "no 'weft: 1', with which a scenario begins");
        return false;
    }
    if (v->kind != WF_YAML_SCALAR || strcmp(v->text, "1")) {
        wf_diag_error(&s->diags, v, "version '%s' of the format is unknown, expected weft: 1",
                      v->kind == WF_YAML_SCALAR ? v->text : wf_yaml_what(v));
        return false;
    }
    return true;
}

static const char *base_name(struct wf_arena *a, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');

    return wf_arena_printf(a, "%.*s", dot && dot > base ? (int)(dot - base) : (int)strlen(base),
                           base);
}

static void load_options(struct wf_scenario *s)
{
    struct wf_scen_opts *o = &s->opts;
    struct wf_desc *d = &s->desc;

    wf_keyset_defaults(&wf_scen_keys, o);
    wf_fill(&s->fill, &wf_scen_keys, o, s->root, sections);
    if (!o->name || !o->name[0])
        o->name = base_name(&s->arena, s->path);
    d->name = o->name;
    d->seed = o->seed;
    d->duration_ps = o->duration_ps;
    d->time_limit_ps = o->time_limit_ps;
    d->time_scale = o->time_scale;
    d->lateness_bound_ps = o->lateness_bound_ps;
    d->clock_slip = o->clock == WF_SCEN_SLIP;
    d->best_effort = o->lossless == WF_SCEN_BEST_EFFORT;
}

static void load_expectations(struct wf_scenario *s)
{
    const struct wf_yaml_node *list = wf_yaml_get(s->root, "expect");
    struct wf_ctr_walk objs;

    s->expects.arena = &s->arena;
    s->expects.interval_ps = wf_scenario_sample_ps(s);
    if (!list)
        return;
    wf_expects_parse(&s->expects, list, &s->diags);
    for (size_t i = 0; i < s->expects.n && s->opts.repeat.seeds == 1; i++) {
        const struct wf_expect *e = &s->expects.items[i];
        struct wf_err err = {.line = 0};

        if (!e->over_runs)
            continue;
        wf_err_at(&err, EINVAL, e->file, e->line, e->col,
                  "over_runs without several runs, expected such as repeat: {seeds: 20}");
        wf_diag_add(&s->diags, false, &err);
    }
    if (!s->desc.n_links)
        return;
    objs = wf_scenario_ctrs(s, (unsigned)WF_CTR_ALL_TABLES);
    wf_expects_bind(&s->expects, &objs, &s->diags);
}

static int load_tree(struct wf_scenario *s)
{
    if (!check_version(s))
        return -EINVAL;
    load_options(s);
    wf_scen_topology(s);
    if (s->desc.n_links) {
        wf_scen_profiles(s);
        wf_scen_nodes(s, s->root, false);
        wf_scen_ports(s);
        wf_scen_cables(s);
        wf_scen_nics(s);
        wf_scen_counting(s);
        wf_desc_address(&s->desc, &s->arena);
        wf_scen_ccs(s);
        wf_scen_nic_ccs(s);
        wf_scen_workload(s);
        wf_scen_timeline(s);
        wf_scen_faults(s);
        wf_scen_captures(s);
        wf_scen_traces(s);
        wf_scen_why(s);
        wf_scen_check(s);
    }
    load_expectations(s);
    wf_scen_hash(s);
    return s->diags.errors ? -EINVAL : 0;
}

static void begin(struct wf_scenario *s, const char *path)
{
    memset(s, 0, sizeof(*s));
    s->diags.arena = &s->arena;
    wf_scen_objs(s);
    s->path = wf_arena_strdup(&s->arena, path);
    s->fill = (struct wf_fill){.diags = &s->diags, .origins = &s->origins};
}

int wf_scenario_load_set(struct wf_scenario *s, const char *path, const char *const *sets,
                         size_t n_sets)
{
    struct wf_err err = {0};

    begin(s, !strcmp(path, "-") ? "stdin" : path);
    if (wf_yaml_load(&s->arena, path, &s->root, &err)) {
        wf_diag_add(&s->diags, false, &err);
        return -EINVAL;
    }
    if (n_sets && wf_scen_sets(s, sets, n_sets))
        return -EINVAL;
    return load_tree(s);
}

int wf_scenario_load(struct wf_scenario *s, const char *path)
{
    return wf_scenario_load_set(s, path, NULL, 0);
}

int wf_scenario_load_texts(struct wf_scenario *s, const struct wf_scen_text *texts, size_t n_texts,
                           const char *const *sets, size_t n_sets)
{
    struct wf_err err = {0};
    int rc;

    begin(s, texts[0].name);
    if (wf_yaml_parse(&s->arena, texts[0].name, texts[0].text, texts[0].len, &s->root, &err)) {
        wf_diag_add(&s->diags, false, &err);
        return -EINVAL;
    }
    s->texts = texts;
    s->n_texts = n_texts;
    rc = n_sets && wf_scen_sets(s, sets, n_sets) ? -EINVAL : load_tree(s);
    s->texts = NULL;
    return rc;
}

int wf_scenario_parse(struct wf_scenario *s, const char *name, const void *text, size_t len)
{
    struct wf_err err = {0};

    begin(s, name);
    if (!wf_yaml_parse(&s->arena, name, text, len, &s->root, &err))
        return load_tree(s);
    wf_diag_add(&s->diags, false, &err);
    return -EINVAL;
}

void wf_scenario_free(struct wf_scenario *s)
{
    wf_origins_free(&s->origins);
    wf_arena_free(&s->arena);
}

void wf_scenario_seed(struct wf_scenario *s, uint64_t seed)
{
    s->desc.seed = seed;
    if (wf_scen_drawn(s))
        wf_scen_draw(s);
}

uint64_t wf_scenario_sample_ps(const struct wf_scenario *s)
{
    uint64_t end = s->opts.duration_ps;

    if (s->opts.sample_ps != WF_KEY_AUTO)
        return s->opts.sample_ps;
    if (end == WF_KEY_AUTO)
        return 10 * WF_PS_PER_US;
    return end / 1000 > WF_PS_PER_US ? end / 1000 : WF_PS_PER_US;
}

const struct wf_yaml_node *wf_scenario_section(const struct wf_scenario *s, const char *name)
{
    return wf_yaml_get(s->root, name);
}

const void *wf_scenario_extra(struct wf_scenario *s, const struct wf_keyset *set)
{
    const struct wf_yaml_node *at = wf_scenario_section(s, set->name);
    void *cfg = wf_arena_alloc(&s->arena, set->size);

    WF_ASSERT(s->n_extras < WF_SCEN_EXTRAS_MAX);
    wf_keyset_defaults(set, cfg);
    if (at)
        wf_fill(&s->fill, set, cfg, at, NULL);
    s->extra_keys[s->n_extras] = set;
    s->extras[s->n_extras++] = cfg;
    return cfg;
}
