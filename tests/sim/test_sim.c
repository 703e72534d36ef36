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
#include "sim/team_priv.h"
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

struct note {
    struct wf_event ev;
    struct wf_fifo_node q;
};

static struct wf_team *team;
static struct note notes[2];

static void note_arrives(struct wf_lcore *lc, struct wf_event *ev)
{
}

static void send_notes(struct wf_lcore *lc, struct wf_event *ev)
{
    struct wf_mailbox *box = wf_team_mailbox(team, 0, 1);

    for (unsigned i = 0; i < 2; i++) {
        notes[i].ev = (struct wf_event){2000, wf_event_key(16, WF_EV_ARRIVAL, i), note_arrives};
        box->ops->put(box, &notes[i].ev);
    }
}

/* A member whose messages find no room has nothing to do, and so gives its core away, until the
 * other one has taken some. */
static void who_waits_for_room_is_idle(void **state)
{
    struct wf_lcore *lcs = aligned_alloc(64, (2 * sizeof(*lcs) + 63) / 64 * 64);
    struct wf_event ev = {0};
    struct wf_member *m;

    for (unsigned i = 0; i < 2; i++) {
        wf_lcore_init(&lcs[i], false, 1, WF_TIME_NEVER);
        lcs[i].index = i;
        assert_int_equal(wf_wheel_reserve(&lcs[i].wheel, 4), 0);
    }
    assert_int_equal(
        wf_team_new(&team, &(struct wf_team_cfg){.lcs = lcs,
                                                 .n = 2,
                                                 .mode = WF_TEAM_ALONE,
                                                 .mailbox_slots = 1,
                                                 .node_off = offsetof(struct note, q)}),
        0);
    wf_team_lookahead(team, 0, 1, 1000);
    wf_team_lookahead(team, 1, 0, 1000);
    wf_team_ready(team);
    m = team->members;
    wf_lcore_schedule(&lcs[0], &ev, 10, wf_event_key(16, WF_EV_TIMER, 0), send_notes);
    assert_true(wf_member_step(&m[0], 5000)); /* sends both; there is room for one */
    assert_false(wf_member_step(&m[0], 5000));
    assert_true(wf_member_step(&m[1], 5000)); /* takes it */
    assert_true(wf_member_step(&m[0], 5000));
    assert_int_equal(wf_team_stats(team).overflowed, 1);
    assert_int_equal(wf_team_run(team, 5000, 0), 5000);
    assert_int_equal(lcs[1].events, 2);
    wf_team_free(team);
    for (unsigned i = 0; i < 2; i++)
        wf_wheel_fini(&lcs[i].wheel);
    free(lcs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instant_runs_in_entity_order),
        cmocka_unit_test(paced_clock_follows_wall_time),
        cmocka_unit_test(slip_stretches_instead_of_catching_up),
        cmocka_unit_test(lateness_is_a_share_of_events),
        cmocka_unit_test(wake_ends_a_sleep),
        cmocka_unit_test(who_waits_for_room_is_idle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
