/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Congestion control at a queue pair of a model host: when a law's hooks are called, and what its
 * answers do. A queue pair without a control has none of this.
 */
#ifndef WEFT_HOST_CC_H
#define WEFT_HOST_CC_H

#include "base/arena.h"
#include "cc/cc.h"
#include "net/packet.h"

struct wf_nic_qp;
struct wf_flow_cfg;
struct wf_qp_cfg;

/* A law with values for its keys, under the name that flows and hosts use. */
struct wf_cc_use {
    const char *name, *params; /* params: the published set that the values began with, or NULL */
    const char *path;          /* of the shared object; NULL: it came with weft */
    const struct wf_cc_law *law;
    const void *cfg;
    const struct wf_ctr_table *table; /* what of it can be traced: wf_cc_table(), or NULL */
};

/* Levels of every controlled flow, before its law's own columns. */
enum wf_cc_level { WF_CC_LEVEL_RATE, WF_CC_LEVEL_WINDOW, WF_CC_LEVEL_RTT, WF_CC_LEVELS };

enum { WF_CC_SAMPLES = 64 }; /* round trips being measured at once */

struct wf_cc_sample {
    uint64_t seq; /* beyond the packet that asked for an ACK */
    uint64_t sent_ps;
};

struct wf_nic_cc {
    struct wf_cc cc;
    const struct wf_cc_use *use;
    struct wf_nic_qp *nq;
    struct wf_flow *flow;
    struct wf_event timer;
    uint64_t una_byte, naks, timeouts; /* of the transport, at the last call */
    uint64_t rtt_ps;                   /* the last one measured */
    uint64_t values[WF_CC_LEVELS + WF_CC_COLUMNS_MAX];
    uint32_t head, tail;         /* of sample[], free running */
    struct wf_cc_sample *sample; /* WF_CC_SAMPLES of them, where its law asks for round trips */
};

/* What the transport is to do differently under this control. */
void wf_nic_cc_tune(const struct wf_cc_use *use, struct wf_qp_cfg *cfg);
/* Gives the queue pair its control, from the arena; it acts from wf_nic_cc_start() on. */
void wf_nic_cc_add(struct wf_nic_qp *nq, const struct wf_cc_use *use, struct wf_flow *flow,
                   struct wf_arena *arena);
/*
 * The data of READs is sent by the responder, and nobody acknowledges it: a law that goes by CNPs,
 * or by nothing, paces all that the responder's queue pair sends. Other laws hear of it where it
 * arrives: they, and windows of any, limit at the requester what it asks for.
 */
bool wf_nic_cc_paces_reads(const struct wf_cc_use *use);
bool wf_nic_cc_limits_reads(const struct wf_cc_use *use);
/* Data of a READ was drawn. */
void wf_nic_cc_read(struct wf_nic_qp *nq, uint32_t payload_len, bool again);
/* Bytes of telemetry that its data carries. */
uint32_t wf_nic_cc_int_len(const struct wf_nic_qp *nq);
void wf_nic_cc_start(struct wf_nic_qp *nq, uint64_t base_rtt_ps);
/* A data packet was drawn, an answer came in, a CNP did, the transport's timer ran. */
void wf_nic_cc_sent(struct wf_nic_qp *nq, uint32_t payload_len, bool again, bool asks);
void wf_nic_cc_answered(struct wf_nic_qp *nq, const struct wf_pkt *pkt);
void wf_nic_cc_cnp(struct wf_nic_qp *nq);
void wf_nic_cc_ticked(struct wf_nic_qp *nq);

#endif
