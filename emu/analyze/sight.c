/* SPDX-License-Identifier: BSD-3-Clause */
/* Several capture points. See sight.h. */
#include "analyze/sight.h"

#include <stdlib.h>
#include <string.h>

enum {
    GLIMPSES = 1024,   /* packets that a further point remembers of a stream */
    WAIT_PACKETS = 64, /* seen elsewhere before a point is given up that judges the other way */
};

/* When a packet passed a point, the last two times. */
struct wf_an_glimpse {
    uint32_t key; /* number, twice, and one more for a response; 0xffffffff: none */
    int64_t t_ps[2];
};

static uint32_t key_of(uint32_t psn, bool response)
{
    return psn << 1 | response;
}

static struct wf_an_sight *sight_of(struct wf_analyze *a, struct wf_an_stream *s, uint16_t point)
{
    struct wf_an_sight *v;

    for (unsigned i = 0; i < s->n_sights; i++)
        if (s->sights[i].point == point)
            return &s->sights[i];
    if (s->n_sights == WF_AN_SIGHTS)
        return NULL;
    v = realloc(s->sights, (s->n_sights + 1) * sizeof(*v));
    if (!v)
        return NULL;
    s->sights = v;
    v += s->n_sights++;
    *v = (struct wf_an_sight){.point = point};
    if (a->table.ring_left < GLIMPSES * sizeof(*v->ring)) {
        a->table.rings_refused++;
        return v;
    }
    v->ring = malloc(GLIMPSES * sizeof(*v->ring));
    if (!v->ring)
        return v;
    a->table.ring_left -= GLIMPSES * sizeof(*v->ring);
    memset(v->ring, 0xff, GLIMPSES * sizeof(*v->ring));
    return v;
}

void wf_an_sights_free(struct wf_an_table *t, struct wf_an_stream *s)
{
    for (unsigned i = 0; i < s->n_sights; i++) {
        if (s->sights[i].ring)
            t->ring_left += GLIMPSES * sizeof(*s->sights[i].ring);
        free(s->sights[i].ring);
    }
    free(s->sights);
}

static void glimpse(struct wf_an_stream *s, struct wf_an_sight *v, const struct wf_an_pkt *p)
{
    bool response = wf_opcodes[p->opcode].flags & WF_OPF_RESPONSE;
    const struct wf_an_sent *e = response ? NULL : wf_an_ring_get(&s->req, p->psn);
    uint32_t key = key_of(p->psn, response);
    struct wf_an_glimpse *g = v->ring ? &v->ring[key % GLIMPSES] : NULL;

    v->packets++;
    if (e && !(e->flags & WF_AN_AGAIN)) {
        wf_an_add(&v->lag_sum_ps, p->t_ps - e->t_ps);
        v->lags++;
    }
    if (!g)
        return;
    if (g->key != key)
        *g = (struct wf_an_glimpse){key, {WF_AN_NO_TIME, WF_AN_NO_TIME}};
    g->t_ps[1] = g->t_ps[0];
    g->t_ps[0] = p->t_ps;
}

/* Numbers that a service without answers has passed over on its way here. */
static void gap_on_the_way(struct wf_analyze *a, struct wf_an_stream *s, struct wf_an_sight *v,
                           const struct wf_an_pkt *p)
{
    int32_t d = v->started ? wf_an_diff(p->psn, v->next) : 0;
    struct wf_an_finding f;

    if (d < 0)
        return;
    v->started = true;
    v->next = wf_an_psn(p->psn + 1);
    if (!d || d > WF_AN_RING_MIN || !wf_an_ring_get(&s->req, wf_an_psn(p->psn - 1)))
        return;
    f = wf_an_new(s, WF_AN_LOSS, WF_AN_UNTOLD, wf_an_psn(p->psn - (uint32_t)d), p->t_ps);
    f.packets = (uint32_t)d;
    f.exact = true;
    f.refs[0] = p->ref;
    f.point = p->point;
    f.where = WF_AN_BETWEEN;
    snprintf(f.hop, sizeof(f.hop), "%s and %s", a->points[s->primary].name,
             a->points[p->point].name);
    snprintf(f.note, sizeof(f.note), "seen at the first point and not at the second");
    wf_an_tell(a, s, &f);
}

/* The point that judges the streams of the other direction between these hosts. */
static int other_way(const struct wf_analyze *a, const struct wf_an_stream *s)
{
    struct wf_half *h = wf_pairing_between(&a->table.pairing, s->half.dst, s->half.src);
    const struct wf_an_stream *y = h ? wf_an_of(h) : NULL;

    return y && y->packets ? y->primary : -1;
}

bool wf_an_judges(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p)
{
    struct wf_an_sight *v;
    int other;

    if (a->n_points == 1 || (s->packets && s->primary == p->point))
        return true;
    other = s->packets ? -1 : other_way(a, s);
    if (!s->packets && (other < 0 || other == p->point || s->elsewhere >= WAIT_PACKETS))
        return true;
    s->elsewhere++;
    v = sight_of(a, s, p->point);
    if (!v || wf_opcodes[p->opcode].service == WF_SERVICE_CNP)
        return false;
    glimpse(s, v, p);
    if (s->packets && wf_opcodes[p->opcode].service == WF_SERVICE_UC)
        gap_on_the_way(a, s, v, p);
    return false;
}

/* ---- where a packet was lost ---- */

/* How far behind the point that judges. */
static int64_t lag(const struct wf_an_sight *v)
{
    return v->lags ? v->lag_sum_ps / (int64_t)v->lags : 0;
}

/* Whether the packet that passed there at from_ps, before it was sent again, passed here: since it
 * was sent again after a round trip at least, half of the way separates the two, however well the
 * clocks are aligned. */
static bool seen_between(const struct wf_an_sight *v, uint32_t psn, bool response, int64_t from_ps,
                         int64_t to_ps)
{
    uint32_t key = key_of(psn, response);
    const struct wf_an_glimpse *g = v->ring ? &v->ring[key % GLIMPSES] : NULL;

    if (!g || g->key != key)
        return false;
    from_ps += lag(v) / 2;
    for (int i = 0; i < 2; i++)
        if (g->t_ps[i] != WF_AN_NO_TIME && g->t_ps[i] >= from_ps && g->t_ps[i] < to_ps)
            return true;
    return false;
}

/* The points in the order of the packets' way: those behind the one that judges. */
static unsigned way(const struct wf_an_stream *s, const struct wf_an_sight *list[WF_AN_SIGHTS])
{
    unsigned n = 0;

    for (unsigned i = 0; i < s->n_sights; i++) {
        const struct wf_an_sight *v = &s->sights[i];
        unsigned at = n;

        if (!v->ring || !v->lags)
            continue;
        for (; at && lag(list[at - 1]) > lag(v); at--)
            list[at] = list[at - 1];
        list[at] = v;
        n++;
    }
    return n;
}

void wf_an_locate(struct wf_analyze *a, struct wf_an_stream *s, struct wf_an_finding *f)
{
    const struct wf_an_sight *list[WF_AN_SIGHTS];
    unsigned n = s->n_sights && !f->response ? way(s, list) : 0;
    int64_t from = f->seen_ps != WF_AN_NO_TIME ? f->seen_ps : f->t_ps;
    int64_t to = f->again_ps != WF_AN_NO_TIME ? f->again_ps : INT64_MAX;
    bool lossy = f->what == WF_AN_LOSS || f->what == WF_AN_UNHEARD || f->what == WF_AN_DAMAGED;
    int last = f->seen_ps != WF_AN_NO_TIME ? 0 : -1;

    if (!n || !lossy || f->where == WF_AN_BETWEEN)
        return;
    for (unsigned i = 0; i < n; i++)
        if (seen_between(list[i], f->psn, false, from, to))
            last = (int)i + 1;
    if (last < 0)
        return; /* before them all */
    if (f->verdict == WF_AN_UNTOLD && f->seen_ps == WF_AN_NO_TIME) {
        f->verdict = WF_AN_CAPTURE;
        snprintf(f->note, sizeof(f->note), "it was seen at %s",
                 a->points[list[last - 1]->point].name);
        return;
    }
    if (f->verdict != WF_AN_NETWORK)
        return;
    if ((unsigned)last == n) {
        f->where = WF_AN_AFTER;
        snprintf(f->hop, sizeof(f->hop), "after %s", a->points[list[n - 1]->point].name);
        return;
    }
    f->where = WF_AN_BETWEEN;
    snprintf(f->hop, sizeof(f->hop), "%s and %s",
             a->points[last ? list[last - 1]->point : s->primary].name,
             a->points[list[last]->point].name);
}
