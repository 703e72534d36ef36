/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A switch by its taps: bytes of each ingress group and of the buffer, whom a full group pauses,
 * who is refused and who is not, when a frame may leave, and which marks it may have got.
 */
#include "observe.h"

#include <inttypes.h>
#include <math.h>

#include "wire/edit.h"

struct limits {
    uint64_t xoff, xon, headroom, bound;
};

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

/* The frame that crosses the threshold, and what still arrives after the decision to stop the peer
 * (802.1Q annex N): our frame that has just begun, the PFC frame, twice the cable, the peer's
 * response, and its frame that has just begun. */
static struct limits limits_of(const struct ob_port *p, unsigned pg)
{
    const struct wf_pg_cfg *c = &p->cfg->pg[pg];
    const struct wf_link_cfg *link = &p->port->link->cfg;
    unsigned __int128 wait = 2 * (unsigned __int128)link->delay_ps + response_ps(p->peer);
    uint64_t max = ob_frame_max(link);
    uint64_t bits = (uint64_t)((wait * link->rate_bps + WF_PS_PER_S - 1) / WF_PS_PER_S);
    struct limits l = {.xoff = c->xoff_bytes, .xon = c->xon_bytes, .headroom = c->headroom_bytes};

    l.bound = max + ((max + 20 + 84) * 8 + bits + 7) / 8 + max;
    if (l.headroom == WF_KEY_AUTO)
        l.headroom = l.bound;
    if (l.xon == WF_KEY_AUTO)
        l.xon = l.xoff > 2 * max ? l.xoff - 2 * max : 0;
    return l;
}

static uint8_t traffic_class_byte(const struct wf_pkt *pkt)
{
    const uint8_t *b = wf_pkt_bytes(pkt);

    return b[12] == 0x08 ? b[15] : (uint8_t)(b[14] << 4 | b[15] >> 4);
}

void ob_switch_received(struct ob_port *p, const struct wf_pkt *pkt, uint64_t head_ps)
{
    struct observer *ob = p->ob;
    struct ob_frame *fr = ob_frame_find(ob, pkt);
    uint8_t tos = traffic_class_byte(pkt), tc;
    struct limits l;

    tc = p->cfg->trust == WF_TRUST_DSCP ? p->cfg->dscp_to_tc[tos >> 2] : p->cfg->pcp_to_tc[0];
    fr->in = p;
    fr->admitted = false;
    fr->pg = p->cfg->tc_to_pg[tc];
    fr->queue = p->cfg->tc_to_queue[tc];
    fr->ecn = tos & 3;
    fr->len = pkt->frame_len;
    fr->at_ps = ob->now_ps;
    fr->last_ps = pkt->last_bit_ps;
    l = limits_of(p, fr->pg);
    ob->pending = fr;
    ob->pending_full =
        p->cfg->pg[fr->pg].lossless && p->group[fr->pg].bytes + fr->len > l.xoff + l.headroom;
    (void)head_ps;
}

static uint64_t *used_of(const struct ob_port *p)
{
    return &p->ob->used[p->port->node->index];
}

/* Nobody refused the frame that came last. */
void ob_switch_settle(struct observer *ob)
{
    struct ob_frame *fr = ob->pending;
    struct ob_port *p = fr->in;
    struct ob_group *g = &p->group[fr->pg];
    struct limits l = limits_of(p, fr->pg);

    ob->pending = NULL;
    if (ob->pending_full)
        ob_fail(ob, "over_headroom",
                "%s.pg%u takes %u bytes on top of %" PRIu64 ", xoff and headroom are %" PRIu64
                " and %" PRIu64,
                p->port->name, fr->pg, fr->len, g->bytes, l.xoff, l.headroom);
    fr->admitted = true;
    g->bytes += fr->len;
    *used_of(p) += fr->len;
    if (!p->cfg->pg[fr->pg].lossless || g->bytes <= l.xoff)
        return;
    ob->stats.pauses += !g->xoff;
    g->xoff = true;
    wf_max_u64(&ob->tight_pg[fr->pg], g->bytes - l.xoff);
    if (ob->lossless && !p->flapped)
        wf_max_u64(&ob->stats.headroom_ppm, (g->bytes - l.xoff) * 1000000 / l.bound);
    ob->stats.reached_limit += g->bytes == l.xoff + l.headroom;
}

static void release(struct ob_frame *fr)
{
    struct ob_port *p = fr->in;
    struct ob_group *g = &p->group[fr->pg];

    if (!fr->admitted)
        return;
    fr->admitted = false;
    g->bytes -= fr->len;
    *used_of(p) -= fr->len;
    if (g->xoff && g->bytes <= limits_of(p, fr->pg).xon)
        g->xoff = false;
}

/* Refused at the door, or thrown out of a queue. */
void ob_switch_dropped(struct ob_port *p, struct ob_frame *fr, enum wf_reason why)
{
    struct observer *ob = p->ob;
    const struct wf_pg_cfg *pg = &p->cfg->pg[fr->pg];
    uint64_t bytes = p->group[fr->pg].bytes + fr->len;

    if (fr->admitted) {
        if (why != WF_DROP_LINK_DOWN)
            ob_fail(ob, "late_drop", "%s drops what it had admitted: %s", p->port->name,
                    wf_reason_name(why));
        release(fr);
        return;
    }
    if (why == WF_DROP_NO_HEADROOM) {
        ob->stats.lossless_drops++;
        if (!ob->pending_full)
            ob_fail(ob, "early_drop",
                    "%s.pg%u refuses %u bytes, together %" PRIu64 ", but its xoff and headroom "
                    "hold them",
                    p->port->name, fr->pg, fr->len, bytes);
        if (ob->lossless && !p->flapped)
            ob_fail(ob, "lossless_drop", "%s.pg%u drops, though nothing in the scenario allows it",
                    p->port->name, fr->pg);
    }
    if (why == WF_DROP_INGRESS_FULL && (pg->lossless || bytes <= pg->limit_bytes))
        ob_fail(ob, "early_drop", "%s.pg%u holds %" PRIu64 " and is no more than full",
                p->port->name, fr->pg, bytes);
    if (why == WF_DROP_EGRESS_FULL && pg->lossless)
        ob_fail(ob, "early_drop", "%s.pg%u is lossless but drops at an egress", p->port->name,
                fr->pg);
    if (why == WF_DROP_WRED && (pg->lossless || !p->ob->wred))
        ob_fail(ob, "early_drop", "%s.pg%u drops early, though no WRED may", p->port->name, fr->pg);
    if (why == WF_DROP_BUFFER_FULL && *used_of(p) + fr->len <= p->sw->buffer_bytes)
        ob_fail(ob, "early_drop", "%s: its buffer holds %" PRIu64 " and is not full",
                p->port->node->name, *used_of(p));
}

/* Not before the latency is over, and never so early that its end would be there first, at whatever
 * rate it leaves. */
static void departure(struct ob_port *p, const struct ob_frame *fr)
{
    uint64_t now = p->ob->now_ps, first = fr->at_ps + p->sw->latency_ps;
    uint64_t out = ob_span_ps(p->port->link->cfg.rate_bps, fr->len + WF_WIRE_PREAMBLE);

    if (now < first || now + out + 2 < fr->last_ps + p->sw->latency_ps)
        ob_fail(p->ob, "too_early",
                "%s sends at %" PRIu64 " ps what came in until %" PRIu64 ", latency %" PRIu64,
                p->port->name, now, fr->last_ps, p->sw->latency_ps);
}

static bool ce_by_fault(const struct wf_port *port)
{
    for (const struct wf_fault *f = port->faults; f; f = f->next)
        if (f->action == WF_FAULT_CE)
            return true;
    return false;
}

/* The average that this packet sees, of lengths at its place; a queue that was empty when it came
 * counts as a sample of 0 for each 1,024 bytes of that time. */
static double average(struct ob_port *p, const struct wf_pkt *pkt, double depth)
{
    double weight = pow(0.5, p->cfg->queue[pkt->queue].ecn.average), *avg = &p->average[pkt->queue];
    uint64_t each = (1024 * 8 * WF_PS_PER_S + p->rate_bps / 2) / p->rate_bps;

    if (!pkt->depth_bytes)
        *avg *= pow(1 - weight, (double)((pkt->enqueued_ps - p->empty_ps[pkt->queue]) / each));
    *avg += (depth - *avg) * weight;
    if (!p->port->q[pkt->queue].ctr[WF_QUEUE_BYTES])
        p->empty_ps[pkt->queue] = p->ob->now_ps;
    return *avg;
}

static void marks(struct ob_port *p, const struct ob_frame *fr, const struct wf_pkt *pkt)
{
    const struct wf_queue_cfg *q = &p->cfg->queue[fr->queue];
    double off = 0, depth = (double)(q->mark_at == WF_MARK_DEQUEUE
                                         ? p->port->q[fr->queue].ctr[WF_QUEUE_BYTES]
                                         : pkt->depth_bytes);
    uint8_t ecn = traffic_class_byte(pkt) & 3;
    bool ect = fr->ecn == 1 || fr->ecn == 2;

    p->ob->stats.marks += ecn != fr->ecn;
    if (ecn != fr->ecn && (ecn != 3 || !ect))
        ob_fail(p->ob, "ecn_changed", "%s makes ECN %u of %u", p->port->name, ecn, fr->ecn);
    if (q->ecn.average) { /* the double and the fixed point may differ by a byte */
        depth = average(p, pkt, depth);
        off = 2;
    }
    /* packets that were dropped are samples too, but unseen; so is a flushed queue */
    if (ce_by_fault(p->port) || (q->ecn.average && (q->ecn.drop || p->flapped || p->rate_since_ps)))
        return;
    if (ecn != fr->ecn && (!q->ecn.enable || depth < (double)q->ecn.kmin_bytes - off))
        ob_fail(p->ob, "marked_low", "%s.q%u marks at %.1f bytes, kmin is %" PRIu64, p->port->name,
                fr->queue, depth, q->ecn.kmin_bytes);
    if (ecn == fr->ecn && ect && q->ecn.enable && depth >= (double)q->ecn.kmax_bytes + off)
        ob_fail(p->ob, "not_marked", "%s.q%u does not mark at %.1f bytes, kmax is %" PRIu64,
                p->port->name, fr->queue, depth, q->ecn.kmax_bytes);
}

void ob_switch_sent(struct ob_port *p, struct ob_frame *fr, const struct wf_pkt *pkt)
{
    if (pkt->queue != fr->queue || pkt->pg != fr->pg)
        ob_fail(p->ob, "classified", "%s sends from queue %u, group %u; expected %u, %u",
                p->port->name, pkt->queue, pkt->pg, fr->queue, fr->pg);
    release(fr);
    departure(p, fr);
    marks(p, fr, pkt);
}

uint8_t ob_switch_wants(const struct ob_port *p)
{
    uint8_t wants = 0;

    for (unsigned g = 0; g < WF_PGS; g++)
        if (p->group[g].xoff)
            wants |= (uint8_t)(1u << p->cfg->pg_to_pfc_priority[g]);
    return wants;
}

void ob_switch_check(struct ob_port *p)
{
    const struct wf_switch *sw = (const struct wf_switch *)p->port->node;

    for (unsigned g = 0; g < WF_PGS; g++)
        if (sw->pg[p->port->index][g].ctr[WF_PG_BYTES] != p->group[g].bytes)
            ob_fail(p->ob, "group_bytes", "%s.pg%u says %" PRIu64 " bytes, taps say %" PRIu64,
                    p->port->name, g, sw->pg[p->port->index][g].ctr[WF_PG_BYTES],
                    p->group[g].bytes);
    if (sw->used_bytes != *used_of(p) || sw->used_bytes > sw->cfg.buffer_bytes)
        ob_fail(p->ob, "buffer_bytes", "%s says %" PRIu64 " bytes used, taps say %" PRIu64,
                p->port->node->name, sw->used_bytes, *used_of(p));
}
