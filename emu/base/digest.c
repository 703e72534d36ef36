/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint64_t wf_hash_more(uint64_t h, const void *p, size_t len)
{
    const uint8_t *b = p;
    uint64_t w;

    for (; len >= 8; b += 8, len -= 8) {
        memcpy(&w, b, 8); /* little-endian machines only: checked at build time in base */
        h = wf_mix(h, w);
    }
    if (len) {
        w = 0;
        memcpy(&w, b, len);
        h = wf_mix(h, w ^ ((uint64_t)len << 56));
    }
    return h;
}

uint64_t wf_hash_bytes(const void *p, size_t len, uint64_t seed)
{
    return wf_hash_more(wf_hash_begin(seed, len), p, len);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "wf_hash_bytes reads words as they lie");

const char *wf_digest_text(const struct wf_digest *d, char *buf, size_t len)
{
    snprintf(buf, len, "wf1:%016" PRIx64, d->h);
    return buf;
}
