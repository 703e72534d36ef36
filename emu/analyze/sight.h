/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One stream at several capture points: the first that saw it judges, the others tell which of its
 * packets they saw, so that what is lost can be placed between two of them.
 */
#ifndef WEFT_ANALYZE_SIGHT_H
#define WEFT_ANALYZE_SIGHT_H

#include "analyze/analyze.h"

/* Whether the packet was seen where its stream is judged; else it is noted. */
bool wf_an_judges(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p);
void wf_an_sights_free(struct wf_an_table *t, struct wf_an_stream *s);
/* Complete a finding by what other points saw. */
void wf_an_locate(struct wf_analyze *a, struct wf_an_stream *s, struct wf_an_finding *f);

#endif
