/* SPDX-License-Identifier: BSD-3-Clause */
/* See guest.h and agent_proto.h. The connection is a socket pair whose other end QEMU inherits:
 * there is no socket file to race for or to leave behind. */
#include "lab/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "lab/agent_proto.h"
#include "sim/clock.h"

#define TO_GUEST_MAX (8u * 1024 * 1024)

struct session {
    uint32_t id; /* 0: free */
    struct wf_exec_sink sink;
};

struct wf_guest {
    char name[64], dir[256], hello[200];
    pid_t pid;
    int fd;         /* -1: gone */
    int monitor_fd; /* QEMU's standard input, where its monitor reads; -1: gone */
    bool reaped;
    int wait_status;
    uint32_t next_id;
    struct session sessions[WF_AGENT_SESSIONS];
    struct {
        uint8_t *data;
        size_t len, cap;
    } to;          /* not yet taken by the guest */
    uint32_t have; /* bytes of the frame being received */
    uint8_t from[sizeof(struct wf_agent_hdr) + WF_AGENT_MAX_LEN];
};

/* ---- starting and stopping ------------------------------------------------------------------ */

/* In the child of fork: only what is safe there. */
static _Noreturn void become_qemu(const struct wf_qemu_argv *a, int agent_fd, int monitor_fd,
                                  int log_fd, int cpu, pid_t parent)
{
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it died before the line above */
        _exit(1);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0); /* a Ctrl-C in the terminal is weft's, not the guest's */
    if (cpu >= 0) {
        cpu_set_t set;

        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        sched_setaffinity(0, sizeof(set), &set);
    }
    dup2(monitor_fd, 0);
    dup2(log_fd, 1);
    dup2(log_fd, 2);
    fcntl(agent_fd, F_SETFD, 0);
    execv(a->v[0], (char *const *)a->v);
    _exit(127);
}

static void tell_monitor(const struct wf_guest *g, const char *line)
{
    if (g->monitor_fd >= 0)
        (void)send(g->monitor_fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void wf_guest_carrier(struct wf_guest *g, uint32_t nic, bool up)
{
    char line[128];

    snprintf(line, sizeof(line),
             "{\"execute\": \"set_link\", \"arguments\": {\"name\": \"n%u\", \"up\": %s}}\n", nic,
             up ? "true" : "false");
    tell_monitor(g, line);
}

static int launch(struct wf_guest *g, const struct wf_machine *m, const struct wf_guest_config *cfg,
                  struct wf_err *err)
{
    struct wf_qemu_argv *a = malloc(sizeof(*a));
    char log[400];
    int pair[2], monitor[2], log_fd, rc;
    pid_t parent = getpid();
    bool has = a && !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);

    if (has && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, monitor)) {
        close(pair[0]);
        close(pair[1]);
        has = false;
    }
    if (!has) {
        free(a);
        return wf_err_set(err, errno, "guest %s: %s", cfg->name, strerror(errno));
    }
    snprintf(log, sizeof(log), "%s/%s.qemu.log", cfg->dir, cfg->name);
    log_fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    rc = wf_qemu_argv_build(a, m, cfg, pair[1], err);
    if (!rc && log_fd < 0)
        rc = wf_err_set(err, errno, "%s: %s", log, strerror(errno));
    if (!rc) {
        g->pid = fork();
        if (g->pid == 0)
            become_qemu(a, pair[1], monitor[1], log_fd, cfg->cpu, parent);
        if (g->pid < 0)
            rc = wf_err_set(err, errno, "guest %s: fork: %s", cfg->name, strerror(errno));
    }
    if (log_fd >= 0)
        close(log_fd);
    close(pair[1]);
    close(monitor[1]);
    free(a);
    if (rc) {
        close(pair[0]);
        close(monitor[0]);
        return rc;
    }
    g->monitor_fd = monitor[0];
    tell_monitor(g, "{\"execute\": \"qmp_capabilities\"}\n");
    g->fd = pair[0];
    fcntl(g->fd, F_SETFL, O_NONBLOCK);
    return 0;
}

struct wf_guest *wf_guest_start(const struct wf_machine *m, const struct wf_guest_config *cfg,
                                struct wf_err *err)
{
    struct wf_guest *g = calloc(1, sizeof(*g));

    if (!g) {
        wf_err_set(err, ENOMEM, "no memory for guest %s", cfg->name);
        return NULL;
    }
    g->fd = g->monitor_fd = -1;
    snprintf(g->name, sizeof(g->name), "%s", cfg->name);
    snprintf(g->dir, sizeof(g->dir), "%s", cfg->dir);
    if (launch(g, m, cfg, err)) {
        free(g);
        return NULL;
    }
    return g;
}

static void end_session(struct session *s, const struct wf_exec_status *status)
{
    struct wf_exec_sink sink = s->sink;

    s->id = 0;
    sink.done(sink.arg, status);
}

static void gone(struct wf_guest *g)
{
    struct wf_exec_status lost = {.end = WF_EXEC_LOST};

    if (g->fd >= 0)
        close(g->fd);
    if (g->monitor_fd >= 0)
        close(g->monitor_fd);
    g->fd = g->monitor_fd = -1;
    snprintf(lost.text, sizeof(lost.text), "guest %s has gone", g->name);
    for (int i = 0; i < WF_AGENT_SESSIONS; i++)
        if (g->sessions[i].id)
            end_session(&g->sessions[i], &lost);
}

static bool reap(struct wf_guest *g, int timeout_ms)
{
    while (!g->reaped) {
        pid_t pid = waitpid(g->pid, &g->wait_status, WNOHANG);

        if (pid == g->pid || (pid < 0 && errno == ECHILD))
            g->reaped = true;
        else if (timeout_ms <= 0)
            break;
        else
            poll(NULL, 0, 5);
        timeout_ms -= 5;
    }
    return g->reaped;
}

void wf_guest_stop(struct wf_guest *g)
{
    if (!g)
        return;
    gone(g);
    if (!reap(g, 0)) {
        kill(g->pid, SIGTERM); /* lets QEMU close its vhost-user connections */
        if (!reap(g, 2000)) {
            kill(g->pid, SIGKILL);
            reap(g, 5000);
        }
    }
    free(g->to.data);
    free(g);
}

const char *wf_guest_name(const struct wf_guest *g)
{
    return g->name;
}

pid_t wf_guest_pid(const struct wf_guest *g)
{
    return g->pid;
}

const char *wf_guest_hello(const struct wf_guest *g)
{
    return g->hello[0] ? g->hello : NULL;
}

/* ---- the connection ------------------------------------------------------------------------- */

int wf_guest_fd(const struct wf_guest *g)
{
    return g->fd;
}

short wf_guest_events(const struct wf_guest *g)
{
    return POLLIN | (g->to.len ? POLLOUT : 0);
}

static void flush(struct wf_guest *g)
{
    while (g->to.len) {
        ssize_t n = send(g->fd, g->to.data, g->to.len, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n <= 0)
            return; /* taken later, or the reading side finds out that the guest has gone */
        g->to.len -= n;
        memmove(g->to.data, g->to.data + n, g->to.len);
    }
}

static bool post(struct wf_guest *g, uint32_t session, uint16_t type, const void *data,
                 uint32_t len)
{
    struct wf_agent_hdr h = {WF_AGENT_MAGIC, session, type, 0, len};
    size_t need = g->to.len + sizeof(h) + len;

    if (g->fd < 0 || len > WF_AGENT_MAX_LEN || need > TO_GUEST_MAX)
        return false;
    if (need > g->to.cap) {
        uint8_t *d = realloc(g->to.data, need * 2);

        if (!d)
            return false;
        g->to.data = d;
        g->to.cap = need * 2;
    }
    memcpy(g->to.data + g->to.len, &h, sizeof(h));
    if (len)
        memcpy(g->to.data + g->to.len + sizeof(h), data, len);
    g->to.len = need;
    flush(g);
    return true;
}

static struct session *session_find(struct wf_guest *g, uint32_t id)
{
    for (int i = 0; i < WF_AGENT_SESSIONS; i++)
        if (g->sessions[i].id == id)
            return &g->sessions[i];
    return NULL;
}

static void take_exit(struct session *s, const uint8_t *data, uint32_t len)
{
    static const enum wf_exec_end ends[] = {
        [WF_AGENT_END_EXITED] = WF_EXEC_EXITED,
        [WF_AGENT_END_SIGNALED] = WF_EXEC_SIGNALED,
        [WF_AGENT_END_TIMEOUT] = WF_EXEC_TIMEOUT,
        [WF_AGENT_END_FAILED] = WF_EXEC_FAILED,
    };
    struct wf_exec_status st = {.end = WF_EXEC_LOST};
    struct wf_agent_exit e;

    if (len >= sizeof(e)) {
        memcpy(&e, data, sizeof(e));
        if (e.end < sizeof(ends) / sizeof(ends[0])) {
            st.end = ends[e.end];
            st.code = e.code;
        }
        snprintf(st.text, sizeof(st.text), "%.*s", (int)(len - sizeof(e)), data + sizeof(e));
    }
    end_session(s, &st);
}

static void take_frame(struct wf_guest *g, const struct wf_agent_hdr *h, const uint8_t *data)
{
    struct session *s = h->session ? session_find(g, h->session) : NULL;

    if (h->type == WF_AGENT_HELLO) {
        snprintf(g->hello, sizeof(g->hello), "%.*s", (int)h->len, data);
        return;
    }
    if (!s)
        return;
    if (h->type == WF_AGENT_STDOUT || h->type == WF_AGENT_STDERR)
        s->sink.output(s->sink.arg, h->type == WF_AGENT_STDOUT ? WF_EXEC_STDOUT : WF_EXEC_STDERR,
                       data, h->len);
    else if (h->type == WF_AGENT_IDLE && s->sink.idle)
        s->sink.idle(s->sink.arg);
    else if (h->type == WF_AGENT_EXIT)
        take_exit(s, data, h->len);
}

/* One read and the frame it may complete. 1: there may be more, 0: nothing now, -EPIPE: gone. */
static int receive(struct wf_guest *g)
{
    struct wf_agent_hdr h;
    uint32_t want = sizeof(h);
    ssize_t n;

    if (g->have >= sizeof(h)) {
        memcpy(&h, g->from, sizeof(h));
        if (h.magic != WF_AGENT_MAGIC || h.len > WF_AGENT_MAX_LEN)
            return -EPIPE;
        want += h.len;
    }
    if (g->have < want) {
        n = recv(g->fd, g->from + g->have, want - g->have, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return 0;
        if (n <= 0)
            return -EPIPE;
        g->have += n;
        return 1;
    }
    g->have = 0;
    take_frame(g, &h, g->from + sizeof(h));
    return 1;
}

int wf_guest_service(struct wf_guest *g, short revents)
{
    int rc = 1;

    if (g->fd >= 0 && (revents & POLLOUT))
        flush(g);
    /* bounded, so that one talkative guest does not keep the others waiting */
    for (int i = 0; i < 256 && rc > 0 && g->fd >= 0; i++)
        rc = receive(g);
    if (g->fd < 0)
        return -EPIPE;
    if (rc < 0) {
        gone(g);
        return rc;
    }
    return 0;
}

/* ---- waiting for it, and its last words ------------------------------------------------------ */

static void tail(const char *dir, const char *name, const char *what, char *buf, size_t len)
{
    char path[400];
    ssize_t n = 0;
    int fd;

    buf[0] = 0;
    snprintf(path, sizeof(path), "%s/%s.%s.log", dir, name, what);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (lseek(fd, -(off_t)(len - 1), SEEK_END) < 0)
        lseek(fd, 0, SEEK_SET);
    n = read(fd, buf, len - 1);
    close(fd);
    buf[n > 0 ? n : 0] = 0;
    for (char *p = buf; *p; p++)
        if (*p == '\r' || (unsigned char)*p == 0x1b)
            *p = ' ';
    while (n > 0 && (buf[n - 1] == '\n' || buf[n - 1] == ' '))
        buf[--n] = 0;
}

void wf_guest_obituary(struct wf_guest *g, struct wf_err *err)
{
    char console[280], qemu[280], how[64] = "is still running";

    tail(g->dir, g->name, "console", console, sizeof(console));
    tail(g->dir, g->name, "qemu", qemu, sizeof(qemu));
    if (reap(g, 500)) {
        if (WIFSIGNALED(g->wait_status))
            snprintf(how, sizeof(how), "was killed by signal %d", WTERMSIG(g->wait_status));
        else
            snprintf(how, sizeof(how), "ended with status %d", WEXITSTATUS(g->wait_status));
    }
    wf_err_set(err, EPIPE, "guest %s: QEMU %s%s%s%s%s", g->name, how, qemu[0] ? "; it says: " : "",
               qemu, console[0] ? "; console: " : "", console);
}

static uint64_t now_ms(void)
{
    return wf_wall_ns() / 1000000;
}

static int wait_some(struct wf_guest *const *g, uint32_t n, int ms, struct wf_err *err)
{
    struct pollfd p[64];

    WF_ASSERT(n <= 64);
    for (uint32_t i = 0; i < n; i++)
        p[i] = (struct pollfd){g[i]->fd, wf_guest_events(g[i]), 0};
    poll(p, n, ms);
    for (uint32_t i = 0; i < n; i++)
        if (p[i].revents && wf_guest_service(g[i], p[i].revents)) {
            wf_guest_obituary(g[i], err);
            return -EPIPE;
        }
    return 0;
}

int wf_guest_wait_all(struct wf_guest *const *g, uint32_t n, uint32_t timeout_ms,
                      struct wf_err *err)
{
    uint64_t end = now_ms() + timeout_ms;

    for (;;) {
        const struct wf_guest *late = NULL;
        char console[280];
        int rc;

        for (uint32_t i = 0; i < n; i++)
            if (!g[i]->hello[0])
                late = g[i];
        if (!late)
            return 0;
        if (now_ms() >= end) {
            tail(late->dir, late->name, "console", console, sizeof(console));
            return wf_err_set(err, ETIMEDOUT, "guest %s is not up after %u s; console: %s",
                              late->name, timeout_ms / 1000, console[0] ? console : "(silent)");
        }
        rc = wait_some(g, n, 200, err);
        if (rc)
            return rc;
    }
}

/* ---- commands ------------------------------------------------------------------------------- */

static bool put_string(uint8_t *buf, size_t *len, const char *s)
{
    size_t n = strlen(s) + 1;

    if (*len + n > WF_AGENT_MAX_LEN)
        return false;
    memcpy(buf + *len, s, n);
    *len += n;
    return true;
}

uint32_t wf_guest_run(struct wf_guest *g, const struct wf_exec_req *req,
                      const struct wf_exec_sink *sink)
{
    struct wf_agent_run run = {
        .timeout_ms = req->timeout_ms, .want_stdin = req->want_stdin, .want_idle = req->want_idle};
    struct session *s = session_find(g, 0);
    uint8_t *buf = malloc(WF_AGENT_MAX_LEN);
    size_t len = sizeof(run);
    bool ok = buf && s;

    if (req->netdev)
        snprintf(run.netdev, sizeof(run.netdev), "%s", req->netdev);
    ok = ok && put_string(buf, &len, req->cwd ? req->cwd : "");
    for (const char *const *p = req->argv; ok && *p; p++, run.argc++)
        ok = put_string(buf, &len, *p);
    for (const char *const *p = req->env; ok && p && *p; p++, run.envc++)
        ok = put_string(buf, &len, *p);
    if (ok) {
        memcpy(buf, &run, sizeof(run));
        if (++g->next_id == 0)
            g->next_id = 1;
        ok = post(g, g->next_id, WF_AGENT_RUN, buf, (uint32_t)len);
    }
    free(buf);
    if (!ok)
        return 0;
    s->id = g->next_id;
    s->sink = *sink;
    return s->id;
}

void wf_guest_signal(struct wf_guest *g, uint32_t session, int sig)
{
    uint32_t n = (uint32_t)sig;

    post(g, session, WF_AGENT_KILL, &n, sizeof(n));
}

void wf_guest_stdin(struct wf_guest *g, uint32_t session, const void *data, size_t len)
{
    const uint8_t *p = data;

    do {
        uint32_t n = len > WF_AGENT_MAX_LEN ? WF_AGENT_MAX_LEN : (uint32_t)len;

        post(g, session, WF_AGENT_STDIN, p, n);
        p += n;
        len -= n;
    } while (len);
}

void wf_guest_consumed(struct wf_guest *g, uint32_t session, size_t len)
{
    uint32_t n = (uint32_t)len;

    if (n && session_find(g, session))
        post(g, session, WF_AGENT_WINDOW_OPEN, &n, sizeof(n));
}

struct script {
    struct wf_guest *g;
    uint32_t session;
    char *out;
    size_t len, cap;
    struct wf_exec_status *status;
    bool done;
};

static void script_output(void *arg, enum wf_exec_stream stream, const void *data, size_t len)
{
    struct script *s = arg;
    size_t n = s->cap - s->len - 1;

    (void)stream;
    if (n > len)
        n = len;
    memcpy(s->out + s->len, data, n);
    s->len += n;
    wf_guest_consumed(s->g, s->session, len);
}

static void script_done(void *arg, const struct wf_exec_status *status)
{
    struct script *s = arg;

    *s->status = *status;
    s->done = true;
}

int wf_guest_script(struct wf_guest *g, const char *script, uint32_t timeout_ms, char *out,
                    size_t len, struct wf_exec_status *status)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    struct wf_exec_req req = {.argv = argv, .timeout_ms = timeout_ms};
    struct script s = {.g = g, .out = out, .cap = len, .status = status};
    struct wf_exec_sink sink = {script_output, NULL, script_done, &s};

    WF_ASSERT(len > 0);
    *status = (struct wf_exec_status){.end = WF_EXEC_LOST};
    s.session = wf_guest_run(g, &req, &sink);
    if (!s.session)
        s.done = true;
    while (!s.done) {
        struct pollfd p = {g->fd, wf_guest_events(g), 0};

        poll(&p, 1, 1000);
        if (wf_guest_service(g, p.revents))
            break;
    }
    out[s.len] = 0;
    return wf_exec_status_code(status);
}
