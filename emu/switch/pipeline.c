/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The switch's pipeline: what is done to a packet, in order, as one table.
 */
#include "switch/switch.h"

#include "eth/ets.h"
#include "net/int.h"
#include "switch/admit.h"
#include "switch/age.h"
#include "switch/classify.h"
#include "switch/route.h"
#include "switch/trim.h"
#include "switch/watchdog.h"
#include "wire/eth.h"

static inline enum wf_step check(struct wf_switch *sw, struct wf_visit *v)
{
    enum wf_reason why = wf_switch_refuses(sw, v->pkt);

    if (!why)
        return WF_NEXT;
    if (why == WF_DROP_RESERVED_MAC && sw->mgmt && sw->mgmt->rx(sw, v->in, v->pkt))
        return WF_DONE;
    return wf_switch_drop(v, why);
}

static inline enum wf_step vlan(struct wf_switch *sw, struct wf_visit *v)
{
    return sw->vlans ? wf_switch_vlan_in(sw, v) : WF_NEXT;
}

/* Tags, DSCP and PCP of what leaves. */
static inline enum wf_step edit(struct wf_switch *sw, struct wf_visit *v)
{
    const struct wf_port_class *k;

    if (!sw->edits)
        return WF_NEXT;
    if (sw->vlans && v->pkt->caplen + WF_VLAN_TAG_LEN > WF_FULL_ROOM) /* no room for a tag */
        return wf_switch_drop(v, WF_DROP_MTU);
    if (sw->vlans && wf_switch_vlan_out(sw, v) == WF_DONE)
        return WF_DONE;
    k = wf_switch_out_class(sw, v->out);
    if (k->rewrite != WF_REWRITE_NONE)
        wf_switch_rewrite(k, v->pkt);
    return WF_NEXT;
}

/* What the port out has a say in: the queue, by its own map, and the length. */
static inline enum wf_step egress(struct wf_switch *sw, struct wf_visit *v)
{
    uint32_t l3 = v->pkt->frame_len - WF_FCS_LEN - v->pkt->p.l3_off;

    if (sw->class_of)
        v->pkt->queue = sw->class_of[v->out->tx_index]->cfg->tc_to_queue[v->pkt->tc];
    return l3 > v->out->mtu ? wf_switch_drop(v, WF_DROP_MTU) : WF_NEXT;
}

/* When the first bit may leave: the latency after it came in, and never so early that a faster
 * egress would run out of bits before the last one is here. wf_switch_link_known() sees to it that
 * this also holds at another rate. */
static inline __attribute__((always_inline)) enum wf_step enqueue(struct wf_switch *sw,
                                                                  struct wf_visit *v)
{
    struct wf_pkt *pkt = v->pkt;
    uint64_t now = sw->node.net->lc->now_ps, ready = now + sw->latency_ps;

    if (now < pkt->last_bit_ps)
        wf_max_u64(&ready, wf_switch_fed_ps(sw, v->out, pkt));
    pkt->ready_ps = ready;
    wf_port_put(v->out, pkt);
    return WF_DONE;
}

static inline enum wf_step neighbour(struct wf_switch *sw, struct wf_visit *v)
{
    return v->pkt->p.flags & (WF_P_ARP | WF_P_ND) ? wf_switch_neighbour(sw, v) : WF_NEXT;
}

/* As a rule it is for this router. */
static inline __attribute__((always_inline)) enum wf_step forward(struct wf_switch *sw,
                                                                  struct wf_visit *v)
{
    uint64_t dst;

    memcpy(&dst, wf_pkt_bytes(v->pkt), 8);
    if (!sw->routes || v->pkt->malformed || (dst ^ sw->mac_word) << 16)
        return wf_switch_forward(sw, v);
    return wf_switch_route(sw, v);
}

static inline enum wf_step wred(struct wf_switch *sw, struct wf_visit *v)
{
    const struct wf_port_class *k;
    unsigned qi = v->pkt->queue;

    if (!sw->marks_in)
        return WF_NEXT;
    k = wf_switch_out_class(sw, v->out);
    if (!(k->marks[WF_MARK_ENQUEUE] >> qi & 1) ||
        (k->marks_empty >> qi & 1 && v->out->q[qi].ctr[WF_QUEUE_BYTES]))
        return WF_NEXT;
    return wf_switch_wred(sw, v);
}

static inline enum wf_step watchdog(struct wf_switch *sw, struct wf_visit *v)
{
    return sw->dropping_ports ? wf_switch_watchdog(sw, v) : WF_NEXT;
}

const struct wf_stage wf_switch_stages[] = {
    {"check", check},         {"vlan", vlan},         {"classify", wf_switch_classify},
    {"neighbour", neighbour}, {"forward", forward},   {"edit", edit},
    {"egress", egress},       {"watchdog", watchdog}, {"admit", wf_switch_admit},
    {"wred", wred},           {"enqueue", enqueue},   {NULL, NULL},
};

enum { STAGE_BEHIND_FORWARD = 5 };

enum { N_STAGES = sizeof(wf_switch_stages) / sizeof(wf_switch_stages[0]) - 1, STAGES_MAX = 12 };

_Static_assert(N_STAGES <= STAGES_MAX, "run() calls so many");

/* A stage of the table, when it is one of those from `first` on. All is known at build time, so
 * that the call is a direct one. */
static inline __attribute__((always_inline)) bool passes(struct wf_switch *sw, struct wf_visit *v,
                                                         unsigned first, unsigned stage)
{
    return stage < first || stage >= N_STAGES || wf_switch_stages[stage].fn(sw, v) == WF_NEXT;
}

/* The table from a stage on. Written out, not a loop that is unrolled too late for the compiler to
 * put the stages in one piece. */
static inline __attribute__((always_inline)) void run(struct wf_switch *sw, struct wf_visit *v,
                                                      unsigned first)
{
    (void)(passes(sw, v, first, 0) && passes(sw, v, first, 1) && passes(sw, v, first, 2) &&
           passes(sw, v, first, 3) && passes(sw, v, first, 4) && passes(sw, v, first, 5) &&
           passes(sw, v, first, 6) && passes(sw, v, first, 7) && passes(sw, v, first, 8) &&
           passes(sw, v, first, 9) && passes(sw, v, first, 10) && passes(sw, v, first, 11));
}

void wf_switch_output(struct wf_switch *sw, struct wf_visit *v)
{
    run(sw, v, STAGE_BEHIND_FORWARD);
}

enum wf_step wf_switch_drop(struct wf_visit *v, enum wf_reason why)
{
    wf_pkt_drop(v->in, v->pkt, why);
    return WF_DONE;
}

static void switch_rx(struct wf_node *node, struct wf_port *port, struct wf_pkt *pkt)
{
    struct wf_visit v = {.in = port, .pkt = pkt};

    run((struct wf_switch *)node, &v, 0);
}

static void switch_dequeued(struct wf_node *node, struct wf_port *port, struct wf_pkt *pkt)
{
    struct wf_switch *sw = (struct wf_switch *)node;

    if (port->marks_out >> pkt->queue & 1)
        wf_switch_wred_leaves(sw, port, pkt);
    if (pkt->flags & (WF_PKT_TRIM_HERE | WF_PKT_INT)) {
        if (pkt->flags & WF_PKT_TRIM_HERE)
            wf_trim_sent(port, pkt);
        else
            wf_int_stamp(port, pkt);
    }
    wf_switch_release(sw, pkt);
}

static void switch_dropped(struct wf_node *node, struct wf_port *port, struct wf_pkt *pkt,
                           enum wf_reason why)
{
    struct wf_switch *sw = (struct wf_switch *)node;

    if (!(pkt->flags & WF_PKT_ACCOUNTED))
        return;
    if (pkt->flags & WF_PKT_TRIM_HERE) /* WRED drops at the port that it came in by */
        wf_trim_lost(&node->ports[pkt->out], pkt);
    if (sw->avg && why != WF_DROP_WRED)
        wf_switch_wred_flushed(sw, port, pkt->queue);
    wf_switch_release(sw, pkt);
}

static void switch_link_changed(struct wf_node *node, struct wf_port *port, bool up)
{
    struct wf_switch *sw = (struct wf_switch *)node;

    if (sw->age)
        wf_age_link(sw, port, up);
    wf_switch_link_changed(node, port, up);
}

const struct wf_node_ops wf_switch_ops = {
    .kind = "switch",
    .rx = switch_rx,
    .dequeued = switch_dequeued,
    .dropped = switch_dropped,
    .link_changed = switch_link_changed,
    .link_known = wf_switch_link_known,
    .settle = wf_switch_settle,
    .ready = wf_switch_ready,
};
