/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/assert.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local const struct wf_assert_ctx *ctx_of_thread;

void wf_assert_ctx_set(const struct wf_assert_ctx *ctx)
{
    ctx_of_thread = ctx;
}

void wf_assert_fail(const char *file, int line, const char *func, const char *expr)
{
    const struct wf_assert_ctx *c = ctx_of_thread;

    fprintf(stderr, "weft: bug: %s:%d: %s: '%s' does not hold\n", file, line, func, expr);
    if (c)
        fprintf(stderr, "weft: bug: seed %" PRIu64 ", fabric time %" PRIu64 " ps, in %s\n", c->seed,
                c->now_ps ? *c->now_ps : 0, c->what ? c->what : "?");
    fflush(NULL);
    abort();
}
