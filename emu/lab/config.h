/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The `lab:` section of a scenario: what the guests are made of.
 */
#ifndef WEFT_LAB_CONFIG_H
#define WEFT_LAB_CONFIG_H

#include "base/key.h"
#include "fabric/desc.h"
#include "lab/plan.h"

struct wf_lab_cfg {
    const char *kernel, *packages, *share; /* NULL: not given */
    uint64_t memory_bytes;                 /* of each guest, 0: enough */
    uint64_t boot_limit_ps;                /* 0: by the number of guests */
    int accel;                             /* enum wf_accel */
};

extern const struct wf_keyset wf_lab_keys;

/* The hosts of a description that commands can run on: those attached by vhost-user are guests,
 * those with a namespace are that. dir is where sockets without a path of their own are. */
int wf_lab_plan_desc(struct wf_lab_plan *plan, const struct wf_desc *d, const char *dir,
                     struct wf_err *err);

#endif
