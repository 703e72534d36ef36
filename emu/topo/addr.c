/* SPDX-License-Identifier: BSD-3-Clause */
#include "topo/addr.h"

#include <string.h>

#include "base/digest.h"

enum kind { MAC = 6, IP4 = 4, IP6 = 16 }; /* also the key's length */

static const uint8_t *key_of(const struct wf_host_addr *h, enum kind kind)
{
    return kind == MAC ? h->mac : kind == IP4 ? h->ip4 : h->ip6;
}

static void add(struct wf_addr_table *t, uint32_t host, enum kind kind)
{
    static const uint8_t none[16];
    const uint8_t *key = key_of(&t->hosts[host], kind);
    uint32_t i = (uint32_t)wf_hash_bytes(key, kind, kind);

    if (!memcmp(key, none, kind))
        return;
    while (t->slots[i & t->mask])
        i++;
    t->slots[i & t->mask] = host + 1;
}

static const struct wf_host_addr *find(const struct wf_addr_table *t, const uint8_t *key,
                                       enum kind kind)
{
    uint32_t i = (uint32_t)wf_hash_bytes(key, kind, kind);

    for (; t->slots[i & t->mask]; i++) {
        const struct wf_host_addr *h = &t->hosts[t->slots[i & t->mask] - 1];

        if (!memcmp(key_of(h, kind), key, kind))
            return h;
    }
    return NULL;
}

static void add_all(struct wf_addr_table *t)
{
    for (uint32_t i = 0; i < t->n_hosts; i++) {
        add(t, i, MAC);
        add(t, i, IP4);
        add(t, i, IP6);
    }
}

void wf_addr_build(struct wf_addr_table *t, struct wf_arena *arena)
{
    uint32_t size = 16;

    while (size < t->n_hosts * 6)
        size *= 2;
    t->mask = size - 1;
    t->slots = WF_ARENA_ARRAY(arena, uint32_t, size);
    add_all(t);
}

void wf_addr_set_mac(struct wf_addr_table *t, uint32_t host, const uint8_t mac[6])
{
    memcpy(t->hosts[host].mac, mac, 6);
    memset(t->slots, 0, sizeof(t->slots[0]) * (t->mask + 1));
    add_all(t);
}

const struct wf_host_addr *wf_addr_by_mac(const struct wf_addr_table *t, const uint8_t mac[6])
{
    return find(t, mac, MAC);
}

const struct wf_host_addr *wf_addr_by_ip4(const struct wf_addr_table *t, const uint8_t ip[4])
{
    return find(t, ip, IP4);
}

const struct wf_host_addr *wf_addr_by_ip6(const struct wf_addr_table *t, const uint8_t ip[16])
{
    return find(t, ip, IP6);
}
