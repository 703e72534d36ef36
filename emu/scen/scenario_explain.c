/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weft check --explain`: every effective value of a scenario and where it comes from. Nodes and
 * links whose values and origins are the same are told of together; addresses follow as a list,
 * and the thresholds that were computed from links.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "cap/capture.h"
#include "cap/series.h"
#include "cap/why_log.h"
#include "net/fault_config.h"
#include "scen/scen_priv.h"

enum { NAMES_SHOWN = 8 };

/* Things of one kind, with the text that tells of each. */
struct group {
    const char *kind;
    uint32_t n;
    const char **names;
    char **texts;
};

static struct group new_group(const char *kind, uint32_t n)
{
    struct group g = {kind, n, calloc(n + 1, sizeof(char *)), calloc(n + 1, sizeof(char *))};

    WF_ASSERT(g.names && g.texts);
    return g;
}

static char *explain_text(const struct wf_scenario *s, const struct wf_keyset *set,
                          const void *base)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);

    WF_ASSERT(f);
    wf_fill_explain(f, set, base, &s->origins, "  ");
    fclose(f);
    return text;
}

/* Addresses differ from host to host and are listed apart. */
static void drop_addresses(char *text)
{
    static const char *const keys[] = {"mac", "ip", "ip6", "gateway", "gateway6"};
    char *out = text;

    for (char *line = text; *line;) {
        size_t n = strcspn(line, "\n") + 1;
        bool drop = false;

        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
            size_t k = strlen(keys[i]);

            drop = drop || (!strncmp(line + 2, keys[i], k) && !strncmp(line + 2 + k, " = ", 3));
        }
        if (!drop) {
            memmove(out, line, n);
            out += n;
        }
        line += n;
    }
    *out = 0;
}

/* Members of one text, in order: `next` leads from each to the one behind it. */
struct same {
    uint32_t first, next;
};

static int by_text(const void *a, const void *b, void *arg)
{
    const struct group *g = arg;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int c = strcmp(g->texts[x], g->texts[y]);

    return c ? c : (x > y) - (x < y);
}

/* For each member the first one of its text, and the next one. */
static struct same *find_same(struct group *g)
{
    uint32_t *order = calloc(g->n + 1, sizeof(*order));
    struct same *v = calloc(g->n + 1, sizeof(*v));

    WF_ASSERT(order && v);
    for (uint32_t i = 0; i < g->n; i++)
        order[i] = i;
    qsort_r(order, g->n, sizeof(*order), by_text, g);
    for (uint32_t i = 0; i < g->n; i++) {
        bool first = !i || strcmp(g->texts[order[i]], g->texts[order[i - 1]]);

        v[order[i]] = (struct same){first ? order[i] : v[order[i - 1]].first, UINT32_MAX};
        if (!first)
            v[order[i - 1]].next = order[i];
    }
    free(order);
    return v;
}

static void print_names(FILE *out, const struct group *g, const struct same *v, uint32_t first)
{
    uint32_t shown = 0, more = 0;

    fprintf(out, "\n%s", g->kind);
    for (uint32_t i = first; i != UINT32_MAX; i = v[i].next, shown++) {
        if (shown < NAMES_SHOWN)
            fprintf(out, "%s %s", shown ? "," : "", g->names[i]);
        else
            more++;
    }
    if (more)
        fprintf(out, " and %u more", more);
    fprintf(out, ":\n");
}

static void print_group(FILE *out, struct group *g)
{
    struct same *v = find_same(g);

    for (uint32_t i = 0; i < g->n; i++) {
        if (v[i].first != i)
            continue;
        print_names(out, g, v, i);
        fputs(g->texts[i], out);
    }
    for (uint32_t i = 0; i < g->n; i++)
        free(g->texts[i]);
    free(v);
    free(g->texts);
    free(g->names);
}

/* Ports that are told of by themselves: all others have what their switch says. */
static struct group group_ports(const struct wf_scenario *s)
{
    const struct wf_desc *d = &s->desc;
    struct group g;
    uint32_t n = 0;

    for (uint32_t i = 0; i < 2 * d->n_links; i++)
        n += d->links[i / 2].port_cfg[i % 2] != NULL;
    g = new_group("port", n);
    for (uint32_t i = 0; i < 2 * d->n_links; i++) {
        const struct wf_switch_port_cfg *c = d->links[i / 2].port_cfg[i % 2];

        if (!c)
            continue;
        n--;
        g.names[g.n - 1 - n] = s->ports[i];
        g.texts[g.n - 1 - n] = explain_text(s, &wf_switch_port_keys, c);
    }
    return g;
}

static void explain_nodes(const struct wf_scenario *s, FILE *out)
{
    const struct wf_desc *d = &s->desc;
    struct group links = new_group("link", d->n_links);
    struct group switches = new_group("switch", d->n_switches);
    struct group ports = group_ports(s);
    struct group hosts = new_group("host", d->n_hosts);

    for (uint32_t i = 0; i < d->n_links; i++) {
        links.names[i] = s->links[i];
        links.texts[i] = explain_text(s, &wf_link_keys, &d->links[i].cfg);
    }
    for (uint32_t i = 0; i < d->n_switches; i++) {
        switches.names[i] = d->switches[i].name;
        switches.texts[i] = explain_text(s, &wf_switch_keys, &d->switches[i].cfg);
    }
    for (uint32_t i = 0; i < d->n_hosts; i++) {
        hosts.names[i] = d->hosts[i].name;
        hosts.texts[i] = explain_text(s, &wf_host_keys, &d->hosts[i].cfg);
        drop_addresses(hosts.texts[i]);
    }
    print_group(out, &links);
    print_group(out, &switches);
    print_group(out, &ports);
    print_group(out, &hosts);
}

static void explain_addresses(const struct wf_scenario *s, FILE *out)
{
    static const char *const keys[] = {"mac", "ip", "ip6", "gateway", "gateway6"};
    char buf[128];

    fprintf(out, "\naddresses (given by the fabric unless a place is named):\n");
    for (uint32_t i = 0; i < s->desc.n_hosts; i++) {
        const struct wf_desc_host *h = &s->desc.hosts[i];

        fprintf(out, "  %s", h->name);
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
            const struct wf_key *key = wf_keyset_find(&wf_host_keys, keys[k]);
            const struct wf_origin *o =
                wf_origins_find(&s->origins, (const char *)&h->cfg + key->off);

            fprintf(out, " %s %s", key->name, wf_key_text(key, &h->cfg, buf, sizeof(buf)));
            if (o && o->line)
                fprintf(out, " (%s:%d:%d)", o->file, o->line, o->col);
            else if (o)
                fprintf(out, " (%s)", o->file);
        }
        fprintf(out, "\n");
    }
}

/* A lossless group as it is told of. */
struct told {
    struct wf_pg_limits lim;
    struct wf_pg_bounds bounds;
    struct wf_fraction alpha; /* of a dynamic pool */
};

static bool tell_of(const struct wf_scenario *s, uint32_t link, int end, unsigned g, struct told *t)
{
    struct wf_desc_end self = end ? s->desc.links[link].b : s->desc.links[link].a;
    const struct wf_pg_cfg *pg;

    if (self.is_host)
        return false;
    pg = &wf_desc_port_cfg(&s->desc, link, end)->pg[g];
    memset(t, 0, sizeof(*t));
    if (!pg->lossless)
        return false;
    wf_scen_pg(s, link, end, g, &t->lim, &t->bounds);
    if (s->desc.switches[self.index].cfg.ingress_pool[pg->pool].mode == WF_POOL_DYNAMIC) {
        t->alpha = pg->alpha;
        t->lim.limit = 0;
    }
    return true;
}

/* Where XOFF and XON are: "xoff 200kB, xon 181.516kB", or what they are computed from. */
static void print_points(FILE *out, const struct told *t)
{
    uint64_t point = t->lim.reserved + t->lim.limit, xon = t->lim.xon;
    char a[32], b[32];

    if (!t->alpha.den) {
        if (point > t->lim.xon_offset && point - t->lim.xon_offset > xon)
            xon = point - t->lim.xon_offset;
        fprintf(out, "xoff %s, xon %s", wf_bytes_text(point, a, sizeof(a)),
                wf_bytes_text(xon, b, sizeof(b)));
        return;
    }
    fprintf(out, t->alpha.den == 1 ? "xoff %s + %u x free" : "xoff %s + %u/%u x free",
            wf_bytes_text(t->lim.reserved, a, sizeof(a)), t->alpha.num, t->alpha.den);
    fprintf(out, ", xon %s", wf_bytes_text(xon, b, sizeof(b)));
    if (t->lim.xon_offset != UINT64_MAX)
        fprintf(out, " or xoff - %s", wf_bytes_text(t->lim.xon_offset, a, sizeof(a)));
}

/* Thresholds of lossless groups once "auto" is resolved; ports with the same are one line. */
static void explain_limits(const struct wf_scenario *s, FILE *out)
{
    struct told seen[64], t;
    size_t n = 0;
    char a[32], b[32];

    for (uint32_t i = 0; i < 2 * s->desc.n_links; i++)
        for (unsigned g = 0; g < WF_PGS; g++) {
            bool known = false;

            if (n == 64 || !tell_of(s, i / 2, (int)(i % 2), g, &t))
                continue;
            for (size_t k = 0; k < n; k++)
                known = known || !memcmp(&seen[k], &t, sizeof(t));
            if (known)
                continue;
            seen[n++] = t;
            if (n == 1)
                fprintf(out, "\nlossless groups, computed (one port for all that are equal):\n");
            fprintf(out, "  %s.pg%u: ", s->ports[i], g);
            print_points(out, &t);
            fprintf(out, ", headroom %s of at least %s\n",
                    wf_bytes_text(t.lim.headroom, a, sizeof(a)),
                    wf_bytes_text(t.bounds.headroom, b, sizeof(b)));
        }
}

static void explain_ccs(const struct wf_scenario *s, FILE *out)
{
    for (uint32_t i = 0; i < s->n_ccs; i++) {
        const struct wf_scen_cc *c = s->ccs[i];

        fprintf(out, "\ncc %s: law %s%s%s\n", c->use.name, c->use.law->name,
                c->use.params ? ", params " : "", c->use.params ? c->use.params : "");
        wf_fill_explain(out, c->keys, c->cfg, &s->origins, "  ");
    }
}

static void explain_workload(const struct wf_scenario *s, FILE *out)
{
    for (uint32_t i = 0; i < s->n_work; i++) {
        const struct wf_scen_work *w = &s->work[i];

        fprintf(out, "\nworkload %s, %u flow%s:\n", w->name, w->n_flows,
                w->n_flows == 1 ? "" : "s");
        wf_fill_explain(out, &wf_work_keys, w, &s->origins, "  ");
        wf_fill_explain(out, &wf_flow_keys, &w->cfg, &s->origins, "  ");
        wf_scen_nics_explain(s, w, out);
    }
}

static void explain_lists(const struct wf_scenario *s, FILE *out)
{
    for (uint32_t i = 0; i < s->n_steps; i++) {
        fprintf(out, "\ntimeline, entry %u:\n", i + 1);
        wf_fill_explain(out, &wf_step_keys, s->steps[i], &s->origins, "  ");
    }
    for (uint32_t i = 0; i < s->n_faults; i++) {
        fprintf(out, "\nfaults, entry %u:\n", i + 1);
        wf_fill_explain(out, &wf_fault_keys, s->faults[i], &s->origins, "  ");
    }
    for (uint32_t i = 0; i < s->n_captures; i++) {
        fprintf(out, "\ncapture, entry %u:\n", i + 1);
        wf_fill_explain(out, &wf_capture_keys, &s->captures[i], &s->origins, "  ");
    }
    for (uint32_t i = 0; i < s->n_traces; i++) {
        fprintf(out, "\ntrace, entry %u:\n", i + 1);
        wf_fill_explain(out, &wf_trace_keys, &s->traces[i], &s->origins, "  ");
    }
    if (s->why) {
        fprintf(out, "\nwhy:\n");
        wf_fill_explain(out, &wf_why_keys, s->why, &s->origins, "  ");
    }
    for (uint32_t i = 0; i < s->n_extras; i++) {
        fprintf(out, "\n%s:\n", s->extra_keys[i]->name);
        wf_fill_explain(out, s->extra_keys[i], s->extras[i], &s->origins, "  ");
    }
    if (s->expects.n)
        fprintf(out, "\nexpect:\n");
    for (size_t i = 0; i < s->expects.n; i++) {
        const struct wf_expect *e = &s->expects.items[i];

        fprintf(out, "  %s  # %s:%d:%d%s\n", e->text, e->file, e->line, e->col,
                e->sampled ? ", sampled" : "");
    }
}

void wf_scenario_explain(const struct wf_scenario *s, FILE *out)
{
    fprintf(out, "scenario:\n");
    wf_fill_explain(out, &wf_scen_keys, &s->opts, &s->origins, "  ");
    if (!s->topology)
        return;
    fprintf(out, "\ntopology: %s\n", s->topology);
    wf_fill_explain(out, &wf_topology_keys, s->topology_cfg, &s->origins, "  ");
    for (uint32_t i = 0; i < s->n_profiles; i++)
        fprintf(out, "profile: %s\n", s->profiles[i]);
    if (!s->desc.n_links)
        return;
    explain_nodes(s, out);
    explain_ccs(s, out);
    explain_addresses(s, out);
    explain_limits(s, out);
    explain_workload(s, out);
    explain_lists(s, out);
}
