/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/fault.h"

#include <stdio.h>
#include <string.h>

#include "net/fault_qps.h"
#include "wire/bth.h"
#include "wire/edit.h"

const char *const wf_fault_class_names[] = {"roce_data", "roce_ack", "roce",
                                            "any",       "control",  NULL};

const char *const wf_fault_action_names[] = {
    "drop", "ce",  "corrupt", "duplicate", "reorder", "delay", "truncate", "nak",
    "rnr",  "ack", "cnp",     "pfc",       "pause",   "end",   "learn",    NULL};

/* --- which packets ---------------------------------------------------------------------------- */

static bool of_class(enum wf_fault_class class, const struct wf_parsed *p)
{
    const struct wf_opcode *op = &wf_opcodes[p->opcode];

    if (class == WF_FAULT_CONTROL || p->flags & WF_P_MAC_CONTROL)
        return class == WF_FAULT_CONTROL && p->flags & WF_P_MAC_CONTROL;
    if (class == WF_FAULT_ANY)
        return true;
    if (!(p->flags & WF_P_BTH))
        return false;
    if (class == WF_FAULT_ROCE_DATA)
        return (op->flags & WF_OPF_PAYLOAD) && p->payload_len > 0;
    if (class == WF_FAULT_ROCE_ACK)
        return p->flags & WF_P_AETH && !(op->flags & WF_OPF_PAYLOAD);
    return true;
}

static bool is_addr(const struct wf_fault_addr *a, const uint8_t *ip, bool v4)
{
    if (!a->has4 && !a->has6)
        return true;
    return v4 ? a->has4 && !memcmp(a->ip4, ip, 4) : a->has6 && !memcmp(a->ip6, ip, 16);
}

static bool is_qp(const struct wf_fault_ends *e, const struct wf_parsed *p,
                  const struct wf_stream *s)
{
    if (!e->has_qpn)
        return true;
    if (!e->by_mate)
        return p->flags & WF_P_BTH && p->dqpn == e->qpn;
    return s && s->qp->half.mate && s->qp->half.mate->qpn == e->qpn;
}

static bool goes_between(const struct wf_fault_ends *e, const struct wf_pkt *pkt,
                         const struct wf_stream *s)
{
    const struct wf_parsed *p = &pkt->p;
    const uint8_t *ip = wf_pkt_bytes(pkt) + p->l3_off;
    bool v4 = p->flags & WF_P_IP4;

    if (!(p->flags & (WF_P_IP | WF_P_ROCEV1)))
        return false;
    return is_qp(e, p, s) && is_addr(&e->src, ip + (v4 ? 12 : 8), v4) &&
           is_addr(&e->dst, ip + (v4 ? 16 : 24), v4);
}

static bool of_ends(const struct wf_fault *f, const struct wf_pkt *pkt, const struct wf_stream *s)
{
    for (uint32_t i = 0; i < f->n_ends; i++)
        if (goes_between(&f->ends[i], pkt, s))
            return true;
    return !f->n_ends;
}

static bool of_psn(const struct wf_fault_psns *r, uint32_t psn, const struct wf_stream *s)
{
    if (r->relative && !s)
        return false;
    if (r->relative)
        psn = psn - s->first_psn;
    return ((psn - r->first) & WF_PSN_MASK) <= ((r->last - r->first) & WF_PSN_MASK);
}

/* What a RoCE packet's headers and its stream say; s is NULL when the stream is not known. */
static bool of_roce(const struct wf_fault *f, const struct wf_parsed *p, const struct wf_stream *s)
{
    if (f->by_opcode && !(f->opcodes[p->opcode / 8] >> p->opcode % 8 & 1))
        return false;
    if (f->psn.used && !of_psn(&f->psn, p->psn, s))
        return false;
    if (f->ordinal && (!s || s->qp->ordinal != f->ordinal))
        return false;
    if (f->message && (!s || wf_stream_message(s, p->psn) != f->message))
        return false;
    return !f->iteration || (s && wf_stream_passes(s, p->psn) == f->iteration);
}

static bool asks_roce(const struct wf_fault *f)
{
    return f->by_opcode || f->psn.used || f->ordinal || f->message || f->iteration;
}

static bool matches(const struct wf_fault *f, const struct wf_pkt *pkt, const struct wf_stream *s,
                    uint64_t now)
{
    if (now < f->from_ps || (f->until_ps && now >= f->until_ps))
        return false;
    if (!of_class(f->match, &pkt->p) || !of_ends(f, pkt, s))
        return false;
    return !asks_roce(f) || (pkt->p.flags & WF_P_BTH && of_roce(f, &pkt->p, s));
}

/* RFC 3168, 5: only what says that it is ECN-capable is marked; what is marked already is left. */
static bool may_mark(const struct wf_fault *f, const struct wf_parsed *p)
{
    return p->flags & WF_P_IP && p->ecn != WF_ECN_CE && (f->how.force || p->ecn != WF_ECN_NOT_ECT);
}

/* Of those that match, the ones that it takes. */
static bool takes(struct wf_fault *f)
{
    f->matched++;
    if (f->nth && f->matched != f->nth)
        return false;
    if (f->every > 1 && f->matched % f->every)
        return false;
    return !f->chance.den || wf_prng_below(&f->prng, f->chance.den) < f->chance.num;
}

/* --- what becomes of them --------------------------------------------------------------------- */

/* The packet that was held, and its copies, behind what is there. */
static void let_go(struct wf_fault *f, struct wf_port *port, struct wf_fifo *behind)
{
    struct wf_pkt *pkt = f->held, *copy;

    f->held = NULL;
    port->faults->held--;
    pkt->ready_ps = f->held_delay_ps;
    wf_fifo_push(behind, &pkt->q);
    while (f->held_copies && (copy = wf_pkt_replicate(port->node->net, pkt))) {
        f->held_copies--;
        copy->ready_ps = 0;
        wf_fifo_push(behind, &copy->q);
    }
}

/* Nobody came to pass it. */
static void too_long(struct wf_lcore *lc, struct wf_event *ev)
{
    struct wf_fault *f = WF_CONTAINER_OF(ev, struct wf_fault, release);
    struct wf_fifo all = {0};

    let_go(f, f->port, &all);
    wf_port_extras(f->port, &all);
}

static bool hold(struct wf_fault *f, struct wf_port *port, struct wf_fate *fate)
{
    if (f->held)
        return false; /* one at a time */
    f->held = fate->pkt;
    f->left = f->how.behind;
    f->held_copies = fate->copies;
    f->held_delay_ps = fate->delay_ps;
    fate->pkt = NULL;
    fate->copies = 0;
    port->faults->held++;
    wf_lcore_schedule(port->node->net->lc, &f->release, wf_now(port) + f->how.within_ps,
                      wf_event_key(port->entity, WF_EV_TIMER, port->seq++), too_long);
    return true;
}

static bool mark(struct wf_pkt *pkt)
{
    wf_edit_set_ecn(wf_pkt_hdr_rw(pkt), &pkt->p, WF_ECN_CE);
    pkt->flags |= WF_PKT_MARKED;
    wf_pkt_edited(pkt);
    return true;
}

/* False: it could not be done. */
static bool act(struct wf_fault *f, struct wf_port *port, const struct wf_stream *s,
                struct wf_fate *fate)
{
    switch (f->action) {
    case WF_FAULT_DROP:
        fate->why = WF_DROP_INJECTED;
        return true;
    case WF_FAULT_CE:
        return mark(fate->pkt);
    case WF_FAULT_CORRUPT:
        return wf_fault_corrupt(f, port->node->net, fate);
    case WF_FAULT_TRUNCATE:
        return wf_fault_truncate(f, port->node->net, fate);
    case WF_FAULT_DUPLICATE:
        fate->copies += f->how.copies ? f->how.copies : 1;
        return true;
    case WF_FAULT_DELAY:
        fate->delay_ps += f->how.delay_ps;
        return true;
    case WF_FAULT_REORDER:
        return hold(f, port, fate);
    default:
        return wf_fault_make(f, port, s, fate);
    }
}

static void one(struct wf_fault *f, struct wf_port *port, const struct wf_stream *s,
                struct wf_fate *fate)
{
    uint64_t now = wf_now(port);
    bool passes_held;

    if (f->at_time || (!f->held && f->limit && f->hits == f->limit))
        return;
    if (!matches(f, fate->pkt, s, now))
        return;
    if (f->action == WF_FAULT_CE && !may_mark(f, &fate->pkt->p)) {
        f->lacking++;
        return;
    }
    passes_held = f->held && !--f->left;
    if ((!f->limit || f->hits < f->limit) && takes(f)) {
        bool done = act(f, port, s, fate);

        f->hits += done;
        f->lacking += !done && f->action != WF_FAULT_REORDER;
    }
    if (passes_held) {
        wf_lcore_cancel(port->node->net->lc, &f->release);
        let_go(f, port, &fate->behind);
    }
}

void wf_faults_pass(struct wf_port *port, struct wf_fate *fate)
{
    struct wf_fault_streams *streams = port->faults->streams;
    const struct wf_stream *s = streams ? wf_streams_note(streams, fate->pkt, true) : NULL;

    for (struct wf_fault *f = port->faults->first; f && fate->pkt && !fate->why; f = f->next)
        one(f, port, s, fate);
}

/* --- a port's faults -------------------------------------------------------------------------- */

static void begin_draws(struct wf_fault *f, const struct wf_port *port, unsigned number)
{
    char name[128];

    snprintf(name, sizeof(name), "fault %u of %s", number, port->name);
    wf_prng_init(&f->prng, port->node->net->seed, name);
}

/* --- at a time, without a packet ----------------------------------------------------------------
 */

static bool is_meant(const struct wf_fault_ends *e, const struct wf_stream_qp *qp)
{
    bool v4 = qp->like.roce.encap == WF_ROCE_V2_IP4;
    const struct wf_half *h = &qp->half;

    if (e->has_qpn && (e->by_mate ? !h->mate || h->mate->qpn != e->qpn : h->qpn != e->qpn))
        return false;
    return is_addr(&e->src, h->src + (v4 ? 12 : 0), v4) &&
           is_addr(&e->dst, h->dst + (v4 ? 12 : 0), v4);
}

static bool means(const struct wf_fault *f, const struct wf_stream_qp *qp)
{
    if (!qp->out || qp->half.qpn <= 1 || (f->ordinal && qp->ordinal != f->ordinal))
        return false;
    for (uint32_t i = 0; i < f->n_ends; i++)
        if (is_meant(&f->ends[i], qp))
            return true;
    return !f->n_ends;
}

static void it_is_time(struct wf_lcore *lc, struct wf_event *ev)
{
    struct wf_fault *f = WF_CONTAINER_OF(ev, struct wf_fault, due);
    const struct wf_halves *t = &f->port->faults->streams->halves;

    for (uint32_t i = 0; i < t->used && !(f->limit && f->hits == f->limit); i++) {
        struct wf_stream_qp *qp = (struct wf_stream_qp *)(void *)(t->records + t->size * i);

        if (means(f, qp) && wf_fault_make_for(f, f->port, qp)) {
            f->matched++;
            f->hits++;
        }
    }
    f->lacking += !f->hits;
    f->until_ps = lc->now_ps;
}

static void set_time(struct wf_fault *f, struct wf_port *port)
{
    uint64_t now = wf_now(port);

    wf_lcore_schedule(port->node->net->lc, &f->due, f->from_ps > now ? f->from_ps : now,
                      wf_event_key(port->entity, WF_EV_TIMER, port->seq++), it_is_time);
}

void wf_faults_learn(struct wf_port *port, struct wf_arena *arena)
{
    if (!port->faults)
        port->faults = WF_ARENA_NEW(arena, struct wf_faults);
    if (!port->faults->streams)
        port->faults->streams = wf_streams_new(port, arena);
    port->risky = true;
}

void wf_faults_add(struct wf_port *port, struct wf_fault *fault, struct wf_arena *arena)
{
    struct wf_fault **at;

    if (!port->faults)
        port->faults = WF_ARENA_NEW(arena, struct wf_faults);
    for (at = &port->faults->first; *at;)
        at = &(*at)->next;
    *at = fault;
    fault->next = NULL;
    fault->port = port;
    port->faults->n_injected += !fault->event;
    begin_draws(fault, port, port->faults->added++);
    if (fault->needs_streams)
        wf_faults_learn(port, arena);
    if (fault->iteration)
        wf_streams_count(port->faults->streams, arena);
    port->risky = true;
    if (fault->at_time)
        set_time(fault, port);
}

void wf_faults_end(struct wf_port *port, bool coming_in)
{
    for (struct wf_fault *f = port->faults ? port->faults->first : NULL; f; f = f->next) {
        if (f->coming_in != coming_in)
            continue;
        f->until_ps = 1;
        if (wf_event_pending(&f->due))
            wf_lcore_cancel(port->node->net->lc, &f->due);
    }
}

static bool has_ended(const struct wf_fault *f, uint64_t now)
{
    if (f->held || wf_event_pending(&f->due))
        return false;
    return (f->until_ps && now >= f->until_ps) || (f->limit && f->hits >= f->limit) ||
           (f->nth && f->matched >= f->nth);
}

bool wf_faults_room(const struct wf_port *port)
{
    uint32_t living = 0;

    for (const struct wf_fault *f = wf_faults_of(port); f; f = f->next)
        living += !f->event && !has_ended(f, wf_now(port));
    return living < WF_FAULTS_INJECTED;
}

struct wf_fault *wf_faults_reuse(struct wf_port *port)
{
    struct wf_faults *all = port->faults;

    if (!all || all->n_injected < WF_FAULTS_INJECTED)
        return NULL;
    for (struct wf_fault **at = &all->first, *f; (f = *at); at = &f->next) {
        if (f->event || !has_ended(f, wf_now(port)))
            continue;
        all->n_injected--;
        all->gone++;
        all->idle += !f->hits && !f->may_not_fire;
        *at = f->next;
        return f;
    }
    return NULL;
}

const struct wf_fault *wf_faults_of(const struct wf_port *port)
{
    return port->faults ? port->faults->first : NULL;
}

void wf_fault_packets(const struct wf_fault *f, uint64_t data, uint64_t *hdr, uint64_t *full)
{
    enum { MOST = 2048 };
    uint64_t hits = f->nth ? 1 : f->every > 1 ? data / f->every + 1 : data + MOST / 4;

    if (f->limit && f->limit < hits)
        hits = f->limit;
    *hdr += (hits + 1) * (f->how.copies + 1ull);
    if (f->action == WF_FAULT_CORRUPT || f->action == WF_FAULT_TRUNCATE)
        *full += hits < MOST ? hits : MOST;
}
