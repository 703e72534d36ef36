/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of weft replay. See cmd_replay.h. */
#include "cmd_replay.h"

#include <errno.h>
#include <string.h>

#include "base/key.h"
#include "cmd_opt.h"
#include "fabric/partition.h"

static int take_time(void *options, const struct wf_opt *opt, const char *text, struct wf_err *err)
{
    struct wf_replay_conf *c = ((struct wf_replay_options *)options)->conf;
    static const char *const names[] = {"recorded", "scaled:", "flat-out"};
    static const struct wf_key scale = {.name = "scale", .type = WF_KEY_FRACTION};
    struct wf_err why;

    if (!strcmp(text, "recorded")) {
        c->time = WF_REPLAY_RECORDED;
    } else if (!strcmp(text, "flat-out")) {
        c->time = WF_REPLAY_FLAT_OUT;
    } else if (!strncmp(text, "scaled:", 7)) {
        c->time = WF_REPLAY_SCALED;
        if (wf_key_set(&scale, &c->scale, text + 7, &why) < 0)
            return wf_err_set(err, EINVAL, "--%s %.80s: %.300s", opt->name, text, why.msg);
        if (!c->scale.num || !c->scale.den)
            return wf_err_set(err, EINVAL, "--time %s: expected a factor above 0", text);
    } else {
        wf_err_set(err, EINVAL, "--time '%s': expected recorded, scaled:N or flat-out", text);
        wf_err_suggest(err, text, names, 3);
        return -EINVAL;
    }
    return 0;
}

static int take_vantage(void *options, const struct wf_opt *opt, const char *text,
                        struct wf_err *err)
{
    struct wf_replay_conf *c = ((struct wf_replay_options *)options)->conf;

    if (!strcmp(text, "sender"))
        c->vantage = WF_REPLAY_AT_SENDER;
    else if (!strcmp(text, "middle"))
        c->vantage = WF_REPLAY_IN_MIDDLE;
    else if (!strncmp(text, "host:", 5))
        c->vantage = WF_REPLAY_AT_HOST;
    else if (!strncmp(text, "port:", 5))
        c->vantage = WF_REPLAY_AT_PORT;
    else
        return wf_err_set(err, EINVAL,
                          "--%s '%.80s': expected sender, host:NAME, port:NAME or middle",
                          opt->name, text);
    c->vantage_name = text + 5;
    return 0;
}

static int add(const char **list, unsigned *n, const struct wf_opt *opt, const char *text,
               struct wf_err *err)
{
    if (*n == WF_REPLAY_LIST_MAX)
        return wf_err_set(err, E2BIG, "--%s '%.80s': expected at most %d of them", opt->name, text,
                          WF_REPLAY_LIST_MAX);
    list[(*n)++] = text;
    return 0;
}

static int take_map(void *options, const struct wf_opt *opt, const char *text, struct wf_err *err)
{
    struct wf_replay_options *o = options;

    if (strcmp(text, "auto"))
        return add(o->maps, &o->n_maps, opt, text, err);
    o->automatic = true;
    return 0;
}

static int take_capture(void *options, const struct wf_opt *opt, const char *text,
                        struct wf_err *err)
{
    struct wf_replay_options *o = options;

    return add(o->captures, &o->n_captures, opt, text, err);
}

static int take_truncated(void *options, const struct wf_opt *opt, const char *text,
                          struct wf_err *err)
{
    static const char *const words[] = {"pad", "skip"};
    struct wf_replay_options *o = options;
    int i = wf_opt_word(opt, text, words, 2, err);

    o->conf->plan.skip_cut = i == 1;
    return i < 0 ? i : 0;
}

#define FIELD(name) .off = offsetof(struct wf_replay_options, name)

static const struct wf_opt opts[] = {
    {.name = "map",
     .kind = WF_OPT_CALL,
     .value = "ADDRESS=HOST|auto",
     .take = take_map,
     .help = "this MAC, IP or GID is that host; may be repeated. auto: sources\n"
             "without a host take the free hosts, as they appear"},
    {.name = "others",
     .kind = WF_OPT_TEXT,
     FIELD(others),
     .value = "HOST|drop",
     .help = "frames of unknown sources: sent by HOST, or left out (default)"},
    {.name = "time",
     .kind = WF_OPT_CALL,
     .value = "HOW",
     .take = take_time,
     .help = "recorded: as in the capture (default)\n"
             "scaled:N: recorded times times N: 10, 0.5, 1/3\n"
             "flat-out: in the capture's order, as fast as the hosts' links take them"},
    {.name = "vantage",
     .kind = WF_OPT_CALL,
     .value = "WHERE",
     .take = take_vantage,
     .help = "sender: a frame's time is when its sender began to send it (default)\n"
             "host:NAME: the capture was taken at this host\n"
             "port:NAME: at this switch port towards a host\n"
             "middle: half-way between sender and receiver"},
    {.name = "routed",
     .kind = WF_OPT_FLAG,
     FIELD(routed),
     .help = "route between leaves, hosts send to their gateway (default: l2)"},
    {.name = "truncated",
     .kind = WF_OPT_CALL,
     .value = "pad|skip",
     .take = take_truncated,
     .help = "fill up what a snaplen cut off by zeros (default), or leave it out"},
    {.name = "interface",
     .kind = WF_OPT_TEXT,
     FIELD(interface),
     .value = "NAME",
     .help = "only frames of this interface of a pcapng file"},
    {.name = "capture",
     .kind = WF_OPT_CALL,
     .value = "PORTS=FILE",
     .take = take_capture,
     .help = "write what passes these ports (a pattern) to a pcapng file"},
    {.name = "trace",
     .kind = WF_OPT_TEXT,
     FIELD(trace),
     .value = "FILE",
     .help = "write all series of the scenario's trace to this CSV file; without\n"
             "any, the bytes of all queues and all pauses, on change"},
    {.name = "expect",
     .kind = WF_OPT_FLAG,
     FIELD(expect),
     .help = "judge the scenario's expectations too"},
    {.name = "lcores",
     .kind = WF_OPT_UINT,
     FIELD(lcores),
     .min = 1,
     .max = WF_LCORES_MAX,
     .value = "N",
     .help = "split the fabric onto N lcores, which take turns: the result is the\n"
             "same (default 1)"},
    {.name = "seed",
     .kind = WF_OPT_UINT64,
     FIELD(seed),
     .given = offsetof(struct wf_replay_options, seeded),
     .value = "N",
     .help = "instead of the scenario's"},
    {.name = "set",
     .kind = WF_OPT_SET,
     FIELD(sets),
     .value = "KEY=VALUE",
     .help = "another value than the scenario's, as for weft run"},
    {.name = "json", .kind = WF_OPT_FLAG, FIELD(json), .help = "one JSON object instead of text"},
    {.name = NULL},
};

static const struct wf_opt_page page = {
    .head =
        "usage: weft replay [OPTIONS] CAPTURE SCENARIO\n\n"
        "Sends the frames of a pcap or pcapng file through the scenario's fabric, each from the\n"
        "host that it belongs to, and says what became of them. End points don't react.\n\n",
    .opts = opts,
    .tail = "\nexit code: 0; 1 an expectation failed; 2 bad usage or input, also a capture that is "
            "cut\n"
            "(it is replayed as far as it goes); 3 environment; 4 invariant broken\n",
};

int wf_replay_options_take(struct wf_replay_options *o, struct wf_replay_conf *conf, int argc,
                           char **argv, struct wf_err *err)
{
    int n, rc;

    o->conf = conf;
    rc = wf_opt_parse(&page, o, argc, argv, &n, err);
    if (rc)
        return rc;
    if (n != 2)
        return wf_err_set(err, EINVAL, "expected CAPTURE and SCENARIO, see weft replay --help");
    if (o->others && !strcmp(o->others, "drop"))
        o->others = NULL;
    conf->routed = o->routed;
    conf->plan.interface = o->interface;
    o->capture = argv[1];
    o->scenario = argv[2];
    return 0;
}
