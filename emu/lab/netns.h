/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hosts in network namespaces: a host whose interface is not there yet gets a namespace and a veth
 * pair, set up with its addresses; one whose interface is there is the user's own business.
 * How to undo it stands in a file before it is done, so that even a killed instance's leavings can
 * be found and taken away.
 */
#ifndef WEFT_LAB_NETNS_H
#define WEFT_LAB_NETNS_H

#include "base/err.h"
#include "lab/plan.h"

/* -EPERM without the right to; on any error all is undone. undo: path of that file. */
int wf_lab_netns_up(const struct wf_lab_plan *plan, const char *undo, struct wf_err *err);
/* Undo what the file says, and remove it. No file: nothing to do. */
void wf_lab_netns_down(const char *undo);

#endif
