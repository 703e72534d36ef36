/* SPDX-License-Identifier: BSD-3-Clause */
/* See serve.h. */
#include "lab/serve.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void send_event(struct wf_ctl_client *client, json_int_t id, const char *event)
{
    wf_ctl_send(client, id, json_pack("{s:s}", "event", event));
}

/* ---- commands ------------------------------------------------------------------------------- */

static void on_output(void *arg, enum wf_exec_stream stream, const void *data, size_t len)
{
    struct wf_serve_command *x = arg;
    json_t *m;

    if (!x->client) {
        wf_lab_consumed(x->s->lab, &x->cmd, len); /* nobody reads it, and so it ends */
        return;
    }
    m = json_pack("{s:s}", "event", stream == WF_EXEC_STDOUT ? "stdout" : "stderr");
    wf_msg_set_bytes(m, data, len);
    wf_ctl_send(x->client, x->id, m);
    x->unread += len;
}

static void on_idle(void *arg)
{
    struct wf_serve_command *x = arg;

    if (x->client)
        send_event(x->client, x->id, "idle");
}

static void on_done(void *arg, const struct wf_exec_status *st)
{
    static const char *const ends[] = {
        [WF_EXEC_EXITED] = "exited", [WF_EXEC_SIGNALED] = "signaled", [WF_EXEC_TIMEOUT] = "timeout",
        [WF_EXEC_FAILED] = "failed", [WF_EXEC_LOST] = "lost",
    };
    struct wf_serve_command *x = arg;

    x->used = false;
    if (!x->client)
        return;
    wf_ctl_send(x->client, x->id,
                json_pack("{s:s, s:s, s:i, s:o}", "event", "end", "end", ends[st->end], "code",
                          st->code, "text", json_string(st->text)));
}

static struct wf_serve_command *command_of(struct wf_serve *s, struct wf_ctl_client *client,
                                           json_int_t id)
{
    for (int i = 0; i < WF_SERVE_COMMANDS; i++) {
        struct wf_serve_command *x = &s->commands[i];

        if (x->used && x->client == client && x->id == id)
            return x;
    }
    return NULL;
}

static struct wf_serve_command *command_new(const struct wf_ctl_call *c)
{
    struct wf_serve *s = c->arg;

    for (int i = 0; i < WF_SERVE_COMMANDS; i++) {
        struct wf_serve_command *x = &s->commands[i];

        if (!x->used) {
            *x = (struct wf_serve_command){.s = s, .client = c->client, .id = c->id, .used = true};
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

static int start(const struct wf_ctl_call *c, const struct wf_exec_req *r, const char *host,
                 struct wf_err *err)
{
    struct wf_exec_sink sink = {on_output, on_idle, on_done, NULL};
    struct wf_serve *s = c->arg;
    struct wf_serve_command *x;
    int rc;

    if (!host || !r->argv || !r->argv[0] || !r->env)
        return wf_err_set(err, EINVAL, "exec needs a host and argv, env is a list of strings");
    if (command_of(s, c->client, c->id))
        return wf_err_set(err, EINVAL, "this id has a command already");
    x = command_new(c);
    if (!x)
        return wf_err_set(err, EAGAIN, "too many commands at a time");
    sink.arg = x;
    rc = wf_lab_exec(s->lab, host, r, &sink, &x->cmd, err);
    if (rc)
        x->used = false;
    return rc;
}

static void op_exec(const struct wf_ctl_call *c)
{
    const char **argv = strings(json_object_get(c->q, "argv"), 1000);
    const char **env = strings(json_object_get(c->q, "env"), 100);
    json_int_t limit = json_integer_value(json_object_get(c->q, "timeout_ms"));
    struct wf_exec_req r = {
        .argv = argv,
        .env = env,
        .cwd = json_string_value(json_object_get(c->q, "cwd")),
        .timeout_ms = limit > 0 && limit < UINT32_MAX ? (uint32_t)limit : 0,
        .want_stdin = json_is_true(json_object_get(c->q, "stdin")),
        .want_idle = json_is_true(json_object_get(c->q, "idle")),
    };
    struct wf_err err;

    if (start(c, &r, json_string_value(json_object_get(c->q, "host")), &err))
        wf_ctl_error(c->client, c->id, "%s", err.msg);
    else
        send_event(c->client, c->id, "started");
    free(argv);
    free(env);
}

static struct wf_serve_command *meant(const struct wf_ctl_call *c)
{
    return command_of(c->arg, c->client, json_integer_value(json_object_get(c->q, "of")));
}

static void op_signal(const struct wf_ctl_call *c)
{
    json_int_t sig = json_integer_value(json_object_get(c->q, "signal"));
    struct wf_serve_command *x = meant(c);

    if (x && sig > 0 && sig <= 64)
        wf_lab_signal(x->s->lab, &x->cmd, (int)sig);
}

static void op_stdin(const struct wf_ctl_call *c)
{
    struct wf_serve_command *x = meant(c);
    size_t len = 0;
    uint8_t *data = wf_msg_get_bytes(c->q, &len);

    if (x)
        wf_lab_stdin(x->s->lab, &x->cmd, data, data ? len : 0);
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

static void op_lab(const struct wf_ctl_call *c)
{
    struct wf_serve *s = c->arg;
    const struct wf_lab_plan *p = wf_lab_plan_of(s->lab);
    json_t *m = json_object(), *hosts = json_array(), *guests = json_array();

    for (uint32_t i = 0; i < p->n_hosts; i++)
        json_array_append_new(hosts, host_json(p, i));
    for (uint32_t i = 0; i < p->n_guests; i++)
        json_array_append_new(guests, json_string(p->guests[i].name));
    json_object_set_new(m, "hosts", hosts);
    json_object_set_new(m, "guests", guests);
    json_object_set_new(m, "ready_guests", json_integer(wf_lab_ready_guests(s->lab)));
    if (wf_lab_share(s->lab))
        json_object_set_new(m, "share", json_string(wf_lab_share(s->lab)));
    wf_ctl_send(c->client, c->id, m);
}

/* ---- clients -------------------------------------------------------------------------------- */

static void gone(void *arg, struct wf_ctl_client *client)
{
    struct wf_serve *s = arg;

    for (int i = 0; i < WF_SERVE_COMMANDS; i++) {
        struct wf_serve_command *x = &s->commands[i];

        if (!x->used || x->client != client)
            continue;
        x->client = NULL;
        wf_lab_signal(s->lab, &x->cmd, SIGKILL);
        wf_lab_consumed(s->lab, &x->cmd, x->unread);
    }
}

/* What the client has taken, the commands may send anew. */
static void drained(void *arg, struct wf_ctl_client *client)
{
    struct wf_serve *s = arg;

    for (int i = 0; i < WF_SERVE_COMMANDS; i++) {
        struct wf_serve_command *x = &s->commands[i];

        if (x->used && x->client == client && x->unread) {
            wf_lab_consumed(s->lab, &x->cmd, x->unread);
            x->unread = 0;
        }
    }
}

static const struct wf_ctl_cmd cmds[] = {
    {"lab", op_lab},
    {"exec", op_exec},
    {"exec_signal", op_signal},
    {"exec_stdin", op_stdin},
};

const struct wf_ctl_group wf_serve_group = {
    .cmds = cmds,
    .n = sizeof(cmds) / sizeof(cmds[0]),
    .gone = gone,
    .drained = drained,
};
