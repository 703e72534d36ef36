/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weft show: look into a running instance, or at the result of a finished run; as a table, as
 * SONiC's tables, or as JSON.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cap/json.h"
#include "cmd_opt.h"
#include "cmd_show.h"
#include "ctl/client.h"
#include "ctl/commands.h"
#include "ctl/names.h"
#include "ctl/sonic.h"
#include "scen/match.h"

struct options {
    const char *instance, *of, *at;
    bool as_json;
    char view[80];
};

/* Where what is shown comes from: one of the two. */
struct source {
    const struct options *o;
    struct wf_client *client;
    json_t *result;
    int rc; /* of the last that failed */
    struct wf_sonic_source sonic;
};

static uint64_t time_of(const json_t *m)
{
    return (uint64_t)json_integer_value(json_object_get(m, "time_ps"));
}

/* What the instance answers. */
static json_t *ask(struct source *s, const char *what, const char *at, struct wf_err *err)
{
    bool own = !strcmp(what, "status") || !strcmp(what, "hosts");
    json_t *q = json_pack("{s:s*, s:s*}", "what", own ? NULL : what, "at", at);
    json_t *m = wf_client_call(s->client, own ? what : "show", q, &s->rc, err);

    json_object_del(m, "v");
    json_object_del(m, "id");
    return m;
}

static json_t *rows(void *arg, const char *view, struct wf_err *err)
{
    struct source *s = arg;
    json_t *m, *list;

    if (s->result) {
        s->sonic.time_ps = time_of(s->result);
        return wf_show_of_result(s->result, view, NULL, err);
    }
    m = ask(s, view, NULL, err);
    s->sonic.time_ps = m ? time_of(m) : 0;
    list = json_incref(json_object_get(m, "rows"));
    json_decref(m);
    return list;
}

/* One of SONiC's views. */
static json_t *sonic(struct source *s, struct wf_err *err)
{
    json_t *tables = wf_sonic_tables(s->o->view, &s->sonic, s->o->at, err), *m;

    if (!tables)
        return NULL;
    m = json_pack("{s:s, s:s, s:o}", "schema", "weft.sonic/1", "view", s->o->view, "time_ps",
                  wf_json_u64(s->sonic.time_ps));
    json_object_set_new(m, s->result ? "of" : "instance",
                        json_string(s->result ? s->o->of : s->o->instance));
    json_object_set_new(m, "tables", tables);
    return m;
}

/* One of weft's own. */
static json_t *own(struct source *s, struct wf_err *err)
{
    json_t *list, *m;

    if (!s->result)
        return ask(s, s->o->view, s->o->at, err);
    list = wf_show_of_result(s->result, s->o->view, s->o->at, err);
    if (!list)
        return NULL;
    m = json_pack("{s:s, s:s, s:s}", "schema", "weft.show/1", "of", s->o->of, "what", s->o->view);
    json_object_set(m, "time_ps", json_object_get(s->result, "time_ps"));
    json_object_set_new(m, "rows", list);
    return m;
}

static bool is_sonic(const char *view)
{
    size_t n = 0;

    while (wf_sonic_views[n])
        n++;
    return wf_ctl_one_of(view, wf_sonic_views, n);
}

static int show(struct source *s)
{
    const struct options *o = s->o;
    struct wf_err err;
    json_t *m = is_sonic(o->view) ? sonic(s, &err) : own(s, &err);

    if (!m)
        return wf_cmd_fail("show", s->rc && s->rc != -EINVAL ? WF_EXIT_ENVIRONMENT : WF_EXIT_USAGE,
                           &err);
    if (!o->as_json)
        wf_json_plain(m);
    if (o->as_json) {
        json_dumpf(m, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(12));
        putchar('\n');
    } else if (is_sonic(o->view)) {
        wf_sonic_print(o->view, json_object_get(m, "tables"), stdout);
    } else if (!strcmp(o->view, "status")) {
        wf_show_print_status(m);
    } else {
        wf_show_print(o->view, json_object_get(m, strcmp(o->view, "hosts") ? "rows" : "hosts"));
    }
    json_decref(m);
    return WF_EXIT_PASS;
}

static int show_live(struct options *o)
{
    struct wf_instance in;
    struct wf_client c;
    struct source s = {.o = o, .client = &c, .sonic = {.rows = rows, .arg = &s}};
    struct wf_err err;
    int rc = wf_client_connect(&c, o->instance, &in, &err);

    if (rc)
        return wf_cmd_fail("show", rc == -EINVAL ? WF_EXIT_USAGE : WF_EXIT_ENVIRONMENT, &err);
    o->instance = in.name;
    rc = show(&s);
    wf_client_close(&c);
    return rc;
}

static int show_result(const struct options *o)
{
    struct source s = {.o = o, .sonic = {.rows = rows, .arg = &s}};
    struct wf_err err;
    int rc;

    s.result = wf_show_load(o->of, &err);
    if (!s.result)
        return wf_cmd_fail("show", WF_EXIT_USAGE, &err);
    rc = show(&s);
    json_decref(s.result);
    return rc;
}

/* All views, as they are typed. */
static size_t all_views(const char **names)
{
    size_t n = 0;

    names[n++] = "status";
    names[n++] = "hosts";
    for (size_t i = 0; wf_ctl_views[i]; i++)
        names[n++] = wf_ctl_views[i];
    for (size_t i = 0; wf_sonic_views[i]; i++)
        names[n++] = wf_sonic_views[i];
    return n;
}

/* The words of a view; where one word is left out that has a usual value, it is that. */
static int take_view(struct options *o, int n, char **words, struct wf_err *err)
{
    static const char *const usual[][2] = {
        {"interface counters", "interfaces counters"},
        {"interface counters trim", "interfaces counters trim"},
        {"priority-group watermark", "priority-group watermark shared"},
        {"priority-group persistent-watermark", "priority-group persistent-watermark shared"},
        {"queue persistent-watermark", "queue persistent-watermark unicast"},
        {"priority-group drop", "priority-group drop counters"},
        {"queue watermark", "queue watermark unicast"},
    };
    const char *names[64];
    size_t used = 0, all = all_views(names);

    snprintf(o->view, sizeof(o->view), "%s", n ? "" : "status");
    for (int i = 0; i < n && used < sizeof(o->view); i++)
        used += (size_t)snprintf(o->view + used, sizeof(o->view) - used, "%s%s", i ? " " : "",
                                 words[i]);
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
        if (!strcmp(o->view, usual[i][0]))
            snprintf(o->view, sizeof(o->view), "%s", usual[i][1]);
    if (!wf_ctl_one_of(o->view, names, all))
        return wf_ctl_not_one_of("view", o->view, names, all, err);
    if (!strcmp(o->view, "status") && o->at)
        return wf_err_set(err, EINVAL, "--at does not go with status, which is of the whole");
    if (o->of && o->instance)
        return wf_err_set(err, EINVAL, "--of and -i do not go together");
    return o->at ? wf_match_check(o->at, err) : 0;
}

static const struct wf_opt opts[] = {
    {.name = "instance",
     .letter = 'i',
     .kind = WF_OPT_TEXT,
     .off = offsetof(struct options, instance),
     .value = "NAME",
     .help = "the instance, when several run"},
    {.name = "of",
     .kind = WF_OPT_TEXT,
     .off = offsetof(struct options, of),
     .value = "RESULT",
     .help = "a finished run, - for standard input; it has no status, hosts, faults,\n"
             "links"},
    {.name = "at",
     .kind = WF_OPT_TEXT,
     .off = offsetof(struct options, at),
     .value = "PATTERN",
     .help = "only what fits, such as 'leaf0:*' or '*.q3'; SONiC's views: which\n"
             "ports, those of hosts too"},
    {.name = "json",
     .kind = WF_OPT_FLAG,
     .off = offsetof(struct options, as_json),
     .help = "one JSON object"},
    {.name = NULL},
};

static const struct wf_opt_page page = {
    .head =
        "usage: weft show [VIEW] [-i INSTANCE | --of RESULT] [--at PATTERN] [--json]\n"
        "\n"
        "Looks into a running instance (weft run --live, weft lab up), or at the result of a run "
        "(weft\n"
        "run --json RESULT). VIEW is one of\n"
        "  status      time, digest, lateness, packets (the default)\n"
        "  hosts       attached hosts, where they are, whether they are up\n"
        "  ports       traffic, marks, pauses and drops of each port\n"
        "  flows       what each flow has posted and delivered\n"
        "  drops       dropped frames by port and reason\n"
        "  edges       what attached hosts sent and took, stalls, ICRC verdicts\n"
        "  endpoints   model hosts that listen: connections made to them, what peers did there\n"
        "  queues, groups, priorities   egress queues, ingress priority groups, 802.1p priorities\n"
        "  watermarks  of groups, queues and pools: since they were cleared, and ever\n"
        "  watchdogs   PFC watchdogs: storms, and what passed or was dropped during them\n"
        "  faults, links\n"
        "  lldp        neighbours of switch ports, with lldp: on\n"
        "  dcbx        their ETS, PFC and application priorities against the ports' own\n"
        "or, in SONiC's words and columns, of all ports of switches,\n"
        "  interfaces counters [trim]\n"
        "  pfc counters\n"
        "  pfcwd stats\n"
        "  priority-group drop counters\n"
        "  priority-group watermark | persistent-watermark shared | headroom\n"
        "  queue counters [trim]\n"
        "  queue watermark | persistent-watermark unicast\n"
        "  buffer_pool, headroom-pool watermark | persistent-watermark\n"
        "\n",
    .opts = opts,
    .tail = "\nExit status: 0, 2 wrong usage, 3 no such instance.\n",
};

int wf_cmd_show(int argc, char **argv)
{
    struct options o = {0};
    struct wf_err err;
    int n, rc = wf_opt_parse(&page, &o, argc, argv, &n, &err);

    if (!rc)
        rc = take_view(&o, n, argv + 1, &err);
    if (rc)
        return rc > 0 ? WF_EXIT_PASS : wf_cmd_fail("show", WF_EXIT_USAGE, &err);
    return o.of ? show_result(&o) : show_live(&o);
}
