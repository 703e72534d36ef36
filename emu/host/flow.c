/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows: a queue pair at either end and the messages posted on it, each when a place in the send
 * queue is free. All messages of a flow are written to the same place of a region that has no
 * memory behind it.
 */
#include <errno.h>
#include <string.h>

#include "base/digest.h"
#include "host/endpoint.h"
#include "host/nic.h"
#include "host/profile.h"
#include "switch/switch.h"
#include "wire/edit.h"
#include "xport/sel.h"

enum { QPN_FIRST = 0x11, ENTROPY_PORT = 0xc000 };

static void dress(struct wf_nic_qp *nq, const struct wf_node *to, const struct wf_host_cfg *to_cfg,
                  const struct wf_flow_cfg *cfg);

static void post(struct wf_flow *f)
{
    struct wf_work w;

    wf_flow_work(f, &w);
    for (; f->posted < f->cfg.count; f->posted++) {
        w.id = f->posted;
        if (f->cfg.connect)
            wf_endpoint_work(f, f->posted, &w);
        if (wf_qp_post(&f->tx->qp, &w))
            return;
    }
}

void wf_flow_begin(struct wf_flow *f)
{
    if (f->tx->cc)
        wf_nic_cc_start(f->tx, f->base_rtt_ps);
    post(f);
    wf_nic_qp_wake(f->tx);
}

static void start_event(struct wf_lcore *lc, struct wf_event *ev);

int wf_flow_again(struct wf_flow *f, uint64_t in_ps)
{
    struct wf_node *node = &f->tx->host->node;
    uint64_t t = node->net->lc->now_ps + in_ps;

    if (t > f->cfg.start_ps + f->cfg.connect_wait_ps)
        return -ETIMEDOUT;
    wf_lcore_schedule(node->net->lc, &f->start, t,
                      wf_event_key(node->entity, WF_EV_TIMER, node->seq++), start_event);
    return 0;
}

static void start_event(struct wf_lcore *lc, struct wf_event *ev)
{
    struct wf_flow *f = WF_CONTAINER_OF(ev, struct wf_flow, start);

    if (!f->cfg.connect) {
        wf_flow_begin(f);
        return;
    }
    dress(f->tx, f->to, f->to_cfg, &f->cfg); /* it has its MAC address by now */
    wf_endpoint_connect(f);
}

void wf_flow_completed(void *arg, const struct wf_wc *wc)
{
    struct wf_nic_qp *nq = arg;
    struct wf_flow *f = nq->flow;

    if (wc->status == WF_WC_SUCCESS)
        f->completed++;
    else
        f->failed++;
    post(f);
    if (f->completed == f->cfg.count)
        f->completion_ps = nq->host->node.net->lc->now_ps - f->cfg.start_ps;
    if (f->cfg.connect)
        wf_endpoint_done(f, wc);
}

bool wf_flow_over(const struct wf_flow *f)
{
    return f->completed + f->failed >= f->cfg.count;
}

static bool data_comes_back(const struct wf_flow_cfg *cfg)
{
    return cfg->op == WF_WORK_READ;
}

/* What data met on its way, and CNPs for it: of READs it goes the other way. */
static void settle_data(struct wf_flow *f)
{
    bool back = f->rx && data_comes_back(&f->cfg);
    const struct wf_nic_qp *from = back ? f->rx : f->tx, *to = back ? f->tx : f->rx;
    uint64_t *c = f->ctr;

    c[WF_FLOW_CNP_RX] = from->cnps;
    c[WF_FLOW_CNP_TX] = to && to->np ? to->np->sent : 0;
    c[WF_FLOW_CE_RX] = (to ? to : from)->qp.resp.ce_packets;
    c[WF_FLOW_DELAY_MAX_PS] = to ? to->delay_max_ps : 0;
}

void wf_flow_settle(struct wf_flow *f)
{
    const struct wf_requester *r = &f->tx->qp.req;
    const struct wf_responder *s = f->rx ? &f->rx->qp.resp : &f->tx->qp.resp;
    uint64_t *c = f->ctr;

    c[WF_FLOW_MSGS_POSTED] = f->posted;
    c[WF_FLOW_POSTED_BYTES] = f->posted * f->cfg.size_bytes;
    c[WF_FLOW_MSGS] = f->completed;
    c[WF_FLOW_MSGS_FAILED] = f->failed;
    c[WF_FLOW_START_PS] = f->cfg.start_ps;
    c[WF_FLOW_COMPLETION_PS] = f->completion_ps;
    if (c[WF_FLOW_IDEAL_PS])
        c[WF_FLOW_SLOWDOWN] =
            (uint64_t)((unsigned __int128)f->completion_ps * 1000 / c[WF_FLOW_IDEAL_PS]);
    c[WF_FLOW_TX_PACKETS] = r->tx_packets;
    c[WF_FLOW_RETX_PACKETS] = r->retx_packets;
    c[WF_FLOW_RETX_BYTES] = r->retx_bytes;
    c[WF_FLOW_ACK_RX] = r->acks;
    c[WF_FLOW_NAK_RX] = r->naks;
    c[WF_FLOW_TIMEOUTS] = r->timeouts;
    c[WF_FLOW_BYTES] = f->rx ? s->bytes : r->una_byte;
    c[WF_FLOW_NAK_TX] = s->naks;
    if (f->rx && f->rx->qp.sel)
        c[WF_FLOW_NAK_TX] += f->rx->qp.sel->naks;
    c[WF_FLOW_DUP_RX] = s->duplicates;
    settle_data(f);
    wf_flow_settle_more(f);
}

static bool same_subnet(const struct wf_ip_prefix *a, const struct wf_ip_prefix *b)
{
    unsigned first = a->family == 4 ? 96 : 0, bits = first + a->len;

    for (unsigned i = first; i < bits; i++)
        if ((a->addr[i / 8] ^ b->addr[i / 8]) & 0x80 >> i % 8)
            return false;
    return true;
}

/* Leaves whose hosts a tunnel joins. */
static bool one_network(const struct wf_node *a, const struct wf_node *b)
{
    uint32_t vni = ((const struct wf_switch *)a)->cfg.vxlan.vni;

    return vni && b->ops == &wf_switch_ops && ((const struct wf_switch *)b)->cfg.vxlan.vni == vni;
}

/* Whom a frame to that host is addressed to: the host itself within a bridged network, else the
 * router. Two hosts of one prefix on different leaves meet through the router too: it is a proxy
 * for either. */
static const uint8_t *next_hop_mac(const struct wf_host *from, const struct wf_node *to,
                                   const struct wf_ip_prefix *src, const struct wf_ip_prefix *dst)
{
    const struct wf_node *sw = from->node.ports[0].peer->node;

    if (sw->ops != &wf_switch_ops ||
        ((const struct wf_switch *)sw)->cfg.forwarding == WF_FORWARD_L2)
        return to->mac;
    return (sw == to->ports[0].peer->node || one_network(sw, to->ports[0].peer->node)) &&
                   same_subnet(src, dst)
               ? to->mac
               : sw->mac;
}

static bool link_local(const uint8_t ip[16], bool v4)
{
    return v4 ? wf_ip4_is_link_local(ip + 12) : wf_ip6_is_link_local(ip);
}

/* Whose that address is, as the first router would find out for each packet. Link-local ones are
 * left to it, which drops them. */
static void know_dst(struct wf_form *f, const struct wf_node *sw, const struct wf_roce *r, bool v4)
{
    const struct wf_addr_table *addr = ((const struct wf_switch *)sw)->addr;
    const struct wf_host_addr *h;

    if (sw->ops != &wf_switch_ops || link_local(r->src_ip, v4) || link_local(r->dst_ip, v4))
        return;
    h = v4 ? wf_addr_by_ip4(addr, r->dst_ip + 12) : wf_addr_by_ip6(addr, r->dst_ip);
    if (!h)
        return;
    f->dst_host = (uint32_t)(h - addr->hosts) + 1;
    f->dst_sw = h->sw;
}

static void dress(struct wf_nic_qp *nq, const struct wf_node *to, const struct wf_host_cfg *to_cfg,
                  const struct wf_flow_cfg *cfg)
{
    const struct wf_host *h = nq->host;
    bool v4 = cfg->family != WF_FAMILY_IP6 && h->cfg.ip.family == 4 && to_cfg->ip.family == 4;
    const struct wf_ip_prefix *src = v4 ? &h->cfg.ip : &h->cfg.ip6;
    const struct wf_ip_prefix *dst = v4 ? &to_cfg->ip : &to_cfg->ip6;
    uint16_t entropy = (uint16_t)(wf_mix(nq->qp.cfg.qpn, nq->qp.cfg.dqpn) & 0x3fff);
    struct wf_roce *f = &nq->frame;

    memcpy(f->dst_mac, next_hop_mac(h, to, src, dst), 6);
    memcpy(f->src_mac, h->node.mac, 6);
    f->encap = v4 ? WF_ROCE_V2_IP4 : WF_ROCE_V2_IP6;
    memcpy(f->src_ip, src->addr, 16);
    memcpy(f->dst_ip, dst->addr, 16);
    f->dscp = (uint8_t)cfg->dscp;
    f->ttl = WF_NIC_TTL;
    f->sport = ENTROPY_PORT | entropy;
    f->flow_label = entropy;
    nq->prio = h->cfg.dscp_to_priority[cfg->dscp & 63] & 7;
    nq->ecn = cfg->ecn ? WF_ECN_ECT0 : WF_ECN_NOT_ECT;
    know_dst(&nq->form, h->node.ports[0].peer->node, f, v4);
}

/* What the receiver of data does for the control of who sends it. */
static void serve(struct wf_flow *f, struct wf_nic_qp *nq, struct wf_arena *arena)
{
    uint32_t flags = f->cfg.control ? f->cfg.control->law->flags : 0;
    int cnp = nq->host->cfg.nic.cnp;

    if (cnp != WF_TRI_AUTO)
        flags = cnp == WF_TRI_ON ? flags | WF_CC_CNP : flags & ~(uint32_t)WF_CC_CNP;
    if (flags & (WF_CC_CNP | WF_CC_ECHO | WF_CC_INT))
        wf_np_add(nq, flags, arena);
}

/* Who sends data has the flow's control; of READs see cc.h. */
static void control(struct wf_flow *f, struct wf_arena *arena)
{
    const struct wf_cc_use *use = f->cfg.control;
    bool back = data_comes_back(&f->cfg);

    if (use && (!back || wf_nic_cc_limits_reads(use)))
        wf_nic_cc_add(f->tx, use, f, arena);
    if (use && back && wf_nic_cc_paces_reads(use))
        wf_nic_cc_add(f->rx, use, f, arena);
}

struct wf_nic_cc *wf_flow_cc(const struct wf_flow *f)
{
    return f->rx && f->rx->cc ? f->rx->cc : f->tx->cc;
}

static void make_qps(struct wf_flow *f, struct wf_host *from, struct wf_host *to, uint32_t number,
                     struct wf_arena *arena)
{
    struct wf_prng prng;
    struct wf_qp_cfg tx = {
        .qpn = wf_host_flow_qpn(number, true),
        .dqpn = wf_host_flow_qpn(number, false),
        .pkey = WF_BTH_PKEY,
        .path_mtu = f->cfg.path_mtu,
        .window_bytes = f->cfg.window_bytes,
        .ack_timeout_ps = f->cfg.ack_timeout_ps,
        .retries = f->cfg.retries,
    };
    struct wf_qp_cfg rx = tx;

    wf_flow_qp_cfg(&f->cfg, &tx);
    wf_flow_qp_cfg(&f->cfg, &rx);
    wf_prng_init(&prng, from->node.net->seed, f->name);
    tx.sq_psn = rx.rq_psn = (uint32_t)wf_prng_below(&prng, 1 << 24);
    tx.rq_psn = rx.sq_psn = (uint32_t)wf_prng_below(&prng, 1 << 24);
    rx.qpn = tx.dqpn;
    rx.dqpn = tx.qpn;
    if (f->cfg.control)
        wf_nic_cc_tune(f->cfg.control, &tx);
    f->tx = wf_nic_qp_add(from, arena, &tx,
                          f->cfg.count < WF_HOST_SQ_LEN ? f->cfg.count : WF_HOST_SQ_LEN);
    f->rx = wf_nic_qp_add(to, arena, &rx, 1);
    f->tx->flow = f;
    dress(f->tx, &to->node, &to->cfg, &f->cfg);
    dress(f->rx, &from->node, &from->cfg, &f->cfg);
    if (f->cfg.rate_bps)
        wf_txclock_init(f->cfg.op < WF_WORK_READ ? &f->tx->pace : &f->rx->pace, f->cfg.rate_bps);
    control(f, arena);
    serve(f, data_comes_back(&f->cfg) ? f->tx : f->rx, arena);
    f->rkey = number + 1;
    f->raddr = 0x100000000ull * (number + 1);
    f->rx->mr = (struct wf_mr){f->rkey, WF_MEM_REMOTE_WRITE, f->raddr, f->cfg.size_bytes, NULL};
    wf_flow_equip(f, arena);
}

/* The queue pair of a flow that connects. */
static void make_dial(struct wf_flow *f, struct wf_host *from, struct wf_arena *arena)
{
    wf_endpoint_add_flow(f, from, arena);
    dress(f->tx, f->to, f->to_cfg, &f->cfg);
    if (f->cfg.rate_bps)
        wf_txclock_init(&f->tx->pace, f->cfg.rate_bps);
    if (f->cfg.control)
        wf_nic_cc_add(f->tx, f->cfg.control, f, arena);
}

struct wf_flow *wf_host_add_flow(struct wf_host *from, struct wf_node *to,
                                 const struct wf_host_cfg *to_cfg, const char *name,
                                 const struct wf_flow_cfg *cfg, uint32_t number,
                                 struct wf_arena *arena)
{
    struct wf_flow *f = WF_ARENA_NEW(arena, struct wf_flow);
    struct wf_node *node = &from->node;

    f->name = wf_arena_printf(arena, "flow.%s", name);
    f->cfg = *cfg;
    f->cfg.retransmit = wf_flow_retransmit(cfg, &from->cfg.nic, &to_cfg->nic);
    f->to = to;
    f->to_cfg = to_cfg;
    if (cfg->op >= WF_WORK_CMP_SWAP)
        f->cfg.size_bytes = 8;
    if (cfg->connect)
        make_dial(f, from, arena);
    else
        make_qps(f, from, (struct wf_host *)to, number, arena);
    if (from->last_flow)
        from->last_flow->next = f;
    else
        from->flows = f;
    from->last_flow = f;
    wf_lcore_schedule(node->net->lc, &f->start, cfg->start_ps,
                      wf_event_key(node->entity, WF_EV_TIMER, node->seq++), start_event);
    return f;
}

bool wf_host_flow_hash(const struct wf_flow *f, uint32_t *hash)
{
    struct wf_roce frame = f->tx->frame;
    uint8_t buf[WF_ROCE_HDR_MAX];
    struct wf_parsed p;
    uint32_t len;

    frame.bth.opcode = WF_SERVICE_RC | WF_OP_WRITE_MIDDLE;
    len = wf_roce_hdr_build(buf, sizeof(buf), &frame);
    if (!len || wf_parse(buf, len, wf_roce_frame_len(len, frame.payload_len), &p))
        return false;
    *hash = wf_flow_hash(buf, &p);
    return true;
}

uint32_t wf_host_flow_qpn(uint32_t number, bool sender)
{
    return (QPN_FIRST + 2 * number + !sender) & WF_QPN_MASK;
}

bool wf_host_flow_ids(const struct wf_flow *f, uint32_t *hash, uint32_t *dqpn, uint32_t *first_psn)
{
    *dqpn = f->tx->qp.cfg.dqpn;
    *first_psn = f->tx->qp.cfg.sq_psn;
    return wf_host_flow_hash(f, hash);
}

void wf_host_flow_rtt(struct wf_flow *f, uint64_t base_rtt_ps)
{
    f->base_rtt_ps = base_rtt_ps;
}

uint64_t *wf_host_flow_ctr(struct wf_flow *f)
{
    return f->ctr;
}
