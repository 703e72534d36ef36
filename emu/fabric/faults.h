/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a fault's words mean in a fabric: hosts and flows by their names, queue pairs, opcodes,
 * PSNs.
 */
#ifndef WEFT_FABRIC_FAULTS_H
#define WEFT_FABRIC_FAULTS_H

#include "fabric/fabric.h"
#include "net/fault_config.h"

/* Fill a fault in, but for its port. 0, or -EINVAL, *err and in *key whose value is wrong. */
int wf_desc_fault(const struct wf_desc *d, const struct wf_fault_cfg *cfg, struct wf_fault *out,
                  const char **key, struct wf_err *err);
/* The same from text (fault_config.h), and the port at whose egress it is. */
int wf_fabric_fault_parse(struct wf_fabric *f, const char *text, struct wf_fault *out,
                          struct wf_port **port, struct wf_err *err);

#endif
