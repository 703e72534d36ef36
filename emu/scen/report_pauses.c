/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a run has shown of pauses, for people and as JSON: circles of queues that stand for ever,
 * who paused whom, who storms, and which flows suffer without passing where it comes from.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/assert.h"
#include "cap/json.h"
#include "host/host.h"
#include "scen/report.h"

enum { VICTIM_ROWS = 24, EDGE_ROWS = 32, PATH_MAX_PORTS = 64, CYCLE_ROWS = 8, STORM_ROWS = 24 };

/* ---- for people ---- */

/* The pauses for one queue, and below each those that it led to. */
static void pause_branch(const struct wf_report *r, const struct wf_pause_queue *cause,
                         unsigned depth, uint32_t *left, FILE *out)
{
    const struct wf_pause_edge *e = wf_pause_edges(&r->pauses, cause);

    for (; e && *left; e = e->next) {
        char t[32];

        if (e->depth != depth)
            continue;
        --*left;
        fprintf(out, "  %*spaused %s.prio%u %u times, for %s\n", (int)(2 * depth), "",
                e->paused.port->name, e->prio, e->xoffs, wf_time_short(e->paused_ps, t, sizeof(t)));
        pause_branch(r, &e->paused, depth + 1, left, out);
    }
}

static bool flow_is_victim(const struct wf_report *r, uint32_t flow)
{
    const struct wf_desc_flow *w = &r->scen->desc.flows[flow];
    struct wf_port *path[PATH_MAX_PORTS];
    uint8_t tc = r->scen->desc.hosts[w->from].cfg.dscp_to_priority[w->cfg.dscp & 63];
    uint32_t hash;
    int n;

    if (!wf_host_flow_hash(r->f->flows[flow], &hash))
        return false;
    n = wf_fabric_path(r->f, w->from, w->to, hash, path, PATH_MAX_PORTS);
    for (int i = 0; i < n && i < PATH_MAX_PORTS; i++)
        if (r->deadlocks && wf_deadlocks_has(r->deadlocks, path[i], tc))
            return false; /* it is part of the trouble */
    return n > 0 && n <= PATH_MAX_PORTS && wf_pause_is_victim(&r->pauses, path, n, tc);
}

uint32_t wf_report_victims(const struct wf_report *r, const char **out, uint32_t max)
{
    uint32_t n = 0;

    for (uint32_t i = 0; r->pauses.n_edges && i < r->scen->desc.n_flows; i++)
        if (flow_is_victim(r, i)) {
            if (n < max)
                out[n] = r->scen->desc.flows[i].name;
            n++;
        }
    return n;
}

static void root(const struct wf_pause_tree *t, const struct wf_pause_queue *q, FILE *out)
{
    fprintf(out, "  root: %s.q%u, towards %s%s\n", q->port->name, q->queue, q->port->peer->name,
            wf_pause_from_outside(t, q->port, q->queue) ? ", which stopped it" : "");
}

static void tree(const struct wf_report *r, FILE *out)
{
    const struct wf_pause_tree *t = &r->pauses;
    const char *victims[VICTIM_ROWS];
    uint32_t left = EDGE_ROWS, n;

    if (!t->n_edges)
        return;
    fprintf(out, "\n  who paused whom\n");
    for (uint32_t i = 0; i < t->n_roots && left; i++) {
        root(t, &t->roots[i], out);
        pause_branch(r, &t->roots[i], 1, &left, out);
    }
    if (t->cycle)
        fprintf(out, "  some pauses hang together in a circle without a root\n");
    if (!left)
        fprintf(out, "  ... and more: --json has all\n");
    n = wf_report_victims(r, victims, VICTIM_ROWS);
    for (uint32_t i = 0; i < n && i < VICTIM_ROWS; i++)
        fprintf(out, "  victim: flow.%s was paused, but passes no root\n", victims[i]);
    if (n > VICTIM_ROWS)
        fprintf(out, "  ... and %u more victims: --json has all\n", n - VICTIM_ROWS);
}

static void deadlock(const struct wf_deadlock *c, FILE *out)
{
    char t[32], u[32], b[32];

    fprintf(out, "\n  deadlock: %u queues wait for each other, since %s%s%s\n", c->n_hops,
            wf_time_short(c->since_ps, t, sizeof(t)),
            c->until_ps == WF_TIME_NEVER ? ", and for ever" : ", until ",
            c->until_ps == WF_TIME_NEVER ? "" : wf_time_short(c->until_ps, u, sizeof(u)));
    for (uint32_t i = 0; i < c->n_hops; i++) {
        const struct wf_deadlock_hop *h = &c->hops[i], *next = &c->hops[(i + 1) % c->n_hops];

        fprintf(out,
                "  (%s, p%u, prio%u): %s.q%u is stopped by %s, where %s of pg%u wait in %s.q%u\n",
                h->port->node->name, h->port->index, h->prio, h->port->name, h->queue,
                h->port->peer->name, wf_bytes_short(h->waiting_bytes, b, sizeof(b)), h->pg,
                next->port->name, next->queue);
    }
}

static void deadlocks(const struct wf_deadlocks *d, FILE *out)
{
    for (uint32_t i = 0; i < d->n && i < CYCLE_ROWS; i++)
        deadlock(&d->cycles[i], out);
    if (d->n > CYCLE_ROWS)
        fprintf(out, "  ... and %u more deadlocks: --json has all\n", d->n - CYCLE_ROWS);
}

static void storms(const struct wf_storm_sources *s, FILE *out)
{
    char t[32], a[32];

    if (s->n)
        fprintf(out, "\n  storms: who paused without being full\n");
    for (uint32_t i = 0; i < s->n && i < STORM_ROWS; i++) {
        const struct wf_storm_source *x = &s->v[i];

        fprintf(
            out, "  %s paused %s.prio%u for %s by %" PRIu64 " frames, its buffers asked for %s\n",
            x->port->name, x->port->peer->name, x->prio, wf_time_short(x->paused_ps, t, sizeof(t)),
            x->frames, x->asked_ps ? wf_time_short(x->asked_ps, a, sizeof(a)) : "none");
    }
    if (s->n > STORM_ROWS)
        fprintf(out, "  ... and %u more: --json has all\n", s->n - STORM_ROWS);
}

void wf_report_pauses_text(const struct wf_report *r, FILE *out)
{
    if (r->deadlocks)
        deadlocks(r->deadlocks, out);
    storms(&r->storms, out);
    tree(r, out);
}

/* ---- as JSON ---- */

static json_t *queue_name(const struct wf_pause_queue *q)
{
    return json_sprintf("%s.q%u", q->port->name, q->queue);
}

static json_t *victims(const struct wf_report *r)
{
    uint32_t n = wf_report_victims(r, NULL, 0);
    const char **names = calloc(n + 1, sizeof(*names));
    json_t *list = json_array();
    char name[128];

    WF_ASSERT(names);
    wf_report_victims(r, names, n);
    for (uint32_t i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "flow.%s", names[i]);
        json_array_append_new(list, json_string(name));
    }
    free(names);
    return list;
}

static json_t *storms_json(const struct wf_storm_sources *s)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < s->n; i++) {
        const struct wf_storm_source *x = &s->v[i];
        json_t *j = json_pack("{s:s, s:s, s:i, s:o, s:o, s:o}", "source", x->port->name, "paused",
                              x->port->peer->name, "priority", (int)x->prio, "paused_ps",
                              wf_json_u64(x->paused_ps), "asked_ps", wf_json_u64(x->asked_ps),
                              "frames", wf_json_u64(x->frames));

        if (x->watchdog)
            json_object_set_new(j, "watchdog",
                                json_pack("{s:o, s:o}", "storm_detected_events",
                                          wf_json_u64(x->watchdog[WF_PFCWD_DETECTED]),
                                          "storm_restored_events",
                                          wf_json_u64(x->watchdog[WF_PFCWD_RESTORED])));
        json_array_append_new(list, j);
    }
    return list;
}

json_t *wf_report_pauses_json(const struct wf_report *r)
{
    json_t *roots = json_array(), *list = json_array();

    for (uint32_t i = 0; i < r->pauses.n_roots; i++)
        json_array_append_new(roots, queue_name(&r->pauses.roots[i]));
    for (uint32_t i = 0; i < r->pauses.n_edges; i++) {
        const struct wf_pause_edge *e = &r->pauses.edges[i];

        json_array_append_new(
            list, json_pack("{s:o, s:o, s:i, s:i, s:i, s:i, s:o}", "cause", queue_name(&e->cause),
                            "paused", queue_name(&e->paused), "priority", (int)e->prio, "xoffs",
                            (int)e->xoffs, "xoffs_while_paused", (int)e->while_paused, "depth",
                            (int)e->depth, "paused_ps", wf_json_u64(e->paused_ps)));
    }
    return json_pack("{s:o, s:o, s:o, s:b, s:o}", "roots", roots, "edges", list, "victims",
                     victims(r), "cycle", (int)r->pauses.cycle, "storms", storms_json(&r->storms));
}

static json_t *cycle_json(const struct wf_deadlock *c)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < c->n_hops; i++) {
        const struct wf_deadlock_hop *h = &c->hops[i];

        json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:i, s:s, s:i, s:o}", "switch",
                                              h->port->node->name, "port", h->port->name, "queue",
                                              json_sprintf("%s.q%u", h->port->name, h->queue),
                                              "priority", (int)h->prio, "stopped_by",
                                              h->port->peer->name, "priority_group", (int)h->pg,
                                              "waiting_bytes", wf_json_u64(h->waiting_bytes)));
    }
    return list;
}

json_t *wf_report_deadlocks_json(const struct wf_report *r)
{
    json_t *list = json_array();

    for (uint32_t i = 0; r->deadlocks && i < r->deadlocks->n; i++) {
        const struct wf_deadlock *c = &r->deadlocks->cycles[i];
        json_t *j = json_pack("{s:o, s:o, s:o}", "since_ps", wf_json_u64(c->since_ps), "found_ps",
                              wf_json_u64(c->found_ps), "cycle", cycle_json(c));

        if (c->until_ps != WF_TIME_NEVER)
            json_object_set_new(j, "until_ps", wf_json_u64(c->until_ps));
        json_array_append_new(list, j);
    }
    return list;
}
