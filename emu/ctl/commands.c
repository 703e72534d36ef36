/* SPDX-License-Identifier: BSD-3-Clause */
/* See commands.h. */
#include "ctl/commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cap/json.h"
#include "attach/ingress.h"
#include "ctl/names.h"
#include "scen/match.h"

static const char *text(const struct wf_ctl_call *c, const char *key)
{
    return json_string_value(json_object_get(c->q, key));
}

/* A number in [min, max], or the default when it is not there; false and an answer when wrong. */
static bool number(const struct wf_ctl_call *c, const char *key, uint64_t def, uint64_t min,
                   uint64_t max, uint64_t *out)
{
    const json_t *v = json_object_get(c->q, key);
    json_int_t n = json_integer_value(v);

    *out = def;
    if (!v)
        return true;
    if (json_is_integer(v) && n >= 0 && (uint64_t)n >= min && (uint64_t)n <= max) {
        *out = (uint64_t)n;
        return true;
    }
    wf_ctl_error(c->client, c->id, "%s has to be a number from %llu to %llu", key,
                 (unsigned long long)min, (unsigned long long)max);
    return false;
}

static int index_of(const char *const *names, const char *name)
{
    for (int i = 0; name && names[i]; i++)
        if (!strcmp(names[i], name))
            return i;
    return -1;
}

static size_t count(const char *const *names)
{
    size_t n = 0;

    while (names[n])
        n++;
    return n;
}

static void not_one_of(const struct wf_ctl_call *c, const char *kind, const char *found,
                       const char *const *names)
{
    struct wf_err err;

    wf_ctl_not_one_of(kind, found ? found : "", names, count(names), &err);
    wf_ctl_error(c->client, c->id, "%s", err.msg);
}

static struct wf_port *port_at(const struct wf_ctl_call *c)
{
    const struct wf_ctl_fabric *x = c->arg;
    const char *at = text(c, "at");
    struct wf_port *p = at ? wf_fabric_port(x->f, at) : NULL;

    if (!p)
        wf_ctl_error(c->client, c->id, "there is no port '%.80s'; ports are named like leaf0:p3",
                     at ? at : "");
    return p;
}

static json_t *answer(const struct wf_ctl_call *c, const char *schema)
{
    const struct wf_ctl_fabric *x = c->arg;
    json_t *m = json_object();

    json_object_set_new(m, "schema", json_string(schema));
    json_object_set_new(m, "instance", json_string(x->instance));
    json_object_set_new(m, "time_ps", wf_json_u64(wf_fabric_now_ps(x->f)));
    return m;
}

static void op_show(const struct wf_ctl_call *c)
{
    const struct wf_ctl_fabric *x = c->arg;
    const char *what = text(c, "what"), *at = text(c, "at");
    struct wf_err err;
    json_t *rows, *m;

    rows = at && wf_match_check(at, &err) ? NULL : wf_ctl_show(x->f, what ? what : "", at, &err);
    if (!rows) {
        wf_ctl_error(c->client, c->id, "%s", err.msg);
        return;
    }
    m = answer(c, "weft.show/1");
    json_object_set_new(m, "what", json_string(what));
    json_object_set_new(m, "rows", rows);
    wf_ctl_send(c->client, c->id, m);
}

static void op_status(const struct wf_ctl_call *c)
{
    const struct wf_ctl_fabric *x = c->arg;
    json_t *m = answer(c, "weft.status/1"), *packets = json_object();
    struct wf_digest d = wf_fabric_digest(x->f);
    char buf[32];

    json_object_set_new(m, "scenario", json_string(x->f->desc->name ? x->f->desc->name : ""));
    json_object_set_new(m, "seed", wf_json_u64(x->f->desc->seed));
    json_object_set_new(m, "live", json_boolean(wf_fabric_clock(x->f)->paced));
    json_object_set_new(m, "digest", json_string(wf_digest_text(&d, buf, sizeof(buf))));
    json_object_set_new(m, "lateness_p99_ps",
                        wf_json_u64(wf_clock_lateness(wf_fabric_clock(x->f), 0.99)));
    for (int i = 0; i < WF_FABRIC_CTRS; i++)
        json_object_set_new(packets, wf_ctrs_fabric.rows[i].name,
                            wf_json_u64(wf_fabric_ctr(x->f, i)));
    json_object_set_new(packets, "in_flight_frames", wf_json_u64(wf_fabric_in_flight(x->f)));
    json_object_set_new(m, "frames", packets);
    wf_ctl_send(c->client, c->id, m);
}

static json_t *host_json(const struct wf_edge *e)
{
    const struct wf_host_cfg *h = e->cfg;
    json_t *r = json_object();
    char mac[18];

    snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", e->node.mac[0], e->node.mac[1],
             e->node.mac[2], e->node.mac[3], e->node.mac[4], e->node.mac[5]);
    json_object_set_new(r, "name", json_string(e->node.name));
    json_object_set_new(r, "type", json_string(e->dev.kind->name));
    json_object_set_new(r, "where", json_string(e->dev.where));
    json_object_set_new(r, "up", json_boolean(e->peer_up));
    json_object_set_new(r, "mac", json_string(mac));
    json_object_set_new(r, "mtu_bytes", wf_json_u64(e->dev.mtu));
    if (h->place.netns)
        json_object_set_new(r, "netns", json_string(h->place.netns));
    else if (h->attach.type == WF_ATTACH_VHOST_USER)
        json_object_set_new(r, "guest",
                            json_string(h->place.guest ? h->place.guest : e->node.name));
    json_object_set_new(r, "env", json_array());
    return r;
}

static void op_hosts(const struct wf_ctl_call *c)
{
    const struct wf_ctl_fabric *x = c->arg;
    json_t *hosts = json_array(), *all = json_array(), *m;
    const char *at = text(c, "at");
    struct wf_err err;
    int rc = at ? wf_match_check(at, &err) : 0;

    for (uint32_t i = 0; i < x->edges->n && !rc; i++) {
        json_array_append_new(all, host_json(x->edges->edges[i]));
        if (!at || wf_match(at, x->edges->edges[i]->node.name))
            json_array_append(hosts, json_array_get(all, i));
    }
    if (!rc && at && !json_array_size(hosts))
        rc = wf_ctl_nothing_fits("attached hosts", at, all, &err);
    json_decref(all);
    if (rc) {
        json_decref(hosts);
        wf_ctl_error(c->client, c->id, "%s", err.msg);
        return;
    }
    m = answer(c, "weft.hosts/1");
    json_object_set_new(m, "hosts", hosts);
    json_object_set_new(m, "guests", json_array());
    wf_ctl_send(c->client, c->id, m);
}

static void op_inject(const struct wf_ctl_call *c)
{
    static const char *const actions[] = {"drop", "ce", "corrupt", NULL};
    const struct wf_ctl_fabric *x = c->arg;
    const char *class = text(c, "class");
    int action = index_of(actions, text(c, "action"));
    int match = class ? index_of(wf_fault_class_names, class) : WF_FAULT_ROCE_DATA;
    struct wf_port *port;
    struct wf_fault fault = {0};

    if (action < 0) {
        not_one_of(c, "action", text(c, "action"), actions);
        return;
    }
    if (match < 0) {
        not_one_of(c, "class of frames", class, wf_fault_class_names);
        return;
    }
    if (!number(c, "every", 1, 1, UINT32_MAX, &fault.every) ||
        !number(c, "count", 0, 0, UINT32_MAX, &fault.limit))
        return;
    port = port_at(c);
    if (!port)
        return;
    fault.action = (enum wf_fault_action)action;
    fault.match = (enum wf_fault_class)match;
    if (wf_ingress_fault(x->edges, port, &fault))
        wf_ctl_send(c->client, c->id, answer(c, "weft.done/1"));
    else
        wf_ctl_error(c->client, c->id, "%s has as many faults as are possible", port->name);
}

/* {"up": true|false} or {"rate_bps": N}, or both. */
static void op_link(const struct wf_ctl_call *c)
{
    const struct wf_ctl_fabric *x = c->arg;
    const json_t *up = json_object_get(c->q, "up");
    const char *at = text(c, "at");
    struct wf_link *link = at ? wf_fabric_link(x->f, at) : NULL;
    struct wf_port *port = at ? wf_fabric_port(x->f, at) : NULL;
    uint64_t rate_bps;

    if (!link && port)
        link = port->link;
    if (!number(c, "rate_bps", 0, WF_LINK_RATE_MIN_BPS, WF_LINK_RATE_MAX_BPS, &rate_bps))
        return;
    if (!link) {
        wf_ctl_error(c->client, c->id,
                     "there is no link '%.80s'; links are named like leaf0:p3-spine1:p0",
                     at ? at : "");
    } else if (!json_is_boolean(up) && (up || !rate_bps)) {
        wf_ctl_error(c->client, c->id, "up has to be true or false, or rate_bps a rate");
    } else {
        if (rate_bps)
            wf_ingress_link_rate(x->edges, link, rate_bps);
        if (up)
            wf_ingress_link(x->edges, link, json_is_true(up));
        wf_ctl_send(c->client, c->id, answer(c, "weft.done/1"));
    }
}

static void op_pfc(const struct wf_ctl_call *c)
{
    const struct wf_ctl_fabric *x = c->arg;
    const json_t *list = json_object_get(c->q, "priorities"), *v;
    struct wf_port *port = port_at(c);
    uint64_t quanta;
    unsigned vector = 0;
    size_t i;

    if (!port || !number(c, "quanta", 65535, 0, 65535, &quanta))
        return;
    json_array_foreach (list, i, v) {
        json_int_t p = json_integer_value(v);

        vector |= !json_is_integer(v) || p < 0 || p > 7 ? 256u : 1u << p;
    }
    if (!vector || vector > 255) {
        wf_ctl_error(c->client, c->id, "priorities has to be a list of numbers from 0 to 7");
        return;
    }
    wf_ingress_pfc(x->edges, port, (uint8_t)vector, (uint16_t)quanta);
    wf_ctl_send(c->client, c->id, answer(c, "weft.done/1"));
}

static void op_clear(const struct wf_ctl_call *c)
{
    const struct wf_ctl_fabric *x = c->arg;
    const char *what = text(c, "what"), *at = text(c, "at");
    struct wf_err err;

    if ((at && wf_match_check(at, &err)) || wf_ctl_clear(x->f, what ? what : "", at, &err))
        wf_ctl_error(c->client, c->id, "%s", err.msg);
    else
        wf_ctl_send(c->client, c->id, answer(c, "weft.done/1"));
}

static void op_stop(const struct wf_ctl_call *c)
{
    const struct wf_ctl_fabric *x = c->arg;
    json_t *m = answer(c, "weft.done/1");

    json_object_set_new(m, "event", json_string("stopping"));
    x->run->stop_asked = true;
    wf_ctl_send(c->client, c->id, m);
}

static const struct wf_ctl_cmd commands[] = {
    {"status", op_status}, {"show", op_show}, {"hosts", op_hosts}, {"inject", op_inject},
    {"link", op_link},     {"pfc", op_pfc},   {"clear", op_clear}, {"stop", op_stop},
};

const struct wf_ctl_group wf_ctl_fabric_group = {
    .cmds = commands,
    .n = sizeof(commands) / sizeof(commands[0]),
};
