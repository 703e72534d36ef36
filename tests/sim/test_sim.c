/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of sim/: the order of events, turns, clocks, waiting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"
#include "sim/lcore.h"
#include "sim/wait.h"

static char order[16];
static void note(struct wf_lcore *lc, struct wf_event *ev)
{
    size_t n = strlen(order);

    (void)lc;
    order[n] = (char)('a' + (ev->key >> 40));
}

static void instant_runs_in_entity_order(void **state)
{
    struct wf_lcore *lc = malloc(sizeof(*lc));
    struct wf_event ev[4] = {0};
    static const uint32_t entity[] = {3, 0, 2, 1};

    (void)state;
    memset(order, 0, sizeof(order));
    wf_lcore_init(lc, false, 1, WF_PS_PER_US);
    assert_int_equal(wf_wheel_reserve(&lc->wheel, 4), 0);
    for (int i = 0; i < 4; i++)
        wf_lcore_schedule(lc, &ev[i], 5000, wf_event_key(entity[i], WF_EV_TIMER, 0), note);
    assert_int_equal(wf_lcore_turn(lc), 4);
    assert_string_equal(order, "abcd");
    assert_int_equal(lc->now_ps, WF_PS_PER_US);
    assert_true(wf_lcore_done(lc));
    wf_wheel_fini(&lc->wheel);
    free(lc);
}

static void paced_clock_follows_wall_time(void **state)
{
    struct wf_clock c;
    uint64_t t = 0, last = 0, start = wf_wall_ns();

    (void)state;
    wf_clock_init(&c, true, 4, WF_TIME_NEVER);
    wf_clock_pace(&c, 0);
    while (wf_wall_ns() - start < 5000000) {
        t = wf_clock_pace(&c, last);
        assert_true(t >= last && t <= last + c.step_ps);
        last = t;
    }
    /* never ahead of wall time / scale, whatever the machine does */
    assert_true(t <= (wf_wall_ns() - start) * 1000 / 4);
    assert_true(wf_clock_wall_of(&c, t) <= wf_wall_ns() + 4);
}

static void slip_stretches_instead_of_catching_up(void **state)
{
    struct wf_clock c;

    (void)state;
    wf_clock_init(&c, true, 1, WF_TIME_NEVER);
    c.slip = true;
    c.step_ps = WF_PS_PER_NS;
    c.wall0_ns = wf_wall_ns() - 1000000000u; /* as if the lcore had been away for a second */
    assert_int_equal(wf_clock_pace(&c, 0), WF_PS_PER_NS);
    assert_true(c.slipped_ps >= 999 * WF_PS_PER_MS);
    assert_int_equal(c.target_ps, WF_PS_PER_NS);
}

static void lateness_is_a_share_of_events(void **state)
{
    struct wf_clock c = {0};

    (void)state;
    c.target_ps = 1 << 20;
    for (int i = 0; i < 99; i++)
        wf_clock_late(&c, c.target_ps - 100);
    wf_clock_late(&c, 0);
    assert_int_equal(wf_clock_lateness(&c, 0.99), 127);
    assert_true(wf_clock_lateness(&c, 1.0) >= 1 << 20);
}

static void wake_ends_a_sleep(void **state)
{
    struct wf_wait w;

    (void)state;
    assert_int_equal(wf_wait_init(&w), 0);
    atomic_store(&w.asleep, true); /* as another thread sees it */
    wf_wait_wake(&w);
    w.idle_polls = 1;
    wf_wait_until(&w, UINT64_MAX, false); /* would take a second and more without the wake-up */
    assert_true(w.fds[0].revents & POLLIN);
    wf_wait_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instant_runs_in_entity_order),
        cmocka_unit_test(paced_clock_follows_wall_time),
        cmocka_unit_test(slip_stretches_instead_of_catching_up),
        cmocka_unit_test(lateness_is_a_share_of_events),
        cmocka_unit_test(wake_ends_a_sleep),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
