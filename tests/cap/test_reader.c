/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The capture reader against files put together here byte by byte, against libpcap on every capture
 * at hand, and against cut and damaged files: always a message, never a crash.
 */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "cap/reader.h"

/* ---- a file under construction ---- */

struct bytes {
    uint8_t p[8192];
    size_t n;
    int big; /* big-endian */
};

static void add(struct bytes *b, uint64_t v, int width)
{
    for (int i = 0; i < width; i++)
        b->p[b->n++] = (uint8_t)(v >> 8 * (b->big ? width - 1 - i : i));
}

static void add_raw(struct bytes *b, const void *p, size_t n)
{
    memcpy(b->p + b->n, p, n);
    b->n += n;
}

static void add_zeros(struct bytes *b, size_t n)
{
    memset(b->p + b->n, 0, n);
    b->n += n;
}

static void pcap_header(struct bytes *b, uint32_t magic, uint32_t link)
{
    add(b, magic, 4);
    add(b, 2, 2);
    add(b, 4, 2);
    add(b, 0, 8);
    add(b, 262144, 4);
    add(b, link, 4);
}

static void pcap_record(struct bytes *b, uint32_t sec, uint32_t frac, uint32_t cap, uint32_t len)
{
    add(b, sec, 4);
    add(b, frac, 4);
    add(b, cap, 4);
    add(b, len, 4);
    for (uint32_t i = 0; i < cap; i++)
        b->p[b->n++] = (uint8_t)i;
}

/* A pcapng block; its body is what `body` holds. */
static void block(struct bytes *b, uint32_t type, const struct bytes *body)
{
    uint32_t len = 12 + (uint32_t)((body->n + 3) & ~(size_t)3);

    add(b, type, 4);
    add(b, len, 4);
    add_raw(b, body->p, body->n);
    add_zeros(b, len - 12 - body->n);
    add(b, len, 4);
}

static void section(struct bytes *b)
{
    struct bytes body = {.big = b->big};

    add(&body, 0x1a2b3c4d, 4);
    add(&body, 1, 2);
    add(&body, 0, 2);
    add(&body, UINT64_MAX, 8);
    block(b, 0x0a0d0d0a, &body);
}

static void interface(struct bytes *b, uint16_t link, uint32_t snap, const char *name,
                      int resolution)
{
    struct bytes body = {.big = b->big};
    size_t n = strlen(name);

    add(&body, link, 2);
    add(&body, 0, 2);
    add(&body, snap, 4);
    add(&body, 2, 2);
    add(&body, n, 2);
    add_raw(&body, name, n);
    add_zeros(&body, -n & 3);
    if (resolution >= 0) {
        add(&body, 9, 2);
        add(&body, 1, 2);
        body.p[body.n++] = (uint8_t)resolution;
        add_zeros(&body, 3);
    }
    add(&body, 0, 4);
    block(b, 1, &body);
}

static void packet(struct bytes *b, uint32_t iface, uint64_t ticks, uint32_t cap, uint32_t len)
{
    struct bytes body = {.big = b->big};

    add(&body, iface, 4);
    add(&body, ticks >> 32, 4);
    add(&body, (uint32_t)ticks, 4);
    add(&body, cap, 4);
    add(&body, len, 4);
    for (uint32_t i = 0; i < cap; i++)
        body.p[body.n++] = (uint8_t)i;
    add_zeros(&body, -(size_t)cap & 3);
    add(&body, 1, 2); /* comment */
    add(&body, 3, 2);
    add_raw(&body, "abc\0", 4);
    add(&body, 2, 2); /* flags: outbound */
    add(&body, 4, 2);
    add(&body, 2, 4);
    block(b, 6, &body);
}

static int open_bytes(struct wf_cap_reader **r, const struct bytes *b, struct wf_err *err)
{
    static const uint8_t nothing[1];
    FILE *f = fmemopen((void *)(b->n ? b->p : nothing), b->n ? b->n : 1, "rb");

    assert_non_null(f);
    memset(err, 0, sizeof(*err));
    return wf_cap_open_stream(r, f, "test.cap", err);
}

/* Read all; the number of packets, and how it ended in *rc. */
static uint64_t read_all(const struct bytes *b, int *rc, struct wf_err *err)
{
    struct wf_cap_reader *r;
    struct wf_cap_rec rec;
    uint64_t n;

    *rc = open_bytes(&r, b, err);
    if (*rc < 0)
        return 0;
    while ((*rc = wf_cap_next(r, &rec, err)) == 1) {
        uint8_t sum = 0;

        for (uint32_t i = 0; i < rec.cap_bytes; i++)
            sum ^= rec.data[i]; /* under ASan: all of it is there */
        (void)sum;
        assert_true(rec.cap_bytes <= rec.len_bytes);
        assert_true(rec.time.ps < 1000000000000ull);
    }
    n = wf_cap_reader_packets(r);
    wf_cap_close(r);
    return n;
}

/* ---- what is well-formed ---- */

static void pcap_of_all_orders_and_resolutions(void **state)
{
    static const uint32_t magics[2] = {0xa1b2c3d4, 0xa1b23c4d};

    (void)state;
    for (int big = 0; big < 2; big++) {
        for (int nano = 0; nano < 2; nano++) {
            struct bytes b = {.big = big};
            struct wf_cap_reader *r;
            struct wf_cap_rec rec;
            struct wf_err err;

            pcap_header(&b, magics[nano], 1);
            pcap_record(&b, 0xfffffff0u, 999999, 60, 60);
            pcap_record(&b, 1, 2, 30, 1500);
            assert_int_equal(open_bytes(&r, &b, &err), 0);
            assert_int_equal(wf_cap_reader_format(r), WF_CAP_PCAP);
            assert_int_equal(wf_cap_next(r, &rec, &err), 1);
            assert_int_equal(rec.number, 1);
            assert_int_equal(rec.offset, 24);
            assert_int_equal(rec.time.sec, 0xfffffff0u);
            assert_int_equal(rec.time.ps, nano ? 999999000ull : 999999000000ull);
            assert_int_equal(rec.data[59], 59);
            assert_int_equal(wf_cap_next(r, &rec, &err), 1);
            assert_int_equal(rec.offset, 24 + 16 + 60);
            assert_int_equal(rec.cap_bytes, 30);
            assert_int_equal(rec.len_bytes, 1500);
            assert_int_equal(wf_cap_need_ethernet(r, &rec, &err), 0);
            assert_int_equal(wf_cap_next(r, &rec, &err), 0);
            assert_int_equal(wf_cap_next(r, &rec, &err), 0);
            wf_cap_close(r);
        }
    }
}

static void the_fcs_length_is_seen(void **state)
{
    struct bytes b = {0};
    struct wf_cap_reader *r;
    struct wf_cap_rec rec;
    struct wf_err err;

    (void)state;
    pcap_header(&b, 0xa1b2c3d4, 0x24000001); /* two 16-bit words, bit 26: said */
    pcap_record(&b, 1, 1, 64, 64);
    assert_int_equal(open_bytes(&r, &b, &err), 0);
    assert_int_equal(wf_cap_next(r, &rec, &err), 1);
    assert_int_equal(rec.iface->link_type, 1);
    assert_int_equal(rec.iface->fcs_bytes, 4);
    wf_cap_close(r);
}

static void sections_interfaces_and_resolutions_differ(void **state)
{
    struct bytes b = {.big = 1}, odd = {.big = 1};
    struct wf_cap_reader *r;
    struct wf_cap_rec rec;
    struct wf_err err;

    (void)state;
    section(&b);
    interface(&b, 1, 0, "eth0", -1);
    interface(&b, 1, 64, "eth1", 12);
    add(&odd, 1, 8);
    block(&b, 0x99, &odd); /* unknown: skipped */
    packet(&b, 0, 1700000000123456ull, 61, 61);
    packet(&b, 1, 5000000000007ull, 62, 1000);
    b.big = 0; /* a second section in the other order, interfaces count from 0 again */
    section(&b);
    interface(&b, 1, 0, "p0", 0x80 | 10); /* 1/1024 s */
    packet(&b, 0, 1024 * 7 + 512, 60, 60);
    assert_int_equal(open_bytes(&r, &b, &err), 0);
    assert_int_equal(wf_cap_reader_format(r), WF_CAP_PCAPNG);
    assert_int_equal(wf_cap_next(r, &rec, &err), 1);
    assert_string_equal(rec.iface->name, "eth0");
    assert_int_equal(rec.time.sec, 1700000000);
    assert_int_equal(rec.time.ps, 123456000000ull);
    assert_string_equal(rec.comment, "abc");
    assert_int_equal(rec.dir, WF_CAP_DIR_OUT);
    assert_int_equal(rec.data[60], 60);
    assert_int_equal(wf_cap_next(r, &rec, &err), 1);
    assert_string_equal(rec.iface->name, "eth1");
    assert_int_equal(rec.time.sec, 5);
    assert_int_equal(rec.time.ps, 7);
    assert_int_equal(rec.len_bytes, 1000);
    assert_int_equal(wf_cap_next(r, &rec, &err), 1);
    assert_string_equal(rec.iface->name, "p0");
    assert_int_equal(rec.time.sec, 7);
    assert_int_equal(rec.time.ps, 500000000000ull);
    assert_int_equal(wf_cap_next(r, &rec, &err), 0);
    wf_cap_close(r);
}

static void simple_and_obsolete_packet_blocks(void **state)
{
    struct bytes b = {0}, simple = {0}, old = {0};
    struct wf_cap_reader *r;
    struct wf_cap_rec rec;
    struct wf_err err;

    (void)state;
    section(&b);
    interface(&b, 1, 20, "e", -1);
    add(&simple, 100, 4);
    add_zeros(&simple, 20); /* the snaplen says how much of the 100 bytes is there */
    block(&b, 3, &simple);
    add(&old, 0, 2);
    add(&old, 3, 2); /* drops */
    add(&old, 0, 4);
    add(&old, 2000001, 4);
    add(&old, 4, 4);
    add(&old, 9, 4);
    add(&old, 0x01020304, 4);
    block(&b, 2, &old);
    assert_int_equal(open_bytes(&r, &b, &err), 0);
    assert_int_equal(wf_cap_next(r, &rec, &err), 1);
    assert_false(rec.timed);
    assert_int_equal(rec.cap_bytes, 20);
    assert_int_equal(rec.len_bytes, 100);
    assert_int_equal(wf_cap_next(r, &rec, &err), 1);
    assert_true(rec.timed);
    assert_int_equal(rec.time.sec, 2);
    assert_int_equal(rec.time.ps, 1000000);
    assert_int_equal(rec.len_bytes, 9);
    assert_int_equal(wf_cap_next(r, &rec, &err), 0);
    wf_cap_close(r);
}

static void differences_of_times_saturate(void **state)
{
    struct wf_cap_time a = {0, 999999999999ull}, b = {1, 0}, far = {1ll << 50, 0};

    (void)state;
    assert_int_equal(wf_cap_time_diff_ps(a, b), 1);
    assert_int_equal(wf_cap_time_diff_ps(b, a), -1);
    assert_true(wf_cap_time_diff_ps(a, far) == INT64_MAX);
    assert_true(wf_cap_time_diff_ps(far, a) == INT64_MIN);
}

/* ---- what is not ---- */

static void expect_error(const struct bytes *b, uint64_t packets, const char *text)
{
    struct wf_err err;
    int rc;
    uint64_t n = read_all(b, &rc, &err);

    assert_true(rc < 0);
    assert_string_equal(err.file, "test.cap");
    if (!strstr(err.msg, text))
        fail_msg("message '%s', expected '%s'", err.msg, text);
    assert_int_equal(n, packets);
}

static void wrong_files_are_named(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *text;
    } rows[] = {
        {"", 0, "empty"},
        {"\xd4\xc3", 2, "only 2 bytes"},
        {"\x1f\x8b\x08\x00", 4, "gzip"},
        {"\x28\xb5\x2f\xfd", 4, "zstd"},
        {"\x7f"
         "ELF",
         4, "begins with 7f 45 4c 46"},
        {"\x34\xcd\xb2\xa1", 4, "modified"},
        {"\xd4\xc3\xb2\xa1\x02\x00", 6, "the file is cut: 6 bytes long"},
        {"\xd4\xc3\xb2\xa1\x01\x00\x04\x00                ", 24, "version 1.4"},
        {"\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x00\x00\x00\x00", 12, "byte-order magic 00000000"},
        {"\x0a\x0d\x0d\x0a\x1b\x00\x00\x00\x4d\x3c\x2b\x1a", 12, "section header of 27 bytes"},
        {"\x0a\x0d\x0d\x0a\x1c\x00\x00", 7, "the file is cut"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bytes b = {0};

        add_raw(&b, rows[i].bytes, rows[i].n);
        if (rows[i].n == 0) { /* fmemopen has no empty files */
            struct wf_cap_reader *r;
            struct wf_err err = {0};

            assert_true(wf_cap_open(&r, "/dev/null", &err) < 0);
            assert_non_null(strstr(err.msg, rows[i].text));
            continue;
        }
        expect_error(&b, 0, rows[i].text);
    }
}

static void other_link_types_are_named(void **state)
{
    struct bytes b = {0};
    struct wf_cap_reader *r;
    struct wf_cap_rec rec;
    struct wf_err err;

    (void)state;
    pcap_header(&b, 0xa1b2c3d4, 197);
    pcap_record(&b, 1, 1, 64, 64);
    assert_int_equal(open_bytes(&r, &b, &err), 0);
    assert_int_equal(wf_cap_next(r, &rec, &err), 1);
    assert_int_equal(wf_cap_need_ethernet(r, &rec, &err), -EPROTONOSUPPORT);
    assert_non_null(strstr(err.msg, "packet 1 has link type 197 (ERF), expected 1 (Ethernet)"));
    wf_cap_close(r);
}

static void bad_records_are_named(void **state)
{
    struct bytes b = {0};

    (void)state;
    pcap_header(&b, 0xa1b2c3d4, 1);
    pcap_record(&b, 1, 1, 60, 60);
    pcap_record(&b, 1, 1000000, 0, 0);
    expect_error(&b, 1, "after packet 1, at byte 100: packet 2 has a fraction of 1000000");
    b.n = 100;
    add(&b, 0, 8);
    add(&b, 262145, 4);
    add(&b, 262145, 4);
    expect_error(&b, 1, "packet 2 says it has 262145 bytes");
    b.n = 100;
    pcap_record(&b, 1, 1, 60, 59);
    expect_error(&b, 1, "packet 2: 60 bytes captured of 59");
}

static void bad_blocks_are_named(void **state)
{
    struct bytes head = {0}, b, body = {0};

    (void)state;
    section(&head);
    interface(&head, 1, 0, "e", -1);
    b = head;
    packet(&b, 1, 1, 60, 60);
    expect_error(&b, 0, "packet 1 is of interface 1, the file described 1");
    b = head;
    packet(&b, 0, 1, 60, 60);
    b.p[b.n - 1] = 9; /* the second length */
    expect_error(&b, 0, "block begins with length");
    b = head;
    packet(&b, 0, 1, 60, 60);
    b.p[head.n + 4] = 13; /* the first */
    expect_error(&b, 0, "length of 13 bytes");
    b = head;
    packet(&b, 0, 1, 60, 60);
    b.p[head.n + 20] = 200; /* the captured length */
    b.p[head.n + 24] = 200;
    expect_error(&b, 0, "packet 1 says it has 200 bytes, its block has");
    b = head;
    packet(&b, 0, 1, 60, 60);
    b.p[head.n + 28 + 60 + 2] = 255; /* the comment's length */
    expect_error(&b, 0, "option 1 has 255 bytes");
    b = head;
    interface(&b, 1, 0, "f", 20);
    expect_error(&b, 0, "if_tsresol is 0x14");
    b = head;
    add(&body, 1, 2);
    add(&body, 0, 6);
    for (int i = 0; i < 2; i++) {
        add(&body, 9, 2);
        add(&body, 1, 2);
        add(&body, 6, 4);
    }
    block(&b, 1, &body);
    expect_error(&b, 0, "interface 1 has option 9 twice");
}

/* Cut at every byte: whole packets before the cut are given, and the end is clean only where a
 * record ends. */
static void a_cut_file_gives_what_is_whole(void **state)
{
    struct bytes whole[2] = {{.big = 0}, {.big = 1}}, part;
    size_t ends[2][4];

    (void)state;
    pcap_header(&whole[0], 0xa1b23c4d, 1);
    section(&whole[1]);
    interface(&whole[1], 1, 0, "e", 9);
    for (int k = 0; k < 2; k++) {
        ends[k][0] = whole[k].n;
        for (int i = 1; i < 4; i++) {
            if (k == 0)
                pcap_record(&whole[k], 1, 1, 60, 60);
            else
                packet(&whole[k], 0, 1, 60, 60);
            ends[k][i] = whole[k].n;
        }
        for (size_t n = ends[k][0]; n <= whole[k].n; n++) {
            uint64_t before = 0;
            struct wf_err err;
            int rc;

            part = whole[k];
            part.n = n;
            while (before < 3 && ends[k][before + 1] <= n)
                before++;
            assert_int_equal(read_all(&part, &rc, &err), before);
            assert_int_equal(rc < 0, n != ends[k][before]);
            if (rc < 0) {
                char text[64];

                snprintf(text, sizeof(text), "after packet %d, at byte %zu: the file is cut",
                         (int)before, ends[k][before]);
                assert_non_null(strstr(err.msg, text));
            }
        }
    }
}

/* Every byte of a file set to each of a few values, alone: a message or packets, no crash. */
static void damage_never_crashes(void **state)
{
    static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
    struct bytes whole[2] = {{.big = 0}, {.big = 1}};

    (void)state;
    pcap_header(&whole[0], 0xa1b2c3d4, 1);
    pcap_record(&whole[0], 1, 1, 60, 60);
    pcap_record(&whole[0], 1, 1, 60, 60);
    section(&whole[1]);
    interface(&whole[1], 1, 0, "eth0", 9);
    packet(&whole[1], 0, 1, 60, 60);
    packet(&whole[1], 0, 1, 60, 60);
    for (int k = 0; k < 2; k++) {
        for (size_t at = 0; at < whole[k].n; at++) {
            for (size_t v = 0; v < sizeof(values); v++) {
                struct bytes b = whole[k];
                struct wf_err err;
                int rc;

                b.p[at] = values[v];
                assert_true(read_all(&b, &rc, &err) <= 2);
                assert_true(rc == 0 || err.msg[0]);
            }
        }
    }
}

/* ---- libpcap as the oracle ---- */

static void compare_with_libpcap(const char *path)
{
    char text[PCAP_ERRBUF_SIZE];
    pcap_t *p = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, text);
    struct wf_cap_reader *r;
    struct wf_cap_rec rec;
    struct wf_err err = {0};
    struct pcap_pkthdr *h;
    const u_char *data;
    int end;

    if (!p)
        return; /* not one that libpcap reads */
    if (wf_cap_open(&r, path, &err) != 0)
        fail_msg("%s: %s", path, err.msg);
    while ((end = pcap_next_ex(p, &h, &data)) == 1) {
        if (wf_cap_next(r, &rec, &err) != 1)
            fail_msg("%s: packet %llu: %s", path, (unsigned long long)wf_cap_reader_packets(r),
                     err.msg);
        assert_int_equal(h->len, rec.len_bytes);
        assert_int_equal(h->caplen, rec.cap_bytes);
        assert_memory_equal(data, rec.data, h->caplen);
        assert_int_equal(h->ts.tv_sec, rec.time.sec);
        assert_int_equal(h->ts.tv_usec, rec.time.ps / 1000);
    }
    /* both end, or both find the file cut */
    assert_int_equal(end, wf_cap_next(r, &rec, &err) == 0 ? PCAP_ERROR_BREAK : PCAP_ERROR);
    wf_cap_close(r);
    pcap_close(p);
}

static int compare_folder(const char *folder)
{
    char path[512];
    struct dirent *e;
    DIR *d = opendir(folder);
    int n = 0;

    if (!d)
        return 0;
    while ((e = readdir(d))) {
        const char *dot = strrchr(e->d_name, '.');

        if (!dot || strncmp(dot, ".pcap", 5) != 0)
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
        compare_with_libpcap(path);
        n++;
    }
    closedir(d);
    return n;
}

static void libpcap_agrees_on_every_capture(void **state)
{
    const char *source = getenv("WEFT_SOURCE");
    char folder[400];
    int n;

    (void)state;
    assert_non_null(source);
    snprintf(folder, sizeof(folder), "%s/captures", source);
    n = compare_folder(folder);
    assert_true(n >= 6);
    for (const char *up = "/../"; strlen(up) <= 7; up = "/../../") {
        snprintf(folder, sizeof(folder), "%s%sshared/captures", source, up);
        n = compare_folder(folder);
        if (n > 0 || strlen(up) == 7)
            break;
    }
    if (n == 0)
        print_message("no captures beside the project: only its own compared\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pcap_of_all_orders_and_resolutions),
        cmocka_unit_test(the_fcs_length_is_seen),
        cmocka_unit_test(sections_interfaces_and_resolutions_differ),
        cmocka_unit_test(simple_and_obsolete_packet_blocks),
        cmocka_unit_test(differences_of_times_saturate),
        cmocka_unit_test(wrong_files_are_named),
        cmocka_unit_test(other_link_types_are_named),
        cmocka_unit_test(bad_records_are_named),
        cmocka_unit_test(bad_blocks_are_named),
        cmocka_unit_test(a_cut_file_gives_what_is_whole),
        cmocka_unit_test(damage_never_crashes),
        cmocka_unit_test(libpcap_agrees_on_every_capture),
    };

    return cmocka_run_group_tests_name("cap/reader", tests, NULL, NULL);
}
