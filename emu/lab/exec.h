/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A command to be run on a host, and what becomes of it, whatever kind of host it is.
 */
#ifndef WEFT_LAB_EXEC_H
#define WEFT_LAB_EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wf_exec_req {
    const char *const *argv; /* NULL-terminated, at least a program */
    const char *const *env;  /* "NAME=value", NULL-terminated; NULL: none */
    const char *cwd;         /* NULL or "": the host's default */
    const char *netdev;      /* bind its sockets to this interface; NULL: don't */
    uint32_t timeout_ms;     /* 0: none */
    bool want_stdin;         /* else it reads /dev/null */
    bool want_idle;          /* report once when the command has settled */
};

enum wf_exec_end {
    WF_EXEC_EXITED,   /* code: exit status */
    WF_EXEC_SIGNALED, /* code: signal */
    WF_EXEC_TIMEOUT,  /* its time limit was over */
    WF_EXEC_FAILED,   /* not started; code: errno, text says why */
    WF_EXEC_LOST,     /* the host went away meanwhile */
};

struct wf_exec_status {
    enum wf_exec_end end;
    int code;
    char text[256];
};

enum wf_exec_stream { WF_EXEC_STDOUT, WF_EXEC_STDERR };

/* Called by whoever services the host; never from within the call that starts a command. */
struct wf_exec_sink {
    /* The receiver says with ..._consumed() when it has passed the bytes on. */
    void (*output)(void *arg, enum wf_exec_stream stream, const void *data, size_t len);
    void (*idle)(void *arg);
    void (*done)(void *arg, const struct wf_exec_status *status); /* the last call */
    void *arg;
};

/* As a shell would say it: 0-255, 128 + signal, 124 time limit, 126/127 not started, 125 lost. */
int wf_exec_status_code(const struct wf_exec_status *status);
/* "exit status 3", "killed by SIGSEGV", "time limit reached", ... into buf; returns buf. */
const char *wf_exec_status_text(const struct wf_exec_status *status, char *buf, size_t len);

#endif
