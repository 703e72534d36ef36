/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replay while it runs: frames are read and injected one by one, hosts take what comes, taps see
 * what happens on the way. See replay.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "cap/replay.h"
#include "eth/ets.h"
#include "wire/edit.h"
#include "wire/eth.h"

enum { BACKLOG_BYTES = 65536, RETRY_PS = 1000000, HOST_QUANTUM = 9600 };

static struct wf_replay_host *host_of(const struct wf_replay *r, int host)
{
    return (struct wf_replay_host *)wf_fabric_host(r->fabric, (uint32_t)host);
}

static struct wf_replay_frame *frame_of(struct wf_replay *r, const struct wf_pkt *pkt)
{
    return &r->plan.frames[pkt->cookie - 1];
}

/* Whose MAC this is, or -1. */
static int owner_of(const struct wf_replay *r, const uint8_t *mac)
{
    struct wf_replay_mac key = {wf_ld48(mac), 0};
    uint32_t lo = 0, hi = r->n_macs;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (wf_replay_mac_cmp(&r->macs[mid], &key) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < r->n_macs && r->macs[lo].mac == key.mac ? (int)r->macs[lo].host : -1;
}

/* ---- into the fabric ---- */

static const struct wf_host_addr *ip_owner(const struct wf_replay *r, const struct wf_pkt *pkt)
{
    const uint8_t *b = wf_pkt_bytes(pkt);

    if (pkt->p.flags & WF_P_IP4)
        return wf_addr_by_ip4(&r->fabric->addr, b + pkt->p.l3_off + 16);
    return pkt->p.flags & WF_P_IP6 ? wf_addr_by_ip6(&r->fabric->addr, wf_parsed_dst6(b, &pkt->p))
                                   : NULL;
}

/* As a host with a gateway does: what is not on its own leaf goes to the leaf's MAC. */
static void to_gateway(struct wf_replay *r, struct wf_port *port, struct wf_pkt *pkt)
{
    const struct wf_node *leaf = port->peer->node;
    const struct wf_host_addr *to = ip_owner(r, pkt);
    const uint8_t *b = wf_pkt_bytes(pkt);

    if (!(pkt->p.flags & WF_P_IP) || pkt->p.flags & WF_P_MULTICAST || pkt->malformed)
        return;
    if (to && to->sw == leaf->index)
        return;
    wf_edit_set_macs(wf_pkt_hdr_rw(pkt), &pkt->p, leaf->mac, b + 6);
    wf_pkt_edited(pkt);
}

static uint8_t priority_of(const struct wf_replay *r, uint32_t host, const struct wf_pkt *pkt)
{
    if (pkt->p.flags & WF_P_VLAN)
        return pkt->p.pcp;
    if (pkt->p.flags & WF_P_IP)
        return r->fabric->desc->hosts[host].cfg.dscp_to_priority[pkt->p.dscp & 63] & 7;
    return 0;
}

static void send(struct wf_replay *r, struct wf_pkt *pkt)
{
    struct wf_replay_frame *f = frame_of(r, pkt);
    int host = r->plan.sources[f->source].host;
    struct wf_port *port = &host_of(r, host)->node.ports[0];

    f->flags |= WF_REPLAY_INJECTED;
    r->totals.injected++;
    wf_pkt_injected(port->node->net, pkt);
    if (r->conf.routed)
        to_gateway(r, port, pkt);
    pkt->port = port;
    pkt->prio = pkt->queue = priority_of(r, (uint32_t)host, pkt);
    pkt->ready_ps = wf_now(port);
    if (pkt->frame_len - WF_FCS_LEN - pkt->p.l3_off > port->link->cfg.mtu)
        wf_pkt_drop(port, pkt, WF_DROP_MTU);
    else
        wf_port_enqueue(port, pkt);
}

static void send_event(struct wf_lcore *lc, struct wf_event *ev)
{
    struct wf_pkt *pkt = WF_CONTAINER_OF(ev, struct wf_pkt, ev);
    struct wf_replay *r = ((struct wf_replay_host *)pkt->port->node)->replay;

    r->held--;
    send(r, pkt);
}

/* How long the frame is under way from its sender to the point where the capture was taken. */
static uint64_t way_to_vantage(struct wf_replay *r, uint32_t from, const struct wf_pkt *pkt)
{
    const struct wf_host_addr *to;

    switch (r->conf.vantage) {
    case WF_REPLAY_AT_SENDER:
        break;
    case WF_REPLAY_AT_HOST:
        return from == r->vantage_host
                   ? 0
                   : wf_replay_way_ps(r->fabric, from, r->vantage_host, pkt->frame_len, false);
    case WF_REPLAY_AT_PORT: /* of itself: over its own link only */
        return wf_replay_way_ps(r->fabric, from, r->vantage_host, pkt->frame_len, true);
    case WF_REPLAY_IN_MIDDLE:
        to = ip_owner(r, pkt);
        if (!to)
            to = wf_addr_by_mac(&r->fabric->addr, wf_pkt_bytes(pkt));
        if (to && to != &r->fabric->addr.hosts[from])
            return wf_replay_way_ps(r->fabric, from, (uint32_t)(to - r->fabric->addr.hosts),
                                    pkt->frame_len, false) /
                   2;
        break;
    }
    return 0;
}

static struct wf_pkt *make_packet(struct wf_replay *r, struct wf_net *net)
{
    uint32_t cap, len = wf_replay_frame_len(&r->rec, &cap);
    uint32_t full = len < WF_ETH_MIN_LEN ? WF_ETH_MIN_LEN : len;
    uint32_t room = cap < len ? cap : full;
    struct wf_pkt *pkt = wf_pkt_new(net, room);

    if (!pkt)
        return NULL;
    memcpy(wf_pkt_hdr_rw(pkt), r->rec.data, cap);
    memset(wf_pkt_hdr_rw(pkt) + cap, 0, room - cap);
    pkt->frame_len = full + WF_FCS_LEN;
    pkt->payload = cap < len ? WF_PAYLOAD_NONE : WF_PAYLOAD_REAL;
    pkt->flags = WF_PKT_REPLAYED;
    pkt->cookie = (uint64_t)r->next + 1;
    pkt->malformed = wf_pkt_parse(pkt) != WF_DROP_NONE;
    return pkt;
}

/* ---- the feed ---- */

/* The record of the next frame of the plan: 1, 0 at the end. */
static int advance(struct wf_replay *r)
{
    int rc;

    do
        rc = wf_cap_next(r->reader, &r->rec, NULL);
    while (rc == 1 && !wf_replay_takes(&r->conf.plan, &r->rec));
    return rc == 1 && r->next < r->plan.n_frames;
}

uint64_t wf_replay_scaled(const struct wf_replay *r, int64_t t_ps)
{
    unsigned __int128 t = t_ps > 0 ? (unsigned __int128)t_ps : 0;

    if (r->conf.time == WF_REPLAY_FLAT_OUT)
        return 0;
    if (r->conf.time == WF_REPLAY_SCALED)
        t = t * r->conf.scale.num / r->conf.scale.den;
    return t > INT64_MAX ? INT64_MAX : (uint64_t)t;
}

/* When the feed may go on although it is the frame's time: 0: at once. */
static uint64_t wait_until(const struct wf_replay *r, const struct wf_port *port, uint64_t now)
{
    if (wf_fabric_in_flight(r->fabric) + r->held >= r->room)
        return now + RETRY_PS;
    if (r->conf.time != WF_REPLAY_FLAT_OUT || wf_port_backlog(port) < BACKLOG_BYTES)
        return 0;
    return port->busy_until_ps > now ? port->busy_until_ps : now + RETRY_PS;
}

static void feed_at(struct wf_replay *r, uint64_t t_ps)
{
    r->feed.at_ps = t_ps;
}

/* Send the frame now, or a little later when the capture was not taken at its sender. What a long
 * frame needs longer for its way never lets it pass a short one of the same host. */
static bool inject(struct wf_replay *r, struct wf_port *port, uint64_t now)
{
    struct wf_pkt *pkt = make_packet(r, port->node->net);
    struct wf_replay_host *h = (struct wf_replay_host *)port->node;

    if (!pkt)
        return false;
    pkt->born_ps = now + r->lead_ps - way_to_vantage(r, h->host, pkt);
    pkt->port = port;
    if (r->lead_ps == 0) {
        send(r, pkt);
        return true;
    }
    wf_max_u64(&h->last_ps, pkt->born_ps);
    pkt->born_ps = h->last_ps;
    r->held++;
    wf_lcore_schedule(port->node->net->lc, &pkt->ev, pkt->born_ps,
                      wf_event_key(port->entity, WF_EV_TIMER, port->seq++), send_event);
    return true;
}

static void feed(struct wf_stops *s, struct wf_fabric *fabric)
{
    struct wf_replay *r = WF_CONTAINER_OF(s, struct wf_replay, feed);
    uint64_t now = wf_fabric_now_ps(fabric), t;

    feed_at(r, WF_TIME_NEVER);
    for (;; r->next++) {
        struct wf_replay_frame *f;
        struct wf_port *port;
        int host;

        if (!r->have && !advance(r))
            return;
        r->have = true;
        f = &r->plan.frames[r->next];
        host = f->flags & WF_REPLAY_SKIPPED ? -1 : r->plan.sources[f->source].host;
        if (host >= 0) {
            t = wf_replay_scaled(r, f->t_ps);
            r->at_ps = t > r->at_ps ? t : r->at_ps;
            if (r->at_ps > now) {
                feed_at(r, r->at_ps);
                return;
            }
            port = &host_of(r, host)->node.ports[0];
            t = wait_until(r, port, now);
            if (t) {
                r->totals.stalled++;
                feed_at(r, t);
                return;
            }
            if (!inject(r, port, now))
                return; /* no packets: the run ends with that error */
        } else if (!(f->flags & WF_REPLAY_SKIPPED)) {
            r->totals.unmapped++;
        }
        r->have = false;
    }
}

int wf_replay_feed_first(struct wf_replay *r, struct wf_err *err)
{
    for (uint32_t i = 0; i < r->plan.n_sources; i++) {
        int host = r->plan.sources[i].host;

        if (host >= 0 && host_of(r, host)->node.n_ports == 0)
            return wf_err_set(err, EINVAL, "host %s has no link, so it cannot send",
                              host_of(r, host)->node.name);
    }
    r->feed = (struct wf_stops){.act = feed, .kind = WF_STOPS_INPUT};
    feed_at(r, wf_fabric_now_ps(r->fabric));
    wf_fabric_add_stops(r->fabric, &r->feed);
    return 0;
}

/* ---- out of the fabric ---- */

static void count_path(struct wf_replay_flow *flow, uint32_t path)
{
    for (unsigned i = 0; i < flow->n_paths; i++)
        if (flow->paths[i].path == path) {
            flow->paths[i].frames++;
            return;
        }
    if (flow->n_paths == WF_FLOW_PATHS_MAX)
        flow->other_paths++;
    else
        flow->paths[flow->n_paths++] = (struct wf_flow_path){path, 1};
}

static void count_transport(struct wf_replay_flow *flow, const struct wf_pkt *pkt)
{
    enum wf_psn_kind kind;

    if (!(pkt->p.flags & WF_P_BTH))
        return;
    flow->icrc_out[wf_icrc_check(wf_pkt_bytes(pkt), wf_pkt_caplen(pkt), &pkt->p)]++;
    kind = wf_psn_kind(pkt->p.opcode);
    if (kind == WF_PSN_NONE)
        return;
    wf_psn_take(&flow->out[kind == WF_PSN_RESPONSE], pkt->p.opcode, pkt->p.psn);
    if (kind == WF_PSN_REQUEST && (!flow->has_max || wf_psn_diff(pkt->p.psn, flow->max_psn) > 0)) {
        flow->max_psn = pkt->p.psn;
        flow->has_max = true;
    }
}

static void arrived(struct wf_replay *r, const struct wf_pkt *pkt)
{
    struct wf_replay_frame *f = frame_of(r, pkt);
    struct wf_replay_flow *flow = &r->plan.flows[f->flow];
    uint64_t delay_ps = pkt->last_bit_ps - f->sent_ps;
    uint32_t i = (uint32_t)(pkt->cookie - 1);

    wf_max_u64(&r->end_ps, wf_now(pkt->port)); /* lcores take turns */
    if (f->flags & WF_REPLAY_ARRIVED) {        /* another copy of a frame to a group */
        if (delay_ps < f->delay_ps) /* not the first to arrive is run first, on many lcores */
            f->delay_ps = delay_ps;
        return;
    }
    f->flags |= WF_REPLAY_ARRIVED;
    f->delay_ps = delay_ps;
    flow->arrived++;
    flow->arrived_bytes += f->len_bytes;
    flow->marked += !!(pkt->flags & WF_PKT_MARKED);
    if (flow->arrived > 1 && i < flow->last_arrived)
        flow->overtaken++;
    else
        flow->last_arrived = i;
    if (!(f->flags & WF_REPLAY_GROUP))
        count_path(flow, f->path);
    count_transport(flow, pkt);
}

static void host_rx(struct wf_node *node, struct wf_port *port, struct wf_pkt *pkt)
{
    struct wf_replay_host *h = (struct wf_replay_host *)node;
    const uint8_t *dst = wf_pkt_bytes(pkt);

    if (!(pkt->flags & WF_PKT_REPLAYED)) {
        wf_pkt_consume(node->net, pkt); /* a switch's answer to an ARP or ND request */
        return;
    }
    if (!(pkt->p.flags & WF_P_MULTICAST) && memcmp(dst, node->mac, 6) != 0 &&
        owner_of(h->replay, dst) != (int)h->host) {
        wf_pkt_drop(port, pkt, WF_DROP_NOT_FOR_US);
        return;
    }
    arrived(h->replay, pkt);
    wf_pkt_deliver(node->net, pkt);
}

static void host_ready(struct wf_node *node, struct wf_arena *arena)
{
    static const uint8_t identity[WF_PRIOS] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct wf_replay_host *h = (struct wf_replay_host *)node;
    struct wf_fabric *f = node->net->lc->fabric;

    for (unsigned i = 0; i < node->n_ports; i++) {
        node->ports[i].sched = &wf_ets_ops;
        wf_pfc_attach(&node->ports[i], &f->desc->hosts[h->host].cfg.pfc, identity, arena);
        for (unsigned q = 0; q < WF_QUEUES; q++)
            node->ports[i].q[q].quantum = HOST_QUANTUM;
    }
}

const struct wf_node_ops wf_replay_host_ops = {
    .kind = "host",
    .rx = host_rx,
    .ready = host_ready,
};

/* ---- on the way ---- */

/* A response that leaves before the request that it speaks of has arrived: in the recorded network
 * it cannot have been so. A NAK asks for its number, so it speaks of the one before. */
static void check_ack(struct wf_replay *r, struct wf_replay_flow *flow, const struct wf_pkt *pkt)
{
    const struct wf_replay_flow *g;
    uint32_t psn = pkt->p.psn;

    if (!(pkt->p.flags & WF_P_BTH) || wf_psn_kind(pkt->p.opcode) != WF_PSN_RESPONSE)
        return;
    if (flow->acks_of == WF_REPLAY_NO_FLOW) {
        flow->unpaired_acks++;
        return;
    }
    g = &r->plan.flows[flow->acks_of];
    if (pkt->p.flags & WF_P_AETH && WF_AETH_KIND(pkt->p.aeth_syndrome) == WF_AETH_NAK >> 5)
        psn = (psn - 1) & WF_PSN_MASK;
    if (!g->has_max || wf_psn_diff(psn, g->max_psn) > 0)
        flow->early_acks++;
}

static void left(struct wf_replay *r, struct wf_port *port, struct wf_pkt *pkt)
{
    struct wf_replay_frame *f = frame_of(r, pkt);
    uint64_t now = wf_now(port);

    if (!(f->flags & WF_REPLAY_SENT)) {
        f->flags |= WF_REPLAY_SENT;
        f->sent_ps = now;
        wf_max_u64(&r->totals.waited_max_ps, now - pkt->born_ps);
        check_ack(r, &r->plan.flows[f->flow], pkt);
    }
    if (!(f->flags & WF_REPLAY_GROUP))
        f->path = wf_paths_step(&r->paths, f->path, port);
}

static void dropped(struct wf_replay *r, const struct wf_port *port, const struct wf_pkt *pkt,
                    enum wf_reason why)
{
    struct wf_replay_frame *f = frame_of(r, pkt);
    struct wf_replay_flow *flow = &r->plan.flows[f->flow];

    /* A copy flooded to hosts that it is not for is no loss when it is somebody's. */
    if (why == WF_DROP_NOT_FOR_US && owner_of(r, wf_pkt_bytes(pkt)) >= 0)
        return;
    f->flags |= WF_REPLAY_DROPPED;
    for (unsigned i = 0; i < flow->n_drops; i++)
        if (flow->drops[i].why == why && flow->drops[i].place == port->name) {
            flow->drops[i].frames++;
            return;
        }
    if (flow->n_drops == WF_FLOW_DROPS_MAX)
        flow->other_drops++;
    else
        flow->drops[flow->n_drops++] = (struct wf_replay_drop){why, port->name, 1};
}

void wf_replay_saw(struct wf_tap *tap, struct wf_port *port, struct wf_pkt *pkt,
                   enum wf_tap_dir dir, enum wf_reason why)
{
    struct wf_replay *r = ((struct wf_replay_tap *)tap)->replay;

    if (!(pkt->flags & WF_PKT_REPLAYED))
        return;
    if (dir == WF_TAP_TX)
        left(r, port, pkt);
    else if (dir == WF_TAP_DROP)
        dropped(r, port, pkt, why);
}

void wf_replay_finish(struct wf_replay *r)
{
    struct wf_replay_totals *t = &r->totals;

    for (uint32_t i = 0; i < r->plan.n_frames; i++) {
        const struct wf_replay_frame *f = &r->plan.frames[i];

        if (!(f->flags & WF_REPLAY_INJECTED))
            continue;
        if (f->flags & WF_REPLAY_ARRIVED)
            t->arrived++;
        else if (f->flags & WF_REPLAY_DROPPED)
            t->lost++;
        else
            t->answered++;
    }
    for (uint32_t i = 0; i < r->plan.n_flows; i++) {
        const struct wf_replay_flow *f = &r->plan.flows[i];

        t->marked += f->marked;
        t->overtaken += f->overtaken;
        t->early_acks += f->early_acks;
        t->unpaired_acks += f->unpaired_acks;
    }
}
