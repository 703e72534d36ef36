/* SPDX-License-Identifier: BSD-3-Clause */
/* What is around a frame, taken off. See peel.h. */
#include "analyze/peel.h"

#include "wire/eth.h"
#include "wire/ip4.h"
#include "wire/vxlan.h"

enum {
    LINK_ETHERNET = 1,
    LINK_RAW_OLD = 12,
    LINK_RAW = 101,
    LINK_SLL = 113,
    LINK_IP4 = 228,
    LINK_IP6 = 229,
    LINK_SLL2 = 276,
    GENEVE_PORT = 6081,
    ETHERTYPE_BRIDGED = 0x6558, /* a frame in GRE or Geneve */
    ETHERTYPE_ERSPAN12 = 0x88be,
    ETHERTYPE_ERSPAN3 = 0x22eb,
    ETHERTYPE_MPLS = 0x8847,
    ETHERTYPE_MPLS_GROUP = 0x8848,
    ETHERTYPE_QINQ_OLD = 0x9100,
    PROTO_IPIP = 4,
    PROTO_IP6IP = 41,
    PROTO_GRE = 47,
    GRE_CSUM = 0x8000,
    GRE_KEY = 0x2000,
    GRE_SEQ = 0x1000,
};

const char *const wf_an_tunnel_names[WF_AN_TUNNELS] = {
    "none", "VXLAN", "Geneve", "GRE", "ERSPAN I", "ERSPAN II", "ERSPAN III", "IP in IP", "MPLS"};

/* What is still to be looked at: data[off..cap) of a frame that ends at len. */
struct at {
    const uint8_t *data;
    uint32_t off, cap, len;
};

static bool have(const struct at *a, uint32_t n)
{
    return a->off <= a->cap && a->cap - a->off >= n;
}

bool wf_an_peels(uint16_t link_type)
{
    switch (link_type) {
    case LINK_ETHERNET:
    case LINK_RAW_OLD:
    case LINK_RAW:
    case LINK_SLL:
    case LINK_IP4:
    case LINK_IP6:
    case LINK_SLL2:
        return true;
    default:
        return false;
    }
}

static void take_tunnel(struct wf_an_peeled *p, enum wf_an_tunnel kind, uint32_t id)
{
    p->around.tunnel = (uint8_t)kind;
    p->around.tunnel_id = id;
    p->around.depth++;
    p->around.n_tags = 0;
    p->around.vid = p->around.pcp = 0;
}

/* A frame begins here. */
static bool ethernet(struct at *a, struct wf_an_peeled *p)
{
    if (!have(a, WF_ETH_LEN))
        return false;
    p->around.ethertype = wf_ld16(a->data + a->off + 12);
    p->around.macs = true;
    a->off += WF_ETH_LEN;
    return true;
}

/* By the first nibble of what has no type of its own. */
static bool by_version(struct at *a, struct wf_an_peeled *p)
{
    if (!have(a, 1))
        return false;
    p->around.macs = false;
    p->around.ethertype = a->data[a->off] >> 4 == 4 ? WF_ETHERTYPE_IP4 : WF_ETHERTYPE_IP6;
    return a->data[a->off] >> 4 == 4 || a->data[a->off] >> 4 == 6;
}

static void tags(struct at *a, struct wf_an_peeled *p)
{
    while ((p->around.ethertype == WF_ETHERTYPE_VLAN || p->around.ethertype == WF_ETHERTYPE_QINQ ||
            p->around.ethertype == ETHERTYPE_QINQ_OLD) &&
           p->around.n_tags < WF_AN_TAGS_MAX && have(a, 4)) {
        uint16_t tci = wf_ld16(a->data + a->off);

        if (p->around.n_tags++ == 0) {
            p->around.vid = tci & 0xfff;
            p->around.pcp = (uint8_t)(tci >> 13);
        }
        p->around.ethertype = wf_ld16(a->data + a->off + 2);
        a->off += 4;
    }
}

/* ERSPAN's own header, of which type I has none. */
static bool erspan(struct at *a, struct wf_an_peeled *p, uint16_t type, bool seq)
{
    uint32_t id = 0, n = 0;
    enum wf_an_tunnel kind = WF_AN_ERSPAN1;

    if (type == ETHERTYPE_ERSPAN3) {
        if (!have(a, 12))
            return false;
        kind = WF_AN_ERSPAN3;
        n = 12 + (a->data[a->off + 11] & 1 ? 8 : 0);
    } else if (seq) {
        kind = WF_AN_ERSPAN2;
        n = 8;
    }
    if (!have(a, n))
        return false;
    if (n)
        id = wf_ld16(a->data + a->off + 2) & 0x3ff;
    a->off += n;
    take_tunnel(p, kind, id);
    return ethernet(a, p);
}

static bool gre(struct at *a, struct wf_an_peeled *p)
{
    uint16_t flags, type;
    uint32_t n = 4, key = 0;

    if (!have(a, 4))
        return false;
    flags = wf_ld16(a->data + a->off);
    type = wf_ld16(a->data + a->off + 2);
    n += (flags & GRE_CSUM ? 4 : 0) + (flags & GRE_KEY ? 4 : 0) + (flags & GRE_SEQ ? 4 : 0);
    if (flags & 7 || !have(a, n))
        return false;
    if (flags & GRE_KEY)
        key = wf_ld32(a->data + a->off + 4 + (flags & GRE_CSUM ? 4 : 0));
    a->off += n;
    if (type == ETHERTYPE_ERSPAN12 || type == ETHERTYPE_ERSPAN3)
        return erspan(a, p, type, flags & GRE_SEQ);
    take_tunnel(p, WF_AN_GRE, key);
    if (type == ETHERTYPE_BRIDGED)
        return ethernet(a, p);
    p->around.macs = false;
    p->around.ethertype = type;
    return true;
}

static bool mpls(struct at *a, struct wf_an_peeled *p)
{
    bool bottom = false;

    while (!bottom) {
        if (!have(a, 4))
            return false;
        bottom = a->data[a->off + 2] & 1;
        a->off += 4;
    }
    take_tunnel(p, WF_AN_MPLS, 0);
    if (have(a, 5) && a->data[a->off] >> 4 == 0) { /* a pseudowire's control word */
        a->off += 4;
        return ethernet(a, p);
    }
    return by_version(a, p);
}

/* VXLAN or Geneve behind a UDP header at a->off; false: neither, and nothing has moved. */
static bool udp_tunnel(struct at *a, struct wf_an_peeled *p)
{
    struct at in = *a;
    const uint8_t *h = a->data + a->off;
    uint16_t dport;

    if (!have(a, 16))
        return false;
    dport = wf_ld16(h + 2);
    if (dport == WF_VXLAN_UDP_PORT && h[8] & 8) {
        in.off += 16;
    } else if (dport == GENEVE_PORT && wf_ld16(h + 10) == ETHERTYPE_BRIDGED) {
        in.off += 16u + (h[8] & 63u) * 4;
    } else {
        return false;
    }
    if (!have(&in, WF_ETH_LEN))
        return false;
    take_tunnel(p, dport == WF_VXLAN_UDP_PORT ? WF_AN_VXLAN : WF_AN_GENEVE, wf_ld24(h + 12));
    *a = in;
    return ethernet(a, p);
}

/* Behind an IP header. */
static bool inside(struct at *in, struct wf_an_peeled *p, uint8_t proto)
{
    switch (proto) {
    case WF_IPPROTO_UDP:
        return udp_tunnel(in, p);
    case PROTO_GRE:
        return gre(in, p);
    case PROTO_IPIP:
    case PROTO_IP6IP:
        take_tunnel(p, WF_AN_IPIP, 0);
        return by_version(in, p);
    default:
        return false;
    }
}

/* An IP header at a->off: step into a tunnel behind it. False: it is the innermost. */
static bool ip_tunnel(struct at *a, struct wf_an_peeled *p)
{
    const uint8_t *h = a->data + a->off;
    const struct wf_an_around before = p->around;
    struct at in = *a;
    uint8_t proto;

    if (p->around.ethertype == WF_ETHERTYPE_IP4) {
        if (!have(a, 20) || h[0] >> 4 != 4 || (h[0] & 15) < 5 || wf_ld16(h + 6) & 0x3fff)
            return false;
        proto = h[9];
        in.off += (h[0] & 15u) * 4;
    } else {
        if (!have(a, 40))
            return false;
        proto = h[6];
        in.off += 40;
    }
    if (!inside(&in, p, proto)) {
        p->around = before;
        return false;
    }
    *a = in;
    return true;
}

static bool begin(struct at *a, struct wf_an_peeled *p, uint16_t link_type)
{
    switch (link_type) {
    case LINK_ETHERNET:
        return ethernet(a, p);
    case LINK_SLL:
    case LINK_SLL2:
        if (!have(a, link_type == LINK_SLL ? 16 : 20))
            return false;
        p->around.ethertype = wf_ld16(a->data + (link_type == LINK_SLL ? 14 : 0));
        a->off = link_type == LINK_SLL ? 16 : 20;
        return true;
    case LINK_RAW_OLD:
    case LINK_RAW:
    case LINK_IP4:
    case LINK_IP6:
        return by_version(a, p);
    default:
        return false;
    }
}

/* Some mirrors cut frames and say nothing: what the IP header says is how long it was. */
static void true_length(const struct at *a, struct wf_an_peeled *p, uint32_t *len)
{
    const uint8_t *h = a->data + a->off;
    uint32_t want = 0;

    if (p->around.ethertype == WF_ETHERTYPE_IP4 && have(a, 20))
        want = wf_ld16(h + 2);
    else if ((p->around.ethertype == WF_ETHERTYPE_IP6 ||
              p->around.ethertype == WF_ETHERTYPE_ROCEV1) &&
             have(a, 40))
        want = 40u + wf_ld16(h + 4);
    if (want > *len) {
        p->cut_by_mirror = a->cap == a->len;
        *len = want;
    }
}

/* Make the 14 bytes before what a->off begins say what it is. */
static void as_frame(const struct at *a, struct wf_an_peeled *p)
{
    uint32_t cap = a->cap - a->off, len = a->len - a->off;

    true_length(a, p, &len);
    p->len_bytes = WF_ETH_LEN + len;
    if (a->off >= WF_ETH_LEN && wf_ld16(a->data + a->off - 2) == p->around.ethertype) {
        p->frame = a->data + a->off - WF_ETH_LEN;
        p->around.macs &= p->around.n_tags == 0;
        p->cap_bytes = WF_ETH_LEN + cap;
        return;
    }
    if (cap > sizeof(p->scratch) - WF_ETH_LEN)
        cap = sizeof(p->scratch) - WF_ETH_LEN;
    memset(p->scratch, 0, 12);
    wf_st16(p->scratch + 12, p->around.ethertype);
    memcpy(p->scratch + WF_ETH_LEN, a->data + a->off, cap);
    p->frame = p->scratch;
    p->cap_bytes = WF_ETH_LEN + cap;
    p->around.macs = false;
}

bool wf_an_peel(const struct wf_cap_rec *rec, struct wf_an_peeled *p)
{
    struct at a = {rec->data, 0, rec->cap_bytes, rec->len_bytes};
    uint8_t fcs = rec->iface->fcs_bytes;

    memset(p, 0, offsetof(struct wf_an_peeled, scratch));
    if (fcs && fcs <= 4 && a.len > fcs)
        a.len -= fcs;
    if (a.cap > a.len)
        a.cap = a.len;
    if (!begin(&a, p, rec->iface->link_type))
        return false;
    for (int i = 0; i < WF_AN_DEPTH_MAX; i++) {
        tags(&a, p);
        if (p->around.ethertype == ETHERTYPE_MPLS || p->around.ethertype == ETHERTYPE_MPLS_GROUP) {
            if (!mpls(&a, p))
                return false;
        } else if (p->around.ethertype != WF_ETHERTYPE_IP4 &&
                   p->around.ethertype != WF_ETHERTYPE_IP6) {
            break;
        } else if (!ip_tunnel(&a, p)) {
            break;
        }
    }
    if (a.off > a.cap)
        return false;
    as_frame(&a, p);
    return true;
}
