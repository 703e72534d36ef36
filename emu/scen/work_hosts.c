/* SPDX-License-Identifier: BSD-3-Clause */
/* The hosts of a workload: `from` and `to`, by name, pattern or list, and whether a kind takes
 * them. */
#include <stdlib.h>
#include <string.h>

#include "scen/match.h"
#include "scen/scen_priv.h"

/* A host by its name, or -1; generated names are their numbers. */
int wf_scen_find_host(const struct wf_scenario *s, const char *name)
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
    host = wf_match_is_pattern(at->text) ? -1 : wf_scen_find_host(s, at->text);
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

static bool takes_to(int kind)
{
    return kind == WF_WORK_FLOW || kind == WF_WORK_INCAST || kind == WF_WORK_POISSON;
}

/* `to` of a poisson may be left out: then it is `from`. */
static bool needs_to(int kind)
{
    return kind == WF_WORK_FLOW || kind == WF_WORK_INCAST;
}

static bool check_counts(struct wf_scenario *s, const struct wf_scen_work *w, const char *kind)
{
    const struct wf_yaml_node *from = wf_yaml_get(w->at, "from"), *to = wf_yaml_get(w->at, "to");
    bool among = !w->n_to || (w->n_to == 1 && w->n_from == 1 && w->to[0] == w->from[0]);

    if (w->kind == WF_WORK_FLOW && w->n_from > 1)
        wf_diag_error(&s->diags, from, "a flow comes from one host, %s%s%s %u",
                      from->text ? "'" : "these are", from->text ? from->text : "",
                      from->text ? "' matches" : "", w->n_from);
    else if (needs_to(w->kind) && w->n_to > 1)
        wf_diag_error(&s->diags, to, "%s goes to one host, this matches %u", kind, w->n_to);
    else if (w->kind == WF_WORK_FLOW && w->from[0] == w->to[0])
        wf_diag_error(&s->diags, to, "a flow from '%s' to itself", s->desc.hosts[w->to[0]].name);
    else if (!needs_to(w->kind) && w->n_from < 2 && among)
        wf_diag_error(&s->diags, from, "%s needs at least two hosts", kind);
    else
        return true;
    return false;
}

bool wf_scen_work_hosts(struct wf_scenario *s, struct wf_scen_work *w, const char *kind)
{
    const struct wf_yaml_node *from = wf_yaml_get(w->at, "from"), *to = wf_yaml_get(w->at, "to");

    read_hosts(s, w->at, "from", &w->from, &w->n_from);
    read_hosts(s, w->at, "to", &w->to, &w->n_to);
    if (!from)
        wf_diag_error(&s->diags, w->at, "'from' is missing in workload");
    if (!to && needs_to(w->kind))
        wf_diag_error(&s->diags, w->at, "'to' is missing in workload");
    if (to && !takes_to(w->kind))
        wf_diag_error(&s->diags, to, "'to' does not go with %s, which is among the hosts of `from`",
                      kind);
    if (!w->n_from || (needs_to(w->kind) && !w->n_to) || (to && (!takes_to(w->kind) || !w->n_to)))
        return false;
    return check_counts(s, w, kind);
}
