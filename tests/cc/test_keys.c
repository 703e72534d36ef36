/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every key of every law: it has a range, takes the ends of it and nothing beyond, and whatever
 * comes at the ends of the ranges makes no law's state wrap or lose its numbers.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/prng.h"
#include "base/units.h"
#include "law.h"

#define G 1000000000ull

/* A value as a user writes it. */
static const char *text_of(const struct wf_key *k, uint64_t v, char *buf, size_t len)
{
    switch (k->type) {
    case WF_KEY_TIME:
        snprintf(buf, len, "%" PRIu64 "ps", v);
        break;
    case WF_KEY_RATE:
        snprintf(buf, len, "%" PRIu64 "bps", v);
        break;
    case WF_KEY_BYTES:
        snprintf(buf, len, "%" PRIu64 "B", v);
        break;
    case WF_KEY_PERCENT:
        snprintf(buf, len, "%u.%04u%%", (unsigned)(v / 10000), (unsigned)(v % 10000));
        break;
    case WF_KEY_FRACTION:
        if (v % 1000000 && v <= UINT32_MAX)
            snprintf(buf, len, "%" PRIu64 "/1000000", v);
        else /* beyond what fits: the next whole number */
            snprintf(buf, len, "%" PRIu64, (v + 999999) / 1000000);
        break;
    default:
        snprintf(buf, len, "%" PRIu64, v);
    }
    return buf;
}

static void each_has_a_range(void **state)
{
    for (const struct wf_cc_law *const *l = wf_cc_laws; *l; l++) {
        struct wf_arena arena = {0};
        const struct wf_keyset *set = wf_cc_keyset(*l, &arena);
        void *cfg = wf_arena_alloc(&arena, (*l)->cfg_size + 1);

        for (size_t i = 0; i < set->n_keys; i++) {
            const struct wf_key *k = &set->keys[i];
            struct wf_err err = {.line = 0};
            char text[64], had[64], now[64];

            if (k->type == WF_KEY_BOOL)
                continue;
            if (!k->max || k->max <= k->min)
                fail_msg("%s.%s has no range", (*l)->name, k->name);
            assert_int_equal(wf_key_set(k, cfg, k->def, &err), 0);
            wf_key_text(k, cfg, had, sizeof(had));
            if (wf_key_set(k, cfg, text_of(k, k->max + 1, text, 64), &err) != -ERANGE)
                fail_msg("%s.%s: %s: %s", (*l)->name, k->name, text, err.msg);
            assert_true(strstr(err.msg, "is out of range, expected ") ||
                        strstr(err.msg, "is more than 100%"));
            if (k->min)
                assert_int_equal(wf_key_set(k, cfg, text_of(k, k->min - 1, text, 64), &err),
                                 -ERANGE);
            assert_string_equal(wf_key_text(k, cfg, now, sizeof(now)), had);
            assert_int_equal(wf_key_set(k, cfg, text_of(k, k->min, text, 64), &err), 0);
            assert_int_equal(wf_key_set(k, cfg, text_of(k, k->max, text, 64), &err), 0);
        }
        wf_arena_free(&arena);
    }
}

/* Each published set has keys of its law, values that they take, and says where these are from. */
static void each_set_is_taken(void **state)
{
    for (const struct wf_cc_law *const *l = wf_cc_laws; *l; l++) {
        struct wf_arena arena = {0};
        const struct wf_keyset *set = wf_cc_keyset(*l, &arena);
        void *cfg = wf_arena_alloc(&arena, (*l)->cfg_size + 1);
        struct wf_err err = {.line = 0};

        for (size_t i = 0; i < (*l)->n_params; i++) {
            const struct wf_cc_params *p = &(*l)->params[i];

            wf_keyset_defaults(set, cfg);
            if (wf_cc_params_apply(p, set, cfg, &err))
                fail_msg("%s, %s: %s", (*l)->name, p->name, err.msg);
            for (size_t k = 0; k < p->n_values; k++)
                assert_non_null(p->values[k].source);
        }
        wf_arena_free(&arena);
    }
}

/* Closer to a bound than a millionth. */
static void fractions_are_exact(void **state)
{
    static const struct {
        const char *text;
        int rc;
    } rows[] = {{"1", 0},
                {"4294967295/4294967295", 0},
                {"4294967295/4294967294", -ERANGE},
                {"1/10000", 0},
                {"1/10001", -ERANGE},
                {"0.0001", 0},
                {"0", -ERANGE},
                {"1/0", -EINVAL}};
    struct wf_arena arena = {0};
    const struct wf_keyset *set = wf_cc_keyset(wf_cc_find("dctcp"), &arena);
    char cfg[64];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(wf_key_set(wf_keyset_find(set, "g"), cfg, rows[i].text, NULL), rows[i].rc);
    wf_arena_free(&arena);
}

static void one_event(struct law_run *r, struct wf_prng *p, uint64_t i)
{
    const struct wf_cc_law *l = r->law;
    struct wf_cc_hop hops[WF_CC_HOPS_MAX];
    struct wf_cc_ack a = {.acked_bytes = wf_prng_below(p, 3) * 4096 + 1,
                          .una_bytes = i * 4096,
                          .sent_bytes = i * 4096 + wf_prng_below(p, 100000),
                          .rtt_ps = wf_prng_below(p, 4) ? 1 + wf_prng_below(p, 1ull << 34) : 0,
                          .hop_count = 1 + (uint32_t)wf_prng_below(p, 64),
                          .ecn = wf_prng_below(p, 2),
                          .n_hops = WF_CC_HOPS_MAX,
                          .hops = hops};

    for (int h = 0; h < WF_CC_HOPS_MAX; h++)
        hops[h] = (struct wf_cc_hop){25 * G, (uint32_t)(i * 500), (uint32_t)wf_prng_u64(p),
                                     (uint32_t)wf_prng_below(p, 1 << 20)};
    switch (wf_prng_below(p, 8)) {
    case 0:
        if (l->on_cnp)
            l->on_cnp(&r->c);
        break;
    case 1:
        if (l->on_nak && !wf_prng_below(p, 8))
            l->on_nak(&r->c);
        break;
    case 2:
        if (l->on_timeout && !wf_prng_below(p, 8))
            l->on_timeout(&r->c);
        break;
    case 3:
    case 4:
        if (l->on_send)
            l->on_send(&r->c, 4096, false);
        break;
    default:
        if (l->on_ack)
            l->on_ack(&r->c, &a);
    }
}

/* What no law's answer or column may be: a number that wrapped, or was none before it was cut to an
 * integer (which gives 2^63, or 0 for a window). */
static void sane(const struct law_run *r, const char *what)
{
    uint64_t top = 1ull << 60;

    if (r->c.out.rate_bps > 25 * G && strcmp(r->law->name, "fixed"))
        if (strcmp(r->law->name, "swift") || r->c.out.rate_bps > top)
            fail_msg("%s: rate %" PRIu64, what, r->c.out.rate_bps);
    if (r->c.out.window_bytes > top ||
        (r->law->flags & WF_CC_WINDOW && strcmp(r->law->name, "fixed") && !r->c.out.window_bytes))
        fail_msg("%s: window %" PRIu64, what, r->c.out.window_bytes);
    if (r->c.out.timer_ps <= r->c.now_ps)
        fail_msg("%s: a timer in the past", what);
    for (size_t i = 0; i < r->law->n_columns; i++) {
        uint64_t v = law_column(r, r->law->columns[i].name);

        if (v > top || (strstr(r->law->columns[i].name, "alpha_ppm") && v > 1000000))
            fail_msg("%s: %s %" PRIu64, what, r->law->columns[i].name, v);
    }
}

static void drive(const struct wf_cc_law *law, const char *const (*set)[2], const char *what,
                  uint64_t seed)
{
    struct wf_prng p;
    struct law_run r;

    wf_prng_init(&p, seed, what);
    law_begin(&r, law->name, NULL, set, 25 * G, 5 * US);
    r.c.env.window_bytes = 1 << 20;
    law->on_start(&r.c); /* which looks at it */
    for (uint64_t i = 0; i < 2000; i++) {
        /* timers of nanoseconds run all the time */
        for (int n = 0; n < 50 && r.c.out.timer_ps <= r.c.now_ps + 2 * US; n++)
            law_until(&r, r.c.out.timer_ps);
        r.c.now_ps += r.c.out.timer_ps > r.c.now_ps + 2 * US ? wf_prng_below(&p, 2 * US) : 0;
        one_event(&r, &p, i);
        sane(&r, what);
    }
    law_end(&r);
}

/* Each key alone at either end, then all of them at ends that the seed chooses. */
static void the_ends_are_safe(void **state)
{
    for (const struct wf_cc_law *const *l = wf_cc_laws; *l; l++) {
        struct wf_arena arena = {0};
        const struct wf_keyset *set = wf_cc_keyset(*l, &arena);
        char texts[WF_CC_KEYS_MAX][64], what[128];
        const char *values[WF_CC_KEYS_MAX + 1][2] = {{0}};

        for (size_t i = 0; i < 2 * set->n_keys; i++) {
            const struct wf_key *k = &set->keys[i / 2];
            const char *one[2][2] = {{0}};

            if (k->type == WF_KEY_BOOL)
                continue;
            one[0][0] = k->name;
            one[0][1] = text_of(k, i & 1 ? k->max : k->min, texts[0], 64);
            snprintf(what, sizeof(what), "%s, %s %s", (*l)->name, k->name, texts[0]);
            drive(*l, one, what, 1);
        }
        for (uint64_t seed = 0; seed < 100; seed++) {
            struct wf_prng p;
            size_t n = 0;

            wf_prng_init(&p, seed, (*l)->name);
            for (size_t i = 0; i < set->n_keys; i++) {
                const struct wf_key *k = &set->keys[i];

                if (k->type == WF_KEY_BOOL)
                    continue;
                values[n][0] = k->name;
                values[n++][1] = text_of(k, wf_prng_below(&p, 2) ? k->max : k->min, texts[i], 64);
            }
            values[n][0] = NULL;
            snprintf(what, sizeof(what), "%s, ends of seed %u", (*l)->name, (unsigned)seed);
            drive(*l, values, what, seed);
        }
        wf_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_a_range),
        cmocka_unit_test(each_set_is_taken),
        cmocka_unit_test(fractions_are_exact),
        cmocka_unit_test(the_ends_are_safe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
