/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/watermark.h"

/* The user ones, once something was cleared. */
struct wf_watermarks {
    uint64_t (*port)[3][WF_PGS]; /* [port][kind]; queues are as many as groups */
    uint64_t pool[3][WF_POOLS];
};

_Static_assert(WF_QUEUES == WF_PGS, "one table for both");

/* Where a watermark is counted since the start, and the level that it is the maximum of. */
struct place {
    uint64_t *max, *level;
};

static struct place place_of(const struct wf_switch *sw, enum wf_watermark kind, unsigned at,
                             unsigned i)
{
    struct wf_switch *s = (struct wf_switch *)sw;

    switch (kind) {
    case WF_WATERMARK_PG_SHARED:
        return (struct place){&s->pg[at][i].ctr[WF_PG_SHARED_MAX_BYTES],
                              &s->pg[at][i].ctr[WF_PG_SHARED_BYTES]};
    case WF_WATERMARK_PG_HEADROOM:
        return (struct place){&s->pg[at][i].ctr[WF_PG_HEADROOM_MAX_BYTES],
                              &s->pg[at][i].ctr[WF_PG_HEADROOM_BYTES]};
    case WF_WATERMARK_QUEUE:
        if (s->egress)
            return (struct place){&s->egress[at][i].ctr[WF_EGRESS_SHARED_MAX_BYTES],
                                  &s->egress[at][i].ctr[WF_EGRESS_SHARED_BYTES]};
        return (struct place){&s->node.ports[at].q[i].ctr[WF_QUEUE_MAX_BYTES],
                              &s->node.ports[at].q[i].ctr[WF_QUEUE_BYTES]};
    case WF_WATERMARK_POOL:
        return (struct place){&s->ipool[i].ctr[WF_POOL_MAX_BYTES], &s->ipool[i].ctr[WF_POOL_BYTES]};
    case WF_WATERMARK_POOL_HEADROOM:
        return (struct place){&s->ipool[i].ctr[WF_POOL_HEADROOM_MAX_BYTES],
                              &s->ipool[i].ctr[WF_POOL_HEADROOM_BYTES]};
    default:
        return (struct place){&s->epool[i].ctr[WF_POOL_MAX_BYTES], &s->epool[i].ctr[WF_POOL_BYTES]};
    }
}

static bool of_ports(enum wf_watermark kind)
{
    return kind <= WF_WATERMARK_QUEUE;
}

static uint64_t *user_of(const struct wf_switch *sw, enum wf_watermark kind, unsigned at,
                         unsigned i)
{
    return of_ports(kind) ? &sw->user->port[at][kind][i]
                          : &sw->user->pool[kind - WF_WATERMARK_POOL][i];
}

uint64_t wf_switch_watermark(const struct wf_switch *sw, enum wf_watermark kind, unsigned at,
                             unsigned index, bool persistent)
{
    return persistent || !sw->user ? *place_of(sw, kind, at, index).max
                                   : *user_of(sw, kind, at, index);
}

/* A frame is about to be in its queue: this queue's bytes don't count it yet. */
static void note(const struct wf_switch *sw, enum wf_watermark kind, unsigned at, unsigned i,
                 uint64_t more)
{
    wf_max_u64(user_of(sw, kind, at, i), *place_of(sw, kind, at, i).level + more);
}

void wf_switch_watermarks_note(struct wf_switch *sw, const struct wf_visit *v)
{
    unsigned in = v->in->index, out = v->out->index, pool = sw->pg[in][v->pkt->pg].pool;

    note(sw, WF_WATERMARK_PG_SHARED, in, v->pkt->pg, 0);
    note(sw, WF_WATERMARK_PG_HEADROOM, in, v->pkt->pg, 0);
    note(sw, WF_WATERMARK_QUEUE, out, v->pkt->queue, sw->egress ? 0 : v->pkt->frame_len);
    note(sw, WF_WATERMARK_POOL, 0, pool, 0);
    note(sw, WF_WATERMARK_POOL_HEADROOM, 0, pool, 0);
    if (sw->egress)
        note(sw, WF_WATERMARK_EGRESS_POOL, 0, sw->egress[out][v->pkt->queue].pool, 0);
}

static unsigned places(const struct wf_switch *sw, enum wf_watermark kind, unsigned *each)
{
    *each = of_ports(kind) ? WF_PGS : WF_POOLS;
    return of_ports(kind) ? sw->node.n_ports : 1;
}

/* From now on user ones are kept apart; until now they were the others. */
static void split(struct wf_switch *sw, struct wf_arena *arena)
{
    sw->user = WF_ARENA_NEW(arena, struct wf_watermarks);
    sw->user->port = wf_arena_alloc(arena, sizeof(*sw->user->port) * sw->node.n_ports);
    for (unsigned i = 0; i < sw->node.n_ports; i++)
        for (unsigned g = 0; g < WF_PGS; g++)
            sw->pg[i][g].calm = 0; /* each frame has to be noted */
    for (unsigned k = 0; k < WF_WATERMARKS; k++) {
        unsigned each, n = places(sw, (enum wf_watermark)k, &each);

        for (unsigned at = 0; at < n; at++)
            for (unsigned i = 0; i < each; i++)
                *user_of(sw, (enum wf_watermark)k, at, i) =
                    *place_of(sw, (enum wf_watermark)k, at, i).max;
    }
}

void wf_switch_watermarks_clear(struct wf_switch *sw, struct wf_arena *arena, unsigned kinds,
                                bool persistent)
{
    if (!sw->user)
        split(sw, arena);
    for (unsigned k = 0; k < WF_WATERMARKS; k++) {
        enum wf_watermark kind = (enum wf_watermark)k;
        unsigned each, n = kinds >> k & 1 ? places(sw, kind, &each) : 0;

        for (unsigned at = 0; at < n; at++)
            for (unsigned i = 0; i < each; i++) {
                struct place p = place_of(sw, kind, at, i);

                *(persistent ? p.max : user_of(sw, kind, at, i)) = *p.level;
            }
    }
}
