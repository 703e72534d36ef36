/* SPDX-License-Identifier: BSD-3-Clause */
/* LLDP agents. See lldp.h. */
#include "mgmt/lldp.h"

#include "wire/eth.h"

enum { STAGGER_PS = WF_PS_PER_MS, TIMER_TX = 0, TIMER_AGE = 1, TIMERS = 2 };

static struct wf_lldp_agent *agent_of(const struct wf_switch *sw, const struct wf_port *port)
{
    return sw->mgmt ? ((struct wf_lldp_agent **)sw->mgmt_ports)[port->index] : NULL;
}

/* ---- timers ---- */

static void tx_event(struct wf_lcore *lc, struct wf_event *ev);
static void age_event(struct wf_lcore *lc, struct wf_event *ev);

/* Timers of management have an order of their own at an instant, that of the agents. */
static void set_timer(struct wf_lldp_agent *a, struct wf_event *ev, unsigned which, uint64_t t_ps,
                      wf_event_fn *fn)
{
    struct wf_lcore *lc = a->port->node->net->lc;
    uint32_t seq = a->index * TIMERS + which;

    wf_lcore_cancel(lc, ev);
    wf_lcore_schedule(lc, ev, t_ps, wf_event_key(WF_ENTITY_MGMT, WF_EV_TIMER, seq), fn);
}

static void send_at(struct wf_lldp_agent *a, uint64_t t_ps)
{
    set_timer(a, &a->tx, TIMER_TX, t_ps, tx_event);
}

static void age_at_next(struct wf_lldp_agent *a)
{
    uint64_t next = WF_TIME_NEVER;

    for (unsigned i = 0; i < WF_LLDP_NEIGHBOURS; i++)
        if (a->neighbours[i].used && a->neighbours[i].expires_ps < next)
            next = a->neighbours[i].expires_ps;
    if (next != WF_TIME_NEVER)
        set_timer(a, &a->age, TIMER_AGE, next, age_event);
    else
        wf_lcore_cancel(a->port->node->net->lc, &a->age);
}

/* ---- DCBX ---- */

static bool same_oper(const struct wf_dcbx_oper *a, const struct wf_dcbx_oper *b)
{
    return a->pfc_of_peer == b->pfc_of_peer && a->ets_of_peer == b->ets_of_peer &&
           a->pfc.enable == b->pfc.enable && !memcmp(a->ets.tsa, b->ets.tsa, sizeof(a->ets.tsa)) &&
           !memcmp(a->ets.bw, b->ets.bw, sizeof(a->ets.bw));
}

/* What was heard, or is no longer: which DCBX to speak, and what the port goes by. True: the peer
 * waits for an answer. */
static bool dcbx_changed(struct wf_lldp_agent *a)
{
    const struct wf_lldp_neighbour *n = wf_lldp_dcbx_peer(a);
    const struct wf_dcbx *peer = n ? &n->dcbx : NULL;
    bool was = a->speaks_cee, say = false;
    struct wf_dcbx_oper oper;

    if (!a->cfg->dcbx.enable)
        return false;
    a->speaks_cee =
        a->cfg->dcbx.version == WF_DCBX_V_CEE ||
        (a->cfg->dcbx.version == WF_DCBX_V_AUTO && wf_dcbx_peer_of(peer) == WF_DCBX_CEE_ONLY);
    if (!a->speaks_cee)
        a->own.flags &= WF_DCBX_IEEE;
    if (a->speaks_cee || was)
        say = wf_cee_rx(&a->cee, a->speaks_cee ? peer : NULL);
    wf_lldp_oper(a, &oper);
    if ((oper.pfc_of_peer || oper.ets_of_peer || a->applied) && !same_oper(&oper, &a->oper))
        wf_dcbx_apply(a->port, a->cfg, &oper);
    a->applied = oper.pfc_of_peer || oper.ets_of_peer;
    a->oper = oper;
    return say || was != a->speaks_cee;
}

static void age_event(struct wf_lcore *lc, struct wf_event *ev)
{
    struct wf_lldp_agent *a = WF_CONTAINER_OF(ev, struct wf_lldp_agent, age);

    for (unsigned i = 0; i < WF_LLDP_NEIGHBOURS; i++)
        if (a->neighbours[i].used && a->neighbours[i].expires_ps <= lc->now_ps) {
            a->neighbours[i].used = false;
            a->stats.ageouts++;
        }
    dcbx_changed(a);
    age_at_next(a);
}

/* ---- sending ---- */

/* Seconds that the peer's clock counts while we send `hold` frames, and one more. */
static uint16_t ttl_s(const struct wf_lldp_agent *a)
{
    const struct wf_lldp_cfg *c = &a->cfg->lldp;
    uint64_t s = c->interval_ps / WF_PS_PER_S * c->hold * a->peer_scale + 1;

    return s < UINT16_MAX ? (uint16_t)s : UINT16_MAX;
}

uint32_t wf_lldp_frame(const struct wf_lldp_agent *a, uint8_t buf[WF_LLDP_FRAME_MAX])
{
    static const struct wf_lldp_caps caps = {WF_LLDP_CAP_BRIDGE | WF_LLDP_CAP_ROUTER,
                                             WF_LLDP_CAP_BRIDGE | WF_LLDP_CAP_ROUTER};
    struct wf_wr w = wf_wr_init(buf, WF_LLDP_FRAME_MAX);
    struct wf_eth eth = {.ethertype = WF_ETHERTYPE_LLDP};

    memcpy(eth.dst, wf_lldp_dst, 6);
    memcpy(eth.src, a->port->node->mac, 6);
    wf_eth_put(&w, &eth);
    wf_lldp_put_id(&w, WF_LLDP_CHASSIS, WF_LLDP_CHASSIS_MAC, a->port->node->mac, 6);
    wf_lldp_put_id(&w, WF_LLDP_PORT, WF_LLDP_PORT_NAME, a->port->name, strlen(a->port->name));
    wf_lldp_put_ttl(&w, ttl_s(a));
    wf_lldp_put_text(&w, WF_LLDP_SYSTEM_NAME, a->port->node->name);
    wf_lldp_put_caps(&w, &caps);
    if (a->cfg->dcbx.enable && a->speaks_cee) {
        wf_dcbx_put_cee(&w, &a->own);
    } else if (a->cfg->dcbx.enable) {
        wf_dcbx_put_ets(&w, WF_DCBX_ETS_CFG, &a->own.cfg);
        if (a->own.flags & WF_DCBX_HAS_REC)
            wf_dcbx_put_ets(&w, WF_DCBX_ETS_REC, &a->own.rec);
        wf_dcbx_put_pfc(&w, &a->own.pfc);
        if (a->own.flags & WF_DCBX_HAS_APP)
            wf_dcbx_put_apps(&w, a->own.apps, a->own.n_apps);
    }
    wf_lldp_put_end(&w);
    WF_ASSERT(!w.err);
    if (wf_wr_len(&w) < WF_ETH_MIN_LEN)
        wf_wr_zeros(&w, WF_ETH_MIN_LEN - wf_wr_len(&w));
    return (uint32_t)wf_wr_len(&w);
}

/* Our last frame still waits in its queue. */
static bool waits(const struct wf_lldp_agent *a)
{
    return a->ticket > a->port->q[a->queue].ctr[WF_QUEUE_TX_FRAMES] &&
           a->ticket_downs == a->port->downs;
}

static void send(struct wf_lldp_agent *a)
{
    struct wf_port *port = a->port;
    struct wf_net *net = port->node->net;
    uint8_t buf[WF_LLDP_FRAME_MAX];
    struct wf_pkt *pkt;
    uint32_t len;

    if (waits(a)) {
        a->stats.tx_held_frames++;
        return;
    }
    if (a->speaks_cee)
        wf_cee_tx(&a->cee, &a->own);
    len = wf_lldp_frame(a, buf);
    pkt = wf_pkt_new(net, len);
    if (!pkt)
        return; /* the run has failed: emulator_out_of_buffers */
    memcpy(wf_pkt_hdr_rw(pkt), buf, len);
    pkt->frame_len = len + WF_FCS_LEN;
    pkt->payload = WF_PAYLOAD_REAL;
    pkt->port = port;
    WF_ASSERT(wf_pkt_parse(pkt) == WF_DROP_NONE);
    pkt->queue = a->queue;
    pkt->prio = pkt->tc = 7;
    pkt->ready_ps = wf_now(port);
    wf_pkt_generated(net, pkt);
    a->stats.tx_frames++;
    wf_port_enqueue(port, pkt);
    a->ticket = port->q[a->queue].ctr[WF_QUEUE_TX_FRAMES] + port->q[a->queue].fifo.count;
    a->ticket_downs = port->downs;
}

static void tx_event(struct wf_lcore *lc, struct wf_event *ev)
{
    struct wf_lldp_agent *a = WF_CONTAINER_OF(ev, struct wf_lldp_agent, tx);
    const struct wf_lldp_cfg *c = &a->cfg->lldp;

    send(a);
    a->fast -= a->fast > 0;
    send_at(a, lc->now_ps + (a->fast ? c->fast_ps : c->interval_ps));
}

/* ---- receiving ---- */

static void keep_name(struct wf_lldp_name *to, uint8_t subtype, const struct wf_lldp_text *from)
{
    to->subtype = subtype;
    to->len = from->len < WF_LLDP_NAME_MAX ? from->len : WF_LLDP_NAME_MAX;
    if (to->len)
        memcpy(to->bytes, from->p, to->len);
}

static bool is_name(const struct wf_lldp_name *n, uint8_t subtype, const struct wf_lldp_text *t)
{
    return n->subtype == subtype && n->len == t->len && !memcmp(n->bytes, t->p, n->len);
}

/* Its place, or a free one, or NULL. */
static struct wf_lldp_neighbour *place_of(struct wf_lldp_agent *a, const struct wf_lldp_pdu *h)
{
    struct wf_lldp_neighbour *free = NULL;

    for (unsigned i = WF_LLDP_NEIGHBOURS; i-- > 0;) {
        struct wf_lldp_neighbour *n = &a->neighbours[i];

        if (n->used && is_name(&n->chassis, h->chassis_subtype, &h->chassis) &&
            is_name(&n->port, h->port_subtype, &h->port))
            return n;
        if (!n->used)
            free = n;
    }
    return free;
}

/* At the fast interval, once. */
static void send_soon(struct wf_lldp_agent *a, uint64_t now)
{
    if (a->tx.t_ps > now + a->cfg->lldp.fast_ps)
        send_at(a, now + a->cfg->lldp.fast_ps);
}

/* A neighbour that was not there before gets a few frames faster, so that it soon knows us. */
static void greet(struct wf_lldp_agent *a, uint64_t now)
{
    a->fast = a->cfg->lldp.fast_count;
    send_soon(a, now);
}

static void hear(struct wf_lldp_agent *a, const struct wf_lldp_pdu *h, struct wf_rd pdu,
                 const uint8_t mac[6])
{
    struct wf_lldp_neighbour *n = place_of(a, h);
    uint64_t now = wf_now(a->port);

    if (!n || (!h->ttl_s && !n->used)) {
        a->stats.no_room_frames += !n;
        return;
    }
    if (!h->ttl_s) { /* it leaves */
        n->used = false;
        dcbx_changed(a);
        age_at_next(a);
        return;
    }
    if (!n->used) {
        *n = (struct wf_lldp_neighbour){.used = true, .since_ps = now};
        greet(a, now);
    }
    memcpy(n->mac, mac, 6);
    keep_name(&n->chassis, h->chassis_subtype, &h->chassis);
    keep_name(&n->port, h->port_subtype, &h->port);
    keep_name(&n->system_name, 0, &h->system_name);
    n->ttl_s = h->ttl_s;
    n->heard_ps = now;
    n->expires_ps = now + h->ttl_s * WF_PS_PER_S / a->peer_scale;
    n->frames++;
    wf_dcbx_get(pdu, &n->dcbx);
    if (dcbx_changed(a))
        send_soon(a, now);
    age_at_next(a);
}

/* LLDP for the nearest bridge is the agent's; whatever else comes to a reserved address is not. */
static bool mgmt_rx(struct wf_switch *sw, struct wf_port *in, struct wf_pkt *pkt)
{
    struct wf_lldp_agent *a = agent_of(sw, in);
    const uint8_t *b = wf_pkt_bytes(pkt);
    struct wf_lldp_pdu h;
    struct wf_rd pdu;

    if (!a || !(pkt->p.flags & WF_P_LLDP) || pkt->p.n_tags || memcmp(b, wf_lldp_dst, 6))
        return false;
    a->stats.rx_frames++;
    a->error = NULL;
    pdu = wf_lldp_of(b, wf_pkt_caplen(pkt), &pkt->p);
    if (wf_lldp_get(pdu, &h)) {
        a->stats.rx_error_frames++;
        a->error = h.why;
        a->error_until_ps = wf_now(in) + a->cfg->lldp.interval_ps * a->cfg->lldp.hold;
    } else {
        hear(a, &h, pdu, b + 6);
    }
    wf_pkt_consume(in->node->net, pkt);
    return true;
}

static void mgmt_link_changed(struct wf_switch *sw, struct wf_port *port, bool up)
{
    struct wf_lldp_agent *a = agent_of(sw, port);

    if (!a)
        return;
    for (unsigned i = 0; i < WF_LLDP_NEIGHBOURS; i++)
        a->neighbours[i].used = false;
    a->error = NULL;
    a->fast = 0;
    dcbx_changed(a);
    age_at_next(a);
    if (up)
        send_at(a, wf_now(port));
    else
        wf_lcore_cancel(port->node->net->lc, &a->tx);
}

static const struct wf_switch_mgmt_ops ops = {.rx = mgmt_rx, .link_changed = mgmt_link_changed};

/* ---- attaching ---- */

void wf_lldp_attach(struct wf_lldp_agent *a, uint32_t index, uint32_t n, uint32_t peer_scale,
                    struct wf_port *port, struct wf_arena *arena)
{
    struct wf_switch *sw = (struct wf_switch *)port->node;
    uint64_t apart = WF_PS_PER_S / n < STAGGER_PS ? WF_PS_PER_S / n : STAGGER_PS;

    if (!sw->mgmt) {
        sw->mgmt = &ops;
        sw->mgmt_ports = (void **)WF_ARENA_ARRAY(arena, struct wf_lldp_agent *, sw->node.n_ports);
    }
    sw->mgmt_ports[port->index] = a;
    a->port = port;
    a->cfg = wf_switch_class(sw, port)->cfg;
    a->index = index;
    a->peer_scale = peer_scale;
    a->queue = a->cfg->tc_to_queue[7] & 7;
    if (a->cfg->dcbx.enable) {
        wf_dcbx_of_port(a->cfg, &a->own);
        wf_cee_init(&a->cee, &a->own, &a->cfg->dcbx);
        a->speaks_cee = a->cfg->dcbx.version == WF_DCBX_V_CEE;
    }
    send_at(a, index * apart);
}

/* ---- what is known ---- */

static bool speaks(const struct wf_lldp_neighbour *n)
{
    return n->used && n->dcbx.flags;
}

unsigned wf_lldp_dcbx_speakers(const struct wf_lldp_agent *a)
{
    unsigned n = 0;

    for (unsigned i = 0; i < WF_LLDP_NEIGHBOURS; i++)
        n += speaks(&a->neighbours[i]);
    return n;
}

const struct wf_lldp_neighbour *wf_lldp_dcbx_peer(const struct wf_lldp_agent *a)
{
    if (wf_lldp_dcbx_speakers(a) != 1)
        return NULL;
    for (unsigned i = 0; i < WF_LLDP_NEIGHBOURS; i++)
        if (speaks(&a->neighbours[i]))
            return &a->neighbours[i];
    return NULL;
}

const char *wf_lldp_peer_error(const struct wf_lldp_agent *a, uint64_t now_ps)
{
    const struct wf_lldp_neighbour *n = wf_lldp_dcbx_peer(a);

    if (a->error && now_ps < a->error_until_ps)
        return a->error;
    return n && n->dcbx.flags & WF_DCBX_MALFORMED ? n->dcbx.why : NULL;
}

enum wf_dcbx_peer wf_lldp_peer_state(const struct wf_lldp_agent *a, uint64_t now_ps)
{
    const struct wf_lldp_neighbour *n = wf_lldp_dcbx_peer(a);

    return wf_lldp_peer_error(a, now_ps) ? WF_DCBX_BROKEN : wf_dcbx_peer_of(n ? &n->dcbx : NULL);
}

void wf_lldp_oper(const struct wf_lldp_agent *a, struct wf_dcbx_oper *out)
{
    const struct wf_lldp_neighbour *n = wf_lldp_dcbx_peer(a);

    if (a->speaks_cee) {
        wf_dcbx_resolve_cee(&a->own, &a->cee, n ? &n->dcbx : NULL, out);
        return;
    }
    wf_dcbx_resolve(&a->own, a->cfg->dcbx.app_willing, a->port->node->mac, n ? &n->dcbx : NULL,
                    n ? n->mac : NULL, out);
}
