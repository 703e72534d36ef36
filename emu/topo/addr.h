/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the hosts of a scenario are: by MAC, IPv4 and IPv6 address to host, switch and port. Built
 * once; what a control plane would have spread. Open addressing, never more than half full.
 */
#ifndef WEFT_TOPO_ADDR_H
#define WEFT_TOPO_ADDR_H

#include <stdint.h>

#include "base/arena.h"

struct wf_host_addr {
    uint8_t mac[6];
    uint8_t ip4[4], ip6[16];           /* zero: none */
    uint8_t gateway4[4], gateway6[16]; /* zero: none */
    uint32_t sw;                       /* switch that it hangs on */
    uint16_t port;                     /* of that switch */
};

struct wf_addr_table {
    uint32_t n_hosts;
    struct wf_host_addr *hosts;
    uint32_t mask;
    uint32_t *slots; /* host + 1; each host stands there once for each address it has */
};

/* hosts is filled by the caller and stays alive. */
void wf_addr_build(struct wf_addr_table *t, struct wf_arena *arena);
/* A host turned out to have another MAC address: found by the new one only, from now on. */
void wf_addr_set_mac(struct wf_addr_table *t, uint32_t host, const uint8_t mac[6]);
/* Host or NULL. Keys in network order, as they stand in a frame. */
const struct wf_host_addr *wf_addr_by_mac(const struct wf_addr_table *t, const uint8_t mac[6]);
const struct wf_host_addr *wf_addr_by_ip4(const struct wf_addr_table *t, const uint8_t ip[4]);
const struct wf_host_addr *wf_addr_by_ip6(const struct wf_addr_table *t, const uint8_t ip[16]);

#endif
