/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The management of a fabric's switch ports: who has an LLDP agent.
 */
#ifndef WEFT_FABRIC_DISCOVERY_H
#define WEFT_FABRIC_DISCOVERY_H

#include "fabric/fabric.h"

/* Agents that a fabric of this description has; full frames that they need. */
uint32_t wf_discovery_agents(const struct wf_desc *d);
uint32_t wf_discovery_frames(const struct wf_desc *d);
/* Make them; the nodes are ready. */
void wf_discovery_start(struct wf_fabric *f);

#endif
