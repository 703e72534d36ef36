/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/trim.h"

#include "base/digest.h"
#include "switch/why.h"
#include "wire/edit.h"

/* Where what must not be cut ends: IP's header, with extensions that lead to a known one. */
static uint32_t headers_end(const struct wf_pkt *pkt)
{
    const struct wf_parsed *p = &pkt->p;
    uint32_t ip = p->flags & WF_P_IP6 ? 40 : (wf_pkt_bytes(pkt)[p->l3_off] & 15u) * 4;

    return p->l3_off + ip > p->l4_off ? p->l3_off + ip : p->l4_off;
}

static bool eligible(const struct wf_switch *sw, const struct wf_visit *v, enum wf_reason why)
{
    const struct wf_pkt *pkt = v->pkt;

    if (why != WF_DROP_EGRESS_FULL && why != WF_DROP_INGRESS_FULL && why != WF_DROP_BUFFER_FULL &&
        why != WF_DROP_POOL_FULL && why != WF_DROP_EGRESS_POOL)
        return false;
    if (pkt->flags & WF_PKT_TUNNEL || !(pkt->p.flags & WF_P_IP) || pkt->p.flags & WF_P_MULTICAST ||
        pkt->malformed)
        return false;
    if (headers_end(pkt) > sw->cfg.trim.size_bytes)
        return false;
    return wf_switch_class(sw, v->out)->cfg->queue[pkt->queue].discard == WF_DISCARD_TRIM &&
           !sw->pg[v->in->index][pkt->pg].lossless;
}

/* IP says what is left of it. */
static void set_ip_length(uint8_t *ip, const struct wf_parsed *p, uint32_t l3_len)
{
    uint16_t was = wf_ld16(ip + 2);

    if (p->flags & WF_P_IP6) {
        wf_st16(ip + 4, (uint16_t)(l3_len - 40));
        return;
    }
    wf_st16(ip + 2, (uint16_t)l3_len);
    wf_st16(ip + 10, wf_checksum_adjust(wf_ld16(ip + 10), was, (uint16_t)l3_len));
}

static void cut(const struct wf_trim_cfg *c, struct wf_pkt *pkt)
{
    struct wf_parsed *p = &pkt->p;
    uint32_t size = (uint32_t)c->size_bytes;

    if (pkt->frame_len - WF_FCS_LEN <= size)
        return;
    pkt->frame_len = size + WF_FCS_LEN;
    if (wf_pkt_caplen(pkt) > size)
        wf_pkt_trim(pkt, size);
    if (c->ip_length == WF_TRIM_LENGTH_UPDATED)
        set_ip_length(wf_pkt_hdr_rw(pkt) + p->l3_off, p, size - p->l3_off);
    p->l3_len = size - p->l3_off;
    p->payload_len = size > p->payload_off ? size - p->payload_off : 0;
    p->icrc_off = 0; /* what is left ends before it */
    pkt->flags |= WF_PKT_TRIMMED;
}

/* Another DSCP, class and queue. */
static void redirect(const struct wf_switch *sw, const struct wf_visit *v)
{
    const struct wf_trim_cfg *c = &sw->cfg.trim;
    struct wf_pkt *pkt = v->pkt;
    bool by_tc = c->dscp_mode == WF_TRIM_DSCP_FROM_TC;
    uint8_t dscp = by_tc ? wf_switch_class(sw, v->out)->cfg->tc_to_dscp[c->tc] : (uint8_t)c->dscp;
    const struct wf_lane *l = &wf_switch_class(sw, v->in)->by_dscp[dscp];

    wf_edit_set_dscp(wf_pkt_hdr_rw(pkt), &pkt->p, dscp);
    pkt->flags = (uint16_t)((pkt->flags & ~WF_PKT_TRIM_QUEUE) | WF_PKT_TRIM_HERE |
                            pkt->queue << WF_PKT_TRIM_SHIFT);
    pkt->tc = by_tc ? (uint8_t)c->tc : l->tc;
    pkt->queue = c->queue_mode == WF_TRIM_QUEUE_STATIC
                     ? (uint8_t)c->queue
                     : wf_switch_class(sw, v->out)->cfg->tc_to_queue[l->tc];
    pkt->prio = l->prio;
}

bool wf_trim(struct wf_switch *sw, struct wf_visit *v, enum wf_reason why)
{
    uint32_t was_bytes = v->pkt->frame_len;
    unsigned queue = v->pkt->queue;
    struct wf_queue *q = &v->out->q[queue];

    if (!eligible(sw, v, why))
        return false;
    q->ctr[WF_QUEUE_TRIM_FRAMES]++;
    q->ctr[WF_QUEUE_DROP_FRAMES]++;
    q->ctr[WF_QUEUE_DROP_BYTES] += was_bytes;
    v->out->ctr[WF_PORT_TRIM_FRAMES]++;
    cut(&sw->cfg.trim, v->pkt);
    redirect(sw, v);
    wf_pkt_edited(v->pkt);
    v->pkt->hash = wf_mix(v->pkt->hash, v->pkt->frame_len);
    wf_switch_why_trim(v, was_bytes, queue, why);
    return true;
}

/* The counters of the queue that refused it. */
static uint64_t *refused_by(struct wf_port *out, struct wf_pkt *pkt)
{
    unsigned queue = (pkt->flags & WF_PKT_TRIM_QUEUE) >> WF_PKT_TRIM_SHIFT;

    pkt->flags &= (uint16_t)~WF_PKT_TRIM_HERE;
    return out->q[queue].ctr;
}

void wf_trim_sent(struct wf_port *out, struct wf_pkt *pkt)
{
    refused_by(out, pkt)[WF_QUEUE_TRIM_TX_FRAMES]++;
    out->ctr[WF_PORT_TRIM_TX_FRAMES]++;
}

void wf_trim_lost(struct wf_port *out, struct wf_pkt *pkt)
{
    refused_by(out, pkt)[WF_QUEUE_TRIM_DROP_FRAMES]++;
    out->ctr[WF_PORT_TRIM_DROP_FRAMES]++;
}
