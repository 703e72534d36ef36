/* SPDX-License-Identifier: BSD-3-Clause */
/* Where senders go back, and why; what was missing, and who lost it. For emu/analyze only. */
#ifndef WEFT_ANALYZE_RUN_H
#define WEFT_ANALYZE_RUN_H

#include "analyze/analyze.h"

/* The sender goes back to this packet. */
void wf_an_run_begin(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p);
/* A packet while it repeats, d numbers from what is expected: maybe the run ends with it. Returns
 * how far the packet is from what is expected now. */
int32_t wf_an_run_step(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p,
                       int32_t d);
void wf_an_run_count(struct wf_an_stream *s, const struct wf_an_pkt *p);
/* An answer to all before `until`, while the sender repeats: maybe to what it sent at first. */
void wf_an_run_answered(struct wf_an_stream *s, uint32_t until);
/* complete: everything was repeated. */
void wf_an_run_end(struct wf_analyze *a, struct wf_an_stream *s, bool complete);

/* No answer of this stream is in the capture. */
bool wf_an_one_sided(const struct wf_analyze *a, const struct wf_an_stream *s);
/* Whether so long a wait as this run's can be the timer's. */
bool wf_an_waited(const struct wf_an_stream *s, const struct wf_an_run *run);
/* So long that what did not come was lost, and was not only slow. */
bool wf_an_surely_lost(const struct wf_an_stream *s, const struct wf_an_run *run);

/* n packets from psn on, which were missing, came late. */
void wf_an_late(struct wf_analyze *a, struct wf_an_stream *s, uint32_t psn, uint32_t n,
                int64_t t_ps, struct wf_an_ref ref, const char *note);
/* Whether the sender counts its packets' IP identifications. */
void wf_an_count_ids(struct wf_an_requests *r, const struct wf_an_pkt *p);
/* Whether the packet says of itself that it was overtaken; then it is told of. */
bool wf_an_came_late(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p);

/* A hole of a service that repeats nothing. */
void wf_an_unheld(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_hole *h);
/* Nothing more will show whose hole this is. */
void wf_an_give_up(struct wf_analyze *a, struct wf_an_stream *s, struct wf_an_hole *h);
/* Holes before `until`, which has arrived, are the capture's. */
void wf_an_settle(struct wf_analyze *a, struct wf_an_stream *s, uint32_t until,
                  const struct wf_an_pkt *p);
/* A packet that is sent again must be the same (its payload, if both were captured alike). */
void wf_an_same_payload(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_sent *e,
                        const struct wf_an_pkt *p);
/* A lost packet that a NAK has named, which was never seen to be sent again. */
void wf_an_nak_unmet(struct wf_analyze *a, struct wf_an_stream *s);

#endif
