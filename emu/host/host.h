/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weft's own host: a NIC with one port, eight queues and a response delay to PFC, and the queue
 * pairs that xport's engine drives on it. A host answers ARP and ND for its own addresses.
 */
#ifndef WEFT_HOST_HOST_H
#define WEFT_HOST_HOST_H

#include "host/config.h"
#include "net/port.h"

enum { WF_HOST_SQ_LEN = 128 }; /* messages of a flow that are posted at once */

struct wf_host;
struct wf_flow;
extern const struct wf_node_ops wf_host_ops;

/* A model host's node, from the arena; name, ports, net and mac are set by the fabric. */
struct wf_node *wf_host_new(struct wf_arena *arena, const struct wf_host_cfg *cfg);
/* A flow: a queue pair at both ends, and its messages; or with `connect` one at `from`, and `to`
 * may be any node. After both hosts are ready. `number` counts the fabric's flows: QP numbers and
 * UDP source ports follow from it. */
struct wf_flow *wf_host_add_flow(struct wf_host *from, struct wf_node *to,
                                 const struct wf_host_cfg *to_cfg, const char *name,
                                 const struct wf_flow_cfg *cfg, uint32_t number,
                                 struct wf_arena *arena);

/* The ECMP hash of the data packets of a flow; false: they have none. */
bool wf_host_flow_hash(const struct wf_flow *flow, uint32_t *hash);
/* The same, and what the packets carry: the destination queue pair, and the PSN of the first. */
bool wf_host_flow_ids(const struct wf_flow *flow, uint32_t *hash, uint32_t *dqpn,
                      uint32_t *first_psn);
/* What a full packet and its ACK take on the empty path: its congestion control is told. */
void wf_host_flow_rtt(struct wf_flow *flow, uint64_t base_rtt_ps);
/* The queue pair number of the flow with this number, at its sender or receiver. */
uint32_t wf_host_flow_qpn(uint32_t number, bool sender);
/* Its counters (enum wf_ctr_FLOW). */
uint64_t *wf_host_flow_ctr(struct wf_flow *flow);

#endif
