/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a flow that connects does at its peer, message by message, and what comes of it. A WRITE is
 * a part of the flow's own memory, which holds a pattern, and goes to the same offset there: when
 * all have arrived the peer has the pattern. A SEND holds a pattern of its own. A READ is compared
 * with the pattern that the peer named, an atomic's result with what those before it have left.
 */
#include <string.h>

#include "base/assert.h"
#include "host/endpoint.h"

enum { MEM_MAX = 4 << 20 };

static bool sends(const struct wf_flow_cfg *cfg)
{
    return cfg->op == WF_WORK_SEND || cfg->op == WF_WORK_SEND_IMM;
}

static bool reads(const struct wf_flow_cfg *cfg)
{
    return cfg->op >= WF_WORK_READ;
}

static bool atomics(const struct wf_flow_cfg *cfg)
{
    return cfg->op >= WF_WORK_CMP_SWAP;
}

/* Places for messages beside each other in the flow's memory. What is sent or read needs one that
 * no message that is posted uses; an atomic has one for itself. */
static uint32_t slots_of(const struct wf_flow_cfg *cfg)
{
    uint64_t n = cfg->size_bytes ? MEM_MAX / cfg->size_bytes : 1, least = 1;

    if (atomics(cfg))
        return cfg->count;
    least += sends(cfg) || reads(cfg);
    n = n < least ? least : n;
    return (uint32_t)(n < cfg->count ? n : cfg->count);
}

uint64_t wf_errand_memory(const struct wf_flow_cfg *cfg)
{
    return cfg->size_bytes * slots_of(cfg);
}

uint32_t wf_errand_sq_len(const struct wf_flow_cfg *cfg)
{
    uint32_t most = cfg->count < WF_HOST_SQ_LEN ? cfg->count : WF_HOST_SQ_LEN, n = 1;

    if (!sends(cfg) && !reads(cfg))
        return most;
    while (2 * n <= most && 2 * n < slots_of(cfg))
        n *= 2;
    return n;
}

void wf_errand_offer(const struct wf_flow *f, struct wf_offer *o)
{
    static const uint8_t does[WF_WORK_OPS] = {
        [WF_WORK_SEND] = WF_OFFER_SENDS,     [WF_WORK_SEND_IMM] = WF_OFFER_SENDS,
        [WF_WORK_READ] = WF_OFFER_READS,     [WF_WORK_FETCH_ADD] = WF_OFFER_ADDS,
        [WF_WORK_CMP_SWAP] = WF_OFFER_SWAPS,
    };
    const struct wf_peer_qp *p = f->tx->peer;

    *o = (struct wf_offer){.va = p->va,
                           .rkey = p->rkey,
                           .len = (uint32_t)p->mem_len,
                           .pattern = f->pattern,
                           .does = does[f->cfg.op]};
    if (p->ud)
        o->rkey = p->nq->qp.cfg.qpn;
}

bool wf_errand_begin(struct wf_flow *f, const struct wf_offer *o, uint32_t resources)
{
    const struct wf_flow_cfg *cfg = &f->cfg;

    if (sends(cfg))
        return o->recv == WF_LISTEN_SINK || o->recv == WF_LISTEN_ECHO;
    if (o->len < cfg->size_bytes || (cfg->op == WF_WORK_WRITE_IMM && o->recv == WF_LISTEN_NONE) ||
        (reads(cfg) && !resources))
        return false;
    f->slots = slots_of(cfg);
    if (o->len / cfg->size_bytes < f->slots)
        f->slots = (uint32_t)(o->len / cfg->size_bytes);
    f->raddr = o->va;
    f->rkey = o->rkey;
    f->tx->peer->announced = *o;
    return true;
}

/* What the peer's first word holds before message i. */
static uint64_t word_before(const struct wf_flow *f, uint64_t i)
{
    uint64_t first = wf_pattern_word(f->tx->peer->announced.pattern, 0);

    if (f->cfg.op == WF_WORK_FETCH_ADD)
        return first + i * wf_pattern_word(f->pattern, 0);
    return i ? wf_pattern_word(f->pattern, i - 1) : first;
}

uint64_t wf_errand_left(const struct wf_offer *o, uint32_t pattern)
{
    uint64_t n = o->len / 8;

    if (o->does == WF_OFFER_ADDS)
        return wf_pattern_word(pattern, 0) + n * wf_pattern_word(o->pattern, 0);
    return wf_pattern_word(n ? o->pattern : pattern, n ? n - 1 : 0);
}

/* Where message i lies in our memory. */
static uint8_t *place(const struct wf_flow *f, uint64_t i)
{
    uint32_t n = sends(&f->cfg) || reads(&f->cfg) ? slots_of(&f->cfg) : f->slots;

    return f->tx->peer->mem + i % n * f->cfg.size_bytes;
}

void wf_endpoint_work(const struct wf_flow *f, uint64_t i, struct wf_work *w)
{
    const struct wf_peer_qp *p = f->tx->peer;

    w->imm = (uint32_t)i;
    w->n_sge = 1;
    w->sge[0] = (struct iovec){place(f, i), w->len};
    if (sends(&f->cfg)) {
        wf_pattern_fill(place(f, i), f->pattern + (uint32_t)i, 0, w->len);
        if (!p->ud)
            return;
        w->imm = p->nq->qp.cfg.qpn; /* for whoever answers to that, as udaddy does */
        w->ud.qkey = p->qkey;
        return;
    }
    w->raddr = f->raddr + i % f->slots * f->cfg.size_bytes;
    if (!atomics(&f->cfg))
        return;
    w->raddr = f->raddr;
    w->compare = word_before(f, i);
    w->swap_add = wf_pattern_word(f->pattern, f->cfg.op == WF_WORK_FETCH_ADD ? 0 : i);
}

void wf_errand_judge(struct wf_flow *f, const struct wf_wc *wc)
{
    struct wf_peer_qp *p = f->tx->peer;
    uint64_t len = f->cfg.size_bytes, right, was;

    if (wc->status != WF_WC_SUCCESS || !reads(&f->cfg))
        return;
    if (atomics(&f->cfg)) {
        memcpy(&was, place(f, wc->id), sizeof(was));
        right = was == word_before(f, wc->id) ? len : 0;
    } else if (p->announced.pattern) {
        right =
            wf_pattern_right(place(f, wc->id), p->announced.pattern, wc->id % f->slots * len, len);
    } else {
        return; /* nobody said what is there */
    }
    p->right_bytes += right;
    p->wrong_bytes += len - right;
}

void wf_endpoint_settle_flow(struct wf_flow *f)
{
    const struct wf_peer_qp *p = f->tx->peer;

    f->ctr[WF_FLOW_RIGHT_BYTES] = p->right_bytes;
    f->ctr[WF_FLOW_WRONG_BYTES] = p->wrong_bytes;
    if (p->ud)
        wf_datagrams_settle(p, f->ctr);
}
