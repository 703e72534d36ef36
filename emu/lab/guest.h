/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A guest: a QEMU process of ours whose first process is our agent, and the commands that run in
 * it. Everything here belongs to one thread, the one that started the guest: when that thread ends,
 * the guest is killed, so none outlives weft.
 */
#ifndef WEFT_LAB_GUEST_H
#define WEFT_LAB_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "lab/exec.h"
#include "lab/machine.h"

struct wf_guest;

/* Start QEMU and return at once; NULL and *err when it cannot be started. */
struct wf_guest *wf_guest_start(const struct wf_machine *m, const struct wf_guest_config *cfg,
                                struct wf_err *err);
/* Kill it by its pid, reap it, end its sessions as lost, free it. NULL is fine. */
void wf_guest_stop(struct wf_guest *g);

const char *wf_guest_name(const struct wf_guest *g);
pid_t wf_guest_pid(const struct wf_guest *g);
/* Its agent has greeted; the text names kernel release and version. NULL: not yet. */
const char *wf_guest_hello(const struct wf_guest *g);

/* For poll(2). */
int wf_guest_fd(const struct wf_guest *g);
short wf_guest_events(const struct wf_guest *g);
/* After poll(2). -EPIPE once the guest has gone: its sessions have ended as lost. */
int wf_guest_service(struct wf_guest *g, short revents);
/* Why it has gone: QEMU's exit and the last lines of its logs. */
void wf_guest_obituary(struct wf_guest *g, struct wf_err *err);

/* Poll all of them until every agent has greeted. -ETIMEDOUT or -EPIPE with a telling message. */
int wf_guest_wait_all(struct wf_guest *const *g, uint32_t n, uint32_t timeout_ms,
                      struct wf_err *err);

/* The carrier of a NIC, as its driver sees it. */
void wf_guest_carrier(struct wf_guest *g, uint32_t nic, bool up);

/* Start a command; returns its session, 0 when the guest has gone or holds 64 commands already. */
uint32_t wf_guest_run(struct wf_guest *g, const struct wf_exec_req *req,
                      const struct wf_exec_sink *sink);
void wf_guest_signal(struct wf_guest *g, uint32_t session, int sig);
void wf_guest_stdin(struct wf_guest *g, uint32_t session, const void *data, size_t len);
void wf_guest_consumed(struct wf_guest *g, uint32_t session, size_t len);

/* Run a shell script to its end, servicing only this guest; its output, cut to len, into out. */
int wf_guest_script(struct wf_guest *g, const char *script, uint32_t timeout_ms, char *out,
                    size_t len, struct wf_exec_status *status);

#endif
