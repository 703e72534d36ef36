/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/offer.h"

#include <string.h>

#include "base/cursor.h"

void wf_offer_put(uint8_t to[WF_OFFER_LEN], const struct wf_offer *o)
{
    memset(to, 0, WF_OFFER_LEN);
    wf_st64(to, o->va);
    wf_st32(to + 8, o->rkey);
    wf_st32(to + 12, o->len);
    wf_st32(to + 16, o->pattern);
    to[20] = WF_OFFER_VERSION;
    to[21] = o->recv;
    to[22] = o->does;
}

bool wf_offer_get(const uint8_t *from, uint32_t len, struct wf_offer *o)
{
    if (len < WF_OFFER_LEN || from[20] != WF_OFFER_VERSION || from[22] >= WF_OFFER_DOES)
        return false;
    *o = (struct wf_offer){.va = wf_ld64(from),
                           .rkey = wf_ld32(from + 8),
                           .len = wf_ld32(from + 12),
                           .pattern = wf_ld32(from + 16),
                           .recv = from[21],
                           .does = from[22]};
    return true;
}

uint64_t wf_pattern_word(uint32_t pattern, uint64_t k)
{
    uint64_t z = (((uint64_t)pattern << 32) + k + 1) * 0x9e3779b97f4a7c15ull;

    if (!pattern)
        return 0;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

void wf_pattern_fill(uint8_t *to, uint32_t pattern, uint64_t off, uint64_t len)
{
    if (!pattern) {
        memset(to, 0, len);
        return;
    }
    while (len) {
        uint64_t w = wf_pattern_word(pattern, off / 8), at = off % 8,
                 n = 8 - at < len ? 8 - at : len;

        memcpy(to, (uint8_t *)&w + at, n); /* little-endian, as all of weft assumes */
        to += n;
        off += n;
        len -= n;
    }
}

uint64_t wf_pattern_right(const uint8_t *at, uint32_t pattern, uint64_t off, uint64_t len)
{
    uint64_t right = 0;
    uint8_t want[8];

    for (uint64_t k = 0; k < len; k += 8) {
        uint64_t n = len - k < 8 ? len - k : 8;

        wf_pattern_fill(want, pattern, off + k, n);
        for (uint64_t i = 0; i < n; i++)
            right += at[k + i] == want[i];
    }
    return right;
}
