/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a switch's stages decide, recorded on request (net/why.h): admission, marks, XOFF and XON.
 * Each call tests one pointer while nothing is recorded.
 */
#ifndef WEFT_SWITCH_WHY_H
#define WEFT_SWITCH_WHY_H

#include "eth/ecn.h"
#include "net/why.h"
#include "switch/switch.h"

void wf_switch_why_admit_rec(struct wf_why *w, const struct wf_switch *sw, const struct wf_visit *v,
                             const struct wf_pg *pg, enum wf_reason why);
void wf_switch_why_pg_rec(struct wf_why *w, const struct wf_switch *sw, const struct wf_port *in,
                          const struct wf_pg *pg, bool xoff);
void wf_switch_why_mark_rec(struct wf_why *w, const struct wf_switch *sw, const struct wf_port *out,
                            struct wf_pkt *pkt, uint64_t queue_bytes,
                            const struct wf_ecn_draw *draw, bool decided);

/* The verdict on a packet, before it is counted. */
static inline void wf_switch_why_admit(const struct wf_switch *sw, const struct wf_visit *v,
                                       const struct wf_pg *pg, enum wf_reason why)
{
    if (__builtin_expect(sw->node.net->why != NULL, 0))
        wf_switch_why_admit_rec(sw->node.net->why, sw, v, pg, why);
}

/* A group crossed its threshold; its blame is noted. Or it is back at XON. */
static inline void wf_switch_why_xoff(const struct wf_switch *sw, const struct wf_port *in,
                                      const struct wf_pg *pg)
{
    if (__builtin_expect(sw->node.net->why != NULL, 0))
        wf_switch_why_pg_rec(sw->node.net->why, sw, in, pg, true);
}
static inline void wf_switch_why_xon(const struct wf_switch *sw, const struct wf_port *in,
                                     const struct wf_pg *pg)
{
    if (__builtin_expect(sw->node.net->why != NULL, 0))
        wf_switch_why_pg_rec(sw->node.net->why, sw, in, pg, false);
}

/* WRED looked at the length of a packet's queue; decided: to mark, or of what has no ECN to drop.
 */
static inline void wf_switch_why_mark(const struct wf_switch *sw, const struct wf_port *out,
                                      struct wf_pkt *pkt, uint64_t queue_bytes,
                                      const struct wf_ecn_draw *draw, bool decided)
{
    if (__builtin_expect(sw->node.net->why != NULL, 0))
        wf_switch_why_mark_rec(sw->node.net->why, sw, out, pkt, queue_bytes, draw, decided);
}

#endif
