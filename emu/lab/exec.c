/* SPDX-License-Identifier: BSD-3-Clause */
/* See exec.h. */
#include "lab/exec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int wf_exec_status_code(const struct wf_exec_status *status)
{
    switch (status->end) {
    case WF_EXEC_EXITED:
        return status->code & 255;
    case WF_EXEC_SIGNALED:
        return 128 + (status->code & 127);
    case WF_EXEC_TIMEOUT:
        return 124;
    case WF_EXEC_FAILED:
        return status->code == ENOENT ? 127 : 126;
    case WF_EXEC_LOST:
        break;
    }
    return 125;
}

const char *wf_exec_status_text(const struct wf_exec_status *status, char *buf, size_t len)
{
    const char *sig;

    switch (status->end) {
    case WF_EXEC_EXITED:
        snprintf(buf, len, "exit status %d", status->code);
        return buf;
    case WF_EXEC_SIGNALED:
        sig = sigabbrev_np(status->code);
        snprintf(buf, len, "killed by %s%s", sig ? "SIG" : "signal ", sig ? sig : "?");
        return buf;
    case WF_EXEC_TIMEOUT:
        snprintf(buf, len, "time limit reached");
        return buf;
    case WF_EXEC_FAILED:
        snprintf(buf, len, "not started: %.200s", status->text);
        return buf;
    case WF_EXEC_LOST:
        break;
    }
    snprintf(buf, len, "host lost: %.200s", status->text);
    return buf;
}
