/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What it means that a sender has gone back, once it has (IBA vol.
 * 1, 9.7.5.2.8, 9.7.6.1.3, 9.7.7.2): which packet was lost, where, and whether it was; and whether
 * the sender kept to the rules.
 */
#include "analyze/run.h"

#include <string.h>

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

    if (run->waits) {
        /* a receiver asks once for what is missing: the answer to that was lost in its turn */
        f->psn = run->asked;
        f->exact = true;
        return;
    }
    f->where = WF_AN_AFTER;
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

/* All had arrived, as an answer shows: an earlier one was lost, or they were slow. How slow answers
 * can be does not show at a capture point from which the queues lie ahead. */
static void answered(struct wf_an_finding *f)
{
    f->what = WF_AN_UNHEARD;
    f->response = true;
    f->verdict = WF_AN_UNTOLD;
    snprintf(f->note, sizeof(f->note),
             "it had arrived, for it was answered before it was sent again: an earlier answer was "
             "lost, or answers were slow");
}

/* Whether it is a READ request. */
static bool asks(const struct wf_an_requests *r, uint32_t psn)
{
    const struct wf_an_sent *e = wf_an_ring_get(r, psn);

    return e && (e->opcode & 0x1f) == WF_OP_READ_REQUEST;
}

/* Neither a NAK nor a silence that is long enough shows why it was sent again. */
static void unseen(const struct wf_analyze *a, const struct wf_an_stream *s,
                   const struct wf_an_run *run, const struct wf_an_hole *h, struct wf_an_finding *f)
{
    const char *note = wf_an_one_sided(a, s) ? "the answers are not in the capture: NAK or timeout"
                                             : "no NAK was captured, though answers were";

    if (asks(&s->req, run->from)) {
        f->exact = h != NULL;
        note = "the READ, or a response to it";
    }
    /* later than a NAK makes it, and sooner than what is only slow is told from what is lost */
    if (!h && run->quiet_ps >= 50000000 && !wf_an_surely_lost(s, run)) {
        f->verdict = WF_AN_UNTOLD;
        note = "no NAK was captured: it was lost, or its answer was slow";
    }
    snprintf(f->note, sizeof(f->note), "%s", note);
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
    /* what was sent behind it was seen: were it lost, a NAK would have come */
    if (run->cause == WF_AN_BY_TIMEOUT && f.what == WF_AN_LOSS && (!h || run->last.number))
        unheard(s, run, &f);
    if (run->answered && !h && (run->cause == WF_AN_BY_TIMEOUT || run->cause == WF_AN_BY_UNSEEN))
        answered(&f);
    else if (run->cause == WF_AN_BY_UNSEEN)
        unseen(a, s, run, h, &f);
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
    if (!wf_an_surely_lost(s, run)) { /* it may only have been slow */
        f.verdict = WF_AN_UNTOLD;
        snprintf(f.note, sizeof(f.note), "acknowledged here before%s",
                 wf_an_waited(s, run) ? ", perhaps too late" : "; too soon for a timeout");
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
    /* sooner than a timer could: it has seen a gap */
    if (!h && run->quiet_ps >= 50000000 && !wf_an_surely_lost(s, run)) {
        f.verdict = WF_AN_UNTOLD;
        snprintf(f.note, sizeof(f.note), "the responses were lost, or slow");
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
    if (run->cause == WF_AN_BY_UNSEEN && !wf_an_one_sided(a, s) && wf_an_waited(s, run))
        run->cause = WF_AN_BY_TIMEOUT;
    if (run->late_only && !complete) {
        wf_an_late(a, s, run->from, wf_an_psn(r->cur - run->from), run->t_ps, run->ref,
                   wf_an_one_sided(a, s)
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
