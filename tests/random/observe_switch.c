/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A switch by its taps: how frames are classified, when one may leave, which marks it may have got,
 * and whom full groups pause. The buffer is in observe_buffer.c.
 */
#include "observe.h"

#include <inttypes.h>
#include <math.h>

#include "switch/watchdog.h"
#include "wire/edit.h"

static uint8_t traffic_class_byte(const struct wf_pkt *pkt)
{
    const uint8_t *b = wf_pkt_bytes(pkt) + ob_l3_off(pkt);

    return b[-2] == 0x08 ? b[1] : (uint8_t)(b[0] << 4 | b[1] >> 4);
}

void ob_switch_received(struct ob_port *p, const struct wf_pkt *pkt, uint64_t head_ps)
{
    struct ob_frame *fr = ob_frame_find(p->ob, pkt);
    uint8_t tos = traffic_class_byte(pkt), tc;

    tc = p->cfg->trust == WF_TRUST_DSCP ? p->cfg->dscp_to_tc[tos >> 2]
                                        : p->cfg->pcp_to_tc[ob_pcp(pkt)];
    fr->in = p;
    fr->admitted = fr->cut_here = false;
    fr->pg = p->cfg->tc_to_pg[tc];
    fr->queue = p->cfg->tc_to_queue[tc];
    fr->ecn = tos & 3;
    fr->tc = fr->came_tc = tc;
    fr->dscp = tos >> 2;
    fr->len = fr->came_len = pkt->frame_len;
    ob_vlan_received(p, pkt, fr);
    fr->at_ps = p->ob->now_ps;
    fr->last_ps = pkt->last_bit_ps;
    p->ob->pending = fr;
    (void)head_ps;
}

/* Not more than its first bytes, another DSCP, and the queue of that or one for all; the group is
 * that by which it came in. */
void ob_switch_cut(const struct ob_port *p, struct ob_frame *fr)
{
    const struct wf_trim_cfg *c = &p->sw->trim;
    uint8_t tc;

    if (fr->len > c->size_bytes + 4)
        fr->len = (uint32_t)c->size_bytes + 4;
    fr->dscp = c->dscp_mode == WF_TRIM_DSCP_FROM_TC ? p->cfg->tc_to_dscp[c->tc] : (uint8_t)c->dscp;
    tc = p->cfg->dscp_to_tc[fr->dscp];
    fr->queue = c->queue_mode == WF_TRIM_QUEUE_STATIC ? (uint8_t)c->queue : p->cfg->tc_to_queue[tc];
    fr->tc = c->dscp_mode == WF_TRIM_DSCP_FROM_TC ? (uint8_t)c->tc : tc;
    fr->cut = fr->cut_here = true;
}

/* Refused at the door, or thrown out of a queue. */
void ob_switch_dropped(struct ob_port *p, struct ob_frame *fr, enum wf_reason why)
{
    if (fr->admitted) {
        if (why != WF_DROP_LINK_DOWN && why != WF_DROP_PFCWD_FLUSH)
            ob_fail(p->ob, "late_drop", "%s drops what it had admitted: %s", p->port->name,
                    wf_reason_name(why));
        ob_buffer_left(fr);
        return;
    }
    ob_vlan_dropped(p, fr, why);
    if (why == WF_DROP_WRED && (p->cfg->pg[fr->pg].lossless || !p->ob->wred))
        ob_fail(p->ob, "early_drop", "%s.pg%u drops early, though no WRED may", p->port->name,
                fr->pg);
    if (why == WF_DROP_LINK_DOWN)
        ob_buffer_passed(fr->in, fr); /* the tap is at the port that is down */
    ob_buffer_refused(p, fr, why);
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
    for (const struct wf_fault *f = wf_faults_of(port); f; f = f->next)
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

static void remarked(struct ob_port *p, const struct ob_frame *fr, const struct wf_pkt *pkt)
{
    bool dscp = p->cfg->rewrite == WF_REWRITE_DSCP || p->cfg->rewrite == WF_REWRITE_BOTH;
    uint8_t want = dscp && !fr->cut_here ? p->cfg->tc_to_dscp[fr->tc] : fr->dscp;
    uint8_t got = traffic_class_byte(pkt) >> 2;

    if (got != want)
        ob_fail(p->ob, "remarked", "%s sends DSCP %u of %u, class %u; expected %u", p->port->name,
                got, fr->dscp, fr->tc, want);
}

void ob_switch_sent(struct ob_port *p, struct ob_frame *fr, const struct wf_pkt *pkt)
{
    if (pkt->queue != fr->queue || pkt->pg != fr->pg)
        ob_fail(p->ob, "classified", "%s sends from queue %u, group %u; expected %u, %u",
                p->port->name, pkt->queue, pkt->pg, fr->queue, fr->pg);
    if (p->port->index != fr->out)
        ob_fail(p->ob, "booked", "%s sends what was booked for port %u", p->port->name, fr->out);
    remarked(p, fr, pkt);
    ob_vlan_sent(p, fr, pkt);
    ob_buffer_left(fr);
    departure(p, fr);
    marks(p, fr, pkt);
}

/* Whether a storm makes the port drop this group now: that is the watchdog's word. */
static bool storm_drops(const struct ob_port *p, unsigned g)
{
    const struct wf_switch *sw = (const struct wf_switch *)p->port->node;

    return sw->watchdog && sw->watchdog[p->port->index] &&
           sw->watchdog[p->port->index]->drop_groups >> g & 1;
}

uint8_t ob_switch_wants(struct ob_port *p)
{
    uint8_t wants = 0;

    for (unsigned g = 0; g < WF_PGS; g++) /* what it drops it asks no pause for */
        if (p->group[g].xoff && storm_drops(p, g))
            p->group[g].xoff = false;

    for (unsigned g = 0; g < WF_PGS; g++)
        if (p->group[g].xoff)
            wants |= (uint8_t)(1u << p->cfg->pg_to_pfc_priority[g]);
    return wants;
}
