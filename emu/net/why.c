/* SPDX-License-Identifier: BSD-3-Clause */
/* See why.h. */
#include "net/why.h"

#include "wire/pfc.h"

const char *const wf_why_kind_names[] = {"arrival",  "admit",    "drop", "mark", "trim",
                                         "enqueue",  "dequeue",  "xoff", "xon",  "pause_tx",
                                         "pause_rx", "watchdog", NULL};

static bool wants_flow(const struct wf_why *w, uint32_t hash)
{
    uint32_t a = 0, b = w->n_flows;

    while (a < b) {
        uint32_t mid = (a + b) / 2;

        if (w->flows[mid] == hash)
            return true;
        if (w->flows[mid] < hash)
            a = mid + 1;
        else
            b = mid;
    }
    return !w->flows;
}

bool wf_why_begin(const struct wf_why *w, struct wf_why_rec *rec, enum wf_why_kind kind,
                  const struct wf_port *port, const struct wf_pkt *pkt)
{
    if (!(w->ports[port->entity / 8] >> port->entity % 8 & 1))
        return false;
    *rec = (struct wf_why_rec){.t_ps = wf_now(port),
                               .node = port->node->index,
                               .port = port->index,
                               .kind = (uint8_t)kind};
    if (!pkt)
        return true;
    if (pkt->p.flags & WF_P_MAC_CONTROL || !wants_flow(w, pkt->flow_hash))
        return false;
    rec->born_ps = pkt->born_ps;
    rec->flow_hash = pkt->flow_hash;
    rec->frame_len = pkt->frame_len;
    rec->roce = pkt->p.flags & WF_P_BTH;
    rec->dqpn = rec->roce ? pkt->p.dqpn : 0;
    rec->psn = rec->roce ? pkt->p.psn : 0;
    rec->opcode = rec->roce ? pkt->p.opcode : 0;
    rec->pg = pkt->pg;
    rec->queue = pkt->queue;
    rec->prio = pkt->prio;
    rec->ecn = pkt->p.ecn;
    rec->dscp = pkt->p.dscp;
    return true;
}

static void arrival(struct wf_why *w, const struct wf_port *port, struct wf_pkt *pkt)
{
    struct wf_why_rec rec;

    pkt->why = (struct wf_pkt_why){0};
    if (wf_why_begin(w, &rec, WF_WHY_ARRIVAL, port, pkt))
        w->put(w, &rec);
}

static void dequeue(struct wf_why *w, const struct wf_port *port, const struct wf_pkt *pkt)
{
    struct wf_why_rec rec;

    if (!wf_why_begin(w, &rec, WF_WHY_DEQUEUE, port, pkt))
        return;
    if (pkt->flags & WF_PKT_WATCHED) {
        rec.q.queue_bytes = pkt->depth_bytes;
        rec.q.waited_ps = rec.t_ps - pkt->enqueued_ps;
        rec.q.paused_ps = port->ll_ops->paused_ps(port, pkt->queue) - pkt->pause_mark_ps;
    }
    w->put(w, &rec);
}

/* A PFC frame is on the wire: what it says of each priority. */
static void pause_tx(struct wf_why *w, const struct wf_port *port, const struct wf_pkt *pkt)
{
    struct wf_why_rec rec;
    struct wf_pfc f;

    if (wf_mac_control_get(wf_pkt_bytes(pkt), wf_pkt_caplen(pkt), &pkt->p, &f) !=
            WF_MAC_CONTROL_IS_PFC ||
        !wf_why_begin(w, &rec, WF_WHY_PAUSE_TX, port, NULL))
        return;
    for (unsigned prio = 0; prio < WF_PRIOS; prio++)
        if (f.vector >> prio & 1) {
            rec.prio = (uint8_t)prio;
            rec.pause.quanta = f.quanta[prio];
            w->put(w, &rec);
        }
}

static void drop(struct wf_why *w, const struct wf_port *port, const struct wf_pkt *pkt,
                 enum wf_reason why)
{
    struct wf_why_rec rec;

    if (!wf_why_begin(w, &rec, WF_WHY_DROP, port, pkt))
        return;
    rec.reason = (uint8_t)why;
    w->put(w, &rec);
}

void wf_why_tap(struct wf_tap *tap, struct wf_port *port, struct wf_pkt *pkt, enum wf_tap_dir dir,
                enum wf_reason why)
{
    struct wf_why *w = wf_why_of(port);

    (void)tap;
    if (dir == WF_TAP_RX)
        arrival(w, port, pkt);
    else if (dir == WF_TAP_DROP)
        drop(w, port, pkt, why);
    else if (pkt->p.flags & WF_P_MAC_CONTROL)
        pause_tx(w, port, pkt);
    else
        dequeue(w, port, pkt);
}

void wf_why_enqueue(struct wf_why *w, const struct wf_port *port, struct wf_pkt *pkt)
{
    struct wf_why_rec rec;

    if (!(pkt->flags & WF_PKT_ACCOUNTED)) /* a host's own: what stands there is of another's life */
        pkt->why = (struct wf_pkt_why){0};
    if (!wf_why_begin(w, &rec, WF_WHY_ENQUEUE, port, pkt))
        return;
    rec.q.queue_bytes = port->q[pkt->queue].ctr[WF_QUEUE_BYTES];
    w->put(w, &rec);
}

void wf_why_pause_rx(struct wf_why *w, const struct wf_port *port, unsigned prio, unsigned queue,
                     uint32_t quanta, uint64_t from_ps, uint64_t until_ps)
{
    struct wf_why_rec rec;

    if (!wf_why_begin(w, &rec, WF_WHY_PAUSE_RX, port, NULL))
        return;
    rec.prio = (uint8_t)prio;
    rec.queue = (uint8_t)queue;
    rec.pause.quanta = quanta;
    rec.pause.from_ps = from_ps;
    rec.pause.until_ps = until_ps;
    w->put(w, &rec);
}
