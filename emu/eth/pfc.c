/* SPDX-License-Identifier: BSD-3-Clause */
#include "eth/pfc.h"

#include <string.h>

#include "base/assert.h"
#include "eth/headroom.h"
#include "net/why.h"
#include "wire/pfc.h"

#define ROW(field) offsetof(struct wf_pfc_cfg, field)

static const struct wf_key rows[] = {
    {"enable", WF_KEY_BOOL, ROW(enable), "true", .doc = "Obey received PFC frames."},
    {"obey_pause", WF_KEY_BOOL, ROW(obey_pause), "false",
     .doc = "Obey 802.3x pause frames too; ports with PFC ignore them (802.1Q 36.1.3.3)."},
    {"priorities", WF_KEY_MASK, ROW(priorities), "all", .max = WF_PRIOS - 1,
     .doc = "Priorities with PFC, such as [3, 4]; for others it is neither sent nor obeyed."},
    {"quanta", WF_KEY_UINT, ROW(quanta), "65535", 1, 65535,
     .doc = "Pause time asked for in an XOFF, in quanta of 512 bit times."},
    {"response", WF_KEY_TIME, ROW(response_ps), "auto", .may_auto = true,
     .doc = "From the reception of a pause until the queue stops.",
     .source = "auto: 802.3 31B.3.7 by speed"},
};

const char *const wf_flow_control_names[] = {"pfc", "pause", "none", NULL};

const struct wf_keyset wf_pfc_keys = {
    .name = "pfc",
    .doc = "Priority flow control of a node's ports.",
    .keys = rows,
    .n_keys = sizeof(rows) / sizeof(rows[0]),
    .size = sizeof(struct wf_pfc_cfg),
};

uint64_t wf_pfc_quanta_ps(const struct wf_port *port, uint64_t n)
{
    return wf_txclock_span(&port->tx, n * 512);
}

static void hold_settle(struct wf_hold *p, uint64_t now)
{
    uint64_t a = p->settled_ps > p->from_ps ? p->settled_ps : p->from_ps;
    uint64_t b = now < p->until_ps ? now : p->until_ps;

    if (b > a)
        p->total_ps += b - a;
    p->settled_ps = now;
}

static void hold_set(struct wf_hold *p, uint64_t now, uint64_t from, uint64_t until)
{
    hold_settle(p, now);
    if (p->until_ps > now && p->from_ps <= from) /* it goes on: only the end moves */
        from = p->from_ps;
    p->from_ps = from;
    p->until_ps = until;
}

static uint64_t pfc_may_send(const struct wf_port *port, unsigned class, uint32_t bytes)
{
    const struct wf_pfc_port *pfc = wf_pfc_of(port);
    uint64_t now = wf_now(port), until = now;

    if (now < pfc->queue[class].from_ps || now >= pfc->queue[class].until_ps)
        return now;
    /* two pauses of one queue may leave a gap between them */
    for (unsigned prio = 0; prio < WF_PRIOS; prio++) {
        const struct wf_hold *p = &pfc->prio[prio];

        if (pfc->queue_of_prio[prio] == class && !(pfc->ignored >> prio & 1) && now >= p->from_ps &&
            now < p->until_ps && p->until_ps > until)
            until = p->until_ps;
    }
    return until;
}

static uint64_t pfc_paused_ps(const struct wf_port *port, unsigned class)
{
    struct wf_hold p = wf_pfc_of(port)->queue[class];

    hold_settle(&p, wf_now(port));
    return p.total_ps;
}

bool wf_pfc_paused(const struct wf_port *port, unsigned prio, uint64_t *until_ps)
{
    const struct wf_hold *p = &wf_pfc_of(port)->prio[prio];
    uint64_t now = wf_now(port);

    *until_ps = p->until_ps;
    return now >= p->from_ps && now < p->until_ps;
}

/* A queue stops while any of its priorities is stopped. */
static void queue_update(struct wf_pfc_port *pfc, unsigned queue, uint64_t now)
{
    uint64_t from = WF_TIME_NEVER, until = 0;

    for (unsigned prio = 0; prio < WF_PRIOS; prio++) {
        const struct wf_hold *p = &pfc->prio[prio];

        if (pfc->queue_of_prio[prio] != queue || p->until_ps <= now || pfc->ignored >> prio & 1)
            continue;
        from = p->from_ps < from ? p->from_ps : from;
        until = p->until_ps > until ? p->until_ps : until;
    }
    hold_set(&pfc->queue[queue], now, until ? from : now, until ? until : now);
    pfc->port->held &= (uint8_t) ~(1u << queue);
    if (until)
        pfc->port->held |= (uint8_t)(1u << queue);
    wf_port_kick(pfc->port, now);
}

void wf_pfc_ignore(struct wf_port *port, unsigned prio, bool ignore)
{
    struct wf_pfc_port *pfc = wf_pfc_of(port);
    uint8_t bit = (uint8_t)(1u << prio);

    pfc->ignored = (uint8_t)(ignore ? pfc->ignored | bit : pfc->ignored & ~bit);
    queue_update(pfc, pfc->queue_of_prio[prio], wf_now(port));
}

static bool span_join(const struct wf_span *x, uint64_t now, struct wf_span *all)
{
    if (x->until_ps <= now)
        return false;
    all->from_ps = x->from_ps < all->from_ps ? x->from_ps : all->from_ps;
    wf_max_u64(&all->until_ps, x->until_ps);
    return true;
}

/* A priority stops while the link's pause or its own lasts: neither ends the other. */
static struct wf_hold *prio_join(struct wf_pfc_port *pfc, unsigned prio)
{
    uint64_t now = wf_now(pfc->port);
    struct wf_span all = {.from_ps = WF_TIME_NEVER};
    struct wf_hold *p = &pfc->prio[prio];
    bool by_pause = span_join(&pfc->by_pause, now, &all);

    if (span_join(&pfc->by_pfc[prio], now, &all) || by_pause)
        hold_set(p, now, all.from_ps, all.until_ps);
    else
        hold_set(p, now, now, now);
    return p;
}

static void prio_update(struct wf_pfc_port *pfc, unsigned prio, uint64_t quanta)
{
    const struct wf_hold *p = prio_join(pfc, prio);

    if (wf_why_of(pfc->port))
        wf_why_pause_rx(wf_why_of(pfc->port), pfc->port, prio, pfc->queue_of_prio[prio],
                        (uint32_t)quanta, p->from_ps, p->until_ps);
    queue_update(pfc, pfc->queue_of_prio[prio], wf_now(pfc->port));
}

static void span_set(const struct wf_pfc_port *pfc, struct wf_span *x, uint64_t quanta)
{
    uint64_t now = wf_now(pfc->port);
    uint64_t from = quanta ? now + pfc->response_ps : now;

    if (x->until_ps <= now || x->from_ps > from) /* else it goes on: only the end moves */
        x->from_ps = from;
    x->until_ps = now + wf_pfc_quanta_ps(pfc->port, quanta);
}

static void pause_received(struct wf_pfc_port *pfc, uint64_t quanta)
{
    span_set(pfc, &pfc->by_pause, quanta);
    for (unsigned prio = 0; prio < WF_PRIOS; prio++)
        prio_update(pfc, prio, quanta);
}

/* A pause that a PFC frame began is over when it ran out, or was ended. Nobody need look just then:
 * whoever looks later sees it. */
static void note_end(struct wf_pfc_port *pfc, unsigned prio, uint64_t now)
{
    uint8_t bit = (uint8_t)(1u << prio);

    if (!(pfc->pausing & bit) || pfc->by_pfc[prio].until_ps > now)
        return;
    pfc->pausing &= (uint8_t)~bit;
    pfc->port->prio_ctr[prio][WF_PRIO_ON2OFF_RX]++;
}

static void pfc_received(struct wf_pfc_port *pfc, unsigned prio, uint64_t quanta)
{
    uint64_t now = wf_now(pfc->port), *ctr = pfc->port->prio_ctr[prio];
    bool was;

    if (!pfc->cfg.enable || !(wf_pfc_priorities(&pfc->cfg) & ~pfc->off & 1u << prio)) {
        ctr[WF_PRIO_IGNORED_RX]++;
        return;
    }
    note_end(pfc, prio, now);
    was = pfc->pausing & 1u << prio;
    ctr[!quanta ? WF_PRIO_XON_RX : was ? WF_PRIO_REFRESH_RX : WF_PRIO_XOFF_RX]++;
    span_set(pfc, &pfc->by_pfc[prio], quanta);
    prio_update(pfc, prio, quanta);
    if (quanta)
        pfc->pausing |= (uint8_t)(1u << prio);
    note_end(pfc, prio, now);
    if (quanta && pfc->on_pause)
        pfc->on_pause(pfc->port, prio);
}

static bool obeys_pause(const struct wf_pfc_cfg *cfg)
{
    return cfg->flow_control == WF_FLOW_PAUSE ||
           (cfg->flow_control == WF_FLOW_PFC && cfg->obey_pause);
}

static enum wf_mac_control read_control(const struct wf_port *port, const struct wf_pkt *pkt,
                                        struct wf_pfc *f)
{
    const uint8_t *b = wf_pkt_bytes(pkt);

    if (!(pkt->p.flags & WF_P_MULTICAST) && memcmp(b, port->node->mac, 6))
        return WF_MAC_CONTROL_IS_BAD; /* another station's */
    return wf_mac_control_get(b, wf_pkt_caplen(pkt), &pkt->p, f);
}

static void pfc_rx_control(struct wf_port *port, struct wf_pkt *pkt)
{
    struct wf_pfc_port *pfc = wf_pfc_of(port);
    struct wf_pfc f;

    switch (read_control(port, pkt, &f)) {
    case WF_MAC_CONTROL_IS_PFC:
        port->ctr[WF_PORT_PFC_RX_FRAMES]++;
        for (unsigned prio = 0; prio < WF_PRIOS; prio++)
            if (f.vector & 1u << prio)
                pfc_received(pfc, prio, f.quanta[prio]);
        break;
    case WF_MAC_CONTROL_IS_PAUSE:
        port->ctr[WF_PORT_PAUSE_RX_FRAMES]++;
        if (obeys_pause(&pfc->cfg))
            pause_received(pfc, f.quanta[0]);
        break;
    case WF_MAC_CONTROL_IS_BAD:
        port->ctr[WF_PORT_PFC_BAD_FRAMES]++;
        break;
    }
    wf_pkt_consume(port->node->net, pkt);
}

/* A frame that waits for the wire says the newest of each priority, so that however often groups
 * fill and empty meanwhile, no more than one PFC frame goes before what is decided now: the
 * headroom counts on that. */
static struct wf_pkt *waiting(struct wf_pfc_port *pfc)
{
    const struct wf_fifo *f = &pfc->port->control;
    struct wf_pkt *pkt = f->head ? WF_CONTAINER_OF(f->tail, struct wf_pkt, q) : NULL;

    return pkt && pkt->flags & WF_PKT_OWN_PFC ? pkt : NULL;
}

/* What the frame that waits is to say: of each priority the newest, or that all have to stop. */
static void write_frame(struct wf_pfc_port *pfc, struct wf_pkt *pkt)
{
    struct wf_port *port = pfc->port;

    if (pfc->cfg.flow_control == WF_FLOW_PAUSE)
        wf_pause_build(wf_pkt_hdr_rw(pkt), port->node->mac,
                       (uint16_t)(pfc->xoff_sent ? pfc->cfg.quanta : 0));
    else
        wf_pfc_build(wf_pkt_hdr_rw(pkt), port->node->mac, pfc->vector, pfc->said);
    pkt->frame_len = WF_FRAME_MIN;
    pkt->payload = WF_PAYLOAD_REAL;
    WF_ASSERT(wf_pkt_parse(pkt) == WF_DROP_NONE);
}

/* Priorities of these that a frame may speak of. Pause speaks of all at once. */
static uint8_t sendable(const struct wf_pfc_port *pfc, uint8_t vector)
{
    if (pfc->cfg.flow_control == WF_FLOW_PAUSE)
        return vector;
    return (uint8_t)(vector & wf_pfc_priorities(&pfc->cfg) & ~pfc->off);
}

static void send(struct wf_pfc_port *pfc, uint8_t vector, uint32_t quanta)
{
    struct wf_port *port = pfc->port;
    struct wf_net *net = port->node->net;
    struct wf_pkt *pkt, *had;

    vector = sendable(pfc, vector);
    if (!vector)
        return;
    pkt = had = waiting(pfc);
    if (!had) {
        pkt = wf_pkt_new(net, WF_FRAME_MIN - WF_FCS_LEN);
        memset(pfc->said, 0, sizeof(pfc->said));
        pfc->vector = 0;
    }
    if (!pkt)
        return;
    for (unsigned prio = 0; prio < WF_PRIOS; prio++)
        if (vector & 1u << prio)
            pfc->said[prio] = (uint16_t)quanta;
    pfc->vector |= vector;
    write_frame(pfc, pkt);
    if (had)
        return;
    pkt->flags |= WF_PKT_OWN_PFC;
    wf_pkt_generated(net, pkt);
    wf_port_control(port, pkt);
}

/* A frame stands on the wire: only now is it known what the peer hears, since what was decided
 * while it waited went into it. */
static void pfc_on_control(struct wf_port *port, const struct wf_pkt *pkt)
{
    struct wf_pfc_port *pfc = wf_pfc_of(port);
    uint64_t now = wf_now(port);
    enum wf_mac_control is;
    struct wf_pfc f;

    is = wf_mac_control_get(wf_pkt_bytes(pkt), wf_pkt_caplen(pkt), &pkt->p, &f);
    port->ctr[WF_PORT_PAUSE_TX_FRAMES] += is == WF_MAC_CONTROL_IS_PAUSE;
    if (is != WF_MAC_CONTROL_IS_PFC)
        return;
    port->ctr[WF_PORT_PFC_TX_FRAMES]++;
    for (unsigned prio = 0; prio < WF_PRIOS; prio++) {
        uint64_t *ctr = port->prio_ctr[prio], *told = &pfc->told_until_ps[prio];

        if (!(f.vector & 1u << prio))
            continue;
        ctr[!f.quanta[prio] ? WF_PRIO_XON_TX
            : *told > now   ? WF_PRIO_REFRESH_TX
                            : WF_PRIO_XOFF_TX]++;
        *told = now + wf_pfc_quanta_ps(port, f.quanta[prio]);
    }
}

static void refresh_event(struct wf_lcore *lc, struct wf_event *ev);

static void refresh_at(struct wf_pfc_port *pfc, uint64_t t_ps)
{
    struct wf_port *port = pfc->port;

    if (!wf_event_pending(&pfc->refresh))
        wf_lcore_schedule(port->node->net->lc, &pfc->refresh, t_ps,
                          wf_event_key(port->entity, WF_EV_PFC, port->seq++), refresh_event);
}

static void refresh_later(struct wf_pfc_port *pfc)
{
    refresh_at(pfc, wf_now(pfc->port) + pfc->period_ps);
}

static void refresh_now(struct wf_pfc_port *pfc)
{
    send(pfc, pfc->xoff_sent, pfc->cfg.quanta);
    refresh_later(pfc);
}

static void refresh_event(struct wf_lcore *lc, struct wf_event *ev)
{
    struct wf_pfc_port *pfc = WF_CONTAINER_OF(ev, struct wf_pfc_port, refresh);

    /* quanta may be shorter than a PFC frame: frames that wait would pile up */
    if (pfc->port->control.count && pfc->port->busy_until_ps > lc->now_ps)
        refresh_at(pfc, pfc->port->busy_until_ps);
    else
        refresh_now(pfc);
}

void wf_pfc_xoff(struct wf_port *port, unsigned prio)
{
    struct wf_pfc_port *pfc = wf_pfc_of(port);

    uint8_t had = pfc->xoff_sent;

    if (had & 1u << prio || !port->up)
        return;
    pfc->xoff_sent |= (uint8_t)(1u << prio);
    pfc->xoff_since_ps[prio] = wf_now(port);
    if (pfc->cfg.flow_control != WF_FLOW_PAUSE || !had) /* a pause stops all the others too */
        send(pfc, (uint8_t)(1u << prio), pfc->cfg.quanta);
    if (sendable(pfc, pfc->xoff_sent))
        refresh_later(pfc);
}

static void xoff_over(struct wf_pfc_port *pfc, unsigned prio)
{
    struct wf_port *port = pfc->port;

    pfc->xoff_sent &= (uint8_t) ~(1u << prio);
    port->prio_ctr[prio][WF_PRIO_PAUSING_PS] += wf_now(port) - pfc->xoff_since_ps[prio];
    if (!pfc->xoff_sent)
        wf_lcore_cancel(port->node->net->lc, &pfc->refresh);
}

void wf_pfc_xon(struct wf_port *port, unsigned prio)
{
    struct wf_pfc_port *pfc = wf_pfc_of(port);

    if (!(pfc->xoff_sent & 1u << prio))
        return;
    xoff_over(pfc, prio);
    if (pfc->cfg.flow_control != WF_FLOW_PAUSE || !pfc->xoff_sent)
        send(pfc, (uint8_t)(1u << prio), 0);
}

static void switch_off(struct wf_pfc_port *pfc, unsigned prio)
{
    uint8_t bit = (uint8_t)(1u << prio);
    uint64_t now = wf_now(pfc->port);

    if (pfc->xoff_sent & bit && pfc->told_until_ps[prio] > now)
        send(pfc, bit, 0);
    pfc->off |= bit;
    pfc->by_pfc[prio].until_ps = now;
    prio_join(pfc, prio);
    note_end(pfc, prio, now);
    queue_update(pfc, pfc->queue_of_prio[prio], now);
}

static void switch_on(struct wf_pfc_port *pfc, unsigned prio)
{
    uint8_t bit = (uint8_t)(1u << prio);

    pfc->off &= (uint8_t)~bit;
    if (!(pfc->xoff_sent & bit))
        return;
    send(pfc, bit, pfc->cfg.quanta);
    refresh_later(pfc);
}

void wf_pfc_allow(struct wf_port *port, uint8_t prios)
{
    struct wf_pfc_port *pfc = wf_pfc_of(port);
    uint8_t off = (uint8_t)~prios, change = off ^ pfc->off;

    for (unsigned prio = 0; prio < WF_PRIOS; prio++)
        if (change >> prio & 1)
            (off >> prio & 1 ? switch_off : switch_on)(pfc, prio);
}

static void pfc_settle(struct wf_port *port)
{
    struct wf_pfc_port *pfc = wf_pfc_of(port);
    uint64_t now = wf_now(port);

    for (unsigned prio = 0; prio < WF_PRIOS; prio++) {
        hold_settle(&pfc->prio[prio], now);
        note_end(pfc, prio, now);
        port->prio_ctr[prio][WF_PRIO_PAUSED_PS] = pfc->prio[prio].total_ps;
        if (pfc->xoff_sent & 1u << prio) {
            port->prio_ctr[prio][WF_PRIO_PAUSING_PS] += now - pfc->xoff_since_ps[prio];
            pfc->xoff_since_ps[prio] = now;
        }
    }
}

/* A link that goes down forgets all pauses, in both directions. */
static void pfc_link_changed(struct wf_port *port, bool up)
{
    struct wf_pfc_port *pfc = wf_pfc_of(port);
    uint64_t now = wf_now(port);

    if (up)
        return;
    pfc->by_pause.until_ps = now;
    for (unsigned prio = 0; prio < WF_PRIOS; prio++) {
        pfc->by_pfc[prio].until_ps = now;
        hold_set(&pfc->prio[prio], now, now, now);
        note_end(pfc, prio, now);
        if (pfc->xoff_sent & 1u << prio)
            xoff_over(pfc, prio);
    }
    for (unsigned queue = 0; queue < WF_QUEUES; queue++)
        hold_set(&pfc->queue[queue], now, now, now);
    memset(pfc->told_until_ps, 0, sizeof(pfc->told_until_ps));
    port->held = 0;
}

uint32_t wf_pfc_refreshes(const struct wf_pfc_cfg *cfg, const struct wf_link *link)
{
    uint64_t rate = link->rate_max_bps ? link->rate_max_bps : link->cfg.rate_bps;
    unsigned __int128 bits = (unsigned __int128)link->cfg.delay_ps * rate / WF_PS_PER_S;
    unsigned __int128 apart = (uint64_t)cfg->quanta * WF_QUANTUM_BITS / 2, n;

    if (apart < WF_PFC_WIRE_BITS) /* no two of them can be closer */
        apart = WF_PFC_WIRE_BITS;
    n = bits / apart;
    return n < WF_PFC_REFRESHES_MAX ? (uint32_t)n : WF_PFC_REFRESHES_MAX;
}

/* Half of the quanta, and never so short that more refreshes would be under way than there are
 * packets for: a link that is longer than so many of them gets those rarer. */
static void set_period(struct wf_pfc_port *pfc)
{
    const struct wf_port *port = pfc->port;

    pfc->period_ps = wf_pfc_quanta_ps(port, pfc->cfg.quanta) / 2;
    wf_max_u64(&pfc->period_ps,
               port->link->cfg.delay_ps / (wf_pfc_refreshes(&pfc->cfg, port->link) + 1));
}

static void pfc_link_known(struct wf_port *port)
{
    struct wf_pfc_port *pfc = wf_pfc_of(port);

    set_period(pfc);
    pfc->response_ps = pfc->cfg.response_ps == WF_KEY_AUTO
                           ? wf_pfc_response_ps(port->link->cfg.rate_bps)
                           : pfc->cfg.response_ps;
    if (!wf_event_pending(&pfc->refresh))
        return;
    wf_lcore_cancel(port->node->net->lc, &pfc->refresh); /* its period was the old rate's */
    refresh_now(pfc);
}

const struct wf_ll_ops wf_pfc_ops = {
    .may_send = pfc_may_send,
    .rx_control = pfc_rx_control,
    .on_control = pfc_on_control,
    .paused_ps = pfc_paused_ps,
    .settle = pfc_settle,
    .link_changed = pfc_link_changed,
    .link_known = pfc_link_known,
};

void wf_pfc_attach(struct wf_port *port, const struct wf_pfc_cfg *cfg,
                   const uint8_t queue_of_prio[WF_PRIOS], struct wf_arena *arena)
{
    struct wf_pfc_port *pfc = WF_ARENA_NEW(arena, struct wf_pfc_port);

    pfc->port = port;
    pfc->cfg = *cfg;
    memcpy(pfc->queue_of_prio, queue_of_prio, WF_PRIOS);
    port->ll = pfc;
    port->ll_ops = &wf_pfc_ops;
}
