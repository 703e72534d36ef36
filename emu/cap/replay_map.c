/* SPDX-License-Identifier: BSD-3-Clause */
/* From the sources of a capture to the hosts of a scenario. See replay_map.h. */
#include "cap/replay_map.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/digest.h"
#include "base/units.h"

enum { NAMES_MAX = 256, LISTED_MAX = 8 };

int wf_replay_host_named(const struct wf_replay_host_id *hosts, size_t n_hosts, const char *name,
                         struct wf_err *err)
{
    const char *names[NAMES_MAX];
    size_t n = n_hosts < NAMES_MAX ? n_hosts : NAMES_MAX;

    for (size_t i = 0; i < n_hosts; i++)
        if (strcmp(hosts[i].name, name) == 0)
            return (int)i;
    for (size_t i = 0; i < n; i++)
        names[i] = hosts[i].name;
    wf_err_set(err, ENOENT, "the scenario has no host '%s'", name);
    wf_err_suggest(err, name, names, n);
    return WF_REPLAY_NO_HOST;
}

static int parse_address(const char *text, struct wf_replay_told *told, struct wf_err *err)
{
    uint8_t mac[6];

    memset(told, 0, sizeof(*told));
    if (wf_parse_mac(text, mac, NULL) == 0) {
        memcpy(told->addr, mac, 6);
        return 0;
    }
    if (inet_pton(AF_INET, text, told->addr + 12) == 1) {
        told->family = 4;
        told->addr[10] = told->addr[11] = 0xff;
        return 0;
    }
    if (inet_pton(AF_INET6, text, told->addr) == 1) {
        told->family = 6;
        return 0;
    }
    return wf_err_set(err, EINVAL, "'%s' is neither a MAC nor an IP address or GID", text);
}

int wf_replay_told_parse(const char *text, const struct wf_replay_host_id *hosts, size_t n_hosts,
                         struct wf_replay_told *told, struct wf_err *err)
{
    const char *eq = strchr(text, '=');
    char addr[64];
    int rc;

    if (!eq || eq == text || !eq[1] || (size_t)(eq - text) >= sizeof(addr))
        return wf_err_set(err, EINVAL, "--map '%s': expected MAC=HOST, IP=HOST or auto", text);
    memcpy(addr, text, (size_t)(eq - text));
    addr[eq - text] = '\0';
    rc = parse_address(addr, told, err);
    if (rc < 0)
        return rc;
    told->host = wf_replay_host_named(hosts, n_hosts, eq + 1, err);
    return told->host < 0 ? -ENOENT : 0;
}

static void give(struct wf_replay_source *s, int host, const char *how)
{
    s->host = host;
    s->how = how;
}

static bool same(const struct wf_replay_source *s, uint8_t family, const uint8_t *addr)
{
    if (family)
        return s->family == family && memcmp(s->ip, addr, 16) == 0;
    return memcmp(s->mac, addr, 6) == 0;
}

static int as_told(struct wf_replay_plan *plan, const struct wf_replay_told *t, struct wf_err *err)
{
    bool found = false;
    char text[64];

    for (uint32_t i = 0; i < plan->n_sources; i++) {
        struct wf_replay_source *s = &plan->sources[i];

        if (!same(s, t->family, t->addr))
            continue;
        found = true;
        if (t->family || s->host == WF_REPLAY_NO_HOST)
            give(s, t->host, t->family ? "told by IP" : "told by MAC");
    }
    if (found)
        return 0;
    struct wf_replay_source s = {.family = t->family};

    memcpy(t->family ? s.ip : s.mac, t->addr, t->family ? 16 : 6);
    return wf_err_set(err, EINVAL, "--map: no frame of the capture comes from %s or goes to it",
                      wf_replay_source_text(&s, text, sizeof(text)));
}

static void by_scenario(struct wf_replay_source *s, const struct wf_replay_host_id *hosts,
                        size_t n_hosts)
{
    static const uint8_t no_mac[6];

    for (size_t i = 0; i < n_hosts && s->host == WF_REPLAY_NO_HOST; i++)
        if ((s->family == 4 && hosts[i].has4 && same(s, 4, hosts[i].ip4)) ||
            (s->family == 6 && hosts[i].has6 && same(s, 6, hosts[i].ip6)))
            give(s, (int)i, "IP of the scenario");
    for (size_t i = 0; i < n_hosts && s->host == WF_REPLAY_NO_HOST; i++)
        if (memcmp(hosts[i].mac, no_mac, 6) != 0 && same(s, 0, hosts[i].mac))
            give(s, (int)i, "MAC of the scenario");
}

/* MAC -> the host that all mapped sources with it belong to. */
struct mac_row {
    uint64_t mac; /* plus 1: 0 is a free row */
    int host;     /* WF_REPLAY_NO_HOST when they differ */
};

static struct mac_row *mac_row(struct mac_row *rows, uint64_t mask, const uint8_t mac[6])
{
    uint64_t key = wf_ld48(mac) + 1, i = wf_mix(key, mask);

    while (rows[i & mask].mac && rows[i & mask].mac != key)
        i++;
    return &rows[i & mask];
}

static void inherit(struct wf_replay_plan *plan)
{
    uint64_t n = 2, mask;
    struct mac_row *rows;

    while (n < (uint64_t)plan->n_sources * 2)
        n *= 2;
    mask = n - 1;
    rows = calloc(n, sizeof(*rows));
    if (!rows)
        return;
    for (uint32_t i = 0; i < plan->n_sources; i++) {
        const struct wf_replay_source *s = &plan->sources[i];
        struct mac_row *row = mac_row(rows, mask, s->mac);

        if (s->host == WF_REPLAY_NO_HOST)
            continue;
        row->host = row->mac && row->host != s->host ? WF_REPLAY_NO_HOST : s->host;
        row->mac = wf_ld48(s->mac) + 1;
    }
    for (uint32_t i = 0; i < plan->n_sources; i++) {
        struct wf_replay_source *s = &plan->sources[i];
        const struct mac_row *row = mac_row(rows, mask, s->mac);

        if (s->host == WF_REPLAY_NO_HOST && row->mac && row->host != WF_REPLAY_NO_HOST)
            give(s, row->host, "same MAC");
    }
    free(rows);
}

static bool link_local(const struct wf_replay_source *s)
{
    return s->family == 6 && s->ip[0] == 0xfe && (s->ip[1] & 0xc0) == 0x80;
}

static bool taken(const struct wf_replay_plan *plan, int host)
{
    for (uint32_t i = 0; i < plan->n_sources; i++)
        if (plan->sources[i].host == host)
            return true;
    return false;
}

/* First those with an address of their own, so that two hosts behind one router stay two. */
static void automatic(struct wf_replay_plan *plan, size_t n_hosts, bool with_address)
{
    int host = 0;

    for (uint32_t i = 0; i < plan->n_sources; i++) {
        struct wf_replay_source *s = &plan->sources[i];

        if (s->host != WF_REPLAY_NO_HOST || (with_address && (!s->family || link_local(s))))
            continue;
        while (host < (int)n_hosts && taken(plan, host))
            host++;
        if (host == (int)n_hosts)
            return;
        give(s, host, "auto");
        /* the same address behind another MAC, or the same MAC: the same host */
        for (uint32_t k = i + 1; k < plan->n_sources; k++)
            if (plan->sources[k].host == WF_REPLAY_NO_HOST && s->family &&
                same(&plan->sources[k], s->family, s->ip))
                give(&plan->sources[k], host, "same address");
        if (!with_address)
            inherit(plan);
    }
}

static int none_mapped(const struct wf_replay_plan *plan, struct wf_err *err)
{
    char text[64];
    size_t used;

    wf_err_set(err, ENOENT, "no frame of the capture comes from a host of the scenario; sources:");
    for (uint32_t i = 0; i < plan->n_sources && i < LISTED_MAX; i++) {
        used = strlen(err ? err->msg : "");
        if (err)
            snprintf(err->msg + used, sizeof(err->msg) - used, " %s",
                     wf_replay_source_text(&plan->sources[i], text, sizeof(text)));
    }
    used = strlen(err ? err->msg : "");
    if (err)
        snprintf(err->msg + used, sizeof(err->msg) - used,
                 "%s; say --map ADDRESS=HOST or --map auto",
                 plan->n_sources > LISTED_MAX ? " ..." : "");
    return -ENOENT;
}

int wf_replay_map(struct wf_replay_plan *plan, const struct wf_replay_host_id *hosts,
                  size_t n_hosts, const struct wf_replay_map_conf *conf, struct wf_err *err)
{
    bool any = false;

    for (int family = 1; family >= 0; family--) /* IP before MAC, whatever the order told */
        for (size_t i = 0; i < conf->n_told; i++)
            if (!!conf->told[i].family == family) {
                int rc = as_told(plan, &conf->told[i], err);

                if (rc < 0)
                    return rc;
            }
    for (uint32_t i = 0; i < plan->n_sources; i++)
        if (plan->sources[i].host == WF_REPLAY_NO_HOST)
            by_scenario(&plan->sources[i], hosts, n_hosts);
    inherit(plan);
    if (conf->automatic) {
        automatic(plan, n_hosts, true);
        inherit(plan);
        automatic(plan, n_hosts, false);
    }
    for (uint32_t i = 0; i < plan->n_sources; i++) {
        struct wf_replay_source *s = &plan->sources[i];

        if (s->host == WF_REPLAY_NO_HOST && conf->others != WF_REPLAY_NO_HOST)
            give(s, conf->others, "others");
        any |= s->host != WF_REPLAY_NO_HOST && s->frames > 0;
    }
    return any || plan->n_sources == 0 ? 0 : none_mapped(plan, err);
}
