/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which of several equal next hops a packet takes. Plain ECMP by the flow's hash is forward.c's and
 * needs nothing of this; a switch that is told something else has a struct wf_lb:
 *
 * - other hash fields, the BTH's destination QP among them, or another salt;
 * - resilient hashing: for each destination a table of buckets, each with its next hop. A next hop
 *   that is lost gives its buckets to those that are left in turn, no other bucket changes;
 * - flowlets: a table without tags, indexed by the hash, as switches have it. An entry keeps its
 *   port until it has been idle for a gap;
 * - spray: each packet takes a port drawn from the switch's own stream, or the next one;
 * - adaptive: the port with the least bytes in its queues, in steps of `quantum`, of which there
 *   are `levels`; a draw decides between ports of one step. A packet waits from its forwarding on,
 *   so that the bytes within the switch's latency count.
 *
 * Left out: weights (all next hops count alike, whatever their rate), loads of other switches than
 * this one, averages of the load, migration of idle buckets to a next hop that came back.
 */
#ifndef WEFT_SWITCH_LB_H
#define WEFT_SWITCH_LB_H

#include "switch/switch.h"

/* When the graph and the configuration are known; sw->lb stays NULL for plain ECMP. n_flows: of the
 * scenario. */
void wf_lb_ready(struct wf_switch *sw, struct wf_arena *arena);
/* What the tables of a switch take at most: with flows in the scenario, and switches that packets
 * go to by several next hops. */
uint64_t wf_lb_bytes(const struct wf_lb_cfg *c, uint32_t n_flows, uint32_t n_dsts);
/* A port for a packet that came in at `in`, out of h, which has several. */
__attribute__((noinline)) uint16_t wf_lb_pick(struct wf_switch *sw, const struct wf_port *in,
                                              const struct wf_pkt *pkt, uint32_t dst_sw,
                                              struct wf_hops h);
/* The port that all packets of a flow hash take; where there is none (other fields, flowlets,
 * spray, adaptive) one of those that they may take. */
uint16_t wf_lb_path(const struct wf_switch *sw, uint32_t flow_hash, uint32_t dst_sw,
                    struct wf_hops h);
/* The graph has changed: buckets of next hops that are lost, or are there again, move. */
void wf_lb_regraph(struct wf_switch *sw);

#endif
