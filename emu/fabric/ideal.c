/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/ideal.h"

#include "host/host.h"
#include "host/profile.h"
#include "wire/roce.h"
#include "xport/qp.h"

enum { HOPS_MAX = 32, ETH_LEN = 14, RETH = 16, AETH = 4, ATOMIC_AETH = 12, IMM = 4 };

struct hop {
    uint64_t rate_bps, delay_ps;
    uint64_t latency_ps; /* of the node behind the link; a host has none */
    bool cut_through;    /* that node */
};

/* Lengths of a flow's frames as they are on the wire: preamble, frame, gap. */
struct frames {
    uint64_t first, last, ack, all; /* all: of the whole flow */
    uint64_t request;               /* of a READ, whose data comes back; else 0 */
};

static uint64_t span(uint64_t rate_bps, uint64_t wire_bytes)
{
    struct wf_txclock c = {.rate_bps = rate_bps};

    return wf_txclock_span(&c, wire_bytes * 8);
}

static uint64_t wire_len(uint32_t hdr, uint32_t payload)
{
    uint64_t frame = wf_roce_frame_len(hdr, payload) + WF_FCS_LEN;

    return (frame < WF_FRAME_MIN ? WF_FRAME_MIN : frame) + WF_WIRE_OVERHEAD;
}

/* Of all packets: without extended headers. */
static uint32_t hdr_len(const struct wf_desc *d, const struct wf_desc_flow *w)
{
    bool v4 = d->hosts[w->from].cfg.ip.family == 4 && d->hosts[w->to].cfg.ip.family == 4;

    return ETH_LEN + (v4 ? 20 : 40) + 8 + WF_BTH_LEN;
}

static bool selective(const struct wf_desc *d, const struct wf_desc_flow *w)
{
    return wf_flow_retransmit(&w->cfg, &d->hosts[w->from].cfg.nic, &d->hosts[w->to].cfg.nic) ==
           WF_SELECTIVE;
}

/* Extended headers of a message's packets: the first, those between, the last, an only one. */
static void ext_lens(const struct wf_desc *d, const struct wf_desc_flow *w, uint32_t ext[4])
{
    const struct wf_work_form *form = &wf_work_forms[w->cfg.op];
    const uint8_t read[] = {WF_OP_READ_RESPONSE_FIRST, WF_OP_READ_RESPONSE_MIDDLE,
                            WF_OP_READ_RESPONSE_LAST, WF_OP_READ_RESPONSE_ONLY};
    const uint8_t there[] = {form->first, form->middle, form->last, form->only};

    for (unsigned i = 0; i < 4; i++)
        ext[i] = wf_opcodes[w->cfg.op == WF_WORK_READ ? read[i] : there[i]].ext_len;
    if (w->cfg.op < WF_WORK_READ && selective(d, w)) { /* xport/sel.h: each has a RETH */
        ext[0] = ext[1] = ext[2] = ext[3] = RETH;
        if (w->cfg.op != WF_WORK_WRITE)
            ext[2] = ext[3] = RETH + IMM;
    }
}

static void measure(const struct wf_desc *d, const struct wf_desc_flow *w, struct frames *out)
{
    bool atomic = w->cfg.op > WF_WORK_READ;
    uint32_t hdr = hdr_len(d, w), mtu = w->cfg.path_mtu, ext[4];
    uint64_t size = atomic ? 0 : w->cfg.size_bytes, n = size ? (size + mtu - 1) / mtu : 1;
    uint32_t tail = (uint32_t)(size - (n - 1) * mtu);
    uint64_t message;

    ext_lens(d, w, ext);
    out->first = wire_len(hdr + ext[n > 1 ? 0 : 3], n > 1 ? mtu : tail);
    out->last = n > 1 ? wire_len(hdr + ext[2], tail) : out->first;
    message = n > 1 ? out->first + (n - 2) * wire_len(hdr + ext[1], mtu) + out->last : out->first;
    out->all = message * w->cfg.count;
    out->ack = wire_len(hdr + (atomic ? ATOMIC_AETH : AETH), 0);
    out->request = w->cfg.op == WF_WORK_READ ? wire_len(hdr + RETH, 0) : 0;
}

/* When a frame whose first bit leaves at t by hop i begins at hop to; to == n: its last bit has
 * come to the end of the last link. Like enqueue() in switch/pipeline.c. */
static uint64_t walk(const struct hop *h, unsigned n, unsigned i, unsigned to, uint64_t wire,
                     uint64_t t)
{
    uint64_t bits = wire - WF_WIRE_OVERHEAD + WF_WIRE_PREAMBLE;

    for (; i < to; i++) {
        uint64_t in = t + h[i].delay_ps, last = in + span(h[i].rate_bps, bits);

        if (i + 1 == n)
            return last;
        t = last + h[i].latency_ps;
        if (h[i].cut_through && bits > WF_CUT_THROUGH_BYTES) {
            uint64_t out = span(h[i + 1].rate_bps, bits), fed = t;

            t = in + span(h[i].rate_bps, WF_CUT_THROUGH_BYTES) + h[i].latency_ps;
            if (fed > out && fed - out > t)
                t = fed - out;
        }
    }
    return t;
}

/* The latest that any one link lets the last bit arrive. */
static uint64_t way_out(const struct hop *h, unsigned n, const struct frames *x, uint64_t pace_bps)
{
    uint64_t most = 0;

    for (unsigned j = 0; j < n; j++) {
        uint64_t t = walk(h, n, 0, j, x->first, 0);

        t = walk(h, n, j, n, x->last, t + span(h[j].rate_bps, x->all - x->last));
        wf_max_u64(&most, t);
    }
    if (pace_bps)
        wf_max_u64(&most, walk(h, n, 0, n, x->last, span(pace_bps, x->all - x->last)));
    return most;
}

static void hops(struct wf_port *const *path, unsigned n, struct hop *out)
{
    for (unsigned i = 0; i < n; i++) {
        const struct wf_node *next = path[i]->peer->node;

        out[i] = (struct hop){.rate_bps = path[i]->tx.rate_bps,
                              .delay_ps = path[i]->link->cfg.delay_ps,
                              .cut_through = next->cut_through};
        if (next->ops == &wf_switch_ops)
            out[i].latency_ps = ((const struct wf_switch *)next)->cfg.latency_ps;
    }
}

/* The same links from the other end. */
static void reverse(struct wf_port **path, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        path[i] = path[i]->peer;
    for (unsigned i = 0; i < n / 2; i++) {
        struct wf_port *t = path[i];

        path[i] = path[n - 1 - i];
        path[n - 1 - i] = t;
    }
}

/* Of these frames and of the ACK for the last one, or of the request for them; 0 when there is no
 * way. */
static uint64_t there_and_back(struct wf_fabric *f, uint32_t flow, const struct frames *x,
                               uint64_t pace_bps)
{
    const struct wf_desc_flow *w = &f->desc->flows[flow];
    struct wf_port *path[HOPS_MAX];
    struct hop h[HOPS_MAX];
    uint32_t hash;
    uint64_t t;
    int n;

    if (w->cfg.service != WF_FLOW_RC) /* done when they are sent */
        return 0;
    if (!wf_host_flow_hash(f->flows[flow], &hash))
        return 0;
    n = wf_fabric_path(f, w->from, w->to, hash, path, HOPS_MAX);
    if (n < 1 || n > HOPS_MAX)
        return 0;
    hops(path, (unsigned)n, h);
    t = x->request ? walk(h, (unsigned)n, 0, (unsigned)n, x->request, 0)
                   : way_out(h, (unsigned)n, x, pace_bps);
    reverse(path, (unsigned)n);
    hops(path, (unsigned)n, h);
    return x->request ? t + way_out(h, (unsigned)n, x, pace_bps)
                      : walk(h, (unsigned)n, 0, (unsigned)n, x->ack, t);
}

uint64_t wf_fabric_ideal_ps(struct wf_fabric *f, uint32_t flow)
{
    const struct wf_desc_flow *w = &f->desc->flows[flow];
    struct frames x;

    measure(f->desc, w, &x);
    return there_and_back(f, flow, &x, w->cfg.rate_bps);
}

static uint64_t base_rtt(struct wf_fabric *f, uint32_t flow)
{
    const struct wf_desc_flow *w = &f->desc->flows[flow];
    uint32_t hdr = hdr_len(f->desc, w);
    uint64_t full = wire_len(hdr, w->cfg.path_mtu);
    struct frames x = {full, full, wire_len(hdr + AETH, 0), full, 0};

    return there_and_back(f, flow, &x, 0);
}

void wf_fabric_ideals(struct wf_fabric *f)
{
    for (uint32_t i = 0; i < f->desc->n_flows; i++) {
        wf_host_flow_ctr(f->flows[i])[WF_FLOW_IDEAL_PS] = wf_fabric_ideal_ps(f, i);
        if (f->desc->flows[i].cfg.control)
            wf_host_flow_rtt(f->flows[i], base_rtt(f, i));
    }
}
