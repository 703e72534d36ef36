/* SPDX-License-Identifier: BSD-3-Clause */
#include "eth/ets.h"

static struct wf_pkt *head(const struct wf_queue *q)
{
    return WF_CONTAINER_OF(q->fifo.head, struct wf_pkt, q);
}

/* When the queue's head may go: now or before, later, or never until told. */
static uint64_t eligible_ps(const struct wf_port *port, unsigned qi)
{
    const struct wf_pkt *pkt = head(&port->q[qi]);
    uint64_t t = pkt->ready_ps;

    if (port->held & 1u << qi)
        wf_max_u64(&t, port->ll_ops->may_send(port, qi, pkt->frame_len));
    return t;
}

/* One turn of DWRR over the eligible queues: the place moves on when a deficit is used up. */
static int pick_dwrr(struct wf_port *port, uint32_t eligible)
{
    for (;;) {
        unsigned qi = port->sched_at;
        struct wf_queue *q = &port->q[qi];

        if (eligible & 1u << qi) {
            uint32_t len = head(q)->frame_len;

            if (q->deficit >= (int32_t)len) {
                q->deficit -= (int32_t)len;
                return (int)qi;
            }
            q->deficit += (int32_t)q->quantum;
        }
        port->sched_at = (qi + 1) % WF_QUEUES;
    }
}

static int ets_pick(struct wf_port *port, uint64_t *when_ps)
{
    uint64_t now = wf_now(port);
    uint32_t eligible = 0;

    for (int qi = WF_QUEUES - 1; qi >= 0; qi--) {
        uint64_t t;

        if (!(port->occupied & 1u << qi))
            continue;
        t = eligible_ps(port, (unsigned)qi);
        if (t > now) {
            if (t < *when_ps)
                *when_ps = t;
            continue;
        }
        if (port->q[qi].strict)
            return qi;
        eligible |= 1u << qi;
    }
    return eligible ? pick_dwrr(port, eligible) : -1;
}

const struct wf_sched_ops wf_ets_ops = {.pick = ets_pick};
