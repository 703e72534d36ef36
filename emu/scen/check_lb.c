/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Load balancing that hosts can't take: spray and adaptive let packets of one flow overtake each
 * other, and a host with go-back-N takes that for loss. All hosts are of that kind,
 * the model's and, as far as we know, those that are attached.
 */
#include "scen/scen_priv.h"

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

/* Somebody who sends from one leaf to another; NULL: nobody. */
static const char *somebody(const struct wf_scenario *s, const uint32_t *leaf)
{
    for (uint32_t i = 0; i < s->desc.n_flows; i++)
        if (wf_scen_leaf(s, leaf[s->desc.flows[i].from]) !=
            wf_scen_leaf(s, leaf[s->desc.flows[i].to]))
            return s->desc.flows[i].name;
    for (uint32_t i = 0; i < s->desc.n_hosts; i++)
        if (s->desc.hosts[i].cfg.attach.type != WF_ATTACH_NONE)
            return s->desc.hosts[i].name;
    return NULL;
}

void wf_scen_check_lb(struct wf_scenario *s, const uint32_t *leaf)
{
    const struct wf_origin *told = NULL; /* one warning for each place that set it */
    const char *who = is_tree(s) ? NULL : somebody(s, leaf);

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
