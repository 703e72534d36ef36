/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sorting few entries without a branch that depends on them: each goes to the place that the
 * number of those before it says. That is n^2 comparisons, but many at once, and none of them is
 * mispredicted, as half of those of a merge are. One way for every machine, and others for what
 * some have.
 */
#ifndef WEFT_SIM_RANK_H
#define WEFT_SIM_RANK_H

#include "sim/entry.h"

enum {
    WF_RANK_NARROW = 16, /* most entries that the way of every machine is worth while for */
    WF_RANK_WIDE = 128,  /* and with AVX2 */
    WF_RANK_PAD = 8,     /* entries that may be read behind `from`, and written behind `to` */
};

/* Sort n entries, 2 to `most`, into `to`, which is apart. Behind both there is room for WF_RANK_PAD
 * more, whose contents do not matter. False: `to` holds nothing of use, since one word was not
 * enough to tell their order. */
typedef bool wf_rank_fn(const struct wf_entry *from, size_t n, struct wf_entry *to);

struct wf_ranker {
    const char *name;
    size_t most;
    wf_rank_fn *rank;
};

/* Those that this machine can run, the best last; NULL behind that. */
const struct wf_ranker *wf_ranker_at(size_t i);
const struct wf_ranker *wf_ranker_best(void);

bool wf_rank_narrow(const struct wf_entry *from, size_t n, struct wf_entry *to);
bool wf_rank_wide(const struct wf_entry *from, size_t n, struct wf_entry *to);

#endif
