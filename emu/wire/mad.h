/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Management datagrams: the common header (IBA 13.4.3) and the connection manager's messages as
 * far as their numbers go (IBA 12.6), so that reports can say who connects to whom; whole messages
 * are in cm.h. Rare packets: they are read and written by their field tables.
 * Left out: RMPP, SMPs, LAP bodies.
 */
#ifndef WEFT_WIRE_MAD_H
#define WEFT_WIRE_MAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "wire/field.h"

#define WF_MAD_LEN      256
#define WF_MAD_HDR_LEN  24
#define WF_MAD_CLASS_CM 0x07

enum wf_cm_attr {
    WF_CM_REQ = 0x10,
    WF_CM_MRA,
    WF_CM_REJ,
    WF_CM_REP,
    WF_CM_RTU,
    WF_CM_DREQ,
    WF_CM_DREP,
    WF_CM_SIDR_REQ,
    WF_CM_SIDR_REP,
    WF_CM_LAP,
    WF_CM_APR,
};

struct wf_mad {
    uint8_t base_version, mgmt_class, class_version;
    bool response;
    uint8_t method;
    uint16_t status, class_specific;
    uint64_t tid;
    uint16_t attr_id, resv;
    uint32_t attr_mod;
};

struct wf_cm_req {
    uint32_t local_comm_id;
    uint64_t service_id, local_ca_guid;
    uint32_t local_qkey, local_qpn;
    uint8_t responder_resources;
    uint32_t local_eecn;
    uint8_t initiator_depth;
    uint32_t remote_eecn;
    uint8_t remote_timeout, service_type;
    bool e2e_credits;
    uint32_t starting_psn; /* that the receiver of this message begins to send with: 12.7.31 */
    uint8_t local_timeout, retry_count;
    uint16_t pkey;
    uint8_t path_mtu;
    bool rdc_exists;
    uint8_t rnr_retry, max_cm_retries;
    bool srq;
    uint8_t ext_service_type;
};

struct wf_cm_rep {
    uint32_t local_comm_id, remote_comm_id, local_qkey, local_qpn, local_eecn, starting_psn;
    uint8_t responder_resources, initiator_depth, target_ack_delay, failover;
    bool e2e_credits;
    uint8_t rnr_retry;
    bool srq;
    uint64_t local_ca_guid;
};

struct wf_cm_rtu { /* DREP has the same layout */
    uint32_t local_comm_id, remote_comm_id;
};

struct wf_cm_dreq {
    uint32_t local_comm_id, remote_comm_id, remote_qpn;
};

struct wf_cm_mra {
    uint32_t local_comm_id, remote_comm_id;
    uint8_t message, service_timeout;
};

struct wf_cm_rej {
    uint32_t local_comm_id, remote_comm_id;
    uint8_t message, info_len;
    uint16_t reason;
};

int wf_mad_get(struct wf_rd *r, struct wf_mad *h);
void wf_mad_put(struct wf_wr *w, const struct wf_mad *h);
int wf_cm_req_get(struct wf_rd *r, struct wf_cm_req *h);
void wf_cm_req_put(struct wf_wr *w, const struct wf_cm_req *h);
int wf_cm_rep_get(struct wf_rd *r, struct wf_cm_rep *h);
void wf_cm_rep_put(struct wf_wr *w, const struct wf_cm_rep *h);
int wf_cm_rtu_get(struct wf_rd *r, struct wf_cm_rtu *h);
void wf_cm_rtu_put(struct wf_wr *w, const struct wf_cm_rtu *h);
int wf_cm_dreq_get(struct wf_rd *r, struct wf_cm_dreq *h);
void wf_cm_dreq_put(struct wf_wr *w, const struct wf_cm_dreq *h);
int wf_cm_mra_get(struct wf_rd *r, struct wf_cm_mra *h);
void wf_cm_mra_put(struct wf_wr *w, const struct wf_cm_mra *h);
int wf_cm_rej_get(struct wf_rd *r, struct wf_cm_rej *h);
void wf_cm_rej_put(struct wf_wr *w, const struct wf_cm_rej *h);

/* "REQ" of a CM attribute, "?" for others. */
const char *wf_cm_name(uint16_t attr_id);

/* What every CM message tells about its connection; absent numbers are 0. */
struct wf_cm {
    uint16_t attr_id;
    uint32_t local_comm_id, remote_comm_id;
    uint32_t qpn; /* the sender's in REQ and REP, the receiver's in DREQ */
    uint32_t starting_psn;
    uint64_t service_id;
    uint16_t reject_reason;
};

/* Reads behind a MAD header with class CM; 0, or -EBADMSG when bytes are missing, -ENOTSUP for a
 * message that is not among the seven above. */
int wf_cm_get(struct wf_rd *r, uint16_t attr_id, struct wf_cm *cm);

extern const struct wf_fmt wf_fmt_mad, wf_fmt_cm_req, wf_fmt_cm_rep, wf_fmt_cm_rtu, wf_fmt_cm_dreq,
    wf_fmt_cm_mra, wf_fmt_cm_rej;

#endif
