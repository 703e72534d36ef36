/* SPDX-License-Identifier: BSD-3-Clause */
#include "attach/flap.h"

#include <errno.h>

#include "attach/ingress.h"

struct wf_flap {
    struct wf_stops stops; /* first */
    struct wf_edges *es;
    struct wf_link *link; /* NULL: free */
    struct wf_flap_cfg cfg;
    uint64_t down_at_ps;
    uint32_t left;
    bool down;
};

static void act(struct wf_stops *s, struct wf_fabric *f)
{
    struct wf_flap *x = (struct wf_flap *)s;

    x->down = !x->down;
    wf_ingress_link(x->es, x->link, !x->down);
    if (x->down) {
        x->down_at_ps = wf_fabric_now_ps(f);
        s->at_ps = x->down_at_ps + x->cfg.down_ps;
    } else if (--x->left) {
        s->at_ps = x->down_at_ps + x->cfg.period_ps;
    } else {
        s->at_ps = WF_TIME_NEVER;
        x->link = NULL;
    }
}

/* The one of this link, else a free one. */
static struct wf_flap *room(struct wf_edges *es, const struct wf_link *link)
{
    struct wf_flap *found = NULL;

    if (!es->flaps) {
        es->flaps = WF_ARENA_ARRAY(&es->f->arena, struct wf_flap, WF_FLAPS_MAX);
        for (unsigned i = 0; i < WF_FLAPS_MAX; i++) {
            es->flaps[i].es = es;
            es->flaps[i].stops =
                (struct wf_stops){.at_ps = WF_TIME_NEVER, .act = act, .kind = WF_STOPS_INPUT};
            wf_fabric_add_stops(es->f, &es->flaps[i].stops);
        }
    }
    for (unsigned i = WF_FLAPS_MAX; i-- > 0;)
        if (es->flaps[i].link == link || (!found && !es->flaps[i].link))
            found = &es->flaps[i];
    return found;
}

int wf_flap_start(struct wf_edges *es, struct wf_link *link, const struct wf_flap_cfg *cfg,
                  struct wf_err *err)
{
    struct wf_flap *x;

    if (!cfg->down_ps)
        return wf_err_set(err, EINVAL, "a flap needs to say how long the link is down");
    if (!cfg->count || cfg->count > WF_FLAP_TIMES_MAX)
        return wf_err_set(err, EINVAL, "%u flaps, expected 1 to %d", cfg->count, WF_FLAP_TIMES_MAX);
    if (cfg->count > 1 && cfg->period_ps <= cfg->down_ps)
        return wf_err_set(err, EINVAL, "the period has to be longer than the link is down");
    x = room(es, link);
    if (!x || x->link)
        return wf_err_set(err, EINVAL, x ? "%s flaps already" : "%s: as many links flap as may",
                          link->name);
    x->link = link;
    x->cfg = *cfg;
    x->left = cfg->count;
    x->down = false;
    act(&x->stops, es->f);
    return 0;
}
