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

static void peer_of(const struct wf_pkt *pkt, enum wf_pair_dir dir, uint8_t peer[16])
{
    wf_edge_nic_address(pkt, dir == WF_PAIR_OUT, peer);
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

static void hear_cm(struct wf_edge_nic *nic, enum wf_pair_dir dir, const struct wf_pkt *pkt,
                    const uint8_t peer[16])
{
    struct wf_cm_msg m;
    const struct wf_parsed *p = &pkt->p;

    if (wf_pkt_caplen(pkt) < p->payload_off + WF_MAD_LEN ||
        wf_cm_msg_get(wf_pkt_bytes(pkt) + p->payload_off, WF_MAD_LEN, &m))
        return;
    if (m.mad.attr_id == WF_CM_REQ)
        wf_pairing_asked(&nic->pairing, dir, peer, m.req.local_comm_id, m.req.local_qpn);
    else if (m.mad.attr_id == WF_CM_REP)
        wf_pairing_agreed(&nic->pairing, dir, peer, m.rep.remote_comm_id, m.rep.local_qpn);
}

/* Its half, or NULL for what is of no connection. */
static struct wf_half *pair(struct wf_edge_nic *nic, enum wf_pair_dir dir, const struct wf_pkt *pkt)
{
    const struct wf_parsed *p = &pkt->p;
    uint8_t peer[16];

    peer_of(pkt, dir, peer);
    if (p->dqpn == WF_GSI_QPN)
        hear_cm(nic, dir, pkt, peer);
    if (!is_connected(p))
        return NULL;
    if (wf_opcodes[p->opcode].flags & WF_OPF_RESPONSE)
        return wf_pairing_answer(&nic->pairing, dir, peer, p->dqpn, p->psn);
    return wf_pairing_request(&nic->pairing, dir, peer, p->dqpn, p->psn);
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

static void flow_begin(struct wf_edge_flow *f, struct wf_half *half)
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
                .seed = wf_mix(nic->edge->node.net->seed, half->qpn)},
        .out = {.timer_ps = WF_TIME_NEVER},
    };
    f->half = half;
    f->pace = (struct wf_txclock){.rate_bps = 0};
    half->user = f;
    CALL(f, on_start, &f->cc);
    take_rate(f);
}

/* The law's state is forgotten; what waits goes on its way. */
static void flow_end(void *arg, struct wf_half *half)
{
    struct wf_edge_nic *nic = arg;
    struct wf_edge_flow *f = half->user;
    struct wf_fifo_node *n;

    if (!f)
        return;
    half->user = NULL;
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

static struct wf_edge_flow *flow_of(struct wf_edge_nic *nic, struct wf_half *half)
{
    struct wf_edge_flow *f = half->user;

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
    const struct wf_half *in;
    uint8_t peer[16];

    peer_of(pkt, WF_PAIR_IN, peer);
    in = wf_pairing_find(&nic->pairing, WF_PAIR_IN, peer, pkt->p.dqpn);
    ctr[WF_EDGE_RP_CNP]++;
    if (in && in->mate) {
        if (in->mate->user)
            slow_down(in->mate->user);
        return;
    }
    ctr[WF_EDGE_RP_CNP_BY_ADDRESS]++;
    for (struct wf_half *h = nic->pairing.newest; h; h = h->older)
        if (h->dir == WF_PAIR_OUT && h->user && !memcmp(h->peer, peer, 16))
            slow_down(h->user);
}

/* ---- from the host ---- */

void wf_edge_nic_send(struct wf_edge_nic *nic, struct wf_pkt *pkt)
{
    struct wf_half *half = is_roce(pkt) ? pair(nic, WF_PAIR_OUT, pkt) : NULL;
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
    struct wf_half *half;

    if (!is_roce(pkt) || !is_ours(nic, pkt))
        return false;
    if (pkt->p.opcode == WF_OPCODE_CNP) {
        take_cnp(nic, pkt);
        wf_pkt_consume(nic->edge->node.net, pkt);
        return true;
    }
    half = pair(nic, WF_PAIR_IN, pkt);
    if (half && pkt->p.ecn == WF_ECN_CE && pkt->p.payload_len)
        wf_edge_nic_congested(nic, half, pkt);
    return false;
}

/* ---- the NIC ---- */

void wf_edge_nic_settle(struct wf_edge_nic *nic)
{
    const struct wf_pairing *p = &nic->pairing;
    uint64_t *ctr = nic->edge->ctr;

    ctr[WF_EDGE_NIC_PAIRED_CM] = p->by_cm;
    ctr[WF_EDGE_NIC_PAIRED_PSN] = p->by_psn;
    ctr[WF_EDGE_NIC_AMBIGUOUS] = p->ambiguous;
    ctr[WF_EDGE_NIC_FORGOTTEN] = p->evicted;
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
    wf_pairing_init(&nic->pairing, WF_ARENA_ARRAY(arena, struct wf_half, WF_EDGE_NIC_HALVES),
                    WF_EDGE_NIC_HALVES, WF_ARENA_ARRAY(arena, struct wf_half *, WF_EDGE_NIC_HALVES),
                    WF_EDGE_NIC_HALVES);
    nic->pairing.evict = flow_end;
    nic->pairing.arg = nic;
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
