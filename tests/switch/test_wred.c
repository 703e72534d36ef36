/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * WRED at a switch's queue that a probe holds by PFC and lets go: which packets are marked or
 * dropped, to the byte, at dequeue and at enqueue, on the length and on its average. Plans: egress
 * ECN order and marking accuracy of sonic-mgmt's ECN test plan.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "burst.h"
#include "eth/pfc.h"
#include "wire/edit.h"

#define US WF_PS_PER_US
#define NS WF_PS_PER_NS

enum { DSCP = 26, PRIO = 3, PAYLOAD = 940, FRAME = 1002 }; /* with FCS */

static struct wf_desc *one_leaf(const struct wf_ecn_cfg *ecn, int mark_at)
{
    struct wf_desc *d = wft_leaf_spine(1, 0, 2);
    struct wf_queue_cfg *q = &d->switches[0].cfg.port.queue[PRIO];

    q->ecn = *ecn;
    q->mark_at = mark_at;
    return d;
}

/* n frames come while the queue is held, then it is let go. What host 1 got is in its probe. */
static struct wf_fabric *held_and_let_go(const struct wf_desc *d, uint8_t ecn, uint32_t n)
{
    struct wf_fabric *f = wft_build(d);

    wft_pfc(f, 1, 1 << PRIO, 65535);
    wft_run(f, 2 * US);
    wft_burst(f, 0, 1, DSCP, ecn, PAYLOAD, n);
    wft_run(f, 2 * US + n * 100 * NS);
    assert_int_equal(wft_probe(f, 1)->n_seen, 0);
    wft_pfc(f, 1, 1 << PRIO, 0);
    wft_run(f, WF_TIME_NEVER);
    wft_check(f);
    return f;
}

static bool ce(const struct wf_fabric *f, uint32_t i)
{
    return wft_probe((struct wf_fabric *)f, 1)->seen[i].p.ecn == WF_ECN_CE;
}

static const uint64_t *queue_ctr(struct wf_fabric *f)
{
    return wf_fabric_switch(f, 0)->ports[1].q[PRIO].ctr;
}

/* At dequeue packet i of 200 leaves 199 - i behind; at enqueue it finds i ahead. The one that sees
 * exactly Kmin = Kmax bytes is marked, the next one not: its own bytes never count. */
static void its_own_bytes_do_not_count(void **state)
{
    for (int at = WF_MARK_DEQUEUE; at <= WF_MARK_ENQUEUE; at++)
        for (uint64_t more = 0; more < 2; more++) {
            struct wf_ecn_cfg ecn = {true, 100 * FRAME + more, 100 * FRAME + more, 1000000, 0};
            struct wf_fabric *f = held_and_let_go(one_leaf(&ecn, at), WF_ECN_ECT0, 200);

            assert_int_equal(wft_probe(f, 1)->n_seen, 200);
            for (uint32_t i = 0; i < 200; i++) {
                uint64_t sees = FRAME * (at == WF_MARK_DEQUEUE ? 199 - i : i);

                assert_int_equal(ce(f, i), sees >= 100 * FRAME + more);
            }
            assert_int_equal(queue_ctr(f)[WF_QUEUE_MARKED_FRAMES], 100 - more);
            wf_fabric_free(f);
        }
}

/* ECT(0), ECT(1) and CE in, CE out, and only what was changed counts as a mark; not ECN-capable and
 * not IP: never. */
static void only_ect_is_marked_and_ce_stays(void **state)
{
    struct wf_ecn_cfg ecn = {true, 0, 0, 1000000, 0};

    for (uint8_t in = 0; in < 4; in++) {
        struct wf_fabric *f = held_and_let_go(one_leaf(&ecn, WF_MARK_DEQUEUE), in, 20);
        bool ect = in == WF_ECN_ECT0 || in == WF_ECN_ECT1;

        assert_int_equal(wft_probe(f, 1)->n_seen, 20);
        for (uint32_t i = 0; i < 20; i++) {
            const struct wft_seen *s = &wft_probe(f, 1)->seen[i];

            assert_int_equal(s->p.ecn, in == WF_ECN_NOT_ECT ? WF_ECN_NOT_ECT : WF_ECN_CE);
            assert_true(wf_ip4_checksum_ok(s->bytes, s->caplen, &s->p));
        }
        assert_int_equal(queue_ctr(f)[WF_QUEUE_MARKED_FRAMES], ect ? 20 : 0);
        assert_int_equal(queue_ctr(f)[WF_QUEUE_CE_FRAMES], in == WF_ECN_CE ? 20 : 0);
        wf_fabric_free(f);
    }
}

/* An ARP frame of the same queue: neither marked nor dropped, byte by byte as it was. */
static void what_is_not_ip_is_left_alone(void **state)
{
    struct wf_ecn_cfg ecn = {true, 0, 0, 1000000, 0, true};
    struct wf_desc *d = one_leaf(&ecn, WF_MARK_DEQUEUE);
    uint8_t frame[60] = {0};
    struct wf_fabric *f;

    d->switches[0].cfg.port.pcp_to_tc[0] = PRIO;
    f = wft_build(d);
    memcpy(frame, d->hosts[1].cfg.mac, 6);
    memcpy(frame + 6, d->hosts[0].cfg.mac, 6);
    memcpy(frame + 12, "\x88\xb5", 2);
    memset(frame + 14, 0xff, 46); /* where an IP header would stand: ECT, CE, all of it */
    for (int i = 0; i < 10; i++)
        wft_send(f, 0, 0, 0, frame, 60, 60);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(wft_probe(f, 1)->n_seen, 10);
    for (uint32_t i = 0; i < 10; i++)
        assert_memory_equal(wft_probe(f, 1)->seen[i].bytes, frame, 60);
    assert_int_equal(queue_ctr(f)[WF_QUEUE_TX_FRAMES], 10);
    wf_fabric_free(f);
}

/* With wred_drop, Kmin = Kmax: what is not ECN-capable is taken until that many bytes wait, and
 * dropped from then on; ECN-capable packets are marked instead and all arrive. */
static void what_is_not_capable_is_dropped_early(void **state)
{
    struct wf_ecn_cfg ecn = {true, 50 * FRAME, 50 * FRAME, 1000000, 0, true};

    for (int at = WF_MARK_DEQUEUE; at <= WF_MARK_ENQUEUE; at++) {
        struct wf_fabric *f = held_and_let_go(one_leaf(&ecn, at), WF_ECN_NOT_ECT, 200);

        assert_int_equal(wft_probe(f, 1)->n_seen, 50);
        assert_int_equal(wf_fabric_switch(f, 0)->ports[0].drops[WF_DROP_WRED], 150);
        assert_int_equal(queue_ctr(f)[WF_QUEUE_DROP_FRAMES], 150);
        wf_fabric_free(f);
        f = held_and_let_go(one_leaf(&ecn, at), WF_ECN_ECT0, 200);
        assert_int_equal(wft_probe(f, 1)->n_seen, 200);
        assert_int_equal(queue_ctr(f)[WF_QUEUE_MARKED_FRAMES], 150);
        wf_fabric_free(f);
    }
}

/* Drops without marks: all IP packets; in a lossless group none. */
static void wred_without_ecn_drops_all_but_lossless(void **state)
{
    struct wf_ecn_cfg ecn = {false, 50 * FRAME, 50 * FRAME, 1000000, 0, true};
    struct wf_desc *d = one_leaf(&ecn, WF_MARK_DEQUEUE);
    struct wf_fabric *f = held_and_let_go(d, WF_ECN_ECT0, 200);

    assert_int_equal(wft_probe(f, 1)->n_seen, 50);
    assert_int_equal(queue_ctr(f)[WF_QUEUE_MARKED_FRAMES], 0);
    wf_fabric_free(f);
    d = one_leaf(&ecn, WF_MARK_DEQUEUE);
    d->switches[0].cfg.port.pg[PRIO].lossless = true;
    f = held_and_let_go(d, WF_ECN_NOT_ECT, 150);
    assert_int_equal(wft_probe(f, 1)->n_seen, 150);
    assert_int_equal(wf_fabric_ctr(f, WF_FABRIC_DROPPED), 0);
    wf_fabric_free(f);
}

/* The average of the lengths that packets leave behind, as double precision has it: Kmin = Kmax
 * marks those packets for which it is at least that. */
static void the_average_decides(void **state)
{
    for (uint32_t n = 1; n <= 7; n += 2) {
        struct wf_ecn_cfg ecn = {true, 60 * FRAME, 60 * FRAME, 1000000, n};
        struct wf_fabric *f = held_and_let_go(one_leaf(&ecn, WF_MARK_DEQUEUE), WF_ECN_ECT0, 200);
        uint32_t marked = 0;
        double avg = 0;

        for (uint32_t i = 0; i < 200; i++) {
            avg += ((199.0 - i) * FRAME - avg) / (1 << n);
            if (avg < 60 * FRAME - 1.1 || avg > 60 * FRAME + 0.1)
                assert_int_equal(ce(f, i), avg > 60 * FRAME);
            marked += ce(f, i);
        }
        assert_in_range(marked, 20, 180);
        wf_fabric_free(f);
    }
}

/* Two packets, 9 us apart, and an average of 160 kB that somebody left behind. The second comes
 * when its last bit is in, 500 ns of cable and 1,010 bytes after it began; meanwhile the port could
 * have sent 116 times 1,024 bytes (of 81.92 ns). Its own sample of an empty queue is the 117th. */
static void an_empty_queue_lowers_the_average(void **state)
{
    for (int at = WF_MARK_DEQUEUE; at <= WF_MARK_ENQUEUE; at++) {
        struct wf_ecn_cfg ecn = {true, 1ull << 39, 1ull << 39, 1000000, 5};
        struct wf_fabric *f = wft_build(one_leaf(&ecn, at));
        struct wf_ecn_avg *avg;

        wft_burst(f, 0, 1, DSCP, WF_ECN_ECT0, PAYLOAD, 1);
        wft_run(f, WF_TIME_NEVER);
        avg = &((struct wf_switch *)wf_fabric_switch(f, 0))->avg[1][PRIO];
        assert_true(avg->empty_ps > 0);
        avg->scaled = 160000 << 5;
        wft_run(f, avg->empty_ps + 9 * US);
        wft_burst(f, 0, 1, DSCP, WF_ECN_ECT0, PAYLOAD, 1);
        wft_run(f, WF_TIME_NEVER);
        assert_true(fabs((double)avg->scaled / 32 - 160000 * pow(31. / 32, 117)) < 2);
        wf_fabric_free(f);
    }
}

/* Packets that are dropped come to an empty queue, one each 40 ns, while the port takes 81.92 ns
 * for 1,024 bytes. The average falls nonetheless: below half after 22 samples, 1.8022 us. */
static void an_average_that_drops_all_falls(void **state)
{
    struct wf_ecn_cfg ecn = {true, 80000, 80000, 1000000, 5, true};
    struct wf_fabric *f = wft_build(one_leaf(&ecn, WF_MARK_DEQUEUE));
    struct wf_ecn_avg *avg = &((struct wf_switch *)wf_fabric_switch(f, 0))->avg[1][PRIO];
    uint64_t first;

    avg->scaled = 160000 << 5;
    wft_run(f, 10 * US);
    avg->empty_ps = wf_fabric_now_ps(f);
    for (unsigned i = 0; i < 100; i++) {
        wft_burst(f, 0, 1, DSCP, WF_ECN_NOT_ECT, 0, 1); /* 62 B: 64 with the padding */
        wft_run(f, wf_fabric_now_ps(f) + 40 * NS);
    }
    wft_run(f, WF_TIME_NEVER);
    first = 500 * NS + 72 * 80; /* its last bit is in */
    assert_int_equal(wf_fabric_ctr(f, WF_FABRIC_DROPPED), (22 * 81920 - first + 39999) / 40000);
    wf_fabric_free(f);
}

/* A queue that has never sent anything is flushed at 20 us, and its average was 160 kB: it has been
 * empty since then, 9 us when a packet is sent. As above, 116 samples and that packet's own. */
static void a_flush_begins_an_empty_time(void **state)
{
    for (int at = WF_MARK_DEQUEUE; at <= WF_MARK_ENQUEUE; at++) {
        struct wf_ecn_cfg ecn = {true, 1ull << 39, 1ull << 39, 1000000, 5};
        struct wf_fabric *f = wft_build(one_leaf(&ecn, at));
        struct wf_port *out = &wf_fabric_switch(f, 0)->ports[1];
        struct wf_ecn_avg *avg = &((struct wf_switch *)out->node)->avg[1][PRIO];

        wft_pfc(f, 1, 1 << PRIO, 65535);
        wft_run(f, 2 * US);
        wft_burst(f, 0, 1, DSCP, WF_ECN_ECT0, PAYLOAD, 5);
        wft_run(f, 20 * US);
        assert_int_equal(out->q[PRIO].fifo.count, 5);
        avg->scaled = 160000 << 5;
        wf_fabric_link_set(f, out->link, false);
        wft_run(f, 21 * US);
        wf_fabric_link_set(f, out->link, true);
        wft_run(f, 29 * US);
        wft_burst(f, 0, 1, DSCP, WF_ECN_ECT0, PAYLOAD, 1);
        wft_run(f, WF_TIME_NEVER);
        assert_int_equal(wft_probe(f, 1)->n_seen, 1);
        assert_true(fabs((double)avg->scaled / 32 - 160000 * pow(31. / 32, 117)) < 2);
        wf_fabric_free(f);
    }
}

enum { RUNS = 200, PACKETS = 2010, MARKS_MAX = 128 };

/* P(X <= k) of a binomial, by its terms. */
static double binomial_cdf(unsigned k, unsigned n, double p)
{
    double sum = 0;

    for (unsigned i = 0; i <= k; i++)
        sum += exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) + i * log(p) +
                   (n - i) * log1p(-p));
    return sum;
}

static double probability(uint32_t packet)
{
    double sees = (PACKETS - 1.0 - packet) * FRAME;

    return sees < 500. * FRAME ? 0 : sees >= 2000. * FRAME ? 1 : 0.05 * (sees / FRAME - 500) / 1500;
}

/* How likely each number of marks on the ramp is, in one run: the exact sum of unequal draws. */
static void one_run(double pmf[MARKS_MAX])
{
    memset(pmf, 0, MARKS_MAX * sizeof(*pmf));
    pmf[0] = 1;
    for (uint32_t i = 0; i < PACKETS; i++) {
        double p = probability(i);

        for (unsigned k = MARKS_MAX - 1; k > 0 && p < 1; k--)
            pmf[k] += p * (pmf[k - 1] - pmf[k]);
        pmf[0] *= p < 1 ? 1 - p : 1;
    }
}

/* P(at most `marks` on the ramps of all runs). */
static double all_runs_cdf(unsigned marks)
{
    static double sum[RUNS * MARKS_MAX], next[RUNS * MARKS_MAX], run[MARKS_MAX];
    double cdf = 0;

    one_run(run);
    sum[0] = 1;
    for (unsigned r = 0; r < RUNS; r++) {
        memset(next, 0, sizeof(next));
        for (unsigned i = 0; i <= r * (MARKS_MAX - 1); i++)
            for (unsigned k = 0; k < MARKS_MAX; k++)
                next[i + k] += sum[i] * run[k];
        memcpy(sum, next, sizeof(sum));
    }
    for (unsigned k = 0; k <= marks; k++)
        cdf += sum[k];
    return cdf;
}

/* Kmin 500 packets, Kmax 2,000, Pmax 5%, 2,010 packets, 200 seeds. The ten that see Kmax
 * or more are marked always, below Kmin none is; each of the others as often as a binomial allows
 * but once in 10^9, and their sum but once in 10^6. */
static void marking_accuracy(void **state)
{
    static unsigned hits[PACKETS];
    struct wf_ecn_cfg ecn = {true, 500 * FRAME, 2000 * FRAME, 50000, 0};
    unsigned ramp = 0;
    double below;

    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct wf_desc *d = one_leaf(&ecn, WF_MARK_DEQUEUE);
        struct wf_fabric *f;

        d->seed = seed;
        f = held_and_let_go(d, WF_ECN_ECT0, PACKETS);
        assert_int_equal(wft_probe(f, 1)->n_seen, PACKETS);
        for (uint32_t i = 0; i < PACKETS; i++)
            hits[i] += ce(f, i);
        wf_fabric_free(f);
    }
    for (uint32_t i = 0; i < PACKETS; i++) {
        double p = probability(i);

        if (p == 0 || p == 1) {
            assert_int_equal(hits[i], p * RUNS);
            continue;
        }
        assert_true(binomial_cdf(hits[i], RUNS, p) > 1e-9);
        assert_true(!hits[i] || 1 - binomial_cdf(hits[i] - 1, RUNS, p) > 1e-9);
        ramp += hits[i];
    }
    below = all_runs_cdf(ramp);
    print_message("%u marks on the ramps, expected 7495; P(at most so many) = %.4f\n", ramp, below);
    assert_true(below > 1e-6 && below < 1 - 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_own_bytes_do_not_count),
        cmocka_unit_test(only_ect_is_marked_and_ce_stays),
        cmocka_unit_test(what_is_not_ip_is_left_alone),
        cmocka_unit_test(what_is_not_capable_is_dropped_early),
        cmocka_unit_test(wred_without_ecn_drops_all_but_lossless),
        cmocka_unit_test(the_average_decides),
        cmocka_unit_test(an_empty_queue_lowers_the_average),
        cmocka_unit_test(an_average_that_drops_all_falls),
        cmocka_unit_test(a_flush_begins_an_empty_time),
        cmocka_unit_test(marking_accuracy),
    };

    wft_eal(128);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
