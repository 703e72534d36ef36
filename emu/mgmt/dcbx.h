/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The DCBX of a port, without frames and time (802.1Q clause 38, once 802.1Qaz): what it says of
 * itself, what became of the peer's word, and where the two disagree. ETS is asymmetric (a willing
 * port takes what the peer recommends), PFC symmetric (the willing one takes the other's, and of
 * two the one with the higher MAC address), applications are the peer's when told to be willing.
 * What a willing port takes over is applied to it: PFC is switched off for priorities that the peer
 * has without, and queues are served as it recommends. CEE is in cee.h.
 * Left out: the peer's map of priorities to traffic classes and its applications change no map
 * here; no group becomes lossless that has no buffer for it.
 */
#ifndef WEFT_MGMT_DCBX_H
#define WEFT_MGMT_DCBX_H

#include "mgmt/cee.h"
#include "net/port.h"

/* What is seen of a peer, and nothing else. */
enum wf_dcbx_peer {
    WF_DCBX_SILENT,       /* no DCBX TLV, or no LLDP at all */
    WF_DCBX_IEEE_WILLING, /* in ETS or PFC */
    WF_DCBX_IEEE_FIXED,
    WF_DCBX_CEE_ONLY, /* or what came before CEE */
    WF_DCBX_BOTH,     /* IEEE and CEE TLVs */
    WF_DCBX_BROKEN,   /* its last LLDPDU or a DCBX TLV in it was malformed */
};

/* Where the port and its peer disagree. */
enum {
    WF_DCBX_DIFF_PFC = 1,  /* the priorities with PFC */
    WF_DCBX_DIFF_ETS = 2,  /* traffic classes, their bandwidths or algorithms */
    WF_DCBX_DIFF_ROCE = 4, /* the priority of UDP port 4791 */
};

/* What the port goes by, and whose word each part is. */
struct wf_dcbx_oper {
    struct wf_ets_tlv ets;
    struct wf_dcb_pfc pfc;
    int roce; /* priority of UDP port 4791, -1: none */
    bool ets_of_peer, pfc_of_peer, app_of_peer;
    bool cee; /* by CEE's rules */
};

/* What a port of this configuration says: the IEEE half of *out. */
void wf_dcbx_of_port(const struct wf_switch_port_cfg *cfg, struct wf_dcbx *out);
/* peer NULL: there is none, or more than one. */
enum wf_dcbx_peer wf_dcbx_peer_of(const struct wf_dcbx *peer);
const char *wf_dcbx_peer_name(enum wf_dcbx_peer state);
void wf_dcbx_resolve(const struct wf_dcbx *own, bool app_willing, const uint8_t own_mac[6],
                     const struct wf_dcbx *peer, const uint8_t peer_mac[6],
                     struct wf_dcbx_oper *out);
/* The same by CEE's rules: what its features came to. */
void wf_dcbx_resolve_cee(const struct wf_dcbx *own, const struct wf_cee *cee,
                         const struct wf_dcbx *peer, struct wf_dcbx_oper *out);
/* Let the port go by it: nothing happens but to what the peer decides. */
void wf_dcbx_apply(struct wf_port *port, const struct wf_switch_port_cfg *cfg,
                   const struct wf_dcbx_oper *oper);
unsigned wf_dcbx_differences(const struct wf_dcbx *own, const struct wf_dcbx *peer);
/* "PFC differs: 3 here, 3,4 at the peer; ..."; returns buf, empty when they agree. */
const char *wf_dcbx_differences_text(const struct wf_dcbx *own, const struct wf_dcbx *peer,
                                     char *buf, size_t len);

/* The peer's priorities with PFC and priority of RoCE, be it IEEE's or CEE's. False: not told. */
bool wf_dcbx_pfc_of(const struct wf_dcbx *d, uint8_t *enable);
bool wf_dcbx_roce_of(const struct wf_dcbx *d, int *prio);
enum { WF_DCBX_ETS_TEXT = 96, WF_DCBX_DIFFERENCES_TEXT = 400 };
/* "3,4", "none"; "00030060 0:50% 3:50% 6:strict": traffic classes by priority, and how each that
 * has one is served. Return buf. */
const char *wf_dcbx_pfc_text(uint8_t enable, char *buf, size_t len);
const char *wf_dcbx_ets_text(const struct wf_ets_tlv *h, char *buf, size_t len);

#endif
