/* SPDX-License-Identifier: BSD-3-Clause */
/* ARP. See arp.h. */
#include "wire/arp.h"

#include <errno.h>

#include "wire/eth.h"

static const struct wf_field arp_rows[] = {
    WF_FIELD(struct wf_arp, htype, 0, 16, DEC, "RFC 826"),
    WF_FIELD(struct wf_arp, ptype, 16, 16, HEX, "RFC 826"),
    WF_FIELD(struct wf_arp, hlen, 32, 8, DEC, "RFC 826"),
    WF_FIELD(struct wf_arp, plen, 40, 8, DEC, "RFC 826"),
    WF_FIELD(struct wf_arp, oper, 48, 16, DEC, "RFC 826"),
    WF_FIELD(struct wf_arp, sha, 64, 48, MAC, "RFC 826"),
    WF_FIELD(struct wf_arp, spa, 112, 32, IP4, "RFC 826"),
    WF_FIELD(struct wf_arp, tha, 144, 48, MAC, "RFC 826"),
    WF_FIELD(struct wf_arp, tpa, 192, 32, IP4, "RFC 826"),
};
WF_FMT(arp, WF_ARP_LEN, arp_rows);

int wf_arp_get(struct wf_rd *r, struct wf_arp *h)
{
    h->htype = wf_rd_be16(r);
    h->ptype = wf_rd_be16(r);
    h->hlen = wf_rd_u8(r);
    h->plen = wf_rd_u8(r);
    h->oper = wf_rd_be16(r);
    wf_rd_bytes(r, h->sha, 6);
    h->spa = wf_rd_be32(r);
    wf_rd_bytes(r, h->tha, 6);
    h->tpa = wf_rd_be32(r);
    return r->err ? -EBADMSG : 0;
}

void wf_arp_put(struct wf_wr *w, const struct wf_arp *h)
{
    wf_wr_be16(w, h->htype);
    wf_wr_be16(w, h->ptype);
    wf_wr_u8(w, h->hlen);
    wf_wr_u8(w, h->plen);
    wf_wr_be16(w, h->oper);
    wf_wr_bytes(w, h->sha, 6);
    wf_wr_be32(w, h->spa);
    wf_wr_bytes(w, h->tha, 6);
    wf_wr_be32(w, h->tpa);
}

int wf_arp_check(const struct wf_arp *h)
{
    return h->htype == 1 && h->ptype == WF_ETHERTYPE_IP4 && h->hlen == 6 && h->plen == 4 ? 0
                                                                                         : -EBADMSG;
}

uint32_t wf_arp_build(uint8_t buf[60], const uint8_t dst_mac[6], const struct wf_arp *h)
{
    struct wf_wr w = wf_wr_init(buf, WF_ETH_MIN_LEN);
    struct wf_eth eth = {.ethertype = WF_ETHERTYPE_ARP};
    struct wf_arp arp = *h;

    memcpy(eth.dst, dst_mac, 6);
    memcpy(eth.src, h->sha, 6);
    arp.htype = 1;
    arp.ptype = WF_ETHERTYPE_IP4;
    arp.hlen = 6;
    arp.plen = 4;
    wf_eth_put(&w, &eth);
    wf_arp_put(&w, &arp);
    wf_wr_zeros(&w, wf_wr_left(&w));
    return WF_ETH_MIN_LEN;
}
