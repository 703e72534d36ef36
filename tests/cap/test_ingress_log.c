/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ingress log: what is written is read again, to the picosecond and in order; what is broken,
 * cut or lost is told.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cap/ingress_log.h"
#include "wire/icrc.h"

static char path[64];
static const char *const names[] = {"h0", "h1"};

static int setup(void **state)
{
    int fd;

    strcpy(path, "/tmp/weft-ingress.XXXXXX");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    return 0;
}

static int teardown(void **state)
{
    return unlink(path);
}

static struct wf_ingress_log *create(bool cut, size_t ring)
{
    const struct wf_ingress_log_conf conf = {
        .edges = names, .n_edges = 2, .epoch_s = 1700000000, .cut = cut, .ring_bytes = ring};
    struct wf_ingress_log *l;
    struct wf_err err;

    assert_int_equal(wf_ingress_log_create(&l, path, &conf, &err), 0);
    return l;
}

static void put(struct wf_ingress_log *l, const struct wf_stimulus *st)
{
    struct wf_stimulus_sink *s = wf_ingress_log_sink(l);

    s->put(s, st);
}

static struct wf_ingress_log_sum finish(struct wf_ingress_log *l, uint64_t end_ps)
{
    struct wf_ingress_log_sum sum;
    struct wf_err err;

    assert_int_equal(wf_ingress_log_close(l, end_ps, &sum, &err), 0);
    return sum;
}

static struct wf_ingress_reader *open_log(void)
{
    struct wf_ingress_reader *r;
    struct wf_err err = {0};

    if (wf_ingress_open(&r, path, &err))
        fail_msg("%s", err.msg);
    return r;
}

static void every_stimulus_comes_back(void **state)
{
    static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7};
    const struct wf_stimulus all[] = {
        {.kind = WF_STIM_PEER, .edge = 1, .on = true, .first = true},
        {.kind = WF_STIM_MTU, .edge = 1, .value = 4200, .first = true},
        {.kind = WF_STIM_FRAME, .edge = 1, .frame = bytes, .cap_bytes = 7, .len_bytes = 7},
        {.kind = WF_STIM_FRAME, .edge = 0, .frame = bytes, .t_ps = 12345},
        {.kind = WF_STIM_TAKEN, .edge = 0, .value = 32, .t_ps = 12345},
        {.kind = WF_STIM_PEER, .edge = 0, .t_ps = 12346},
        {.kind = WF_STIM_PROBE, .edge = 1, .t_ps = 12346},
        {.kind = WF_STIM_HELD, .edge = 1, .on = true, .t_ps = 12346},
        {.kind = WF_STIM_COUNT,
         .edge = 1,
         .where = "own_frames",
         .value = 1ull << 60,
         .t_ps = 12347},
        {.kind = WF_STIM_LINK, .where = "leaf0:p0-h0:p0", .t_ps = 1ull << 62},
        {.kind = WF_STIM_RATE, .where = "leaf0:p0-h0:p0", .value = 1000, .t_ps = 1ull << 62},
        {.kind = WF_STIM_FAULT,
         .where = "do=corrupt where=leaf0:p0 match=any every=97 limit=3",
         .t_ps = 1ull << 62},
        {.kind = WF_STIM_PFC, .where = "h1:p0", .vector = 0x88, .value = 65535, .t_ps = 1ull << 62},
    };
    const size_t n = sizeof(all) / sizeof(all[0]);
    struct wf_ingress_log *l = create(false, 0);
    struct wf_ingress_reader *r;
    struct wf_stimulus st;
    struct wf_err err;

    for (size_t i = 0; i < n; i++)
        put(l, &all[i]);
    assert_int_equal(finish(l, (1ull << 62) + 1).stimuli, n);
    r = open_log();
    assert_int_equal(wf_ingress_head(r)->n_edges, 2);
    assert_string_equal(wf_ingress_head(r)->edges[1], "h1");
    for (size_t i = 0; i < n; i++) {
        const struct wf_stimulus *e = &all[i];

        assert_int_equal(wf_ingress_next(r, &st, &err), 1);
        assert_int_equal(st.kind, e->kind);
        assert_int_equal(st.t_ps, e->t_ps);
        assert_int_equal(st.edge, e->edge);
        assert_int_equal(st.value, e->value);
        assert_int_equal(st.on, e->on);
        assert_int_equal(st.first, e->first);
        assert_int_equal(st.vector, e->vector);
        if (e->where)
            assert_string_equal(st.where, e->where);
        assert_int_equal(st.cap_bytes, e->cap_bytes);
        assert_int_equal(st.len_bytes, e->len_bytes);
        if (e->cap_bytes)
            assert_memory_equal(st.frame, e->frame, e->cap_bytes);
    }
    assert_int_equal(wf_ingress_next(r, &st, &err), 0);
    assert_true(wf_ingress_tail(r).ended);
    assert_int_equal(wf_ingress_tail(r).end_ps, (1ull << 62) + 1);
    assert_int_equal(wf_ingress_tail(r).lost, 0);
    wf_ingress_close(r);
}

/* A RoCEv2 frame of 1 KiB payload that is not zeros. */
static uint32_t roce(uint8_t *f, bool right)
{
    /* Ethernet, IPv4, UDP 4791, BTH of a WRITE Middle, written by hand */
    static const uint8_t start[] = {
        2,    0,    0,    0,    0,  1,  2, 0, 0,    0,    0, 2, 8,  0,    0x45, 0x6a, 0x04, 0x2c,
        0,    0,    0x40, 0,    64, 17, 0, 0, 10,   0,    0, 1, 10, 1,    0,    1,    0xc0, 0,
        0x12, 0xb7, 0x04, 0x18, 0,  0,  7, 0, 0xff, 0xff, 0, 0, 0,  0x11, 0,    0,    0,    5};
    const uint32_t hdr = sizeof(start), len = hdr + 1024 + 4;
    struct wf_parsed p;

    memcpy(f, start, hdr);
    for (uint32_t i = hdr; i < len - 4; i++)
        f[i] = (uint8_t)(i * 7 + 1);
    wf_parse(f, len, len, &p);
    assert_int_equal(p.icrc_off, len - 4);
    wf_icrc_store(f + len - 4, wf_icrc_of(f, len, &p) ^ !right);
    return len;
}

static void a_cut_payload_keeps_its_icrc_state(void **state)
{
    struct wf_ingress_log *l = create(true, 0);
    struct wf_ingress_reader *r;
    struct wf_stimulus st;
    struct wf_err err;
    uint8_t f[1200];
    struct stat s;

    for (int i = 0; i < 2; i++) {
        uint32_t len = roce(f, i == 0);

        put(l, &(struct wf_stimulus){
                   .kind = WF_STIM_FRAME, .frame = f, .cap_bytes = len, .len_bytes = len});
    }
    put(l, &(struct wf_stimulus){
               .kind = WF_STIM_FRAME, .frame = f, .cap_bytes = 100, .len_bytes = 100});
    memset(f + 12, 0x88, 2); /* no IP */
    put(l, &(struct wf_stimulus){
               .kind = WF_STIM_FRAME, .frame = f, .cap_bytes = 900, .len_bytes = 900});
    finish(l, 5);
    assert_int_equal(stat(path, &s), 0);
    assert_true(s.st_size < 1400);
    r = open_log();
    assert_true(wf_ingress_head(r)->cut);
    for (int i = 0; i < 4; i++) {
        static const enum wf_stimulus_icrc want[] = {WF_STIM_ICRC_OK, WF_STIM_ICRC_BAD,
                                                     WF_STIM_ICRC_WHOLE, WF_STIM_ICRC_NONE};

        assert_int_equal(wf_ingress_next(r, &st, &err), 1);
        assert_int_equal(st.icrc, want[i]);
        assert_int_equal(st.cap_bytes, i == 2 ? 100 : 128);
    }
    wf_ingress_close(r);
}

static void a_full_ring_is_told(void **state)
{
    struct wf_ingress_log *l = create(false, 1);
    struct wf_ingress_log_sum sum;
    struct wf_ingress_reader *r;
    struct wf_stimulus st;
    uint8_t f[9000] = {0};
    struct wf_err err;
    uint64_t n = 0;

    for (int i = 0; i < 4000; i++)
        put(l, &(struct wf_stimulus){.kind = WF_STIM_FRAME,
                                     .frame = f,
                                     .cap_bytes = sizeof(f),
                                     .len_bytes = sizeof(f),
                                     .t_ps = (uint64_t)i});
    sum = finish(l, 4000);
    assert_int_equal(sum.stimuli, 4000);
    assert_true(sum.lost > 0);
    r = open_log();
    while (wf_ingress_next(r, &st, &err) == 1)
        n++;
    assert_int_equal(n, sum.stimuli - sum.lost);
    assert_int_equal(wf_ingress_tail(r).lost, sum.lost);
    assert_true(wf_ingress_tail(r).ended);
    wf_ingress_close(r);
}

/* Cut at any byte: what is before is there, and no end; or it is said where it breaks. */
static void a_truncated_log_has_no_end(void **state)
{
    struct wf_ingress_log *l = create(false, 0);
    static const uint8_t bytes[60];
    struct stat s;

    for (uint64_t i = 0; i < 20; i++)
        put(l, &(struct wf_stimulus){.kind = WF_STIM_FRAME,
                                     .frame = bytes,
                                     .cap_bytes = 60,
                                     .len_bytes = 60,
                                     .t_ps = i / 2});
    finish(l, 100);
    assert_int_equal(stat(path, &s), 0);
    for (off_t len = s.st_size - 1; len >= 0; len--) {
        struct wf_ingress_reader *r;
        struct wf_stimulus st;
        struct wf_err err = {0};
        int rc;

        assert_int_equal(truncate(path, len), 0);
        if (wf_ingress_open(&r, path, &err)) {
            assert_true(err.msg[0]);
            continue;
        }
        while ((rc = wf_ingress_next(r, &st, &err)) == 1)
            ;
        /* what is cut off may be the statistics behind the end */
        assert_true(rc == 0 ? len > s.st_size - 200 || !wf_ingress_tail(r).ended
                            : rc < 0 && err.msg[0]);
        wf_ingress_close(r);
    }
}

/* An instant near the end of uint64, whose sums would wrap around. */
static void instants_are_bounded(void **state)
{
    struct wf_ingress_log *l = create(false, 0);
    struct wf_ingress_reader *r;
    struct wf_stimulus st;
    struct wf_err err = {0};

    put(l, &(struct wf_stimulus){.kind = WF_STIM_PFC, .where = "leaf0:p0", .t_ps = UINT64_MAX - 3});
    finish(l, UINT64_MAX - 2);
    r = open_log();
    assert_true(wf_ingress_next(r, &st, &err) < 0);
    assert_non_null(strstr(err.msg, "100 days"));
    wf_ingress_close(r);
}

static void a_capture_is_no_log(void **state)
{
    struct wf_ingress_reader *r;
    struct wf_err err = {0};
    FILE *f = fopen(path, "w");

    fputs("weft: 1\n", f);
    fclose(f);
    assert_true(wf_ingress_open(&r, path, &err) < 0);
    assert_non_null(strstr(err.msg, "pcapng"));
    assert_int_equal(wf_ingress_open(&r, "/nonexistent/log", &err), -ENOENT);
}

static void a_full_disk_is_told(void **state)
{
    const struct wf_ingress_log_conf conf = {.edges = names, .n_edges = 2};
    struct wf_ingress_log_sum sum;
    struct wf_ingress_log *l;
    struct wf_err err = {0};
    uint8_t f[1000] = {0};

    if (access("/dev/full", W_OK))
        skip();
    assert_int_equal(wf_ingress_log_create(&l, "/dev/full", &conf, &err), 0);
    for (int i = 0; i < 10; i++)
        put(l, &(struct wf_stimulus){
                   .kind = WF_STIM_FRAME, .frame = f, .cap_bytes = 1000, .len_bytes = 1000});
    for (int i = 0; i < 500 && !err.msg[0]; i++) {
        usleep(1000);
        wf_ingress_log_take_error(l, &err);
    }
    assert_non_null(strstr(err.msg, "No space left"));
    assert_int_equal(wf_ingress_log_close(l, 1, &sum, &err), -ENOSPC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_stimulus_comes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(a_cut_payload_keeps_its_icrc_state, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_ring_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(a_truncated_log_has_no_end, setup, teardown),
        cmocka_unit_test_setup_teardown(instants_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(a_capture_is_no_log, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_disk_is_told, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
