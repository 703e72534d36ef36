/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/ideal.h"

#include "host/host.h"
#include "host/profile.h"
#include "wire/roce.h"
#include "xport/qp.h"

enum { HOPS_MAX = 32, ETH_LEN = 14, AETH = 4 };

struct hop {
    uint64_t rate_bps, delay_ps;
    uint64_t latency_ps; /* of the node behind the link; a host has none */
    bool cut_through;    /* that node */
};

/* Lengths of a flow's frames as they are on the wire: preamble, frame, gap. */
struct frames {
    uint64_t first, last, ack, all; /* all: of the whole flow */
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

static void measure(const struct wf_desc *d, const struct wf_desc_flow *w, struct frames *out)
{
    uint32_t hdr = hdr_len(d, w), mtu = w->cfg.path_mtu;
    uint64_t size = w->cfg.size_bytes, n = size ? (size + mtu - 1) / mtu : 1;
    uint32_t tail = (uint32_t)(size - (n - 1) * mtu);
    const struct wf_work_form *form = &wf_work_forms[w->cfg.op];
    uint64_t message;

    out->first =
        wire_len(hdr + wf_opcodes[n > 1 ? form->first : form->only].ext_len, n > 1 ? mtu : tail);
    out->last = n > 1 ? wire_len(hdr + wf_opcodes[form->last].ext_len, tail) : out->first;
    message = n > 1 ? out->first + (n - 2) * wire_len(hdr, mtu) + out->last : out->first;
    out->all = message * w->cfg.count;
    out->ack = wire_len(hdr + AETH, 0);
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

static unsigned hops(struct wf_port *const *path, unsigned n, struct hop *out)
{
    for (unsigned i = 0; i < n; i++) {
        const struct wf_node *next = path[i]->peer->node;

        out[i] = (struct hop){.rate_bps = path[i]->tx.rate_bps,
                              .delay_ps = path[i]->link->cfg.delay_ps,
                              .cut_through = next->cut_through};
        if (next->ops == &wf_switch_ops)
            out[i].latency_ps = ((const struct wf_switch *)next)->cfg.latency_ps;
    }
    return n;
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

static bool goes_back_n(const struct wf_desc *d, const struct wf_desc_flow *w)
{
    return wf_flow_retransmit(&w->cfg, &d->hosts[w->from].cfg.nic, &d->hosts[w->to].cfg.nic) ==
           WF_GO_BACK_N;
}

/* Of these frames and of the ACK for the last one; 0 when there is no way. */
static uint64_t there_and_back(struct wf_fabric *f, uint32_t flow, const struct frames *x,
                               uint64_t pace_bps)
{
    const struct wf_desc_flow *w = &f->desc->flows[flow];
    struct wf_port *path[HOPS_MAX];
    struct hop h[HOPS_MAX];
    uint32_t hash;
    uint64_t t;
    int n;

    /* others are done by what comes back or when they are sent, or have longer headers */
    if (w->cfg.op >= WF_WORK_READ || w->cfg.service != WF_FLOW_RC || !goes_back_n(f->desc, w))
        return 0;
    if (!wf_host_flow_hash(f->flows[flow], &hash))
        return 0;
    n = wf_fabric_path(f, w->from, w->to, hash, path, HOPS_MAX);
    if (n < 1 || n > HOPS_MAX)
        return 0;
    t = way_out(h, hops(path, (unsigned)n, h), x, pace_bps);
    reverse(path, (unsigned)n);
    return walk(h, hops(path, (unsigned)n, h), 0, (unsigned)n, x->ack, t);
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
    struct frames x = {full, full, wire_len(hdr + AETH, 0), full};

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
