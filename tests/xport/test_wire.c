/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two queue pairs over a wire that loses, repeats and reorders, both writing at once: everything
 * arrives exactly once and in order whatever the wire does. And packets that nobody should send.
 */
#include "pair.h"

#include "base/prng.h"

enum { WIRE_LEN = 64, SRC_LEN = 1 << 15, MSGS = 60 };

struct wire {
    struct frame f[WIRE_LEN];
    uint32_t n;
};

static struct end ends[2];
static struct wire wires[2]; /* [i]: towards ends[i] */
static uint8_t source[2][SRC_LEN], want[2][MEM_LEN];
static uint32_t posted[2], lens[2][MSGS];
static uint64_t posted_bytes[2];

struct odds {
    uint32_t lose, repeat, reorder; /* of 1,000 */
};

static void take(struct wire *w, uint32_t i, struct frame *f)
{
    *f = w->f[i];
    memmove(&w->f[i], &w->f[i + 1], (--w->n - i) * sizeof(*f));
}

/* One packet onto the wire or off it. */
static bool step(struct wf_prng *prng, const struct odds *o, uint64_t now)
{
    unsigned i = wf_prng_below(prng, 2);
    struct wire *w = &wires[i];
    struct frame f;

    if (wf_prng_below(prng, 2) && wires[!i].n + 2 <= WIRE_LEN && pull(&ends[i], now, &f)) {
        w = &wires[!i];
        if (wf_prng_below(prng, 1000) >= o->lose)
            w->f[w->n++] = f;
        if (wf_prng_below(prng, 1000) < o->repeat)
            w->f[w->n++] = f;
        return true;
    }
    if (!w->n)
        return false;
    take(w, wf_prng_below(prng, 1000) < o->reorder ? (uint32_t)wf_prng_below(prng, w->n) : 0, &f);
    deliver(&ends[i], &f, now);
    return true;
}

static void post_some(struct wf_prng *prng, unsigned i)
{
    while (posted[i] < MSGS) {
        uint32_t len = (uint32_t)wf_prng_below(prng, 4) ? (uint32_t)wf_prng_below(prng, 700)
                                                        : (uint32_t)wf_prng_below(prng, SRC_LEN);
        uint32_t from = (uint32_t)wf_prng_below(prng, SRC_LEN - len);
        uint32_t to = (uint32_t)wf_prng_below(prng, MEM_LEN - len);

        if (post_write(&ends[i], posted[i], source[i] + from, len, MEM_VA + to))
            return;
        if (len)
            memcpy(want[!i] + to, source[i] + from, len);
        posted_bytes[i] += len;
        lens[i][posted[i]++] = len;
    }
}

static void start(struct wf_prng *prng, uint64_t seed)
{
    static const uint32_t mtus[] = {256, 512, 1024, 4096};

    wf_prng_init(prng, seed, "wire");
    for (int i = 0; i < 2; i++) {
        struct wf_qp_cfg cfg = end_cfg(0, mtus[seed % 4], 1 + wf_prng_below(prng, 20000));

        cfg.retries = 100000;
        cfg.sq_psn = (i ? 0 : 0xffffff - 30) & 0xffffff; /* one side wraps at once */
        cfg.rq_psn = (i ? 0xffffff - 30 : 0) & 0xffffff;
        end_init(&ends[i], &cfg);
        wires[i].n = posted[i] = 0;
        posted_bytes[i] = 0;
        memset(want[i], 0, MEM_LEN);
        for (uint32_t k = 0; k < SRC_LEN; k++)
            source[i][k] = (uint8_t)wf_prng_u64(prng);
    }
}

static bool finished(void)
{
    return ends[0].n_wc == MSGS && ends[1].n_wc == MSGS;
}

static void run(uint64_t seed, const struct odds *o)
{
    struct wf_prng prng;
    uint64_t now = 0;
    uint32_t idle = 0;

    start(&prng, seed);
    for (uint64_t steps = 0; !finished(); steps++) {
        uint64_t t0 = wf_qp_timer_ps(&ends[0].qp), t1 = wf_qp_timer_ps(&ends[1].qp);

        assert_true(steps < 5000000);
        post_some(&prng, 0);
        post_some(&prng, 1);
        now++;
        idle = step(&prng, o, now) ? 0 : idle + 1;
        if (idle < 50)
            continue;
        now = t0 < t1 ? t0 : t1; /* silence: only a timer can help */
        assert_int_not_equal(now, WF_TIME_NEVER);
        wf_qp_tick(&ends[0].qp, now);
        wf_qp_tick(&ends[1].qp, now);
        idle = 0;
    }
    for (int i = 0; i < 2; i++) {
        const struct wf_requester *r = &ends[i].qp.req;
        const struct wf_responder *s = &ends[!i].qp.resp;

        for (uint32_t k = 0; k < MSGS; k++) {
            assert_int_equal(ends[i].wc[k].id, k);
            assert_int_equal(ends[i].wc[k].status, WF_WC_SUCCESS);
            assert_int_equal(ends[i].wc[k].len, lens[i][k]);
        }
        assert_memory_equal(ends[i].mem + GUARD, want[i], MEM_LEN);
        end_guards(&ends[i]);
        assert_int_equal(s->bytes, posted_bytes[i]);
        assert_int_equal(s->messages, MSGS);
        assert_int_equal(r->tx_packets - r->retx_packets,
                         r->max_seq - (1ull << 32) - ends[i].qp.cfg.sq_psn);
        assert_int_equal(wf_qp_timer_ps(&ends[i].qp), WF_TIME_NEVER);
        assert_int_equal(r->next_byte - r->una_byte, 0);
    }
}

static void test_perfect_wire(void **state)
{
    static const struct odds o = {0, 0, 0};

    for (uint64_t seed = 0; seed < 20; seed++) {
        run(seed, &o);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(ends[i].qp.req.retx_packets, 0);
            assert_int_equal(ends[i].qp.req.timeouts, 0);
            assert_int_equal(ends[i].qp.resp.duplicates, 0);
        }
    }
}

static void test_bad_wires(void **state)
{
    static const struct odds o[] = {{10, 0, 0}, {100, 0, 0},  {300, 0, 0},   {0, 100, 0},
                                    {0, 0, 50}, {20, 20, 20}, {0, 300, 500}, {200, 200, 200}};
    uint64_t naks = 0, timeouts = 0, duplicates = 0;

    for (uint64_t seed = 0; seed < 80; seed++) {
        run(seed, &o[seed % 8]);
        for (int i = 0; i < 2; i++) {
            naks += ends[i].qp.req.naks;
            timeouts += ends[i].qp.req.timeouts;
            duplicates += ends[i].qp.resp.duplicates;
        }
    }
    /* the wire was bad enough for all that is to be shown */
    assert_in_range(naks, 1000, 1u << 30);
    assert_in_range(timeouts, 1000, 1u << 30);
    assert_in_range(duplicates, 1000, 1u << 30);
}

/* The states in which a hostile packet may come. */
enum { FRESH, WITHIN, OUTSTANDING, GAP, DEAD, STATES };

static void bring_to(int st)
{
    struct wf_qp_cfg cfg = end_cfg(0x10, 256, 1 << 20);
    struct frame f;

    end_init(&ends[0], &cfg);
    end_init(&ends[1], &cfg);
    if (st == WITHIN || st == GAP) {
        assert_int_equal(post_write(&ends[1], 0, NULL, 1024, MEM_VA), 0);
        assert_true(pull(&ends[1], 0, &f));
        deliver(&ends[0], &f, 0);
    }
    if (st == GAP) {
        assert_true(pull(&ends[1], 0, &f));
        assert_true(pull(&ends[1], 0, &f));
        deliver(&ends[0], &f, 0);
    }
    if (st == OUTSTANDING || st == DEAD)
        for (int i = 0; i < 4; i++) {
            assert_int_equal(post_write(&ends[0], 0, NULL, 700, MEM_VA), 0);
            while (pull(&ends[0], 0, &f))
                ;
        }
    if (st == DEAD)
        for (int i = 0; i < 4; i++)
            wf_qp_tick(&ends[0].qp, wf_qp_timer_ps(&ends[0].qp));
    assert_int_equal(ends[0].qp.state, st == DEAD ? WF_QP_ERROR : WF_QP_READY);
}

/* Every opcode and length, the rest random, PSNs near what is expected. */
static void hostile(int st, struct wf_prng *prng)
{
    for (uint32_t opcode = 0; opcode < 256; opcode++)
        for (uint32_t len = 0; len <= 80; len++) {
            struct frame f = {.payload_len = (uint32_t)wf_prng_below(prng, 600)};
            uint32_t near = (uint32_t)(0x10 + wf_prng_below(prng, 8) - 3);
            bool response = opcode >= 0x0d && opcode <= 0x12;

            if (len % 9 == 0)
                bring_to(st);
            for (uint32_t i = 0; i < sizeof(f.hdr); i++)
                f.hdr[i] = (uint8_t)wf_prng_u64(prng);
            f.hdr_len = len < sizeof(f.hdr) ? len : sizeof(f.hdr);
            f.hdr[0] = (uint8_t)opcode;
            f.hdr[1] &= 0xf0;
            wf_st16(f.hdr + 2, 0xffff);
            wf_st24(f.hdr + 9, near);
            if (len & 1) { /* an address and key that could be right */
                wf_st64(f.hdr + 12, MEM_VA + MEM_LEN - 300 + wf_prng_below(prng, 600));
                wf_st32(f.hdr + 20, MEM_RKEY);
                wf_st32(f.hdr + 24, f.payload_len);
            }
            ends[0].qp.resp.answer = false;
            deliver(&ends[0], &f, 7);
            if (ends[0].qp.resp.answer && (response || st == DEAD || opcode > 0x1d || len < 12))
                fail_msg("opcode 0x%02x, length %u is answered in state %d", opcode, len, st);
            assert_in_range(ends[0].n_wc, 0, 4);
        }
    end_guards(&ends[0]);
}

static void test_hostile(void **state)
{
    struct wf_prng prng;

    wf_prng_init(&prng, 3, "hostile");
    for (int st = 0; st < STATES; st++)
        for (int round = 0; round < 4; round++) {
            bring_to(st);
            hostile(st, &prng);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_perfect_wire),
        cmocka_unit_test(test_bad_wires),
        cmocka_unit_test(test_hostile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
