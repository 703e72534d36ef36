/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands on a lab's hosts, asked for over the control socket (ctl/server.h): `weft exec` is at
 * its other end. lab                                       {"hosts": [...], "guests": [...],
 * "share": ...} exec  host, argv, env, cwd, timeout_ms, stdin, idle
 *                                             {"event": "started" | "stdout" | "stderr" | "idle"}
 *                                             ..., last {"event": "end", "end": "exited", "code":
 * 0} exec_signal  of (id of an exec), signal   nothing exec_stdin   of, text | base64; none: end
 * nothing A client that goes takes its commands along.
 */
#ifndef WEFT_LAB_SERVE_H
#define WEFT_LAB_SERVE_H

#include "ctl/server.h"
#include "lab/lab.h"

enum { WF_SERVE_COMMANDS = 256 };

struct wf_serve_command {
    struct wf_serve *s;
    struct wf_ctl_client *client; /* NULL: it has gone */
    json_int_t id;
    bool used;
    struct wf_lab_command cmd;
    size_t unread; /* bytes of output that the client has not taken yet */
};

struct wf_serve {
    struct wf_lab *lab;
    struct wf_serve_command commands[WF_SERVE_COMMANDS];
};

extern const struct wf_ctl_group wf_serve_group; /* its argument: struct wf_serve, lab set */

#endif
