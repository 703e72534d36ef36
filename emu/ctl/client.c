/* SPDX-License-Identifier: BSD-3-Clause */
/* See client.h. */
#include "ctl/client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct choice {
    char names[256], last[64];
    int alive;
};

static int count_alive(void *arg, const struct wf_instance *in)
{
    struct choice *c = arg;

    if (!wf_instance_alive(in))
        return 0;
    c->alive++;
    memcpy(c->last, in->name, sizeof(c->last));
    snprintf(c->names + strlen(c->names), sizeof(c->names) - strlen(c->names), "%s%s",
             c->names[0] ? ", " : "", in->name);
    return 0;
}

/* The instance that is meant: named, or the only one. */
static int choose(struct wf_instance *in, const char *name, struct wf_err *err)
{
    struct choice c = {0};
    int rc = wf_instance_each(count_alive, &c, err);

    if (rc)
        return rc;
    if (!name && c.alive > 1)
        return wf_err_set(err, EINVAL, "several instances run (%s): say which with -i NAME",
                          c.names);
    if (!name && !c.alive)
        return wf_err_set(err, ENOENT, "nothing runs: start 'weft run --live' or 'weft lab up'");
    rc = wf_instance_find(in, name ? name : c.last, err);
    if (!rc && !wf_instance_alive(in))
        return wf_err_set(err, ENOENT, "no instance '%s' runs%s%s", name,
                          c.alive ? "; there is: " : "", c.names);
    return rc;
}

int wf_client_connect(struct wf_client *c, const char *instance, struct wf_instance *in,
                      struct wf_err *err)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int rc = choose(in, instance, err);

    memset(c, 0, sizeof(*c));
    c->fd = -1;
    if (rc)
        return rc;
    wf_instance_path(in, WF_CTL_SOCKET, a.sun_path, sizeof(a.sun_path));
    c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&a, sizeof(a))) {
        rc = errno;
        wf_client_close(c);
        return wf_err_set(err, rc, "instance '%s' does not answer (%s: %s)", in->name, a.sun_path,
                          strerror(rc));
    }
    return 0;
}

void wf_client_close(struct wf_client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    wf_msg_buf_free(&c->in);
    wf_msg_buf_free(&c->out);
}

json_int_t wf_client_ask(struct wf_client *c, const char *cmd, json_t *q)
{
    if (!q)
        q = json_object();
    json_object_set_new(q, "v", json_integer(WF_MSG_VERSION));
    json_object_set_new(q, "id", json_integer(++c->next_id));
    json_object_set_new(q, "cmd", json_string(cmd));
    wf_msg_put(&c->out, q);
    return c->next_id;
}

json_t *wf_client_next(struct wf_client *c, struct wf_err *err)
{
    for (;;) {
        struct pollfd p = {c->fd, POLLIN, 0};
        int rc;
        json_t *m = wf_msg_get(&c->in, &rc);
        long n = 1;

        if (m)
            return m;
        if (!rc)
            rc = wf_msg_write(&c->out, c->fd);
        if (!rc) {
            p.events |= c->out.len ? POLLOUT : 0;
            poll(&p, 1, -1);
            n = p.revents & (POLLIN | POLLHUP) ? wf_msg_read(&c->in, c->fd) : 1;
        }
        if (rc || n == 0 || (n < 0 && n != -EAGAIN)) {
            wf_err_set(err, EPIPE, "the instance has ended the connection");
            return NULL;
        }
    }
}

json_t *wf_client_call(struct wf_client *c, const char *cmd, json_t *q, int *rc, struct wf_err *err)
{
    json_int_t id = wf_client_ask(c, cmd, q);
    const char *error;
    json_t *m;

    *rc = -EPIPE;
    while ((m = wf_client_next(c, err)) && json_integer_value(json_object_get(m, "id")) != id)
        json_decref(m);
    error = m ? json_string_value(json_object_get(m, "error")) : NULL;
    if (error) {
        *rc = wf_err_set(err, EINVAL, "%s", error);
        json_decref(m);
        return NULL;
    }
    if (m)
        *rc = 0;
    return m;
}
