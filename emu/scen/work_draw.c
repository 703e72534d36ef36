/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flows of workloads, drawn from the scenario's seed: who sends to whom, when, how much. Each
 * workload has streams of its own, and a poisson one a stream for each sending host, so that what
 * one of them draws doesn't depend on the others.
 */
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/prng.h"
#include "scen/scen_priv.h"
#include "scen/sizes.h"
#include "xport/work.h"

static void stream(struct wf_prng *p, const struct wf_scenario *s, const struct wf_scen_work *w,
                   const char *what)
{
    char name[96];

    snprintf(name, sizeof(name), "workload.%s%s%s", w->name, what[0] ? "." : "", what);
    wf_prng_init(p, s->desc.seed, name);
}

/* Room for one more; false: there are too many. */
static bool make_room(struct wf_scenario *s)
{
    struct wf_desc *d = &s->desc;
    uint32_t cap = s->cap_flows ? 2 * s->cap_flows : 256;
    struct wf_desc_flow *more;

    if (d->n_flows < s->cap_flows)
        return true;
    if (d->n_flows == WF_SCEN_FLOWS_MAX) {
        s->too_many_flows = true;
        return false;
    }
    more = WF_ARENA_ARRAY(&s->arena, struct wf_desc_flow, cap);
    if (d->n_flows)
        memcpy(more, d->flows, d->n_flows * sizeof(*more));
    d->flows = more;
    s->cap_flows = cap;
    return true;
}

/* serial < 0: there is one flow at most between any two hosts. NULL: no room. */
static struct wf_desc_flow *add_flow(struct wf_scenario *s, const struct wf_scen_work *w,
                                     uint32_t from, uint32_t to, int64_t serial)
{
    const char *a = s->desc.hosts[from].name, *b = s->desc.hosts[to].name;
    /* the data of READs is sent by the other end */
    const struct wf_nic_cfg *nic =
        &s->desc.hosts[w->cfg.op == WF_WORK_READ && !w->cfg.connect ? to : from].cfg.nic;
    struct wf_desc_flow *f;

    if (!make_room(s))
        return NULL;
    f = &s->desc.flows[s->desc.n_flows++];
    *f = (struct wf_desc_flow){.from = from, .to = to, .cfg = w->cfg};
    f->cfg.control = w->control;
    if (!w->cfg.cc)
        f->cfg.control = wf_scen_cc(s, nic->cc, &nic->cc, w->at);
    if (serial >= 0)
        f->name = wf_arena_printf(&s->arena, "%s:%s-%s:%lld", w->name, a, b, (long long)serial);
    else
        f->name = wf_arena_printf(&s->arena, "%s:%s-%s", w->name, a, b);
    return f;
}

/* The first k of v become k different ones of its n, drawn. */
static void choose(struct wf_prng *p, uint32_t *v, uint32_t n, uint32_t k)
{
    for (uint32_t i = 0; i < k; i++) {
        uint32_t j = i + (uint32_t)wf_prng_below(p, n - i), t = v[i];

        v[i] = v[j];
        v[j] = t;
    }
}

/* One round: each of the sources, or fan_in of them, at the same time. */
static void incast_round(struct wf_scenario *s, const struct wf_scen_work *w, uint32_t round,
                         const uint32_t *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct wf_desc_flow *f;

        if (from[i] == w->to[0])
            continue;
        f = add_flow(s, w, from[i], w->to[0], w->rounds > 1 ? (int64_t)round : -1);
        if (!f)
            return;
        f->cfg.start_ps += round * w->period_ps;
    }
}

static void incast(struct wf_scenario *s, const struct wf_scen_work *w)
{
    uint32_t *from = WF_ARENA_ARRAY(&s->arena, uint32_t, w->n_from), n = 0;
    struct wf_prng p;

    stream(&p, s, w, "");
    for (uint32_t i = 0; i < w->n_from; i++)
        if (w->from[i] != w->to[0])
            from[n++] = w->from[i];
    for (uint32_t r = 0; r < w->rounds && !s->too_many_flows; r++) {
        if (w->fan_in)
            choose(&p, from, n, w->fan_in);
        incast_round(s, w, r, from, w->fan_in ? w->fan_in : n);
    }
}

/* Sattolo's algorithm: one cycle, so nobody sends to itself. */
static void permutation(struct wf_scenario *s, const struct wf_scen_work *w)
{
    uint32_t *to = w->to;
    struct wf_prng p;

    stream(&p, s, w, "");
    memcpy(to, w->from, w->n_from * sizeof(*to));
    for (uint32_t i = w->n_from - 1; i > 0; i--) {
        uint32_t j = (uint32_t)wf_prng_below(&p, i), t = to[i];

        to[i] = to[j];
        to[j] = t;
    }
    for (uint32_t i = 0; i < w->n_from; i++)
        add_flow(s, w, w->from[i], to[i], -1);
}

static void all_to_all(struct wf_scenario *s, const struct wf_scen_work *w)
{
    for (uint32_t i = 0; i < w->n_from && !s->too_many_flows; i++)
        for (uint32_t j = 0; j < w->n_from; j++)
            if (j != i)
                add_flow(s, w, w->from[i], w->from[j], -1);
}

/* Of each host that of its link. */
static uint64_t *line_rates(struct wf_scenario *s)
{
    uint64_t *rates = WF_ARENA_ARRAY(&s->arena, uint64_t, s->desc.n_hosts + 1);

    for (uint32_t i = 0; i < s->desc.n_links; i++) {
        const struct wf_desc_link *l = &s->desc.links[i];

        if (l->a.is_host)
            rates[l->a.index] = l->cfg.rate_bps;
        if (l->b.is_host)
            rates[l->b.index] = l->cfg.rate_bps;
    }
    return rates;
}

static uint64_t times(uint64_t ps, uint64_t in_2_32)
{
    return (uint64_t)((unsigned __int128)ps * in_2_32 >> 32);
}

/* Arrivals at one host: exponential gaps whose mean gives the load. */
static void poisson_host(struct wf_scenario *s, const struct wf_scen_work *w, uint32_t from,
                         uint64_t mean_ps)
{
    const uint32_t *to = w->n_to ? w->to : w->from;
    uint32_t n = w->n_to ? w->n_to : w->n_from, at;
    struct wf_prng p;
    uint64_t t;

    if (n == 1 && to[0] == from)
        return;
    stream(&p, s, w, s->desc.hosts[from].name);
    t = times(mean_ps, wf_prng_exp(&p));
    for (int64_t serial = 0; t < w->arrivals_ps; serial++) {
        struct wf_desc_flow *f;

        do
            at = (uint32_t)wf_prng_below(&p, n);
        while (to[at] == from);
        f = add_flow(s, w, from, to[at], serial);
        if (!f)
            return;
        f->cfg.start_ps += t;
        f->cfg.size_bytes = wf_sizes_draw(w->sizes, &p);
        t += times(mean_ps, wf_prng_exp(&p)) + 1;
    }
}

static void poisson(struct wf_scenario *s, const struct wf_scen_work *w)
{
    const uint64_t *rates = line_rates(s);

    for (uint32_t i = 0; i < w->n_from && !s->too_many_flows; i++) {
        uint64_t rate = rates[w->from[i]];

        if (rate)
            poisson_host(s, w, w->from[i], wf_sizes_interval_ps(w->sizes, rate, w->load_ppm));
    }
}

/* The flows of a file were read before. */
static void from_file(struct wf_scenario *s, const struct wf_scen_work *w)
{
    for (uint32_t i = 0; i < w->n_entries; i++) {
        const struct wf_desc_flow *e = &w->entries[i];
        struct wf_desc_flow *f = add_flow(s, w, e->from, e->to, i);
        const struct wf_cc_use *control;

        if (!f)
            return;
        control = f->cfg.control;
        f->cfg = e->cfg;
        f->cfg.control = control;
    }
}

/* One stream a workload: starts of the others stay when one is changed. */
static void jitter(struct wf_scenario *s, const struct wf_scen_work *w)
{
    struct wf_prng p;

    stream(&p, s, w, "start");
    for (uint32_t i = w->first_flow; i < s->desc.n_flows && w->jitter_ps; i++)
        s->desc.flows[i].cfg.start_ps += wf_prng_below(&p, w->jitter_ps + 1);
}

/* Flows that start too early or too late only load the fabric. */
static void judge(struct wf_scenario *s, const struct wf_scen_work *w)
{
    for (uint32_t i = w->first_flow; i < s->desc.n_flows; i++) {
        struct wf_flow_cfg *c = &s->desc.flows[i].cfg;
        uint64_t after = c->start_ps - w->cfg.start_ps;

        c->unjudged = after < w->warm_up_ps || after > w->cut_off_ps;
    }
}

static void expand(struct wf_scenario *s, struct wf_scen_work *w)
{
    w->first_flow = s->desc.n_flows;
    switch ((enum wf_work_kind)w->kind) {
    case WF_WORK_FLOW:
        add_flow(s, w, w->from[0], w->to[0], -1);
        break;
    case WF_WORK_INCAST:
        incast(s, w);
        break;
    case WF_WORK_PERMUTATION:
        permutation(s, w);
        break;
    case WF_WORK_ALL_TO_ALL:
        all_to_all(s, w);
        break;
    case WF_WORK_POISSON:
        poisson(s, w);
        break;
    case WF_WORK_FILE:
        from_file(s, w);
        break;
    }
    w->n_flows = s->desc.n_flows - w->first_flow;
    if (w->n_flows == 1)
        s->desc.flows[w->first_flow].name = w->name;
    jitter(s, w);
    judge(s, w);
}

void wf_scen_draw(struct wf_scenario *s)
{
    s->desc.n_flows = 0;
    s->too_many_flows = false;
    for (uint32_t i = 0; i < s->n_work; i++)
        if (s->work[i].good)
            expand(s, &s->work[i]);
}

bool wf_scen_drawn(const struct wf_scenario *s)
{
    for (uint32_t i = 0; i < s->n_work; i++) {
        const struct wf_scen_work *w = &s->work[i];

        if (w->kind == WF_WORK_PERMUTATION || w->kind == WF_WORK_POISSON || w->fan_in ||
            w->jitter_ps)
            return true;
    }
    return false;
}
