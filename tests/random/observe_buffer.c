/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A switch's shared buffer by its taps, reckoned anew from the description: what each frame takes
 * in cells, of which part of which pool, who must be refused and who must not, and whom a group
 * pauses.
 */
#include "observe.h"

#include <inttypes.h>

#include "switch/switch.h"

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

struct ob_buffer *ob_buffer_of(const struct ob_port *p)
{
    return &p->ob->buffers[p->port->node->index];
}

static uint64_t takes(const struct ob_port *p, uint64_t len)
{
    uint64_t cells = len / p->sw->cell_bytes + (len % p->sw->cell_bytes != 0);

    return cells * p->sw->cell_bytes;
}

/* --- headroom ---------------------------------------------------------------------------------
 */

static uint64_t response_ps(const struct ob_port *peer)
{
    static const uint32_t gbps[] = {1, 10, 25, 40, 50, 100, 200, 400};
    static const uint32_t quanta[] = {2, 67, 80, 118, 147, 394, 453, 905};
    uint64_t rate = peer->port->link->cfg.rate_bps;
    unsigned i = 0;

    if (peer->pfc->response_ps != WF_KEY_AUTO)
        return peer->pfc->response_ps;
    while (i + 1 < sizeof(gbps) / sizeof(gbps[0]) && rate >= gbps[i + 1] * 1000000000ull)
        i++;
    return ob_span_ps(rate, quanta[i] * 64);
}

/* Two tags at most, and FCS. */
uint32_t ob_frame_max(const struct wf_link_cfg *link)
{
    return link->mtu + 14 + 8 + 4;
}

/* Whatever length wastes most of its cells for its time on the wire. */
static uint64_t worst_of(const struct ob_port *p, uint64_t wire, uint64_t max)
{
    uint64_t cells = 0, over = 1;

    if (p->sw->cell_bytes == 1)
        return wire;
    for (uint64_t len = 64; len <= max; len++)
        if (takes(p, len) * over > cells * (len + 20)) {
            cells = takes(p, len);
            over = len + 20;
        }
    return takes(p, (wire * cells + over - 1) / over);
}

/* The frame that crosses the threshold, and what still arrives after the decision to stop the peer
 * (802.1Q annex N): our frame that has just begun, the PFC frame, twice the cable, the peer's
 * response, and its frame that has just begun. */
static uint64_t bound(const struct ob_port *p, uint64_t response)
{
    const struct wf_link_cfg *link = &p->port->link->cfg;
    unsigned __int128 wait = 2 * (unsigned __int128)link->delay_ps + response;
    uint64_t max = ob_frame_max(link);
    uint64_t bits = (uint64_t)((wait * link->rate_bps + WF_PS_PER_S - 1) / WF_PS_PER_S);

    return worst_of(p, ((max + 20 + 84) * 8 + bits + 7) / 8, max) + 2 * takes(p, max);
}

static uint64_t headroom_of(const struct ob_port *p, unsigned g, uint64_t response)
{
    const struct wf_pg_cfg *c = &p->cfg->pg[g];

    return !c->lossless ? 0 : c->headroom_bytes == WF_KEY_AUTO ? p->bound : c->headroom_bytes;
}

void ob_buffer_begin(struct ob_port *p)
{
    p->response_ps = response_ps(p->peer);
    p->bound = bound(p, p->response_ps);
    for (unsigned g = 0; g < WF_PGS; g++)
        p->group[g].cap = headroom_of(p, g, p->response_ps);
}

/* More headroom at once, less when nothing of the old rate is left: neither what is on its way nor
 * what the group holds. The peer may still be answering at its old pace. */
void ob_buffer_rate(struct ob_port *p)
{
    uint64_t was = p->response_ps, slow;

    p->response_ps = response_ps(p->peer);
    slow = was > p->response_ps ? was : p->response_ps;
    p->bound = bound(p, slow);
    p->landed_ps = (p->peer->end_ps > p->ob->now_ps ? p->peer->end_ps : p->ob->now_ps) +
                   p->port->link->cfg.delay_ps;
    for (unsigned g = 0; g < WF_PGS; g++) {
        uint64_t cap = headroom_of(p, g, slow);

        if (cap > p->group[g].cap)
            p->group[g].cap = cap;
    }
    p->bound = bound(p, p->response_ps);
    for (unsigned g = 0; g < WF_PGS; g++)
        p->group[g].keeps = p->group[g].cap > headroom_of(p, g, p->response_ps);
}

/* --- pools -------------------------------------------------------------------------------------
 */

/* What of an ingress pool is shared: what the headrooms and the other pools leave of the buffer. */
static uint64_t shared_size(const struct ob_port *p, unsigned pool)
{
    const struct wf_node *n = p->port->node;
    uint64_t left = p->sw->buffer_bytes, reserved = 0, takers = 0;
    bool used[WF_POOLS] = {false};

    for (uint16_t i = 0; i < n->n_ports; i++) {
        const struct ob_port *x = ob_port_of(p->ob, &n->ports[i]);

        for (unsigned g = 0; g < WF_PGS; g++) {
            const struct wf_pg_cfg *c = &x->cfg->pg[g];

            used[c->pool] = true;
            reserved += c->pool == pool ? c->reserved_bytes : 0;
            if (c->lossless && !p->sw->ingress_pool[c->pool].headroom_bytes)
                left = less(left, x->group[g].cap);
        }
    }
    for (unsigned i = 0; i < WF_POOLS; i++) {
        const struct wf_pool_cfg *c = &p->sw->ingress_pool[i];

        left = less(left, c->headroom_bytes);
        if (c->size_bytes != WF_KEY_AUTO)
            left = less(left, c->size_bytes);
        takers += c->size_bytes == WF_KEY_AUTO && used[i];
    }
    if (p->sw->ingress_pool[pool].size_bytes != WF_KEY_AUTO)
        return less(p->sw->ingress_pool[pool].size_bytes, reserved);
    return less(takers ? left / takers : 0, reserved);
}

static uint64_t egress_size(const struct ob_port *p, unsigned pool)
{
    const struct wf_node *n = p->port->node;
    const struct wf_pool_cfg *c = &p->sw->egress_pool[pool];
    uint64_t size = c->size_bytes == WF_KEY_AUTO ? p->sw->buffer_bytes : c->size_bytes;

    for (uint16_t i = 0; i < n->n_ports; i++)
        for (unsigned q = 0; q < WF_QUEUES; q++) {
            const struct wf_queue_cfg *x = &ob_port_of(p->ob, &n->ports[i])->cfg->queue[q];

            size = less(size, x->pool == pool ? x->reserved_bytes : 0);
        }
    return size;
}

static uint64_t share_limit(const struct wf_pool_cfg *pool, const struct wf_fraction *alpha,
                            uint64_t limit, uint64_t free)
{
    if (pool->mode == WF_POOL_STATIC)
        return limit;
    return (uint64_t)((unsigned __int128)free * alpha->num / alpha->den);
}

static uint64_t group_limit(const struct ob_port *p, unsigned g, uint64_t free)
{
    const struct wf_pg_cfg *c = &p->cfg->pg[g];

    return share_limit(&p->sw->ingress_pool[c->pool], &c->alpha,
                       c->lossless ? c->xoff_bytes : c->limit_bytes, free);
}

static uint64_t pool_free(const struct ob_port *p, unsigned pool)
{
    return less(shared_size(p, pool), ob_buffer_of(p)->shared[pool]);
}

/* --- ingress -----------------------------------------------------------------------------------
 */

/* Where a frame's bytes would go, and why it is to be refused. */
struct parts {
    uint64_t all, shared, head;
    enum wf_reason why;
};

static struct parts judge(const struct ob_port *p, const struct ob_frame *fr)
{
    const struct ob_group *g = &p->group[fr->pg];
    const struct wf_pg_cfg *c = &p->cfg->pg[fr->pg];
    const struct wf_pool_cfg *pool = &p->sw->ingress_pool[c->pool];
    struct ob_buffer *b = ob_buffer_of(p);
    struct parts x = {.all = takes(p, fr->len)};
    uint64_t want = x.all - least(x.all, less(c->reserved_bytes, g->bytes));
    uint64_t free = pool_free(p, c->pool), limit = group_limit(p, fr->pg, free);

    x.shared = least(want, least(free, less(limit, g->shared)));
    x.head = want - x.shared;
    if (b->used + x.all > p->sw->buffer_bytes)
        x.why = WF_DROP_BUFFER_FULL;
    else if (x.head && !c->lossless)
        x.why = g->shared + want > limit ? WF_DROP_INGRESS_FULL : WF_DROP_POOL_FULL;
    else if (x.head && g->head + x.head > g->cap)
        x.why = WF_DROP_NO_HEADROOM;
    else if (x.head && pool->headroom_bytes && b->head[c->pool] + x.head > pool->headroom_bytes)
        x.why = WF_DROP_HEADROOM_POOL;
    return x;
}

static bool goes_on(const struct ob_port *p, unsigned pg)
{
    const struct ob_group *g = &p->group[pg];
    const struct wf_pg_cfg *c = &p->cfg->pg[pg];
    uint64_t point = c->reserved_bytes + group_limit(p, pg, pool_free(p, c->pool)), level = 0;
    uint64_t offset = c->xon_offset_bytes;

    if (c->xon_bytes != WF_KEY_AUTO)
        level = c->xon_bytes;
    if (offset == WF_KEY_AUTO && c->xon_bytes == WF_KEY_AUTO)
        offset = 2ull * ob_frame_max(&p->port->link->cfg);
    if (offset != WF_KEY_AUTO && less(point, offset) > level)
        level = point - offset;
    return !g->head && g->bytes <= level;
}

/* Whether the frame has no place in its queue at this port: by the pool, or by its own limit. */
static bool no_place(const struct ob_port *out, const struct ob_port *p, const struct ob_frame *fr,
                     bool pool)
{
    const struct wf_queue_cfg *c = &out->cfg->queue[fr->queue];
    const struct ob_queue *q = &out->queue[fr->queue];
    uint64_t all = takes(p, fr->len);
    uint64_t shared = all - least(all, less(c->reserved_bytes, q->bytes));
    uint64_t free = less(egress_size(p, c->pool), ob_buffer_of(p)->egress[c->pool]);
    uint64_t limit = share_limit(&p->sw->egress_pool[c->pool], &c->alpha, c->limit_bytes, free);

    return pool ? shared > free : shared && q->shared + shared > limit;
}

static bool trims(const struct ob_port *p, const struct ob_frame *fr)
{
    return !p->cfg->pg[fr->pg].lossless && p->cfg->queue[fr->queue].discard == WF_DISCARD_TRIM;
}

/* Why a frame that goes to that port is to be refused. */
static enum wf_reason refusal(const struct ob_port *p, const struct ob_port *out,
                              const struct ob_frame *fr)
{
    enum wf_reason why = judge(p, fr).why;

    if (why || p->cfg->pg[fr->pg].lossless)
        return why;
    if (no_place(out, p, fr, false))
        return WF_DROP_EGRESS_FULL;
    return no_place(out, p, fr, true) ? WF_DROP_EGRESS_POOL : WF_DROP_NONE;
}

/* Whole it would have been refused, so it was trimmed. A frame that is sent at once has forgotten
 * that: its length, DSCP and queue still say so. */
static void maybe_trimmed(struct ob_port *p, const struct ob_port *out, struct ob_frame *fr)
{
    bool cut = trims(p, fr) && refusal(p, out, fr);

    if (fr->pkt->flags & WF_PKT_TRIM_HERE && !cut)
        ob_fail(p->ob, "trimmed", "%s trims a frame of queue %u that has %s", p->port->name,
                fr->queue, trims(p, fr) ? "room" : "to be dropped");
    if (!cut)
        return;
    ob_switch_cut(p, fr);
    p->ob->stats.trims++;
}

/* Nobody refused the frame that came last. */
void ob_switch_settle(struct observer *ob)
{
    struct ob_frame *fr = ob->pending;
    struct ob_port *p = fr->in;
    const struct ob_port *out = ob_port_of(ob, &p->port->node->ports[fr->pkt->out]);
    struct ob_group *g = &p->group[fr->pg];
    struct ob_buffer *b = ob_buffer_of(p);
    unsigned pool = p->cfg->pg[fr->pg].pool;
    struct parts x;

    ob->pending = NULL;
    ob_vlan_admitted(p, fr);
    fr->len = ob_vlan_len(out, fr);
    maybe_trimmed(p, out, fr);
    if (fr->pkt->frame_len != fr->len)
        ob_fail(ob, "frame_len", "%s makes %u bytes of a frame, expected %u", p->port->name,
                fr->pkt->frame_len, fr->len);
    x = judge(p, fr);
    if (x.why)
        ob_fail(ob, x.why == WF_DROP_NO_HEADROOM ? "over_headroom" : "over_limit",
                "%s.pg%u takes %u bytes on top of %" PRIu64 " (%" PRIu64 " shared, %" PRIu64
                " of %" PRIu64 " headroom), expected: %s",
                p->port->name, fr->pg, fr->len, g->bytes, g->shared, g->head, g->cap,
                wf_reason_name(x.why));
    fr->admitted = true;
    fr->takes = x.all;
    g->bytes += x.all;
    g->shared += x.shared;
    g->head += x.head;
    b->used += x.all;
    b->shared[pool] += x.shared;
    b->head[pool] += x.head;
    ob_egress_came(p, fr);
    if (!x.head)
        return;
    ob->stats.pauses += !g->xoff;
    g->xoff = true;
    wf_max_u64(&ob->tight_pg[fr->pg], g->head);
    if (ob->lossless && !p->flapped && !p->rate_since_ps)
        wf_max_u64(&ob->stats.headroom_ppm, g->head * 1000000 / p->bound);
    ob->stats.reached_limit += g->head == g->cap;
}

/* It had its place, headroom too, but the port that it was to leave by was down. */
void ob_buffer_passed(const struct ob_port *p, const struct ob_frame *fr)
{
    struct ob_frame x = *fr;

    x.len = fr->pkt->frame_len;
    wf_max_u64(&p->ob->tight_pg[fr->pg], p->group[fr->pg].head + judge(p, &x).head);
}

/* Headroom first, then what is shared, then what is reserved. */
void ob_buffer_left(struct ob_frame *fr)
{
    struct ob_port *p = fr->in;
    struct ob_group *g = &p->group[fr->pg];
    struct ob_buffer *b = ob_buffer_of(p);
    unsigned pool = p->cfg->pg[fr->pg].pool;
    uint64_t head, shared;

    if (!fr->admitted)
        return;
    fr->admitted = false;
    head = least(fr->takes, g->head);
    shared = least(fr->takes - head, g->shared);
    g->head -= head;
    g->shared -= shared;
    g->bytes -= fr->takes;
    b->head[pool] -= head;
    b->shared[pool] -= shared;
    b->used -= fr->takes;
    ob_egress_left(p, fr);
    if (g->keeps && !g->bytes && p->ob->now_ps >= p->landed_ps)
        for (unsigned i = 0; i < WF_PGS; i++)
            if (p->group[i].keeps && !p->group[i].bytes) {
                p->group[i].keeps = false;
                p->group[i].cap = headroom_of(p, i, p->response_ps);
            }
    if (g->xoff && goes_on(p, fr->pg))
        g->xoff = false;
}

/* --- egress ------------------------------------------------------------------------------------
 */

/* The switch says which port; that it leaves there is seen when it is sent. */
void ob_egress_came(struct ob_port *p, struct ob_frame *fr)
{
    struct ob_port *out = ob_port_of(p->ob, &p->port->node->ports[fr->pkt->out]);
    const struct wf_queue_cfg *c = &out->cfg->queue[fr->queue];
    struct ob_queue *q = &out->queue[fr->queue];
    uint64_t shared = fr->takes - least(fr->takes, less(c->reserved_bytes, q->bytes));

    fr->out = fr->pkt->out;
    if (!p->cfg->pg[fr->pg].lossless && (no_place(out, p, fr, false) || no_place(out, p, fr, true)))
        ob_fail(p->ob, "over_egress", "%s.q%u takes %u bytes on top of %" PRIu64 " shared",
                out->port->name, fr->queue, fr->len, q->shared);
    q->bytes += fr->takes;
    q->shared += shared;
    ob_buffer_of(p)->egress[c->pool] += shared;
}

void ob_egress_left(struct ob_port *p, struct ob_frame *fr)
{
    struct ob_port *out = ob_port_of(p->ob, &p->port->node->ports[fr->out]);
    struct ob_queue *q = &out->queue[fr->queue];
    uint64_t shared = least(fr->takes, q->shared);

    q->bytes -= fr->takes;
    q->shared -= shared;
    ob_buffer_of(p)->egress[out->cfg->queue[fr->queue].pool] -= shared;
}

/* --- drops -------------------------------------------------------------------------------------
 */

static bool of_ingress(enum wf_reason why)
{
    return why == WF_DROP_BUFFER_FULL || why == WF_DROP_INGRESS_FULL || why == WF_DROP_POOL_FULL ||
           why == WF_DROP_NO_HEADROOM || why == WF_DROP_HEADROOM_POOL;
}

/* Whether that is the reason if it was to go to that port. What may be trimmed has been, and was
 * refused once more. */
static bool explains(const struct ob_port *p, const struct ob_port *out, const struct ob_frame *fr,
                     enum wf_reason why, enum wf_reason *expected)
{
    struct ob_frame x = *fr;

    if (!ob_vlan_takes(out, fr))
        return false;
    x.len = ob_vlan_len(out, fr);
    if (trims(p, &x) && refusal(p, out, &x))
        ob_switch_cut(p, &x);
    *expected = refusal(p, out, &x);
    return *expected == why && fr->pkt->frame_len == x.len;
}

/* Refused at the door: which port it was to leave by is not to be seen. */
void ob_buffer_refused(struct ob_port *p, const struct ob_frame *fr, enum wf_reason why)
{
    struct observer *ob = p->ob;
    struct ob_group *g = &p->group[fr->pg];
    const struct wf_node *n = p->port->node;
    bool lossless = p->cfg->pg[fr->pg].lossless, explained = false;
    enum wf_reason expected = WF_DROP_NONE;

    if (!of_ingress(why) && why != WF_DROP_EGRESS_FULL && why != WF_DROP_EGRESS_POOL)
        return;
    for (uint16_t i = 0; i < n->n_ports && !explained; i++)
        explained = explains(p, ob_port_of(ob, &n->ports[i]), fr, why, &expected);
    if (!explained)
        ob_fail(ob, "early_drop",
                "%s.pg%u refuses %u bytes on top of %" PRIu64 " (%" PRIu64 " shared, %" PRIu64
                " of %" PRIu64 " headroom): %s, expected: %s",
                p->port->name, fr->pg, fr->pkt->frame_len, g->bytes, g->shared, g->head, g->cap,
                wf_reason_name(why), wf_reason_name(expected));
    if (!lossless)
        return;
    ob->stats.lossless_drops++;
    if (ob->lossless && !p->flapped)
        ob_fail(ob, "lossless_drop", "%s.pg%u drops, though nothing in the scenario allows it",
                p->port->name, fr->pg);
    if (g->bytes && !goes_on(p, fr->pg))
        g->xoff = true;
}

void ob_buffer_check(struct ob_port *p)
{
    const struct wf_switch *sw = (const struct wf_switch *)p->port->node;
    const struct ob_buffer *b = ob_buffer_of(p);

    for (unsigned g = 0; g < WF_PGS; g++) {
        const struct wf_pg *pg = &sw->pg[p->port->index][g];

        if (pg->ctr[WF_PG_BYTES] != p->group[g].bytes ||
            pg->ctr[WF_PG_SHARED_BYTES] != p->group[g].shared ||
            pg->ctr[WF_PG_HEADROOM_BYTES] != p->group[g].head)
            ob_fail(p->ob, "group_bytes",
                    "%s.pg%u says %" PRIu64 " bytes, %" PRIu64 " shared, %" PRIu64
                    " of headroom; taps say %" PRIu64 ", %" PRIu64 ", %" PRIu64,
                    p->port->name, g, pg->ctr[WF_PG_BYTES], pg->ctr[WF_PG_SHARED_BYTES],
                    pg->ctr[WF_PG_HEADROOM_BYTES], p->group[g].bytes, p->group[g].shared,
                    p->group[g].head);
    }
    if (sw->used_bytes != b->used || sw->used_bytes > sw->cfg.buffer_bytes)
        ob_fail(p->ob, "buffer_bytes", "%s says %" PRIu64 " bytes used, taps say %" PRIu64,
                p->port->node->name, sw->used_bytes, b->used);
    for (unsigned i = 0; i < WF_POOLS; i++)
        if (sw->ipool[i].ctr[WF_POOL_BYTES] != b->shared[i] ||
            sw->ipool[i].ctr[WF_POOL_HEADROOM_BYTES] != b->head[i] ||
            (sw->egress && sw->epool[i].ctr[WF_POOL_BYTES] != b->egress[i]))
            ob_fail(p->ob, "pool_bytes",
                    "%s: pools %u say %" PRIu64 ", %" PRIu64 " and %" PRIu64
                    " bytes, taps say %" PRIu64 ", %" PRIu64 " and %" PRIu64,
                    p->port->node->name, i, sw->ipool[i].ctr[WF_POOL_BYTES],
                    sw->ipool[i].ctr[WF_POOL_HEADROOM_BYTES], sw->epool[i].ctr[WF_POOL_BYTES],
                    b->shared[i], b->head[i], b->egress[i]);
}
