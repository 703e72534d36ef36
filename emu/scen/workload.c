/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The `workload:` section: flows between hosts, singly or by a pattern of traffic. A flow is
 * named NAME, or NAME:h1-h0 when there are several; its counters are "flow.NAME" and so on. Which
 * flows there are is drawn by work_draw.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "scen/scen_priv.h"
#include "scen/sizes.h"

#define ROW(field) offsetof(struct wf_scen_work, field)

static const char *const kind_names[] = {"flow",    "incast", "permutation", "all_to_all",
                                         "poisson", "file",   NULL};
static const char *const format_names[] = {"weft", "hpcc", "htsim", NULL};
static const char *const align_names[] = {"file", "first", NULL};

static const struct wf_key rows[] = {
    {"name", WF_KEY_STRING, ROW(name), NULL,
     .doc = "Its flows are flow.NAME, or flow.NAME:FROM-TO when there are several; of a poisson "
            "one, a file and an incast of several rounds flow.NAME:FROM-TO:N."},
    {"kind", WF_KEY_ENUM, ROW(kind), "flow", .names = kind_names,
     .doc = "flow: from one host to one. incast: from each host of `from` to the one of `to`. "
            "permutation: each host of `from` to another one of them, drawn from the seed. "
            "all_to_all: each host of `from` to each other one. poisson: at each host of `from` "
            "flows begin at random, each to a host drawn from `to` (or from `from`), with sizes "
            "drawn from `sizes`. file: the flows of a file."},
    {"start_jitter", WF_KEY_TIME, ROW(jitter_ps), "0", 0, 3600 * WF_PS_PER_S,
     .doc = "Each flow starts later than `start` by up to this, drawn from the seed."},
    {"warm_up", WF_KEY_TIME, ROW(warm_up_ps), "0",
     .doc =
         "Flows that start earlier than this after `start` are not judged: they load the fabric, "
         "and neither slowdowns nor patterns in expectations count them."},
    {"cut_off", WF_KEY_TIME, ROW(cut_off_ps), "auto", .may_auto = true,
     .doc = "Nor are flows that start later than this after `start`; auto: all are judged."},
    {"rounds", WF_KEY_UINT, ROW(rounds), "1", 1, 1000000, .doc = "incast: how often it comes."},
    {"period", WF_KEY_TIME, ROW(period_ps), "100us",
     .doc = "incast: from the start of a round to the start of the next one."},
    {"fan_in", WF_KEY_UINT, ROW(fan_in), "0", 0, 131072,
     .doc = "incast: so many hosts of `from`, drawn anew for each round; 0: all of them."},
    {"sizes", WF_KEY_STRING, ROW(sizes_name), "",
     .doc = "poisson: web_search, hadoop or storage, or the path of a file of lines `BYTES SHARE`, "
            "seen from the scenario: the share of flows that are no longer, rising to 100 "
            "(percent) or 1. Between two lines sizes are spread evenly.",
     .source = "web_search: DCTCP (SIGCOMM 2010); hadoop: Roy et al. (SIGCOMM 2015); storage: "
               "Alibaba 2019; points as published with HPCC (SIGCOMM 2019)"},
    {"load", WF_KEY_PERCENT, ROW(load_ppm), "50%", 1, 1000000,
     .doc = "poisson: bytes of the flows that begin at a host, as a share of its line's rate; "
            "headers come on top."},
    {"arrivals", WF_KEY_TIME, ROW(arrivals_ps), "1ms", 1, WF_TIME_MAX,
     .doc = "poisson: flows begin for so long, from `start` on."},
    {"path", WF_KEY_STRING, ROW(path), "", .doc = "file: the file, seen from the scenario."},
    {"format", WF_KEY_ENUM, ROW(format), "weft", .names = format_names,
     .doc = "file: weft: a table with commas and a first line of names: from, to, and keys of a "
            "flow, with values as here. hpcc: flows of the HPCC simulator on ns-3, whose priority "
            "p becomes DSCP 8 p + 2 unless there is a `dscp` here. htsim: a connection matrix. "
            "Their numbers mean the hosts h0, h1 and so on."},
    {"align", WF_KEY_ENUM, ROW(align), "file", .names = align_names,
     .doc = "file: starts count from `start`, as the file says them, or so that the first flow "
            "starts there."},
};

const struct wf_keyset wf_work_keys = {
    .name = "workload",
    .doc = "A list; each entry has these keys, `from` and `to` (a host, a pattern such as h[1-8], "
           "or a list of them), and the keys of a flow.",
    .keys = rows,
    .n_keys = sizeof(rows) / sizeof(rows[0]),
    .size = sizeof(struct wf_scen_work),
};

static bool known_key(const char *name)
{
    return wf_keyset_find(&wf_work_keys, name) || wf_keyset_find(&wf_flow_keys, name) ||
           !strcmp(name, "from") || !strcmp(name, "to");
}

/* Keys of a flow and of a workload stand side by side: both tables read the same mapping. */
static void read_keys(struct wf_scenario *s, struct wf_scen_work *w, const struct wf_yaml_node *at)
{
    const char *names[96] = {"from", "to"};
    size_t n = 2;

    for (size_t i = 0; i < wf_work_keys.n_keys; i++)
        names[n++] = wf_work_keys.keys[i].name;
    for (size_t i = 0; i < wf_flow_keys.n_keys && n < 96; i++)
        names[n++] = wf_flow_keys.keys[i].name;
    wf_fill_known(&s->fill, &wf_work_keys, w, at);
    wf_fill_known(&s->fill, &wf_flow_keys, &w->cfg, at);
    for (size_t i = 0; i < at->n; i++) {
        const struct wf_yaml_node *k = wf_yaml_key(at, i);

        if (!known_key(k->text))
            wf_diag_unknown(&s->diags, k, k->text, names, n, "unknown key '%s' in workload",
                            k->text);
    }
}

/* Keys that go with one kind only are mistakes elsewhere. */
static void check_keys(struct wf_scenario *s, const struct wf_scen_work *w)
{
    static const struct {
        const char *key;
        int kind;
        bool here; /* right with this kind, or with all others */
    } keys[] = {
        {"rounds", WF_WORK_INCAST, true}, {"period", WF_WORK_INCAST, true},
        {"fan_in", WF_WORK_INCAST, true}, {"sizes", WF_WORK_POISSON, true},
        {"load", WF_WORK_POISSON, true},  {"arrivals", WF_WORK_POISSON, true},
        {"size", WF_WORK_POISSON, false}, {"path", WF_WORK_FILE, true},
        {"format", WF_WORK_FILE, true},   {"align", WF_WORK_FILE, true},
        {"from", WF_WORK_FILE, false},    {"to", WF_WORK_FILE, false},
    };

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct wf_yaml_node *v = wf_yaml_get(w->at, keys[i].key);

        if (v && (keys[i].kind == w->kind) != keys[i].here)
            wf_diag_error(&s->diags, v, "'%s' does not go with kind %s", keys[i].key,
                          kind_names[w->kind]);
    }
}

/* The distribution by its name, or from its file. */
static bool find_sizes(struct wf_scenario *s, struct wf_scen_work *w)
{
    const struct wf_yaml_node *at = wf_yaml_get(w->at, "sizes");
    const struct wf_scen_text *t;
    struct wf_err err = {0};
    struct wf_sizes *z;

    if (w->kind != WF_WORK_POISSON)
        return true;
    if (!w->sizes_name || !w->sizes_name[0]) {
        wf_diag_error(&s->diags, at ? at : w->at,
                      "poisson needs 'sizes': web_search, hadoop, storage or the path of a file");
        return false;
    }
    w->sizes = wf_sizes_find(w->sizes_name);
    if (w->sizes)
        return true;
    t = wf_scen_file(s, at, w->sizes_name);
    z = WF_ARENA_NEW(&s->arena, struct wf_sizes);
    if (!t || wf_sizes_parse(z, &s->arena, t->name, t->text, t->len, &err)) {
        if (t)
            wf_diag_add(&s->diags, false, &err);
        return false;
    }
    w->sizes = z;
    return true;
}

static bool check_fan_in(struct wf_scenario *s, const struct wf_scen_work *w)
{
    uint32_t n = w->n_from;

    for (uint32_t i = 0; i < w->n_from; i++)
        n -= w->from[i] == w->to[0];
    if (w->kind != WF_WORK_INCAST || w->fan_in <= n)
        return true;
    wf_scen_complain(s, false, &w->fan_in, w->at, "fan_in: %u of the %u hosts that may send",
                     w->fan_in, n);
    return false;
}

static void check_work(struct wf_scenario *s, const struct wf_scen_work *w)
{
    const char *wrong = wf_flow_cfg_wrong(&w->cfg);
    uint32_t mtu = w->cfg.path_mtu;

    if (wrong)
        wf_scen_complain(s, false, &w->cfg.service, w->at, "%s", wrong);

    if (mtu & (mtu - 1))
        wf_scen_complain(s, false, &w->cfg.path_mtu, w->at,
                         "path_mtu: '%u' is not 256, 512, 1024, 2048 or 4096", mtu);
    if (w->name && !wf_scen_name_ok(w->name))
        wf_scen_complain(s, false, &w->name, w->at,
                         "'%s' is no name: letters, digits and '_', no digit first, at most 32",
                         w->name);
    for (const struct wf_scen_work *o = s->work; w->name && o < w; o++)
        if (o->name && !strcmp(o->name, w->name))
            wf_scen_complain(s, false, &w->name, w->at, "the name '%s' stands twice", w->name);
}

static void read_work(struct wf_scenario *s, const struct wf_yaml_node *at)
{
    struct wf_scen_work *w = &s->work[s->n_work];

    if (at->kind != WF_YAML_MAPPING) {
        wf_diag_error(&s->diags, at, "workload: expected a mapping, found %s", wf_yaml_what(at));
        return;
    }
    w->at = at;
    wf_keyset_defaults(&wf_work_keys, w);
    wf_keyset_defaults(&wf_flow_keys, &w->cfg);
    read_keys(s, w, at);
    wf_fill_required(&s->fill, &wf_work_keys, w, at);
    check_work(s, w);
    w->control = wf_scen_cc(s, w->cfg.cc, &w->cfg.cc, at);
    check_keys(s, w);
    s->n_work++;
    if (w->kind == WF_WORK_FILE) {
        w->good = wf_scen_work_file(s, w) && w->name;
        return;
    }
    w->good = wf_scen_work_hosts(s, w, kind_names[w->kind]) && w->name && check_fan_in(s, w);
    w->good = find_sizes(s, w) && w->good;
}

void wf_scen_workload(struct wf_scenario *s)
{
    const struct wf_yaml_node *list = wf_yaml_get(s->root, "workload");

    if (!list)
        return;
    if (list->kind != WF_YAML_SEQUENCE) {
        wf_diag_error(&s->diags, list, "workload: expected a list, found %s", wf_yaml_what(list));
        return;
    }
    s->work = WF_ARENA_ARRAY(&s->arena, struct wf_scen_work, list->n + 1);
    for (size_t i = 0; i < list->n; i++)
        read_work(s, &list->items[i]);
    wf_scen_draw(s);
    if (s->too_many_flows) {
        wf_diag_error(&s->diags, list, "more than %d flows", WF_SCEN_FLOWS_MAX);
        s->n_work = s->desc.n_flows = 0;
    }
}
