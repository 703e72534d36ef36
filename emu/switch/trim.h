/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packet trimming, after SAI's proposal and SONiC's design: a packet that an eligible lossy queue
 * can't take, or that its group or the buffer can't, is cut to a size, gets another DSCP and tries
 * another queue, so that its receiver learns of it at once. If that queue is full too it is
 * dropped. The packet's group stays the one that it came in by.
 *
 * Lengths: IP's is updated with IPv4's checksum (SAI: "ip_length: updated") or left as it was
 * (SONiC's test plan, limitation 4: "kept"); UDP's is what it was. A trimmed RoCE packet ends
 * within its payload and has no ICRC: a host knows it by its DSCP or its contradicting lengths,
 * and must not take it for damaged.
 *
 * Only unicast IP is trimmed, and no tunnel, and nothing whose IP header would be cut. A trim is no
 * drop of the fabric; the eligible queue's drop counter counts the packets that it refused all the
 * same, as SAI's does. Left out: ACLs that disable trimming, recirculation's time and bandwidth: in
 * cut-through mode a trimmed packet leaves no earlier than its last bit has come in.
 */
#ifndef WEFT_SWITCH_TRIM_H
#define WEFT_SWITCH_TRIM_H

#include "switch/switch.h"

/* Cut the packet that was refused, if it is eligible: then it is to be admitted anew. */
bool wf_trim(struct wf_switch *sw, struct wf_visit *v, enum wf_reason why);
/* A trimmed packet leaves the queue at the switch that trimmed it, or is dropped there. */
void wf_trim_sent(struct wf_port *out, struct wf_pkt *pkt);
void wf_trim_lost(struct wf_port *out, struct wf_pkt *pkt);

#endif
