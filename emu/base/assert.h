/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assertions, on in release builds too: a failed one is our bug, never a user's or a packet's.
 * The report prints what the running lcore put into wf_assert_ctx: seed, time, node.
 */
#ifndef WEFT_BASE_ASSERT_H
#define WEFT_BASE_ASSERT_H

#include <stdint.h>

/* What a failed assertion prints about the run; each thread that steps a fabric points to its
 * own. */
struct wf_assert_ctx {
    uint64_t seed;
    const uint64_t *now_ps;
    const char *what; /* node or scenario name */
};

void wf_assert_ctx_set(const struct wf_assert_ctx *ctx);
_Noreturn void wf_assert_fail(const char *file, int line, const char *func, const char *expr);

#define WF_ASSERT(expr)                                                                            \
    do {                                                                                           \
        if (__builtin_expect(!(expr), 0))                                                          \
            wf_assert_fail(__FILE__, __LINE__, __func__, #expr);                                   \
    } while (0)

#endif
