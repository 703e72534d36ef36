/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weft analyze: what captures of RoCE traffic show. What can be told from a capture, and what is
 * left out, is in analyze/analyze.h.
 */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/align.h"
#include "analyze/input.h"
#include "analyze/report.h"
#include "base/key.h"
#include "base/units.h"
#include "base/version.h"
#include "cmd.h"
#include "cmd_analyze_plot.h"

struct options {
    struct wf_an_conf conf;
    const char *points[WF_AN_SOURCES]; /* NAME=FILE[,FILE...] */
    unsigned n_points;
    const char *const *paths;
    size_t n_paths;
    const char *figures;
    bool json, all;
};

struct job {
    struct options o;
    struct wf_analyze a;
    struct wf_an_input in;
    char command[4096];
    struct wf_err err;
    char *words[WF_AN_SOURCES]; /* of --point */
    unsigned n_words;
};

static void usage(FILE *to)
{
    fputs(
        "usage: weft analyze [OPTIONS] CAPTURE...\n\n"
        "Says of RoCE traffic in pcap and pcapng files (gzip, zstd, xz or plain; \"-\": standard\n"
        "input) what was lost and by whom, what was sent again and why, and where senders stood\n"
        "still. Several files are one capture, in the order of time.\n\n"
        "  --point NAME=FILE[,FILE...]\n"
        "                      files of one capture point, once for each of several: their clocks\n"
        "                      are aligned, and what is lost is placed between two of them (the\n"
        "                      interfaces of a pcapng file are points anyway)\n"
        "  --stall TIME        silences of a sender from here on are looked at (default 1ms)\n"
        "  --nic NAME          judge the pace of CNPs by this profile: generic, cx4, cx5, cx6, "
        "cx7,\n"
        "                      e810, thor2\n"
        "  --max-streams N     directions of connections that are kept (default 32768); the ones\n"
        "                      that were silent longest give way\n"
        "  --max-findings N    findings that are kept (default 100000); the others are counted\n"
        "  --figures DIR       goodput, sequence numbers and repetitions over time, of the worst "
        "16\n"
        "                      streams: table, gnuplot script and SVG\n"
        "  --all               list all connections and findings, not the worst 20 of each\n"
        "  --json              one JSON object (weft.analyze/1) instead of text\n\n"
        "exit code: 0; 2 bad usage, or a file that can't be read to its end (the rest is\n"
        "analysed); 3 environment; 130 interrupted (what was seen until then is told)\n",
        to);
}

enum {
    OPT_POINT = 256,
    OPT_STALL,
    OPT_NIC,
    OPT_STREAMS,
    OPT_FINDINGS,
    OPT_FIGURES,
    OPT_ALL,
    OPT_JSON,
    OPT_HELP
};

static const struct option long_options[] = {
    {"point", required_argument, NULL, OPT_POINT},
    {"stall", required_argument, NULL, OPT_STALL},
    {"nic", required_argument, NULL, OPT_NIC},
    {"max-streams", required_argument, NULL, OPT_STREAMS},
    {"max-findings", required_argument, NULL, OPT_FINDINGS},
    {"figures", required_argument, NULL, OPT_FIGURES},
    {"all", no_argument, NULL, OPT_ALL},
    {"json", no_argument, NULL, OPT_JSON},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static int number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *v,
                  struct wf_err *err)
{
    if (wf_parse_uint(text, v, err) < 0)
        return -EINVAL;
    if (*v < min || *v > max)
        return wf_err_set(err, EINVAL, "--%s %s: expected %llu to %llu", option, text,
                          (unsigned long long)min, (unsigned long long)max);
    return 0;
}

static int take_nic(struct options *o, const char *text, struct wf_err *err)
{
    const char *names[16];
    unsigned n = 0;

    o->conf.nic = wf_an_nic_named(text);
    if (o->conf.nic)
        return 0;
    for (; n < wf_an_n_nics && n < 16; n++)
        names[n] = wf_an_nics[n].name;
    wf_err_set(err, EINVAL, "--nic '%s' is no profile", text);
    wf_err_suggest(err, text, names, n);
    return -EINVAL;
}

static int take_stall(struct options *o, const char *text, struct wf_err *err)
{
    static const struct wf_key key = {.name = "stall", .type = WF_KEY_TIME};
    struct wf_err why;
    uint64_t v = 0;

    if (wf_key_set(&key, &v, text, &why) < 0)
        return wf_err_set(err, EINVAL, "--stall: %s", why.msg);
    if (!v || v > INT64_MAX)
        return wf_err_set(err, EINVAL, "--stall %s: expected a time above 0", text);
    o->conf.stall_ps = (int64_t)v;
    return 0;
}

static int take_option(struct options *o, int opt, const char *value, struct wf_err *err)
{
    uint64_t v = 0;
    int rc = 0;

    switch (opt) {
    case OPT_POINT:
        if (o->n_points == WF_AN_SOURCES)
            return wf_err_set(err, E2BIG, "more than %d capture points", WF_AN_SOURCES);
        o->points[o->n_points++] = value;
        return 0;
    case OPT_STALL:
        return take_stall(o, value, err);
    case OPT_NIC:
        return take_nic(o, value, err);
    case OPT_STREAMS:
        rc = number("max-streams", value, 2, 1 << 24, &v, err);
        o->conf.max_streams = (uint32_t)v;
        return rc;
    case OPT_FINDINGS:
        rc = number("max-findings", value, 1, 1 << 24, &v, err);
        o->conf.max_findings = (uint32_t)v;
        return rc;
    case OPT_FIGURES:
        o->figures = value;
        o->conf.series = true;
        return 0;
    case OPT_ALL:
        o->all = true;
        return 0;
    case OPT_JSON:
        o->json = true;
        return 0;
    }
    return -EINVAL;
}

/* 0; 1: help was asked for; -errno. */
static int take_options(struct options *o, int argc, char **argv, struct wf_err *err)
{
    int opt;

    opterr = 0;
    optind = 1;
    while ((opt = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
        if (opt == 'h' || opt == OPT_HELP)
            return 1;
        if (opt == '?')
            return wf_cmd_unknown(argv[optind - 1], long_options, err);
        if (take_option(o, opt, optarg, err) < 0)
            return -EINVAL;
    }
    o->paths = (const char *const *)argv + optind;
    o->n_paths = (size_t)(argc - optind);
    if (!o->n_paths && !o->n_points)
        return wf_err_set(err, EINVAL, "expected captures, see weft analyze --help");
    return 0;
}

/* NAME=FILE[,FILE...]; the text is cut into its words, which live as long as the job. */
static int add_point(struct job *j, const char *text)
{
    char *words = strdup(text), *eq = words ? strchr(words, '=') : NULL, *save = NULL;
    const char *paths[64];
    size_t n = 0;

    j->words[j->n_words++] = words;
    if (!eq || eq == words || !eq[1])
        return wf_err_set(&j->err, EINVAL, "--point '%s': expected NAME=FILE[,FILE...]", text);
    *eq = '\0';
    for (char *w = strtok_r(eq + 1, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
        if (n == sizeof(paths) / sizeof(paths[0]))
            return wf_err_set(&j->err, E2BIG, "--point %s: more than %zu files", words, n);
        paths[n++] = w;
    }
    return wf_an_input_add(&j->in, words, paths, n, &j->err);
}

static int add_files(struct job *j)
{
    int rc = 0;

    if (j->o.n_points && j->o.n_paths)
        return wf_err_set(&j->err, EINVAL, "'%s' is of no --point: name one for each file",
                          j->o.paths[0]);
    for (unsigned i = 0; i < j->o.n_points && !rc; i++)
        rc = add_point(j, j->o.points[i]);
    if (!rc && j->o.n_paths)
        rc = wf_an_input_add(&j->in, NULL, j->o.paths, j->o.n_paths, &j->err);
    if (!rc && j->in.n_sources > 1)
        rc = wf_an_align(&j->in, &j->err);
    return rc;
}

static int read_all(struct job *j)
{
    int rc = 1;

    wf_cmd_catch_signals();
    while (!wf_cmd_stop && rc == 1)
        rc = wf_an_input_step(&j->in, &j->a, &j->err);
    if (wf_cmd_stop) /* a read that the signal has cut short is no bad file */
        rc = j->in.failed = 0;
    wf_an_end(&j->a);
    return rc < 0 ? rc : 0;
}

static void report(struct job *j)
{
    const struct wf_an_report r = {.a = &j->a,
                                   .in = &j->in,
                                   .rows_max = j->o.all ? 0 : 20,
                                   .findings_max = j->o.all ? 0 : 20,
                                   .interrupted = wf_cmd_stop};
    json_t *o;

    if (!j->o.json) {
        wf_an_report_text(&r, stdout);
        return;
    }
    o = wf_an_report_json(&r);
    json_dumpf(o, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
    putchar('\n');
    json_decref(o);
}

static enum wf_exit work(struct job *j, int argc, char **argv)
{
    char text[1200];
    int rc;

    wf_cmd_line(argc, argv, j->command, sizeof(j->command));
    rc = take_options(&j->o, argc, argv, &j->err);
    if (rc == 1) {
        usage(stdout);
        return WF_EXIT_PASS;
    }
    if (rc < 0)
        return (enum wf_exit)wf_cmd_fail("analyze", WF_EXIT_USAGE, &j->err);
    if (wf_an_init(&j->a, &j->o.conf) < 0) {
        wf_err_set(&j->err, ENOMEM, "no memory for %u streams", j->o.conf.max_streams);
        return (enum wf_exit)wf_cmd_fail("analyze", WF_EXIT_ENVIRONMENT, &j->err);
    }
    rc = wf_an_input_init(&j->in, &j->err);
    if (rc == 0)
        rc = add_files(j);
    if (rc == 0)
        rc = read_all(j);
    if (rc < 0)
        return (enum wf_exit)wf_cmd_fail("analyze", WF_EXIT_USAGE, &j->err);
    report(j);
    fflush(stdout);
    if (j->o.figures && wf_analyze_plot(&j->a, j->o.figures, j->command, &j->err) < 0)
        return (enum wf_exit)wf_cmd_fail("analyze", WF_EXIT_ENVIRONMENT, &j->err);
    if (wf_cmd_stop)
        return WF_EXIT_INTERRUPTED;
    if (!j->in.failed)
        return WF_EXIT_PASS;
    fprintf(stderr, "weft analyze: %s\n", wf_err_text(&j->in.why, text, sizeof(text)));
    return WF_EXIT_USAGE;
}

int wf_cmd_analyze(int argc, char **argv)
{
    struct job *j = calloc(1, sizeof(*j));
    enum wf_exit code;

    if (!j)
        return WF_EXIT_ENVIRONMENT;
    code = work(j, argc, argv);
    wf_an_input_free(&j->in);
    wf_an_free(&j->a);
    for (unsigned i = 0; i < j->n_words; i++)
        free(j->words[i]);
    free(j);
    return (int)code;
}
