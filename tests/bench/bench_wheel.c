/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one event costs in virtual time on one lcore: every event schedules itself again, as many
 * pending as the first argument says. The second says after how long: `spread` 5 ns to 3 us drawn
 * anew each time; `frames` as links do, one of the shortest frame, a frame, and either with a
 * cable of 1 us behind it. Each event lies in an object as large as a packet. CPU time of the
 * thread; prints "figure NANOSECONDS". The fabric's own work is not in it.
 *   bench_wheel PENDING spread|frames
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "sim/lcore.h"

enum { EVENTS = 4000000 };

struct player {
    struct wf_event ev;
    uint64_t state;
    uint32_t entity, seq;
    uint8_t rest[256 - sizeof(struct wf_event) - 16];
};

static bool frames;

static uint64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t delay_ps(struct player *p)
{
    static const uint64_t of_frame[] = {5120, 85120, 1005120, 1085120};

    p->state = p->state * 6364136223846793005ull + 1442695040888963407ull;
    return frames ? of_frame[p->state >> 62] : 5000 + ((p->state >> 33) * 2995000 >> 31);
}

static void play(struct wf_lcore *lc, struct wf_event *ev)
{
    struct player *p = (struct player *)ev;

    wf_lcore_schedule(lc, ev, lc->now_ps + delay_ps(p),
                      wf_event_key(p->entity, WF_EV_TIMER, ++p->seq), play);
}

int main(int argc, char **argv)
{
    size_t n = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
    struct player *players = aligned_alloc(64, (n ? n : 1) * sizeof(*players));
    struct wf_lcore *lc = aligned_alloc(64, (sizeof(*lc) + 63) / 64 * 64);
    uint64_t start_ns, ran;

    if (!n || !players || !lc)
        return 2;
    frames = !strcmp(argv[2], "frames");
    memset(players, 0, n * sizeof(*players));
    wf_lcore_init(lc, false, 1, WF_TIME_NEVER);
    if (wf_wheel_reserve(&lc->wheel, n))
        return 3;
    for (size_t i = 0; i < n; i++) {
        players[i].state = i * 2654435761u;
        players[i].entity = (uint32_t)(WF_ENTITY_FIRST + i);
        wf_lcore_schedule(lc, &players[i].ev, players[i].state % 1000000,
                          wf_event_key(players[i].entity, WF_EV_TIMER, 0), play);
    }
    wf_lcore_run(lc, WF_TIME_NEVER, 2 * n); /* until they lie as they will */
    ran = lc->events;
    start_ns = cpu_ns();
    wf_lcore_run(lc, WF_TIME_NEVER, EVENTS);
    printf("figure %.2f\n", (double)(cpu_ns() - start_ns) / (double)(lc->events - ran));
    wf_wheel_fini(&lc->wheel);
    free(players);
    free(lc);
    return 0;
}
