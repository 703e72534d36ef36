/* SPDX-License-Identifier: BSD-3-Clause */
/* A scenario's `why:` section resolved against a fabric. */
#ifndef WEFT_SCEN_WHY_H
#define WEFT_SCEN_WHY_H

#include "cap/why_log.h"
#include "scen/scenario.h"

/* Record what the section says, or without one everything. The log's arrays come from the arena. */
int wf_scenario_why(const struct wf_scenario *s, struct wf_arena *arena,
                    struct wf_why_log_conf *conf, struct wf_why_log **out, struct wf_err *err);

#endif
