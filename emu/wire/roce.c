/* SPDX-License-Identifier: BSD-3-Clause */
/* Building RoCE packets. See roce.h. */
#include "wire/roce.h"

#include "wire/edit.h"
#include "wire/icrc.h"
#include "wire/ip4.h"
#include "wire/ip6.h"
#include "wire/udp.h"

static void put_eth(struct wf_wr *w, const struct wf_roce *h)
{
    static const uint16_t types[] = {WF_ETHERTYPE_IP4, WF_ETHERTYPE_IP6, WF_ETHERTYPE_ROCEV1};
    struct wf_eth eth = {.n_tags = h->n_tags, .ethertype = types[h->encap]};

    memcpy(eth.dst, h->dst_mac, 6);
    memcpy(eth.src, h->src_mac, 6);
    for (int i = 0; i < WF_VLAN_TAGS_MAX; i++) {
        eth.tag[i] = h->tag[i];
        if (!eth.tag[i].tpid)
            eth.tag[i].tpid = WF_ETHERTYPE_VLAN;
    }
    wf_eth_put(w, &eth);
}

/* len: what follows the IP header */
static void put_ip4(struct wf_wr *w, const struct wf_roce *h, uint32_t len)
{
    struct wf_ip4 ip = {.version = 4,
                        .ihl = 5,
                        .dscp = h->dscp,
                        .ecn = h->ecn,
                        .df = true,
                        .total_len = (uint16_t)(WF_IP4_LEN + len),
                        .id = h->ip_id,
                        .ttl = h->ttl,
                        .proto = WF_IPPROTO_UDP,
                        .src = wf_ld32(h->src_ip + 12),
                        .dst = wf_ld32(h->dst_ip + 12)};
    uint8_t *at = w->p;

    wf_ip4_put(w, &ip);
    if (!w->err)
        wf_st16(at + 10, wf_ip4_checksum(at, WF_IP4_LEN));
}

static void put_ip6(struct wf_wr *w, const struct wf_roce *h, uint32_t len)
{
    struct wf_ip6 ip = {.version = 6,
                        .dscp = h->dscp,
                        .ecn = h->ecn,
                        .flow_label = h->flow_label,
                        .payload_len = (uint16_t)len,
                        .hop_limit = h->ttl,
                        .next = h->encap == WF_ROCE_V1 ? WF_IPPROTO_IBA : WF_IPPROTO_UDP};

    memcpy(ip.src, h->src_ip, 16);
    memcpy(ip.dst, h->dst_ip, 16);
    wf_ip6_put(w, &ip);
}

uint32_t wf_roce_hdr_build(uint8_t *buf, uint32_t room, const struct wf_roce *h)
{
    struct wf_wr w = wf_wr_init(buf, room);
    uint32_t pad = wf_roce_pad(h->payload_len);
    uint64_t ib = (uint64_t)WF_BTH_LEN + wf_opcodes[h->bth.opcode].ext_len + h->payload_len + pad +
                  WF_ICRC_LEN;
    struct wf_udp udp = {h->sport, WF_ROCE_UDP_PORT, (uint16_t)(WF_UDP_LEN + ib), 0};
    struct wf_bth bth = h->bth;

    if (ib + WF_UDP_LEN + WF_IP4_LEN > UINT16_MAX)
        return 0;
    put_eth(&w, h);
    if (h->encap == WF_ROCE_V2_IP4)
        put_ip4(&w, h, WF_UDP_LEN + (uint32_t)ib);
    else
        put_ip6(&w, h, (h->encap == WF_ROCE_V1 ? 0 : WF_UDP_LEN) + (uint32_t)ib);
    if (h->encap != WF_ROCE_V1)
        wf_udp_put(&w, &udp);
    bth.pad = (uint8_t)pad;
    wf_bth_put(&w, &bth);
    wf_ext_put(&w, bth.opcode, &h->ext);
    return w.err ? 0 : (uint32_t)wf_wr_len(&w);
}

uint32_t wf_cnp_build(uint8_t *buf, uint32_t room, const struct wf_roce *h)
{
    struct wf_roce cnp = *h;
    struct wf_parsed p;
    uint32_t len, hdr;

    cnp.bth = (struct wf_bth){
        .opcode = WF_OPCODE_CNP, .pkey = WF_BTH_PKEY, .becn = true, .dqpn = h->bth.dqpn};
    cnp.payload_len = WF_CNP_PAYLOAD;
    hdr = wf_roce_hdr_build(buf, room, &cnp);
    len = wf_roce_frame_len(hdr, WF_CNP_PAYLOAD);
    if (!hdr || len > room)
        return 0;
    memset(buf + hdr, 0, WF_CNP_PAYLOAD);
    if (wf_parse(buf, len, len, &p) != WF_DROP_NONE)
        return 0;
    wf_icrc_store(buf + p.icrc_off, wf_icrc_of(buf, len, &p));
    return len;
}
