/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The `cc:` section: congestion controls by name, each a law with values for its keys. Hosts and
 * flows name one of them, or a law with its defaults, or a shared object by its path, which counts
 * from the scenario's folder. What no flow uses is checked and costs nothing.
 */
#include <errno.h>
#include <string.h>

#include "cc/laws.h"
#include "host/cc_law.h"
#include "scen/scen_priv.h"

enum { CCS_MAX = 64, NAMES_MAX = 128 };

/* "./x.so" from the scenario's folder. */
static const char *place(struct wf_scenario *s, const char *path)
{
    const char *slash = strrchr(s->path, '/');

    if (path[0] == '/' || !slash)
        return path;
    return wf_arena_printf(&s->arena, "%.*s/%s", (int)(slash - s->path), s->path, path);
}

static void no_law(struct wf_scenario *s, const void *field, const struct wf_yaml_node *at,
                   const char *name)
{
    const char *names[NAMES_MAX];
    struct wf_err err = {.line = 0};
    size_t n = 0;

    names[n++] = "none";
    for (uint32_t i = 0; i < s->n_ccs; i++)
        names[n++] = s->ccs[i]->use.name;
    for (const struct wf_cc_law *const *l = wf_cc_laws; *l; l++)
        names[n++] = (*l)->name;
    wf_err_set(&err, EINVAL, "there is no congestion control '%s'", name);
    wf_err_suggest(&err, name, names, n);
    wf_scen_complain(s, false, field, at, "%s", err.msg);
}

static const struct wf_cc_law *find_law(struct wf_scenario *s, const char *name, const char **path,
                                        const void *field, const struct wf_yaml_node *at)
{
    const struct wf_cc_law *law = wf_cc_find(name);
    struct wf_err err = {.line = 0};

    *path = NULL;
    if (law || !strchr(name, '/')) {
        if (!law)
            no_law(s, field, at, name);
        return law;
    }
    *path = name;
    law = wf_cc_load(place(s, name), &err);
    if (!law)
        wf_scen_complain(s, false, field, at, "%s", err.msg);
    return law;
}

static struct wf_scen_cc *add(struct wf_scenario *s, const char *name, const struct wf_cc_law *law,
                              const char *path)
{
    struct wf_scen_cc *c = WF_ARENA_NEW(&s->arena, struct wf_scen_cc);

    if (!s->ccs)
        s->ccs = WF_ARENA_ARRAY(&s->arena, struct wf_scen_cc *, CCS_MAX);
    c->keys = wf_cc_keyset(law, &s->arena);
    c->cfg = wf_arena_alloc(&s->arena, law->cfg_size + 1);
    wf_keyset_defaults(c->keys, c->cfg);
    c->use = (struct wf_cc_use){.name = name, .path = path, .law = law, .cfg = c->cfg};
    c->use.table = wf_cc_table(law, &s->arena);
    c->use.params = law->n_params ? law->params[0].name : NULL;
    s->ccs[s->n_ccs++] = c;
    return c;
}

static const char *word(struct wf_scenario *s, const struct wf_yaml_node *map, const char *key,
                        const char *otherwise)
{
    const struct wf_yaml_node *v = wf_yaml_get(map, key);

    if (!v)
        return otherwise;
    if (v->kind == WF_YAML_SCALAR && v->text[0])
        return v->text;
    wf_diag_error(&s->diags, v, "%s: expected a name, found %s", key, wf_yaml_what(v));
    return NULL;
}

/* Where the set's values come from. */
static void remember(struct wf_scenario *s, const struct wf_scen_cc *c,
                     const struct wf_cc_params *p)
{
    for (size_t i = 0; i < p->n_values; i++) {
        const struct wf_cc_value *v = &p->values[i];
        struct wf_origin o = {.file = wf_arena_printf(&s->arena, "params %s: %s", p->name,
                                                      v->source ? v->source : "a choice")};

        wf_origins_set(&s->origins, (char *)c->cfg + wf_keyset_find(c->keys, v->key)->off, &o);
    }
}

static void use_params(struct wf_scenario *s, struct wf_scen_cc *c, const struct wf_yaml_node *map)
{
    const struct wf_cc_law *law = c->use.law;
    const struct wf_cc_params *p;
    const char *name = word(s, map, "params", c->use.params), *names[NAMES_MAX];
    struct wf_err err = {.line = 0};
    size_t n = 0;

    if (!name)
        return;
    p = wf_cc_params_find(law, name);
    for (; n < law->n_params && n < NAMES_MAX; n++)
        names[n] = law->params[n].name;
    if (!p)
        wf_diag_unknown(&s->diags, wf_yaml_get(map, "params"), name, names, n,
                        "'%s' has no parameters '%s'", law->name, name);
    else if (wf_cc_params_apply(p, c->keys, c->cfg, &err))
        wf_scen_complain(s, false, NULL, map, "parameters '%s' of '%s': %s", name, law->name,
                         err.msg);
    else
        remember(s, c, p);
    c->use.params = name;
}

/* The law that a control names, or is called after. */
static const struct wf_cc_law *law_of(struct wf_scenario *s, const struct wf_yaml_node *key,
                                      const struct wf_yaml_node *map, const char **path)
{
    const struct wf_yaml_node *at = wf_yaml_get(map, "law");
    const char *name = word(s, map, "law", key->text);

    if (name && !at && !wf_cc_find(name) && !strchr(name, '/')) {
        wf_diag_error(&s->diags, key,
                      "cc.%s: it names no law and '%s' is none, expected such as {law: dcqcn}",
                      name, name);
        return NULL;
    }
    return name ? find_law(s, name, path, NULL, at ? at : key) : NULL;
}

static void read_one(struct wf_scenario *s, const struct wf_yaml_node *key,
                     const struct wf_yaml_node *map)
{
    static const char *const own[] = {"law", "params", NULL};
    const struct wf_cc_law *law = NULL;
    const char *path = NULL;
    struct wf_scen_cc *c;

    if (map->kind == WF_YAML_MAPPING)
        law = law_of(s, key, map, &path);
    else
        wf_diag_error(&s->diags, map, "cc: expected a mapping such as {law: dcqcn}, found %s",
                      wf_yaml_what(map));
    if (!law) { /* which is said: who uses the name finds something */
        add(s, key->text, &wf_cc_fixed, NULL);
        return;
    }
    c = add(s, key->text, law, path);
    use_params(s, c, map);
    wf_fill(&s->fill, c->keys, c->cfg, map, own);
}

void wf_scen_ccs(struct wf_scenario *s)
{
    const struct wf_yaml_node *map = wf_yaml_get(s->root, "cc");

    if (map && map->kind != WF_YAML_MAPPING)
        wf_diag_error(&s->diags, map, "cc: expected a mapping from names, found %s",
                      wf_yaml_what(map));
    else if (map && map->n > CCS_MAX / 2)
        wf_diag_error(&s->diags, map, "cc: more than %d controls", CCS_MAX / 2);
    else
        for (size_t i = 0; map && i < map->n; i++)
            read_one(s, wf_yaml_key(map, i), wf_yaml_value(map, i));
}

const struct wf_cc_use *wf_scen_cc(struct wf_scenario *s, const char *name, const void *field,
                                   const struct wf_yaml_node *at)
{
    const struct wf_cc_law *law;
    const char *path;

    if (!name || !name[0] || !strcmp(name, "none"))
        return NULL;
    for (uint32_t i = 0; i < s->n_ccs; i++)
        if (!strcmp(s->ccs[i]->use.name, name))
            return &s->ccs[i]->use;
    if (s->n_ccs == CCS_MAX) {
        wf_scen_complain(s, false, field, at, "more than %d congestion controls", CCS_MAX);
        return NULL;
    }
    law = find_law(s, name, &path, field, at);
    return law ? &add(s, name, law, path)->use : NULL;
}

/* A NIC between a real stack and the fabric sees no acknowledgement of its own. */
static bool suits_an_edge(const struct wf_cc_law *law)
{
    return law->flags & WF_CC_PACED && !(law->flags & (WF_CC_INT | WF_CC_RTT | WF_CC_ECHO));
}

void wf_scen_nic_ccs(struct wf_scenario *s)
{
    for (uint32_t i = 0; i < s->desc.n_hosts; i++) {
        struct wf_host_cfg *h = &s->desc.hosts[i].cfg;
        const struct wf_cc_use *use = wf_scen_cc(s, h->nic.cc, &h->nic.cc, NULL);

        if (!use || h->attach.type == WF_ATTACH_NONE)
            continue;
        h->nic.control = use;
        if (!suits_an_edge(use->law))
            wf_scen_complain(s, false, &h->nic.cc, NULL,
                             "'%s' at %s, which is attached: a NIC there knows no round trips or "
                             "acknowledgements, expected dcqcn, or fixed with a rate",
                             use->name, s->desc.hosts[i].name);
    }
}

static bool used(const struct wf_scenario *s, const struct wf_scen_cc *c)
{
    for (uint32_t i = 0; i < s->desc.n_flows; i++)
        if (s->desc.flows[i].cfg.control == &c->use)
            return true;
    for (uint32_t i = 0; i < s->desc.n_hosts; i++)
        if (s->desc.hosts[i].cfg.nic.control == &c->use)
            return true;
    return false;
}

/* Name, law, published set and the value of each key, of those that flows use. */
void wf_scen_cc_text(const struct wf_scenario *s, FILE *out)
{
    bool any = wf_scen_nics_told(s);
    char buf[128];

    for (uint32_t i = 0; i < s->n_ccs; i++)
        any = any || used(s, s->ccs[i]);
    if (any)
        wf_scen_nics_text(s, out);
    for (uint32_t i = 0; i < s->n_ccs; i++) {
        const struct wf_scen_cc *c = s->ccs[i];

        if (!used(s, c))
            continue;
        fprintf(out, "congestion control %s: %s", c->use.name, c->use.law->name);
        if (c->use.path)
            fprintf(out, " of %s", c->use.path);
        if (c->use.params)
            fprintf(out, ", %s", c->use.params);
        for (size_t k = 0; k < c->keys->n_keys; k++)
            fprintf(out, "%s %s %s",
                    k % 5 ? ","
                    : k   ? ",\n   "
                          : ":\n   ",
                    c->keys->keys[k].name,
                    wf_key_text(&c->keys->keys[k], c->cfg, buf, sizeof(buf)));
        fputc('\n', out);
    }
}
