/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selective retransmission with every operation: a wire that loses, repeats and shuffles by seeds,
 * after which all has been done once and in order, with the right bytes; what a gap among the
 * answers of a READ costs; what is not taken before its turn.
 */
#include "pair.h"

#include "../wire/hex.h"
#include "base/prng.h"
#include "xport/sel.h"

enum { N = 40, SLOT = 1600, BIG = 700 * 256, AIR = 64, MIXED = WF_WORK_OPS };

static struct wf_qp_sel sel_a, sel_b;
static struct wf_sel_early early_a, early_b;
static uint8_t data[N * SLOT], room[GUARD + N * SLOT + GUARD], got[N * SLOT];
static uint64_t orig[N];

/* What message i is. */
static struct {
    enum wf_work_op op;
    uint32_t len, recv;
} msg[N];

static void fresh(uint32_t psn, uint32_t mtu)
{
    struct wf_qp_cfg cfg = end_cfg(psn, mtu, 1 << 20);

    fill(data, sizeof(data), 11);
    memset(room, GUARDS, sizeof(room));
    memset(got, 0, sizeof(got));
    cfg.retransmit = WF_SELECTIVE;
    cfg.rnr_retry = 7;
    cfg.retries = 7;
    cfg.max_rd_atomic = 4;
    begin_with(cfg);
    end_serve(&b, 4);
    assert_int_equal(wf_qp_set_sel(&a.qp, &sel_a, &early_a), 0);
    assert_int_equal(wf_qp_set_sel(&b.qp, &sel_b, &early_b), 0);
}

static bool takes_receive(enum wf_work_op op)
{
    return op >= WF_WORK_WRITE_IMM && op <= WF_WORK_SEND_INV;
}

/* Messages of one operation, or of any; WRITEs to the first half of the region, READs from the
 * second, atomics on its last 8 bytes. */
static uint32_t draw(struct wf_prng *p, int op)
{
    uint32_t recvs = 0;

    for (uint32_t i = 0; i < N; i++) {
        msg[i].op = (enum wf_work_op)(op == MIXED ? (int)wf_prng_below(p, WF_WORK_OPS) : op);
        if (msg[i].op == WF_WORK_CMP_SWAP && op == MIXED)
            msg[i].op = WF_WORK_FETCH_ADD;
        msg[i].len = (uint32_t)wf_prng_below(p, 700);
        if (msg[i].op >= WF_WORK_CMP_SWAP)
            msg[i].len = 8;
        msg[i].recv = recvs;
        recvs += takes_receive(msg[i].op);
    }
    return recvs;
}

static int post(uint32_t i)
{
    struct wf_work w = {.op = msg[i].op,
                        .id = i,
                        .rkey = MEM_RKEY,
                        .raddr = MEM_VA + i * 700,
                        .len = msg[i].len,
                        .imm = msg[i].op == WF_WORK_SEND_INV ? MEM_RKEY : 0xabc00000 + i,
                        .n_sge = 1};

    w.sge[0] = (struct iovec){data + i * SLOT, msg[i].len};
    if (w.op == WF_WORK_READ) {
        w.raddr = MEM_VA + 32768 + i * 700;
        w.sge[0].iov_base = got + i * SLOT;
    } else if (w.op >= WF_WORK_CMP_SWAP) {
        w.raddr = MEM_VA + MEM_LEN - 8;
        w.sge[0].iov_base = &orig[i];
        w.swap_add = i + 1;
        w.compare = i;
    }
    return wf_qp_post(&a.qp, &w);
}

static void receive(uint32_t id)
{
    struct wf_recv r = {.id = id, .len = 700, .n_sge = 2};

    r.sge[0] = (struct iovec){room + GUARD + id * SLOT, 300};
    r.sge[1] = (struct iovec){room + GUARD + id * SLOT + 300, 400};
    assert_int_equal(wf_qp_post_recv(&b.qp, &r), 0);
}

static void check_message(uint32_t i, uint64_t *counter)
{
    const struct wf_wc *wc = &b.rwc[msg[i].recv];
    enum wf_work_op op = msg[i].op;

    assert_int_equal(a.wc[i].id, i);
    assert_int_equal(a.wc[i].status, WF_WC_SUCCESS);
    if (takes_receive(op)) {
        assert_int_equal(wc->id, msg[i].recv);
        assert_int_equal(wc->status, WF_WC_SUCCESS);
        assert_int_equal(wc->op, op);
        assert_int_equal(wc->len, msg[i].len);
        assert_int_equal(wc->imm, op == WF_WORK_SEND       ? 0
                                  : op == WF_WORK_SEND_INV ? MEM_RKEY
                                                           : 0xabc00000 + i);
    }
    if (op <= WF_WORK_WRITE_IMM)
        assert_memory_equal(b.mem + GUARD + i * 700, data + i * SLOT, msg[i].len);
    else if (op <= WF_WORK_SEND_INV)
        assert_memory_equal(room + GUARD + msg[i].recv * SLOT, data + i * SLOT, msg[i].len);
    else if (op == WF_WORK_READ)
        assert_memory_equal(got + i * SLOT, b.mem + GUARD + 32768 + i * 700, msg[i].len);
    else
        assert_int_equal(orig[i], *counter);
    if (op == WF_WORK_CMP_SWAP)
        *counter = i + 1;
    if (op == WF_WORK_FETCH_ADD)
        *counter += i + 1;
}

struct air {
    struct frame f[AIR];
    uint32_t n, lost, turns;
    struct wf_prng p;
    uint64_t now;
    uint32_t spoils; /* one header in so many; 0: none */
};

/* Each end sends a packet, and one that is in the air arrives. */
static void turn(struct air *w, uint32_t depth)
{
    bool sent = false;
    uint64_t t = wf_qp_timer_ps(&a.qp);
    struct frame f;

    w->turns++;
    for (int e = 0; e < 2 && w->n < AIR - 2; e++)
        if (pull(e ? &b : &a, w->now, &f)) {
            sent = true;
            if (wf_prng_below(&w->p, 20) == 0) {
                w->lost++;
                continue;
            }
            f.again = e; /* whose it is */
            w->f[w->n++] = f;
            if (wf_prng_below(&w->p, 50) == 0)
                w->f[w->n++] = f;
        }
    if (w->n && (!sent || wf_prng_below(&w->p, 2))) {
        uint32_t i = (uint32_t)wf_prng_below(&w->p, w->n < depth ? w->n : depth);

        f = w->f[i];
        memmove(w->f + i, w->f + i + 1, (--w->n - i) * sizeof(f));
        if (w->spoils && wf_prng_below(&w->p, w->spoils) == 0)
            f.hdr[wf_prng_below(&w->p, f.hdr_len)] ^= (uint8_t)(1u << wf_prng_below(&w->p, 8));
        deliver(f.again ? &a : &b, &f, w->now);
    } else if (!w->n && !sent && t != WF_TIME_NEVER) {
        w->now = t;
        wf_qp_tick(&a.qp, w->now);
    }
}

static void one_wire(int op, uint64_t seed, uint32_t depth)
{
    uint32_t posted = 0, recv_posted = 0, recvs;
    static struct air w;
    uint64_t counter = 0;

    fresh(0xffff80, 256);
    memset(&w, 0, sizeof(w));
    wf_prng_init(&w.p, seed, "wire");
    for (uint32_t i = 0; i < 32768 - 8; i++)
        b.mem[GUARD + 32768 + i] = (uint8_t)(i * 7 + i / 256);
    recvs = draw(&w.p, op);
    while (a.n_wc < N && w.turns < 200000) {
        while (posted < N && !post(posted))
            posted++;
        /* not always one, and sometimes many ahead */
        while (recv_posted < recvs && wf_rq_count(&b.rq) < 16 && wf_prng_below(&w.p, 4) == 0)
            receive(recv_posted++);
        turn(&w, depth);
        if (a.qp.state != WF_QP_READY || b.qp.state != WF_QP_READY)
            fail_msg("operation %d, seed %u: %s", op, (unsigned)seed,
                     wf_wc_status_names[a.n_wc ? a.wc[a.n_wc - 1].status : 0]);
    }
    assert_int_equal(a.n_wc, N);
    assert_int_equal(b.n_rwc, recvs);
    for (uint32_t i = 0; i < N; i++)
        check_message(i, &counter);
    end_guards(&b);
    for (uint32_t i = 0; i < GUARD; i++)
        assert_int_equal(room[i], GUARDS);
    if (depth < WF_SEL_REORDER) /* what is overtaken by more counts as lost */
        assert_true(a.qp.req.retx_packets < 12 * w.lost + 40);
    assert_int_equal(sel_a.n_lost, 0);
}

static void every_operation(void **state)
{
    for (int op = WF_WORK_WRITE; op <= MIXED; op++)
        for (uint64_t seed = 0; seed < 60; seed++)
            one_wire(op, seed, seed & 1 ? 4 : 24);
}

/* Headers with a bit that is wrong, that no ICRC caught: whatever becomes of the connection, each
 * request and receive completes once, in order, and nothing outside of memory is written. */
static void spoilt_headers(void **state)
{
    for (uint64_t seed = 0; seed < 400; seed++) {
        uint32_t posted = 0, recv_posted = 0, recvs;
        static struct air w;

        fresh(0xffff80, 256);
        memset(&w, 0, sizeof(w));
        wf_prng_init(&w.p, seed, "spoilt");
        w.spoils = seed & 1 ? 100 : 10;
        recvs = draw(&w.p, MIXED);
        while (a.n_wc < N && w.turns < 5000 && a.qp.state == WF_QP_READY) {
            while (posted < N && !post(posted))
                posted++;
            while (recv_posted < recvs && b.qp.state == WF_QP_READY && wf_rq_count(&b.rq) < 16)
                receive(recv_posted++);
            turn(&w, 24);
        }
        for (uint32_t i = 0; i < a.n_wc; i++)
            assert_int_equal(a.wc[i].id, i);
        for (uint32_t i = 0; i < b.n_rwc; i++)
            assert_int_equal(b.rwc[i].id, i);
        assert_true(b.qp.state == WF_QP_READY || b.n_rwc == recv_posted);
        end_guards(&b);
        for (uint32_t i = 0; i < GUARD; i++)
            assert_true(room[i] == GUARDS && room[GUARD + N * SLOT + i] == GUARDS);
    }
}

/* The bytes of a SEND's parts, and of a WRITE's with immediate data. */
static void bytes(void **state)
{
    struct frame f[4];
    uint8_t want[64];

    fresh(0x10, 256);
    assert_int_equal(post_op(&a, WF_WORK_WRITE_IMM, 1, data, 8), 0);
    assert_int_equal(post_op(&a, WF_WORK_SEND_IMM, 2, data, 300), 0);
    assert_int_equal(post_op(&a, WF_WORK_WRITE_IMM, 3, data, 300), 0);
    assert_true(pull(&a, 0, &f[0]) && pull(&a, 0, &f[0]) && pull(&a, 0, &f[1]));
    hex_bytes("0a 40 ffff 00 000022 00 000011 0300000100000000 fffffffe 00000100", want, 64);
    assert_int_equal(f[0].hdr_len, 28);
    assert_memory_equal(f[0].hdr, want, 28);
    hex_bytes("0b 40 ffff 00 000022 80 000012 0300000100000100 fffffffe 0000002c abcd0002", want,
              64);
    assert_int_equal(f[1].hdr_len, 32);
    assert_memory_equal(f[1].hdr, want, 32);
    assert_true(pull(&a, 0, &f[2]) && pull(&a, 0, &f[3]));
    hex_bytes("0a c0 ffff 00 000022 00 000013 00007f0012340000 00001234 00000100", want, 64);
    assert_memory_equal(f[2].hdr, want, 28);
    hex_bytes("0b 40 ffff 00 000022 80 000014 00007f0012340100 00001234 0000002c abcd0003", want,
              64);
    assert_memory_equal(f[3].hdr, want, 32);
}

static uint8_t source[BIG], sink[BIG];

static void post_read(uint32_t len)
{
    struct wf_work w = {
        .op = WF_WORK_READ, .rkey = MEM_RKEY, .raddr = MEM_VA, .len = len, .n_sge = 1};

    w.sge[0] = (struct iovec){sink, len};
    for (uint32_t i = 0; i < BIG; i++)
        source[i] = (uint8_t)(i * 13 + i / 256 * 7);
    memset(sink, 0, sizeof(sink));
    b.mr.base = source;
    b.mr.len = BIG;
    assert_int_equal(wf_qp_post(&a.qp, &w), 0);
}

/* Answers 3, 4 and 30 of 40 are lost: the rest is kept, and the gaps alone are asked for. */
static void gaps_of_a_read(void **state)
{
    struct frame request, f[40], again[2];
    uint8_t want[64];

    fresh(0xfffff0, 256);
    post_read(40 * 256);
    assert_true(pull(&a, 0, &request));
    deliver(&b, &request, 0);
    for (int i = 0; i < 40; i++)
        assert_true(pull(&b, 0, &f[i]));
    assert_false(pull(&b, 0, &again[0]));
    for (int i = 0; i < 40; i++)
        if (i != 3 && i != 4 && i != 30)
            deliver(&a, &f[39 - i == 0 ? 39 : i], 0);
    assert_true(pull(&a, 0, &again[0]) && pull(&a, 0, &again[1]));
    assert_false(pull(&a, 0, &request));
    hex_bytes("0c 40 ffff 00 000022 80 fffff3 00007f0012340300 00001234 00000200", want, 64);
    assert_memory_equal(again[0].hdr, want, 28);
    hex_bytes("0c 40 ffff 00 000022 80 00000e 00007f0012341e00 00001234 00000100", want, 64);
    assert_memory_equal(again[1].hdr, want, 28);
    deliver(&b, &again[1], 0);
    deliver(&b, &again[0], 0);
    for (int i = 0; i < 3; i++)
        assert_true(pull(&b, 0, &f[i]));
    assert_false(pull(&b, 0, &request));
    assert_int_equal(f[0].hdr[0], 0x10); /* Only, First, Last */
    assert_int_equal(f[1].hdr[0], 0x0d);
    assert_int_equal(f[2].hdr[0], 0x0f);
    assert_int_equal(psn_of(&f[2]), 0xfffff4);
    for (int i = 2; i >= 0; i--)
        deliver(&a, &f[i], 0);
    assert_int_equal(a.n_wc, 1);
    assert_int_equal(a.wc[0].status, WF_WC_SUCCESS);
    assert_int_equal(a.qp.req.retx_packets, 2);
    assert_int_equal(a.qp.reqm.read_bytes, 40 * 256);
    assert_memory_equal(sink, source, 40 * 256);
    assert_int_equal(wf_qp_timer_ps(&a.qp), WF_TIME_NEVER);
}

/* A READ of more answers than the span has PSNs, over a wire that loses. */
static void longer_than_the_span(void **state)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        static struct air w;

        fresh(0xffff00, 256);
        memset(&w, 0, sizeof(w));
        wf_prng_init(&w.p, seed, "wire");
        post_read(BIG - 100);
        while (!a.n_wc && w.turns < 100000)
            turn(&w, 8);
        assert_int_equal(a.n_wc, 1);
        assert_int_equal(a.wc[0].status, WF_WC_SUCCESS);
        assert_int_equal(a.qp.reqm.read_bytes, BIG - 100);
        assert_memory_equal(sink, source, BIG - 100);
    }
}

/* A READ that comes before the WRITE in front of it sees what that one writes; an atomic behind it
 * is done once, and in its turn. */
static void requests_wait_for_their_turn(void **state)
{
    struct frame f[3];

    fresh(0, 256);
    msg[0].op = WF_WORK_WRITE;
    msg[1].op = WF_WORK_READ;
    msg[2].op = WF_WORK_FETCH_ADD;
    msg[0].len = msg[1].len = 200;
    msg[2].len = 8;
    assert_int_equal(post_write(&a, 0, data, 200, MEM_VA + 32768 + 700), 0);
    assert_int_equal(post(1), 0);
    assert_int_equal(post(2), 0);
    for (int i = 0; i < 3; i++)
        assert_true(pull(&a, 0, &f[i]));
    deliver(&b, &f[2], 0);
    deliver(&b, &f[1], 0);
    deliver(&b, &f[2], 0);
    assert_int_equal(b.qp.respm.read_requests + b.qp.respm.atomic_requests, 0);
    deliver(&b, &f[0], 0);
    run_both(0);
    assert_int_equal(a.n_wc, 3);
    assert_memory_equal(got + SLOT, data, 200);
    assert_int_equal(orig[2], 0);
    assert_int_equal(*(uint64_t *)(void *)(b.mem + GUARD + MEM_LEN - 8), 3);
    assert_int_equal(b.qp.respm.atomic_requests, 1);
    assert_int_equal(a.qp.req.timeouts, 0);
}

/* No receive for a message that came early: the RNR NAK is said in its turn, and the message comes
 * again though it was told to be here. */
static void rnr_of_what_is_here(void **state)
{
    struct frame f[2], g;

    fresh(0, 256);
    assert_int_equal(post_write(&a, 1, data, 100, MEM_VA), 0);
    assert_int_equal(post_op(&a, WF_WORK_WRITE_IMM, 2, data, 200), 0);
    assert_true(pull(&a, 0, &f[0]) && pull(&a, 0, &f[1]));
    msg[3].op = WF_WORK_READ;
    msg[3].len = 8;
    assert_int_equal(post(3), 0);
    deliver(&b, &f[1], 0);
    assert_true(pull(&b, 0, &g));
    deliver(&a, &g, 0);
    deliver(&b, &f[0], 0);
    assert_true(pull(&b, 0, &g));
    assert_int_equal(g.hdr[12], WF_AETH_RNR_NAK);
    assert_int_equal(psn_of(&g), 1);
    make_answer(&f[0], 0x1f, 0, 1); /* to be here is not to be acknowledged */
    deliver(&a, &f[0], 0);
    assert_int_equal(a.n_wc, 1);
    deliver(&a, &g, 0);
    assert_int_equal(a.n_wc, 1);
    assert_int_equal(b.qp.resp.bytes, 100);
    assert_int_equal(post_recv(&b, 7, 32768, 8), 0);
    wf_qp_tick(&a.qp, wf_rnr_timer_ps(0));
    run_both(wf_rnr_timer_ps(0));
    assert_int_equal(a.n_wc, 3);
    assert_int_equal(b.n_rwc, 1);
    assert_int_equal(b.rwc[0].len, 200);
    assert_int_equal(a.qp.req.timeouts, 0);
    assert_int_equal(b.qp.resp.bytes, 300);
}

/* A refusal that overtakes the answers in front of it is kept until they have come. */
static void refusal_overtakes(void **state)
{
    struct frame f[2], g[2];

    fresh(0, 256);
    post_read(200);
    assert_int_equal(post_write(&a, 2, data, 8, MEM_VA + BIG), 0);
    assert_true(pull(&a, 0, &f[0]) && pull(&a, 0, &f[1]));
    deliver(&b, &f[0], 0);
    assert_true(pull(&b, 0, &g[0]));
    deliver(&b, &f[1], 0);
    assert_true(pull(&b, 0, &g[1]));
    assert_int_equal(g[1].hdr[12], WF_AETH_NAK | WF_NAK_REMOTE_ACCESS);
    deliver(&a, &g[1], 0);
    assert_int_equal(a.n_wc, 0);
    deliver(&a, &g[0], 0);
    assert_int_equal(a.n_wc, 2);
    assert_int_equal(a.wc[0].status, WF_WC_SUCCESS);
    assert_int_equal(a.wc[1].status, WF_WC_REM_ACCESS);
}

/* A shared queue gives its receives in the order of messages, also to what comes early. */
static void shared_receives(void **state)
{
    struct wf_recv places[8];
    struct wf_rq srq;
    struct frame f[3];

    fresh(0, 256);
    assert_int_equal(wf_rq_init(&srq, places, 8, true), 0);
    wf_qp_set_rq(&b.qp, &srq);
    for (uint64_t i = 0; i < 3; i++) {
        struct wf_recv r = {.id = 10 + i, .len = 100, .n_sge = 1};

        r.sge[0] = (struct iovec){room + GUARD + i * 100, 100};
        assert_int_equal(wf_rq_post(&srq, &r), 0);
        assert_int_equal(post_op(&a, WF_WORK_SEND, i, data + i * 1000, 100), 0);
        assert_true(pull(&a, 0, &f[i]));
    }
    for (int i = 2; i >= 0; i--)
        deliver(&b, &f[i], 0);
    assert_int_equal(b.n_rwc, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(b.rwc[i].id, 10 + i);
        assert_memory_equal(room + GUARD + i * 100, data + i * 1000, 100);
    }
}

/* What a peer may not say: a part of a SEND that is beyond its receive, of another message, at the
 * wrong place, of no kind; it ends the connection in its turn, and nothing beyond is written. */
static void odd_parts(void **state)
{
    static const struct {
        const char *va, *len;
        enum wf_wc_status status;
    } rows[] = {
        {"0200000000000008", "00000100", WF_WC_REM_INV_REQ}, /* not at its beginning */
        {"0200000100000000", "00000100", WF_WC_REM_INV_REQ}, /* the next receive */
        {"0200000000000000", "000000ff", WF_WC_REM_INV_REQ}, /* no last one, and short */
        {"0500000000000000", "00000100", WF_WC_REM_INV_REQ}, /* a READ? */
        {"02000000fffffff0", "00000100", WF_WC_REM_INV_REQ},
    };

    for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
        struct frame f = {.hdr_len = 28}, g;
        char text[128];

        fresh(0, 256);
        receive(0);
        receive(1);
        snprintf(text, sizeof(text), "0a 40 ffff 00 000022 80 %06x %s fffffffe %s",
                 (unsigned)(i & 1), rows[i / 2].va, rows[i / 2].len);
        hex_bytes(text, f.hdr, sizeof(f.hdr));
        f.payload_len = (uint32_t)strtoul(rows[i / 2].len, NULL, 16);
        deliver(&b, &f, 0);
        if (i & 1) { /* beyond a gap, that a WRITE closes */
            assert_int_equal(b.qp.state, WF_QP_READY);
            assert_int_equal(post_write(&a, 1, data, 8, MEM_VA), 0);
            assert_true(pull(&a, 0, &g));
            deliver(&b, &g, 0);
            deliver(&b, &f, 0);
        }
        assert_int_equal(b.qp.state, WF_QP_ERROR);
        assert_int_equal(b.n_rwc, 2); /* flushed */
        for (uint32_t k = 0; k < GUARD; k++)
            assert_true(room[k] == GUARDS && room[GUARD + N * SLOT + k] == GUARDS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes),
        cmocka_unit_test(gaps_of_a_read),
        cmocka_unit_test(requests_wait_for_their_turn),
        cmocka_unit_test(rnr_of_what_is_here),
        cmocka_unit_test(refusal_overtakes),
        cmocka_unit_test(shared_receives),
        cmocka_unit_test(odd_parts),
        cmocka_unit_test(every_operation),
        cmocka_unit_test(spoilt_headers),
        cmocka_unit_test(longer_than_the_span),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
