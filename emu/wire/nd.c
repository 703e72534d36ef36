/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbour discovery. See nd.h. */
#include "wire/nd.h"

#include <errno.h>

#include "wire/eth.h"
#include "wire/ip4.h"
#include "wire/ip6.h"
#include "wire/udp.h"

static const struct wf_field nd_rows[] = {
    WF_FIELD(struct wf_nd, type, 0, 8, DEC, "RFC 4861 4.3"),
    WF_FIELD(struct wf_nd, code, 8, 8, DEC, "RFC 4861 4.3"),
    WF_FIELD(struct wf_nd, checksum, 16, 16, HEX, "RFC 4443 2.3"),
    WF_FIELD(struct wf_nd, router, 32, 1, BOOL, "RFC 4861 4.4"),
    WF_FIELD(struct wf_nd, solicited, 33, 1, BOOL, "RFC 4861 4.4"),
    WF_FIELD(struct wf_nd, override, 34, 1, BOOL, "RFC 4861 4.4"),
    WF_FIELD(struct wf_nd, resv, 35, 29, HEX, "RFC 4861 4.4"),
    WF_FIELD(struct wf_nd, target, 64, 128, IP6, "RFC 4861 4.3"),
};
WF_FMT(nd, WF_ND_LEN, nd_rows);

static const struct wf_field ndopt_rows[] = {
    WF_FIELD(struct wf_ndopt, type, 0, 8, DEC, "RFC 4861 4.6"),
    WF_FIELD(struct wf_ndopt, len, 8, 8, DEC, "RFC 4861 4.6"),
    WF_FIELD(struct wf_ndopt, lladdr, 16, 48, MAC, "RFC 4861 4.6.1"),
};
WF_FMT(ndopt, WF_ND_OPT_LEN, ndopt_rows);

int wf_nd_get(struct wf_rd *r, struct wf_nd *h)
{
    uint32_t v;

    h->type = wf_rd_u8(r);
    h->code = wf_rd_u8(r);
    h->checksum = wf_rd_be16(r);
    v = wf_rd_be32(r);
    h->router = v >> 31;
    h->solicited = v >> 30 & 1;
    h->override = v >> 29 & 1;
    h->resv = v & 0x1fffffff;
    wf_rd_bytes(r, h->target, 16);
    return r->err ? -EBADMSG : 0;
}

void wf_nd_put(struct wf_wr *w, const struct wf_nd *h)
{
    wf_wr_u8(w, h->type);
    wf_wr_u8(w, h->code);
    wf_wr_be16(w, h->checksum);
    wf_wr_be32(w, (uint32_t)h->router << 31 | (uint32_t)h->solicited << 30 |
                      (uint32_t)h->override << 29 | (h->resv & 0x1fffffff));
    wf_wr_bytes(w, h->target, 16);
}

int wf_ndopt_get(struct wf_rd *r, struct wf_ndopt *h)
{
    h->type = wf_rd_u8(r);
    h->len = wf_rd_u8(r);
    wf_rd_bytes(r, h->lladdr, 6);
    return r->err ? -EBADMSG : 0;
}

void wf_ndopt_put(struct wf_wr *w, const struct wf_ndopt *h)
{
    wf_wr_u8(w, h->type);
    wf_wr_u8(w, h->len);
    wf_wr_bytes(w, h->lladdr, 6);
}

bool wf_nd_lladdr(struct wf_rd *r, uint8_t type, uint8_t mac[6])
{
    while (wf_rd_left(r) >= WF_ND_OPT_LEN) {
        struct wf_ndopt opt;

        if (wf_ndopt_get(r, &opt) || opt.len == 0) /* RFC 4861 4.6: length 0 is invalid */
            return false;
        if (opt.type == type && opt.len == 1) {
            memcpy(mac, opt.lladdr, 6);
            return true;
        }
        wf_rd_skip(r, (opt.len - 1u) * 8);
    }
    return false;
}

void wf_nd_group(const uint8_t ip[16], uint8_t group[16], uint8_t mac[6])
{
    static const uint8_t prefix[13] = {0xff, 0x02, [11] = 0x01, [12] = 0xff};

    memcpy(group, prefix, 13);
    memcpy(group + 13, ip + 13, 3);
    mac[0] = mac[1] = 0x33;
    memcpy(mac + 2, group + 12, 4);
}

uint32_t wf_nd_build(uint8_t buf[WF_ND_FRAME_LEN], const struct wf_nd_msg *m)
{
    struct wf_wr w = wf_wr_init(buf, WF_ND_FRAME_LEN);
    struct wf_eth eth = {.ethertype = WF_ETHERTYPE_IP6};
    struct wf_ip6 ip = {.version = 6,
                        .payload_len = WF_ND_LEN + WF_ND_OPT_LEN,
                        .next = WF_IPPROTO_ICMP6,
                        .hop_limit = 255};
    struct wf_ndopt opt = {.len = 1};
    struct wf_nd nd = m->nd;
    uint8_t *l4 = buf + WF_ETH_LEN + WF_IP6_LEN;

    memcpy(eth.dst, m->dst_mac, 6);
    memcpy(eth.src, m->src_mac, 6);
    memcpy(ip.src, m->src_ip, 16);
    memcpy(ip.dst, m->dst_ip, 16);
    memcpy(opt.lladdr, m->src_mac, 6);
    opt.type = nd.type == WF_ND_SOLICIT ? WF_ND_OPT_SOURCE : WF_ND_OPT_TARGET;
    nd.checksum = 0;
    wf_eth_put(&w, &eth);
    wf_ip6_put(&w, &ip);
    wf_nd_put(&w, &nd);
    wf_ndopt_put(&w, &opt);
    wf_st16(l4 + 2,
            wf_l4_checksum(buf + WF_ETH_LEN, WF_IPPROTO_ICMP6, l4, WF_ND_LEN + WF_ND_OPT_LEN));
    return WF_ND_FRAME_LEN;
}
