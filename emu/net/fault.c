/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/fault.h"

#include "wire/bth.h"
#include "wire/edit.h"

const char *const wf_fault_class_names[] = {"roce_data", "roce_ack", "roce",
                                            "any",       "control",  NULL};

static bool matches(enum wf_fault_class class, const struct wf_parsed *p)
{
    const struct wf_opcode *op = &wf_opcodes[p->opcode];

    if (class == WF_FAULT_CONTROL || p->flags & WF_P_MAC_CONTROL)
        return class == WF_FAULT_CONTROL && p->flags & WF_P_MAC_CONTROL;
    if (class == WF_FAULT_ANY)
        return true;
    if (!(p->flags & WF_P_BTH))
        return false;
    if (class == WF_FAULT_ROCE_DATA)
        return (op->flags & WF_OPF_PAYLOAD) && p->payload_len > 0;
    if (class == WF_FAULT_ROCE_ACK)
        return p->flags & WF_P_AETH && !(op->flags & WF_OPF_PAYLOAD);
    return true;
}

static enum wf_reason hit(const struct wf_fault *f, struct wf_pkt *pkt)
{
    if (f->action == WF_FAULT_DROP)
        return WF_DROP_INJECTED;
    if (f->action == WF_FAULT_CORRUPT) {
        pkt->flags |= WF_PKT_DAMAGED;
    } else if (wf_edit_set_ce(wf_pkt_hdr_rw(pkt), &pkt->p)) {
        pkt->flags |= WF_PKT_MARKED;
        wf_pkt_edited(pkt);
    }
    return WF_DROP_NONE;
}

enum wf_reason wf_fault_apply(struct wf_fault *faults, struct wf_pkt *pkt)
{
    enum wf_reason why = WF_DROP_NONE;

    for (struct wf_fault *f = faults; f && !why; f = f->next) {
        if ((f->limit && f->hits == f->limit) || !matches(f->match, &pkt->p))
            continue;
        if (++f->matched % f->every)
            continue;
        f->hits++;
        why = hit(f, pkt);
    }
    return why;
}
