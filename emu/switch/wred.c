/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * WRED at the egress queues (eth/ecn.h): CE to what is ECN-capable, at enqueue or dequeue; with
 * `wred_drop` early drops of other IP packets, always as they come, behind admission (they count as
 * admitted). Never for what is not IP, and no drop in a lossless group. A packet that came with CE
 * keeps it: one that was to be marked is counted apart.
 */
#include "switch/why.h"
#include "wire/edit.h"

static const struct wf_queue_cfg *cfg_of(const struct wf_switch *sw, const struct wf_port *out,
                                         unsigned queue)
{
    return &wf_switch_out_class(sw, out)->cfg->queue[queue];
}

/* The length that counts: that of the queue as it is without the packet, or the average. */
static uint64_t length(const struct wf_switch *sw, const struct wf_port *out, unsigned queue)
{
    unsigned n = cfg_of(sw, out, queue)->ecn.average;

    return n ? sw->avg[out->tx_index][queue].scaled >> n : out->q[queue].ctr[WF_QUEUE_BYTES];
}

static bool decide(struct wf_switch *sw, const struct wf_port *out, struct wf_pkt *pkt)
{
    const struct wf_ecn_cfg *ecn = &cfg_of(sw, out, pkt->queue)->ecn;
    uint64_t bytes = length(sw, out, pkt->queue);
    struct wf_ecn_draw draw;
    bool yes;

    if (bytes < ecn->kmin_bytes && !sw->node.net->why)
        return false;
    yes = wf_ecn_draw(ecn, bytes, &sw->prng, &draw);
    wf_switch_why_mark(sw, out, pkt, bytes, &draw, yes);
    return yes;
}

static void mark(struct wf_switch *sw, struct wf_port *out, struct wf_pkt *pkt)
{
    struct wf_queue *q = &out->q[pkt->queue];

    if (!decide(sw, out, pkt))
        return;
    if (!wf_edit_set_ce(wf_pkt_hdr_rw(pkt), &pkt->p)) { /* it is CE already */
        q->ctr[WF_QUEUE_CE_FRAMES]++;
        return;
    }
    pkt->flags |= WF_PKT_MARKED;
    wf_pkt_edited(pkt);
    q->ctr[WF_QUEUE_MARKED_FRAMES]++;
    out->ctr[WF_PORT_ECN_MARKED_FRAMES]++;
}

static bool capable(const struct wf_queue_cfg *c, const struct wf_pkt *pkt)
{
    return c->ecn.enable && pkt->p.flags & WF_P_IP && pkt->p.ecn != WF_ECN_NOT_ECT;
}

/* What the queue's average makes of a packet that comes: it ends a time in which it was empty. */
static void average_comes(struct wf_switch *sw, const struct wf_port *out, unsigned queue)
{
    const struct wf_queue_cfg *c = cfg_of(sw, out, queue);
    struct wf_ecn_avg *avg = &sw->avg[out->tx_index][queue];
    uint64_t bytes = out->q[queue].ctr[WF_QUEUE_BYTES];

    if (!bytes && avg->scaled) {
        uint64_t each = wf_txclock_span(&out->tx, WF_ECN_IDLE_BYTES * 8);
        uint64_t samples = (wf_tx_now(out) - avg->empty_ps) / each;

        wf_ecn_avg_idle(avg, c->ecn.average, samples);
        avg->empty_ps += samples * each; /* this packet may be dropped, and it stays empty */
    }
    if (c->mark_at == WF_MARK_ENQUEUE)
        wf_ecn_avg_sample(avg, c->ecn.average, bytes);
}

/* Of a queue that has so many bytes left; returns the average. */
static inline uint64_t average_leaves(const struct wf_queue_cfg *c, struct wf_ecn_avg *avg,
                                      const struct wf_port *out, uint64_t bytes)
{
    if (c->mark_at == WF_MARK_DEQUEUE)
        wf_ecn_avg_sample(avg, c->ecn.average, bytes);
    if (!bytes)
        avg->empty_ps = wf_tx_now(out);
    return avg->scaled >> c->ecn.average;
}

/* The last packet was flushed: the queue is empty from now on. One that a dead link refused was in
 * no queue, and has ended the empty time before: what is left of that is less than a sample. */
void wf_switch_wred_flushed(struct wf_switch *sw, const struct wf_port *out, unsigned queue)
{
    struct wf_ecn_avg *avg = &sw->avg[out->tx_index][queue];

    if (out->q[queue].ctr[WF_QUEUE_BYTES] || !cfg_of(sw, out, queue)->ecn.average)
        return;
    if (wf_now(out) - avg->empty_ps >= wf_txclock_span(&out->tx, WF_ECN_IDLE_BYTES * 8))
        avg->empty_ps = wf_now(out);
}

enum wf_step wf_switch_wred(struct wf_switch *sw, struct wf_visit *v)
{
    struct wf_pkt *pkt = v->pkt;
    const struct wf_queue_cfg *c = cfg_of(sw, v->out, pkt->queue);

    if (c->ecn.average)
        average_comes(sw, v->out, pkt->queue);
    if (capable(c, pkt)) {
        if (c->mark_at == WF_MARK_ENQUEUE)
            mark(sw, v->out, pkt);
        return WF_NEXT;
    }
    if (!c->ecn.drop || !(pkt->p.flags & WF_P_IP) || sw->pg[v->in->index][pkt->pg].lossless ||
        !decide(sw, v->out, pkt))
        return WF_NEXT;
    v->out->q[pkt->queue].ctr[WF_QUEUE_DROP_FRAMES]++;
    v->out->q[pkt->queue].ctr[WF_QUEUE_DROP_BYTES] += pkt->frame_len;
    return wf_switch_drop(v, WF_DROP_WRED);
}

void wf_switch_wred_leaves(struct wf_switch *sw, struct wf_port *out, struct wf_pkt *pkt)
{
    const struct wf_queue_cfg *c = cfg_of(sw, out, pkt->queue);
    uint64_t bytes = out->q[pkt->queue].ctr[WF_QUEUE_BYTES];

    if (c->ecn.average)
        bytes = average_leaves(c, &sw->avg[out->tx_index][pkt->queue], out, bytes);
    if (c->mark_at == WF_MARK_DEQUEUE && (bytes >= c->ecn.kmin_bytes || sw->node.net->why) &&
        capable(c, pkt))
        mark(sw, out, pkt);
}
