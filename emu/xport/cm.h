/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection manager as a pure state machine (IBA vol. 1, chapter 12): an agent holds a host's
 * connections, active and passive, from REQ to the end of TimeWait. MADs go in by wf_cm_rx() and
 * come out by wf_cm_pull(); the caller passes the time and is told when to come back; a consumer
 * decides by calls from its event callback or later. No allocation, no clock.
 *
 * A connection keeps the last message that it sent: it is sent again when nobody answers, and when
 * the peer's duplicate says that it was lost. What belongs to no connection (a refusal, the answer
 * to a DREQ of the past, SIDR) is answered once, without state.
 * Left out: alternate paths and LAP, peer-to-peer connections (12.10.4), end-to-end contexts,
 * automatic path record lookups, redirects.
 */
#ifndef WEFT_XPORT_CM_H
#define WEFT_XPORT_CM_H

#include "base/units.h"
#include "wire/cm.h"

enum {
    WF_CM_STRAYS_MAX = 8, /* messages of no connection that wait to be pulled; more are lost */
    WF_CM_RETRIES = 15,   /* the most that a REQ can tell of */
};

/* 12.9.5 and 12.9.6, the states that last. */
enum wf_conn_state {
    WF_CONN_IDLE,
    WF_CONN_REQ_SENT,
    WF_CONN_REQ_RCVD, /* the consumer is to accept or reject */
    WF_CONN_REP_RCVD, /* the consumer is to confirm or reject */
    WF_CONN_REP_SENT,
    WF_CONN_ESTABLISHED,
    WF_CONN_DREQ_SENT,
    WF_CONN_TIMEWAIT,
    WF_CONN_SIDR_SENT,
};

enum wf_conn_event {
    WF_CONN_EV_REQUEST,      /* passive: a REQ; its message is there */
    WF_CONN_EV_REPLY,        /* active: a REP; its message is there */
    WF_CONN_EV_ESTABLISHED,  /* passive: the RTU, or traffic in its place */
    WF_CONN_EV_REJECTED,     /* its message is there; the connection is over */
    WF_CONN_EV_UNREACHABLE,  /* nobody answered; the connection is over */
    WF_CONN_EV_DISCONNECTED, /* by either side, or its peer forgot it */
    WF_CONN_EV_RESOLVED,     /* active: a SIDR_REP; its message is there */
    WF_CONN_EV_FREE,         /* TimeWait is over: its queue pair may be used again */
};

/* Where a MAD came from and goes to. Copied, and else not looked at here. */
struct wf_cm_peer {
    uint8_t local_gid[16], remote_gid[16]; /* IPv4 as ::ffff:a.b.c.d */
    uint8_t mac[6];                        /* of whom frames to the peer are sent to */
    uint32_t qpn;                          /* of the peer's general services */
};

/* What an end says of its queue pair. */
struct wf_cm_qp {
    uint32_t qpn, qkey;
    uint32_t psn; /* what the other end is to begin sending with (12.7.31) */
    uint8_t responder_resources, initiator_depth;
    uint8_t retries, rnr_retries; /* 0 ... 7 */
    uint8_t ack_timeout;          /* 4.096 us x 2^n */
    uint8_t path_mtu;             /* of a REQ: 1 (256) ... 5 (4096) */
    uint8_t service;              /* of a REQ: 0 RC, 1 UC */
    bool srq;
};

struct wf_conn {
    enum wf_conn_state state;
    bool active;
    uint32_t local_id, remote_id;
    uint64_t tid, remote_guid;
    struct wf_cm_peer peer;
    uint32_t qpn, remote_qpn;
    uint64_t remote_wait_ps;       /* how long the peer may take to answer */
    uint64_t timer_ps;             /* WF_TIME_NEVER: not running */
    uint8_t retries, retries_left; /* of a message; of the last one */
    bool pending;                  /* `mad` waits to be pulled */
    uint8_t mad[WF_MAD_LEN];       /* the last message sent */
    void *user;                    /* the consumer's */
};

struct wf_cm_cfg {
    uint64_t guid;
    uint32_t first_id;    /* communication IDs count up from here */
    uint8_t response;     /* an answer takes at most 4.096 us x 2^n, by us and by whom we ask */
    uint8_t retries;      /* of a message without an answer, and what a peer is told of that */
    uint64_t timewait_ps; /* 12.9.8.4 */
};

struct wf_cm_user {
    void *arg;
    /* m: the message that is the event, or NULL. May call any function on the connection. */
    void (*event)(void *arg, struct wf_conn *c, enum wf_conn_event ev, const struct wf_cm_msg *m,
                  uint64_t now_ps);
    /* A SIDR_REQ: fill in status, QPN, Q_Key and private data of the answer. NULL: status 1. */
    void (*resolve)(void *arg, const struct wf_cm_peer *from, const struct wf_cm_msg *req,
                    struct wf_cm_msg *rep);
};

struct wf_cm_stray {
    struct wf_cm_peer peer;
    uint8_t mad[WF_MAD_LEN];
};

struct wf_cm_agent {
    struct wf_cm_cfg cfg;
    struct wf_cm_user user;
    struct wf_conn *conns;
    uint32_t n_conns, next_id;
    uint32_t n_strays;
    struct wf_cm_stray strays[WF_CM_STRAYS_MAX];
    uint64_t rx, tx, retries, duplicates, bad; /* MADs; bad: no message that we know, or stray */
};

/* n connections live in conns, as long as the agent does. */
void wf_cm_agent_init(struct wf_cm_agent *a, const struct wf_cm_cfg *cfg,
                      const struct wf_cm_user *user, struct wf_conn *conns, uint32_t n);
/* A MAD of class CM that came to the general services' queue pair. */
void wf_cm_rx(struct wf_cm_agent *a, const struct wf_cm_peer *from, const uint8_t *mad,
              uint32_t len, uint64_t now_ps);
/* The next MAD to send; false: none. Ask until there is none after every other call. */
bool wf_cm_pull(struct wf_cm_agent *a, uint64_t now_ps, struct wf_cm_peer *to,
                uint8_t mad[WF_MAD_LEN]);
/* When to call wf_cm_tick(); WF_TIME_NEVER: nothing is waited for. */
uint64_t wf_cm_timer_ps(const struct wf_cm_agent *a);
void wf_cm_tick(struct wf_cm_agent *a, uint64_t now_ps);

/* Active: ask for a connection. NULL when there is no place for one. The caller has filled in
 * path's GIDs or LIDs; private_data may be NULL. */
struct wf_conn *wf_cm_connect(struct wf_cm_agent *a, const struct wf_cm_peer *to,
                              uint64_t service_id, const struct wf_cm_qp *qp,
                              const struct wf_cm_path *path, const void *private_data, uint32_t len,
                              uint64_t now_ps);
/* Active: ask who serves datagrams. */
struct wf_conn *wf_cm_resolve(struct wf_cm_agent *a, const struct wf_cm_peer *to,
                              uint64_t service_id, const void *private_data, uint32_t len,
                              uint64_t now_ps);
/* Passive, after EV_REQUEST. */
void wf_cm_accept(struct wf_cm_agent *a, struct wf_conn *c, const struct wf_cm_qp *qp,
                  const void *private_data, uint32_t len, uint64_t now_ps);
/* Active, after EV_REPLY: the RTU. */
void wf_cm_confirm(struct wf_cm_agent *a, struct wf_conn *c, uint64_t now_ps);
/* After EV_REQUEST or EV_REPLY. Of a request nothing is kept: a duplicate asks anew. */
void wf_cm_reject(struct wf_cm_agent *a, struct wf_conn *c, uint16_t reason,
                  const void *private_data, uint32_t len, uint64_t now_ps);
/* Passive: a packet came in on the queue pair before the RTU did (12.9.6.2). */
void wf_cm_traffic(struct wf_cm_agent *a, struct wf_conn *c, uint64_t now_ps);
/* Either side of what is established; nothing else is changed by it. */
void wf_cm_disconnect(struct wf_cm_agent *a, struct wf_conn *c, uint64_t now_ps);

/* 4.096 us x 2^n. */
static inline uint64_t wf_cm_wait_ps(uint8_t n)
{
    return 4096000ull << (n & 31);
}

#endif
