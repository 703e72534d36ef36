/* SPDX-License-Identifier: BSD-3-Clause */
/* Ingress logs of a stranger: every stimulus is bounded, time goes forward, the end stays. */
#include <string.h>

#include "base/units.h"
#include "cap/ingress_log.h"

#include "fuzz.h"

static void check(const struct wf_ingress_reader *r, const struct wf_stimulus *st,
                  const struct wf_stimulus *last, size_t size)
{
    uint8_t sum = 0;

    FUZZ_CHECK(st->kind < WF_STIM_KINDS);
    FUZZ_CHECK(st->kind >= WF_STIM_LINK || st->edge < wf_ingress_head(r)->n_edges);
    FUZZ_CHECK(st->t_ps >= last->t_ps && st->t_ps < WF_TIME_NEVER);
    FUZZ_CHECK(!st->first || !st->t_ps);
    if (st->kind == WF_STIM_FRAME) {
        FUZZ_CHECK(st->cap_bytes <= st->len_bytes && st->cap_bytes <= size);
        FUZZ_CHECK((st->cap_bytes == st->len_bytes) == (st->icrc == WF_STIM_ICRC_WHOLE));
        for (uint32_t i = 0; i < st->cap_bytes; i++)
            sum ^= st->frame[i];
        FUZZ_CHECK(sum == sum);
    } else {
        FUZZ_CHECK(st->where && strlen(st->where) <= WF_STIM_WHERE_MAX);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FILE *f = size ? fmemopen((void *)(uintptr_t)data, size, "rb") : NULL;
    struct wf_ingress_reader *r = NULL;
    struct wf_stimulus st, last = {0};
    struct wf_err err = {0};
    int rc;

    if (!f)
        return 0;
    rc = wf_ingress_open_stream(&r, f, "fuzz", &err);
    FUZZ_CHECK((rc == 0) == (r != NULL) && (r || err.msg[0]));
    if (!r)
        return 0;
    for (uint32_t i = 0; i < wf_ingress_head(r)->n_edges; i++)
        FUZZ_CHECK(strlen(wf_ingress_head(r)->edges[i]) <= WF_STIM_WHERE_MAX);
    while ((rc = wf_ingress_next(r, &st, &err)) == 1) {
        check(r, &st, &last, size);
        last = st;
    }
    FUZZ_CHECK(rc == 0 || err.msg[0]);
    FUZZ_CHECK(wf_ingress_next(r, &st, &err) == rc);
    FUZZ_CHECK(wf_ingress_tail(r).end_ps >= last.t_ps);
    wf_ingress_close(r);
    return 0;
}
