/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/classify.h"

#include "base/assert.h"
#include "wire/edit.h"

static struct wf_lane lane_of(const struct wf_switch_port_cfg *c, uint8_t tc)
{
    uint8_t pg = c->tc_to_pg[tc];

    return (struct wf_lane){tc, pg, c->tc_to_queue[tc], c->pg_to_pfc_priority[pg]};
}

/* When this queue's WRED acts. */
static void make_marks(struct wf_port_class *k, unsigned queue, const struct wf_queue_cfg *c)
{
    const struct wf_ecn_cfg *ecn = &c->ecn;
    uint8_t bit = (uint8_t)(1u << queue);
    bool averages = ecn->average && (ecn->enable || ecn->drop);

    if (ecn->enable)
        k->marks[c->mark_at] |= bit;
    if (ecn->drop || averages)
        k->marks[WF_MARK_ENQUEUE] |= bit;
    if (averages)
        k->marks[WF_MARK_DEQUEUE] |= bit;
    if (averages && !ecn->drop && c->mark_at == WF_MARK_DEQUEUE)
        k->marks_empty |= bit;
    k->averages |= averages;
}

void wf_port_class_init(struct wf_port_class *k, const struct wf_switch_port_cfg *c,
                        struct wf_arena *arena)
{
    k->cfg = c;
    k->trust_dscp = c->trust == WF_TRUST_DSCP;
    k->rewrite = (uint8_t)c->rewrite;
    memcpy(k->tc_to_dscp, c->tc_to_dscp, sizeof(k->tc_to_dscp));
    for (unsigned i = 0; i < 64; i++)
        k->by_dscp[i] = lane_of(c, c->dscp_to_tc[i]);
    for (unsigned i = 0; i < 8; i++)
        k->by_pcp[i] = lane_of(c, c->pcp_to_tc[i]);
    for (unsigned i = 0; i < WF_QUEUES; i++)
        make_marks(k, i, &c->queue[i]);
    if (c->vlan.mode != WF_VLAN_NONE) {
        struct wf_vlan_set *set = WF_ARENA_NEW(arena, struct wf_vlan_set);
        struct wf_err err;
        int rc = wf_vlan_set_parse(&c->vlan, set, &err);

        WF_ASSERT(!rc); /* the scenario's check saw to it */
        k->vlan = set;
    }
}

void wf_switch_rewrite(const struct wf_port_class *k, struct wf_pkt *pkt)
{
    bool dscp = k->rewrite == WF_REWRITE_DSCP || k->rewrite == WF_REWRITE_BOTH;
    bool pcp = k->rewrite == WF_REWRITE_PCP || k->rewrite == WF_REWRITE_BOTH;

    if (dscp && pkt->p.flags & WF_P_IP && pkt->p.dscp != k->tc_to_dscp[pkt->tc])
        wf_edit_set_dscp(wf_pkt_hdr_rw(pkt), &pkt->p, k->tc_to_dscp[pkt->tc]);
    if (pcp && pkt->p.flags & WF_P_VLAN)
        wf_edit_set_pcp(wf_pkt_hdr_rw(pkt), &pkt->p, k->cfg->tc_to_pcp[pkt->tc]);
    wf_pkt_edited(pkt);
}
