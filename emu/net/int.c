/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/int.h"

#include <string.h>

#include "base/assert.h"

enum { LOOK_MAX = 128 }; /* frames of a queue that are looked at */

static uint8_t *at(const struct wf_pkt *pkt)
{
    return pkt->data + pkt->p.payload_off;
}

/* Whole, not cut by a switch, and not damaged on the way: a fault may repair the ICRC. */
static bool there(const struct wf_pkt *pkt)
{
    const uint8_t *b = at(pkt);

    return pkt->flags & WF_PKT_INT && pkt->p.payload_off + WF_INT_LEN <= pkt->caplen &&
           !(pkt->flags & WF_PKT_TRIMMED) && b[0] == WF_INT_MAGIC && b[2] == WF_INT_HOPS &&
           (b[1] & ~WF_INT_ECHO) <= WF_INT_HOPS;
}

static void put(uint8_t *b, const struct wf_int_hop *h)
{
    wf_st32(b, h->rate_kbps);
    wf_st32(b + 4, h->ts_ns);
    wf_st32(b + 8, h->tx_bytes);
    wf_st32(b + 12, h->qlen_bytes);
}

void wf_int_add(struct wf_pkt *pkt, bool echo, const struct wf_int_hop *hops, uint32_t n)
{
    uint8_t *b = at(pkt);

    WF_ASSERT(n <= WF_INT_HOPS && pkt->p.payload_len >= WF_INT_LEN);
    memset(b, 0, WF_INT_LEN);
    b[0] = WF_INT_MAGIC;
    b[1] = (uint8_t)(n | (echo ? WF_INT_ECHO : 0));
    b[2] = WF_INT_HOPS;
    for (uint32_t i = 0; i < n; i++)
        put(b + 4 + i * WF_INT_HOP_LEN, &hops[i]);
    pkt->flags |= WF_PKT_INT;
    pkt->caplen = (uint16_t)(pkt->p.payload_off + WF_INT_LEN);
    wf_pkt_rehash(pkt);
}

uint32_t wf_int_get(const struct wf_pkt *pkt, struct wf_int_hop hops[WF_INT_HOPS])
{
    const uint8_t *b = at(pkt);
    uint32_t n;

    if (!there(pkt))
        return 0;
    n = b[1] & 0x7f;
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *r = b + 4 + i * WF_INT_HOP_LEN;

        hops[i] = (struct wf_int_hop){wf_ld32(r), wf_ld32(r + 4), wf_ld32(r + 8), wf_ld32(r + 12)};
    }
    return n;
}

/* Bytes that could be sent: without what is still within the switch's latency, unless that is
 * little of many. */
static uint32_t waiting(const struct wf_queue *q, uint64_t now)
{
    const struct wf_fifo_node *n = q->fifo.head;
    uint32_t bytes = 0;

    for (unsigned i = 0; n && i < LOOK_MAX; n = n->next, i++) {
        const struct wf_pkt *pkt = WF_CONTAINER_OF(n, struct wf_pkt, q);

        if (pkt->ready_ps > now)
            return bytes;
        bytes += pkt->frame_len;
    }
    return (uint32_t)q->ctr[WF_QUEUE_BYTES];
}

void wf_int_stamp(struct wf_port *port, struct wf_pkt *pkt)
{
    struct wf_int_hop h = {
        .rate_kbps = (uint32_t)(port->tx.rate_bps / 1000),
        .ts_ns = (uint32_t)(wf_now(port) / WF_PS_PER_NS),
        .tx_bytes = (uint32_t)(port->ctr[WF_PORT_TX_BYTES] + wf_uncounted_bytes(port->tx_new))};
    uint8_t *b = at(pkt);

    if (!there(pkt) || b[1] >= WF_INT_HOPS) /* full, or an echo */
        return;
    for (unsigned q = 0; q < WF_QUEUES; q++)
        h.qlen_bytes += waiting(&port->q[q], wf_now(port));
    put(b + 4 + b[1] * WF_INT_HOP_LEN, &h);
    b[1]++;
    pkt->hash = wf_mix(wf_mix(pkt->hash, (uint64_t)h.rate_kbps << 32 | h.ts_ns),
                       (uint64_t)h.tx_bytes << 32 | h.qlen_bytes);
}
