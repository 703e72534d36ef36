/* SPDX-License-Identifier: BSD-3-Clause */
/* An RNIC at an attachment. See nic.h. */
#include "attach/nic_priv.h"

#include <string.h>

#include "base/assert.h"
#include "host/cc_guard.h"
#include "wire/bth.h"
#include "wire/cm.h"
#include "wire/edit.h"
#include "wire/eth.h"
#include "wire/icrc.h"

enum { SERVICES = 0xe0 };

/* ---- what a packet is ---- */

/* Its addresses. */
struct ends {
    uint8_t src[16], dst[16];
};

static struct ends ends_of(const struct wf_pkt *pkt)
{
    struct ends e;

    wf_parsed_addr(wf_pkt_bytes(pkt), &pkt->p, false, e.src);
    wf_parsed_addr(wf_pkt_bytes(pkt), &pkt->p, true, e.dst);
    return e;
}

static bool is_roce(const struct wf_pkt *pkt)
{
    uint32_t need = WF_P_ROCEV2 | WF_P_BTH, not = WF_P_ROCE_SHORT | WF_P_MULTICAST;

    return !pkt->malformed && (pkt->p.flags & need) == need && pkt->p.flags & WF_P_IP &&
           !(pkt->p.flags & not );
}

/* Of a connected service, other than a CNP. */
static bool is_connected(const struct wf_parsed *p)
{
    unsigned service = p->opcode & SERVICES;

    return service == WF_SERVICE_RC || service == WF_SERVICE_UC;
}

/* ---- pairs ---- */

/* Its half, or NULL for what is of no connection. */
static struct wf_edge_half *pair(struct wf_edge_nic *nic, const struct wf_pkt *pkt, bool ours)
{
    const struct wf_parsed *p = &pkt->p;
    struct ends e = ends_of(pkt);
    struct wf_edge_half *x;
    struct wf_half *h;

    if (p->dqpn == WF_GSI_QPN && wf_pkt_caplen(pkt) >= p->payload_off + WF_MAD_LEN)
        wf_pairing_mad(&nic->halves.pairing, NULL, e.src, e.dst, wf_pkt_bytes(pkt) + p->payload_off,
                       WF_MAD_LEN);
    if (!is_connected(p))
        return NULL;
    h = wf_halves_see(&nic->halves, e.src, e.dst, p->dqpn);
    wf_pairing_packet(&nic->halves.pairing, h, p->opcode, p->psn, p->sport);
    x = WF_CONTAINER_OF(h, struct wf_edge_half, half);
    x->ours = ours;
    return x;
}

static struct wf_edge_half *half_of(struct wf_half *h)
{
    return WF_CONTAINER_OF(h, struct wf_edge_half, half);
}

/* ---- flows ---- */

static void flow_event(struct wf_lcore *lc, struct wf_event *ev);

/* When the head may leave, or the law is to be called. */
static void set_timer(struct wf_edge_flow *f)
{
    struct wf_node *node = &f->nic->edge->node;
    uint64_t now = node->net->lc->now_ps, soonest = now + WF_PS_PER_NS;
    uint64_t t = f->cc.out.timer_ps > soonest ? f->cc.out.timer_ps : soonest;

    if (f->waiting.count && f->pace.end_ps < t)
        t = f->pace.end_ps;
    if (wf_event_pending(&f->timer))
        wf_lcore_cancel(node->net->lc, &f->timer);
    if (t != WF_TIME_NEVER)
        wf_lcore_schedule(node->net->lc, &f->timer, t > now ? t : now,
                          wf_event_key(node->entity, WF_EV_TIMER, node->seq++), flow_event);
}

/* A hook of the law, which may have none such. */
#define CALL(f, hook, ...)                                                                         \
    do {                                                                                           \
        (f)->cc.now_ps = wf_edge_nic_now((f)->nic);                                                \
        if ((f)->nic->use->law->hook)                                                              \
            WF_CC_HOOK((f)->nic->use, hook, __VA_ARGS__);                                          \
    } while (0)

/* The law's rate from now on; what is left of the gap to the next packet changes with it. */
static void take_rate(struct wf_edge_flow *f)
{
    uint64_t rate = f->cc.out.rate_bps, was = f->pace.rate_bps, now = wf_edge_nic_now(f->nic);
    uint64_t left = f->pace.end_ps > now ? f->pace.end_ps - now : 0;

    if (rate == was)
        return;
    f->pace = (struct wf_txclock){.rate_bps = 0};
    if (!rate)
        return;
    wf_txclock_init(&f->pace, rate);
    if (was)
        f->pace.end_ps = f->pace.epoch_ps = now + (uint64_t)((unsigned __int128)left * was / rate);
}

static void leave(struct wf_edge_flow *f, struct wf_pkt *pkt)
{
    uint64_t now = wf_edge_nic_now(f->nic);

    if (f->pace.rate_bps)
        wf_txclock_take(&f->pace, now, pkt->frame_len + WF_WIRE_OVERHEAD);
    CALL(f, on_send, &f->cc, pkt->p.payload_len, false);
    take_rate(f);
    pkt->ready_ps = now;
    wf_port_enqueue(wf_edge_port(f->nic->edge), pkt);
}

static bool may_leave(const struct wf_edge_flow *f, uint64_t now)
{
    return !f->pace.rate_bps || f->pace.end_ps <= now;
}

static void drain(struct wf_edge_flow *f)
{
    uint64_t now = wf_edge_nic_now(f->nic);

    while (f->waiting.count && may_leave(f, now)) {
        struct wf_pkt *pkt = WF_CONTAINER_OF(wf_fifo_pop_head(&f->waiting), struct wf_pkt, q);

        f->nic->waiting--;
        f->waiting_bytes -= pkt->frame_len;
        leave(f, pkt);
    }
    set_timer(f);
}

static void flow_event(struct wf_lcore *lc, struct wf_event *ev)
{
    struct wf_edge_flow *f = WF_CONTAINER_OF(ev, struct wf_edge_flow, timer);

    if (f->cc.out.timer_ps <= lc->now_ps) {
        f->cc.out.timer_ps = WF_TIME_NEVER;
        CALL(f, on_timer, &f->cc);
        take_rate(f);
    }
    drain(f);
}

static void flow_begin(struct wf_edge_flow *f, struct wf_edge_half *half)
{
    const struct wf_edge_nic *nic = f->nic;
    uint32_t mtu = nic->cfg->mtu;

    memset(f->cc.state, 0, nic->use->law->state_size);
    f->cc = (struct wf_cc){
        .state = f->cc.state,
        .cfg = nic->use->cfg,
        .env = {.line_bps = wf_edge_port(nic->edge)->link->cfg.rate_bps,
                .mtu_bytes = mtu,
                .wire_bytes = mtu + WF_ETH_LEN + WF_FCS_LEN + WF_WIRE_OVERHEAD,
                .seed = wf_mix(nic->edge->node.net->seed, half->half.qpn)},
        .out = {.timer_ps = WF_TIME_NEVER},
    };
    f->half = half;
    f->pace = (struct wf_txclock){.rate_bps = 0};
    half->flow = f;
    CALL(f, on_start, &f->cc);
    take_rate(f);
}

/* The law's state is forgotten; what waits goes on its way. */
static void forget(void *arg, struct wf_half *h)
{
    struct wf_edge_nic *nic = arg;
    struct wf_edge_half *half = half_of(h);
    struct wf_edge_flow *f = half->flow;
    struct wf_fifo_node *n;

    half->next_cnp_ps = 0;
    if (!f)
        return;
    half->flow = NULL;
    while ((n = wf_fifo_pop(&f->waiting))) {
        struct wf_pkt *pkt = WF_CONTAINER_OF(n, struct wf_pkt, q);

        nic->waiting--;
        f->waiting_bytes -= pkt->frame_len;
        pkt->ready_ps = wf_edge_nic_now(nic);
        wf_port_enqueue(wf_edge_port(nic->edge), pkt);
    }
    if (wf_event_pending(&f->timer))
        wf_lcore_cancel(nic->edge->node.net->lc, &f->timer);
    f->half = NULL;
    f->next_free = nic->free;
    nic->free = f;
}

static struct wf_edge_flow *flow_of(struct wf_edge_nic *nic, struct wf_edge_half *half)
{
    struct wf_edge_flow *f = half->flow;

    if (f)
        return f;
    f = nic->free;
    WF_ASSERT(f); /* as many as halves */
    nic->free = f->next_free;
    flow_begin(f, half);
    return f;
}

/* ---- from the fabric ---- */

static void slow_down(struct wf_edge_flow *f)
{
    CALL(f, on_cnp, &f->cc);
    take_rate(f);
    drain(f);
}

/* A CNP names our host's queue pair. */
static void take_cnp(struct wf_edge_nic *nic, const struct wf_pkt *pkt)
{
    uint64_t *ctr = nic->edge->ctr;
    struct ends e = ends_of(pkt);
    const struct wf_half *in = wf_halves_find(&nic->halves, e.src, e.dst, pkt->p.dqpn);

    ctr[WF_EDGE_RP_CNP]++;
    if (in && in->mate) {
        if (half_of(in->mate)->flow)
            slow_down(half_of(in->mate)->flow);
        return;
    }
    ctr[WF_EDGE_RP_CNP_BY_ADDRESS]++;
    for (struct wf_half *h = wf_pairing_between(&nic->halves.pairing, e.dst, e.src); h;
         h = wf_pairing_next(h))
        if (half_of(h)->flow)
            slow_down(half_of(h)->flow);
}

/* ---- from the host ---- */

void wf_edge_nic_send(struct wf_edge_nic *nic, struct wf_pkt *pkt)
{
    struct wf_edge_half *half = is_roce(pkt) ? pair(nic, pkt, true) : NULL;
    struct wf_edge_flow *f;

    if (half)
        wf_edge_nic_lost(nic, half, pkt);
    if (!half || !pkt->p.payload_len) { /* acknowledgements overtake */
        wf_port_enqueue(wf_edge_port(nic->edge), pkt);
        return;
    }
    f = flow_of(nic, half);
    wf_fifo_push(&f->waiting, &pkt->q);
    f->waiting_bytes += pkt->frame_len;
    nic->waiting++;
    wf_max_u64(&nic->edge->ctr[WF_EDGE_NIC_WAITING_MAX], nic->waiting);
    drain(f);
}

/* Switches may flood what is another host's; and what is damaged says nothing. */
static bool is_ours(const struct wf_edge_nic *nic, const struct wf_pkt *pkt)
{
    return !memcmp(wf_pkt_bytes(pkt), nic->edge->node.mac, 6) &&
           wf_icrc_check(wf_pkt_bytes(pkt), wf_pkt_caplen(pkt), &pkt->p) != WF_ICRC_BAD;
}

bool wf_edge_nic_receive(struct wf_edge_nic *nic, struct wf_pkt *pkt)
{
    struct wf_edge_half *half;

    if (!is_roce(pkt) || !is_ours(nic, pkt))
        return false;
    if (pkt->p.opcode == WF_OPCODE_CNP) {
        take_cnp(nic, pkt);
        wf_pkt_consume(nic->edge->node.net, pkt);
        return true;
    }
    half = pair(nic, pkt, false);
    if (half && pkt->p.ecn == WF_ECN_CE && pkt->p.payload_len)
        wf_edge_nic_congested(nic, half, pkt);
    return false;
}

/* ---- the NIC ---- */

void wf_edge_nic_settle(struct wf_edge_nic *nic)
{
    const struct wf_pairing *p = &nic->halves.pairing;
    uint64_t *ctr = nic->edge->ctr;

    ctr[WF_EDGE_NIC_PAIRED_CM] = p->by_cm;
    ctr[WF_EDGE_NIC_PAIRED_PSN] = p->by_psn;
    ctr[WF_EDGE_NIC_AMBIGUOUS] = p->ambiguous;
    ctr[WF_EDGE_NIC_FORGOTTEN] = nic->halves.evicted;
}

uint64_t wf_edge_nic_held(const struct wf_edge_nic *nic)
{
    return nic->waiting;
}

struct wf_edge_nic *wf_edge_nic_new(struct wf_edge *e, struct wf_arena *arena)
{
    const struct wf_cc_use *use = e->cfg->nic.control;
    struct wf_edge_nic *nic;

    if (!use)
        return NULL;
    nic = WF_ARENA_NEW(arena, struct wf_edge_nic);
    nic->edge = e;
    nic->cfg = e->cfg;
    nic->use = use;
    wf_np_resolve(&nic->cfg->nic, &nic->np);
    if (nic->np.delay_ps)
        nic->late = WF_ARENA_ARRAY(arena, struct wf_edge_np_late, WF_EDGE_NIC_LATE);
    nic->notifies = nic->cfg->nic.cnp == WF_TRI_AUTO ? !!(use->law->flags & WF_CC_CNP)
                                                     : nic->cfg->nic.cnp == WF_TRI_ON;
    wf_halves_init(&nic->halves, arena, WF_EDGE_NIC_HALVES, sizeof(struct wf_edge_half));
    nic->halves.evict = forget;
    nic->halves.arg = nic;
    nic->flows = WF_ARENA_ARRAY(arena, struct wf_edge_flow, WF_EDGE_NIC_HALVES);
    for (unsigned i = WF_EDGE_NIC_HALVES; i-- > 0;) {
        struct wf_edge_flow *f = &nic->flows[i];

        f->nic = nic;
        f->cc.state = wf_arena_alloc(arena, use->law->state_size);
        f->next_free = nic->free;
        nic->free = f;
    }
    return nic;
}
