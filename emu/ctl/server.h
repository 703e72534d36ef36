/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control socket of an instance: who connects to it sends requests and gets answers (msg.h). A
 * request is {"v": 1, "id": N, "cmd": NAME, ...}; what belongs to it comes back with the same id,
 * now or later. Commands come in groups, each a const table of names and functions. All run in the
 * thread that polls, between two turns of the fabric, so each acts at one instant of fabric time.
 * Nothing waits, and a poll does bounded work: one request of each client. A client of another user
 * is turned away, one that sends no messages or does not read its answers is cut off.
 */
#ifndef WEFT_CTL_SERVER_H
#define WEFT_CTL_SERVER_H

#include <jansson.h>

#include "ctl/msg.h"
#include "fabric/run.h"

enum { WF_CTL_CLIENTS = 16, WF_CTL_GROUPS = 4, WF_CTL_UNREAD = 8 << 20 };

struct wf_ctl;
struct wf_ctl_client;

struct wf_ctl_call {
    struct wf_ctl *ctl;
    struct wf_ctl_client *client;
    json_int_t id;
    const json_t *q; /* the request */
    void *arg;       /* of the group */
};

struct wf_ctl_cmd {
    const char *name;
    void (*fn)(const struct wf_ctl_call *call);
};

struct wf_ctl_group {
    const struct wf_ctl_cmd *cmds;
    size_t n;
    /* May be NULL. The client is gone after this call: nothing may be sent to it any more. */
    void (*gone)(void *arg, struct wf_ctl_client *client);
    /* May be NULL. The client has taken all that was sent to it. */
    void (*drained)(void *arg, struct wf_ctl_client *client);
};

/* Listen at path, for the owner only. -errno and *err. */
int wf_ctl_open(struct wf_ctl **out, const char *path, struct wf_err *err);
/* Sends the last words if they fit, removes the socket. NULL is fine. */
void wf_ctl_close(struct wf_ctl *ctl);
/* A group's commands; a name that a group before has too is the newer one's. */
void wf_ctl_add(struct wf_ctl *ctl, const struct wf_ctl_group *group, void *arg);
/* Without waiting; returns how much was done. */
unsigned wf_ctl_service(struct wf_ctl *ctl);
/* Readable when there is something to service. */
int wf_ctl_fd(const struct wf_ctl *ctl);
/* Let a run service it. */
int wf_ctl_join(struct wf_ctl *ctl, struct wf_run *run);

/* Answers. The message's reference is taken; version and id are added. One that is longer than a
 * message may be becomes an error. */
void wf_ctl_send(struct wf_ctl_client *client, json_int_t id, json_t *msg);
void wf_ctl_error(struct wf_ctl_client *client, json_int_t id, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
