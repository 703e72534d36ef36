/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCQCN's notification point: the receiving NIC sends a CNP (IBA annex A17.9.3) for data that came
 * with CE, at most once in an interval for each of what it paces by: its port, the sender's
 * address, or the queue pair. Data only: never for a CNP, an ACK, or a frame to a group. Some NICs
 * send one with a NAK too. Between weft's own hosts ACKs also say, by their BECN bit, whether data
 * came with CE, and bring telemetry back, where the sender's control asks for it. A queue pair
 * whose peer wants nothing has none of this.
 */
#ifndef WEFT_HOST_CNP_H
#define WEFT_HOST_CNP_H

#include "base/arena.h"
#include "host/config.h"
#include "net/int.h"

struct wf_host;
struct wf_nic_qp;

/* A NIC's configuration with its profile's values where it has none of its own. */
struct wf_np_cfg {
    int pacing; /* enum wf_cnp_pacing */
    uint64_t interval_ps, delay_ps;
    bool on_nak;
    uint8_t dscp;
};
void wf_np_resolve(const struct wf_nic_cfg *nic, struct wf_np_cfg *out);

/* Those that share an interval. */
struct wf_np_domain {
    struct wf_np_domain *next;
    uint8_t key[16]; /* the sender's address */
    uint64_t next_ps;
};

struct wf_nic_np {
    struct wf_np_cfg cfg;
    struct wf_nic_qp *nq;
    bool notifies; /* sends CNPs */
    bool echoes;   /* its ACKs say whether data came with CE since the last one */
    bool returns;  /* ... and bring back the telemetry of the newest data */
    bool ce, becn; /* since the last ACK; what that one said */
    uint32_t n_hops;
    struct wf_int_hop hops[WF_INT_HOPS];
    struct wf_np_domain *domain;
    struct wf_event delay;
    uint64_t naks, sent;
};

/* What the queue pair, which knows its peer, does for a control of that peer: flags of enum
 * wf_cc_flag. */
void wf_np_add(struct wf_nic_qp *nq, uint32_t flags, struct wf_arena *arena);
/* A request came in and was looked at. */
void wf_np_saw(struct wf_nic_qp *nq, const struct wf_pkt *pkt);

#endif
