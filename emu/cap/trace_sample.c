/* SPDX-License-Identifier: BSD-3-Clause */
/* Values, samples and rates of a trace. See trace.h. */
#include "cap/trace_priv.h"

void wf_trace_put(const struct wf_traces *t, const struct wf_trace_one *o, uint64_t t_ps,
                  enum wf_row_kind kind, uint64_t a, uint64_t b)
{
    const struct wf_row row = {.a = a, .b = b, .kind = (uint32_t)kind};
    unsigned ring = o->node ? (unsigned)(o->node->net->lc - t->conf.f->lcs) : 0;

    wf_recorder_put(o->file->rec, ring, t_ps, o->key, &row, sizeof(row), NULL, 0);
}

/* Stopped now, or with `before` until now. */
static bool is_held(const struct wf_trace_one *o, uint64_t now, bool before)
{
    const struct wf_hold *h = &o->pfc->prio[o->prio];

    return before ? h->from_ps < now && now <= h->until_ps : h->from_ps <= now && now < h->until_ps;
}

/* The value as it is, with its time counters settled. */
uint64_t wf_trace_value(const struct wf_trace_one *o, uint64_t now, bool before)
{
    switch (o->def.kind) {
    case WF_SERIES_PAUSED:
        return is_held(o, now, before);
    case WF_SERIES_PAUSING:
        return o->pfc->xoff_sent >> o->prio & 1;
    default:
        return *o->value;
    }
}

static uint64_t rate_of(const struct wf_trace_one *o, uint64_t interval_ps)
{
    unsigned __int128 n = (unsigned __int128)(o->seen - o->base) * o->def.scale * WF_PS_PER_S;

    return (uint64_t)((n + interval_ps / 2) / interval_ps);
}

static void settle(struct wf_sampler *s, struct wf_fabric *f)
{
    const struct wf_node *node = NULL;
    const struct wf_port *port = NULL;

    if (s->whole) {
        wf_fabric_settle(f);
        return;
    }
    for (uint32_t i = 0; i < s->n; i++) { /* in the order of nodes: each once */
        struct wf_trace_one *o = s->v[i];

        if (o->port && o->port != port)
            wf_port_settle(o->port);
        if (o->node != node && o->node->ops->settle)
            o->node->ops->settle(o->node);
        port = o->port ? o->port : port;
        node = o->node;
    }
}

/* before: what the events of this instant do is not seen yet. */
void wf_trace_sample(struct wf_sampler *s, struct wf_fabric *f, bool before)
{
    uint64_t now = wf_fabric_now_ps(f);
    bool again = now == s->last_ps; /* the end of the run: the same interval, all of it now */

    settle(s, f);
    if (!again) {
        s->from_ps = s->last_ps;
        s->last_ps = now;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        struct wf_trace_one *o = s->v[i];

        if (o->def.kind != WF_SERIES_RATE) {
            wf_trace_put(s->set, o, now, WF_ROW_ALWAYS, wf_trace_value(o, now, before), 0);
            continue;
        }
        if (!again)
            o->base = o->seen;
        o->seen = *o->value;
        if (s->last_ps > s->from_ps)
            wf_trace_put(s->set, o, now, WF_ROW_ALWAYS, rate_of(o, s->last_ps - s->from_ps), 0);
    }
}

static void take_sample(struct wf_stops *stops, struct wf_fabric *f)
{
    struct wf_sampler *s = (struct wf_sampler *)stops;

    wf_trace_sample(s, f, true);
    stops->at_ps = (stops->at_ps / s->cfg->every_ps + 1) * s->cfg->every_ps;
}

void wf_trace_start_sampler(struct wf_traces *t, struct wf_sampler *s)
{
    uint64_t now = wf_fabric_now_ps(t->conf.f);
    uint32_t n = 0;

    s->v = WF_ARENA_ARRAY(&t->arena, struct wf_trace_one *, s->n);
    for (struct wf_trace_one *o = t->all; o; o = o->next)
        if (o->cfg == s->cfg) {
            s->v[n++] = o;
            s->whole = s->whole || !o->node;
        }
    s->from_ps = s->last_ps = now;
    wf_trace_sample(s, t->conf.f, true);
    s->stops = (struct wf_stops){.at_ps = (now / s->cfg->every_ps + 1) * s->cfg->every_ps,
                                 .act = take_sample,
                                 .kind = WF_STOPS_SAMPLE};
    wf_fabric_add_stops(t->conf.f, &s->stops);
}
