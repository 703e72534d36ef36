/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The `links:`, `switches:`, `hosts:` and `ports:` sections of a scenario or a profile: patterns
 * over names, applied in the order of the file. In a scenario a pattern that matches nothing is an
 * error; in a profile it is none, since a profile is written for any topology.
 *
 * A switch's keys are those of all its ports; what `ports:` says of one stands above them, so that
 * section is read when all switches are known. Ports of a switch that the same entries match share
 * one configuration.
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
    void *(*cfg)(struct wf_scenario *s, uint32_t i); /* NULL: the one before has it, too */
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

struct layer;

/* What an entry makes of a configuration. */
struct above {
    uint32_t entry; /* the last one that was applied to it */
    struct layer *layer;
};

/* A configuration of ports, first. */
struct layer {
    struct wf_switch_port_cfg cfg;
    struct above above;
};

struct wf_scen_layers {
    uint32_t entry;         /* number of the one that is being applied */
    struct above *switches; /* of each switch's own */
};

static bool match_port(struct wf_scenario *s, const char *pattern, uint32_t i)
{
    const struct wf_desc_link *l = &s->desc.links[i / 2];

    return !(i % 2 ? l->b : l->a).is_host && wf_match(pattern, s->ports[i]);
}
static const char *name_port(struct wf_scenario *s, uint32_t i)
{
    const struct wf_desc_link *l = &s->desc.links[i / 2];

    return (i % 2 ? l->b : l->a).is_host ? NULL : s->ports[i];
}
static void *cfg_port(struct wf_scenario *s, uint32_t i)
{
    struct wf_desc_link *l = &s->desc.links[i / 2];
    const struct wf_switch_port_cfg **at = &l->port_cfg[i % 2];
    struct above *above =
        *at ? &((struct layer *)*at)->above : &s->layers->switches[(i % 2 ? l->b : l->a).index];
    const struct wf_switch_port_cfg *was = wf_desc_port_cfg(&s->desc, i / 2, (int)(i % 2));
    bool known = above->entry == s->layers->entry;

    if (!known) {
        above->layer = WF_ARENA_NEW(&s->arena, struct layer);
        above->entry = s->layers->entry;
        above->layer->cfg = *was;
        wf_origins_copy(&s->origins, &wf_switch_port_keys, was, &above->layer->cfg);
    }
    *at = &above->layer->cfg;
    return known ? NULL : &above->layer->cfg;
}

static void no_match(struct wf_scenario *s, const struct section *sec,
                     const struct wf_yaml_node *key)
{
    uint32_t n = sec->n < SUGGESTIONS_MAX ? sec->n : SUGGESTIONS_MAX;
    const char **names = calloc(n + 1, sizeof(*names));
    uint32_t known = 0;

    WF_ASSERT(names);
    for (uint32_t i = 0; i < n; i++) {
        names[known] = sec->name(s, i);
        known += names[known] != NULL;
    }
    wf_diag_unknown(&s->diags, key, key->text, names, known, "'%s' matches no %s", key->text,
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
    for (uint32_t i = 0; i < sec->n; i++) {
        bool match = sec->match(s, key->text, i);
        void *cfg = match ? sec->cfg(s, i) : NULL;

        if (cfg)
            wf_fill(&s->fill, sec->set, cfg, body, NULL);
        hits += match;
    }
    if (hits)
        return;
    check_body(s, sec, body);
    if (!profile)
        no_match(s, sec, key);
}

static void apply_all(struct wf_scenario *s, const struct section *sec,
                      const struct wf_yaml_node *root, bool profile)
{
    const struct wf_yaml_node *map = wf_yaml_get(root, sec->key);

    if (map && map->kind != WF_YAML_MAPPING)
        wf_diag_error(&s->diags, map, "%s: expected a mapping from names, found %s", sec->key,
                      wf_yaml_what(map));
    if (!profile && s->n_profiles && sec->set != &wf_link_keys && sec->set != &wf_host_keys)
        s->fill.changes = &s->changes;
    for (size_t i = 0; map && map->kind == WF_YAML_MAPPING && i < map->n; i++) {
        s->layers->entry++;
        apply(s, sec, wf_yaml_key(map, i), wf_yaml_value(map, i), profile);
    }
    s->fill.changes = NULL;
}

void wf_scen_ports(struct wf_scenario *s)
{
    const struct section ports = {"ports",
                                  "port of a switch, such as leaf0:p3",
                                  &wf_switch_port_keys,
                                  2 * s->desc.n_links,
                                  match_port,
                                  name_port,
                                  cfg_port};

    s->layers->switches = WF_ARENA_ARRAY(&s->arena, struct above, s->desc.n_switches + 1);
    for (uint32_t i = 0; i < s->n_profiles; i++) {
        s->fill.profile = s->profiles[i];
        apply_all(s, &ports, s->profile_roots[i], true);
    }
    s->fill.profile = NULL;
    apply_all(s, &ports, s->root, false);
}

void wf_scen_cables(struct wf_scenario *s)
{
    for (uint32_t i = 0; i < s->desc.n_links; i++) {
        struct wf_link_cfg *c = &s->desc.links[i].cfg;
        const struct wf_origin *o = wf_origins_find(&s->origins, &c->cable_mm);
        struct wf_origin cable;

        if (!o || !c->cable_mm || wf_origins_find(&s->origins, &c->delay_ps))
            continue;
        cable = *o; /* the table may move */
        c->delay_ps = wf_cable_ps(c->cable_mm);
        wf_origins_set(&s->origins, &c->delay_ps, &cable);
    }
}

void wf_scen_nodes(struct wf_scenario *s, const struct wf_yaml_node *root, bool profile)
{
    const struct section all[] = {
        {"links", "link", &wf_link_keys, s->desc.n_links, match_link, name_link, cfg_link},
        {"switches", "switch", &wf_switch_keys, s->desc.n_switches, match_switch, name_switch,
         cfg_switch},
        {"hosts", "host", &wf_host_keys, s->desc.n_hosts, match_host, name_host, cfg_host},
    };

    if (!s->layers)
        s->layers = WF_ARENA_NEW(&s->arena, struct wf_scen_layers);
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        apply_all(s, &all[k], root, profile);
}
