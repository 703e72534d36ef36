/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/stormsource.h"

#include "switch/watchdog.h"

enum { LARGEST_FRAME = 9216 + 40 };

/* How long a port kept its peer's priority paused for its own buffers. 802.3x stops all. */
static uint64_t asked_ps(const struct wf_port *p, unsigned prio)
{
    const struct wf_pfc_port *pfc = wf_pfc_of(p);
    uint64_t sum = 0;

    if (pfc->cfg.flow_control == WF_FLOW_PFC)
        return wf_pfc_priorities(&pfc->cfg) >> prio & 1 ? p->prio_ctr[prio][WF_PRIO_PAUSING_PS] : 0;
    for (unsigned i = 0; i < WF_PRIOS && pfc->cfg.flow_control == WF_FLOW_PAUSE; i++)
        sum += p->prio_ctr[i][WF_PRIO_PAUSING_PS];
    return sum;
}

/* What a pause may last longer than it was asked for: each may end late by the frame that its XON
 * waited for, and where frames were lost, or the link was, by all of its quanta. */
static uint64_t allowance_ps(const struct wf_port *p, unsigned prio)
{
    const struct wf_port *from = p->peer;
    uint64_t pauses = 1 + p->prio_ctr[prio][WF_PRIO_XOFF_RX] + p->ctr[WF_PORT_PAUSE_RX_FRAMES];
    uint64_t lost = from->tx_lost + p->rx_lost + p->ctr[WF_PORT_LINK_DOWN_EVENTS];

    return pauses * wf_txclock_span(&from->tx, LARGEST_FRAME * 8ull) +
           lost * wf_pfc_quanta_ps(p, UINT16_MAX) + p->link->cfg.delay_ps;
}

static const uint64_t *watchdog_of(const struct wf_port *p, unsigned prio)
{
    const struct wf_switch *sw = (const struct wf_switch *)p->node;

    if (p->node->ops != &wf_switch_ops || !sw->watchdog || !sw->watchdog[p->index])
        return NULL;
    return sw->watchdog[p->index]->prio[prio].ctr;
}

static bool storms(struct wf_port *p, unsigned prio, struct wf_storm_source *s)
{
    const uint64_t *c = p->prio_ctr[prio];

    *s = (struct wf_storm_source){.port = p->peer,
                                  .prio = (uint8_t)prio,
                                  .paused_ps = c[WF_PRIO_PAUSED_PS],
                                  .asked_ps = asked_ps(p->peer, prio),
                                  .frames = c[WF_PRIO_XOFF_RX] + c[WF_PRIO_REFRESH_RX] +
                                            p->ctr[WF_PORT_PAUSE_RX_FRAMES],
                                  .watchdog = watchdog_of(p, prio)};
    return s->paused_ps > s->asked_ps + allowance_ps(p, prio);
}

static uint32_t walk(struct wf_fabric *f, struct wf_storm_source *v)
{
    struct wf_storm_source s;
    uint32_t n = 0;

    for (uint32_t i = 0; i < f->n_nodes; i++)
        for (uint16_t p = 0; p < f->nodes[i]->n_ports; p++)
            for (unsigned prio = 0; prio < WF_PRIOS; prio++) {
                if (!storms(&f->nodes[i]->ports[p], prio, &s))
                    continue;
                if (v)
                    v[n] = s;
                n++;
            }
    return n;
}

void wf_storm_sources(struct wf_fabric *f, struct wf_arena *arena, struct wf_storm_sources *s)
{
    s->n = walk(f, NULL);
    s->v = WF_ARENA_ARRAY(arena, struct wf_storm_source, s->n + 1);
    walk(f, s->v);
}
