/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes. After each event the series of the node that it was at are compared with what was last
 * told: an event changes its own node, an arrival that of the peer. What the timeline, commands and
 * frames from outside change between events is looked for behind them.
 */
#include "base/list.h"
#include "cap/trace_priv.h"

static void check(const struct wf_traces *t, struct wf_trace_one *o, uint64_t now)
{
    uint64_t v;

    if (o->def.kind == WF_SERIES_PAUSED) {
        const struct wf_hold *h = &o->pfc->prio[o->prio];

        if (h->from_ps == o->seen && h->until_ps == o->seen_until)
            return;
        o->seen = h->from_ps;
        o->seen_until = h->until_ps;
        wf_trace_put(t, o, now, WF_ROW_HOLD, h->from_ps, h->until_ps);
        return;
    }
    v = wf_trace_value(o, now, false);
    if (v == o->seen)
        return;
    o->seen = v;
    wf_trace_put(t, o, now, WF_ROW_CHANGE, v, 0);
}

static void check_group(const struct wf_traces *t, const struct wf_trace_group *g, uint64_t now)
{
    for (uint32_t i = 0; g && i < g->n; i++)
        check(t, g->v[i], now);
}

static void after_event(struct wf_watch *w, uint64_t now, uint64_t key)
{
    const struct wf_traces *t = (const struct wf_traces *)w;
    const struct wf_concerned *c = &t->by_entity[wf_event_entity(key)];

    check_group(t, wf_event_kind_of(key) == WF_EV_ARRIVAL ? c->peer : c->own, now);
}

/* The timeline, commands and frames from outside act between events. */
void wf_trace_check_all(const struct wf_traces *t, const struct wf_fabric *f)
{
    uint64_t now = wf_fabric_now_ps(f);

    for (uint32_t i = 0; i < f->n_nodes; i++)
        check_group(t, &t->groups[i], now);
}

static void behind_stops(struct wf_stops *s, struct wf_fabric *f)
{
    struct wf_traces *t = WF_CONTAINER_OF(s, struct wf_traces, behind);

    wf_trace_check_all(t, f);
    s->at_ps = wf_fabric_next_stop_ps(f, WF_STOPS_INPUT);
}

static unsigned behind_pollers(struct wf_poller *p, struct wf_fabric *f, uint64_t *next_ns)
{
    struct wf_traces *t = WF_CONTAINER_OF(p, struct wf_traces, poller);

    (void)next_ns;
    wf_trace_check_all(t, f);
    t->behind.at_ps = wf_fabric_next_stop_ps(f, WF_STOPS_INPUT);
    return 0;
}

void wf_trace_fill_groups(struct wf_traces *t)
{
    struct wf_fabric *f = t->conf.f;

    t->groups = WF_ARENA_ARRAY(&t->arena, struct wf_trace_group, f->n_nodes);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < f->n_nodes && pass; i++) {
            t->groups[i].v = WF_ARENA_ARRAY(&t->arena, struct wf_trace_one *, t->groups[i].n + 1);
            t->groups[i].n = 0;
        }
        for (struct wf_trace_one *o = t->all; o; o = o->next) {
            struct wf_trace_group *g = o->node ? &t->groups[o->node->index] : NULL;

            if (o->cfg->on != WF_TRACE_CHANGE)
                continue;
            t->watching = true;
            if (pass)
                g->v[g->n] = o;
            g->n++;
        }
    }
}

static void fill_entities(struct wf_traces *t)
{
    struct wf_fabric *f = t->conf.f;

    t->by_entity = WF_ARENA_ARRAY(&t->arena, struct wf_concerned, f->next_entity);
    for (uint32_t i = 0; i < f->n_nodes; i++) {
        struct wf_node *n = f->nodes[i];

        t->by_entity[n->entity].own = &t->groups[i];
        for (uint16_t p = 0; p < n->n_ports; p++) {
            struct wf_concerned *c = &t->by_entity[n->ports[p].entity];

            c->own = &t->groups[i];
            c->peer = &t->groups[n->ports[p].peer->node->index];
        }
    }
}

static void begin_changes(struct wf_traces *t)
{
    uint64_t now = wf_fabric_now_ps(t->conf.f);

    for (struct wf_trace_one *o = t->all; o; o = o->next) {
        if (o->cfg->on != WF_TRACE_CHANGE)
            continue;
        o->seen = wf_trace_value(o, now, false);
        wf_trace_put(t, o, now, WF_ROW_ALWAYS, o->seen, 0);
        if (o->def.kind == WF_SERIES_PAUSED) { /* which lasts, perhaps */
            o->seen = o->seen_until = 0;
            check(t, o, now);
        }
    }
}

void wf_trace_watch(struct wf_traces *t, struct wf_run *run)
{
    struct wf_fabric *f = t->conf.f;
    struct wf_poller **at = &run->pollers;

    fill_entities(t);
    begin_changes(t);
    t->watch.after = after_event;
    for (uint32_t i = 0; i < f->n_lcs; i++)
        f->lcs[i].watch = &t->watch;
    t->behind = (struct wf_stops){.at_ps = wf_fabric_next_stop_ps(f, WF_STOPS_INPUT),
                                  .act = behind_stops,
                                  .kind = WF_STOPS_SAMPLE};
    wf_fabric_add_stops(f, &t->behind);
    while (*at)
        at = &(*at)->next;
    t->poller = (struct wf_poller){.poll = behind_pollers};
    *at = &t->poller;
}
