/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What people take for a mystery and counters explain, one line each and once a run, however many
 * frames there were.
 */
#ifndef WEFT_FABRIC_HINTS_H
#define WEFT_FABRIC_HINTS_H

#include <stdio.h>

#include "fabric/fabric.h"

void wf_fabric_hints(const struct wf_fabric *f, FILE *out);

#endif
