/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sending side of a model NIC. Packets are drawn from the queue pairs only when the port's
 * queue of their priority is short, round robin among those that are ready, so that a pause stops
 * the queue pairs and not a queue behind them. Answers of a queue pair go before its requests.
 * A paced flow's packets begin no closer than its rate allows, counted in bits on the wire.
 * Left out: processing time, cache misses, DMA and PCIe.
 */
#include "host/nic.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "host/endpoint.h"
#include "wire/edit.h"

enum { WF_INT_RESV7 = WF_INT_MAGIC & 0x7f };

static uint32_t slot_of(const struct wf_host *h, uint32_t qpn)
{
    return qpn * 2654435761u >> 7 & h->qps_mask;
}

static void place(struct wf_host *h, struct wf_nic_qp *nq)
{
    uint32_t i = slot_of(h, nq->qp.cfg.qpn);

    while (h->qps[i])
        i = (i + 1) & h->qps_mask;
    h->qps[i] = nq;
}

static void grow(struct wf_host *h, struct wf_arena *arena)
{
    struct wf_nic_qp **old = h->qps;
    uint32_t n = h->qps ? h->qps_mask + 1 : 0;

    h->qps_mask = n ? 2 * n - 1 : 7;
    h->qps = WF_ARENA_ARRAY(arena, struct wf_nic_qp *, h->qps_mask + 1);
    for (uint32_t i = 0; i < n; i++)
        if (old[i])
            place(h, old[i]);
}

struct wf_nic_qp *wf_nic_qp_find(const struct wf_host *h, uint32_t qpn)
{
    uint32_t i = slot_of(h, qpn);

    while (h->qps && h->qps[i] && h->qps[i]->qp.cfg.qpn != qpn)
        i = (i + 1) & h->qps_mask;
    return h->qps ? h->qps[i] : NULL;
}

static int reach(void *arg, uint32_t rkey, uint64_t va, uint64_t len, enum wf_mem_access access,
                 uint8_t **at)
{
    const struct wf_nic_qp *nq = arg;

    return wf_mr_reach(&nq->mr, 1, rkey, va, len, access, at);
}

/* A model's keys outlive what is said of them: the next message has the same. */
static int invalidate(void *arg, uint32_t rkey)
{
    return ((const struct wf_nic_qp *)arg)->mr.rkey == rkey ? 0 : -EINVAL;
}

static uint32_t pow2_from(uint32_t n)
{
    uint32_t p = 1;

    while (p < n)
        p *= 2;
    return p;
}

struct wf_nic_qp *wf_nic_qp_add(struct wf_host *h, struct wf_arena *arena,
                                const struct wf_qp_cfg *cfg, uint32_t sq_len)
{
    uint32_t len = pow2_from(sq_len);
    struct wf_nic_qp *nq = WF_ARENA_NEW(arena, struct wf_nic_qp);
    struct wf_wqe *sq = WF_ARENA_ARRAY(arena, struct wf_wqe, len);
    struct wf_qp_user user = {.arg = nq,
                              .mem = reach,
                              .complete = wf_flow_completed,
                              .received = wf_flow_received,
                              .invalidate = invalidate};

    WF_ASSERT(!wf_qp_init(&nq->qp, cfg, &user, sq, len));
    nq->host = h;
    if (2 * ++h->n_qps > h->qps_mask)
        grow(h, arena);
    place(h, nq);
    return nq;
}

/* When its next request may begin by its rate. */
static uint64_t paced_ps(const struct wf_nic_qp *nq)
{
    return nq->pace.rate_bps ? nq->pace.end_ps : 0;
}

/* What READs bring back is paced as requests are. */
static bool may_answer(const struct wf_nic_qp *nq, uint64_t now)
{
    return nq->qp.resp.data ? paced_ps(nq) <= now : nq->qp.resp.answer;
}

static bool has_work(const struct wf_nic_qp *nq, uint64_t now)
{
    uint32_t len;

    return may_answer(nq, now) || (wf_qp_may_request(&nq->qp, &len) && paced_ps(nq) <= now);
}

static void timer_event(struct wf_lcore *lc, struct wf_event *ev)
{
    struct wf_nic_qp *nq = WF_CONTAINER_OF(ev, struct wf_nic_qp, timer);

    wf_qp_tick(&nq->qp, lc->now_ps);
    if (nq->cc)
        wf_nic_cc_ticked(nq);
    wf_nic_qp_wake(nq);
}

static __attribute__((noinline)) void move_timer(struct wf_nic_qp *nq, uint64_t now)
{
    struct wf_node *node = &nq->host->node;
    struct wf_lcore *lc = node->net->lc;
    uint64_t t = wf_qp_timer_ps(&nq->qp), pace = paced_ps(nq);
    uint32_t len;

    if (pace > now && pace < t && (nq->qp.resp.data || wf_qp_may_request(&nq->qp, &len)))
        t = pace;
    if (wf_event_pending(&nq->timer)) {
        if (t != WF_TIME_NEVER && nq->timer.t_ps <= t)
            return;
        wf_lcore_cancel(lc, &nq->timer);
    }
    if (t != WF_TIME_NEVER)
        wf_lcore_schedule(lc, &nq->timer, t > now ? t : now,
                          wf_event_key(node->entity, WF_EV_TIMER, node->seq++), timer_event);
}

/* One event serves the transport's timer and the pace. It is left where it is when it comes too
 * early, since acknowledgements move the timer all the time. */
static inline void set_timer(struct wf_nic_qp *nq, uint64_t now)
{
    uint64_t t = wf_qp_timer_ps(&nq->qp);

    if (!wf_event_pending(&nq->timer) || nq->timer.t_ps > t || t == WF_TIME_NEVER ||
        nq->pace.rate_bps)
        move_timer(nq, now);
}

static void make_ready(struct wf_nic_qp *nq, uint64_t now)
{
    if (!nq->is_ready && has_work(nq, now)) {
        nq->is_ready = true;
        wf_fifo_push(&nq->host->ready[nq->prio], &nq->ready);
    }
}

void wf_nic_qp_wake(struct wf_nic_qp *nq)
{
    uint64_t now = nq->host->node.net->lc->now_ps;

    make_ready(nq, now);
    wf_nic_pump(nq->host, nq->prio);
    set_timer(nq, now);
}

/* The frame as it is dressed, with a virtual payload. */
static struct wf_pkt *virtual(struct wf_nic_qp *nq, struct wf_net *net)
{
    struct wf_pkt *pkt = wf_pkt_new(net, WF_HDR_ROOM);

    if (!pkt)
        return NULL;
    if (!wf_form_fits(&nq->form, &nq->frame))
        wf_form_make(&nq->form, &nq->frame);
    wf_form_fill(&nq->form, &nq->frame, pkt);
    return pkt;
}

/* The frame of what the engine wants to send. `more` bytes follow its headers; only where the
 * payload is virtual. */
static struct wf_pkt *dress(struct wf_nic_qp *nq, const struct wf_qp_out *out, uint8_t ecn,
                            uint32_t more)
{
    struct wf_net *net = nq->host->node.net;
    struct wf_roce *f = &nq->frame;
    struct wf_pkt *pkt;

    f->bth = out->bth;
    if (more)
        f->bth.resv7 = WF_INT_RESV7;
    if (wf_opcodes[out->bth.opcode].ext_len)
        f->ext = out->ext;
    f->payload_len = out->payload_len + more;
    f->ecn = ecn;
    f->ip_id++;
    pkt = out->n_iov ? wf_nic_real(net, f, out->iov, out->n_iov) : virtual(nq, net);
    if (!pkt)
        return NULL; /* the run has failed already: emulator_out_of_buffers */
    pkt->prio = pkt->queue = nq->prio;
    pkt->ready_ps = net->lc->now_ps;
    pkt->at = nq;
    return pkt;
}

static void launch(struct wf_nic_qp *nq, struct wf_pkt *pkt)
{
    wf_pkt_generated(nq->host->node.net, pkt);
    wf_port_enqueue(&nq->host->node.ports[0], pkt);
}

static void send_request(struct wf_nic_qp *nq, const struct wf_qp_out *out)
{
    uint32_t more = nq->cc && out->payload_len ? wf_nic_cc_int_len(nq) : 0;
    struct wf_pkt *pkt = dress(nq, out, nq->ecn, more);

    if (!pkt)
        return;
    if (more)
        wf_int_add(pkt, false, NULL, 0);
    if (nq->pace.rate_bps && out->payload_len)
        wf_txclock_take(&nq->pace, nq->host->node.net->lc->now_ps,
                        pkt->frame_len + WF_WIRE_OVERHEAD);
    launch(nq, pkt);
}

/* With what the sender's control wants to know. */
static void send_answer(struct wf_nic_qp *nq, struct wf_qp_out *out)
{
    struct wf_nic_np *np = nq->np;
    bool plain = out->payload_len || !np;
    uint32_t more = !plain && np->returns && np->n_hops ? WF_INT_LEN : 0;
    struct wf_pkt *pkt;

    if (!plain && np->echoes) {
        out->bth.becn = np->ce;
        if (np->ce != np->becn) /* which no form asks for */
            nq->form.len = 0;
        np->becn = np->ce;
        np->ce = false;
    }
    pkt = dress(nq, out, out->payload_len ? nq->ecn : WF_ECN_NOT_ECT, more);
    if (!pkt)
        return;
    if (more)
        wf_int_add(pkt, true, np->hops, np->n_hops);
    if (nq->pace.rate_bps && out->payload_len)
        wf_txclock_take(&nq->pace, nq->host->node.net->lc->now_ps,
                        pkt->frame_len + WF_WIRE_OVERHEAD);
    launch(nq, pkt);
    if (out->payload_len && nq->cc)
        wf_nic_cc_read(nq, out->payload_len, out->again);
}

static void draw_request(struct wf_nic_qp *nq, uint64_t now)
{
    struct wf_qp_out out;

    wf_qp_pull_request(&nq->qp, now, &out);
    if (nq->qp.cfg.service == WF_SERVICE_UD && out.ah)
        wf_datagrams_address(nq, out.ah);
    send_request(nq, &out);
    if (nq->cc)
        wf_nic_cc_sent(nq, out.payload_len, out.again, out.bth.ackreq);
}

static void draw(struct wf_nic_qp *nq, uint64_t now)
{
    struct wf_qp_out out;
    uint32_t len;

    if (may_answer(nq, now)) {
        wf_qp_pull_answer(&nq->qp, &out);
        send_answer(nq, &out);
    } else if (wf_qp_may_request(&nq->qp, &len) && paced_ps(nq) <= now) {
        draw_request(nq, now);
    }
}

/* A port that is down takes one packet of a queue pair and loses it, so that the transport's timer
 * runs; all else waits for the link, or for the retries to be used up. */
static void pump_down(struct wf_host *h, unsigned prio, uint64_t now)
{
    uint32_t len;

    for (uint32_t i = h->ready[prio].count; i; i--) {
        struct wf_nic_qp *nq =
            WF_CONTAINER_OF(wf_fifo_pop(&h->ready[prio]), struct wf_nic_qp, ready);

        nq->is_ready = false;
        if (wf_qp_timer_ps(&nq->qp) == WF_TIME_NEVER && wf_qp_may_request(&nq->qp, &len))
            draw_request(nq, now);
        make_ready(nq, now);
        set_timer(nq, now);
    }
}

void wf_nic_pump(struct wf_host *h, unsigned prio)
{
    struct wf_port *port = &h->node.ports[0];
    uint64_t now = wf_now(port);
    struct wf_fifo_node *n;

    if (!port->up)
        pump_down(h, prio, now);
    while (port->up && port->q[prio].fifo.count < WF_NIC_QUEUED_MAX &&
           (n = wf_fifo_pop(&h->ready[prio]))) {
        struct wf_nic_qp *nq = WF_CONTAINER_OF(n, struct wf_nic_qp, ready);

        nq->is_ready = false;
        draw(nq, now);
        make_ready(nq, now);
        set_timer(nq, now);
    }
}
