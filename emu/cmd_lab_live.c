/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process that is a lab: the fabric in real time, its attachments and captures, the guests, the
 * control socket. All in one thread: what reaches outside is polled between the fabric's turns.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/edges.h"
#include "cap/capture.h"
#include "cmd.h"
#include "cmd_lab.h"
#include "ctl/client.h"
#include "ctl/commands.h"
#include "lab/netns.h"
#include "lab/serve.h"
#include "scen/match.h"
#include "scen/report.h"
#include "sim/clock.h"

struct live {
    struct wf_poller poller; /* the lab's, first */
    struct wf_lab_setup *s;
    struct wf_fabric *f;
    struct wf_run run;
    struct wf_edges edges;
    struct wf_captures *captures;
    struct wf_lab *lab;
    struct wf_ctl *ctl;
    struct wf_ctl_fabric ctl_fabric;
    struct wf_serve serve;
    uint32_t ready_guests;
    enum wf_lab_state state;
    int exit_code;
};

static void say(void *arg, const char *text)
{
    (void)arg;
    fprintf(stderr, "weft lab: %s\n", text);
}

/* ---- between the turns ---------------------------------------------------------------------- */

static void booting(struct live *l)
{
    uint32_t n = wf_lab_ready_guests(l->lab);

    if (n != l->ready_guests)
        wf_lab_tell(l->s, 's', "%u of %u guests ready", n, l->s->plan.n_guests);
    l->ready_guests = n;
}

static unsigned poll_lab(struct wf_poller *p, struct wf_fabric *f, uint64_t *next_ns)
{
    struct live *l = (struct live *)p;
    enum wf_lab_state was = l->state;
    uint64_t again = wf_wall_ns() + (uint64_t)WF_LAB_LOOK_MS * 1000000;

    (void)f;
    l->state = wf_lab_service(l->lab);
    if (was == WF_LAB_BOOTING)
        booting(l);
    if (was != l->state && l->state == WF_LAB_READY) {
        wf_lab_tell(l->s, 'r', "ready");
        close(l->s->tell_fd >= 0 ? l->s->tell_fd : -1);
        l->s->tell_fd = -1;
    }
    if (was != l->state && l->state == WF_LAB_FAILED) {
        wf_lab_tell(l->s, 'e', "%s%s", wf_lab_error(l->lab)->msg,
                    l->s->machine.kvm ? "; without KVM: --accel tcg" : "");
        if (was == WF_LAB_BOOTING) { /* later the other guests may go on */
            l->exit_code = WF_EXIT_ENVIRONMENT;
            l->run.stop_asked = true;
        }
    }
    if (again < *next_ns)
        *next_ns = again;
    return 0;
}

static uint64_t look(void *arg, struct wf_fabric *f)
{
    struct live *l = arg;
    struct wf_err err;

    wf_fabric_settle(f);
    wf_expects_step(&l->s->scen.expects, f->lc->now_ps);
    while (l->captures && wf_captures_take_error(l->captures, &err))
        say(NULL, err.msg);
    return wf_expects_next(&l->s->scen.expects, f->lc->now_ps);
}

/* ---- up ------------------------------------------------------------------------------------- */

static int open_captures(struct live *l, struct wf_err *err)
{
    const struct wf_scenario *scen = &l->s->scen;
    struct wf_captures_conf conf = {
        .live = true, .comment = scen->opts.name, .epoch_s = wf_epoch_s()};
    int rc = scen->n_captures ? wf_captures_new(&l->captures, &conf, err) : 0;

    for (uint32_t i = 0; i < scen->n_captures; i++)
        for (uint32_t n = 0; n < l->f->n_nodes; n++)
            for (uint16_t p = 0; p < l->f->nodes[n]->n_ports && !rc; p++)
                if (wf_match(scen->captures[i].at, l->f->nodes[n]->ports[p].name))
                    rc = wf_captures_add(l->captures, &scen->captures[i], &l->f->nodes[n]->ports[p],
                                         err);
    return rc;
}

static int build(struct live *l, struct wf_err *err)
{
    struct wf_fabric_opts opts = {.paced = true};
    struct wf_desc *d = &l->s->scen.desc;
    int rc;

    d->duration_ps = WF_KEY_AUTO; /* it ends when somebody says so */
    d->time_limit_ps = WF_TIME_NEVER;
    wf_edges_init(&l->edges, l->s->in.dir, say, NULL);
    wf_edges_opts(&l->edges, d, &opts);
    rc = wf_cmd_eal(wf_fabric_memory(d, &opts), 0, err);
    if (rc)
        return rc;
    rc = wf_fabric_build(&l->f, d, &opts, err);
    if (rc)
        return rc;
    wf_expects_bind(&l->s->scen.expects, l->f->objs, l->f->n_objs, &l->s->scen.diags);
    if (wf_run_init(&l->run, l->f))
        return wf_err_set(err, errno, "no eventfd: %s", strerror(errno));
    rc = open_captures(l, err);
    return rc ? rc : wf_edges_open(&l->edges, l->f, err);
}

static int open_ctl(struct live *l, struct wf_err *err)
{
    char path[300];
    int rc =
        wf_ctl_open(&l->ctl, wf_instance_path(&l->s->in, WF_CTL_SOCKET, path, sizeof(path)), err);

    if (rc)
        return rc;
    l->ctl_fabric = (struct wf_ctl_fabric){
        .f = l->f, .run = &l->run, .edges = &l->edges, .instance = l->s->in.name};
    l->serve.lab = l->lab;
    wf_ctl_add(l->ctl, &wf_ctl_fabric_group, &l->ctl_fabric);
    wf_ctl_add(l->ctl, &wf_serve_group, &l->serve);
    return wf_ctl_join(l->ctl, &l->run);
}

static int start(struct live *l, struct wf_err *err)
{
    struct wf_lab_setup *s = l->s;
    struct wf_lab_opts o = {
        .dir = s->in.dir,
        .image = s->image,
        .share = s->share[0] ? s->share : NULL,
        .mem_mib = (uint32_t)(s->cfg.memory_bytes >> 20),
        .boot_limit_ms = (uint32_t)(s->cfg.boot_limit_ps / 1000000000),
    };
    char undo[300];
    int rc =
        wf_lab_netns_up(&s->plan, wf_instance_path(&s->in, WF_LAB_UNDO, undo, sizeof(undo)), err);

    if (!rc)
        rc = build(l, err);
    if (!rc && s->plan.n_guests)
        wf_lab_tell(s, 's', "the fabric is up; %u guests boot by %s", s->plan.n_guests,
                    s->machine.kvm ? "KVM" : "TCG");
    if (!rc)
        rc = wf_lab_start(&l->lab, &s->plan, &s->machine, &o, err);
    if (rc)
        return rc;
    l->run.stop = &wf_cmd_stop;
    l->run.look = look;
    l->run.arg = l;
    l->run.look_every_ps = wf_scenario_sample_ps(&s->scen);
    l->run.look_at_ps = wf_expects_next(&s->scen.expects, 0);
    l->poller.poll = poll_lab;
    l->poller.next = &l->edges.poller;
    l->run.pollers = &l->poller;
    rc = wf_wait_add_fd(&l->run.wait, wf_lab_fd(l->lab));
    return rc ? rc : open_ctl(l, err);
}

/* Names and losses of the capture files, for the summary. */
static void list_captures(struct live *l, struct wf_report *rep)
{
    struct wf_pcapng_counts counts;
    const char **files, *path;
    unsigned n = 0;

    if (!l->captures)
        return;
    wf_captures_stop(l->captures);
    files = WF_ARENA_ARRAY(&rep->arena, const char *, l->s->scen.n_captures + 1);
    while (n < l->s->scen.n_captures && wf_captures_file(l->captures, n, &path, &counts))
        files[n++] = wf_arena_strdup(&rep->arena, path);
    rep->files = files;
    rep->capture_lost = wf_captures_totals(l->captures).lost;
}

/* What the fabric has to say at the end: `weft lab down` prints it. */
static int report(struct live *l, enum wf_run_end how, uint64_t wall_ns)
{
    struct wf_scenario *scen = &l->s->scen;
    struct wf_report rep = {.scen = scen,
                            .f = l->f,
                            .end = how == WF_RUN_STOPPED ? WF_RUN_DONE : how,
                            .seed = scen->opts.seed,
                            .live = true,
                            .wall_ns = wall_ns,
                            .command = "weft lab up"};
    int rc;

    wf_report_end(&rep);
    list_captures(l, &rep);
    wf_report_text(&rep, stdout);
    rc = rep.broken               ? WF_EXIT_INVARIANT
         : wf_report_failed(&rep) ? WF_EXIT_EXPECTATION
                                  : WF_EXIT_PASS;
    wf_report_free(&rep);
    return rc;
}

static void stop(struct live *l)
{
    char undo[300];

    wf_lab_stop(l->lab);
    wf_ctl_close(l->ctl);
    wf_edges_close(&l->edges);
    if (l->f) {
        wf_captures_free(l->captures);
        wf_run_fini(&l->run);
        wf_fabric_free(l->f);
    }
    wf_cmd_eal_end();
    wf_lab_netns_down(wf_instance_path(&l->s->in, WF_LAB_UNDO, undo, sizeof(undo)));
    wf_instance_remove(&l->s->in);
}

int wf_lab_live(struct wf_lab_setup *s)
{
    struct live *l = calloc(1, sizeof(*l));
    struct wf_err err;
    int rc;

    if (!l)
        return WF_EXIT_ENVIRONMENT;
    l->s = s;
    wf_cmd_catch_signals();
    if (start(l, &err)) {
        wf_lab_tell(s, 'e', "%s", err.msg);
        l->exit_code = WF_EXIT_ENVIRONMENT;
    } else {
        uint64_t start_ns = wf_wall_ns();
        enum wf_run_end how = wf_run_loop(&l->run);

        wf_lab_stop(l->lab); /* so that what the guests still sent is in the summary, or lost */
        l->lab = NULL;
        if (!l->exit_code)
            l->exit_code = report(l, how, wf_wall_ns() - start_ns);
    }
    stop(l);
    rc = l->exit_code;
    if (rc)
        printf(WF_LAB_EXIT "%d\n", rc);
    free(l);
    return rc;
}
