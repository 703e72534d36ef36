/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/prng.h"

#include "base/assert.h"

static uint64_t splitmix64(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15ull);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static uint64_t rotl(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

void wf_prng_init(struct wf_prng *p, uint64_t seed, const char *name)
{
    uint64_t h = 0xcbf29ce484222325ull;

    for (; *name; name++)
        h = (h ^ (uint8_t)*name) * 0x100000001b3ull;
    h ^= splitmix64(&seed);
    for (int i = 0; i < 4; i++)
        p->s[i] = splitmix64(&h);
}

uint64_t wf_prng_u64(struct wf_prng *p)
{
    uint64_t *s = p->s, out = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return out;
}

uint64_t wf_prng_below(struct wf_prng *p, uint64_t n)
{
    uint64_t floor, x;

    WF_ASSERT(n > 0);
    floor = -n % n; /* 2^64 mod n: draws below it would favour small results */
    do
        x = wf_prng_u64(p);
    while (x < floor);
    return x % n;
}

/* The binary digits of log2(m) for m in [1, 2), given in 2^-63: each squaring yields one. */
static uint64_t log2_digits(uint64_t m, int digits)
{
    uint64_t out = 0;

    for (int i = 0; i < digits; i++) {
        unsigned __int128 square = (unsigned __int128)m * m >> 63;
        unsigned carry = (unsigned)(square >> 64);

        out = out << 1 | carry;
        m = (uint64_t)(square >> carry);
    }
    return out;
}

uint64_t wf_prng_exp(struct wf_prng *p)
{
    const uint64_t ln2 = 0xb17217f7d1cf79abull; /* in 2^-64 */
    uint64_t x = wf_prng_u64(p) | 1, bits;
    int zeros = __builtin_clzll(x);

    bits = ((uint64_t)(zeros + 1) << 40) - log2_digits(x << zeros, 40);
    return (uint64_t)((unsigned __int128)bits * ln2 >> 72);
}
