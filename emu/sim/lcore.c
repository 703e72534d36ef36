/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/lcore.h"

#include <string.h>

#include "base/units.h"

void wf_lcore_init(struct wf_lcore *lc, bool paced, uint32_t scale, uint64_t end_ps)
{
    memset(lc, 0, sizeof(*lc));
    wf_clock_init(&lc->clock, paced, scale, end_ps);
}

static inline __attribute__((always_inline)) uint64_t run(struct wf_lcore *lc, uint64_t limit_ps,
                                                          uint64_t budget, bool watched)
{
    uint64_t n = 0, key;
    struct wf_event *ev;
    wf_event_fn *fn;

    while ((ev = wf_wheel_pop(&lc->wheel, limit_ps, &fn))) {
        lc->now_ps = lc->last_event_ps = ev->t_ps;
        if (lc->clock.paced)
            wf_clock_late(&lc->clock, ev->t_ps);
        key = ev->key;
        fn(lc, ev);
        if (watched)
            lc->watch->after(lc->watch, lc->now_ps, key);
        if (++n == budget)
            limit_ps = lc->now_ps + 1; /* an instant is never left half done */
    }
    lc->events += n;
    return limit_ps;
}

/* Two loops, so that one who is not watched does not ask. */
uint64_t wf_lcore_run(struct wf_lcore *lc, uint64_t limit_ps, uint64_t budget)
{
    return lc->watch ? run(lc, limit_ps, budget, true) : run(lc, limit_ps, budget, false);
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
    return !lc->clock.paced && lc->wheel.count == 0;
}
