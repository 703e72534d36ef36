/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffer: admission, XOFF and XON, release. Accounting is by frame_len per ingress
 * (port, PG) and for the whole switch. Left out: cells, pools, dynamic thresholds, egress pools.
 */
#include "switch/why.h"
#include "switch/trim.h"

static struct wf_pg *pg_of(struct wf_switch *sw, const struct wf_pkt *pkt)
{
    return &sw->pg[pkt->port - sw->node.ports][pkt->pg]; /* the port's own memory is cold */
}

static enum wf_reason refused(const struct wf_switch *sw, const struct wf_visit *v,
                              const struct wf_pg *pg)
{
    uint32_t len = v->pkt->frame_len;
    uint64_t bytes = pg->ctr[WF_PG_BYTES] + len;

    if (sw->used_bytes + len > sw->cfg.buffer_bytes)
        return WF_DROP_BUFFER_FULL;
    if (pg->lossless)
        return bytes <= pg->lim.xoff + pg->lim.headroom ? WF_DROP_NONE
               : v->in->peer->node->ignores_pause       ? WF_DROP_PEER_IGNORED_PAUSE
                                                        : WF_DROP_NO_HEADROOM;
    if (bytes > pg->lim.limit)
        return WF_DROP_INGRESS_FULL;
    if (v->out->q[v->pkt->queue].ctr[WF_QUEUE_BYTES] + len >
        wf_switch_class(sw, v->out)->cfg->queue[v->pkt->queue].limit_bytes)
        return WF_DROP_EGRESS_FULL;
    return WF_DROP_NONE;
}

/* Remember which egress queue this pause is for; a fifth one counts for the last. */
static void blame(struct wf_pg *pg, const struct wf_port *out, unsigned queue)
{
    unsigned i = 0;
    uint64_t until;

    while (i < WF_BLAMES - 1 && pg->blame[i].xoffs &&
           (pg->blame[i].port != out->index || pg->blame[i].queue != queue))
        i++;
    pg->blame[i].port = out->index;
    pg->blame[i].queue = (uint8_t)queue;
    pg->blame[i].xoffs++;
    for (unsigned prio = 0; prio < WF_PRIOS; prio++)
        if (wf_pfc_of(out)->queue_of_prio[prio] == queue && wf_pfc_paused(out, prio, &until)) {
            pg->blame[i].while_paused++;
            break;
        }
    pg->blamed = (uint8_t)i;
}

/* Refused, but it may be trimmed and try another queue. */
static enum wf_reason trimmed(struct wf_switch *sw, struct wf_visit *v, const struct wf_pg *pg,
                              enum wf_reason why)
{
    if (!wf_trim(sw, v, why))
        return why;
    why = refused(sw, v, pg);
    if (why)
        wf_trim_lost(v->out, v->pkt);
    return why;
}

enum wf_step wf_switch_admit(struct wf_switch *sw, struct wf_visit *v)
{
    struct wf_pg *pg = pg_of(sw, v->pkt);
    enum wf_reason why = refused(sw, v, pg);
    uint64_t *bytes = &pg->ctr[WF_PG_BYTES];

    if (why && sw->trims)
        why = trimmed(sw, v, pg, why);
    wf_switch_why_admit(sw, v, pg, why);
    if (why) {
        pg->ctr[WF_PG_DROP_FRAMES]++;
        v->out->q[v->pkt->queue].ctr[WF_QUEUE_DROP_FRAMES] += why == WF_DROP_EGRESS_FULL;
        sw->node.net->ctr[WF_FABRIC_LOSSLESS_DROPS] +=
            pg->lossless && why != WF_DROP_PEER_IGNORED_PAUSE;
        return wf_switch_drop(v, why);
    }
    v->pkt->flags |= WF_PKT_ACCOUNTED;
    *bytes += v->pkt->frame_len;
    pg->ctr[WF_PG_RX_FRAMES]++;
    wf_max_u64(&pg->ctr[WF_PG_MAX_BYTES], *bytes);
    sw->used_bytes += v->pkt->frame_len;
    wf_max_u64(&sw->used_max_bytes, sw->used_bytes);
    if (!pg->lossless || *bytes <= pg->lim.xoff)
        return WF_NEXT;
    wf_max_u64(&pg->ctr[WF_PG_HEADROOM_MAX_BYTES], *bytes - pg->lim.xoff);
    if (!pg->xoff) {
        pg->xoff = true;
        pg->xoff_at_ps = wf_now(v->in);
        blame(pg, v->out, v->pkt->queue);
        wf_switch_why_xoff(sw, v->in, pg);
        wf_pfc_xoff(v->in, pg->prio);
    }
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

void wf_switch_release(struct wf_switch *sw, struct wf_pkt *pkt)
{
    struct wf_pg *pg = pg_of(sw, pkt);

    if (!(pkt->flags & WF_PKT_ACCOUNTED))
        return;
    pkt->flags &= (uint16_t)~WF_PKT_ACCOUNTED;
    pg->ctr[WF_PG_BYTES] -= pkt->frame_len;
    sw->used_bytes -= pkt->frame_len;
    if (pg->xoff && pg->ctr[WF_PG_BYTES] <= pg->lim.xon)
        wf_switch_unpause(sw, pkt->port, pkt->pg);
}

void wf_switch_unpause(struct wf_switch *sw, struct wf_port *port, unsigned group)
{
    struct wf_pg *pg = &sw->pg[port->index][group];

    if (!pg->xoff)
        return;
    pg->xoff = false;
    wf_switch_why_xon(sw, port, pg);
    pg->blame[pg->blamed].paused_ps += wf_now(port) - pg->xoff_at_ps;
    if (!wants_pause(sw, port, pg->prio))
        wf_pfc_xon(port, pg->prio);
}
