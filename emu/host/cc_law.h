/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Laws as a scenario names them: one that came with weft, or a shared object that is loaded while
 * the scenario is, never later. Its descriptor is checked before anything of it runs.
 */
#ifndef WEFT_HOST_CC_LAW_H
#define WEFT_HOST_CC_LAW_H

#include "base/arena.h"
#include "base/key.h"
#include "host/cc.h"

/* The law of a shared object, or NULL and why not. It stays loaded. */
const struct wf_cc_law *wf_cc_load(const char *path, struct wf_err *err);
/* A law's keys as a set, from the arena. */
const struct wf_keyset *wf_cc_keyset(const struct wf_cc_law *law, struct wf_arena *arena);
/* What can be traced of a flow under this law, from the arena: levels and the law's columns. */
const struct wf_ctr_table *wf_cc_table(const struct wf_cc_law *law, struct wf_arena *arena);
/* A published set of values, by name; NULL: the law has none of this name. */
const struct wf_cc_params *wf_cc_params_find(const struct wf_cc_law *law, const char *name);
/* The values of the set into a configuration that has its defaults. */
int wf_cc_params_apply(const struct wf_cc_params *p, const struct wf_keyset *keys, void *cfg,
                       struct wf_err *err);

#endif
