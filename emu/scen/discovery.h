/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the LLDP agents of a fabric know, as rows for `weft show` and --json and as lines of a
 * summary: the port's own word, its peer's as it was received, what the port goes by, and where the
 * two disagree.
 */
#ifndef WEFT_SCEN_DISCOVERY_H
#define WEFT_SCEN_DISCOVERY_H

#include <jansson.h>
#include <stdio.h>

#include "fabric/fabric.h"

/* One row a port with DCBX; one a neighbour, or a port without any. Only of ports whose name fits
 * the pattern (NULL: all). New arrays. */
json_t *wf_discovery_dcbx(const struct wf_fabric *f, const char *at);
json_t *wf_discovery_lldp(const struct wf_fabric *f, const char *at);
/* Nothing when no port has an agent. */
void wf_discovery_text(const struct wf_fabric *f, FILE *out);

#endif
