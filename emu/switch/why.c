/* SPDX-License-Identifier: BSD-3-Clause */
/* See why.h. */
#include "switch/why.h"

#include "eth/pfc.h"
#include "wire/edit.h"

static uint32_t u32(uint64_t v)
{
    return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

void wf_switch_why_admit_rec(struct wf_why *w, const struct wf_switch *sw, const struct wf_visit *v,
                             const struct wf_pg *pg, enum wf_reason why)
{
    const struct wf_queue *q = &v->out->q[v->pkt->queue];
    struct wf_why_rec rec;

    if (!wf_why_begin(w, &rec, WF_WHY_ADMIT, v->in, v->pkt))
        return;
    rec.reason = (uint8_t)why;
    rec.admit = (struct wf_why_admit){
        .pg_bytes = pg->ctr[WF_PG_BYTES],
        .pg_limit = wf_switch_xoff_point(sw, pg),
        .pg_room = pg->lossless ? pg->lim.headroom : 0,
        .pool_bytes = sw->ipool[pg->pool].ctr[WF_POOL_BYTES],
        .pool_size = sw->ipool[pg->pool].shared,
        .queue_bytes = q->ctr[WF_QUEUE_BYTES],
        .queue_limit = wf_switch_class(sw, v->out)->cfg->queue[v->pkt->queue].limit_bytes,
        .out = v->out->index,
        .lossless = pg->lossless,
    };
    v->pkt->why = (struct wf_pkt_why){.admitted = true,
                                      .pg_bytes = u32(rec.admit.pg_bytes),
                                      .pg_limit = u32(rec.admit.pg_limit),
                                      .pool_bytes = u32(rec.admit.pool_bytes)};
    w->put(w, &rec);
}

/* Whether a received pause stops the queue now, and until when. */
static bool stopped(const struct wf_port *out, unsigned queue, uint64_t *until_ps)
{
    uint64_t until;
    bool any = false;

    *until_ps = 0;
    for (unsigned prio = 0; prio < WF_PRIOS; prio++)
        if (wf_pfc_of(out)->queue_of_prio[prio] == queue && wf_pfc_paused(out, prio, &until)) {
            any = true;
            wf_max_u64(until_ps, until);
        }
    return any;
}

void wf_switch_why_pg_rec(struct wf_why *w, const struct wf_switch *sw, const struct wf_port *in,
                          const struct wf_pg *pg, bool xoff)
{
    const struct wf_blame *b = &pg->blames->of[pg->blames->last];
    const struct wf_port *out = &sw->node.ports[b->port];
    struct wf_why_rec rec;

    if (!wf_why_begin(w, &rec, xoff ? WF_WHY_XOFF : WF_WHY_XON, in, NULL))
        return;
    rec.pg = (uint8_t)(pg - sw->pg[in->index]);
    rec.prio = pg->prio;
    rec.queue = b->queue;
    rec.pause = (struct wf_why_pause){
        .pg_bytes = pg->ctr[WF_PG_BYTES],
        .pg_limit = xoff ? wf_switch_xoff_point(sw, pg) : wf_switch_xon_level(sw, pg),
        .queue_bytes = out->q[b->queue].ctr[WF_QUEUE_BYTES],
        .out = out->index,
    };
    rec.pause.stopped = stopped(out, b->queue, &rec.pause.until_ps);
    w->put(w, &rec);
}

void wf_switch_why_mark_rec(struct wf_why *w, const struct wf_switch *sw, const struct wf_port *out,
                            struct wf_pkt *pkt, uint64_t queue_bytes,
                            const struct wf_ecn_draw *draw, bool decided)
{
    const struct wf_queue_cfg *c = &wf_switch_class(sw, out)->cfg->queue[pkt->queue];
    bool capable = pkt->p.ecn != WF_ECN_NOT_ECT;
    struct wf_why_rec rec;

    if (!wf_why_begin(w, &rec, WF_WHY_MARK, out, pkt))
        return;
    rec.mark = (struct wf_why_mark){
        .queue_bytes = queue_bytes,
        .kmin = c->ecn.kmin_bytes,
        .kmax = c->ecn.kmax_bytes,
        .chance = draw->chance,
        .of = draw->of,
        .draw = draw->draw,
        .marked = decided && capable,
        .dropped = decided && !capable,
        .at_enqueue = !capable || c->mark_at == WF_MARK_ENQUEUE,
        .was_ce = pkt->p.ecn == WF_ECN_CE,
    };
    pkt->why.looked = true;
    pkt->why.drawn = draw->of;
    pkt->why.mark_bytes = u32(queue_bytes);
    pkt->why.chance_ppm = draw->of ? (uint32_t)((double)draw->chance / (double)draw->of * 1e6) : 0;
    pkt->why.draw_ppm = draw->of ? (uint32_t)((double)draw->draw / (double)draw->of * 1e6) : 0;
    w->put(w, &rec);
}

void wf_switch_why_trim_rec(struct wf_why *w, const struct wf_visit *v, uint32_t was_bytes,
                            unsigned queue, enum wf_reason why)
{
    struct wf_why_rec rec;

    if (!wf_why_begin(w, &rec, WF_WHY_TRIM, v->out, v->pkt))
        return;
    rec.reason = (uint8_t)why;
    rec.queue = (uint8_t)queue;
    rec.trim = (struct wf_why_trim){was_bytes, v->pkt->queue, v->pkt->p.dscp};
    w->put(w, &rec);
}

void wf_switch_why_watchdog_rec(struct wf_why *w, const struct wf_port *port, unsigned prio,
                                unsigned queue, const char *action, bool storm)
{
    struct wf_why_rec rec;

    if (!wf_why_begin(w, &rec, WF_WHY_WATCHDOG, port, NULL))
        return;
    rec.prio = (uint8_t)prio;
    rec.queue = (uint8_t)queue;
    rec.watchdog = (struct wf_why_watchdog){port->q[queue].ctr[WF_QUEUE_BYTES], action, storm};
    w->put(w, &rec);
}
