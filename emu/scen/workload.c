/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The `workload:` section: flows between hosts, singly or by a pattern of traffic. A flow is
 * named NAME, or NAME:h1-h0 when there are several; its counters are "flow.NAME" and so on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "base/units.h"
#include "scen/match.h"
#include "scen/scen_priv.h"

#define ROW(field) offsetof(struct wf_scen_work, field)

static const char *const kind_names[] = {"flow", "incast", "permutation", "all_to_all", NULL};

static const struct wf_key rows[] = {
    {"name", WF_KEY_STRING, ROW(name), NULL,
     .doc = "Its flows are flow.NAME, or flow.NAME:FROM-TO when there are several."},
    {"kind", WF_KEY_ENUM, ROW(kind), "flow", .names = kind_names,
     .doc = "flow: from one host to one. incast: from each host of `from` to the one of `to`. "
            "permutation: each host of `from` to another one of them, drawn from the seed. "
            "all_to_all: each host of `from` to each other one."},
    {"start_jitter", WF_KEY_TIME, ROW(jitter_ps), "0", 0, 3600 * WF_PS_PER_S,
     .doc = "Each flow starts later than `start` by up to this, drawn from the seed."},
};

const struct wf_keyset wf_work_keys = {
    .name = "workload",
    .doc = "A list; each entry has these keys, `from` and `to` (a host, a pattern such as h[1-8], "
           "or a list of them), and the keys of a flow.",
    .keys = rows,
    .n_keys = sizeof(rows) / sizeof(rows[0]),
    .size = sizeof(struct wf_scen_work),
};

static bool known_key(const char *name)
{
    return wf_keyset_find(&wf_work_keys, name) || wf_keyset_find(&wf_flow_keys, name) ||
           !strcmp(name, "from") || !strcmp(name, "to");
}

/* Keys of a flow and of a workload stand side by side: both tables read the same mapping. */
static void read_keys(struct wf_scenario *s, struct wf_scen_work *w, const struct wf_yaml_node *at)
{
    const char *names[64] = {"from", "to"};
    size_t n = 2;

    for (size_t i = 0; i < wf_work_keys.n_keys; i++)
        names[n++] = wf_work_keys.keys[i].name;
    for (size_t i = 0; i < wf_flow_keys.n_keys && n < 64; i++)
        names[n++] = wf_flow_keys.keys[i].name;
    wf_fill_known(&s->fill, &wf_work_keys, w, at);
    wf_fill_known(&s->fill, &wf_flow_keys, &w->cfg, at);
    for (size_t i = 0; i < at->n; i++) {
        const struct wf_yaml_node *k = wf_yaml_key(at, i);

        if (!known_key(k->text))
            wf_diag_unknown(&s->diags, k, k->text, names, n, "unknown key '%s' in workload",
                            k->text);
    }
}

/* A host by its name, or -1; generated names are their numbers. */
static int find_host(const struct wf_scenario *s, const char *name)
{
    uint32_t i = name[0] == 'h' ? (uint32_t)strtoul(name + 1, NULL, 10) : UINT32_MAX;

    if (i < s->desc.n_hosts && !strcmp(s->desc.hosts[i].name, name))
        return (int)i;
    return wf_desc_find_host(&s->desc, name);
}

static void no_host(struct wf_scenario *s, const struct wf_yaml_node *at)
{
    const char **names = WF_ARENA_ARRAY(&s->arena, const char *, s->desc.n_hosts + 1);

    for (uint32_t i = 0; i < s->desc.n_hosts; i++)
        names[i] = s->desc.hosts[i].name;
    wf_diag_unknown(&s->diags, at, at->text, names, s->desc.n_hosts, "'%s' matches no host",
                    at->text);
}

/* Hosts that a pattern means, appended once each. */
static void add_hosts(struct wf_scenario *s, const struct wf_yaml_node *at, uint32_t *out,
                      uint32_t *n, bool *seen)
{
    struct wf_err err = {0};
    uint32_t hits = 0;
    int host;

    if (at->kind != WF_YAML_SCALAR || !at->text[0]) {
        wf_diag_error(&s->diags, at, "expected a host or a pattern such as h[1-8], found %s",
                      wf_yaml_what(at));
        return;
    }
    if (wf_match_check(at->text, &err)) {
        wf_diag_error(&s->diags, at, "%s", err.msg);
        return;
    }
    host = wf_match_is_pattern(at->text) ? -1 : find_host(s, at->text);
    for (uint32_t i = host < 0 ? 0 : (uint32_t)host; i < s->desc.n_hosts; i++) {
        if (!wf_match(at->text, s->desc.hosts[i].name))
            continue;
        hits++;
        if (!seen[i])
            out[(*n)++] = i;
        seen[i] = true;
        if (host >= 0)
            break;
    }
    if (!hits)
        no_host(s, at);
}

static void read_hosts(struct wf_scenario *s, const struct wf_yaml_node *map, const char *key,
                       uint32_t **out, uint32_t *n)
{
    const struct wf_yaml_node *at = wf_yaml_get(map, key);
    bool *seen = WF_ARENA_ARRAY(&s->arena, bool, s->desc.n_hosts + 1);

    *out = WF_ARENA_ARRAY(&s->arena, uint32_t, s->desc.n_hosts + 1);
    *n = 0;
    if (at && at->kind == WF_YAML_SEQUENCE)
        for (size_t i = 0; i < at->n; i++)
            add_hosts(s, &at->items[i], *out, n, seen);
    else if (at)
        add_hosts(s, at, *out, n, seen);
}

static bool check_ends(struct wf_scenario *s, const struct wf_scen_work *w)
{
    const struct wf_yaml_node *from = wf_yaml_get(w->at, "from"), *to = wf_yaml_get(w->at, "to");
    bool needs_to = w->kind == WF_WORK_FLOW || w->kind == WF_WORK_INCAST;
    const char *kind = kind_names[w->kind];

    if (!from)
        wf_diag_error(&s->diags, w->at, "'from' is missing in workload");
    if (!to && needs_to)
        wf_diag_error(&s->diags, w->at, "'to' is missing in workload");
    if (to && !needs_to)
        wf_diag_error(&s->diags, to, "'to' does not go with %s, which is among the hosts of `from`",
                      kind);
    if (!w->n_from || (needs_to && !w->n_to) || (to && !needs_to))
        return false;
    if (w->kind == WF_WORK_FLOW && w->n_from > 1)
        wf_diag_error(&s->diags, from, "a flow comes from one host, '%s' matches %u", from->text,
                      w->n_from);
    else if (needs_to && w->n_to > 1)
        wf_diag_error(&s->diags, to, "%s goes to one host, this matches %u", kind, w->n_to);
    else if (w->kind == WF_WORK_FLOW && w->from[0] == w->to[0])
        wf_diag_error(&s->diags, to, "a flow from '%s' to itself", s->desc.hosts[w->to[0]].name);
    else if (!needs_to && w->n_from < 2)
        wf_diag_error(&s->diags, from, "%s needs at least two hosts", kind);
    else
        return true;
    return false;
}

static uint64_t count_flows(const struct wf_scen_work *w)
{
    uint64_t n = w->n_from;

    switch (w->kind) {
    case WF_WORK_FLOW:
        return 1;
    case WF_WORK_INCAST:
        for (uint32_t i = 0; i < w->n_from; i++)
            n -= w->from[i] == w->to[0];
        return n;
    case WF_WORK_ALL_TO_ALL:
        return n * (n - 1);
    default:
        return n;
    }
}

static void add_flow(struct wf_scenario *s, const struct wf_scen_work *w, uint32_t from,
                     uint32_t to)
{
    struct wf_desc_flow *f = &s->desc.flows[s->desc.n_flows++];

    f->from = from;
    f->to = to;
    f->cfg = w->cfg;
    f->cfg.control = w->control;
    if (!w->cfg.cc)
        f->cfg.control =
            wf_scen_cc(s, s->desc.hosts[from].cfg.nic.cc, &s->desc.hosts[from].cfg.nic.cc, w->at);
    f->name = w->n_flows == 1 ? w->name
                              : wf_arena_printf(&s->arena, "%s:%s-%s", w->name,
                                                s->desc.hosts[from].name, s->desc.hosts[to].name);
}

/* Sattolo's algorithm: one cycle, so nobody sends to itself. */
static void draw(struct wf_scenario *s, const struct wf_scen_work *w, uint32_t *to)
{
    struct wf_prng p;
    char name[64];

    snprintf(name, sizeof(name), "workload.%s", w->name);
    wf_prng_init(&p, s->desc.seed, name);
    memcpy(to, w->from, w->n_from * sizeof(*to));
    for (uint32_t i = w->n_from - 1; i > 0; i--) {
        uint32_t j = (uint32_t)wf_prng_below(&p, i), t = to[i];

        to[i] = to[j];
        to[j] = t;
    }
}

/* One stream a workload: starts of the others stay when one is changed. */
static void jitter(struct wf_scenario *s, const struct wf_scen_work *w)
{
    struct wf_prng p;
    char name[64];

    snprintf(name, sizeof(name), "workload.%s.start", w->name);
    wf_prng_init(&p, s->desc.seed, name);
    for (uint32_t i = w->first_flow; i < s->desc.n_flows && w->jitter_ps; i++)
        s->desc.flows[i].cfg.start_ps += wf_prng_below(&p, w->jitter_ps + 1);
}

static void expand(struct wf_scenario *s, struct wf_scen_work *w)
{
    uint32_t *to = w->to;

    w->first_flow = s->desc.n_flows;
    if (w->kind == WF_WORK_PERMUTATION)
        draw(s, w, to);
    for (uint32_t i = 0; i < w->n_from; i++) {
        if (w->kind == WF_WORK_ALL_TO_ALL)
            for (uint32_t j = 0; j < w->n_from; j++) {
                if (j != i)
                    add_flow(s, w, w->from[i], w->from[j]);
            }
        else if (w->kind == WF_WORK_PERMUTATION)
            add_flow(s, w, w->from[i], to[i]);
        else if (w->from[i] != w->to[0])
            add_flow(s, w, w->from[i], w->to[0]);
    }
    jitter(s, w);
}

void wf_scen_draw(struct wf_scenario *s)
{
    s->desc.n_flows = 0;
    for (uint32_t i = 0; i < s->n_work; i++)
        if (s->work[i].n_flows)
            expand(s, &s->work[i]);
}

static void check_work(struct wf_scenario *s, const struct wf_scen_work *w)
{
    const char *wrong = wf_flow_cfg_wrong(&w->cfg);
    uint32_t mtu = w->cfg.path_mtu;

    if (wrong)
        wf_scen_complain(s, false, &w->cfg.service, w->at, "%s", wrong);

    if (mtu & (mtu - 1))
        wf_scen_complain(s, false, &w->cfg.path_mtu, w->at,
                         "path_mtu: '%u' is not 256, 512, 1024, 2048 or 4096", mtu);
    if (w->name && !wf_scen_name_ok(w->name))
        wf_scen_complain(s, false, &w->name, w->at,
                         "'%s' is no name: letters, digits and '_', no digit first, at most 32",
                         w->name);
    for (const struct wf_scen_work *o = s->work; w->name && o < w; o++)
        if (o->name && !strcmp(o->name, w->name))
            wf_scen_complain(s, false, &w->name, w->at, "the name '%s' stands twice", w->name);
}

static void read_work(struct wf_scenario *s, const struct wf_yaml_node *at)
{
    struct wf_scen_work *w = &s->work[s->n_work];

    if (at->kind != WF_YAML_MAPPING) {
        wf_diag_error(&s->diags, at, "workload: expected a mapping, found %s", wf_yaml_what(at));
        return;
    }
    w->at = at;
    wf_keyset_defaults(&wf_work_keys, w);
    wf_keyset_defaults(&wf_flow_keys, &w->cfg);
    read_keys(s, w, at);
    wf_fill_required(&s->fill, &wf_work_keys, w, at);
    read_hosts(s, at, "from", &w->from, &w->n_from);
    read_hosts(s, at, "to", &w->to, &w->n_to);
    check_work(s, w);
    w->control = wf_scen_cc(s, w->cfg.cc, &w->cfg.cc, at);
    s->n_work++;
    if (check_ends(s, w) && w->name)
        w->n_flows =
            count_flows(w) <= WF_SCEN_FLOWS_MAX ? (uint32_t)count_flows(w) : WF_SCEN_FLOWS_MAX + 1;
}

void wf_scen_workload(struct wf_scenario *s)
{
    const struct wf_yaml_node *list = wf_yaml_get(s->root, "workload");
    uint64_t total = 0;

    if (!list)
        return;
    if (list->kind != WF_YAML_SEQUENCE) {
        wf_diag_error(&s->diags, list, "workload: expected a list, found %s", wf_yaml_what(list));
        return;
    }
    s->work = WF_ARENA_ARRAY(&s->arena, struct wf_scen_work, list->n + 1);
    for (size_t i = 0; i < list->n; i++)
        read_work(s, &list->items[i]);
    for (uint32_t i = 0; i < s->n_work; i++)
        total += s->work[i].n_flows;
    if (total > WF_SCEN_FLOWS_MAX) {
        wf_diag_error(&s->diags, list, "more than %d flows", WF_SCEN_FLOWS_MAX);
        s->n_work = 0;
        return;
    }
    s->desc.flows = WF_ARENA_ARRAY(&s->arena, struct wf_desc_flow, total + 1);
    wf_scen_draw(s);
}
