/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Patterns over names. `*` stands for any characters but '.', `?` for one, `[1-8]` or `[1,4-6]`
 * for a whole number in that range: h[1-8] matches h8 and not h12. So leaf* matches leaf0 and
 * leaf0:p3, and not leaf0:p3.q3.
 */
#ifndef WEFT_SCEN_MATCH_H
#define WEFT_SCEN_MATCH_H

#include <stdbool.h>

#include "base/err.h"

bool wf_match(const char *pattern, const char *name);
/* Does the pattern hold a wildcard at all? */
bool wf_match_is_pattern(const char *pattern);
/* Is the pattern well formed? */
int wf_match_check(const char *pattern, struct wf_err *err);
/*
 * Patterns over links: two end patterns with '-' between, each a node with an optional ":pN";
 * either order. "*" alone is every link. Names of ends are given as ("leaf0", 3).
 */
bool wf_match_link(const char *pattern, const char *a, unsigned a_port, const char *b,
                   unsigned b_port);
/* The '-' that separates the ends, outside of brackets; NULL when there is none. */
const char *wf_match_link_dash(const char *pattern);

#endif
