/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole messages of the connection manager. See cm.h. */
#include "wire/cm.h"

#include <errno.h>

#include "base/assert.h"
#include "wire/codec.h"

static const struct wf_field path_rows[] = {
    WF_FIELD(struct wf_cm_path, local_lid, 0, 16, HEX, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_path, remote_lid, 16, 16, HEX, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_path, local_gid, 32, 128, IP6, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_path, remote_gid, 160, 128, IP6, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_path, flow_label, 288, 20, HEX, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_path, rate, 314, 6, DEC, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_path, traffic_class, 320, 8, HEX, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_path, hop_limit, 328, 8, DEC, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_path, sl, 336, 4, DEC, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_path, subnet_local, 340, 1, BOOL, "IBA 12.6.5"),
    WF_FIELD(struct wf_cm_path, ack_timeout, 344, 5, DEC, "IBA 12.6.5"),
};
WF_FMT(cm_path, 44, path_rows);

static const struct wf_field sidr_req_rows[] = {
    WF_FIELD(struct wf_cm_sidr_req, request_id, 0, 32, HEX, "IBA 12.11.1"),
    WF_FIELD(struct wf_cm_sidr_req, pkey, 32, 16, HEX, "IBA 12.11.1"),
    WF_FIELD(struct wf_cm_sidr_req, service_id, 64, 64, HEX, "IBA 12.11.1"),
};
WF_FMT(cm_sidr_req, 16, sidr_req_rows);

static const struct wf_field sidr_rep_rows[] = {
    WF_FIELD(struct wf_cm_sidr_rep, request_id, 0, 32, HEX, "IBA 12.11.2"),
    WF_FIELD(struct wf_cm_sidr_rep, status, 32, 8, DEC, "IBA 12.11.2"),
    WF_FIELD(struct wf_cm_sidr_rep, info_len, 40, 8, DEC, "IBA 12.11.2"),
    WF_FIELD(struct wf_cm_sidr_rep, qpn, 64, 24, HEX, "IBA 12.11.2"),
    WF_FIELD(struct wf_cm_sidr_rep, service_id, 96, 64, HEX, "IBA 12.11.2"),
    WF_FIELD(struct wf_cm_sidr_rep, qkey, 160, 32, HEX, "IBA 12.11.2"),
};
WF_FMT(cm_sidr_rep, 24, sidr_rep_rows);

static const struct wf_field ip_rows[] = {
    WF_FIELD(struct wf_cm_ip, major, 0, 4, DEC, "IBA A11.3.3"),
    WF_FIELD(struct wf_cm_ip, minor, 4, 4, DEC, "IBA A11.3.3"),
    WF_FIELD(struct wf_cm_ip, ip_version, 8, 4, DEC, "IBA A11.3.3"),
    WF_FIELD(struct wf_cm_ip, sport, 16, 16, DEC, "IBA A11.3.3"),
    WF_FIELD(struct wf_cm_ip, src, 32, 128, IP6, "IBA A11.3.3"),
    WF_FIELD(struct wf_cm_ip, dst, 160, 128, IP6, "IBA A11.3.3"),
};
WF_FMT(cm_ip, WF_CM_IP_LEN, ip_rows);

WF_CODEC(cm_path)
WF_CODEC(cm_sidr_req)
WF_CODEC(cm_sidr_rep)
WF_CODEC(cm_ip)

/* A message's parts in their order on the wire; together they fill the MAD behind its header. */
struct layout {
    const struct wf_fmt *fmt;
    uint8_t size; /* of its struct */
    uint8_t paths, ari, private_len;
};

static const struct layout *layout_of(uint16_t attr_id)
{
    static const struct layout layouts[] = {
        {&wf_fmt_cm_req, sizeof(struct wf_cm_req), 2, 0, 92},
        {&wf_fmt_cm_mra, sizeof(struct wf_cm_mra), 0, 0, 222},
        {&wf_fmt_cm_rej, sizeof(struct wf_cm_rej), 0, WF_CM_ARI_LEN, 148},
        {&wf_fmt_cm_rep, sizeof(struct wf_cm_rep), 0, 0, 196},
        {&wf_fmt_cm_rtu, sizeof(struct wf_cm_rtu), 0, 0, 224},
        {&wf_fmt_cm_dreq, sizeof(struct wf_cm_dreq), 0, 0, 220},
        {&wf_fmt_cm_rtu, sizeof(struct wf_cm_rtu), 0, 0, 224},
        {&wf_fmt_cm_sidr_req, sizeof(struct wf_cm_sidr_req), 0, 0, 216},
        {&wf_fmt_cm_sidr_rep, sizeof(struct wf_cm_sidr_rep), 0, WF_CM_ARI_LEN, 136},
    };

    return attr_id < WF_CM_REQ || attr_id > WF_CM_SIDR_REP ? NULL : &layouts[attr_id - WF_CM_REQ];
}

uint32_t wf_cm_private_len(uint16_t attr_id)
{
    const struct layout *l = layout_of(attr_id);

    return l ? l->private_len : 0;
}

const char *wf_cm_reject_name(uint16_t reason)
{
    static const char *const names[] = {
        [WF_CM_REJ_NO_QP] = "no queue pair",
        [WF_CM_REJ_NO_RESOURCES] = "no resources",
        [WF_CM_REJ_TIMEOUT] = "timeout",
        [WF_CM_REJ_UNSUPPORTED] = "unsupported request",
        [WF_CM_REJ_COMM_ID] = "invalid communication id",
        [WF_CM_REJ_SERVICE_ID] = "invalid service id",
        [WF_CM_REJ_TRANSPORT] = "invalid transport service type",
        [WF_CM_REJ_STALE] = "stale connection",
        [WF_CM_REJ_PATH_MTU] = "invalid path mtu",
        [WF_CM_REJ_CONSUMER] = "consumer reject",
    };

    return reason < sizeof(names) / sizeof(names[0]) && names[reason] ? names[reason] : "?";
}

int wf_cm_msg_get(const uint8_t *mad, uint32_t len, struct wf_cm_msg *m)
{
    struct wf_rd r = wf_rd_init(mad, len);
    const struct layout *l;

    memset(m, 0, sizeof(*m));
    if (len < WF_MAD_LEN || wf_mad_get(&r, &m->mad) || m->mad.base_version != 1 ||
        m->mad.mgmt_class != WF_MAD_CLASS_CM || m->mad.class_version != WF_CM_CLASS_VERSION ||
        m->mad.method != WF_MAD_SEND || m->mad.response)
        return -EBADMSG;
    l = layout_of(m->mad.attr_id);
    if (!l)
        return -ENOTSUP;
    wf_fmt_get(l->fmt, &r, &m->req, l->size);
    for (unsigned i = 0; i < l->paths; i++)
        wf_cm_path_get(&r, &m->path[i]);
    wf_rd_bytes(&r, m->ari, l->ari);
    wf_rd_bytes(&r, m->private_data, l->private_len);
    WF_ASSERT(!r.err);
    return 0;
}

void wf_cm_msg_put(uint8_t mad[WF_MAD_LEN], const struct wf_cm_msg *m)
{
    const struct layout *l = layout_of(m->mad.attr_id);
    struct wf_wr w = wf_wr_init(mad, WF_MAD_LEN);

    WF_ASSERT(l);
    wf_mad_put(&w, &m->mad);
    wf_fmt_put(l->fmt, &w, &m->req);
    for (unsigned i = 0; i < l->paths; i++)
        wf_cm_path_put(&w, &m->path[i]);
    wf_wr_bytes(&w, m->ari, l->ari);
    wf_wr_bytes(&w, m->private_data, l->private_len);
    WF_ASSERT(!w.err && !wf_wr_left(&w));
}

void wf_cm_msg_init(struct wf_cm_msg *m, uint16_t attr_id, uint64_t tid)
{
    memset(m, 0, sizeof(*m));
    m->mad.base_version = 1;
    m->mad.mgmt_class = WF_MAD_CLASS_CM;
    m->mad.class_version = WF_CM_CLASS_VERSION;
    m->mad.method = WF_MAD_SEND;
    m->mad.tid = tid;
    m->mad.attr_id = attr_id;
}
