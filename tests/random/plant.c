/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bugs planted at link time (-Wl,--wrap) into builds of random_case, to show that the random runs
 * find such. Each build defines one of them.
 */
#include "net/port.h"
#include "sim/lcore.h"
#include "switch/config.h"
#include "wire/pfc.h"

#ifdef PLANT_XON
/* Every third frame that only lets priorities go on is made and counted, and never sent. */
void __real_wf_port_control(struct wf_port *port, struct wf_pkt *pkt);
void __wrap_wf_port_control(struct wf_port *port, struct wf_pkt *pkt);

void __wrap_wf_port_control(struct wf_port *port, struct wf_pkt *pkt)
{
    static unsigned n;
    struct wf_pfc f;
    bool xon = wf_mac_control_get(wf_pkt_bytes(pkt), wf_pkt_caplen(pkt), &pkt->p, &f) ==
               WF_MAC_CONTROL_IS_PFC;

    for (unsigned prio = 0; prio < WF_PRIOS; prio++)
        xon = xon && !(f.vector & 1u << prio && f.quanta[prio]);
    if (xon && ++n % 3 == 0)
        wf_pkt_absorb(port->node->net, pkt);
    else
        __real_wf_port_control(port, pkt);
}
#endif

#ifdef PLANT_HEADROOM
/* The limit of admission is off by PLANT_HEADROOM bytes. */
void __real_wf_pg_resolve(const struct wf_switch_cfg *sw, const struct wf_pg_cfg *pg,
                          const struct wf_link_cfg *link, uint64_t peer_response_ps,
                          struct wf_pg_limits *out);
void __wrap_wf_pg_resolve(const struct wf_switch_cfg *sw, const struct wf_pg_cfg *pg,
                          const struct wf_link_cfg *link, uint64_t peer_response_ps,
                          struct wf_pg_limits *out);
void __real_wf_pg_bounds(const struct wf_switch_cfg *sw, const struct wf_link_cfg *link,
                         uint64_t peer_response_ps, struct wf_pg_bounds *out);
void __wrap_wf_pg_bounds(const struct wf_switch_cfg *sw, const struct wf_link_cfg *link,
                         uint64_t peer_response_ps, struct wf_pg_bounds *out);

void __wrap_wf_pg_resolve(const struct wf_switch_cfg *sw, const struct wf_pg_cfg *pg,
                          const struct wf_link_cfg *link, uint64_t peer_response_ps,
                          struct wf_pg_limits *out)
{
    __real_wf_pg_resolve(sw, pg, link, peer_response_ps, out);
    if (out->headroom)
        out->headroom += PLANT_HEADROOM;
}

/* Or weft check would speak of it. */
void __wrap_wf_pg_bounds(const struct wf_switch_cfg *sw, const struct wf_link_cfg *link,
                         uint64_t peer_response_ps, struct wf_pg_bounds *out)
{
    __real_wf_pg_bounds(sw, link, peer_response_ps, out);
    out->headroom += PLANT_HEADROOM;
    out->headroom_long += PLANT_HEADROOM;
}
#endif

#ifdef PLANT_ORDER
/* Events of one instant run in the order in which they were scheduled. */
void __real_wf_wheel_insert_any(struct wf_wheel *w, struct wf_event *ev);
void __wrap_wf_wheel_insert_any(struct wf_wheel *w, struct wf_event *ev);

void __wrap_wf_wheel_insert_any(struct wf_wheel *w, struct wf_event *ev)
{
    static uint32_t n;
    uint32_t order = n++ & 0xffffff;

    ev->key = (ev->key & 0xffffffffffull) | (uint64_t)order << 40;
    __real_wf_wheel_insert_any(w, ev);
}
#endif
