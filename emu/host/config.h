/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a user can set at a host, its attachment to the outside, and its flows. A host is a model
 * unless `attach` gives it a real peer.
 */
#ifndef WEFT_HOST_CONFIG_H
#define WEFT_HOST_CONFIG_H

#include "base/key.h"
#include "eth/pfc.h"

enum wf_attach_type {
    WF_ATTACH_NONE,
    WF_ATTACH_VHOST_USER, /* a guest's virtio-net; path is our socket, we are the server */
    WF_ATTACH_AF_PACKET,  /* a kernel interface: veth, tap */
    WF_ATTACH_ETHDEV,     /* any DPDK port, by devargs */
};
enum wf_attach_pfc { WF_PFC_BACKPRESSURE, WF_PFC_HONOUR, WF_PFC_IGNORE };

struct wf_attach_cfg {
    int type;             /* enum wf_attach_type */
    const char *path;     /* vhost_user: socket; NULL: <run dir>/<host>.vhost */
    const char *iface;    /* af_packet: interface name */
    const char *devargs;  /* ethdev */
    int pfc;              /* enum wf_attach_pfc */
    uint32_t fifo_frames; /* frames that wait for the peer before the edge stalls */
};

/* Where the real host of an attachment lives, for `weft lab` and `weft exec`. */
struct wf_place_cfg {
    const char *guest; /* name of the guest that holds it; NULL: one of its own, host's name */
    const char *netns; /* a network namespace instead of a guest */
};

struct wf_cc_use;

enum wf_nic_profile_id {
    WF_NIC_GENERIC,
    WF_NIC_CONNECTX5,
    WF_NIC_CONNECTX6,
    WF_NIC_CONNECTX7,
    WF_NIC_E810,
    WF_NIC_THOR2,
    WF_NIC_PROFILES
};
enum wf_cnp_pacing {
    WF_CNP_AS_PROFILE,
    WF_CNP_PER_PORT,
    WF_CNP_PER_IP_PAIR,
    WF_CNP_PER_DEST_IP, /* the same while a NIC has one address of a family */
    WF_CNP_PER_QP,
};
enum wf_tri { WF_TRI_AUTO, WF_TRI_OFF, WF_TRI_ON };

/* The NIC of a model host; or one between an attached host and the fabric, when it has a control.
 */
struct wf_nic_cfg {
    int profile;    /* enum wf_nic_profile_id */
    const char *cc; /* congestion control of its flows, unless they name one; NULL: none */
    const struct wf_cc_use *control; /* of an attached host: that it means; NULL: none */
    int cnp;        /* enum wf_tri: auto is whenever the sender's control wants them */
    int cnp_pacing; /* enum wf_cnp_pacing */
    uint64_t cnp_interval_ps, cnp_delay_ps; /* WF_KEY_AUTO: the profile's */
    int cnp_on_nak;                         /* enum wf_tri */
    uint32_t cnp_dscp;
};

enum wf_listen_recv {
    WF_LISTEN_NONE,
    WF_LISTEN_SINK,
    WF_LISTEN_ECHO,
    WF_LISTEN_RPING
}; /* as in an offer */

/* A model host that real programs connect to by the RDMA IP CM service. */
struct wf_listen_cfg {
    uint32_t port;         /* 0: it does not listen */
    uint32_t connections;  /* at once */
    uint64_t memory_bytes; /* of each connection */
    uint32_t pattern;      /* that the memory begins with, see offer.h */
    uint32_t refuse;       /* every request, with this reason; 0: none */
    int recv;              /* enum wf_listen_recv: what becomes of SENDs */
    uint64_t recv_bytes;   /* of each receive */
    uint32_t recv_depth;   /* receives of a connection */
};

struct wf_host_cfg {
    uint32_t mtu;   /* L3 bytes */
    uint8_t mac[6]; /* all zero: given by the fabric */
    struct wf_ip_prefix ip, ip6, gateway, gateway6;
    struct wf_pfc_cfg pfc;
    uint8_t dscp_to_priority[64];
    struct wf_attach_cfg attach;
    struct wf_place_cfg place;
    struct wf_nic_cfg nic;
    struct wf_listen_cfg listen;
};

extern const struct wf_keyset wf_host_keys;
/* Table defaults; DSCP d to priority d / 8. */
void wf_host_cfg_defaults(struct wf_host_cfg *cfg);

/* Of a flow that connects: bytes of a message, packets of a READ's answer; such flows of a host. */
enum { WF_DIAL_BYTES_MAX = 64 << 20, WF_DIAL_READ_MAX = 8192, WF_DIALS_MAX = 64 };
enum wf_flow_family { WF_FAMILY_ANY, WF_FAMILY_IP4, WF_FAMILY_IP6 };

/* A flow: messages on one queue pair from a model host to another, or to a real one (connect). */
struct wf_flow_cfg {
    bool unjudged;         /* no key: outside of its workload's warm-up and cut-off */
    uint64_t size_bytes;   /* of a message */
    uint32_t count;        /* messages, one after the other is posted at once */
    uint32_t path_mtu;     /* 256 ... 4096 */
    uint64_t window_bytes; /* most payload in flight */
    uint64_t start_ps;
    uint32_t dscp;
    int ecn;                         /* 0 not_ect, 1 ect */
    uint64_t rate_bps;               /* pace at most this; 0: line rate */
    uint64_t ack_timeout_ps;         /* local ACK timeout */
    uint32_t retries;                /* of a timeout or NAK without progress, then the flow fails */
    const char *cc;                  /* name of its congestion control; NULL: the host's */
    const struct wf_cc_use *control; /* that it means; NULL: none */
    int op;                          /* enum wf_work_op */
    int service;                     /* enum wf_flow_service */
    int retransmit;                  /* enum wf_retransmit, or WF_RETRANSMIT_AUTO */
    uint32_t rnr_retry, min_rnr_timer;
    uint32_t recv_depth;                        /* receives that the receiver keeps posted */
    uint64_t recv_time_ps;                      /* until one that was used is posted again */
    int shared_recv;                            /* of all such flows to that host: an SRQ */
    uint32_t max_rd_atomic, max_dest_rd_atomic; /* of the sender, of the receiver */
    uint32_t connect;         /* port of rdma_cm at the peer, which is asked; 0: both ends know */
    uint64_t connect_wait_ps; /* how long it asks again while nobody listens */
    int family;               /* enum wf_flow_family */
    int program;              /* enum wf_flow_program */
};

enum wf_flow_program { WF_PROGRAM_WEFT, WF_PROGRAM_RPING }; /* whose protocol a connection has */
enum wf_flow_service { WF_FLOW_RC, WF_FLOW_UC, WF_FLOW_UD };
enum { WF_RETRANSMIT_AUTO = 3 }; /* behind those of enum wf_retransmit: the NIC's profile says */

extern const struct wf_keyset wf_flow_keys;
extern const char *const wf_retransmit_names[]; /* by enum wf_retransmit, NULL-terminated */
/* What of it makes no sense together, or NULL. */
const char *wf_flow_cfg_wrong(const struct wf_flow_cfg *cfg);

#endif
