/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream over time. See bins.h. */
#include "analyze/bins.h"

#include <string.h>

void wf_an_bins_init(struct wf_an_bins *b, int64_t from_ps)
{
    *b = (struct wf_an_bins){.from_ps = from_ps, .width_ps = 1000000}; /* 1 us */
}

static void halve(struct wf_an_bins *b)
{
    for (unsigned i = 0; i < WF_AN_BINS / 2; i++) {
        const struct wf_an_bin *x = &b->bin[2 * i], *y = x + 1;

        b->bin[i] = (struct wf_an_bin){.bytes = x->bytes + y->bytes,
                                       .psn = x->psn > y->psn ? x->psn : y->psn,
                                       .packets = x->packets + y->packets,
                                       .again = x->again + y->again};
    }
    memset(&b->bin[WF_AN_BINS / 2], 0, sizeof(b->bin) / 2);
    b->n = (b->n + 1) / 2;
    b->width_ps *= 2;
}

void wf_an_bins_add(struct wf_an_bins *b, int64_t t_ps, uint32_t psn, uint32_t bytes, bool again)
{
    int64_t t = t_ps > b->from_ps ? t_ps - b->from_ps : 0;
    struct wf_an_bin *bin;

    while (t / b->width_ps >= WF_AN_BINS)
        halve(b);
    bin = &b->bin[t / b->width_ps];
    if (t / b->width_ps >= b->n)
        b->n = (unsigned)(t / b->width_ps) + 1;
    bin->bytes += bytes;
    bin->packets++;
    bin->again += again;
    if (psn > bin->psn)
        bin->psn = psn;
}
