/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers in every JSON that weft writes: exact for any reader (RFC 8259 6, I-JSON); and texts of a
 * JSON that others wrote.
 */
#ifndef WEFT_CAP_JSON_H
#define WEFT_CAP_JSON_H

#include <jansson.h>
#include <stdint.h>

/* A number below 2^53, which a double holds exactly; from there on a string of its digits. */
json_t *wf_json_u64(uint64_t v);
/* All texts in v, but no keys, as wf_plain makes them: for people to read. */
void wf_json_plain(json_t *v);

#endif
