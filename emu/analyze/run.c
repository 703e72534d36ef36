/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a sender went back, by what is known of its answers (IBA vol. 1, 9.7.5.2.8 NAK,
 * 9.7.5.2.8.1 RNR NAK, 9.7.6.1.3 the local ACK timeout; READ: 9.7.7.2). What that means is judged
 * in verdict.c. See run.h.
 */
#include "analyze/run.h"

#include <string.h>

bool wf_an_one_sided(const struct wf_analyze *a, const struct wf_an_stream *s)
{
    const struct wf_an_stream *y = wf_an_peer(s);

    return !y || !y->resp.packets;
}

/* Responses to the READ that is asked for again: they have begun, or an answer to something later
 * has passed them over, so that some of them were lost (IBA 9.7.5.2.8, implied NAK). */
static bool asks_again(const struct wf_analyze *a, const struct wf_an_stream *s,
                       const struct wf_an_pkt *p)
{
    const struct wf_an_stream *y = wf_an_peer(s);

    if ((p->opcode & 0x1f) != WF_OP_READ_REQUEST || !y)
        return false;
    return (y->resp.rmax_known && wf_an_diff(y->resp.rmax, p->psn) >= 0) ||
           (s->req.acked_known && wf_an_diff(s->req.acked, p->psn) > 0);
}

/* Whether it is one of the times that a timer may be set to; kernels round to their tick. */
static bool fits_timer(int64_t ps)
{
    int n = wf_an_timeout_n(ps);
    int64_t timer = n < 0 ? 0 : (int64_t)4096000 << n;

    return n >= 8 && ps <= timer + timer / 10;
}

/* Whether an answer, or what a NAK makes the sender do, would have come long before, in a network
 * that takes `usual` or what it was seen to take. */
static bool longer_than(const struct wf_an_stream *s, const struct wf_an_run *run, int64_t usual)
{
    if (s->ack_delay.n && s->ack_delay.max_ps > usual)
        usual = s->ack_delay.max_ps;
    if (s->nak_gap.n && s->nak_gap.max_ps > usual)
        usual = s->nak_gap.max_ps;
    return run->quiet_ps / 4 >= usual;
}

static bool waited_long(const struct wf_an_stream *s, const struct wf_an_run *run)
{
    return longer_than(s, run, 50000000); /* 50 us */
}

/* So long that what did not come was lost: queues on the rest of the way, which the capture does
 * not see, may take longer than what it has seen. */
bool wf_an_surely_lost(const struct wf_an_stream *s, const struct wf_an_run *run)
{
    return longer_than(s, run, 200000000); /* 200 us */
}

/* Whether so long a wait can be the timer's: a long one; or nothing at all was sent for just as
 * long as a timer may be set to. */
bool wf_an_waited(const struct wf_an_stream *s, const struct wf_an_run *run)
{
    int64_t quiet = run->quiet_ps;

    if (waited_long(s, run))
        return true;
    return fits_timer(quiet) && run->silent_ps > quiet - quiet / 8;
}

static enum wf_an_cause cause_of(const struct wf_analyze *a, struct wf_an_stream *s,
                                 const struct wf_an_pkt *p)
{
    struct wf_an_requests *r = &s->req;
    struct wf_an_run *run = &r->run;

    if (r->nak_before.pending && r->nak_before.psn == p->psn && r->nak.psn != p->psn) {
        run->nak = r->nak_before;
        r->nak_before.pending = false;
        return WF_AETH_KIND(run->nak.syndrome) == 1 ? WF_AN_BY_RNR : WF_AN_BY_NAK;
    }
    if (r->nak.pending && wf_an_diff(p->psn, run->resume) < 0) {
        run->nak = r->nak;
        r->nak.pending = false;
        return WF_AETH_KIND(run->nak.syndrome) == 1 ? WF_AN_BY_RNR : WF_AN_BY_NAK;
    }
    if (asks_again(a, s, p))
        return WF_AN_BY_READ;
    if (r->acked_known && wf_an_diff(r->acked, p->psn) > 0)
        return WF_AN_BY_DUPLICATE;
    if (!wf_an_one_sided(a, s) && wf_an_waited(s, run))
        return WF_AN_BY_TIMEOUT;
    return WF_AN_BY_UNSEEN;
}

/* Since when nothing moved: the last ACK that did, or the first time that this one was sent. */
static int64_t quiet_since(const struct wf_an_requests *r, uint32_t psn)
{
    const struct wf_an_sent *e = wf_an_ring_get(r, psn);
    int64_t since = r->acked_known ? r->acked_t_ps : WF_AN_NO_TIME;

    if (e && e->t_ps > since)
        since = e->t_ps;
    return since == WF_AN_NO_TIME ? r->last_t_ps : since;
}

/* The holes that this run will fill; and those before it of which it is not sure that they are none
 * of its business, since its own beginning may be what is missing. */
static void mark_holes(struct wf_an_requests *r, uint32_t psn, struct wf_an_hole *h)
{
    const struct wf_an_run *run = &r->run;
    bool sure = run->nak.t_ps || run->is_next;

    if (h && h->first != psn && r->n_holes < WF_AN_HOLES) { /* in two */
        struct wf_an_hole rest = *h;

        rest.first = psn;
        rest.n = wf_an_psn(h->first + h->n - psn);
        h->n = wf_an_psn(psn - h->first);
        h = &r->holes[r->n_holes++];
        *h = rest;
    }
    if (h)
        h->filled = true;
    for (unsigned i = 0; i < r->n_holes && !run->late_only; i++)
        if (wf_an_diff(r->holes[i].first, psn) >= 0)
            r->holes[i].filled = true;
        else
            r->holes[i].doubt |= !sure;
}

/* The packet with which it begins, as it was sent before. */
static void first_time(const struct wf_an_requests *r, struct wf_an_run *run)
{
    const struct wf_an_nak *nak = &run->nak;
    const struct wf_an_sent *e = wf_an_ring_get(r, run->from);

    if (nak->t_ps) {
        run->first_time = nak->seen;
        run->first_ps = nak->seen_ps;
        run->first_bad = nak->seen_bad;
        run->twice = nak->seen_twice;
        run->ahead = nak->ahead;
    } else if (e) {
        run->first_time = e->ref;
        run->first_ps = e->t_ps;
        run->first_bad = e->flags & WF_AN_BAD_ICRC;
        run->twice = e->flags & WF_AN_AGAIN;
    }
}

void wf_an_run_begin(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p)
{
    struct wf_an_requests *r = &s->req;
    struct wf_an_run *run = &r->run;
    struct wf_an_hole *h = wf_an_hole_with(r->holes, r->n_holes, p->psn);
    const struct wf_an_sent *e;
    int32_t skipped;

    *run = (struct wf_an_run){
        .open = true, .from = p->psn, .resume = r->max, .t_ps = p->t_ps, .ref = p->ref};
    run->is_next = r->acked_known && r->acked == p->psn;
    run->asked = r->asked;
    run->waits = r->asked_known && wf_an_diff(r->max, r->asked) > 0 &&
                 !(r->acked_known && wf_an_diff(r->acked, r->asked) > 0);
    run->silent_ps = p->t_ps - r->last_t_ps;
    run->quiet_ps = p->t_ps - quiet_since(r, p->psn);
    run->cause = (uint8_t)cause_of(a, s, p);
    e = wf_an_ring_get(r, wf_an_psn(r->max - 1));
    if (e) {
        run->last = e->ref;
        run->last_ps = e->t_ps;
    }
    first_time(r, run);
    run->late_only = h && (run->cause == WF_AN_BY_UNSEEN || run->cause == WF_AN_BY_DUPLICATE);
    run->back_to = run->late_only ? r->cur : r->max;
    mark_holes(r, p->psn, h);
    /* Behind what the NAK asks for: its first packets are not in the capture. */
    skipped = wf_an_diff(p->psn, run->nak.psn);
    if (run->nak.t_ps && skipped > 0) {
        run->from = run->nak.psn;
        r->cur = run->nak.psn; /* the gap is noted as any other, unless it is still the old one */
        if (r->n_holes < WF_AN_HOLES && !wf_an_hole_with(r->holes, r->n_holes, r->cur))
            r->holes[r->n_holes++] = (struct wf_an_hole){.first = r->cur,
                                                         .n = (uint32_t)skipped,
                                                         .t_ps = p->t_ps,
                                                         .behind = p->ref,
                                                         .again = true};
    }
}

void wf_an_run_count(struct wf_an_stream *s, const struct wf_an_pkt *p)
{
    struct wf_an_run *run = &s->req.run;

    run->packets++;
    run->late_only &= wf_an_hole_with(s->req.holes, s->req.n_holes, p->psn) != NULL;
}

int32_t wf_an_run_step(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p,
                       int32_t d)
{
    struct wf_an_requests *r = &s->req;
    struct wf_an_run *run = &r->run;
    uint32_t back_to = run->back_to;

    if (d < 0) { /* back again: until here it was whole */
        wf_an_run_end(a, s, !run->late_only || r->cur == back_to);
        return d;
    }
    if (wf_an_diff(p->psn, back_to) < 0) {
        if (run->late_only)
            run->late_only = wf_an_hole_with(r->holes, r->n_holes, p->psn) != NULL;
        if (!run->late_only && run->back_to != r->max)
            run->back_to = r->max; /* more than late packets: it has gone back indeed */
        return d;
    }
    if (p->psn == back_to && d > 0) { /* the rest is not repeated */
        wf_an_run_end(a, s, false);
        r->cur = back_to;
        return 0;
    }
    wf_an_run_end(a, s, d == 0);
    return d;
}
