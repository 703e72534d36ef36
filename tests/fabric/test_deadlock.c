/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deadlocks in rings of 3 to 6 switches under drawn loads. The oracle knows only the description:
 * which egress ports each flow passes, hence which buffer can wait for which, and by brute force
 * whether some can wait for themselves. And it sees what a deadlock is to everybody: packets are
 * left, and none of them has moved for a long time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "fabric/deadlock.h"
#include "fabric/stormsource.h"
#include "support.h"

#define US WF_PS_PER_US

enum { SIZE_MAX_ = 6, PACKETS = 400, END_US = 6000, STILL_US = 3000, LOOK_US = 10 };

struct world {
    struct wf_arena arena;
    struct wf_desc desc;
    uint32_t n, turn;
    uint32_t to[SIZE_MAX_]; /* by host, which is its switch's only one */
    bool waits[2 * SIZE_MAX_]
              [2 * SIZE_MAX_]; /* egress: 2 s clockwise out of s, 2 s + 1 the other */
};

static struct world w;

/* ---- the oracle ---- */

/* Level and number of a switch, as up-down routing orders them from switch 0. */
static uint32_t height(uint32_t s)
{
    uint32_t level = s < w.n - s ? s : w.n - s;

    return s ? level * SIZE_MAX_ + s : 0;
}

static uint32_t next_of(uint32_t s, bool back)
{
    return (s + (back ? w.n - 1 : 1)) % w.n;
}

/* Whether the way in this direction never goes up after it went down. */
static bool is_up_down(uint32_t from, uint32_t to, bool back)
{
    bool down = false;

    for (uint32_t s = from; s != to; s = next_of(s, back)) {
        bool falls = height(next_of(s, back)) > height(s);

        if (down && !falls)
            return false;
        down = down || falls;
    }
    return true;
}

static uint32_t distance(uint32_t from, uint32_t to, bool back)
{
    return (back ? from + w.n - to : to + w.n - from) % w.n;
}

/* Which direction a flow may take. */
static bool may_go(uint32_t from, uint32_t to, bool back)
{
    uint32_t there = distance(from, to, back), other = distance(from, to, !back);

    if (w.turn == WF_TURN_CLOCKWISE)
        return !back;
    return w.turn == WF_TURN_SHORTEST ? there <= other : is_up_down(from, to, back);
}

static void add_way(uint32_t from, uint32_t to, bool back)
{
    int before = -1;

    for (uint32_t s = from; s != to; s = next_of(s, back)) {
        int egress = (int)(2 * s + back);

        if (before >= 0)
            w.waits[before][egress] = true;
        before = egress;
    }
}

static bool can_close(void)
{
    bool reach[2 * SIZE_MAX_][2 * SIZE_MAX_];
    bool any = false;

    memcpy(reach, w.waits, sizeof(reach));
    for (uint32_t k = 0; k < 2 * w.n; k++)
        for (uint32_t i = 0; i < 2 * w.n; i++)
            for (uint32_t j = 0; j < 2 * w.n; j++)
                reach[i][j] |= reach[i][k] && reach[k][j];
    for (uint32_t i = 0; i < 2 * w.n; i++)
        any = any || reach[i][i];
    return any;
}

/* ---- the fabric ---- */

static struct wf_fabric *start(uint32_t n, uint32_t turn, uint64_t seed)
{
    struct wf_prng prng;

    wf_arena_free(&w.arena);
    memset(&w, 0, sizeof(w));
    w.n = n;
    w.turn = turn;
    w.desc = (struct wf_desc){.name = "ring",
                              .seed = 1,
                              .duration_ps = WF_KEY_AUTO,
                              .time_limit_ps = WF_PS_PER_S,
                              .time_scale = 1};
    wf_desc_ring(&w.desc, &w.arena, n, 1, (enum wf_turn)turn);
    for (uint32_t i = 0; i < n; i++) {
        w.desc.switches[i].cfg.port.pg[3].lossless = true;
        w.desc.switches[i].cfg.port.pg[3].xoff_bytes = 30000;
    }
    wf_desc_address(&w.desc, &w.arena);
    wf_prng_init(&prng, seed, "loads");
    for (uint32_t i = 0; i < n; i++) {
        w.to[i] = (i + 1 + (uint32_t)wf_prng_below(&prng, n - 1)) % n;
        for (int back = 0; back < 2; back++)
            if (may_go(i, w.to[i], back))
                add_way(i, w.to[i], back);
    }
    return wft_build(&w.desc);
}

static void send_all(struct wf_fabric *f)
{
    uint8_t buf[WF_ROCE_HDR_MAX];
    uint32_t len;

    for (uint32_t i = 0; i < w.n; i++)
        for (uint32_t k = 0; k < PACKETS; k++) {
            uint32_t hdr = wft_roce(f, i, w.to[i], 26, 2, k, 1024, buf, &len);

            wft_send(f, i, 0, 3, buf, hdr, len);
        }
}

static uint64_t arrived(struct wf_fabric *f)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < w.n; i++)
        n += wft_probe(f, i)->n_seen;
    return n;
}

static uint64_t moved(struct wf_fabric *f)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < f->n_nodes; i++)
        for (uint16_t p = 0; p < f->nodes[i]->n_ports; p++)
            n += f->nodes[i]->ports[p].q[3].ctr[WF_QUEUE_TX_FRAMES];
    return n;
}

/* The number of an egress port, as the oracle counts them. */
static uint32_t egress_of(const struct wf_port *p)
{
    return 2 * p->node->index + (p->peer->node->index == next_of(p->node->index, true) &&
                                 p->peer->node->index != next_of(p->node->index, false));
}

static void check_cycle(const struct wf_deadlock *c)
{
    assert_in_range(c->n_hops, 2, w.n);
    assert_true(c->until_ps == WF_TIME_NEVER);
    assert_true(c->found_ps - c->since_ps > 335 * US); /* 65535 quanta at 100 Gb/s */
    for (uint32_t i = 0; i < c->n_hops; i++) {
        const struct wf_deadlock_hop *h = &c->hops[i], *next = &c->hops[(i + 1) % c->n_hops];

        assert_ptr_equal(h->port->peer->node, next->port->node);
        assert_true(w.waits[egress_of(h->port)][egress_of(next->port)]);
        assert_int_equal(h->queue, 3);
        assert_int_equal(h->prio, 3);
        assert_int_equal(h->pg, 3);
        assert_in_range(h->waiting_bytes, 1, next->port->q[3].ctr[WF_QUEUE_BYTES]);
    }
}

/* Whether it ended in a deadlock. */
static bool run_one(uint32_t n, uint32_t turn, uint64_t seed)
{
    struct wf_fabric *f = start(n, turn, seed);
    struct wf_deadlocks d = {.n = 0};
    uint64_t still = 0;
    bool stands;

    send_all(f);
    for (uint32_t t = LOOK_US; t <= END_US; t += LOOK_US) {
        wft_run(f, t * US);
        wf_deadlocks_look(&d, f);
        if (t == END_US - STILL_US)
            still = moved(f);
    }
    stands = arrived(f) < (uint64_t)w.n * PACKETS;
    assert_true(!stands || moved(f) == still);
    assert_true(!stands || can_close());
    assert_int_equal(d.n > 0, stands);
    assert_int_equal(wf_deadlocks_standing(&d), d.n);
    assert_int_equal(wf_fabric_ctr(f, WF_FABRIC_DEADLOCKS), d.n);
    for (uint32_t i = 0; i < d.n; i++)
        check_cycle(&d.cycles[i]);
    wft_check(f);
    wf_deadlocks_free(&d);
    wf_fabric_free(f);
    return stands;
}

static void found_when_and_only_when_nothing_moves(void **state)
{
    unsigned stood = 0, went = 0;

    for (uint64_t seed = 1; seed <= 8; seed++)
        for (uint32_t n = 3; n <= SIZE_MAX_; n++) {
            bool dead = run_one(n, WF_TURN_CLOCKWISE, seed);

            stood += dead;
            went += !dead;
        }
    assert_in_range(stood, 3, 29);
    assert_in_range(went, 3, 29);
}

static void up_down_routing_knows_none(void **state)
{
    for (uint64_t seed = 1; seed <= 6; seed++)
        for (uint32_t n = 3; n <= SIZE_MAX_; n++)
            assert_false(run_one(n, WF_TURN_UP_DOWN, seed));
}

/* The ways themselves, by the oracle's order; with a link down too, where there is one way left. */
static void ways_never_go_up_again(void **state)
{
    for (uint32_t n = 3; n <= SIZE_MAX_; n++)
        for (uint32_t down = 0; down <= n; down++) {
            struct wf_fabric *f = start(n, WF_TURN_UP_DOWN, 1);

            if (down < n)
                wf_fabric_link_set(f, &f->links[n + down], false);
            for (uint32_t from = 0; from < n; from++)
                for (uint32_t to = 0; to < n; to++)
                    for (uint32_t hash = 0; hash < 8 && from != to; hash++) {
                        struct wf_port *path[SIZE_MAX_ + 2];
                        int hops = wf_fabric_path(f, from, to, hash, path, SIZE_MAX_ + 2);
                        bool fell = false;

                        assert_true(hops > 0 || down < n); /* a whole ring has a way */
                        for (int i = 1; i + 1 < hops; i++) {
                            bool falls =
                                height(path[i]->peer->node->index) > height(path[i]->node->index);

                            assert_false(fell && !falls);
                            fell = fell || falls;
                        }
                    }
            wf_fabric_free(f);
        }
}

/* A storm keeps queues stopped for as long as it lasts, and no circle is there. */
static void a_storm_is_no_deadlock(void **state)
{
    struct wf_storm_cfg storm = {.period_ps = 100 * US, .limit = 40, .quanta = 65535, .vector = 8};
    struct wf_deadlocks d = {.n = 0};
    struct wf_storm_sources s;
    struct wf_fabric *f = start(4, WF_TURN_SHORTEST, 1);

    for (uint32_t i = 0; i < w.n; i++)
        w.to[i] = i == 2 ? 1 : 2;
    wf_storm_start(&wf_fabric_host(f, 2)->ports[0], &storm, &f->arena);
    send_all(f);
    for (uint32_t t = LOOK_US; t <= END_US; t += LOOK_US) {
        wft_run(f, t * US);
        wf_deadlocks_look(&d, f);
    }
    assert_int_equal(arrived(f), w.n * PACKETS);
    assert_int_equal(d.n, 0);
    wf_fabric_settle(f);
    wf_storm_sources(f, &f->arena, &s);
    assert_int_equal(s.n, 1);
    assert_string_equal(s.v[0].port->name, "h2:p0");
    assert_int_equal(s.v[0].prio, 3);
    assert_int_equal(s.v[0].frames, 40);
    assert_int_equal(s.v[0].asked_ps, 0);
    wf_deadlocks_free(&d);
    wf_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_when_and_only_when_nothing_moves),
        cmocka_unit_test(up_down_routing_knows_none),
        cmocka_unit_test(ways_never_go_up_again),
        cmocka_unit_test(a_storm_is_no_deadlock),
    };

    wft_eal(256);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
