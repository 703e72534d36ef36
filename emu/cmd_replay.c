/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weft replay: a capture sent through a scenario's fabric in virtual time. What it means and what
 * is left out is in cap/replay.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/version.h"
#include "cap/json.h"
#include "cmd_replay.h"
#include "cmd_session.h"
#include "fabric/hints.h"
#include "scen/manifest.h"
#include "scen/match.h"

struct job {
    struct wf_replay_options o;
    struct wf_scenario s;
    struct wf_replay r;
    struct wf_session session;
    enum wf_run_end end;
    bool eal, loaded;
    char command[4096]; /* the command line */
    struct wf_err err;
    int invariant; /* what wf_fabric_check said */
    struct wf_err broken;
};

/* ---- from files to a fabric ---- */

static int load(struct job *j, const char *path)
{
    int rc;

    j->loaded = true;
    rc = wf_scenario_load_set(&j->s, path, j->o.sets.items, j->o.sets.n);
    wf_diags_print(&j->s.diags, stderr);
    if (rc == 0 && j->o.seeded)
        wf_scenario_seed(&j->s, j->o.seed);
    return rc;
}

static void host_ids(const struct wf_desc *d, struct wf_replay_host_id *ids)
{
    for (uint32_t i = 0; i < d->n_hosts; i++) {
        const struct wf_host_cfg *c = &d->hosts[i].cfg;

        ids[i].name = d->hosts[i].name;
        memcpy(ids[i].mac, c->mac, 6);
        ids[i].has4 = c->ip.family == 4;
        ids[i].has6 = c->ip6.family == 6;
        memcpy(ids[i].ip4, c->ip.addr, 16);
        memcpy(ids[i].ip6, c->ip6.addr, 16);
    }
}

static int map(struct job *j)
{
    const struct wf_desc *d = &j->s.desc;
    struct wf_replay_host_id *ids =
        WF_ARENA_ARRAY(&j->s.arena, struct wf_replay_host_id, d->n_hosts + 1);
    struct wf_replay_told *told =
        WF_ARENA_ARRAY(&j->s.arena, struct wf_replay_told, j->o.n_maps + 1);
    struct wf_replay_map_conf conf = {
        .told = told, .automatic = j->o.automatic, .others = WF_REPLAY_NO_HOST};

    host_ids(d, ids);
    for (unsigned i = 0; i < j->o.n_maps; i++) {
        int rc = wf_replay_told_parse(j->o.maps[i], ids, d->n_hosts, &told[i], &j->err);

        if (rc < 0)
            return rc;
    }
    conf.n_told = j->o.n_maps;
    if (j->o.others) {
        conf.others = wf_replay_host_named(ids, d->n_hosts, j->o.others, &j->err);
        if (conf.others < 0)
            return -ENOENT;
    }
    return wf_replay_map(&j->r.plan, ids, d->n_hosts, &conf, &j->err);
}

/* What --capture says, behind what the scenario captures. */
static int add_captures(struct job *j)
{
    uint32_t n = j->s.n_captures;
    struct wf_capture_cfg *all =
        WF_ARENA_ARRAY(&j->s.arena, struct wf_capture_cfg, n + j->o.n_captures + 1);

    for (uint32_t i = 0; i < n; i++)
        all[i] = j->s.captures[i];
    for (unsigned i = 0; i < j->o.n_captures; i++) {
        const char *text = j->o.captures[i], *eq = strrchr(text, '=');
        struct wf_capture_cfg *cfg = &all[n++];

        if (!eq || eq == text || !eq[1])
            return wf_err_set(&j->err, EINVAL, "--capture '%s': expected PORTS=FILE", text);
        wf_keyset_defaults(&wf_capture_keys, cfg);
        cfg->at = wf_arena_printf(&j->s.arena, "%.*s", (int)(eq - text), text);
        cfg->file = eq + 1;
    }
    j->s.captures = all;
    j->s.n_captures = n;
    return 0;
}

static bool is_port(const struct wf_fabric *f, const char *pattern)
{
    for (uint32_t i = 0; i < f->n_nodes; i++)
        for (uint16_t p = 0; p < f->nodes[i]->n_ports; p++)
            if (wf_match(pattern, f->nodes[i]->ports[p].name))
                return true;
    return false;
}

static int captures_are_ports(struct job *j)
{
    for (uint32_t i = j->s.n_captures - j->o.n_captures; i < j->s.n_captures; i++)
        if (!is_port(j->session.f, j->s.captures[i].at))
            return wf_err_set(&j->err, EINVAL, "no port matches '%s' to capture at",
                              j->s.captures[i].at);
    return 0;
}

/* Build; *code says whose fault a failure is. */
static int build(struct job *j, enum wf_exit *code)
{
    struct wf_session *s = &j->session;
    int rc;

    *s = (struct wf_session){.command = "replay",
                             .command_line = j->command,
                             .scen = &j->s,
                             .replay = &j->r,
                             .trace = j->o.trace,
                             .no_why = true, /* it names packets by the scenario's own flows */
                             .lcores = j->o.lcores};
    if (!j->o.expect)
        j->s.expects.n = 0;
    *code = WF_EXIT_ENVIRONMENT;
    rc = wf_cmd_eal(wf_session_memory(s), 1, false, false, &j->err);
    if (rc < 0)
        return rc;
    j->eal = true;
    *code = wf_session_open(s, &j->err);
    if (*code)
        return -EINVAL;
    *code = WF_EXIT_USAGE;
    rc = captures_are_ports(j);
    if (rc == 0)
        rc = wf_replay_start(&j->r, s->f, &j->err);
    if (rc < 0)
        return rc;
    *code = WF_EXIT_ENVIRONMENT;
    return wf_session_trace(s, &j->err);
}

/* ---- the run ---- */

static void progress(void *arg, struct wf_fabric *f)
{
    const struct wf_session *s = arg;
    const struct wf_replay *r = s->replay;
    char text[32];

    if (isatty(STDERR_FILENO))
        fprintf(stderr, "weft replay: %u of %u frames, fabric time %s\n", wf_replay_frames_done(r),
                r->plan.n_frames, wf_time_short(wf_fabric_now_ps(f), text, sizeof(text)));
}

static void run(struct job *j)
{
    struct wf_session *s = &j->session;

    s->loop.progress = progress;
    wf_cmd_catch_signals();
    j->end = wf_run_loop(&s->loop);
    wf_fabric_settle(s->f);
    wf_replay_finish(&j->r);
    if (j->o.expect)
        wf_expects_end(&j->s.expects, wf_fabric_now_ps(s->f), true);
    wf_session_end_files(s);
    j->invariant = wf_fabric_check(s->f, &j->broken);
}

/* ---- the end ---- */

static enum wf_exit verdict(const struct job *j)
{
    if (j->invariant < 0)
        return WF_EXIT_INVARIANT;
    if (wf_fabric_out_of_buffers(j->session.f))
        return WF_EXIT_ENVIRONMENT;
    if (j->end == WF_RUN_STOPPED)
        return WF_EXIT_INTERRUPTED;
    if (j->r.read_rc < 0)
        return WF_EXIT_USAGE;
    if (j->end == WF_RUN_TIME_LIMIT ||
        (j->o.expect && wf_expects_count(&j->s.expects, WF_VERDICT_FAIL)))
        return WF_EXIT_EXPECTATION;
    return j->session.capture_failed ? WF_EXIT_ENVIRONMENT : WF_EXIT_PASS;
}

static void say_what_went_wrong(const struct job *j)
{
    char text[1024];

    if (j->invariant < 0)
        fprintf(stderr, "weft replay: invariant broken: %s\n", j->broken.msg);
    if (wf_fabric_out_of_buffers(j->session.f))
        fprintf(stderr, "weft replay: emulator_out_of_buffers: the run is worth nothing\n");
    if (j->end == WF_RUN_TIME_LIMIT)
        fprintf(stderr, "weft replay: not done by the scenario's time limit\n");
    if (j->r.read_rc < 0)
        fprintf(stderr, "weft replay: %s\n", wf_err_text(&j->r.read_err, text, sizeof(text)));
    for (size_t i = 0; j->o.expect && i < j->s.expects.n; i++) {
        const struct wf_expect *e = &j->s.expects.items[i];

        if (e->verdict == WF_VERDICT_FAIL)
            fprintf(stderr, "%s:%d:%d: failed: %s: %s\n", e->file, e->line, e->col, e->text,
                    wf_expect_failure(e, text, sizeof(text)));
    }
}

static void print_files(const struct job *j, FILE *out)
{
    const struct wf_session *s = &j->session;
    struct wf_traces_totals traces = {0};
    struct wf_pcapng_counts n;
    const char *path;

    for (unsigned i = 0; s->captures && wf_captures_file(s->captures, i, &path, &n); i++)
        fprintf(out, "written    %s: %" PRIu64 " records, %" PRIu64 " lost\n", path, n.packets,
                n.lost);
    if (s->traces)
        traces = wf_traces_totals(s->traces);
    for (unsigned i = 0; i < traces.files; i++)
        fprintf(out, "written    %s\n", wf_traces_file(s->traces, i));
}

static const char *verdict_name(enum wf_exit code)
{
    return code == WF_EXIT_PASS ? "pass" : code == WF_EXIT_INTERRUPTED ? "interrupted" : "fail";
}

static void report_json(const struct job *j, enum wf_exit code)
{
    struct wf_digest d = wf_fabric_digest(j->session.f);
    char digest[32];
    const struct wf_manifest m = {&j->s, j->command, wf_digest_text(&d, digest, sizeof(digest)),
                                  j->s.desc.seed};
    json_t *o = json_pack("{ss ss ss so ss ss so}", "schema", "weft.replay/1", "weft", wf_version(),
                          "scenario", j->s.opts.name, "seed", wf_json_u64(j->s.desc.seed), "digest",
                          digest, "verdict", verdict_name(code), "time_ps",
                          wf_json_u64(wf_fabric_last_event_ps(j->session.f)));

    json_object_set_new(o, "replay", wf_replay_json(&j->r));
    json_object_set_new(o, "manifest", wf_manifest_json(&m));
    json_dumpf(o, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
    putchar('\n');
    json_decref(o);
}

static enum wf_exit report(const struct job *j)
{
    enum wf_exit code = verdict(j);
    struct wf_digest d = wf_fabric_digest(j->session.f);
    char digest[32];

    if (j->o.json) {
        report_json(j, code);
    } else {
        wf_replay_print(&j->r, stdout);
        wf_fabric_hints(j->session.f, stdout);
        print_files(j, stdout);
        printf("digest     %s (scenario %s, seed %" PRIu64 ")\n",
               wf_digest_text(&d, digest, sizeof(digest)), j->s.opts.name, j->s.desc.seed);
    }
    fflush(stdout);
    say_what_went_wrong(j);
    return code;
}

static void tear_down(struct job *j)
{
    wf_session_close(&j->session);
    wf_replay_free(&j->r);
    if (j->loaded)
        wf_scenario_free(&j->s);
    if (j->eal)
        wf_cmd_eal_end();
}

static enum wf_exit work(struct job *j, int argc, char **argv)
{
    enum wf_exit code = WF_EXIT_USAGE;
    int rc;

    wf_cmd_line(argc, argv, j->command, sizeof(j->command));
    rc = wf_replay_options_take(&j->o, &j->r.conf, argc, argv, &j->err);

    if (rc == 1)
        return WF_EXIT_PASS;
    if (rc == 0) {
        rc = load(j, j->o.scenario);
        if (rc < 0 && !j->err.msg[0])
            return code; /* the diagnoses are printed */
    }
    if (rc == 0)
        rc = wf_replay_read(&j->r, j->o.capture, &j->err);
    if (rc == 0)
        rc = map(j);
    if (rc == 0)
        rc = wf_replay_prepare(&j->r, &j->s.desc, &j->err);
    if (rc == 0)
        rc = add_captures(j);
    if (rc == 0)
        rc = build(j, &code);
    if (rc < 0)
        return (enum wf_exit)wf_cmd_fail("replay", code, &j->err);
    run(j);
    return report(j);
}

int wf_cmd_replay(int argc, char **argv)
{
    struct job *j = calloc(1, sizeof(*j));
    enum wf_exit code;

    if (!j)
        return WF_EXIT_ENVIRONMENT;
    code = work(j, argc, argv);
    tear_down(j);
    free(j);
    return (int)code;
}
