/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/rank.h"

enum { STEP = 4 };
/* A word's last bits are the entry's number, so that no two are the same; and it is signed. */
#define NUMBER (WF_RANK_MOST - 1ull)
#define SIGN   (1ull << 63)
/* Of arrivals and transmissions no entity has two at one instant, which only its sequence could
 * tell apart: the bits of a kind that is neither. */
#define OTHER_KINDS (wf_event_key(0, 0x7e, 0) >> WF_GRAIN_BITS)

typedef int64_t words __attribute__((vector_size(8 * STEP), may_alias));

size_t wf_rank_most(void)
{
    return __builtin_cpu_supports("avx2") ? WF_RANK_MOST : WF_RANK_NARROW;
}

/* How many words are less than each. n is a multiple of STEP; the last ones are the greatest. */
static void count_narrow(int64_t *word, size_t n, int64_t *less)
{
    for (size_t i = 0; i < n; i++) {
        int64_t me = word[i], sum = 0;

        for (size_t j = 0; j < n; j += STEP)
            sum += (word[j] < me) + (word[j + 1] < me) + (word[j + 2] < me) + (word[j + 3] < me);
        less[i] = sum;
    }
}

__attribute__((target("avx2"))) static void count_wide(int64_t *word, size_t n, int64_t *less)
{
    for (size_t i = 0; i < n; i += STEP) {
        int64_t a = word[i], b = word[i + 1], c = word[i + 2], d = word[i + 3];
        words me0 = {a, a, a, a}, me1 = {b, b, b, b}, me2 = {c, c, c, c}, me3 = {d, d, d, d};
        words n0 = {0}, n1 = {0}, n2 = {0}, n3 = {0};

        for (size_t j = 0; j < n; j += STEP) {
            words w = *(const words *)(word + j);

            n0 -= (words)(w < me0);
            n1 -= (words)(w < me1);
            n2 -= (words)(w < me2);
            n3 -= (words)(w < me3);
        }
        less[i] = n0[0] + n0[1] + n0[2] + n0[3];
        less[i + 1] = n1[0] + n1[1] + n1[2] + n1[3];
        less[i + 2] = n2[0] + n2[1] + n2[2] + n2[3];
        less[i + 3] = n3[0] + n3[1] + n3[2] + n3[3];
    }
}

bool wf_rank(const struct wf_entry *from, size_t n, struct wf_entry *to, size_t most)
{
    int64_t word[WF_RANK_MOST] __attribute__((aligned(8 * STEP))), place[WF_RANK_MOST];
    size_t padded = (n + STEP - 1) / STEP * STEP;
    uint64_t all = 0, close = 0;

    for (size_t i = padded - STEP; i < padded; i++)
        word[i] = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        all |= from[i].order;
        word[i] = (int64_t)(((from[i].order & ~NUMBER) | i) ^ SIGN);
    }
    if (most > WF_RANK_NARROW)
        count_wide(word, padded, place);
    else
        count_narrow(word, padded, place);
    for (size_t i = 0; i < n; i++)
        to[place[i]] = from[i];
    if (!(all & OTHER_KINDS))
        return true;
    for (size_t i = 1; i < n; i++)
        close |= (to[i].order ^ to[i - 1].order) <= NUMBER;
    return !close;
}
