/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clocks of captures that were taken at several places: packets that two of them saw tell how
 * far one is ahead of the other, and how much faster it runs. What goes one way is late by the
 * offset and the delay, what goes the other way by the offset less the delay: half-way between the
 * quickest of each is the offset, if the quickest take equally long both ways.
 */
#ifndef WEFT_ANALYZE_ALIGN_H
#define WEFT_ANALYZE_ALIGN_H

#include "analyze/input.h"

enum { WF_AN_ALIGN_PACKETS = 1 << 18 }; /* of each file, from its beginning */

/* Set the offsets of all sources against the first one's clock. -EINVAL: a source is a pipe, or no
 * packet of it is in the first one's capture. */
int wf_an_align(struct wf_an_input *in, struct wf_err *err);

#endif
