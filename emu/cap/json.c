/* SPDX-License-Identifier: BSD-3-Clause */
#include "cap/json.h"

#include <inttypes.h>
#include <stdio.h>

json_t *wf_json_u64(uint64_t v)
{
    char text[24];

    if (v < 1ull << 53)
        return json_integer((json_int_t)v);
    snprintf(text, sizeof(text), "%" PRIu64, v);
    return json_string(text);
}
