/* SPDX-License-Identifier: BSD-3-Clause */
/* A scenario's `trace:` entries resolved against a fabric. */
#ifndef WEFT_SCEN_TRACE_H
#define WEFT_SCEN_TRACE_H

#include "cap/trace.h"
#include "scen/scenario.h"

/* Add what the entries say; without any, the bytes of all queues and all pauses, on change. */
int wf_scenario_trace(const struct wf_scenario *s, struct wf_fabric *f, struct wf_traces *t,
                      struct wf_err *err);

#endif
