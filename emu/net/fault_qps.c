/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/fault_qps.h"

#include <string.h>

#include "wire/bth.h"

enum { SLOTS = 2 * WF_STREAMS_MAX, HALF = 1 << 23 };

/* The addresses of a RoCE packet, and the stream that it belongs to. */
static bool key_of(const struct wf_pkt *pkt, struct wf_stream *k)
{
    const struct wf_parsed *p = &pkt->p;
    const uint8_t *b = wf_pkt_bytes(pkt);

    if (!(p->flags & WF_P_BTH) || !(p->flags & (WF_P_IP4 | WF_P_IP6 | WF_P_ROCEV1)) ||
        p->opcode == WF_OPCODE_CNP)
        return false;
    memset(k->src, 0, 16);
    memset(k->dst, 0, 16);
    if (p->flags & WF_P_IP4) {
        k->src[10] = k->src[11] = k->dst[10] = k->dst[11] = 0xff;
        memcpy(k->src + 12, b + p->l3_off + 12, 4);
        memcpy(k->dst + 12, b + p->l3_off + 16, 4);
    } else {
        memcpy(k->src, wf_parsed_src6(b, p), 16);
        memcpy(k->dst, wf_parsed_dst6(b, p), 16);
    }
    k->dqpn = p->dqpn;
    k->answers = wf_opcodes[p->opcode].flags & WF_OPF_RESPONSE;
    return true;
}

static bool same_ends(const struct wf_stream *a, const struct wf_stream *b)
{
    return !memcmp(a->src, b->src, 16) && !memcmp(a->dst, b->dst, 16);
}

static uint32_t slot_of(const struct wf_stream *k)
{
    uint64_t h = wf_hash_bytes(k->src, 32, (uint64_t)k->dqpn << 1 | k->answers);

    return (uint32_t)(h >> 32) % SLOTS;
}

/* Numbers go by queue pair: both of its streams have the same. */
static uint32_t number(const struct wf_fault_streams *s, const struct wf_stream *k)
{
    uint32_t most = 0;

    if (k->dqpn <= 1)
        return 0;
    for (uint32_t i = 0; i < SLOTS; i++) {
        const struct wf_stream *x = &s->table[i];

        if (!x->used || !same_ends(x, k))
            continue;
        if (x->dqpn == k->dqpn)
            return x->ordinal;
        most = x->ordinal > most ? x->ordinal : most;
    }
    return most + 1;
}

/* The stream of this key, a new one if it has none; NULL: no room. */
static struct wf_stream *find(struct wf_fault_streams *s, const struct wf_stream *k)
{
    uint32_t i = slot_of(k);
    struct wf_stream *x;
    uint8_t *passes;

    for (; s->table[i].used; i = (i + 1) % SLOTS) {
        x = &s->table[i];
        if (x->dqpn == k->dqpn && x->answers == k->answers && same_ends(x, k))
            return x;
    }
    if (s->n == WF_STREAMS_MAX) {
        s->unknown++;
        return NULL;
    }
    s->n++;
    x = &s->table[i];
    passes = x->passes;
    *x = *k;
    x->ordinal = number(s, k);
    x->passes = passes;
    x->used = true;
    return x;
}

/* The window moves up to this PSN. */
static void advance(struct wf_stream *x, uint32_t psn)
{
    uint32_t by = (psn - x->max_psn) & WF_PSN_MASK;

    for (uint32_t i = 0; x->passes && i < by && i < WF_STREAM_WINDOW; i++)
        x->passes[(psn - i) % WF_STREAM_WINDOW] = 0;
    x->max_psn = psn;
}

struct wf_stream *wf_streams_note(struct wf_fault_streams *s, const struct wf_pkt *pkt)
{
    const struct wf_parsed *p = &pkt->p;
    struct wf_stream k = {.used = false}, *x;
    bool fresh;

    if (!key_of(pkt, &k))
        return NULL;
    x = find(s, &k);
    if (!x)
        return NULL;
    fresh = !x->n_seen || ((p->psn - x->max_psn - 1) & WF_PSN_MASK) < HALF;
    if (!x->n_seen)
        x->first_psn = x->max_psn = p->psn;
    else if (fresh)
        advance(x, p->psn);
    if (fresh && wf_opcodes[p->opcode].flags & WF_OPF_FIRST)
        x->begins[x->messages++ % WF_STREAM_MESSAGES] = p->psn;
    if (x->passes && ((x->max_psn - p->psn) & WF_PSN_MASK) < WF_STREAM_WINDOW &&
        x->passes[p->psn % WF_STREAM_WINDOW] < UINT8_MAX)
        x->passes[p->psn % WF_STREAM_WINDOW]++;
    x->n_seen += x->n_seen < UINT32_MAX;
    x->sport = p->sport;
    x->dscp = p->dscp;
    if (p->flags & WF_P_AETH)
        x->msn =
            wf_ld32(wf_pkt_bytes(pkt) + p->bth_off + WF_BTH_LEN + wf_opcodes[p->opcode].aeth - 1) &
            WF_PSN_MASK;
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

/* An answer's PSN is one of the requests that it answers. */
static bool belong(const struct wf_stream *a, const struct wf_stream *b)
{
    const struct wf_stream *requests = a->answers ? b : a, *answers = a->answers ? a : b;

    return a->answers != b->answers && !memcmp(a->src, b->dst, 16) && !memcmp(a->dst, b->src, 16) &&
           ((requests->max_psn - answers->max_psn) & WF_PSN_MASK) <=
               ((requests->max_psn - requests->first_psn) & WF_PSN_MASK);
}

const struct wf_stream *wf_streams_other(const struct wf_fault_streams *s,
                                         const struct wf_stream *stream)
{
    const struct wf_stream *found = NULL, *by_port = NULL;
    uint32_t n = 0, n_by_port = 0;

    for (uint32_t i = 0; i < SLOTS; i++) {
        const struct wf_stream *x = &s->table[i];

        if (!x->used || !belong(x, stream))
            continue;
        found = x;
        n++;
        if (x->sport == stream->sport) {
            by_port = x;
            n_by_port++;
        }
    }
    return n == 1 ? found : n_by_port == 1 ? by_port : NULL;
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

    s->table = WF_ARENA_ARRAY(arena, struct wf_stream, SLOTS);
    s->tap.fn = comes_in;
    wf_port_tap(port, &s->tap);
    return s;
}

void wf_streams_count(struct wf_fault_streams *s, struct wf_arena *arena)
{
    uint8_t *passes;

    if (s->table[0].passes)
        return;
    passes = WF_ARENA_ARRAY(arena, uint8_t, SLOTS * WF_STREAM_WINDOW);
    for (uint32_t i = 0; i < SLOTS; i++)
        s->table[i].passes = passes + (size_t)i * WF_STREAM_WINDOW;
}
