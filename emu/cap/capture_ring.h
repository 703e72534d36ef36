/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the dataplane to a capture file: what is noted of a frame, how it is written, and for live
 * runs a bounded ring with one writer thread. The dataplane's side takes no lock, makes no system
 * call and never waits: what does not fit is lost and counted.
 */
#ifndef WEFT_CAP_CAPTURE_RING_H
#define WEFT_CAP_CAPTURE_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/reason.h"
#include "cap/pcapng.h"

/* What happened to a frame at a port; its first cap_bytes follow. */
struct wf_capture_note {
    uint64_t time_ps, waited_ps, paused_ps, id;
    uint32_t iface, len_bytes, cap_bytes, depth_bytes;
    enum wf_reason why;
    enum wf_pcapng_dir dir;
    uint8_t queue, prio;
    bool queued, marked, damaged;
};

/* Write one record, its comment made from the note. */
void wf_capture_write(struct wf_pcapng *w, const struct wf_capture_note *note,
                      const uint8_t *frame);

struct wf_capture_ring;

/* Starts the thread. bytes 0: the default. */
int wf_capture_ring_new(struct wf_capture_ring **out, struct wf_pcapng *w, size_t bytes,
                        struct wf_err *err);
/* Dataplane: one producer. */
void wf_capture_ring_put(struct wf_capture_ring *r, const struct wf_capture_note *note,
                         const uint8_t *frame);
/* The rest is called by other threads and may wait for the writer. */
int wf_capture_ring_iface(struct wf_capture_ring *r, const struct wf_pcapng_iface *iface,
                          struct wf_err *err);
bool wf_capture_ring_error(struct wf_capture_ring *r, struct wf_err *err);
struct wf_pcapng_counts wf_capture_ring_counts(struct wf_capture_ring *r);
/* Wait until all that was put is with the kernel. */
void wf_capture_ring_drain(struct wf_capture_ring *r);
void wf_capture_ring_free(struct wf_capture_ring *r); /* may be NULL; ends the thread */

#endif
