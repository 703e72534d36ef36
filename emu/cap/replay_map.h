/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which host of the scenario sends a captured frame. In this order: as told for the IP or GID, as
 * told for the MAC, the scenario's host with that IP, the one with that MAC, and the host that all
 * other sources with this MAC belong to (a host's link-local and second addresses). Then, by
 * option: hosts that are still free in the order of first appearance (`auto`), one host for all
 * others, or nobody.
 */
#ifndef WEFT_CAP_REPLAY_MAP_H
#define WEFT_CAP_REPLAY_MAP_H

#include "cap/replay_plan.h"

/* A host of the scenario, as far as mapping goes. */
struct wf_replay_host_id {
    const char *name;
    uint8_t mac[6]; /* zero: none given */
    bool has4, has6;
    uint8_t ip4[16], ip6[16]; /* IPv4 as ::ffff:a.b.c.d */
};

/* --map ADDRESS=HOST */
struct wf_replay_told {
    uint8_t family; /* 0: a MAC, in the first six bytes */
    uint8_t addr[16];
    int host;
};

struct wf_replay_map_conf {
    const struct wf_replay_told *told;
    size_t n_told;
    bool automatic;
    int others; /* a host, or WF_REPLAY_NO_HOST: frames of unknown sources are not injected */
};

/* "MAC|IP=HOST" */
int wf_replay_told_parse(const char *text, const struct wf_replay_host_id *hosts, size_t n_hosts,
                         struct wf_replay_told *told, struct wf_err *err);
/* Gives every source its host. -ENOENT with a message that lists the sources when none has one;
 * -EINVAL when an address that was told is no source of this capture. */
int wf_replay_map(struct wf_replay_plan *plan, const struct wf_replay_host_id *hosts,
                  size_t n_hosts, const struct wf_replay_map_conf *conf, struct wf_err *err);
/* Index of a host by name; WF_REPLAY_NO_HOST and a suggestion when there is none. */
int wf_replay_host_named(const struct wf_replay_host_id *hosts, size_t n_hosts, const char *name,
                         struct wf_err *err);

#endif
