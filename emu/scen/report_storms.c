/* SPDX-License-Identifier: BSD-3-Clause */
/* What the PFC watchdogs of a fabric saw and did, as a section of a run's summary. */
#include <inttypes.h>

#include "scen/report.h"

enum { STORM_ROWS = 20 };

void wf_report_storms(struct wf_fabric *f, FILE *out)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(f, wf_ctr_table_bit(&wf_ctrs_pfcwd));
    uint32_t n = 0;

    while (wf_ctr_next(&w)) {
        const uint64_t *v = w.values;

        if (!v[WF_PFCWD_DETECTED])
            continue;
        if (!n++)
            fprintf(out,
                    "\n  storms that PFC watchdogs saw      begun  over   tx ok    drop   rx ok"
                    "    drop\n");
        if (n <= STORM_ROWS)
            fprintf(out,
                    "  %-12s priority %u        %9" PRIu64 " %5" PRIu64 " %7" PRIu64 " %7" PRIu64
                    " %7" PRIu64 " %7" PRIu64 "\n",
                    w.holder, w.index, v[WF_PFCWD_DETECTED], v[WF_PFCWD_RESTORED],
                    v[WF_PFCWD_TX_OK], v[WF_PFCWD_TX_DROP], v[WF_PFCWD_RX_OK], v[WF_PFCWD_RX_DROP]);
    }
    if (n > STORM_ROWS)
        fprintf(out, "  ... and %u more: --json has all\n", n - STORM_ROWS);
}
