/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CRC-32 with polynomial 0x04c11db7, reflected, by carry-less multiplication: 64 bytes at a time
 * (256 where the CPU has AVX-512 and VPCLMUL) are folded onto a 128-bit remainder, which Barrett's
 * method takes down to 32 bits (Gopal et al., "Fast CRC computation using PCLMULQDQ", 2009). Every
 * constant is a power of x modulo the polynomial; tests hold the result against a bitwise CRC.
 * "Reflected" means that the lowest bit of a word is the highest power of x.
 */
#include "wire/icrc.h"

#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

/* x^n mod P, reflected, one bit to the left since a product of reflected words lies one bit low. */
#define X_2048_PLUS_32   0x11542778aull
#define X_2048_MINUS_32  0x1322d1430ull
#define X_4x128_PLUS_32  0x154442bd4ull
#define X_4x128_MINUS_32 0x1c6e41596ull
#define X_128_PLUS_32    0x1751997d0ull
#define X_128_MINUS_32   0x0ccaa009eull
#define X_64             0x163cd6124ull
#define POLY             0x1db710641ull
#define MU               0x1f7011641ull /* floor(x^64 / P) */

/* x^(2^j) mod P, reflected; x has the order 2^32 - 1, so that x^(2^32) is x again. */
static const uint32_t x_pow2[32] = {
    0x40000000, 0x20000000, 0x08000000, 0x00800000, 0x00008000, 0xedb88320, 0xb1e6b092, 0xa06a2517,
    0xed627dae, 0x88d14467, 0xd7bbfe6a, 0xec447f11, 0x8e7ea170, 0x6427800e, 0x4d47bae0, 0x09fe548f,
    0x83852d0f, 0x30362f1a, 0x7b5a9cc3, 0x31fec169, 0x9fec022a, 0x6c8dedc4, 0x15d6874d, 0x5fde7a4e,
    0xbad90e37, 0x2e4e5eef, 0x4eaba214, 0xa8a472c0, 0x429a969e, 0x148d302a, 0xc40ba6d0, 0xc4e22c3c,
};

static inline __m128i load(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* a 64-bit remainder (in the low half) modulo P */
static inline uint32_t barrett(__m128i a)
{
    const __m128i k = _mm_set_epi64x((long long)MU, (long long)POLY);
    const __m128i low32 = _mm_set_epi32(0, 0, 0, -1);
    __m128i t = _mm_clmulepi64_si128(_mm_and_si128(a, low32), k, 0x10);

    t = _mm_clmulepi64_si128(_mm_and_si128(t, low32), k, 0x00);
    return (uint32_t)_mm_extract_epi32(_mm_xor_si128(a, t), 1);
}

/* 16 message bytes, the last of the message, to its CRC register */
static inline uint32_t reduce(__m128i a)
{
    const __m128i k = _mm_set_epi64x((long long)X_64, (long long)X_128_MINUS_32);
    const __m128i low32 = _mm_set_epi32(0, 0, 0, -1);
    __m128i t = _mm_clmulepi64_si128(a, k, 0x00);

    a = _mm_xor_si128(_mm_srli_si128(a, 8), t); /* 96 bits */
    t = _mm_clmulepi64_si128(_mm_and_si128(a, low32), k, 0x10);
    return barrett(_mm_xor_si128(_mm_srli_si128(a, 4), t));
}

static inline __m128i fold(__m128i a, __m128i k, __m128i next)
{
    __m128i lo = _mm_clmulepi64_si128(a, k, 0x00), hi = _mm_clmulepi64_si128(a, k, 0x11);

    return _mm_xor_si128(_mm_xor_si128(lo, hi), next);
}

static uint32_t update_short(uint32_t reg, const uint8_t *p, size_t len)
{
    uint8_t block[16] = {0};
    uint32_t v = 0;

    if (len >= 4) {
        memcpy(&v, p, 4);
        v ^= reg;
        memcpy(block + 16 - len, p, len);
        memcpy(block + 16 - len, &v, 4);
        return reduce(load(block));
    }
    if (!len)
        return reg;
    memcpy(&v, p, len);
    v = (v ^ reg) << (32 - 8 * len);
    return barrett(_mm_cvtsi64_si128((long long)(uint64_t)v)) ^ reg >> (8 * len);
}

/* The last 1..15 bytes, where 16 bytes or more went before: the remainder's first n bytes are
 * folded over the block that its other bytes form with the n new ones. */
static inline __m128i fold_tail(__m128i a, __m128i k, const uint8_t *end, size_t n)
{
    static const uint8_t shift[48] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                      0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0,    1,    2,    3,
                                      4,    5,    6,    7,    8,    9,    10,   11,   12,   13,
                                      14,   15,   0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                      0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80};
    __m128i first = _mm_shuffle_epi8(a, load(shift + n));     /* to the end of a block */
    __m128i rest = _mm_shuffle_epi8(a, load(shift + 16 + n)); /* to the start of one */
    __m128i old = _mm_cmplt_epi8(load(shift + 16 + n), _mm_setzero_si128()); /* its last n bytes */
    __m128i fresh = _mm_and_si128(load(end - 16), old);

    return fold(first, k, _mm_or_si128(rest, fresh));
}

#define WIDE_MIN    256
#define WIDE_TARGET "avx512f,vpclmulqdq"

static inline __attribute__((target(WIDE_TARGET))) __m512i fold_wide(__m512i a, __m512i k,
                                                                     __m512i next)
{
    __m512i lo = _mm512_clmulepi64_epi128(a, k, 0x00), hi = _mm512_clmulepi64_epi128(a, k, 0x11);

    return _mm512_xor_si512(_mm512_xor_si512(lo, hi), next);
}

static inline __attribute__((target(WIDE_TARGET))) __m512i wide_k(uint64_t minus, uint64_t plus)
{
    return _mm512_broadcast_i32x4(_mm_set_epi64x((long long)minus, (long long)plus));
}

/* The same with four times the width, for 256 bytes and more: all whole blocks of 64 bytes. */
static __attribute__((target(WIDE_TARGET))) __m128i update_wide(uint32_t reg, const uint8_t **at,
                                                                size_t *left)
{
    const __m128i k1 = _mm_set_epi64x((long long)X_128_MINUS_32, (long long)X_128_PLUS_32);
    const __m512i k4 = wide_k(X_4x128_MINUS_32, X_4x128_PLUS_32);
    const __m512i k16 = wide_k(X_2048_MINUS_32, X_2048_PLUS_32);
    const uint8_t *p = *at;
    size_t len = *left - 256;
    __m512i a = _mm512_loadu_si512(p), b = _mm512_loadu_si512(p + 64);
    __m512i c = _mm512_loadu_si512(p + 128), d = _mm512_loadu_si512(p + 192);
    __m128i x;

    a = _mm512_xor_si512(a, _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)reg)));
    for (p += 256; len >= 256; p += 256, len -= 256) {
        a = fold_wide(a, k16, _mm512_loadu_si512(p));
        b = fold_wide(b, k16, _mm512_loadu_si512(p + 64));
        c = fold_wide(c, k16, _mm512_loadu_si512(p + 128));
        d = fold_wide(d, k16, _mm512_loadu_si512(p + 192));
    }
    a = fold_wide(fold_wide(fold_wide(a, k4, b), k4, c), k4, d);
    for (; len >= 64; p += 64, len -= 64)
        a = fold_wide(a, k4, _mm512_loadu_si512(p));
    x = fold(_mm512_castsi512_si128(a), k1, _mm512_extracti32x4_epi32(a, 1));
    x = fold(fold(x, k1, _mm512_extracti32x4_epi32(a, 2)), k1, _mm512_extracti32x4_epi32(a, 3));
    *at = p;
    *left = len;
    return x;
}

/* All whole blocks of 16 bytes; at least one. */
static __m128i update_blocks(uint32_t reg, const uint8_t **at, size_t *left)
{
    const __m128i k1 = _mm_set_epi64x((long long)X_128_MINUS_32, (long long)X_128_PLUS_32);
    const uint8_t *p = *at;
    size_t len = *left - 16;
    __m128i a = _mm_xor_si128(load(p), _mm_cvtsi32_si128((int)reg));

    p += 16;
    if (len >= 112) { /* 64 bytes in four lanes, and at least 64 more */
        const __m128i k4 = _mm_set_epi64x((long long)X_4x128_MINUS_32, (long long)X_4x128_PLUS_32);
        __m128i b = load(p), c = load(p + 16), d = load(p + 32);

        for (p += 48, len -= 48; len >= 64; p += 64, len -= 64) {
            a = fold(a, k4, load(p));
            b = fold(b, k4, load(p + 16));
            c = fold(c, k4, load(p + 32));
            d = fold(d, k4, load(p + 48));
        }
        a = fold(fold(fold(a, k1, b), k1, c), k1, d);
    }
    for (; len >= 16; p += 16, len -= 16)
        a = fold(a, k1, load(p));
    *at = p;
    *left = len;
    return a;
}

static bool have_wide(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq");
}

uint32_t wf_crc32_update(uint32_t crc, const void *buf, size_t len)
{
    const __m128i k1 = _mm_set_epi64x((long long)X_128_MINUS_32, (long long)X_128_PLUS_32);
    const uint8_t *p = buf;
    __m128i a;

    if (len < 16)
        return ~update_short(~crc, p, len);
    if (len >= WIDE_MIN && have_wide()) {
        a = update_wide(~crc, &p, &len);
        for (; len >= 16; p += 16, len -= 16)
            a = fold(a, k1, load(p));
    } else {
        a = update_blocks(~crc, &p, &len);
    }
    if (len)
        a = fold_tail(a, k1, p + len, len);
    return ~reduce(a);
}

static inline uint32_t mul_mod(uint32_t a, uint32_t b)
{
    __m128i t = _mm_clmulepi64_si128(_mm_cvtsi32_si128((int)a), _mm_cvtsi32_si128((int)b), 0);

    return barrett(_mm_slli_epi64(t, 1));
}

/* reg times x^(8 len) */
static uint32_t shift_bytes(uint32_t reg, uint64_t len)
{
    for (int j = 3; len; len >>= 1, j++)
        if (len & 1)
            reg = mul_mod(reg, x_pow2[j & 31]);
    return reg;
}

uint32_t wf_crc32_zeros(uint32_t crc, uint64_t len)
{
    return ~shift_bytes(~crc, len);
}

uint32_t wf_crc32_combine(uint32_t crc_a, uint32_t crc_b, uint64_t len_b)
{
    return shift_bytes(crc_a, len_b) ^ crc_b;
}

uint32_t wf_fcs(const void *frame, size_t len)
{
    return wf_crc32_update(0, frame, len);
}
