/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of base/: units, keys, errors, arena, random streams, digest, counter and reason tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/counter.h"
#include "base/digest.h"
#include "base/err.h"
#include "base/key.h"
#include "base/prng.h"
#include "base/reason.h"
#include "base/units.h"

static void units_are_exact(void **state)
{
    uint64_t v;
    uint32_t ppm;
    char buf[32];

    (void)state;
    assert_int_equal(wf_parse_time("1.5us", &v, NULL), 0);
    assert_int_equal(v, 1500000);
    assert_int_equal(wf_parse_time("4.096 us", &v, NULL), 0);
    assert_int_equal(v, 4096000);
    assert_int_equal(wf_parse_rate("33.3Mbps", &v, NULL), 0);
    assert_int_equal(v, 33300000);
    assert_int_equal(wf_parse_bytes("64KiB", &v, NULL), 0);
    assert_int_equal(v, 65536);
    assert_int_equal(wf_parse_percent("0.01%", &ppm, NULL), 0);
    assert_int_equal(ppm, 100);
    assert_string_equal(wf_time_text(1500000, buf, sizeof(buf)), "1.5us");
    assert_string_equal(wf_time_text(5120, buf, sizeof(buf)), "5.12ns");
    assert_string_equal(wf_rate_text(100000000000ull, buf, sizeof(buf)), "100Gbps");
    assert_int_equal(wf_parse_length("1.5km", &v, NULL), 0);
    assert_int_equal(v, 1500000);
    assert_string_equal(wf_length_text(40000, buf, sizeof(buf)), "40m");
    assert_true(wf_parse_length("0.5mm", &v, NULL) < 0);
    assert_string_equal(wf_bytes_text(65536, buf, sizeof(buf)), "64KiB");
    assert_string_equal(wf_bytes_text(150000, buf, sizeof(buf)), "150kB");
    assert_string_equal(wf_percent_text(125000, buf, sizeof(buf)), "12.5%");
}

static void units_refuse_what_is_ambiguous(void **state)
{
    static const char *const bad[] = {"100",      "1.5ps",
                                      "us",       "1 usec",
                                      "-1us",     "1.2.3us",
                                      "1e3us",    "99999999999999999999s",
                                      "8640001s", "18446744073709us",
                                      ""};
    struct wf_err err;
    uint64_t v;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_true(wf_parse_time(bad[i], &v, &err) < 0);
    assert_int_equal(wf_parse_time("8640000s", &v, &err), 0);
    wf_parse_time("100", &v, &err);
    assert_non_null(strstr(err.msg, "has no unit"));
    assert_true(wf_parse_bytes("10kb", &v, &err) < 0);
    assert_true(wf_parse_rate("10GBps", &v, &err) < 0);
}

/* Every text that we print is read back as the same value. */
static void units_round_trip(void **state)
{
    struct wf_prng p;
    char buf[32];

    (void)state;
    wf_prng_init(&p, 1, "units");
    for (int i = 0; i < 10000; i++) {
        uint64_t v = wf_prng_u64(&p) >> wf_prng_below(&p, 63), got;

        v -= v % (i % 3 ? 1 : 1000);
        if (v > UINT64_MAX / 2)
            continue;
        if (v <= WF_TIME_MAX) {
            assert_int_equal(wf_parse_time(wf_time_text(v, buf, sizeof(buf)), &got, NULL), 0);
            assert_int_equal(got, v);
        }
        assert_int_equal(wf_parse_bytes(wf_bytes_text(v, buf, sizeof(buf)), &got, NULL), 0);
        assert_int_equal(got, v);
    }
}

struct thing {
    uint64_t delay_ps;
    uint32_t ports;
    int mode;
    struct wf_ip_prefix ip;
    struct wf_fraction scale;
};

static const char *const modes[] = {"store_and_forward", "cut_through", NULL};
static const struct wf_key thing_keys[] = {
    {"delay", WF_KEY_TIME, offsetof(struct thing, delay_ps), "500ns", 0, WF_PS_PER_S},
    {"ports", WF_KEY_UINT, offsetof(struct thing, ports), "2", 1, 64},
    {"mode", WF_KEY_ENUM, offsetof(struct thing, mode), "cut_through", .names = modes},
    {"ip", WF_KEY_IP, offsetof(struct thing, ip), ""},
    {"scale", WF_KEY_FRACTION, offsetof(struct thing, scale), "1"},
};
static const struct wf_keyset thing_set = {"thing", "a test", thing_keys,          5,
                                           NULL,    0,        sizeof(struct thing)};

static void keys_read_bound_and_print(void **state)
{
    struct thing t = {0};
    struct wf_err err;
    char buf[64];

    (void)state;
    wf_keyset_defaults(&thing_set, &t);
    assert_int_equal(t.delay_ps, 500000);
    assert_int_equal(t.mode, 1);
    assert_true(wf_key_set(&thing_keys[1], &t, "65", &err) < 0);
    assert_non_null(strstr(err.msg, "expected 1 to 64"));
    assert_int_equal(t.ports, 2);
    assert_true(wf_key_set(&thing_keys[2], &t, "cut-through", &err) < 0);
    assert_non_null(strstr(err.msg, "did you mean 'cut_through'?"));
    assert_int_equal(wf_key_set(&thing_keys[3], &t, "10.1.2.3/24", &err), 0);
    assert_string_equal(wf_key_text(&thing_keys[3], &t, buf, sizeof(buf)), "10.1.2.3/24");
    assert_int_equal(wf_key_set(&thing_keys[3], &t, "fd00::1", &err), 0);
    assert_int_equal(t.ip.len, 128);
    assert_true(wf_key_set(&thing_keys[3], &t, "10.1.2.3/33", &err) < 0);
    assert_int_equal(wf_key_set(&thing_keys[4], &t, "1/97", &err), 0);
    assert_int_equal(t.scale.den, 97);
    assert_int_equal(wf_key_set(&thing_keys[4], &t, "0.5", &err), 0);
    assert_int_equal(t.scale.num * 2, t.scale.den);
    assert_true(wf_key_set(&thing_keys[4], &t, "1/0", &err) < 0);
}

static void suggestions_are_near_only(void **state)
{
    static const char *const names[] = {"headroom", "xoff", "xon"};

    (void)state;
    assert_string_equal(wf_did_you_mean("headrom", names, 3), "headroom");
    assert_string_equal(wf_did_you_mean("xof", names, 3), "xoff");
    assert_null(wf_did_you_mean("bandwidth", names, 3));
}

static void arena_is_zeroed_and_aligned(void **state)
{
    struct wf_arena a = {0};

    (void)state;
    for (int i = 1; i < 2000; i++) {
        unsigned char *p = wf_arena_alloc_line(&a, (size_t)i * 7);

        assert_int_equal((uintptr_t)p % 64, 0);
        assert_int_equal(p[0], 0);
        assert_int_equal(p[i * 7 - 1], 0);
        memset(p, 0xff, (size_t)i * 7);
    }
    assert_string_equal(wf_arena_printf(&a, "leaf%d:p%d", 0, 3), "leaf0:p3");
    wf_arena_free(&a);
}

/* Blocks grow with the arena: pieces of all sizes lie apart and are zeroed. */
static void large_arenas_grow_by_large_blocks(void **state)
{
    struct wf_arena a = {0};
    size_t sizes[] = {100, 5000, 137000, 3000000, 24};
    unsigned char *last[5] = {NULL};

    (void)state;
    for (unsigned i = 0; i < 400; i++) {
        size_t n = sizes[i % 5];
        unsigned char *p = wf_arena_alloc_line(&a, n);

        assert_int_equal(p[0], 0);
        assert_int_equal(p[n - 1], 0);
        memset(p, (int)(i & 0x7f) + 1, n);
        for (unsigned k = 0; k < 5; k++) { /* the pieces before are as they were left */
            assert_true(!last[k] || last[k][0] == last[k][sizes[k] - 1]);
            assert_true(!last[k] || last[k] + sizes[k] <= p || p + n <= last[k]);
        }
        last[i % 5] = p;
    }
    assert_true(a.bytes > 200000000);
    wf_arena_free(&a);
}

/* xoshiro256** from the state {1,2,3,4}: the first outputs of its authors' reference code. */
static void prng_is_the_published_one(void **state)
{
    struct wf_prng p = {{1, 2, 3, 4}}, a, b;

    (void)state;
    assert_int_equal(wf_prng_u64(&p), 11520);
    assert_int_equal(wf_prng_u64(&p), 0);
    assert_int_equal(wf_prng_u64(&p), 1509978240);
    assert_int_equal(wf_prng_u64(&p), 1215971899390074240ull);
    wf_prng_init(&a, 1, "h0");
    wf_prng_init(&b, 1, "h1");
    assert_int_not_equal(wf_prng_u64(&a), wf_prng_u64(&b));
}

static void digest_sees_every_bit_and_the_order(void **state)
{
    uint8_t bytes[70] = {0};
    uint64_t base = wf_hash_bytes(bytes, sizeof(bytes), 0);
    struct wf_digest x = {0}, y = {0};
    char buf[32];

    (void)state;
    for (size_t i = 0; i < sizeof(bytes) * 8; i++) {
        bytes[i / 8] ^= (uint8_t)(1 << i % 8);
        assert_int_not_equal(wf_hash_bytes(bytes, sizeof(bytes), 0), base);
        bytes[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    wf_digest_add(&x, 1, 2);
    wf_digest_add(&x, 3, 4);
    wf_digest_add(&y, 3, 4);
    wf_digest_add(&y, 1, 2);
    assert_int_not_equal(x.h, y.h);
    assert_int_equal(strlen(wf_digest_text(&x, buf, sizeof(buf))), 20);
}

static void tables_are_whole(void **state)
{
    (void)state;
    for (size_t t = 0; wf_ctr_tables[t]; t++) {
        for (size_t i = 0; i < wf_ctr_tables[t]->n; i++) {
            const char *name = wf_ctr_tables[t]->rows[i].name;

            if (!name)
                continue;
            assert_true(strlen(name) <= 60);
            if (!wf_ctr_unit(name))
                print_error("%s has no unit\n", name);
            assert_non_null(wf_ctr_unit(name));
            assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(name));
            for (size_t j = 0; j < i; j++)
                if (wf_ctr_tables[t]->rows[j].name)
                    assert_string_not_equal(wf_ctr_tables[t]->rows[j].name, name);
        }
    }
    assert_string_equal(wf_reason_name(WF_DROP_MTU), "mtu");
    assert_string_equal(wf_ctrs_drop.rows[WF_DROP_MTU].name, "drop_mtu_frames");
}

static char *names_elsewhere(void)
{
    const char *dir = getenv("WEFT_SOURCE");
    static char text[64 << 10];
    char path[512];
    FILE *f;

    snprintf(path, sizeof(path), "%s/tests/base/names_elsewhere.txt", dir ? dir : ".");
    f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    return text;
}

/* Each name of a list "A, B" stands, as a whole word, between `from` and `to`. */
static unsigned known(const char *list, const char *from, const char *to)
{
    char word[128];
    unsigned n = 0;

    while (list && *list) {
        size_t len = strcspn(list, ",");
        const char *at = from;
        bool found = false;

        snprintf(word, sizeof(word), "%.*s", (int)len, list);
        while (!found && (at = strstr(at, word)) && at < to) {
            found = strchr(" \n", at[-1]) && strchr(" \n", at[len]);
            at++;
        }
        if (!found)
            print_error("nobody has a counter %s\n", word);
        assert_true(found);
        list += len + (list[len] ? 2 : 0);
        n++;
    }
    return n;
}

static void names_exist_elsewhere(void **state)
{
    const char *text = names_elsewhere(), *sai = strstr(text, "\nsai:"),
               *mlx5 = strstr(text, "\nmlx5:"), *rdma = strstr(text, "\nrdma:");
    unsigned n = 0;

    (void)state;
    assert_true(sai && mlx5 && rdma);
    for (size_t t = 0; wf_ctr_tables[t]; t++)
        for (size_t i = 0; i < wf_ctr_tables[t]->n; i++) {
            struct wf_ctr_names e = wf_ctr_elsewhere(wf_ctr_tables[t], i);

            n += known(e.sai, sai, mlx5) + known(e.mlx5, mlx5, rdma) +
                 known(e.rdma, rdma, text + strlen(text));
        }
    assert_true(n > 80);
    assert_string_equal(wf_ctr_elsewhere(&wf_ctrs_drop, WF_DROP_TTL).sai, "SAI_IN_DROP_REASON_TTL");
    assert_string_equal(wf_ctr_unit("naks_received"), "packets");
    assert_null(wf_ctr_unit("states_of_mind"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_exact),
        cmocka_unit_test(units_refuse_what_is_ambiguous),
        cmocka_unit_test(units_round_trip),
        cmocka_unit_test(keys_read_bound_and_print),
        cmocka_unit_test(suggestions_are_near_only),
        cmocka_unit_test(arena_is_zeroed_and_aligned),
        cmocka_unit_test(large_arenas_grow_by_large_blocks),
        cmocka_unit_test(prng_is_the_published_one),
        cmocka_unit_test(digest_sees_every_bit_and_the_order),
        cmocka_unit_test(tables_are_whole),
        cmocka_unit_test(names_exist_elsewhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
