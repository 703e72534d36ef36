/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Topologies from files of other simulators.
 *   hpcc   of the HPCC simulator on ns-3: numbers of nodes, switches and links; the switches; then
 *          of each link its two nodes, rate, delay and share of frames lost. Node 5 is h5 or sw5.
 *   htsim  fat trees of two or three tiers: Nodes, Tiers, Podsize, then of each tier Radix_Down,
 *          Radix_Up, Downlink_speed_Gbps, Downlink_Latency_ns, Switch_Latency_ns, Bundle. Switches
 *          are tor0.., agg0.., core0.. in its order. Queue sizes and oversubscription, which
 * follows from the others, are read and not used.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/units.h"
#include "scen/lines.h"
#include "scen/scen_priv.h"

enum { TIERS_MAX = 3 };

struct reader {
    struct wf_scenario *s;
    struct wf_lines *l;
    struct wf_err *err;
    struct wf_desc_end *nodes; /* hpcc: by number */
    uint32_t *links;           /* hpcc: of each host */
    uint64_t n_nodes;
};

static void make_room(struct wf_scenario *s, uint64_t hosts, uint64_t switches, uint64_t links)
{
    struct wf_desc *d = &s->desc;

    d->switches = WF_ARENA_ARRAY(&s->arena, struct wf_desc_switch, switches + 1);
    d->hosts = WF_ARENA_ARRAY(&s->arena, struct wf_desc_host, hosts + 1);
    d->links = WF_ARENA_ARRAY(&s->arena, struct wf_desc_link, links + 1);
}

static struct wf_desc_end add_node(struct wf_scenario *s, bool host, const char *kind,
                                   uint32_t number)
{
    const char *name = wf_arena_printf(&s->arena, "%s%u", kind, number);
    struct wf_desc *d = &s->desc;

    if (host) {
        d->hosts[d->n_hosts].name = name;
        wf_host_cfg_defaults(&d->hosts[d->n_hosts].cfg);
        return (struct wf_desc_end){true, d->n_hosts++};
    }
    d->switches[d->n_switches].name = name;
    wf_switch_cfg_defaults(&d->switches[d->n_switches].cfg);
    return (struct wf_desc_end){false, d->n_switches++};
}

static struct wf_link_cfg *add_link(struct wf_scenario *s, struct wf_desc_end a,
                                    struct wf_desc_end b)
{
    struct wf_desc_link *l = &s->desc.links[s->desc.n_links++];

    l->a = a;
    l->b = b;
    wf_keyset_defaults(&wf_link_keys, &l->cfg);
    return &l->cfg;
}

/* --- hpcc ------------------------------------------------------------------------------------ */

/* The file is one row of words for its reader: switches may stand on several lines. */
static int hpcc_switches(struct reader *r, uint64_t n)
{
    bool *is = WF_ARENA_ARRAY(&r->s->arena, bool, r->n_nodes + 1);
    uint32_t word = 0;
    uint64_t id;
    int rc;

    for (uint64_t i = 0; i < n; i++, word++) {
        if (!i || word == r->l->n) {
            if (!wf_lines_next(r->l))
                return wf_lines_expected(r->l, 0, r->err, "the numbers of the switches");
            word = 0;
        }
        rc = wf_lines_uint(r->l, word, 0, r->n_nodes - 1, &id, r->err,
                           "a switch, the number of a node");
        if (rc)
            return rc;
        if (is[id])
            return wf_lines_expected(r->l, word, r->err, "each switch once");
        is[id] = true;
    }
    if (word < r->l->n)
        return wf_lines_expected(r->l, word, r->err, "no more switches than were said");
    for (uint32_t i = 0; i < r->n_nodes; i++)
        r->nodes[i] = add_node(r->s, !is[i], is[i] ? "sw" : "h", i);
    return 0;
}

/* 0.001 is lost as 1 of 1000. */
static int hpcc_loss(struct reader *r, struct wf_fraction *loss)
{
    uint64_t nano;
    int rc = wf_lines_nano(r->l, 4, 1, &nano, r->err, "a share of frames lost, from 0 to 1");

    if (rc || !nano)
        return rc;
    *loss = (struct wf_fraction){(uint32_t)nano, 1000000000};
    return 0;
}

static int hpcc_value(struct reader *r, uint32_t word,
                      int (*parse)(const char *, uint64_t *, struct wf_err *), uint64_t *out)
{
    char text[WF_LINE_WORD_MAX];

    if (!parse(wf_lines_word(r->l, word, text), out, r->err))
        return 0;
    if (word >= r->l->n)
        return wf_lines_expected(r->l, word, r->err, "FROM TO RATE DELAY LOSS");
    wf_err_place(r->err, r->l->file, r->l->line, r->l->words[word].col);
    return -EINVAL;
}

static int hpcc_link(struct reader *r)
{
    struct wf_link_cfg *cfg;
    struct wf_desc_end e[2];
    uint64_t id[2];
    int rc = 0;

    for (uint32_t i = 0; i < 2 && !rc; i++) {
        rc = wf_lines_uint(r->l, i, 0, r->n_nodes - 1, &id[i], r->err, "the number of a node");
        if (rc)
            return rc;
        e[i] = r->nodes[id[i]];
        if (e[i].is_host && r->links[id[i]]++)
            rc = wf_lines_expected(r->l, i, r->err, "one link of each host");
    }
    if (!rc && (id[0] == id[1] || (e[0].is_host && e[1].is_host)))
        rc = wf_lines_expected(r->l, 1, r->err, "a switch at an end of each link, and two nodes");
    if (rc)
        return rc;
    cfg = add_link(r->s, e[0], e[1]);
    rc = hpcc_value(r, 2, wf_parse_rate, &cfg->rate_bps);
    if (!rc && (cfg->rate_bps < WF_LINK_RATE_MIN_BPS || cfg->rate_bps > WF_LINK_RATE_MAX_BPS))
        rc = wf_lines_expected(r->l, 2, r->err, "a rate from 1kbps to 1.6Tbps");
    if (!rc)
        rc = hpcc_value(r, 3, wf_parse_time, &cfg->delay_ps);
    if (!rc)
        rc = hpcc_loss(r, &cfg->loss);
    if (!rc && r->l->n > 5)
        rc = wf_lines_expected(r->l, 5, r->err, "five words: FROM TO RATE DELAY LOSS");
    return rc;
}

static int hpcc(struct reader *r)
{
    uint64_t switches, links;
    int rc;

    wf_lines_next(r->l);
    rc = wf_lines_uint(r->l, 0, 2, WF_SCEN_NODES_MAX, &r->n_nodes, r->err, "the number of nodes");
    if (!rc)
        rc = wf_lines_uint(r->l, 1, 1, r->n_nodes, &switches, r->err, "the number of switches");
    if (!rc)
        rc = wf_lines_uint(r->l, 2, 1, WF_SCEN_LINKS_MAX, &links, r->err, "the number of links");
    if (rc)
        return rc;
    make_room(r->s, r->n_nodes - switches, switches, links);
    r->nodes = WF_ARENA_ARRAY(&r->s->arena, struct wf_desc_end, r->n_nodes);
    r->links = WF_ARENA_ARRAY(&r->s->arena, uint32_t, r->n_nodes);
    rc = hpcc_switches(r, switches);
    for (uint64_t i = 0; i < links && !rc; i++)
        rc = wf_lines_next(r->l) ? hpcc_link(r)
                                 : wf_lines_expected(r->l, 0, r->err, "as many links as were said");
    for (uint32_t i = 0; i < r->n_nodes && !rc; i++)
        if (r->nodes[i].is_host && !r->links[i])
            rc = wf_err_at(r->err, EINVAL, r->l->file, r->l->line, 1,
                           "node %u is a host without a link", i);
    return rc;
}

/* --- htsim ----------------------------------------------------------------------------------- */

struct tier {
    uint64_t down, up, gbps, link_ns, switch_ns, bundle, queue, over;
    int line; /* where it begins */
};

struct tree {
    uint64_t nodes, tiers, pod;
    struct tier t[TIERS_MAX];
    int line;
};

static int htsim_line(struct reader *r, struct tree *x, struct tier **at)
{
    struct tier none, *t = *at ? *at : &none;
    const struct {
        const char *name;
        uint64_t *to, min, max;
        bool head;
    } words[] = {
        {"nodes", &x->nodes, 1, WF_SCEN_NODES_MAX, true},
        {"tiers", &x->tiers, 2, 3, true},
        {"podsize", &x->pod, 1, WF_SCEN_NODES_MAX, true},
        {"radix_down", &t->down, 1, WF_SCEN_PORTS_MAX, false},
        {"radix_up", &t->up, 1, WF_SCEN_PORTS_MAX, false},
        {"downlink_speed_gbps", &t->gbps, 1, 1600, false},
        {"downlink_latency_ns", &t->link_ns, 0, 1000000000, false},
        {"switch_latency_ns", &t->switch_ns, 0, 1000000000, false},
        {"bundle", &t->bundle, 1, WF_SCEN_PORTS_MAX, false},
        {"oversubscribed", &t->over, 1, WF_SCEN_PORTS_MAX, false},
        {"queue_up", &t->queue, 0, UINT32_MAX, false},
        {"queue_down", &t->queue, 0, UINT32_MAX, false},
    };
    uint64_t tier;
    int rc;

    if (wf_lines_is(r->l, 0, "tier")) {
        rc = wf_lines_uint(r->l, 1, 0, x->tiers ? x->tiers - 1 : 0, &tier, r->err,
                           "the number of a tier, below Tiers");
        if (rc)
            return rc;
        *at = &x->t[tier];
        (*at)->line = r->l->line;
        return 0;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (wf_lines_is(r->l, 0, words[i].name) && words[i].head == !*at)
            return wf_lines_uint(r->l, 1, words[i].min, words[i].max, words[i].to, r->err,
                                 "a number that goes with it");
    return wf_lines_expected(
        r->l, 0, r->err,
        *at ? "Radix_Down, Radix_Up, Downlink_speed_Gbps, Downlink_Latency_ns, "
              "Switch_Latency_ns, Bundle or Tier"
            : "Nodes, Tiers, Podsize or Tier");
}

/* What doesn't fit together, told at the tier. */
static int htsim_check(struct reader *r, const struct tree *x)
{
    uint64_t pods = x->pod ? x->nodes / x->pod : 0;
    const struct tier *t = x->t;

    if (!pods || pods * x->pod != x->nodes)
        return wf_err_at(r->err, EINVAL, r->l->file, 1, 1,
                         "expected Nodes, Tiers and a Podsize that divides Nodes");
    for (uint64_t i = 0; i < x->tiers; i++)
        if (!t[i].down || !t[i].gbps || (i + 1 < x->tiers && !t[i].up))
            return wf_err_at(r->err, EINVAL, r->l->file, t[i].line ? t[i].line : r->l->line, 1,
                             "tier %u: expected Radix_Down, Downlink_speed_Gbps%s", (unsigned)i,
                             i + 1 < x->tiers ? " and Radix_Up" : "");
    if (t[0].bundle > 1 || x->pod % t[0].down || t[0].up % (t[1].bundle ? t[1].bundle : 1))
        return wf_err_at(r->err, EINVAL, r->l->file, t[0].line, 1,
                         "tier 0: expected a Radix_Down that divides Podsize, and a Radix_Up that "
                         "the Bundle of tier 1 divides");
    if (t[1].down != x->pod / t[0].down * (t[1].bundle ? t[1].bundle : 1))
        return wf_err_at(
            r->err, EINVAL, r->l->file, t[1].line, 1,
            "tier 1: expected a Radix_Down of the switches below in a pod times Bundle");
    if (x->tiers == 2 ? pods != 1
                      : t[1].up % (t[2].bundle ? t[2].bundle : 1) ||
                            t[2].down != pods * (t[2].bundle ? t[2].bundle : 1))
        return wf_err_at(r->err, EINVAL, r->l->file, t[x->tiers - 1].line, 1,
                         x->tiers == 2 ? "two tiers: expected a Podsize of all Nodes"
                                       : "tier 2: expected a Radix_Down of the pods times Bundle");
    return 0;
}

static void htsim_link(struct wf_scenario *s, struct wf_desc_end low, struct wf_desc_end high,
                       const struct tier *t)
{
    for (uint64_t b = 0; b < (t->bundle ? t->bundle : 1); b++) {
        struct wf_link_cfg *cfg = add_link(s, low, high);

        cfg->rate_bps = t->gbps * 1000000000;
        cfg->delay_ps = t->link_ns * 1000;
    }
}

static void htsim_switches(struct wf_scenario *s, const char *kind, uint64_t n,
                           const struct tier *t)
{
    for (uint32_t i = 0; i < n; i++)
        s->desc.switches[add_node(s, false, kind, i).index].cfg.latency_ps = t->switch_ns * 1000;
}

static int htsim_build(struct reader *r, const struct tree *x)
{
    const struct tier *t = x->t;
    uint64_t pods = x->nodes / x->pod, tors = x->pod / t[0].down;
    uint64_t aggs = t[0].up / (t[1].bundle ? t[1].bundle : 1);
    uint64_t ups = x->tiers == 3 ? t[1].up / (t[2].bundle ? t[2].bundle : 1) : 0;
    uint64_t links = x->nodes + pods * tors * t[0].up + (ups ? pods * aggs * t[1].up : 0);
    struct wf_scenario *s = r->s;

    if (links > WF_SCEN_LINKS_MAX ||
        x->nodes + pods * (tors + aggs) + aggs * ups > WF_SCEN_NODES_MAX)
        return wf_err_at(r->err, EINVAL, r->l->file, 1, 1, "more than %d nodes or %d links",
                         WF_SCEN_NODES_MAX, WF_SCEN_LINKS_MAX);
    make_room(s, x->nodes, pods * (tors + aggs) + aggs * ups, links);
    htsim_switches(s, "tor", pods * tors, &t[0]);
    htsim_switches(s, "agg", pods * aggs, &t[1]);
    htsim_switches(s, "core", aggs * ups, &t[2]);
    for (uint32_t i = 0; i < x->nodes; i++)
        htsim_link(s, add_node(s, true, "h", i),
                   (struct wf_desc_end){false, (uint32_t)(i / t[0].down)}, &t[0]);
    for (uint32_t i = 0; i < pods * tors; i++)
        for (uint32_t a = 0; a < aggs; a++)
            htsim_link(s, (struct wf_desc_end){false, i},
                       (struct wf_desc_end){false, (uint32_t)(pods * tors + i / tors * aggs + a)},
                       &t[1]);
    for (uint32_t i = 0; i < pods * aggs; i++)
        for (uint32_t c = 0; c < ups; c++)
            htsim_link(
                s, (struct wf_desc_end){false, (uint32_t)(pods * tors + i)},
                (struct wf_desc_end){false, (uint32_t)(pods * (tors + aggs) + i % aggs + aggs * c)},
                &t[2]);
    return 0;
}

static int htsim(struct reader *r)
{
    struct tree x = {0};
    struct tier *at = NULL;
    int rc = 0;

    while (!rc && wf_lines_next(r->l))
        rc = htsim_line(r, &x, &at);
    if (!rc && (!x.nodes || !x.tiers))
        rc = wf_lines_expected(r->l, 0, r->err, "Nodes, Tiers and Podsize");
    if (!rc)
        rc = htsim_check(r, &x);
    return rc ? rc : htsim_build(r, &x);
}

void wf_scen_topo_file(struct wf_scenario *s, const struct wf_scen_topology *t,
                       const struct wf_yaml_node *at)
{
    const struct wf_yaml_node *path = wf_yaml_get(at, "path");
    const struct wf_scen_text *text;
    struct wf_err err = {0};
    struct reader r = {.s = s, .err = &err};
    int rc;

    if (!t->path || !t->path[0]) {
        wf_diag_error(&s->diags, path ? path : at, "file needs 'path', the file of the topology");
        return;
    }
    text = wf_scen_file(s, path, t->path);
    if (!text)
        return;
    r.l = malloc(sizeof(*r.l));
    WF_ASSERT(r.l);
    wf_lines_begin(r.l, text->name, text->text, text->len, 0);
    rc = t->format ? htsim(&r) : hpcc(&r);
    free(r.l);
    if (!rc)
        return;
    wf_diag_add(&s->diags, false, &err);
    s->desc.n_links = 0;
}
