/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/port.h"

#include "base/assert.h"

static void arrival(struct wf_lcore *lc, struct wf_event *ev);

static void tap(struct wf_port *port, struct wf_pkt *pkt, enum wf_tap_dir dir)
{
    for (struct wf_tap *t = port->taps; t; t = t->next)
        t->fn(t, port, pkt, dir, WF_DROP_NONE);
}

/* Hand the frame to the link; start_ps is the first bit of its preamble at this port. */
static void to_link(struct wf_port *port, struct wf_pkt *pkt, uint64_t start_ps)
{
    struct wf_port *peer = port->peer;
    uint64_t delay = port->link->cfg.delay_ps, t;
    uint64_t gap = wf_txclock_span(&port->tx, (WF_WIRE_OVERHEAD - WF_WIRE_PREAMBLE) * 8);

    pkt->port = peer;
    pkt->link_downs = port->link->downs;
    pkt->first_bit_ps = start_ps + delay;
    pkt->last_bit_ps = port->busy_until_ps - gap + delay;
    t = pkt->last_bit_ps;
    if (peer->node->cut_through && !(pkt->p.flags & WF_P_MAC_CONTROL)) {
        uint64_t head = pkt->first_bit_ps + wf_txclock_span(&port->tx, WF_CUT_THROUGH_BYTES * 8);

        t = head < t ? head : t;
    }
    wf_lcore_schedule(port->node->net->lc, &pkt->ev, t,
                      wf_event_key(port->entity, WF_EV_ARRIVAL, port->seq++), arrival);
}

static bool chance(struct wf_prng *prng, struct wf_fraction share)
{
    return share.num && wf_prng_below(prng, share.den) < share.num;
}

/* What happens to it on the way: configured loss and damage, and injected faults. */
static enum wf_reason on_the_way(struct wf_port *port, struct wf_pkt *pkt)
{
    struct wf_link *link = port->link;

    if (chance(&port->prng, link->cfg.loss))
        return WF_DROP_LINK_LOSS;
    if (chance(&port->prng, link->cfg.corrupt))
        pkt->flags |= WF_PKT_DAMAGED;
    if (port->faults && !(pkt->p.flags & WF_P_MAC_CONTROL))
        return wf_fault_apply(port->faults, pkt);
    return WF_DROP_NONE;
}

/* The wire is taken from now on: before anybody hears of the frame, since a host queues its next
 * one then. */
static void occupy(struct wf_port *port, const struct wf_pkt *pkt, uint64_t now)
{
    port->busy_until_ps = wf_txclock_take(&port->tx, now, pkt->frame_len + WF_WIRE_OVERHEAD);
}

static void transmit(struct wf_port *port, struct wf_pkt *pkt, uint64_t now)
{
    enum wf_reason why = on_the_way(port, pkt);

    port->ctr[WF_PORT_TX_FRAMES]++;
    port->ctr[WF_PORT_TX_BYTES] += pkt->frame_len;
    wf_digest_add(&port->digest, now, pkt->hash);
    if (port->taps)
        tap(port, pkt, WF_TAP_TX);
    if (why) {
        port->tx_lost++;
        pkt->port = port;
        wf_pkt_drop(port, pkt, why);
    } else {
        to_link(port, pkt, now);
    }
}

static void dequeue(struct wf_port *port, unsigned qi, uint64_t now)
{
    struct wf_queue *q = &port->q[qi];
    struct wf_pkt *pkt = WF_CONTAINER_OF(wf_fifo_pop(&q->fifo), struct wf_pkt, q);

    occupy(port, pkt, now);
    q->ctr[WF_QUEUE_BYTES] -= pkt->frame_len;
    q->ctr[WF_QUEUE_TX_FRAMES]++;
    q->ctr[WF_QUEUE_TX_BYTES] += pkt->frame_len;
    if (!q->fifo.count) {
        port->occupied &= ~(1u << qi);
        q->deficit = 0; /* an empty queue saves nothing up */
    }
    port->prio_ctr[pkt->prio][WF_PRIO_TX_FRAMES]++;
    port->prio_ctr[pkt->prio][WF_PRIO_TX_BYTES] += pkt->frame_len;
    if (port->node->ops->dequeued)
        port->node->ops->dequeued(port->node, port, pkt);
    port->ll_ops->on_tx(port, qi, pkt);
    transmit(port, pkt, now);
}

/* The transmitter looks: start one frame if one may start, and say when to look again. */
static void look(struct wf_port *port, uint64_t now)
{
    uint64_t when = WF_TIME_NEVER;
    struct wf_fifo_node *n;
    int qi;

    if (!port->up)
        return;
    WF_ASSERT(port->busy_until_ps <= now);
    if ((n = wf_fifo_pop(&port->control))) {
        struct wf_pkt *pkt = WF_CONTAINER_OF(n, struct wf_pkt, q);

        occupy(port, pkt, now);
        transmit(port, pkt, now);
    } else if (port->occupied) {
        qi = port->sched->pick(port, &when);
        if (qi >= 0)
            dequeue(port, (unsigned)qi, now);
        else if (when != WF_TIME_NEVER)
            wf_port_kick(port, when);
    }
    if (port->busy_until_ps > now && (port->occupied || port->control.count))
        wf_port_kick(port, port->busy_until_ps);
}

static void look_event(struct wf_lcore *lc, struct wf_event *ev)
{
    look(WF_CONTAINER_OF(ev, struct wf_port, kick), lc->now_ps);
}

void wf_port_kick(struct wf_port *port, uint64_t t_ps)
{
    struct wf_lcore *lc = port->node->net->lc;

    if (t_ps < port->busy_until_ps)
        t_ps = port->busy_until_ps;
    if (wf_event_pending(&port->kick)) {
        if (port->kick.t_ps <= t_ps)
            return;
        wf_lcore_cancel(lc, &port->kick);
    }
    wf_lcore_schedule(lc, &port->kick, t_ps,
                      wf_event_key(port->entity, WF_EV_TRANSMIT, port->seq++), look_event);
}

void wf_port_enqueue(struct wf_port *port, struct wf_pkt *pkt)
{
    struct wf_queue *q = &port->q[pkt->queue];
    uint64_t now = wf_now(port);

    if (!port->up) {
        wf_pkt_drop(port, pkt, WF_DROP_LINK_DOWN);
        return;
    }
    pkt->enqueued_ps = now;
    pkt->pause_mark_ps = port->taps ? port->ll_ops->paused_ps(port, pkt->queue) : 0;
    pkt->depth_bytes = (uint32_t)q->ctr[WF_QUEUE_BYTES];
    wf_fifo_push(&q->fifo, &pkt->q);
    port->occupied |= 1u << pkt->queue;
    q->ctr[WF_QUEUE_ENQ_FRAMES]++;
    q->ctr[WF_QUEUE_BYTES] += pkt->frame_len;
    wf_max_u64(&q->ctr[WF_QUEUE_MAX_BYTES], q->ctr[WF_QUEUE_BYTES]);
    wf_port_kick(port, pkt->ready_ps > now ? pkt->ready_ps : now);
}

void wf_port_control(struct wf_port *port, struct wf_pkt *pkt)
{
    if (!port->up) {
        wf_pkt_drop(port, pkt, WF_DROP_LINK_DOWN);
        return;
    }
    wf_fifo_push(&port->control, &pkt->q);
    wf_port_kick(port, wf_now(port));
}

/* A frame is at the port. What went down since it was sent took it along. */
static void arrival(struct wf_lcore *lc, struct wf_event *ev)
{
    struct wf_pkt *pkt = WF_CONTAINER_OF(ev, struct wf_pkt, ev);
    struct wf_port *port = pkt->port;
    struct wf_link *link = port->link;

    port->node->net->ctr[WF_FABRIC_LINK_HOPS]++;
    if (!link->up || link->downs != pkt->link_downs) {
        port->rx_lost++;
        wf_pkt_drop(port, pkt, WF_DROP_LINK_DOWN);
        return;
    }
    port->ctr[WF_PORT_RX_FRAMES]++;
    port->ctr[WF_PORT_RX_BYTES] += pkt->frame_len;
    port->ctr[WF_PORT_RX_ROCE_FRAMES] += !!(pkt->p.flags & WF_P_ROCEV2);
    port->ctr[WF_PORT_RX_ROCEV1_FRAMES] += !!(pkt->p.flags & WF_P_ROCEV1);
    if (port->taps)
        tap(port, pkt, WF_TAP_RX);
    if (pkt->flags & WF_PKT_DAMAGED)
        wf_pkt_drop(port, pkt, WF_DROP_FCS);
    else if (pkt->p.flags & WF_P_MAC_CONTROL)
        port->ll_ops->rx_control(port, pkt);
    else
        port->node->ops->rx(port->node, port, pkt);
}

static void flush(struct wf_port *port)
{
    struct wf_fifo_node *n;

    while ((n = wf_fifo_pop(&port->control)))
        wf_pkt_drop(port, WF_CONTAINER_OF(n, struct wf_pkt, q), WF_DROP_LINK_DOWN);
    for (unsigned qi = 0; qi < WF_QUEUES; qi++)
        while ((n = wf_fifo_pop(&port->q[qi].fifo))) {
            struct wf_pkt *pkt = WF_CONTAINER_OF(n, struct wf_pkt, q);

            port->q[qi].ctr[WF_QUEUE_BYTES] -= pkt->frame_len;
            wf_pkt_drop(port, pkt, WF_DROP_LINK_DOWN);
        }
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

uint64_t wf_port_backlog(const struct wf_port *port)
{
    uint64_t bytes = 0;

    for (unsigned qi = 0; qi < WF_QUEUES; qi++)
        bytes += port->q[qi].ctr[WF_QUEUE_BYTES];
    return bytes;
}
