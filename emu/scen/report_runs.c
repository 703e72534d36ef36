/* SPDX-License-Identifier: BSD-3-Clause */
/* What several runs of one scenario have shown together: the verdicts over all seeds. */
#include <inttypes.h>

#include "scen/report.h"

bool wf_report_runs_failed(const struct wf_report_runs *r)
{
    return r->failed || wf_expects_count(&r->scen->expects, WF_VERDICT_FAIL) > 0;
}

void wf_report_runs_text(const struct wf_report_runs *r, FILE *out)
{
    const struct wf_expects *x = &r->scen->expects;
    char text[1024];

    fprintf(out, "\n%s: %u runs, seeds %" PRIu64 " to %" PRIu64 "\n", r->scen->opts.name, r->runs,
            r->first_seed, r->first_seed + r->runs - 1);
    fprintf(out, "\n  expectations over all runs: %zu passed, %zu failed, %zu skipped\n",
            wf_expects_count(x, WF_VERDICT_PASS), wf_expects_count(x, WF_VERDICT_FAIL),
            wf_expects_count(x, WF_VERDICT_SKIPPED));
    for (size_t i = 0; i < x->n; i++) {
        const struct wf_expect *e = &x->items[i];

        if (e->verdict == WF_VERDICT_FAIL)
            fprintf(out, "  FAILED: %s:%d:%d: %s\n", e->file, e->line, e->col,
                    wf_expect_failure(e, text, sizeof(text)));
    }
    if (r->failed)
        fprintf(out, "  FAILED: %u runs failed of themselves\n", r->failed);
    fprintf(out, "\n%s\n",
            r->broken                  ? "BROKEN"
            : wf_report_runs_failed(r) ? "FAILED"
            : r->stopped               ? "stopped before its end"
                                       : "passed");
}
