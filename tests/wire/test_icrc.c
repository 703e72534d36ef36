/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of wire/crc32.c and wire/icrc.c against a bitwise CRC and packets that others made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "wire/icrc.h"
#include "wire/parse.h"

#include "golden.h"
#include "hex.h"

static void fill(struct wf_prng *p, uint8_t *buf, size_t len)
{
    for (size_t i = 0; i < len; i++)
        buf[i] = (uint8_t)wf_prng_u64(p);
}

/* Every length up to 600 at every alignment that matters, and long ones. */
static void crc_equals_the_plain_one(void **state)
{
    static uint8_t buf[9300];
    struct wf_prng p;

    (void)state;
    wf_prng_init(&p, 1, "crc");
    fill(&p, buf, sizeof(buf));
    for (size_t len = 0; len <= 600; len++)
        for (size_t off = 0; off < 4; off++) {
            uint32_t start = (uint32_t)wf_prng_u64(&p);

            assert_int_equal(wf_crc32_update(start, buf + off, len),
                             plain_crc32(start, buf + off, len));
        }
    /* long ones, also in pieces that are too short for AVX-512 */
    for (size_t len = 1000; len < 9200; len += 331) {
        uint32_t crc = 0;

        for (size_t at = 0; at < len; at += 240)
            crc = wf_crc32_update(crc, buf + len % 16 + at, len - at < 240 ? len - at : 240);
        assert_int_equal(crc, plain_crc32(0, buf + len % 16, len));
        assert_int_equal(wf_crc32_update(0, buf + len % 16, len),
                         plain_crc32(0, buf + len % 16, len));
    }
    /* the check value of CRC-32 in every catalogue of CRCs */
    assert_int_equal(wf_crc32_update(0, "123456789", 9), 0xcbf43926);
}

static void crc_goes_on_in_pieces(void **state)
{
    uint8_t buf[400];
    struct wf_prng p;

    (void)state;
    wf_prng_init(&p, 2, "crc");
    fill(&p, buf, sizeof(buf));
    for (size_t cut = 0; cut <= sizeof(buf); cut++) {
        uint32_t a = wf_crc32_update(0, buf, cut), b = wf_crc32_update(0, buf + cut, 400 - cut);

        assert_int_equal(wf_crc32_update(a, buf + cut, 400 - cut), plain_crc32(0, buf, 400));
        assert_int_equal(wf_crc32_combine(a, b, 400 - cut), plain_crc32(0, buf, 400));
    }
}

static void crc_of_zeros_needs_no_zeros(void **state)
{
    static const uint8_t zeros[70000];
    struct wf_prng p;

    (void)state;
    wf_prng_init(&p, 3, "crc");
    for (int i = 0; i < 200; i++) {
        uint32_t crc = (uint32_t)wf_prng_u64(&p);
        size_t len = i < 100 ? (size_t)i : wf_prng_below(&p, sizeof(zeros));

        assert_int_equal(wf_crc32_zeros(crc, len), plain_crc32(crc, zeros, len));
    }
    /* 2^33 bytes in one go equal 2^17 times 65536 bytes */
    assert_int_equal(wf_crc32_zeros(wf_crc32_zeros(7, 1ull << 32), 1ull << 32),
                     wf_crc32_zeros(7, 1ull << 33));
}

/* The register that Linux' rxe starts from: eight bytes of ones for the LRH. */
static void icrc_starts_like_rxe(void **state)
{
    uint8_t ones[8];

    (void)state;
    memset(ones, 0xff, sizeof(ones));
    assert_int_equal(~wf_crc32_update(0, ones, 8), 0xdebb20e3);
}

static void icrc_of_others_packets_is_right(void **state)
{
    static const char *const frames[] = {CNP_CX4, UC_SEND};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        uint8_t f[200], stored[4];
        uint32_t len = hex_bytes(frames[i], f, sizeof(f));
        struct wf_parsed p;

        assert_int_equal(wf_parse(f, len, len, &p), WF_DROP_NONE);
        assert_int_equal(wf_icrc_check(f, len, &p), WF_ICRC_OK);
        wf_icrc_store(stored, wf_icrc_of(f, len, &p));
        assert_memory_equal(stored, f + len - 4, 4);
    }
}

/* What changes on the way doesn't count; every other bit does. */
static void icrc_masks_exactly_what_may_change(void **state)
{
    uint8_t f[200];
    uint32_t len = hex_bytes(CNP_CX4, f, sizeof(f));
    struct wf_parsed p;

    (void)state;
    assert_int_equal(wf_parse(f, len, len, &p), WF_DROP_NONE);
    for (uint32_t byte = 14; byte < len; byte++) {
        /* ToS, TTL, IP checksum, UDP checksum, BTH byte 4 */
        bool masked = byte == 15 || byte == 22 || byte == 24 || byte == 25 || byte == 40 ||
                      byte == 41 || byte == 46;

        if (byte == 14)
            continue; /* version and length: another packet */
        for (int bit = 0; bit < 8; bit++) {
            f[byte] ^= (uint8_t)(1 << bit);
            assert_int_equal(wf_icrc_check(f, len, &p), masked ? WF_ICRC_OK : WF_ICRC_BAD);
            f[byte] ^= (uint8_t)(1 << bit);
        }
    }
}

static void icrc_of_cut_frames_is_absent(void **state)
{
    uint8_t f[200];
    uint32_t len = hex_bytes(UC_SEND, f, sizeof(f));
    struct wf_parsed p;

    (void)state;
    for (uint32_t cap = 0; cap < len; cap++) {
        assert_int_equal(wf_parse(f, cap, len, &p), WF_DROP_NONE);
        assert_int_equal(wf_icrc_check(f, cap, &p), WF_ICRC_ABSENT);
    }
}

/* A header-only packet whose payload is virtual zeros gets the ICRC of the whole one. */
static void icrc_of_virtual_zeros(void **state)
{
    uint8_t f[200];
    uint32_t len = hex_bytes(UC_SEND, f, sizeof(f));
    struct wf_parsed p;

    (void)state;
    memset(f + 54, 0, 20);
    assert_int_equal(wf_parse(f, len, len, &p), WF_DROP_NONE);
    assert_int_equal(wf_icrc_of(f, 54, &p), wf_icrc_of(f, len, &p));
    assert_int_equal(wf_icrc_of(f, 60, &p), wf_icrc_of(f, len, &p));
    f[60] = 1;
    assert_int_not_equal(wf_icrc_of(f, 54, &p), wf_icrc_of(f, len, &p));
}

/* Frames, RoCE packets and right ICRCs of a capture. */
static void captures_have_right_icrcs(void **state)
{
    static const struct {
        const char *name;
        int frames, roce, ok;
    } caps[] = {
        {"roce-softroce.pcap", 123, 105, 105},
        {"rocev2-ipv6.pcap", 8, 8, 8},
        {"rocev1.pcap", 4, 4, 4},
        {"rocev2-4k-full.pcap", 4, 4, 4},
        {"rocev2-4k-snap64.pcap", 4, 4, 0},
        {"rocev2-rc-psnwrap-ecn-cnp-vlan.pcap", 10, 10, 10},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++) {
        pcap_t *cap = capture_open(caps[i].name);
        struct pcap_pkthdr *h;
        const uint8_t *b;
        int n[3] = {0}, frames = 0, roce = 0;

        if (!cap)
            skip();
        while (pcap_next_ex(cap, &h, &b) == 1) {
            struct wf_parsed p;

            frames++;
            assert_int_equal(wf_parse(b, h->caplen, h->len, &p), WF_DROP_NONE);
            roce += !!(p.flags & WF_P_ROCE);
            n[wf_icrc_check(b, h->caplen, &p)]++;
        }
        pcap_close(cap);
        assert_int_equal(frames, caps[i].frames);
        assert_int_equal(roce, caps[i].roce);
        assert_int_equal(n[WF_ICRC_OK], caps[i].ok);
        assert_int_equal(n[WF_ICRC_BAD], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc_equals_the_plain_one),
        cmocka_unit_test(crc_goes_on_in_pieces),
        cmocka_unit_test(crc_of_zeros_needs_no_zeros),
        cmocka_unit_test(icrc_starts_like_rxe),
        cmocka_unit_test(icrc_of_others_packets_is_right),
        cmocka_unit_test(icrc_masks_exactly_what_may_change),
        cmocka_unit_test(icrc_of_cut_frames_is_absent),
        cmocka_unit_test(icrc_of_virtual_zeros),
        cmocka_unit_test(captures_have_right_icrcs),
    };

    return cmocka_run_group_tests_name("wire/icrc", tests, NULL, NULL);
}
