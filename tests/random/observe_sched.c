/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shapers by what was sent: a level that rises by each frame's bits and falls with the rate, exact
 * in bits times picoseconds. While it is above the burst nothing more may begin.
 */
#include "observe.h"

#include <inttypes.h>

static void fall(struct ob_level *l, uint64_t rate_bps, uint64_t now)
{
    unsigned __int128 by = (unsigned __int128)(now - l->at_ps) * rate_bps;

    l->level = l->level > by ? l->level - by : 0;
    l->at_ps = now;
}

static uint64_t free_ps(const struct ob_level *l, const struct wf_shaper_cfg *c)
{
    unsigned __int128 burst = (unsigned __int128)c->burst_bytes * 8 * WF_PS_PER_S;

    return l->level <= burst ? l->at_ps : l->at_ps + (uint64_t)((l->level - burst) / c->rate_bps);
}

static bool takes(struct ob_level *l, const struct wf_shaper_cfg *c, uint64_t now, uint32_t len)
{
    bool early = c->rate_bps && now + 1 < free_ps(l, c);

    if (c->rate_bps) {
        fall(l, c->rate_bps, now);
        l->level += (unsigned __int128)(len + WF_WIRE_OVERHEAD) * 8 * WF_PS_PER_S;
    }
    return early;
}

void ob_sched_sent(struct ob_port *p, const struct wf_pkt *pkt)
{
    const struct wf_queue_cfg *q = &p->cfg->queue[pkt->queue];

    if (takes(&p->shaped, &p->cfg->max, p->ob->now_ps, pkt->frame_len))
        ob_fail(p->ob, "port_rate", "%s sends faster than its max_rate at %" PRIu64 " ps",
                p->port->name, p->ob->now_ps);
    if (takes(&p->q_shaped[pkt->queue], &q->max, p->ob->now_ps, pkt->frame_len))
        ob_fail(p->ob, "queue_rate", "%s.q%u sends faster than its max_rate at %" PRIu64 " ps",
                p->port->name, pkt->queue, p->ob->now_ps);
}

uint64_t ob_sched_free_ps(const struct ob_port *p, unsigned queue)
{
    uint64_t t = 0;

    if (!p->sw)
        return 0;
    /* one more: the shaper's picosecond is the next whole one, and rounding is its own */
    if (p->cfg->max.rate_bps)
        wf_max_u64(&t, free_ps(&p->shaped, &p->cfg->max) + 2);
    if (p->cfg->queue[queue].max.rate_bps)
        wf_max_u64(&t, free_ps(&p->q_shaped[queue], &p->cfg->queue[queue].max) + 2);
    return t;
}
