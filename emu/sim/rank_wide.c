/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranking with AVX2: 32 bits of an entry say its order, eight entries a vector. Each word in turn
 * is compared with four vectors at once, which count how many are less than they. How many entries
 * there are chooses one of eight copies, each without a branch whose way it does not know; more
 * than 64 go through loops.
 */
#include <immintrin.h>

#include "sim/rank.h"

enum { LANES = 8, PASS = 4, FEW_BLOCKS = 8 };

#define WIDE __attribute__((target("avx2")))
#define PART static inline __attribute__((always_inline, target("avx2")))

/* An order's time, the last 18 bits of its entity and the last 2 of its kind make the word. What
 * else of entity and kind is set, is unusual: no word says it. */
enum {
    HIGH_TIME = -(1 << 20),    /* of the upper half of an order */
    HIGH_ENTITY = 0x3fff << 6, /* entity's, when moved up by 6 */
    HIGH_UNUSUAL = 0x3f << 14,
    LOW_UNUSUAL = 0xfc << 20,
};
#define SIGN INT32_MIN

/* Whose word stands where: as the shuffles leave them. */
#define LANE_OF(entry) ((entry) % 2 * 4 + (entry) / 2)

/* By the number of entries in the last block: ones in the lanes of those that are none. */
#define ROW(n)                                                                                     \
    {                                                                                              \
        -((n) <= 0), -((n) <= 2), -((n) <= 4), -((n) <= 6), -((n) <= 1), -((n) <= 3), -((n) <= 5), \
            -((n) <= 7)                                                                            \
    }
static const int32_t none_of[LANES + 1][LANES] __attribute__((aligned(32))) = {
    ROW(0), ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6), ROW(7), ROW(8)};

PART __m256i get(const int32_t *from)
{
    return _mm256_load_si256((const __m256i *)from);
}

PART void put(int32_t *to, __m256i v)
{
    _mm256_store_si256((__m256i *)to, v);
}

/* Of eight entries; `none`: in which lanes there are none, whose words are the greatest. */
PART __m256i words_of(const struct wf_entry *e, __m256i none, __m256i *unusual)
{
    const __m256i *at = (const __m256i *)e;
    __m256i first = _mm256_unpacklo_epi64(_mm256_loadu_si256(at), _mm256_loadu_si256(at + 1));
    __m256i last = _mm256_unpacklo_epi64(_mm256_loadu_si256(at + 2), _mm256_loadu_si256(at + 3));
    __m256 a = _mm256_castsi256_ps(first), b = _mm256_castsi256_ps(last);
    __m256i low = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88));
    __m256i high = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd));
    __m256i time = _mm256_and_si256(high, _mm256_set1_epi32(HIGH_TIME));
    __m256i entity = _mm256_and_si256(_mm256_slli_epi32(high, 6), _mm256_set1_epi32(HIGH_ENTITY));
    __m256i rest = _mm256_and_si256(_mm256_srli_epi32(low, 26), _mm256_set1_epi32(0x3c));
    __m256i kind = _mm256_and_si256(_mm256_srli_epi32(low, 20), _mm256_set1_epi32(3));
    __m256i odd = _mm256_or_si256(_mm256_and_si256(high, _mm256_set1_epi32(HIGH_UNUSUAL)),
                                  _mm256_and_si256(low, _mm256_set1_epi32(LOW_UNUSUAL)));
    __m256i word = _mm256_or_si256(_mm256_or_si256(time, entity), _mm256_or_si256(rest, kind));

    *unusual = _mm256_or_si256(*unusual, _mm256_andnot_si256(none, odd));
    return _mm256_xor_si256(_mm256_or_si256(word, none), _mm256_set1_epi32(SIGN));
}

struct count {
    __m256i me[PASS], less[PASS];
};

/* One word with up to four vectors; how many is known where it is inlined. */
PART void compare(struct count *c, int32_t word, size_t blocks)
{
    __m256i w = _mm256_set1_epi32(word);

    c->less[0] = _mm256_sub_epi32(c->less[0], _mm256_cmpgt_epi32(c->me[0], w));
    if (blocks > 1)
        c->less[1] = _mm256_sub_epi32(c->less[1], _mm256_cmpgt_epi32(c->me[1], w));
    if (blocks > 2)
        c->less[2] = _mm256_sub_epi32(c->less[2], _mm256_cmpgt_epi32(c->me[2], w));
    if (blocks > 3)
        c->less[3] = _mm256_sub_epi32(c->less[3], _mm256_cmpgt_epi32(c->me[3], w));
}

/* Places of `blocks` vectors among the words of `all`, in bytes. Returns the sum of the places. */
PART __m256i count_pass(const int32_t *word, size_t all, size_t from, size_t blocks, int32_t *place)
{
    const int32_t *w = word;
    __m256i zero = _mm256_setzero_si256(), sum = zero;
    struct count c;

    for (size_t i = 0; i < PASS; i++) {
        c.me[i] = get(word + (from + (i < blocks ? i : 0)) * LANES);
        c.less[i] = zero;
    }
    for (size_t j = 0; j < all; j++, w += LANES) {
        compare(&c, w[0], blocks);
        compare(&c, w[1], blocks);
        compare(&c, w[2], blocks);
        compare(&c, w[3], blocks);
        compare(&c, w[4], blocks);
        compare(&c, w[5], blocks);
        compare(&c, w[6], blocks);
        compare(&c, w[7], blocks);
    }
    for (size_t i = 0; i < PASS; i++)
        if (i < blocks) {
            sum = _mm256_add_epi32(sum, c.less[i]);
            put(place + (from + i) * LANES, _mm256_slli_epi32(c.less[i], 4));
        }
    return sum;
}

PART void scatter(const struct wf_entry *from, const int32_t *place, struct wf_entry *to)
{
    char *at = (char *)to;

#pragma GCC unroll 8
    for (size_t i = 0; i < LANES; i++)
        _mm_storeu_si128((__m128i *)(at + place[LANE_OF(i)]),
                         _mm_loadu_si128((const __m128i *)&from[i]));
}

/* If no two words are the same, each place is taken once: the greatest, where there are no
 * entries, have the place n. */
PART bool each_once(__m256i sum, size_t n, size_t padded)
{
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));

    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1));
    return (size_t)_mm_cvtsi128_si32(s) == n * (n - 1) / 2 + (padded - n) * n;
}

/* With as many blocks as are known where it is inlined. */
PART bool rank_few(const struct wf_entry *from, size_t n, struct wf_entry *to, size_t blocks)
{
    int32_t word[FEW_BLOCKS * LANES] __attribute__((aligned(32)));
    int32_t place[FEW_BLOCKS * LANES] __attribute__((aligned(32)));
    __m256i unusual = _mm256_setzero_si256(), sum = unusual, none = unusual;
    size_t last = blocks - 1;

    for (size_t b = 0; b < last; b++)
        put(word + b * LANES, words_of(from + b * LANES, none, &unusual));
    none = get(none_of[n - last * LANES]);
    put(word + last * LANES, words_of(from + last * LANES, none, &unusual));

    if (blocks > PASS)
        sum = count_pass(word, blocks, 0, PASS, place);
    sum = _mm256_add_epi32(sum, blocks > PASS ? count_pass(word, blocks, PASS, blocks - PASS, place)
                                              : count_pass(word, blocks, 0, blocks, place));
    for (size_t b = 0; b < blocks; b++)
        scatter(from + b * LANES, place + b * LANES, to);
    return _mm256_testz_si256(unusual, unusual) && each_once(sum, n, blocks * LANES);
}

/* With any number of them. */
WIDE static bool rank_many(const struct wf_entry *from, size_t n, struct wf_entry *to)
{
    int32_t word[WF_RANK_WIDE] __attribute__((aligned(32)));
    int32_t place[WF_RANK_WIDE] __attribute__((aligned(32)));
    __m256i unusual = _mm256_setzero_si256(), sum = unusual, none = unusual;
    size_t blocks = (n + LANES - 1) / LANES, padded = (blocks + PASS - 1) / PASS * PASS, b = 0;

    for (; b < blocks - 1; b++)
        put(word + b * LANES, words_of(from + b * LANES, none, &unusual));
    none = get(none_of[n - b * LANES]);
    put(word + b * LANES, words_of(from + b * LANES, none, &unusual));
    while (++b < padded)
        put(word + b * LANES, _mm256_set1_epi32(INT32_MAX));

    for (b = 0; b < padded; b += PASS)
        sum = _mm256_add_epi32(sum, count_pass(word, blocks, b, PASS, place));
    for (b = 0; b < blocks; b++)
        scatter(from + b * LANES, place + b * LANES, to);
    return _mm256_testz_si256(unusual, unusual) && each_once(sum, n, padded * LANES);
}

WIDE bool wf_rank_wide(const struct wf_entry *from, size_t n, struct wf_entry *to)
{
    switch ((n - 1) / LANES) {
    case 0:
        return rank_few(from, n, to, 1);
    case 1:
        return rank_few(from, n, to, 2);
    case 2:
        return rank_few(from, n, to, 3);
    case 3:
        return rank_few(from, n, to, 4);
    case 4:
        return rank_few(from, n, to, 5);
    case 5:
        return rank_few(from, n, to, 6);
    case 6:
        return rank_few(from, n, to, 7);
    case 7:
        return rank_few(from, n, to, 8);
    default:
        return rank_many(from, n, to);
    }
}
