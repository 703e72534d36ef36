/* SPDX-License-Identifier: BSD-3-Clause */
/* Pauses as sentences, from the one that is asked about to the queue that they began at. */
#include <string.h>

#include "base/units.h"
#include "cmd_why.h"

enum { DEPTH_MAX = 16 };

/* A chain of pauses: ports that have been told, and how far in the next one is told. */
struct chain {
    const char *port[DEPTH_MAX];
    unsigned n, indent;
    FILE *out;
};

static const char *text_of(const json_t *j, const char *key)
{
    const char *s = json_string_value(json_object_get(j, key));

    return s ? s : "";
}

static const char *number(const json_t *j, const char *key, char *buf)
{
    return wf_why_digits(wf_why_num(j, key), buf, 32);
}

/* Below the sentences of a packet, or from the margin. */
static void begin(const struct chain *c)
{
    fprintf(c->out, "%*s", (int)c->indent, "");
}

/* The pauses close a circle when one has been told before. */
static bool was_before(const struct chain *c, const char *port)
{
    for (unsigned i = 0; i < c->n; i++)
        if (!strcmp(c->port[i], port))
            return true;
    return c->n == DEPTH_MAX;
}

static void tell_chain(const struct wf_why_file *f, const struct wf_why_line *x, struct chain *c);

/* Who stopped a queue at that time. */
static void tell_stopper(const struct wf_why_file *f, const char *port, unsigned queue,
                         uint64_t t_ps, struct chain *c)
{
    const struct wf_why_line *rx = wf_why_stopped_at(f, port, WF_PRIOS, queue, t_ps), *x = NULL;
    json_t *j = rx ? wf_why_get(rx) : NULL;
    const char *peer = text_of(j, "peer");

    if (rx)
        x = wf_why_xoff_at(f, peer, rx->prio, rx->t_ps);
    if (x && !was_before(c, x->at)) {
        tell_chain(f, x, c);
        json_decref(j);
        return;
    }
    begin(c);
    if (!rx)
        fputs("who stopped it is not recorded\n", c->out);
    else if (!x)
        fprintf(c->out,
                "%s stopped priority %u of %s, for no reason that a switch has recorded: it is "
                "the root\n",
                peer, rx->prio, rx->at);
    else
        fprintf(c->out, "%s stopped it, as told: the pauses close a circle\n", x->at);
    json_decref(j);
}

static void tell_chain(const struct wf_why_file *f, const struct wf_why_line *x, struct chain *c)
{
    json_t *j = wf_why_get(x);
    uint64_t over = wf_why_over_ps(f, x);
    bool stopped = json_is_true(json_object_get(j, "stopped"));
    char a[32], b[32], since[32], until[32];

    c->port[c->n++] = x->at;
    begin(c);
    fprintf(
        c->out, "%s stopped priority %u of %s at %s, until %s: PG %u held %s of %s bytes (xoff)\n",
        x->at, x->prio, text_of(j, "peer"), wf_why_time(x->t_ps, since, sizeof(since)),
        over == WF_TIME_NEVER ? "the end" : wf_why_time(over, until, sizeof(until)),
        (unsigned)wf_why_num(j, "pg"), number(j, "pg_bytes", a), number(j, "pg_limit_bytes", b));
    begin(c);
    fprintf(c->out, "  on the way to %s.q%u, which held %s bytes and was %s\n", text_of(j, "out"),
            x->queue, number(j, "queue_bytes", a),
            stopped ? "stopped itself:" : "not stopped: the root");
    c->indent += 2;
    if (stopped)
        tell_stopper(f, text_of(j, "out"), x->queue, x->t_ps, c);
    json_decref(j);
}

bool wf_why_tell_pause(const struct wf_why_file *f, const char *port, unsigned prio, uint64_t t_ps,
                       bool received, unsigned indent, FILE *out)
{
    struct chain c = {.indent = indent, .out = out};
    const struct wf_why_line *x =
        received ? wf_why_stopped_at(f, port, prio, 0, t_ps) : wf_why_xoff_at(f, port, prio, t_ps);

    if (x && received)
        tell_stopper(f, port, x->queue, t_ps, &c);
    else if (x)
        tell_chain(f, x, &c);
    return x;
}
