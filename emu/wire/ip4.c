/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4. See ip4.h. */
#include "wire/ip4.h"

#include <errno.h>

static const struct wf_field ip4_rows[] = {
    WF_FIELD(struct wf_ip4, version, 0, 4, DEC, "RFC 791 3.1"),
    WF_FIELD(struct wf_ip4, ihl, 4, 4, DEC, "RFC 791 3.1"),
    WF_FIELD(struct wf_ip4, dscp, 8, 6, DEC, "RFC 2474 3"),
    WF_FIELD(struct wf_ip4, ecn, 14, 2, DEC, "RFC 3168 5"),
    WF_FIELD(struct wf_ip4, total_len, 16, 16, DEC, "RFC 791 3.1"),
    WF_FIELD(struct wf_ip4, id, 32, 16, HEX, "RFC 791 3.1"),
    WF_FIELD(struct wf_ip4, rf, 48, 1, BOOL, "RFC 791 3.1"),
    WF_FIELD(struct wf_ip4, df, 49, 1, BOOL, "RFC 791 3.1"),
    WF_FIELD(struct wf_ip4, mf, 50, 1, BOOL, "RFC 791 3.1"),
    WF_FIELD(struct wf_ip4, frag_off, 51, 13, DEC, "RFC 791 3.1"),
    WF_FIELD(struct wf_ip4, ttl, 64, 8, DEC, "RFC 791 3.1"),
    WF_FIELD(struct wf_ip4, proto, 72, 8, DEC, "RFC 791 3.1"),
    WF_FIELD(struct wf_ip4, checksum, 80, 16, HEX, "RFC 791 3.1"),
    WF_FIELD(struct wf_ip4, src, 96, 32, IP4, "RFC 791 3.1"),
    WF_FIELD(struct wf_ip4, dst, 128, 32, IP4, "RFC 791 3.1"),
};
WF_FMT(ip4, WF_IP4_LEN, ip4_rows);

static size_t options_len(uint8_t ihl)
{
    return ihl > 5 ? ((ihl & 15u) - 5) * 4 : 0;
}

int wf_ip4_get(struct wf_rd *r, struct wf_ip4 *h)
{
    uint8_t b = wf_rd_u8(r);
    uint16_t frag;

    *h = (struct wf_ip4){.version = b >> 4, .ihl = b & 15};
    b = wf_rd_u8(r);
    h->dscp = b >> 2;
    h->ecn = b & 3;
    h->total_len = wf_rd_be16(r);
    h->id = wf_rd_be16(r);
    frag = wf_rd_be16(r);
    h->rf = frag >> 15;
    h->df = frag >> 14 & 1;
    h->mf = frag >> 13 & 1;
    h->frag_off = frag & 0x1fff;
    h->ttl = wf_rd_u8(r);
    h->proto = wf_rd_u8(r);
    h->checksum = wf_rd_be16(r);
    h->src = wf_rd_be32(r);
    h->dst = wf_rd_be32(r);
    wf_rd_bytes(r, h->options, options_len(h->ihl));
    return r->err ? -EBADMSG : 0;
}

void wf_ip4_put(struct wf_wr *w, const struct wf_ip4 *h)
{
    wf_wr_u8(w, (uint8_t)(h->version << 4 | (h->ihl & 15)));
    wf_wr_u8(w, (uint8_t)(h->dscp << 2 | (h->ecn & 3)));
    wf_wr_be16(w, h->total_len);
    wf_wr_be16(w, h->id);
    wf_wr_be16(w, (uint16_t)(h->rf << 15 | h->df << 14 | h->mf << 13 | (h->frag_off & 0x1fff)));
    wf_wr_u8(w, h->ttl);
    wf_wr_u8(w, h->proto);
    wf_wr_be16(w, h->checksum);
    wf_wr_be32(w, h->src);
    wf_wr_be32(w, h->dst);
    wf_wr_bytes(w, h->options, options_len(h->ihl & 15));
}
