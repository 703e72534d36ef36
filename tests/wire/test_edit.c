/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of wire/edit.c: edits keep checksums, and the ICRC does not see them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "wire/edit.h"
#include "wire/icrc.h"
#include "wire/roce.h"

#include "golden.h"
#include "hex.h"

/* The example of RFC 1624 section 4, where RFC 1141 gives ffff. */
static void adjust_gives_the_example_of_rfc_1624(void **state)
{
    (void)state;
    assert_int_equal(wf_checksum_adjust(0xdd2f, 0x5555, 0x3285), 0x0000);
}

static void checksum_of_others_packets(void **state)
{
    static const char *const frames[] = {CNP_CX4, UC_SEND};
    uint8_t f[200];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        uint32_t len = hex_bytes(frames[i], f, sizeof(f));
        struct wf_parsed p;

        assert_int_equal(wf_parse(f, len, len, &p), WF_DROP_NONE);
        assert_true(wf_ip4_checksum_ok(f, len, &p));
        assert_int_equal(wf_ip4_checksum(f + 14, 20), wf_ld16(f + 24));
        for (uint32_t bit = 0; bit < 20 * 8; bit++) {
            f[14 + bit / 8] ^= (uint8_t)(1 << bit % 8);
            if (bit >= 8) /* not version and length */
                assert_false(wf_ip4_checksum_ok(f, len, &p));
            f[14 + bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        for (uint32_t cap = 0; cap < 34; cap++)
            assert_false(wf_ip4_checksum_ok(f, cap, &p));
    }
}

/* Builds a frame of any encapsulation with random fields. */
static uint32_t build(struct wf_prng *rng, uint8_t *f, uint32_t room, struct wf_parsed *p)
{
    struct wf_roce h = {.encap = (enum wf_roce_encap)wf_prng_below(rng, 2),
                        .n_tags = (uint8_t)wf_prng_below(rng, 3),
                        .dscp = wf_prng_u64(rng) & 63,
                        .ecn = wf_prng_u64(rng) & 3,
                        .ttl = (uint8_t)wf_prng_u64(rng),
                        .ip_id = (uint16_t)wf_prng_u64(rng),
                        .flow_label = wf_prng_u64(rng) & 0xfffff,
                        .sport = (uint16_t)wf_prng_u64(rng),
                        .payload_len = 8};
    uint32_t len;

    for (size_t i = 0; i < 16; i++) {
        h.src_ip[i] = (uint8_t)wf_prng_u64(rng);
        h.dst_ip[i] = (uint8_t)wf_prng_u64(rng);
    }
    h.tag[0].pcp = wf_prng_u64(rng) & 7;
    h.tag[0].vid = wf_prng_u64(rng) & 0xfff;
    h.bth.opcode = WF_OP_SEND_ONLY;
    memset(f, 0, room);
    len = wf_roce_frame_len(wf_roce_hdr_build(f, room, &h), 8);
    assert_int_equal(wf_parse(f, len, len, p), WF_DROP_NONE);
    wf_icrc_store(f + p->icrc_off, wf_icrc_of(f, len, p));
    return len;
}

/* The parse that the edits kept equals a fresh one; the ICRC still holds; so does the checksum. */
static void check_after(const uint8_t *f, uint32_t len, const struct wf_parsed *p)
{
    struct wf_parsed fresh;

    assert_int_equal(wf_parse(f, len, len, &fresh), WF_DROP_NONE);
    assert_memory_equal(&fresh, p, sizeof(fresh));
    assert_int_equal(wf_icrc_check(f, len, p), WF_ICRC_OK);
    if (p->flags & WF_P_IP4)
        assert_true(wf_ip4_checksum_ok(f, len, p));
}

static void edits_keep_everything_else(void **state)
{
    static const uint8_t dst[6] = {2, 0, 0, 0, 0, 1}, src[6] = {2, 0, 0, 0, 0, 2};
    struct wf_prng rng;

    (void)state;
    wf_prng_init(&rng, 1, "edit");
    for (int n = 0; n < 3000; n++) {
        uint8_t f[200], before[200], routed[200];
        struct wf_parsed p, q;
        uint32_t len = build(&rng, f, sizeof(f), &p);
        uint8_t dscp = wf_prng_u64(&rng) & 63, ecn = p.ecn, ttl = p.ttl;
        uint64_t begins;

        memcpy(before, f, sizeof(f));
        assert_int_equal(wf_edit_set_ce(f, &p), ecn == WF_ECN_ECT0 || ecn == WF_ECN_ECT1);
        assert_int_equal(p.ecn, ecn ? WF_ECN_CE : 0);
        check_after(f, len, &p);
        memcpy(routed, f, sizeof(f));
        q = p;
        memcpy(&begins, f, sizeof(begins));
        assert_int_equal(
            wf_edit_route(routed, &q, wf_edit_mac_word(dst), wf_edit_mac_word(src), &begins),
            ttl > 1);
        assert_memory_equal(&begins, routed, sizeof(begins));
        assert_memory_equal(routed, ttl > 1 ? dst : f, 6);
        assert_memory_equal(routed + 6, ttl > 1 ? src : f + 6, 6);
        assert_int_equal(wf_edit_dec_ttl(f, &p), ttl > 1);
        assert_memory_equal(routed + 12, f + 12, sizeof(f) - 12);
        assert_int_equal(q.ttl, p.ttl);
        assert_int_equal(p.ttl, ttl > 1 ? ttl - 1 : ttl);
        check_after(f, len, &p);
        assert_true(wf_edit_set_dscp(f, &p, dscp));
        assert_int_equal(p.dscp, dscp);
        check_after(f, len, &p);
        assert_int_equal(wf_edit_set_pcp(f, &p, 5), p.n_tags > 0);
        wf_edit_set_macs(f, &p, dst, src);
        check_after(f, len, &p);
        /* what none of them may touch: UDP and all behind it */
        assert_memory_equal(f + p.l4_off, before + p.l4_off, len - p.l4_off);
    }
}

static void frames_that_cannot_be_edited_stay_as_they_were(void **state)
{
    uint8_t f[60], before[60];
    struct wf_parsed p;

    (void)state;
    hex_bytes("ffffffffffff 020000000001 0806 0001 0800", f, sizeof(f));
    memcpy(before, f, sizeof(f));
    assert_int_equal(wf_parse(f, 60, 60, &p), WF_DROP_NONE);
    assert_false(wf_edit_set_ce(f, &p));
    assert_false(wf_edit_dec_ttl(f, &p));
    assert_false(wf_edit_set_dscp(f, &p, 26));
    assert_false(wf_edit_set_pcp(f, &p, 3));
    assert_memory_equal(f, before, sizeof(f));
}

/* A switch never repairs: a checksum that was wrong is wrong by the same difference. */
static void wrong_checksums_stay_wrong(void **state)
{
    uint8_t f[200];
    uint32_t len = hex_bytes(CNP_CX4, f, sizeof(f));
    struct wf_parsed p;

    (void)state;
    f[24] ^= 0x10;
    assert_int_equal(wf_parse(f, len, len, &p), WF_DROP_NONE);
    assert_true(wf_edit_set_ce(f, &p));
    assert_true(wf_edit_dec_ttl(f, &p));
    assert_false(wf_ip4_checksum_ok(f, len, &p));
    f[24] ^= 0x10;
    assert_true(wf_ip4_checksum_ok(f, len, &p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adjust_gives_the_example_of_rfc_1624),
        cmocka_unit_test(checksum_of_others_packets),
        cmocka_unit_test(edits_keep_everything_else),
        cmocka_unit_test(frames_that_cannot_be_edited_stay_as_they_were),
        cmocka_unit_test(wrong_checksums_stay_wrong),
    };

    return cmocka_run_group_tests_name("wire/edit", tests, NULL, NULL);
}
