/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What makes a lossless group lossy before anything runs: headroom below what a link can still
 * deliver after XOFF, a buffer that is full before XOFF goes out, a peer that does not stop. A link
 * counts as it is at its worst: the timeline's rates too. Egress is no matter: a lossless frame is
 * never refused there.
 */
#include <stdio.h>

#include "eth/headroom.h"
#include "scen/scen_priv.h"

static bool best_effort(const struct wf_scenario *s)
{
    return s->opts.lossless == WF_SCEN_BEST_EFFORT;
}

static struct wf_desc_end self_of(const struct wf_scenario *s, uint32_t link, int end)
{
    return end ? s->desc.links[link].b : s->desc.links[link].a;
}

/* Of the peer on a link's end. */
static const struct wf_pfc_cfg *peer_pfc(const struct wf_scenario *s, uint32_t link, int end)
{
    struct wf_desc_end peer = self_of(s, link, !end);

    return peer.is_host ? &s->desc.hosts[peer.index].cfg.pfc
                        : &wf_desc_port_cfg(&s->desc, link, !end)->pfc;
}

/* A rate of a link, and how long the peer may take to stop then. */
struct pace {
    uint64_t rate_bps, response_ps;
    bool stepped; /* only after a step of the timeline */
};

static struct pace pace_of(const struct wf_scenario *s, uint32_t link, int end, uint64_t rate_bps)
{
    uint64_t ps = peer_pfc(s, link, end)->response_ps;

    return (struct pace){rate_bps, ps == WF_KEY_AUTO ? wf_pfc_response_ps(rate_bps) : ps, false};
}

static void resolve(const struct wf_scenario *s, uint32_t link, int end, unsigned g,
                    const struct pace *pace, struct wf_pg_limits *lim, struct wf_pg_bounds *bounds)
{
    const struct wf_switch_cfg *sw = &s->desc.switches[self_of(s, link, end).index].cfg;
    const struct wf_pg_cfg *pg = &wf_desc_port_cfg(&s->desc, link, end)->pg[g];
    struct wf_link_cfg cfg = s->desc.links[link].cfg;

    cfg.rate_bps = pace->rate_bps;
    wf_pg_resolve(sw, pg, &cfg, pace->response_ps, lim);
    if (pg->lossless)
        wf_pg_bounds(sw, &cfg, pace->response_ps, bounds);
}

void wf_scen_pg(const struct wf_scenario *s, uint32_t link, int end, unsigned g,
                struct wf_pg_limits *lim, struct wf_pg_bounds *bounds)
{
    struct pace pace = pace_of(s, link, end, s->desc.links[link].cfg.rate_bps);

    resolve(s, link, end, g, &pace, lim, bounds);
}

/* What arrives after XOFF, in bits: it grows with the rate and with how long that takes. */
static unsigned __int128 under_way(const struct pace *x, uint64_t delay_ps)
{
    return (unsigned __int128)x->rate_bps * (2 * delay_ps + x->response_ps);
}

/* A step's rate comes while the peer may still take as long as at the rate before it. */
static void pace_step(const struct wf_scenario *s, const struct wf_desc_step *step, int end,
                      uint64_t *rate_bps, struct pace *worst)
{
    struct pace x = pace_of(s, step->link, end, step->rate_bps);

    wf_max_u64(&x.response_ps, pace_of(s, step->link, end, *rate_bps).response_ps);
    x.stepped = true;
    *rate_bps = step->rate_bps;
    if (under_way(&x, s->desc.links[step->link].cfg.delay_ps) >
        under_way(worst, s->desc.links[step->link].cfg.delay_ps))
        *worst = x;
}

/* Of both ends of each link, by the timeline, which is in order of time. A rate that was complained
 * of is 0. */
static struct pace *worst_paces(struct wf_scenario *s)
{
    size_t n = 2ul * s->desc.n_links;
    struct pace *worst = WF_ARENA_ARRAY(&s->arena, struct pace, n + 1);
    uint64_t *rate = WF_ARENA_ARRAY(&s->arena, uint64_t, n + 1);

    for (uint32_t i = 0; i < n; i++) {
        rate[i] = s->desc.links[i / 2].cfg.rate_bps;
        worst[i] = pace_of(s, i / 2, (int)(i % 2), rate[i]);
    }
    for (uint32_t i = 0; i < s->desc.n_steps; i++) {
        const struct wf_desc_step *step = &s->desc.steps[i];

        for (int e = 0; e < 2 && step->action == WF_DO_LINK_RATE && step->rate_bps; e++)
            pace_step(s, step, e, &rate[2 * step->link + (uint32_t)e],
                      &worst[2 * step->link + (uint32_t)e]);
    }
    return worst;
}

/* Headroom that is too small, once for each place that set it: the port that needs most speaks. */
struct short_headroom {
    const struct wf_origin *origin;
    const struct wf_pg_cfg *pg;
    unsigned group, ports;
    uint64_t has, needs;
    bool small_only; /* frames as long as the link takes fit */
    bool stepped;    /* at a rate of the timeline's */
    const char *port;
};

struct shorts {
    struct short_headroom v[64];
    size_t n;
};

static bool same_place(const struct wf_origin *a, const struct wf_origin *b)
{
    return a == b || (a && b && a->file == b->file && a->line == b->line && a->col == b->col);
}

static void note_short(struct wf_scenario *s, struct shorts *all, const struct wf_pg_cfg *pg,
                       unsigned g, const struct wf_pg_limits *lim,
                       const struct wf_pg_bounds *bounds, bool stepped, const char *port)
{
    const struct wf_origin *o = wf_origins_find(&s->origins, &pg->headroom_bytes);
    bool small_only = lim->headroom >= bounds->headroom_long;
    uint64_t needs = small_only ? bounds->headroom : bounds->headroom_long;
    struct short_headroom *x = all->v;

    while (x < all->v + all->n &&
           (x->group != g || x->small_only != small_only || !same_place(x->origin, o)))
        x++;
    if (x == all->v + 64)
        return;
    if (x == all->v + all->n) {
        *x = (struct short_headroom){.origin = o, .group = g, .small_only = small_only};
        all->n++;
    }
    x->ports++;
    if (needs <= x->needs)
        return;
    x->needs = needs;
    x->has = lim->headroom;
    x->pg = pg;
    x->stepped = stepped;
    x->port = port;
}

static void tell_shorts(struct wf_scenario *s, const struct shorts *all)
{
    char a[32], b[32], more[32];

    for (const struct short_headroom *x = all->v; x < all->v + all->n; x++) {
        snprintf(more, sizeof(more), " (%u ports)", x->ports);
        wf_scen_complain(s, best_effort(s) || x->small_only, &x->pg->headroom_bytes, NULL,
                         "headroom of lossless pg %u is %s, but %s can still arrive at %s%s after "
                         "XOFF%s%s: 2 x delay x rate, the peer's response and the frames under way",
                         x->group, wf_bytes_text(x->has, a, sizeof(a)),
                         wf_bytes_text(x->needs, b, sizeof(b)), x->port, x->ports > 1 ? more : "",
                         x->small_only ? " when frames are small and waste most of their cells"
                                       : "",
                         x->stepped ? " once the timeline has changed the link's rate" : "");
    }
}

/* xon and the point of XOFF, of a group whose threshold is static. */
static void check_xon(struct wf_scenario *s, const struct wf_pg_cfg *pg, unsigned g,
                      const struct wf_pg_limits *lim)
{
    char a[32], b[32];

    if (lim->xon > lim->reserved + lim->limit)
        wf_scen_complain(s, false, &pg->xon_bytes, NULL, "xon of pg %u is %s, above xoff, %s", g,
                         wf_bytes_text(lim->xon, a, sizeof(a)),
                         wf_bytes_text(lim->reserved + lim->limit, b, sizeof(b)));
}

static void check_group_at(struct wf_scenario *s, uint32_t link, int end, unsigned g,
                           const struct pace *pace, struct shorts *shorts)
{
    const struct wf_switch_cfg *sw = &s->desc.switches[self_of(s, link, end).index].cfg;
    const struct wf_pg_cfg *pg = &wf_desc_port_cfg(&s->desc, link, end)->pg[g];
    const struct wf_pfc_cfg *peer = peer_pfc(s, link, end);
    const char *port = wf_scen_port(s, link, end);
    struct wf_pg_limits lim;
    struct wf_pg_bounds bounds;

    resolve(s, link, end, g, pace, &lim, &bounds);
    if (lim.headroom < bounds.headroom)
        note_short(s, shorts, pg, g, &lim, &bounds, pace->stepped, port);
    if (sw->ingress_pool[pg->pool].mode == WF_POOL_STATIC)
        check_xon(s, pg, g, &lim);
    wf_scen_check_obeyed(s, wf_desc_port_cfg(&s->desc, link, end), peer, g, port);
}

/* What the groups and queues of a switch have to themselves, and the largest headroom. */
struct sum {
    struct wf_carved carved;
    uint64_t most_headroom[WF_POOLS], all_headroom[WF_POOLS];
};

static void add_port(struct wf_scenario *s, uint32_t link, int end, const struct pace *pace,
                     struct sum *sums, struct shorts *shorts)
{
    struct sum *sum = &sums[self_of(s, link, end).index];
    const struct wf_switch_port_cfg *port = wf_desc_port_cfg(&s->desc, link, end);
    struct wf_pg_limits lim[WF_PGS];
    struct wf_pg_bounds b;

    for (unsigned g = 0; g < WF_PGS; g++) {
        resolve(s, link, end, g, pace, &lim[g], &b);
        if (!port->pg[g].lossless)
            continue;
        check_group_at(s, link, end, g, pace, shorts);
        sum->all_headroom[port->pg[g].pool] += b.headroom;
        if (b.headroom > sum->most_headroom[port->pg[g].pool])
            sum->most_headroom[port->pg[g].pool] = b.headroom;
    }
    wf_carve_port(&sum->carved, &s->desc.switches[self_of(s, link, end).index].cfg, port, lim);
}

/* Headroom that the groups of a pool share: for one of them it must do, for all it need not. */
static void check_headroom_pool(struct wf_scenario *s, const struct wf_desc_switch *sw,
                                const struct sum *sum, unsigned pool)
{
    const struct wf_pool_cfg *p = &sw->cfg.ingress_pool[pool];
    uint64_t most = sum->most_headroom[pool];
    char a[32], b[32];

    if (!p->headroom_bytes || !most)
        return;
    wf_bytes_text(p->headroom_bytes, a, sizeof(a));
    if (p->headroom_bytes < most)
        wf_scen_complain(s, best_effort(s), &p->headroom_bytes, NULL,
                         "headroom_pool of ingress pool %u is %s, but %s can still arrive at one "
                         "port of %s after XOFF",
                         pool, a, wf_bytes_text(most, b, sizeof(b)), sw->name);
    else if (p->headroom_bytes < sum->all_headroom[pool])
        wf_scen_complain(s, true, &p->headroom_bytes, NULL,
                         "headroom_pool of ingress pool %u is %s, the %u lossless groups of %s can "
                         "need %s together: it survives %llu of them pausing at once",
                         pool, a, sum->carved.pausing[pool], sw->name,
                         wf_bytes_text(sum->all_headroom[pool], b, sizeof(b)),
                         (unsigned long long)(p->headroom_bytes / most));
}

static bool any_pausing(const struct sum *sum)
{
    bool any = false;

    for (unsigned i = 0; i < WF_POOLS; i++)
        any = any || sum->carved.pausing[i];
    return any;
}

/* Whether the buffer is full before some pool is: then lossless frames are dropped without XOFF. */
static bool check_size(struct wf_scenario *s, const struct wf_desc_switch *sw,
                       const struct sum *sum)
{
    uint64_t headroom = 0, pools = 0;
    char a[32], b[32], c[32];

    for (unsigned i = 0; i < WF_POOLS; i++) {
        const struct wf_pool_cfg *p = &sw->cfg.ingress_pool[i];

        headroom += sum->carved.headroom[i] + p->headroom_bytes;
        pools += p->size_bytes == WF_KEY_AUTO ? sum->carved.reserved[i] : p->size_bytes;
    }
    if (headroom + pools <= sw->cfg.buffer_bytes || !any_pausing(sum))
        return true;
    wf_scen_complain(s, best_effort(s), &sw->cfg.buffer_bytes, NULL,
                     "%s needs %s for the headroom of its lossless groups and %s for its pools, "
                     "its buffer has %s: full, it drops before XOFF goes out",
                     sw->name, wf_bytes_text(headroom, a, sizeof(a)),
                     wf_bytes_text(pools, b, sizeof(b)),
                     wf_bytes_text(sw->cfg.buffer_bytes, c, sizeof(c)));
    return false;
}

static void check_pool(struct wf_scenario *s, const struct wf_desc_switch *sw,
                       const struct sum *sum, const struct wf_pool_sizes *sizes, unsigned i)
{
    const struct wf_pool_cfg *in = &sw->cfg.ingress_pool[i], *out = &sw->cfg.egress_pool[i];
    const struct wf_carved *c = &sum->carved;
    char a[32], b[32];

    if (c->reserved[i] > sizes->size[i])
        wf_scen_complain(s, false, &in->size_bytes, NULL,
                         "the groups of ingress pool %u reserve %s at the ports of %s, it has %s",
                         i, wf_bytes_text(c->reserved[i], a, sizeof(a)), sw->name,
                         wf_bytes_text(sizes->size[i], b, sizeof(b)));
    else if (c->used[i] && !sizes->shared[i])
        wf_scen_complain(s, true, &in->size_bytes, NULL,
                         "nothing of ingress pool %u of %s is left to share: its lossless groups "
                         "pause at each frame, the others drop it",
                         i, sw->name);
    if (c->queue_reserved[i] > sizes->egress_size[i])
        wf_scen_complain(s, false, &out->size_bytes, NULL,
                         "the queues of egress pool %u reserve %s at the ports of %s, it has %s", i,
                         wf_bytes_text(c->queue_reserved[i], a, sizeof(a)), sw->name,
                         wf_bytes_text(sizes->egress_size[i], b, sizeof(b)));
    check_headroom_pool(s, sw, sum, i);
}

/* Switches that are configured alike are told of once: by the first of them. */
static void check_switches(struct wf_scenario *s, const struct sum *sums)
{
    const struct wf_origin *told = NULL;
    size_t had = s->diags.n;

    for (uint32_t i = 0; i < s->desc.n_switches; i++) {
        const struct wf_desc_switch *sw = &s->desc.switches[i];
        const struct wf_origin *o = wf_origins_find(&s->origins, &sw->cfg.buffer_bytes);
        struct wf_pool_sizes sizes;

        if (s->diags.n > had && same_place(told, o))
            continue;
        had = s->diags.n;
        told = o;
        wf_pool_sizes(&sw->cfg, &sums[i].carved, &sizes);
        if (!check_size(s, sw, &sums[i]))
            continue;
        for (unsigned p = 0; p < WF_POOLS; p++)
            check_pool(s, sw, &sums[i], &sizes, p);
    }
}

/* A key that the pool's mode makes idle, or an alpha that no ASIC has. */
static void check_share(struct wf_scenario *s, const struct wf_pool_cfg *pool, const char *what,
                        unsigned i, const struct wf_fraction *alpha, const void *limit,
                        const char *limit_key)
{
    int8_t shift;

    if (!wf_alpha_shift(alpha, &shift))
        wf_scen_complain(s, false, alpha, NULL,
                         "alpha of %s %u is %u/%u, expected a power of two from 1/65536 to 65536, "
                         "such as 1/8, 1 or 4",
                         what, i, alpha->num, alpha->den);
    if (pool->mode == WF_POOL_STATIC && wf_origins_find(&s->origins, alpha))
        wf_scen_complain(s, true, alpha, NULL,
                         "alpha of %s %u does nothing: its pool is static, %s counts", what, i,
                         limit_key);
    if (pool->mode == WF_POOL_DYNAMIC && wf_origins_find(&s->origins, limit))
        wf_scen_complain(s, true, limit, NULL,
                         "%s of %s %u does nothing: its pool is dynamic, alpha counts", limit_key,
                         what, i);
}

static void check_shares(struct wf_scenario *s, const struct wf_switch_cfg *sw,
                         const struct wf_switch_port_cfg *port)
{
    for (unsigned i = 0; i < WF_PGS; i++) {
        const struct wf_pg_cfg *pg = &port->pg[i];

        check_share(s, &sw->ingress_pool[pg->pool], "pg", i, &pg->alpha,
                    pg->lossless ? &pg->xoff_bytes : &pg->limit_bytes,
                    pg->lossless ? "xoff" : "limit");
    }
    for (unsigned i = 0; i < WF_QUEUES; i++)
        check_share(s, &sw->egress_pool[port->queue[i].pool], "queue", i, &port->queue[i].alpha,
                    &port->queue[i].limit_bytes, "limit");
}

void wf_scen_check_buffer(struct wf_scenario *s)
{
    struct sum *sums = WF_ARENA_ARRAY(&s->arena, struct sum, s->desc.n_switches + 1);
    const struct pace *worst = worst_paces(s);
    struct shorts shorts = {.n = 0};

    for (uint32_t i = 0; i < s->desc.n_switches; i++)
        check_shares(s, &s->desc.switches[i].cfg, &s->desc.switches[i].cfg.port);
    for (uint32_t i = 0; i < 2 * s->desc.n_links; i++) {
        struct wf_desc_end self = self_of(s, i / 2, (int)(i % 2));

        if (self.is_host)
            continue;
        if (s->desc.links[i / 2].port_cfg[i % 2])
            check_shares(s, &s->desc.switches[self.index].cfg,
                         s->desc.links[i / 2].port_cfg[i % 2]);
        add_port(s, i / 2, (int)(i % 2), &worst[i], sums, &shorts);
    }
    tell_shorts(s, &shorts);
    check_switches(s, sums);
}
