/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a pause between two switches stops the queue in which the traffic waits that fills the
 * group: by the DSCP with which the workload's frames get to each switch, those that it sends and
 * those that switches on the way make of them (rewrite). Frames and their ACKs are followed over
 * every link, since links fail; they are untagged. Left out: tunnels, whose outer header is new.
 */
#include <stdio.h>
#include <string.h>

#include "scen/scen_priv.h"

enum { TCS = 8 };

/* What a switch gets, by traffic class there: a bit for each DSCP. */
struct got {
    uint64_t dscps[TCS];
};

/* The end of a link at a switch. */
struct side {
    uint32_t sw;
    const struct wf_switch_port_cfg *cfg;
};

static struct side side_of(const struct wf_scenario *s, uint32_t link, int end)
{
    const struct wf_desc_link *l = &s->desc.links[link];

    return (struct side){end ? l->b.index : l->a.index, wf_desc_port_cfg(&s->desc, link, end)};
}

static bool between_switches(const struct wf_desc_link *l)
{
    return !l->a.is_host && !l->b.is_host;
}

/* With what DSCP it goes on. */
static unsigned leaves_as(const struct wf_switch_port_cfg *out, unsigned tc, unsigned dscp)
{
    bool rewrites = out->rewrite == WF_REWRITE_DSCP || out->rewrite == WF_REWRITE_BOTH;

    return rewrites ? out->tc_to_dscp[tc] : dscp;
}

/* Returns whether that is new. */
static bool comes(struct got *got, struct side in, unsigned dscp)
{
    uint64_t *at = &got[in.sw].dscps[wf_scen_class_of(in.cfg, dscp)], had = *at;

    *at |= 1ull << (dscp & 63);
    return *at != had;
}

static bool goes_on(const struct wf_scenario *s, struct got *got, uint32_t link, int end)
{
    struct side a = side_of(s, link, end), b = side_of(s, link, !end);
    bool more = false;

    for (unsigned tc = 0; tc < TCS; tc++)
        for (uint64_t left = got[a.sw].dscps[tc]; left; left &= left - 1)
            more |= comes(got, b, leaves_as(a.cfg, tc, (unsigned)__builtin_ctzll(left)));
    return more;
}

static void spread(const struct wf_scenario *s, struct got *got)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < s->desc.n_links; i++)
            if (between_switches(&s->desc.links[i])) {
                more |= goes_on(s, got, i, 0);
                more |= goes_on(s, got, i, 1);
            }
    }
}

static void tell(struct wf_scenario *s, const struct wf_scen_work *w, struct side a, struct side b,
                 unsigned tc, unsigned dscp)
{
    unsigned out = leaves_as(a.cfg, tc, dscp);
    unsigned prio = b.cfg->pg_to_pfc_priority[b.cfg->tc_to_pg[wf_scen_class_of(b.cfg, out)]];
    char as[32] = "";

    if (out != dscp)
        snprintf(as, sizeof(as), " and leaves as DSCP %u", out);
    wf_scen_complain(s, s->opts.lossless == WF_SCEN_BEST_EFFORT,
                     out == dscp ? &a.cfg->pfc_priority_to_queue[prio] : &a.cfg->tc_to_dscp[tc],
                     w->at,
                     "DSCP %u waits in queue %u of %s%s, but %s pauses priority %u for it, which "
                     "stops queue %u: loss",
                     dscp, a.cfg->tc_to_queue[tc], s->desc.switches[a.sw].name, as,
                     s->desc.switches[b.sw].name, prio, a.cfg->pfc_priority_to_queue[prio]);
}

static bool stops(struct side a, struct side b, unsigned tc, unsigned dscp)
{
    unsigned pg = b.cfg->tc_to_pg[wf_scen_class_of(b.cfg, leaves_as(a.cfg, tc, dscp))];
    unsigned prio = b.cfg->pg_to_pfc_priority[pg];

    return !b.cfg->pg[pg].lossless || a.cfg->pfc_priority_to_queue[prio] == a.cfg->tc_to_queue[tc];
}

/* Of these DSCPs the first that is wrong. */
static bool tell_first(struct wf_scenario *s, const struct wf_scen_work *w, const struct got *got,
                       struct side a, struct side b, uint64_t of)
{
    for (unsigned tc = 0; tc < TCS; tc++)
        for (uint64_t left = got[a.sw].dscps[tc] & of; left; left &= left - 1)
            if (!stops(a, b, tc, (unsigned)__builtin_ctzll(left))) {
                tell(s, w, a, b, tc, (unsigned)__builtin_ctzll(left));
                return true;
            }
    return false;
}

/* What the hosts send speaks first. */
static void check_hop(struct wf_scenario *s, const struct wf_scen_work *w, const struct got *got,
                      uint32_t link, int end)
{
    struct side a = side_of(s, link, end), b = side_of(s, link, !end);

    if (!tell_first(s, w, got, a, b, 1ull << w->cfg.dscp))
        tell_first(s, w, got, a, b, UINT64_MAX);
}

/* Frames begin at the one leaf, their ACKs with the same DSCP at the other. Returns whether any go
 * from a switch to another one. */
static bool begin(const struct wf_scenario *s, const struct wf_scen_work *w, const uint32_t *leaf,
                  struct got *got)
{
    bool any = false;

    for (uint32_t i = w->first_flow; i < w->first_flow + w->n_flows; i++) {
        uint32_t from = leaf[s->desc.flows[i].from], to = leaf[s->desc.flows[i].to];

        if (wf_scen_leaf(s, from) == wf_scen_leaf(s, to))
            continue;
        any = true;
        comes(got, side_of(s, from / 2, (int)(from % 2)), w->cfg.dscp);
        comes(got, side_of(s, to / 2, (int)(to % 2)), w->cfg.dscp);
    }
    return any;
}

void wf_scen_check_hops(struct wf_scenario *s, const uint32_t *leaf)
{
    struct got *got = WF_ARENA_ARRAY(&s->arena, struct got, s->desc.n_switches + 1);

    for (unsigned dscp = 0; dscp < 64; dscp++) {
        const struct wf_scen_work *first = NULL;

        memset(got, 0, s->desc.n_switches * sizeof(*got));
        for (uint32_t k = 0; k < s->n_work; k++)
            if (s->work[k].cfg.dscp == dscp && begin(s, &s->work[k], leaf, got))
                first = first ? first : &s->work[k];
        if (!first)
            continue;
        spread(s, got);
        for (uint32_t i = 0; i < s->desc.n_links; i++)
            for (int end = 0; end < 2 && between_switches(&s->desc.links[i]); end++)
                check_hop(s, first, got, i, end);
    }
}
