/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One random stream per entity, from (seed, name): adding an entity never changes another's draws.
 * The generator is xoshiro256** (Blackman and Vigna, public domain description), seeded by
 * splitmix64 over an FNV-1a hash of the name.
 */
#ifndef WEFT_BASE_PRNG_H
#define WEFT_BASE_PRNG_H

#include <stdint.h>

struct wf_prng {
    uint64_t s[4];
};

void wf_prng_init(struct wf_prng *p, uint64_t seed, const char *name);
uint64_t wf_prng_u64(struct wf_prng *p);
/* Uniform in [0, n), n > 0, without bias. */
uint64_t wf_prng_below(struct wf_prng *p, uint64_t n);
/* Exponential with mean 1, in 2^-32 and up to 64: -ln of a uniform number, by integers alone, so
 * that all machines draw the same. */
uint64_t wf_prng_exp(struct wf_prng *p);

#endif
