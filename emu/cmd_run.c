/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weft run: a scenario in virtual time, or live beside real hosts.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_opt.h"
#include "cmd_session.h"
#include "fabric/partition.h"

struct options {
    const char *path, *json, *junit, *instance, *command, *record;
    struct wf_cmd_sets sets;
    const char *trace, *why;
    bool live, quiet, hugepages, capture, no_capture, no_trace, no_why, seeded, cut;
    uint64_t seed;
    uint32_t lcores;
};

static int take_payload(void *options, const struct wf_opt *opt, const char *value,
                        struct wf_err *err)
{
    static const char *const words[] = {"whole", "cut"};
    int i = wf_opt_word(opt, value, words, 2, err);

    ((struct options *)options)->cut = i == 1;
    return i < 0 ? i : 0;
}

#define FIELD(name) .off = offsetof(struct options, name)

static const struct wf_opt opts[] = {
    {.name = "live",
     .kind = WF_OPT_FLAG,
     FIELD(live),
     .help = "bind fabric time to wall time; attachments need it"},
    {.name = "instance",
     .letter = 'i',
     .kind = WF_OPT_TEXT,
     FIELD(instance),
     .value = "NAME",
     .help = "live: the name by which weft show and weft inject find it; default:\n"
             "the scenario's"},
    {.name = "lcores",
     .kind = WF_OPT_UINT,
     FIELD(lcores),
     .min = 1,
     .max = WF_LCORES_MAX,
     .value = "N",
     .help = "run it on N cores; the result is the same (default 1)"},
    {.name = "seed",
     .kind = WF_OPT_UINT64,
     FIELD(seed),
     .given = offsetof(struct options, seeded),
     .value = "N",
     .help = "another seed than the scenario's"},
    {.name = "set",
     .kind = WF_OPT_SET,
     FIELD(sets),
     .value = "KEY=VALUE",
     .help = "another value than the scenario's, as if it stood behind all in the\n"
             "file: seed=7, topology.leaves=4, switches.leaf*.queue.3.kmin=50kB,\n"
             "workload.NAME.size=1MB; may be given again"},
    {.name = "json",
     .kind = WF_OPT_TEXT,
     FIELD(json),
     .value = "FILE",
     .help = "the result as one JSON object; - for standard output, then no summary"},
    {.name = "junit",
     .kind = WF_OPT_TEXT,
     FIELD(junit),
     .value = "FILE",
     .help = "the expectations as JUnit XML"},
    {.name = "record",
     .kind = WF_OPT_TEXT,
     FIELD(record),
     .value = "FILE",
     .help = "what came from outside, the scenario, the result and the captures as\n"
             "one file, which repeats the run: a tar archive, of zstd or gzip by\n"
             ".zst, .gz, .tgz"},
    {.name = "payload",
     .kind = WF_OPT_CALL,
     .value = "whole|cut",
     .take = take_payload,
     .help = "cut: record no payload bytes, only what each frame's ICRC was"},
    {.name = "capture",
     .kind = WF_OPT_FLAG,
     FIELD(capture),
     .help = "of a bundle: write the scenario's captures and series anew"},
    {.name = "no-capture",
     .kind = WF_OPT_FLAG,
     FIELD(no_capture),
     .help = "write no capture files"},
    {.name = "trace",
     .kind = WF_OPT_TEXT,
     FIELD(trace),
     .value = "FILE",
     .help = "write all series of the scenario's trace to this CSV file; without\n"
             "any, the bytes of all queues and all pauses, on change"},
    {.name = "no-trace", .kind = WF_OPT_FLAG, FIELD(no_trace), .help = "write no series"},
    {.name = "why",
     .kind = WF_OPT_TEXT,
     FIELD(why),
     .value = "FILE",
     .help = "record each decision about packets and pauses, for weft why: as the\n"
             "scenario's why section says; without one, all of them"},
    {.name = "no-why", .kind = WF_OPT_FLAG, FIELD(no_why), .help = "record none"},
    {.name = "quiet", .kind = WF_OPT_FLAG, FIELD(quiet), .help = "no summary, no progress"},
    {.name = "hugepages",
     .kind = WF_OPT_FLAG,
     FIELD(hugepages),
     .help = "packet memory in hugepages (faster; they must be there)"},
    {.name = NULL},
};

static const struct wf_opt_page page = {
    .head =
        "usage: weft run [OPTION]... SCENARIO\n"
        "       weft run [OPTION]... BUNDLE\n"
        "\n"
        "Runs a scenario in virtual time, or with --live in real time beside real hosts, and ends\n"
        "with a summary. A bundle, which --record made, is repeated in virtual time and held\n"
        "against what was recorded.\n"
        "\n"
        "Exit status: 0 pass, 1 an expectation failed, 2 bad input, 3 environment, 4 an\n"
        "invariant broke, 130 interrupted (the summary is printed first). Of a bundle: 0 equal,\n"
        "4 not, 1 when it is of another version, or incomplete.\n"
        "\n",
    .opts = opts,
};

/* 0, 1 when help was asked for, or -EINVAL. */
static int parse_options(int argc, char **argv, struct options *o, struct wf_err *err)
{
    int n, rc = wf_opt_parse(&page, o, argc, argv, &n, err);

    if (rc)
        return rc;
    if (n != 1)
        return wf_err_set(err, EINVAL, n ? "one scenario at a time" : "no scenario given");
    o->path = argv[1];
    return 0;
}

static void progress(void *arg, struct wf_fabric *f)
{
    char t[32];

    (void)arg;
    fprintf(stderr, "weft run: at %s of fabric time, %llu frames over links\n",
            wf_time_short(wf_fabric_now_ps(f), t, sizeof(t)),
            (unsigned long long)wf_fabric_ctr(f, WF_FABRIC_LINK_HOPS));
}

/* One object: a run, or several runs and the verdict over them. */
static int write_json(const struct options *o, const json_t *all, struct wf_err *err)
{
    FILE *out = wf_cmd_create(o->json, err);

    if (!out)
        return -EIO;
    json_dumpf(all, out, JSON_INDENT(1));
    fputc('\n', out);
    return wf_cmd_finish(out, o->json, err);
}

/* Of one run, or of all of them when rep is NULL. */
static int write_junit(const struct options *o, const struct wf_report *rep,
                       const struct wf_report_runs *all, struct wf_err *err)
{
    FILE *out = wf_cmd_create(o->junit, err);

    if (!out)
        return -EIO;
    if (rep)
        wf_report_junit(rep, out);
    else
        wf_report_runs_junit(all, out);
    return wf_cmd_finish(out, o->junit, err);
}

static int exit_code(const struct wf_session *s, const struct wf_report *rep)
{
    if (rep->broken)
        return WF_EXIT_INVARIANT;
    if (rep->end == WF_RUN_STOPPED && wf_cmd_stop)
        return WF_EXIT_INTERRUPTED;
    if (wf_report_failed(rep))
        return WF_EXIT_EXPECTATION;
    return s->capture_failed ? WF_EXIT_ENVIRONMENT : WF_EXIT_PASS;
}

static bool wants_text(const struct options *o)
{
    return !o->quiet && !(o->json && !strcmp(o->json, "-"));
}

static enum wf_exit open_session(const struct options *o, struct wf_session *s, struct wf_err *err)
{
    enum wf_exit rc = wf_session_open(s, err);

    if (rc)
        return rc;
    s->loop.progress = o->quiet ? NULL : progress;
    if (s->instance && wf_session_control(s, err))
        return WF_EXIT_ENVIRONMENT;
    return wf_session_trace(s, err) ? WF_EXIT_ENVIRONMENT : WF_EXIT_PASS;
}

/* A repeated run is right when it is equal; what the scenario expects was judged when it was
 * recorded. */
static int repeat_code(const struct wf_repeat *p, int rc)
{
    if (p->rc)
        wf_cmd_fail("run", WF_EXIT_USAGE, &p->err);
    if (rc == WF_EXIT_INVARIANT || rc == WF_EXIT_INTERRUPTED)
        return rc;
    return (int)wf_repeat_exit(p);
}

/* What a run has shown, everywhere where it is wanted. */
static int tell(const struct options *o, struct wf_session *s, struct wf_report *rep, json_t *all)
{
    bool wanted = o->json || s->record || s->repeat;
    json_t *j = wanted ? wf_report_json(rep) : NULL;
    int rc = exit_code(s, rep);
    struct wf_err err;

    if (s->repeat) {
        wf_repeat_compare(s->repeat, j);
        rc = repeat_code(s->repeat, rc);
        json_object_set_new(j, "repeat", wf_repeat_json(s->repeat));
    }
    if (s->record)
        wf_record_end(s->record, &s->edges, rep, rep->end == WF_RUN_STOPPED, j);
    if (o->json)
        json_array_append(all, j);
    json_decref(j);
    if (wants_text(o))
        wf_report_text(rep, stdout);
    if (wants_text(o) && s->repeat)
        wf_repeat_text(s->repeat, stdout);
    if (o->junit && !rep->one_of_several && write_junit(o, rep, NULL, &err))
        rc = wf_cmd_fail("run", WF_EXIT_ENVIRONMENT, &err);
    return rc;
}

/* After the session is closed: what it wrote becomes the bundle. */
static int finish_record(const struct options *o, struct wf_session *s, int rc)
{
    bool failed = s->record && s->record->failed;
    struct wf_err err;

    if (s->record && wf_record_finish(s->record, wants_text(o) ? stdout : NULL, &err))
        return wf_cmd_fail("run", WF_EXIT_ENVIRONMENT, &err);
    return failed && !rc ? WF_EXIT_ENVIRONMENT : rc;
}

static enum wf_exit begin_record(const struct options *o, struct wf_session *s, struct wf_err *err)
{
    const struct wf_record_conf conf = {
        .path = o->record, .cut = o->cut, .live = o->live, .sets = &o->sets, .command = o->command};
    int rc = s->record ? wf_record_begin(s->record, &conf, s->scen, err) : 0;

    return !rc ? WF_EXIT_PASS : rc == -EINVAL ? WF_EXIT_USAGE : WF_EXIT_ENVIRONMENT;
}

/* Run it, and say what it has shown. The result goes to the end of `all` when it is wanted. */
static int run_once(const struct options *o, struct wf_session *s, uint64_t seed, json_t *all)
{
    struct wf_report rep = {
        .scen = s->scen,
        .seed = seed,
        .live = o->live,
        .command = o->command,
        .one_of_several = s->scen->opts.repeat.seeds > 1,
    };
    struct wf_err err;
    uint64_t start_ns;
    int rc = begin_record(o, s, &err);

    if (rc)
        return wf_cmd_fail("run", (enum wf_exit)rc, &err);
    rc = open_session(o, s, &err);
    if (rc) {
        wf_session_close(s);
        wf_cmd_fail("run", (enum wf_exit)rc, &err);
        return finish_record(o, s, rc);
    }
    start_ns = wf_wall_ns();
    rep.f = s->f;
    rep.deadlocks = &s->deadlocks;
    rep.end = wf_run_loop(&s->loop);
    rep.wall_ns = wf_wall_ns() - start_ns;
    /* a live run is ended so; it is judged */
    rep.interrupted = rep.end == WF_RUN_STOPPED && wf_cmd_stop && !o->live;
    wf_report_end(&rep);
    wf_session_list_files(s, &rep);
    rc = tell(o, s, &rep, all);
    wf_report_free(&rep);
    wf_session_close(s);
    return finish_record(o, s, rc);
}

/* The verdict over all seeds; a run that broke or was stopped says so by its own exit code. */
static int judge_runs(const struct options *o, struct wf_scenario *scen, struct wf_report_runs *all,
                      int worst)
{
    struct wf_err err;

    wf_expects_runs_end(&scen->expects);
    all->broken = worst == WF_EXIT_INVARIANT;
    all->stopped = worst == WF_EXIT_INTERRUPTED;
    if (wants_text(o))
        wf_report_runs_text(all, stdout);
    if (o->junit && write_junit(o, NULL, all, &err))
        return wf_cmd_fail("run", WF_EXIT_ENVIRONMENT, &err);
    if (!worst && wf_report_runs_failed(all))
        return WF_EXIT_EXPECTATION;
    return worst;
}

static bool ran(int rc)
{
    return rc != WF_EXIT_USAGE && rc != WF_EXIT_ENVIRONMENT;
}

static int run_seeds(const struct options *o, struct wf_session *s)
{
    struct wf_scenario *scen = s->scen;
    struct wf_report_runs all = {.scen = scen, .command = o->command};
    json_t *json = json_array(), *whole;
    int worst = WF_EXIT_PASS;
    struct wf_err err;

    all.first_seed = o->seeded ? o->seed : scen->opts.seed;
    while (all.runs < scen->opts.repeat.seeds && !wf_cmd_stop && ran(worst)) {
        uint64_t seed = all.first_seed + all.runs++;
        int rc;

        wf_scenario_seed(scen, seed);
        rc = run_once(o, s, seed, json);
        wf_expects_run_done(&scen->expects, seed);
        all.failed += rc == WF_EXIT_EXPECTATION;
        worst = rc > worst ? rc : worst;
    }
    if (ran(worst) && scen->opts.repeat.seeds > 1)
        worst = judge_runs(o, scen, &all, worst);
    whole = scen->opts.repeat.seeds > 1 ? wf_report_runs_json(&all, json_incref(json))
                                        : json_incref(json_array_get(json, 0));
    if (o->json && whole && (ran(worst) || scen->opts.repeat.seeds == 1) &&
        write_json(o, whole, &err))
        worst = wf_cmd_fail("run", WF_EXIT_ENVIRONMENT, &err);
    json_decref(whole);
    json_decref(json);
    return worst;
}

/* With EAL, and live as an instance that weft show and weft inject find. */
static int run_scenario(const struct options *o, struct wf_scenario *scen, struct wf_repeat *repeat)
{
    struct wf_record record = {0};
    struct wf_session s = {.command = "run",
                           .command_line = o->command,
                           .scen = scen,
                           .live = o->live,
                           .record = o->record ? &record : NULL,
                           .repeat = repeat,
                           .no_capture = o->no_capture,
                           .no_trace = o->no_trace,
                           .trace = o->trace,
                           .no_why = o->no_why,
                           .why = o->why,
                           .lcores = o->lcores ? o->lcores : 1};
    const char *name = o->instance ? o->instance : scen->opts.name;
    struct wf_instance in;
    struct wf_err err;
    int rc = wf_instance_name_check(name, &err);

    if (rc && o->instance)
        return wf_cmd_fail("run", WF_EXIT_USAGE, &err);
    if (rc)
        name = "run"; /* not every scenario's name can be a folder's */
    if (o->live && wf_instance_claim(&in, name, &err))
        return wf_cmd_fail("run", WF_EXIT_ENVIRONMENT, &err);
    if (o->live)
        s.instance = &in;
    if (wf_cmd_eal(wf_session_memory(&s), s.lcores, o->hugepages, wf_session_wants_pci(&s), &err)) {
        rc = wf_cmd_fail("run", WF_EXIT_ENVIRONMENT, &err);
    } else {
        wf_cmd_catch_signals();
        rc = run_seeds(o, &s);
        wf_cmd_eal_end();
    }
    if (o->live)
        wf_instance_remove(&in);
    return rc;
}

/* What belongs to a scenario's run and not to one that is recorded already. */
static int check_repeat(const struct options *o, struct wf_err *err)
{
    const char *what = o->live     ? "--live"
                       : o->seeded ? "--seed"
                       : o->sets.n ? "--set"
                       : o->record ? "--record"
                                   : NULL;

    return what ? wf_err_set(err, EINVAL, "%s does not go with a bundle: it is repeated as it was",
                             what)
                : 0;
}

static int repeat_bundle(struct options *o, struct wf_scenario *scen)
{
    struct wf_repeat *p = calloc(1, sizeof(*p));
    struct wf_err err;
    int rc = p ? check_repeat(o, &err) : wf_err_set(&err, ENOMEM, "no memory");

    if (!rc)
        rc = wf_repeat_open(p, o->path, scen, &err);
    wf_diags_print(&scen->diags, stderr);
    if (rc) {
        rc = wf_cmd_fail("run", WF_EXIT_USAGE, &err);
    } else {
        o->seeded = true;
        o->seed = p->seed;
        o->no_capture = !o->capture;
        o->no_trace = !o->capture && !o->trace;
        o->no_why = !o->capture && !o->why;
        rc = run_scenario(o, scen, p);
    }
    if (p)
        wf_repeat_close(p);
    free(p);
    return rc;
}

static int run_file(const struct options *o, struct wf_scenario *scen)
{
    int rc = wf_scenario_load_set(scen, o->path, o->sets.items, o->sets.n);

    if (!rc)
        rc = wf_scenario_check_mode(scen, o->live);
    wf_diags_print(&scen->diags, stderr);
    return rc ? WF_EXIT_USAGE : run_scenario(o, scen, NULL);
}

int wf_cmd_run(int argc, char **argv)
{
    char command[4096];
    struct options o = {.command = command};
    struct wf_scenario scen = {0};
    struct wf_err err;
    int rc;

    wf_cmd_line(argc, argv, command, sizeof(command)); /* getopt moves the words */
    rc = parse_options(argc, argv, &o, &err);
    if (rc)
        return rc > 0 ? WF_EXIT_PASS : wf_cmd_fail("run", WF_EXIT_USAGE, &err);
    rc = wf_bundle_is(o.path) ? repeat_bundle(&o, &scen) : run_file(&o, &scen);
    wf_scenario_free(&scen);
    return rc;
}
