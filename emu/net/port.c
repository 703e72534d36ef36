/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/port.h"

#include <string.h>

#include "base/assert.h"
#include "net/why.h"

static void arrival(struct wf_lcore *lc, struct wf_event *ev);
static void look_event(struct wf_lcore *lc, struct wf_event *ev);

static __attribute__((noinline)) void tap(struct wf_port *port, struct wf_pkt *pkt,
                                          enum wf_tap_dir dir)
{
    for (struct wf_tap *t = port->first_tap; t; t = t->next)
        t->fn(t, port, pkt, dir, WF_DROP_NONE);
}

void wf_port_tap(struct wf_port *port, struct wf_tap *tap)
{
    tap->next = port->first_tap;
    port->first_tap = tap;
    port->tapped = port->rx_tapped = true;
}

void wf_port_untap(struct wf_port *port, const struct wf_tap *tap)
{
    struct wf_tap **at = &port->first_tap;

    while (*at != tap) {
        WF_ASSERT(*at);
        at = &(*at)->next;
    }
    *at = tap->next;
    port->tapped = port->rx_tapped = port->first_tap;
}

void wf_port_count(struct wf_port *port)
{
    uint64_t *rx = port->prio_ctr[port->rx_prio], *tx = port->prio_ctr[port->tx_prio];

    rx[WF_PRIO_RX_FRAMES] += wf_uncounted_frames(port->rx_new);
    rx[WF_PRIO_RX_BYTES] += wf_uncounted_bytes(port->rx_new);
    tx[WF_PRIO_TX_FRAMES] += wf_uncounted_frames(port->tx_new);
    tx[WF_PRIO_TX_BYTES] += wf_uncounted_bytes(port->tx_new);
    port->ctr[WF_PORT_TX_FRAMES] += wf_uncounted_frames(port->tx_new);
    port->ctr[WF_PORT_TX_BYTES] += wf_uncounted_bytes(port->tx_new);
    port->rx_new = port->tx_new = 0;
}

void wf_port_settle(struct wf_port *port)
{
    wf_port_count(port);
    port->ll_ops->settle(port);
}

static inline void count_tx(struct wf_port *port, const struct wf_pkt *pkt)
{
    if (__builtin_expect(pkt->prio != port->tx_prio, 0)) {
        wf_port_count(port);
        port->tx_prio = pkt->prio;
    }
    if (!wf_uncounted_add(&port->tx_new, pkt->frame_len))
        wf_port_count(port);
}

/* On the lcore of the peer, who has the packet from then on. */
static inline void arrives(struct wf_lcore *lc, struct wf_port *port, struct wf_pkt *pkt,
                           uint64_t t_ps)
{
    uint64_t key = wf_event_key(port->entity, WF_EV_ARRIVAL, port->seq++);

    if (!port->far) {
        wf_lcore_schedule(lc, &pkt->ev, t_ps, key, arrival);
        return;
    }
    pkt->ev.t_ps = t_ps;
    pkt->ev.key = key;
    pkt->ev.fn = arrival;
    port->mailbox->ops->put(port->mailbox, &pkt->ev);
}

/* When a cut-through node has read the headers of a frame whose first bit comes then. */
static uint64_t headers_in(const struct wf_port *port, uint64_t first_bit_ps)
{
    return first_bit_ps + wf_txclock_span(&port->tx, WF_CUT_THROUGH_BYTES * 8);
}

/* Hand the frame to the link; start_ps is the first bit of its preamble at this port. */
static inline void to_link(struct wf_lcore *lc, struct wf_port *port, struct wf_pkt *pkt,
                           uint64_t start_ps)
{
    uint64_t t = port->busy_until_ps + port->last_ps;

    pkt->port = port->peer;
    pkt->link_downs = port->tx_downs;
    pkt->last_bit_ps = t;
    if (port->cut_through && !(pkt->p.flags & WF_P_MAC_CONTROL)) {
        uint64_t head = headers_in(port, start_ps + port->delay_ps);

        t = head < t ? head : t;
    }
    arrives(lc, port, pkt, t);
}

static bool chance(struct wf_prng *prng, struct wf_fraction share)
{
    return share.num && wf_prng_below(prng, share.den) < share.num;
}

/* What happens to it on the way: configured loss and damage, and injected faults. */
static void on_the_way(struct wf_port *port, struct wf_fate *fate)
{
    struct wf_link *link = port->link;

    if (chance(&port->prng, link->cfg.loss)) {
        fate->why = WF_DROP_LINK_LOSS;
        return;
    }
    if (chance(&port->prng, link->cfg.corrupt))
        fate->pkt->flags |= WF_PKT_DAMAGED;
    if (port->faults)
        wf_faults_pass(port, fate);
}

static __attribute__((noinline)) void refuse(struct wf_port *port, struct wf_pkt *pkt)
{
    wf_pkt_drop(port, pkt, WF_DROP_LINK_DOWN);
}

static void lose(struct wf_port *port, struct wf_pkt *pkt, enum wf_reason why)
{
    port->tx_lost++;
    pkt->port = port;
    wf_pkt_drop(port, pkt, why);
}

/* The wire is taken from now on: before anybody hears of the frame, since a host queues its next
 * one then. Where a byte takes whole picoseconds there is nothing to round, and no epoch. */
static inline void occupy(struct wf_port *port, const struct wf_pkt *pkt, uint64_t now)
{
    uint32_t bytes = pkt->frame_len + WF_WIRE_OVERHEAD;

    port->busy_until_ps = port->ps_per_byte ? now + bytes * port->ps_per_byte
                                            : wf_txclock_take(&port->tx, now, bytes);
}

static inline __attribute__((always_inline)) void sent(struct wf_port *port, struct wf_pkt *pkt,
                                                       uint64_t start_ps)
{
    wf_digest_add(&port->digest, start_ps, pkt->hash);
    if (port->tapped)
        tap(port, pkt, WF_TAP_TX);
}

/* A frame that comes later than its last bit: others pass it. */
static void to_link_late(struct wf_lcore *lc, struct wf_port *port, struct wf_pkt *pkt,
                         uint64_t delay_ps)
{
    pkt->port = port->peer;
    pkt->link_downs = port->tx_downs;
    pkt->last_bit_ps = port->busy_until_ps + port->last_ps + delay_ps;
    arrives(lc, port, pkt, pkt->last_bit_ps);
}

/* Where the transmitter's other frames are counted at their queue and settled later. n: 1 or -1. */
static void count_apart(struct wf_port *port, const struct wf_pkt *pkt, int n)
{
    uint64_t frames = (uint64_t)(int64_t)n, bytes = frames * pkt->frame_len;

    port->ctr[WF_PORT_TX_FRAMES] += frames;
    port->ctr[WF_PORT_TX_BYTES] += bytes;
    if (pkt->p.flags & WF_P_MAC_CONTROL)
        return;
    port->prio_ctr[pkt->prio][WF_PRIO_TX_FRAMES] += frames;
    port->prio_ctr[pkt->prio][WF_PRIO_TX_BYTES] += bytes;
}

/* A frame that nobody queued goes right behind what is on the wire. */
static void extra(struct wf_port *port, struct wf_pkt *pkt, uint64_t delay_ps)
{
    struct wf_lcore *lc = port->node->net->lc;
    uint64_t start = lc->now_ps > port->busy_until_ps ? lc->now_ps : port->busy_until_ps;

    if (!port->up) {
        refuse(port, pkt);
        return;
    }
    wf_lcore_cancel(lc, &port->kick); /* the wire is free later than it was to look */
    occupy(port, pkt, start);
    count_apart(port, pkt, 1);
    sent(port, pkt, start);
    if (delay_ps)
        to_link_late(lc, port, pkt, delay_ps);
    else
        to_link(lc, port, pkt, start);
    if (port->occupied)
        wf_port_kick(port, 0);
}

void wf_port_extras(struct wf_port *port, struct wf_fifo *pkts)
{
    struct wf_fifo_node *n;

    while ((n = wf_fifo_pop(pkts))) {
        struct wf_pkt *pkt = WF_CONTAINER_OF(n, struct wf_pkt, q);

        extra(port, pkt, pkt->ready_ps);
    }
}

/* The last copy, of which the others are made: the frame itself may be another lcore's by then. */
static void copies_behind(struct wf_port *port, struct wf_pkt *twin, uint32_t copies)
{
    struct wf_pkt *copy;

    while (--copies && (copy = wf_pkt_replicate(port->node->net, twin)))
        extra(port, copy, 0);
    extra(port, twin, 0);
}

/* The frame may meet a fault: it, and what comes of it. It was counted as sent. */
static void transmit_risky(struct wf_lcore *lc, struct wf_port *port, struct wf_pkt *pkt,
                           uint64_t now)
{
    struct wf_fate fate = {.pkt = pkt};
    struct wf_pkt *twin = NULL;

    count_apart(port, pkt, -1);
    on_the_way(port, &fate);
    if (fate.pkt) {
        if (fate.copies)
            twin = wf_pkt_replicate(port->node->net, fate.pkt);
        count_apart(port, fate.pkt, 1);
        sent(port, fate.pkt, now);
        if (fate.why)
            lose(port, fate.pkt, fate.why);
        else if (fate.delay_ps)
            to_link_late(lc, port, fate.pkt, fate.delay_ps);
        else
            to_link(lc, port, fate.pkt, now);
    }
    if (twin)
        copies_behind(port, twin, fate.copies);
    wf_port_extras(port, &fate.behind);
}

static __attribute__((noinline)) void transmit(struct wf_lcore *lc, struct wf_port *port,
                                               struct wf_pkt *pkt, uint64_t now)
{
    if (port->risky) {
        transmit_risky(lc, port, pkt, now);
        return;
    }
    sent(port, pkt, now);
    to_link(lc, port, pkt, now);
}

/* The same where nobody looks on and nothing can happen to it, to a store-and-forward node of the
 * same lcore. */
static inline __attribute__((always_inline)) void transmit_plain(struct wf_lcore *lc,
                                                                 struct wf_port *port,
                                                                 struct wf_pkt *pkt, uint64_t now)
{
    uint64_t t = port->busy_until_ps + port->last_ps;

    wf_digest_add(&port->digest, now, pkt->hash);
    pkt->port = port->peer;
    pkt->link_downs = port->tx_downs;
    pkt->last_bit_ps = t;
    wf_lcore_schedule(lc, &pkt->ev, t, wf_event_key(port->entity, WF_EV_ARRIVAL, port->seq++),
                      arrival);
}

/* The transmitter looks at t_ps, when the wire is free, if it does not do so earlier anyway; what
 * it is likely to find is `pkt`, at `q`. */
static inline void look_at(struct wf_lcore *lc, struct wf_port *port, uint64_t t_ps,
                           const struct wf_queue *q, const struct wf_pkt *pkt)
{
    if (t_ps < port->busy_until_ps)
        t_ps = port->busy_until_ps;
    if (wf_event_pending(&port->kick)) {
        if (port->kick.t_ps <= t_ps)
            return;
        wf_lcore_cancel(lc, &port->kick);
    }
    port->q_ahead = q;
    port->tx_ahead = pkt;
    wf_lcore_schedule(lc, &port->kick, t_ps,
                      wf_event_key(port->entity, WF_EV_TRANSMIT, port->seq++), look_event);
}

void wf_port_kick(struct wf_port *port, uint64_t t_ps)
{
    uint32_t queues = port->occupied & (WF_OCCUPIED_CONTROL - 1u);
    const struct wf_queue *q = &port->q[queues ? __builtin_ctz(queues) : 0];

    look_at(port->tx_node->net->lc, port, t_ps, q, queues ? wf_queue_head(q) : NULL);
}

/* The queue's last packet goes: an empty queue saves nothing up. */
static __attribute__((noinline)) void empty(struct wf_port *port, struct wf_queue *q, uint32_t bit)
{
    port->occupied &= (uint16_t)~bit;
    if (port->saved & bit) {
        port->saved &= (uint8_t)~bit;
        q->deficit = 0;
    }
}

/* Send the head of a queue, which may go, and look again when the wire is free or, if only this
 * queue (bit) holds packets, when the next one may go. */
static inline __attribute__((always_inline)) void send_head(struct wf_lcore *lc,
                                                            struct wf_port *port,
                                                            struct wf_queue *q, uint32_t bit)
{
    struct wf_pkt *pkt = WF_CONTAINER_OF(wf_fifo_pop_head(&q->fifo), struct wf_pkt, q);
    uint64_t next_ready_ps = pkt->next_ready_ps;

    occupy(port, pkt, lc->now_ps);
    q->ctr[WF_QUEUE_BYTES] -= pkt->frame_len;
    q->ctr[WF_QUEUE_TX_FRAMES]++;
    q->ctr[WF_QUEUE_TX_BYTES] += pkt->frame_len;
    if (__builtin_expect(!q->fifo.head, 0)) {
        empty(port, q, bit);
        next_ready_ps = 0;
    }
    count_tx(port, pkt);
    if (port->tx_node->ops->dequeued)
        port->tx_node->ops->dequeued(port->tx_node, port, pkt);
    if (__builtin_expect(port->tells_ll, 0))
        port->ll_ops->on_tx(port, (unsigned)(q - port->q), pkt);
    if (__builtin_expect(port->tapped || port->cut_through || port->risky || port->far, 0))
        transmit(lc, port, pkt, lc->now_ps);
    else
        transmit_plain(lc, port, pkt, lc->now_ps);
    if (port->occupied == bit)
        look_at(lc, port, next_ready_ps, q, wf_queue_head(q));
    else if (port->occupied)
        wf_port_kick(port, 0);
}

static void send_control(struct wf_lcore *lc, struct wf_port *port, uint64_t now)
{
    struct wf_pkt *pkt = WF_CONTAINER_OF(wf_fifo_pop_head(&port->control), struct wf_pkt, q);

    if (!port->control.count)
        port->occupied &= (uint16_t)~WF_OCCUPIED_CONTROL;
    occupy(port, pkt, now);
    port->ll_ops->on_control(port, pkt);
    port->ctr[WF_PORT_TX_FRAMES]++;
    port->ctr[WF_PORT_TX_BYTES] += pkt->frame_len;
    transmit(lc, port, pkt, now);
    if (port->occupied)
        wf_port_kick(port, 0);
}

/* The queue that sends now, or -1 and when to look again. */
static int choose(struct wf_port *port, uint64_t now, uint64_t *when_ps)
{
    uint32_t occupied = port->occupied;
    unsigned qi = (unsigned)__builtin_ctz(occupied);
    const struct wf_pkt *pkt = wf_queue_head(&port->q[qi]);
    uint64_t t = pkt->ready_ps;

    if (occupied & (occupied - 1) || occupied & port->ask_sched)
        return port->sched->pick(port, when_ps);
    if (port->held & occupied)
        wf_max_u64(&t, port->ll_ops->may_send(port, qi, pkt->frame_len));
    if (t <= now)
        return (int)qi;
    *when_ps = t;
    return -1;
}

/* There is a choice, something that holds a packet back, or a MAC control frame. */
static __attribute__((noinline)) void look_closely(struct wf_lcore *lc, struct wf_port *port,
                                                   uint64_t now)
{
    uint64_t when_ps = WF_TIME_NEVER;
    int qi;

    if (port->occupied & WF_OCCUPIED_CONTROL) {
        send_control(lc, port, now);
        return;
    }
    qi = choose(port, now, &when_ps);
    if (qi >= 0)
        send_head(lc, port, &port->q[qi], 1u << qi);
    else if (when_ps != WF_TIME_NEVER)
        wf_port_kick(port, when_ps);
}

/* The transmitter looks: start one frame if one may start, and say when to look again. As a rule
 * one queue holds packets, and its head may go. */
static void look_event(struct wf_lcore *lc, struct wf_event *ev)
{
    struct wf_port *port = WF_CONTAINER_OF(ev, struct wf_port, kick);
    uint64_t now = lc->now_ps;
    uint32_t occupied = port->occupied; /* 0 while the link is down */
    struct wf_queue *q;

    WF_ASSERT(port->busy_until_ps <= now || !occupied);
    if (!occupied)
        return;
    q = &port->q[__builtin_ctz(occupied)];
    WF_IN_REGISTER(q);
    if (occupied & (occupied - 1) ||
        occupied & (WF_OCCUPIED_CONTROL | port->held | port->ask_sched) ||
        wf_queue_head(q)->ready_ps > now)
        look_closely(lc, port, now);
    else
        send_head(lc, port, q, occupied);
}

/* What taps may ask of a packet that comes out of a queue. */
static __attribute__((noinline)) void watch(const struct wf_port *port, struct wf_pkt *pkt)
{
    pkt->flags |= WF_PKT_WATCHED;
    pkt->enqueued_ps = wf_now(port);
    pkt->pause_mark_ps = port->ll_ops->paused_ps(port, pkt->queue);
    pkt->depth_bytes = (uint32_t)port->q[pkt->queue].ctr[WF_QUEUE_BYTES];
    if (wf_why_of(port))
        wf_why_enqueue(wf_why_of(port), port, pkt);
}

void wf_port_look_for(struct wf_port *port, const struct wf_pkt *pkt)
{
    struct wf_lcore *lc = port->tx_node->net->lc;

    const struct wf_queue *q = &port->q[pkt->queue];

    look_at(lc, port, pkt->ready_ps > lc->now_ps ? pkt->ready_ps : lc->now_ps, q, wf_queue_head(q));
}

bool wf_port_receives(struct wf_port *port, struct wf_pkt *pkt)
{
    if (!port->up) {
        refuse(port, pkt);
        return false;
    }
    pkt->flags &= (uint16_t)~WF_PKT_WATCHED;
    if (port->tapped)
        watch(port, pkt);
    return true;
}

void wf_port_enqueue(struct wf_port *port, struct wf_pkt *pkt)
{
    wf_port_put(port, pkt);
}

void wf_port_control(struct wf_port *port, struct wf_pkt *pkt)
{
    if (!port->up) {
        wf_pkt_drop(port, pkt, WF_DROP_LINK_DOWN);
        return;
    }
    wf_fifo_push(&port->control, &pkt->q);
    port->occupied |= WF_OCCUPIED_CONTROL;
    wf_port_kick(port, wf_now(port));
}

/* A frame is at the port. What went down since it was sent took it along. */
static void arrival(struct wf_lcore *lc, struct wf_event *ev)
{
    struct wf_pkt *pkt = WF_CONTAINER_OF(ev, struct wf_pkt, ev);
    struct wf_port *port = pkt->port;

    port->node->net->ctr[WF_FABRIC_LINK_HOPS]++;
    if (port->downs != pkt->link_downs) {
        port->rx_lost++;
        wf_pkt_drop(port, pkt, WF_DROP_LINK_DOWN);
        return;
    }
    port->ctr[WF_PORT_RX_FRAMES]++;
    port->ctr[WF_PORT_RX_BYTES] += pkt->frame_len;
    port->ctr[WF_PORT_RX_ROCE_FRAMES] += !!(pkt->p.flags & WF_P_ROCEV2);
    if (pkt->p.flags & WF_P_ROCEV1) /* its counter lies apart */
        port->ctr[WF_PORT_RX_ROCEV1_FRAMES]++;
    if (port->rx_tapped)
        tap(port, pkt, WF_TAP_RX);
    if (pkt->flags & WF_PKT_DAMAGED)
        wf_pkt_drop(port, pkt, WF_DROP_FCS);
    else if (pkt->p.flags & WF_P_MAC_CONTROL)
        port->ll_ops->rx_control(port, pkt);
    else
        port->node->ops->rx(port->node, port, pkt);
}

uint32_t wf_port_flush(struct wf_port *port, unsigned qi, enum wf_reason why)
{
    struct wf_queue *q = &port->q[qi];
    struct wf_fifo_node *n;
    uint32_t dropped = 0;

    port->tx_ahead = NULL;
    empty(port, q, 1u << qi);
    while ((n = wf_fifo_pop(&q->fifo))) {
        struct wf_pkt *pkt = WF_CONTAINER_OF(n, struct wf_pkt, q);

        q->ctr[WF_QUEUE_BYTES] -= pkt->frame_len;
        wf_pkt_drop(port, pkt, why);
        dropped++;
    }
    return dropped;
}

static void flush(struct wf_port *port)
{
    struct wf_fifo_node *n;

    while ((n = wf_fifo_pop(&port->control)))
        wf_pkt_drop(port, WF_CONTAINER_OF(n, struct wf_pkt, q), WF_DROP_LINK_DOWN);
    for (unsigned qi = 0; qi < WF_QUEUES; qi++)
        wf_port_flush(port, qi, WF_DROP_LINK_DOWN);
    port->occupied = 0;
}

void wf_port_link_changed(struct wf_port *port, bool up)
{
    port->up = up;
    if (!up) {
        port->ctr[WF_PORT_LINK_DOWN_EVENTS]++;
        wf_lcore_cancel(port->node->net->lc, &port->kick);
        flush(port);
    }
    port->ll_ops->link_changed(port, up);
    if (port->node->ops->link_changed)
        port->node->ops->link_changed(port->node, port, up);
}

void wf_port_link_known(struct wf_port *port)
{
    const struct wf_link_cfg *cfg = &port->link->cfg;

    port->tx_node = port->node;
    port->tx_index = port->index;
    port->ps_per_byte = port->tx.ps_per_byte;
    port->delay_ps = cfg->delay_ps;
    port->last_ps =
        cfg->delay_ps - wf_txclock_span(&port->tx, (WF_WIRE_OVERHEAD - WF_WIRE_PREAMBLE) * 8);
    port->mtu = (uint16_t)cfg->mtu;
    port->tells_ll = port->ll_ops->on_tx;
    port->risky = cfg->loss.num || cfg->corrupt.num || port->faults;
    memcpy(port->peer_mac, port->peer->node->mac, 6);
    port->cut_through = port->peer->node->cut_through;
}

static void came_in(struct wf_lcore *lc, struct wf_event *ev)
{
    struct wf_pkt *pkt = WF_CONTAINER_OF(ev, struct wf_pkt, ev);
    struct wf_port *port = pkt->port;

    port->faults->held--;
    if (port->tapped)
        tap(port, pkt, WF_TAP_RX);
    port->node->ops->rx(port->node, port, pkt);
}

void wf_port_comes_in(struct wf_port *port, struct wf_pkt *pkt)
{
    struct wf_lcore *lc = port->node->net->lc;

    port->faults->held++;
    pkt->port = port;
    pkt->last_bit_ps = lc->now_ps;
    wf_lcore_schedule(lc, &pkt->ev, lc->now_ps,
                      wf_event_key(port->entity, WF_EV_TRANSMIT, port->seq++), came_in);
}

uint64_t wf_port_backlog(const struct wf_port *port)
{
    uint64_t bytes = 0;

    for (unsigned qi = 0; qi < WF_QUEUES; qi++)
        bytes += port->q[qi].ctr[WF_QUEUE_BYTES];
    return bytes;
}
