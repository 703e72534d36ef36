/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The `links:`, `switches:` and `hosts:` sections of a scenario or a profile: patterns over names,
 * applied in the order of the file. In a scenario a pattern that matches nothing is an error; in a
 * profile it is none, since a profile is written for any topology.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "scen/match.h"
#include "scen/scen_priv.h"

enum { SUGGESTIONS_MAX = 1024 };

/* What a section is about. */
struct section {
    const char *key, *what;
    const struct wf_keyset *set;
    uint32_t n;
    bool (*match)(struct wf_scenario *s, const char *pattern, uint32_t i);
    const char *(*name)(struct wf_scenario *s, uint32_t i);
    void *(*cfg)(struct wf_scenario *s, uint32_t i);
};

static bool match_switch(struct wf_scenario *s, const char *pattern, uint32_t i)
{
    return wf_match(pattern, s->desc.switches[i].name);
}
static const char *name_switch(struct wf_scenario *s, uint32_t i)
{
    return s->desc.switches[i].name;
}
static void *cfg_switch(struct wf_scenario *s, uint32_t i)
{
    return &s->desc.switches[i].cfg;
}

static bool match_host(struct wf_scenario *s, const char *pattern, uint32_t i)
{
    return wf_match(pattern, s->desc.hosts[i].name);
}
static const char *name_host(struct wf_scenario *s, uint32_t i)
{
    return s->desc.hosts[i].name;
}
static void *cfg_host(struct wf_scenario *s, uint32_t i)
{
    return &s->desc.hosts[i].cfg;
}

/* "leaf0" and 3 of "leaf0:p3". */
static void split_port(const char *port, char node[64], unsigned *index)
{
    const char *colon = strrchr(port, ':');

    snprintf(node, 64, "%.*s", (int)(colon - port), port);
    *index = (unsigned)strtoul(colon + 2, NULL, 10);
}

static bool match_link(struct wf_scenario *s, const char *pattern, uint32_t i)
{
    char a[64], b[64];
    unsigned pa, pb;

    split_port(wf_scen_port(s, i, 0), a, &pa);
    split_port(wf_scen_port(s, i, 1), b, &pb);
    return wf_match_link(pattern, a, pa, b, pb);
}
/* Short, as people write it; the ports matter only between parallel links. */
static const char *name_link(struct wf_scenario *s, uint32_t i)
{
    char a[64], b[64];
    unsigned p;

    split_port(wf_scen_port(s, i, 0), a, &p);
    split_port(wf_scen_port(s, i, 1), b, &p);
    return wf_arena_printf(&s->arena, "%s-%s", a, b);
}
static void *cfg_link(struct wf_scenario *s, uint32_t i)
{
    return &s->desc.links[i].cfg;
}

static void no_match(struct wf_scenario *s, const struct section *sec,
                     const struct wf_yaml_node *key)
{
    uint32_t n = sec->n < SUGGESTIONS_MAX ? sec->n : SUGGESTIONS_MAX;
    const char **names = calloc(n + 1, sizeof(*names));

    WF_ASSERT(names);
    for (uint32_t i = 0; i < n; i++)
        names[i] = sec->name(s, i);
    wf_diag_unknown(&s->diags, key, key->text, names, n, "'%s' matches no %s", key->text,
                    sec->what);
    free(names);
}

/* A body that nothing takes is still looked at. */
static void check_body(struct wf_scenario *s, const struct section *sec,
                       const struct wf_yaml_node *body)
{
    struct wf_fill f = s->fill;
    void *scratch = wf_arena_alloc(&s->arena, sec->set->size);

    f.origins = NULL;
    wf_fill(&f, sec->set, scratch, body, NULL);
}

static void apply(struct wf_scenario *s, const struct section *sec, const struct wf_yaml_node *key,
                  const struct wf_yaml_node *body, bool profile)
{
    struct wf_err err = {0};
    uint32_t hits = 0;

    if (wf_match_check(key->text, &err)) {
        wf_diag_error(&s->diags, key, "%s", err.msg);
        return;
    }
    for (uint32_t i = 0; i < sec->n; i++)
        if (sec->match(s, key->text, i)) {
            wf_fill(&s->fill, sec->set, sec->cfg(s, i), body, NULL);
            hits++;
        }
    if (hits)
        return;
    check_body(s, sec, body);
    if (!profile)
        no_match(s, sec, key);
}

void wf_scen_nodes(struct wf_scenario *s, const struct wf_yaml_node *root, bool profile)
{
    const struct section all[] = {
        {"links", "link", &wf_link_keys, s->desc.n_links, match_link, name_link, cfg_link},
        {"switches", "switch", &wf_switch_keys, s->desc.n_switches, match_switch, name_switch,
         cfg_switch},
        {"hosts", "host", &wf_host_keys, s->desc.n_hosts, match_host, name_host, cfg_host},
    };

    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
        const struct wf_yaml_node *map = wf_yaml_get(root, all[k].key);

        if (!map)
            continue;
        if (map->kind != WF_YAML_MAPPING) {
            wf_diag_error(&s->diags, map, "%s: expected a mapping from names, found %s", all[k].key,
                          wf_yaml_what(map));
            continue;
        }
        for (size_t i = 0; i < map->n; i++)
            apply(s, &all[k], wf_yaml_key(map, i), wf_yaml_value(map, i), profile);
    }
}
