/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VLANs by the frames themselves and the description of the ports (802.1Q 6.9, 8.6.2, 8.8.10): who
 * must be refused at a port, and how a frame looks that leaves by another.
 */
#include "observe.h"

#include <stdio.h>
#include <string.h>

enum { TAG = 4, MIN = 64 };

/* The tag's 16 bits, after 0x8100; -1: no tag. */
static int tci_of(const struct wf_pkt *pkt)
{
    const uint8_t *b = wf_pkt_bytes(pkt);

    return b[12] == 0x81 && b[13] == 0x00 ? b[14] << 8 | b[15] : -1;
}

uint32_t ob_l3_off(const struct wf_pkt *pkt)
{
    return tci_of(pkt) < 0 ? 14 : 14 + TAG;
}

int ob_pcp(const struct wf_pkt *pkt)
{
    return tci_of(pkt) < 0 ? 0 : tci_of(pkt) >> 13;
}

static bool carries(const struct wf_vlan_cfg *c, unsigned vid)
{
    if (c->mode == WF_VLAN_ACCESS)
        return vid == c->pvid;
    for (uint32_t i = 0; i < c->allowed.n; i++) {
        unsigned a, b;

        if (sscanf(c->allowed.v[i], "%u-%u", &a, &b) == 1)
            b = a;
        if (vid >= a && vid <= b)
            return true;
    }
    return !c->allowed.n && vid;
}

/* What it is when it comes in. */
void ob_vlan_received(struct ob_port *p, const struct wf_pkt *pkt, struct ob_frame *fr)
{
    const struct wf_vlan_cfg *c = &p->cfg->vlan;
    int tci = tci_of(pkt);
    unsigned tagged = tci < 0 ? 0 : tci & 0xfff;

    fr->tci = tci;
    fr->routed =
        p->sw->forwarding == WF_FORWARD_ROUTED && !memcmp(wf_pkt_bytes(pkt), p->port->node->mac, 6);
    fr->vlan = 0;
    fr->vlan_refuses = WF_DROP_NONE;
    if (c->mode == WF_VLAN_NONE)
        return;
    fr->vlan = (uint16_t)(tagged ? tagged : c->pvid);
    if (tagged && c->mode == WF_VLAN_ACCESS)
        fr->vlan_refuses = WF_DROP_VLAN_TAG;
    else if (!fr->vlan || !carries(c, fr->vlan))
        fr->vlan_refuses = WF_DROP_VLAN_IN;
}

/* In which VLAN it leaves; a router's port says that. */
static unsigned vlan_out(const struct wf_vlan_cfg *c, const struct ob_frame *fr)
{
    if (fr->routed)
        return c->svi ? c->svi : c->pvid;
    if (fr->vlan)
        return fr->vlan;
    return fr->tci > 0 && fr->tci & 0xfff ? fr->tci & 0xfff : c->pvid;
}

bool ob_vlan_takes(const struct ob_port *out, const struct ob_frame *fr)
{
    const struct wf_vlan_cfg *c = &out->cfg->vlan;

    return c->mode == WF_VLAN_NONE || carries(c, vlan_out(c, fr));
}

/* The tag with which it leaves; -1: none. */
static int tci_out(const struct ob_port *out, const struct ob_frame *fr)
{
    const struct wf_switch_port_cfg *cfg = out->cfg;
    const struct wf_vlan_cfg *c = &cfg->vlan;
    bool pcp = cfg->rewrite == WF_REWRITE_PCP || cfg->rewrite == WF_REWRITE_BOTH;
    unsigned vid = vlan_out(c, fr), prio = fr->tci < 0 ? fr->came_tc : (unsigned)fr->tci >> 13;

    if (c->mode == WF_VLAN_NONE && (fr->tci < 0 || (fr->vlan && fr->routed)))
        return -1;
    if (c->mode == WF_VLAN_NONE)
        vid = fr->tci & 0xfff;
    else if (c->mode == WF_VLAN_ACCESS || vid == c->pvid)
        return -1;
    if (pcp)
        prio = cfg->tc_to_pcp[fr->came_tc];
    return (int)(prio << 13 | vid);
}

/* How long it is for the buffer, once it is as it will leave by that port. */
uint32_t ob_vlan_len(const struct ob_port *out, const struct ob_frame *fr)
{
    bool had = fr->tci >= 0, has = tci_out(out, fr) >= 0;

    if (had == has)
        return fr->came_len;
    return has ? fr->came_len + TAG : fr->came_len < MIN + TAG ? MIN : fr->came_len - TAG;
}

void ob_vlan_admitted(struct ob_port *p, const struct ob_frame *fr)
{
    const struct ob_port *out = ob_port_of(p->ob, &p->port->node->ports[fr->pkt->out]);

    if (fr->vlan_refuses)
        ob_fail(p->ob, "vlan_in", "%s takes a frame of VLAN %u, expected: %s", p->port->name,
                fr->vlan, wf_reason_name(fr->vlan_refuses));
    if (!ob_vlan_takes(out, fr))
        ob_fail(p->ob, "vlan_out", "%s takes a frame from %s, VLAN %u, that it does not carry",
                out->port->name, p->port->name, fr->vlan);
}

static bool somebody_refuses(const struct ob_port *p, const struct ob_frame *fr)
{
    const struct wf_node *n = p->port->node;

    for (uint16_t i = 0; i < n->n_ports; i++)
        if (!ob_vlan_takes(ob_port_of(p->ob, &n->ports[i]), fr))
            return true;
    return false;
}

void ob_vlan_dropped(const struct ob_port *p, const struct ob_frame *fr, enum wf_reason why)
{
    bool by_vlan = why == WF_DROP_VLAN_TAG || why == WF_DROP_VLAN_IN;

    if (by_vlan ? why != fr->vlan_refuses : fr->vlan_refuses != WF_DROP_NONE)
        ob_fail(p->ob, "vlan_in", "%s drops a frame of VLAN %u: %s, expected: %s", p->port->name,
                fr->vlan, wf_reason_name(why), wf_reason_name(fr->vlan_refuses));
    if (why == WF_DROP_VLAN_OUT && !somebody_refuses(p, fr))
        ob_fail(p->ob, "vlan_out", "%s drops a frame of VLAN %u that all ports carry",
                p->port->name, fr->vlan);
}

void ob_vlan_sent(struct ob_port *p, const struct ob_frame *fr, const struct wf_pkt *pkt)
{
    int want = tci_out(p, fr);

    if (want != tci_of(pkt))
        ob_fail(p->ob, "tagged", "%s sends tag 0x%x of 0x%x, VLAN %u, class %u; expected 0x%x",
                p->port->name, (unsigned)tci_of(pkt), (unsigned)fr->tci, fr->vlan, fr->came_tc,
                (unsigned)want);
}
