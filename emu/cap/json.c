/* SPDX-License-Identifier: BSD-3-Clause */
#include "cap/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"

json_t *wf_json_u64(uint64_t v)
{
    char text[24];

    if (v < 1ull << 53)
        return json_integer((json_int_t)v);
    snprintf(text, sizeof(text), "%" PRIu64, v);
    return json_string(text);
}

static void plain_text(json_t *v)
{
    char *text = strdup(json_string_value(v));

    if (text && strcmp(wf_plain(text), json_string_value(v)))
        json_string_set(v, text);
    free(text);
}

void wf_json_plain(json_t *v)
{
    const char *key;
    json_t *x;
    size_t i;

    if (json_is_string(v))
        plain_text(v);
    json_array_foreach (v, i, x)
        wf_json_plain(x);
    json_object_foreach (v, key, x)
        wf_json_plain(x);
}
