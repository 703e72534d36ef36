/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Verdicts on conformance, of all connections together: against the standard, and against a NIC's
 * profile where one was named. What differs between NICs by right, as what they pace CNPs by does,
 * is told and not judged.
 */
#ifndef WEFT_ANALYZE_RULES_H
#define WEFT_ANALYZE_RULES_H

#include "analyze/analyze.h"

enum wf_an_judgement { WF_AN_KEPT, WF_AN_BROKEN, WF_AN_OPEN, WF_AN_NOT_SEEN };

enum { WF_AN_RULES = 5 };

struct wf_an_rule {
    const char *name, *clause;
    enum wf_an_judgement verdict;
    uint64_t kept, broken; /* times */
    char text[224];
};

extern const char *const wf_an_judgement_names[4];

void wf_an_rules(const struct wf_analyze *a, struct wf_an_rule rules[WF_AN_RULES]);

#endif
