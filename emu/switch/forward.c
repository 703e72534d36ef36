/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a packet goes. Routed (default): each leaf is a subnet, packets for its own MAC are routed
 * by destination address with ECMP, the rest stays within the leaf. l2: one broadcast domain over
 * the whole fabric; unicast paths to the scenario's hosts come from the topology, other addresses
 * are learned at edge ports, everything else floods along one rooted tree.
 * Left out: VLAN membership, multicast groups.
 */
#include <string.h>

#include "base/digest.h"
#include "switch/age.h"
#include "switch/classify.h"
#include "switch/route.h"

static const struct wf_graph_port *graph_port(const struct wf_switch *sw, unsigned port)
{
    return &sw->graph->nodes[sw->sw].ports[port];
}

int wf_switch_port_to(struct wf_switch *sw, const struct wf_visit *v, uint32_t dst_sw)
{
    return wf_route_port(sw, v, dst_sw);
}

int wf_switch_next_port(const struct wf_switch *sw, const struct wf_host_addr *dst,
                        uint32_t flow_hash)
{
    struct wf_hops h;

    if (dst->sw == sw->sw)
        return dst->port;
    h = wf_next_hops(sw->graph, sw->sw, dst->sw);
    if (h.n <= 1)
        return h.n ? wf_hops_port(h, 0) : -1;
    return sw->lb ? wf_lb_path(sw, flow_hash, dst->sw, h) : wf_route_by_hash(sw, flow_hash, h);
}

static struct wf_port *towards(struct wf_switch *sw, const struct wf_host_addr *dst,
                               const struct wf_visit *v)
{
    int port = dst->sw == sw->sw ? dst->port : wf_route_port(sw, v, dst->sw);

    return port < 0 ? NULL : &sw->node.ports[port];
}

static enum wf_step out_by(struct wf_visit *v, struct wf_port *out)
{
    if (!out)
        return wf_switch_drop(v, WF_DROP_NO_ROUTE);
    if (out == v->in)
        return wf_switch_drop(v, WF_DROP_HAIRPIN);
    v->out = out;
    return WF_NEXT;
}

static bool reaches(const struct wf_graph_port *g, enum wf_flood to)
{
    return to == WF_FLOOD_ALL || (g->tree && (g->host >= 0 || to == WF_FLOOD_TREE));
}

enum wf_step wf_switch_flood(struct wf_switch *sw, struct wf_visit *v, enum wf_flood to)
{
    struct wf_port *last = NULL;

    if (sw->cfg.flood_lossless == WF_FLOOD_LOSSLESS_DROP &&
        sw->pg[v->in->index][v->pkt->pg].lossless)
        return wf_switch_drop(v, WF_DROP_FLOOD_LOSSLESS);

    for (unsigned i = 0; i < sw->node.n_ports; i++) {
        const struct wf_graph_port *g = graph_port(sw, i);
        struct wf_port *out = &sw->node.ports[i];
        struct wf_visit copy = *v;

        if (out == v->in || !out->up || !reaches(g, to) ||
            (sw->vlans && !wf_switch_vlan_carries(sw, out, v->pkt)))
            continue;
        if (last) {
            copy.pkt = wf_pkt_replicate(sw->node.net, v->pkt);
            copy.out = last;
            if (copy.pkt)
                wf_switch_output(sw, &copy);
        }
        last = out;
    }
    if (!last)
        return wf_switch_drop(v, WF_DROP_UNKNOWN_UNICAST);
    v->out = last;
    return WF_NEXT;
}

static struct wf_fdb_entry *fdb_slot(struct wf_switch *sw, const uint8_t mac[6])
{
    uint64_t i = wf_hash_bytes(mac, 6, 0);

    for (unsigned n = 0; n < 8; n++) {
        struct wf_fdb_entry *e = &sw->fdb[(i + n) % WF_FDB_SLOTS];

        if (!e->used || !memcmp(e->mac, mac, 6))
            return e;
    }
    return &sw->fdb[i % WF_FDB_SLOTS]; /* full here: the newest displaces */
}

static void learn(struct wf_switch *sw, const struct wf_port *in, const uint8_t mac[6])
{
    struct wf_fdb_entry *e;

    if (graph_port(sw, in->index)->host < 0 || mac[0] & 1 || wf_addr_by_mac(sw->addr, mac))
        return;
    e = fdb_slot(sw, mac);
    memcpy(e->mac, mac, 6);
    e->port = in->index;
    e->used = true;
    e->heard_ps = wf_now(in);
}

static bool fresh(const struct wf_switch *sw, const struct wf_fdb_entry *e, uint64_t now_ps)
{
    return sw->cfg.mac_age_ps == WF_KEY_AUTO ||
           (now_ps - e->heard_ps <= sw->cfg.mac_age_ps && sw->node.ports[e->port].up);
}

/* To the port that was learned, or to all when there is none. */
static enum wf_step out_or_flood(struct wf_switch *sw, struct wf_visit *v, struct wf_port *out,
                                 enum wf_flood to)
{
    return out ? out_by(v, out) : wf_switch_flood(sw, v, to);
}

static enum wf_step forward_l2(struct wf_switch *sw, struct wf_visit *v)
{
    const uint8_t *dst = wf_pkt_bytes(v->pkt);
    const struct wf_host_addr *h;
    const struct wf_fdb_entry *e;

    learn(sw, v->in, dst + 6);
    if (v->pkt->p.flags & WF_P_MULTICAST)
        return wf_switch_flood(sw, v, WF_FLOOD_TREE);
    h = wf_addr_by_mac(sw->addr, dst);
    if (h && sw->age)
        return out_or_flood(sw, v, wf_age_port(sw, h, wf_now(v->in)), WF_FLOOD_TREE);
    if (h)
        return out_by(v, towards(sw, h, v));
    e = fdb_slot(sw, dst);
    if (e->used && !memcmp(e->mac, dst, 6) && fresh(sw, e, wf_now(v->in)))
        return out_by(v, &sw->node.ports[e->port]);
    return wf_switch_flood(sw, v, WF_FLOOD_TREE);
}

/* Within a routed leaf: what is not for the gateway goes to the leaf's own hosts. */
static enum wf_step to_own_hosts(struct wf_switch *sw, struct wf_visit *v)
{
    const struct wf_host_addr *h;

    if (v->pkt->p.flags & WF_P_MULTICAST)
        return wf_switch_flood(sw, v, WF_FLOOD_HOSTS);
    h = wf_addr_by_mac(sw->addr, wf_pkt_bytes(v->pkt));
    if (h && h->sw == sw->sw)
        return sw->age ? out_or_flood(sw, v, wf_age_port(sw, h, wf_now(v->in)), WF_FLOOD_ALL)
                       : out_by(v, &sw->node.ports[h->port]);
    return h ? wf_switch_drop(v, WF_DROP_NOT_ROUTABLE) : wf_switch_flood(sw, v, WF_FLOOD_HOSTS);
}

static enum wf_step bridge_in_leaf(struct wf_switch *sw, struct wf_visit *v)
{
    if (graph_port(sw, v->in->index)->host < 0) /* between switches all is routed */
        return wf_switch_drop(v, WF_DROP_NOT_ROUTABLE);
    return to_own_hosts(sw, v);
}

enum wf_reason wf_switch_resolve(const struct wf_switch *sw, struct wf_pkt *pkt)
{
    const uint8_t *b = wf_pkt_bytes(pkt);
    const struct wf_host_addr *h;

    if (!(pkt->p.flags & WF_P_IP))
        return WF_DROP_NOT_ROUTABLE;
    if (wf_ip_link_local(b, &pkt->p))
        return WF_DROP_LINK_LOCAL;
    if (pkt->p.flags & WF_P_IP4 && !(pkt->flags & WF_PKT_IP_OK) &&
        !wf_ip4_checksum_ok(b, wf_pkt_caplen(pkt), &pkt->p))
        return WF_DROP_IP_CHECKSUM;
    h = pkt->p.flags & WF_P_IP4 ? wf_addr_by_ip4(sw->addr, b + pkt->p.l3_off + 16)
                                : wf_addr_by_ip6(sw->addr, wf_parsed_dst6(b, &pkt->p));
    if (!h)
        return WF_DROP_NO_ROUTE;
    pkt->flags |= WF_PKT_IP_OK;
    pkt->dst_host = (uint32_t)(h - sw->addr->hosts) + 1;
    pkt->dst_sw = h->sw;
    return WF_DROP_NONE;
}

/* A packet that a routed leaf has routed to its own subnet, and whose destination's ARP entry is
 * there, but the MAC address is not. */
static enum wf_step deliver_if_known(struct wf_switch *sw, struct wf_visit *v, enum wf_step step)
{
    int32_t host = step == WF_NEXT ? graph_port(sw, v->out->index)->host : -1;

    if (host < 0 || wf_age_port(sw, &sw->addr->hosts[host], wf_now(v->in)))
        return step;
    return wf_switch_flood(sw, v, WF_FLOOD_ALL);
}

/* At a leaf that is an end of tunnels. */
static enum wf_step forward_tunnel(struct wf_switch *sw, struct wf_visit *v)
{
    const uint8_t *dst = wf_pkt_bytes(v->pkt);

    switch (wf_tunnel_forward(sw, v)) {
    case WF_TUNNEL_DONE:
        return WF_DONE;
    case WF_TUNNEL_OUT:
        return WF_NEXT;
    case WF_TUNNEL_BRIDGE:
        return to_own_hosts(sw, v);
    case WF_TUNNEL_NOT:
        break;
    }
    if (!memcmp(dst, sw->node.mac, 6))
        return wf_switch_route(sw, v);
    if (graph_port(sw, v->in->index)->host >= 0 &&
        (v->pkt->p.flags & WF_P_MULTICAST || !wf_addr_by_mac(sw->addr, dst)))
        wf_tunnel_flood(sw, v);
    return bridge_in_leaf(sw, v);
}

enum wf_step wf_switch_forward(struct wf_switch *sw, struct wf_visit *v)
{
    if (sw->age)
        wf_age_heard(sw, v);
    if (sw->l2)
        return forward_l2(sw, v);
    if (v->pkt->malformed)
        return wf_switch_drop(v, WF_DROP_MALFORMED);
    if (sw->ends)
        return forward_tunnel(sw, v);
    if (!memcmp(wf_pkt_bytes(v->pkt), sw->node.mac, 6))
        return sw->age ? deliver_if_known(sw, v, wf_switch_route(sw, v)) : wf_switch_route(sw, v);
    return bridge_in_leaf(sw, v);
}
