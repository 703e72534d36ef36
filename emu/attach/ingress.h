/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything that reaches the fabric from outside passes here: frames with their bytes, what the
 * peer takes, link states, faults and pauses asked for by command. Each takes effect at the lcores'
 * now, when all of them stand at one instant, and is told to the edges' log first, so that
 * wf_ingress_repeat of the log's content, in its order, repeats the run.
 */
#ifndef WEFT_ATTACH_INGRESS_H
#define WEFT_ATTACH_INGRESS_H

#include "attach/edges.h"

/* What a frame of whole bytes needs to be switched; a short one counts as padded. */
void wf_ingress_dress(struct wf_edge *e, struct wf_pkt *pkt);
/* A frame of the peer. The packet's mbuf holds its bytes without FCS, any number of any bytes. */
void wf_ingress_frame(struct wf_edge *e, struct wf_pkt *pkt);
/* The peer took the n oldest frames that waited, of these lengths with FCS; at most
 * WF_STIM_TAKEN_MAX. */
void wf_ingress_taken(struct wf_edge *e, const uint32_t *bytes, unsigned n);
/* The peer came or went. */
void wf_ingress_peer(struct wf_edge *e, bool up);
/* The device takes L3 packets of so many bytes from now on. */
void wf_ingress_mtu(struct wf_edge *e, uint32_t mtu);
/* It is time to ask the peer for its MAC address. */
void wf_ingress_probe(struct wf_edge *e);
/* Frames wait in the peer's ring, since the fabric pauses it; or no more. */
void wf_ingress_held(struct wf_edge *e, bool held);
/* A counter that the device keeps, or of frames that are not for us. */
void wf_ingress_count(struct wf_edge *e, enum wf_ctr_EDGE counter, uint64_t value);

/* The state of any link of the fabric, by command. */
void wf_ingress_link(struct wf_edges *es, struct wf_link *link, bool up);
/* Its rate, from the next frame on. */
void wf_ingress_link_rate(struct wf_edges *es, struct wf_link *link, uint64_t rate_bps);
/* A fault, by command, as text (net/fault_config.h). 0, or -EINVAL and *err. */
int wf_ingress_fault(struct wf_edges *es, const char *text, struct wf_err *err);
/* An XOFF of so many quanta (0: XON) for these priorities, sent out of a port by command. */
void wf_ingress_pfc(struct wf_edges *es, struct wf_port *port, uint8_t vector, uint16_t quanta);
/* The same with 802.3x. */
void wf_ingress_pause(struct wf_edges *es, struct wf_port *port, uint16_t quanta);

/* One stimulus of a log: the function above that it stands for. 0, or -EINVAL and *err when it
 * does not fit this fabric. */
int wf_ingress_repeat(struct wf_edges *es, const struct wf_stimulus *st, struct wf_err *err);

#endif
