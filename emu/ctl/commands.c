/* SPDX-License-Identifier: BSD-3-Clause */
/* See commands.h. */
#include "ctl/commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cap/json.h"
#include "attach/flap.h"
#include "attach/ingress.h"
#include "ctl/names.h"
#include "net/fault_config.h"
#include "scen/match.h"

#define WF_CTL_FLAP_MAX_PS (3600 * WF_PS_PER_S)

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

/* A key and value of a fault's text; false and an answer when the value can't stand in it. */
static bool put(const struct wf_ctl_call *c, char *to, size_t len, const char *key,
                const json_t *value)
{
    const char *s = json_string_value(value);
    size_t used = strlen(to);
    char digits[24];

    if (json_is_integer(value)) {
        snprintf(digits, sizeof(digits), "%lld", (long long)json_integer_value(value));
        s = digits;
    }
    if (!s || !s[0] || strpbrk(s, " \t\r\n") || strlen(key) + strlen(s) + used + 3 > len) {
        wf_ctl_error(c->client, c->id, "%.40s '%.80s': expected a short word without spaces", key,
                     s ? s : "");
        return false;
    }
    snprintf(to + used, len - used, "%s%s=%s", used ? " " : "", key, s);
    return true;
}

/* {"action": "drop", "at": "leaf0:p3", "with": {"psn": "+5"}}; class, every and count beside action
 * are words of before, for match, every and limit. */
static void op_inject(const struct wf_ctl_call *c)
{
    static const char *const outer[][2] = {{"action", "do"},
                                           {"at", "where"},
                                           {"class", "match"},
                                           {"every", "every"},
                                           {"count", "limit"}};
    const struct wf_ctl_fabric *x = c->arg;
    json_t *with = json_object_get(c->q, "with"), *v;
    char text_of[1024] = "";
    struct wf_err err;
    const char *key;

    if (index_of(wf_fault_action_names, text(c, "action")) < 0) {
        not_one_of(c, "action", text(c, "action"), wf_fault_action_names);
        return;
    }
    if (text(c, "class") && index_of(wf_fault_class_names, text(c, "class")) < 0) {
        not_one_of(c, "class of frames", text(c, "class"), wf_fault_class_names);
        return;
    }
    for (size_t i = 0; i < sizeof(outer) / sizeof(outer[0]); i++) {
        v = json_object_get(c->q, outer[i][0]);
        if (v && i > 2 && !json_is_integer(v)) {
            wf_ctl_error(c->client, c->id, "%s has to be a number", outer[i][0]);
            return;
        }
        if (v && !put(c, text_of, sizeof(text_of), outer[i][1], v))
            return;
    }
    json_object_foreach (with, key, v)
        if (!put(c, text_of, sizeof(text_of), key, v))
            return;
    if (wf_ingress_fault(x->edges, text_of, &err))
        wf_ctl_error(c->client, c->id, "%s", err.msg);
    else
        wf_ctl_send(c->client, c->id, answer(c, "weft.done/1"));
}

/* {"down_ps": N, "period_ps": N, "count": N} */
static void flap(const struct wf_ctl_call *c, struct wf_link *link)
{
    const struct wf_ctl_fabric *x = c->arg;
    struct wf_flap_cfg cfg;
    uint64_t count;
    struct wf_err err;

    if (!number(c, "down_ps", 0, 1, WF_CTL_FLAP_MAX_PS, &cfg.down_ps) ||
        !number(c, "period_ps", 0, 1, WF_CTL_FLAP_MAX_PS, &cfg.period_ps) ||
        !number(c, "count", 1, 1, WF_FLAP_TIMES_MAX, &count))
        return;
    cfg.count = (uint32_t)count;
    if (wf_flap_start(x->edges, link, &cfg, &err))
        wf_ctl_error(c->client, c->id, "%s", err.msg);
    else
        wf_ctl_send(c->client, c->id, answer(c, "weft.done/1"));
}

/* {"up": true|false} or {"rate_bps": N}, or both; or a flap. */
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
    } else if (json_object_get(c->q, "down_ps")) {
        flap(c, link);
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
    if (json_is_true(json_object_get(c->q, "pause"))) {
        wf_ingress_pause(x->edges, port, (uint16_t)quanta);
        wf_ctl_send(c->client, c->id, answer(c, "weft.done/1"));
        return;
    }
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
