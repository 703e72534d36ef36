/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several commands on several hosts, in an order: groups start one after the other, each when the
 * one before it has settled (its servers wait for clients) or has ended. Output is passed on as it
 * comes, each line with its host's name when there is more than one. Commands on guests go through
 * the lab's socket; those of hosts in network namespaces are children of this process.
 */
#ifndef WEFT_LAB_JOBS_H
#define WEFT_LAB_JOBS_H

#include <signal.h>

#include "ctl/client.h"
#include "lab/exec.h"
#include "lab/idle.h"

#define WF_JOBS       128
#define WF_JOB_GROUPS 16

struct wf_job_opts {
    const char *const *env; /* for all, NULL-terminated */
    const char *cwd;        /* NULL: the host's default */
    uint64_t timeout_ms;    /* of each command; 0: none */
    uint64_t settle_ms;     /* the longest wait for a group to settle */
    uint64_t linger_ms;     /* once the last group, or any command, is through: for the others */
    int prefix;             /* 1 yes, 0 no, -1 when there is more than one command */
    bool give_stdin;        /* pass standard input to the commands of the first group */
};

struct wf_job {
    uint32_t group;
    const char *host, *netns; /* netns: NULL for a guest's */
    const char *const *argv;  /* NULL-terminated */
    const char *const *env;   /* of the host, for netns */
    /* what becomes of it */
    enum { WF_JOB_WAITING, WF_JOB_RUNNING, WF_JOB_DONE } state;
    bool settled, stopped; /* stopped: by us, since the others were through */
    struct wf_exec_status status;
    json_int_t id; /* guest: of the request */
    pid_t pid;     /* netns */
    int fds[3];    /* netns: our ends of its pipes */
    struct wf_idle idle;
    uint64_t look_ms, deadline_ms, kill_ms;
    struct {
        char *data;
        size_t len, cap;
    } line[2]; /* unfinished line of stdout, stderr */
};

struct wf_jobs {
    struct wf_job_opts opts;
    struct wf_client *client;
    struct wf_job jobs[WF_JOBS];
    uint32_t n, groups, group; /* group: the last one that was started */
    uint64_t group_ms, through_ms;
    const volatile sig_atomic_t *stop; /* set by a signal handler */
    bool stopping, stdin_open;
    int first_failure; /* index of a job, -1: none */
};

/* Run them all; the first failure's exit status, 0 when there is none, 130 when stopped. */
int wf_jobs_run(struct wf_jobs *j);

/* netns backend, jobs_netns.c: start, and service what is readable. */
int wf_job_netns_start(struct wf_jobs *j, struct wf_job *job);
void wf_job_netns_service(struct wf_jobs *j, struct wf_job *job, uint64_t now_ms);
/* For the backends: output has come; the command has ended. */
void wf_job_output(struct wf_jobs *j, struct wf_job *job, enum wf_exec_stream stream,
                   const void *data, size_t len);
void wf_job_done(struct wf_jobs *j, struct wf_job *job, const struct wf_exec_status *st);

#endif
