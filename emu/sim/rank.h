/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sorting few entries without a branch that depends on them: each goes to the place that the
 * number of those before it says. That is n^2 comparisons, four at once where the machine has
 * AVX2, but none is mispredicted, as half of those of a merge are.
 */
#ifndef WEFT_SIM_RANK_H
#define WEFT_SIM_RANK_H

#include "sim/entry.h"

enum { WF_RANK_MOST = 64, WF_RANK_NARROW = 16 };

/* Up to how many entries it is worth while on this machine. */
size_t wf_rank_most(void);
/* Sort n entries, no more than that, into `to`. False: they are all there, but may be out of order,
 * since some differ in the last bits of their keys alone. */
bool wf_rank(const struct wf_entry *from, size_t n, struct wf_entry *to, size_t most);

#endif
