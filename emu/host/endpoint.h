/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model host as a peer of real programs: its general services' queue pair (QP1), over which the
 * connection manager's MADs come and go, the port that it listens on, and the queue pairs of its
 * connections, whose memory is real. A host without `listen` and without a flow that connects has
 * none of this. Queue pairs, memory and places for connections are made when the fabric is built.
 * Left out: other classes of management at QP1, several ports to listen on, path records.
 */
#ifndef WEFT_HOST_ENDPOINT_H
#define WEFT_HOST_ENDPOINT_H

#include "base/counter.h"
#include "host/nic.h"
#include "host/offer.h"
#include "xport/cm.h"

enum {
    WF_ENDPOINT_QPN_FIRST = 0x800000,
    WF_ENDPOINT_RD_ATOMIC = 16,     /* READs and atomics of a connection that may be outstanding */
    WF_ENDPOINT_ECHO_PACKETS = 128, /* likewise, of what goes back */
    WF_ENDPOINT_SPORT = 0xc000,     /* of datagrams */
    WF_RPING_LEN = 16,              /* of what rping SENDs */
};

#define WF_UD_QKEY 0x01234567u /* of all datagrams of the port space UDP, as Linux has it */

/* Whose datagrams are compared with a pattern. */
struct wf_ud_sender {
    uint8_t gid[16];
    uint32_t qpn, pattern; /* 0: nobody's */
    uint32_t next;         /* number of the next */
};

struct wf_ud_way {
    struct wf_cm_peer peer;
    uint8_t ttl; /* less than it came with, so that two that echo each other come to an end */
};

/* What a queue pair of datagrams has besides. */
struct wf_datagrams {
    struct wf_ud_way *ways; /* by the place of its receive: where each came from */
    struct wf_ud_sender *senders;
    uint32_t n_senders, next_sender;
};

/* A queue pair of the endpoint and the memory that it opens to its peer. */
struct wf_peer_qp {
    struct wf_endpoint *ep;
    struct wf_nic_qp *nq;
    struct wf_conn *conn; /* NULL: free */
    struct wf_flow *flow; /* active: whose messages it carries */
    bool open;            /* the queue pair hears and answers */
    uint8_t *mem;
    uint64_t mem_len, va;
    uint32_t *pages, epoch; /* passive: of the memory, in which connection each was written */
    struct wf_rd_res res[WF_ENDPOINT_RD_ATOMIC];
    uint32_t rkey;
    struct wf_offer announced; /* by the REQ or REP; pattern 0: nothing */
    uint32_t psn;              /* active: that the peer begins to send with */
    enum wf_listen_recv recv;  /* NONE: and nothing of what follows */
    struct wf_rq rq;
    struct wf_recv *places;
    uint8_t *inbox; /* memory of receives */
    uint32_t recv_len, recv_depth, rq_len, n_sends;
    uint64_t right_bytes, wrong_bytes; /* active: of what was read */
    struct wf_datagrams *ud;           /* NULL: it is connected */
    struct wf_rping *rping;            /* NULL: it does not talk so */
    uint32_t qkey;                     /* active: that the peer's takes */
};

struct wf_endpoint {
    struct wf_host *host;
    struct wf_cm_agent agent;
    struct wf_event timer;
    struct wf_prng prng;
    struct wf_roce frame; /* of MADs */
    uint32_t psn;
    struct wf_peer_qp *listeners; /* none when it does not listen */
    uint32_t n_listeners;
    struct wf_peer_qp *ud; /* NULL: it takes no datagrams */
    uint32_t n_active;
    uint64_t past[WF_ENDPOINT_CTRS]; /* events, and what connections of the past counted */
    uint64_t ctr[WF_ENDPOINT_CTRS];  /* all of it, when somebody settles the fabric */
};

/* When the host has a `listen`; else nothing. */
void wf_endpoint_ready(struct wf_host *h, struct wf_arena *arena);
/* A packet for QP1. */
enum wf_reason wf_endpoint_rx(struct wf_host *h, const struct wf_pkt *pkt);
void wf_endpoint_settle(struct wf_endpoint *ep);

/* A flow that connects: its queue pair at `from`, before anybody is asked. */
void wf_endpoint_add_flow(struct wf_flow *f, struct wf_host *from, struct wf_arena *arena);
/* The queue pair of a host's n-th flow that connects, from 0. */
uint32_t wf_endpoint_dial_qpn(const struct wf_host_cfg *cfg, uint32_t n);
/* Ask the peer that the flow's queue pair is dressed for. */
void wf_endpoint_connect(struct wf_flow *f);
/* A message of the flow is done. */
void wf_endpoint_done(struct wf_flow *f, const struct wf_wc *wc);
/* Message number i of a flow that is connected. */
void wf_endpoint_work(const struct wf_flow *f, uint64_t i, struct wf_work *w);

/* Its counters that no other flow has. */
void wf_endpoint_settle_flow(struct wf_flow *f);

/* Between the files of an endpoint */
/* errand.c: memory that a flow's messages lie in, and how many are posted at once. */
uint64_t wf_errand_memory(const struct wf_flow_cfg *cfg);
uint32_t wf_errand_sq_len(const struct wf_flow_cfg *cfg);
/* What its REQ says. */
void wf_errand_offer(const struct wf_flow *f, struct wf_offer *o);
/* The peer has offered this, and to answer so many READs and atomics; false: it won't do. */
bool wf_errand_begin(struct wf_flow *f, const struct wf_offer *o, uint32_t resources);
/* What atomics that were announced so leave of the first word of a pattern. */
uint64_t wf_errand_left(const struct wf_offer *o, uint32_t pattern);
/* What a message brought is compared. */
void wf_errand_judge(struct wf_flow *f, const struct wf_wc *wc);
/* The host's, made when it has none. */
struct wf_endpoint *wf_endpoint_of(struct wf_host *h, struct wf_arena *arena);
/* An active one's REP is there; its SIDR_REP; its connection is over. */
void wf_endpoint_replied(struct wf_peer_qp *p, const struct wf_cm_msg *m, uint64_t now_ps);
void wf_endpoint_resolved(struct wf_peer_qp *p, const struct wf_cm_msg *m);
/* again: nobody was there yet. */
void wf_endpoint_over(struct wf_peer_qp *p, bool again);
void wf_endpoint_flush(struct wf_endpoint *ep, uint64_t now_ps);
struct wf_peer_qp *wf_peer_new(struct wf_endpoint *ep, struct wf_peer_qp *p, uint32_t number,
                               uint64_t mem_len, uint32_t sq_len, struct wf_arena *arena);
/* A packet came for it. What is taken is as good as the peer's RTU (12.9.6.2). */
void wf_peer_heard(struct wf_peer_qp *p, bool taken);
/* The queue pair becomes what the two ends have agreed upon. */
void wf_peer_open(struct wf_peer_qp *p, const struct wf_qp_cfg *cfg);
/* It is deaf from now on; what it has counted stays in the endpoint's counters. */
void wf_peer_close(struct wf_peer_qp *p);
/* What its responder has counted, added to the endpoint's counters. */
void wf_peer_count(const struct wf_peer_qp *p, uint64_t *ctr);

/* region.c: the memory of a listener; a new connection finds it as it is to be */
void wf_region_new(struct wf_peer_qp *p, struct wf_arena *arena);
void wf_region_open(struct wf_peer_qp *p);
/* A packet looks at these bytes, or writes them. */
void wf_region_touch(struct wf_peer_qp *p, uint64_t off, uint64_t len, bool write);
/* So many bytes from its beginning are put to a use that no packet sees. */
void wf_region_forget(struct wf_peer_qp *p, uint64_t len);
uint64_t wf_region_right(const struct wf_peer_qp *p, uint32_t pattern, uint64_t len);
uint64_t wf_region_word(const struct wf_peer_qp *p);

/* rping.c: how many it has posted at most */
uint32_t wf_rping_new(struct wf_peer_qp *p, struct wf_arena *arena);
void wf_rping_open(struct wf_peer_qp *p);
/* A flow's first ping. */
void wf_rping_begin(struct wf_peer_qp *p);
void wf_rping_received(struct wf_peer_qp *p, const uint8_t *at, uint32_t len);
void wf_rping_completed(void *arg, const struct wf_wc *wc);
/* Nothing more comes of it. */
void wf_rping_failed(struct wf_peer_qp *p);

/* datagram.c: of a listener; of the queue pair of a flow, or both */
void wf_datagrams_listen(struct wf_endpoint *ep, struct wf_arena *arena);
void wf_datagrams_new(struct wf_peer_qp *p, const struct wf_listen_cfg *cfg, uint32_t senders,
                      struct wf_arena *arena);
void wf_datagrams_dial(struct wf_peer_qp *p, struct wf_arena *arena);
/* A flow's SIDR_REP is there; false: it won't do. */
bool wf_datagrams_begin(struct wf_peer_qp *p, const struct wf_cm_msg *rep);
void wf_datagrams_settle(const struct wf_peer_qp *p, uint64_t *ctr);
/* wf_cm_user.resolve */
void wf_datagrams_resolve(void *arg, const struct wf_cm_peer *from, const struct wf_cm_msg *req,
                          struct wf_cm_msg *rep);
/* Before the queue pair takes it. */
void wf_datagrams_arrive(const struct wf_pkt *pkt, struct wf_qp_in *in, uint8_t grh[WF_QP_GRH_LEN]);
/* It is in its receive. True: it goes back, and the receive is used until then. */
bool wf_datagrams_received(struct wf_peer_qp *p, const struct wf_wc *wc, uint8_t *place);
/* The next frame goes there. */
void wf_datagrams_address(struct wf_nic_qp *nq, const struct wf_ud_way *way);
bool wf_gid_is_v4(const uint8_t gid[16]);

/* Its receives: when it is made, and when it is opened. */
void wf_inbox_new(struct wf_peer_qp *p, const struct wf_listen_cfg *cfg, struct wf_arena *arena);
void wf_inbox_open(struct wf_peer_qp *p);
void wf_inbox_received(void *arg, const struct wf_wc *wc);
/* What was sent back is done. */
void wf_inbox_echoed(void *arg, const struct wf_wc *wc);

#endif
