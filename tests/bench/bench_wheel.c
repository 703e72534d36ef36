/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many events a second one lcore runs in virtual time: every event schedules itself again
 * after a random delay of up to 2 us, as links and timers do, with as many events pending as the
 * argument says (4096). Prints "figure EVENTS_PER_SECOND". The fabric's own work is not in it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/prng.h"
#include "base/units.h"
#include "sim/lcore.h"

enum { ROUNDS = 2000 };

struct player {
    struct wf_event ev;
    struct wf_prng prng;
    uint32_t entity, seq;
};

static void play(struct wf_lcore *lc, struct wf_event *ev)
{
    struct player *p = (struct player *)ev;
    uint64_t delay_ps = 1000 + wf_prng_below(&p->prng, 2 * WF_PS_PER_US);

    wf_lcore_schedule(lc, ev, lc->now_ps + delay_ps, wf_event_key(p->entity, WF_EV_TIMER, ++p->seq),
                      play);
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 4096;
    struct player *players = calloc(n, sizeof(*players));
    struct wf_lcore *lc = aligned_alloc(64, (sizeof(*lc) + 63) / 64 * 64);
    uint64_t start_ns, took_ns;

    if (!n || !players || !lc)
        return 2;
    wf_lcore_init(lc, false, 1, ROUNDS * WF_PS_PER_US);
    for (size_t i = 0; i < n; i++) {
        wf_prng_init(&players[i].prng, i + 1, "bench");
        players[i].entity = (uint32_t)(WF_ENTITY_FIRST + i);
        wf_lcore_schedule(lc, &players[i].ev, i, wf_event_key(players[i].entity, WF_EV_TIMER, 0),
                          play);
    }
    start_ns = wf_wall_ns();
    while (!wf_lcore_done(lc))
        wf_lcore_turn(lc);
    took_ns = wf_wall_ns() - start_ns;
    printf("figure %.0f\n", (double)lc->events * 1e9 / (double)(took_ns ? took_ns : 1));
    free(players);
    free(lc);
    return 0;
}
