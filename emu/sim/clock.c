/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/clock.h"

#include <string.h>
#include <time.h>

#include "base/units.h"

uint64_t wf_wall_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void wf_clock_init(struct wf_clock *c, bool paced, uint32_t scale, uint64_t end_ps)
{
    memset(c, 0, sizeof(*c));
    c->paced = paced;
    c->scale = scale ? scale : 1;
    c->end_ps = end_ps;
    c->step_ps = WF_PS_PER_MS;
}

uint64_t wf_clock_pace(struct wf_clock *c, uint64_t now_ps)
{
    uint64_t wall, limit;

    if (!c->paced)
        return c->end_ps;
    wall = wf_wall_ns();
    if (!c->wall0_ns)
        c->wall0_ns = wall - now_ps / WF_PS_PER_NS * c->scale;
    c->target_ps = (wall - c->wall0_ns) * WF_PS_PER_NS / c->scale;
    limit = c->target_ps;
    if (limit > now_ps + c->step_ps) {
        limit = now_ps + c->step_ps;
        if (c->slip) { /* what was missed never happened in fabric time */
            uint64_t missed_ns = (c->target_ps - limit) / WF_PS_PER_NS * c->scale;

            c->wall0_ns += missed_ns;
            c->slipped_ps += c->target_ps - limit;
            c->target_ps = limit;
        }
    }
    if (limit < now_ps)
        limit = now_ps;
    return limit < c->end_ps ? limit : c->end_ps;
}

uint64_t wf_clock_wall_of(const struct wf_clock *c, uint64_t t_ps)
{
    if (t_ps == WF_TIME_NEVER)
        return UINT64_MAX;
    return c->wall0_ns + (t_ps + WF_PS_PER_NS - 1) / WF_PS_PER_NS * c->scale;
}

uint64_t wf_clock_lateness(const struct wf_clock *c, double share)
{
    uint64_t all = 0, seen = 0;

    for (int i = 0; i < WF_LATENESS_BUCKETS; i++)
        all += c->lateness[i];
    for (int i = 0; i < WF_LATENESS_BUCKETS; i++) {
        seen += c->lateness[i];
        if (all && (double)seen >= share * (double)all)
            return i == 63 ? UINT64_MAX : (2ull << i) - 1;
    }
    return 0;
}

void wf_clock_gather(struct wf_clock *c, struct wf_clock *from)
{
    for (int i = 0; i < WF_LATENESS_BUCKETS; i++) {
        c->lateness[i] += from->lateness[i];
        from->lateness[i] = 0;
    }
    if (from->late_max_ps > c->late_max_ps)
        c->late_max_ps = from->late_max_ps;
}

int64_t wf_epoch_s(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    return ts.tv_sec;
}
