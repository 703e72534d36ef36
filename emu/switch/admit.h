/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Admission and release in the common case, in one piece with the pipeline; all else is mmu.c's.
 * The common case is a group whose frames are counted in bytes, at ingress alone, to one threshold
 * below which it holds no headroom: all is in its share of the pool.
 */
#ifndef WEFT_SWITCH_ADMIT_H
#define WEFT_SWITCH_ADMIT_H

#include "switch/switch.h"

/* mmu.c, with everything that may be to be looked at */
enum wf_step wf_switch_admit_closely(struct wf_switch *sw, struct wf_visit *v);
void wf_switch_release_closely(struct wf_switch *sw, struct wf_pkt *pkt);

/* The packet is the group's from now on, which has booked so many bytes for it. */
static inline void wf_switch_charge(struct wf_visit *v, struct wf_pg *pg, uint64_t bytes)
{
    struct wf_pkt *pkt = v->pkt;

    pkt->flags |= WF_PKT_ACCOUNTED;
    pkt->charge = (uint16_t)bytes;
    pkt->at = &pg->ctr[WF_PG_BYTES];
    v->in->rx_ahead = pkt->at;
    pkt->out = v->out->tx_index;
    pg->ctr[WF_PG_RX_FRAMES]++;
}

static inline enum wf_step wf_switch_admit(struct wf_switch *sw, struct wf_visit *v)
{
    struct wf_pg *pg = &sw->pg[v->in->index][v->pkt->pg];
    struct wf_pool *pool = &sw->ipool[pg->pool];
    uint64_t bytes = v->pkt->frame_len, held = pg->ctr[WF_PG_BYTES] + bytes;
    uint64_t pooled = pool->ctr[WF_POOL_BYTES] + bytes, used = sw->used_bytes + bytes, shared;

    if (held > pg->calm || pooled > pool->shared || used > sw->buffer_bytes || sw->node.net->why)
        return wf_switch_admit_closely(sw, v);
    shared = pg->ctr[WF_PG_SHARED_BYTES] + bytes;
    pg->ctr[WF_PG_BYTES] = held;
    pg->ctr[WF_PG_MAX_BYTES] = wf_most(pg->ctr[WF_PG_MAX_BYTES], held);
    pg->ctr[WF_PG_SHARED_BYTES] = shared;
    pg->ctr[WF_PG_SHARED_MAX_BYTES] = wf_most(pg->ctr[WF_PG_SHARED_MAX_BYTES], shared);
    pool->ctr[WF_POOL_BYTES] = pooled;
    pool->ctr[WF_POOL_MAX_BYTES] = wf_most(pool->ctr[WF_POOL_MAX_BYTES], pooled);
    sw->used_bytes = used;
    wf_switch_charge(v, pg, bytes);
    return WF_NEXT;
}

static inline void wf_switch_release(struct wf_switch *sw, struct wf_pkt *pkt)
{
    uint64_t bytes = pkt->charge;
    struct wf_pg *pg;

    if (!(pkt->flags & WF_PKT_ACCOUNTED))
        return;
    pg = WF_CONTAINER_OF(pkt->at, struct wf_pg, ctr[WF_PG_BYTES]);
    if (pg->stirred) {
        wf_switch_release_closely(sw, pkt);
        return;
    }
    pkt->flags &= (uint16_t)~WF_PKT_ACCOUNTED;
    pg->ctr[WF_PG_BYTES] -= bytes;
    pg->ctr[WF_PG_SHARED_BYTES] -= bytes;
    sw->ipool[pg->pool].ctr[WF_POOL_BYTES] -= bytes;
    sw->used_bytes -= bytes;
}

#endif
