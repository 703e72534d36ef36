/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole messages of the connection manager as a host sends and takes them (IBA vol. 1, 12.6 and
 * 12.11): the MAD header, the message with its paths, and the private data; and what the RDMA IP
 * CM service puts in front of the private data of a REQ or SIDR_REQ (annex A11). The messages'
 * first parts are those of mad.h. Rare packets: everything goes by field tables.
 * Left out: LAP, APR, and messages of communication establishment with end-to-end contexts.
 */
#ifndef WEFT_WIRE_CM_H
#define WEFT_WIRE_CM_H

#include "wire/mad.h"

enum {
    WF_CM_PRIVATE_MAX = 224, /* of RTU and DREP; see wf_cm_private_len() */
    WF_CM_ARI_LEN = 72,      /* additional rejection information */
    WF_CM_IP_LEN = 36,       /* what annex A11 takes of the private data */
    WF_CM_CLASS_VERSION = 2,
    WF_MAD_SEND = 3, /* method of every CM message: 13.4.5, 16.7.1 */
    WF_GSI_QPN = 1,  /* the general services' queue pair */
};
#define WF_GSI_QKEY 0x80010000u

/* Service IDs of the RDMA IP CM service: the port is added (A11.3.2). */
#define WF_CM_SERVICE_TCP 0x0000000001060000ull
#define WF_CM_SERVICE_UDP 0x0000000001110000ull

/* 12.6.7.2, those that are met; others are numbers. */
enum wf_cm_reject {
    WF_CM_REJ_NO_QP = 1,
    WF_CM_REJ_NO_RESOURCES = 3,
    WF_CM_REJ_TIMEOUT = 4,
    WF_CM_REJ_UNSUPPORTED = 5,
    WF_CM_REJ_COMM_ID = 6,
    WF_CM_REJ_SERVICE_ID = 8,
    WF_CM_REJ_TRANSPORT = 9,
    WF_CM_REJ_STALE = 10,
    WF_CM_REJ_PATH_MTU = 26,
    WF_CM_REJ_CONSUMER = 28,
};
/* "invalid service id" and so on; "?" for what has no name here. */
const char *wf_cm_reject_name(uint16_t reason);

/* Which message a MRA or REJ is about (12.6.6.1, 12.6.7.1). */
enum wf_cm_about { WF_CM_ABOUT_REQ, WF_CM_ABOUT_REP, WF_CM_ABOUT_OTHER };

struct wf_cm_path { /* of a REQ; there are two */
    uint16_t local_lid, remote_lid;
    uint8_t local_gid[16], remote_gid[16];
    uint32_t flow_label;
    uint8_t rate, traffic_class, hop_limit, sl;
    bool subnet_local;
    uint8_t ack_timeout;
};

struct wf_cm_sidr_req {
    uint32_t request_id;
    uint16_t pkey;
    uint64_t service_id;
};

enum wf_sidr_status { WF_SIDR_VALID, WF_SIDR_NO_SERVICE, WF_SIDR_REFUSED }; /* 12.11.2.1 */

struct wf_cm_sidr_rep {
    uint32_t request_id;
    uint8_t status, info_len;
    uint32_t qpn;
    uint64_t service_id;
    uint32_t qkey;
};

/* The RDMA IP CM service's header. IPv4 addresses are the last four bytes. */
struct wf_cm_ip {
    uint8_t major, minor;
    uint8_t ip_version; /* 4 or 6 */
    uint16_t sport;
    uint8_t src[16], dst[16];
};

struct wf_cm_msg {
    struct wf_mad mad; /* attr_id says what of the following is there */
    union {
        struct wf_cm_req req;
        struct wf_cm_mra mra;
        struct wf_cm_rej rej;
        struct wf_cm_rep rep;
        struct wf_cm_rtu rtu; /* and DREP */
        struct wf_cm_dreq dreq;
        struct wf_cm_sidr_req sidr_req;
        struct wf_cm_sidr_rep sidr_rep;
    };
    struct wf_cm_path path[2];  /* REQ: primary, alternate */
    uint8_t ari[WF_CM_ARI_LEN]; /* REJ, SIDR_REP */
    uint8_t private_data[WF_CM_PRIVATE_MAX];
};

/* Bytes of private data of a message, 0 for those that are not here. */
uint32_t wf_cm_private_len(uint16_t attr_id);
/* A MAD of len bytes. 0, -EBADMSG when bytes are missing or it is no MAD of the connection manager
 * (base version 1, class 7 of version 2, method Send), -ENOTSUP for a message that is not here. */
int wf_cm_msg_get(const uint8_t *mad, uint32_t len, struct wf_cm_msg *m);
/* The 256 bytes of it; the header's constants are the caller's, see wf_cm_msg_init(). */
void wf_cm_msg_put(uint8_t mad[WF_MAD_LEN], const struct wf_cm_msg *m);
/* An empty message of this kind. */
void wf_cm_msg_init(struct wf_cm_msg *m, uint16_t attr_id, uint64_t tid);

int wf_cm_path_get(struct wf_rd *r, struct wf_cm_path *h);
void wf_cm_path_put(struct wf_wr *w, const struct wf_cm_path *h);
int wf_cm_sidr_req_get(struct wf_rd *r, struct wf_cm_sidr_req *h);
void wf_cm_sidr_req_put(struct wf_wr *w, const struct wf_cm_sidr_req *h);
int wf_cm_sidr_rep_get(struct wf_rd *r, struct wf_cm_sidr_rep *h);
void wf_cm_sidr_rep_put(struct wf_wr *w, const struct wf_cm_sidr_rep *h);
int wf_cm_ip_get(struct wf_rd *r, struct wf_cm_ip *h);
void wf_cm_ip_put(struct wf_wr *w, const struct wf_cm_ip *h);

extern const struct wf_fmt wf_fmt_cm_path, wf_fmt_cm_sidr_req, wf_fmt_cm_sidr_rep, wf_fmt_cm_ip;

#endif
