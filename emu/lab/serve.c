/* SPDX-License-Identifier: BSD-3-Clause */
/* See serve.h. */
#include "lab/serve.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "ctl/msg.h"

#define CLIENTS  32
#define COMMANDS 64 /* of one client at a time */

struct client;

struct command {
    struct wf_serve *s;
    struct client *client; /* NULL: it has gone */
    json_int_t id;
    bool used;
    struct wf_lab_command cmd;
    size_t unread; /* bytes of output in the client's buffer */
};

struct client {
    struct wf_serve *s;
    int fd; /* -1: free */
    uint32_t watched;
    struct wf_msg_buf in, out;
};

struct wf_serve {
    struct wf_lab *lab;
    int listen_fd, epoll_fd;
    bool stop;
    char path[108];
    struct client clients[CLIENTS];
    struct command commands[CLIENTS * COMMANDS];
};

/* ---- sending -------------------------------------------------------------------------------- */

static json_t *reply(json_int_t id)
{
    return json_pack("{s:i,s:I}", "v", WF_MSG_VERSION, "id", id);
}

static void send_event(struct client *c, json_int_t id, const char *event)
{
    json_t *m = reply(id);

    json_object_set_new(m, "event", json_string(event));
    wf_msg_put(&c->out, m);
}

static void send_error(struct client *c, json_int_t id, const char *text)
{
    json_t *m = reply(id);

    json_object_set_new(m, "error", json_string(text));
    wf_msg_put(&c->out, m);
}

/* ---- commands ------------------------------------------------------------------------------- */

static void on_output(void *arg, enum wf_exec_stream stream, const void *data, size_t len)
{
    struct command *x = arg;
    json_t *m;

    if (!x->client) {
        wf_lab_consumed(x->s->lab, &x->cmd, len); /* nobody reads it, and so it ends */
        return;
    }
    m = reply(x->id);
    json_object_set_new(m, "event", json_string(stream == WF_EXEC_STDOUT ? "stdout" : "stderr"));
    wf_msg_set_bytes(m, data, len);
    wf_msg_put(&x->client->out, m);
    x->unread += len;
}

static void on_idle(void *arg)
{
    struct command *x = arg;

    if (x->client)
        send_event(x->client, x->id, "idle");
}

static void on_done(void *arg, const struct wf_exec_status *st)
{
    static const char *const ends[] = {
        [WF_EXEC_EXITED] = "exited", [WF_EXEC_SIGNALED] = "signaled", [WF_EXEC_TIMEOUT] = "timeout",
        [WF_EXEC_FAILED] = "failed", [WF_EXEC_LOST] = "lost",
    };
    struct command *x = arg;
    json_t *m;

    x->used = false;
    if (!x->client)
        return;
    m = reply(x->id);
    json_object_set_new(m, "event", json_string("end"));
    json_object_set_new(m, "end", json_string(ends[st->end]));
    json_object_set_new(m, "code", json_integer(st->code));
    json_object_set_new(m, "text", json_string(st->text));
    wf_msg_put(&x->client->out, m);
}

static struct command *command_of(struct client *c, json_int_t id)
{
    for (int i = 0; i < CLIENTS * COMMANDS; i++) {
        struct command *x = &c->s->commands[i];

        if (x->used && x->client == c && x->id == id)
            return x;
    }
    return NULL;
}

static struct command *command_new(struct client *c, json_int_t id)
{
    for (int i = 0; i < CLIENTS * COMMANDS; i++) {
        struct command *x = &c->s->commands[i];

        if (!x->used) {
            *x = (struct command){.s = c->s, .client = c, .id = id, .used = true};
            return x;
        }
    }
    return NULL;
}

/* A JSON array of strings as a NULL-terminated array; NULL when it is none or too long. */
static const char **strings(const json_t *a, size_t max)
{
    const char **v;
    size_t n = json_array_size(a);

    if (n > max || (a && !json_is_array(a)))
        return NULL;
    v = calloc(n + 1, sizeof(*v));
    for (size_t i = 0; v && i < n; i++) {
        v[i] = json_string_value(json_array_get(a, i));
        if (!v[i]) {
            free(v);
            return NULL;
        }
    }
    return v;
}

static void op_exec(struct client *c, json_int_t id, const json_t *q)
{
    const char **argv = strings(json_object_get(q, "argv"), 1000);
    const char **env = strings(json_object_get(q, "env"), 100);
    const char *host = json_string_value(json_object_get(q, "host"));
    json_int_t limit = json_integer_value(json_object_get(q, "timeout_ms"));
    struct wf_exec_req r = {
        .argv = argv,
        .env = env,
        .cwd = json_string_value(json_object_get(q, "cwd")),
        .timeout_ms = limit > 0 && limit < UINT32_MAX ? (uint32_t)limit : 0,
        .want_stdin = json_is_true(json_object_get(q, "stdin")),
        .want_idle = json_is_true(json_object_get(q, "idle")),
    };
    struct command *x = NULL;
    struct wf_err err = {.msg = "exec: host and argv are needed"};

    if (host && argv && argv[0] && env && !command_of(c, id)) {
        struct wf_exec_sink sink = {on_output, on_idle, on_done, NULL};

        x = command_new(c, id);
        sink.arg = x;
        if (!x)
            wf_err_set(&err, EAGAIN, "too many commands at a time");
        else if (!wf_lab_exec(c->s->lab, host, &r, &sink, &x->cmd, &err))
            send_event(c, id, "started");
        else
            x = (x->used = false, NULL);
    }
    if (!x)
        send_error(c, id, err.msg);
    free(argv);
    free(env);
}

static void op_signal(struct client *c, json_int_t id, const json_t *q)
{
    struct command *x = command_of(c, json_integer_value(json_object_get(q, "of")));
    json_int_t sig = json_integer_value(json_object_get(q, "signal"));

    (void)id;
    if (x && sig > 0 && sig <= 64)
        wf_lab_signal(c->s->lab, &x->cmd, (int)sig);
}

static void op_stdin(struct client *c, json_int_t id, const json_t *q)
{
    struct command *x = command_of(c, json_integer_value(json_object_get(q, "of")));
    size_t len = 0;
    uint8_t *data = wf_msg_get_bytes(q, &len);

    (void)id;
    if (x)
        wf_lab_stdin(c->s->lab, &x->cmd, data, data ? len : 0);
    free(data);
}

static json_t *host_json(const struct wf_lab_plan *p, uint32_t i)
{
    const char *env[32];
    char text[1024];
    json_t *h = json_object(), *e = json_array();
    const struct wf_lab_host *host = &p->hosts[i];

    json_object_set_new(h, "name", json_string(host->name));
    if (host->kind == WF_LAB_GUEST) {
        json_object_set_new(h, "guest", json_string(host->guest));
        json_object_set_new(h, "nic", json_integer(host->nic));
    } else {
        json_object_set_new(h, "netns", json_string(host->netns));
    }
    json_object_set_new(h, "mtu_bytes", json_integer(host->mtu));
    if (wf_lab_host_env(p, i, env, 32, text, sizeof(text)) > 0)
        for (const char **s = env; *s; s++)
            json_array_append_new(e, json_string(*s));
    json_object_set_new(h, "env", e);
    return h;
}

static void op_hosts(struct client *c, json_int_t id, const json_t *q)
{
    const struct wf_lab_plan *p = wf_lab_plan_of(c->s->lab);
    json_t *m = reply(id), *hosts = json_array(), *guests = json_array();

    (void)q;
    for (uint32_t i = 0; i < p->n_hosts; i++)
        json_array_append_new(hosts, host_json(p, i));
    for (uint32_t i = 0; i < p->n_guests; i++)
        json_array_append_new(guests, json_string(p->guests[i].name));
    json_object_set_new(m, "hosts", hosts);
    json_object_set_new(m, "guests", guests);
    json_object_set_new(m, "ready_guests", json_integer(wf_lab_ready_guests(c->s->lab)));
    if (wf_lab_share(c->s->lab))
        json_object_set_new(m, "share", json_string(wf_lab_share(c->s->lab)));
    wf_msg_put(&c->out, m);
}

static void op_stop(struct client *c, json_int_t id, const json_t *q)
{
    (void)q;
    c->s->stop = true;
    send_event(c, id, "stopping");
}

static void dispatch(struct client *c, const json_t *q)
{
    static const struct {
        const char *name;
        void (*op)(struct client *c, json_int_t id, const json_t *q);
    } ops[] = {
        {"exec", op_exec},   {"exec_signal", op_signal}, {"exec_stdin", op_stdin},
        {"hosts", op_hosts}, {"stop", op_stop},
    };
    const char *cmd = json_string_value(json_object_get(q, "cmd"));
    json_int_t id = json_integer_value(json_object_get(q, "id"));

    if (json_integer_value(json_object_get(q, "v")) != WF_MSG_VERSION) {
        send_error(c, id, "protocol version 1 is spoken here");
        return;
    }
    for (size_t i = 0; cmd && i < sizeof(ops) / sizeof(ops[0]); i++)
        if (!strcmp(cmd, ops[i].name)) {
            ops[i].op(c, id, q);
            return;
        }
    send_error(c, id, "unknown cmd");
}

/* ---- clients -------------------------------------------------------------------------------- */

static void client_gone(struct client *c)
{
    for (int i = 0; i < CLIENTS * COMMANDS; i++) {
        struct command *x = &c->s->commands[i];

        if (!x->used || x->client != c)
            continue;
        x->client = NULL;
        wf_lab_signal(c->s->lab, &x->cmd, SIGKILL);
        wf_lab_consumed(c->s->lab, &x->cmd, x->unread);
    }
    close(c->fd);
    c->fd = -1;
    wf_msg_buf_free(&c->in);
    wf_msg_buf_free(&c->out);
}

/* What the client has taken, the commands may send anew. */
static void acknowledge(struct client *c)
{
    for (int i = 0; i < CLIENTS * COMMANDS; i++) {
        struct command *x = &c->s->commands[i];

        if (x->used && x->client == c && x->unread) {
            wf_lab_consumed(c->s->lab, &x->cmd, x->unread);
            x->unread = 0;
        }
    }
}

static void client_service(struct client *c, uint32_t events)
{
    long n = 1;
    json_t *q;
    int rc = 0;

    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        n = wf_msg_read(&c->in, c->fd);
    while (n > 0 && (q = wf_msg_get(&c->in, &rc))) {
        dispatch(c, q);
        json_decref(q);
    }
    if (rc < 0 || n == 0 || (n < 0 && n != -EAGAIN))
        client_gone(c);
}

static void client_flush(struct client *c)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};

    if (wf_msg_write(&c->out, c->fd)) {
        client_gone(c);
        return;
    }
    if (c->out.len)
        e.events |= EPOLLOUT;
    else
        acknowledge(c);
    if (e.events != c->watched)
        epoll_ctl(c->s->epoll_fd, EPOLL_CTL_MOD, c->fd, &e);
    c->watched = e.events;
}

static void accept_one(struct wf_serve *s)
{
    int fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct epoll_event e = {.events = EPOLLIN};

    for (int i = 0; fd >= 0 && i < CLIENTS; i++)
        if (s->clients[i].fd < 0) {
            s->clients[i] = (struct client){.s = s, .fd = fd, .watched = EPOLLIN};
            e.data.ptr = &s->clients[i];
            epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &e);
            return;
        }
    if (fd >= 0)
        close(fd); /* too many at a time */
}

unsigned wf_serve_service(struct wf_serve *s)
{
    struct epoll_event e[CLIENTS];
    int n = epoll_wait(s->epoll_fd, e, CLIENTS, 0);

    for (int i = 0; i < n; i++) {
        struct client *c = e[i].data.ptr;

        if (!c)
            accept_one(s);
        else if (c->fd >= 0)
            client_service(c, e[i].events);
    }
    for (int i = 0; i < CLIENTS; i++)
        if (s->clients[i].fd >= 0)
            client_flush(&s->clients[i]);
    return n > 0 ? (unsigned)n : 0;
}

int wf_serve_open(struct wf_serve **out, const char *path, struct wf_lab *lab, struct wf_err *err)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL};
    struct wf_serve *s;

    *out = NULL;
    if (strlen(path) >= sizeof(a.sun_path))
        return wf_err_set(err, ENAMETOOLONG, "%s: too long for a socket", path);
    s = calloc(1, sizeof(*s));
    if (!s)
        return wf_err_set(err, ENOMEM, "no memory");
    s->lab = lab;
    for (int i = 0; i < CLIENTS; i++)
        s->clients[i].fd = -1;
    snprintf(s->path, sizeof(s->path), "%s", path);
    snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
    s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    s->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    unlink(path);
    if (s->epoll_fd < 0 || s->listen_fd < 0 ||
        bind(s->listen_fd, (struct sockaddr *)&a, sizeof(a)) || chmod(path, 0600) ||
        listen(s->listen_fd, CLIENTS) || epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->listen_fd, &e)) {
        int code = errno;

        wf_serve_close(s);
        return wf_err_set(err, code, "%s: %s", path, strerror(code));
    }
    *out = s;
    return 0;
}

void wf_serve_close(struct wf_serve *s)
{
    if (!s)
        return;
    for (int i = 0; i < CLIENTS; i++)
        if (s->clients[i].fd >= 0) {
            wf_msg_write(&s->clients[i].out, s->clients[i].fd); /* the last words, if they fit */
            client_gone(&s->clients[i]);
        }
    if (s->listen_fd >= 0)
        close(s->listen_fd);
    if (s->epoll_fd >= 0)
        close(s->epoll_fd);
    unlink(s->path);
    free(s);
}

int wf_serve_fd(const struct wf_serve *s)
{
    return s->epoll_fd;
}

bool wf_serve_stop_asked(const struct wf_serve *s)
{
    return s->stop;
}
