/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside a model host: its NIC, its queue pairs and the flows that run over them. For the files of
 * host/ only.
 */
#ifndef WEFT_HOST_NIC_H
#define WEFT_HOST_NIC_H

#include "base/prng.h"
#include "host/cc.h"
#include "host/cnp.h"
#include "host/form.h"
#include "host/host.h"
#include "xport/qp.h"

enum {
    WF_NIC_QUEUED_MAX = 2,   /* frames that the NIC keeps ahead of the wire, a priority */
    WF_NIC_REPLIES_MAX = 64, /* replies to ARP, ND and ping that may wait, a priority */
    WF_NIC_TTL = 64,
};

/* A flow as its sending host runs it. The counters of either half are kept by that half alone, and
 * brought together when somebody settles the fabric. */
struct wf_flow {
    struct wf_flow *next;
    const char *name; /* "flow.f0" */
    struct wf_flow_cfg cfg;
    struct wf_nic_qp *tx, *rx; /* rx: NULL with `connect` */
    const struct wf_node *to;
    const struct wf_host_cfg *to_cfg;
    struct wf_event start;
    uint64_t raddr;
    uint32_t rkey;
    uint64_t base_rtt_ps;    /* of a full packet and its ACK on the empty path; 0: not known */
    uint32_t slots, pattern; /* connect: messages in the peer's memory, and what is sent there */
    uint64_t posted, completed, failed; /* messages */
    uint64_t completion_ps;
    uint64_t ctr[WF_FLOW_CTRS];
};

/* Receives that model hosts post: of one queue pair, or shared by flows to a host. */
struct wf_nic_rq {
    struct wf_rq rq;
    struct wf_node *node;
    struct wf_event event; /* the receiver is done with a message */
    uint64_t time_ps;      /* that takes so long */
    uint32_t busy;         /* messages that it has not dealt with */
    uint32_t len;          /* of a receive */
};

/* A queue pair of a host: the engine, what its frames look like, and when it may send. */
struct wf_nic_qp {
    struct wf_qp qp;
    struct wf_host *host;
    struct wf_flow *flow;      /* requester's side; NULL at the other */
    struct wf_fifo_node ready; /* among those of its priority that have something to send */
    bool is_ready;
    uint8_t prio, ecn;
    struct wf_event timer;
    struct wf_txclock pace; /* rate 0: unpaced */
    struct wf_nic_cc *cc;   /* congestion control of what it sends; NULL: none */
    struct wf_nic_np *np;   /* it notifies its peer of congestion; NULL: it does not */
    struct wf_roce frame;   /* addresses and what else stays the same */
    struct wf_form form;    /* of the last frame */
    struct wf_mr mr;
    struct wf_nic_rq *rq;    /* NULL: it takes no messages */
    struct wf_peer_qp *peer; /* of an endpoint, else NULL */
    uint64_t delay_max_ps, cnps;
};

struct wf_host {
    struct wf_node node; /* first */
    struct wf_nic_qp **qps;
    uint32_t n_qps, qps_mask; /* open addressing by QP number, at most half full */
    struct wf_host_cfg cfg;
    struct wf_fifo ready[WF_PRIOS];
    struct wf_np_domain *np_domains;
    struct wf_flow *flows, *last_flow; /* those that it sends */
    struct wf_nic_rq *srq;             /* of flows with shared_recv; NULL: there are none */
    struct wf_endpoint *endpoint;      /* NULL: it knows no connection manager */
};

/* nic.c */
/* sq_len: work requests that it holds at once; rounded up to a power of two. */
struct wf_nic_qp *wf_nic_qp_add(struct wf_host *h, struct wf_arena *arena,
                                const struct wf_qp_cfg *cfg, uint32_t sq_len);
struct wf_nic_qp *wf_nic_qp_find(const struct wf_host *h, uint32_t qpn);
/* Something about the queue pair changed: let it send if it may, set its timer. */
void wf_nic_qp_wake(struct wf_nic_qp *nq);
/* Fill the port's queue of this priority from the queue pairs that are ready. */
void wf_nic_pump(struct wf_host *h, unsigned prio);

/* payload.c: a new packet with all of its bytes, which are those of iov; NULL as wf_pkt_new(). */
struct wf_pkt *wf_nic_real(struct wf_net *net, const struct wf_roce *frame, const struct iovec *iov,
                           uint32_t n_iov);

/* flow.c */
/* All its messages have an end, so that nobody needs its timers. */
bool wf_flow_over(const struct wf_flow *flow);
void wf_flow_settle(struct wf_flow *flow);
/* What controls its data; NULL: nothing does. */
struct wf_nic_cc *wf_flow_cc(const struct wf_flow *flow);
/* Its queue pair is there: messages may be posted. */
void wf_flow_begin(struct wf_flow *flow);
/* Ask for its connection anew, so much later; -ETIMEDOUT: that is too late. */
int wf_flow_again(struct wf_flow *flow, uint64_t in_ps);
void wf_flow_completed(void *arg, const struct wf_wc *wc);

/* work.c: what a flow posts, and what its receiver does */
void wf_flow_qp_cfg(const struct wf_flow_cfg *cfg, struct wf_qp_cfg *qp);
/* Its queue pairs get what its operation needs beyond WRITE. */
void wf_flow_equip(struct wf_flow *f, struct wf_arena *arena);
void wf_flow_work(const struct wf_flow *f, struct wf_work *w);
void wf_flow_received(void *arg, const struct wf_wc *wc);
/* Counters of what is beyond WRITE. */
void wf_flow_settle_more(struct wf_flow *f);

/* reply.c: true when the frame was ARP, ND or ping for this host, and was turned into the answer */
bool wf_nic_reply(struct wf_host *h, struct wf_port *port, struct wf_pkt *pkt);

#endif
