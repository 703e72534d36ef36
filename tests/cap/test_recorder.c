/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way of records from many lcores to one file: their order, full rings, an lcore that is
 * behind, and records that the writer plans itself. Whether somebody waits is decided by a gate
 * that the test holds, never by a clock.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cap/recorder.h"

enum { SEEN_MAX = 20000 };

struct seen {
    uint64_t t, key, value;
};

static struct seen seen[SEEN_MAX];
static size_t n_seen;
static struct wf_recorder *rec;
static atomic_bool inside, gate_open;
static _Atomic uint64_t published[4];

static void note(void *arg, uint64_t t, uint64_t key, const void *data, uint32_t len)
{
    uint64_t v;

    memcpy(&v, data, sizeof(v));
    if (arg) {
        atomic_store(&inside, true);
        while (!atomic_load(&gate_open))
            usleep(500);
    }
    if (n_seen < SEEN_MAX)
        seen[n_seen++] = (struct seen){t, key, v};
    (void)len;
}

static void start(struct wf_recorder_conf conf)
{
    struct wf_err err = {.line = 0};

    n_seen = 0;
    atomic_store(&inside, false);
    atomic_store(&gate_open, false);
    for (int i = 0; i < 4; i++)
        atomic_store(&published[i], 0);
    if (!conf.write)
        conf.write = note;
    assert_int_equal(wf_recorder_new(&rec, &conf, &err), 0);
}

static bool put(unsigned ring, uint64_t t, uint64_t key, uint64_t v)
{
    uint8_t more[120] = {0};

    return wf_recorder_put(rec, ring, t, key, &v, sizeof(v), more, sizeof(more));
}

static void expect(size_t i, uint64_t t, uint64_t key, uint64_t v)
{
    assert_true(i < n_seen);
    assert_int_equal(seen[i].t, t);
    assert_int_equal(seen[i].key, key);
    assert_int_equal(seen[i].value, v);
}

static void records_come_by_time_then_key_then_order(void **state)
{
    (void)state;
    start((struct wf_recorder_conf){.rings = 3});
    put(2, 5, 7, 0);
    put(2, 5, 7, 1);
    put(0, 5, 8, 2);
    put(0, 5, 3, 3);
    put(0, 9, 1, 4);
    put(1, 4, 9, 5);
    put(1, 5, 4, 6);
    wf_recorder_drain(rec, 5);
    assert_int_equal(n_seen, 6);
    expect(0, 4, 9, 5);
    expect(1, 5, 3, 3);
    expect(2, 5, 4, 6);
    expect(3, 5, 7, 0);
    expect(4, 5, 7, 1);
    expect(5, 5, 8, 2);
    wf_recorder_drain(rec, UINT64_MAX);
    expect(6, 9, 1, 4);
    wf_recorder_free(rec);
}

static uint64_t end_of_time(void *arg, unsigned lcore)
{
    (void)arg;
    (void)lcore;
    return UINT64_MAX;
}

static atomic_bool looked;

static void look(void *arg)
{
    (void)arg;
    atomic_store(&looked, true);
}

static void wait_for(const atomic_bool *flag)
{
    for (int i = 0; i < 10000 && !atomic_load(flag); i++)
        usleep(500);
    assert_true(atomic_load(flag));
}

/* A run that has nothing left has published the end of time; what its end puts comes afterwards,
 * whenever the writer looks. */
static void last_instant_stays_in_order(void **state)
{
    (void)state;
    start((struct wf_recorder_conf){.rings = 2, .published_ps = end_of_time, .flush = look});
    for (uint64_t key = 9; key > 5; key--) {
        atomic_store(&looked, false);
        put(key & 1, 40, key, key);
        wait_for(&looked);
    }
    wf_recorder_drain(rec, 40);
    assert_int_equal(n_seen, 4);
    for (uint64_t i = 0; i < 4; i++)
        expect(i, 40, 6 + i, 6 + i);
    wf_recorder_free(rec);
}

struct load {
    unsigned ring, n;
    _Atomic unsigned done;
};

static void *producer(void *arg)
{
    struct load *l = arg;

    for (unsigned i = 0; i < l->n; i++) {
        put(l->ring, i / 3, l->ring, i);
        atomic_store(&l->done, i + 1);
    }
    return NULL;
}

static void two_lcores_meet_in_one_order(void **state)
{
    struct load loads[2] = {{.ring = 0, .n = 9000}, {.ring = 1, .n = 9000}};
    pthread_t threads[2];
    size_t i = 0;

    (void)state;
    start((struct wf_recorder_conf){.rings = 2, .ring_bytes = 65536});
    for (int l = 0; l < 2; l++)
        assert_int_equal(pthread_create(&threads[l], NULL, producer, &loads[l]), 0);
    for (int l = 0; l < 2; l++)
        pthread_join(threads[l], NULL);
    wf_recorder_drain(rec, UINT64_MAX);
    assert_int_equal(n_seen, 18000);
    for (uint64_t t = 0; t < 3000; t++)
        for (unsigned ring = 0; ring < 2; ring++)
            for (unsigned k = 0; k < 3; k++)
                expect(i++, t, ring, 3 * t + k);
    assert_int_equal(wf_recorder_lost(rec), 0);
    wf_recorder_free(rec);
}

/* The writer stands in the file: what it had taken and what the ring holds is all that fits. */
static void a_virtual_run_waits_for_the_file(void **state)
{
    struct load l = {.n = 9000};
    pthread_t thread;

    (void)state;
    start((struct wf_recorder_conf){.rings = 1, .ring_bytes = 65536, .arg = &l});
    assert_int_equal(pthread_create(&thread, NULL, producer, &l), 0);
    wait_for(&inside);
    usleep(20000);
    assert_true(atomic_load(&l.done) < l.n);
    atomic_store(&gate_open, true);
    pthread_join(thread, NULL);
    wf_recorder_drain(rec, UINT64_MAX);
    assert_int_equal(n_seen, l.n);
    wf_recorder_free(rec);
}

static void a_live_run_loses_and_counts(void **state)
{
    unsigned kept = 0;

    (void)state;
    start((struct wf_recorder_conf){
        .rings = 1, .lossy = true, .ring_bytes = 65536, .arg = &kept, .published_ps = NULL});
    put(0, 0, 0, 0);
    kept = 1 + put(0, 1, 0, 0);
    wait_for(&inside);
    for (unsigned i = 0; i < 9000; i++) /* comes back though nobody writes */
        kept += put(0, 2 + i, 0, i);
    assert_true(wf_recorder_lost(rec) > 0);
    atomic_store(&gate_open, true);
    wf_recorder_drain(rec, UINT64_MAX);
    assert_int_equal(n_seen, kept);
    assert_int_equal(n_seen + wf_recorder_lost(rec), 9002);
    wf_recorder_free(rec);
}

static uint64_t how_far(void *arg, unsigned ring)
{
    (void)arg;
    return atomic_load(&published[ring]);
}

/* Ten rings full from lcore 0 while lcore 1 has come nowhere: nothing is written, nobody waits. */
static void an_lcore_never_waits_for_another(void **state)
{
    (void)state;
    start((struct wf_recorder_conf){.rings = 2, .ring_bytes = 65536, .published_ps = how_far});
    for (unsigned i = 0; i < 5000; i++)
        put(0, i, 0, i);
    wf_recorder_lock(rec);
    assert_int_equal(n_seen, 0);
    wf_recorder_unlock(rec);
    atomic_store(&published[1], 100);
    put(1, 100, 0, 7);
    wf_recorder_drain(rec, 100);
    assert_int_equal(n_seen, 102);
    expect(99, 99, 0, 99);
    wf_recorder_drain(rec, UINT64_MAX);
    assert_int_equal(n_seen, 5001);
    wf_recorder_free(rec);
}

/* Silence is no obstacle: a published time alone lets the others' records go. */
static void a_silent_lcore_publishes(void **state)
{
    size_t n = 0;

    (void)state;
    start((struct wf_recorder_conf){.rings = 2, .published_ps = how_far});
    for (unsigned i = 0; i < 10; i++)
        put(0, i, 0, i);
    atomic_store(&published[1], 5);
    for (int i = 0; i < 10000 && n < 5; i++) {
        usleep(500);
        wf_recorder_lock(rec);
        n = n_seen;
        wf_recorder_unlock(rec);
    }
    assert_int_equal(n, 5);
    wf_recorder_free(rec);
}

static void plan_two(void *arg, uint64_t t, uint64_t key, const void *data, uint32_t len)
{
    uint64_t v = 1000;

    note(NULL, t, key, data, len);
    if (t != 10)
        return;
    wf_recorder_plan(rec, 30, 1, &v, sizeof(v));
    v = 2000;
    wf_recorder_plan(rec, 20, 1, &v, sizeof(v));
}

static void the_writer_may_plan(void **state)
{
    (void)state;
    start((struct wf_recorder_conf){.rings = 1, .write = plan_two});
    put(0, 10, 1, 1);
    put(0, 25, 1, 2);
    wf_recorder_drain(rec, 25);
    assert_int_equal(n_seen, 3);
    expect(0, 10, 1, 1);
    expect(1, 20, 1, 2000);
    expect(2, 25, 1, 2);
    wf_recorder_free(rec); /* what was planned for 30 is forgotten */
    assert_int_equal(n_seen, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_by_time_then_key_then_order),
        cmocka_unit_test(last_instant_stays_in_order),
        cmocka_unit_test(two_lcores_meet_in_one_order),
        cmocka_unit_test(a_virtual_run_waits_for_the_file),
        cmocka_unit_test(a_live_run_loses_and_counts),
        cmocka_unit_test(an_lcore_never_waits_for_another),
        cmocka_unit_test(a_silent_lcore_publishes),
        cmocka_unit_test(the_writer_may_plan),
    };

    return cmocka_run_group_tests_name("cap/recorder", tests, NULL, NULL);
}
