/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The guests of a lab, together: started, booted, set up, and asked to run commands by the name of
 * a host. Nothing here waits: whoever owns the lab calls wf_lab_service() when its
 * descriptor is ready, and at least every WF_LAB_LOOK_MS while it boots.
 */
#ifndef WEFT_LAB_LAB_H
#define WEFT_LAB_LAB_H

#include "lab/exec.h"
#include "lab/guest.h"
#include "lab/image.h"
#include "lab/plan.h"

#define WF_LAB_LOOK_MS 500

struct wf_lab_opts {
    const char *dir; /* sockets and logs */
    struct wf_image image;
    const char *share;      /* host folder, NULL: none */
    uint32_t mem_mib;       /* of each guest, 0: enough for the image and its hosts */
    uint32_t boot_limit_ms; /* 0: 120 s and 15 s for each guest */
};

enum wf_lab_state { WF_LAB_BOOTING, WF_LAB_READY, WF_LAB_FAILED };

struct wf_lab;

/* Start all guests of the plan, whose vhost-user sockets have to be there. The plan is copied. */
int wf_lab_start(struct wf_lab **out, const struct wf_lab_plan *plan, const struct wf_machine *m,
                 const struct wf_lab_opts *opts, struct wf_err *err);
void wf_lab_stop(struct wf_lab *lab); /* NULL is fine */
/* Readable when there is something to service: an epoll descriptor. */
int wf_lab_fd(const struct wf_lab *lab);
enum wf_lab_state wf_lab_service(struct wf_lab *lab);
/* Why WF_LAB_FAILED. */
const struct wf_err *wf_lab_error(const struct wf_lab *lab);
/* Guests that are up and set up. */
uint32_t wf_lab_ready_guests(const struct wf_lab *lab);
const struct wf_lab_plan *wf_lab_plan_of(const struct wf_lab *lab);
/* The host folder that guests see at the same path, NULL: none. */
const char *wf_lab_share(const struct wf_lab *lab);

/* The link of a guest's host has gone down or up: its NIC's carrier follows. */
void wf_lab_carrier(struct wf_lab *lab, uint32_t host, bool up);

struct wf_lab_command {
    uint32_t guest, session;
};

/* Run a command on a host of the plan, or on a guest by its name: then it belongs to no host and
 * is bound to no interface. -ENOENT: no such host; -ENOTSUP: a host that is no guest; -EAGAIN: not
 * ready, gone, or too many commands. The host's own environment is added to req's. */
int wf_lab_exec(struct wf_lab *lab, const char *host, const struct wf_exec_req *req,
                const struct wf_exec_sink *sink, struct wf_lab_command *cmd, struct wf_err *err);
void wf_lab_signal(struct wf_lab *lab, const struct wf_lab_command *cmd, int sig);
void wf_lab_stdin(struct wf_lab *lab, const struct wf_lab_command *cmd, const void *data,
                  size_t len);
void wf_lab_consumed(struct wf_lab *lab, const struct wf_lab_command *cmd, size_t len);

#endif
