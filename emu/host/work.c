/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations of flows: what a message is as a work request, the receives that a model receiver
 * keeps posted and how fast it posts them again, responder resources, the counters beyond WRITE.
 * Payload is virtual. A datagram goes to the queue pair of its flow at the other end.
 * Left out: completion queues and their overflow, inline data (there is no DMA that it would save).
 */
#include <string.h>

#include "base/assert.h"
#include "host/endpoint.h"
#include "host/nic.h"
#include "xport/sel.h"

enum { QKEY = 0x11111111 };

void wf_flow_qp_cfg(const struct wf_flow_cfg *cfg, struct wf_qp_cfg *qp)
{
    static const enum wf_service services[] = {WF_SERVICE_RC, WF_SERVICE_UC, WF_SERVICE_UD};

    qp->service = services[cfg->service];
    qp->retransmit = (enum wf_retransmit)cfg->retransmit;
    qp->rnr_retry = (uint8_t)cfg->rnr_retry;
    qp->min_rnr_timer = (uint8_t)cfg->min_rnr_timer;
    qp->max_rd_atomic = cfg->max_rd_atomic;
    qp->qkey = QKEY;
}

static bool takes_receives(const struct wf_flow_cfg *cfg)
{
    return cfg->op >= WF_WORK_WRITE_IMM && cfg->op <= WF_WORK_SEND_INV;
}

static bool reads(const struct wf_flow_cfg *cfg)
{
    return cfg->op >= WF_WORK_READ;
}

static void post_recv(struct wf_nic_rq *rq)
{
    struct wf_recv r = {.len = rq->len};

    WF_ASSERT(!wf_rq_post(&rq->rq, &r));
}

static void recv_event(struct wf_lcore *lc, struct wf_event *ev);

static void schedule(struct wf_nic_rq *rq)
{
    struct wf_node *node = rq->node;
    struct wf_lcore *lc = node->net->lc;

    wf_lcore_schedule(lc, &rq->event, lc->now_ps + rq->time_ps,
                      wf_event_key(node->entity, WF_EV_TIMER, node->seq++), recv_event);
}

static void recv_event(struct wf_lcore *lc, struct wf_event *ev)
{
    struct wf_nic_rq *rq = WF_CONTAINER_OF(ev, struct wf_nic_rq, event);

    post_recv(rq);
    if (--rq->busy)
        schedule(rq);
}

void wf_flow_received(void *arg, const struct wf_wc *wc)
{
    struct wf_nic_rq *rq = ((struct wf_nic_qp *)arg)->rq;

    if (wc->status == WF_WC_FLUSH && !rq->rq.shared)
        return; /* it posts no more */
    if (!rq->time_ps)
        post_recv(rq);
    else if (!rq->busy++)
        schedule(rq);
}

static struct wf_nic_rq *make_rq(struct wf_host *h, const struct wf_flow_cfg *cfg,
                                 struct wf_arena *arena)
{
    struct wf_nic_rq *rq = WF_ARENA_NEW(arena, struct wf_nic_rq);
    uint32_t n = 1;

    while (n < cfg->recv_depth)
        n *= 2;
    WF_ASSERT(!wf_rq_init(&rq->rq, WF_ARENA_ARRAY(arena, struct wf_recv, n), n, cfg->shared_recv));
    rq->node = &h->node;
    rq->time_ps = cfg->recv_time_ps;
    rq->len = (uint32_t)cfg->size_bytes + WF_QP_GRH_LEN;
    for (uint32_t i = 0; i < cfg->recv_depth; i++)
        post_recv(rq);
    return rq;
}

static void add_sel(struct wf_nic_qp *nq, bool early, struct wf_arena *arena)
{
    WF_ASSERT(!wf_qp_set_sel(&nq->qp, WF_ARENA_NEW(arena, struct wf_qp_sel),
                             early ? WF_ARENA_NEW(arena, struct wf_sel_early) : NULL));
}

void wf_flow_equip(struct wf_flow *f, struct wf_arena *arena)
{
    const struct wf_flow_cfg *cfg = &f->cfg;
    struct wf_nic_qp *rx = f->rx;
    struct wf_host *h = rx->host;

    if (takes_receives(cfg)) {
        rx->rq = cfg->shared_recv && h->srq ? h->srq : make_rq(h, cfg, arena);
        if (cfg->shared_recv)
            h->srq = rx->rq;
        wf_qp_set_rq(&rx->qp, &rx->rq->rq);
    }
    if (reads(cfg) && cfg->max_dest_rd_atomic)
        wf_qp_set_resources(&rx->qp,
                            WF_ARENA_ARRAY(arena, struct wf_rd_res, cfg->max_dest_rd_atomic),
                            cfg->max_dest_rd_atomic);
    if (cfg->retransmit == WF_SELECTIVE) {
        add_sel(f->tx, false, arena);
        add_sel(rx, cfg->op != WF_WORK_WRITE, arena);
    }
    if (reads(cfg))
        rx->mr.access = WF_MEM_REMOTE_READ | WF_MEM_REMOTE_ATOMIC;
}

void wf_flow_work(const struct wf_flow *f, struct wf_work *w)
{
    *w = (struct wf_work){.op = (enum wf_work_op)f->cfg.op,
                          .raddr = f->raddr,
                          .rkey = f->rkey,
                          .len = (uint32_t)f->cfg.size_bytes};
    if (f->cfg.op == WF_WORK_SEND_INV)
        w->imm = f->rkey;
    if (f->cfg.service == WF_FLOW_UD) {
        w->ud.dqpn = f->tx->qp.cfg.dqpn;
        w->ud.qkey = QKEY;
    }
}

static void settle_responder(const struct wf_nic_qp *rx, uint64_t *c)
{
    const struct wf_responder_more *s = &rx->qp.respm;

    c[WF_FLOW_PLACED_EARLY] += rx->qp.sel ? rx->qp.sel->placed : 0;
    c[WF_FLOW_RNR_TX] = s->rnr_naks;
    c[WF_FLOW_RESP_ACCESS] = s->rem_access;
    c[WF_FLOW_RESP_LENGTH] = s->loc_len;
    c[WF_FLOW_RESP_ERRORS] = s->errors;
    c[WF_FLOW_RESP_FLUSHED] = s->flushed;
    c[WF_FLOW_NO_RECEIVE] = s->no_receive;
    c[WF_FLOW_UC_GAPS] = s->uc_gaps;
    c[WF_FLOW_READ_REQUESTS] = s->read_requests;
    c[WF_FLOW_ATOMIC_REQUESTS] = s->atomic_requests;
    c[WF_FLOW_RECEIVED] = rx->qp.resp.messages;
}

void wf_flow_settle_more(struct wf_flow *f)
{
    const struct wf_requester_more *r = &f->tx->qp.reqm;
    uint64_t *c = f->ctr;

    if (reads(&f->cfg))
        c[WF_FLOW_BYTES] = r->read_bytes;
    c[WF_FLOW_RNR_RX] = r->rnr_naks;
    c[WF_FLOW_RNR_EXCEEDED] = r->rnr_exceeded;
    c[WF_FLOW_RETRY_EXCEEDED] = r->retry_exceeded;
    c[WF_FLOW_IMPLIED_NAKS] = r->implied_naks;
    c[WF_FLOW_REQ_ACCESS] = r->rem_access;
    c[WF_FLOW_REQ_INVALID] = r->rem_inv_req;
    c[WF_FLOW_REQ_OPERATION] = r->rem_op;
    c[WF_FLOW_REQ_ERRORS] = r->errors;
    c[WF_FLOW_REQ_FLUSHED] = r->flushed;
    c[WF_FLOW_PLACED_EARLY] = f->tx->qp.sel ? f->tx->qp.sel->placed : 0;
    if (f->rx) /* else it is a real host's */
        settle_responder(f->rx, c);
    if (f->cfg.connect)
        wf_endpoint_settle_flow(f);
}
