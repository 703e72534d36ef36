/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/faults.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "host/endpoint.h"
#include "host/host.h"
#include "wire/bth.h"

static void add_ip(struct wf_fault_addr *a, const struct wf_ip_prefix *ip)
{
    if (ip->family == 4) {
        a->has4 = true;
        memcpy(a->ip4, ip->addr + 12, 4);
    } else if (ip->family == 6) {
        a->has6 = true;
        memcpy(a->ip6, ip->addr, 16);
    }
}

static void host_addr(const struct wf_desc *d, uint32_t host, struct wf_fault_addr *a)
{
    add_ip(a, &d->hosts[host].cfg.ip);
    add_ip(a, &d->hosts[host].cfg.ip6);
}

/* A host by its name, or an address. */
static int end_of(const struct wf_desc *d, const char *name, struct wf_fault_addr *a,
                  struct wf_err *err)
{
    static const struct wf_key as_ip = {.name = "address", .type = WF_KEY_IP};
    int host = wf_desc_find_host(d, name);
    struct wf_ip_prefix ip = {.family = 0};
    const char **names;

    if (host >= 0) {
        host_addr(d, (uint32_t)host, a);
        return 0;
    }
    if (!wf_key_set(&as_ip, &ip, name, err)) {
        add_ip(a, &ip);
        return 0;
    }
    wf_err_set(err, EINVAL, "'%s' is neither a host nor an address", name);
    names = calloc(d->n_hosts + 1u, sizeof(*names));
    for (uint32_t i = 0; names && i < d->n_hosts; i++)
        names[i] = d->hosts[i].name;
    if (names)
        wf_err_suggest(err, name, names, d->n_hosts);
    free(names);
    return -EINVAL;
}

/* A flow that connects: its own queue pair is known, the peer's is that one's mate. */
static void connected_ends(const struct wf_desc *d, uint32_t flow, struct wf_fault *f)
{
    const struct wf_desc_flow *w = &d->flows[flow];
    uint32_t dial = 0;

    for (uint32_t i = 0; i < flow; i++)
        dial += d->flows[i].cfg.connect && d->flows[i].from == w->from;
    for (int e = 0; e < 2; e++)
        f->ends[e].qpn = wf_endpoint_dial_qpn(&d->hosts[w->from].cfg, dial);
    f->ends[0].by_mate = true;
    f->needs_streams = true;
}

/* Both directions of a flow: data to its receiver's queue pair, answers to its sender's. */
static int flow_ends(const struct wf_desc *d, const char *name, struct wf_fault *f,
                     struct wf_err *err)
{
    const char *bare = strncmp(name, "flow.", 5) ? name : name + 5; /* as other sections say it */

    for (uint32_t i = 0; i < d->n_flows; i++) {
        const struct wf_desc_flow *w = &d->flows[i];

        if (strcmp(w->name, bare))
            continue;
        for (int e = 0; e < 2; e++) {
            host_addr(d, e ? w->to : w->from, &f->ends[e].src);
            host_addr(d, e ? w->from : w->to, &f->ends[e].dst);
            f->ends[e].has_qpn = true;
            f->ends[e].qpn = wf_host_flow_qpn(i, e);
        }
        if (w->cfg.connect)
            connected_ends(d, i, f);
        f->n_ends = 2;
        return 0;
    }
    return wf_err_set(err, EINVAL, "'%s' is no flow of the workload", name);
}

/* "17", "h1:qp17", "#2" */
static int qp_of(const struct wf_desc *d, const struct wf_fault_cfg *cfg, struct wf_fault *f,
                 struct wf_err *err)
{
    const char *text = cfg->qp, *colon = strstr(text, ":qp");
    struct wf_fault_ends *e = &f->ends[0];
    char host[64];
    uint64_t v;

    f->n_ends = 1;
    if (text[0] == '#') {
        if (wf_parse_uint(text + 1, &v, NULL) || !v || v > UINT16_MAX)
            return wf_err_set(err, EINVAL, "'%s' is no queue pair, expected such as #2", text);
        if (!cfg->from || !cfg->to)
            return wf_err_set(err, EINVAL,
                              "'%s' counts between two hosts: 'from' and 'to' are "
                              "missing",
                              text);
        f->ordinal = (uint32_t)v;
        f->needs_streams = true;
        return 0;
    }
    if (colon) {
        snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text);
        if (cfg->to)
            return wf_err_set(err, EINVAL, "'%s' names the host, which 'to' does too", text);
        if (end_of(d, host, &e->dst, err))
            return -EINVAL;
        text = colon + 3;
    }
    if (wf_parse_uint(text, &v, NULL) || v > WF_QPN_MASK)
        return wf_err_set(err, EINVAL, "'%s' is no queue pair, expected such as 17, h1:qp17 or #2",
                          cfg->qp);
    e->has_qpn = true;
    e->qpn = (uint32_t)v;
    return 0;
}

/* "WRITE First" as write_first, RC's as rc_write_first. */
static bool opcode_is(unsigned i, const char *word)
{
    char full[64];
    size_t n;

    if (!wf_opcodes[i].name)
        return false;
    n = (size_t)snprintf(full, sizeof(full), "%s_%s", wf_service_name((uint8_t)i),
                         wf_opcodes[i].name);
    for (size_t k = 0; k < n; k++)
        full[k] = full[k] == ' ' ? '_' : (char)tolower((unsigned char)full[k]);
    return !strcmp(full, word) || !strcmp(strchr(full, '_') + 1, word);
}

static int opcodes_of(const struct wf_names *names, struct wf_fault *f, struct wf_err *err)
{
    for (uint32_t n = 0; n < names->n; n++) {
        bool found = false;
        uint64_t v;

        if (!wf_parse_uint(names->v[n], &v, NULL) && v < 256) {
            f->opcodes[v / 8] |= (uint8_t)(1u << v % 8);
            continue;
        }
        for (unsigned i = 0; i < 256; i++)
            if (opcode_is(i, names->v[n])) {
                f->opcodes[i / 8] |= (uint8_t)(1u << i % 8);
                found = true;
            }
        if (!found)
            return wf_err_set(err, EINVAL,
                              "'%s' is no opcode, expected such as write_first, "
                              "rc_send_only or 0x11",
                              names->v[n]);
    }
    f->by_opcode = names->n > 0;
    return 0;
}

/* "100", "100-120", "+5", "+5-9" */
static int psns_of(const char *text, struct wf_fault *f, struct wf_err *err)
{
    struct wf_fault_psns *r = &f->psn;
    const char *first = text + (text[0] == '+'), *dash = strchr(first, '-');
    char buf[24];
    uint64_t a, b;

    snprintf(buf, sizeof(buf), "%.*s", dash ? (int)(dash - first) : 20, first);
    if (wf_parse_uint(buf, &a, NULL) || a > WF_PSN_MASK ||
        (dash && (wf_parse_uint(dash + 1, &b, NULL) || b > WF_PSN_MASK)))
        return wf_err_set(err, EINVAL, "'%s' is no PSN, expected such as 100, 100-120, +5 or +5-9",
                          text);
    r->used = true;
    r->relative = text[0] == '+';
    r->first = (uint32_t)a;
    r->last = dash ? (uint32_t)b : r->first;
    f->needs_streams |= r->relative;
    return 0;
}

static int answer_psn_of(const char *text, struct wf_fault_how *how, struct wf_err *err)
{
    bool sign = text[0] == '+' || text[0] == '-';
    uint64_t v;

    if (wf_parse_uint(text + sign, &v, NULL) || v > WF_PSN_MASK)
        return wf_err_set(err, EINVAL, "'%s' is no PSN, expected such as 100, +1 or -1", text);
    how->psn_given = true;
    how->psn_relative = sign;
    how->psn = text[0] == '-' ? -(int32_t)v : (int32_t)v;
    return 0;
}

static enum wf_fault_class class_of(const struct wf_fault_cfg *cfg)
{
    if (cfg->match != WF_FAULT_MATCH_AUTO)
        return (enum wf_fault_class)cfg->match;
    if (cfg->opcode.n || cfg->psn || cfg->iteration || cfg->message)
        return WF_FAULT_ROCE;
    if (cfg->action >= WF_FAULT_NAK && cfg->action <= WF_FAULT_CNP)
        return WF_FAULT_ROCE_ACK;
    return WF_FAULT_ROCE_DATA;
}

static struct wf_fault_how how_of(const struct wf_fault_cfg *c)
{
    return (struct wf_fault_how){
        .delay_ps = c->delay_ps,
        .within_ps = c->within_ps,
        .copies = c->action == WF_FAULT_DUPLICATE ? c->copies : 0,
        .behind = c->behind,
        .crc = (enum wf_fault_crc)c->crc,
        .part = (enum wf_fault_part)c->part,
        .offset = c->offset,
        .bytes = c->bytes,
        .keep_bytes = c->keep,
        .flip = (uint8_t)c->flip,
        .matched = (enum wf_fault_matched)c->matched,
        .nak_code = (uint8_t)c->code,
        .rnr_timer = (uint8_t)c->timer,
        .dscp = (uint8_t)c->dscp,
        .priorities = c->priorities ? (uint8_t)c->priorities : 0xff,
        .quanta = (uint16_t)c->quanta,
        .force = c->force,
        .reply_qpn_given = c->reply_qp,
        .reply_qpn = c->reply_qp,
    };
}

static int ends_of(const struct wf_desc *d, const struct wf_fault_cfg *c, struct wf_fault *out,
                   const char **key, struct wf_err *err)
{
    *key = "flow";
    if (c->flow && (c->from || c->to || c->qp))
        return wf_err_set(err, EINVAL,
                          "'flow' says between whom: 'from', 'to' and 'qp' don't go "
                          "with it");
    if (c->flow)
        return flow_ends(d, c->flow, out, err);
    out->n_ends = c->from || c->to;
    *key = "from";
    if (c->from && end_of(d, c->from, &out->ends[0].src, err))
        return -EINVAL;
    *key = "to";
    if (c->to && end_of(d, c->to, &out->ends[0].dst, err))
        return -EINVAL;
    *key = "qp";
    return c->qp ? qp_of(d, c, out, err) : 0;
}

/* No packet passes that could be asked. */
static int timed(const struct wf_fault_cfg *c, struct wf_fault *f, const char **key,
                 struct wf_err *err)
{
    const struct {
        const char *key;
        bool given;
    } packets[] = {
        {"opcode", f->by_opcode},           {"psn", f->psn.used},   {"message", c->message},
        {"iteration", c->iteration},        {"nth", c->nth},        {"every", c->every > 1},
        {"probability", f->chance.den},     {"until", c->until_ps}, {"matched", c->matched},
        {"match", f->match > WF_FAULT_ROCE}};

    f->at_time = c->trigger == WF_FAULT_AT_TIME;
    for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]) && f->at_time; i++)
        if (packets[i].given) {
            *key = packets[i].key;
            return wf_err_set(err, EINVAL,
                              "'%s' asks for a packet: it does not go with 'trigger: time'", *key);
        }
    return 0;
}

int wf_desc_fault(const struct wf_desc *d, const struct wf_fault_cfg *c, struct wf_fault *out,
                  const char **key, struct wf_err *err)
{
    int rc;

    *out = (struct wf_fault){
        .action = (enum wf_fault_action)c->action,
        .match = class_of(c),
        .every = c->every,
        .limit = c->limit,
        .may_not_fire = c->may_not_fire,
        .from_ps = c->after_ps,
        .until_ps = c->until_ps,
        .message = c->message,
        .iteration = c->iteration,
        .nth = c->nth,
        .chance = c->chance.num < c->chance.den ? c->chance : (struct wf_fraction){0, 0},
        .how = how_of(c),
        .needs_streams = c->message || c->iteration,
    };
    out->needs_streams |= c->action >= WF_FAULT_NAK && c->action <= WF_FAULT_CNP;
    rc = ends_of(d, c, out, key, err);
    if (rc)
        return rc;
    *key = "opcode";
    rc = opcodes_of(&c->opcode, out, err);
    if (rc)
        return rc;
    *key = "psn";
    rc = c->psn ? psns_of(c->psn, out, err) : 0;
    if (rc)
        return rc;
    *key = "answer_psn";
    rc = c->answer_psn ? answer_psn_of(c->answer_psn, &out->how, err) : 0;
    if (rc)
        return rc;
    rc = timed(c, out, key, err);
    if (rc)
        return rc;
    *key = "delay";
    if (c->action == WF_FAULT_DELAY && !c->delay_ps)
        return wf_err_set(err, EINVAL, "'delay' is missing: a delay needs one");
    *key = "until";
    if (c->until_ps && c->until_ps <= c->after_ps)
        return wf_err_set(err, EINVAL, "it ends before it begins");
    *key = "psn";
    if (out->match > WF_FAULT_ROCE &&
        (out->by_opcode || out->psn.used || c->message || c->iteration || out->ordinal))
        return wf_err_set(err, EINVAL,
                          "opcodes, PSNs, messages and iterations are RoCE's: 'match' "
                          "does not go with them");
    return 0;
}

int wf_fabric_fault_parse(struct wf_fabric *f, const char *text, struct wf_fault *out,
                          struct wf_port **port, struct wf_err *err)
{
    struct wf_arena words = {0}; /* strings of the text */
    struct wf_fault_cfg cfg;
    const char *key;
    int rc = wf_fault_cfg_parse(&cfg, text, &words, err);

    if (!rc)
        rc = wf_desc_fault(f->desc, &cfg, out, &key, err);
    if (!rc) {
        *port = wf_fabric_port(f, cfg.where);
        out->coming_in = cfg.dir == WF_FAULT_IN;
        if (*port && out->coming_in)
            *port = (*port)->peer;
        else if (!*port)
            rc = wf_err_set(err, EINVAL, "there is no port '%.80s'; ports are named like leaf0:p3",
                            cfg.where);
    }
    wf_arena_free(&words);
    return rc;
}
