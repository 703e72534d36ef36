/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/run.h"

#include <string.h>

enum { TURN_EVENTS = 100000, PROGRESS_NS = 1000000000 };

int wf_run_init(struct wf_run *r, struct wf_fabric *f)
{
    memset(r, 0, sizeof(*r));
    r->f = f;
    r->look_every_ps = r->look_at_ps = WF_TIME_NEVER;
    f->lc->budget = TURN_EVENTS;
    return wf_wait_init(&r->wait);
}

void wf_run_fini(struct wf_run *r)
{
    wf_wait_fini(&r->wait);
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

/* How far the next turn may go: to the next look, jumping over time in which nothing happens. */
static void set_stop(struct wf_run *r)
{
    struct wf_lcore *lc = r->f->lc;
    bool limited = r->f->desc->duration_ps == WF_KEY_AUTO && !r->open_ended;
    uint64_t limit = limited ? r->f->desc->time_limit_ps : WF_TIME_NEVER;
    uint64_t next = wf_wheel_next_ps(&lc->wheel);
    uint64_t from = next > lc->now_ps ? next : lc->now_ps;

    lc->stop_ps = limit;
    if (r->look && next != WF_TIME_NEVER && from < limit && r->look_every_ps < limit - from)
        lc->stop_ps = from + r->look_every_ps;
    if (r->look && r->look_at_ps < lc->stop_ps)
        lc->stop_ps = r->look_at_ps > lc->now_ps ? r->look_at_ps : lc->now_ps + 1;
}

static bool finished(struct wf_run *r, enum wf_run_end *how)
{
    struct wf_lcore *lc = r->f->lc;
    const struct wf_desc *d = r->f->desc;

    *how = WF_RUN_DONE;
    if (wf_lcore_done(lc) || (d->duration_ps == WF_KEY_AUTO && !r->open_ended && !lc->wheel.count))
        return true;
    if ((r->stop && *r->stop) || r->stop_asked) {
        *how = WF_RUN_STOPPED;
        return true;
    }
    *how = WF_RUN_TIME_LIMIT;
    return d->duration_ps == WF_KEY_AUTO && !r->open_ended && lc->now_ps >= d->time_limit_ps;
}

/* Sleep until something is due: an event, a poll, progress. */
static void rest(struct wf_run *r, uint64_t next_poll_ns, bool worked)
{
    struct wf_lcore *lc = r->f->lc;
    uint64_t until = wf_clock_wall_of(&lc->clock, wf_wheel_next_ps(&lc->wheel));

    if (!lc->clock.paced)
        return;
    if (lc->clock.end_ps != WF_TIME_NEVER && wf_clock_wall_of(&lc->clock, lc->clock.end_ps) < until)
        until = wf_clock_wall_of(&lc->clock, lc->clock.end_ps);
    wf_wait_until(&r->wait, until < next_poll_ns ? until : next_poll_ns, worked);
}

enum wf_run_end wf_run_loop(struct wf_run *r)
{
    uint64_t shown_ns = wf_wall_ns();
    enum wf_run_end how;

    while (!finished(r, &how)) {
        uint64_t next_ns = UINT64_MAX, n;
        unsigned work;

        set_stop(r);
        n = wf_lcore_turn(r->f->lc);
        if (r->look && (n || r->f->lc->now_ps >= r->look_at_ps))
            r->look_at_ps = r->look(r->arg, r->f);
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
