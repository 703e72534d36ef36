/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/lcore.h"

#include <string.h>

#include "base/units.h"

void wf_lcore_init(struct wf_lcore *lc, bool paced, uint32_t scale, uint64_t end_ps)
{
    memset(lc, 0, sizeof(*lc));
    wf_clock_init(&lc->clock, paced, scale, end_ps);
}

/* One event, and all that may be asked of it. */
static bool run_one(struct wf_lcore *lc, uint64_t limit_ps)
{
    wf_event_fn *fn;
    struct wf_event *ev = wf_wheel_pop(&lc->wheel, limit_ps, &fn);
    uint64_t key;

    if (!ev)
        return false;
    lc->now_ps = ev->t_ps;
    if (lc->clock.paced)
        wf_clock_late(&lc->clock, ev->t_ps);
    key = ev->key;
    fn(lc, ev);
    if (lc->watch)
        lc->watch->after(lc->watch, lc->now_ps, key);
    return true;
}

/* All up to `stop`, which an event may bring nearer. Returns how many. */
static uint64_t run_ready(struct wf_lcore *lc)
{
    struct wf_wheel *w = &lc->wheel;
    struct wf_entry *e = w->due, *far = w->prefetch ? w->due_end - WF_WHEEL_AHEAD : NULL;
    struct wf_entry *near = w->prefetch ? w->due_end - WF_WHEEL_NEAR : NULL;
    uint64_t n = 0;

    while (e < w->stop) {
        struct wf_event *ev;
        wf_event_fn *fn;

        if (e < far)
            wf_wheel_prefetch(e[WF_WHEEL_AHEAD].ev);
        if (e < near)
            wf_wheel_prefetch_near(e[WF_WHEEL_NEAR].ev);
        ev = e->ev;
        fn = ev->fn;
        w->due = ++e;
        if (!fn) { /* cancelled */
            w->elsewhere++;
            continue;
        }
        lc->now_ps = ev->t_ps;
        ev->fn = NULL;
        fn(lc, ev);
        n++;
    }
    return n;
}

uint64_t wf_lcore_run(struct wf_lcore *lc, uint64_t limit_ps, uint64_t budget)
{
    bool alone = !lc->watch && !lc->clock.paced;
    uint64_t left = budget ? budget : UINT64_MAX, n;

    for (;;) {
        if (alone && left && wf_wheel_ready(&lc->wheel, limit_ps, left))
            n = run_ready(lc); /* none, where all were cancelled */
        else if (run_one(lc, limit_ps))
            n = 1;
        else
            break;
        if (!n)
            continue;
        lc->events += n;
        lc->last_event_ps = lc->now_ps;
        if (left && !(left -= n))
            limit_ps = lc->now_ps + 1; /* an instant is never left half done */
    }
    return limit_ps;
}

uint64_t wf_lcore_turn(struct wf_lcore *lc)
{
    uint64_t before = lc->events;
    uint64_t limit_ps = wf_lcore_run(lc, wf_clock_pace(&lc->clock, lc->now_ps), 0);

    /* a virtual run without an end stands where its last event was */
    if (limit_ps != WF_TIME_NEVER && limit_ps > lc->now_ps)
        lc->now_ps = limit_ps;
    return lc->events - before;
}

bool wf_lcore_done(const struct wf_lcore *lc)
{
    if (lc->clock.end_ps != WF_TIME_NEVER)
        return lc->now_ps >= lc->clock.end_ps;
    return !lc->clock.paced && wf_wheel_count(&lc->wheel) == 0;
}
