/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every way of ranking that this machine has, against qsort: each number of entries, words that
 * differ in any field, ties that one word does not tell apart.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "sim/rank.h"

enum { MOST = 600, GRAIN_PS = 1 << WF_GRAIN_BITS };

struct hand {
    struct wf_event ev[MOST];
    struct wf_entry from[MOST + WF_RANK_PAD], want[MOST], to[MOST + WF_RANK_PAD + 1];
};

static int by_event(const void *a, const void *b)
{
    const struct wf_entry *x = a, *y = b;

    return wf_event_before(x->ev, y->ev) ? -1 : wf_event_before(y->ev, x->ev) ? 1 : 0;
}

/* What may differ among the entries of a slot. */
struct range {
    uint32_t times, entities, kinds, seqs;
};

static void deal(struct hand *h, size_t n, struct wf_prng *p, const struct range *r)
{
    uint64_t time = wf_prng_below(p, GRAIN_PS - r->times + 1);
    uint32_t entity = (uint32_t)wf_prng_below(p, (1u << 24) - r->entities + 1);

    if (r->entities <= 1u << 18)
        entity &= (1u << 18) - r->entities;
    for (size_t i = 0; i < MOST; i++) {
        uint64_t t = 7 * GRAIN_PS + time + wf_prng_below(p, r->times);
        uint64_t key = wf_event_key(entity + (uint32_t)wf_prng_below(p, r->entities),
                                    (enum wf_event_kind)wf_prng_below(p, r->kinds),
                                    (uint32_t)wf_prng_below(p, r->seqs) + (uint32_t)i * r->seqs);

        h->ev[i] = (struct wf_event){t, key, NULL};
        h->from[i] = (struct wf_entry){wf_entry_order(t, key), &h->ev[i]};
    }
    memcpy(h->want, h->from, n * sizeof(h->want[0]));
    qsort(h->want, n, sizeof(h->want[0]), by_event);
}

/* No two of one instant, entity and kind: what arrivals and transmissions are. */
static bool all_apart(const struct hand *h, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (h->want[i].ev->t_ps == h->want[i - 1].ev->t_ps &&
            h->want[i].ev->key >> 32 == h->want[i - 1].ev->key >> 32)
            return false;
    return true;
}

static void each_size(const struct wf_ranker *r, const struct range *range, bool must)
{
    struct hand *h = calloc(1, sizeof(*h));
    struct wf_prng p;

    wf_prng_init(&p, 5, r->name);
    for (size_t n = 2; n <= r->most && n <= MOST; n++)
        for (int again = 0; again < 20; again++) {
            bool ranked;

            deal(h, n, &p, range);
            memset(h->to, 0x55, sizeof(h->to));
            ranked = r->rank(h->from, n, h->to);
            assert_int_equal(((uint8_t *)&h->to[n + WF_RANK_PAD])[0], 0x55);
            if (must && all_apart(h, n))
                assert_true(ranked);
            if (ranked)
                assert_memory_equal(h->to, h->want, n * sizeof(h->to[0]));
        }
    free(h);
}

static void for_all(const struct range *range, bool must)
{
    const struct wf_ranker *r, *last = NULL;

    for (size_t i = 0; (r = wf_ranker_at(i)); i++) {
        each_size(r, range, must);
        last = r;
    }
    assert_ptr_equal(last, wf_ranker_best());
}

/* The entities of a fabric's events are fewer than 2^18, their kinds arrivals and transmissions. */
static void usual_entries_are_ranked(void **state)
{
    static const struct range ranges[] = {
        {GRAIN_PS, 1 << 18, 2, 1}, {1, 1 << 17, 2, 1},    {3, 1 << 16, 2, 1000},
        {GRAIN_PS, 4, 2, 1},       {GRAIN_PS, 1, 1, 100}, {7, 3000, 4, 1u << 31},
    };

    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        for_all(&ranges[i], i < 5);
}

/* Of others it may be said that they can't be, but never in a wrong order. */
static void others_are_ranked_or_not(void **state)
{
    static const struct range ranges[] = {
        {GRAIN_PS, 1 << 24, 5, 1}, {1, 1, 1, 1u << 20}, {2, 2, 2, 1u << 28}, {1, 1 << 24, 1, 1},
        {2, 1 << 19, 5, 3},        {1, 5, 128, 1},      {3, 20, 5, 1},
    };

    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        for_all(&ranges[i], false);
}

/* All bits of a word set, as those have that stand where there are no entries. */
static void the_greatest_word_is_an_entry_too(void **state)
{
    const struct wf_ranker *r;
    struct hand *h = calloc(1, sizeof(*h));

    for (size_t i = 0; (r = wf_ranker_at(i)); i++)
        for (size_t n = 2; n <= r->most; n++) {
            for (size_t j = 0; j < n; j++) {
                uint64_t key = wf_event_key((1u << 18) - 1, 3, UINT32_MAX);

                h->ev[j] = (struct wf_event){(j * 37 % n) + GRAIN_PS - n, key, NULL};
                h->from[j] = (struct wf_entry){wf_entry_order(h->ev[j].t_ps, key), &h->ev[j]};
            }
            if (r->rank(h->from, n, h->to))
                for (size_t j = 1; j < n; j++)
                    assert_true(wf_event_before(h->to[j - 1].ev, h->to[j].ev));
        }
    free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_entries_are_ranked),
        cmocka_unit_test(others_are_ranked_or_not),
        cmocka_unit_test(the_greatest_word_is_an_entry_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
