/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/packet.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/digest.h"
#include "base/tsan.h"
#include "net/port.h"
#include "wire/bth.h"
#include "wire/eth.h"
#include "wire/icrc.h"
#include "wire/vxlan.h"

enum { PRIV = sizeof(struct wf_pkt) };

static struct rte_mempool *pool(const char *name, const char *kind, unsigned n, unsigned room)
{
    char full[RTE_MEMPOOL_NAMESIZE];

    snprintf(full, sizeof(full), "%.16s_%s", name, kind);
    return rte_pktmbuf_pool_create(full, n, 0, PRIV, room, SOCKET_ID_ANY);
}

int wf_net_pools(struct wf_net *net, const char *name, unsigned n_hdr, unsigned n_full)
{
    net->hdr_room = net->hdr_room ? net->hdr_room : WF_HDR_ROOM;
    net->hdr_pool = pool(name, "hdr", n_hdr, net->hdr_room);
    net->full_pool = pool(name, "full", n_full, WF_FULL_ROOM);
    if (net->hdr_pool && net->full_pool)
        return 0;
    wf_net_pools_free(net);
    return -ENOMEM;
}

void wf_net_pools_free(struct wf_net *net)
{
    rte_mempool_free(net->hdr_pool);
    rte_mempool_free(net->full_pool);
    net->hdr_pool = net->full_pool = NULL;
}

uint64_t wf_net_pools_bytes(unsigned n_hdr, unsigned n_full)
{
    uint64_t each = sizeof(struct rte_mbuf) + PRIV + 64 + 64; /* mempool header, padding */

    return (each + WF_HDR_ROOM) * n_hdr + (each + WF_FULL_ROOM) * n_full + (2u << 20);
}

/* A lot of spare packets from the pool; false: it is empty. */
static __attribute__((noinline)) bool fetch_spare(struct wf_net *net)
{
    void *lot[WF_PKT_BULK];
    unsigned n = WF_PKT_BULK;

    if (rte_mempool_get_bulk(net->hdr_pool, lot, n)) { /* what is left, one by one */
        for (n = 0; n < WF_PKT_BULK && !rte_mempool_get(net->hdr_pool, &lot[n]); n++)
            ;
        if (!n)
            return false;
    }
    WF_HANDED_IN(net->hdr_pool);
    while (n)
        net->spare[net->n_spare++] = wf_pkt_of(lot[--n]);
    return true;
}

/* The coldest of them go back. */
static __attribute__((noinline)) void return_spare(struct wf_net *net)
{
    void *lot[WF_PKT_BULK];

    for (unsigned i = 0; i < WF_PKT_BULK; i++)
        lot[i] = wf_pkt_mbuf(net->spare[i]);
    WF_HANDED_OUT(net->hdr_pool);
    rte_mempool_put_bulk(net->hdr_pool, lot, WF_PKT_BULK);
    net->n_spare -= WF_PKT_BULK;
    memmove(net->spare, net->spare + WF_PKT_BULK, net->n_spare * sizeof(net->spare[0]));
}

static struct wf_pkt *spare_pkt(struct wf_net *net)
{
    if (!net->n_spare && !fetch_spare(net))
        return NULL;
    return net->spare[--net->n_spare];
}

static __attribute__((noinline)) struct wf_pkt *full_pkt(struct wf_net *net, uint32_t room)
{
    struct rte_mbuf *m = room <= WF_FULL_ROOM ? rte_pktmbuf_alloc(net->full_pool) : NULL;

    if (!m)
        return NULL;
    WF_HANDED_IN(net->full_pool);
    return wf_pkt_of(m);
}

/* Nothing of what it was before is left in it, but for its parse: that is whoever's who fills it.
 */
static void clear(struct wf_pkt *pkt, uint64_t now_ps)
{
    enum { BYTES = offsetof(struct wf_pkt, p) + sizeof(pkt->p.flags), STEP = 8 };

    /* in stores written out: a string instruction takes longer to begin than these to end */
#pragma GCC unroll 16
    for (unsigned i = 0; i < BYTES; i += STEP)
        memset((uint8_t *)pkt + i, 0, STEP);
    pkt->born_ps = now_ps;
}

struct wf_pkt *wf_pkt_new(struct wf_net *net, uint32_t room)
{
    bool full = room > WF_HDR_ROOM;
    struct wf_pkt *pkt = full ? full_pkt(net, room) : spare_pkt(net);

    if (!pkt) {
        net->out_of_buffers |= room <= WF_FULL_ROOM;
        return NULL;
    }
    clear(pkt, net->lc->now_ps);
    pkt->data = (uint8_t *)(pkt + 1);
    pkt->caplen = (uint16_t)room;
    pkt->full = full;
    return pkt;
}

static __attribute__((noinline)) void free_full(struct wf_net *net, struct wf_pkt *pkt)
{
    WF_HANDED_OUT(net->full_pool);
    rte_pktmbuf_free(wf_pkt_mbuf(pkt));
}

void wf_pkt_free(struct wf_net *net, struct wf_pkt *pkt)
{
    if (pkt->full) {
        free_full(net, pkt);
        return;
    }
    if (net->n_spare == WF_PKT_SPARE)
        return_spare(net);
    net->spare[net->n_spare++] = pkt;
}

unsigned wf_net_spare(const struct wf_net *net)
{
    return net->n_spare + rte_mempool_avail_count(net->hdr_pool);
}

struct wf_pkt *wf_pkt_adopt(struct wf_net *net, struct rte_mbuf *m)
{
    struct wf_pkt *pkt = wf_pkt_of(m);

    WF_ASSERT(m->pool == net->full_pool && RTE_MBUF_DIRECT(m) && rte_mbuf_refcnt_read(m) == 1);
    clear(pkt, net->lc->now_ps);
    pkt->data = rte_pktmbuf_mtod(m, uint8_t *);
    pkt->caplen = rte_pktmbuf_data_len(m);
    pkt->full = true;
    return pkt;
}

struct rte_mbuf *wf_pkt_to_mbuf(struct wf_pkt *pkt)
{
    struct rte_mbuf *m = wf_pkt_mbuf(pkt);

    m->data_off = (uint16_t)(pkt->data - (uint8_t *)m->buf_addr);
    m->data_len = pkt->caplen;
    m->pkt_len = pkt->caplen;
    m->ol_flags = 0;
    return m;
}

void wf_pkt_like(struct wf_pkt *to, const struct wf_pkt *from)
{
    struct wf_pkt was = *to;

    *to = *from;
    to->ev = was.ev;
    to->q = was.q;
    to->data = was.data;
    to->caplen = was.caplen;
    to->full = was.full;
}

uint32_t wf_flow_hash(const uint8_t *b, const struct wf_parsed *p)
{
    uint64_t ports = p->flags & WF_P_PORTS ? (uint64_t)p->sport << 16 | p->dport : 0;
    uint64_t h;

    if (p->flags & WF_P_IP4)
        h = wf_hash_bytes(b + p->l3_off + 12, 8, ports << 8 | p->ip_proto);
    else if (p->flags & WF_P_IP6)
        h = wf_hash_bytes(b + p->l3_off + 8, 32, ports << 8 | p->ip_proto);
    else
        h = wf_hash_bytes(b, 12, p->ethertype);
    return (uint32_t)(h >> 32);
}

void wf_pkt_rehash(struct wf_pkt *pkt)
{
    uint32_t caplen = wf_pkt_caplen(pkt);

    pkt->hash = wf_hash_bytes(wf_pkt_bytes(pkt), caplen < WF_HDR_ROOM ? caplen : WF_HDR_ROOM,
                              pkt->frame_len);
}

enum wf_reason wf_pkt_parse(struct wf_pkt *pkt)
{
    const uint8_t *b = wf_pkt_bytes(pkt);
    uint32_t caplen = wf_pkt_caplen(pkt);
    enum wf_reason why = wf_parse(b, caplen, pkt->frame_len - WF_FCS_LEN, &pkt->p);

    wf_pkt_rehash(pkt);
    if (!why)
        pkt->flow_hash = wf_flow_hash(b, &pkt->p);
    return why;
}

void wf_pkt_answer(struct wf_net *net, struct wf_pkt *pkt, uint32_t caplen)
{
    struct wf_pkt was = *pkt;

    WF_ASSERT(!wf_event_pending(&pkt->ev) && (caplen <= WF_HDR_ROOM || caplen == was.caplen));
    net->ctr[WF_FABRIC_CONSUMED]++;
    net->ctr[WF_FABRIC_GENERATED]++;
    clear(pkt, net->lc->now_ps);
    pkt->data = was.data;
    pkt->caplen = (uint16_t)caplen;
    pkt->full = was.full;
}

struct wf_pkt *wf_pkt_replicate(struct wf_net *net, const struct wf_pkt *pkt)
{
    struct wf_pkt *copy = wf_pkt_new(net, wf_pkt_caplen(pkt));

    if (!copy)
        return NULL;
    wf_pkt_like(copy, pkt);
    copy->flags &= (uint16_t)~WF_PKT_ACCOUNTED;
    memcpy(copy->data, pkt->data, pkt->caplen);
    net->ctr[WF_FABRIC_REPLICATED]++;
    return copy;
}

uint32_t wf_pkt_real_bytes(const struct wf_pkt *pkt, uint8_t *to, uint32_t cap)
{
    uint32_t len = pkt->frame_len - WF_FCS_LEN, have = wf_pkt_caplen(pkt), icrc, off = 0;
    const struct wf_parsed *p = &pkt->p;
    struct wf_parsed inner;
    uint8_t tail[WF_ICRC_LEN];

    memcpy(to, wf_pkt_bytes(pkt), have < cap ? have : cap);
    if (have >= len || have >= cap)
        return len;
    memset(to + have, 0, (len < cap ? len : cap) - have);
    if (pkt->flags & WF_PKT_TUNNEL) {
        off = p->l3_off + WF_VXLAN_OUTER - WF_ETH_LEN;
        if (wf_parse(wf_pkt_bytes(pkt) + off, have - off, len - off, &inner))
            return len;
        p = &inner;
    }
    if (pkt->payload == WF_PAYLOAD_REAL || !(p->flags & WF_P_BTH) || !p->icrc_off)
        return len;
    icrc = wf_icrc_of(wf_pkt_bytes(pkt) + off, have - off, p);
    if (pkt->flags & WF_PKT_BAD_ICRC)
        icrc ^= 1;
    wf_icrc_store(tail, icrc);
    for (uint32_t i = 0; i < WF_ICRC_LEN && off + p->icrc_off + i < cap; i++)
        to[off + p->icrc_off + i] = tail[i];
    return len;
}

void wf_pkt_injected(struct wf_net *net, struct wf_pkt *pkt)
{
    net->ctr[WF_FABRIC_INJECTED]++;
}

void wf_pkt_generated(struct wf_net *net, struct wf_pkt *pkt)
{
    net->ctr[WF_FABRIC_GENERATED]++;
}

static void end(struct wf_net *net, struct wf_pkt *pkt, enum wf_ctr_FABRIC how)
{
    WF_ASSERT(!wf_event_pending(&pkt->ev));
    net->ctr[how]++;
    wf_pkt_free(net, pkt);
}

void wf_pkt_deliver(struct wf_net *net, struct wf_pkt *pkt)
{
    end(net, pkt, WF_FABRIC_DELIVERED);
}

struct rte_mbuf *wf_pkt_deliver_out(struct wf_net *net, struct wf_pkt *pkt)
{
    WF_ASSERT(!wf_event_pending(&pkt->ev));
    net->ctr[WF_FABRIC_DELIVERED]++;
    return wf_pkt_to_mbuf(pkt);
}

void wf_pkt_consume(struct wf_net *net, struct wf_pkt *pkt)
{
    end(net, pkt, WF_FABRIC_CONSUMED);
}

void wf_pkt_absorb(struct wf_net *net, struct wf_pkt *pkt)
{
    end(net, pkt, WF_FABRIC_ABSORBED);
}

void wf_pkt_drop(struct wf_port *port, struct wf_pkt *pkt, enum wf_reason why)
{
    struct wf_node *node = port->node;

    port->drops[why]++;
    port->ctr[WF_PORT_DROP_FRAMES]++;
    port->ctr[WF_PORT_DROP_BYTES] += pkt->frame_len;
    wf_digest_add(&port->digest, node->net->lc->now_ps ^ wf_reason_code(why), pkt->hash);
    for (struct wf_tap *t = port->first_tap; t; t = t->next)
        t->fn(t, port, pkt, WF_TAP_DROP, why);
    if (node->ops->dropped)
        node->ops->dropped(node, port, pkt, why);
    end(node->net, pkt, WF_FABRIC_DROPPED);
}

uint64_t wf_net_in_flight(const struct wf_net *net)
{
    const uint64_t *c = net->ctr;

    return c[WF_FABRIC_INJECTED] + c[WF_FABRIC_GENERATED] + c[WF_FABRIC_REPLICATED] -
           c[WF_FABRIC_DELIVERED] - c[WF_FABRIC_CONSUMED] - c[WF_FABRIC_DROPPED] -
           c[WF_FABRIC_ABSORBED];
}
