/* SPDX-License-Identifier: BSD-3-Clause */
/* See server.h. */
#include "ctl/server.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/assert.h"

enum { POLL_NS = 1000000, REST_NS = 50000000 };

struct wf_ctl_client {
    struct wf_ctl *ctl;
    int fd; /* -1: free */
    uint32_t watched;
    bool broken;  /* to be cut off */
    bool waiting; /* there may be another request in the buffer */
    bool sent;    /* something since it had taken all */
    struct wf_msg_buf in, out;
};

struct wf_ctl {
    struct wf_poller poller; /* first */
    uint64_t due_ns;
    int listen_fd, epoll_fd;
    char path[108];
    struct {
        const struct wf_ctl_group *group;
        void *arg;
    } groups[WF_CTL_GROUPS];
    unsigned n_groups;
    struct wf_ctl_client clients[WF_CTL_CLIENTS];
};

/* --- answers ---------------------------------------------------------------------------------- */

void wf_ctl_send(struct wf_ctl_client *client, json_int_t id, json_t *msg)
{
    int rc;

    json_object_set_new(msg, "v", json_integer(WF_MSG_VERSION));
    json_object_set_new(msg, "id", json_integer(id));
    rc = wf_msg_put(&client->out, msg);
    client->sent = true;
    if (rc == -EMSGSIZE)
        wf_ctl_error(client, id, "the answer is longer than %u bytes: ask for less", WF_MSG_MAX);
    else if (rc || client->out.len > WF_CTL_UNREAD)
        client->broken = true;
}

void wf_ctl_error(struct wf_ctl_client *client, json_int_t id, const char *fmt, ...)
{
    json_t *msg = json_object();
    char text[1024];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    json_object_set_new(msg, "error", json_string(text));
    wf_ctl_send(client, id, msg);
}

/* --- requests --------------------------------------------------------------------------------- */

static const struct wf_ctl_cmd *find(const struct wf_ctl_group *g, const char *name)
{
    for (size_t i = 0; i < g->n; i++)
        if (!strcmp(g->cmds[i].name, name))
            return &g->cmds[i];
    return NULL;
}

static void dispatch(struct wf_ctl_client *c, const json_t *q)
{
    const char *name = json_string_value(json_object_get(q, "cmd"));
    struct wf_ctl_call call = {
        .ctl = c->ctl,
        .client = c,
        .id = json_integer_value(json_object_get(q, "id")),
        .q = q,
    };
    const struct wf_ctl_cmd *cmd = NULL;

    if (json_integer_value(json_object_get(q, "v")) != WF_MSG_VERSION) {
        wf_ctl_error(c, call.id, "protocol version %d is spoken here", WF_MSG_VERSION);
        return;
    }
    for (unsigned i = c->ctl->n_groups; name && i-- > 0 && !cmd;) {
        cmd = find(c->ctl->groups[i].group, name);
        call.arg = c->ctl->groups[i].arg;
    }
    if (cmd)
        cmd->fn(&call);
    else
        wf_ctl_error(c, call.id, name ? "there is no command '%.40s' here" : "cmd is missing%s",
                     name ? name : "");
}

/* One request. More is read only when none is left in the buffer, which so stays small. */
static void client_service(struct wf_ctl_client *c, bool readable)
{
    long n = -EAGAIN;
    int rc;
    json_t *q = wf_msg_get(&c->in, &rc);

    if (!q && !rc && readable) {
        n = wf_msg_read(&c->in, c->fd);
        q = wf_msg_get(&c->in, &rc);
    }
    c->waiting = q != NULL;
    if (q) {
        dispatch(c, q);
        json_decref(q);
    }
    if (rc || n == 0 || (n < 0 && n != -EAGAIN))
        c->broken = true;
}

static void client_gone(struct wf_ctl_client *c)
{
    for (unsigned i = 0; i < c->ctl->n_groups; i++)
        if (c->ctl->groups[i].group->gone)
            c->ctl->groups[i].group->gone(c->ctl->groups[i].arg, c);
    close(c->fd);
    c->fd = -1;
    wf_msg_buf_free(&c->in);
    wf_msg_buf_free(&c->out);
}

static void client_flush(struct wf_ctl_client *c)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};

    if (c->out.len && wf_msg_write(&c->out, c->fd))
        c->broken = true;
    if (c->broken) {
        client_gone(c);
        return;
    }
    if (c->sent && !c->out.len) {
        c->sent = false;
        for (unsigned i = 0; i < c->ctl->n_groups; i++)
            if (c->ctl->groups[i].group->drained)
                c->ctl->groups[i].group->drained(c->ctl->groups[i].arg, c);
    }
    e.events |= c->out.len ? EPOLLOUT : 0;
    if (e.events != c->watched)
        epoll_ctl(c->ctl->epoll_fd, EPOLL_CTL_MOD, c->fd, &e);
    c->watched = e.events;
}

/* The folder keeps others out; this holds even when somebody opened it. */
static bool is_owner(int fd)
{
    struct ucred who;
    socklen_t len = sizeof(who);

    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) &&
           (who.uid == geteuid() || who.uid == 0);
}

static void accept_one(struct wf_ctl *ctl)
{
    int fd = accept4(ctl->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct epoll_event e = {.events = EPOLLIN};

    if (fd < 0)
        return;
    for (int i = 0; i < WF_CTL_CLIENTS && is_owner(fd); i++) {
        struct wf_ctl_client *c = &ctl->clients[i];

        if (c->fd >= 0)
            continue;
        *c = (struct wf_ctl_client){.ctl = ctl, .fd = fd, .watched = EPOLLIN};
        e.data.ptr = c;
        if (!epoll_ctl(ctl->epoll_fd, EPOLL_CTL_ADD, fd, &e))
            return;
        c->fd = -1;
        break;
    }
    close(fd); /* a stranger, or too many at a time */
}

unsigned wf_ctl_service(struct wf_ctl *ctl)
{
    struct epoll_event e[WF_CTL_CLIENTS + 1];
    int n = epoll_wait(ctl->epoll_fd, e, WF_CTL_CLIENTS + 1, 0);
    bool readable[WF_CTL_CLIENTS] = {false};
    unsigned done = 0;

    for (int i = 0; i < n; i++) {
        struct wf_ctl_client *c = e[i].data.ptr;

        if (!c)
            accept_one(ctl);
        else if (e[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            readable[c - ctl->clients] = true;
        done++;
    }
    for (int i = 0; i < WF_CTL_CLIENTS; i++) {
        struct wf_ctl_client *c = &ctl->clients[i];

        if (c->fd >= 0 && (readable[i] || c->waiting)) {
            client_service(c, readable[i]);
            done++;
        }
        if (c->fd >= 0)
            client_flush(c);
    }
    return done;
}

static unsigned poll_it(struct wf_poller *p, struct wf_fabric *f, uint64_t *next_ns)
{
    struct wf_ctl *ctl = (struct wf_ctl *)p;
    uint64_t now = wf_wall_ns();
    unsigned done = 0;

    if (now >= ctl->due_ns) {
        done = wf_ctl_service(ctl);
        ctl->due_ns = now + POLL_NS;
    }
    *next_ns = now + REST_NS; /* a descriptor that is ready ends the sleep before */
    return done;
}

/* --- the socket ------------------------------------------------------------------------------- */

int wf_ctl_open(struct wf_ctl **out, const char *path, struct wf_err *err)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL};
    struct wf_ctl *ctl;

    *out = NULL;
    if (strlen(path) >= sizeof(a.sun_path))
        return wf_err_set(err, ENAMETOOLONG, "%s: too long for a socket", path);
    ctl = calloc(1, sizeof(*ctl));
    if (!ctl)
        return wf_err_set(err, ENOMEM, "no memory");
    for (int i = 0; i < WF_CTL_CLIENTS; i++)
        ctl->clients[i].fd = -1;
    ctl->poller.poll = poll_it;
    snprintf(ctl->path, sizeof(ctl->path), "%s", path);
    memcpy(a.sun_path, path, strlen(path) + 1);
    ctl->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    ctl->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    unlink(path); /* whoever calls holds the instance's lock */
    if (ctl->epoll_fd < 0 || ctl->listen_fd < 0 ||
        bind(ctl->listen_fd, (struct sockaddr *)&a, sizeof(a)) || chmod(path, 0600) ||
        listen(ctl->listen_fd, WF_CTL_CLIENTS) ||
        epoll_ctl(ctl->epoll_fd, EPOLL_CTL_ADD, ctl->listen_fd, &e)) {
        int code = errno;

        wf_ctl_close(ctl);
        return wf_err_set(err, code, "%s: %s", path, strerror(code));
    }
    *out = ctl;
    return 0;
}

void wf_ctl_close(struct wf_ctl *ctl)
{
    if (!ctl)
        return;
    for (int i = 0; i < WF_CTL_CLIENTS; i++)
        if (ctl->clients[i].fd >= 0) {
            wf_msg_write(&ctl->clients[i].out, ctl->clients[i].fd);
            client_gone(&ctl->clients[i]);
        }
    if (ctl->listen_fd >= 0)
        close(ctl->listen_fd);
    if (ctl->epoll_fd >= 0)
        close(ctl->epoll_fd);
    unlink(ctl->path);
    free(ctl);
}

void wf_ctl_add(struct wf_ctl *ctl, const struct wf_ctl_group *group, void *arg)
{
    WF_ASSERT(ctl->n_groups < WF_CTL_GROUPS);
    ctl->groups[ctl->n_groups].group = group;
    ctl->groups[ctl->n_groups++].arg = arg;
}

int wf_ctl_fd(const struct wf_ctl *ctl)
{
    return ctl->epoll_fd;
}

int wf_ctl_join(struct wf_ctl *ctl, struct wf_run *run)
{
    ctl->poller.next = run->pollers;
    run->pollers = &ctl->poller;
    return wf_wait_add_fd(&run->wait, ctl->epoll_fd);
}
