/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/rank.h"

enum { STEP = 4 };
/* A word's last bits are the entry's number, so that no two are the same; and it is signed. */
#define NUMBER (WF_RANK_NARROW - 1ull)
#define SIGN   (1ull << 63)

static const struct wf_ranker narrow = {"narrow", WF_RANK_NARROW, wf_rank_narrow};
static const struct wf_ranker wide = {"AVX2", WF_RANK_WIDE, wf_rank_wide};

const struct wf_ranker *wf_ranker_at(size_t i)
{
    return i == 0 ? &narrow : i == 1 && __builtin_cpu_supports("avx2") ? &wide : NULL;
}

const struct wf_ranker *wf_ranker_best(void)
{
    const struct wf_ranker *best = wf_ranker_at(0), *next;

    for (size_t i = 1; (next = wf_ranker_at(i)); i++)
        best = next;
    return best;
}

/* How many words are less than each. n is a multiple of STEP; the last ones are the greatest. */
static void count(int64_t *word, size_t n, int64_t *less)
{
    for (size_t i = 0; i < n; i++) {
        int64_t me = word[i], sum = 0;

        for (size_t j = 0; j < n; j += STEP)
            sum += (word[j] < me) + (word[j + 1] < me) + (word[j + 2] < me) + (word[j + 3] < me);
        less[i] = sum;
    }
}

bool wf_rank_narrow(const struct wf_entry *from, size_t n, struct wf_entry *to)
{
    int64_t word[WF_RANK_NARROW], place[WF_RANK_NARROW];
    size_t padded = (n + STEP - 1) / STEP * STEP;
    uint64_t close = 0;

    for (size_t i = padded - STEP; i < padded; i++)
        word[i] = INT64_MAX;
    for (size_t i = 0; i < n; i++)
        word[i] = (int64_t)(((from[i].order & ~NUMBER) | i) ^ SIGN);
    count(word, padded, place);
    for (size_t i = 0; i < n; i++)
        to[place[i]] = from[i];
    for (size_t i = 1; i < n; i++)
        close |= (to[i].order ^ to[i - 1].order) <= NUMBER;
    return !close;
}
