/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/pool.h"

#include <stdlib.h>

#include "fabric/discovery.h"
#include "host/cc.h"
#include "host/host.h"
#include "net/int.h"
#include "xport/work.h"

enum {
    FULL_FRAMES_MIN = 64,
    HDR_PACKETS_MIN = 8192,
    CNPS = 4, /* on the way to a flow under congestion control */
    HDR_PACKETS_PER_PORT = 24,
    PORTS_OF_THEIR_OWN = 8192,
    HOPS_MAX = 6, /* links of a path */
    FAULT_FRAMES_MAX = 4096,
    UNRELIABLE_PACKETS = 16384,
    LISTENER_FRAMES_MAX = 1 << 14,
    LISTENER_FRAMES = 256, /* whole frames under way of one that listens, and of each connection */
};

uint64_t *wf_pool_rates(const struct wf_desc *d)
{
    uint64_t *rate = calloc(d->n_links + 1u, sizeof(*rate));

    for (uint32_t i = 0; rate && i < d->n_links; i++)
        rate[i] = d->links[i].cfg.rate_bps;
    for (uint32_t i = 0; rate && i < d->n_steps; i++)
        if (d->steps[i].action == WF_DO_LINK_RATE)
            wf_max_u64(&rate[d->steps[i].link], d->steps[i].rate_bps);
    return rate;
}

/* Whether XON may come so soon after XOFF that each arrival can bring both: it is said where, or
 * the threshold moves with what others hold. */
static bool xon_is_close(const struct wf_switch_cfg *sw, const struct wf_switch_port_cfg *port)
{
    for (unsigned g = 0; g < WF_PGS; g++) {
        const struct wf_pg_cfg *pg = &port->pg[g];

        if (pg->lossless && (pg->xon_bytes != WF_KEY_AUTO || pg->xon_offset_bytes != WF_KEY_AUTO ||
                             sw->ingress_pool[pg->pool].mode == WF_POOL_DYNAMIC))
            return true;
    }
    return false;
}

/* What the ends of a link can have on the wire at once: refreshes, which depend on its length and
 * quanta alone, and frames of 64 bytes. */
struct wire {
    uint64_t refreshes, frames;
    bool xon_is_close;
};

static struct wire wire_of(const struct wf_desc *d, uint32_t i, uint64_t rate_max)
{
    struct wf_link link = {.cfg = d->links[i].cfg, .rate_max_bps = rate_max};
    const struct wf_desc_end ends[] = {d->links[i].a, d->links[i].b};
    struct wire w = {0};

    for (int e = 0; e < 2; e++) { /* hosts of ours never pause */
        if (ends[e].is_host)
            continue;
        w.refreshes += wf_pfc_refreshes(&wf_desc_port_cfg(d, i, e)->pfc, &link);
        w.xon_is_close |= xon_is_close(&d->switches[ends[e].index].cfg, wf_desc_port_cfg(d, i, e));
        w.frames += (uint64_t)((unsigned __int128)link.cfg.delay_ps * rate_max / WF_PS_PER_S /
                               WF_PFC_WIRE_BITS) +
                    2;
    }
    return w;
}

/*
 * PFC frames under way. Refreshes: counted link by link. XOFF and XON: no more than the wires hold,
 * and no more than what they are for. An XOFF needs an arrival since the XOFF before. Those that
 * are on the wire from a port were sent within the link's delay; what arrived at the port in that
 * time was all on the wire to it at one instant, that delay ago: so many data packets are alive.
 * As a rule xon is two frames and more below xoff, and it takes two arrivals. Where long links
 * differ in delay, those instants do too, and a packet may be counted on each link of its path.
 */
static uint64_t control_packets(const struct wf_desc *d, uint64_t data)
{
    uint64_t ports = 2 * (uint64_t)d->n_links, refreshes = 0, fit = 0, few, delay = 0, levels = 1;
    bool close = false;
    uint64_t *rate = wf_pool_rates(d);

    for (uint32_t i = 0; rate && i < d->n_links; i++) {
        struct wire w = wire_of(d, i, rate[i]);

        close |= w.xon_is_close;
        refreshes += w.refreshes;
        fit += w.frames;
        if (w.frames <= 2ull * HDR_PACKETS_PER_PORT)
            continue;
        if (delay && d->links[i].cfg.delay_ps != delay)
            levels = HOPS_MAX;
        delay = d->links[i].cfg.delay_ps;
    }
    free(rate);
    few = (ports < PORTS_OF_THEIR_OWN ? ports : PORTS_OF_THEIR_OWN) * HDR_PACKETS_PER_PORT + ports;
    few += close ? levels * data : levels * data / 2;
    return refreshes + (fit < few ? fit : few);
}

/* Frames of storms: of each on the longest link at the highest rate. */
static uint64_t storm_packets(const struct wf_desc *d)
{
    uint64_t delay = 0, rate = 0, n = 0;

    for (uint32_t i = 0; i < d->n_links; i++) {
        wf_max_u64(&delay, d->links[i].cfg.delay_ps);
        wf_max_u64(&rate, d->links[i].cfg.rate_bps);
    }
    for (uint32_t i = 0; i < d->n_steps; i++)
        wf_max_u64(&rate, d->steps[i].action == WF_DO_LINK_RATE ? d->steps[i].rate_bps : 0);
    for (uint32_t i = 0; i < d->n_steps; i++)
        if (d->steps[i].action == WF_DO_STORM)
            n += wf_storm_packets(&d->steps[i].storm, delay, rate);
    return n;
}

/* Packets that a flow can have under way. Full ones fill the window, each message that is posted
 * may end in a short one, and the answer to the last READ may go beyond it; of an unreliable
 * service nothing but the fabric's buffers holds back what was sent. */
static uint64_t packets(const struct wf_flow_cfg *c)
{
    uint64_t all = c->size_bytes * c->count;
    uint64_t bytes = c->window_bytes + (c->op == WF_WORK_READ ? c->size_bytes : 0);
    uint64_t each = c->count * (c->size_bytes / c->path_mtu + 1);

    if (c->service != WF_FLOW_RC)
        return each < UNRELIABLE_PACKETS ? each : UNRELIABLE_PACKETS;
    return (bytes < all ? bytes : all) / c->path_mtu +
           (c->count < WF_HOST_SQ_LEN ? c->count : WF_HOST_SQ_LEN) + 4;
}

/* Packets that faults may hold or make: of the data packets that can be alive. */
static void fault_packets(const struct wf_desc *d, uint64_t data, uint64_t *hdr, uint64_t *full)
{
    for (uint32_t i = 0; i < d->n_faults; i++)
        wf_fault_packets(&d->faults[i].fault, data, hdr, full);
}

/* Data packets that flows can have in flight. */
static uint64_t data_packets(const struct wf_desc *d)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < d->n_flows; i++)
        n += packets(&d->flows[i].cfg);
    return n;
}

/* Header packets that can be alive: what flows keep in flight twice over, and control frames. */
unsigned wf_pool_hdr(const struct wf_desc *d, const struct wf_fabric_opts *opts)
{
    uint64_t data = data_packets(d), n = 2 * data, full = 0;

    fault_packets(d, data, &n, &full);
    for (uint32_t i = 0; i < d->n_flows; i++)
        n += d->flows[i].cfg.control ? CNPS : 0;
    n += HDR_PACKETS_MIN + (uint64_t)opts->lcores * WF_PKT_SPARE + control_packets(d, n) +
         storm_packets(d);
    return n < 1u << 26 ? (unsigned)n : 1u << 26;
}

uint32_t wf_pool_hdr_room(const struct wf_desc *d)
{
    for (uint32_t i = 0; i < d->n_switches; i++)
        if (d->switches[i].cfg.vxlan.vni)
            return WF_HDR_ROOM_TUNNEL;
    for (uint32_t i = 0; i < d->n_flows; i++)
        if (d->flows[i].cfg.control && d->flows[i].cfg.control->law->flags & WF_CC_INT)
            return WF_HDR_ROOM_INT;
    return WF_HDR_ROOM;
}

/* Queue pairs and timers of hosts that listen; whole frames of theirs and of flows that connect. */
static uint64_t listeners(const struct wf_desc *d, uint64_t *frames)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < d->n_hosts; i++) {
        const struct wf_listen_cfg *c = &d->hosts[i].cfg.listen;

        if (!c->port || d->hosts[i].cfg.attach.type != WF_ATTACH_NONE)
            continue;
        n += c->connections + 2;
        *frames += LISTENER_FRAMES + c->connections * (uint64_t)LISTENER_FRAMES;
    }
    for (uint32_t i = 0; i < d->n_flows; i++) {
        const struct wf_flow_cfg *c = &d->flows[i].cfg;

        if (!c->connect)
            continue;
        n++; /* of a host that may not listen */
        *frames += LISTENER_FRAMES + 2 * c->window_bytes / c->path_mtu +
                   (c->service == WF_FLOW_UD ? 2 * (uint64_t)c->count : 0) +
                   (c->op == WF_WORK_READ ? c->size_bytes / c->path_mtu : 0);
    }
    return n;
}

uint64_t wf_pool_listeners(const struct wf_desc *d)
{
    uint64_t frames = 0;

    return listeners(d, &frames);
}

unsigned wf_pool_full(const struct wf_desc *d, const struct wf_fabric_opts *opts)
{
    uint64_t hdr = 0, full = 0, frames = 0;

    fault_packets(d, data_packets(d), &hdr, &full);
    full = full < FAULT_FRAMES_MAX ? full : FAULT_FRAMES_MAX;
    listeners(d, &frames);
    frames = frames < LISTENER_FRAMES_MAX ? frames : LISTENER_FRAMES_MAX;
    return opts->full_frames + FULL_FRAMES_MIN + wf_discovery_frames(d) + (unsigned)(full + frames);
}

uint64_t wf_fabric_memory(const struct wf_desc *d, const struct wf_fabric_opts *opts)
{
    unsigned hdr = wf_pool_hdr(d, opts);

    return wf_net_pools_bytes(hdr, wf_pool_full(d, opts)) +
           (uint64_t)hdr * (wf_pool_hdr_room(d) - WF_HDR_ROOM);
}
