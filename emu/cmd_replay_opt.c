/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of weft replay. See cmd_replay.h. */
#include "cmd_replay.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "base/key.h"

void wf_replay_usage(FILE *to)
{
    fputs(
        "usage: weft replay [OPTIONS] CAPTURE SCENARIO\n\n"
        "Sends the frames of a pcap or pcapng file through the scenario's fabric, each from the\n"
        "host that it belongs to, and says what became of them. End points don't react.\n\n"
        "  --map ADDRESS=HOST   this MAC, IP or GID is that host; may be repeated\n"
        "  --map auto           sources without a host take the free hosts, as they appear\n"
        "  --others HOST|drop   frames of unknown sources: sent by HOST, or left out (default)\n"
        "  --time recorded      as in the capture (default)\n"
        "         scaled:N      recorded times times N: 10, 0.5, 1/3\n"
        "         flat-out      in the capture's order, as fast as the hosts' links take them\n"
        "  --vantage sender     a frame's time is when its sender began to send it (default)\n"
        "            host:NAME  the capture was taken at this host\n"
        "            port:NAME  at this switch port towards a host\n"
        "            middle     half-way between sender and receiver\n"
        "  --routed             route between leaves, hosts send to their gateway (default: l2)\n"
        "  --truncated pad|skip fill up what a snaplen cut off by zeros (default), or leave it "
        "out\n"
        "  --interface NAME     only frames of this interface of a pcapng file\n"
        "  --capture PORTS=FILE write what passes these ports (a pattern) to a pcapng file\n"
        "  --expect             judge the scenario's expectations too\n"
        "  --lcores N           split the fabric onto N lcores, which take turns: the result is "
        "the\n"
        "                       same (default 1)\n"
        "  --seed N             instead of the scenario's\n"
        "  --set KEY=VALUE      another value than the scenario's, as for weft run\n"
        "  --json               one JSON object instead of text\n\n"
        "exit code: 0; 1 an expectation failed; 2 bad usage or input, also a capture that is cut\n"
        "(it is replayed as far as it goes); 3 environment; 4 invariant broken\n",
        to);
}

static int parse_time(struct wf_replay_conf *c, const char *text, struct wf_err *err)
{
    static const char *const names[] = {"recorded", "scaled:", "flat-out"};
    static const struct wf_key scale = {.name = "scale", .type = WF_KEY_FRACTION};

    if (!strcmp(text, "recorded")) {
        c->time = WF_REPLAY_RECORDED;
    } else if (!strcmp(text, "flat-out")) {
        c->time = WF_REPLAY_FLAT_OUT;
    } else if (!strncmp(text, "scaled:", 7)) {
        c->time = WF_REPLAY_SCALED;
        if (wf_key_set(&scale, &c->scale, text + 7, err) < 0)
            return -EINVAL;
        if (!c->scale.num || !c->scale.den)
            return wf_err_set(err, EINVAL, "--time %s: expected a factor above 0", text);
    } else {
        wf_err_set(err, EINVAL, "--time '%s': expected recorded, scaled:N or flat-out", text);
        wf_err_suggest(err, text, names, 3);
        return -EINVAL;
    }
    return 0;
}

static int parse_vantage(struct wf_replay_conf *c, const char *text, struct wf_err *err)
{
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
                          "--vantage '%s': expected sender, host:NAME, port:NAME or middle", text);
    c->vantage_name = text + 5;
    return 0;
}

static int add(const char **list, unsigned *n, const char *text, struct wf_err *err)
{
    if (*n == WF_REPLAY_LIST_MAX)
        return wf_err_set(err, E2BIG, "more than %d of one option", WF_REPLAY_LIST_MAX);
    list[(*n)++] = text;
    return 0;
}

enum {
    OPT_MAP = 256,
    OPT_OTHERS,
    OPT_TIME,
    OPT_VANTAGE,
    OPT_ROUTED,
    OPT_TRUNCATED,
    OPT_INTERFACE,
    OPT_CAPTURE,
    OPT_EXPECT,
    OPT_LCORES,
    OPT_SEED,
    OPT_SET,
    OPT_JSON,
    OPT_HELP
};

static const struct option long_options[] = {
    {"map", required_argument, NULL, OPT_MAP},
    {"others", required_argument, NULL, OPT_OTHERS},
    {"time", required_argument, NULL, OPT_TIME},
    {"vantage", required_argument, NULL, OPT_VANTAGE},
    {"routed", no_argument, NULL, OPT_ROUTED},
    {"truncated", required_argument, NULL, OPT_TRUNCATED},
    {"interface", required_argument, NULL, OPT_INTERFACE},
    {"capture", required_argument, NULL, OPT_CAPTURE},
    {"expect", no_argument, NULL, OPT_EXPECT},
    {"lcores", required_argument, NULL, OPT_LCORES},
    {"seed", required_argument, NULL, OPT_SEED},
    {"set", required_argument, NULL, OPT_SET},
    {"json", no_argument, NULL, OPT_JSON},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static int unknown(const char *arg, struct wf_err *err)
{
    const char *names[sizeof(long_options) / sizeof(long_options[0])];
    size_t n = 0;

    if (strncmp(arg, "--", 2) != 0)
        return wf_err_set(err, EINVAL, "unknown option '%s'", arg);
    for (; long_options[n].name; n++) {
        names[n] = long_options[n].name;
        if (!strcmp(arg + 2, names[n]))
            return wf_err_set(err, EINVAL, "%s needs a value", arg);
    }
    wf_err_set(err, EINVAL, "unknown option '%s'", arg);
    wf_err_suggest(err, arg + 2, names, n);
    return -EINVAL;
}

static int take_option(struct wf_replay_options *o, struct wf_replay_conf *c, int opt,
                       const char *value, struct wf_err *err)
{
    switch (opt) {
    case OPT_MAP:
        if (!strcmp(value, "auto"))
            o->automatic = true;
        else
            return add(o->maps, &o->n_maps, value, err);
        return 0;
    case OPT_OTHERS:
        o->others = strcmp(value, "drop") ? value : NULL;
        return 0;
    case OPT_TIME:
        return parse_time(c, value, err);
    case OPT_VANTAGE:
        return parse_vantage(c, value, err);
    case OPT_ROUTED:
        c->routed = true;
        return 0;
    case OPT_TRUNCATED:
        c->plan.skip_cut = !strcmp(value, "skip");
        if (c->plan.skip_cut || !strcmp(value, "pad"))
            return 0;
        return wf_err_set(err, EINVAL, "--truncated '%s': expected pad or skip", value);
    case OPT_INTERFACE:
        c->plan.interface = value;
        return 0;
    case OPT_CAPTURE:
        return add(o->captures, &o->n_captures, value, err);
    case OPT_EXPECT:
        o->expect = true;
        return 0;
    case OPT_LCORES:
        return wf_cmd_lcores(value, &o->lcores, err);
    case OPT_SEED:
        o->seed = value;
        return 0;
    case OPT_SET:
        return wf_cmd_set_add(&o->sets, value, err);
    case OPT_JSON:
        o->json = true;
        return 0;
    }
    return -EINVAL;
}

int wf_replay_options_take(struct wf_replay_options *o, struct wf_replay_conf *conf, int argc,
                           char **argv, struct wf_err *err)
{
    int opt;

    opterr = 0;
    optind = 1;
    while ((opt = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
        if (opt == 'h' || opt == OPT_HELP)
            return 1;
        if (opt == '?')
            return unknown(argv[optind - 1], err);
        if (take_option(o, conf, opt, optarg, err) < 0)
            return -EINVAL;
    }
    if (argc - optind != 2)
        return wf_err_set(err, EINVAL, "expected CAPTURE and SCENARIO, see weft replay --help");
    o->capture = argv[optind];
    o->scenario = argv[optind + 1];
    return 0;
}
