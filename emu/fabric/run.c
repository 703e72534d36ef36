/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/run.h"

#include <string.h>

#include "base/assert.h"
#include "base/list.h"

enum { TURN_EVENTS = 100000, PROGRESS_NS = 1000000000 };

/* ---- stops and turns ---- */

void wf_fabric_add_stops(struct wf_fabric *f, struct wf_stops *s)
{
    struct wf_stops **at = &f->stops;

    while (*at && (*at)->kind <= s->kind)
        at = &(*at)->next;
    s->next = *at;
    *at = s;
}

void wf_fabric_remove_stops(struct wf_fabric *f, struct wf_stops *s)
{
    struct wf_stops **at = &f->stops;

    while (*at && *at != s)
        at = &(*at)->next;
    if (*at)
        *at = s->next;
}

uint64_t wf_fabric_next_stop_ps(const struct wf_fabric *f, enum wf_stops_kind last)
{
    uint64_t next = WF_TIME_NEVER;

    for (const struct wf_stops *s = f->stops; s && s->kind <= last; s = s->next)
        next = s->at_ps < next ? s->at_ps : next;
    return next;
}

static uint64_t act(struct wf_fabric *f)
{
    uint64_t now = wf_fabric_now_ps(f), n = 0;
    struct wf_stops *s, *next;

    for (s = f->stops; s; s = next) {
        next = s->next;
        if (s->at_ps > now)
            continue;
        s->act(s, f);
        WF_ASSERT(s->at_ps > now);
        n++;
    }
    return n;
}

/* Neither an event nor a stop that does anything. */
static bool nothing_left(const struct wf_fabric *f)
{
    return wf_fabric_idle(f) && wf_fabric_next_stop_ps(f, WF_STOPS_INPUT) == WF_TIME_NEVER;
}

/* How far the clock lets time go. Lateness is counted by each lcore. */
static uint64_t pace(struct wf_fabric *f)
{
    struct wf_clock *clock = wf_fabric_clock(f);
    uint64_t limit_ps = wf_clock_pace(clock, wf_fabric_now_ps(f));

    for (uint32_t i = 1; i < f->n_lcs; i++) {
        f->lcs[i].clock.paced = clock->paced;
        f->lcs[i].clock.target_ps = clock->target_ps;
    }
    return limit_ps;
}

static void gather_lateness(struct wf_fabric *f)
{
    for (uint32_t i = 1; i < f->n_lcs && wf_fabric_clock(f)->paced; i++)
        wf_clock_gather(wf_fabric_clock(f), &f->lcs[i].clock);
}

/* All events before limit_ps, or those of a budget. */
static uint64_t run_events(struct wf_fabric *f, uint64_t limit_ps)
{
    return f->team ? wf_team_run(f->team, limit_ps, TURN_EVENTS)
                   : wf_lcore_run(&f->lcs[0], limit_ps, TURN_EVENTS);
}

static void stand_at(struct wf_fabric *f, uint64_t t_ps)
{
    for (uint32_t i = 0; i < f->n_lcs; i++)
        f->lcs[i].now_ps = t_ps;
}

/* rests: with nothing left to do, time stands where the last thing happened. */
static uint64_t turn(struct wf_fabric *f, uint64_t until_ps, bool rests)
{
    uint64_t end_ps = pace(f), before = wf_fabric_events(f), acted = act(f);

    end_ps = end_ps < until_ps ? end_ps : until_ps;
    while (wf_fabric_now_ps(f) < end_ps && !(rests && nothing_left(f))) {
        uint64_t next_ps = wf_fabric_next_stop_ps(f, WF_STOPS_LOOK);
        uint64_t limit_ps = next_ps < end_ps ? next_ps : end_ps;
        uint64_t now_ps = wf_fabric_now_ps(f), reached_ps = run_events(f, limit_ps);

        if (reached_ps == WF_TIME_NEVER || (rests && nothing_left(f))) {
            uint64_t last_ps = wf_fabric_last_event_ps(f);

            stand_at(f, last_ps > now_ps ? last_ps : now_ps);
            break;
        }
        stand_at(f, reached_ps);
        acted += act(f);
        if (reached_ps < limit_ps || wf_fabric_events(f) - before + acted >= TURN_EVENTS)
            break; /* the budget is used up: the caller looks around */
    }
    gather_lateness(f);
    return wf_fabric_events(f) - before + acted;
}

uint64_t wf_fabric_turn(struct wf_fabric *f, uint64_t until_ps)
{
    return turn(f, until_ps, false);
}

/* ---- looks ---- */

/* When to look next: as wished, and at the end of the interval in which something happens next.
 * What is planned already stays. */
static void plan_look(struct wf_run *r)
{
    uint64_t every = r->look_every_ps, now = wf_fabric_now_ps(r->f);
    uint64_t at = r->looks.at_ps, next = wf_fabric_next_ps(r->f);
    uint64_t stop = wf_fabric_next_stop_ps(r->f, WF_STOPS_INPUT);

    next = stop < next ? stop : next;
    if (r->look && next < WF_TIME_NEVER - every && (next / every + 1) * every < at)
        at = (next / every + 1) * every;
    if (r->look && r->look_at_ps < at)
        at = r->look_at_ps > now ? r->look_at_ps : now + 1;
    r->looks.at_ps = at;
}

static void take_look(struct wf_stops *s, struct wf_fabric *f)
{
    struct wf_run *r = WF_CONTAINER_OF(s, struct wf_run, looks);

    s->at_ps = WF_TIME_NEVER;
    r->look_at_ps = r->look(r->arg, f);
    plan_look(r);
}

/* ---- the loop ---- */

int wf_run_init(struct wf_run *r, struct wf_fabric *f)
{
    memset(r, 0, sizeof(*r));
    r->f = f;
    r->look_every_ps = r->look_at_ps = r->stop_at_ps = WF_TIME_NEVER;
    r->looks = (struct wf_stops){.at_ps = WF_TIME_NEVER, .act = take_look, .kind = WF_STOPS_LOOK};
    wf_fabric_add_stops(f, &r->looks);
    return wf_wait_init(&r->wait);
}

void wf_run_fini(struct wf_run *r)
{
    wf_fabric_remove_stops(r->f, &r->looks);
    wf_wait_fini(&r->wait);
}

void wf_run_add_stops(struct wf_run *r, struct wf_stops *s)
{
    wf_fabric_add_stops(r->f, s);
}

static unsigned poll_all(struct wf_run *r, uint64_t *next_ns)
{
    unsigned work = 0;

    for (struct wf_poller *p = r->pollers; p; p = p->next) {
        uint64_t want = UINT64_MAX;

        work += p->poll(p, r->f, &want);
        if (want < *next_ns)
            *next_ns = want;
    }
    return work;
}

/* The run ends when nothing is left, and has a limit. */
static bool is_bounded(const struct wf_run *r)
{
    return r->f->desc->duration_ps == WF_KEY_AUTO && !r->open_ended;
}

static bool finished(struct wf_run *r, enum wf_run_end *how)
{
    const struct wf_clock *clock = wf_fabric_clock(r->f);
    uint64_t now = wf_fabric_now_ps(r->f);

    *how = WF_RUN_STOPPED;
    if (now >= r->stop_at_ps)
        return true;
    *how = WF_RUN_DONE;
    if (clock->end_ps != WF_TIME_NEVER ? now >= clock->end_ps
                                       : (is_bounded(r) || !clock->paced) && nothing_left(r->f))
        return true;
    if ((r->stop && *r->stop) || r->stop_asked) {
        *how = WF_RUN_STOPPED;
        return true;
    }
    *how = WF_RUN_TIME_LIMIT;
    return is_bounded(r) && now >= r->f->desc->time_limit_ps;
}

/* Sleep until something is due: an event, a stop, a poll. */
static void rest(struct wf_run *r, uint64_t next_poll_ns, bool worked)
{
    const struct wf_clock *clock = wf_fabric_clock(r->f);
    uint64_t next = wf_fabric_next_ps(r->f), until;
    uint64_t stop = wf_fabric_next_stop_ps(r->f, WF_STOPS_LOOK);

    if (!clock->paced)
        return;
    next = stop < next ? stop : next;
    until = wf_clock_wall_of(clock, next < clock->end_ps ? next : clock->end_ps);
    wf_wait_until(&r->wait, until < next_poll_ns ? until : next_poll_ns, worked);
}

enum wf_run_end wf_run_loop(struct wf_run *r)
{
    uint64_t limit_ps = is_bounded(r) ? r->f->desc->time_limit_ps : WF_TIME_NEVER;
    uint64_t shown_ns = wf_wall_ns();
    enum wf_run_end how;

    limit_ps = r->stop_at_ps < limit_ps ? r->stop_at_ps : limit_ps;
    while (!finished(r, &how)) {
        uint64_t next_ns = UINT64_MAX, n;
        unsigned work;

        plan_look(r);
        n = turn(r->f, limit_ps, is_bounded(r));
        work = poll_all(r, &next_ns);
        if (r->progress && wf_wall_ns() - shown_ns > PROGRESS_NS) {
            shown_ns = wf_wall_ns();
            r->progress(r->arg, r->f);
        }
        rest(r, next_ns, n || work);
    }
    if (r->look)
        r->look(r->arg, r->f);
    return how;
}
