/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weft analyze: what captures of RoCE traffic show. What can be told from a capture, and what is
 * left out, is in analyze/analyze.h.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/align.h"
#include "analyze/input.h"
#include "analyze/report.h"
#include "base/version.h"
#include "cmd.h"
#include "cmd_analyze_plot.h"
#include "cmd_opt.h"

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

static int take_point(void *options, const struct wf_opt *opt, const char *value,
                      struct wf_err *err)
{
    struct options *o = options;
    const size_t len = strcspn(value, "=");

    if (!len || !value[len] || !value[len + 1])
        return wf_err_set(err, EINVAL, "--%s '%.200s': expected %s", opt->name, value, opt->value);
    for (unsigned i = 0; i < o->n_points; i++)
        if (!strncmp(o->points[i], value, len + 1))
            return wf_err_set(err, EINVAL,
                              "--%s '%.200s': the point '%.*s' was given before; its files go into "
                              "one --%s, with commas between them",
                              opt->name, value, (int)len, value, opt->name);
    if (o->n_points == WF_AN_SOURCES)
        return wf_err_set(err, E2BIG, "--%s '%.200s': expected at most %d capture points",
                          opt->name, value, WF_AN_SOURCES);
    o->points[o->n_points++] = value;
    return 0;
}

static int take_nic(void *options, const struct wf_opt *opt, const char *value, struct wf_err *err)
{
    struct options *o = options;
    const char *names[16];
    unsigned n = 0;
    int i;

    for (; n < wf_an_n_nics && n < 16; n++)
        names[n] = wf_an_nics[n].name;
    i = wf_opt_word(opt, value, names, n, err);
    if (i < 0)
        return i;
    o->conf.nic = &wf_an_nics[i];
    return 0;
}

static const struct wf_opt opts[] = {
    {.name = "point",
     .kind = WF_OPT_CALL,
     .value = "NAME=FILE[,FILE...]",
     .take = take_point,
     .help = "files of one capture point, once for each of several: their clocks\n"
             "are aligned, and what is lost is placed between two of them (the\n"
             "interfaces of a pcapng file are points anyway)"},
    {.name = "stall",
     .kind = WF_OPT_TIME,
     .off = offsetof(struct options, conf.stall_ps),
     .min = 1,
     .max = WF_TIME_MAX,
     .value = "TIME",
     .help = "silences of a sender from here on are looked at (default 1ms)"},
    {.name = "nic",
     .kind = WF_OPT_CALL,
     .value = "NAME",
     .take = take_nic,
     .help = "judge the pace of CNPs by this profile: generic, cx4, cx5, cx6, cx7,\n"
             "e810, thor2"},
    {.name = "max-streams",
     .kind = WF_OPT_UINT,
     .off = offsetof(struct options, conf.max_streams),
     .min = 2,
     .max = 1 << 24,
     .value = "N",
     .help = "directions of connections that are kept (default 32768); the ones\n"
             "that were silent longest give way"},
    {.name = "max-findings",
     .kind = WF_OPT_UINT,
     .off = offsetof(struct options, conf.max_findings),
     .min = 1,
     .max = 1 << 24,
     .value = "N",
     .help = "findings that are kept (default 100000); the others are counted"},
    {.name = "figures",
     .kind = WF_OPT_TEXT,
     .off = offsetof(struct options, figures),
     .value = "DIR",
     .help = "goodput, sequence numbers and repetitions over time, of the worst 16\n"
             "streams: table, gnuplot script and SVG"},
    {.name = "all",
     .kind = WF_OPT_FLAG,
     .off = offsetof(struct options, all),
     .help = "list all connections and findings, not the worst 20 of each"},
    {.name = "json",
     .kind = WF_OPT_FLAG,
     .off = offsetof(struct options, json),
     .help = "one JSON object (weft.analyze/1) instead of text"},
    {.name = NULL},
};

static const struct wf_opt_page page = {
    .head =
        "usage: weft analyze [OPTIONS] CAPTURE...\n\n"
        "Says of RoCE traffic in pcap and pcapng files (gzip, zstd, xz or plain; \"-\": standard\n"
        "input) what was lost and by whom, what was sent again and why, and where senders stood\n"
        "still. Several files are one capture, in the order of time.\n\n",
    .opts = opts,
    .tail = "\nexit code: 0; 2 bad usage, or a file that can't be read to its end (the rest is\n"
            "analysed); 3 environment; 130 interrupted (what was seen until then is told)\n",
};

/* 0; 1: help was asked for; -errno. */
static int take_options(struct options *o, int argc, char **argv, struct wf_err *err)
{
    int n, rc = wf_opt_parse(&page, o, argc, argv, &n, err);

    if (rc)
        return rc;
    o->conf.series = o->figures;
    o->paths = (const char *const *)argv + 1;
    o->n_paths = (size_t)n;
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
    if (!eq)
        return wf_err_set(&j->err, ENOMEM, "no memory");
    *eq = '\0';
    for (char *w = strtok_r(eq + 1, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
        if (n == sizeof(paths) / sizeof(paths[0]))
            return wf_err_set(&j->err, E2BIG, "--point %s: more than %zu files", words, n);
        paths[n++] = w;
    }
    if (!n)
        return wf_err_set(&j->err, EINVAL, "--point '%.200s': expected a file behind '='", text);
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
    if (rc)
        return rc > 0 ? WF_EXIT_PASS : (enum wf_exit)wf_cmd_fail("analyze", WF_EXIT_USAGE, &j->err);
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
