/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a sender went back, judged by what is known of its answers (IBA vol. 1, 9.7.5.2.8 NAK,
 * 9.7.5.2.8.1 RNR NAK, 9.7.6.1.3 the local ACK timeout; READ: 9.7.7.2): which packet was lost, and
 * where, or that none was. See run.h.
 */
#include "analyze/run.h"

#include <string.h>

static bool one_sided(const struct wf_analyze *a, const struct wf_an_stream *s)
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

/* Whether an answer, or what a NAK makes the sender do, would have come long before. */
static bool waited_long(const struct wf_an_stream *s, const struct wf_an_run *run)
{
    int64_t usual = 50000000; /* 50 us */

    if (s->ack_delay.n && s->ack_delay.max_ps > usual)
        usual = s->ack_delay.max_ps;
    if (s->nak_gap.n && s->nak_gap.max_ps > usual)
        usual = s->nak_gap.max_ps;
    return run->quiet_ps / 4 >= usual;
}

/* Whether so long a wait can be the timer's: a long one; or nothing at all was sent for just as
 * long as a timer may be set to. */
static bool waited(const struct wf_an_stream *s, const struct wf_an_run *run)
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
    if (!one_sided(a, s) && waited(s, run))
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
        r->cur = run->nak.psn; /* the gap is noted as any other */
        if (r->n_holes < WF_AN_HOLES)
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

/* ---- what it means ---- */

static int64_t detected(const struct wf_an_run *run, const struct wf_an_hole *h)
{
    if (h)
        return h->t_ps;
    return run->nak.t_ps ? run->nak.t_ps : run->t_ps - run->quiet_ps;
}

/* The lost packet: where it was seen, or what showed that it is missing. */
static void place(struct wf_an_stream *s, struct wf_an_finding *f, const struct wf_an_hole *h)
{
    if (h && h->t_ps < s->req.run.t_ps) {
        f->where = WF_AN_BEFORE;
        f->refs[0] = h->behind;
    } else if (s->req.run.first_time.number) {
        f->where = WF_AN_AFTER;
        f->refs[0] = s->req.run.first_time;
        f->seen_ps = s->req.run.first_ps;
        if (s->req.run.first_bad) {
            f->what = WF_AN_DAMAGED;
            snprintf(f->note, sizeof(f->note), "its ICRC is wrong in this capture");
        }
    }
}

/* After silence: nothing came back for what was in flight. Were it not the last of it that was
 * lost, or the answer to that, a NAK would have come. */
static void unheard(const struct wf_an_stream *s, const struct wf_an_run *run,
                    struct wf_an_finding *f)
{
    const struct wf_an_sent *e;

    f->where = WF_AN_AFTER;
    if (run->twice && run->is_next && s->req.asked_known && s->req.asked == run->from) {
        /* a receiver asks once for what is missing: the answer to that was lost in its turn */
        f->exact = true;
        return;
    }
    f->what = WF_AN_UNHEARD;
    if (!run->last.number)
        return;
    f->psn = wf_an_psn(run->resume - 1);
    e = wf_an_ring_get(&s->req, f->psn);
    f->refs[0] = run->last;
    f->seen_ps = run->last_ps;
    f->exact = e != NULL;
    snprintf(f->note, sizeof(f->note),
             "no answer to PSN %u to %u: the last was lost, or the answer "
             "to it",
             run->from, f->psn);
}

static void loss(struct wf_analyze *a, struct wf_an_stream *s, struct wf_an_run *run)
{
    struct wf_an_requests *r = &s->req;
    uint32_t psn = run->nak.t_ps ? run->nak.psn : run->from;
    const struct wf_an_hole *h = wf_an_hole_with(r->holes, r->n_holes, psn);
    struct wf_an_finding f = wf_an_new(s, WF_AN_LOSS, WF_AN_NETWORK, psn, detected(run, h));

    f.cause = run->cause;
    f.resent = run->packets;
    f.recovery_ps = run->t_ps - f.t_ps;
    f.again_ps = run->t_ps;
    if (run->nak.late || (run->nak.t_ps && run->ahead && !h)) {
        f.what = WF_AN_LATE;
        f.verdict = WF_AN_NO_LOSS;
        snprintf(f.note, sizeof(f.note), "%s",
                 run->nak.late ? "it was overtaken, and the receiver asked for it too early"
                               : "it came ahead of others, for which receivers drop it");
    }
    f.refs[1] = run->nak.ref;
    f.refs[2] = run->ref;
    f.exact = run->nak.t_ps || h || (r->acked_known && r->acked == psn);
    if (f.what != WF_AN_LATE)
        place(s, &f, h);
    if (run->cause == WF_AN_BY_TIMEOUT && !h && f.what == WF_AN_LOSS)
        unheard(s, run, &f);
    if (run->cause == WF_AN_BY_UNSEEN)
        snprintf(f.note, sizeof(f.note), "%s",
                 one_sided(a, s) ? "the answers are not in the capture: NAK or timeout"
                                 : "no NAK was captured, though answers were");
    if (run->nak.t_ps)
        wf_an_stat_add(&s->nak_gap, run->t_ps - run->nak.t_ps);
    wf_an_stat_add(&s->recovery, f.recovery_ps);
    wf_an_tell(a, s, &f);
}

/* ACKs that passed here and yet did not help. */
static void spurious(struct wf_analyze *a, struct wf_an_stream *s, struct wf_an_run *run)
{
    struct wf_an_finding f = wf_an_new(s, WF_AN_SPURIOUS, WF_AN_NETWORK, run->from, run->t_ps);

    f.cause = WF_AN_BY_DUPLICATE;
    f.where = WF_AN_AFTER;
    f.response = true;
    f.resent = run->packets;
    f.recovery_ps = run->quiet_ps;
    f.refs[0] = s->req.acked_ref;
    f.refs[2] = run->ref;
    snprintf(f.note, sizeof(f.note), "its ACK has passed here: lost on the rest of its way");
    if (!waited_long(s, run)) { /* it may only have been slow */
        f.verdict = WF_AN_UNTOLD;
        snprintf(f.note, sizeof(f.note), "acknowledged here before%s",
                 waited(s, run) ? ", perhaps too late" : "; too soon for a timeout");
    }
    wf_an_tell(a, s, &f);
}

static void rnr(struct wf_analyze *a, struct wf_an_stream *s, struct wf_an_run *run)
{
    int64_t timer = wf_an_rnr_ps(run->nak.syndrome), wait = run->t_ps - run->nak.t_ps;
    struct wf_an_finding f = wf_an_new(s, WF_AN_RNR, WF_AN_NO_LOSS, run->nak.psn, run->nak.t_ps);

    f.cause = WF_AN_BY_RNR;
    f.recovery_ps = wait;
    f.resent = run->packets;
    f.refs[1] = run->nak.ref;
    f.refs[2] = run->ref;
    snprintf(f.note, sizeof(f.note),
             "receiver not ready: asked for %.2f ms, the sender waited %.3f ms",
             (double)timer / 1e9, (double)wait / 1e9);
    wf_an_stat_add(&s->rnr_wait, wait);
    s->stalls[WF_AN_STALL_RNR]++;
    wf_an_add(&s->stalled_ps[WF_AN_STALL_RNR], wait);
    wf_an_tell(a, s, &f);
    if (wait >= timer - timer / 50)
        return;
    s->rnr_early++;
    f.what = WF_AN_BREACH;
    snprintf(f.note, sizeof(f.note),
             "sent again %.3f ms after an RNR NAK that asked for %.2f ms "
             "(IBA 9.7.5.2.8)",
             (double)wait / 1e9, (double)timer / 1e9);
    wf_an_tell(a, s, &f);
}

/* READ responses that did not come, as the requester sees it. */
static void read_again(struct wf_analyze *a, struct wf_an_stream *s, struct wf_an_run *run)
{
    struct wf_an_stream *y = wf_an_peer(s);
    struct wf_an_hole *h = y ? wf_an_hole_with(y->resp.holes, y->resp.n_holes, run->from) : NULL;
    struct wf_an_finding f = wf_an_new(s, WF_AN_LOSS, WF_AN_NETWORK, run->from, run->t_ps);

    s->req.reads_again++;
    f.cause = WF_AN_BY_READ;
    f.response = true;
    f.where = h ? WF_AN_BEFORE : WF_AN_AFTER;
    f.resent = run->packets;
    f.refs[2] = run->ref;
    if (h) {
        f.refs[0] = h->behind;
        f.t_ps = h->t_ps;
        if (h->first == run->from) { /* what else is missing behind it comes again too */
            wf_an_hole_drop(y->resp.holes, &y->resp.n_holes, h);
        } else {
            h->n = wf_an_psn(run->from - h->first);
        }
    } else {
        f.refs[0] = y ? y->resp.rmax_ref : f.refs[0];
    }
    f.recovery_ps = run->t_ps - f.t_ps;
    wf_an_stat_add(&s->recovery, f.recovery_ps);
    wf_an_tell(a, s, &f);
}

/* Go-back-N (IBA 9.7.5.2.8): from the named packet on, all of it. */
static void judge(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_run *run,
                  bool complete)
{
    struct wf_an_finding f;

    if (run->cause != WF_AN_BY_NAK)
        return;
    if (run->from != run->nak.psn) {
        s->gbn_bad++;
        f = wf_an_new(s, WF_AN_BREACH, WF_AN_NO_LOSS, run->from, run->t_ps);
        f.refs[1] = run->nak.ref;
        f.refs[2] = run->ref;
        snprintf(f.note, sizeof(f.note),
                 "the NAK names %u and the sender went back to %u (IBA "
                 "9.7.5.2.8)",
                 run->nak.psn, run->from);
        wf_an_tell(a, s, &f);
    } else if (complete) {
        s->gbn_ok++;
    } else {
        s->selective += wf_an_diff(s->req.cur, run->back_to) < 0;
    }
}

/* What was missing behind the place where the sender began again, and came again with the rest. */
static void covered(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_run *run)
{
    struct wf_an_requests *r = &s->req;

    for (unsigned i = r->n_holes; i-- > 0;) {
        struct wf_an_hole h = r->holes[i];
        struct wf_an_finding f;

        if (!h.filled || wf_an_diff(h.first, run->from) < 0)
            continue;
        wf_an_hole_drop(r->holes, &r->n_holes, &r->holes[i]);
        if (h.first == run->from && run->cause != WF_AN_BY_RNR) {
            h.first = wf_an_psn(h.first + 1);
            h.n--;
        }
        if (!h.n)
            continue;
        f = wf_an_new(s, WF_AN_LOSS, WF_AN_UNTOLD, h.first, h.t_ps);
        f.packets = h.n;
        f.exact = true;
        f.where = WF_AN_BEFORE;
        f.cause = run->cause;
        f.again_ps = run->t_ps;
        f.refs[0] = h.behind;
        f.refs[2] = run->ref;
        f.recovery_ps = run->t_ps - h.t_ps;
        snprintf(f.note, sizeof(f.note),
                 "missing here behind a lost packet, and sent again with it: "
                 "either lost it");
        wf_an_tell(a, s, &f);
    }
}

void wf_an_run_end(struct wf_analyze *a, struct wf_an_stream *s, bool complete)
{
    struct wf_an_requests *r = &s->req;
    struct wf_an_run *run = &r->run;

    run->open = false;
    /* the first answers may have come since */
    if (run->cause == WF_AN_BY_UNSEEN && !one_sided(a, s) && waited(s, run))
        run->cause = WF_AN_BY_TIMEOUT;
    if (run->late_only && !complete) {
        wf_an_late(a, s, run->from, wf_an_psn(r->cur - run->from), run->t_ps, run->ref,
                   one_sided(a, s)
                       ? "came late: overtaken, or sent again alone; the answers are not "
                         "in the capture"
                       : "came late");
        return;
    }
    r->again_packets += run->packets;
    r->again[run->cause] += run->packets;
    if (run->cause == WF_AN_BY_RNR)
        rnr(a, s, run);
    else if (run->cause == WF_AN_BY_READ)
        read_again(a, s, run);
    else if (run->cause == WF_AN_BY_DUPLICATE)
        spurious(a, s, run);
    else
        loss(a, s, run);
    if (run->cause == WF_AN_BY_TIMEOUT) {
        int n = wf_an_timeout_n(run->quiet_ps);

        s->stalls[WF_AN_STALL_TIMEOUT]++;
        wf_an_add(&s->stalled_ps[WF_AN_STALL_TIMEOUT], run->quiet_ps);
        if (s->timeout_n < 0 || n < s->timeout_n)
            s->timeout_n = n;
    }
    judge(a, s, run, complete);
    covered(a, s, run);
}
