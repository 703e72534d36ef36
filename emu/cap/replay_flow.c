/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows and sources of a capture: keys, hash tables that grow, and their texts. A flow is what a
 * switch hashes (addresses, protocol, ports), and in RoCE the destination queue pair too.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "cap/replay_plan.h"
#include "wire/eth.h"

static void put4(uint8_t to[16], const uint8_t *ip4)
{
    memset(to, 0, 10);
    to[10] = to[11] = 0xff;
    memcpy(to + 12, ip4, 4);
}

void wf_flow_key_of(const uint8_t *frame, const struct wf_parsed *p, struct wf_flow_key *key)
{
    memset(key, 0, sizeof(*key));
    key->ethertype = p->ethertype;
    if (p->flags & WF_P_IP4) {
        key->family = 4;
        put4(key->src, frame + p->l3_off + 12);
        put4(key->dst, frame + p->l3_off + 16);
    } else if (p->flags & (WF_P_IP6 | WF_P_ROCEV1) && p->l3_off) {
        key->family = 6;
        memcpy(key->src, wf_parsed_src6(frame, p), 16);
        memcpy(key->dst, wf_parsed_dst6(frame, p), 16);
    } else {
        memcpy(key->dst, frame, 6);
        memcpy(key->src, frame + 6, 6);
    }
    key->proto = p->flags & WF_P_IP ? p->ip_proto : 0;
    if (p->flags & WF_P_PORTS) {
        key->sport = p->sport;
        key->dport = p->dport;
    }
    if (p->flags & WF_P_BTH) {
        key->roce = p->flags & WF_P_ROCEV1 ? 1 : 2;
        key->dqpn = p->dqpn;
    }
}

/* Make room for one more row, and keep the slots at most half full. 0; 1: slots are new and empty;
 * -1 without memory. */
static int grow(void **rows, size_t row, uint32_t n, uint32_t *cap, uint32_t **slots,
                uint32_t *mask)
{
    uint32_t new_cap = *cap ? *cap * 2 : 64;
    uint32_t *new_slots;
    void *p;

    if (n < *cap)
        return 0;
    new_slots = new_cap > 1u << 29 ? NULL : calloc((size_t)new_cap * 2, sizeof(*new_slots));
    p = new_slots ? realloc(*rows, new_cap * row) : NULL;
    if (!p) {
        free(new_slots);
        return -1;
    }
    free(*slots);
    *rows = p;
    *slots = new_slots;
    *cap = new_cap;
    *mask = new_cap * 2 - 1;
    return 1;
}

/* The slot that holds the row whose first `len` bytes are the key, or the free one it would take.
 */
static uint32_t *slot_of(uint32_t *slots, uint32_t mask, const void *rows, size_t row,
                         const void *key, size_t len)
{
    uint64_t i = wf_hash_bytes(key, len, 0);

    while (slots[i & mask] &&
           memcmp((const char *)rows + row * (slots[i & mask] - 1), key, len) != 0)
        i++;
    return &slots[i & mask];
}

/* The row's number, added with `row` zeroed bytes behind the key when new. */
static uint32_t intern(void **rows, size_t row, uint32_t *n, uint32_t *cap, uint32_t **slots,
                       uint32_t *mask, const void *key, size_t len)
{
    int rc = grow(rows, row, *n, cap, slots, mask);
    char *base = *rows;
    uint32_t *slot;

    if (rc < 0)
        return UINT32_MAX;
    if (rc > 0) /* all anew */
        for (uint32_t i = 0; i < *n; i++)
            *slot_of(*slots, *mask, base, row, base + row * i, len) = i + 1;
    slot = slot_of(*slots, *mask, base, row, key, len);
    if (!*slot) {
        memset(base + row * *n, 0, row);
        memcpy(base + row * *n, key, len);
        *slot = ++*n;
    }
    return *slot - 1;
}

uint32_t wf_replay_flow_of(struct wf_replay_plan *plan, const struct wf_flow_key *key)
{
    uint32_t before = plan->n_flows, i;
    void *rows = plan->flows;

    i = intern(&rows, sizeof(*plan->flows), &plan->n_flows, &plan->cap_flows, &plan->flow_slots,
               &plan->flow_mask, key, sizeof(*key));
    plan->flows = rows;
    if (plan->n_flows > before)
        plan->flows[i].acks_of = WF_REPLAY_NO_FLOW;
    return i;
}

uint32_t wf_replay_source_of(struct wf_replay_plan *plan, const struct wf_replay_source *s)
{
    uint32_t before = plan->n_sources, i;
    void *rows = plan->sources;

    i = intern(&rows, sizeof(*plan->sources), &plan->n_sources, &plan->cap_sources,
               &plan->source_slots, &plan->source_mask, s,
               offsetof(struct wf_replay_source, ip) + sizeof(s->ip));
    plan->sources = rows;
    if (plan->n_sources > before)
        plan->sources[i].host = WF_REPLAY_NO_HOST;
    return i;
}

static const char *address_text(const uint8_t addr[16], uint8_t family, char *buf, size_t len)
{
    if (family == 4)
        inet_ntop(AF_INET, addr + 12, buf, (socklen_t)len);
    else if (family == 6)
        inet_ntop(AF_INET6, addr, buf, (socklen_t)len);
    else
        snprintf(buf, len, "%02x:%02x:%02x:%02x:%02x:%02x", addr[0], addr[1], addr[2], addr[3],
                 addr[4], addr[5]);
    return buf;
}

static const char *kind_text(const struct wf_flow_key *key, char *buf, size_t len)
{
    static const struct {
        uint8_t proto;
        const char *name;
    } protos[] = {{1, "ICMP"}, {2, "IGMP"}, {6, "TCP"}, {17, "UDP"}, {58, "ICMPv6"}};

    if (key->ethertype == WF_ETHERTYPE_ARP)
        return "ARP";
    if (key->ethertype == WF_ETHERTYPE_LLDP)
        return "LLDP";
    for (size_t i = 0; i < sizeof(protos) / sizeof(protos[0]); i++)
        if (key->family && key->proto == protos[i].proto)
            return protos[i].name;
    if (key->family)
        snprintf(buf, len, "protocol %u", key->proto);
    else
        snprintf(buf, len, "EtherType %#06x", key->ethertype);
    return buf;
}

const char *wf_flow_text(const struct wf_flow_key *key, char *buf, size_t len)
{
    char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN], kind[24];
    /* an address with colons and a port need brackets */
    const char *l = key->family == 6 ? "[" : "", *r = key->family == 6 ? "]" : "";

    address_text(key->src, key->family, src, sizeof(src));
    address_text(key->dst, key->family, dst, sizeof(dst));
    if (key->roce == 2)
        snprintf(buf, len, "%s%s%s:%u > %s%s%s qp 0x%06x", l, src, r, key->sport, l, dst, r,
                 key->dqpn);
    else if (key->roce)
        snprintf(buf, len, "%s > %s qp 0x%06x (RoCEv1)", src, dst, key->dqpn);
    else if (key->sport || key->dport)
        snprintf(buf, len, "%s%s%s:%u > %s%s%s:%u %s", l, src, r, key->sport, l, dst, r, key->dport,
                 kind_text(key, kind, sizeof(kind)));
    else
        snprintf(buf, len, "%s > %s %s", src, dst, kind_text(key, kind, sizeof(kind)));
    return buf;
}

const char *wf_replay_source_text(const struct wf_replay_source *s, char *buf, size_t len)
{
    uint8_t addr[16] = {0};

    memcpy(addr, s->family ? s->ip : s->mac, s->family ? 16 : 6);
    return address_text(addr, s->family, buf, len);
}
