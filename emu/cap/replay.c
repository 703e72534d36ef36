/* SPDX-License-Identifier: BSD-3-Clause */
/* Replay: from a plan and a description to a fabric that is ready to run. See replay.h. */
#include "cap/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cursor.h"

enum { FRAMES_ALIVE = 4096, FRAMES_PER_HOST = 8 };

/* ---- the first pass ---- */

static int is_readable_twice(const char *path, struct wf_err *err)
{
    struct stat st;

    if (strcmp(path, "-") == 0)
        return wf_err_set(err, EINVAL, "a capture is read twice, so not from standard input");
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return wf_err_at(err, EINVAL, path, 0, 0, "a capture is read twice, expected a file");
    return 0;
}

int wf_replay_read(struct wf_replay *r, const char *path, struct wf_err *err)
{
    struct wf_cap_reader *reader;
    int rc = is_readable_twice(path, err);

    r->conf.capture = path;
    if (rc == 0)
        rc = wf_cap_open(&reader, path, err);
    if (rc < 0)
        return rc;
    rc = wf_replay_plan_read(&r->plan, reader, &r->conf.plan, &r->read_err);
    wf_cap_close(reader);
    r->read_rc = rc;
    if (rc == -EBADMSG && r->plan.n_frames > 0)
        return 0;
    if (rc < 0 && err)
        *err = r->read_err;
    return rc;
}

/* ---- addresses ---- */

static bool link_local(const uint8_t ip[16])
{
    return ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80;
}

struct best {
    uint64_t mac, ip4, ip6; /* frames of the source whose address was taken */
};

/* Of a host's sources the busiest gives the address that forwarding knows it by. */
static void take_over(struct wf_host_cfg *c, const struct wf_replay_source *s, struct best *best)
{
    struct wf_ip_prefix *ip = s->family == 4 ? &c->ip : &c->ip6;
    uint64_t *n = s->family == 4 ? &best->ip4 : &best->ip6, frames = s->frames + s->to_frames;

    if (frames > best->mac) {
        memcpy(c->mac, s->mac, 6);
        best->mac = frames;
    }
    if (!s->family || (s->family == 6 && link_local(s->ip)) || frames <= *n)
        return;
    memcpy(ip->addr, s->ip, 16);
    ip->family = s->family;
    ip->len = s->family == 4 ? 32 : 128;
    *n = frames;
}

static int list_macs(struct wf_replay *r, struct wf_err *err)
{
    r->macs = calloc(r->plan.n_sources + 1, sizeof(*r->macs));
    if (!r->macs)
        return wf_err_set(err, ENOMEM, "no memory for %u sources", r->plan.n_sources);
    for (uint32_t i = 0; i < r->plan.n_sources; i++) {
        const struct wf_replay_source *s = &r->plan.sources[i];

        if (s->host != WF_REPLAY_NO_HOST)
            r->macs[r->n_macs++] = (struct wf_replay_mac){wf_ld48(s->mac), (uint32_t)s->host};
    }
    qsort(r->macs, r->n_macs, sizeof(*r->macs), wf_replay_mac_cmp);
    return 0;
}

/* Bridges find a host by its MAC: one that sends for two hosts is a router's. */
static int check_routers(const struct wf_replay *r, const struct wf_desc *d, struct wf_err *err)
{
    for (uint32_t i = 1; i < r->n_macs; i++) {
        const struct wf_replay_mac *a = &r->macs[i - 1], *b = &r->macs[i];
        uint8_t m[6];

        if (a->mac != b->mac || a->host == b->host)
            continue;
        wf_st48(m, a->mac);
        return wf_err_set(err, EINVAL,
                          "MAC %02x:%02x:%02x:%02x:%02x:%02x stands for %s and for %s, so it is a "
                          "router's: use --routed",
                          m[0], m[1], m[2], m[3], m[4], m[5], d->hosts[a->host].name,
                          d->hosts[b->host].name);
    }
    return 0;
}

/* A host that sends nothing keeps its addresses, unless one that sends has them now. */
static void evade(struct wf_desc *d, const struct best *best)
{
    for (uint32_t i = 0; i < d->n_hosts; i++) {
        struct wf_host_cfg *c = &d->hosts[i].cfg;

        for (uint32_t k = 0; k < d->n_hosts; k++) {
            const struct wf_host_cfg *o = &d->hosts[k].cfg;

            if (k == i || !best[k].mac)
                continue;
            if (!best[i].mac && memcmp(c->mac, o->mac, 6) == 0) {
                const uint8_t other[6] = {
                    2, 0x77, 0x72, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i};

                memcpy(c->mac, other, 6);
            }
            if (!best[i].ip4 && best[k].ip4 && memcmp(c->ip.addr, o->ip.addr, 16) == 0)
                c->ip.family = 0;
            if (!best[i].ip6 && best[k].ip6 && memcmp(c->ip6.addr, o->ip6.addr, 16) == 0)
                c->ip6.family = 0;
        }
    }
}

static void set_forwarding(struct wf_replay *r, struct wf_desc *d)
{
    int want = r->conf.routed ? WF_FORWARD_ROUTED : WF_FORWARD_L2;

    for (uint32_t i = 0; i < d->n_switches; i++) {
        if (d->switches[i].cfg.forwarding == want)
            continue;
        r->forwarding_was = want == WF_FORWARD_L2 ? "routed" : "l2";
        d->switches[i].cfg.forwarding = want;
    }
}

int wf_replay_mac_cmp(const void *a, const void *b)
{
    const struct wf_replay_mac *x = a, *y = b;

    if (x->mac != y->mac)
        return x->mac < y->mac ? -1 : 1;
    return (x->host > y->host) - (x->host < y->host);
}

/* The scenario's limit is one on how long things may go on after the last frame. */
static void set_times(const struct wf_replay *r, struct wf_desc *d)
{
    uint64_t span = wf_replay_scaled(r, r->plan.span_ps);

    d->duration_ps = WF_KEY_AUTO; /* until the last frame has arrived */
    if (__builtin_add_overflow(d->time_limit_ps, span, &d->time_limit_ps))
        d->time_limit_ps = WF_TIME_NEVER;
}

int wf_replay_prepare(struct wf_replay *r, struct wf_desc *d, struct wf_err *err)
{
    struct best *best;
    int rc = list_macs(r, err);

    if (rc == 0 && !r->conf.routed)
        rc = check_routers(r, d, err);
    if (rc < 0)
        return rc;
    best = calloc(d->n_hosts + 1, sizeof(*best));
    if (!best)
        return wf_err_set(err, ENOMEM, "no memory for %u hosts", d->n_hosts);
    for (uint32_t i = 0; i < r->plan.n_sources; i++) {
        const struct wf_replay_source *s = &r->plan.sources[i];

        if (s->host != WF_REPLAY_NO_HOST)
            take_over(&d->hosts[s->host].cfg, s, &best[s->host]);
    }
    evade(d, best);
    free(best);
    set_forwarding(r, d);
    r->flows_left_out = d->n_flows;
    d->n_flows = 0;
    set_times(r, d);
    return 0;
}

/* ---- the fabric ---- */

unsigned wf_replay_full_frames(const struct wf_desc *d)
{
    return FRAMES_ALIVE + d->n_hosts * FRAMES_PER_HOST;
}

struct wf_node *wf_replay_make_host(void *replay, struct wf_fabric *f, uint32_t host)
{
    struct wf_replay *r = replay;
    struct wf_replay_host *h = WF_ARENA_NEW(&f->arena, struct wf_replay_host);

    h->node.ops = &wf_replay_host_ops;
    h->replay = r;
    h->host = host;
    return &h->node;
}

uint64_t wf_replay_way_ps(struct wf_fabric *f, uint32_t from, uint32_t to, uint32_t frame_len,
                          bool to_last_switch)
{
    struct wf_port *way[WF_PATH_PORTS_MAX];
    uint64_t t = 0;
    int n;

    if (wf_fabric_host(f, from)->n_ports == 0 || wf_fabric_host(f, to)->n_ports == 0)
        return 0;
    n = wf_fabric_path(f, from, to, 0, way, WF_PATH_PORTS_MAX);

    if (n > WF_PATH_PORTS_MAX)
        n = WF_PATH_PORTS_MAX;
    if (to_last_switch)
        n--;
    for (int i = 0; i < n; i++) {
        const struct wf_node *next = way[i]->peer->node;
        bool through = next->cut_through && i + 1 < n;
        uint64_t bytes = through ? WF_CUT_THROUGH_BYTES : frame_len + WF_WIRE_PREAMBLE;

        t += wf_txclock_span(&way[i]->tx, bytes * 8) + way[i]->link->cfg.delay_ps;
        if (i + 1 < n)
            t += ((const struct wf_switch *)next)->cfg.latency_ps;
    }
    return t;
}

static int vantage_port(struct wf_replay *r, struct wf_err *err)
{
    struct wf_port *port = wf_fabric_port(r->fabric, r->conf.vantage_name);

    if (!port)
        return wf_err_set(err, EINVAL, "--vantage: there is no port '%s'", r->conf.vantage_name);
    if (port->peer->node->ops != &wf_replay_host_ops)
        return wf_err_set(err, EINVAL,
                          "--vantage: %s leads to no host, expected a switch's port "
                          "towards a host",
                          port->name);
    return (int)((struct wf_replay_host *)port->peer->node)->host;
}

/* The farthest that the point may be from a sender: how much later everything is injected. */
static int set_lead(struct wf_replay *r, struct wf_err *err)
{
    uint32_t n = r->fabric->desc->n_hosts, first = 0, last = n;
    int at = 0;

    if (r->conf.vantage == WF_REPLAY_AT_SENDER)
        return 0;
    if (r->conf.time == WF_REPLAY_FLAT_OUT)
        return wf_err_set(err, EINVAL,
                          "--vantage says what recorded times mean, and flat-out has "
                          "no use for them");
    if (r->conf.vantage == WF_REPLAY_AT_HOST)
        at = wf_desc_find_host(r->fabric->desc, r->conf.vantage_name);
    else if (r->conf.vantage == WF_REPLAY_AT_PORT)
        at = vantage_port(r, err);
    if (at < 0)
        return r->conf.vantage == WF_REPLAY_AT_PORT
                   ? at
                   : wf_err_set(err, EINVAL, "--vantage: the scenario has no host '%s'",
                                r->conf.vantage_name);
    if (r->conf.vantage != WF_REPLAY_IN_MIDDLE) {
        first = (uint32_t)at;
        last = first + 1;
    }
    for (uint32_t to = first; to < last; to++)
        for (uint32_t from = 0; from < n; from++)
            wf_max_u64(&r->lead_ps, wf_replay_way_ps(r->fabric, from, to, WF_FULL_ROOM, false));
    return at;
}

static int tap_all(struct wf_replay *r, struct wf_err *err)
{
    struct wf_fabric *f = r->fabric;
    uint32_t n = 0;

    for (uint32_t i = 0; i < f->n_nodes; i++)
        n += f->nodes[i]->n_ports;
    r->taps = calloc(n + 1, sizeof(*r->taps));
    if (!r->taps)
        return wf_err_set(err, ENOMEM, "no memory for %u ports", n);
    n = 0;
    for (uint32_t i = 0; i < f->n_nodes; i++)
        for (uint16_t p = 0; p < f->nodes[i]->n_ports; p++) {
            struct wf_replay_tap *t = &r->taps[n++];

            *t = (struct wf_replay_tap){{.fn = wf_replay_saw}, r};
            wf_port_tap(&f->nodes[i]->ports[p], &t->tap);
        }
    return 0;
}

int wf_replay_start(struct wf_replay *r, struct wf_fabric *f, struct wf_err *err)
{
    int rc;

    r->fabric = f;
    r->room = FRAMES_ALIVE / 2;
    rc = set_lead(r, err);
    if (rc >= 0)
        r->vantage_host = (uint32_t)rc;
    if (rc >= 0 && wf_paths_init(&r->paths) < 0)
        rc = wf_err_set(err, ENOMEM, "no memory for %d ways", WF_PATHS_MAX);
    if (rc >= 0)
        rc = tap_all(r, err);
    if (rc >= 0)
        rc = wf_cap_open(&r->reader, r->conf.capture, err);
    return rc < 0 ? rc : wf_replay_feed_first(r, err);
}

void wf_replay_free(struct wf_replay *r)
{
    wf_cap_close(r->reader);
    wf_paths_free(&r->paths);
    wf_replay_plan_free(&r->plan);
    free(r->taps);
    free(r->macs);
}
