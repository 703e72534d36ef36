/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything that reaches the fabric from outside passes here: frames with their bytes, stalls of
 * an edge, link states, faults and pauses asked for by command. Each takes effect at the lcore's
 * now, between two turns (a stall: within one), so a log of these calls replays the run.
 */
#ifndef WEFT_ATTACH_INGRESS_H
#define WEFT_ATTACH_INGRESS_H

#include "attach/edge.h"

/* A frame of the peer. The packet's mbuf holds its bytes without FCS, any number of any bytes. */
void wf_ingress_frame(struct wf_edge *e, struct wf_pkt *pkt);
/* The peer took no frame for longer than the edge could hold, or takes them again. */
void wf_ingress_stall(struct wf_edge *e, bool stalled);
/* The state of any link of the fabric. */
void wf_ingress_link(struct wf_fabric *f, struct wf_link *link, bool up);
/* Its rate, from the next frame on. */
void wf_ingress_link_rate(struct wf_link *link, uint64_t rate_bps);
/* A fault, by command. NULL: the port has as many as are possible. */
enum { WF_INGRESS_FAULTS = 64 };
struct wf_fault *wf_ingress_fault(struct wf_fabric *f, struct wf_port *port,
                                  const struct wf_fault *fault);
/* An XOFF of so many quanta (0: XON) for these priorities, sent out of a port by command. */
void wf_ingress_pfc(struct wf_port *port, uint8_t vector, uint16_t quanta);
/* The peer's MAC address, seen in a frame that came from its IP address. */
void wf_ingress_mac(struct wf_edge *e, const uint8_t mac[6]);

#endif
