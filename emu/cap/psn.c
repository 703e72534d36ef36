/* SPDX-License-Identifier: BSD-3-Clause */
/* Order of sequence numbers as seen from outside. See psn.h. */
#include "cap/psn.h"

enum wf_psn_kind wf_psn_kind(uint8_t opcode)
{
    const struct wf_opcode *op = &wf_opcodes[opcode];

    if (!op->name || op->service == WF_SERVICE_CNP)
        return WF_PSN_NONE;
    return op->flags & WF_OPF_RESPONSE ? WF_PSN_RESPONSE : WF_PSN_REQUEST;
}

static void take_request(struct wf_psn_track *t, uint8_t opcode, uint32_t psn)
{
    int32_t d = t->started ? wf_psn_diff(psn, t->next) : 0;

    if (d < 0) {
        t->repeats++; /* sent again, or overtaken; the furthest number stays what counts */
        return;
    }
    if (d > 0 && !t->loose) {
        t->gaps++;
        t->missing += (uint64_t)d;
    } else {
        t->in_order++;
    }
    t->loose = (opcode & 0x1f) == WF_OP_READ_REQUEST;
    t->next = (psn + 1) & WF_PSN_MASK;
}

static void take_response(struct wf_psn_track *t, uint32_t psn)
{
    if (t->started && wf_psn_diff(psn, t->next) <= 0) {
        t->repeats++;
        return;
    }
    t->in_order++;
    t->next = psn;
}

void wf_psn_take(struct wf_psn_track *t, uint8_t opcode, uint32_t psn)
{
    enum wf_psn_kind kind = wf_psn_kind(opcode);

    if (kind == WF_PSN_REQUEST)
        take_request(t, opcode, psn);
    else if (kind == WF_PSN_RESPONSE)
        take_response(t, psn);
    t->started |= kind != WF_PSN_NONE;
}
