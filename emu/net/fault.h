/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults on demand at a port's egress: drop, damage or mark every n-th frame of a class. A fault
 * counts the frames that it matched and hit; one that never hit is reported at the end of a run.
 */
#ifndef WEFT_NET_FAULT_H
#define WEFT_NET_FAULT_H

#include "net/packet.h"

enum wf_fault_action { WF_FAULT_DROP, WF_FAULT_CE, WF_FAULT_CORRUPT };
enum wf_fault_class {
    WF_FAULT_ROCE_DATA, /* RoCE packets that carry payload */
    WF_FAULT_ROCE_ACK,  /* ACK and NAK */
    WF_FAULT_ROCE,      /* any RoCE packet */
    WF_FAULT_ANY,       /* any frame but MAC control */
    WF_FAULT_CONTROL,   /* MAC control: PFC and pause */
};

extern const char *const wf_fault_class_names[]; /* NULL-terminated, by enum wf_fault_class */

struct wf_fault {
    struct wf_fault *next;
    enum wf_fault_action action;
    enum wf_fault_class match;
    uint64_t every; /* 1: each */
    uint64_t limit; /* hits; 0: no limit */
    uint64_t matched, hits;
};

/* What the faults of a port say of this frame: WF_DROP_NONE, or why it is dropped. May mark it. */
enum wf_reason wf_fault_apply(struct wf_fault *faults, struct wf_pkt *pkt);

#endif
