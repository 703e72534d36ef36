/* SPDX-License-Identifier: BSD-3-Clause */
/* What is noted of a frame at a capture point, and how it is written. */
#ifndef WEFT_CAP_CAPTURE_NOTE_H
#define WEFT_CAP_CAPTURE_NOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/reason.h"
#include "cap/pcapng.h"
#include "net/packet.h"

/* What happened to a frame at a port; its first cap_bytes follow. */
struct wf_capture_note {
    uint64_t time_ps, waited_ps, paused_ps, id;
    uint32_t iface, len_bytes, cap_bytes, depth_bytes;
    enum wf_reason why;
    enum wf_pcapng_dir dir;
    uint8_t queue, prio, pg;
    bool queued, marked, damaged;
    struct wf_pkt_why decided; /* while decisions are recorded */
};

/* Write one record, its comment made from the note. */
void wf_capture_write(struct wf_pcapng *w, const struct wf_capture_note *note,
                      const uint8_t *frame);

#endif
