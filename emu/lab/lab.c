/* SPDX-License-Identifier: BSD-3-Clause */
/* See lab.h. */
#include "lab/lab.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/clock.h"

#define BASE_MIB       160 /* kernel, processes, registered memory of the usual tools */
#define HOST_MIB       24  /* for each RDMA host more */
#define SETUP_LIMIT_MS 60000
#define ENV_MAX        128

/* A guest on its way: agent greets, set-up script runs, ready. */
struct member {
    struct wf_lab *lab;
    struct wf_guest *guest;
    enum { BOOTING, SETTING_UP, READY, GONE } step;
    uint32_t session;
    uint32_t watched; /* events that epoll looks for */
    char said[600];   /* by the set-up script */
    size_t said_len;
};

struct wf_lab {
    struct wf_lab_plan plan;
    char share[512];
    uint64_t give_up_ms;
    int epoll_fd;
    struct member members[WF_LAB_GUESTS];
    uint32_t started;
    bool failed;
    struct wf_err err;
};

static uint64_t now_ms(void)
{
    return wf_wall_ns() / 1000000;
}

static uint32_t memory_for(const struct wf_lab_guest *g, const struct wf_lab_opts *o)
{
    struct stat st;

    if (o->mem_mib)
        return o->mem_mib;
    if (stat(o->image.initramfs, &st))
        st.st_size = 0;
    /* the archive lies in memory beside the files that come out of it, for a while */
    return BASE_MIB + HOST_MIB * g->n_nics + (uint32_t)(2 * st.st_size >> 20);
}

static void watch(struct wf_lab *lab, uint32_t i);

static int start_guest(struct wf_lab *lab, uint32_t i, const struct wf_machine *m,
                       const struct wf_lab_opts *o, struct wf_err *err)
{
    const struct wf_lab_guest *g = &lab->plan.guests[i];
    struct wf_guest_nic nics[WF_GUEST_NICS];
    struct wf_guest_config c = {
        .name = g->name,
        .dir = o->dir,
        .vmlinux = o->image.vmlinux,
        .initramfs = o->image.initramfs,
        .share = o->share,
        .mem_mib = memory_for(g, o),
        .cpu = -1,
        .nics = nics,
        .n_nics = g->n_nics,
    };

    for (uint32_t k = 0; k < g->n_nics; k++) {
        const struct wf_lab_host *h = &lab->plan.hosts[g->hosts[k]];

        nics[k].socket_path = h->socket;
        memcpy(nics[k].mac, h->mac, sizeof(nics[k].mac));
        nics[k].mtu = h->mtu;
    }
    lab->members[i].lab = lab;
    lab->members[i].guest = wf_guest_start(m, &c, err);
    if (!lab->members[i].guest)
        return -EIO;
    watch(lab, i);
    return 0;
}

int wf_lab_start(struct wf_lab **out, const struct wf_lab_plan *plan, const struct wf_machine *m,
                 const struct wf_lab_opts *opts, struct wf_err *err)
{
    struct wf_lab *lab = calloc(1, sizeof(*lab));

    *out = NULL;
    if (!lab)
        return wf_err_set(err, ENOMEM, "no memory for the lab");
    lab->plan = *plan;
    lab->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (lab->epoll_fd < 0) {
        free(lab);
        return wf_err_set(err, errno, "epoll: %s", strerror(errno));
    }
    if (opts->share)
        snprintf(lab->share, sizeof(lab->share), "%s", opts->share);
    lab->give_up_ms =
        now_ms() + (opts->boot_limit_ms ? opts->boot_limit_ms : 120000 + 15000 * plan->n_guests);
    for (; lab->started < plan->n_guests; lab->started++) {
        int rc = start_guest(lab, lab->started, m, opts, err);

        if (rc) {
            wf_lab_stop(lab);
            return rc;
        }
    }
    *out = lab;
    return 0;
}

void wf_lab_stop(struct wf_lab *lab)
{
    if (!lab)
        return;
    for (uint32_t i = 0; i < lab->started; i++)
        wf_guest_stop(lab->members[i].guest);
    close(lab->epoll_fd);
    free(lab);
}

int wf_lab_fd(const struct wf_lab *lab)
{
    return lab->epoll_fd;
}

/* Look for what the guest waits for now; the events are poll(2)'s, which have epoll's values. */
static void watch(struct wf_lab *lab, uint32_t i)
{
    struct member *m = &lab->members[i];
    uint32_t want = (uint32_t)wf_guest_events(m->guest);
    struct epoll_event e = {.events = want, .data.u32 = i};

    if (m->step == GONE || want == m->watched)
        return;
    epoll_ctl(lab->epoll_fd, m->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, wf_guest_fd(m->guest), &e);
    m->watched = want;
}

const struct wf_err *wf_lab_error(const struct wf_lab *lab)
{
    return &lab->err;
}

void wf_lab_carrier(struct wf_lab *lab, uint32_t host, bool up)
{
    const struct wf_lab_host *h = &lab->plan.hosts[host];

    if (h->kind == WF_LAB_GUEST && lab->members[h->guest_index].guest)
        wf_guest_carrier(lab->members[h->guest_index].guest, h->nic, up);
}

const struct wf_lab_plan *wf_lab_plan_of(const struct wf_lab *lab)
{
    return &lab->plan;
}

const char *wf_lab_share(const struct wf_lab *lab)
{
    return lab->share[0] ? lab->share : NULL;
}

uint32_t wf_lab_ready_guests(const struct wf_lab *lab)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < lab->started; i++)
        n += lab->members[i].step == READY;
    return n;
}

/* ---- from boot to ready --------------------------------------------------------------------- */

static void on_said(void *arg, enum wf_exec_stream stream, const void *data, size_t len)
{
    struct member *m = arg;
    size_t n = sizeof(m->said) - 1 - m->said_len;

    (void)stream;
    n = n < len ? n : len;
    memcpy(m->said + m->said_len, data, n);
    m->said_len += n;
    wf_guest_consumed(m->guest, m->session, len);
}

static void on_set_up(void *arg, const struct wf_exec_status *status)
{
    struct member *m = arg;
    char how[300];

    if (wf_exec_status_code(status) == 0) {
        m->step = READY;
        return;
    }
    m->lab->failed = true;
    wf_err_set(&m->lab->err, EIO, "guest %s: setting up its network failed, %s: %s",
               wf_guest_name(m->guest), wf_exec_status_text(status, how, sizeof(how)), m->said);
}

static void set_up(struct wf_lab *lab, uint32_t i)
{
    struct member *m = &lab->members[i];
    char script[16 * 1024];
    const char *argv[] = {"/bin/sh", "-c", script, NULL};
    struct wf_exec_req req = {.argv = argv, .timeout_ms = SETUP_LIMIT_MS};
    struct wf_exec_sink sink = {on_said, NULL, on_set_up, m};

    if (wf_lab_setup_script(&lab->plan, i, lab->share[0] ? lab->share : NULL, script,
                            sizeof(script), &lab->err)) {
        lab->failed = true;
        return;
    }
    m->step = SETTING_UP;
    m->session = wf_guest_run(m->guest, &req, &sink);
}

static void service_one(struct wf_lab *lab, uint32_t i, short revents)
{
    struct member *m = &lab->members[i];

    if (m->step == GONE || !revents)
        return;
    if (wf_guest_service(m->guest, revents) < 0) {
        bool booted = m->step == READY;

        m->step = GONE;
        if (!lab->failed || !booted)
            wf_guest_obituary(m->guest, &lab->err);
        lab->failed = true;
    } else if (m->step == BOOTING && wf_guest_hello(m->guest)) {
        set_up(lab, i);
    }
}

static void give_up(struct wf_lab *lab, uint32_t i)
{
    struct wf_err last;

    wf_guest_obituary(lab->members[i].guest, &last);
    wf_err_set(&lab->err, ETIMEDOUT, "the lab is not up in time; %s", last.msg);
    lab->failed = true;
}

enum wf_lab_state wf_lab_service(struct wf_lab *lab)
{
    struct epoll_event e[WF_LAB_GUESTS];
    int n = epoll_wait(lab->epoll_fd, e, WF_LAB_GUESTS, 0);
    uint32_t ready;

    for (int i = 0; i < n; i++)
        service_one(lab, e[i].data.u32, (short)e[i].events);
    for (uint32_t i = 0; i < lab->started; i++)
        watch(lab, i);
    ready = wf_lab_ready_guests(lab);
    if (!lab->failed && ready < lab->started && now_ms() > lab->give_up_ms) {
        for (uint32_t i = 0; i < lab->started && !lab->failed; i++)
            if (lab->members[i].step != READY)
                give_up(lab, i);
    }
    if (lab->failed)
        return WF_LAB_FAILED;
    return ready == lab->started ? WF_LAB_READY : WF_LAB_BOOTING;
}

/* ---- commands ------------------------------------------------------------------------------- */

static int find_guest(const struct wf_lab *lab, const char *name)
{
    for (uint32_t i = 0; i < lab->started; i++)
        if (!strcmp(lab->plan.guests[i].name, name))
            return (int)i;
    return -1;
}

static int no_such_host(const struct wf_lab *lab, const char *name, struct wf_err *err)
{
    const char *names[WF_LAB_HOSTS];

    for (uint32_t i = 0; i < lab->plan.n_hosts; i++)
        names[i] = lab->plan.hosts[i].name;
    wf_err_set(err, ENOENT, "no host '%s' that commands can run on", name);
    wf_err_suggest(err, name, names, lab->plan.n_hosts);
    return -ENOENT;
}

/* What the caller set comes last, and so it wins. */
static int join_env(const char **env, const char *const *more)
{
    uint32_t n = 0;

    while (env[n])
        n++;
    for (; more && *more; more++) {
        if (n + 1 >= ENV_MAX)
            return -E2BIG;
        env[n++] = *more;
    }
    env[n] = NULL;
    return 0;
}

int wf_lab_exec(struct wf_lab *lab, const char *host, const struct wf_exec_req *req,
                const struct wf_exec_sink *sink, struct wf_lab_command *cmd, struct wf_err *err)
{
    int h = wf_lab_find_host(&lab->plan, host), g = find_guest(lab, host);
    const char *env[ENV_MAX] = {NULL};
    char text[1024], dev[16] = "";
    struct wf_exec_req r = *req;
    struct member *m;

    if (h < 0 && g < 0)
        return no_such_host(lab, host, err);
    if (h >= 0 && lab->plan.hosts[h].kind != WF_LAB_GUEST)
        return wf_err_set(err, ENOTSUP, "host %s is no guest", host);
    if (h >= 0) {
        g = (int)lab->plan.hosts[h].guest_index;
        wf_lab_host_env(&lab->plan, (uint32_t)h, env, ENV_MAX, text, sizeof(text));
        wf_lab_host_bind(&lab->plan, (uint32_t)h, dev);
    }
    if (join_env(env, req->env))
        return wf_err_set(err, E2BIG, "more than %d environment variables", ENV_MAX - 1);
    r.env = env;
    r.netdev = dev[0] ? dev : NULL;
    m = &lab->members[g];
    if (m->step != READY)
        return wf_err_set(err, EAGAIN, "guest %s %s", lab->plan.guests[g].name,
                          m->step == GONE ? "has gone" : "is not ready yet");
    cmd->guest = (uint32_t)g;
    cmd->session = wf_guest_run(m->guest, &r, sink);
    if (!cmd->session)
        return wf_err_set(err, EAGAIN, "guest %s holds too many commands, or one too long",
                          lab->plan.guests[g].name);
    watch(lab, (uint32_t)g);
    return 0;
}

void wf_lab_signal(struct wf_lab *lab, const struct wf_lab_command *cmd, int sig)
{
    wf_guest_signal(lab->members[cmd->guest].guest, cmd->session, sig);
    watch(lab, cmd->guest);
}

void wf_lab_stdin(struct wf_lab *lab, const struct wf_lab_command *cmd, const void *data,
                  size_t len)
{
    wf_guest_stdin(lab->members[cmd->guest].guest, cmd->session, data, len);
    watch(lab, cmd->guest);
}

void wf_lab_consumed(struct wf_lab *lab, const struct wf_lab_command *cmd, size_t len)
{
    wf_guest_consumed(lab->members[cmd->guest].guest, cmd->session, len);
    watch(lab, cmd->guest);
}
