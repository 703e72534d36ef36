/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames as text. See print.h. */
#include "wire/print.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "wire/arp.h"
#include "wire/bth.h"
#include "wire/dcbx.h"
#include "wire/edit.h"
#include "wire/eth.h"
#include "wire/icrc.h"
#include "wire/ip4.h"
#include "wire/mad.h"
#include "wire/nd.h"
#include "wire/parse.h"
#include "wire/pfc.h"

/* A frame and the text that it becomes. */
struct text {
    char *at;
    size_t left;
    const uint8_t *frame;
    uint32_t caplen;
    struct wf_parsed p;
};

static void say(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(struct text *t, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(t->at, t->left, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= t->left) {
        t->left = t->left ? 1 : 0; /* only the ending zero still fits */
        n = 0;
        return;
    }
    t->at += n;
    t->left -= (size_t)n;
}

static void say_mac(struct text *t, const uint8_t *m)
{
    say(t, "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
}

static void say_ip(struct text *t, int family, const void *addr)
{
    char s[INET6_ADDRSTRLEN];

    say(t, "%s", inet_ntop(family, addr, s, sizeof(s)) ? s : "?");
}

static void say_ip4(struct text *t, uint32_t addr)
{
    uint32_t net = __builtin_bswap32(addr);

    say_ip(t, AF_INET, &net);
}

static struct wf_rd reader_at(const struct text *t, uint32_t off)
{
    return off < t->caplen ? wf_rd_init(t->frame + off, t->caplen - off) : wf_rd_init(t->frame, 0);
}

static void say_macs(struct text *t)
{
    say_mac(t, t->frame + 6);
    say(t, " > ");
    say_mac(t, t->frame);
    say(t, " ");
}

static void say_addresses(struct text *t)
{
    static const char *const ecn[] = {"", " ecn ECT(1)", " ecn ECT(0)", " ecn CE"};
    const uint8_t *ip = t->frame + t->p.l3_off;

    if (t->p.flags & WF_P_IP4) {
        say_ip(t, AF_INET, ip + 12);
        say(t, " > ");
        say_ip(t, AF_INET, ip + 16);
    } else {
        say_ip(t, AF_INET6, ip + 8);
        say(t, " > ");
        say_ip(t, AF_INET6, ip + 24);
    }
    if (t->p.flags & WF_P_IP) {
        if (t->p.dscp)
            say(t, " dscp %u", t->p.dscp);
        say(t, "%s", ecn[t->p.ecn]);
    }
    say(t, " ");
}

static void say_mac_control(struct text *t)
{
    struct wf_pfc pfc;

    switch (wf_mac_control_get(t->frame, t->caplen, &t->p, &pfc)) {
    case WF_MAC_CONTROL_IS_PFC:
        say(t, "PFC");
        for (int i = 0; i < 8; i++)
            if (pfc.vector >> i & 1)
                say(t, " %d=%u", i, pfc.quanta[i]);
        return;
    case WF_MAC_CONTROL_IS_PAUSE:
        say(t, "PAUSE %u", pfc.quanta[0]);
        return;
    case WF_MAC_CONTROL_IS_BAD:
        say(t, "MAC control, neither PFC nor PAUSE");
        return;
    }
}

static void say_lldp_id(struct text *t, bool is_chassis, uint8_t subtype,
                        const struct wf_lldp_text *id)
{
    char s[64];

    if (id->p)
        say(t, " %s %s", is_chassis ? "chassis" : "port",
            wf_lldp_id_text(is_chassis, subtype, id->p, id->len, s, sizeof(s)));
}

static void say_lldp(struct text *t)
{
    struct wf_rd pdu = wf_lldp_of(t->frame, t->caplen, &t->p);
    struct wf_dcbx dcbx;
    struct wf_lldp_pdu h;
    char s[600], name[64];

    say(t, "LLDP");
    wf_lldp_get(pdu, &h);
    say_lldp_id(t, true, h.chassis_subtype, &h.chassis);
    say_lldp_id(t, false, h.port_subtype, &h.port);
    if (h.n_tlvs >= WF_LLDP_TTL)
        say(t, " ttl %u", h.ttl_s);
    if (h.system_name.p)
        say(t, " name %s",
            wf_lldp_id_text(true, 0, h.system_name.p, h.system_name.len, name, sizeof(name)));
    if (h.why) {
        if (t->caplen >= t->p.l3_off + t->p.l3_len)
            say(t, ", malformed: %s", h.why);
        return;
    }
    wf_dcbx_get(pdu, &dcbx);
    say(t, "%s", wf_dcbx_text(&dcbx, s, sizeof(s)));
}

static void say_arp(struct text *t)
{
    struct wf_rd r = reader_at(t, t->p.l3_off);
    struct wf_arp h;

    if (wf_arp_get(&r, &h) || wf_arp_check(&h)) {
        say(t, "ARP, not of Ethernet and IPv4");
    } else if (h.oper == WF_ARP_REQUEST) {
        say(t, "ARP who-has ");
        say_ip4(t, h.tpa);
        say(t, " tell ");
        say_ip4(t, h.spa);
    } else if (h.oper == WF_ARP_REPLY) {
        say(t, "ARP ");
        say_ip4(t, h.spa);
        say(t, " is-at ");
        say_mac(t, h.sha);
    } else {
        say(t, "ARP operation %u", h.oper);
    }
}

static void say_nd(struct text *t)
{
    struct wf_rd r = reader_at(t, t->p.l4_off);
    struct wf_nd h;
    uint8_t mac[6];

    if (t->p.icmp_type != WF_ND_SOLICIT && t->p.icmp_type != WF_ND_ADVERTISE) {
        say(t, "ND type %u", t->p.icmp_type);
        return;
    }
    if (wf_nd_get(&r, &h)) {
        say(t, "ND type %u, cut short", t->p.icmp_type);
        return;
    }
    say(t, h.type == WF_ND_SOLICIT ? "ND who-has " : "ND ");
    say_ip(t, AF_INET6, h.target);
    if (wf_nd_lladdr(&r, h.type == WF_ND_SOLICIT ? WF_ND_OPT_SOURCE : WF_ND_OPT_TARGET, mac)) {
        say(t, h.type == WF_ND_SOLICIT ? " tell " : " is-at ");
        say_mac(t, mac);
    }
}

const char *wf_aeth_name(uint8_t syndrome)
{
    static const char *const naks[] = {"NAK PSN sequence", "NAK invalid request",
                                       "NAK remote access", "NAK remote operational",
                                       "NAK invalid RD request"};

    switch (syndrome & 0x60) {
    case WF_AETH_ACK:
        return "ACK";
    case WF_AETH_RNR_NAK:
        return "RNR NAK";
    case WF_AETH_NAK:
        return WF_AETH_VALUE(syndrome) < 5 ? naks[WF_AETH_VALUE(syndrome)] : "NAK reserved";
    default:
        return "reserved syndrome";
    }
}

static void say_aeth(struct text *t, const struct wf_aeth *h)
{
    uint8_t value = WF_AETH_VALUE(h->syndrome);

    say(t, " %s", wf_aeth_name(h->syndrome));
    if ((h->syndrome & 0x60) == WF_AETH_RNR_NAK)
        say(t, " timer %u", value);
    else if ((h->syndrome & 0x60) == WF_AETH_ACK && value != WF_AETH_CREDIT_INVALID)
        say(t, " credits %u", value);
    say(t, " msn %u", h->msn);
}

static void say_ext(struct text *t, enum wf_ext ext, const struct wf_ext_hdrs *x)
{
    switch (ext) {
    case WF_EXT_RDETH:
        say(t, " eecn 0x%x", x->rdeth.ee_context);
        return;
    case WF_EXT_DETH:
        say(t, " sqp 0x%x qkey 0x%x", x->deth.sqpn, x->deth.qkey);
        return;
    case WF_EXT_XRCETH:
        say(t, " srqn 0x%x", x->xrceth.srqn);
        return;
    case WF_EXT_FETH:
        say(t, " sel %u plt 0x%x", x->feth.sel, x->feth.plt);
        return;
    case WF_EXT_RETH:
        say(t, " va 0x%" PRIx64 " rkey 0x%x dma %u", x->reth.va, x->reth.rkey, x->reth.dma_len);
        return;
    case WF_EXT_ATOMICETH:
        say(t, " va 0x%" PRIx64 " rkey 0x%x swap/add 0x%" PRIx64 " compare 0x%" PRIx64,
            x->atomiceth.va, x->atomiceth.rkey, x->atomiceth.swap_add, x->atomiceth.compare);
        return;
    case WF_EXT_AETH:
        say_aeth(t, &x->aeth);
        return;
    case WF_EXT_ATOMICACKETH:
        say(t, " orig 0x%" PRIx64, x->atomicacketh.orig);
        return;
    case WF_EXT_IMMDT:
        say(t, " imm 0x%x", x->immdt.data);
        return;
    case WF_EXT_IETH:
        say(t, " inv rkey 0x%x", x->ieth.rkey);
        return;
    case WF_EXT_NONE:
    case WF_EXT_COUNT:
        return;
    }
}

static void say_cm(struct text *t, struct wf_rd *r, uint16_t attr_id)
{
    struct wf_cm cm;

    say(t, " CM %s", wf_cm_name(attr_id));
    if (wf_cm_get(r, attr_id, &cm))
        return;
    say(t, " id 0x%x", cm.local_comm_id);
    if (attr_id != WF_CM_REQ)
        say(t, " of 0x%x", cm.remote_comm_id);
    if (attr_id == WF_CM_REQ || attr_id == WF_CM_REP)
        say(t, " qpn 0x%x first psn %u", cm.qpn, cm.starting_psn);
    if (attr_id == WF_CM_REQ)
        say(t, " service 0x%" PRIx64, cm.service_id);
    if (attr_id == WF_CM_DREQ)
        say(t, " qpn 0x%x", cm.qpn);
    if (attr_id == WF_CM_REJ)
        say(t, " reason %u", cm.reject_reason);
}

/* A datagram to QP1 is a MAD. */
static void say_mad(struct text *t)
{
    struct wf_rd r = reader_at(t, t->p.payload_off);
    struct wf_mad mad;

    if (wf_mad_get(&r, &mad))
        return;
    if (mad.mgmt_class == WF_MAD_CLASS_CM)
        say_cm(t, &r, mad.attr_id);
    else
        say(t, " MAD class 0x%x method 0x%x attribute 0x%x", mad.mgmt_class, mad.method,
            mad.attr_id);
}

static void say_roce(struct text *t)
{
    const struct wf_parsed *p = &t->p;
    const struct wf_opcode *op = &wf_opcodes[p->opcode];
    struct wf_rd r = reader_at(t, p->bth_off + WF_BTH_LEN);
    struct wf_ext_hdrs x;

    say(t, p->flags & WF_P_ROCEV1 ? "RoCEv1" : "RoCEv2");
    if (!(p->flags & WF_P_BTH)) {
        say(t, p->flags & WF_P_ROCE_SHORT ? ", too short for a BTH" : "");
        return;
    }
    if (!op->name)
        say(t, " reserved opcode 0x%02x", p->opcode);
    else if (op->service == WF_SERVICE_CNP)
        say(t, " CNP");
    else
        say(t, " %s %s", wf_service_name(p->opcode), op->name);
    say(t, " dqp 0x%x psn %u len %u", p->dqpn, p->psn, p->payload_len);
    if (p->flags & WF_P_ROCE_SHORT)
        say(t, ", too short for its headers");
    else if (!wf_ext_get(&r, p->opcode, &x))
        for (int i = 0; i < WF_EXT_MAX && op->ext[i]; i++)
            say_ext(t, (enum wf_ext)op->ext[i], &x);
    if (op->service == WF_SERVICE_UD && op->name && p->dqpn == 1)
        say_mad(t);
    say(t, "%s%s%s", p->ackreq ? " ackreq" : "", p->becn ? " becn" : "", p->fecn ? " fecn" : "");
    if (wf_icrc_check(t->frame, t->caplen, p) == WF_ICRC_BAD)
        say(t, " icrc wrong");
}

static void say_l4(struct text *t)
{
    const struct wf_parsed *p = &t->p;

    if (p->flags & WF_P_ROCE)
        say_roce(t);
    else if (p->flags & WF_P_UDP)
        say(t, "UDP %u > %u len %u", p->sport, p->dport, p->payload_len);
    else if (p->flags & WF_P_TCP)
        say(t, "TCP %u > %u", p->sport, p->dport);
    else if (p->flags & WF_P_ND)
        say_nd(t);
    else if (p->flags & WF_P_ICMP)
        say(t, "%s type %u", p->flags & WF_P_IP4 ? "ICMP" : "ICMPv6", p->icmp_type);
    else
        say(t, "%s %u%s", p->flags & WF_P_IP4 ? "IPv4 protocol" : "IPv6 next header", p->ip_proto,
            p->flags & WF_P_FRAGMENT ? ", a fragment" : "");
}

static void say_tags(struct text *t)
{
    const struct wf_parsed *p = &t->p;

    if (p->n_tags)
        say(t, "vlan %u pcp %u ", p->vid, p->pcp);
    if (p->n_tags > 1)
        say(t, "vlan %u ", p->inner_vid);
}

static void say_frame(struct text *t)
{
    if (t->p.flags & (WF_P_IP | WF_P_ROCEV1)) {
        say_addresses(t);
        say_l4(t);
        return;
    }
    say_macs(t);
    if (t->p.flags & WF_P_ARP)
        say_arp(t);
    else if (t->p.flags & WF_P_MAC_CONTROL)
        say_mac_control(t);
    else if (t->p.flags & WF_P_LLDP)
        say_lldp(t);
    else if (t->p.flags & WF_P_LLC)
        say(t, "LLC");
    else
        say(t, "ethertype 0x%04x", t->p.ethertype);
}

const char *wf_frame_text(char *buf, size_t len, const uint8_t *frame, uint32_t caplen,
                          uint32_t frame_len)
{
    struct text t = {buf, len, frame, caplen < frame_len ? caplen : frame_len, {0}};
    enum wf_reason why = wf_parse(frame, caplen, frame_len, &t.p);

    if (len)
        buf[0] = 0;
    if (!(t.p.flags & WF_P_ETH)) {
        say(&t, "%u of %u bytes, no Ethernet header", t.caplen, frame_len);
        return buf;
    }
    say_tags(&t);
    if (why != WF_DROP_NONE) {
        say_macs(&t);
        say(&t, "ethertype 0x%04x %s, %u bytes", t.p.ethertype, wf_reason_name(why), frame_len);
    } else {
        say_frame(&t);
    }
    if (t.caplen < frame_len)
        say(&t, " (%u of %u bytes)", t.caplen, frame_len);
    return buf;
}
