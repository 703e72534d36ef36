/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The digest of a run: one hash chain per entity over observables only, combined in entity order
 * at the end and written "wf1:<16 hex>". It is a change detector, not a cryptographic hash.
 * Any change of the mixing needs a new prefix, since goldens and bundles carry it.
 */
#ifndef WEFT_BASE_DIGEST_H
#define WEFT_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct wf_digest {
    uint64_t h;
};

static inline uint64_t wf_mix(uint64_t a, uint64_t b)
{
    unsigned __int128 m =
        (unsigned __int128)(a ^ 0x2d358dccaa6c78a5ull) * (b ^ 0x8bb84b93962eacc9ull);

    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline void wf_digest_add(struct wf_digest *d, uint64_t a, uint64_t b)
{
    d->h = wf_mix(d->h + 0x9e3779b97f4a7c15ull, wf_mix(a, b));
}

/* wf_hash_bytes in steps, for a beginning that is hashed once and has many ends: begin with the
 * whole length, then pieces, all but the last of a multiple of 8 bytes. */
static inline uint64_t wf_hash_begin(uint64_t seed, size_t len)
{
    return wf_mix(seed, len);
}
uint64_t wf_hash_more(uint64_t h, const void *p, size_t len);
/* Hash of bytes, the same on every machine (little-endian words); len may be 0. */
uint64_t wf_hash_bytes(const void *p, size_t len, uint64_t seed);
/* The same of four bytes. */
static inline uint64_t wf_hash_4(const void *p, uint64_t seed)
{
    uint32_t w;

    memcpy(&w, p, sizeof(w));
    return wf_mix(wf_hash_begin(seed, 4), w ^ 4ull << 56);
}
/* "wf1:" and 16 hex digits; buf holds at least 21 bytes. Returns buf. */
const char *wf_digest_text(const struct wf_digest *d, char *buf, size_t len);

#endif
