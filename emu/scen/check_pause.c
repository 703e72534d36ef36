/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a pause stops what fills a lossless group, and for as long as it is meant to: the maps of
 * a switch and of its peers have to speak of the same traffic, and a pause must not run out before
 * its refresh gets through. Judged for the traffic of the workload, whose frames are untagged.
 */
#include "scen/scen_priv.h"

static bool best_effort(const struct wf_scenario *s)
{
    return s->opts.lossless == WF_SCEN_BEST_EFFORT;
}

/* What a full group sends must be what its peer obeys. */
void wf_scen_check_obeyed(struct wf_scenario *s, const struct wf_switch_port_cfg *self,
                          const struct wf_pfc_cfg *peer, unsigned g, const char *port)
{
    const struct wf_pfc_cfg *own = &self->pfc;
    uint8_t bit = (uint8_t)(1u << self->pg_to_pfc_priority[g]);
    const char *but = NULL;
    const void *at = &peer->enable;

    if (own->flow_control == WF_FLOW_NONE) {
        but = "it sends no pauses (flow_control)";
        at = &own->flow_control;
    } else if (own->flow_control == WF_FLOW_PAUSE) {
        at = &peer->flow_control;
        if (peer->flow_control == WF_FLOW_NONE ||
            (peer->flow_control == WF_FLOW_PFC && !peer->obey_pause))
            but = "its peer does not obey 802.3x pause";
    } else if (!(wf_pfc_priorities(own) & bit)) {
        but = "PFC is not enabled for the priority that it pauses";
        at = &own->priorities;
    } else if (!peer->enable || peer->flow_control != WF_FLOW_PFC) {
        but = "its peer does not obey PFC";
        at = peer->enable ? (const void *)&peer->flow_control : &peer->enable;
    } else if (!(wf_pfc_priorities(peer) & bit)) {
        but = "its peer does not obey PFC for the priority that it pauses";
        at = &peer->priorities;
    }
    if (but)
        wf_scen_complain(s, best_effort(s), at, NULL, "pg %u of %s is lossless, but %s", g, port,
                         but);
}

bool wf_scen_check_priority(struct wf_scenario *s, const struct wf_scen_work *w, uint32_t host,
                            const struct wf_switch_port_cfg *leaf)
{
    const struct wf_desc_host *h = &s->desc.hosts[host];
    unsigned dscp = w->cfg.dscp, prio = h->cfg.dscp_to_priority[dscp];
    unsigned pg = leaf->tc_to_pg[wf_scen_class_of(leaf, dscp)];

    if (!leaf->pg[pg].lossless || leaf->pg_to_pfc_priority[pg] == prio)
        return true;
    wf_scen_complain(s, best_effort(s), &leaf->pg_to_pfc_priority[pg], w->at,
                     "DSCP %u is priority %u at %s, but the leaf pauses priority %u for it: loss",
                     dscp, prio, h->name, leaf->pg_to_pfc_priority[pg]);
    return false;
}

/* A refresh leaves at half of the quanta, and waits for a frame and a PFC frame that have begun;
 * all of that is counted in bits, as the quanta are. */
static uint32_t quanta_needed(const struct wf_link_cfg *link)
{
    uint32_t frame = link->mtu + 14 + 8 + WF_FCS_LEN + WF_WIRE_OVERHEAD;
    uint32_t control = WF_FRAME_MIN + WF_WIRE_OVERHEAD;

    return (frame + control) / 32 + 1;
}

static bool any_lossless(const struct wf_switch_port_cfg *port)
{
    for (unsigned g = 0; g < WF_PGS; g++)
        if (port->pg[g].lossless)
            return true;
    return false;
}

/* What a link holds of refreshes at once is bounded; shorter quanta than that run out on it. */
static bool too_many(const struct wf_pfc_cfg *pfc, const struct wf_link_cfg *cfg)
{
    const struct wf_link link = {.cfg = *cfg};

    return wf_pfc_refreshes(pfc, &link) == WF_PFC_REFRESHES_MAX;
}

static void check_quanta(struct wf_scenario *s, uint32_t link, int end)
{
    const struct wf_desc_link *l = &s->desc.links[link];
    struct wf_desc_end e = end ? l->b : l->a;
    const struct wf_switch_port_cfg *port;
    uint32_t needs = quanta_needed(&l->cfg);

    if (e.is_host)
        return;
    port = wf_desc_port_cfg(&s->desc, link, end);
    if (any_lossless(port) && port->pfc.quanta < needs)
        wf_scen_complain(s, best_effort(s), &port->pfc.quanta, NULL,
                         "a pause of %u quanta can run out before its refresh gets through, "
                         "expected at least %u with the frames of these links: loss",
                         port->pfc.quanta, needs);
    if (any_lossless(port) && too_many(&port->pfc, &l->cfg))
        wf_scen_complain(s, best_effort(s), &port->pfc.quanta, NULL,
                         "a pause of %u quanta is too short for %s: %d refreshes would be on the "
                         "link at once, expected less",
                         port->pfc.quanta, wf_scen_port(s, link, end), WF_PFC_REFRESHES_MAX);
}

/* How long the peer may keep a priority paused for good reasons: until all of its buffer has left
 * by its slowest port; and one XOFF, whatever becomes of its XON. */
static uint64_t longest_pause(const struct wf_scenario *s, const uint64_t *slowest, uint32_t link,
                              int end)
{
    const struct wf_desc_link *l = &s->desc.links[link];
    struct wf_desc_end peer = end ? l->a : l->b;
    const struct wf_pfc_cfg *pfc = peer.is_host ? &s->desc.hosts[peer.index].cfg.pfc
                                                : &wf_desc_port_cfg(&s->desc, link, !end)->pfc;
    uint64_t ps = (uint64_t)((unsigned __int128)pfc->quanta * 512 * WF_PS_PER_S / l->cfg.rate_bps);

    if (!peer.is_host)
        wf_max_u64(&ps,
                   (uint64_t)((unsigned __int128)s->desc.switches[peer.index].cfg.buffer_bytes * 8 *
                              WF_PS_PER_S / slowest[peer.index]));
    return ps;
}

static void check_watchdog(struct wf_scenario *s, const uint64_t *slowest, uint32_t link, int end,
                           const struct wf_origin **told)
{
    const struct wf_origin *o;
    const struct wf_desc_link *l = &s->desc.links[link];
    const struct wf_watchdog_cfg *c;
    uint64_t longest;
    char a[32], b[32];

    if ((end ? l->b : l->a).is_host)
        return;
    c = &wf_desc_port_cfg(&s->desc, link, end)->watchdog;
    o = wf_origins_find(&s->origins, &c->poll_ps);
    if (c->action == WF_WD_OFF || (*told && wf_origin_same(*told, o))) /* once for each place */
        return;
    if (c->poll_ps > c->detect_ps || c->poll_ps > c->restore_ps) {
        *told = o;
        wf_scen_complain(s, false, &c->poll_ps, NULL,
                         "poll is %s, longer than %s, expected no more than detect and restore",
                         wf_time_text(c->poll_ps, a, sizeof(a)),
                         c->poll_ps > c->detect_ps ? "detect" : "restore");
        return;
    }
    longest = longest_pause(s, slowest, link, end);
    if (c->detect_ps >= longest)
        return;
    *told = o;
    wf_scen_complain(s, true, &c->detect_ps, NULL,
                     "the watchdog of %s takes a pause of %s for a storm, but its peer may "
                     "have reason for %s",
                     wf_scen_port(s, link, end), wf_time_text(c->detect_ps, a, sizeof(a)),
                     wf_time_text(longest, b, sizeof(b)));
}

static void check_watchdogs(struct wf_scenario *s)
{
    uint64_t *slowest = WF_ARENA_ARRAY(&s->arena, uint64_t, s->desc.n_switches + 1);
    const struct wf_origin *told = NULL;

    for (uint32_t i = 0; i < s->desc.n_links; i++) {
        const struct wf_desc_link *l = &s->desc.links[i];
        const struct wf_desc_end ends[] = {l->a, l->b};

        for (int e = 0; e < 2; e++)
            if (!ends[e].is_host &&
                (!slowest[ends[e].index] || l->cfg.rate_bps < slowest[ends[e].index]))
                slowest[ends[e].index] = l->cfg.rate_bps;
    }
    for (uint32_t i = 0; i < s->desc.n_links; i++)
        for (int e = 0; e < 2; e++)
            check_watchdog(s, slowest, i, e, &told);
}

void wf_scen_check_pauses(struct wf_scenario *s)
{
    for (uint32_t i = 0; i < s->desc.n_links; i++)
        for (int end = 0; end < 2; end++)
            check_quanta(s, i, end);
    check_watchdogs(s);
}
