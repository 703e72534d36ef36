/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands on a lab's hosts, asked for over a socket: `weft exec` is at its other end. A request is
 * {"v": 1, "id": N, "cmd": ...}; what belongs to it comes back with the same id.
 *   hosts                                     {"hosts": [...], "guests": [...], "state": ...}
 *   exec  host, argv, env, cwd, timeout_ms, stdin, idle
 *                                             {"event": "started" | "stdout" | "stderr" | "idle"}
 *                                             ..., last {"event": "end", "end": "exited", "code":
 * 0} exec_signal  of (id of an exec), signal   nothing exec_stdin   of, text | base64; none: end
 * nothing stop                                      {"event": "stopping"} A request that cannot be
 * met gets {"error": "..."}. A client that goes takes its commands along.
 */
#ifndef WEFT_LAB_SERVE_H
#define WEFT_LAB_SERVE_H

#include <stdbool.h>

#include "base/err.h"
#include "lab/lab.h"

struct wf_serve;

/* Listen at path, for the owner only. */
int wf_serve_open(struct wf_serve **out, const char *path, struct wf_lab *lab, struct wf_err *err);
/* After wf_lab_stop(), which ends the commands; NULL is fine. */
void wf_serve_close(struct wf_serve *s);
/* Readable when there is something to service: an epoll descriptor. */
int wf_serve_fd(const struct wf_serve *s);
/* Without waiting; returns how much was done. Call it after wf_lab_service(). */
unsigned wf_serve_service(struct wf_serve *s);
/* A client asked for the end. */
bool wf_serve_stop_asked(const struct wf_serve *s);

#endif
