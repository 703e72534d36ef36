/* SPDX-License-Identifier: BSD-3-Clause */
#include "attach/ingress.h"

#include <errno.h>
#include <string.h>

#include "attach/edges.h"
#include "base/assert.h"
#include "fabric/faults.h"
#include "switch/switch.h"
#include "wire/arp.h"
#include "wire/eth.h"
#include "wire/icrc.h"
#include "wire/pfc.h"

enum { NAK_SYNDROME = 0x60, SYNDROME_TYPE = 0x60 }; /* IBA 9.7.5.1.4: bits 6..5 are 11 */

/* The NIC's priority of a frame: by the host's map, and by what the leaf's port trusts. */
static uint8_t priority(const struct wf_edge *e, const struct wf_parsed *p)
{
    if (!e->trust_pcp && p->flags & WF_P_IP)
        return e->cfg->dscp_to_priority[p->dscp & 63] & 7;
    return p->flags & WF_P_VLAN ? p->pcp & 7 : 0;
}

static void count_in(struct wf_edge *e, const struct wf_pkt *pkt)
{
    const struct wf_parsed *p = &pkt->p;

    e->ctr[WF_EDGE_IN_FRAMES]++;
    e->ctr[WF_EDGE_IN_BYTES] += pkt->frame_len;
    if (p->flags & WF_P_ROCEV2) {
        enum wf_icrc_state icrc = wf_icrc_check(wf_pkt_bytes(pkt), wf_pkt_caplen(pkt), p);

        e->ctr[WF_EDGE_ICRC_OK] += icrc == WF_ICRC_OK;
        e->ctr[WF_EDGE_ICRC_BAD] += icrc == WF_ICRC_BAD;
    }
    e->ctr[WF_EDGE_NAK_FRAMES] +=
        p->flags & WF_P_AETH && (p->aeth_syndrome & SYNDROME_TYPE) == NAK_SYNDROME;
}

static void take_mac(struct wf_edge *e, const uint8_t mac[6])
{
    struct wf_fabric *f = e->owner->f;
    const uint8_t *old = f->addr.hosts[e->host].mac;

    e->mac_learned = true;
    if (!memcmp(old, mac, 6))
        return;
    wf_edges_say(e->owner,
                 "%s: its MAC address is %02x:%02x:%02x:%02x:%02x:%02x, not "
                 "%02x:%02x:%02x:%02x:%02x:%02x as the scenario says: taken over",
                 e->node.name, mac[0], mac[1], mac[2], mac[3], mac[4], mac[5], old[0], old[1],
                 old[2], old[3], old[4], old[5]);
    wf_addr_set_mac(&f->addr, e->host, mac);
    memcpy(e->node.mac, mac, 6);
}

/* A host is where its IP address says so: ARP's sender, or the source of an IP packet. */
static void learn(struct wf_edge *e, const struct wf_pkt *pkt)
{
    const uint8_t *b = wf_pkt_bytes(pkt), *ip4 = e->cfg->ip.addr + 12, *ip6 = e->cfg->ip6.addr;
    const struct wf_parsed *p = &pkt->p;
    bool its = false;

    if (e->mac_learned || pkt->malformed || b[6] & 1)
        return;
    if (p->flags & WF_P_IP4)
        its = e->cfg->ip.family == 4 && !memcmp(b + p->l3_off + 12, ip4, 4);
    else if (p->flags & WF_P_IP6)
        its = e->cfg->ip6.family == 6 && !memcmp(wf_parsed_src6(b, p), ip6, 16);
    else if (p->flags & WF_P_ARP && wf_pkt_caplen(pkt) >= p->l3_off + 28u)
        its = e->cfg->ip.family == 4 && !memcmp(b + p->l3_off + 14, ip4, 4);
    if (its)
        take_mac(e, b + 6);
}

/* The answer to our own ARP probe: nobody else asks with address 0. */
static bool answers_probe(const struct wf_edge *e, const struct wf_pkt *pkt)
{
    const uint8_t *b = wf_pkt_bytes(pkt), *arp = b + pkt->p.l3_off;

    return e->probes && pkt->p.flags & WF_P_ARP && wf_pkt_caplen(pkt) >= pkt->p.l3_off + 28u &&
           wf_ld16(arp + 6) == WF_ARP_REPLY && !wf_ld32(arp + 24) &&
           !memcmp(b, e->node.ports[0].peer->node->mac, 6);
}

void wf_ingress_dress(struct wf_edge *e, struct wf_pkt *pkt)
{
    uint32_t len = wf_pkt_caplen(pkt), min = WF_FRAME_MIN - WF_FCS_LEN;

    if (len < min) /* nobody reads leftovers of another frame behind a short one */
        memset(wf_pkt_hdr_rw(pkt) + len, 0, min - len);
    pkt->payload = WF_PAYLOAD_REAL;
    pkt->frame_len = (len < min ? min : len) + WF_FCS_LEN;
    pkt->malformed = wf_pkt_parse(pkt) != WF_DROP_NONE;
    pkt->port = wf_edge_port(e);
    pkt->prio = pkt->queue = priority(e, &pkt->p);
    pkt->ready_ps = e->node.net->lc->now_ps;
}

/* Tell the log, before it acts. */
static void note(struct wf_edges *es, struct wf_stimulus *st)
{
    if (!es->log)
        return;
    st->t_ps = wf_fabric_now_ps(es->f);
    st->first = es->opening;
    es->log->put(es->log, st);
}

static void note_edge(struct wf_edge *e, enum wf_stimulus_kind kind, uint64_t value, bool on)
{
    struct wf_stimulus st = {.kind = kind, .edge = e->index, .value = value, .on = on};

    note(e->owner, &st);
}

static void note_frame(struct wf_edge *e, const struct wf_pkt *pkt)
{
    struct wf_stimulus st = {
        .kind = WF_STIM_FRAME,
        .edge = e->index,
        .frame = wf_pkt_bytes(pkt),
        .cap_bytes = wf_pkt_caplen(pkt),
        .len_bytes = wf_pkt_caplen(pkt),
    };

    note(e->owner, &st);
}

void wf_ingress_frame(struct wf_edge *e, struct wf_pkt *pkt)
{
    struct wf_port *port = wf_edge_port(e);
    uint32_t l2;

    note_frame(e, pkt);
    wf_ingress_dress(e, pkt);
    wf_pkt_injected(e->node.net, pkt);
    count_in(e, pkt);
    l2 = pkt->p.l3_off ? pkt->p.l3_off : WF_ETH_LEN;
    if (pkt->frame_len - WF_FCS_LEN > port->link->cfg.mtu + l2) {
        wf_pkt_drop(port, pkt, WF_DROP_MTU);
    } else if (!(pkt->p.flags & WF_P_MAC_CONTROL)) {
        learn(e, pkt);
        if (answers_probe(e, pkt))
            wf_pkt_consume(e->node.net, pkt);
        else if (e->nic)
            wf_edge_nic_send(e->nic, pkt);
        else
            wf_port_enqueue(port, pkt);
    } else if (e->cfg->attach.pfc == WF_PFC_IGNORE) {
        wf_pkt_consume(e->node.net, pkt);
    } else {
        wf_port_control(port, pkt);
    }
}

/* --- what the peer and its device do ---------------------------------------------------------- */

void wf_ingress_taken(struct wf_edge *e, const uint32_t *bytes, unsigned n)
{
    WF_ASSERT(n <= e->fifo_count && n <= WF_STIM_TAKEN_MAX);
    note_edge(e, WF_STIM_TAKEN, n, false);
    for (unsigned i = 0; i < n; i++)
        e->ctr[WF_EDGE_OUT_BYTES] += bytes[i] < WF_FRAME_MIN ? WF_FRAME_MIN : bytes[i];
    e->ctr[WF_EDGE_OUT_FRAMES] += n;
    e->fifo_head = (e->fifo_head + n) % e->fifo_len;
    e->fifo_count -= n;
    if (e->stalled)
        wf_edge_stall(e, false);
}

/* The link follows the peer. Someone who took it down by command is not overruled. */
void wf_ingress_peer(struct wf_edge *e, bool up)
{
    struct wf_port *port = wf_edge_port(e);

    note_edge(e, WF_STIM_PEER, 0, up);
    if (!up)
        wf_edge_discard(e);
    e->peer_up = up;
    if (!up && port->link->up) {
        e->took_down = true;
        wf_fabric_link_set(e->owner->f, port->link, false);
    } else if (up && !port->link->up && e->took_down) {
        e->took_down = false;
        wf_fabric_link_set(e->owner->f, port->link, true);
    }
    if (e->owner->opening)
        port->ctr[WF_PORT_LINK_DOWN_EVENTS] = port->peer->ctr[WF_PORT_LINK_DOWN_EVENTS] = 0;
}

void wf_ingress_mtu(struct wf_edge *e, uint32_t mtu)
{
    note_edge(e, WF_STIM_MTU, mtu, false);
    e->mtu = mtu;
}

void wf_ingress_probe(struct wf_edge *e)
{
    note_edge(e, WF_STIM_PROBE, 0, false);
    e->probes++;
    wf_edge_probe(e);
}

void wf_ingress_held(struct wf_edge *e, bool held)
{
    note_edge(e, WF_STIM_HELD, 0, held);
    wf_edge_settle(e);
    e->held = held;
}

void wf_ingress_count(struct wf_edge *e, enum wf_ctr_EDGE counter, uint64_t value)
{
    struct wf_stimulus st = {.kind = WF_STIM_COUNT,
                             .edge = e->index,
                             .where = wf_ctrs_edge.rows[counter].name,
                             .value = value};

    note(e->owner, &st);
    e->ctr[counter] = value;
}

/* --- commands --------------------------------------------------------------------------------- */

void wf_ingress_link(struct wf_edges *es, struct wf_link *link, bool up)
{
    struct wf_stimulus st = {.kind = WF_STIM_LINK, .where = link->name, .on = up};

    note(es, &st);
    wf_fabric_link_set(es->f, link, up);
}

void wf_ingress_link_rate(struct wf_edges *es, struct wf_link *link, uint64_t rate_bps)
{
    struct wf_stimulus st = {.kind = WF_STIM_RATE, .where = link->name, .value = rate_bps};

    note(es, &st);
    wf_fabric_link_rate(es->f, link, rate_bps);
}

int wf_ingress_fault(struct wf_edges *es, const char *text, struct wf_err *err)
{
    struct wf_stimulus st = {.kind = WF_STIM_FAULT, .where = text};
    struct wf_fault fault;
    struct wf_port *port;
    int rc;

    if (strlen(text) > WF_STIM_WHERE_MAX)
        return wf_err_set(err, EINVAL, "a fault of %zu characters, at most %d can be recorded",
                          strlen(text), WF_STIM_WHERE_MAX);
    rc = wf_fabric_fault_parse(es->f, text, &fault, &port, err);
    if (rc)
        return rc;
    if (fault.action == WF_FAULT_END) {
        note(es, &st);
        wf_faults_end(port, fault.coming_in);
        return 0;
    }
    if (fault.action == WF_FAULT_LEARN) {
        note(es, &st);
        wf_faults_learn(port, &es->f->arena);
        return 0;
    }
    if (!wf_faults_room(port))
        return wf_err_set(err, EINVAL,
                          "%s has %d injected faults that have not ended, and more are not "
                          "possible; weft inject end --at PORT ends them",
                          port->name, WF_FAULTS_INJECTED);
    note(es, &st);
    wf_fabric_inject(es->f, port, &fault);
    return 0;
}

/* A frame of the link layer out of a port; the log knows of it. */
static void control_frame(struct wf_port *port, bool pause, uint8_t vector, uint16_t quanta)
{
    struct wf_pkt *pkt = wf_pkt_new(port->node->net, WF_PFC_FRAME_LEN);
    uint16_t times[WF_PRIOS];

    if (!pkt)
        return;
    for (unsigned i = 0; i < WF_PRIOS; i++)
        times[i] = quanta;
    if (pause)
        wf_pause_build(wf_pkt_hdr_rw(pkt), port->node->mac, quanta);
    else
        wf_pfc_build(wf_pkt_hdr_rw(pkt), port->node->mac, vector, times);
    pkt->frame_len = WF_FRAME_MIN;
    pkt->payload = WF_PAYLOAD_REAL;
    pkt->malformed = wf_pkt_parse(pkt) != WF_DROP_NONE;
    wf_pkt_injected(port->node->net, pkt);
    wf_port_control(port, pkt);
}

void wf_ingress_pfc(struct wf_edges *es, struct wf_port *port, uint8_t vector, uint16_t quanta)
{
    struct wf_stimulus st = {
        .kind = WF_STIM_PFC, .where = port->name, .vector = vector, .value = quanta};

    note(es, &st);
    control_frame(port, false, vector, quanta);
}

void wf_ingress_pause(struct wf_edges *es, struct wf_port *port, uint16_t quanta)
{
    struct wf_stimulus st = {.kind = WF_STIM_PFC, .where = port->name, .on = true, .value = quanta};

    note(es, &st);
    control_frame(port, true, 0, quanta);
}
