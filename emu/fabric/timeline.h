/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scenario's steps, as the first of the fabric's stops: links that go down and up, rates,
 * faults, each at its instant and before whatever else happens then.
 */
#ifndef WEFT_FABRIC_TIMELINE_H
#define WEFT_FABRIC_TIMELINE_H

#include "fabric/fabric.h"

/* Make the steps of the description stops of the fabric. */
void wf_timeline_start(struct wf_fabric *f);

#endif
