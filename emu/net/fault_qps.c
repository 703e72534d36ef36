/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/fault_qps.h"

#include <string.h>

#include "wire/bth.h"
#include "wire/cm.h"

enum { HALF = 1 << 23, KEEP = 1 << 16 };

static struct wf_stream_qp *qp_of(struct wf_half *h)
{
    return WF_CONTAINER_OF(h, struct wf_stream_qp, half);
}

/* Numbers in the order in which they came between two addresses. */
static uint32_t number(const struct wf_fault_streams *s, const struct wf_half *h)
{
    uint32_t most = 0;

    if (h->qpn <= 1)
        return 0;
    for (struct wf_half *x = wf_pairing_between(&s->halves.pairing, h->src, h->dst); x;
         x = wf_pairing_next(x))
        if (x != h && qp_of(x)->ordinal > most)
            most = qp_of(x)->ordinal;
    return most + 1;
}

/* The record is another queue pair's from now on. */
static void forget(void *arg, struct wf_half *h)
{
    struct wf_stream_qp *qp = qp_of(h);

    qp->ordinal = 0;
    for (unsigned i = 0; i < WF_STREAM_KINDS; i++) {
        uint8_t *passes = qp->of[i].passes;

        if (passes)
            memset(passes, 0, WF_STREAM_WINDOW);
        qp->of[i] = (struct wf_stream){.passes = passes};
    }
}

/* Known from now on: that has come before is not the first of it. */
static struct wf_stream_qp *see(struct wf_fault_streams *s, const uint8_t src[16],
                                const uint8_t dst[16], uint32_t qpn)
{
    struct wf_half *h = wf_halves_see(&s->halves, src, dst, qpn);
    struct wf_stream_qp *qp = h ? qp_of(h) : NULL;

    if (!qp || qp->of[0].qp)
        return qp;
    for (unsigned i = 0; i < WF_STREAM_KINDS; i++)
        qp->of[i].qp = qp;
    qp->ordinal = number(s, h);
    return qp;
}

static struct wf_half *of_cm(void *arg, const void *what, const uint8_t src[16],
                             const uint8_t dst[16], uint32_t qpn)
{
    struct wf_stream_qp *qp = see(arg, src, dst, qpn);

    if (qp) { /* a connection begins */
        uint32_t ordinal = qp->ordinal;

        forget(NULL, &qp->half);
        qp->ordinal = ordinal;
        for (unsigned i = 0; i < WF_STREAM_KINDS; i++)
            qp->of[i].qp = qp;
    }
    return qp ? &qp->half : NULL;
}

/* The window moves up to this PSN. */
static void advance(struct wf_stream *x, uint32_t psn)
{
    uint32_t by = (psn - x->max_psn) & WF_PSN_MASK;

    for (uint32_t i = 0; x->passes && i < by && i < WF_STREAM_WINDOW; i++)
        x->passes[(psn - i) % WF_STREAM_WINDOW] = 0;
    x->max_psn = psn;
}

/* The stream's first and last PSN, and messages that begin. */
static void follow(struct wf_stream *x, const struct wf_parsed *p)
{
    const struct wf_half *h = &x->qp->half;
    bool fresh = !x->n_seen || ((p->psn - x->max_psn - 1) & WF_PSN_MASK) < HALF;

    if (!x->n_seen) {
        x->max_psn = p->psn;
        x->first_psn = h->told && x == &x->qp->of[WF_STREAM_REQUESTS] ? h->first_psn : p->psn;
    } else if (fresh) {
        advance(x, p->psn);
    }
    if (fresh && wf_opcodes[p->opcode].flags & WF_OPF_FIRST)
        x->begins[x->messages++ % WF_STREAM_MESSAGES] = p->psn;
    if (x->passes && ((x->max_psn - p->psn) & WF_PSN_MASK) < WF_STREAM_WINDOW &&
        x->passes[p->psn % WF_STREAM_WINDOW] < UINT8_MAX)
        x->passes[p->psn % WF_STREAM_WINDOW]++;
    x->n_seen += x->n_seen < UINT32_MAX;
}

struct wf_stream *wf_streams_note(struct wf_fault_streams *s, const struct wf_pkt *pkt)
{
    const uint8_t *b = wf_pkt_bytes(pkt);
    const struct wf_parsed *p = &pkt->p;
    struct wf_pairing *pairing = &s->halves.pairing;
    uint8_t src[16], dst[16];
    struct wf_stream_qp *qp;
    struct wf_stream *x;

    if (!(p->flags & WF_P_BTH) || !(p->flags & (WF_P_IP4 | WF_P_IP6 | WF_P_ROCEV1)) ||
        p->opcode == WF_OPCODE_CNP)
        return NULL;
    wf_parsed_addr(b, p, false, src);
    wf_parsed_addr(b, p, true, dst);
    qp = see(s, src, dst, p->dqpn);
    if (!qp) {
        s->unknown++;
        return NULL;
    }
    wf_pairing_packet(pairing, &qp->half, p->opcode, p->psn, p->sport);
    if (p->dqpn == WF_GSI_QPN && wf_pkt_caplen(pkt) >= p->payload_off + WF_MAD_LEN)
        wf_pairing_mad(pairing, NULL, src, dst, b + p->payload_off, WF_MAD_LEN);
    x = &qp->of[wf_opcodes[p->opcode].flags & WF_OPF_RESPONSE ? WF_STREAM_ANSWERS
                                                              : WF_STREAM_REQUESTS];
    follow(x, p);
    if (p->flags & WF_P_AETH)
        x->msn =
            wf_ld32(b + p->bth_off + WF_BTH_LEN + wf_opcodes[p->opcode].aeth - 1) & WF_PSN_MASK;
    return x;
}

uint32_t wf_stream_message(const struct wf_stream *s, uint32_t psn)
{
    for (uint32_t i = 0; i < s->messages && i < WF_STREAM_MESSAGES; i++) {
        uint32_t begin = s->begins[(s->messages - 1 - i) % WF_STREAM_MESSAGES];

        if (((psn - begin) & WF_PSN_MASK) < HALF)
            return s->messages - i;
    }
    return 0;
}

uint32_t wf_stream_passes(const struct wf_stream *s, uint32_t psn)
{
    if (!s->passes || ((s->max_psn - psn) & WF_PSN_MASK) >= WF_STREAM_WINDOW)
        return 0;
    return s->passes[psn % WF_STREAM_WINDOW];
}

const struct wf_stream *wf_streams_other(const struct wf_stream *s)
{
    struct wf_half *mate = s->qp->half.mate;

    return mate ? &qp_of(mate)->of[s == &s->qp->of[WF_STREAM_REQUESTS] ? WF_STREAM_ANSWERS
                                                                       : WF_STREAM_REQUESTS]
                : NULL;
}

static void comes_in(struct wf_tap *tap, struct wf_port *port, struct wf_pkt *pkt,
                     enum wf_tap_dir dir, enum wf_reason why)
{
    if (dir == WF_TAP_RX)
        wf_streams_note(WF_CONTAINER_OF(tap, struct wf_fault_streams, tap), pkt);
}

struct wf_fault_streams *wf_streams_new(struct wf_port *port, struct wf_arena *arena)
{
    struct wf_fault_streams *s = WF_ARENA_NEW(arena, struct wf_fault_streams);

    wf_halves_init(&s->halves, arena, WF_STREAMS_MAX, sizeof(struct wf_stream_qp));
    s->halves.keep = KEEP;
    s->halves.evict = forget;
    s->halves.pairing.half_of = of_cm;
    s->halves.pairing.arg = s;
    s->tap.fn = comes_in;
    wf_port_tap(port, &s->tap);
    return s;
}

void wf_streams_count(struct wf_fault_streams *s, struct wf_arena *arena)
{
    struct wf_stream_qp *all = (struct wf_stream_qp *)(void *)s->halves.records;
    uint8_t *passes;

    if (all[0].of[0].passes)
        return;
    passes = WF_ARENA_ARRAY(arena, uint8_t, WF_STREAMS_MAX * WF_STREAM_KINDS * WF_STREAM_WINDOW);
    for (uint32_t i = 0; i < WF_STREAMS_MAX * WF_STREAM_KINDS; i++)
        all[i / WF_STREAM_KINDS].of[i % WF_STREAM_KINDS].passes =
            passes + (size_t)i * WF_STREAM_WINDOW;
}
