/* SPDX-License-Identifier: BSD-3-Clause */
/* The `why:` section: which decisions are recorded, and to which file. */
#include "scen/why.h"

#include <errno.h>
#include <stdlib.h>

#include "host/host.h"
#include "scen/match.h"
#include "scen/scen_priv.h"

static bool hits(const struct wf_names *patterns, const char *name)
{
    for (uint32_t i = 0; i < patterns->n; i++)
        if (wf_match(patterns->v[i], name))
            return true;
    return !patterns->n;
}

/* A pattern of the list that matches none of the names is an error. */
static void check(struct wf_scenario *s, const struct wf_yaml_node *list,
                  const struct wf_names *patterns, const char *const *names, size_t n,
                  const char *what)
{
    for (uint32_t i = 0; i < patterns->n; i++) {
        const struct wf_yaml_node *at =
            list && list->kind == WF_YAML_SEQUENCE ? &list->items[i] : list;
        struct wf_err err;
        bool hit = false;

        if (wf_match_check(patterns->v[i], &err)) {
            wf_diag_error(&s->diags, at, "%s", err.msg);
            continue;
        }
        for (size_t k = 0; k < n && !hit; k++)
            hit = wf_match(patterns->v[i], names[k]);
        if (!hit)
            wf_diag_unknown(&s->diags, at, patterns->v[i], names, n, "'%s' matches no %s",
                            patterns->v[i], what);
    }
}

static const char **flow_names(const struct wf_desc *d, struct wf_arena *arena)
{
    const char **names = WF_ARENA_ARRAY(arena, const char *, d->n_flows + 1);

    for (uint32_t i = 0; i < d->n_flows; i++)
        names[i] = wf_arena_printf(arena, "flow.%s", d->flows[i].name);
    return names;
}

void wf_scen_why(struct wf_scenario *s)
{
    const struct wf_yaml_node *at = wf_yaml_get(s->root, "why");

    if (!at)
        return;
    s->why = WF_ARENA_NEW(&s->arena, struct wf_why_cfg);
    wf_keyset_defaults(&wf_why_keys, s->why);
    wf_fill(&s->fill, &wf_why_keys, s->why, at, NULL);
    if (at->kind != WF_YAML_MAPPING)
        return;
    check(s, wf_yaml_get(at, "at"), &s->why->at, s->ports, 2 * s->desc.n_links, "port");
    check(s, wf_yaml_get(at, "flows"), &s->why->flows, flow_names(&s->desc, &s->arena),
          s->desc.n_flows, "flow");
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void add_flows(const struct wf_scenario *s, const struct wf_why_cfg *cfg,
                      struct wf_arena *arena, struct wf_why_log_conf *conf)
{
    const struct wf_desc *d = &s->desc;
    const char **names = flow_names(d, arena);
    struct wf_why_flow *flows = WF_ARENA_ARRAY(arena, struct wf_why_flow, d->n_flows + 1);
    uint32_t *hashes = WF_ARENA_ARRAY(arena, uint32_t, d->n_flows + 1), n = 0;

    for (uint32_t i = 0; i < d->n_flows; i++) {
        const struct wf_desc_flow *w = &d->flows[i];
        struct wf_why_flow flow = {names[i], d->hosts[w->from].name, d->hosts[w->to].name, 0, 0, 0};

        if (!wf_host_flow_ids(conf->f->flows[i], &flow.hash, &flow.dqpn, &flow.first_psn))
            continue;
        flows[conf->n_flows++] = flow;
        if (hits(&cfg->flows, flow.name))
            hashes[n++] = flow.hash;
    }
    conf->flows = flows;
    if (!cfg->flows.n)
        return;
    qsort(hashes, n, sizeof(*hashes), by_number);
    conf->hashes = hashes;
    conf->n_hashes = n;
}

int wf_scenario_why(const struct wf_scenario *s, struct wf_arena *arena,
                    struct wf_why_log_conf *conf, struct wf_why_log **out, struct wf_err *err)
{
    struct wf_fabric *f = conf->f;
    uint8_t *ports = WF_ARENA_ARRAY(arena, uint8_t, f->next_entity / 8 + 1);
    struct wf_why_cfg all = {.last = 0};
    const struct wf_why_cfg *cfg = s->why;

    if (!cfg) {
        wf_keyset_defaults(&wf_why_keys, &all);
        cfg = &all;
    }
    for (uint32_t n = 0; n < f->n_nodes; n++)
        for (uint16_t p = 0; p < f->nodes[n]->n_ports; p++) {
            const struct wf_port *port = &f->nodes[n]->ports[p];

            if (hits(&cfg->at, port->name))
                ports[port->entity / 8] |= (uint8_t)(1u << port->entity % 8);
        }
    conf->ports = ports;
    conf->scenario = s->opts.name;
    conf->last = cfg->last;
    add_flows(s, cfg, arena, conf);
    return wf_why_log_new(out, conf, err);
}
