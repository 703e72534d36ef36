/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands of hosts that live in a network namespace: children of ours under `ip netns exec`,
 * in process groups of their own.
 */
#include "lab/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/clock.h"

static _Noreturn void child(struct wf_jobs *j, const struct wf_job *job, int out, int err)
{
    /* ip's exit status says nothing about a program that is not there; a shell's does */
    const char *argv[1024] = {"ip", "netns", "exec", job->netns, "sh", "-c", "exec \"$@\"", "sh"};
    int n = 8, null = open("/dev/null", O_RDONLY);

    for (const char *const *p = job->argv; *p && n < 1023; p++)
        argv[n++] = *p;
    for (const char *const *p = job->env; p && *p; p++)
        putenv((char *)*p);
    for (const char *const *p = j->opts.env; p && *p; p++)
        putenv((char *)*p);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGPIPE, SIG_DFL);
    if (!j->opts.give_stdin || job->group)
        dup2(null, 0);
    dup2(out, 1);
    dup2(err, 2);
    if (!j->opts.cwd || !chdir(j->opts.cwd))
        execvp("ip", (char *const *)argv);
    fprintf(stderr, "ip netns exec %s: %s\n", job->netns, strerror(errno));
    _exit(127);
}

int wf_job_netns_start(struct wf_jobs *j, struct wf_job *job)
{
    int out[2], err[2];

    if (pipe2(out, O_CLOEXEC))
        return -errno;
    if (pipe2(err, O_CLOEXEC)) {
        close(out[0]);
        close(out[1]);
        return -EMFILE;
    }
    job->pid = fork();
    if (job->pid == 0)
        child(j, job, out[1], err[1]);
    close(out[1]);
    close(err[1]);
    if (job->pid < 0) {
        close(out[0]);
        close(err[0]);
        return -EAGAIN;
    }
    setpgid(job->pid, job->pid); /* in both, whoever comes first */
    job->fds[1] = out[0];
    job->fds[2] = err[0];
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    fcntl(err[0], F_SETFL, O_NONBLOCK);
    if (j->opts.timeout_ms)
        job->deadline_ms = wf_wall_ns() / 1000000 + j->opts.timeout_ms;
    return 0;
}

/* True while there was something to read. */
static bool drain(struct wf_jobs *j, struct wf_job *job, int which)
{
    char buf[16 * 1024];
    ssize_t n = job->fds[which] < 0 ? -1 : read(job->fds[which], buf, sizeof(buf));

    if (n > 0)
        wf_job_output(j, job, which == 1 ? WF_EXEC_STDOUT : WF_EXEC_STDERR, buf, n);
    if (n == 0) {
        close(job->fds[which]);
        job->fds[which] = -1;
    }
    return n > 0;
}

static void ended(struct wf_jobs *j, struct wf_job *job, int status)
{
    struct wf_exec_status st = {.end = WF_EXEC_EXITED, .code = WEXITSTATUS(status)};

    while (drain(j, job, 1) || drain(j, job, 2))
        ;
    for (int i = 1; i <= 2; i++)
        if (job->fds[i] >= 0)
            close(job->fds[i]);
    if (WIFSIGNALED(status))
        st = (struct wf_exec_status){.end = WF_EXEC_SIGNALED, .code = WTERMSIG(status)};
    if (job->deadline_ms == UINT64_MAX)
        st = (struct wf_exec_status){.end = WF_EXEC_TIMEOUT};
    wf_job_done(j, job, &st);
}

void wf_job_netns_service(struct wf_jobs *j, struct wf_job *job, uint64_t now_ms)
{
    int status;

    drain(j, job, 1);
    drain(j, job, 2);
    if (waitpid(job->pid, &status, WNOHANG) == job->pid) {
        ended(j, job, status);
        return;
    }
    if (job->deadline_ms && job->deadline_ms != UINT64_MAX && now_ms > job->deadline_ms) {
        job->deadline_ms = UINT64_MAX;
        job->kill_ms = now_ms + 2000;
        kill(-job->pid, SIGTERM);
    }
    if (job->kill_ms && now_ms > job->kill_ms) {
        job->kill_ms = 0;
        kill(-job->pid, SIGKILL);
    }
    if (!job->settled && now_ms >= job->look_ms) {
        job->look_ms = now_ms + WF_IDLE_LOOK_MS;
        job->settled = wf_idle_look(&job->idle, job->pid);
    }
}
