/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd_session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ctl/client.h"
#include "scen/manifest.h"
#include "scen/match.h"
#include "scen/trace.h"
#include "scen/why.h"

static void say(void *arg, const char *text)
{
    const struct wf_session *s = arg;

    fprintf(stderr, "weft %s: %s\n", s->command, text);
}

static void say_file_errors(struct wf_session *s)
{
    struct wf_err err;

    while ((s->captures && wf_captures_take_error(s->captures, &err)) ||
           (s->traces && wf_traces_take_error(s->traces, &err))) {
        wf_cmd_fail(s->command, WF_EXIT_ENVIRONMENT, &err);
        s->capture_failed = true;
    }
}

static void say_record_errors(struct wf_session *s)
{
    struct wf_err err;

    if (s->record && wf_record_take_error(s->record, &err))
        wf_cmd_fail(s->command, WF_EXIT_ENVIRONMENT, &err);
}

static uint64_t look(void *arg, struct wf_fabric *f)
{
    struct wf_session *s = arg;

    wf_fabric_settle(f);
    wf_deadlocks_look(&s->deadlocks, f);
    wf_expects_step(&s->scen->expects, wf_fabric_now_ps(f));
    say_file_errors(s);
    say_record_errors(s);
    return wf_expects_next(&s->scen->expects, wf_fabric_now_ps(f));
}

/* What the edges have to say to people was said when it was recorded. */
static void prepare_opts(struct wf_session *s, struct wf_fabric_opts *opts)
{
    *opts = (struct wf_fabric_opts){.paced = s->live, .lcores = s->lcores};
    wf_edges_init(&s->edges, s->instance ? s->instance->dir : NULL, s->repeat ? NULL : say, s);
    if (s->live || s->repeat)
        wf_edges_opts(&s->edges, &s->scen->desc, opts);
    if (s->replay) { /* what is known of each frame is one account: the lcores take turns */
        opts->make_host = wf_replay_make_host;
        opts->arg = s->replay;
        opts->threads = WF_TEAM_ALONE;
        opts->full_frames = wf_replay_full_frames(&s->scen->desc);
    }
}

uint64_t wf_session_memory(const struct wf_session *s)
{
    struct wf_session tmp = *s;
    struct wf_fabric_opts opts;

    prepare_opts(&tmp, &opts);
    return wf_fabric_memory(&s->scen->desc, &opts);
}

bool wf_session_wants_pci(const struct wf_session *s)
{
    bool any = false;

    for (uint32_t i = 0; i < s->scen->desc.n_hosts && s->live; i++)
        any |= s->scen->desc.hosts[i].cfg.attach.type == WF_ATTACH_ETHDEV;
    return any;
}

static int capture_at(struct wf_session *s, const struct wf_capture_cfg *cfg, struct wf_err *err)
{
    int rc = 0;

    for (uint32_t n = 0; n < s->f->n_nodes && !rc; n++)
        for (uint16_t p = 0; p < s->f->nodes[n]->n_ports && !rc; p++)
            if (wf_match(cfg->at, s->f->nodes[n]->ports[p].name))
                rc = wf_captures_add(s->captures, cfg, &s->f->nodes[n]->ports[p], err);
    return rc;
}

static int open_captures(struct wf_session *s, struct wf_err *err)
{
    const struct wf_manifest m = {s->scen, s->command_line, NULL, s->scen->desc.seed};
    char text[8192];
    struct wf_captures_conf conf = {.live = s->live,
                                    .lcs = s->f->lcs,
                                    .n_lcs = s->f->n_lcs,
                                    .published_ps = wf_fabric_published_ps,
                                    .published_arg = s->f,
                                    .comment = wf_manifest_text(&m, text, sizeof(text))};
    int rc;

    if (!s->scen->n_captures || s->no_capture)
        return 0;
    if (conf.live)
        conf.epoch_s = wf_epoch_s();
    rc = wf_captures_new(&s->captures, &conf, err);
    for (uint32_t i = 0; i < s->scen->n_captures && !rc; i++)
        rc = capture_at(s, &s->scen->captures[i], err);
    return rc;
}

/* The file that decisions go to; NULL: they are not recorded. */
static const char *why_file(const struct wf_session *s)
{
    return s->no_why ? NULL : s->why ? s->why : s->scen->why ? s->scen->why->file : NULL;
}

static int open_why(struct wf_session *s, struct wf_err *err)
{
    struct wf_why_log_conf conf = {
        .f = s->f, .live = s->live, .published_ps = wf_fabric_published_ps, .published_arg = s->f};

    return why_file(s) ? wf_scenario_why(s->scen, &s->f->arena, &conf, &s->why_log, err) : 0;
}

enum wf_exit wf_session_open(struct wf_session *s, struct wf_err *err)
{
    struct wf_fabric_opts opts;
    struct wf_ctr_walk ctrs;
    int rc;

    s->capture_failed = false;
    s->why_written = NULL;
    prepare_opts(s, &opts);
    rc = wf_fabric_build(&s->f, &s->scen->desc, &opts, err);
    if (rc)
        return rc == -ENOMEM ? WF_EXIT_ENVIRONMENT : WF_EXIT_USAGE;
    wf_edges_bind(&s->edges, s->f);
    wf_cmd_say_lcores(s->command, s->lcores, s->f->n_lcs);
    rc = wf_run_init(&s->loop, s->f);
    if (rc) {
        wf_err_set(err, -rc, "no eventfd: %s", strerror(-rc));
        return WF_EXIT_ENVIRONMENT;
    }
    ctrs = wf_fabric_ctrs(s->f, (unsigned)WF_CTR_ALL_TABLES);
    wf_expects_bind(&s->scen->expects, &ctrs, &s->scen->diags);
    if (s->scen->diags.errors) {
        wf_diags_print(&s->scen->diags, stderr);
        wf_err_set(err, EINVAL, "the expectations do not fit the fabric");
        return WF_EXIT_USAGE;
    }
    if (open_captures(s, err) || open_why(s, err) ||
        (s->record && wf_record_start(s->record, &s->edges, s->scen, s->endless, err)) ||
        (s->live && wf_edges_open(&s->edges, s->f, err)))
        return WF_EXIT_ENVIRONMENT;
    if (s->repeat && (wf_edges_repeat(&s->edges, s->f, err) ||
                      wf_repeat_start(s->repeat, &s->edges, s->f, &s->loop, err)))
        return WF_EXIT_USAGE;
    s->loop.stop = &wf_cmd_stop;
    s->loop.look = look;
    s->loop.arg = s;
    s->loop.look_every_ps = wf_scenario_sample_ps(s->scen);
    s->loop.look_at_ps = wf_expects_next(&s->scen->expects, 0);
    s->loop.open_ended = s->edges.n || s->endless || (s->repeat && s->repeat->endless);
    if (s->edges.n && s->live)
        s->loop.pollers = &s->edges.poller;
    return WF_EXIT_PASS;
}

int wf_session_control(struct wf_session *s, struct wf_err *err)
{
    char path[300];
    int rc =
        wf_ctl_open(&s->ctl, wf_instance_path(s->instance, WF_CTL_SOCKET, path, sizeof(path)), err);

    if (rc)
        return rc;
    s->ctl_fabric = (struct wf_ctl_fabric){
        .f = s->f, .run = &s->loop, .edges = &s->edges, .instance = s->instance->name};
    wf_ctl_add(s->ctl, &wf_ctl_fabric_group, &s->ctl_fabric);
    return wf_ctl_join(s->ctl, &s->loop);
}

int wf_session_trace(struct wf_session *s, struct wf_err *err)
{
    const struct wf_manifest m = {s->scen, s->command_line, NULL, s->scen->desc.seed};
    char text[8192];
    const struct wf_traces_conf conf = {.f = s->f,
                                        .live = s->live,
                                        .file = s->trace,
                                        .published_ps = wf_fabric_published_ps,
                                        .published_arg = s->f,
                                        .comment = wf_manifest_text(&m, text, sizeof(text))};
    int rc;

    if ((!s->scen->n_traces && !s->trace) || s->no_trace)
        return 0;
    rc = wf_traces_new(&s->traces, &conf, err);
    if (!rc)
        rc = wf_scenario_trace(s->scen, s->f, s->traces, err);
    return rc ? rc : wf_traces_start(s->traces, &s->loop, err);
}

static void end_why(struct wf_session *s)
{
    struct wf_err err;

    if (!wf_why_log_end(s->why_log, why_file(s), &err)) {
        s->why_written = why_file(s);
        return;
    }
    wf_cmd_fail(s->command, WF_EXIT_ENVIRONMENT, &err);
    s->capture_failed = true;
}

void wf_session_end_files(struct wf_session *s)
{
    if (s->captures)
        wf_captures_stop(s->captures);
    if (s->traces)
        wf_traces_stop(s->traces);
    if (s->why_log)
        end_why(s);
    say_file_errors(s);
}

static void list_captures(struct wf_session *s, struct wf_report *rep)
{
    struct wf_pcapng_counts counts;
    const char **files, *path;
    unsigned n = 0;

    files = WF_ARENA_ARRAY(&rep->arena, const char *, s->scen->n_captures + 1);
    while (n < s->scen->n_captures && wf_captures_file(s->captures, n, &path, &counts))
        files[n++] = wf_arena_strdup(&rep->arena, path);
    rep->files = files;
    rep->capture_lost = wf_captures_totals(s->captures).lost;
}

static void list_traces(struct wf_session *s, struct wf_report *rep)
{
    struct wf_traces_totals sum = wf_traces_totals(s->traces);
    const char **files = WF_ARENA_ARRAY(&rep->arena, const char *, sum.files + 1);

    for (unsigned i = 0; i < sum.files; i++)
        files[i] = wf_arena_strdup(&rep->arena, wf_traces_file(s->traces, i));
    rep->traces = files;
    rep->trace_lost = sum.lost;
}

void wf_session_list_files(struct wf_session *s, struct wf_report *rep)
{
    wf_session_end_files(s);
    if (s->captures)
        list_captures(s, rep);
    if (s->traces)
        list_traces(s, rep);
    if (s->why_written)
        rep->why = wf_arena_strdup(&rep->arena, s->why_written);
    if (s->why_log)
        rep->why_lost = wf_why_log_lost(s->why_log);
}

void wf_session_close(struct wf_session *s)
{
    wf_ctl_close(s->ctl);
    s->ctl = NULL;
    if (!s->f)
        return;
    wf_edges_close(&s->edges);
    wf_captures_free(s->captures);
    wf_traces_free(s->traces);
    wf_why_log_free(s->why_log);
    wf_run_fini(&s->loop);
    wf_deadlocks_free(&s->deadlocks);
    wf_fabric_free(s->f);
    s->captures = NULL;
    s->traces = NULL;
    s->why_log = NULL;
    s->f = NULL;
}
