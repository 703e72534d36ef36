/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a switch knows of where MAC addresses are, with `mac_age`: an address from which no frame
 * came for longer than that is forgotten (802.1Q 8.8.3), and so is one whose own port went down.
 * What is for it floods from then on, although the ARP entry of whoever sends, or of the routed
 * leaf itself, still lives: that is how lossless traffic floods (Guo et al., SIGCOMM 2016, 4.2).
 *
 * A routed leaf has an age for each of its host ports; at the start its hosts are as fresh as if
 * ARP had just asked for them. In l2 forwarding each switch learns each host's port from the frames
 * that come in, knows nobody at the start, and so keeps to the flooding tree, as 802.1D bridges do.
 * Without `mac_age` there is nothing of this.
 */
#ifndef WEFT_SWITCH_AGE_H
#define WEFT_SWITCH_AGE_H

#include "switch/switch.h"

/* sw->age stays NULL without mac_age. */
void wf_age_ready(struct wf_switch *sw, struct wf_arena *arena);
/* A frame came in: its sender is there. */
void wf_age_heard(struct wf_switch *sw, const struct wf_visit *v);
/* The port by which this host is; NULL: the switch does not know it, or no longer. */
struct wf_port *wf_age_port(const struct wf_switch *sw, const struct wf_host_addr *host,
                            uint64_t now_ps);
/* A port of the switch went down or came up. */
void wf_age_link(struct wf_switch *sw, const struct wf_port *port, bool up);

#endif
