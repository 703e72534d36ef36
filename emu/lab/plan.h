/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hosts of a lab: which of them are guests, which guest holds which, their addresses, and the
 * script that sets up a guest's network. Plain data, filled from a scenario.
 */
#ifndef WEFT_LAB_PLAN_H
#define WEFT_LAB_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/key.h"
#include "lab/machine.h"

#define WF_LAB_HOSTS  64
#define WF_LAB_GUESTS 32

enum wf_lab_kind { WF_LAB_GUEST, WF_LAB_NETNS };

struct wf_lab_host {
    char name[64];
    enum wf_lab_kind kind;
    char guest[64];   /* guest that holds it; "": one of its own, of the host's name */
    char netns[64];   /* WF_LAB_NETNS: the network namespace */
    char iface[16];   /* WF_LAB_NETNS: our end of its veth pair, "": not ours to make */
    char socket[108]; /* WF_LAB_GUEST: its vhost-user port */
    uint8_t mac[6];
    uint32_t mtu;
    struct wf_ip_prefix ip4, ip6;           /* family 0: none */
    struct wf_ip_prefix gateway4, gateway6; /* family 0: none */
    uint32_t guest_index, nic;              /* filled by wf_lab_plan_guests */
};

struct wf_lab_guest {
    char name[64];
    uint32_t n_nics;
    uint32_t hosts[WF_GUEST_NICS]; /* of the plan, in order of their NICs */
};

struct wf_lab_plan {
    struct wf_lab_host hosts[WF_LAB_HOSTS];
    uint32_t n_hosts;
    struct wf_lab_guest guests[WF_LAB_GUESTS];
    uint32_t n_guests;
};

/* Group the guest hosts into guests. */
int wf_lab_plan_guests(struct wf_lab_plan *plan, struct wf_err *err);
/* Host by name, -1: none. */
int wf_lab_find_host(const struct wf_lab_plan *plan, const char *name);
/* The shell script that sets up the network of a guest; share NULL: no shared folder. -E2BIG when
 * it does not fit. */
int wf_lab_setup_script(const struct wf_lab_plan *plan, uint32_t guest, const char *share,
                        char *buf, size_t len, struct wf_err *err);
/* Interface that a command on this host is to be bound to, "": none, it is alone in its guest. */
const char *wf_lab_host_bind(const struct wf_lab_plan *plan, uint32_t host, char buf[16]);
/* What a command on a host finds in its environment: WEFT_HOST, WEFT_RDMA_DEV ...; as many strings
 * as fit into max, ended by NULL; they live in buf. */
int wf_lab_host_env(const struct wf_lab_plan *plan, uint32_t host, const char **env, uint32_t max,
                    char *buf, size_t len);

#endif
