/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 and GRH. See ip6.h. */
#include "wire/ip6.h"

#include <errno.h>

static const struct wf_field ip6_rows[] = {
    WF_FIELD(struct wf_ip6, version, 0, 4, DEC, "RFC 8200 3"),
    WF_FIELD(struct wf_ip6, dscp, 4, 6, DEC, "RFC 2474 3"),
    WF_FIELD(struct wf_ip6, ecn, 10, 2, DEC, "RFC 3168 5"),
    WF_FIELD(struct wf_ip6, flow_label, 12, 20, HEX, "RFC 8200 6"),
    WF_FIELD(struct wf_ip6, payload_len, 32, 16, DEC, "RFC 8200 3"),
    WF_FIELD(struct wf_ip6, next, 48, 8, DEC, "RFC 8200 3"),
    WF_FIELD(struct wf_ip6, hop_limit, 56, 8, DEC, "RFC 8200 3"),
    WF_FIELD(struct wf_ip6, src, 64, 128, IP6, "RFC 8200 3"),
    WF_FIELD(struct wf_ip6, dst, 192, 128, IP6, "RFC 8200 3"),
};
WF_FMT(ip6, WF_IP6_LEN, ip6_rows);

static const struct wf_field grh_rows[] = {
    WF_FIELD(struct wf_grh, version, 0, 4, DEC, "IBA 8.3.1"),
    WF_FIELD(struct wf_grh, tclass, 4, 8, HEX, "IBA 8.3.2"),
    WF_FIELD(struct wf_grh, flow_label, 12, 20, HEX, "IBA 8.3.3"),
    WF_FIELD(struct wf_grh, payload_len, 32, 16, DEC, "IBA 8.3.4"),
    WF_FIELD(struct wf_grh, next, 48, 8, DEC, "IBA 8.3.5"),
    WF_FIELD(struct wf_grh, hop_limit, 56, 8, DEC, "IBA 8.3.6"),
    WF_FIELD(struct wf_grh, sgid, 64, 128, IP6, "IBA 8.3.7"),
    WF_FIELD(struct wf_grh, dgid, 192, 128, IP6, "IBA 8.3.8"),
};
WF_FMT(grh, WF_GRH_LEN, grh_rows);

int wf_ip6_get(struct wf_rd *r, struct wf_ip6 *h)
{
    uint32_t v = wf_rd_be32(r);

    h->version = (uint8_t)(v >> 28);
    h->dscp = v >> 22 & 63;
    h->ecn = v >> 20 & 3;
    h->flow_label = v & 0xfffff;
    h->payload_len = wf_rd_be16(r);
    h->next = wf_rd_u8(r);
    h->hop_limit = wf_rd_u8(r);
    wf_rd_bytes(r, h->src, 16);
    wf_rd_bytes(r, h->dst, 16);
    return r->err ? -EBADMSG : 0;
}

void wf_ip6_put(struct wf_wr *w, const struct wf_ip6 *h)
{
    wf_wr_be32(w, (uint32_t)h->version << 28 | (h->dscp & 63u) << 22 | (h->ecn & 3u) << 20 |
                      (h->flow_label & 0xfffff));
    wf_wr_be16(w, h->payload_len);
    wf_wr_u8(w, h->next);
    wf_wr_u8(w, h->hop_limit);
    wf_wr_bytes(w, h->src, 16);
    wf_wr_bytes(w, h->dst, 16);
}

int wf_grh_get(struct wf_rd *r, struct wf_grh *h)
{
    uint32_t v = wf_rd_be32(r);

    h->version = (uint8_t)(v >> 28);
    h->tclass = v >> 20 & 255;
    h->flow_label = v & 0xfffff;
    h->payload_len = wf_rd_be16(r);
    h->next = wf_rd_u8(r);
    h->hop_limit = wf_rd_u8(r);
    wf_rd_bytes(r, h->sgid, 16);
    wf_rd_bytes(r, h->dgid, 16);
    return r->err ? -EBADMSG : 0;
}

void wf_grh_put(struct wf_wr *w, const struct wf_grh *h)
{
    wf_wr_be32(w,
               (uint32_t)h->version << 28 | (uint32_t)h->tclass << 20 | (h->flow_label & 0xfffff));
    wf_wr_be16(w, h->payload_len);
    wf_wr_u8(w, h->next);
    wf_wr_u8(w, h->hop_limit);
    wf_wr_bytes(w, h->sgid, 16);
    wf_wr_bytes(w, h->dgid, 16);
}
