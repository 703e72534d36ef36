/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/vxlan.h"

#include <string.h>

#include "wire/edit.h"
#include "wire/eth.h"
#include "wire/ip4.h"

enum { IP = 14, UDP = IP + 20, VXLAN = UDP + 8, FLAG_VNI = 8 };

void wf_vxlan_put(uint8_t o[WF_VXLAN_OUTER], const struct wf_vxlan *h, uint32_t inner_len)
{
    uint16_t udp_len = (uint16_t)(8 + 8 + inner_len);

    memset(o, 0, WF_VXLAN_OUTER);
    memcpy(o, h->dst_mac, 6);
    memcpy(o + 6, h->src_mac, 6);
    wf_st16(o + 12, WF_ETHERTYPE_IP4);
    o[IP] = 0x45;
    o[IP + 1] = (uint8_t)(h->dscp << 2 | h->ecn);
    wf_st16(o + IP + 2, (uint16_t)(20 + udp_len));
    o[IP + 6] = 0x40; /* DF */
    o[IP + 8] = h->ttl;
    o[IP + 9] = WF_IPPROTO_UDP;
    memcpy(o + IP + 12, h->src_ip, 4);
    memcpy(o + IP + 16, h->dst_ip, 4);
    wf_st16(o + IP + 10, wf_ip4_checksum(o + IP, 20));
    wf_st16(o + UDP, h->sport);
    wf_st16(o + UDP + 2, WF_VXLAN_UDP_PORT);
    wf_st16(o + UDP + 4, udp_len);
    o[VXLAN] = FLAG_VNI;
    o[VXLAN + 4] = (uint8_t)(h->vni >> 16);
    wf_st16(o + VXLAN + 5, (uint16_t)h->vni);
}

uint32_t wf_vxlan_get(const uint8_t *frame, uint32_t caplen, const struct wf_parsed *p,
                      uint32_t *vni)
{
    const uint8_t *vxlan;
    uint32_t tags;

    if (!(p->flags & WF_P_PORTS) || !(p->flags & WF_P_UDP) || !(p->flags & WF_P_IP4) ||
        p->dport != WF_VXLAN_UDP_PORT)
        return 0;
    tags = p->l3_off - IP;
    vxlan = frame + tags + VXLAN;
    if (p->l4_off != tags + UDP || caplen < tags + WF_VXLAN_OUTER + 14 || !(vxlan[0] & FLAG_VNI))
        return 0;
    *vni = (uint32_t)vxlan[4] << 16 | wf_ld16(vxlan + 5);
    return tags + WF_VXLAN_OUTER;
}

int wf_ecn_decap(uint8_t inner, uint8_t outer)
{
    if (inner == WF_ECN_NOT_ECT)
        return outer == WF_ECN_CE ? -1 : WF_ECN_NOT_ECT;
    if (outer == WF_ECN_CE)
        return WF_ECN_CE;
    return inner == WF_ECN_ECT0 && outer == WF_ECN_ECT1 ? WF_ECN_ECT1 : inner;
}
