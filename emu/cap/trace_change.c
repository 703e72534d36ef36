/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes. After each event the series of the node that it was at are compared with what was last
 * told: an event changes its own node, an arrival that of the peer. What the timeline, commands and
 * frames from outside change between events is looked for behind them.
 */
#include "base/list.h"
#include "cap/trace_priv.h"

static void check_pause(const struct wf_traces *t, struct wf_trace_one *o, uint64_t now)
{
    const struct wf_hold *h = &o->pfc->prio[o->prio];
    uint64_t v;

    if (o->def.kind == WF_SERIES_PAUSED) {
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

static void check_group(const struct wf_traces *t, struct wf_trace_group *g, uint64_t now)
{
    for (uint32_t i = 0; g && i < g->n_spots; i++) {
        struct wf_trace_spot *s = &g->spots[i];
        uint64_t v;

        if (s->one->port)
            wf_port_count(s->one->port);
        v = *s->value;
        if (v == s->seen)
            continue;
        s->seen = v;
        wf_trace_put(t, s->one, now, WF_ROW_CHANGE, v, 0);
    }
    for (uint32_t i = 0; g && i < g->n_pauses; i++)
        check_pause(t, g->pauses[i], now);
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

static void count_ones(struct wf_traces *t)
{
    for (struct wf_trace_one *o = t->all; o; o = o->next) {
        struct wf_trace_group *g = o->node ? &t->groups[o->node->index] : NULL;

        if (o->cfg->on != WF_TRACE_CHANGE)
            continue;
        t->watching = true;
        if (o->def.kind == WF_SERIES_VALUE)
            g->n_spots++;
        else
            g->n_pauses++;
    }
}

void wf_trace_fill_groups(struct wf_traces *t)
{
    t->groups = WF_ARENA_ARRAY(&t->arena, struct wf_trace_group, t->conf.f->n_nodes);
    count_ones(t);
    for (uint32_t i = 0; i < t->conf.f->n_nodes; i++) {
        struct wf_trace_group *g = &t->groups[i];

        g->spots = WF_ARENA_ARRAY(&t->arena, struct wf_trace_spot, g->n_spots + 1);
        g->pauses = WF_ARENA_ARRAY(&t->arena, struct wf_trace_one *, g->n_pauses + 1);
        g->n_spots = g->n_pauses = 0;
    }
    for (struct wf_trace_one *o = t->all; o; o = o->next) {
        struct wf_trace_group *g = o->node ? &t->groups[o->node->index] : NULL;

        if (o->cfg->on != WF_TRACE_CHANGE)
            continue;
        if (o->def.kind == WF_SERIES_VALUE)
            g->spots[g->n_spots++] = (struct wf_trace_spot){o->value, *o->value, o};
        else
            g->pauses[g->n_pauses++] = o;
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
            check_pause(t, o, now);
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
