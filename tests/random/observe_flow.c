/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows by what their hosts send and get: start, window and pace at the sender, order on every
 * link, and at the receiver each byte placed once (IBA 9.7.5: the next PSN, and no other).
 */
#include "observe.h"

#include <inttypes.h>
#include <string.h>

#include "host/host.h"
#include "wire/bth.h"

enum { FIRST_QPN = 0x11 };

/* The flow of a packet by its destination queue pair; *answer: it goes back to the sender. */
static struct ob_flow *flow_of(struct observer *ob, const struct wf_pkt *pkt, uint32_t *index,
                               bool *answer)
{
    *index = pkt->p.dqpn - FIRST_QPN;
    if (!(pkt->p.flags & WF_P_BTH) || pkt->p.opcode == WF_OPCODE_CNP ||
        *index >= 2 * ob->f->desc->n_flows)
        return NULL;
    *answer = *index % 2 == 0;
    return &ob->flows[*index / 2];
}

/* Payload bytes before packet `seq`. */
static uint64_t byte_at(const struct ob_flow *fl, uint64_t seq)
{
    const struct wf_flow_cfg *c = &fl->cfg->cfg;
    uint64_t per = (c->size_bytes + c->path_mtu - 1) / c->path_mtu;
    uint64_t in = seq % per * c->path_mtu;

    return seq / per * c->size_bytes + (in < c->size_bytes ? in : c->size_bytes);
}

/* Packet number of a PSN, near to what is acknowledged. */
static int64_t seq_of(const struct ob_flow *fl, uint32_t psn, uint64_t near)
{
    int32_t d = (int32_t)((psn - fl->first_psn - (uint32_t)near) << 8) >> 8;

    return (int64_t)near + d;
}

static void begin(struct ob_flow *fl, const struct wf_pkt *pkt)
{
    if (!fl->begun)
        fl->first_psn = pkt->p.psn;
    fl->begun = true;
}

/* Where the first packets may be held back or lost before anybody sees them. */
void ob_flow_begins(struct observer *ob)
{
    for (uint32_t i = 0; i < ob->f->desc->n_flows; i++) {
        uint32_t hash, dqpn;

        ob->flows[i].begun =
            wf_host_flow_ids(ob->f->flows[i], &hash, &dqpn, &ob->flows[i].first_psn);
    }
}

void ob_flow_begun(struct observer *ob, const struct wf_pkt *pkt)
{
    uint32_t index;
    bool answer;
    struct ob_flow *fl = flow_of(ob, pkt, &index, &answer);

    if (fl && !answer)
        begin(fl, pkt);
}

static void data_sent(struct ob_port *p, const struct wf_pkt *pkt, struct ob_flow *fl)
{
    const struct wf_flow_cfg *c = &fl->cfg->cfg;
    struct observer *ob = p->ob;
    int64_t seq;
    uint64_t flying;

    begin(fl, pkt);
    seq = seq_of(fl, pkt->p.psn, fl->una);
    if (seq < 0 ||
        pkt->p.payload_len != byte_at(fl, (uint64_t)seq + 1) - byte_at(fl, (uint64_t)seq)) {
        ob_fail(ob, "payload", "%s: packet %" PRId64 " of %s has %u bytes", p->port->name, seq,
                fl->cfg->name, pkt->p.payload_len);
        return;
    }
    flying = (uint64_t)seq >= fl->una ? byte_at(fl, (uint64_t)seq + 1) - byte_at(fl, fl->una) : 0;
    if ((uint64_t)seq > fl->una && flying > c->window_bytes)
        ob_fail(ob, "window", "%s has %" PRIu64 " bytes in flight, its window is %" PRIu64,
                fl->cfg->name, flying, c->window_bytes);
    if (ob->now_ps < c->start_ps)
        ob_fail(ob, "start", "%s sends before its start", fl->cfg->name);
    if (c->rate_bps &&
        ob->now_ps + fl->sent + 1 < c->start_ps + ob_span_ps(c->rate_bps, fl->paced_bits / 8))
        ob_fail(ob, "pace", "%s sends packet %" PRIu64 " at %" PRIu64 " ps, faster than its rate",
                fl->cfg->name, fl->sent, ob->now_ps);
    fl->sent++;
    fl->paced_bits += (pkt->frame_len + WF_WIRE_OVERHEAD) * 8ull;
}

void ob_flow_sent(struct ob_port *p, const struct wf_pkt *pkt, struct ob_frame *fr)
{
    bool answer;
    struct ob_flow *fl = flow_of(p->ob, pkt, &fr->flow, &answer);

    if (pkt->p.opcode == WF_OPCODE_CNP) { /* a receiver's, when it likes */
        fr->flow = 2 * p->ob->f->desc->n_flows;
        return;
    }
    if (!fl) {
        ob_fail(p->ob, "no_flow", "%s sends a frame of no flow", p->port->name);
        return;
    }
    if (pkt->queue != p->host->dscp_to_priority[fl->cfg->cfg.dscp])
        ob_fail(p->ob, "host_queue", "%s sends %s from queue %u", p->port->name, fl->cfg->name,
                pkt->queue);
    fr->serial = ++fl->serial[answer];
    fr->epoch = p->ob->epoch;
    if (!answer)
        data_sent(p, pkt, fl);
}

/* Frames of a flow come by in the order in which they were sent, while no way has changed and each
 * flow has one. */
void ob_flow_order(struct ob_port *p, const struct ob_frame *fr)
{
    uint64_t *serial = &p->last_serial[fr->flow], *epoch = &p->last_epoch[fr->flow];

    if (fr->epoch != p->ob->epoch || p->ob->overtakes || fr->cut ||
        fr->flow == 2 * p->ob->f->desc->n_flows) /* another queue, another pace */
        return;
    if (*epoch == fr->epoch && fr->serial <= *serial)
        ob_fail(p->ob, "reordered", "%s sends frame %" PRIu64 " of queue pair 0x%x after %" PRIu64,
                p->port->name, fr->serial, fr->flow + FIRST_QPN, *serial);
    *epoch = fr->epoch;
    *serial = fr->serial;
}

void ob_flow_received(struct ob_port *p, const struct wf_pkt *pkt)
{
    uint32_t index;
    bool answer;
    struct ob_flow *fl = flow_of(p->ob, pkt, &index, &answer);
    uint64_t per, acked;
    int64_t seq;

    if (!fl || pkt->flags & WF_PKT_TRIMMED) /* the host has no use of it */
        return;
    seq = seq_of(fl, pkt->p.psn, answer ? fl->una : fl->expect);
    if (answer) {
        /* an ACK speaks of its own PSN too, a NAK of those before it */
        acked = (uint64_t)(seq + (pkt->p.aeth_syndrome >> 5 == 0));
        if (seq >= 0 && acked > fl->una && acked <= fl->expect)
            fl->una = acked;
        else if (seq >= 0 && acked > fl->expect)
            ob_fail(p->ob, "ghost_ack", "%s gets an ACK of what was not delivered", p->port->name);
        return;
    }
    if (seq != (int64_t)fl->expect)
        return;
    per = (fl->cfg->cfg.size_bytes + fl->cfg->cfg.path_mtu - 1) / fl->cfg->cfg.path_mtu;
    fl->bytes += pkt->p.payload_len;
    fl->messages += ++fl->expect % per == 0;
}

static void final(struct observer *ob, const struct ob_flow *fl, const uint64_t *c)
{
    const char *name = fl->cfg->name;

    if (c[WF_FLOW_BYTES] != fl->bytes)
        ob_fail(ob, "flow_bytes", "%s: %" PRIu64 " bytes placed, taps say %" PRIu64, name,
                c[WF_FLOW_BYTES], fl->bytes);
    if (c[WF_FLOW_MSGS] > fl->messages)
        ob_fail(ob, "flow_messages", "%s: %" PRIu64 " messages complete, %" PRIu64 " delivered",
                name, c[WF_FLOW_MSGS], fl->messages);
    if (c[WF_FLOW_MSGS] + c[WF_FLOW_MSGS_FAILED] != c[WF_FLOW_MSGS_POSTED])
        ob_fail(ob, "flow_open", "%s: %" PRIu64 " of %" PRIu64 " messages have no end", name,
                c[WF_FLOW_MSGS_POSTED] - c[WF_FLOW_MSGS] - c[WF_FLOW_MSGS_FAILED],
                c[WF_FLOW_MSGS_POSTED]);
    if (!c[WF_FLOW_MSGS_FAILED] && (fl->bytes != fl->cfg->cfg.size_bytes * fl->cfg->cfg.count ||
                                    c[WF_FLOW_MSGS] != fl->cfg->cfg.count))
        ob_fail(ob, "flow_bytes", "%s has succeeded with %" PRIu64 " bytes", name, fl->bytes);
    if (c[WF_FLOW_TX_PACKETS] < fl->sent)
        ob_fail(ob, "flow_packets", "%s: %" PRIu64 " packets, taps saw %" PRIu64, name,
                c[WF_FLOW_TX_PACKETS], fl->sent);
    if (c[WF_FLOW_NAK_RX] > c[WF_FLOW_NAK_TX] && !ob->strange)
        ob_fail(ob, "flow_naks", "%s got more NAKs than there are", name);
}

void ob_flow_final(struct observer *ob)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(ob->f, wf_ctr_table_bit(&wf_ctrs_flow));
    const struct wf_desc *d = ob->f->desc;
    char name[WF_CTR_NAME_MAX];
    uint32_t found = 0;

    while (wf_ctr_next(&w))
        for (uint32_t i = 0; i < d->n_flows; i++)
            if (!strcmp(wf_ctr_name(&w, name) + strlen("flow."), d->flows[i].name)) {
                final(ob, &ob->flows[i], w.values);
                found++;
            }
    if (found != d->n_flows)
        ob_fail(ob, "no_flow", "%u flows of %u have counters", found, d->n_flows);
}
