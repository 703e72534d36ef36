/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Load balancing that hosts can't take: spray and adaptive let packets of one flow overtake each
 * other, and a host with go-back-N takes that for loss. All hosts are of that kind,
 * the model's and, as far as we know, those that are attached. And tables that no machine holds.
 */
#include "host/profile.h"
#include "scen/scen_priv.h"
#include "switch/lb.h"
#include "xport/qp.h"

#define TABLES_MAX_BYTES (2ull << 30)

static bool reorders(const struct wf_lb_cfg *lb)
{
    return lb->mode == WF_LB_SPRAY || lb->mode == WF_LB_ADAPTIVE;
}

/* In a tree of switches there is nothing to choose from. */
static bool is_tree(const struct wf_scenario *s)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->desc.n_links; i++)
        n += !s->desc.links[i].a.is_host && !s->desc.links[i].b.is_host;
    return n < s->desc.n_switches;
}

/* Whom it harms that packets overtake each other. */
static bool minds_order(const struct wf_desc *d, const struct wf_desc_flow *f)
{
    return f->cfg.service == WF_FLOW_UC ||
           (f->cfg.service == WF_FLOW_RC &&
            (wf_flow_retransmit(&f->cfg, &d->hosts[f->from].cfg.nic, &d->hosts[f->to].cfg.nic) !=
             WF_SELECTIVE));
}

/* Somebody who sends from one leaf to another and minds order; NULL: nobody. */
static const char *somebody(const struct wf_scenario *s, const uint32_t *leaf)
{
    for (uint32_t i = 0; i < s->desc.n_flows; i++)
        if (minds_order(&s->desc, &s->desc.flows[i]) &&
            wf_scen_leaf(s, leaf[s->desc.flows[i].from]) !=
                wf_scen_leaf(s, leaf[s->desc.flows[i].to]))
            return s->desc.flows[i].name;
    for (uint32_t i = 0; i < s->desc.n_hosts; i++)
        if (s->desc.hosts[i].cfg.attach.type != WF_ATTACH_NONE)
            return s->desc.hosts[i].name;
    return NULL;
}

/* Returns how many switches have hosts; degree: to how many others each is linked. */
static uint32_t count_ends(struct wf_scenario *s, uint32_t *degree)
{
    bool *has_hosts = WF_ARENA_ARRAY(&s->arena, bool, s->desc.n_switches + 1);
    uint32_t n = 0;

    for (uint32_t i = 0; i < 2 * s->desc.n_links; i++) {
        const struct wf_desc_link *l = &s->desc.links[i / 2];
        struct wf_desc_end self = i % 2 ? l->b : l->a, peer = i % 2 ? l->a : l->b;

        if (self.is_host)
            continue;
        degree[self.index] += !peer.is_host;
        n += peer.is_host && !has_hosts[self.index];
        has_hosts[self.index] |= peer.is_host;
    }
    return n;
}

/* Where the size of its table was said, or that it has one. */
static const void *table_key(const struct wf_scenario *s, const struct wf_lb_cfg *lb)
{
    bool flowlet = lb->mode == WF_LB_FLOWLET;
    const void *size = flowlet ? &lb->flowlets : &lb->buckets;
    const void *kind = flowlet ? &lb->mode : &lb->resilient;

    return wf_origins_find(&s->origins, size) ? size : kind;
}

/* The tables of all switches are there from the beginning; who has the largest is to have less. */
static void check_tables(struct wf_scenario *s)
{
    uint32_t *degree = WF_ARENA_ARRAY(&s->arena, uint32_t, s->desc.n_switches + 1);
    uint32_t n_dsts = count_ends(s, degree), at = 0;
    uint64_t sum = 0, most = 0;
    const struct wf_lb_cfg *lb;
    char a[32], b[32];

    for (uint32_t i = 0; i < s->desc.n_switches; i++) {
        uint64_t bytes =
            wf_lb_bytes(&s->desc.switches[i].cfg.lb, s->desc.n_flows, degree[i] > 1 ? n_dsts : 0);

        sum += bytes;
        at = bytes > most ? i : at;
        wf_max_u64(&most, bytes);
    }
    if (sum <= TABLES_MAX_BYTES)
        return;
    lb = &s->desc.switches[at].cfg.lb;
    wf_scen_complain(
        s, false, table_key(s, lb), NULL,
        "lb: tables of %s at each of the switches like %s, %s in all, expected at most "
        "2 GiB: fewer %s do",
        wf_bytes_text(most, a, sizeof(a)), s->desc.switches[at].name,
        wf_bytes_text(sum, b, sizeof(b)), lb->mode == WF_LB_FLOWLET ? "flowlets" : "buckets");
}

void wf_scen_check_lb(struct wf_scenario *s, const uint32_t *leaf)
{
    const struct wf_origin *told = NULL; /* one warning for each place that set it */
    const char *who = is_tree(s) ? NULL : somebody(s, leaf);

    check_tables(s);
    for (uint32_t i = 0; who && i < s->desc.n_switches; i++) {
        const struct wf_lb_cfg *lb = &s->desc.switches[i].cfg.lb;
        const struct wf_origin *o = wf_origins_find(&s->origins, &lb->mode);

        if (!reorders(lb) || (told && wf_origin_same(told, o)))
            continue;
        told = o;
        wf_scen_complain(s, true, &lb->mode, NULL,
                         "%s of %s lets packets overtake each other, which go-back-N takes for "
                         "loss: such as %s",
                         lb->mode == WF_LB_SPRAY ? "spray" : "adaptive", s->desc.switches[i].name,
                         who);
    }
}
