/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/lcore.h"

#include <string.h>

#include "base/units.h"

void wf_lcore_init(struct wf_lcore *lc, bool paced, uint32_t scale, uint64_t end_ps)
{
    memset(lc, 0, sizeof(*lc));
    lc->stop_ps = WF_TIME_NEVER;
    wf_clock_init(&lc->clock, paced, scale, end_ps);
}

static uint64_t run_due(struct wf_lcore *lc, uint64_t limit_ps)
{
    uint64_t n = 0;
    struct wf_event *ev;

    while ((ev = wf_wheel_pop(&lc->wheel, limit_ps))) {
        lc->now_ps = lc->last_event_ps = ev->t_ps;
        if (lc->clock.paced)
            wf_clock_late(&lc->clock, ev->t_ps);
        ev->fn(lc, ev);
        if (++n == lc->budget)
            return n;
    }
    /* a virtual run without an end stands where its last event was */
    if (limit_ps != WF_TIME_NEVER && limit_ps > lc->now_ps)
        lc->now_ps = limit_ps;
    return n;
}

uint64_t wf_lcore_turn(struct wf_lcore *lc)
{
    uint64_t limit_ps = wf_clock_pace(&lc->clock, lc->now_ps);
    uint64_t n;

    if (limit_ps > lc->stop_ps)
        limit_ps = lc->stop_ps;
    n = run_due(lc, limit_ps);
    lc->events += n;
    atomic_store_explicit(&lc->next_ps, wf_wheel_next_ps(&lc->wheel), memory_order_relaxed);
    atomic_store_explicit(&lc->published_ps, lc->now_ps, memory_order_release);
    return n;
}

bool wf_lcore_done(const struct wf_lcore *lc)
{
    if (lc->clock.end_ps != WF_TIME_NEVER)
        return lc->now_ps >= lc->clock.end_ps;
    return !lc->clock.paced && lc->wheel.count == 0;
}
