/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/deadlock.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/digest.h"
#include "base/list.h"

/* A queue that is stopped by groups of the switch at the other end. */
struct wf_stopped {
    struct wf_port *port;
    uint8_t queue;
    uint8_t groups;                       /* of the peer, that stop it */
    bool stands, dead;                    /* for longer than a pause; for ever */
    uint64_t tx_frames, since_ps, max_ps; /* max: how long one pause can last */
    uint32_t next;                        /* where what it waits for waits, when it is dead */
    uint8_t next_pg;
    uint64_t next_bytes;
};

/* Of a group that stops `from`, so much waits in `to`. */
struct wait {
    uint32_t from, to;
    uint8_t pg;
    uint64_t bytes;
};

struct waits {
    struct wait *v;
    uint32_t n, cap;
};

static void *grow(void *v, uint32_t n, uint32_t *cap, size_t size)
{
    if (n < *cap)
        return v;
    *cap = *cap ? 2 * *cap : 16;
    v = realloc(v, *cap * size);
    WF_ASSERT(v);
    return v;
}

static const struct wf_pg *groups_at(const struct wf_port *port)
{
    return ((const struct wf_switch *)port->node)->pg[port->index];
}

/* ---- which queues are stopped, and since when ---- */

/* The groups at the other end whose pause stops this queue now. */
static uint8_t stopping_groups(const struct wf_port *p, unsigned q, uint64_t now)
{
    const struct wf_pfc_port *pfc = wf_pfc_of(p), *theirs = wf_pfc_of(p->peer);
    const struct wf_pg *pg = groups_at(p->peer);
    uint8_t mask = 0;

    if (pfc->queue[q].until_ps <= now || !p->q[q].fifo.head)
        return 0;
    for (unsigned g = 0; g < WF_PGS; g++)
        if (pg[g].xoff &&
            (theirs->cfg.flow_control == WF_FLOW_PAUSE ||
             (pfc->queue_of_prio[pg[g].prio] == q && pfc->prio[pg[g].prio].until_ps > now)))
            mask |= (uint8_t)(1u << g);
    return mask;
}

/* `old` walks along with those of the last look. */
static void note_stopped(struct wf_deadlocks *d, struct wf_port *p, unsigned q, uint8_t groups,
                         const struct wf_stopped *old, uint64_t now)
{
    struct wf_stopped *s;

    d->stopped = grow(d->stopped, d->n_stopped, &d->cap_stopped, sizeof(*d->stopped));
    s = &d->stopped[d->n_stopped++];
    *s = (struct wf_stopped){.port = p,
                             .queue = (uint8_t)q,
                             .groups = groups,
                             .tx_frames = p->q[q].ctr[WF_QUEUE_TX_FRAMES],
                             .since_ps = now,
                             .max_ps = wf_pfc_quanta_ps(p, wf_pfc_of(p->peer)->cfg.quanta)};
    if (old && old->tx_frames == s->tx_frames)
        s->since_ps = old->since_ps;
    s->stands = now - s->since_ps > s->max_ps;
}

static bool is_before(const struct wf_stopped *s, const struct wf_port *p, unsigned q)
{
    return s->port->entity < p->entity || (s->port == p && s->queue < q);
}

struct before {
    const struct wf_stopped *v;
    uint32_t n, at;
};

static const struct wf_stopped *was_stopped(struct before *b, const struct wf_port *p, unsigned q)
{
    while (b->at < b->n && is_before(&b->v[b->at], p, q))
        b->at++;
    return b->at < b->n && b->v[b->at].port == p && b->v[b->at].queue == q ? &b->v[b->at] : NULL;
}

static void look_at_port(struct wf_deadlocks *d, struct wf_port *p, struct before *b, uint64_t now)
{
    for (unsigned q = 0; q < WF_QUEUES; q++) {
        uint8_t groups = p->held >> q & 1 ? stopping_groups(p, q, now) : 0;

        if (groups)
            note_stopped(d, p, q, groups, was_stopped(b, p, q), now);
    }
}

static void find_stopped(struct wf_deadlocks *d, struct wf_fabric *f)
{
    struct wf_stopped *old = d->stopped;
    struct before b = {old, d->n_stopped, 0};

    d->stopped = NULL;
    d->n_stopped = d->cap_stopped = 0;
    for (uint32_t s = 0; s < f->graph.n; s++)
        for (uint16_t i = 0; i < f->nodes[s]->n_ports; i++) {
            struct wf_port *p = &f->nodes[s]->ports[i];

            if (p->held && p->peer->node->index < f->graph.n)
                look_at_port(d, p, &b, wf_fabric_now_ps(f));
        }
    free(old);
}

/* ---- who waits for whom ---- */

static void add_wait(struct waits *w, uint32_t first, struct wait x)
{
    for (uint32_t i = first; i < w->n; i++)
        if (w->v[i].from == x.from && w->v[i].pg == x.pg) {
            w->v[i].bytes += x.bytes;
            return;
        }
    w->v = grow(w->v, w->n, &w->cap, sizeof(*w->v));
    w->v[w->n++] = x;
}

/* What waits in the queue `to` of groups that stop others. */
static void find_waits_in(const struct wf_deadlocks *d, uint32_t to, struct waits *w)
{
    const struct wf_stopped *s = &d->stopped[to];
    uint32_t cell = ((const struct wf_switch *)s->port->node)->cfg.cell_bytes, first = w->n;

    for (const struct wf_fifo_node *n = s->port->q[s->queue].fifo.head; n; n = n->next) {
        const struct wf_pkt *pkt = WF_CONTAINER_OF(n, struct wf_pkt, q);

        for (uint32_t i = 0; i < d->n_stopped && pkt->flags & WF_PKT_ACCOUNTED; i++)
            if (d->stopped[i].stands && d->stopped[i].port->peer == pkt->port &&
                d->stopped[i].groups >> pkt->pg & 1)
                add_wait(w, first,
                         (struct wait){i, to, pkt->pg, wf_cells_bytes(cell, pkt->frame_len)});
    }
}

/* Whether some group that stops it holds, in dead queues, more than XON allows; which one. */
static bool is_dead(const struct wf_deadlocks *d, uint32_t i, const struct waits *w, uint8_t *pg)
{
    const struct wf_stopped *s = &d->stopped[i];
    const struct wf_switch *sw = (const struct wf_switch *)s->port->peer->node;
    const struct wf_pg *pgs = groups_at(s->port->peer);
    uint64_t bytes[WF_PGS] = {0};

    for (uint32_t k = 0; k < w->n; k++)
        if (w->v[k].from == i && d->stopped[w->v[k].to].dead)
            bytes[w->v[k].pg] += w->v[k].bytes;
    for (*pg = 0; *pg < WF_PGS; ++*pg)
        if (s->groups >> *pg & 1 && bytes[*pg] > wf_switch_xon_level(sw, &pgs[*pg]))
            return true;
    return false;
}

/* The largest set of queues that only wait for each other. */
static bool find_dead(struct wf_deadlocks *d, const struct waits *w)
{
    bool changed = true, any = false;

    for (uint32_t i = 0; i < d->n_stopped; i++)
        d->stopped[i].dead = d->stopped[i].stands;
    while (changed) {
        changed = any = false;
        for (uint32_t i = 0; i < d->n_stopped; i++) {
            struct wf_stopped *s = &d->stopped[i];

            if (s->dead && !is_dead(d, i, w, &s->next_pg)) {
                s->dead = false;
                changed = true;
            }
            any = any || s->dead;
        }
    }
    return any;
}

/* Of each dead queue, the one in which most of what it waits for waits. */
static void find_next(struct wf_deadlocks *d, const struct waits *w)
{
    for (uint32_t k = 0; k < w->n; k++) {
        struct wf_stopped *s = &d->stopped[w->v[k].from];

        if (!s->dead || !d->stopped[w->v[k].to].dead || w->v[k].pg != s->next_pg ||
            w->v[k].bytes <= s->next_bytes)
            continue;
        s->next = w->v[k].to;
        s->next_bytes = w->v[k].bytes;
    }
}

/* ---- circles ---- */

static bool is_known(const struct wf_deadlocks *d, const struct wf_stopped *s)
{
    for (uint32_t c = 0; c < d->n; c++)
        for (uint32_t i = 0; d->cycles[c].until_ps == WF_TIME_NEVER && i < d->cycles[c].n_hops; i++)
            if (d->cycles[c].hops[i].port == s->port && d->cycles[c].hops[i].queue == s->queue)
                return true;
    return false;
}

/* The circle that `first`, its first queue in entity order, is in. */
static void add_cycle(struct wf_deadlocks *d, struct wf_fabric *f, uint32_t first, uint32_t n)
{
    struct wf_deadlock *c;
    uint32_t at = first;

    d->cycles = grow(d->cycles, d->n, &d->cap, sizeof(*d->cycles));
    c = &d->cycles[d->n++];
    *c = (struct wf_deadlock){.hops = WF_ARENA_ARRAY(&d->arena, struct wf_deadlock_hop, n),
                              .n_hops = n,
                              .found_ps = wf_fabric_now_ps(f),
                              .until_ps = WF_TIME_NEVER};
    for (uint32_t i = 0; i < n; i++, at = d->stopped[at].next) {
        const struct wf_stopped *s = &d->stopped[at];
        uint8_t prio = groups_at(s->port->peer)[s->next_pg].prio;

        c->hops[i] = (struct wf_deadlock_hop){s->port, s->queue, prio, s->next_pg, s->next_bytes};
        wf_max_u64(&c->since_ps, s->since_ps);
    }
    f->nets[0].ctr[WF_FABRIC_DEADLOCKS]++;
    f->ctr[WF_FABRIC_DEADLOCKS]++; /* as if settled anew */
}

/* How long the circle is that leads back to `first`; 0: it is not in one, or not its first. */
static uint32_t cycle_from(const struct wf_deadlocks *d, uint32_t first)
{
    uint32_t at = d->stopped[first].next, n = 1;

    for (; at != first; at = d->stopped[at].next)
        if (at < first || n++ > d->n_stopped)
            return 0;
    return n;
}

static void find_cycles(struct wf_deadlocks *d, struct wf_fabric *f)
{
    for (uint32_t i = 0; i < d->n_stopped; i++) {
        uint32_t n = d->stopped[i].dead && !is_known(d, &d->stopped[i]) ? cycle_from(d, i) : 0;

        if (n)
            add_cycle(d, f, i, n);
    }
}

static bool still_stopped(const struct wf_deadlocks *d, const struct wf_deadlock_hop *h,
                          uint64_t since_ps)
{
    for (uint32_t i = 0; i < d->n_stopped; i++)
        if (d->stopped[i].port == h->port && d->stopped[i].queue == h->queue)
            return d->stopped[i].since_ps <= since_ps;
    return false;
}

static void end_cycles(struct wf_deadlocks *d, uint64_t now)
{
    for (uint32_t c = 0; c < d->n; c++)
        for (uint32_t i = 0; i < d->cycles[c].n_hops; i++)
            if (d->cycles[c].until_ps == WF_TIME_NEVER &&
                !still_stopped(d, &d->cycles[c].hops[i], d->cycles[c].since_ps))
                d->cycles[c].until_ps = now;
}

/* What the verdict depends on: nothing of it moves while a pause stands, but what comes. */
static uint64_t state_of(const struct wf_deadlocks *d, uint32_t *n)
{
    uint64_t h = 0;

    *n = 0;
    for (uint32_t i = 0; i < d->n_stopped; i++) {
        const struct wf_stopped *s = &d->stopped[i];

        if (!s->stands)
            continue;
        ++*n;
        h = wf_mix(h, (uint64_t)s->port->entity << 16 | s->queue << 8 | s->groups);
        h = wf_mix(h, s->since_ps);
        h = wf_mix(h, s->port->q[s->queue].ctr[WF_QUEUE_ENQ_FRAMES]);
    }
    return h;
}

void wf_deadlocks_look(struct wf_deadlocks *d, struct wf_fabric *f)
{
    struct waits w = {0};
    uint64_t state;
    uint32_t standing;

    find_stopped(d, f);
    end_cycles(d, wf_fabric_now_ps(f));
    state = state_of(d, &standing);
    if (standing < 2 || state == d->seen)
        return;
    d->seen = state;
    for (uint32_t i = 0; i < d->n_stopped; i++)
        if (d->stopped[i].stands)
            find_waits_in(d, i, &w);
    if (find_dead(d, &w)) {
        find_next(d, &w);
        find_cycles(d, f);
    }
    free(w.v);
}

void wf_deadlocks_free(struct wf_deadlocks *d)
{
    free(d->cycles);
    free(d->stopped);
    wf_arena_free(&d->arena);
    *d = (struct wf_deadlocks){0};
}

uint32_t wf_deadlocks_standing(const struct wf_deadlocks *d)
{
    uint32_t n = 0;

    for (uint32_t c = 0; c < d->n; c++)
        n += d->cycles[c].until_ps == WF_TIME_NEVER;
    return n;
}

bool wf_deadlocks_has(const struct wf_deadlocks *d, const struct wf_port *port, uint8_t queue)
{
    for (uint32_t c = 0; c < d->n; c++)
        for (uint32_t i = 0; i < d->cycles[c].n_hops; i++)
            if (d->cycles[c].hops[i].port == port && d->cycles[c].hops[i].queue == queue)
                return true;
    return false;
}
