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

void wf_switch_why_trim_rec(struct wf_why *w, const struct wf_visit *v, uint32_t was_bytes,
                            unsigned queue, enum wf_reason why);
void wf_switch_why_watchdog_rec(struct wf_why *w, const struct wf_port *port, unsigned prio,
                                unsigned queue, const char *action, bool storm);

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

/* A packet was trimmed, and is for another queue: what it was, and what refused it. */
static inline void wf_switch_why_trim(const struct wf_visit *v, uint32_t was_bytes, unsigned queue,
                                      enum wf_reason why)
{
    if (__builtin_expect(wf_why_of(v->in) != NULL, 0))
        wf_switch_why_trim_rec(wf_why_of(v->in), v, was_bytes, queue, why);
}

/* A PFC watchdog finds that a priority of the port is in a storm, or that it is over. */
static inline void wf_switch_why_watchdog(const struct wf_port *port, unsigned prio, unsigned queue,
                                          const char *action, bool storm)
{
    if (__builtin_expect(wf_why_of(port) != NULL, 0))
        wf_switch_why_watchdog_rec(wf_why_of(port), port, prio, queue, action, storm);
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
