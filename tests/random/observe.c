/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "host/host.h"

enum { TABLE = 4096, CHECK_EVERY = 64 };

bool ob_fail(struct observer *ob, const char *kind, const char *fmt, ...)
{
    va_list ap;

    if (ob->kind)
        return false;
    ob->kind = kind;
    va_start(ap, fmt);
    vsnprintf(ob->what, sizeof(ob->what), fmt, ap);
    va_end(ap);
    return false;
}

uint64_t ob_span_ps(uint64_t rate_bps, uint64_t bytes)
{
    return (uint64_t)((unsigned __int128)bytes * 8 * WF_PS_PER_S / rate_bps);
}

struct ob_port *ob_port_of(struct observer *ob, const struct wf_port *port)
{
    return &ob->nodes[port->node->index][port->index];
}

static uint32_t slot_of(const struct wf_pkt *pkt)
{
    return (uint32_t)((uintptr_t)pkt >> 6) % TABLE;
}

struct ob_frame *ob_frame_find(struct observer *ob, const struct wf_pkt *pkt)
{
    struct ob_frame *fr = ob->table[slot_of(pkt)];

    while (fr && fr->pkt != pkt)
        fr = fr->next;
    return fr;
}

static struct ob_frame *frame_new(struct observer *ob, const struct wf_pkt *pkt)
{
    struct ob_frame *fr = ob->spare, **at = &ob->table[slot_of(pkt)];

    if (fr)
        ob->spare = fr->next;
    else
        fr = malloc(sizeof(*fr));
    WF_ASSERT(fr);
    *fr = (struct ob_frame){.next = *at, .pkt = pkt};
    *at = fr;
    return fr;
}

static void frame_end(struct observer *ob, const struct ob_frame *fr)
{
    struct ob_frame **at = &ob->table[slot_of(fr->pkt)], *found;

    while (*at != fr)
        at = &(*at)->next;
    found = *at;
    *at = found->next;
    found->next = ob->spare;
    ob->spare = found;
}

/* --- the wire --------------------------------------------------------------------------------- */

static void wire_push(struct ob_port *p, const struct wf_pkt *pkt)
{
    struct ob_wire w = {pkt, p->ob->now_ps, p->port->link->cfg.rate_bps, pkt->frame_len};

    if (p->wire_n == p->wire_cap) {
        uint32_t cap = p->wire_cap ? 2 * p->wire_cap : 64;
        struct ob_wire *more = malloc(cap * sizeof(*more));

        WF_ASSERT(more);
        for (uint32_t i = 0; i < p->wire_n; i++)
            more[i] = p->wire[(p->wire_first + i) % p->wire_cap];
        free(p->wire);
        p->wire = more;
        p->wire_cap = cap;
        p->wire_first = 0;
    }
    p->wire[(p->wire_first + p->wire_n++) % p->wire_cap] = w;
}

static struct ob_wire *wire_head(struct ob_port *p)
{
    return p->wire_n ? &p->wire[p->wire_first] : NULL;
}

static struct ob_wire *wire_tail(struct ob_port *p)
{
    return p->wire_n ? &p->wire[(p->wire_first + p->wire_n - 1) % p->wire_cap] : NULL;
}

static void wire_pop(struct ob_port *p)
{
    p->wire_first = (p->wire_first + 1) % p->wire_cap;
    p->wire_n--;
}

static bool near_ps(uint64_t a, uint64_t b, uint64_t by)
{
    return a > b ? a - b <= by : b - a <= by;
}

/* It is what was sent first of what is under way, and comes after its time on the wire. */
static void arrived(struct ob_port *p, const struct wf_pkt *pkt, uint64_t *head_ps)
{
    struct ob_port *from = p->peer;
    struct ob_wire *w = wire_head(from);
    uint64_t delay = p->port->link->cfg.delay_ps, last, at;

    if (!w || w->pkt != pkt || w->frame_len != pkt->frame_len) {
        ob_fail(p->ob, "wire_order", "%s gets a frame that %s did not send next", p->port->name,
                from->port->name);
        return;
    }
    last = w->start_ps + ob_span_ps(w->rate_bps, w->frame_len + WF_WIRE_PREAMBLE) + delay;
    *head_ps = at = last;
    if (p->sw && p->sw->mode == WF_MODE_CUT_THROUGH && !(pkt->p.flags & WF_P_MAC_CONTROL)) {
        *head_ps = w->start_ps + ob_span_ps(w->rate_bps, WF_CUT_THROUGH_BYTES) + delay;
        at = *head_ps < last ? *head_ps : last;
    }
    if (!near_ps(pkt->last_bit_ps, last, 2) || !near_ps(p->ob->now_ps, at, 2))
        ob_fail(p->ob, "wire_time",
                "%s gets %u bytes at %" PRIu64 " ps, last bit %" PRIu64 ", expected %" PRIu64
                " and %" PRIu64,
                p->port->name, pkt->frame_len, p->ob->now_ps, pkt->last_bit_ps, at, last);
    wire_pop(from);
}

/* --- links that go down ------------------------------------------------------------------------
 */

static void sync_links(struct observer *ob)
{
    for (uint32_t i = 0; i < ob->f->n_nodes; i++)
        for (uint16_t k = 0; k < ob->f->nodes[i]->n_ports; k++) {
            struct ob_port *p = &ob->nodes[i][k];
            uint32_t downs = p->port->link->downs * 2 + !p->port->link->up;

            if (p->rate_bps != p->port->link->cfg.rate_bps) {
                p->rate_since_ps = ob->now_ps;
                p->rate_bps = p->port->link->cfg.rate_bps;
                if (p->sw)
                    ob_buffer_rate(p);
            }
            if (downs == p->downs)
                continue;
            if (p->port->link->downs != p->downs / 2)
                ob_pause_link_changed(p);
            p->downs = downs;
            p->flapped = true;
            ob->epoch++;
            ob->stats.flaps++;
        }
}

static void time_goes_on(struct observer *ob, const struct wf_port *port)
{
    uint64_t now = wf_now(port);

    if (now < ob->now_ps)
        ob_fail(ob, "time_back", "%s: %" PRIu64 " ps after %" PRIu64, port->name, now, ob->now_ps);
    if (now == ob->now_ps && ob->epoch)
        return;
    ob->now_ps = now;
    sync_links(ob);
    ob->epoch += !ob->epoch;
}

/* --- taps ---------------------------------------------------------------------------------------
 */

/* Whether a MAC control frame should have gone first. A frame that leaves by the port it came in by
 * may end the pause that its own group had asked for: that XON comes of its leaving. */
static bool control_waits(const struct ob_port *p, const struct ob_frame *fr)
{
    const struct wf_fifo_node *n = p->port->control.head;

    if (!n || !fr || fr->in != p || !p->group[fr->pg].xoff)
        return n;
    return n->next || WF_CONTAINER_OF(n, struct wf_pkt, q)->born_ps != p->ob->now_ps;
}

/* Nothing may overlap on the wire. Strict queues: nobody of higher rank waits. */
static void transmitter(struct ob_port *p, const struct wf_pkt *pkt)
{
    struct observer *ob = p->ob;
    bool strict = p->sw && p->cfg->queue[pkt->queue].sched == WF_SCHED_STRICT;

    if (ob->now_ps + 1 < p->end_ps)
        ob_fail(ob, "overlap", "%s begins a frame at %" PRIu64 " ps, the last one ends at %" PRIu64,
                p->port->name, ob->now_ps, p->end_ps);
    if (pkt->p.flags & WF_P_MAC_CONTROL)
        return;
    if (control_waits(p, ob_frame_find(ob, pkt)))
        ob_fail(ob, "control_waits", "%s sends data while a MAC control frame waits",
                p->port->name);
    if (ob_pause_free_ps(p, pkt->queue, ob->now_ps) != ob->now_ps)
        ob_fail(ob, "sent_while_paused",
                "%s begins a frame of queue %u at %" PRIu64 " ps, paused until %" PRIu64,
                p->port->name, pkt->queue, ob->now_ps, ob_pause_free_ps(p, pkt->queue, ob->now_ps));
    for (unsigned q = 0; q < WF_QUEUES && p->sw; q++) {
        const struct wf_fifo_node *n = p->port->q[q].fifo.head;

        if (!n || p->cfg->queue[q].sched != WF_SCHED_STRICT || q == pkt->queue ||
            (strict && q < pkt->queue))
            continue;
        if (p->cfg->queue[pkt->queue].min.rate_bps || ob_sched_free_ps(p, q) > ob->now_ps)
            continue;
        if (WF_CONTAINER_OF(n, struct wf_pkt, q)->ready_ps <= ob->now_ps &&
            ob_pause_free_ps(p, q, ob->now_ps) == ob->now_ps)
            ob_fail(ob, "strict_waits", "%s sends from queue %u while strict queue %u waits",
                    p->port->name, pkt->queue, q);
    }
}

static void on_tx(struct ob_port *p, const struct wf_pkt *pkt)
{
    struct observer *ob = p->ob;
    struct ob_frame *fr = ob_frame_find(ob, pkt);

    ob->stats.frames++;
    if (ob->strange) {
        p->sent++;
        if (p->host && !(pkt->p.flags & WF_P_MAC_CONTROL))
            ob_flow_begun(ob, pkt);
        return;
    }
    transmitter(p, pkt);
    if (p->sw && !(pkt->p.flags & WF_P_MAC_CONTROL))
        ob_sched_sent(p, pkt);
    p->sent++;
    p->end_ps =
        ob->now_ps + ob_span_ps(p->port->link->cfg.rate_bps, pkt->frame_len + WF_WIRE_OVERHEAD);
    wire_push(p, pkt);
    if (pkt->p.flags & WF_P_MAC_CONTROL) {
        ob_pause_sent(p, pkt);
        return;
    }
    if (ob->floods) {
        if (p->host)
            ob_flow_sent(p, pkt, &(struct ob_frame){.pkt = pkt});
        return;
    }
    if (p->host) {
        fr = fr ? fr : frame_new(ob, pkt);
        ob_flow_sent(p, pkt, fr);
    } else if (!fr || !fr->in || fr->in->port->node != p->port->node) {
        ob_fail(ob, "from_nowhere", "%s sends a frame that did not come in there", p->port->name);
        return;
    } else {
        ob_switch_sent(p, fr, pkt);
    }
    ob_flow_order(p, fr);
    fr->in = NULL;
}

static void on_rx(struct ob_port *p, const struct wf_pkt *pkt)
{
    struct ob_frame *fr = ob_frame_find(p->ob, pkt);
    uint64_t head_ps = 0;

    if (p->ob->strange) {
        p->received++;
        if (p->host && !memcmp(wf_pkt_bytes(pkt), p->port->node->mac, 6) && !pkt->malformed &&
            !(pkt->flags & (WF_PKT_DAMAGED | WF_PKT_BAD_ICRC)))
            ob_flow_received(p, pkt);
        return;
    }
    arrived(p, pkt, &head_ps);
    p->received++;
    if (pkt->flags & WF_PKT_DAMAGED)
        return;
    if (pkt->p.flags & WF_P_MAC_CONTROL) {
        ob_pause_received(p, pkt);
    } else if (p->ob->floods) {
        if (p->host && !memcmp(wf_pkt_bytes(pkt), p->port->node->mac, 6))
            ob_flow_received(p, pkt);
    } else if (!fr) {
        ob_fail(p->ob, "from_nowhere", "%s gets a frame that no host sent", p->port->name);
    } else if (p->sw) {
        ob_switch_received(p, pkt, head_ps);
    } else {
        ob_flow_received(p, pkt);
        frame_end(p->ob, fr);
    }
}

static void on_drop(struct ob_port *p, const struct wf_pkt *pkt, enum wf_reason why)
{
    struct observer *ob = p->ob;
    struct ob_frame *fr = ob_frame_find(ob, pkt);
    struct ob_wire *mine = wire_tail(p), *theirs = wire_head(p->peer);

    ob->drops[why]++;
    ob->stats.drops++;
    p->drops++;
    if (ob->strange) {
        if (p->host && why == WF_DROP_LINK_DOWN)
            ob_flow_begun(ob, pkt);
        return;
    }
    if (mine && mine->pkt == pkt && (why == WF_DROP_LINK_LOSS || why == WF_DROP_INJECTED)) {
        p->wire_n--;
        p->lost++;
    } else if (theirs && theirs->pkt == pkt && why == WF_DROP_LINK_DOWN) {
        wire_pop(p->peer);
        p->rx_lost++;
    } else if (fr && p->sw && fr->in) {
        ob_switch_dropped(p, fr, why);
    } else if (p->host && !fr && why == WF_DROP_LINK_DOWN) {
        ob_flow_begun(ob, pkt);
    } else if (p->host && why != WF_DROP_LINK_DOWN && why != WF_DROP_FCS &&
               !(ob->floods && why == WF_DROP_NOT_FOR_US)) {
        ob_fail(ob, "host_drop", "%s refuses a model's frame: %s", p->port->name,
                wf_reason_name(why));
    }
    if (fr)
        frame_end(ob, fr);
}

static void on_tap(struct wf_tap *tap, struct wf_port *port, struct wf_pkt *pkt,
                   enum wf_tap_dir dir, enum wf_reason why)
{
    struct ob_port *p = (struct ob_port *)tap;
    struct observer *ob = p->ob;

    if (ob->kind)
        return;
    time_goes_on(ob, port);
    if (ob->pending && (ob->pending->pkt != pkt || dir != WF_TAP_DROP))
        ob_switch_settle(ob);
    switch (dir) {
    case WF_TAP_TX:
        on_tx(p, pkt);
        break;
    case WF_TAP_RX:
        on_rx(p, pkt);
        break;
    case WF_TAP_DROP:
        on_drop(p, pkt, why);
        ob->pending = NULL;
        break;
    }
}

/* --- between instants --------------------------------------------------------------------------
 */

/* When, from now on, the port could begin its next frame if nothing else happens. What was before
 * now was judged at the last instant, by the pauses of that time. */
static uint64_t could_send_ps(const struct ob_port *p)
{
    const struct wf_port *port = p->port;
    uint64_t best = WF_TIME_NEVER, now = p->ob->now_ps;
    uint64_t from = port->busy_until_ps > now ? port->busy_until_ps : now;

    if (!port->up)
        return best;
    if (port->control.count)
        return from;
    for (unsigned q = 0; q < WF_QUEUES; q++) {
        const struct wf_fifo_node *n = port->q[q].fifo.head;
        uint64_t t, ready;

        if (!n)
            continue;
        ready = WF_CONTAINER_OF(n, struct wf_pkt, q)->ready_ps;
        wf_max_u64(&ready, ob_sched_free_ps(p, q));
        t = ob_pause_free_ps(p, q, ready > from ? ready : from);
        best = t < best ? t : best;
    }
    return best;
}

/* A port with something that may go is not idle. */
static void work_conserved(struct ob_port *p, uint64_t next_ps)
{
    struct observer *ob = p->ob;
    uint64_t t;

    if (!p->port->occupied && !p->port->control.count)
        return;
    t = could_send_ps(p);
    if (t < next_ps)
        ob_fail(ob, "idle_port",
                "%s is idle at %" PRIu64 " ps, it could send from %" PRIu64
                " on; the next event is at %" PRIu64,
                p->port->name, ob->now_ps, t, next_ps);
}

static void counters(struct ob_port *p)
{
    const uint64_t *c = p->port->ctr;
    uint64_t under_way = p->sent - p->lost - p->peer->received - p->peer->rx_lost;

    if (c[WF_PORT_TX_FRAMES] != p->sent || c[WF_PORT_RX_FRAMES] != p->received ||
        c[WF_PORT_DROP_FRAMES] != p->drops || (!p->ob->strange && under_way != p->wire_n))
        ob_fail(p->ob, "link_count",
                "%s sent %" PRIu64 " lost %" PRIu64 ", %s got %" PRIu64 " lost %" PRIu64
                ", %u are under way; its counters say %" PRIu64 " sent, %" PRIu64 " dropped",
                p->port->name, p->sent, p->lost, p->peer->port->name, p->peer->received,
                p->peer->rx_lost, p->wire_n, c[WF_PORT_TX_FRAMES], c[WF_PORT_DROP_FRAMES]);
}

static void check_all(struct observer *ob)
{
    struct wf_err err;

    wf_fabric_settle(ob->f);
    if (wf_fabric_check(ob->f, &err))
        ob_fail(ob, "fabric_check", "%s", err.msg);
    for (uint32_t i = 0; i < ob->f->n_nodes; i++)
        for (uint16_t k = 0; k < ob->f->nodes[i]->n_ports; k++) {
            counters(&ob->nodes[i][k]);
            if (ob->nodes[i][k].sw && !ob->floods && !ob->strange)
                ob_buffer_check(&ob->nodes[i][k]);
        }
}

bool ob_instant(struct observer *ob, uint64_t now_ps, uint64_t next_ps)
{
    if (now_ps > ob->now_ps)
        ob->now_ps = now_ps;
    sync_links(ob);
    if (ob->pending)
        ob_switch_settle(ob);
    ob->stats.instants++;
    for (uint32_t i = 0; i < ob->f->n_nodes && !ob->kind && !ob->strange; i++)
        for (uint16_t k = 0; k < ob->f->nodes[i]->n_ports; k++) {
            work_conserved(&ob->nodes[i][k], next_ps);
            if (ob->nodes[i][k].sw && !ob->floods)
                ob_pause_check(&ob->nodes[i][k]);
        }
    if (!ob->kind && ob->stats.instants % CHECK_EVERY == 0)
        check_all(ob);
    return !ob->kind;
}

static void count_hits(struct observer *ob)
{
    for (uint32_t i = 0; i < ob->f->n_nodes; i++)
        for (uint16_t k = 0; k < ob->f->nodes[i]->n_ports; k++)
            for (const struct wf_fault *x = wf_faults_of(&ob->f->nodes[i]->ports[k]); x;
                 x = x->next)
                ob->stats.faults += x->event ? x->hits : 0;
}

bool ob_final(struct observer *ob)
{
    uint64_t drops = 0;

    check_all(ob);
    count_hits(ob);
    for (unsigned why = 0; why < WF_DROP_COUNT; why++)
        drops += ob->drops[why];
    if (drops != wf_fabric_ctr(ob->f, WF_FABRIC_DROPPED))
        ob_fail(ob, "drop_count", "%" PRIu64 " drops were seen, %" PRIu64 " counted", drops,
                wf_fabric_ctr(ob->f, WF_FABRIC_DROPPED));
    if (wf_fabric_in_flight(ob->f))
        ob_fail(ob, "left_over", "nothing is left to do, but %" PRIu64 " packets are in flight",
                wf_fabric_in_flight(ob->f));
    ob_flow_final(ob);
    return !ob->kind;
}

/* --- begin and end ------------------------------------------------------------------------------
 */

static void begin_port(struct observer *ob, struct ob_port *p, struct wf_port *port)
{
    uint32_t n = port->node->index, switches = ob->f->desc->n_switches;
    uint32_t flows = 2 * ob->f->desc->n_flows + 1;

    p->ob = ob;
    p->port = port;
    p->rate_bps = port->link->cfg.rate_bps;
    if (n < switches)
        p->sw = &ob->f->desc->switches[n].cfg;
    if (p->sw)
        p->cfg = wf_desc_port_cfg(ob->f->desc, (uint32_t)(port->link - ob->f->links),
                                  port->link->ends[1] == port);
    else
        p->host = &ob->f->desc->hosts[n - switches].cfg;
    for (unsigned q = 0; q < WF_QUEUES && p->cfg; q++)
        ob->wred |= p->cfg->queue[q].ecn.drop;
    ob->floods |= p->sw && p->sw->mac_age_ps != WF_KEY_AUTO;
    ob->overtakes |= p->sw && p->sw->lb.mode != WF_LB_ECMP;
    p->pfc = p->cfg ? &p->cfg->pfc : &p->host->pfc;
    p->last_serial = calloc(flows, sizeof(*p->last_serial));
    p->last_epoch = calloc(flows, sizeof(*p->last_epoch));
    WF_ASSERT(p->last_serial && p->last_epoch);
    p->tap.fn = on_tap;
    wf_port_tap(port, &p->tap);
}

/* What is lost, damaged or marked on a link is accounted for; other frames than were sent are not.
 */
static bool is_strange(const struct wf_fault *f)
{
    return f->action != WF_FAULT_DROP && f->action != WF_FAULT_CE &&
           (f->action != WF_FAULT_CORRUPT || f->how.crc != WF_FAULT_CRC_FCS);
}

void ob_begin(struct observer *ob, struct wf_fabric *f, bool lossless)
{
    *ob = (struct observer){.f = f, .lossless = lossless};
    ob->nodes = calloc(f->n_nodes, sizeof(*ob->nodes));
    ob->buffers = calloc(f->desc->n_switches + 1, sizeof(*ob->buffers));
    ob->table = calloc(TABLE, sizeof(*ob->table));
    ob->flows = calloc(f->desc->n_flows + 1, sizeof(*ob->flows));
    WF_ASSERT(ob->nodes && ob->buffers && ob->table && ob->flows);
    for (uint32_t i = 0; i < f->desc->n_flows; i++)
        ob->flows[i].cfg = &f->desc->flows[i];
    for (uint32_t i = 0; i < f->desc->n_faults; i++)
        ob->strange |= is_strange(&f->desc->faults[i].fault);
    if (ob->strange)
        ob_flow_begins(ob);
    for (uint32_t i = 0; i < f->n_nodes; i++) {
        ob->nodes[i] = calloc(f->nodes[i]->n_ports + 1u, sizeof(struct ob_port));
        WF_ASSERT(ob->nodes[i]);
        for (uint16_t k = 0; k < f->nodes[i]->n_ports; k++)
            begin_port(ob, &ob->nodes[i][k], &f->nodes[i]->ports[k]);
    }
    for (uint32_t i = 0; i < f->n_nodes; i++)
        for (uint16_t k = 0; k < f->nodes[i]->n_ports; k++)
            ob->nodes[i][k].peer = ob_port_of(ob, f->nodes[i]->ports[k].peer);
    for (uint32_t i = 0; i < f->desc->n_switches; i++)
        for (uint16_t k = 0; k < f->nodes[i]->n_ports; k++)
            ob_buffer_begin(&ob->nodes[i][k]);
}

void ob_end(struct observer *ob)
{
    for (uint32_t i = 0; i < ob->f->n_nodes; i++) {
        for (uint16_t k = 0; k < ob->f->nodes[i]->n_ports; k++) {
            free(ob->nodes[i][k].wire);
            free(ob->nodes[i][k].last_serial);
            free(ob->nodes[i][k].last_epoch);
        }
        free(ob->nodes[i]);
    }
    for (uint32_t i = 0; i < TABLE; i++)
        while (ob->table[i])
            frame_end(ob, ob->table[i]);
    while (ob->spare) {
        struct ob_frame *fr = ob->spare;

        ob->spare = fr->next;
        free(fr);
    }
    free(ob->nodes);
    free(ob->buffers);
    free(ob->table);
    free(ob->flows);
}
