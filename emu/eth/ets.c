/* SPDX-License-Identifier: BSD-3-Clause */
#include "eth/ets.h"

enum { QUANTUM = 64 }; /* bytes a turn for each unit of weight */
enum { ALL_QUEUES = (1 << WF_QUEUES) - 1 };

/* What groups and shapers need to know; a port without them has none of it. */
struct ets_port {
    int32_t deficit[WF_ETS_GROUPS];
    uint8_t in_group[WF_ETS_GROUPS]; /* bit per queue */
    uint8_t group_of[WF_QUEUES];
    uint8_t at[WF_ETS_GROUPS], group_at; /* places */
    bool grouped;
    uint8_t saved;                    /* bit per group that may have a deficit */
    uint8_t strict, has_min, has_max; /* bit per queue */
    uint32_t quantum[WF_ETS_GROUPS];
    struct wf_shaper max;
    struct wf_shaper q_min[WF_QUEUES], q_max[WF_QUEUES];
};

/* When the queue's head may go: now or before, later, or never until told. */
static inline uint64_t eligible_ps(const struct wf_port *port, unsigned qi)
{
    const struct wf_pkt *pkt = wf_queue_head(&port->q[qi]);
    uint64_t t = pkt->ready_ps;

    if (port->held & 1u << qi)
        wf_max_u64(&t, port->ll_ops->may_send(port, qi, pkt->frame_len));
    return t;
}

static int32_t cost(const struct wf_queue *q)
{
    return q->by_frames ? 1 : (int32_t)wf_queue_head(q)->frame_len;
}

/* The next place behind `at`, round and round, of those in the mask, which is not empty. */
static uint8_t next_place(uint32_t mask, uint32_t at)
{
    uint32_t behind = mask & ~((2u << at) - 1);

    return (uint8_t)__builtin_ctz(behind ? behind : mask);
}

/* The highest of the mask's places, or -1. */
static int highest(uint32_t mask)
{
    return mask ? 31 - __builtin_clz(mask) : -1;
}

/* One turn over the eligible queues: the place moves on when a deficit is used up. */
static unsigned find(struct wf_port *port, uint32_t eligible, uint8_t *at)
{
    for (;;) {
        struct wf_queue *q = &port->q[*at];

        if (eligible & 1u << *at) {
            if (q->deficit >= cost(q))
                return *at;
            q->deficit += (int32_t)q->quantum;
            port->saved |= (uint8_t)(1u << *at);
        }
        *at = next_place(eligible, *at);
    }
}

static int ets_pick(struct wf_port *port, uint64_t *when_ps)
{
    uint64_t now = wf_tx_now(port);
    uint32_t eligible = 0;
    unsigned qi;

    for (int i = WF_QUEUES - 1; i >= 0; i--) {
        uint64_t t;

        if (!(port->occupied & 1u << i))
            continue;
        t = eligible_ps(port, (unsigned)i);
        if (t > now) {
            if (t < *when_ps)
                *when_ps = t;
            continue;
        }
        if (port->q[i].strict)
            return i;
        eligible |= 1u << i;
    }
    if (!eligible)
        return -1;
    qi = find(port, eligible, &port->sched_at);
    port->q[qi].deficit -= cost(&port->q[qi]);
    return (int)qi;
}

const struct wf_sched_ops wf_ets_ops = {.pick = ets_pick};

/* Queues that may send now; of the others, in *when_ps, when the first may. */
static uint32_t eligible_at(const struct wf_port *port, const struct ets_port *e, uint64_t now,
                            uint64_t *when_ps)
{
    uint64_t all = wf_shaper_next_ps(&e->max);
    uint32_t eligible = 0;

    for (uint32_t left = port->occupied & ALL_QUEUES; left; left &= left - 1) {
        unsigned qi = (unsigned)__builtin_ctz(left);
        uint64_t t = eligible_ps(port, qi);

        wf_max_u64(&t, all);
        wf_max_u64(&t, wf_shaper_next_ps(&e->q_max[qi]));
        if (t <= now)
            eligible |= 1u << qi;
        else if (t < *when_ps)
            *when_ps = t;
    }
    return eligible;
}

/* The highest of these queues that is below its minimum rate, or -1. */
static int below_min(const struct ets_port *e, uint32_t eligible, uint64_t now)
{
    uint32_t left = e->has_min & eligible;

    for (int qi; (qi = highest(left)) >= 0; left &= ~(1u << qi))
        if (wf_shaper_next_ps(&e->q_min[qi]) <= now)
            return qi;
    return -1;
}

/* Groups take turns by their deficits; each offers the queue whose turn it is within it. */
static unsigned find_grouped(struct wf_port *port, struct ets_port *e, uint32_t eligible)
{
    uint32_t groups = 0;

    for (uint32_t left = eligible; left; left &= left - 1)
        groups |= 1u << e->group_of[__builtin_ctz(left)];
    for (;;) {
        uint8_t g = e->group_at;
        uint32_t mine = eligible & e->in_group[g];

        if (mine) {
            unsigned qi = find(port, mine, &e->at[g]);
            int32_t len = (int32_t)wf_queue_head(&port->q[qi])->frame_len;

            e->saved |= (uint8_t)(1u << g);
            if (e->deficit[g] >= len) {
                e->deficit[g] -= len;
                return qi;
            }
            e->deficit[g] += (int32_t)e->quantum[g];
        }
        e->group_at = next_place(groups, g);
    }
}

/* A group without packets saves nothing up: now, or when the one that goes is its last. */
static void empty_groups(const struct wf_port *port, struct ets_port *e, int sent)
{
    uint32_t left = port->occupied;

    if (sent >= 0 && port->q[sent].fifo.count == 1)
        left &= ~(1u << sent);
    for (uint32_t saved = e->saved; saved; saved &= saved - 1) {
        unsigned g = (unsigned)__builtin_ctz(saved);

        if (e->in_group[g] & left)
            continue;
        e->deficit[g] = 0;
        e->saved &= (uint8_t) ~(1u << g);
    }
}

static int choose(struct wf_port *port, struct ets_port *e, uint32_t eligible, uint64_t now)
{
    int qi = below_min(e, eligible, now);

    if (qi >= 0) {
        wf_shaper_take(&e->q_min[qi], now,
                       wf_queue_head(&port->q[qi])->frame_len + WF_WIRE_OVERHEAD);
        return qi;
    }
    qi = highest(e->strict & eligible);
    if (qi >= 0)
        return qi;
    qi =
        (int)(e->grouped ? find_grouped(port, e, eligible) : find(port, eligible, &port->sched_at));
    port->q[qi].deficit -= cost(&port->q[qi]);
    return qi;
}

/* What is left of a deficit once it has had as many turns as it needs: as a rule one or none, by
 * chance, and so without a branch. */
static inline int32_t after_turns(int32_t deficit, int32_t quantum, int32_t want)
{
    deficit += quantum & -(int32_t)(deficit < want);
    while (__builtin_expect(deficit < want, 0))
        deficit += quantum;
    return deficit - want;
}

/* Turns of a queue that is alone in holding packets. With its last one it saves nothing up, however
 * that was reckoned. */
static inline void take_turn(struct wf_port *port, struct ets_port *e, unsigned qi, bool last)
{
    struct wf_queue *q = &port->q[qi];
    int32_t want = cost(q), len = (int32_t)wf_queue_head(q)->frame_len;
    uint8_t g = e->group_of[qi];

    *(e->grouped ? &e->at[g] : &port->sched_at) = (uint8_t)qi;
    if (!last) {
        port->saved |= (uint8_t)(1u << qi);
        q->deficit = after_turns(q->deficit, (int32_t)q->quantum, want);
    }
    if (!e->grouped)
        return;
    e->group_at = g;
    e->saved |= (uint8_t)(1u << g);
    if (!last)
        e->deficit[g] = after_turns(e->deficit[g], (int32_t)e->quantum[g], len);
}

/* The same as below for the one queue that holds packets, as a rule. */
static int pick_only(struct wf_port *port, struct ets_port *e, unsigned qi, uint64_t now,
                     uint64_t *when_ps)
{
    const struct wf_queue *q = &port->q[qi];
    uint32_t bit = 1u << qi, wire = wf_queue_head(q)->frame_len + WF_WIRE_OVERHEAD;
    uint64_t t = eligible_ps(port, qi);
    bool last = q->fifo.count == 1;

    if (e->saved & ~(1u << e->group_of[qi]))
        empty_groups(port, e, -1);
    wf_max_u64(&t, wf_shaper_next_ps(&e->max));
    if (e->has_max & bit)
        wf_max_u64(&t, wf_shaper_next_ps(&e->q_max[qi]));
    if (t > now) {
        *when_ps = t < *when_ps ? t : *when_ps;
        return -1;
    }
    if (e->has_min & bit && wf_shaper_next_ps(&e->q_min[qi]) <= now)
        wf_shaper_take(&e->q_min[qi], now, wire);
    else if (!(e->strict & bit))
        take_turn(port, e, qi, last);
    if (e->max.rate_bps)
        wf_shaper_take(&e->max, now, wire);
    if (e->has_max & bit)
        wf_shaper_take(&e->q_max[qi], now, wire);
    if (last && e->saved)
        empty_groups(port, e, (int)qi);
    return (int)qi;
}

static int ets_pick_full(struct wf_port *port, uint64_t *when_ps)
{
    struct ets_port *e = port->sched_state;
    uint64_t now = wf_tx_now(port);
    uint32_t eligible, wire, holding = port->occupied & ALL_QUEUES;
    int qi;

    if (!(holding & (holding - 1)))
        return pick_only(port, e, (unsigned)__builtin_ctz(holding), now, when_ps);
    if (e->grouped)
        empty_groups(port, e, -1);
    eligible = eligible_at(port, e, now, when_ps);
    if (!eligible)
        return -1;
    qi = choose(port, e, eligible, now);
    wire = wf_queue_head(&port->q[qi])->frame_len + WF_WIRE_OVERHEAD;
    if (e->max.rate_bps)
        wf_shaper_take(&e->max, now, wire);
    if (e->has_max & 1u << qi)
        wf_shaper_take(&e->q_max[qi], now, wire);
    if (e->grouped)
        empty_groups(port, e, qi);
    return qi;
}

static const struct wf_sched_ops full_ops = {.pick = ets_pick_full};

/* Whether strict priorities and weights of one group are all that there is. */
static bool simple(const struct wf_ets_cfg *cfg)
{
    bool same = !cfg->max.rate_bps;

    for (unsigned i = 0; i < WF_QUEUES; i++) {
        const struct wf_ets_queue_cfg *q = &cfg->queue[i];

        same = same && q->group == cfg->queue[0].group && !q->min.rate_bps && !q->max.rate_bps;
    }
    return same;
}

static void attach_queue(struct ets_port *e, unsigned qi, const struct wf_ets_queue_cfg *q)
{
    if (!q->strict)
        e->in_group[q->group] |= (uint8_t)(1u << qi);
    e->group_of[qi] = (uint8_t)q->group;
    e->strict |= (uint8_t)(q->strict << qi);
    e->has_min |= (uint8_t)(!!q->min.rate_bps << qi);
    e->has_max |= (uint8_t)(!!q->max.rate_bps << qi);
    wf_shaper_init(&e->q_min[qi], &q->min);
    wf_shaper_init(&e->q_max[qi], &q->max);
}

void wf_ets_attach(struct wf_port *port, const struct wf_ets_cfg *cfg, struct wf_arena *arena)
{
    struct ets_port *e;

    port->sched = &wf_ets_ops;
    for (unsigned i = 0; i < WF_QUEUES; i++) {
        const struct wf_ets_queue_cfg *q = &cfg->queue[i];

        port->q[i].strict = q->strict;
        port->q[i].by_frames = q->by_frames;
        port->q[i].quantum = q->by_frames ? q->weight : q->weight * QUANTUM;
    }
    if (simple(cfg))
        return;
    port->sched = &full_ops;
    port->sched_state = e = WF_ARENA_NEW(arena, struct ets_port);
    wf_shaper_init(&e->max, &cfg->max);
    for (unsigned g = 0; g < WF_ETS_GROUPS; g++)
        e->quantum[g] = cfg->group_weight[g] * QUANTUM;
    for (unsigned i = 0; i < WF_QUEUES; i++) {
        attach_queue(e, i, &cfg->queue[i]);
        e->grouped |= cfg->queue[i].group != cfg->queue[0].group;
    }
    port->ask_sched = e->max.rate_bps || e->grouped ? 0xff : e->has_min | e->has_max;
}

void wf_ets_retune(struct wf_port *port, uint8_t strict, const uint32_t weight[WF_QUEUES])
{
    struct ets_port *e = port->sched_state;

    for (unsigned i = 0; i < WF_QUEUES; i++) {
        struct wf_queue *q = &port->q[i];
        uint8_t bit = (uint8_t)(1u << i);

        q->strict = strict >> i & 1;
        q->quantum = q->by_frames ? weight[i] : weight[i] * QUANTUM;
        q->deficit = 0;
        if (!e)
            continue;
        e->strict = (uint8_t)(q->strict ? e->strict | bit : e->strict & ~bit);
        e->in_group[e->group_of[i]] = (uint8_t)(q->strict ? e->in_group[e->group_of[i]] & ~bit
                                                          : e->in_group[e->group_of[i]] | bit);
    }
}
