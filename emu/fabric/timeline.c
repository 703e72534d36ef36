/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/timeline.h"

#include "base/list.h"
#include "fabric/run.h"

struct timeline {
    struct wf_stops stops; /* first */
    uint32_t next;         /* step */
};

static void take_step(struct wf_fabric *f, const struct wf_desc_step *s)
{
    switch (s->action) {
    case WF_DO_LINK_DOWN:
    case WF_DO_LINK_UP:
        wf_fabric_link_set(f, &f->links[s->link], s->action == WF_DO_LINK_UP);
        break;
    case WF_DO_LINK_RATE:
        wf_fabric_link_rate(f, &f->links[s->link], s->rate_bps);
        break;
    case WF_DO_INJECT:
        wf_fabric_inject(f, wf_fabric_port(f, s->where), &s->fault);
        break;
    case WF_DO_STORM:
        wf_storm_start(wf_fabric_port(f, s->where), &s->storm, &f->arena);
        break;
    }
}

static uint64_t time_of(const struct wf_fabric *f, uint32_t step)
{
    return step < f->desc->n_steps ? f->desc->steps[step].at_ps : WF_TIME_NEVER;
}

static void act(struct wf_stops *s, struct wf_fabric *f)
{
    struct timeline *t = WF_CONTAINER_OF(s, struct timeline, stops);

    while (time_of(f, t->next) <= wf_fabric_now_ps(f))
        take_step(f, &f->desc->steps[t->next++]);
    s->at_ps = time_of(f, t->next);
}

void wf_timeline_start(struct wf_fabric *f)
{
    struct timeline *t = WF_ARENA_NEW(&f->arena, struct timeline);

    t->stops.act = act;
    t->stops.at_ps = time_of(f, 0);
    wf_fabric_add_stops(f, &t->stops);
}
