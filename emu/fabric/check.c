/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What never gives, checked by walking the fabric: packets are conserved, queues and priority
 * groups hold what they say they hold, nobody stays paused for nothing.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "fabric/fabric.h"

struct walk {
    uint64_t queued, on_wire, held, dropped;
    uint64_t trimmed; /* and wait at the port that is looked at */
};

static int check_queue(struct wf_port *p, unsigned qi, struct walk *w, struct wf_err *err)
{
    const struct wf_queue *q = &p->q[qi];
    uint64_t bytes = 0, n = 0;

    for (const struct wf_fifo_node *at = q->fifo.head; at; at = at->next, n++) {
        bytes += WF_CONTAINER_OF(at, struct wf_pkt, q)->frame_len;
        w->trimmed += !!(WF_CONTAINER_OF(at, struct wf_pkt, q)->flags & WF_PKT_TRIM_HERE);
    }
    if (bytes != q->ctr[WF_QUEUE_BYTES] || n != q->fifo.count)
        return wf_err_set(err, EPROTO, "%s.q%u says %" PRIu64 " bytes, its packets have %" PRIu64,
                          p->name, qi, q->ctr[WF_QUEUE_BYTES], bytes);
    if (n != q->ctr[WF_QUEUE_ENQ_FRAMES] - q->ctr[WF_QUEUE_TX_FRAMES] && p->up &&
        !p->ctr[WF_PORT_LINK_DOWN_EVENTS] && !p->drops[WF_DROP_PFCWD_FLUSH])
        return wf_err_set(err, EPROTO, "%s.q%u: enqueued - sent is not what waits", p->name, qi);
    w->queued += n;
    return 0;
}

static int check_port(struct wf_port *p, struct walk *w, struct wf_err *err)
{
    uint64_t sent = p->ctr[WF_PORT_TX_FRAMES] + wf_uncounted_frames(p->tx_new) - p->tx_lost;
    uint64_t got = p->peer->ctr[WF_PORT_RX_FRAMES] + p->peer->rx_lost;
    const uint64_t *c = p->ctr;
    int rc = 0;

    w->trimmed = 0;
    for (unsigned qi = 0; qi < WF_QUEUES && !rc; qi++)
        rc = check_queue(p, qi, w, err);
    if (!rc && c[WF_PORT_TRIM_FRAMES] !=
                   c[WF_PORT_TRIM_TX_FRAMES] + c[WF_PORT_TRIM_DROP_FRAMES] + w->trimmed)
        rc = wf_err_set(err, EPROTO,
                        "%s trimmed %" PRIu64 " packets, but sent %" PRIu64 " of them, dropped "
                        "%" PRIu64 " and has %" PRIu64 " waiting",
                        p->name, c[WF_PORT_TRIM_FRAMES], c[WF_PORT_TRIM_TX_FRAMES],
                        c[WF_PORT_TRIM_DROP_FRAMES], w->trimmed);
    if (!rc && got > sent)
        rc = wf_err_set(err, EPROTO, "%s sent %" PRIu64 " frames, %s got %" PRIu64, p->name, sent,
                        p->peer->name, got);
    w->queued += p->control.count;
    w->held += p->faults ? p->faults->held : 0;
    w->dropped += p->ctr[WF_PORT_DROP_FRAMES];
    w->on_wire += sent - got;
    return rc;
}

/* What a group books is what its packets take: first reserved, the rest shared and headroom. */
static int check_group(const struct wf_switch *sw, uint16_t p, unsigned g, uint64_t sum,
                       struct wf_err *err)
{
    const struct wf_pg *pg = &sw->pg[p][g];
    const uint64_t *c = pg->ctr;
    uint64_t reserved = sum < pg->lim.reserved ? sum : pg->lim.reserved, xon = pg->lim.xon;
    const char *port = sw->node.ports[p].name;

    if (sum != c[WF_PG_BYTES])
        return wf_err_set(err, EPROTO, "%s.pg%u says %" PRIu64 " bytes, its packets have %" PRIu64,
                          port, g, c[WF_PG_BYTES], sum);
    if (reserved + c[WF_PG_SHARED_BYTES] + c[WF_PG_HEADROOM_BYTES] != sum)
        return wf_err_set(err, EPROTO,
                          "%s.pg%u holds %" PRIu64 " bytes, but has %" PRIu64 " reserved, %" PRIu64
                          " shared and %" PRIu64 " of headroom",
                          port, g, sum, reserved, c[WF_PG_SHARED_BYTES], c[WF_PG_HEADROOM_BYTES]);
    if (c[WF_PG_HEADROOM_BYTES] > (pg->lossless ? pg->lim.headroom : 0))
        return wf_err_set(err, EPROTO, "%s.pg%u uses %" PRIu64 " of %" PRIu64 " bytes of headroom",
                          port, g, c[WF_PG_HEADROOM_BYTES], pg->lim.headroom);
    if (!pg->dynamic && pg->lim.xon_offset < pg->lim.reserved + pg->lim.limit)
        wf_max_u64(&xon, pg->lim.reserved + pg->lim.limit - pg->lim.xon_offset);
    if (pg->xoff && sum <= xon && !c[WF_PG_HEADROOM_BYTES])
        return wf_err_set(err, EPROTO,
                          "%s.pg%u keeps its peer paused at %" PRIu64 " bytes, XON is at %" PRIu64,
                          port, g, sum, xon);
    if (c[WF_PG_HEADROOM_BYTES] && !pg->xoff && !sw->watchdog) /* which may end a pause */
        return wf_err_set(err, EPROTO, "%s.pg%u uses headroom and does not pause its peer", port,
                          g);
    return 0;
}

/* Pools are the sums of their groups and queues. */
static int check_pools(const struct wf_switch *sw, struct wf_err *err)
{
    uint64_t sum[3][WF_POOLS] = {{0}};

    for (uint16_t p = 0; p < sw->node.n_ports; p++)
        for (unsigned i = 0; i < WF_PGS; i++) {
            const struct wf_pg *pg = &sw->pg[p][i];

            sum[0][pg->pool] += pg->ctr[WF_PG_SHARED_BYTES];
            sum[1][pg->pool] += pg->ctr[WF_PG_HEADROOM_BYTES];
            if (sw->egress)
                sum[2][sw->egress[p][i].pool] += sw->egress[p][i].ctr[WF_EGRESS_SHARED_BYTES];
        }
    for (unsigned i = 0; i < WF_POOLS; i++) {
        const struct wf_pool *in = &sw->ipool[i], *out = &sw->epool[i];

        if (sum[0][i] != in->ctr[WF_POOL_BYTES] || sum[1][i] != in->ctr[WF_POOL_HEADROOM_BYTES] ||
            sum[2][i] != out->ctr[WF_POOL_BYTES])
            return wf_err_set(
                err, EPROTO,
                "%s: pools %u say %" PRIu64 ", %" PRIu64 " and %" PRIu64
                " bytes, their groups and queues %" PRIu64 ", %" PRIu64 " and %" PRIu64,
                sw->node.name, i, in->ctr[WF_POOL_BYTES], in->ctr[WF_POOL_HEADROOM_BYTES],
                out->ctr[WF_POOL_BYTES], sum[0][i], sum[1][i], sum[2][i]);
        if (in->headroom && in->ctr[WF_POOL_HEADROOM_BYTES] > in->headroom)
            return wf_err_set(err, EPROTO, "%s.ipool%u uses more headroom than it has",
                              sw->node.name, i);
    }
    return 0;
}

/* A queue that accounts for itself holds what its packets take. */
static int check_egress(const struct wf_switch *sw, uint16_t p, unsigned q, uint64_t sum,
                        struct wf_err *err)
{
    const struct wf_egress *e = &sw->egress[p][q];
    uint64_t reserved = sum < e->reserved ? sum : e->reserved;

    if (e->bytes == sum && reserved + e->ctr[WF_EGRESS_SHARED_BYTES] == sum)
        return 0;
    return wf_err_set(err, EPROTO,
                      "%s.q%u books %" PRIu64 " bytes, %" PRIu64
                      " of them shared, its packets take %" PRIu64,
                      sw->node.ports[p].name, q, e->bytes, e->ctr[WF_EGRESS_SHARED_BYTES], sum);
}

/* What the packets in the egress queues take, summed up by (ingress port, PG) and by queue. */
static int check_groups(struct wf_fabric *f, struct wf_switch *sw, struct wf_err *err)
{
    struct wf_node *n = &sw->node;
    struct wf_arena tmp = {0};
    uint64_t(*sum)[WF_PGS] = wf_arena_alloc(&tmp, sizeof(*sum) * n->n_ports);
    uint64_t all = 0;
    int rc = 0;

    for (uint16_t p = 0; p < n->n_ports && !rc; p++)
        for (unsigned q = 0; q < WF_QUEUES && !rc; q++) {
            uint64_t takes = 0;

            for (const struct wf_fifo_node *at = n->ports[p].q[q].fifo.head; at; at = at->next) {
                const struct wf_pkt *pkt = WF_CONTAINER_OF(at, struct wf_pkt, q);

                if (!(pkt->flags & WF_PKT_ACCOUNTED))
                    continue;
                sum[pkt->port->index][pkt->pg] += pkt->charge;
                takes += pkt->charge;
            }
            all += takes;
            if (sw->egress)
                rc = check_egress(sw, p, q, takes, err);
        }
    for (uint16_t p = 0; p < n->n_ports && !rc; p++)
        for (unsigned g = 0; g < WF_PGS && !rc; g++)
            rc = check_group(sw, p, g, sum[p][g], err);
    if (!rc)
        rc = check_pools(sw, err);
    if (!rc && all != sw->used_bytes)
        rc = wf_err_set(err, EPROTO, "%s says %" PRIu64 " bytes used, its packets have %" PRIu64,
                        n->name, sw->used_bytes, all);
    wf_arena_free(&tmp);
    return rc;
}

/* The peer is kept paused in those priorities that some group wants stopped, and in no other. */
static int check_pauses(struct wf_switch *sw, const struct wf_port *p, struct wf_err *err)
{
    unsigned wanted = 0, kept = wf_pfc_of(p)->xoff_sent;

    for (unsigned g = 0; g < WF_PGS; g++)
        if (sw->pg[p->index][g].xoff)
            wanted |= 1u << sw->pg[p->index][g].prio;
    if (p->up && wanted != kept)
        return wf_err_set(err, EPROTO,
                          "%s keeps priorities 0x%02x of its peer paused, its groups want 0x%02x",
                          p->name, kept, wanted);
    return 0;
}

int wf_fabric_check(struct wf_fabric *f, struct wf_err *err)
{
    struct walk w = {0};
    uint64_t in_flight = wf_fabric_in_flight(f);

    for (uint32_t i = 0; i < f->n_nodes; i++) {
        struct wf_node *n = f->nodes[i];
        int rc = i < f->graph.n ? check_groups(f, (struct wf_switch *)n, err) : 0;

        for (uint16_t p = 0; p < n->n_ports && !rc; p++) {
            rc = check_port(&n->ports[p], &w, err);
            if (!rc && i < f->graph.n)
                rc = check_pauses((struct wf_switch *)n, &n->ports[p], err);
        }
        if (rc)
            return rc;
        if (n->ops->held)
            w.held += n->ops->held(n);
    }
    if (wf_fabric_ctr(f, WF_FABRIC_DROPPED) != w.dropped)
        return wf_err_set(err, EPROTO,
                          "%" PRIu64 " packets were dropped, but the ports count %" PRIu64,
                          wf_fabric_ctr(f, WF_FABRIC_DROPPED), w.dropped);
    if (in_flight != w.queued + w.on_wire + w.held)
        return wf_err_set(err, EPROTO,
                          "%" PRIu64 " packets are in flight, but %" PRIu64 " wait, %" PRIu64
                          " are on a wire and %" PRIu64 " in a node",
                          in_flight, w.queued, w.on_wire, w.held);
    if (wf_fabric_out_of_buffers(f))
        return wf_err_set(err, ENOBUFS, "emulator_out_of_buffers: a packet pool ran empty");
    return 0;
}
