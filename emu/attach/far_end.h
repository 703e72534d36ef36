/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stands behind a kernel interface: the other end of a veth, wherever it lives, and whether
 * either is a port of a Linux bridge. Asked of the kernel once (rtnetlink), when the run begins.
 */
#ifndef WEFT_ATTACH_FAR_END_H
#define WEFT_ATTACH_FAR_END_H

#include <stdbool.h>
#include <stdint.h>

struct wf_far_end {
    uint32_t mtu; /* of the other end of a veth; 0: it is none, or cannot be seen from here */
    bool bridged; /* this end or the other is a bridge's port */
};

/* What is not known stays zero. */
void wf_far_end_ask(int ifindex, struct wf_far_end *out);

#endif
