/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Responses (IBA vol. 1, 9.7.5): acknowledgements and NAKs of the requests that come the other way,
 * READ responses in their order, and what each tells.
 */
#include <string.h>

#include "analyze/run.h"

int64_t wf_an_rnr_ps(uint8_t syndrome)
{
    /* IBA table 45, in units of 10 us */
    static const uint32_t ten_us[32] = {65536, 1,    2,    3,     4,     6,     8,     12,
                                        16,    24,   32,   48,    64,    96,    128,   192,
                                        256,   384,  512,  768,   1024,  1536,  2048,  3072,
                                        4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};

    return (int64_t)ten_us[WF_AETH_VALUE(syndrome)] * 10000000;
}

int wf_an_timeout_n(int64_t ps)
{
    int n = -1;

    /* clocks, kernels that round to their tick, what lies between a host and the capture: 1 in 16
     * is let pass */
    for (int64_t t = 4096000; n < 31 && t <= ps + ps / 16; t *= 2)
        n++;
    return n;
}

static void refused(struct wf_analyze *a, struct wf_an_stream *x, const struct wf_an_pkt *p)
{
    static const char *const names[] = {"PSN sequence error", "invalid request",
                                        "remote access error", "remote operational error",
                                        "invalid RD request"};
    unsigned code = WF_AETH_VALUE(p->syndrome);
    struct wf_an_finding f = wf_an_new(x, WF_AN_REFUSED, WF_AN_NO_LOSS, p->psn, p->t_ps);

    f.refs[1] = p->ref;
    f.response = true;
    snprintf(f.note, sizeof(f.note), "NAK: %s; the connection ends",
             code < 5 ? names[code] : "reserved code");
    wf_an_tell(a, x, &f);
}

/* The NAK of weft's own selective retransmission (docs/MODEL.md), for each packet behind a gap. */
static bool is_selective(const struct wf_an_pkt *p)
{
    return p->opcode % 32 == WF_OP_ATOMIC_ACK && (p->syndrome & 0x7f) == (WF_AETH_NAK | 31);
}

/* Whether what it names counts as lost: until so many have named it, it may have been overtaken. */
static bool still_missing(struct wf_an_answers *n, const struct wf_an_pkt *p)
{
    enum { OVERTAKEN = 8 };

    n->sel_naks = n->sel_naks && n->sel_psn == p->psn ? n->sel_naks + 1 : 1;
    n->sel_psn = p->psn;
    return n->sel_naks == OVERTAKEN;
}

static void take_aeth(struct wf_analyze *a, struct wf_an_stream *y, struct wf_an_stream *x,
                      const struct wf_an_pkt *p)
{
    switch (WF_AETH_KIND(p->syndrome)) {
    case 0:
        y->resp.acks += p->opcode % 32 == WF_OP_ACK;
        if (x)
            wf_an_arrived(a, x, wf_an_psn(p->psn + 1), p);
        return;
    case 1:
        y->resp.rnr_naks++;
        y->resp.last_rnr = p->syndrome;
        break;
    case 3:
        y->resp.naks++;
        if (is_selective(p)) {
            y->resp.seq_naks++;
            if (x)
                wf_an_arrived(a, x, p->psn, p);
            if (!still_missing(&y->resp, p))
                return;
            break;
        }
        if (WF_AETH_VALUE(p->syndrome) == WF_NAK_PSN_SEQUENCE) {
            y->resp.seq_naks++;
            break;
        }
        y->resp.error_naks++;
        if (x) {
            wf_an_arrived(a, x, p->psn, p);
            refused(a, x, p);
        }
        return;
    default:
        return;
    }
    if (!x || !x->req.started)
        return;
    if (x->req.nak.pending && x->req.nak.psn == p->psn && x->req.nak.syndrome == p->syndrome) {
        if (p->t_ps - x->req.nak.t_ps < 1000000) /* 1 us: the same one, seen twice */
            return;
        y->resp.repeated_naks++;
    }
    wf_an_take_nak(a, x, p);
}

/* READ responses that were passed over. */
static void read_gap(struct wf_analyze *a, struct wf_an_stream *y, const struct wf_an_pkt *p)
{
    const struct wf_an_stream *x = wf_an_peer(y);
    struct wf_an_answers *n = &y->resp;
    struct wf_an_hole h = {
        .first = n->rcur, .n = wf_an_psn(p->psn - n->rcur), .t_ps = p->t_ps, .behind = p->ref};

    /* what lies between the READ before and this one's request are no responses */
    for (uint32_t i = 1; x && i <= h.n && i <= x->req.ring_mask; i++) {
        const struct wf_an_sent *e = wf_an_ring_get(&x->req, wf_an_psn(p->psn - i));

        if (e && (e->opcode & 0x1f) == WF_OP_READ_REQUEST) {
            h.first = e->psn;
            h.n = i;
        }
    }
    n->gaps++;
    n->missing += h.n;
    if (n->n_holes == WF_AN_HOLES)
        wf_an_read_given_up(a, y, &n->holes[0], false);
    if (!n->n_holes)
        n->reads_since = 0;
    n->holes[n->n_holes++] = h;
}

void wf_an_read_given_up(struct wf_analyze *a, struct wf_an_stream *y, struct wf_an_hole *h,
                         bool arrived)
{
    struct wf_an_finding f =
        wf_an_new(y, WF_AN_LOSS, arrived ? WF_AN_CAPTURE : WF_AN_UNTOLD, h->first, h->t_ps);

    f.packets = h->n;
    f.response = f.exact = true;
    f.refs[0] = h->behind;
    snprintf(f.note, sizeof(f.note),
             arrived ? "READ responses; the requester went on without them"
                     : "READ responses; nothing shows whether they arrived");
    wf_an_tell(a, y, &f);
    wf_an_hole_drop(y->resp.holes, &y->resp.n_holes, h);
}

static void take_read(struct wf_analyze *a, struct wf_an_stream *y, const struct wf_an_pkt *p)
{
    struct wf_an_answers *n = &y->resp;
    bool first = wf_opcodes[p->opcode].flags & WF_OPF_FIRST;
    int32_t d = n->rmax_known ? wf_an_diff(p->psn, n->rcur) : 0;

    n->read_packets++;
    n->read_bytes += p->payload_len;
    if (!first && d > 0 && d < WF_AN_JUMP_PSNS)
        read_gap(a, y, p);
    if (!n->rmax_known || wf_an_diff(p->psn, n->rmax) > 0) {
        n->rmax = p->psn;
        n->rmax_known = true;
        n->rmax_ref = p->ref;
        n->new_read_bytes += p->payload_len;
    } else if (d < 0 || first) {
        n->again_packets++;
    }
    n->rcur = wf_an_psn(p->psn + 1);
}

void wf_an_answer(struct wf_analyze *a, struct wf_an_stream *y, const struct wf_an_pkt *p)
{
    struct wf_an_stream *x = wf_an_peer(y);
    uint8_t op = p->opcode & 0x1f;

    y->resp.packets++;
    y->resp.unpaired += !x;
    y->resp.atomics += op == WF_OP_ATOMIC_ACK;
    if (op >= WF_OP_READ_RESPONSE_FIRST && op <= WF_OP_READ_RESPONSE_ONLY) {
        struct wf_an_sent *e = x ? wf_an_ring_get(&x->req, p->psn) : NULL;

        if (e)
            e->flags |= WF_AN_ANSWERED;
        take_read(a, y, p);
    }
    if (p->has_aeth)
        take_aeth(a, y, x, p);
    else if (op == WF_OP_READ_RESPONSE_MIDDLE && x)
        wf_an_arrived(a, x, wf_an_psn(p->psn + 1), p);
    else if (op == WF_OP_ACK)
        y->resp.cut++;
}
