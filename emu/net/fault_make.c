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
static void answer(const struct wf_fault *f, uint32_t psn, bool back, const struct wf_stream *of,
                   uint8_t service, struct wf_roce *h)
{
    uint32_t msn = of ? of->msn : 0;

    if (f->action == WF_FAULT_ACK && back)
        msn++;
    h->bth.opcode = (uint8_t)(service | WF_OP_ACK);
    h->bth.psn = psn_of(&f->how, psn);
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

/* An answer or CNP for queue pair `to`, on the way that `like` says; psn: the default. */
static struct wf_pkt *made(const struct wf_fault *f, struct wf_port *port,
                           struct wf_stream_like *like, uint32_t to, uint32_t psn, bool back,
                           const struct wf_stream *of)
{
    bool cnp = f->action == WF_FAULT_CNP;
    struct wf_pkt *pkt;

    like->roce.bth.dqpn = f->how.reply_qpn_given ? f->how.reply_qpn : to;
    if (cnp)
        like->roce.dscp = f->how.dscp;
    else
        answer(f, psn, back, of, like->service, &like->roce);
    pkt = pkt_of(port->node->net, &like->roce, cnp);
    if (!pkt)
        return NULL;
    pkt->queue = like->queue;
    pkt->prio = like->prio;
    pkt->ready_ps = 0;
    return pkt;
}

bool wf_fault_make(struct wf_fault *f, struct wf_port *port, const struct wf_stream *stream,
                   struct wf_fate *fate)
{
    const struct wf_parsed *p = &fate->pkt->p;
    bool response = wf_opcodes[p->opcode].flags & WF_OPF_RESPONSE, cnp = f->action == WF_FAULT_CNP;
    bool back = cnp ? p->payload_len > 0 : !response;
    const struct wf_stream *other = NULL;
    struct wf_stream_like like;
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
    wf_stream_like(fate->pkt, back, &like);
    pkt = made(f, port, &like, back && other ? other->qp->half.qpn : p->dqpn, p->psn, back,
               back ? other : stream);
    if (!pkt)
        return false;
    if (back)
        wf_port_comes_in(port, pkt);
    else
        wf_fifo_push(&fate->behind, &pkt->q);
    matched_ends(f, !cnp, fate);
    return true;
}

/* --- at a time, without a packet ----------------------------------------------------------------
 */

/* The newest PSN that was asked for: by packets that passed, else by the connection manager before
 * the first. False: nobody knows. */
static bool asked_psn(const struct wf_stream_qp *requests, uint32_t *psn)
{
    const struct wf_stream *x = requests ? &requests->of[WF_STREAM_REQUESTS] : NULL;

    if (!x || (!x->n_seen && !requests->half.told))
        return false;
    *psn = x->n_seen ? x->max_psn : requests->half.first_psn;
    return true;
}

/* To the queue pair that answers like these are for: they leave by the port, and so does it. */
static bool with_answers(struct wf_fault *f, struct wf_port *port, struct wf_stream_qp *qp)
{
    const struct wf_stream *answers = &qp->of[WF_STREAM_ANSWERS];
    uint32_t psn = answers->max_psn;
    bool known = asked_psn(wf_stream_mate(qp), &psn) || answers->n_seen;
    struct wf_stream_like like = qp->like;
    struct wf_fifo one = {0};
    struct wf_pkt *pkt;

    if (!known)
        return false;
    pkt = made(f, port, &like, qp->half.qpn, psn, false, answers);
    if (!pkt)
        return false;
    wf_fifo_push(&one, &pkt->q);
    wf_port_extras(port, &one);
    return true;
}

/* To the queue pair whose requests leave by the port: it comes in there. */
static bool to_requests(struct wf_fault *f, struct wf_port *port, struct wf_stream_qp *qp)
{
    struct wf_stream_qp *mate = wf_stream_mate(qp);
    struct wf_stream_like like = qp->like;
    struct wf_pkt *pkt;
    uint32_t psn;

    if (!asked_psn(qp, &psn) || (!mate && !f->how.reply_qpn_given))
        return false;
    wf_stream_turn(&like);
    pkt = made(f, port, &like, mate ? mate->half.qpn : 0, psn, true,
               mate ? &mate->of[WF_STREAM_ANSWERS] : NULL);
    if (!pkt)
        return false;
    wf_port_comes_in(port, pkt);
    return true;
}

bool wf_fault_make_for(struct wf_fault *f, struct wf_port *port, struct wf_stream_qp *qp)
{
    bool rc = qp->like.service == WF_SERVICE_RC || qp->like.service == WF_SERVICE_XRC;

    if (!(rc || f->action == WF_FAULT_CNP) || !port->up)
        return false;
    return f->match == WF_FAULT_ROCE_DATA ? to_requests(f, port, qp) : with_answers(f, port, qp);
}
