/* SPDX-License-Identifier: BSD-3-Clause */
/* Ethernet II and VLAN tags. See eth.h. */
#include "wire/eth.h"

#include <errno.h>

static const struct wf_field eth_rows[] = {
    WF_FIELD(struct wf_eth, dst, 0, 48, MAC, "802.3 3.2.4"),
    WF_FIELD(struct wf_eth, src, 48, 48, MAC, "802.3 3.2.5"),
    WF_FIELD(struct wf_eth, ethertype, 96, 16, HEX, "802.3 3.2.6"),
};
WF_FMT(eth, WF_ETH_LEN, eth_rows);

static const struct wf_field vlan_rows[] = {
    WF_FIELD(struct wf_vlan, tpid, 0, 16, HEX, "802.1Q 9.4"),
    WF_FIELD(struct wf_vlan, pcp, 16, 3, DEC, "802.1Q 9.6"),
    WF_FIELD(struct wf_vlan, dei, 19, 1, BOOL, "802.1Q 9.6"),
    WF_FIELD(struct wf_vlan, vid, 20, 12, DEC, "802.1Q 9.6"),
};
WF_FMT(vlan, WF_VLAN_TAG_LEN, vlan_rows);

static bool is_tag(uint16_t type)
{
    return type == WF_ETHERTYPE_VLAN || type == WF_ETHERTYPE_QINQ;
}

int wf_vlan_get(struct wf_rd *r, struct wf_vlan *h)
{
    uint16_t tci;

    h->tpid = wf_rd_be16(r);
    tci = wf_rd_be16(r);
    h->pcp = (uint8_t)(tci >> 13);
    h->dei = tci >> 12 & 1;
    h->vid = tci & 0xfff;
    return r->err ? -EBADMSG : 0;
}

void wf_vlan_put(struct wf_wr *w, const struct wf_vlan *h)
{
    wf_wr_be16(w, h->tpid);
    wf_wr_be16(w, (uint16_t)((h->pcp & 7) << 13 | h->dei << 12 | (h->vid & 0xfff)));
}

int wf_eth_get(struct wf_rd *r, struct wf_eth *h)
{
    *h = (struct wf_eth){0};
    wf_rd_bytes(r, h->dst, 6);
    wf_rd_bytes(r, h->src, 6);
    while (h->n_tags < WF_VLAN_TAGS_MAX && wf_rd_left(r) >= 2 && is_tag(wf_ld16(r->p)))
        if (wf_vlan_get(r, &h->tag[h->n_tags++]))
            return -EBADMSG;
    h->ethertype = wf_rd_be16(r);
    return r->err ? -EBADMSG : 0;
}

void wf_eth_put(struct wf_wr *w, const struct wf_eth *h)
{
    wf_wr_bytes(w, h->dst, 6);
    wf_wr_bytes(w, h->src, 6);
    for (uint8_t i = 0; i < h->n_tags && i < WF_VLAN_TAGS_MAX; i++)
        wf_vlan_put(w, &h->tag[i]);
    wf_wr_be16(w, h->ethertype);
}
