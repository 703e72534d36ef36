/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of the shared buffer against closed forms: cells, reserved and shared and headroom in this
 * order and back, dynamic thresholds, XON, pools of either side, a link that becomes slower.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "burst.h"
#include "eth/pfc.h"
#include "switch/watermark.h"
#include "wire/edit.h"

#define US WF_PS_PER_US
enum { FRAME = 1086, PAYLOAD = 1024 };

static struct wf_desc *desc;
static struct wf_switch_cfg *cfg; /* of the only switch */

/* One switch with n hosts; group 3 has what a test gives it. */
static struct wf_pg_cfg *make(uint32_t hosts)
{
    desc = wft_leaf_spine(1, 0, hosts);
    cfg = &desc->switches[0].cfg;
    cfg->port.pg[3].limit_bytes = cfg->port.queue[3].limit_bytes = 1u << 30;
    return &cfg->port.pg[3];
}

static struct wf_switch *the_switch(struct wf_fabric *f)
{
    return (struct wf_switch *)wf_fabric_switch(f, 0);
}

static uint64_t *group(struct wf_fabric *f, uint32_t port)
{
    return the_switch(f)->pg[port][3].ctr;
}

/* The sink stops queue 3 of its port for 335 us, and sources don't obey pauses. */
static struct wf_fabric *stopped(uint32_t sources)
{
    struct wf_fabric *f = wft_build(desc);

    for (uint32_t i = 0; i < sources; i++)
        wf_pfc_of(&wft_probe(f, i)->node.ports[0])->cfg.enable = false;
    for (uint32_t i = sources; i < desc->n_hosts; i++)
        wft_pfc(f, i, 1 << 3, 65535);
    wft_run(f, 2 * US);
    return f;
}

static void burst(struct wf_fabric *f, uint32_t from, uint32_t to, uint32_t n)
{
    wft_burst(f, from, to, 26, WF_ECN_ECT0, PAYLOAD, n);
}

static void finish(struct wf_fabric *f)
{
    struct wf_switch *sw = the_switch(f);

    wft_check(f);
    wft_run(f, WF_TIME_NEVER);
    wft_check(f);
    assert_int_equal(sw->used_bytes, 0);
    for (unsigned i = 0; i < WF_POOLS; i++) {
        assert_int_equal(sw->ipool[i].ctr[WF_POOL_BYTES], 0);
        assert_int_equal(sw->ipool[i].ctr[WF_POOL_HEADROOM_BYTES], 0);
        assert_int_equal(sw->epool[i].ctr[WF_POOL_BYTES], 0);
    }
    wf_fabric_free(f);
}

static void frames_take_whole_cells(void **state)
{
    static const struct {
        uint64_t cell, takes;
    } rows[] = {{1, 1086}, {208, 1248}, {254, 1270}, {256, 1280}, {1086, 1086}, {1085, 2170}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wf_fabric *f;

        make(2);
        cfg->cell_bytes = rows[i].cell;
        f = stopped(1);
        burst(f, 0, 1, 10);
        wft_run(f, 20 * US);
        assert_int_equal(group(f, 0)[WF_PG_BYTES], 10 * rows[i].takes);
        assert_int_equal(the_switch(f)->used_bytes, 10 * rows[i].takes);
        assert_int_equal(the_switch(f)->ipool[0].ctr[WF_POOL_BYTES], 10 * rows[i].takes);
        if (rows[i].cell > 1)
            assert_int_equal(the_switch(f)->egress[1][3].ctr[WF_EGRESS_SHARED_BYTES],
                             10 * rows[i].takes);
        finish(f);
    }
}

/* n groups that are all full: each has alpha B / (1 + n alpha), give or take a frame. */
static void alpha_shares_the_pool(void **state)
{
    static const struct wf_fraction alphas[] = {{1, 8}, {1, 2}, {1, 1}, {8, 1}, {4, 8}};
    const uint64_t size = 500000;

    (void)state;
    for (size_t a = 0; a < sizeof(alphas) / sizeof(alphas[0]); a++)
        for (uint32_t n = 1; n <= 4; n++) {
            uint64_t num = alphas[a].num, den = alphas[a].den;
            uint64_t each = num * size / (den + n * num);
            struct wf_fabric *f;

            make(n + 1);
            cfg->ingress_pool[0].size_bytes = size;
            cfg->ingress_pool[0].mode = WF_POOL_DYNAMIC;
            cfg->port.pg[3].alpha = alphas[a];
            f = stopped(n);
            for (uint32_t i = 0; i < n; i++)
                burst(f, i, n, 500);
            wft_run(f, 100 * US);
            for (uint32_t i = 0; i < n; i++) {
                assert_in_range(group(f, i)[WF_PG_BYTES], each - FRAME, each + FRAME);
                assert_true(the_switch(f)->node.ports[i].drops[WF_DROP_INGRESS_FULL] > 0);
            }
            finish(f);
        }
}

/* What a pool has to share is its size less what is reserved in it at all ports. */
static void pools_leave_what_is_reserved(void **state)
{
    struct wf_pg_cfg *pg = make(3);
    struct wf_fabric *f;

    (void)state;
    cfg->ingress_pool[0].size_bytes = 100000;
    pg->reserved_bytes = 4000;
    cfg->port.pg[5].reserved_bytes = 1000;
    f = stopped(2);
    assert_int_equal(the_switch(f)->ipool[0].shared, 100000 - 3 * 5000);
    burst(f, 0, 2, 200);
    wft_run(f, 40 * US);
    /* 4,000 of its own and 85,000 shared hold 81 frames of 1,086 */
    assert_int_equal(group(f, 0)[WF_PG_BYTES], 81 * FRAME);
    assert_int_equal(group(f, 0)[WF_PG_SHARED_BYTES], 81 * FRAME - 4000);
    assert_int_equal(the_switch(f)->node.ports[0].drops[WF_DROP_POOL_FULL], 119);
    burst(f, 1, 2, 20); /* the other port still has what is reserved for it */
    wft_run(f, 80 * US);
    assert_int_equal(group(f, 1)[WF_PG_BYTES], 4 * FRAME);
    finish(f);
}

/* Bytes go to reserved, shared and headroom in this order, and come back in the reverse; XON is
 * sent at the release that comes to the level, and not before. */
static void bookings_are_undone_in_reverse(void **state)
{
    enum { RESERVED = 5000, XOFF = 10000, OFFSET = 3000 };
    struct wf_pg_cfg *pg = make(2);
    uint64_t *c, before;
    struct wf_fabric *f;
    struct wf_pg *g;

    (void)state;
    pg->lossless = true;
    pg->reserved_bytes = RESERVED;
    pg->xoff_bytes = XOFF;
    pg->xon_offset_bytes = OFFSET;
    f = stopped(1);
    g = &the_switch(f)->pg[0][3];
    c = g->ctr;
    burst(f, 0, 1, 13);
    wft_run(f, 20 * US);
    assert_false(g->xoff); /* 14,118 of 15,000 */
    burst(f, 0, 1, 7);
    wft_run(f, 40 * US);
    assert_true(g->xoff);
    assert_int_equal(c[WF_PG_SHARED_BYTES], XOFF);
    assert_int_equal(c[WF_PG_HEADROOM_BYTES], 20 * FRAME - RESERVED - XOFF);
    wft_pfc(f, 1, 1 << 3, 0);
    for (before = c[WF_PG_BYTES]; c[WF_PG_BYTES]; before = c[WF_PG_BYTES]) {
        bool was = g->xoff;

        wft_run(f, wft_next_ps(f) + 1);
        if (c[WF_PG_HEADROOM_BYTES])
            assert_int_equal(c[WF_PG_SHARED_BYTES], XOFF);
        if (c[WF_PG_BYTES] >= RESERVED)
            assert_int_equal(c[WF_PG_SHARED_BYTES] + c[WF_PG_HEADROOM_BYTES],
                             c[WF_PG_BYTES] - RESERVED);
        if (was && !g->xoff) {
            assert_true(before > RESERVED + XOFF - OFFSET);
            assert_true(c[WF_PG_BYTES] <= RESERVED + XOFF - OFFSET);
        }
    }
    assert_false(g->xoff);
    finish(f);
}

/* XON at the higher of xon and the point of XOFF less the offset. */
static void xon_is_the_higher_level(void **state)
{
    static const struct {
        uint64_t xon, offset, level;
    } rows[] = {{4000, WF_KEY_AUTO, 4000}, {4000, 15000, 5000}, {8000, 15000, 8000}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wf_pg_cfg *pg = make(2);
        struct wf_fabric *f;
        struct wf_pg *g;
        uint64_t before = 0;

        pg->lossless = true;
        pg->xoff_bytes = 20000;
        pg->xon_bytes = rows[i].xon;
        pg->xon_offset_bytes = rows[i].offset;
        f = stopped(1);
        g = &the_switch(f)->pg[0][3];
        burst(f, 0, 1, 25);
        wft_run(f, 40 * US);
        assert_true(g->xoff);
        wft_pfc(f, 1, 1 << 3, 0);
        while (g->xoff) {
            before = g->ctr[WF_PG_BYTES];
            wft_run(f, wft_next_ps(f) + 1);
        }
        assert_true(g->ctr[WF_PG_BYTES] <= rows[i].level && before > rows[i].level);
        finish(f);
    }
}

/* Headroom that two groups share: each alone would have enough, both together have not. */
static void a_headroom_pool_runs_out(void **state)
{
    struct wf_pg_cfg *pg = make(3);
    struct wf_switch *sw;
    struct wf_fabric *f;
    uint64_t head[2];

    (void)state;
    pg->lossless = true;
    pg->xoff_bytes = 10 * FRAME;
    pg->headroom_bytes = 25 * FRAME;
    cfg->ingress_pool[0].headroom_bytes = 30 * FRAME;
    f = stopped(2);
    sw = the_switch(f);
    burst(f, 0, 2, 50);
    burst(f, 1, 2, 50);
    wft_run(f, 40 * US);
    head[0] = group(f, 0)[WF_PG_HEADROOM_BYTES];
    head[1] = group(f, 1)[WF_PG_HEADROOM_BYTES];
    assert_int_equal(head[0] + head[1], 30 * FRAME);
    assert_int_equal(sw->ipool[0].ctr[WF_POOL_HEADROOM_BYTES], 30 * FRAME);
    for (unsigned i = 0; i < 2; i++) {
        assert_true(sw->node.ports[i].drops[WF_DROP_HEADROOM_POOL] > 0);
        assert_int_equal(sw->node.ports[i].drops[WF_DROP_NO_HEADROOM], 0);
        assert_int_equal(sw->node.ports[i].prio_ctr[3][WF_PRIO_XOFF_TX], 1);
    }
    assert_int_equal(wf_fabric_ctr(f, WF_FABRIC_LOSSLESS_DROPS), 40 + 10);
    finish(f);
}

/* Egress queues share their pool likewise; lossless frames are counted there and never refused. */
static void egress_pools_bound_lossy_queues(void **state)
{
    const uint64_t size = 300000, each = 300000 / (2 + 2);

    (void)state;
    for (int lossless = 0; lossless < 2; lossless++) {
        struct wf_pg_cfg *pg = make(4);
        struct wf_fabric *f;
        struct wf_switch *sw;

        pg->lossless = lossless;
        pg->xoff_bytes = 1u << 20;
        cfg->egress_pool[0].size_bytes = size;
        cfg->egress_pool[0].mode = WF_POOL_DYNAMIC;
        cfg->port.queue[3].alpha = (struct wf_fraction){1, 2};
        f = stopped(2);
        sw = the_switch(f);
        burst(f, 0, 2, 300);
        burst(f, 1, 3, 300);
        wft_run(f, 60 * US);
        for (unsigned i = 0; i < 2; i++) {
            uint64_t shared = sw->egress[2 + i][3].ctr[WF_EGRESS_SHARED_BYTES];

            if (lossless)
                assert_int_equal(shared, 300 * FRAME);
            else
                assert_in_range(shared, each - FRAME, each + FRAME);
            assert_int_equal(sw->node.ports[i].drops[WF_DROP_EGRESS_FULL] > 0, !lossless);
            assert_int_equal(sw->node.ports[2 + i].q[3].ctr[WF_QUEUE_DROP_FRAMES] > 0, !lossless);
        }
        finish(f);
    }
}

/* A queue's own bytes, then the static limit of its share, then the pool. */
static void egress_reserves_and_limits(void **state)
{
    struct wf_fabric *f;
    struct wf_switch *sw;

    (void)state;
    make(3);
    cfg->egress_pool[0].size_bytes = 60000;
    cfg->port.queue[3].reserved_bytes = 2 * FRAME;
    cfg->port.queue[3].limit_bytes = 20 * FRAME;
    f = stopped(1);
    sw = the_switch(f);
    burst(f, 0, 1, 50);
    wft_run(f, 20 * US);
    assert_int_equal(sw->node.ports[1].q[3].ctr[WF_QUEUE_BYTES], 22 * FRAME);
    assert_int_equal(sw->node.ports[0].drops[WF_DROP_EGRESS_FULL], 28);
    assert_int_equal(sw->epool[0].shared, 60000 - 3 * 2 * FRAME);
    burst(f, 0, 2, 50); /* 53,484 shared, 21,720 are taken: 29 frames, but its limit is 20 */
    wft_run(f, 60 * US);
    assert_int_equal(sw->node.ports[2].q[3].ctr[WF_QUEUE_BYTES], 22 * FRAME);
    assert_int_equal(sw->node.ports[0].drops[WF_DROP_EGRESS_POOL], 0);
    cfg->port.queue[3].limit_bytes = 40 * FRAME;
    finish(f);
    f = stopped(1);
    sw = the_switch(f);
    burst(f, 0, 1, 50);
    burst(f, 0, 2, 50);
    wft_run(f, 60 * US);
    assert_int_equal(sw->node.ports[1].q[3].ctr[WF_QUEUE_BYTES], 42 * FRAME);
    assert_int_equal(sw->node.ports[2].q[3].ctr[WF_QUEUE_BYTES], (2 + 9) * FRAME);
    assert_int_equal(sw->node.ports[0].drops[WF_DROP_EGRESS_FULL], 8);
    assert_int_equal(sw->node.ports[0].drops[WF_DROP_EGRESS_POOL], 39);
    finish(f);
}

/* Without headroom XOFF goes out all the same, and what comes before it acts is lost; with the
 * computed headroom nothing is. */
static void fc_E10(void **state)
{
    (void)state;
    for (int none = 0; none < 2; none++) {
        struct wf_pg_cfg *pg = make(3);
        struct wf_fabric *f;
        uint64_t lost;

        pg->lossless = true;
        pg->xoff_bytes = 20000;
        pg->headroom_bytes = none ? 0 : WF_KEY_AUTO;
        f = wft_build(desc);
        burst(f, 0, 2, 1000);
        burst(f, 1, 2, 1000);
        wft_run(f, WF_TIME_NEVER);
        lost = wf_fabric_ctr(f, WF_FABRIC_LOSSLESS_DROPS);
        assert_int_equal(lost > 0, none);
        assert_int_equal(wft_probe(f, 2)->n_seen + lost, 2000);
        for (unsigned i = 0; i < 2; i++) {
            struct wf_port *port = &the_switch(f)->node.ports[i];

            assert_true(port->prio_ctr[3][WF_PRIO_XOFF_TX] > 0);
            assert_int_equal(port->prio_ctr[3][WF_PRIO_XOFF_TX], port->prio_ctr[3][WF_PRIO_XON_TX]);
            assert_int_equal(port->drops[WF_DROP_NO_HEADROOM] > 0, none);
        }
        finish(f);
    }
}

/* 20 us of 100 Gb/s are on the wire when the link falls to 1 Gb/s: there is still room for them.
 * When all of that is gone, the headroom is what the slower link needs. */
static void headroom_stays_until_the_wire_is_empty(void **state)
{
    struct wf_pg_cfg *pg = make(2);
    struct wf_pg_limits slow;
    struct wf_fabric *f;
    struct wf_pg *g;

    (void)state;
    pg->lossless = true;
    pg->xoff_bytes = 20000;
    desc->links[0].cfg.delay_ps = 20 * US;
    f = wft_build(desc);
    g = &the_switch(f)->pg[0][3];
    wft_pfc(f, 1, 1 << 3, 65535);
    burst(f, 0, 1, 1000);
    while (!g->xoff)
        wft_run(f, wft_next_ps(f) + 1);
    wf_fabric_link_rate(f, the_switch(f)->node.ports[0].link, 1000000000);
    wf_pg_resolve(cfg, pg, &the_switch(f)->node.ports[0].link->cfg, 0, &slow);
    assert_true(slow.headroom < 60000);
    wft_run(f, 100 * US);
    assert_true(g->ctr[WF_PG_HEADROOM_MAX_BYTES] > 200000);
    assert_true(g->lim.headroom > 500000);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(wf_fabric_ctr(f, WF_FABRIC_LOSSLESS_DROPS), 0);
    assert_int_equal(wft_probe(f, 1)->n_seen, 1000);
    assert_int_equal(g->lim.headroom, slow.headroom);
    assert_int_equal(the_switch(f)->ipool[0].shared,
                     32000000 - 2 * slow.headroom -
                         (the_switch(f)->pg[1][3].lim.headroom - slow.headroom));
    finish(f);
}

static uint64_t mark(struct wf_fabric *f, enum wf_watermark kind, unsigned at, unsigned i,
                     bool persistent)
{
    return wf_switch_watermark(the_switch(f), kind, at, i, persistent);
}

/* Two watermarks of each level, which are cleared apart from each other. */
static void watermarks_are_cleared_apart(void **state)
{
    const enum wf_watermark shared = WF_WATERMARK_PG_SHARED, queue = WF_WATERMARK_QUEUE;
    struct wf_arena arena = {0};
    struct wf_fabric *f;

    (void)state;
    make(2);
    f = stopped(1);
    burst(f, 0, 1, 30);
    wft_run(f, 20 * US);
    assert_int_equal(mark(f, shared, 0, 3, false), 30 * FRAME);
    assert_int_equal(mark(f, shared, 0, 3, true), 30 * FRAME);
    assert_int_equal(mark(f, WF_WATERMARK_POOL, 0, 0, false), 30 * FRAME);
    wft_pfc(f, 1, 1 << 3, 0);
    wft_run(f, 60 * US);
    assert_int_equal(group(f, 0)[WF_PG_BYTES], 0);
    wf_switch_watermarks_clear(the_switch(f), &arena, 1 << shared, false);
    assert_int_equal(mark(f, shared, 0, 3, false), 0);
    assert_int_equal(mark(f, queue, 1, 3, false), 30 * FRAME); /* another kind */
    wft_pfc(f, 1, 1 << 3, 65535);
    wft_run(f, 62 * US);
    burst(f, 0, 1, 20);
    wft_run(f, 80 * US);
    assert_int_equal(mark(f, shared, 0, 3, false), 20 * FRAME);
    assert_int_equal(mark(f, shared, 0, 3, true), 30 * FRAME);
    wf_switch_watermarks_clear(the_switch(f), &arena, WF_WATERMARK_ALL, true);
    assert_int_equal(mark(f, shared, 0, 3, true), 20 * FRAME); /* from what is held now */
    burst(f, 0, 1, 5);
    wft_run(f, 90 * US);
    wf_switch_watermarks_clear(the_switch(f), &arena, WF_WATERMARK_ALL, false);
    burst(f, 0, 1, 5);
    wft_run(f, 100 * US);
    assert_int_equal(mark(f, shared, 0, 3, false), 30 * FRAME);
    assert_int_equal(mark(f, queue, 1, 3, false), 30 * FRAME);
    assert_int_equal(mark(f, queue, 1, 3, true), 30 * FRAME);
    assert_int_equal(mark(f, WF_WATERMARK_PG_HEADROOM, 0, 3, false), 0);
    finish(f);
    wf_arena_free(&arena);
}

/* Below its threshold a group takes frames by their bytes alone: what it counts, its watermarks and
 * the point of XOFF are the same each time, and clearing begins anew. */
static void a_calm_group_counts_all_that_it_holds(void **state)
{
    static const unsigned frames[] = {10, 6, 15, 12, 19, 3, 22, 20, 21, 5, 18};
    const uint64_t threshold = 20 * FRAME;
    struct wf_pg_cfg *pg = make(2);
    struct wf_arena arena = {0};
    uint64_t most = 0, shared, t = 20 * US;
    struct wf_fabric *f;
    uint64_t *c;

    (void)state;
    pg->lossless = true;
    pg->xoff_bytes = threshold;
    pg->headroom_bytes = 60 * FRAME;
    f = stopped(1);
    c = group(f, 0);
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
        uint64_t held = (uint64_t)frames[i] * FRAME;

        if (i == 9) {
            wf_switch_watermarks_clear(the_switch(f), &arena, WF_WATERMARK_ALL, true);
            wf_switch_watermarks_clear(the_switch(f), &arena, WF_WATERMARK_ALL, false);
            most = 0;
        }
        wft_pfc(f, 1, 1 << 3, 65535);
        wft_run(f, t += 5 * US);
        burst(f, 0, 1, frames[i]);
        wft_run(f, t += 20 * US);
        most = held > most ? held : most;
        shared = most < threshold ? most : threshold;
        assert_int_equal(c[WF_PG_BYTES], held);
        assert_int_equal(c[WF_PG_SHARED_BYTES], held < threshold ? held : threshold);
        assert_int_equal(the_switch(f)->pg[0][3].xoff, held > threshold);
        assert_int_equal(mark(f, WF_WATERMARK_PG_SHARED, 0, 3, true), shared);
        assert_int_equal(mark(f, WF_WATERMARK_PG_SHARED, 0, 3, false), shared);
        assert_int_equal(mark(f, WF_WATERMARK_POOL, 0, 0, true), shared);
        assert_int_equal(mark(f, WF_WATERMARK_POOL, 0, 0, false), shared);
        if (i < 9) /* no watermark of SONiC's: none clears it */
            assert_int_equal(c[WF_PG_MAX_BYTES], most);
        wft_pfc(f, 1, 1 << 3, 0);
        wft_run(f, t += 40 * US);
        assert_int_equal(c[WF_PG_BYTES], 0);
        assert_int_equal(c[WF_PG_SHARED_BYTES], 0);
        assert_int_equal(c[WF_PG_HEADROOM_BYTES], 0);
    }
    finish(f);
    wf_arena_free(&arena);
}

static void alphas_are_powers_of_two(void **state)
{
    static const struct {
        struct wf_fraction alpha;
        int shift; /* 99: none */
    } rows[] = {{{1, 1}, 0},      {{8, 1}, 3},       {{1, 8}, -3},      {{6, 3}, 1},
                {{2, 8}, -2},     {{4, 4}, 0},       {{3, 1}, 99},      {{0, 1}, 99},
                {{25, 100}, -2},  {{1, 65536}, -16}, {{1, 131072}, 99}, {{65536, 1}, 16},
                {{131072, 1}, 99}};
    int8_t shift;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(wf_alpha_shift(&rows[i].alpha, &shift), rows[i].shift != 99);
        if (rows[i].shift != 99)
            assert_int_equal(shift, rows[i].shift);
    }
}

/* The DCQCN paper's switch: 12 MB, 32 ports, 8 priorities, 22.4 kB in flight. A static threshold is
 * (B - 8 n t) / 8 n = 24.475 kB, one of alpha 8 with all groups full 8 times that over 9. */
static void dcqcn_thresholds_are_the_papers(void **state)
{
    struct wf_switch_cfg c;
    struct wf_pg_limits lim[WF_PGS] = {{0}};
    struct wf_carved carved = {0};
    struct wf_pool_sizes sizes;

    (void)state;
    wf_switch_cfg_defaults(&c);
    c.buffer_bytes = 12000000;
    for (unsigned g = 0; g < WF_PGS; g++) {
        c.port.pg[g].lossless = true;
        lim[g].headroom = 22400;
    }
    for (unsigned port = 0; port < 32; port++)
        wf_carve_port(&carved, &c, &c.port, lim);
    wf_pool_sizes(&c, &carved, &sizes);
    assert_int_equal(sizes.shared[0] / 256, 24475);
    /* 1 - (1 / (1 + n alpha)) of it is used when all 256 are full, in parts of alpha each */
    assert_int_equal(8 * sizes.shared[0] / (256 * (8 + 1)), 21755);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_take_whole_cells),
        cmocka_unit_test(alpha_shares_the_pool),
        cmocka_unit_test(pools_leave_what_is_reserved),
        cmocka_unit_test(bookings_are_undone_in_reverse),
        cmocka_unit_test(xon_is_the_higher_level),
        cmocka_unit_test(a_headroom_pool_runs_out),
        cmocka_unit_test(egress_pools_bound_lossy_queues),
        cmocka_unit_test(egress_reserves_and_limits),
        cmocka_unit_test(fc_E10),
        cmocka_unit_test(headroom_stays_until_the_wire_is_empty),
        cmocka_unit_test(watermarks_are_cleared_apart),
        cmocka_unit_test(a_calm_group_counts_all_that_it_holds),
        cmocka_unit_test(alphas_are_powers_of_two),
        cmocka_unit_test(dcqcn_thresholds_are_the_papers),
    };

    wft_eal(256);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
