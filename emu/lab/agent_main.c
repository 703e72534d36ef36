/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agent: a guest's first process. It boots the guest, greets, and then runs the commands that
 * weft sends, several at a time. It is static and needs nothing of the image.
 */
#include "lab/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/clock.h"

struct agent {
    int port, sigfd;
    struct wf_agent_session sessions[WF_AGENT_SESSIONS];
};

static struct wf_agent_session *session_find(struct agent *a, uint32_t id)
{
    for (int i = 0; i < WF_AGENT_SESSIONS; i++)
        if (a->sessions[i].id == id)
            return &a->sessions[i];
    return NULL;
}

static void run(struct agent *a, uint32_t id, const uint8_t *data, uint32_t len)
{
    struct wf_agent_session *s = session_find(a, 0);
    static const char full[] = "too many commands at a time in this guest";
    struct wf_agent_exit e = {WF_AGENT_END_FAILED, EAGAIN};
    uint8_t buf[sizeof(e) + sizeof(full)];

    if (s && id && !session_find(a, id)) {
        wf_agent_session_start(a->port, s, id, data, len);
        return;
    }
    memcpy(buf, &e, sizeof(e));
    memcpy(buf + sizeof(e), full, sizeof(full));
    wf_agent_send(a->port, id, WF_AGENT_EXIT, buf, sizeof(buf) - 1);
}

static void signal_session(struct wf_agent_session *s, uint32_t sig)
{
    if (s->exited || !sig || sig > 64)
        return;
    kill(-s->pid, (int)sig);
    if (sig == SIGTERM || sig == SIGINT)
        s->kill_ms = wf_wall_ns() / 1000000 + 2000; /* asked kindly once */
}

static void frame(struct agent *a)
{
    static uint8_t data[WF_AGENT_MAX_LEN + 1];
    struct wf_agent_session *s;
    struct wf_agent_hdr h;
    uint32_t n = 0;

    wf_agent_recv(a->port, &h, sizeof(h));
    if (h.magic != WF_AGENT_MAGIC || h.len > WF_AGENT_MAX_LEN) {
        wf_agent_log("broken frame: magic %#x, length %u", h.magic, h.len);
        wf_agent_power_off();
    }
    wf_agent_recv(a->port, data, h.len);
    if (h.type == WF_AGENT_RUN) {
        run(a, h.session, data, h.len);
        return;
    }
    s = h.session ? session_find(a, h.session) : NULL;
    if (!s)
        return; /* it has ended in the meantime */
    if (h.len >= sizeof(n))
        memcpy(&n, data, sizeof(n));
    if (h.type == WF_AGENT_STDIN)
        wf_agent_session_stdin(s, data, h.len);
    else if (h.type == WF_AGENT_KILL)
        signal_session(s, n);
    else if (h.type == WF_AGENT_WINDOW_OPEN)
        s->window += n;
}

static void reap(struct agent *a)
{
    struct signalfd_siginfo si;
    int status;
    pid_t pid;

    while (read(a->sigfd, &si, sizeof(si)) == sizeof(si))
        ;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (int i = 0; i < WF_AGENT_SESSIONS; i++)
            if (a->sessions[i].id && !a->sessions[i].exited && a->sessions[i].pid == pid) {
                a->sessions[i].exited = true;
                a->sessions[i].wait_status = status;
            }
}

/* Fill in what to wait for; returns the longest wait in ms, -1: as long as it takes. */
static int prepare(struct agent *a, struct pollfd *p)
{
    uint64_t now = wf_wall_ns() / 1000000;
    int wait = -1;

    p[0] = (struct pollfd){a->port, POLLIN, 0};
    p[1] = (struct pollfd){a->sigfd, POLLIN, 0};
    for (int i = 0; i < WF_AGENT_SESSIONS; i++) {
        struct wf_agent_session *s = &a->sessions[i];
        struct pollfd *q = &p[2 + 3 * i];
        uint64_t due[2] = {s->deadline_ms, s->kill_ms};

        q[0] = (struct pollfd){s->id && s->window ? s->out : -1, POLLIN, 0};
        q[1] = (struct pollfd){s->id && s->window ? s->err : -1, POLLIN, 0};
        q[2] = (struct pollfd){s->id && s->stdin_len ? s->in : -1, POLLOUT, 0};
        if (!s->id || s->exited)
            continue;
        for (int k = 0; k < 2; k++)
            if (due[k] && (wait < 0 || due[k] < now + wait))
                wait = due[k] > now ? (int)(due[k] - now) : 0;
        if (s->want_idle && (wait < 0 || wait > WF_IDLE_LOOK_MS))
            wait = WF_IDLE_LOOK_MS;
    }
    return wait;
}

static void turn(struct agent *a)
{
    struct pollfd p[2 + 3 * WF_AGENT_SESSIONS];
    uint64_t now;

    if (poll(p, 2 + 3 * WF_AGENT_SESSIONS, prepare(a, p)) < 0 && errno != EINTR) {
        wf_agent_log("poll: %s", strerror(errno));
        wf_agent_power_off();
    }
    if (p[1].revents)
        reap(a);
    now = wf_wall_ns() / 1000000;
    for (int i = 0; i < WF_AGENT_SESSIONS; i++) {
        struct wf_agent_session *s = &a->sessions[i];

        if (!s->id)
            continue;
        if (p[2 + 3 * i].revents)
            wf_agent_session_output(a->port, s, false);
        if (p[3 + 3 * i].revents)
            wf_agent_session_output(a->port, s, true);
        if (p[4 + 3 * i].revents)
            wf_agent_session_feed(s);
        wf_agent_session_tick(a->port, s, now);
        if (s->exited)
            wf_agent_session_finish(a->port, s);
    }
    if (p[0].revents)
        frame(a);
}

int main(void)
{
    static struct agent a;
    struct utsname u;
    char hello[200];
    sigset_t chld;

    if (getpid() != 1) {
        fprintf(stderr, "this is the first process of a weft guest, it is of no use elsewhere\n");
        return 2;
    }
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    sigprocmask(SIG_BLOCK, &chld, NULL);
    signal(SIGPIPE, SIG_IGN);
    a.port = wf_agent_boot();
    a.sigfd = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
    uname(&u);
    snprintf(hello, sizeof(hello), "%.60s %.100s", u.release, u.version);
    wf_agent_send(a.port, 0, WF_AGENT_HELLO, hello, strlen(hello));
    for (;;)
        turn(&a);
}
