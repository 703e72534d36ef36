/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames filled into a form against frames that are built, parsed and hashed: equal to the bit, for
 * every opcode, over random flows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "host/form.h"
#include "wire/edit.h"

struct buffer {
    struct wf_pkt pkt;
    uint8_t room[WF_HDR_ROOM];
};

static void scramble(struct wf_prng *rng, void *to, size_t len)
{
    for (size_t i = 0; i < len; i++)
        ((uint8_t *)to)[i] = (uint8_t)wf_prng_u64(rng);
}

static void random_ext(struct wf_prng *rng, struct wf_ext_hdrs *x)
{
    memset(x, 0, sizeof(*x));
    x->reth =
        (struct wf_reth){wf_prng_u64(rng), (uint32_t)wf_prng_u64(rng), (uint32_t)wf_prng_u64(rng)};
    x->aeth = (struct wf_aeth){(uint8_t)wf_prng_u64(rng), wf_prng_u64(rng) & 0xffffff};
    x->immdt.data = (uint32_t)wf_prng_u64(rng);
    x->deth.qkey = (uint32_t)wf_prng_u64(rng);
    x->atomiceth.va = wf_prng_u64(rng);
    x->ieth.rkey = (uint32_t)wf_prng_u64(rng);
}

/* What a queue pair's frames share. */
static void random_frame(struct wf_prng *rng, struct wf_roce *f, uint8_t opcode)
{
    memset(f, 0, sizeof(*f));
    scramble(rng, f->dst_mac, 6);
    scramble(rng, f->src_mac, 6);
    scramble(rng, f->src_ip, 16);
    scramble(rng, f->dst_ip, 16);
    f->encap = wf_prng_u64(rng) & 1 ? WF_ROCE_V2_IP4 : WF_ROCE_V2_IP6;
    f->dscp = wf_prng_u64(rng) & 63;
    f->ecn = wf_prng_u64(rng) & 3;
    f->ttl = (uint8_t)(1 + wf_prng_below(rng, 255));
    f->sport = (uint16_t)wf_prng_u64(rng);
    f->flow_label = wf_prng_u64(rng) & 0xfffff;
    f->payload_len = (uint32_t)wf_prng_below(rng, 4097);
    f->bth = (struct wf_bth){.opcode = opcode,
                             .m = true,
                             .pkey = (uint16_t)wf_prng_u64(rng),
                             .dqpn = wf_prng_u64(rng) & 0xffffff};
}

/* What differs from frame to frame. */
static void next_frame(struct wf_prng *rng, struct wf_roce *f)
{
    f->ip_id = (uint16_t)wf_prng_u64(rng);
    f->bth.psn = wf_prng_u64(rng) & 0xffffff;
    f->bth.ackreq = wf_prng_u64(rng) & 1;
    random_ext(rng, &f->ext);
}

static struct wf_pkt *fresh(struct buffer *b)
{
    memset(b, 0x5a, sizeof(*b));
    memset(&b->pkt, 0, offsetof(struct wf_pkt, p));
    b->pkt.data = b->room;
    return &b->pkt;
}

static void compare(const struct wf_form *form, const struct wf_roce *f)
{
    static struct buffer a, b;
    struct wf_pkt *filled = fresh(&a), *built = fresh(&b);
    uint32_t len = wf_roce_hdr_build(b.room, sizeof(b.room), f);

    wf_form_fill(form, f, filled);
    built->caplen = (uint16_t)len;
    built->frame_len = wf_roce_frame_len(len, f->payload_len) + WF_FCS_LEN;
    assert_int_equal(wf_pkt_parse(built), WF_DROP_NONE);
    assert_int_equal(filled->caplen, len);
    assert_memory_equal(a.room, b.room, len);
    assert_int_equal(filled->frame_len, built->frame_len);
    assert_memory_equal(&filled->p, &built->p, sizeof(built->p));
    assert_int_equal(filled->hash, built->hash);
    assert_int_equal(filled->flow_hash, built->flow_hash);
    assert_int_equal(filled->payload, WF_PAYLOAD_NONE);
    if (filled->p.flags & WF_P_IP4)
        assert_true(wf_ip4_checksum_ok(a.room, len, &filled->p));
}

static void filled_is_built(void **state)
{
    struct wf_prng rng;
    unsigned opcodes = 0;

    (void)state;
    wf_prng_init(&rng, 1, "form");
    for (unsigned op = 0; op < 256; op++) {
        if (!wf_opcodes[op].name)
            continue;
        opcodes++;
        for (int flow = 0; flow < 40; flow++) {
            struct wf_form form = {0};
            struct wf_roce f;

            random_frame(&rng, &f, (uint8_t)op);
            next_frame(&rng, &f);
            assert_false(wf_form_fits(&form, &f));
            wf_form_make(&form, &f);
            for (int n = 0; n < 20; n++) {
                next_frame(&rng, &f);
                assert_true(wf_form_fits(&form, &f));
                compare(&form, &f);
            }
        }
    }
    assert_true(opcodes > 40);
}

/* Each IP identification once: the checksum by the difference has no odd one out. */
static void every_identification(void **state)
{
    struct wf_form form = {0};
    struct wf_prng rng;
    struct wf_roce f;

    (void)state;
    wf_prng_init(&rng, 2, "form");
    random_frame(&rng, &f, WF_SERVICE_RC | WF_OP_WRITE_MIDDLE);
    f.encap = WF_ROCE_V2_IP4;
    wf_form_make(&form, &f);
    for (uint32_t id = 0; id < 65536; id++) {
        f.ip_id = (uint16_t)id;
        compare(&form, &f);
    }
}

static void other_shapes_do_not_fit(void **state)
{
    struct wf_form form = {0};
    struct wf_roce f = {.ttl = 64, .payload_len = 1024}, g;

    (void)state;
    f.bth.opcode = WF_SERVICE_RC | WF_OP_WRITE_MIDDLE;
    wf_form_make(&form, &f);
    g = f;
    g.bth.opcode = WF_SERVICE_RC | WF_OP_WRITE_LAST;
    assert_false(wf_form_fits(&form, &g));
    g = f;
    g.payload_len = 1023;
    assert_false(wf_form_fits(&form, &g));
    g = f;
    g.ecn = WF_ECN_ECT0;
    assert_false(wf_form_fits(&form, &g));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filled_is_built),
        cmocka_unit_test(every_identification),
        cmocka_unit_test(other_shapes_do_not_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
