/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests in the order of sending (IBA vol. 1, 9.7.3): gaps, and where the sender goes back. What
 * a run means is judged in verdict.c, once it has ended.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/analyze.h"
#include "analyze/bins.h"
#include "analyze/run.h"

enum {
    WF_AN_READS_OPEN = 255, /* more than any requester has open */
    COPIES_TOLD = 16,       /* of a stream; others are counted */
};

static bool is_read(uint8_t opcode)
{
    return (opcode & 0x1f) == WF_OP_READ_REQUEST;
}

/* Numbers that the request takes: a READ as many as it has response packets; 0: not known. */
static uint32_t span_of(const struct wf_analyze *a, const struct wf_an_stream *s,
                        const struct wf_an_pkt *p)
{
    const struct wf_an_stream *y = wf_an_peer(s);
    uint32_t mtu = s->full_payload;

    if (!is_read(p->opcode))
        return 1;
    if (y && y->full_payload > mtu)
        mtu = y->full_payload;
    if (!p->has_reth || (!mtu && p->dma_len > 256))
        return 0;
    return p->dma_len <= 256 ? 1 : (p->dma_len - 1) / mtu + 1;
}

/* Numbers go on elsewhere: begin anew there. */
static void jump(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p)
{
    struct wf_an_requests *r = &s->req;
    struct wf_an_finding f = wf_an_new(s, WF_AN_JUMP, WF_AN_UNTOLD, p->psn, p->t_ps);

    f.refs[0] = r->last_ref;
    f.refs[1] = p->ref;
    snprintf(f.note, sizeof(f.note),
             "numbers go on at %u where %u was next: a new connection, or "
             "more than the capture shows",
             p->psn, r->cur);
    wf_an_stream_end(a, s);
    wf_an_tell(a, s, &f);
    r->cur = r->max = r->first = p->psn;
    r->acked_known = r->loose = false;
    memset(&r->nak, 0, sizeof(r->nak));
}

static void gap(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p)
{
    struct wf_an_requests *r = &s->req;
    struct wf_an_hole h = {.first = r->cur,
                           .n = wf_an_psn(p->psn - r->cur),
                           .t_ps = p->t_ps,
                           .behind = p->ref,
                           .again = wf_an_diff(r->max, r->cur) > 0};
    int32_t over = r->run.open && r->acked_known ? wf_an_diff(r->acked, r->cur) : 0;

    if (over >=
        (int32_t)h.n) /* an ACK has come meanwhile: the sender leaves out what it tells of */
        return;
    if (over > 0) {
        h.first = r->acked;
        h.n -= (uint32_t)over;
    }
    r->gaps++;
    r->missing += h.n;
    if (s->service != WF_SERVICE_RC && s->service != WF_SERVICE_XRC) {
        wf_an_unheld(a, s, &h);
        return;
    }
    if (r->n_holes == WF_AN_HOLES)
        wf_an_give_up(a, s, &r->holes[0]);
    r->holes[r->n_holes++] = h;
    if (r->acked_known) /* what was acknowledged already has arrived */
        wf_an_settle(a, s, r->acked, p);
}

/* The same packet once more, and not sent again: a copy has the original's IP identification where
 * a sender counts them, else it comes sooner than any sender could know. */
static bool is_copy(const struct wf_an_stream *s, const struct wf_an_pkt *p)
{
    const struct wf_an_requests *r = &s->req;
    const struct wf_an_sent *e = wf_an_ring_get(r, p->psn);
    const struct wf_an_sent *near = wf_an_ring_get(r, wf_an_psn(p->psn - 1));
    int64_t soon = 1000000; /* 1 us */

    if (!e || e->hash != p->hash || e->hashed != p->hashed || e->opcode != p->opcode)
        return false;
    if (!near)
        near = wf_an_ring_get(r, wf_an_psn(p->psn + 1));
    if (p->family == 4 && near && near->ip_id != e->ip_id)
        return p->ip_id == e->ip_id;
    if (r->nak.pending && r->nak.psn == p->psn)
        return false;
    if (s->ack_delay.n && s->ack_delay.min_ps / 2 > soon)
        soon = s->ack_delay.min_ps / 2;
    return p->t_ps - e->t_ps < soon;
}

static void copy(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p)
{
    const struct wf_an_sent *e = wf_an_ring_get(&s->req, p->psn);
    struct wf_an_finding f = wf_an_new(s, WF_AN_COPY, WF_AN_NO_LOSS, p->psn, p->t_ps);

    if (++s->req.copies > COPIES_TOLD) /* the capture sees all of it twice */
        return;
    f.refs[0] = e->ref;
    f.refs[1] = p->ref;
    snprintf(f.note, sizeof(f.note),
             "the same packet twice: made by the network, or seen twice by "
             "the capture");
    wf_an_tell(a, s, &f);
}

/* Keep what later packets are held against; says whether the number is new here. */
static bool remember(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p)
{
    struct wf_an_requests *r = &s->req;
    uint32_t base = r->acked_known ? r->acked : wf_an_psn(r->max - WF_AN_RING_ALONE);
    int32_t open = wf_an_diff(r->max, base);
    struct wf_an_sent *e = wf_an_ring_put(&a->table, r, p->psn, open > 0 ? (uint32_t)open + 1 : 1);
    bool fresh;

    if (!e)
        return wf_an_diff(p->psn, r->max) >= 0;
    fresh = !(e->flags & WF_AN_SEEN);
    if (!fresh)
        wf_an_same_payload(a, s, e, p);
    e->flags |= WF_AN_SEEN | (fresh ? 0 : WF_AN_AGAIN);
    e->flags &= (uint8_t) ~(WF_AN_BAD_ICRC | WF_AN_ANSWERED);
    if (p->icrc == WF_ICRC_BAD)
        e->flags |= WF_AN_BAD_ICRC;
    e->ref = p->ref;
    e->t_ps = p->t_ps;
    e->hash = p->hash;
    e->hashed = p->hashed;
    e->ip_id = p->ip_id;
    e->opcode = p->opcode;
    /* a number that the ring has forgotten is not new */
    return fresh && wf_an_diff(r->max, p->psn) <= (int32_t)r->ring_mask;
}

/* A requester has a limited number of READs open: when so many have followed, the missing responses
 * of an earlier one have arrived. */
static void reads_go_on(struct wf_analyze *a, struct wf_an_stream *s)
{
    struct wf_an_stream *y = wf_an_peer(s);

    if (!y || !y->resp.n_holes || ++y->resp.reads_since <= WF_AN_READS_OPEN)
        return;
    while (y->resp.n_holes)
        wf_an_read_given_up(a, y, &y->resp.holes[0], true);
}

static void bin(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p, bool fresh)
{
    if (!s->bins && a->table.ring_left > sizeof(*s->bins)) {
        s->bins = malloc(sizeof(*s->bins));
        if (!s->bins)
            return;
        a->table.ring_left -= sizeof(*s->bins);
        wf_an_bins_init(s->bins, p->t_ps);
    }
    if (s->bins)
        wf_an_bins_add(s->bins, p->t_ps, wf_an_psn(p->psn - s->req.first),
                       fresh ? p->payload_len : 0, s->req.run.open);
}

static void count(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p)
{
    struct wf_an_requests *r = &s->req;
    bool fresh;

    r->packets++;
    r->bytes += p->payload_len;
    r->by_opcode[p->opcode & 31]++;
    r->reads += is_read(p->opcode);
    fresh = remember(a, s, p);
    if (a->conf.series)
        bin(a, s, p, fresh);
    if (fresh) {
        r->new_packets++;
        r->new_bytes += p->payload_len;
        if (is_read(p->opcode))
            reads_go_on(a, s);
        r->messages += (wf_opcodes[p->opcode].flags & WF_OPF_LAST) != 0;
    }
}

void wf_an_request(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p)
{
    struct wf_an_requests *r = &s->req;
    uint32_t span = span_of(a, s, p);
    int32_t d;

    if (!r->started) {
        r->started = true;
        r->first = r->cur = r->max = p->psn;
    }
    d = wf_an_diff(p->psn, r->cur);
    if (r->loose && d > 0) { /* the READ before took so many */
        r->cur = p->psn;
        if (wf_an_diff(r->cur, r->max) > 0)
            r->max = r->cur;
        d = 0;
    }
    if (d > WF_AN_JUMP_PSNS || d < -WF_AN_JUMP_PSNS) {
        jump(a, s, p);
        d = 0;
    }
    if (d < 0 && is_copy(s, p)) {
        copy(a, s, p);
        return;
    }
    if (d < 0 && wf_an_came_late(a, s, p)) {
        count(a, s, p);
        return;
    }
    wf_an_count_ids(r, p);
    wf_an_silence(a, s, p);
    if (r->run.open)
        d = wf_an_run_step(a, s, p, d);
    if (d > 0)
        gap(a, s, p);
    else if (d < 0)
        wf_an_run_begin(a, s, p);
    if (r->run.open)
        wf_an_run_count(s, p);
    count(a, s, p);
    r->loose = span == 0;
    r->cur = wf_an_psn(p->psn + (span ? span : 1));
    if (wf_an_diff(r->cur, r->max) > 0)
        r->max = r->cur;
    r->last_t_ps = p->t_ps;
    r->last_ref = p->ref;
    r->last_opcode = p->opcode;
}
