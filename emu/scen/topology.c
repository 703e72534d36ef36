/* SPDX-License-Identifier: BSD-3-Clause */
/* The `topology:` section: which switches, hosts and links there are. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scen/scen_priv.h"

#define ROW(field) offsetof(struct wf_scen_topology, field)

static const char *const kind_names[] = {"leaf_spine", "fat_tree", "explicit",
                                         "ring",       "file",     NULL};
static const char *const format_names[] = {"hpcc", "htsim", NULL};
static const char *const turn_names[] = {"shortest", "clockwise", "up_down", NULL};

static const struct wf_key rows[] = {
    {"kind", WF_KEY_ENUM, ROW(kind), "leaf_spine", .names = kind_names,
     .doc = "leaf_spine: leaf0, spine0, h0 and so on, each leaf linked to each spine. fat_tree: "
            "three tiers of k-port switches; pod p has edge and agg p k/2 to p k/2 + k/2 - 1, its "
            "j-th agg is linked to core j k/2 to j k/2 + k/2 - 1, port p of a core is pod p. "
            "explicit: the lists `switches`, `hosts` and `links` of pairs of names, such as [h0, "
            "leaf0]; a "
            "node's ports count up in the order of its links. ring: sw0, h0 and so on, each switch "
            "linked to the next one and the last to the first. file: what another simulator's file "
            "says."},
    {"leaves", WF_KEY_UINT, ROW(leaves), "2", 1, 1024, .doc = "leaf_spine: number of leaves."},
    {"spines", WF_KEY_UINT, ROW(spines), "2", 0, 1024,
     .doc = "leaf_spine: number of spines; 0 only for a single leaf."},
    {"hosts_per_leaf", WF_KEY_UINT, ROW(hosts_per_leaf), "2", 0, 1024,
     .doc = "leaf_spine: hosts on each leaf, h0 upwards leaf by leaf."},
    {"k", WF_KEY_UINT, ROW(k), "4", 2, 128, .doc = "fat_tree: ports of a switch, even."},
    {"pods", WF_KEY_UINT, ROW(pods), "0", 0, 128,
     .doc =
         "fat_tree: number of pods, at most k; 0: k. With fewer, ports of the cores are unused."},
    {"hosts_per_edge", WF_KEY_UINT, ROW(hosts_per_edge), "0", 0, 1024,
     .doc = "fat_tree: hosts on each edge switch, h0 upwards edge by edge; 0: k/2. More than k/2 "
            "oversubscribe the edges."},
    {"size", WF_KEY_UINT, ROW(size), "3", 3, 1024, .doc = "ring: number of switches."},
    {"hosts_per_switch", WF_KEY_UINT, ROW(hosts_per_switch), "1", 0, 1024,
     .doc = "ring: hosts on each switch, h0 upwards switch by switch."},
    {"routing", WF_KEY_ENUM, ROW(routing), "shortest", .names = turn_names,
     .doc = "ring: which way packets go. clockwise: always to the next switch, so that lossless "
            "queues can wait for each other in a circle. up_down: never up again after down, seen "
            "from sw0, so that they can't."},
    {"path", WF_KEY_STRING, ROW(path), "", .doc = "file: the file, seen from the scenario."},
    {"format", WF_KEY_ENUM, ROW(format), "hpcc", .names = format_names,
     .doc = "file: hpcc: of the HPCC simulator on ns-3, whose node 5 is h5 or sw5. htsim: its fat "
            "trees, with switches tor0, agg0 and core0 upwards. Rates, delays, losses and switch "
            "latencies are the file's, unless the scenario says others."},
};

const struct wf_keyset wf_topology_keys = {
    .name = "topology",
    .doc = "Which nodes there are and how they are linked.",
    .keys = rows,
    .n_keys = sizeof(rows) / sizeof(rows[0]),
    .size = sizeof(struct wf_scen_topology),
};

static const char *const lists[] = {"switches", "hosts", "links", NULL};

/* Keys that go with another kind than this are mistakes. */
static void check_kind(struct wf_scenario *s, const struct wf_scen_topology *t,
                       const struct wf_yaml_node *at)
{
    static const struct {
        const char *key;
        int kind;
    } keys[] = {
        {"leaves", WF_TOPOLOGY_LEAF_SPINE},
        {"spines", WF_TOPOLOGY_LEAF_SPINE},
        {"hosts_per_leaf", WF_TOPOLOGY_LEAF_SPINE},
        {"k", WF_TOPOLOGY_FAT_TREE},
        {"pods", WF_TOPOLOGY_FAT_TREE},
        {"hosts_per_edge", WF_TOPOLOGY_FAT_TREE},
        {"size", WF_TOPOLOGY_RING},
        {"hosts_per_switch", WF_TOPOLOGY_RING},
        {"routing", WF_TOPOLOGY_RING},
        {"switches", WF_TOPOLOGY_EXPLICIT},
        {"hosts", WF_TOPOLOGY_EXPLICIT},
        {"links", WF_TOPOLOGY_EXPLICIT},
        {"path", WF_TOPOLOGY_FILE},
        {"format", WF_TOPOLOGY_FILE},
    };

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct wf_yaml_node *v = wf_yaml_get(at, keys[i].key);

        if (v && keys[i].kind != t->kind)
            wf_diag_error(&s->diags, v, "'%s' goes with topology kind %s, this is %s", keys[i].key,
                          kind_names[keys[i].kind], kind_names[t->kind]);
    }
}

static bool sizes_ok(struct wf_scenario *s, const struct wf_yaml_node *at, uint64_t nodes,
                     uint64_t links)
{
    if (nodes > WF_SCEN_NODES_MAX || links > WF_SCEN_LINKS_MAX)
        wf_diag_error(&s->diags, at,
                      "%llu nodes and %llu links are too many, expected at most %d and %d",
                      (unsigned long long)nodes, (unsigned long long)links, WF_SCEN_NODES_MAX,
                      WF_SCEN_LINKS_MAX);
    else if (!links)
        wf_diag_error(&s->diags, at, "a topology without a link");
    return links && nodes <= WF_SCEN_NODES_MAX && links <= WF_SCEN_LINKS_MAX;
}

static void leaf_spine(struct wf_scenario *s, const struct wf_scen_topology *t,
                       const struct wf_yaml_node *at)
{
    uint64_t hosts = (uint64_t)t->leaves * t->hosts_per_leaf;
    uint64_t links = hosts + (uint64_t)t->leaves * t->spines;

    if (!t->spines && t->leaves > 1)
        wf_diag_error(&s->diags, at, "%u leaves without a spine between them", t->leaves);
    else if (sizes_ok(s, at, hosts + t->leaves + t->spines, links))
        wf_desc_leaf_spine(&s->desc, &s->arena, t->leaves, t->spines, t->hosts_per_leaf);
    s->topology = wf_arena_printf(&s->arena, "leaf_spine, %u leaves, %u spines, %u hosts each",
                                  t->leaves, t->spines, t->hosts_per_leaf);
}

static void fat_tree(struct wf_scenario *s, const struct wf_scen_topology *t,
                     const struct wf_yaml_node *at)
{
    struct wf_fat_tree tree = {
        .k = t->k,
        .pods = t->pods ? t->pods : t->k,
        .hosts_per_edge = t->hosts_per_edge ? t->hosts_per_edge : t->k / 2,
    };
    uint64_t hosts, switches, links;

    wf_fat_tree_counts(&tree, &hosts, &switches, &links);
    if (t->k % 2)
        wf_scen_complain(s, false, &t->k, at,
                         "k: a fat tree of %u-port switches, expected an even "
                         "number: half of them lead down and half up",
                         t->k);
    else if (tree.pods > t->k)
        wf_scen_complain(s, false, &t->pods, at,
                         "pods: %u pods, but cores of %u ports join at most "
                         "%u",
                         tree.pods, t->k, t->k);
    else if (sizes_ok(s, at, hosts + switches, links))
        wf_desc_fat_tree(&s->desc, &s->arena, &tree);
    s->topology =
        wf_arena_printf(&s->arena, "fat_tree, k %u, %u pods, %u hosts an edge, %llu hosts", t->k,
                        tree.pods, tree.hosts_per_edge, (unsigned long long)hosts);
}

static void ring(struct wf_scenario *s, const struct wf_scen_topology *t,
                 const struct wf_yaml_node *at)
{
    uint64_t hosts = (uint64_t)t->size * t->hosts_per_switch;

    if (sizes_ok(s, at, hosts + t->size, hosts + t->size))
        wf_desc_ring(&s->desc, &s->arena, t->size, t->hosts_per_switch, (enum wf_turn)t->routing);
    s->topology = wf_arena_printf(&s->arena, "ring, %u switches, %u hosts each, ways %s", t->size,
                                  t->hosts_per_switch, turn_names[t->routing]);
}

static int by_name(const void *a, const void *b)
{
    const struct wf_yaml_node *x = *(const struct wf_yaml_node *const *)a;
    const struct wf_yaml_node *y = *(const struct wf_yaml_node *const *)b;
    int c = strcmp(x->text, y->text);

    return c ? c : (x > y) - (x < y);
}

/* Sorted names of all nodes, to find doubles and ends of links. */
struct node_names {
    const struct wf_yaml_node *switches, *hosts; /* the lists that they stand in, or NULL */
    const struct wf_yaml_node **sorted;
    const char **texts; /* for suggestions */
    size_t n;
};

static const struct wf_yaml_node *name_list(struct wf_scenario *s, const struct wf_yaml_node *at,
                                            const char *key)
{
    const struct wf_yaml_node *list = wf_yaml_get(at, key);

    if (!list)
        return NULL;
    if (list->kind != WF_YAML_SEQUENCE) {
        wf_diag_error(&s->diags, list, "%s: expected a list of names, found %s", key,
                      wf_yaml_what(list));
        return NULL;
    }
    if (list->n > WF_SCEN_NODES_MAX) {
        wf_diag_error(&s->diags, list, "%s: more than %d names", key, WF_SCEN_NODES_MAX);
        return NULL;
    }
    return list;
}

static void collect(struct wf_scenario *s, struct node_names *names,
                    const struct wf_yaml_node *list)
{
    for (size_t i = 0; list && i < list->n; i++) {
        const struct wf_yaml_node *n = &list->items[i];

        if (n->kind != WF_YAML_SCALAR)
            wf_diag_error(&s->diags, n, "expected a name, found %s", wf_yaml_what(n));
        else if (!wf_scen_name_ok(n->text))
            wf_diag_error(&s->diags, n,
                          "'%s' is no name of a node: letters, digits and '_', no digit first, at "
                          "most 32",
                          n->text);
        else
            names->sorted[names->n++] = n;
    }
}

static void check_doubles(struct wf_scenario *s, struct node_names *names)
{
    qsort(names->sorted, names->n, sizeof(names->sorted[0]), by_name);
    for (size_t i = 0; i < names->n; i++) {
        names->texts[i] = names->sorted[i]->text;
        if (i && !strcmp(names->texts[i], names->texts[i - 1])) {
            const struct wf_yaml_node *a = names->sorted[i - 1], *b = names->sorted[i];
            const struct wf_yaml_node *later = b->line > a->line ? b : a;

            if (a->line == b->line)
                later = b->col > a->col ? b : a;
            wf_diag_error(&s->diags, later, "the name '%s' stands twice", later->text);
        }
    }
}

static int is_name(const void *key, const void *element)
{
    const struct wf_yaml_node *k = key, *const *e = element;

    return strcmp(k->text, (*e)->text);
}

static bool find_end(struct wf_scenario *s, const struct node_names *names,
                     const struct wf_yaml_node *n, struct wf_desc_end *end)
{
    const struct wf_yaml_node *const *hit, *list = names->switches;

    if (n->kind != WF_YAML_SCALAR) {
        wf_diag_error(&s->diags, n, "expected the name of a switch or host, found %s",
                      wf_yaml_what(n));
        return false;
    }
    hit = bsearch(n, names->sorted, names->n, sizeof(names->sorted[0]), is_name);
    if (!hit) {
        wf_diag_unknown(&s->diags, n, n->text, names->texts, names->n,
                        "no switch or host has the name '%s'", n->text);
        return false;
    }
    end->is_host = !list || *hit < list->items || *hit >= list->items + list->n;
    end->index = (uint32_t)(*hit - (end->is_host ? names->hosts : list)->items);
    return true;
}

static void add_link(struct wf_scenario *s, const struct node_names *names,
                     const struct wf_yaml_node *n)
{
    struct wf_desc_link *l = &s->desc.links[s->desc.n_links];
    bool ok;

    if (n->kind != WF_YAML_SEQUENCE || n->n != 2) {
        wf_diag_error(&s->diags, n, "expected a link such as [h0, leaf0], found %s%s",
                      wf_yaml_what(n), n->kind == WF_YAML_SEQUENCE ? " of another length" : "");
        return;
    }
    ok = find_end(s, names, &n->items[0], &l->a);
    ok = find_end(s, names, &n->items[1], &l->b) && ok; /* both are told */
    if (!ok)
        return;
    if (l->a.is_host == l->b.is_host && l->a.index == l->b.index) {
        wf_diag_error(&s->diags, n, "'%s' linked to itself", n->items[0].text);
        return;
    }
    if (l->a.is_host && l->b.is_host) {
        wf_diag_error(&s->diags, n, "'%s' and '%s' are both hosts, expected a switch between them",
                      n->items[0].text, n->items[1].text);
        return;
    }
    wf_keyset_defaults(&wf_link_keys, &l->cfg);
    s->desc.n_links++;
}

/* A switch has so many ports and no more. */
static void check_ports(struct wf_scenario *s, const struct wf_yaml_node *switches,
                        const struct wf_yaml_node *at)
{
    uint32_t *ports = WF_ARENA_ARRAY(&s->arena, uint32_t, s->desc.n_switches + 1);

    for (uint32_t i = 0; i < s->desc.n_links; i++) {
        ports[s->desc.links[i].a.index] += !s->desc.links[i].a.is_host;
        ports[s->desc.links[i].b.index] += !s->desc.links[i].b.is_host;
    }
    for (uint32_t i = 0; i < s->desc.n_switches; i++)
        if (ports[i] > WF_SCEN_PORTS_MAX)
            wf_diag_error(&s->diags, switches ? &switches->items[i] : at,
                          "switch '%s' has %u links, expected at most %d", s->desc.switches[i].name,
                          ports[i], WF_SCEN_PORTS_MAX);
}

/* Each host hangs on exactly one switch. */
static void check_hosts(struct wf_scenario *s, const struct wf_yaml_node *hosts)
{
    uint32_t *links = WF_ARENA_ARRAY(&s->arena, uint32_t, s->desc.n_hosts + 1);

    for (uint32_t i = 0; i < s->desc.n_links; i++) {
        if (s->desc.links[i].a.is_host)
            links[s->desc.links[i].a.index]++;
        if (s->desc.links[i].b.is_host)
            links[s->desc.links[i].b.index]++;
    }
    for (uint32_t i = 0; i < s->desc.n_hosts; i++)
        if (links[i] != 1)
            wf_diag_error(&s->diags, &hosts->items[i], "host '%s' has %u links, expected one",
                          s->desc.hosts[i].name, links[i]);
}

/* A graph of any form has a route of its own from each switch to each one with hosts. */
static void check_ways(struct wf_scenario *s, const struct wf_yaml_node *at)
{
    bool *seen = WF_ARENA_ARRAY(&s->arena, bool, s->desc.n_switches + 1);
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->desc.n_links; i++) {
        const struct wf_desc_link *l = &s->desc.links[i];
        uint32_t sw = l->a.is_host ? l->b.index : l->a.index;

        if (l->a.is_host == l->b.is_host || seen[sw])
            continue;
        seen[sw] = true;
        n++;
    }
    if ((uint64_t)n * s->desc.n_switches > WF_SCEN_WAYS_MAX)
        wf_diag_error(&s->diags, at,
                      "%u switches, %u of them with hosts, are too many routes: expected a product "
                      "of at most %d, or a topology of another kind",
                      s->desc.n_switches, n, WF_SCEN_WAYS_MAX);
}

static void make_nodes(struct wf_scenario *s, const struct wf_yaml_node *switches,
                       const struct wf_yaml_node *hosts)
{
    struct wf_desc *d = &s->desc;
    uint32_t ns = switches ? (uint32_t)switches->n : 0, nh = hosts ? (uint32_t)hosts->n : 0;

    d->switches = WF_ARENA_ARRAY(&s->arena, struct wf_desc_switch, ns + 1);
    d->hosts = WF_ARENA_ARRAY(&s->arena, struct wf_desc_host, nh + 1);
    for (; d->n_switches < ns; d->n_switches++) {
        d->switches[d->n_switches].name = switches->items[d->n_switches].text;
        wf_switch_cfg_defaults(&d->switches[d->n_switches].cfg);
    }
    for (; d->n_hosts < nh; d->n_hosts++) {
        d->hosts[d->n_hosts].name = hosts->items[d->n_hosts].text;
        wf_host_cfg_defaults(&d->hosts[d->n_hosts].cfg);
    }
}

static void explicit(struct wf_scenario *s, const struct wf_yaml_node *at)
{
    const struct wf_yaml_node *switches = name_list(s, at, "switches");
    const struct wf_yaml_node *hosts = name_list(s, at, "hosts");
    const struct wf_yaml_node *links = wf_yaml_get(at, "links");
    size_t n = (switches ? switches->n : 0) + (hosts ? hosts->n : 0), errors = s->diags.errors;
    struct node_names names = {
        .switches = switches,
        .hosts = hosts,
        .sorted = WF_ARENA_ARRAY(&s->arena, const struct wf_yaml_node *, n + 1),
        .texts = WF_ARENA_ARRAY(&s->arena, const char *, n + 1),
    };

    collect(s, &names, switches);
    collect(s, &names, hosts);
    check_doubles(s, &names);
    if (!links || links->kind != WF_YAML_SEQUENCE || !links->n || links->n > WF_SCEN_LINKS_MAX)
        wf_diag_error(&s->diags, links ? links : at,
                      "expected a list of 1 to %d links such as [[h0, leaf0]]", WF_SCEN_LINKS_MAX);
    if (s->diags.errors > errors)
        return;
    make_nodes(s, switches, hosts);
    s->desc.links = WF_ARENA_ARRAY(&s->arena, struct wf_desc_link, links->n);
    for (size_t i = 0; i < links->n; i++)
        add_link(s, &names, &links->items[i]);
    if (s->diags.errors == errors)
        check_hosts(s, hosts);
    if (s->diags.errors == errors)
        check_ports(s, switches, at);
    if (s->diags.errors == errors)
        check_ways(s, at);
    if (s->diags.errors > errors)
        s->desc.n_links = 0; /* nothing that is said about links would be true */
}

/* Names of ports and links, for patterns. */
static void name_links(struct wf_scenario *s)
{
    struct wf_desc *d = &s->desc;
    uint32_t *next = WF_ARENA_ARRAY(&s->arena, uint32_t, d->n_switches + d->n_hosts + 1);

    s->ports = WF_ARENA_ARRAY(&s->arena, const char *, 2 * d->n_links + 1);
    s->links = WF_ARENA_ARRAY(&s->arena, const char *, d->n_links + 1);
    for (uint32_t i = 0; i < d->n_links; i++) {
        for (int e = 0; e < 2; e++) {
            struct wf_desc_end end = e ? d->links[i].b : d->links[i].a;
            uint32_t *port = &next[end.is_host ? d->n_switches + end.index : end.index];

            s->ports[2 * i + (uint32_t)e] = wf_arena_printf(
                &s->arena, "%s:p%u",
                end.is_host ? d->hosts[end.index].name : d->switches[end.index].name, (*port)++);
        }
        s->links[i] =
            wf_arena_printf(&s->arena, "%s-%s", wf_scen_port(s, i, 0), wf_scen_port(s, i, 1));
    }
}

static void from_file(struct wf_scenario *s, const struct wf_scen_topology *t,
                      const struct wf_yaml_node *at)
{
    size_t errors = s->diags.errors;

    wf_scen_topo_file(s, t, at);
    if (s->diags.errors == errors)
        check_ports(s, NULL, at);
    if (s->diags.errors == errors)
        check_ways(s, at);
    if (s->diags.errors > errors)
        s->desc.n_links = 0;
    s->topology =
        wf_arena_printf(&s->arena, "file %s (%s)", t->path ? t->path : "", format_names[t->format]);
}

void wf_scen_topology(struct wf_scenario *s)
{
    const struct wf_yaml_node *at = wf_yaml_get(s->root, "topology");
    struct wf_scen_topology *t = WF_ARENA_NEW(&s->arena, struct wf_scen_topology);
    size_t errors = s->diags.errors;

    if (!at) {
        wf_diag_error(&s->diags, s->root,
                      "no 'topology', expected such as "
                      "topology: {kind: leaf_spine, leaves: 2, spines: 2, "
                      "hosts_per_leaf: 4}");
        return;
    }
    s->topology_cfg = t;
    wf_keyset_defaults(&wf_topology_keys, t);
    wf_fill(&s->fill, &wf_topology_keys, t, at, lists);
    if (s->diags.errors > errors)
        return;
    check_kind(s, t, at);
    s->topology = "explicit";
    if (t->kind == WF_TOPOLOGY_EXPLICIT)
        explicit(s, at);
    else if (t->kind == WF_TOPOLOGY_FAT_TREE)
        fat_tree(s, t, at);
    else if (t->kind == WF_TOPOLOGY_RING)
        ring(s, t, at);
    else if (t->kind == WF_TOPOLOGY_FILE)
        from_file(s, t, at);
    else
        leaf_spine(s, t, at);
    name_links(s);
}
