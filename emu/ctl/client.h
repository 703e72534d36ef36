/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other end of the control socket (server.h): connect to an instance, ask, read answers.
 */
#ifndef WEFT_LAB_CLIENT_H
#define WEFT_LAB_CLIENT_H

#include "ctl/instance.h"
#include "ctl/msg.h"

#define WF_CTL_SOCKET "ctl.sock"

struct wf_client {
    int fd;
    json_int_t next_id;
    struct wf_msg_buf in, out;
};

/* instance NULL: the only one that runs. -ENOENT and what to do when there is none. */
int wf_client_connect(struct wf_client *c, const char *instance, struct wf_instance *in,
                      struct wf_err *err);
void wf_client_close(struct wf_client *c);
/* Queue a request; takes the reference to q (NULL: an empty one) and completes it. Its id. */
json_int_t wf_client_ask(struct wf_client *c, const char *cmd, json_t *q);
/* Wait for the next message; NULL and *err when the connection has ended. */
json_t *wf_client_next(struct wf_client *c, struct wf_err *err);
/* One request and its one answer. NULL and *err: the connection ended, or the answer is an error
 * (then the errno that it stands for, EINVAL, is in *rc). Takes the reference to q. */
json_t *wf_client_call(struct wf_client *c, const char *cmd, json_t *q, int *rc,
                       struct wf_err *err);

#endif
