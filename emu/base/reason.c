/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/reason.h"

#include <string.h>

#include "base/assert.h"
#include "base/digest.h"

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

uint64_t wf_reason_code(enum wf_reason r)
{
    const char *name = wf_reason_name(r);

    return wf_hash_bytes(name, strlen(name), 0);
}
