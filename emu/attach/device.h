/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device behind an edge: a DPDK ethdev port, plugged in when the run begins and out when it
 * ends. A kind of attachment is one file and one row of wf_attach_kinds: it checks what the user
 * gave, writes the device's arguments, and later says how the peer is.
 */
#ifndef WEFT_ATTACH_DEVICE_H
#define WEFT_ATTACH_DEVICE_H

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#include "attach/far_end.h"
#include "base/err.h"
#include "host/config.h"

enum wf_peer_state {
    WF_PEER_UP,
    WF_PEER_DOWN, /* not there yet, or its link is down */
    WF_PEER_GONE, /* and won't come back */
};

struct wf_edge_dev;

struct wf_attach_kind {
    const char *name; /* as in the scenario: attach.type */
    const char *doc;
    /* Check and write DPDK's device arguments: name first, then ",key=value"s. d->where is to be
     * filled: what messages call the place. */
    int (*prepare)(struct wf_edge_dev *d, char *args, size_t len, struct wf_err *err);
    /* How the peer is, asked about ten times a second; may lower or raise d->mtu. */
    enum wf_peer_state (*look)(struct wf_edge_dev *d);
    /* What is left of it is to be undone. May be NULL. */
    void (*finish)(struct wf_edge_dev *d);
    bool asks_port_mtu; /* the device has to be told how long frames get */
};

enum { WF_EDGE_NO_PORT = UINT16_MAX };

struct wf_edge_dev {
    const struct wf_attach_kind *kind;
    const struct wf_attach_cfg *cfg;
    const char *host;    /* name */
    const char *run_dir; /* where sockets go that have no path of their own; may be NULL */
    char where[128];     /* "interface veth0", "socket /run/..." */
    char name[64];       /* DPDK's name of the device */
    uint16_t port;       /* of ethdev */
    bool plugged;        /* by us */
    bool started;
    uint32_t mtu_asked; /* L3 bytes of the host, by the scenario */
    uint32_t mtu;       /* what the device takes, at most that */
    uint8_t own_mac[6]; /* frames from it were sent by our own kernel, not by the peer */
    bool has_own_mac;
    bool promisc_was; /* before us */
    int ifindex, lock_fd;
    struct wf_far_end far; /* of a kernel interface */
};

extern const struct wf_attach_kind wf_attach_vhost_user, wf_attach_af_packet, wf_attach_ethdev;
/* By enum wf_attach_type; NULL for `none`. */
extern const struct wf_attach_kind *const wf_attach_kinds[];

/* kind, cfg, host, run_dir and mtu_asked are set. Queues take their packets from the pool. */
int wf_edge_dev_open(struct wf_edge_dev *d, struct rte_mempool *pool, struct wf_err *err);
/* Unplug; nothing is left behind. Safe to call on one that never opened. */
void wf_edge_dev_close(struct wf_edge_dev *d);
unsigned wf_edge_dev_rx(struct wf_edge_dev *d, struct rte_mbuf **pkts, unsigned n);
unsigned wf_edge_dev_tx(struct wf_edge_dev *d, struct rte_mbuf **pkts, unsigned n);
/* Frames that the device lost before weft saw them, as far as it counts them. */
uint64_t wf_edge_dev_missed(const struct wf_edge_dev *d);

#endif
