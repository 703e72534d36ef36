/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/reason.h"

#include "base/assert.h"

static const struct {
    const char *name, *meaning;
} rows[WF_DROP_COUNT] = {
    /* clang-format off */
    {"none", "not dropped"},
#define X(id, name, meaning) {name, meaning},
    WF_REASONS(X)
#undef X
    /* clang-format on */
};

const char *wf_reason_name(enum wf_reason r)
{
    WF_ASSERT(r < WF_DROP_COUNT);
    return rows[r].name;
}

const char *wf_reason_meaning(enum wf_reason r)
{
    WF_ASSERT(r < WF_DROP_COUNT);
    return rows[r].meaning;
}
