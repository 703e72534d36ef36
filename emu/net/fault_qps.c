/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/fault_qps.h"

#include <string.h>

#include "wire/bth.h"
#include "wire/cm.h"

enum { HALF = 1 << 23, KEEP = 1 << 16, TTL = 64, MIGREQ = 0x40 };

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

/* The window moves up to this PSN. */
static void advance(struct wf_stream *x, uint32_t psn)
{
    uint32_t by = (psn - x->max_psn) & WF_PSN_MASK;

    for (uint32_t i = 0; x->passes && i < by && i < WF_STREAM_WINDOW; i++)
        x->passes[(psn - i) % WF_STREAM_WINDOW] = 0;
    x->max_psn = psn;
}

static void tags_of(const uint8_t *b, const struct wf_parsed *p, struct wf_roce *h)
{
    h->n_tags = p->n_tags < WF_VLAN_TAGS_MAX ? p->n_tags : WF_VLAN_TAGS_MAX;
    for (unsigned i = 0; i < h->n_tags; i++) {
        uint16_t tci = wf_ld16(b + 14 + 4 * i);

        h->tag[i] = (struct wf_vlan){.tpid = wf_ld16(b + 12 + 4 * i),
                                     .pcp = (uint8_t)(tci >> 13),
                                     .dei = tci >> 12 & 1,
                                     .vid = tci & 0xfff};
    }
}

/* What a packet that goes the way of this one is like, or back. */
void wf_stream_like(const struct wf_pkt *pkt, bool back, struct wf_stream_like *l)
{
    const uint8_t *b = wf_pkt_bytes(pkt), *bth = b + pkt->p.bth_off;
    const struct wf_parsed *p = &pkt->p;
    struct wf_roce *h = &l->roce;

    *l = (struct wf_stream_like){
        .service = wf_opcodes[p->opcode].service, .queue = pkt->queue, .prio = pkt->prio};
    memcpy(h->dst_mac, back ? b + 6 : b, 6);
    memcpy(h->src_mac, back ? b : b + 6, 6);
    tags_of(b, p, h);
    h->encap = p->flags & WF_P_ROCEV1 ? WF_ROCE_V1
               : p->flags & WF_P_IP4  ? WF_ROCE_V2_IP4
                                      : WF_ROCE_V2_IP6;
    wf_parsed_addr(b, p, back, h->src_ip);
    wf_parsed_addr(b, p, !back, h->dst_ip);
    h->dscp = p->dscp;
    h->ttl = back ? TTL : p->ttl;
    h->sport = p->sport;
    h->bth.m = bth[1] & MIGREQ;
    h->bth.pkey = wf_ld16(bth + 2);
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

/* The packet that passes, and which way. */
struct passing {
    const struct wf_pkt *pkt;
    bool out;
};

/* A connection begins, as this message says. */
static struct wf_half *of_cm(void *arg, const void *what, const uint8_t src[16],
                             const uint8_t dst[16], uint32_t qpn)
{
    const struct passing *it = what;
    struct wf_stream_qp *qp = see(arg, src, dst, qpn);
    uint8_t from[16];
    uint32_t ordinal;
    bool back;

    if (!qp)
        return NULL;
    ordinal = qp->ordinal;
    forget(NULL, &qp->half);
    qp->ordinal = ordinal;
    for (unsigned i = 0; i < WF_STREAM_KINDS; i++)
        qp->of[i].qp = qp;
    wf_parsed_addr(wf_pkt_bytes(it->pkt), &it->pkt->p, false, from);
    back = memcmp(from, src, 16) != 0;
    wf_stream_like(it->pkt, back, &qp->like);
    qp->like.service = WF_SERVICE_RC;
    qp->out = it->out != back;
    return &qp->half;
}

struct wf_stream *wf_streams_note(struct wf_fault_streams *s, const struct wf_pkt *pkt, bool out)
{
    struct passing it = {pkt, out};
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
        wf_pairing_mad(pairing, &it, src, dst, b + p->payload_off, WF_MAD_LEN);
    x = &qp->of[wf_opcodes[p->opcode].flags & WF_OPF_RESPONSE ? WF_STREAM_ANSWERS
                                                              : WF_STREAM_REQUESTS];
    follow(x, p);
    qp->out = out;
    wf_stream_like(pkt, false, &qp->like);
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

struct wf_stream_qp *wf_stream_mate(const struct wf_stream_qp *qp)
{
    return qp->half.mate ? qp_of(qp->half.mate) : NULL;
}

const struct wf_stream *wf_streams_other(const struct wf_stream *s)
{
    bool requests = s == &s->qp->of[WF_STREAM_REQUESTS];
    const struct wf_stream_qp *mate = wf_stream_mate(s->qp);

    return mate ? &mate->of[requests ? WF_STREAM_ANSWERS : WF_STREAM_REQUESTS] : NULL;
}

void wf_stream_turn(struct wf_stream_like *l)
{
    struct wf_roce *h = &l->roce, was = *h;

    memcpy(h->src_mac, was.dst_mac, 6);
    memcpy(h->dst_mac, was.src_mac, 6);
    memcpy(h->src_ip, was.dst_ip, 16);
    memcpy(h->dst_ip, was.src_ip, 16);
    h->ttl = TTL;
}

static void comes_in(struct wf_tap *tap, struct wf_port *port, struct wf_pkt *pkt,
                     enum wf_tap_dir dir, enum wf_reason why)
{
    if (dir == WF_TAP_RX)
        wf_streams_note(WF_CONTAINER_OF(tap, struct wf_fault_streams, tap), pkt, false);
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
