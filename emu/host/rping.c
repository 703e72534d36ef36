/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocol of rping, a test program of librdmacm, either side of it. The one that connects
 * SENDs where its data is (address, rkey and length, 16 bytes in network order); the other READs
 * it and SENDs anything; the first SENDs where it wants it back; the other WRITEs it there and
 * SENDs again. That is one ping. The data of a ping is a string: rping writes no byte behind the
 * first zero.
 * Left out: what rping calls persistent, one connection after the other being always served.
 */
#include <string.h>

#include "base/cursor.h"
#include "host/endpoint.h"

enum { ADVERT_LEN = WF_RPING_LEN, SQ_LEN = 4 };
enum state {
    IDLE,    /* server: a source is to be named */
    READING, /* ... it is being read */
    READ,    /* ... a sink is to be named */
    WRITING, /* ... it is being written */
    ASKED,   /* client: the source is named */
    WAITING, /* ... and the sink */
};

struct wf_rping {
    enum state state;
    uint64_t raddr;
    uint32_t rkey, len;
    uint8_t out[ADVERT_LEN];
};

/* Also when what was said makes no sense. */
void wf_rping_failed(struct wf_peer_qp *p)
{
    uint64_t now = p->ep->host->node.net->lc->now_ps;

    if (p->flow)
        p->flow->failed = p->flow->cfg.count - p->flow->completed;
    if (!p->conn)
        return;
    wf_cm_disconnect(&p->ep->agent, p->conn, now);
    wf_endpoint_flush(p->ep, now);
}

static void send(struct wf_peer_qp *p, uint64_t va, uint32_t len)
{
    struct wf_rping *r = p->rping;
    struct wf_work w = {.op = WF_WORK_SEND, .len = ADVERT_LEN, .n_sge = 1};

    wf_st64(r->out, va);
    wf_st32(r->out + 8, p->rkey);
    wf_st32(r->out + 12, len);
    w.sge[0] = (struct iovec){r->out, ADVERT_LEN};
    wf_qp_post(&p->nq->qp, &w);
}

/* --- who is pinged ---------------------------------------------------------------------------- */

static void move(struct wf_peer_qp *p, enum wf_work_op op)
{
    struct wf_rping *r = p->rping;
    struct wf_work w = {.op = op, .raddr = r->raddr, .rkey = r->rkey, .len = r->len};

    w.n_sge = 1;
    w.sge[0] = (struct iovec){p->mem, r->len};
    if (wf_qp_post(&p->nq->qp, &w))
        wf_rping_failed(p); /* the peer answers no READs */
}

static void named(struct wf_peer_qp *p, const uint8_t *at, uint32_t len)
{
    struct wf_rping *r = p->rping;
    uint32_t want = len == ADVERT_LEN ? wf_ld32(at + 12) : 0;

    if ((r->state != IDLE && r->state != READ) || !want || want > p->mem_len) {
        wf_rping_failed(p);
        return;
    }
    r->raddr = wf_ld64(at);
    r->rkey = wf_ld32(at + 8);
    if (r->state == IDLE || want < r->len)
        r->len = want;
    r->state = r->state == IDLE ? READING : WRITING;
    if (r->state == READING)
        wf_region_forget(p, r->len);
    move(p, r->state == READING ? WF_WORK_READ : WF_WORK_WRITE);
}

/* --- who pings -------------------------------------------------------------------------------- */

static void ping(struct wf_peer_qp *p)
{
    struct wf_flow *f = p->flow;
    uint32_t size = (uint32_t)f->cfg.size_bytes;

    wf_pattern_fill(p->mem, f->pattern + (uint32_t)f->posted, 0, size);
    for (uint32_t i = 0; i < size; i++)
        p->mem[i] = (uint8_t)('a' + p->mem[i] % 26);
    p->mem[size - 1] = 0;
    memset(p->mem + size, 0xff, size);
    f->posted++;
    p->rping->state = ASKED;
    send(p, p->va, size);
}

static void came_back(struct wf_peer_qp *p)
{
    struct wf_flow *f = p->flow;
    uint64_t size = f->cfg.size_bytes, right = 0;

    for (uint64_t i = 0; i < size; i++)
        right += p->mem[i] == p->mem[size + i];
    p->right_bytes += right;
    p->wrong_bytes += size - right;
    f->completed++;
    if (f->completed < f->cfg.count) {
        ping(p);
        return;
    }
    f->completion_ps = p->ep->host->node.net->lc->now_ps - f->cfg.start_ps;
    wf_endpoint_done(f, NULL);
}

void wf_rping_begin(struct wf_peer_qp *p)
{
    ping(p);
    wf_nic_qp_wake(p->nq);
}

/* --- both ------------------------------------------------------------------------------------- */

void wf_rping_received(struct wf_peer_qp *p, const uint8_t *at, uint32_t len)
{
    struct wf_rping *r = p->rping;

    if (!p->flow) {
        named(p, at, len);
    } else if (wf_flow_over(p->flow)) {
        return; /* nobody has asked */
    } else if (r->state == ASKED) {
        r->state = WAITING;
        send(p, p->va + p->flow->cfg.size_bytes, (uint32_t)p->flow->cfg.size_bytes);
    } else {
        came_back(p);
    }
}

void wf_rping_completed(void *arg, const struct wf_wc *wc)
{
    struct wf_peer_qp *p = ((struct wf_nic_qp *)arg)->peer;

    if (wc->status != WF_WC_SUCCESS) {
        wf_rping_failed(p);
        return;
    }
    if (wc->op == WF_WORK_SEND)
        return;
    p->ep->past[WF_ENDPOINT_ECHOED] += wc->op == WF_WORK_WRITE;
    p->rping->state = wc->op == WF_WORK_READ ? READ : IDLE;
    send(p, p->va, (uint32_t)p->mem_len);
}

uint32_t wf_rping_new(struct wf_peer_qp *p, struct wf_arena *arena)
{
    p->rping = WF_ARENA_NEW(arena, struct wf_rping);
    return SQ_LEN;
}

void wf_rping_open(struct wf_peer_qp *p)
{
    p->rping->state = IDLE;
}
