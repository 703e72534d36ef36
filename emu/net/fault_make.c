/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that nobody sent: answers of a responder (ACK, NAK, RNR NAK; IBA 9.7.5), CNPs (A17.9.3),
 * PFC and pause frames. An answer is for the requester. When an answer was hit, the made one goes
 * the same way and is like it; when a request was hit, it goes back and comes in by the port as if
 * the peer had sent it, and the requester's queue pair is the one that the fault names, or that of
 * the answers that the port has seen. A CNP is likewise for the sender of data.
 * Left out: answers of RD, CNPs of RoCEv1.
 */
#include <string.h>

#include "net/fault.h"
#include "net/fault_qps.h"
#include "wire/bth.h"
#include "wire/eth.h"
#include "wire/icrc.h"
#include "wire/pfc.h"
#include "wire/roce.h"

enum { TTL = 64, MIGREQ = 0x40 };

static void tags_of(const uint8_t *b, const struct wf_parsed *p, struct wf_roce *h)
{
    h->n_tags = p->n_tags < WF_VLAN_TAGS_MAX ? p->n_tags : WF_VLAN_TAGS_MAX;
    for (unsigned i = 0; i < h->n_tags; i++) {
        uint16_t tci = wf_ld16(b + 14 + 4 * i);

        h->tag[i] = (struct wf_vlan){.tpid = wf_ld16(b + 12 + 4 * i),
                                     .pcp = (uint8_t)(tci >> 13),
                                     .dei = tci >> 12 & 1,
                                     .vid = tci & 0xfff};
    }
}

/* Addresses of a packet that goes the way of this one, or back. */
static void like(const struct wf_pkt *pkt, bool back, struct wf_roce *h)
{
    const uint8_t *b = wf_pkt_bytes(pkt), *ip = b + pkt->p.l3_off;
    const struct wf_parsed *p = &pkt->p;
    uint8_t *src = back ? h->dst_ip : h->src_ip, *dst = back ? h->src_ip : h->dst_ip;

    memcpy(h->dst_mac, back ? b + 6 : b, 6);
    memcpy(h->src_mac, back ? b : b + 6, 6);
    tags_of(b, p, h);
    h->encap = p->flags & WF_P_ROCEV1 ? WF_ROCE_V1
               : p->flags & WF_P_IP4  ? WF_ROCE_V2_IP4
                                      : WF_ROCE_V2_IP6;
    if (p->flags & WF_P_IP4) {
        src[10] = src[11] = dst[10] = dst[11] = 0xff;
        memcpy(src + 12, ip + 12, 4);
        memcpy(dst + 12, ip + 16, 4);
    } else {
        memcpy(src, ip + 8, 16);
        memcpy(dst, ip + 24, 16);
    }
    h->dscp = p->dscp;
    h->ttl = back ? TTL : p->ttl;
    h->sport = p->sport;
}

static uint32_t psn_of(const struct wf_fault_how *how, uint32_t matched)
{
    if (!how->psn_given)
        return matched;
    return ((uint32_t)how->psn + (how->psn_relative ? matched : 0)) & WF_PSN_MASK;
}

static uint8_t syndrome_of(const struct wf_fault *f)
{
    if (f->action == WF_FAULT_NAK)
        return (uint8_t)(WF_AETH_NAK | f->how.nak_code);
    if (f->action == WF_FAULT_RNR)
        return (uint8_t)(WF_AETH_RNR_NAK | f->how.rnr_timer);
    return WF_AETH_CREDIT_INVALID;
}

/* The rest of an answer; a made ACK of a request counts it. */
static void answer(const struct wf_fault *f, const struct wf_pkt *pkt, bool back,
                   const struct wf_stream *of, struct wf_roce *h)
{
    const uint8_t *bth = wf_pkt_bytes(pkt) + pkt->p.bth_off;
    uint32_t msn = of ? of->msn : 0;

    if (f->action == WF_FAULT_ACK && back)
        msn++;
    h->bth.opcode = (uint8_t)(wf_opcodes[pkt->p.opcode].service | WF_OP_ACK);
    h->bth.m = bth[1] & MIGREQ;
    h->bth.pkey = wf_ld16(bth + 2);
    h->bth.psn = psn_of(&f->how, pkt->p.psn);
    h->ext.aeth = (struct wf_aeth){syndrome_of(f), msn & WF_PSN_MASK};
}

/* The packet of these headers; NULL: no buffer. */
static struct wf_pkt *pkt_of(struct wf_net *net, const struct wf_roce *h, bool cnp)
{
    uint8_t buf[WF_CNP_FRAME_MAX + WF_EXT_LEN_MAX];
    uint32_t len = cnp ? wf_cnp_build(buf, sizeof(buf), h) : wf_roce_hdr_build(buf, sizeof(buf), h);
    struct wf_pkt *pkt = len ? wf_pkt_new(net, len) : NULL;

    if (!pkt)
        return NULL;
    memcpy(wf_pkt_hdr_rw(pkt), buf, len);
    pkt->payload = cnp ? WF_PAYLOAD_REAL : WF_PAYLOAD_NONE;
    pkt->frame_len = len + (cnp ? 0 : WF_ICRC_LEN) + WF_FCS_LEN;
    if (pkt->frame_len < WF_FRAME_MIN)
        pkt->frame_len = WF_FRAME_MIN;
    pkt->malformed = wf_pkt_parse(pkt) != WF_DROP_NONE;
    wf_pkt_injected(net, pkt);
    return pkt;
}

static void matched_ends(const struct wf_fault *f, bool lost, struct wf_fate *fate)
{
    if (f->how.matched == WF_FAULT_MATCHED_DROP ||
        (f->how.matched == WF_FAULT_MATCHED_AUTO && lost))
        fate->why = WF_DROP_INJECTED;
}

static bool mac_control(const struct wf_fault *f, struct wf_port *port)
{
    struct wf_pkt *pkt = wf_pkt_new(port->node->net, WF_PFC_FRAME_LEN);
    uint16_t times[WF_PRIOS];

    if (!pkt)
        return false;
    for (unsigned i = 0; i < WF_PRIOS; i++)
        times[i] = f->how.quanta;
    if (f->action == WF_FAULT_PAUSE)
        wf_pause_build(wf_pkt_hdr_rw(pkt), port->node->mac, f->how.quanta);
    else
        wf_pfc_build(wf_pkt_hdr_rw(pkt), port->node->mac, f->how.priorities, times);
    pkt->frame_len = WF_FRAME_MIN;
    pkt->payload = WF_PAYLOAD_REAL;
    pkt->malformed = wf_pkt_parse(pkt) != WF_DROP_NONE;
    wf_pkt_injected(port->node->net, pkt);
    wf_port_control(port, pkt);
    return true;
}

/* Whether this packet can be reason for such a one at all. */
static bool may_make(const struct wf_fault *f, const struct wf_parsed *p)
{
    uint8_t service = wf_opcodes[p->opcode].service;

    if (!(p->flags & WF_P_BTH) || p->flags & WF_P_ROCE_SHORT || p->opcode == WF_OPCODE_CNP)
        return false;
    if (f->action == WF_FAULT_CNP)
        return p->flags & WF_P_ROCEV2;
    return service == WF_SERVICE_RC || service == WF_SERVICE_XRC;
}

bool wf_fault_make(struct wf_fault *f, struct wf_port *port, const struct wf_stream *stream,
                   struct wf_fate *fate)
{
    const struct wf_parsed *p = &fate->pkt->p;
    bool response = wf_opcodes[p->opcode].flags & WF_OPF_RESPONSE, cnp = f->action == WF_FAULT_CNP;
    bool back = cnp ? p->payload_len > 0 : !response;
    const struct wf_stream *other = NULL;
    struct wf_roce h = {.dscp = 0};
    struct wf_pkt *pkt;

    if (f->action == WF_FAULT_PFC || f->action == WF_FAULT_PAUSE) {
        matched_ends(f, false, fate);
        return mac_control(f, port);
    }
    if (!may_make(f, p))
        return false;
    if (back && stream)
        other = wf_streams_other(stream);
    if (back && !other && !f->how.reply_qpn_given)
        return false;
    like(fate->pkt, back, &h);
    h.bth.dqpn = f->how.reply_qpn_given ? f->how.reply_qpn : back ? other->qp->half.qpn : p->dqpn;
    if (cnp)
        h.dscp = f->how.dscp;
    else
        answer(f, fate->pkt, back, back ? other : stream, &h);
    pkt = pkt_of(port->node->net, &h, cnp);
    if (!pkt)
        return false;
    pkt->queue = fate->pkt->queue;
    pkt->prio = fate->pkt->prio;
    pkt->ready_ps = 0;
    if (back)
        wf_port_comes_in(port, pkt);
    else
        wf_fifo_push(&fate->behind, &pkt->q);
    matched_ends(f, !cnp, fate);
    return true;
}
