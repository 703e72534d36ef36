/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a packet's fields to its class and back: trust of DSCP or PCP, the maps from class to group,
 * queue and priority (802.1Q 6.9, RFC 2474), the VLAN, and what is written into packets that leave.
 * A remarked DSCP keeps the IPv4 checksum right and the ICRC needs no change, which masks both
 * DSCP and tags (IBA annex A17.3.3).
 */
#ifndef WEFT_SWITCH_CLASSIFY_H
#define WEFT_SWITCH_CLASSIFY_H

#include <string.h>

#include "switch/switch.h"

/* A port's configuration in the form in which the pipeline asks; `cfg` lives as long. */
void wf_port_class_init(struct wf_port_class *k, const struct wf_switch_port_cfg *cfg,
                        struct wf_arena *arena);

/* vlan.c, for switches some of whose ports know VLANs */
enum wf_step wf_switch_vlan_in(struct wf_switch *sw, struct wf_visit *v);
enum wf_step wf_switch_vlan_out(struct wf_switch *sw, struct wf_visit *v);
bool wf_switch_vlan_carries(const struct wf_switch *sw, const struct wf_port *out,
                            const struct wf_pkt *pkt);
/* DSCP and PCP by traffic class, where the port out rewrites them. */
void wf_switch_rewrite(const struct wf_port_class *k, struct wf_pkt *pkt);

_Static_assert(offsetof(struct wf_pkt, pg) == offsetof(struct wf_pkt, tc) + 1 &&
                   offsetof(struct wf_pkt, queue) == offsetof(struct wf_pkt, tc) + 2 &&
                   offsetof(struct wf_pkt, prio) == offsetof(struct wf_pkt, tc) + 3 &&
                   offsetof(struct wf_lane, prio) == 3,
               "a packet takes over a lane as it is");

/* Traffic class by what the port trusts, then the maps: group, queue, and whom a pause stops. */
static inline enum wf_step wf_switch_classify(struct wf_switch *sw, struct wf_visit *v)
{
    struct wf_pkt *pkt = v->pkt;
    const struct wf_parsed *p = &pkt->p;
    const struct wf_port_class *class = v->in->class;
    struct wf_lane l;

    if (class->trust_dscp && p->flags & WF_P_IP)
        l = class->by_dscp[p->dscp & 63];
    else
        l = class->by_pcp[p->flags & WF_P_VLAN ? p->pcp & 7 : 0];
    memcpy(&pkt->tc, &l, sizeof(l));
    __builtin_prefetch(&sw->pg[v->in->index][l.pg]); /* for the buffer's admission */
    wf_port_count_rx(v->in, l.prio, pkt->frame_len);
    return WF_NEXT;
}

#endif
