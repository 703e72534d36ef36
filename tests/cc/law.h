/* SPDX-License-Identifier: BSD-3-Clause */
/* A law alone, with its defaults or a published set, driven by a script. */
#ifndef WEFT_TESTS_CC_LAW_H
#define WEFT_TESTS_CC_LAW_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/arena.h"
#include "cc/laws.h"
#include "host/cc_law.h"

#define US 1000000ull

struct law_run {
    struct wf_arena arena;
    const struct wf_cc_law *law;
    struct wf_cc c;
};

/* "key=value" texts, NULL-terminated, behind the set's. */
static inline void law_begin(struct law_run *r, const char *name, const char *params,
                             const char *const (*set)[2], uint64_t line_bps, uint64_t rtt_ps)
{
    const struct wf_keyset *keys;
    struct wf_err err = {.line = 0};
    void *cfg;

    *r = (struct law_run){.law = wf_cc_find(name)};
    assert_non_null(r->law);
    keys = wf_cc_keyset(r->law, &r->arena);
    cfg = wf_arena_alloc(&r->arena, r->law->cfg_size + 1);
    wf_keyset_defaults(keys, cfg);
    if (params)
        assert_int_equal(wf_cc_params_apply(wf_cc_params_find(r->law, params), keys, cfg, &err), 0);
    for (; set && (*set)[0]; set++)
        assert_int_equal(wf_key_set(wf_keyset_find(keys, (*set)[0]), cfg, (*set)[1], &err), 0);
    r->c.state = wf_arena_alloc(&r->arena, r->law->state_size + 1);
    r->c.cfg = cfg;
    r->c.out.timer_ps = WF_CC_NEVER;
    r->c.env = (struct wf_cc_env){
        .line_bps = line_bps, .base_rtt_ps = rtt_ps, .mtu_bytes = 4096, .wire_bytes = 4178};
    r->law->on_start(&r->c);
}

/* Time passes; timers run. */
static inline void law_until(struct law_run *r, uint64_t t_ps)
{
    while (r->c.out.timer_ps <= t_ps) {
        r->c.now_ps = r->c.out.timer_ps;
        r->c.out.timer_ps = WF_CC_NEVER;
        r->law->on_timer(&r->c);
    }
    r->c.now_ps = t_ps;
}

static inline uint64_t law_column(const struct law_run *r, const char *name)
{
    for (size_t i = 0; i < r->law->n_columns; i++)
        if (!__builtin_strcmp(r->law->columns[i].name, name))
            return *(const uint64_t *)((const char *)r->c.state + r->law->columns[i].off);
    fail_msg("no column %s", name);
    return 0;
}

static inline void law_end(struct law_run *r)
{
    wf_arena_free(&r->arena);
}

#endif
