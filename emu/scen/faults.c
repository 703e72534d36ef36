/* SPDX-License-Identifier: BSD-3-Clause */
/* The `faults:` section: packets that meet with something, by their address. */
#include "fabric/faults.h"

#include "scen/match.h"
#include "scen/scen_priv.h"

enum { FAULTS_MAX = 1000, PLACES_MAX = 100000 };

struct build {
    struct wf_scenario *s;
    struct wf_desc_fault *faults;
    uint32_t n, cap;
};

static void add(struct build *b, const char *port, const struct wf_fault *fault)
{
    if (b->n == b->cap) {
        uint32_t cap = b->cap ? 2 * b->cap : 16;
        struct wf_desc_fault *more = WF_ARENA_ARRAY(&b->s->arena, struct wf_desc_fault, cap);

        if (b->n)
            memcpy(more, b->faults, b->n * sizeof(*more));
        b->faults = more;
        b->cap = cap;
    }
    b->faults[b->n++] = (struct wf_desc_fault){port, *fault};
}

static bool given(void *arg, const char *key)
{
    return wf_yaml_get(arg, key);
}

/* One for each port that `where` means, at its egress or its peer's. */
static void at_ports(struct build *b, const struct wf_fault_cfg *cfg, const struct wf_yaml_node *at,
                     const struct wf_fault *fault)
{
    const struct wf_yaml_node *v = wf_yaml_get(at, "where");
    struct wf_scenario *s = b->s;
    struct wf_err err;
    uint32_t hits = 0;

    if (wf_match_check(cfg->where, &err)) {
        wf_diag_error(&s->diags, v, "%s", err.msg);
        return;
    }
    for (uint32_t i = 0; i < 2 * s->desc.n_links && b->n <= PLACES_MAX; i++)
        if (wf_match(cfg->where, s->ports[i])) {
            add(b, s->ports[cfg->dir == WF_FAULT_IN ? i ^ 1 : i], fault);
            hits++;
        }
    if (!hits)
        wf_diag_unknown(&s->diags, v, cfg->where, s->ports, 2 * s->desc.n_links,
                        "'%s' matches no port", cfg->where);
}

static void read_fault(struct build *b, const struct wf_yaml_node *at)
{
    struct wf_scenario *s = b->s;
    struct wf_fault_cfg *cfg = WF_ARENA_NEW(&s->arena, struct wf_fault_cfg);
    size_t errors = s->diags.errors;
    struct wf_fault fault;
    const char *key;
    struct wf_err err;

    s->faults[s->n_faults++] = cfg;
    wf_keyset_defaults(&wf_fault_keys, cfg);
    wf_fill(&s->fill, &wf_fault_keys, cfg, at, NULL);
    if (at->kind == WF_YAML_MAPPING)
        wf_fill_required(&s->fill, &wf_fault_keys, cfg, at);
    if (s->diags.errors > errors)
        return;
    key = wf_fault_cfg_stray(cfg, given, (void *)(uintptr_t)at);
    if (key)
        wf_diag_error(&s->diags, wf_yaml_get(at, key), "'%s' does not go with %s", key,
                      wf_fault_action_names[cfg->action]);
    if (s->opts.duration_ps != WF_KEY_AUTO && cfg->after_ps > s->opts.duration_ps)
        wf_diag_warn(&s->diags, at, "never happens: the run ends before");
    if (cfg->action >= WF_FAULT_END) {
        wf_diag_error(
            &s->diags, wf_yaml_get(at, "do"),
            cfg->action == WF_FAULT_END
                ? "end is for weft inject; a scenario's fault ends by 'until'"
                : "learn is for weft inject; a scenario's faults learn from the beginning");
        return;
    }
    if (wf_desc_fault(&s->desc, cfg, &fault, &key, &err)) {
        const struct wf_yaml_node *v = wf_yaml_get(at, key);

        wf_diag_error(&s->diags, v ? v : at, "%s", err.msg);
        return;
    }
    fault.event = s->n_faults;
    fault.coming_in = cfg->dir == WF_FAULT_IN;
    at_ports(b, cfg, at, &fault);
}

void wf_scen_faults(struct wf_scenario *s)
{
    const struct wf_yaml_node *list = wf_yaml_get(s->root, "faults");
    struct build b = {.s = s};

    if (!list)
        return;
    if (list->kind != WF_YAML_SEQUENCE) {
        wf_diag_error(&s->diags, list, "faults: expected a list, found %s", wf_yaml_what(list));
        return;
    }
    if (list->n > FAULTS_MAX) {
        wf_diag_error(&s->diags, list, "faults: more than %d", FAULTS_MAX);
        return;
    }
    s->faults = WF_ARENA_ARRAY(&s->arena, struct wf_fault_cfg *, list->n + 1);
    for (size_t i = 0; i < list->n; i++)
        read_fault(&b, &list->items[i]);
    if (b.n > PLACES_MAX)
        wf_diag_error(&s->diags, list, "faults: at more than %d ports in all", PLACES_MAX);
    s->desc.faults = b.faults;
    s->desc.n_faults = b.n;
}
