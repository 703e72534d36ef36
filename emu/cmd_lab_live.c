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

#include "cmd_lab.h"
#include "attach/edge.h"
#include "cmd_session.h"
#include "lab/netns.h"
#include "lab/serve.h"
#include "sim/clock.h"

struct live {
    struct wf_poller poller; /* the lab's, first */
    struct wf_lab_setup *s;
    struct wf_session session;
    struct wf_lab *lab;
    struct wf_serve serve;
    uint32_t ready_guests;
    bool down[WF_LAB_HOSTS]; /* hosts whose NIC has been told that its link is down */
    enum wf_lab_state state;
    int exit_code;
};

/* ---- between the turns ---------------------------------------------------------------------- */

static void booting(struct live *l)
{
    uint32_t n = wf_lab_ready_guests(l->lab);

    if (n != l->ready_guests)
        wf_lab_tell(l->s, 's', "%u of %u guests ready", n, l->s->plan.n_guests);
    l->ready_guests = n;
}

/* A link that is down, and not since its guest is not there: the guest's NIC loses its carrier. */
static void follow_links(struct live *l, struct wf_fabric *f)
{
    const struct wf_lab_plan *plan = wf_lab_plan_of(l->lab);
    char name[80];

    for (uint32_t i = 0; i < plan->n_hosts; i++) {
        const struct wf_port *port;
        bool down;

        snprintf(name, sizeof(name), "%s:p0", plan->hosts[i].name);
        port = wf_fabric_port(f, name);
        if (!port || port->node->ops != &wf_edge_ops)
            continue;
        down = !port->link->up && !((const struct wf_edge *)port->node)->took_down;
        if (down != l->down[i])
            wf_lab_carrier(l->lab, i, !down);
        l->down[i] = down;
    }
}

static unsigned poll_lab(struct wf_poller *p, struct wf_fabric *f, uint64_t *next_ns)
{
    struct live *l = (struct live *)p;
    enum wf_lab_state was = l->state;
    uint64_t again = wf_wall_ns() + (uint64_t)WF_LAB_LOOK_MS * 1000000;

    l->state = wf_lab_service(l->lab);
    if (l->state == WF_LAB_READY)
        follow_links(l, f);
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
            l->session.loop.stop_asked = true;
        }
    }
    if (again < *next_ns)
        *next_ns = again;
    return 0;
}

/* ---- up ------------------------------------------------------------------------------------- */

static int build(struct live *l, struct wf_err *err)
{
    struct wf_session *s = &l->session;
    int rc;

    s->scen->desc.duration_ps = WF_KEY_AUTO; /* it ends when somebody says so */
    rc = wf_cmd_eal(wf_session_memory(s), s->lcores, false, wf_session_wants_pci(s), err);
    if (rc)
        return rc;
    return wf_session_open(s, err) ? -EIO : 0;
}

/* The lab's own poller and its commands beside the fabric's. */
static int join(struct live *l, struct wf_err *err)
{
    struct wf_run *loop = &l->session.loop;
    int rc;

    l->poller.poll = poll_lab;
    l->poller.next = loop->pollers;
    loop->pollers = &l->poller;
    rc = wf_wait_add_fd(&loop->wait, wf_lab_fd(l->lab));
    if (rc)
        return wf_err_set(err, -rc, "too many descriptors to wait for");
    rc = wf_session_control(&l->session, err);
    if (rc)
        return rc;
    l->serve.lab = l->lab;
    wf_ctl_add(l->session.ctl, &wf_serve_group, &l->serve);
    return wf_session_trace(&l->session, err);
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
    return join(l, err);
}

static void record_end(struct live *l, enum wf_run_end how, struct wf_report *rep)
{
    json_t *summary = wf_report_json(rep);

    wf_record_end(&l->s->record, &l->session.edges, rep, how == WF_RUN_STOPPED, summary);
    json_decref(summary);
}

/* The captures are closed: the recording becomes one file. */
static void record_finish(struct live *l)
{
    bool failed = l->s->record.failed;
    struct wf_err err;
    char path[300];
    FILE *mark = fopen(wf_instance_path(&l->s->in, WF_LAB_PACK, path, sizeof(path)), "we");

    if (mark)
        fclose(mark);
    if (wf_record_finish(&l->s->record, stdout, &err)) {
        wf_cmd_fail("lab", WF_EXIT_ENVIRONMENT, &err);
        failed = true;
    }
    if (failed && !l->exit_code)
        l->exit_code = WF_EXIT_ENVIRONMENT;
}

/* What the fabric has to say at the end: `weft lab down` prints it. */
static int report(struct live *l, enum wf_run_end how, uint64_t wall_ns)
{
    struct wf_scenario *scen = &l->s->scen;
    struct wf_report rep = {.scen = scen,
                            .f = l->session.f,
                            .deadlocks = &l->session.deadlocks,
                            .end = how == WF_RUN_STOPPED ? WF_RUN_DONE : how,
                            .seed = scen->opts.seed,
                            .live = true,
                            .wall_ns = wall_ns,
                            .command = "weft lab up"};
    int rc;

    wf_report_end(&rep);
    wf_session_list_files(&l->session, &rep);
    if (l->s->records)
        record_end(l, how, &rep);
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
    wf_session_close(&l->session);
    wf_cmd_eal_end();
    wf_lab_netns_down(wf_instance_path(&l->s->in, WF_LAB_UNDO, undo, sizeof(undo)));
    if (l->s->records)
        record_finish(l);
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
    l->session = (struct wf_session){.command = "lab",
                                     .lcores = s->lcores,
                                     .scen = &s->scen,
                                     .live = true,
                                     .endless = true,
                                     .record = s->records ? &s->record : NULL,
                                     .instance = &s->in};
    wf_cmd_catch_signals();
    if (start(l, &err)) {
        wf_lab_tell(s, 'e', "%s", err.msg);
        l->exit_code = WF_EXIT_ENVIRONMENT;
    } else {
        uint64_t start_ns = wf_wall_ns();
        enum wf_run_end how = wf_run_loop(&l->session.loop);

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
