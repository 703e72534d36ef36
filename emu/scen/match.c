/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns over names, see match.h. Linear in the name for each star: no exponential input. */
#include "scen/match.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One piece of "[1,4-6]" at *p; false at the end or on nonsense. */
static bool range_piece(const char **p, uint64_t *lo, uint64_t *hi)
{
    char *end;

    if (!isdigit((unsigned char)**p))
        return false;
    *lo = *hi = strtoull(*p, &end, 10);
    if (*end == '-') {
        if (!isdigit((unsigned char)end[1]))
            return false;
        *hi = strtoull(end + 1, &end, 10);
    }
    if (*end == ',' ? !isdigit((unsigned char)end[1]) : *end != ']')
        return false;
    *p = *end == ',' ? end + 1 : end;
    return true;
}

/* Does the number at *name lie in the range at *pat ("[1-8]")? Both move behind on success. */
static bool range(const char **pat, const char **name)
{
    const char *p = *pat + 1;
    char *end;
    uint64_t v, lo, hi;
    bool in = false;

    if (!isdigit((unsigned char)**name))
        return false;
    v = strtoull(*name, &end, 10);
    while (*p && *p != ']') {
        if (!range_piece(&p, &lo, &hi))
            return false;
        in = in || (v >= lo && v <= hi);
    }
    if (!in || !*p)
        return false;
    *pat = p + 1;
    *name = end;
    return true;
}

bool wf_match(const char *p, const char *s)
{
    const char *star = NULL, *retry = NULL;

    while (*s || *p) {
        if (*p == '*') {
            star = ++p;
            retry = s;
            continue;
        }
        if (*p == '[' ? range(&p, &s) : false)
            continue;
        if (*p && *p != '[' && *s && (*p == *s || (*p == '?' && *s != '.'))) {
            if (*p == '.')
                star = NULL; /* a star never crosses a dot */
            p++;
            s++;
            continue;
        }
        if (!star || !*retry || *retry == '.')
            return false;
        p = star;
        s = ++retry;
        /* [1-8] after a star begins at the first digit of a number, not in its middle */
        while (*p == '[' && isdigit((unsigned char)s[0]) && isdigit((unsigned char)s[-1]))
            s = ++retry;
    }
    return true;
}

bool wf_match_is_pattern(const char *pattern)
{
    return strpbrk(pattern, "*?[") != NULL;
}

int wf_match_check(const char *pattern, struct wf_err *err)
{
    uint64_t lo, hi;

    if (!*pattern)
        return wf_err_set(err, EINVAL, "an empty name");
    for (const char *p = pattern; *p; p++) {
        if (*p == ']')
            return wf_err_set(err, EINVAL, "']' without '[' in '%s'", pattern);
        if (*p != '[')
            continue;
        p++;
        do {
            if (!range_piece(&p, &lo, &hi))
                return wf_err_set(err, EINVAL, "bad range in '%s', expected such as h[1-8]",
                                  pattern);
            if (lo > hi)
                return wf_err_set(err, EINVAL, "the range in '%s' runs backwards", pattern);
        } while (*p != ']');
    }
    return 0;
}

const char *wf_match_link_dash(const char *p)
{
    int depth = 0;

    for (; *p; p++) {
        depth += *p == '[';
        depth -= *p == ']';
        if (*p == '-' && depth == 0)
            return p;
    }
    return NULL;
}

/* pattern "leaf*" or "leaf*:p[0-3]" */
static bool match_end(const char *pattern, const char *node, unsigned port)
{
    char full[160];

    if (strchr(pattern, ':')) {
        snprintf(full, sizeof(full), "%s:p%u", node, port);
        return wf_match(pattern, full);
    }
    return wf_match(pattern, node);
}

bool wf_match_link(const char *pattern, const char *a, unsigned a_port, const char *b,
                   unsigned b_port)
{
    const char *dash = wf_match_link_dash(pattern);
    char left[160];

    if (!strcmp(pattern, "*"))
        return true;
    if (!dash)
        return match_end(pattern, a, a_port) || match_end(pattern, b, b_port);
    if ((size_t)(dash - pattern) >= sizeof(left))
        return false;
    snprintf(left, sizeof(left), "%.*s", (int)(dash - pattern), pattern);
    return (match_end(left, a, a_port) && match_end(dash + 1, b, b_port)) ||
           (match_end(left, b, b_port) && match_end(dash + 1, a, a_port));
}
