/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One command in the guest: started in its own process group, its output passed on within the
 * window, its input fed as it takes it, killed when its time is over.
 */
#include "lab/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/clock.h"

#define STDIN_MAX     (4u * 1024 * 1024)
#define KILL_AFTER_MS 2000 /* from SIGTERM to SIGKILL */

/* The strings of a RUN frame, in argv-style arrays that point into the frame. */
struct command {
    const char *cwd, *netdev;
    char **argv, **env;
};

static bool command_parse(struct command *c, struct wf_agent_run *run, const uint8_t *data,
                          uint32_t len)
{
    const char *p = (const char *)data + sizeof(*run), *end = (const char *)data + len;
    uint32_t n;

    if (len < sizeof(*run) + 1 || data[len - 1] != 0)
        return false;
    memcpy(run, data, sizeof(*run));
    n = (uint32_t)run->argc + run->envc;
    if (run->argc == 0 || run->netdev[sizeof(run->netdev) - 1])
        return false;
    c->netdev = run->netdev;
    c->argv = calloc(n + 2, sizeof(char *));
    if (!c->argv)
        return false;
    c->env = c->argv + run->argc + 1;
    c->cwd = p;
    p += strlen(p) + 1;
    for (uint32_t i = 0; i < n; i++) {
        if (p >= end) {
            free(c->argv);
            return false;
        }
        c->argv[i < run->argc ? i : i + 1] = (char *)p;
        p += strlen(p) + 1;
    }
    return true;
}

/* In the child; only a failure comes back, as errno through the pipe. */
static _Noreturn void child(const struct command *c, int in, int out, int err, int report)
{
    int e;

    setpgid(0, 0);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    e = c->netdev[0] ? wf_agent_bind(c->netdev) : 0;
    if (!e && dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && dup2(err, 2) >= 0) {
        for (char **e2 = c->env; *e2; e2++)
            putenv(*e2);
        if (!c->cwd[0] || chdir(c->cwd) == 0)
            execvp(c->argv[0], c->argv);
    }
    e = e ? e : errno;
    if (write(report, &e, sizeof(e)) < 0)
        _exit(126);
    _exit(127);
}

static void fail(int port, struct wf_agent_session *s, int code, const char *what)
{
    char buf[sizeof(struct wf_agent_exit) + 300];
    struct wf_agent_exit e = {WF_AGENT_END_FAILED, code};
    int n;

    memcpy(buf, &e, sizeof(e));
    n = snprintf(buf + sizeof(e), 300, "%.200s: %s", what, strerror(code));
    wf_agent_send(port, s->id, WF_AGENT_EXIT, buf, sizeof(e) + (n > 299 ? 299 : n));
    s->id = 0;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Pairs 0 stdin, 1 stdout, 2 stderr, 3 the child's errno; all close-on-exec. */
static bool pipes_open(int p[4][2])
{
    for (int i = 0; i < 4; i++)
        p[i][0] = p[i][1] = -1;
    for (int i = 0; i < 4; i++)
        if (pipe2(p[i], O_CLOEXEC))
            return false;
    return true;
}

static int spawn(struct wf_agent_session *s, const struct command *c, bool want_stdin)
{
    int p[4][2], code = 0;

    if (!pipes_open(p))
        code = errno;
    if (!code && !want_stdin) {
        close_fd(&p[0][0]);
        p[0][0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        close_fd(&p[0][1]);
    }
    if (!code) {
        s->pid = fork();
        if (s->pid == 0)
            child(c, p[0][0], p[1][1], p[2][1], p[3][1]);
        if (s->pid < 0)
            code = errno;
    }
    close_fd(&p[3][1]);
    if (!code && read(p[3][0], &code, sizeof(code)) != sizeof(code))
        code = 0;
    if (code) {
        for (int i = 0; i < 4; i++) {
            close_fd(&p[i][0]);
            close_fd(&p[i][1]);
        }
        return code;
    }
    close_fd(&p[3][0]);
    close_fd(&p[0][0]);
    close_fd(&p[1][1]);
    close_fd(&p[2][1]);
    s->in = p[0][1];
    s->out = p[1][0];
    s->err = p[2][0];
    return 0;
}

void wf_agent_session_start(int port, struct wf_agent_session *s, uint32_t id, const uint8_t *data,
                            uint32_t len)
{
    struct wf_agent_run run;
    struct command c;
    int code;

    memset(s, 0, sizeof(*s));
    s->id = id;
    s->in = s->out = s->err = -1;
    s->window = WF_AGENT_WINDOW;
    if (!command_parse(&c, &run, data, len)) {
        fail(port, s, EINVAL, "command");
        return;
    }
    code = spawn(s, &c, run.want_stdin);
    if (code) {
        fail(port, s, code, code == ENOENT && c.cwd[0] && access(c.cwd, X_OK) ? c.cwd : c.argv[0]);
        free(c.argv);
        return;
    }
    free(c.argv);
    fcntl(s->out, F_SETFL, O_NONBLOCK);
    fcntl(s->err, F_SETFL, O_NONBLOCK);
    if (s->in >= 0)
        fcntl(s->in, F_SETFL, O_NONBLOCK);
    s->want_idle = run.want_idle;
    if (run.timeout_ms)
        s->deadline_ms = wf_wall_ns() / 1000000 + run.timeout_ms;
}

void wf_agent_session_feed(struct wf_agent_session *s)
{
    ssize_t n = 0;

    if (s->in < 0)
        return;
    if (s->stdin_len)
        n = write(s->in, s->stdin_data, s->stdin_len);
    if (n < 0 && errno != EAGAIN && errno != EINTR) { /* the command reads no more */
        s->stdin_len = 0;
        close_fd(&s->in);
        return;
    }
    if (n > 0) {
        s->stdin_len -= n;
        memmove(s->stdin_data, s->stdin_data + n, s->stdin_len);
    }
    if (!s->stdin_len && s->stdin_end)
        close_fd(&s->in);
}

void wf_agent_session_stdin(struct wf_agent_session *s, const uint8_t *data, uint32_t len)
{
    if (s->in < 0)
        return;
    if (!len)
        s->stdin_end = true;
    if (len && s->stdin_len + len <= STDIN_MAX) {
        uint8_t *d = realloc(s->stdin_data, s->stdin_len + len);

        if (d) {
            memcpy(d + s->stdin_len, data, len);
            s->stdin_data = d;
            s->stdin_len += len;
        }
    }
    wf_agent_session_feed(s);
}

void wf_agent_session_output(int port, struct wf_agent_session *s, bool err)
{
    static uint8_t buf[32 * 1024];
    int *fd = err ? &s->err : &s->out;
    size_t max = s->window < sizeof(buf) ? s->window : sizeof(buf);
    ssize_t n;

    if (*fd < 0 || !max)
        return;
    n = read(*fd, buf, max);
    if (n > 0) {
        s->window -= n;
        wf_agent_send(port, s->id, err ? WF_AGENT_STDERR : WF_AGENT_STDOUT, buf, n);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        close_fd(fd);
    } else if (s->exited) {
        close_fd(fd); /* a background child may hold the pipe for ever: its output is not ours */
    }
}

void wf_agent_session_tick(int port, struct wf_agent_session *s, uint64_t now_ms)
{
    if (s->exited)
        return;
    if (s->deadline_ms && now_ms >= s->deadline_ms) {
        s->deadline_ms = 0;
        s->timed_out = true;
        s->kill_ms = now_ms + KILL_AFTER_MS;
        kill(-s->pid, SIGTERM);
    }
    if (s->kill_ms && now_ms >= s->kill_ms) {
        s->kill_ms = 0;
        kill(-s->pid, SIGKILL);
    }
    if (s->want_idle && now_ms >= s->look_ms) {
        s->look_ms = now_ms + WF_IDLE_LOOK_MS;
        if (!wf_idle_look(&s->idle, s->pid))
            return;
        s->want_idle = false;
        wf_agent_send(port, s->id, WF_AGENT_IDLE, NULL, 0);
    }
}

void wf_agent_session_finish(int port, struct wf_agent_session *s)
{
    struct wf_agent_exit e;

    while (s->window && (s->out >= 0 || s->err >= 0)) {
        wf_agent_session_output(port, s, false);
        wf_agent_session_output(port, s, true);
    }
    if (s->out >= 0 || s->err >= 0)
        return; /* the host's reader has to catch up first */
    close_fd(&s->in);
    free(s->stdin_data);
    s->stdin_data = NULL;
    if (s->timed_out)
        e = (struct wf_agent_exit){WF_AGENT_END_TIMEOUT, 0};
    else if (WIFSIGNALED(s->wait_status))
        e = (struct wf_agent_exit){WF_AGENT_END_SIGNALED, WTERMSIG(s->wait_status)};
    else
        e = (struct wf_agent_exit){WF_AGENT_END_EXITED, WEXITSTATUS(s->wait_status)};
    wf_agent_send(port, s->id, WF_AGENT_EXIT, &e, sizeof(e));
    s->id = 0;
}
