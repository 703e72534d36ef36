/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Field tables against codecs: every row of every format, every bit of every header. Where a
 * format's codec is written by hand it and its table check each other; the connection manager's
 * messages and DCBX are read by their tables; test_tshark.c and test_dcbx.c hold those against
 * tshark.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "wire/arp.h"
#include "wire/bth.h"
#include "wire/cm.h"
#include "wire/dcbx.h"
#include "wire/eth.h"
#include "wire/ip4.h"
#include "wire/ip6.h"
#include "wire/mad.h"
#include "wire/nd.h"
#include "wire/pfc.h"
#include "wire/udp.h"

#define FORMATS(X)                                                                                 \
    X(eth)                                                                                         \
    X(vlan)                                                                                        \
    X(arp)                                                                                         \
    X(ip4)                                                                                         \
    X(ip6)                                                                                         \
    X(grh)                                                                                         \
    X(nd)                                                                                          \
    X(ndopt)                                                                                       \
    X(udp)                                                                                         \
    X(pfc)                                                                                         \
    X(pause)                                                                                       \
    X(bth)                                                                                         \
    X(rdeth)                                                                                       \
    X(deth)                                                                                        \
    X(xrceth)                                                                                      \
    X(feth)                                                                                        \
    X(reth)                                                                                        \
    X(atomiceth)                                                                                   \
    X(aeth)                                                                                        \
    X(atomicacketh)                                                                                \
    X(immdt)                                                                                       \
    X(ieth)                                                                                        \
    X(mad)                                                                                         \
    X(cm_req)                                                                                      \
    X(cm_rep)                                                                                      \
    X(cm_rtu)                                                                                      \
    X(cm_dreq)                                                                                     \
    X(cm_mra)                                                                                      \
    X(cm_rej)                                                                                      \
    X(cm_path)                                                                                     \
    X(cm_sidr_req)                                                                                 \
    X(cm_sidr_rep)                                                                                 \
    X(cm_ip)                                                                                       \
    X(lldp_tlv)                                                                                    \
    X(lldp_org)                                                                                    \
    X(lldp_caps)                                                                                   \
    X(ets_tlv)                                                                                     \
    X(dcb_pfc)                                                                                     \
    X(app)                                                                                         \
    X(cee_hdr)                                                                                     \
    X(cee_ctrl)                                                                                    \
    X(cee_pg)                                                                                      \
    X(cee_pfc)                                                                                     \
    X(cee_app)

struct codec {
    const struct wf_fmt *fmt;
    size_t size;
    int (*get)(struct wf_rd *r, void *h);
    void (*put)(struct wf_wr *w, const void *h);
};

#define WRAP(f)                                                                                    \
    static int get_##f(struct wf_rd *r, void *h)                                                   \
    {                                                                                              \
        return wf_##f##_get(r, h);                                                                 \
    }                                                                                              \
    static void put_##f(struct wf_wr *w, const void *h)                                            \
    {                                                                                              \
        wf_##f##_put(w, h);                                                                        \
    }
#define ROW(f) {&wf_fmt_##f, sizeof(struct wf_##f), get_##f, put_##f},
FORMATS(WRAP)
static const struct codec codecs[] = {FORMATS(ROW)};
#define N_CODECS (sizeof(codecs) / sizeof(codecs[0]))

#define STRUCT_MAX 256
#define HDR_MAX    128

/* The row that a bit belongs to; NULL: a reserved bit without one. */
static const struct wf_field *row_of_bit(const struct wf_fmt *fmt, uint32_t bit)
{
    for (uint16_t i = 0; i < fmt->n; i++)
        if (bit >= fmt->fields[i].bit_off &&
            bit < (uint32_t)fmt->fields[i].bit_off + fmt->fields[i].bits)
            return &fmt->fields[i];
    return NULL;
}

static bool is_bytes(const struct wf_field *f)
{
    return f->kind == WF_FIELD_MAC || f->kind == WF_FIELD_IP6;
}

/* The member as a number or bytes equals what the table finds in the header. */
static void check_member(const struct wf_field *f, const void *h, const uint8_t *hdr)
{
    const uint8_t *m = (const uint8_t *)h + f->off;
    uint64_t v = 0;

    if (is_bytes(f)) {
        assert_int_equal(f->size * 8, f->bits);
        assert_memory_equal(m, hdr + f->bit_off / 8, f->size);
        return;
    }
    memcpy(&v, m, f->size);
    assert_int_equal(v, wf_field_get(f, hdr));
}

static void tables_are_in_order_and_whole(void **state)
{
    size_t n = 0;

    (void)state;
    for (; wf_fmts[n]; n++) {
        const struct wf_fmt *fmt = wf_fmts[n];
        uint32_t at = 0, rows = 0;

        assert_ptr_equal(wf_fmt_find(fmt->name), fmt);
        for (uint16_t i = 0; i < fmt->n; i++) {
            const struct wf_field *f = &fmt->fields[i];

            assert_true(f->bit_off >= at); /* no overlap, in the spec's order */
            at = (uint32_t)f->bit_off + f->bits;
            rows += f->bits;
            assert_non_null(f->clause);
            assert_ptr_equal(wf_field_find(fmt, f->name), f);
            assert_true(f->bits <= 64 || f->kind == WF_FIELD_IP6);
            assert_true(f->size * 8 >= f->bits);
        }
        assert_true(at <= fmt->bytes * 8u);
        if (strncmp(fmt->name, "cm_", 3)) /* only those have reserved bits without a row */
            assert_int_equal(rows, fmt->bytes * 8u);
    }
    assert_int_equal(n, N_CODECS);
    assert_null(wf_fmt_find("none"));
}

/* One bit set: exactly its member sees it, and the codec writes the same bytes again. */
static void every_bit_has_its_member(void **state)
{
    (void)state;
    for (size_t c = 0; c < N_CODECS; c++) {
        const struct wf_fmt *fmt = codecs[c].fmt;

        for (uint32_t bit = 0; bit < fmt->bytes * 8u; bit++) {
            uint8_t hdr[HDR_MAX] = {0}, again[HDR_MAX] = {0}, h[STRUCT_MAX];
            const struct wf_field *row = row_of_bit(fmt, bit);
            struct wf_rd r = wf_rd_init(hdr, sizeof(hdr));
            struct wf_wr w = wf_wr_init(again, sizeof(again));

            hdr[bit / 8] = (uint8_t)(0x80 >> bit % 8);
            assert_int_equal(codecs[c].get(&r, h), 0);
            for (uint16_t i = 0; i < fmt->n; i++)
                check_member(&fmt->fields[i], h, hdr);
            codecs[c].put(&w, h);
            assert_false(w.err);
            if (!row)
                hdr[bit / 8] = 0; /* a reserved bit is dropped */
            assert_memory_equal(again, hdr, fmt->bytes);
        }
    }
}

static void random_headers_agree(void **state)
{
    struct wf_prng p;

    (void)state;
    wf_prng_init(&p, 1, "field");
    for (size_t c = 0; c < N_CODECS; c++)
        for (int n = 0; n < 500; n++) {
            const struct wf_fmt *fmt = codecs[c].fmt;
            uint8_t hdr[HDR_MAX], by_set[HDR_MAX] = {0}, h[STRUCT_MAX], t[STRUCT_MAX];
            struct wf_rd r = wf_rd_init(hdr, sizeof(hdr)), r2 = r;

            for (size_t i = 0; i < sizeof(hdr); i++)
                hdr[i] = (uint8_t)wf_prng_u64(&p);
            assert_int_equal(codecs[c].get(&r, h), 0);
            assert_int_equal(wf_fmt_get(fmt, &r2, t, codecs[c].size), 0);
            for (uint16_t i = 0; i < fmt->n; i++) {
                const struct wf_field *f = &fmt->fields[i];

                check_member(f, h, hdr);
                check_member(f, t, hdr);
                if (f->bits <= 64) {
                    wf_field_set(f, by_set, wf_field_get(f, hdr));
                    assert_int_equal(wf_field_get(f, by_set), wf_field_get(f, hdr));
                }
            }
        }
}

/* Truncated at every length: an error and no step beyond, for readers and writers. */
static void every_length_is_safe(void **state)
{
    (void)state;
    for (size_t c = 0; c < N_CODECS; c++)
        for (size_t len = 0; len < codecs[c].fmt->bytes; len++) {
            uint8_t hdr[HDR_MAX] = {0}, h[STRUCT_MAX] = {0};
            struct wf_rd r = wf_rd_init(hdr, len);
            struct wf_wr w = wf_wr_init(hdr, len);

            assert_int_equal(codecs[c].get(&r, h), -EBADMSG);
            memset(h, 0, sizeof(h));
            memset(hdr, 0xee, sizeof(hdr));
            codecs[c].put(&w, h);
            assert_true(w.err);
            for (size_t i = len; i < sizeof(hdr); i++)
                assert_int_equal(hdr[i], 0xee);
        }
}

/* Members wider than their field must not spill into the neighbours. */
static void values_too_wide_stay_in_their_field(void **state)
{
    (void)state;
    for (size_t c = 0; c < N_CODECS; c++)
        for (uint16_t i = 0; i < codecs[c].fmt->n; i++) {
            const struct wf_field *f = &codecs[c].fmt->fields[i];
            uint8_t hdr[HDR_MAX] = {0}, h[STRUCT_MAX] = {0};
            struct wf_wr w = wf_wr_init(hdr, sizeof(hdr));

            if (f->kind == WF_FIELD_BOOL)
                h[f->off] = 1;
            else
                memset(h + f->off, 0xff, f->size);
            codecs[c].put(&w, h);
            for (uint32_t bit = 0; bit < codecs[c].fmt->bytes * 8u; bit++)
                assert_int_equal(hdr[bit / 8] >> (7 - bit % 8) & 1,
                                 row_of_bit(codecs[c].fmt, bit) == f);
        }
}

static void headers_print_by_name(void **state)
{
    static const uint8_t bth[12] = {0x0a, 0x70, 0xff, 0xff, 0x40, 0x00,
                                    0x01, 0x18, 0x80, 0x00, 0x00, 0x05};
    static const uint8_t arp[28] = {0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 10, 10, 0, 0, 1};
    static const uint8_t ip6[40] = {0x60, [8] = 0xfd, [23] = 1, [24] = 0xfe, 0x80, [39] = 2};
    char buf[512];

    (void)state;
    assert_string_equal(wf_fmt_text(&wf_fmt_bth, bth, buf, sizeof(buf)),
                        "opcode=0x0a(RC WRITE Only) se=0 m=1 pad=3 tver=0 pkey=0xffff fecn=0 "
                        "becn=1 resv6=0x00 dqpn=0x000118 ackreq=1 resv7=0x00 psn=5");
    assert_non_null(strstr(wf_fmt_text(&wf_fmt_arp, arp, buf, sizeof(buf)),
                           "sha=02:00:00:00:00:0a spa=10.0.0.1 "));
    assert_non_null(
        strstr(wf_fmt_text(&wf_fmt_ip6, ip6, buf, sizeof(buf)), "src=fd00::1 dst=fe80::2"));
    for (size_t len = 0; len < sizeof(buf); len++) {
        memset(buf, 'x', sizeof(buf));
        wf_fmt_text(&wf_fmt_bth, bth, buf, len);
        assert_int_equal(buf[len], 'x');
        if (len)
            assert_true(strlen(buf) < len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_in_order_and_whole),
        cmocka_unit_test(every_bit_has_its_member),
        cmocka_unit_test(random_headers_agree),
        cmocka_unit_test(every_length_is_safe),
        cmocka_unit_test(values_too_wide_stay_in_their_field),
        cmocka_unit_test(headers_print_by_name),
    };

    return cmocka_run_group_tests_name("wire/field", tests, NULL, NULL);
}
