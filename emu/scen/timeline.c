/* SPDX-License-Identifier: BSD-3-Clause */
/* The `timeline:` section: what happens to links and frames at which time. */
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "scen/match.h"
#include "scen/scen_priv.h"

enum { STEPS_MAX = 10000 };

#define ROW(field) offsetof(struct wf_scen_step, field)

static const char *const do_names[] = {"link_down",   "link_up",   "link_rate",      "link_flap",
                                       "inject_drop", "inject_ce", "inject_corrupt", "pfc",
                                       "pause",       NULL};

static const struct wf_key rows[] = {
    {"at", WF_KEY_TIME, ROW(at_ps), NULL, .doc = "When, in fabric time."},
    {"do", WF_KEY_ENUM, ROW(action), NULL, .names = do_names,
     .doc = "link_down and link_up; link_flap, both, `limit` times; link_rate, another rate for "
            "frames that begin from then on; "
            "inject_drop, inject_ce and inject_corrupt at a port's egress from then on; pfc and "
            "pause, frames of that kind out of a port, whatever its buffers say."},
    {"link", WF_KEY_STRING, ROW(link), "", .doc = "link_*: a link or a pattern over them."},
    {"rate", WF_KEY_RATE, ROW(rate_bps), "0", 0, WF_LINK_RATE_MAX_BPS,
     .doc = "link_rate: bit rate of each direction."},
    {"where", WF_KEY_STRING, ROW(where), "",
     .doc = "inject_*, pfc, pause: a port, such as leaf0:p3, or a pattern over them."},
    {"every", WF_KEY_UINT64, ROW(every), "1", 1, 1000000000000ull,
     .doc = "inject_*: each n-th of the frames that match."},
    {"match", WF_KEY_ENUM, ROW(match), "roce_data", .names = wf_fault_class_names,
     .doc = "inject_*: which frames are meant."},
    {"limit", WF_KEY_UINT64, ROW(limit), "0",
     .doc = "inject_*, pfc, pause: stop after so many; 0: never. link_flap: times, at least 1."},
    {"priorities", WF_KEY_MASK, ROW(priorities), "all", .max = WF_PRIOS - 1,
     .doc = "pfc: the priorities that it speaks of, such as [3, 4]."},
    {"quanta", WF_KEY_UINT, ROW(quanta), "65535", 0, 65535,
     .doc = "pfc, pause: the time asked for, in units of 512 bit times; 0 ends a pause."},
    {"period", WF_KEY_TIME, ROW(period_ps), "0", 0, WF_PS_PER_S,
     .doc = "pfc, pause: time between two frames of a storm; 0: one frame. link_flap: from one "
            "time that it goes down to the next."},
    {"down_for", WF_KEY_TIME, ROW(down_for_ps), "0", 0, 3600 * WF_PS_PER_S,
     .doc = "link_flap: how long the link is down each time."},
};

const struct wf_keyset wf_step_keys = {
    .name = "timeline",
    .doc = "A list; each entry is something that happens.",
    .keys = rows,
    .n_keys = sizeof(rows) / sizeof(rows[0]),
    .size = sizeof(struct wf_scen_step),
};

struct build {
    struct wf_scenario *s;
    struct wf_desc_step *steps;
    uint32_t n, cap;
};

static void add(struct build *b, const struct wf_desc_step *step)
{
    if (b->n == b->cap) {
        uint32_t cap = b->cap ? 2 * b->cap : 64;
        struct wf_desc_step *more = WF_ARENA_ARRAY(&b->s->arena, struct wf_desc_step, cap);

        if (b->n)
            memcpy(more, b->steps, b->n * sizeof(*more));
        b->steps = more;
        b->cap = cap;
    }
    b->steps[b->n++] = *step;
}

static bool is_link(const struct wf_scen_step *x)
{
    return x->action <= WF_SCEN_LINK_FLAP;
}

/* The index of link `i` when the pattern means it; the ports of a link's name are optional. */
static bool link_matches(const struct wf_scenario *s, const char *pattern, uint32_t i)
{
    const char *a = wf_scen_port(s, i, 0), *b = wf_scen_port(s, i, 1);
    const char *ca = strrchr(a, ':'), *cb = strrchr(b, ':');
    char na[64], nb[64];

    snprintf(na, sizeof(na), "%.*s", (int)(ca - a), a);
    snprintf(nb, sizeof(nb), "%.*s", (int)(cb - b), b);
    return wf_match_link(pattern, na, (unsigned)strtoul(ca + 2, NULL, 10), nb,
                         (unsigned)strtoul(cb + 2, NULL, 10));
}

static void check_rate(struct wf_scenario *s, const struct wf_scen_step *x,
                       const struct wf_yaml_node *at)
{
    const struct wf_yaml_node *v = wf_yaml_get(at, "rate");
    char least[32];

    if (x->action != WF_SCEN_LINK_RATE)
        return;
    if (!v)
        wf_diag_error(&s->diags, at, "'rate' is missing in timeline: link_rate needs one");
    else if (x->rate_bps < WF_LINK_RATE_MIN_BPS)
        wf_diag_error(&s->diags, v, "rate: '%s' is less than a link has, expected at least %s",
                      v->text, wf_rate_text(WF_LINK_RATE_MIN_BPS, least, sizeof(least)));
}

enum { FLAPS_MAX = 1000 };

/* What a flap lacks; it is down for less than its period. */
static bool flap_ok(struct wf_scenario *s, const struct wf_scen_step *x,
                    const struct wf_yaml_node *at)
{
    if (x->action != WF_SCEN_LINK_FLAP)
        return true;
    if (!x->down_for_ps)
        wf_diag_error(&s->diags, at, "'down_for' is missing in timeline: link_flap needs one");
    else if (x->limit > FLAPS_MAX)
        wf_diag_error(&s->diags, wf_yaml_get(at, "limit"), "limit: more than %d flaps", FLAPS_MAX);
    else if (x->limit > 1 && x->period_ps <= x->down_for_ps)
        wf_diag_error(&s->diags, at, "link_flap: 'period' has to be longer than 'down_for'");
    else
        return true;
    return false;
}

static void flap(struct build *b, const struct wf_scen_step *x, uint32_t link)
{
    uint64_t at_ps = x->at_ps;

    for (uint64_t i = 0; i < (x->limit ? x->limit : 1); i++, at_ps += x->period_ps) {
        add(b, &(struct wf_desc_step){.at_ps = at_ps, .action = WF_DO_LINK_DOWN, .link = link});
        add(b, &(struct wf_desc_step){
                   .at_ps = at_ps + x->down_for_ps, .action = WF_DO_LINK_UP, .link = link});
    }
}

static void link_step(struct build *b, const struct wf_scen_step *x, const struct wf_yaml_node *at)
{
    static const enum wf_desc_action actions[] = {
        [WF_SCEN_LINK_DOWN] = WF_DO_LINK_DOWN,
        [WF_SCEN_LINK_UP] = WF_DO_LINK_UP,
        [WF_SCEN_LINK_RATE] = WF_DO_LINK_RATE,
    };
    const struct wf_yaml_node *v = wf_yaml_get(at, "link");
    struct wf_scenario *s = b->s;
    uint32_t hits = 0;

    check_rate(s, x, at);
    if (!v) {
        wf_diag_error(&s->diags, at, "'link' is missing in timeline: %s needs one",
                      do_names[x->action]);
        return;
    }
    if (!flap_ok(s, x, at))
        return;
    for (uint32_t i = 0; x->link && i < s->desc.n_links; i++)
        if (link_matches(s, x->link, i)) {
            hits++;
            if (x->action == WF_SCEN_LINK_FLAP) {
                flap(b, x, i);
                continue;
            }
            add(b, &(struct wf_desc_step){
                       .at_ps = x->at_ps,
                       .action = actions[x->action],
                       .link = i,
                       .rate_bps = x->rate_bps,
                   });
        }
    if (x->link && !hits)
        wf_diag_unknown(&s->diags, v, x->link, s->links, s->desc.n_links, "'%s' matches no link",
                        x->link);
}

/* A step for each port that `where` means. */
static void at_ports(struct build *b, const struct wf_scen_step *x, const struct wf_yaml_node *at,
                     struct wf_desc_step *step)
{
    const struct wf_yaml_node *v = wf_yaml_get(at, "where");
    struct wf_scenario *s = b->s;
    uint32_t hits = 0;

    if (!v) {
        wf_diag_error(&s->diags, at, "'where' is missing in timeline: %s needs a port",
                      do_names[x->action]);
        return;
    }
    for (uint32_t i = 0; x->where && i < 2 * s->desc.n_links; i++)
        if (wf_match(x->where, s->ports[i])) {
            step->where = s->ports[i];
            add(b, step);
            hits++;
        }
    if (x->where && !hits)
        wf_diag_unknown(&s->diags, v, x->where, s->ports, 2 * s->desc.n_links,
                        "'%s' matches no port", x->where);
}

static void storm_step(struct build *b, const struct wf_scen_step *x, const struct wf_yaml_node *at)
{
    struct wf_desc_step step = {
        .at_ps = x->at_ps,
        .action = WF_DO_STORM,
        .storm =
            {
                .period_ps = x->period_ps,
                .limit = x->limit,
                .quanta = (uint16_t)x->quanta,
                .vector = x->priorities ? (uint8_t)x->priorities : 0xff,
                .pause = x->action == WF_SCEN_PAUSE,
            },
    };

    at_ports(b, x, at, &step);
}

static void inject_step(struct build *b, const struct wf_scen_step *x,
                        const struct wf_yaml_node *at)
{
    static const enum wf_fault_action actions[] = {
        [WF_SCEN_DROP] = WF_FAULT_DROP,
        [WF_SCEN_CE] = WF_FAULT_CE,
        [WF_SCEN_CORRUPT] = WF_FAULT_CORRUPT,
    };
    struct wf_desc_step step = {.at_ps = x->at_ps, .action = WF_DO_INJECT};

    step.fault.action = actions[x->action];
    step.fault.match = (enum wf_fault_class)x->match;
    step.fault.every = x->every;
    step.fault.limit = x->limit;
    at_ports(b, x, at, &step);
}

static void refuse(struct wf_scenario *s, const struct wf_scen_step *x,
                   const struct wf_yaml_node *at, const char *const *keys)
{
    for (; *keys; keys++)
        if (wf_yaml_get(at, *keys))
            wf_diag_error(&s->diags, wf_yaml_get(at, *keys), "'%s' does not go with %s", *keys,
                          do_names[x->action]);
}

/* A key that the action doesn't use would be ignored silently. */
static void refuse_others(struct wf_scenario *s, const struct wf_scen_step *x,
                          const struct wf_yaml_node *at)
{
    static const char *const of_links[] = {"link", "rate", NULL};
    static const char *const of_faults[] = {"every", "match", NULL};
    static const char *const of_storms[] = {"priorities", "quanta", "period", NULL};
    static const char *const of_pauses[] = {"priorities", "quanta", NULL};
    static const char *const of_ports[] = {"where", NULL};
    bool storm = x->action >= WF_SCEN_PFC, flaps = x->action == WF_SCEN_LINK_FLAP;

    if (is_link(x) && x->action != WF_SCEN_LINK_RATE)
        refuse(s, x, at, of_links + 1);
    refuse(s, x, at, is_link(x) ? of_ports : of_links);
    if (is_link(x) && !flaps)
        refuse(s, x, at, (const char *const[]){"limit", NULL});
    if (!flaps)
        refuse(s, x, at, (const char *const[]){"down_for", NULL});
    if (is_link(x) || storm)
        refuse(s, x, at, of_faults);
    if (!storm)
        refuse(s, x, at, flaps ? of_pauses : of_storms);
    if (x->action == WF_SCEN_PAUSE)
        refuse(s, x, at, (const char *const[]){"priorities", NULL});
}

static void read_step(struct build *b, const struct wf_yaml_node *at)
{
    struct wf_scenario *s = b->s;
    struct wf_scen_step *x = WF_ARENA_NEW(&s->arena, struct wf_scen_step);
    size_t errors = s->diags.errors;

    s->steps[s->n_steps++] = x;
    wf_keyset_defaults(&wf_step_keys, x);
    wf_fill(&s->fill, &wf_step_keys, x, at, NULL);
    if (at->kind == WF_YAML_MAPPING)
        wf_fill_required(&s->fill, &wf_step_keys, x, at);
    if (s->diags.errors > errors)
        return;
    if (s->opts.duration_ps != WF_KEY_AUTO && x->at_ps > s->opts.duration_ps)
        wf_diag_warn(&s->diags, at, "never happens: the run ends before");
    refuse_others(s, x, at);
    if (is_link(x))
        link_step(b, x, at);
    else if (x->action >= WF_SCEN_PFC)
        storm_step(b, x, at);
    else
        inject_step(b, x, at);
}

/* By time; what happens at one time in the order of the file (insertion sort is stable). */
static void sort(struct build *b)
{
    for (uint32_t i = 1; i < b->n; i++)
        for (uint32_t j = i; j > 0 && b->steps[j].at_ps < b->steps[j - 1].at_ps; j--) {
            struct wf_desc_step t = b->steps[j];

            b->steps[j] = b->steps[j - 1];
            b->steps[j - 1] = t;
        }
}

void wf_scen_timeline(struct wf_scenario *s)
{
    const struct wf_yaml_node *list = wf_yaml_get(s->root, "timeline");
    struct build b = {.s = s};

    if (!list)
        return;
    if (list->kind != WF_YAML_SEQUENCE) {
        wf_diag_error(&s->diags, list, "timeline: expected a list, found %s", wf_yaml_what(list));
        return;
    }
    s->steps = WF_ARENA_ARRAY(&s->arena, struct wf_scen_step *, list->n + 1);
    for (size_t i = 0; i < list->n; i++)
        if (b.n <= STEPS_MAX)
            read_step(&b, &list->items[i]);
    if (b.n > STEPS_MAX)
        wf_diag_error(&s->diags, list, "timeline: more than %d steps", STEPS_MAX);
    else
        sort(&b);
    s->desc.steps = b.steps;
    s->desc.n_steps = b.n;
}
