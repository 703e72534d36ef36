/* SPDX-License-Identifier: BSD-3-Clause */
/* What a consumer asks of the connection manager (IBA vol. 1, 12.9.7). See cm.h. */
#include <string.h>

#include "base/assert.h"
#include "xport/cm_priv.h"

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static bool id_taken(const struct wf_cm_agent *a, uint32_t id)
{
    for (uint32_t i = 0; i < a->n_conns; i++)
        if (a->conns[i].state != WF_CONN_IDLE && a->conns[i].local_id == id)
            return true;
    return false;
}

struct wf_conn *wf_conn_new(struct wf_cm_agent *a, const struct wf_cm_peer *peer)
{
    struct wf_conn *c = a->conns;

    while (c < a->conns + a->n_conns && c->state != WF_CONN_IDLE)
        c++;
    if (c == a->conns + a->n_conns)
        return NULL;
    while (!a->next_id || id_taken(a, a->next_id))
        a->next_id++;
    *c = (struct wf_conn){.local_id = a->next_id++,
                          .peer = *peer,
                          .timer_ps = WF_TIME_NEVER,
                          .user = c->user,
                          .retries = a->cfg.retries};
    return c;
}

void wf_conn_msg(const struct wf_conn *c, uint16_t attr_id, struct wf_cm_msg *m)
{
    wf_cm_msg_init(m, attr_id, c->tid);
    m->rtu = (struct wf_cm_rtu){c->local_id, c->remote_id}; /* where all but REQ begin */
}

void wf_conn_send(struct wf_cm_agent *a, struct wf_conn *c, const struct wf_cm_msg *m,
                  uint64_t wait_ps, uint64_t now_ps)
{
    wf_cm_msg_put(c->mad, m);
    c->pending = true;
    c->retries_left = c->retries;
    c->remote_wait_ps = wait_ps;
    c->timer_ps = wait_ps ? now_ps + wait_ps : WF_TIME_NEVER;
}

static void put_private(struct wf_cm_msg *m, const void *data, uint32_t len)
{
    if (len)
        memcpy(m->private_data, data, least(len, wf_cm_private_len(m->mad.attr_id)));
}

/* The ID of a transaction is ours alone: half of it is the connection's. */
static uint64_t new_tid(const struct wf_cm_agent *a, const struct wf_conn *c)
{
    return (a->cfg.guid & 0xffffffff) << 32 | c->local_id;
}

struct wf_conn *wf_cm_connect(struct wf_cm_agent *a, const struct wf_cm_peer *to,
                              uint64_t service_id, const struct wf_cm_qp *qp,
                              const struct wf_cm_path *path, const void *private_data, uint32_t len,
                              uint64_t now_ps)
{
    struct wf_conn *c = wf_conn_new(a, to);
    struct wf_cm_msg m;

    if (!c)
        return NULL;
    c->active = true;
    c->tid = new_tid(a, c);
    c->qpn = qp->qpn;
    c->state = WF_CONN_REQ_SENT;
    wf_cm_msg_init(&m, WF_CM_REQ, c->tid);
    m.req = (struct wf_cm_req){.local_comm_id = c->local_id,
                               .service_id = service_id,
                               .local_ca_guid = a->cfg.guid,
                               .local_qkey = qp->qkey,
                               .local_qpn = qp->qpn,
                               .responder_resources = qp->responder_resources,
                               .initiator_depth = qp->initiator_depth,
                               .remote_timeout = a->cfg.response & 31,
                               .service_type = qp->service & 3,
                               .starting_psn = qp->psn,
                               .local_timeout = a->cfg.response & 31,
                               .retry_count = qp->retries & 7,
                               .pkey = 0xffff,
                               .path_mtu = qp->path_mtu & 15,
                               .rnr_retry = qp->rnr_retries & 7,
                               .max_cm_retries = a->cfg.retries & WF_CM_RETRIES,
                               .srq = qp->srq};
    m.path[0] = *path;
    m.path[0].ack_timeout = qp->ack_timeout & 31;
    put_private(&m, private_data, len);
    wf_conn_send(a, c, &m, wf_cm_wait_ps(a->cfg.response), now_ps);
    return c;
}

struct wf_conn *wf_cm_resolve(struct wf_cm_agent *a, const struct wf_cm_peer *to,
                              uint64_t service_id, const void *private_data, uint32_t len,
                              uint64_t now_ps)
{
    struct wf_conn *c = wf_conn_new(a, to);
    struct wf_cm_msg m;

    if (!c)
        return NULL;
    c->active = true;
    c->tid = new_tid(a, c);
    c->state = WF_CONN_SIDR_SENT;
    wf_cm_msg_init(&m, WF_CM_SIDR_REQ, c->tid);
    m.sidr_req = (struct wf_cm_sidr_req){c->local_id, 0xffff, service_id};
    put_private(&m, private_data, len);
    wf_conn_send(a, c, &m, wf_cm_wait_ps(a->cfg.response), now_ps);
    return c;
}

void wf_cm_accept(struct wf_cm_agent *a, struct wf_conn *c, const struct wf_cm_qp *qp,
                  const void *private_data, uint32_t len, uint64_t now_ps)
{
    struct wf_cm_msg m;

    WF_ASSERT(c->state == WF_CONN_REQ_RCVD);
    c->qpn = qp->qpn;
    c->state = WF_CONN_REP_SENT;
    wf_cm_msg_init(&m, WF_CM_REP, c->tid);
    m.rep = (struct wf_cm_rep){.local_comm_id = c->local_id,
                               .remote_comm_id = c->remote_id,
                               .local_qkey = qp->qkey,
                               .local_qpn = qp->qpn,
                               .starting_psn = qp->psn,
                               .responder_resources = qp->responder_resources,
                               .initiator_depth = qp->initiator_depth,
                               .target_ack_delay = qp->ack_timeout & 31,
                               .rnr_retry = qp->rnr_retries & 7,
                               .srq = qp->srq,
                               .local_ca_guid = a->cfg.guid};
    put_private(&m, private_data, len);
    wf_conn_send(a, c, &m, c->remote_wait_ps, now_ps);
}

void wf_cm_confirm(struct wf_cm_agent *a, struct wf_conn *c, uint64_t now_ps)
{
    struct wf_cm_msg m;

    WF_ASSERT(c->state == WF_CONN_REP_RCVD);
    c->state = WF_CONN_ESTABLISHED;
    wf_conn_msg(c, WF_CM_RTU, &m);
    wf_conn_send(a, c, &m, 0, now_ps);
}

void wf_cm_reject(struct wf_cm_agent *a, struct wf_conn *c, uint16_t reason,
                  const void *private_data, uint32_t len, uint64_t now_ps)
{
    bool request = c->state == WF_CONN_REQ_RCVD;
    struct wf_cm_rej rej = {.local_comm_id = request ? 0 : c->local_id,
                            .remote_comm_id = c->remote_id,
                            .message = request ? WF_CM_ABOUT_REQ : WF_CM_ABOUT_REP,
                            .reason = reason};

    WF_ASSERT(request || c->state == WF_CONN_REP_RCVD);
    wf_cm_stray_rej(a, &c->peer, c->tid, &rej, private_data, len);
    c->pending = false;
    if (request)
        c->state = WF_CONN_IDLE;
    else
        wf_conn_timewait(a, c, now_ps); /* the peer has a queue pair that may send */
}

void wf_cm_traffic(struct wf_cm_agent *a, struct wf_conn *c, uint64_t now_ps)
{
    if (c->state != WF_CONN_REP_SENT)
        return;
    c->state = WF_CONN_ESTABLISHED;
    c->timer_ps = WF_TIME_NEVER;
    wf_conn_tell(a, c, WF_CONN_EV_ESTABLISHED, NULL, now_ps);
}

void wf_cm_disconnect(struct wf_cm_agent *a, struct wf_conn *c, uint64_t now_ps)
{
    struct wf_cm_msg m;

    if (c->state != WF_CONN_ESTABLISHED && c->state != WF_CONN_REP_SENT)
        return;
    c->state = WF_CONN_DREQ_SENT;
    wf_conn_msg(c, WF_CM_DREQ, &m);
    m.dreq.remote_qpn = c->remote_qpn;
    wf_conn_send(a, c, &m, wf_cm_wait_ps(a->cfg.response), now_ps);
}
