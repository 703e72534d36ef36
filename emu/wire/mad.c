/* SPDX-License-Identifier: BSD-3-Clause */
/* MADs and the connection manager's messages. See mad.h. */
#include "wire/mad.h"

#include <errno.h>

#include "wire/codec.h"

static const struct wf_field mad_rows[] = {
    WF_FIELD(struct wf_mad, base_version, 0, 8, DEC, "IBA 13.4.3"),
    WF_FIELD(struct wf_mad, mgmt_class, 8, 8, HEX, "IBA 13.4.3"),
    WF_FIELD(struct wf_mad, class_version, 16, 8, DEC, "IBA 13.4.3"),
    WF_FIELD(struct wf_mad, response, 24, 1, BOOL, "IBA 13.4.3"),
    WF_FIELD(struct wf_mad, method, 25, 7, HEX, "IBA 13.4.3"),
    WF_FIELD(struct wf_mad, status, 32, 16, HEX, "IBA 13.4.3"),
    WF_FIELD(struct wf_mad, class_specific, 48, 16, HEX, "IBA 13.4.3"),
    WF_FIELD(struct wf_mad, tid, 64, 64, HEX, "IBA 13.4.3"),
    WF_FIELD(struct wf_mad, attr_id, 128, 16, HEX, "IBA 13.4.3"),
    WF_FIELD(struct wf_mad, resv, 144, 16, HEX, "IBA 13.4.3"),
    WF_FIELD(struct wf_mad, attr_mod, 160, 32, HEX, "IBA 13.4.3"),
};
WF_FMT(mad, WF_MAD_HDR_LEN, mad_rows);

/* Offsets count from the end of the MAD header. */
static const struct wf_field req_rows[] = {
    WF_FIELD(struct wf_cm_req, local_comm_id, 0, 32, HEX, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_req, service_id, 64, 64, HEX, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_req, local_ca_guid, 128, 64, HEX, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_req, local_qkey, 224, 32, HEX, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_req, local_qpn, 256, 24, HEX, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_req, responder_resources, 280, 8, DEC, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_req, local_eecn, 288, 24, HEX, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_req, initiator_depth, 312, 8, DEC, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_req, remote_eecn, 320, 24, HEX, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_req, remote_timeout, 344, 5, DEC, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_req, service_type, 349, 2, DEC, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_req, e2e_credits, 351, 1, BOOL, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_req, starting_psn, 352, 24, DEC, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_req, local_timeout, 376, 5, DEC, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_req, retry_count, 381, 3, DEC, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_req, pkey, 384, 16, HEX, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_req, path_mtu, 400, 4, DEC, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_req, rdc_exists, 404, 1, BOOL, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_req, rnr_retry, 405, 3, DEC, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_req, max_cm_retries, 408, 4, DEC, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_req, srq, 412, 1, BOOL, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_req, ext_service_type, 413, 3, DEC, "IBA 12.6.5"),
};
WF_FMT(cm_req, 52, req_rows);

static const struct wf_field rep_rows[] = {
    WF_FIELD(struct wf_cm_rep, local_comm_id, 0, 32, HEX, "IBA 12.6.8"),
    WF_FIELD(struct wf_cm_rep, remote_comm_id, 32, 32, HEX, "IBA 12.6.8"),
    WF_FIELD(struct wf_cm_rep, local_qkey, 64, 32, HEX, "IBA 12.6.8"),
    WF_FIELD(struct wf_cm_rep, local_qpn, 96, 24, HEX, "IBA 12.6.8"),
    WF_FIELD(struct wf_cm_rep, local_eecn, 128, 24, HEX, "IBA 12.6.8"),
    WF_FIELD(struct wf_cm_rep, starting_psn, 160, 24, DEC, "IBA 12.6.8"),
    WF_FIELD(struct wf_cm_rep, responder_resources, 192, 8, DEC, "IBA 12.6.8"),
    WF_FIELD(struct wf_cm_rep, initiator_depth, 200, 8, DEC, "IBA 12.6.8"),
    WF_FIELD(struct wf_cm_rep, target_ack_delay, 208, 5, DEC, "IBA 12.6.8"),
    WF_FIELD(struct wf_cm_rep, failover, 213, 2, DEC, "IBA 12.6.8"),
    WF_FIELD(struct wf_cm_rep, e2e_credits, 215, 1, BOOL, "IBA 12.6.8"),
    WF_FIELD(struct wf_cm_rep, rnr_retry, 216, 3, DEC, "IBA 12.6.8"),
    WF_FIELD(struct wf_cm_rep, srq, 219, 1, BOOL, "IBA 12.6.8"),
    WF_FIELD(struct wf_cm_rep, local_ca_guid, 224, 64, HEX, "IBA 12.6.8"),
};
WF_FMT(cm_rep, 36, rep_rows);

static const struct wf_field rtu_rows[] = {
    WF_FIELD(struct wf_cm_rtu, local_comm_id, 0, 32, HEX, "IBA 12.6.9"),
    WF_FIELD(struct wf_cm_rtu, remote_comm_id, 32, 32, HEX, "IBA 12.6.9"),
};
WF_FMT(cm_rtu, 8, rtu_rows);

static const struct wf_field dreq_rows[] = {
    WF_FIELD(struct wf_cm_dreq, local_comm_id, 0, 32, HEX, "IBA 12.6.10"),
    WF_FIELD(struct wf_cm_dreq, remote_comm_id, 32, 32, HEX, "IBA 12.6.10"),
    WF_FIELD(struct wf_cm_dreq, remote_qpn, 64, 24, HEX, "IBA 12.6.10"),
};
WF_FMT(cm_dreq, 12, dreq_rows);

static const struct wf_field mra_rows[] = {
    WF_FIELD(struct wf_cm_mra, local_comm_id, 0, 32, HEX, "IBA 12.6.6"),
    WF_FIELD(struct wf_cm_mra, remote_comm_id, 32, 32, HEX, "IBA 12.6.6"),
    WF_FIELD(struct wf_cm_mra, message, 64, 2, DEC, "IBA 12.6.6"),
    WF_FIELD(struct wf_cm_mra, service_timeout, 72, 5, DEC, "IBA 12.6.6"),
};
WF_FMT(cm_mra, 10, mra_rows);

static const struct wf_field rej_rows[] = {
    WF_FIELD(struct wf_cm_rej, local_comm_id, 0, 32, HEX, "IBA 12.6.7"),
    WF_FIELD(struct wf_cm_rej, remote_comm_id, 32, 32, HEX, "IBA 12.6.7"),
    WF_FIELD(struct wf_cm_rej, message, 64, 2, DEC, "IBA 12.6.7"),
    WF_FIELD(struct wf_cm_rej, info_len, 72, 7, DEC, "IBA 12.6.7"),
    WF_FIELD(struct wf_cm_rej, reason, 80, 16, DEC, "IBA 12.6.7"),
};
WF_FMT(cm_rej, 12, rej_rows);

WF_CODEC(mad)
WF_CODEC(cm_req)
WF_CODEC(cm_rep)
WF_CODEC(cm_rtu)
WF_CODEC(cm_dreq)
WF_CODEC(cm_mra)
WF_CODEC(cm_rej)

const char *wf_cm_name(uint16_t attr_id)
{
    static const char *const names[] = {"REQ",  "MRA",      "REJ",      "REP", "RTU", "DREQ",
                                        "DREP", "SIDR_REQ", "SIDR_REP", "LAP", "APR"};

    if (attr_id < WF_CM_REQ || attr_id > WF_CM_APR)
        return "?";
    return names[attr_id - WF_CM_REQ];
}

static int req_get(struct wf_rd *r, struct wf_cm *cm)
{
    struct wf_cm_req h;
    int err = wf_cm_req_get(r, &h);

    cm->local_comm_id = h.local_comm_id;
    cm->qpn = h.local_qpn;
    cm->starting_psn = h.starting_psn;
    cm->service_id = h.service_id;
    return err;
}

static int rep_get(struct wf_rd *r, struct wf_cm *cm)
{
    struct wf_cm_rep h;
    int err = wf_cm_rep_get(r, &h);

    cm->local_comm_id = h.local_comm_id;
    cm->remote_comm_id = h.remote_comm_id;
    cm->qpn = h.local_qpn;
    cm->starting_psn = h.starting_psn;
    return err;
}

/* MRA, REJ, RTU, DREQ and DREP begin alike. */
static int other_get(struct wf_rd *r, struct wf_cm *cm)
{
    struct wf_rd again = *r;
    struct wf_cm_dreq dreq;
    struct wf_cm_rej rej;
    struct wf_cm_rtu ids;
    int err = wf_cm_rtu_get(r, &ids);

    cm->local_comm_id = ids.local_comm_id;
    cm->remote_comm_id = ids.remote_comm_id;
    if (cm->attr_id == WF_CM_DREQ) {
        err = wf_cm_dreq_get(&again, &dreq);
        cm->qpn = dreq.remote_qpn;
    } else if (cm->attr_id == WF_CM_REJ) {
        err = wf_cm_rej_get(&again, &rej);
        cm->reject_reason = rej.reason;
    }
    return err;
}

int wf_cm_get(struct wf_rd *r, uint16_t attr_id, struct wf_cm *cm)
{
    *cm = (struct wf_cm){.attr_id = attr_id};
    switch (attr_id) {
    case WF_CM_REQ:
        return req_get(r, cm);
    case WF_CM_REP:
        return rep_get(r, cm);
    case WF_CM_MRA:
    case WF_CM_REJ:
    case WF_CM_RTU:
    case WF_CM_DREQ:
    case WF_CM_DREP:
        return other_get(r, cm);
    default:
        return -ENOTSUP;
    }
}
