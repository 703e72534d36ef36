/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the answers tell about the requests: an acknowledged packet that is missing here was lost by
 * the capture; a NAK names a packet that the network has lost (IBA vol. 1, 9.7.5.1, 9.7.5.2).
 */
#include <string.h>

#include "analyze/run.h"

struct wf_an_hole *wf_an_hole_with(struct wf_an_hole *holes, unsigned n, uint32_t psn)
{
    for (unsigned i = 0; i < n; i++)
        if (wf_an_psn(psn - holes[i].first) < holes[i].n)
            return &holes[i];
    return NULL;
}

void wf_an_hole_drop(struct wf_an_hole *holes, unsigned *n, struct wf_an_hole *h)
{
    *n -= 1;
    memmove(h, h + 1, (size_t)(holes + *n - h) * sizeof(*h));
}

static void missing(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_hole *h,
                    enum wf_an_verdict verdict, const char *note, const struct wf_an_pkt *shown_by)
{
    struct wf_an_finding f = wf_an_new(s, WF_AN_LOSS, verdict, h->first, h->t_ps);

    f.packets = h->n;
    f.exact = true;
    f.refs[0] = h->behind;
    if (shown_by)
        f.refs[1] = shown_by->ref;
    snprintf(f.note, sizeof(f.note), "%s", note);
    wf_an_tell(a, s, &f);
}

void wf_an_unheld(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_hole *h)
{
    missing(a, s, h, WF_AN_UNTOLD, "nothing is acknowledged or repeated by this service", NULL);
}

void wf_an_give_up(struct wf_analyze *a, struct wf_an_stream *s, struct wf_an_hole *h)
{
    struct wf_an_requests *r = &s->req;

    if (!h->filled || !r->run.open)
        missing(a, s, h, WF_AN_UNTOLD,
                h->doubt ? "whether it was sent again is not in the capture"
                         : "no answer in the capture tells whether it arrived",
                NULL);
    wf_an_hole_drop(r->holes, &r->n_holes, h);
}

/* A READ takes as many numbers as it has responses, and only the first is a packet's: of a request
 * that is missing, the others are none. True: nothing of this hole is. */
static bool only_responses(const struct wf_an_requests *r, struct wf_an_hole *got,
                           const struct wf_an_pkt *p)
{
    uint8_t op = p->opcode & 0x1f;

    if (op == WF_OP_READ_RESPONSE_MIDDLE || op == WF_OP_READ_RESPONSE_LAST)
        return true;
    if (r->reads == r->packets) {
        if (op >= WF_OP_READ_RESPONSE_FIRST && op <= WF_OP_READ_RESPONSE_ONLY)
            got->first = p->psn;
        got->n = 1; /* at least */
    }
    return false;
}

void wf_an_settle(struct wf_analyze *a, struct wf_an_stream *s, uint32_t until,
                  const struct wf_an_pkt *p)
{
    struct wf_an_requests *r = &s->req;

    for (unsigned i = 0; i < r->n_holes;) {
        struct wf_an_hole *h = &r->holes[i], got = *h;
        int32_t n = wf_an_diff(until, h->first);

        if (n <= 0 || h->filled) {
            i++;
            continue;
        }
        if ((uint32_t)n < got.n) {
            got.n = (uint32_t)n;
            h->first = until;
            h->n -= got.n;
            i++;
        } else {
            wf_an_hole_drop(r->holes, &r->n_holes, h);
        }
        if (r->reads && only_responses(r, &got, p))
            continue;
        if (got.doubt)
            missing(a, s, &got, WF_AN_UNTOLD, "whether it was sent again is not in the capture", p);
        else if (got.again)
            missing(a, s, &got, WF_AN_UNTOLD,
                    "one of several times that it was sent; another one may have arrived", p);
        else
            missing(a, s, &got, WF_AN_CAPTURE, "acknowledged without being sent again", p);
    }
}

void wf_an_nak_unmet(struct wf_analyze *a, struct wf_an_stream *s)
{
    struct wf_an_requests *r = &s->req;
    const struct wf_an_hole *h = wf_an_hole_with(r->holes, r->n_holes, r->nak.psn);
    const struct wf_an_sent *e = wf_an_ring_get(r, r->nak.psn);
    bool not_ready = WF_AETH_KIND(r->nak.syndrome) == 1;
    struct wf_an_finding f =
        wf_an_new(s, not_ready ? WF_AN_RNR : WF_AN_LOSS, not_ready ? WF_AN_NO_LOSS : WF_AN_NETWORK,
                  r->nak.psn, r->nak.t_ps);

    r->nak.pending = false;
    if (r->nak.late)
        return; /* it came, and is told of */
    f.exact = true;
    f.recovery_ps = -1;
    f.refs[1] = r->nak.ref;
    if (h) {
        f.refs[0] = h->behind;
        f.where = WF_AN_BEFORE;
    } else if (e) {
        f.refs[0] = e->ref;
        f.seen_ps = e->t_ps;
        f.where = WF_AN_AFTER;
        f.what = e->flags & WF_AN_BAD_ICRC && !not_ready ? WF_AN_DAMAGED : f.what;
    }
    snprintf(f.note, sizeof(f.note), "that it was sent again is not in the capture");
    wf_an_tell(a, s, &f);
    if (h && !not_ready) { /* told of; what is missing behind it is not */
        struct wf_an_hole *mine = wf_an_hole_with(r->holes, r->n_holes, f.psn);

        mine->first = wf_an_psn(f.psn + 1);
        if (!--mine->n)
            wf_an_hole_drop(r->holes, &r->n_holes, mine);
    }
}

/* The time from a packet to its first acknowledgement, for packets that were sent once. */
static void ack_delay(struct wf_an_stream *s, uint32_t until, const struct wf_an_pkt *p)
{
    const struct wf_an_sent *e = wf_an_ring_get(&s->req, wf_an_psn(until - 1));

    if (e && !(e->flags & WF_AN_AGAIN) && p->t_ps >= e->t_ps)
        wf_an_stat_add(&s->ack_delay, p->t_ps - e->t_ps);
}

/* READs that an answer to something later has passed over: their responses are missing. */
static void unanswered_reads(struct wf_analyze *a, struct wf_an_stream *s, uint32_t until,
                             const struct wf_an_pkt *p)
{
    struct wf_an_stream *y = wf_an_peer(s);
    struct wf_an_requests *r = &s->req;
    uint32_t psn = r->acked_known ? r->acked : r->first;

    if (!y || !r->reads)
        return;
    for (uint32_t i = 0; i <= r->ring_mask && wf_an_diff(until, psn) > 0; i++) {
        struct wf_an_sent *e = wf_an_ring_get(r, psn);

        if (e && (e->opcode & 0x1f) == WF_OP_READ_REQUEST && !(e->flags & WF_AN_ANSWERED) &&
            y->resp.n_holes < WF_AN_HOLES &&
            !wf_an_hole_with(y->resp.holes, y->resp.n_holes, psn)) {
            e->flags |= WF_AN_ANSWERED; /* told of */
            y->resp.gaps++;
            y->resp.missing++;
            y->resp.reads_since = 0;
            y->resp.holes[y->resp.n_holes++] =
                (struct wf_an_hole){.first = psn, .n = 1, .t_ps = p->t_ps, .behind = p->ref};
        }
        psn = wf_an_psn(psn + 1);
    }
}

/* It is for what was sent at first when more is answered than was sent again. */
void wf_an_run_answered(struct wf_an_stream *s, uint32_t until)
{
    struct wf_an_requests *r = &s->req;

    r->run.answered |= wf_an_diff(until, r->run.from) > 0 && wf_an_diff(until, r->cur) > 0;
}

void wf_an_arrived(struct wf_analyze *a, struct wf_an_stream *s, uint32_t until,
                   const struct wf_an_pkt *p)
{
    struct wf_an_requests *r = &s->req;

    if (!r->started || wf_an_diff(until, r->max) > WF_AN_JUMP_PSNS ||
        wf_an_diff(until, r->max) < -WF_AN_JUMP_PSNS)
        return;
    if (r->loose && wf_an_diff(until, r->max) > 0)
        r->cur = r->max = until; /* a READ took at least so many */
    if (r->acked_known && wf_an_diff(until, r->acked) <= 0)
        return;
    if (r->run.open)
        wf_an_run_answered(s, until);
    if (p->opcode % 32 == WF_OP_ACK)
        ack_delay(s, until, p);
    if (r->nak.pending && !r->nak.late && wf_an_diff(until, r->nak.psn) > 0)
        wf_an_nak_unmet(a, s);
    unanswered_reads(a, s, until, p);
    r->acked_known = true;
    r->acked = until;
    r->acked_t_ps = p->t_ps;
    r->acked_ref = p->ref;
    wf_an_settle(a, s, until, p);
}

/* The packet that is asked for, as it was sent until now. */
static void look_back(const struct wf_an_requests *r, struct wf_an_nak *nak)
{
    const struct wf_an_sent *e = wf_an_ring_get(r, nak->psn);

    if (!e)
        return;
    nak->seen = e->ref;
    nak->seen_ps = e->t_ps;
    nak->seen_bad = e->flags & WF_AN_BAD_ICRC;
    nak->seen_twice = e->flags & WF_AN_AGAIN;
    nak->ahead = r->late && e->t_ps >= r->late_from_ps && e->t_ps <= r->late_to_ps;
}

void wf_an_take_nak(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p)
{
    struct wf_an_requests *r = &s->req;
    bool same = r->nak.pending && r->nak.psn == p->psn && r->nak.syndrome == p->syndrome;

    wf_an_arrived(a, s, p->psn, p);
    if (same && !r->nak.late) {
        r->nak.repeats++;
        return;
    }
    if (r->nak.pending) {
        r->nak_before = r->nak;
        wf_an_nak_unmet(a, s);
    }
    r->nak = (struct wf_an_nak){
        .pending = true, .syndrome = p->syndrome, .psn = p->psn, .t_ps = p->t_ps, .ref = p->ref};
    look_back(r, &r->nak);
    if (WF_AETH_KIND(p->syndrome) == 3) {
        r->asked_known = true;
        r->asked = p->psn;
    }
}

void wf_an_same_payload(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_sent *e,
                        const struct wf_an_pkt *p)
{
    struct wf_an_finding f;

    if (e->opcode != p->opcode || e->hashed != p->hashed || !p->hashed || e->hash == p->hash ||
        e->flags & WF_AN_BAD_ICRC || p->icrc == WF_ICRC_BAD)
        return;
    s->req.changed++;
    f = wf_an_new(s, WF_AN_CHANGED, WF_AN_NO_LOSS, p->psn, p->t_ps);
    f.refs[0] = e->ref;
    f.refs[2] = p->ref;
    snprintf(f.note, sizeof(f.note),
             "sent again with another payload: the first %u bytes differ "
             "(no ICRC is wrong)",
             p->hashed);
    wf_an_tell(a, s, &f);
}
