/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection manager's agent: which connection a MAD is for, and what it does there (IBA
 * vol. 1, 12.9.8), timeouts, retries. See cm.h.
 */
#include "xport/cm.h"

#include <string.h>

#include "xport/cm_priv.h"

void wf_cm_agent_init(struct wf_cm_agent *a, const struct wf_cm_cfg *cfg,
                      const struct wf_cm_user *user, struct wf_conn *conns, uint32_t n)
{
    *a = (struct wf_cm_agent){
        .cfg = *cfg, .user = *user, .conns = conns, .n_conns = n, .next_id = cfg->first_id};
    for (uint32_t i = 0; i < n; i++)
        conns[i] = (struct wf_conn){.timer_ps = WF_TIME_NEVER, .user = conns[i].user};
}

void wf_conn_tell(struct wf_cm_agent *a, struct wf_conn *c, enum wf_conn_event ev,
                  const struct wf_cm_msg *m, uint64_t now_ps)
{
    a->user.event(a->user.arg, c, ev, m, now_ps);
}

void wf_conn_timewait(struct wf_cm_agent *a, struct wf_conn *c, uint64_t now_ps)
{
    c->state = WF_CONN_TIMEWAIT;
    c->timer_ps = now_ps + a->cfg.timewait_ps;
}

void wf_cm_stray(struct wf_cm_agent *a, const struct wf_cm_peer *to, const struct wf_cm_msg *m)
{
    struct wf_cm_stray *s = &a->strays[a->n_strays];

    if (a->n_strays == WF_CM_STRAYS_MAX)
        return; /* datagrams may be lost: the peer asks again */
    s->peer = *to;
    wf_cm_msg_put(s->mad, m);
    a->n_strays++;
}

void wf_cm_stray_rej(struct wf_cm_agent *a, const struct wf_cm_peer *to, uint64_t tid,
                     const struct wf_cm_rej *rej, const void *private_data, uint32_t len)
{
    uint32_t most = wf_cm_private_len(WF_CM_REJ);
    struct wf_cm_msg m;

    wf_cm_msg_init(&m, WF_CM_REJ, tid);
    m.rej = *rej;
    if (len)
        memcpy(m.private_data, private_data, len < most ? len : most);
    wf_cm_stray(a, to, &m);
}

/* The answer to a message of the peer's connection `remote_id` that we have none for. */
static void refuse(struct wf_cm_agent *a, const struct wf_cm_peer *to, const struct wf_cm_msg *m,
                   uint8_t message, uint16_t reason)
{
    struct wf_cm_rej rej = {
        .remote_comm_id = m->rtu.local_comm_id, .message = message, .reason = reason};

    wf_cm_stray_rej(a, to, m->mad.tid, &rej, NULL, 0);
}

/* --- a request -------------------------------------------------------------------------------- */

static struct wf_conn *of_request(struct wf_cm_agent *a, const struct wf_cm_req *req)
{
    for (struct wf_conn *c = a->conns; c < a->conns + a->n_conns; c++)
        if (c->state != WF_CONN_IDLE && !c->active && c->remote_id == req->local_comm_id &&
            c->remote_guid == req->local_ca_guid)
            return c;
    return NULL;
}

/* A connection that the peer's queue pair had before: the peer has forgotten it (12.9.8.3.1). */
static struct wf_conn *stale(struct wf_cm_agent *a, const struct wf_cm_req *req)
{
    for (struct wf_conn *c = a->conns; c < a->conns + a->n_conns; c++)
        if (c->state >= WF_CONN_REP_RCVD && c->state <= WF_CONN_TIMEWAIT &&
            c->remote_qpn == req->local_qpn && c->remote_guid == req->local_ca_guid)
            return c;
    return NULL;
}

/* Time, please: the consumer has not decided yet (12.9.8.2). */
static void ask_for_time(struct wf_cm_agent *a, struct wf_conn *c)
{
    struct wf_cm_msg m;

    wf_conn_msg(c, WF_CM_MRA, &m);
    m.mra.message = c->active ? WF_CM_ABOUT_REP : WF_CM_ABOUT_REQ;
    m.mra.service_timeout = a->cfg.response & 31;
    wf_cm_stray(a, &c->peer, &m);
}

static void again(struct wf_cm_agent *a, struct wf_conn *c, const struct wf_cm_peer *from,
                  const struct wf_cm_msg *m)
{
    a->duplicates++;
    if (c->state == WF_CONN_REQ_RCVD)
        ask_for_time(a, c);
    else if (c->state == WF_CONN_REP_SENT)
        c->pending = true;
    else if (c->state == WF_CONN_TIMEWAIT)
        refuse(a, from, m, WF_CM_ABOUT_REQ, WF_CM_REJ_STALE);
}

static void rx_req(struct wf_cm_agent *a, const struct wf_cm_peer *from, const struct wf_cm_msg *m,
                   uint64_t now_ps)
{
    struct wf_conn *c = of_request(a, &m->req);

    if (c) {
        again(a, c, from, m);
        return;
    }
    c = stale(a, &m->req);
    if (c) {
        bool over = c->state == WF_CONN_TIMEWAIT;

        refuse(a, from, m, WF_CM_ABOUT_REQ, WF_CM_REJ_STALE);
        c->pending = false;
        if (!over) {
            wf_conn_timewait(a, c, now_ps);
            wf_conn_tell(a, c, WF_CONN_EV_DISCONNECTED, NULL, now_ps);
        }
        return;
    }
    c = wf_conn_new(a, from);
    if (!c) {
        refuse(a, from, m, WF_CM_ABOUT_REQ, WF_CM_REJ_NO_RESOURCES);
        return;
    }
    c->state = WF_CONN_REQ_RCVD;
    c->tid = m->mad.tid;
    c->remote_id = m->req.local_comm_id;
    c->remote_guid = m->req.local_ca_guid;
    c->remote_qpn = m->req.local_qpn;
    c->remote_wait_ps = wf_cm_wait_ps(m->req.local_timeout);
    c->retries = m->req.max_cm_retries; /* of either side (12.7.27) */
    wf_conn_tell(a, c, WF_CONN_EV_REQUEST, m, now_ps);
}

/* --- messages of a connection ----------------------------------------------------------------- */

/* Ours by the ID that we gave it. It comes from the connection's peer, and names the peer's ID. */
static struct wf_conn *find(struct wf_cm_agent *a, const struct wf_cm_peer *from,
                            const struct wf_cm_msg *m)
{
    bool nameless = m->mad.attr_id == WF_CM_REJ && !m->rtu.local_comm_id;

    for (struct wf_conn *c = a->conns; c < a->conns + a->n_conns; c++)
        if (c->state != WF_CONN_IDLE && c->local_id == m->rtu.remote_comm_id)
            return !memcmp(c->peer.remote_gid, from->remote_gid, 16) &&
                           (!c->remote_id || nameless || c->remote_id == m->rtu.local_comm_id)
                       ? c
                       : NULL;
    return NULL;
}

static void rx_rep(struct wf_cm_agent *a, const struct wf_cm_peer *from, const struct wf_cm_msg *m,
                   uint64_t now_ps)
{
    struct wf_conn *c = find(a, from, m);

    if (!c) {
        a->bad++;
        refuse(a, from, m, WF_CM_ABOUT_REP, WF_CM_REJ_COMM_ID);
    } else if (c->state == WF_CONN_REQ_SENT) {
        c->state = WF_CONN_REP_RCVD;
        c->timer_ps = WF_TIME_NEVER;
        c->remote_id = m->rep.local_comm_id;
        c->remote_guid = m->rep.local_ca_guid;
        c->remote_qpn = m->rep.local_qpn;
        c->pending = false;
        wf_conn_tell(a, c, WF_CONN_EV_REPLY, m, now_ps);
    } else {
        a->duplicates++;
        if (c->state == WF_CONN_REP_RCVD)
            ask_for_time(a, c);
        else if (c->state == WF_CONN_ESTABLISHED && c->active)
            c->pending = true; /* the RTU was lost */
    }
}

static void rx_rtu(struct wf_cm_agent *a, struct wf_conn *c, uint64_t now_ps)
{
    if (c->state == WF_CONN_REP_SENT)
        wf_cm_traffic(a, c, now_ps);
    else
        a->duplicates++;
}

static void rx_mra(struct wf_cm_agent *a, struct wf_conn *c, const struct wf_cm_mra *mra,
                   uint64_t now_ps)
{
    if ((c->state == WF_CONN_REQ_SENT && mra->message == WF_CM_ABOUT_REQ) ||
        (c->state == WF_CONN_REP_SENT && mra->message == WF_CM_ABOUT_REP)) {
        c->pending = false;
        c->timer_ps = now_ps + wf_cm_wait_ps(mra->service_timeout) + c->remote_wait_ps;
    }
}

static void rx_rej(struct wf_cm_agent *a, struct wf_conn *c, const struct wf_cm_msg *m,
                   uint64_t now_ps)
{
    enum wf_conn_state was = c->state;

    if (was == WF_CONN_TIMEWAIT || was == WF_CONN_REQ_RCVD || was == WF_CONN_SIDR_SENT)
        return;
    c->pending = false;
    if (was == WF_CONN_REQ_SENT) {
        c->state = WF_CONN_IDLE;
        c->timer_ps = WF_TIME_NEVER;
    } else {
        wf_conn_timewait(a, c, now_ps);
    }
    wf_conn_tell(a, c, was == WF_CONN_DREQ_SENT ? WF_CONN_EV_DISCONNECTED : WF_CONN_EV_REJECTED, m,
                 now_ps);
}

static void rx_dreq(struct wf_cm_agent *a, const struct wf_cm_peer *from, const struct wf_cm_msg *m,
                    uint64_t now_ps)
{
    struct wf_conn *c = find(a, from, m), known;
    struct wf_cm_msg drep;
    bool open;

    if (c && (c->state < WF_CONN_REP_SENT || c->state > WF_CONN_TIMEWAIT ||
              m->dreq.remote_qpn != c->qpn)) {
        a->bad++;
        return;
    }
    known = (struct wf_conn){
        .tid = m->mad.tid, .local_id = m->dreq.remote_comm_id, .remote_id = m->dreq.local_comm_id};
    wf_conn_msg(&known, WF_CM_DREP, &drep); /* of a connection of the past too: 12.9.8.3.2 */
    wf_cm_stray(a, from, &drep);
    open = c && c->state != WF_CONN_TIMEWAIT;
    a->duplicates += !open;
    if (open) {
        c->pending = false;
        wf_conn_timewait(a, c, now_ps);
        wf_conn_tell(a, c, WF_CONN_EV_DISCONNECTED, m, now_ps);
    }
}

static void rx_drep(struct wf_cm_agent *a, struct wf_conn *c, const struct wf_cm_msg *m,
                    uint64_t now_ps)
{
    if (c->state != WF_CONN_DREQ_SENT) {
        a->duplicates++;
        return;
    }
    c->pending = false;
    wf_conn_timewait(a, c, now_ps);
    wf_conn_tell(a, c, WF_CONN_EV_DISCONNECTED, m, now_ps);
}

/* --- service ID resolution -------------------------------------------------------------------- */

static void rx_sidr_req(struct wf_cm_agent *a, const struct wf_cm_peer *from,
                        const struct wf_cm_msg *m)
{
    struct wf_cm_msg rep;

    wf_cm_msg_init(&rep, WF_CM_SIDR_REP, m->mad.tid);
    rep.sidr_rep = (struct wf_cm_sidr_rep){.request_id = m->sidr_req.request_id,
                                           .status = WF_SIDR_NO_SERVICE,
                                           .service_id = m->sidr_req.service_id};
    if (a->user.resolve)
        a->user.resolve(a->user.arg, from, m, &rep);
    wf_cm_stray(a, from, &rep);
}

static void rx_sidr_rep(struct wf_cm_agent *a, const struct wf_cm_peer *from,
                        const struct wf_cm_msg *m, uint64_t now_ps)
{
    for (struct wf_conn *c = a->conns; c < a->conns + a->n_conns; c++)
        if (c->state == WF_CONN_SIDR_SENT && c->local_id == m->sidr_rep.request_id &&
            !memcmp(c->peer.remote_gid, from->remote_gid, 16)) {
            c->state = WF_CONN_IDLE;
            c->timer_ps = WF_TIME_NEVER;
            c->pending = false;
            wf_conn_tell(a, c, WF_CONN_EV_RESOLVED, m, now_ps);
            return;
        }
    a->duplicates++;
}

/* --- the agent -------------------------------------------------------------------------------- */

/* Those that are nothing without their connection. */
static void rx_of_conn(struct wf_cm_agent *a, const struct wf_cm_peer *from,
                       const struct wf_cm_msg *m, uint64_t now_ps)
{
    struct wf_conn *c = find(a, from, m);

    if (!c)
        a->bad++;
    else if (m->mad.attr_id == WF_CM_MRA)
        rx_mra(a, c, &m->mra, now_ps);
    else if (m->mad.attr_id == WF_CM_REJ)
        rx_rej(a, c, m, now_ps);
    else if (m->mad.attr_id == WF_CM_RTU)
        rx_rtu(a, c, now_ps);
    else
        rx_drep(a, c, m, now_ps);
}

void wf_cm_rx(struct wf_cm_agent *a, const struct wf_cm_peer *from, const uint8_t *mad,
              uint32_t len, uint64_t now_ps)
{
    struct wf_cm_msg m;

    a->rx++;
    if (wf_cm_msg_get(mad, len, &m)) {
        a->bad++;
        return;
    }
    switch (m.mad.attr_id) {
    case WF_CM_REQ:
        rx_req(a, from, &m, now_ps);
        break;
    case WF_CM_REP:
        rx_rep(a, from, &m, now_ps);
        break;
    case WF_CM_DREQ:
        rx_dreq(a, from, &m, now_ps);
        break;
    case WF_CM_SIDR_REQ:
        rx_sidr_req(a, from, &m);
        break;
    case WF_CM_SIDR_REP:
        rx_sidr_rep(a, from, &m, now_ps);
        break;
    default:
        rx_of_conn(a, from, &m, now_ps);
        break;
    }
}

bool wf_cm_pull(struct wf_cm_agent *a, uint64_t now_ps, struct wf_cm_peer *to,
                uint8_t mad[WF_MAD_LEN])
{
    if (a->n_strays) {
        *to = a->strays[0].peer;
        memcpy(mad, a->strays[0].mad, WF_MAD_LEN);
        memmove(a->strays, a->strays + 1, --a->n_strays * sizeof(a->strays[0]));
        a->tx++;
        return true;
    }
    for (struct wf_conn *c = a->conns; c < a->conns + a->n_conns; c++)
        if (c->pending) {
            c->pending = false;
            *to = c->peer;
            memcpy(mad, c->mad, WF_MAD_LEN);
            a->tx++;
            return true;
        }
    return false;
}

uint64_t wf_cm_timer_ps(const struct wf_cm_agent *a)
{
    uint64_t t = WF_TIME_NEVER;

    for (uint32_t i = 0; i < a->n_conns; i++)
        if (a->conns[i].timer_ps < t)
            t = a->conns[i].timer_ps;
    return t;
}

/* Nobody has answered for the last time (12.9.8.7). */
static void give_up(struct wf_cm_agent *a, struct wf_conn *c, uint64_t now_ps)
{
    enum wf_conn_state was = c->state;
    struct wf_cm_rej rej = {.local_comm_id = c->local_id,
                            .remote_comm_id = c->remote_id,
                            .message = was == WF_CONN_REP_SENT ? WF_CM_ABOUT_REP : WF_CM_ABOUT_REQ,
                            .reason = WF_CM_REJ_TIMEOUT};

    c->pending = false;
    if (was == WF_CONN_REQ_SENT || was == WF_CONN_REP_SENT)
        wf_cm_stray_rej(a, &c->peer, c->tid, &rej, NULL, 0);
    if (was == WF_CONN_REQ_SENT || was == WF_CONN_SIDR_SENT) {
        c->state = WF_CONN_IDLE;
        c->timer_ps = WF_TIME_NEVER;
    } else {
        wf_conn_timewait(a, c, now_ps);
    }
    wf_conn_tell(a, c, was == WF_CONN_DREQ_SENT ? WF_CONN_EV_DISCONNECTED : WF_CONN_EV_UNREACHABLE,
                 NULL, now_ps);
}

static void tick(struct wf_cm_agent *a, struct wf_conn *c, uint64_t now_ps)
{
    if (c->state == WF_CONN_TIMEWAIT) {
        c->state = WF_CONN_IDLE;
        c->timer_ps = WF_TIME_NEVER;
        wf_conn_tell(a, c, WF_CONN_EV_FREE, NULL, now_ps);
    } else if (!c->retries_left) {
        give_up(a, c, now_ps);
    } else {
        c->retries_left--;
        c->pending = true;
        c->timer_ps = now_ps + c->remote_wait_ps;
        a->retries++;
    }
}

void wf_cm_tick(struct wf_cm_agent *a, uint64_t now_ps)
{
    for (uint32_t i = 0; i < a->n_conns; i++)
        if (a->conns[i].timer_ps <= now_ps)
            tick(a, &a->conns[i], now_ps);
}
