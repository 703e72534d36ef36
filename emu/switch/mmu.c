/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared buffer: admission, XOFF and XON, and release (802.1Q 36, SAI's buffer model).
 *
 * A frame takes its frame_len, rounded up to whole cells: c bytes. Ingress, per (port, group): c
 * goes to what is left of `reserved`, then to the group's share of the pool, then, of a lossless
 * group, to its headroom; a frame may be split between them. The share is bounded by
 *   L = xoff or limit (static), or alpha x (shared size of the pool - bytes shared now), rounded
 *       down, as the pool stands before this frame (dynamic), and by
 *   what is left of the pool.
 * A lossy frame that needs more is dropped. A lossless frame that takes headroom makes XOFF go out
 * at that instant; one for which there is not enough headroom, of the group's own bytes or of the
 * pool's shared ones, is dropped, and XOFF goes out all the same. Release, when the first bit of
 * the frame leaves: c comes out of the headroom, then of the share, then of what is reserved.
 * XON goes out at a release after which the group has no headroom in use and holds, in all,
 *   no more than max(xon, reserved + L - xon_offset), L as the pool stands after the release;
 * without `xon_offset` no more than xon.
 *
 * Egress, per (port, queue): c goes to what is left of `reserved`, then to the queue's share, which
 * is bounded likewise; a lossy frame that does not fit is dropped. Lossless frames are counted
 * there and never refused, as on ASICs whose lossless egress profiles have no limit. Where neither
 * cells nor pools differ from the defaults, egress counts nothing of its own: the queue's bytes do.
 * Left out: cell-by-cell admission of a frame while it arrives; a frame is admitted whole.
 */
#include "switch/admit.h"
#include "switch/why.h"
#include "switch/trim.h"
#include "switch/watchdog.h"

static inline uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static inline uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A level, and the most that it was. */
static inline void rise(uint64_t *level, uint64_t *max, uint64_t by)
{
    *level += by;
    *max = wf_most(*max, *level);
}

static inline uint64_t pool_free(const struct wf_pool *pool)
{
    return less(pool->shared, pool->ctr[WF_POOL_BYTES]);
}

static inline uint64_t alpha_limit(uint64_t free, int8_t shift)
{
    return shift >= 0 ? free << shift : free >> -shift;
}

static inline uint64_t pg_limit(const struct wf_pg *pg, const struct wf_pool *pool)
{
    return pg->dynamic ? alpha_limit(pool_free(pool), pg->shift) : pg->lim.limit;
}

/* Remember which egress queue this pause is for; a fifth one counts for the last. */
static void blame(struct wf_pg *pg, const struct wf_port *out, unsigned queue)
{
    struct wf_blame *of = pg->blames->of;
    unsigned i = 0;
    uint64_t until;

    while (i < WF_BLAMES - 1 && of[i].xoffs && (of[i].port != out->index || of[i].queue != queue))
        i++;
    of[i].port = out->index;
    of[i].queue = (uint8_t)queue;
    of[i].xoffs++;
    for (unsigned prio = 0; prio < WF_PRIOS; prio++)
        if (wf_pfc_of(out)->queue_of_prio[prio] == queue && wf_pfc_paused(out, prio, &until)) {
            of[i].while_paused++;
            break;
        }
    pg->blames->last = (uint8_t)i;
}

static void pause_peer(struct wf_switch *sw, struct wf_visit *v, struct wf_pg *pg)
{
    if (pg->xoff)
        return;
    pg->xoff = pg->stirred = true;
    pg->blames->xoff_at_ps = wf_now(v->in);
    blame(pg, v->out, v->pkt->queue);
    wf_switch_why_xoff(sw, v->in, pg);
    wf_pfc_xoff(v->in, pg->prio);
}

uint64_t wf_switch_xoff_point(const struct wf_switch *sw, const struct wf_pg *pg)
{
    return pg->lim.reserved + pg_limit(pg, &sw->ipool[pg->pool]);
}

uint64_t wf_switch_xon_level(const struct wf_switch *sw, const struct wf_pg *pg)
{
    uint64_t level = pg->lim.xon;

    if (pg->lim.xon_offset != UINT64_MAX)
        wf_max_u64(&level, less(wf_switch_xoff_point(sw, pg), pg->lim.xon_offset));
    return level;
}

/* XON's condition. */
static bool has_room(const struct wf_switch *sw, const struct wf_pg *pg)
{
    return !pg->ctr[WF_PG_HEADROOM_BYTES] && pg->ctr[WF_PG_BYTES] <= wf_switch_xon_level(sw, pg);
}

/* Whether `head` bytes more fit into the headroom of a lossless group. */
static enum wf_reason headroom_refuses(const struct wf_visit *v, const struct wf_pg *pg,
                                       const struct wf_pool *pool, uint64_t head)
{
    bool own = pg->ctr[WF_PG_HEADROOM_BYTES] + head > pg->lim.headroom;

    if (!own && (!pool->headroom || pool->ctr[WF_POOL_HEADROOM_BYTES] + head <= pool->headroom))
        return WF_DROP_NONE;
    if (v->in->peer->node->ignores_pause)
        return WF_DROP_PEER_IGNORED_PAUSE;
    return own ? WF_DROP_NO_HEADROOM : WF_DROP_HEADROOM_POOL;
}

/* Where c bytes would go in a queue that counts for itself. */
struct egress_room {
    struct wf_egress *q;
    struct wf_pool *pool;
    uint64_t shared; /* of them */
};

static struct egress_room egress_room(struct wf_switch *sw, const struct wf_visit *v, uint64_t c)
{
    struct wf_egress *q = &sw->egress[v->out->tx_index][v->pkt->queue];

    return (struct egress_room){q, &sw->epool[q->pool], c - least(c, less(q->reserved, q->bytes))};
}

static __attribute__((noinline)) enum wf_reason egress_judge(struct wf_switch *sw,
                                                             const struct wf_visit *v, uint64_t c)
{
    struct egress_room r = egress_room(sw, v, c);
    uint64_t free = pool_free(r.pool);
    uint64_t limit = r.q->dynamic ? alpha_limit(free, r.q->shift) : r.q->limit;

    if (r.shared && r.q->ctr[WF_EGRESS_SHARED_BYTES] + r.shared > limit)
        return WF_DROP_EGRESS_FULL;
    return r.shared > free ? WF_DROP_EGRESS_POOL : WF_DROP_NONE;
}

static __attribute__((noinline)) void egress_book(struct wf_switch *sw, const struct wf_visit *v,
                                                  uint64_t c)
{
    struct egress_room r = egress_room(sw, v, c);
    uint64_t *ctr = r.q->ctr;

    r.q->bytes += c;
    rise(&ctr[WF_EGRESS_SHARED_BYTES], &ctr[WF_EGRESS_SHARED_MAX_BYTES], r.shared);
    rise(&r.pool->ctr[WF_POOL_BYTES], &r.pool->ctr[WF_POOL_MAX_BYTES], r.shared);
}

static __attribute__((noinline)) void egress_release(struct wf_switch *sw, const struct wf_pkt *pkt)
{
    struct wf_egress *q = &sw->egress[pkt->out][pkt->queue];
    uint64_t shared = least(pkt->charge, q->ctr[WF_EGRESS_SHARED_BYTES]);

    q->bytes -= pkt->charge;
    q->ctr[WF_EGRESS_SHARED_BYTES] -= shared;
    sw->epool[q->pool].ctr[WF_POOL_BYTES] -= shared;
}

/* Lossless frames are never refused. */
static inline enum wf_reason egress_refuses(struct wf_switch *sw, const struct wf_visit *v,
                                            uint64_t c)
{
    unsigned qi = v->pkt->queue;

    if (sw->egress)
        return egress_judge(sw, v, c);
    return v->out->q[qi].ctr[WF_QUEUE_BYTES] + c >
                   wf_switch_out_class(sw, v->out)->cfg->queue[qi].limit_bytes
               ? WF_DROP_EGRESS_FULL
               : WF_DROP_NONE;
}

static __attribute__((noinline)) enum wf_step refuse(struct wf_switch *sw, struct wf_visit *v,
                                                     struct wf_pg *pg, enum wf_reason why)
{
    bool egress = why == WF_DROP_EGRESS_FULL || why == WF_DROP_EGRESS_POOL;

    pg->ctr[WF_PG_DROP_FRAMES]++;
    v->out->q[v->pkt->queue].ctr[WF_QUEUE_DROP_FRAMES] += egress;
    v->out->q[v->pkt->queue].ctr[WF_QUEUE_DROP_BYTES] += egress ? v->pkt->frame_len : 0;
    sw->node.net->ctr[WF_FABRIC_LOSSLESS_DROPS] +=
        pg->lossless && why != WF_DROP_PEER_IGNORED_PAUSE;
    /* the peer is stopped though the frame is lost; XON needs a release to come */
    if (pg->lossless && pg->ctr[WF_PG_BYTES] && !has_room(sw, pg))
        pause_peer(sw, v, pg);
    return wf_switch_drop(v, why);
}

/* A frame that is more than the group's share of the pool: into its headroom, or not at all.
 * Returns what of it is shared. */
static __attribute__((noinline)) uint64_t beyond(const struct wf_visit *v, struct wf_pg *pg,
                                                 struct wf_pool *pool, uint64_t want,
                                                 enum wf_reason *why)
{
    uint64_t limit = pg_limit(pg, pool), room;

    room = least(less(limit, pg->ctr[WF_PG_SHARED_BYTES]), pool_free(pool));
    if (!pg->lossless)
        *why =
            pg->ctr[WF_PG_SHARED_BYTES] + want > limit ? WF_DROP_INGRESS_FULL : WF_DROP_POOL_FULL;
    else
        *why = headroom_refuses(v, pg, pool, want - room);
    return room;
}

static __attribute__((noinline)) void headroom_book(struct wf_switch *sw, struct wf_visit *v,
                                                    struct wf_pg *pg, uint64_t head)
{
    struct wf_pool *pool = &sw->ipool[pg->pool];

    pg->stirred = true;
    pg->ctr[WF_PG_HEADROOM_BYTES] += head;
    pool->ctr[WF_POOL_HEADROOM_BYTES] += head;
    wf_max_u64(&pg->ctr[WF_PG_HEADROOM_MAX_BYTES], pg->ctr[WF_PG_HEADROOM_BYTES]);
    wf_max_u64(&pool->ctr[WF_POOL_HEADROOM_MAX_BYTES], pool->ctr[WF_POOL_HEADROOM_BYTES]);
    pause_peer(sw, v, pg);
}

/* What a frame takes: c bytes, of which `want` are not reserved for its group, and of those `share`
 * find room in the pool; the rest is headroom. */
struct takes {
    uint64_t c, want, share;
};

/* The common case, a frame that fits into its group's share, is what the order here is for. */
static inline __attribute__((always_inline)) enum wf_reason judge(struct wf_switch *sw,
                                                                  const struct wf_visit *v,
                                                                  struct wf_pg *pg,
                                                                  struct wf_pool *pool,
                                                                  struct takes *t)
{
    const uint64_t *ctr = pg->ctr;
    enum wf_reason why = WF_DROP_NONE;

    t->c = t->want = wf_cells_bytes(sw->cell_bytes, v->pkt->frame_len);
    if (pg->reserves)
        t->want -= least(t->c, less(pg->lim.reserved, ctr[WF_PG_BYTES]));
    t->share = t->want;
    if (sw->used_bytes + t->c > sw->buffer_bytes)
        return WF_DROP_BUFFER_FULL;
    if (t->want && (ctr[WF_PG_SHARED_BYTES] + t->want > pg_limit(pg, pool) ||
                    pool->ctr[WF_POOL_BYTES] + t->want > pool->shared))
        t->share = beyond(v, pg, pool, t->want, &why);
    return why || pg->lossless ? why : egress_refuses(sw, v, t->c);
}

/* Refused, but it may be trimmed and try another queue. */
static __attribute__((noinline)) enum wf_reason trimmed(struct wf_switch *sw, struct wf_visit *v,
                                                        struct wf_pg *pg, enum wf_reason why,
                                                        struct takes *t)
{
    if (!wf_trim(sw, v, why))
        return why;
    why = sw->dropping_ports ? wf_switch_watchdog_out(sw, v) : WF_DROP_NONE;
    if (!why)
        why = judge(sw, v, pg, &sw->ipool[pg->pool], t);
    if (why)
        wf_trim_lost(v->out, v->pkt);
    return why;
}

enum wf_step wf_switch_admit_closely(struct wf_switch *sw, struct wf_visit *v)
{
    struct wf_pg *pg = &sw->pg[v->in->index][v->pkt->pg];
    struct wf_pool *pool = &sw->ipool[pg->pool];
    uint64_t *ctr = pg->ctr;
    struct takes t;
    enum wf_reason why = judge(sw, v, pg, pool, &t);

    if (why && sw->trims)
        why = trimmed(sw, v, pg, why, &t);
    wf_switch_why_admit(sw, v, pg, why);
    if (why)
        return refuse(sw, v, pg, why);
    wf_switch_charge(v, pg, t.c);
    rise(&ctr[WF_PG_BYTES], &ctr[WF_PG_MAX_BYTES], t.c);
    rise(&ctr[WF_PG_SHARED_BYTES], &ctr[WF_PG_SHARED_MAX_BYTES], t.share);
    rise(&pool->ctr[WF_POOL_BYTES], &pool->ctr[WF_POOL_MAX_BYTES], t.share);
    sw->used_bytes += t.c;
    if (sw->egress)
        egress_book(sw, v, t.c);
    if (t.want > t.share)
        headroom_book(sw, v, pg, t.want - t.share);
    if (sw->user)
        wf_switch_watermarks_note(sw, v);
    return WF_NEXT;
}

/* Whether some group of the port still wants this priority of the peer stopped. */
static bool wants_pause(const struct wf_switch *sw, const struct wf_port *port, uint8_t prio)
{
    for (unsigned g = 0; g < WF_PGS; g++)
        if (sw->pg[port->index][g].xoff && sw->pg[port->index][g].prio == prio)
            return true;
    return false;
}

/* A link that went down forgot its pauses; what is still full asks for them again. */
void wf_switch_link_changed(struct wf_node *node, struct wf_port *port, bool up)
{
    struct wf_switch *sw = (struct wf_switch *)node;

    if (sw->mgmt)
        sw->mgmt->link_changed(sw, port, up);
    for (unsigned prio = 0; prio < WF_PRIOS && up; prio++)
        if (wants_pause(sw, port, (uint8_t)prio))
            wf_pfc_xoff(port, prio);
}

static __attribute__((noinline)) void headroom_release(struct wf_pool *pool, struct wf_pg *pg,
                                                       uint64_t *c)
{
    uint64_t head = least(*c, pg->ctr[WF_PG_HEADROOM_BYTES]);

    pg->ctr[WF_PG_HEADROOM_BYTES] -= head;
    pool->ctr[WF_POOL_HEADROOM_BYTES] -= head;
    *c -= head;
}

void wf_switch_unpause(struct wf_switch *sw, struct wf_port *port, unsigned group)
{
    struct wf_pg *pg = &sw->pg[port->index][group];

    if (!pg->xoff)
        return;
    pg->xoff = false;
    wf_switch_why_xon(sw, port, pg);
    pg->blames->of[pg->blames->last].paused_ps += wf_now(port) - pg->blames->xoff_at_ps;
    if (!wants_pause(sw, port, pg->prio))
        wf_pfc_xon(port, pg->prio);
}

/* What waits for the group to empty: XON, and headroom that a slower link no longer needs. */
static void emptied(struct wf_switch *sw, const struct wf_pkt *pkt, struct wf_pg *pg)
{
    if (pg->shrinks && !pg->ctr[WF_PG_BYTES])
        wf_switch_shrink(sw, pkt->port);
    if (pg->xoff && has_room(sw, pg))
        wf_switch_unpause(sw, pkt->port, pkt->pg);
}

void wf_switch_release_closely(struct wf_switch *sw, struct wf_pkt *pkt)
{
    struct wf_pg *pg = WF_CONTAINER_OF(pkt->at, struct wf_pg, ctr[WF_PG_BYTES]);
    struct wf_pool *pool = &sw->ipool[pg->pool];
    uint64_t c = pkt->charge;

    pkt->flags &= (uint16_t)~WF_PKT_ACCOUNTED;
    if (sw->egress)
        egress_release(sw, pkt);
    pg->ctr[WF_PG_BYTES] -= c;
    sw->used_bytes -= c;
    if (pg->ctr[WF_PG_HEADROOM_BYTES])
        headroom_release(pool, pg, &c);
    c = least(c, pg->ctr[WF_PG_SHARED_BYTES]);
    pg->ctr[WF_PG_SHARED_BYTES] -= c;
    pool->ctr[WF_POOL_BYTES] -= c;
    if (pg->xoff | pg->shrinks)
        emptied(sw, pkt, pg);
    if (pg->plain) /* else each release comes by here */
        pg->stirred = pg->xoff || pg->shrinks || pg->ctr[WF_PG_HEADROOM_BYTES];
}
