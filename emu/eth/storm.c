/* SPDX-License-Identifier: BSD-3-Clause */
#include "eth/storm.h"

#include "base/assert.h"
#include "wire/pfc.h"

enum { WAITING_MAX = 4 };

struct storm {
    struct wf_event ev;
    struct wf_port *port;
    struct wf_storm_cfg cfg;
    uint64_t left;
};

static void send(const struct storm *s)
{
    struct wf_port *port = s->port;
    struct wf_pkt *pkt = wf_pkt_new(port->node->net, WF_PFC_FRAME_LEN);
    uint16_t times[WF_PRIOS];

    if (!pkt)
        return;
    for (unsigned i = 0; i < WF_PRIOS; i++)
        times[i] = s->cfg.quanta;
    if (s->cfg.pause)
        wf_pause_build(wf_pkt_hdr_rw(pkt), port->node->mac, s->cfg.quanta);
    else
        wf_pfc_build(wf_pkt_hdr_rw(pkt), port->node->mac, s->cfg.vector, times);
    pkt->frame_len = WF_FRAME_MIN;
    pkt->payload = WF_PAYLOAD_REAL;
    WF_ASSERT(wf_pkt_parse(pkt) == WF_DROP_NONE);
    wf_pkt_generated(port->node->net, pkt);
    wf_port_control(port, pkt);
}

static void fire(struct wf_lcore *lc, struct wf_event *ev)
{
    struct storm *s = WF_CONTAINER_OF(ev, struct storm, ev);
    struct wf_port *port = s->port;

    if (port->up && port->control.count < WAITING_MAX)
        send(s);
    if (!s->cfg.period_ps || (s->left && !--s->left))
        return;
    wf_lcore_schedule(lc, &s->ev, lc->now_ps + s->cfg.period_ps,
                      wf_event_key(port->entity, WF_EV_TIMER, port->seq++), fire);
}

void wf_storm_start(struct wf_port *port, const struct wf_storm_cfg *cfg, struct wf_arena *arena)
{
    struct storm *s = WF_ARENA_NEW(arena, struct storm);

    s->port = port;
    s->cfg = *cfg;
    s->left = cfg->limit;
    wf_lcore_schedule(port->node->net->lc, &s->ev, port->node->net->lc->now_ps,
                      wf_event_key(port->entity, WF_EV_TIMER, port->seq++), fire);
}

uint64_t wf_storm_packets(const struct wf_storm_cfg *cfg, uint64_t delay_ps, uint64_t rate_bps)
{
    uint64_t fit = (uint64_t)((unsigned __int128)delay_ps * rate_bps / WF_PS_PER_S /
                              ((WF_FRAME_MIN + WF_WIRE_OVERHEAD) * 8)) +
                   1;
    uint64_t n = cfg->period_ps ? delay_ps / cfg->period_ps + 1 : 1;

    n = n < fit ? n : fit;
    n = cfg->limit && cfg->limit < n ? cfg->limit : n;
    return n + WAITING_MAX;
}
