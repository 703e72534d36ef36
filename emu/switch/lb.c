/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/lb.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/digest.h"

enum { FLOWLETS_MIN = 256, FLOWLETS_AUTO_MAX = 65536, FLOWLETS_PER_FLOW = 4 };

struct flowlet {
    uint64_t last_ps;
    uint16_t port;
    bool used;
};

struct wf_lb {
    const struct wf_lb_cfg *cfg;
    uint64_t salt;
    bool own_hash;     /* other fields than the packet's flow hash has */
    bool moved;        /* a change of the graph may have moved buckets */
    uint16_t **bucket; /* resilient: by destination's place in the graph; NULL: one next hop */
    uint16_t **home;   /* what bucket was when all was well */
    uint16_t *turn;    /* round robin: by destination */
    struct flowlet *flowlets;
    uint32_t flowlets_mask;
    struct wf_prng prng;
};

/* wf_hash_bytes of an IPv4 address in one piece. */
static inline uint64_t hash_addr(const uint8_t *addr, size_t len, uint64_t seed)
{
    return len == 4 ? wf_hash_4(addr, seed) : wf_hash_bytes(addr, len, seed);
}

static uint64_t hash_ip(const uint8_t *b, const struct wf_parsed *p, uint32_t fields, uint64_t h)
{
    size_t len = p->flags & WF_P_IP4 ? 4 : 16;
    const uint8_t *src = b + p->l3_off + (p->flags & WF_P_IP4 ? 12 : 8);

    if (fields & WF_LB_SRC_IP)
        h = hash_addr(src, len, h + WF_LB_SRC_IP);
    if (fields & WF_LB_DST_IP)
        h = hash_addr(src + len, len, h + WF_LB_DST_IP);
    if (fields & WF_LB_PROTOCOL)
        h = wf_mix(h + WF_LB_PROTOCOL, p->ip_proto);
    return h;
}

/* The hash over the fields that are asked for; one that the packet lacks is no part of it. */
static uint32_t hash_of(const struct wf_lb *lb, const struct wf_port *in, const struct wf_pkt *pkt)
{
    const struct wf_parsed *p = &pkt->p;
    uint32_t fields = lb->cfg->fields;
    uint64_t h = 0;

    if (!lb->own_hash)
        return pkt->flow_hash;
    if (p->flags & WF_P_IP)
        h = hash_ip(wf_pkt_bytes(pkt), p, fields, h);
    else
        h = pkt->flow_hash;
    if (p->flags & WF_P_PORTS && fields & WF_LB_SRC_PORT)
        h = wf_mix(h + WF_LB_SRC_PORT, p->sport);
    if (p->flags & WF_P_PORTS && fields & WF_LB_DST_PORT)
        h = wf_mix(h + WF_LB_DST_PORT, p->dport);
    if (p->flags & WF_P_BTH && fields & WF_LB_DEST_QP)
        h = wf_mix(h + WF_LB_DEST_QP, p->dqpn);
    if (fields & WF_LB_IN_PORT)
        h = wf_mix(h + WF_LB_IN_PORT, in->index);
    if (p->flags & WF_P_VLAN && fields & WF_LB_VLAN)
        h = wf_mix(h + WF_LB_VLAN, p->vid);
    return (uint32_t)(h >> 32);
}

/* --- least loaded ----------------------------------------------------------------------------- */

static uint32_t level_of(const struct wf_lb *lb, const struct wf_port *port)
{
    uint64_t bytes = 0, level;

    for (uint32_t m = port->occupied & (WF_OCCUPIED_CONTROL - 1); m; m &= m - 1)
        bytes += port->q[__builtin_ctz(m)].ctr[WF_QUEUE_BYTES];
    level = bytes / lb->cfg->quantum;
    return level < lb->cfg->levels ? (uint32_t)level : lb->cfg->levels - 1;
}

static uint16_t least_loaded(struct wf_switch *sw, struct wf_hops h)
{
    uint32_t least = UINT32_MAX, n = 0;
    uint64_t nth;

    for (unsigned i = 0; i < h.n; i++) {
        uint32_t l = level_of(sw->lb, &sw->node.ports[wf_hops_port(h, i)]);

        n = l < least ? 1 : n + (l == least);
        least = l < least ? l : least;
    }
    nth = n > 1 ? wf_prng_below(&sw->lb->prng, n) : 0;
    for (unsigned i = 0; i < h.n; i++)
        if (level_of(sw->lb, &sw->node.ports[wf_hops_port(h, i)]) == least && !nth--)
            return wf_hops_port(h, i);
    return wf_hops_port(h, 0);
}

/* --- the modes -------------------------------------------------------------------------------- */

static uint16_t by_hash(const struct wf_lb *lb, const struct wf_switch *sw, uint32_t hash,
                        uint32_t dst_sw, struct wf_hops h)
{
    uint64_t mix = wf_mix(hash, lb->salt), at = lb->bucket ? mix % lb->cfg->buckets : mix;
    const uint16_t *bucket;

    if (!lb->moved) /* buckets are as they were made, and their tables far away */
        return wf_hops_port(h, (unsigned)(at % h.n));
    bucket = lb->bucket[sw->graph->dst_of[dst_sw]];
    return bucket ? bucket[at] : wf_hops_port(h, (unsigned)(mix % h.n));
}

static bool is_among(struct wf_hops h, uint16_t port)
{
    for (unsigned i = 0; i < h.n; i++)
        if (wf_hops_port(h, i) == port)
            return true;
    return false;
}

static uint16_t by_flowlet(struct wf_switch *sw, uint64_t now, uint32_t hash, struct wf_hops h)
{
    struct wf_lb *lb = sw->lb;
    struct flowlet *f = &lb->flowlets[wf_mix(hash, lb->salt) & lb->flowlets_mask];

    if (!f->used || now - f->last_ps >= lb->cfg->gap_ps || !is_among(h, f->port))
        f->port = lb->cfg->choice == WF_LB_CHOOSE_LEAST
                      ? least_loaded(sw, h)
                      : wf_hops_port(h, (unsigned)wf_prng_below(&lb->prng, h.n));
    f->used = true;
    f->last_ps = now;
    return f->port;
}

static uint16_t by_spray(struct wf_switch *sw, uint32_t dst_sw, struct wf_hops h)
{
    struct wf_lb *lb = sw->lb;
    uint16_t *turn;

    if (lb->cfg->spray == WF_LB_RANDOM)
        return wf_hops_port(h, (unsigned)wf_prng_below(&lb->prng, h.n));
    turn = &lb->turn[sw->graph->dst_of[dst_sw]];
    *turn = (uint16_t)(*turn + 1 < h.n ? *turn + 1 : 0);
    return wf_hops_port(h, *turn);
}

uint16_t wf_lb_pick(struct wf_switch *sw, const struct wf_port *in, const struct wf_pkt *pkt,
                    uint32_t dst_sw, struct wf_hops h)
{
    const struct wf_lb *lb = sw->lb;

    switch (lb->cfg->mode) {
    case WF_LB_SPRAY:
        return by_spray(sw, dst_sw, h);
    case WF_LB_ADAPTIVE:
        return least_loaded(sw, h);
    case WF_LB_FLOWLET:
        return by_flowlet(sw, wf_now(in), hash_of(lb, in, pkt), h);
    default:
        return by_hash(lb, sw, hash_of(lb, in, pkt), dst_sw, h);
    }
}

uint16_t wf_lb_path(const struct wf_switch *sw, uint32_t flow_hash, uint32_t dst_sw,
                    struct wf_hops h)
{
    return by_hash(sw->lb, sw, flow_hash, dst_sw, h);
}

/* --- resilient hashing ------------------------------------------------------------------------ */

/* The buckets of one destination after a change: who has lost his next hop gets one of those that
 * are there in turn, and has its own again when that is back and it shall. */
static void redistribute(const struct wf_lb *lb, uint16_t *bucket, const uint16_t *home,
                         struct wf_hops h)
{
    unsigned next = 0;

    for (uint32_t b = 0; b < lb->cfg->buckets; b++) {
        if (lb->cfg->resilient == WF_LB_RETURN && is_among(h, home[b]))
            bucket[b] = home[b];
        else if (!is_among(h, bucket[b]))
            bucket[b] = wf_hops_port(h, next++ % h.n);
    }
}

void wf_lb_regraph(struct wf_switch *sw)
{
    struct wf_lb *lb = sw->lb;

    if (!lb || !lb->bucket)
        return;
    lb->moved = true;
    for (uint32_t d = 0; d < sw->graph->n_dsts; d++) {
        struct wf_hops h = {0};

        if (lb->bucket[d])
            h = wf_next_hops(sw->graph, sw->sw, sw->graph->dsts[d]);
        if (h.n)
            redistribute(lb, lb->bucket[d], lb->home[d], h);
    }
}

static void make_buckets(struct wf_switch *sw, struct wf_arena *arena)
{
    struct wf_lb *lb = sw->lb;
    uint32_t n = lb->cfg->buckets;

    lb->bucket = WF_ARENA_ARRAY(arena, uint16_t *, sw->graph->n_dsts + 1);
    lb->home = WF_ARENA_ARRAY(arena, uint16_t *, sw->graph->n_dsts + 1);
    for (uint32_t d = 0; d < sw->graph->n_dsts; d++) {
        struct wf_hops h = {0};

        if (sw->graph->dsts[d] != sw->sw)
            h = wf_next_hops(sw->graph, sw->sw, sw->graph->dsts[d]);
        if (h.n < 2)
            continue;
        lb->bucket[d] = WF_ARENA_ARRAY(arena, uint16_t, n);
        lb->home[d] = WF_ARENA_ARRAY(arena, uint16_t, n);
        for (uint32_t b = 0; b < n; b++)
            lb->bucket[d][b] = lb->home[d][b] = wf_hops_port(h, b % h.n);
    }
}

static uint32_t flowlet_slots(const struct wf_lb_cfg *c, uint32_t n_flows)
{
    uint64_t want = c->flowlets, n = 1;

    if (!want) {
        want = (uint64_t)FLOWLETS_PER_FLOW * n_flows;
        want = want < FLOWLETS_MIN ? FLOWLETS_MIN : want;
        want = want > FLOWLETS_AUTO_MAX ? FLOWLETS_AUTO_MAX : want;
    }
    while (n < want)
        n *= 2;
    return (uint32_t)n;
}

uint64_t wf_lb_bytes(const struct wf_lb_cfg *c, uint32_t n_flows, uint32_t n_dsts)
{
    if (c->mode == WF_LB_FLOWLET)
        return (uint64_t)flowlet_slots(c, n_flows) * sizeof(struct flowlet);
    if (c->mode == WF_LB_ECMP && c->resilient != WF_LB_REHASH)
        return (uint64_t)n_dsts * c->buckets * 2 * sizeof(uint16_t);
    return 0;
}

void wf_lb_ready(struct wf_switch *sw, struct wf_arena *arena)
{
    const struct wf_lb_cfg *c = &sw->cfg.lb;
    struct wf_lb *lb;
    char name[128];

    if (wf_lb_is_plain(c))
        return;
    sw->lb = lb = WF_ARENA_NEW(arena, struct wf_lb);
    lb->cfg = c;
    lb->salt = c->salt == WF_KEY_AUTO ? sw->sw : c->salt;
    lb->own_hash = c->fields != WF_LB_FIELDS_DEFAULT;
    snprintf(name, sizeof(name), "%s.lb", sw->node.name);
    wf_prng_init(&lb->prng, sw->node.net->seed, name);
    if (c->mode == WF_LB_ECMP && c->resilient != WF_LB_REHASH)
        make_buckets(sw, arena);
    if (c->mode == WF_LB_SPRAY && c->spray == WF_LB_ROUND_ROBIN)
        lb->turn = WF_ARENA_ARRAY(arena, uint16_t, sw->graph->n_dsts + 1);
    if (c->mode == WF_LB_FLOWLET) {
        lb->flowlets_mask = flowlet_slots(c, sw->n_flows) - 1;
        lb->flowlets = WF_ARENA_ARRAY(arena, struct flowlet, lb->flowlets_mask + 1u);
    }
}
