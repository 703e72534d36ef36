/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which streams are the two directions of one connection: told by the connection manager's MADs
 * (IBA vol. 1, 12.6), else by the numbers that responses repeat, else by equal UDP source ports or
 * being the only two between their addresses. Two candidates are none.
 */
#include <string.h>

#include "analyze/analyze.h"
#include "wire/mad.h"

enum { STEPS_MAX = 4096, NEAR_PSNS = 1 << 16, TRIES = 64 };

void wf_an_pair(struct wf_analyze *a, struct wf_an_stream *x, struct wf_an_stream *y,
                enum wf_an_paired how)
{
    x->peer = wf_an_index(&a->table, y);
    y->peer = wf_an_index(&a->table, x);
    x->paired = y->paired = (uint8_t)how;
}

/* Whether a response with this number can be to this stream's requests. */
static bool may_ask(const struct wf_an_stream *x, uint32_t psn)
{
    int32_t behind;

    if (x->peer != WF_AN_NONE || !x->req.started ||
        (x->service != WF_SERVICE_RC && x->service != WF_SERVICE_XRC))
        return false;
    behind = wf_an_diff(x->req.max, psn);
    return behind > -64 && behind <= NEAR_PSNS && wf_an_diff(psn, x->req.first) >= -NEAR_PSNS;
}

/* The better it fits, the more: within what was seen; the same port. */
static unsigned fit(const struct wf_an_stream *x, const struct wf_an_stream *y, uint32_t psn)
{
    unsigned v = 1;

    if (wf_an_diff(x->req.max, psn) > 0 && wf_an_diff(psn, x->req.first) >= 0)
        v += 4;
    if (wf_an_ring_get(&x->req, psn))
        v += 4;
    if (x->sport == y->sport && x->sport)
        v += 2;
    return v;
}

static struct wf_an_stream *only_one(const struct wf_analyze *a, const struct wf_an_addr *src,
                                     const struct wf_an_addr *dst)
{
    struct wf_an_stream *found = NULL, *x = wf_an_pair_first(&a->table, src, dst);

    for (int i = 0; x && i < STEPS_MAX; x = wf_an_pair_next(&a->table, x), i++) {
        if (x->key.dqpn == 1 || x->service == WF_SERVICE_UD)
            continue;
        if (found)
            return NULL;
        found = x;
    }
    return found;
}

struct wf_an_stream *wf_an_asked(struct wf_analyze *a, struct wf_an_stream *y,
                                 const struct wf_an_pkt *p)
{
    struct wf_an_stream *best = NULL, *x;
    unsigned best_fit = 0, rivals = 0;

    if (y->peer != WF_AN_NONE)
        return wf_an_at(&a->table, y->peer);
    /* answers to nobody are asked about ever more rarely */
    if (y->resp.unpaired > TRIES && y->resp.unpaired & (y->resp.unpaired - 1))
        return NULL;
    x = wf_an_pair_first(&a->table, &y->key.dst, &y->key.src);
    for (int i = 0; x && i < STEPS_MAX; x = wf_an_pair_next(&a->table, x), i++) {
        unsigned v = may_ask(x, p->psn) ? fit(x, y, p->psn) : 0;

        if (!v || v < best_fit)
            continue;
        rivals = v == best_fit ? rivals + 1 : 1;
        best = x;
        best_fit = v;
    }
    if (best && rivals == 1) {
        wf_an_pair(a, best, y, best->sport == y->sport ? WF_AN_BY_PORT : WF_AN_BY_PSN);
        return best;
    }
    return NULL;
}

/* At the end: those that never answered each other, but are alone between their addresses. */
void wf_an_pair_rest(struct wf_analyze *a)
{
    for (uint32_t i = 0; i < a->table.n; i++) {
        struct wf_an_stream *y = a->table.streams[i], *x;

        if (y->peer != WF_AN_NONE || y->service == WF_SERVICE_UD || y->key.dqpn == 1)
            continue;
        x = only_one(a, &y->key.dst, &y->key.src);
        if (x && x->peer == WF_AN_NONE && only_one(a, &y->key.src, &y->key.dst) == y)
            wf_an_pair(a, x, y, WF_AN_BY_ADDRESS);
    }
}

/* ---- connection managers ---- */

static void cm_pair(struct wf_analyze *a, const struct wf_an_cm *c, uint32_t answer_qpn)
{
    struct wf_an_key key;
    struct wf_an_stream *x, *y;

    memset(&key, 0, sizeof(key));
    key.src = c->from;
    key.dst = c->to;
    key.dqpn = answer_qpn;
    key.family = c->family;
    x = wf_an_stream_of(&a->table, &key);
    key.src = c->to;
    key.dst = c->from;
    key.dqpn = c->qpn;
    y = wf_an_stream_of(&a->table, &key);
    if (!x || !y)
        return;
    if (x->peer == WF_AN_NONE && y->peer == WF_AN_NONE)
        wf_an_pair(a, x, y, WF_AN_BY_CM);
    a->cm_pairs++;
}

static void cm_request(struct wf_analyze *a, const struct wf_an_pkt *p, const struct wf_cm_req *q)
{
    struct wf_an_cm *c = &a->cms[a->n_cms++ % WF_AN_REQS];

    *c = (struct wf_an_cm){.from = p->src,
                           .to = p->dst,
                           .family = p->family,
                           .comm_id = q->local_comm_id,
                           .qpn = q->local_qpn};
}

static void cm_reply(struct wf_analyze *a, const struct wf_an_pkt *p, const struct wf_cm_rep *q)
{
    for (unsigned i = 0; i < WF_AN_REQS && i < a->n_cms; i++) {
        const struct wf_an_cm *c = &a->cms[i];

        if (c->comm_id == q->remote_comm_id && !memcmp(&c->from, &p->dst, sizeof(p->dst)) &&
            !memcmp(&c->to, &p->src, sizeof(p->src))) {
            cm_pair(a, c, q->local_qpn);
            return;
        }
    }
}

void wf_an_cm_take(struct wf_analyze *a, const struct wf_an_pkt *p)
{
    struct wf_rd rd = wf_rd_init(p->payload, p->payload_cap);
    struct wf_mad mad;
    struct wf_cm_req req;
    struct wf_cm_rep rep;

    if (p->payload_len != WF_MAD_LEN || wf_mad_get(&rd, &mad) < 0 ||
        mad.mgmt_class != WF_MAD_CLASS_CM)
        return;
    a->cm_messages++;
    if (mad.attr_id == WF_CM_REQ && wf_cm_req_get(&rd, &req) == 0)
        cm_request(a, p, &req);
    else if (mad.attr_id == WF_CM_REP && wf_cm_rep_get(&rd, &rep) == 0)
        cm_reply(a, p, &rep);
}
