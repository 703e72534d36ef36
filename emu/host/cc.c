/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the transport to a law's hooks and back. A round trip is from when the packet that asks for
 * the ACK is drawn to the ACK's last bit: a pause at the NIC's own port is in it. Packets sent
 * again, and those behind them, give none (Karn). When a rate changes, what is left of the gap to
 * the next packet changes with it.
 */
#include "host/cc.h"

#include "host/cc_guard.h"
#include "host/nic.h"
#include "wire/edit.h"

enum { BTH_BECN = 4 };

static void timer_event(struct wf_lcore *lc, struct wf_event *ev);

static struct wf_lcore *lcore_of(const struct wf_nic_cc *x)
{
    return x->nq->host->node.net->lc;
}

static void set_pace(struct wf_nic_qp *nq, uint64_t rate_bps, uint64_t now)
{
    struct wf_txclock *p = &nq->pace;
    uint64_t was = p->rate_bps, left = p->end_ps > now ? p->end_ps - now : 0;

    if (was == rate_bps)
        return;
    *p = (struct wf_txclock){0};
    if (!rate_bps)
        return;
    wf_txclock_init(p, rate_bps);
    if (was)
        p->end_ps = p->epoch_ps = now + (uint64_t)((unsigned __int128)left * was / rate_bps);
}

/* The tighter of two limits, where 0 is none. */
static uint64_t tighter(uint64_t a, uint64_t b)
{
    return !a || (b && b < a) ? b : a;
}

/* Nothing more is to be sent, as far as this end knows: a responder has been asked for all. */
static bool over(const struct wf_nic_cc *x)
{
    const struct wf_qp *qp = &x->nq->qp;

    if (x->nq->flow)
        return wf_flow_over(x->flow);
    return qp->respm.read_requests >= x->flow->cfg.count && !qp->resp.data;
}

static void set_timer(struct wf_nic_cc *x)
{
    struct wf_node *node = &x->nq->host->node;
    uint64_t t = x->cc.out.timer_ps, soonest = x->cc.now_ps + WF_PS_PER_NS;

    if (wf_event_pending(&x->timer) && x->timer.t_ps == t)
        return;
    if (wf_event_pending(&x->timer))
        wf_lcore_cancel(lcore_of(x), &x->timer);
    if (t != WF_CC_NEVER && !over(x))
        wf_lcore_schedule(lcore_of(x), &x->timer, t > soonest ? t : soonest,
                          wf_event_key(node->entity, WF_EV_TIMER, node->seq++), timer_event);
}

/* The answer takes effect; the caller lets the queue pair send if it may. */
static void apply(struct wf_nic_cc *x)
{
    const struct wf_cc_law *law = x->use->law;
    struct wf_nic_qp *nq = x->nq;
    struct wf_cc *c = &x->cc;

    if (law->flags & WF_CC_WINDOW)
        nq->qp.cfg.window_bytes = tighter(c->env.window_bytes, c->out.window_bytes);
    if (law->flags & WF_CC_PACED)
        set_pace(nq, tighter(c->env.rate_bps, c->out.rate_bps), c->now_ps);
    set_timer(x);
    x->values[WF_CC_LEVEL_RATE] = nq->pace.rate_bps;
    x->values[WF_CC_LEVEL_WINDOW] = nq->qp.cfg.window_bytes;
    x->values[WF_CC_LEVEL_RTT] = x->rtt_ps;
    for (size_t i = 0; i < law->n_columns; i++)
        x->values[WF_CC_LEVELS + i] =
            *(const uint64_t *)((const char *)c->state + law->columns[i].off);
}

/* Before wf_nic_cc_start() the law knows nothing of its queue pair, whatever comes in for it. */
static bool started(const struct wf_nic_qp *nq)
{
    return nq->cc->cc.env.line_bps;
}

static struct wf_nic_cc *begin(struct wf_nic_qp *nq)
{
    struct wf_nic_cc *x = nq->cc;

    x->cc.now_ps = lcore_of(x)->now_ps;
    return x;
}

static void timer_event(struct wf_lcore *lc, struct wf_event *ev)
{
    struct wf_nic_cc *x = WF_CONTAINER_OF(ev, struct wf_nic_cc, timer);

    x->cc.now_ps = lc->now_ps;
    x->cc.out.timer_ps = WF_CC_NEVER;
    if (x->use->law->on_timer)
        WF_CC_HOOK(x->use, on_timer, &x->cc);
    apply(x);
    wf_nic_qp_wake(x->nq);
}

void wf_nic_cc_tune(const struct wf_cc_use *use, struct wf_qp_cfg *cfg)
{
    cfg->ask_bytes = use->law->flags & WF_CC_WINDOW ? 1 : use->law->ack_bytes;
}

bool wf_nic_cc_paces_reads(const struct wf_cc_use *use)
{
    return use->law->flags & WF_CC_PACED &&
           !(use->law->flags & (WF_CC_RTT | WF_CC_ECHO | WF_CC_INT));
}

bool wf_nic_cc_limits_reads(const struct wf_cc_use *use)
{
    return use->law->flags & WF_CC_WINDOW || !wf_nic_cc_paces_reads(use);
}

void wf_nic_cc_add(struct wf_nic_qp *nq, const struct wf_cc_use *use, struct wf_flow *flow,
                   struct wf_arena *arena)
{
    struct wf_nic_cc *x = WF_ARENA_NEW(arena, struct wf_nic_cc);

    x->use = use;
    x->nq = nq;
    x->flow = flow;
    x->cc.state = wf_arena_alloc(arena, use->law->state_size + 1);
    x->cc.cfg = use->cfg;
    x->cc.out.timer_ps = WF_CC_NEVER;
    if (use->law->flags & WF_CC_RTT)
        x->sample = WF_ARENA_ARRAY(arena, struct wf_cc_sample, WF_CC_SAMPLES);
    nq->cc = x;
}

/* Of a packet in the middle of a message, all but its payload. */
static uint32_t wire_overhead(const struct wf_nic_qp *nq)
{
    return 14 + (nq->frame.encap == WF_ROCE_V2_IP4 ? 20 : 40) + 8 + WF_BTH_LEN + WF_ICRC_LEN +
           WF_FCS_LEN + WF_WIRE_OVERHEAD;
}

void wf_nic_cc_start(struct wf_nic_qp *nq, uint64_t base_rtt_ps)
{
    struct wf_nic_cc *x = begin(nq);
    const struct wf_qp_cfg *q = &nq->qp.cfg;

    x->cc.env = (struct wf_cc_env){
        .line_bps = nq->host->node.ports[0].tx.rate_bps,
        .base_rtt_ps = base_rtt_ps,
        .mtu_bytes = q->path_mtu,
        .wire_bytes = q->path_mtu + wf_nic_cc_int_len(nq) + wire_overhead(nq),
        .window_bytes = q->window_bytes,
        .rate_bps = nq->pace.rate_bps,
        .seed = wf_mix(nq->host->node.net->seed, q->qpn),
    };
    x->una_byte = nq->qp.req.una_byte;
    WF_CC_HOOK(x->use, on_start, &x->cc);
    apply(x);
}

uint32_t wf_nic_cc_int_len(const struct wf_nic_qp *nq)
{
    return nq->cc->use->law->flags & WF_CC_INT ? WF_INT_LEN : 0;
}

void wf_nic_cc_sent(struct wf_nic_qp *nq, uint32_t payload_len, bool again, bool asks)
{
    struct wf_nic_cc *x = begin(nq);
    const struct wf_cc_law *law = x->use->law;
    uint32_t at = x->tail % WF_CC_SAMPLES;

    if (again)
        x->head = x->tail; /* whatever is answered now may have been sent twice */
    else if (asks && law->flags & WF_CC_RTT && x->tail - x->head < WF_CC_SAMPLES) {
        x->sample[at].seq = nq->qp.req.next_seq;
        x->sample[at].sent_ps = x->cc.now_ps;
        x->tail++;
    }
    if (!law->on_send)
        return;
    WF_CC_HOOK(x->use, on_send, &x->cc, payload_len, again);
    apply(x);
}

void wf_nic_cc_read(struct wf_nic_qp *nq, uint32_t payload_len, bool again)
{
    if (!started(nq)) /* nobody else has told this end that the flow has begun */
        wf_nic_cc_start(nq, nq->cc->flow->base_rtt_ps);
    wf_nic_cc_sent(nq, payload_len, again, false);
}

/* The round trip of the newest packet that is acknowledged now; 0: it was not measured. */
static uint64_t take_rtt(struct wf_nic_cc *x, uint64_t una_seq)
{
    uint64_t rtt = 0;

    while (x->head != x->tail && x->sample[x->head % WF_CC_SAMPLES].seq <= una_seq) {
        uint32_t at = x->head++ % WF_CC_SAMPLES;

        rtt = x->sample[at].seq == una_seq ? x->cc.now_ps - x->sample[at].sent_ps : 0;
    }
    if (rtt)
        x->rtt_ps = rtt;
    return rtt;
}

static uint32_t take_hops(const struct wf_pkt *pkt, struct wf_cc_hop *out)
{
    struct wf_int_hop hops[WF_INT_HOPS];
    uint32_t n = wf_int_get(pkt, hops);

    for (uint32_t i = 0; i < n; i++)
        out[i] = (struct wf_cc_hop){hops[i].rate_kbps * 1000ull, hops[i].ts_ns, hops[i].tx_bytes,
                                    hops[i].qlen_bytes};
    return n;
}

void wf_nic_cc_answered(struct wf_nic_qp *nq, const struct wf_pkt *pkt)
{
    struct wf_nic_cc *x = begin(nq);
    const struct wf_cc_law *law = x->use->law;
    const struct wf_requester *r = &nq->qp.req;
    struct wf_cc_hop hops[WF_INT_HOPS];
    struct wf_cc_ack ack = {
        /* go-back-0 takes back what was acknowledged */
        .acked_bytes = r->una_byte > x->una_byte ? r->una_byte - x->una_byte : 0,
        .una_bytes = r->una_byte,
        .sent_bytes = r->next_byte,
        .rtt_ps = take_rtt(x, r->una_seq),
        .hop_count = WF_NIC_TTL + 1u - pkt->p.ttl,
        .hops = hops,
        /* the data of a READ came here itself */
        .ecn = wf_pkt_bytes(pkt)[pkt->p.bth_off + BTH_BECN] & 0x40 ||
               (pkt->p.payload_len && pkt->p.ecn == WF_ECN_CE),
    };

    if (!started(nq))
        return;
    if (law->flags & WF_CC_INT)
        ack.n_hops = take_hops(pkt, hops);
    x->una_byte = r->una_byte;
    if (law->on_ack && ack.acked_bytes)
        WF_CC_HOOK(x->use, on_ack, &x->cc, &ack);
    if (law->on_nak && r->naks != x->naks)
        WF_CC_HOOK(x->use, on_nak, &x->cc);
    x->naks = r->naks;
    apply(x);
}

void wf_nic_cc_cnp(struct wf_nic_qp *nq)
{
    struct wf_nic_cc *x = begin(nq);

    if (!started(nq) || !x->use->law->on_cnp)
        return;
    WF_CC_HOOK(x->use, on_cnp, &x->cc);
    apply(x);
}

void wf_nic_cc_ticked(struct wf_nic_qp *nq)
{
    struct wf_nic_cc *x = begin(nq);
    uint64_t timeouts = nq->qp.req.timeouts;

    if (!started(nq) || timeouts == x->timeouts)
        return;
    x->timeouts = timeouts;
    if (!x->use->law->on_timeout)
        return;
    WF_CC_HOOK(x->use, on_timeout, &x->cc);
    apply(x);
}
