/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that come late: overtaken by others, and not lost. A sender that counts the IP
 * identifications of what it sends gives them away: a late packet's lies between those of its
 * neighbours, one that is sent again has a new one. Else what fills a hole alone is late.
 */
#include "analyze/run.h"

enum {
    STEPS = 16,      /* identifications in order that show that they are counted */
    STEP_MAX = 1024, /* others of the host's packets take some */
};

/* Take [psn, psn + n) out of the hole that has psn. */
static void cut(struct wf_an_requests *r, uint32_t psn, uint32_t n)
{
    struct wf_an_hole *h = wf_an_hole_with(r->holes, r->n_holes, psn), whole;
    uint32_t before, behind;

    if (!h)
        return;
    whole = *h;
    whole.filled = false;
    before = wf_an_psn(psn - whole.first);
    behind = whole.n > before + n ? whole.n - before - n : 0;
    wf_an_hole_drop(r->holes, &r->n_holes, h);
    if (before) {
        r->holes[r->n_holes] = whole;
        r->holes[r->n_holes++].n = before;
    }
    if (behind && r->n_holes < WF_AN_HOLES) {
        r->holes[r->n_holes] = whole;
        r->holes[r->n_holes].first = wf_an_psn(psn + n);
        r->holes[r->n_holes++].n = behind;
    }
}

void wf_an_late(struct wf_analyze *a, struct wf_an_stream *s, uint32_t psn, uint32_t n,
                int64_t t_ps, struct wf_an_ref ref, const char *note)
{
    struct wf_an_requests *r = &s->req;
    const struct wf_an_hole *h = wf_an_hole_with(r->holes, r->n_holes, psn);
    struct wf_an_finding f = wf_an_new(s, WF_AN_LATE, WF_AN_NO_LOSS, psn, t_ps);

    f.packets = n;
    f.exact = true;
    f.refs[0] = ref;
    if (h) {
        f.recovery_ps = t_ps - h->t_ps;
        f.refs[1] = h->behind;
        r->late_from_ps = h->t_ps;
        r->late_to_ps = t_ps;
    }
    cut(r, psn, n);
    r->late += n;
    snprintf(f.note, sizeof(f.note), "%s", note);
    wf_an_tell(a, s, &f);
}

/* Whether a was counted before b. */
static bool before(uint16_t a, uint16_t b)
{
    return (int16_t)(uint16_t)(b - a) > 0;
}

void wf_an_count_ids(struct wf_an_requests *r, const struct wf_an_pkt *p)
{
    uint16_t step = (uint16_t)(p->ip_id - r->last_ip_id);

    if (!step || step > STEP_MAX)
        r->id_steps = 0;
    else if (r->id_steps < STEPS)
        r->id_steps++;
    r->last_ip_id = p->ip_id;
}

bool wf_an_came_late(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p)
{
    struct wf_an_requests *r = &s->req;
    const struct wf_an_hole *h = wf_an_hole_with(r->holes, r->n_holes, p->psn);
    const struct wf_an_sent *x, *y;

    if (p->family != 4)
        return false;
    if (!h) { /* behind what was sent later, and nobody waits for it */
        if (r->id_steps < STEPS || !before(p->ip_id, r->last_ip_id))
            return false;
        wf_an_late(a, s, p->psn, 1, p->t_ps, p->ref, "came late, after it was sent again");
        return true;
    }
    x = wf_an_ring_get(r, wf_an_psn(h->first - 1));
    y = wf_an_ring_get(r, wf_an_psn(h->first + h->n));
    if (!x || !y || !before(x->ip_id, p->ip_id) || !before(p->ip_id, y->ip_id))
        return false;
    if (r->nak.pending && r->nak.psn == p->psn)
        r->nak.late = true; /* the receiver has asked for what was on its way */
    wf_an_late(a, s, p->psn, 1, p->t_ps, p->ref, "came late: others have overtaken it");
    return true;
}
