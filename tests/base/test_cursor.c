/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of base/cursor.h: values, bounds, and the error that stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cursor.h"

static const uint8_t bytes[28] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a,
                                  0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14,
                                  0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c};

static void reader_reads_network_order(void **state)
{
    struct wf_rd r = wf_rd_init(bytes, sizeof(bytes));

    (void)state;
    assert_int_equal(wf_rd_u8(&r), 0x01);
    assert_int_equal(wf_rd_be16(&r), 0x0203);
    assert_int_equal(wf_rd_be24(&r), 0x040506);
    assert_int_equal(wf_rd_be32(&r), 0x0708090a);
    assert_int_equal(wf_rd_be48(&r), 0x0b0c0d0e0f10ull);
    assert_int_equal(wf_rd_be64(&r), 0x1112131415161718ull);
    assert_int_equal(wf_rd_le32(&r), 0x1c1b1a19);
    assert_int_equal(wf_rd_left(&r), 0);
    assert_false(r.err);
}

static void writer_writes_what_the_reader_read(void **state)
{
    uint8_t buf[sizeof(bytes)];
    struct wf_wr w = wf_wr_init(buf, sizeof(buf));

    (void)state;
    wf_wr_u8(&w, 0x01);
    wf_wr_be16(&w, 0x0203);
    wf_wr_be24(&w, 0xff040506);
    wf_wr_be32(&w, 0x0708090a);
    wf_wr_be48(&w, 0xffff0b0c0d0e0f10ull);
    wf_wr_be64(&w, 0x1112131415161718ull);
    wf_wr_le32(&w, 0x1c1b1a19);
    assert_false(w.err);
    assert_int_equal(wf_wr_len(&w), sizeof(buf));
    assert_memory_equal(buf, bytes, sizeof(buf));
}

/* A copy of exactly n bytes, so that ASan sees a step too far. */
static __attribute__((noinline)) uint8_t *copy_of(size_t n)
{
    uint8_t *p = malloc(n ? n : 1);

    assert_non_null(p);
    memcpy(p, bytes, n);
    return p;
}

/* One byte too few for each size: nothing is read, and nothing after it either. */
static void reader_stops_at_the_end(void **state)
{
    uint8_t out[16];

    (void)state;
    for (size_t n = 0; n < 8; n++) {
        uint8_t *exact = copy_of(n);
        struct wf_rd r = wf_rd_init(exact, n);

        assert_int_equal(wf_rd_be64(&r), 0);
        assert_true(r.err);
        assert_int_equal(wf_rd_u8(&r), 0);
        assert_int_equal(wf_rd_left(&r), n);
        r = wf_rd_init(exact, n);
        memset(out, 0xee, sizeof(out));
        wf_rd_bytes(&r, out, n + 1);
        assert_true(r.err);
        for (size_t i = 0; i <= n; i++)
            assert_int_equal(out[i], 0);
        assert_int_equal(out[n + 1], 0xee);
        r = wf_rd_init(exact, n);
        wf_rd_skip(&r, n + 1);
        assert_true(r.err);
        r = wf_rd_init(exact, n);
        wf_rd_skip(&r, SIZE_MAX);
        assert_true(r.err);
        free(exact);
    }
}

static void writer_stops_at_the_end(void **state)
{
    uint8_t buf[8];
    struct wf_wr w;

    (void)state;
    memset(buf, 0xee, sizeof(buf));
    w = wf_wr_init(buf, 5);
    wf_wr_be32(&w, 0x01020304);
    wf_wr_be16(&w, 0xffff);
    assert_true(w.err);
    wf_wr_u8(&w, 0xff); /* it would fit, but the error stays */
    wf_wr_zeros(&w, 1);
    wf_wr_bytes(&w, bytes, 1);
    assert_int_equal(wf_wr_len(&w), 4);
    for (size_t i = 4; i < sizeof(buf); i++)
        assert_int_equal(buf[i], 0xee);
}

static void empty_buffers_are_fine(void **state)
{
    struct wf_rd r = wf_rd_init(NULL, 0);
    struct wf_wr w = wf_wr_init(NULL, 0);

    (void)state;
    wf_rd_bytes(&r, NULL, 0);
    wf_wr_bytes(&w, NULL, 0);
    wf_wr_zeros(&w, 0);
    assert_false(r.err);
    assert_false(w.err);
    wf_wr_u8(&w, 1);
    assert_int_equal(wf_rd_u8(&r), 0);
    assert_true(r.err);
    assert_true(w.err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reader_reads_network_order),
        cmocka_unit_test(writer_writes_what_the_reader_read),
        cmocka_unit_test(reader_stops_at_the_end),
        cmocka_unit_test(writer_stops_at_the_end),
        cmocka_unit_test(empty_buffers_are_fine),
    };

    return cmocka_run_group_tests_name("base/cursor", tests, NULL, NULL);
}
