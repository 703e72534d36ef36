/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The laws by script: HPCC against its published algorithm in double precision, TIMELY, Swift and
 * DCTCP against steps that can be worked out by hand, and what all of them keep to whatever comes.
 */
#include <math.h>
#include <string.h>

#include "base/prng.h"
#include "law.h"

#define G 1000000000ull

/* HPCC's algorithm 1, in seconds and bytes, written from the paper. */
struct hpcc_oracle {
    double t, b_nic, eta, wai, w, wc, u;
    int max_stage, stage, n, begun;
    double last_update;
    struct wf_cc_hop l[WF_CC_HOPS_MAX];
};

static void hpcc_oracle_ack(struct hpcc_oracle *o, const struct wf_cc_ack *a)
{
    double u = 0, tau = 0;
    int update = (double)a->una_bytes > o->last_update;

    if (o->begun) {
        for (uint32_t i = 0; i < a->n_hops; i++) {
            double bps = a->hops[i].rate_bps / 8.0;
            double dt = (double)(uint32_t)(a->hops[i].ts_ns - o->l[i].ts_ns) / 1e9;
            double tx = (double)(uint32_t)(a->hops[i].tx_bytes - o->l[i].tx_bytes) / dt;
            double q = fmin(a->hops[i].qlen_bytes, o->l[i].qlen_bytes);
            double x = q / (bps * o->t) + tx / bps;

            if (x > u) {
                u = x;
                tau = dt;
            }
        }
        tau = fmin(tau, o->t);
        o->u = (1 - tau / o->t) * o->u + tau / o->t * u;
        if (o->u >= o->eta || o->stage >= o->max_stage) {
            o->w = o->wc / (o->u / o->eta) + o->wai;
            if (update)
                o->stage = 0;
        } else {
            o->w = o->wc + o->wai;
            o->stage += update;
        }
        o->w = fmin(o->w, o->b_nic * o->t);
        if (update)
            o->wc = o->w;
    }
    if (update || !o->begun)
        o->last_update = (double)a->sent_bytes;
    o->begun = 1;
    memcpy(o->l, a->hops, a->n_hops * sizeof(*a->hops));
}

static void hpcc_is_the_paper_s(void **state)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct hpcc_oracle o = {.t = 13e-6,
                                .b_nic = 12.5e9,
                                .eta = .95,
                                .wai = 80,
                                .w = 12.5e9 * 13e-6,
                                .wc = 12.5e9 * 13e-6,
                                .max_stage = 5};
        struct wf_cc_hop hops[3] = {
            {.rate_bps = 100 * G}, {.rate_bps = 400 * G}, {.rate_bps = 100 * G}};
        struct wf_cc_ack a = {.hops = hops, .n_hops = 3, .acked_bytes = 1000};
        struct wf_prng p;
        struct law_run r;

        wf_prng_init(&p, seed, "hpcc");
        hops[1].ts_ns = UINT32_MAX - 5000; /* wraps soon */
        hops[2].tx_bytes = UINT32_MAX - 5000;
        law_begin(&r, "hpcc", NULL, NULL, 100 * G, 13 * US);
        for (int i = 0; i < 3000; i++) {
            uint32_t load = i / 500 % 2 ? 30 : 120; /* percent of the line, in turns */

            for (int h = 0; h < 3; h++) {
                uint32_t dt = 40 + (uint32_t)wf_prng_below(&p, 200);

                hops[h].ts_ns += dt;
                /* no two alike, or rounding says which is the fullest */
                hops[h].tx_bytes += dt * 125 / 10 * ((load > 100 ? 100 : load) - (uint32_t)h) / 100;
                hops[h].qlen_bytes = load > 100 ? (uint32_t)wf_prng_below(&p, 200000) : 0;
            }
            a.una_bytes += 1000;
            a.sent_bytes = a.una_bytes + (uint64_t)o.w;
            r.law->on_ack(&r.c, &a);
            hpcc_oracle_ack(&o, &a);
            assert_true(fabs((double)law_column(&r, "hpcc_window_bytes") - o.w) <= 1 + 1e-9 * o.w);
            if (r.c.out.rate_bps)
                assert_true(fabs((double)r.c.out.rate_bps - fmax(1e8, o.w * 8 / o.t)) <
                            1 + 1e-9 * 1e11);
        }
        law_end(&r);
    }
}

static void timely_by_hand(void **state)
{
    struct wf_cc_ack a = {.acked_bytes = 16384};
    struct law_run r;

    law_begin(&r, "timely", NULL, NULL, 10 * G, 10 * US);
    a.rtt_ps = 1000 * US; /* twice t_high: 1 - 0.8 x (1 - 1/2) */
    r.law->on_ack(&r.c, &a);
    assert_int_equal(r.c.out.rate_bps, 6 * G);
    a.rtt_ps = 40 * US; /* below t_low: a step up */
    r.law->on_ack(&r.c, &a);
    assert_int_equal(r.c.out.rate_bps, 6 * G + 10000000);
    /* differences: -960 us x .875 = -840; then +20 x .875 - 840 x .125 = -87.5: falls, a step up */
    a.rtt_ps = 60 * US;
    r.law->on_ack(&r.c, &a);
    assert_int_equal(r.c.out.rate_bps, 6 * G + 20000000);
    /* 12 x .875 - 87.5 x .125 = -.4375, then 8 x .875 - .0547 = 6.945: rate x (1 - .8 x 6.945/20)
     */
    a.rtt_ps = 72 * US;
    r.law->on_ack(&r.c, &a);
    a.rtt_ps = 80 * US;
    r.law->on_ack(&r.c, &a);
    assert_true(fabs((double)r.c.out.rate_bps - 6.03e9 * (1 - .8 * 6.9453125 / 20)) < 1000);
    law_end(&r);
}

static void dctcp_by_hand(void **state)
{
    static const char *const set[][2] = {{"g", "1/2"}, {"window", "80000B"}, {NULL, NULL}};
    struct wf_cc_ack a = {.acked_bytes = 40000, .una_bytes = 40000, .sent_bytes = 120000};
    struct law_run r;

    law_begin(&r, "dctcp", NULL, set, 100 * G, 10 * US);
    r.c.env.window_bytes = 1 << 30;
    r.law->on_start(&r.c);
    assert_int_equal(r.c.out.window_bytes, 80000);
    r.law->on_ack(&r.c, &a); /* no mark: alpha 1 -> 1/2, one packet more */
    assert_int_equal(r.c.out.window_bytes, 84096);
    a.una_bytes = 80000;
    a.ecn = true;
    r.law->on_ack(&r.c, &a); /* within the window: nothing yet */
    assert_int_equal(r.c.out.window_bytes, 84096);
    a.una_bytes = 120000;
    a.ecn = false;
    r.law->on_ack(&r.c, &a); /* half of it marked: alpha 1/2 -> 1/4 + 1/4, window - a quarter */
    assert_int_equal(r.c.out.window_bytes, 63072);
    assert_int_equal(law_column(&r, "alpha_ppm"), 500000);
    r.law->on_timeout(&r.c);
    assert_int_equal(r.c.out.window_bytes, 31536);
    law_end(&r);
}

static void swift_by_hand(void **state)
{
    struct wf_cc_ack a = {.acked_bytes = 4096, .hop_count = 4};
    struct law_run r;
    double w;

    law_begin(&r, "swift", NULL, NULL, 100 * G, 10 * US);
    w = 100e9 * 10e-6 / 8 / 4096 + 1;
    assert_true(fabs((double)law_column(&r, "swift_window_bytes") - w * 4096) < 2);
    a.rtt_ps = 10 * US; /* below the target: 1 / w more for a packet */
    law_until(&r, 100 * US);
    r.law->on_ack(&r.c, &a);
    assert_true(fabs((double)law_column(&r, "swift_window_bytes") - (w + 1 / w) * 4096) < 2);
    w += 1 / w;
    a.rtt_ps = 500 * US; /* far above it: by max_mdf, and once a round trip */
    r.law->on_ack(&r.c, &a);
    r.law->on_ack(&r.c, &a);
    assert_true(fabs((double)law_column(&r, "swift_window_bytes") - w / 2 * 4096) < 2);
    assert_in_range(law_column(&r, "swift_target_ps"), 29 * US, 79 * US);
    for (uint64_t i = 1; i < 30; i++) { /* below a packet it paces */
        law_until(&r, i * 1000 * US);
        r.law->on_ack(&r.c, &a);
    }
    assert_true(r.c.out.rate_bps > 0);
    law_end(&r);
}

/* Whatever comes: no rate above the line's, and no crash by zeros. */
static void anything_goes(void **state)
{
    for (const struct wf_cc_law *const *l = wf_cc_laws; *l; l++) {
        struct wf_cc_hop hops[WF_CC_HOPS_MAX];
        struct wf_prng p;
        struct law_run r;

        wf_prng_init(&p, 1, (*l)->name);
        law_begin(&r, (*l)->name, NULL, NULL, 25 * G, 5 * US);
        r.c.env.window_bytes = 1 << 20;
        for (int i = 0; i < 20000; i++) {
            struct wf_cc_ack a = {.acked_bytes = wf_prng_below(&p, 3) * 1024 + 1,
                                  .una_bytes = (uint64_t)i * 1000,
                                  .sent_bytes = (uint64_t)i * 1000 + wf_prng_below(&p, 100000),
                                  .rtt_ps =
                                      wf_prng_below(&p, 4) ? wf_prng_below(&p, 1ull << 34) : 0,
                                  .ecn = wf_prng_below(&p, 2),
                                  .n_hops = (uint32_t)wf_prng_below(&p, WF_CC_HOPS_MAX + 1),
                                  .hops = hops};

            for (int h = 0; h < WF_CC_HOPS_MAX; h++)
                hops[h] =
                    (struct wf_cc_hop){wf_prng_below(&p, 3) * 10 * G, (uint32_t)wf_prng_u64(&p),
                                       (uint32_t)wf_prng_u64(&p), (uint32_t)wf_prng_u64(&p)};
            law_until(&r, r.c.now_ps + wf_prng_below(&p, 20 * US));
            if ((*l)->on_ack && wf_prng_below(&p, 2))
                (*l)->on_ack(&r.c, &a);
            else if ((*l)->on_cnp && wf_prng_below(&p, 2))
                (*l)->on_cnp(&r.c);
            else if ((*l)->on_nak && wf_prng_below(&p, 8) == 0)
                (*l)->on_nak(&r.c);
            else if ((*l)->on_timeout && wf_prng_below(&p, 8) == 0)
                (*l)->on_timeout(&r.c);
            else if ((*l)->on_send)
                (*l)->on_send(&r.c, 1024, false);
            assert_true(r.c.out.rate_bps <= 25 * G);
            assert_true(r.c.out.timer_ps > r.c.now_ps);
        }
        law_end(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hpcc_is_the_paper_s), cmocka_unit_test(timely_by_hand),
        cmocka_unit_test(dctcp_by_hand),       cmocka_unit_test(swift_by_hand),
        cmocka_unit_test(anything_goes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
