/* SPDX-License-Identifier: BSD-3-Clause */
/* LLDPDUs. See lldp.h. */
#include "wire/lldp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

const uint8_t wf_lldp_dst[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e};

static const struct wf_field tlv_rows[] = {
    WF_FIELD(struct wf_lldp_tlv, type, 0, 7, DEC, "802.1AB 8.4.1"),
    WF_FIELD(struct wf_lldp_tlv, len, 7, 9, DEC, "802.1AB 8.4.2"),
};
WF_FMT(lldp_tlv, WF_LLDP_TLV_LEN, tlv_rows);

static const struct wf_field org_rows[] = {
    WF_FIELD(struct wf_lldp_org, oui, 0, 24, HEX, "802.1AB 8.6.1"),
    WF_FIELD(struct wf_lldp_org, subtype, 24, 8, DEC, "802.1AB 8.6.1"),
};
WF_FMT(lldp_org, WF_LLDP_ORG_LEN, org_rows);

static const struct wf_field caps_rows[] = {
    WF_FIELD(struct wf_lldp_caps, has, 0, 16, HEX, "802.1AB 8.5.8"),
    WF_FIELD(struct wf_lldp_caps, enabled, 16, 16, HEX, "802.1AB 8.5.8"),
};
WF_FMT(lldp_caps, WF_LLDP_CAPS_LEN, caps_rows);

int wf_lldp_tlv_get(struct wf_rd *r, struct wf_lldp_tlv *h)
{
    uint16_t v = wf_rd_be16(r);

    h->type = (uint8_t)(v >> 9);
    h->len = v & 0x1ff;
    return r->err ? -EBADMSG : 0;
}

void wf_lldp_tlv_put(struct wf_wr *w, const struct wf_lldp_tlv *h)
{
    wf_wr_be16(w, (uint16_t)((h->type & 0x7f) << 9 | (h->len & 0x1ff)));
}

int wf_lldp_org_get(struct wf_rd *r, struct wf_lldp_org *h)
{
    h->oui = wf_rd_be24(r);
    h->subtype = wf_rd_u8(r);
    return r->err ? -EBADMSG : 0;
}

void wf_lldp_org_put(struct wf_wr *w, const struct wf_lldp_org *h)
{
    wf_wr_be24(w, h->oui);
    wf_wr_u8(w, h->subtype);
}

int wf_lldp_caps_get(struct wf_rd *r, struct wf_lldp_caps *h)
{
    h->has = wf_rd_be16(r);
    h->enabled = wf_rd_be16(r);
    return r->err ? -EBADMSG : 0;
}

void wf_lldp_caps_put(struct wf_wr *w, const struct wf_lldp_caps *h)
{
    wf_wr_be16(w, h->has);
    wf_wr_be16(w, h->enabled);
}

bool wf_lldp_next(struct wf_rd *r, struct wf_lldp_tlv *tlv, struct wf_rd *body)
{
    const uint8_t *p;

    if (!wf_rd_left(r) || wf_lldp_tlv_get(r, tlv) || tlv->type == WF_LLDP_END)
        return false;
    p = wf_rd_take(r, tlv->len);
    if (!p)
        return false;
    *body = wf_rd_init(p, tlv->len);
    return true;
}

/* The subtype and 1 to 255 bytes (802.1AB 8.5.2.2). */
static const char *get_id(struct wf_rd *b, uint8_t *subtype, struct wf_lldp_text *id)
{
    if (wf_rd_left(b) < 2 || wf_rd_left(b) > 1 + WF_LLDP_ID_MAX)
        return "an identifier of no bytes or too many";
    *subtype = wf_rd_u8(b);
    id->len = (uint16_t)wf_rd_left(b);
    id->p = wf_rd_take(b, id->len);
    return NULL;
}

/* One of the three that begin an LLDPDU. */
static const char *get_mandatory(struct wf_lldp_pdu *h, uint8_t type, struct wf_rd *b)
{
    if (type != h->n_tlvs)
        return "does not begin with chassis, port and time to live";
    if (type == WF_LLDP_CHASSIS)
        return get_id(b, &h->chassis_subtype, &h->chassis);
    if (type == WF_LLDP_PORT)
        return get_id(b, &h->port_subtype, &h->port);
    h->ttl_s = wf_rd_be16(b); /* more than two bytes are of a later edition */
    return b->err ? "a time to live of less than two bytes" : NULL;
}

static const char *get_text(struct wf_lldp_text *text, struct wf_rd *b)
{
    if (text->p)
        return "a TLV twice that may be there once";
    text->len = (uint16_t)wf_rd_left(b);
    text->p = wf_rd_take(b, text->len);
    return NULL;
}

static const char *get_optional(struct wf_lldp_pdu *h, uint8_t type, struct wf_rd *b)
{
    switch (type) {
    case WF_LLDP_CHASSIS:
    case WF_LLDP_PORT:
    case WF_LLDP_TTL:
        return "chassis, port or time to live twice";
    case WF_LLDP_PORT_DESCRIPTION:
        return get_text(&h->port_description, b);
    case WF_LLDP_SYSTEM_NAME:
        return get_text(&h->system_name, b);
    case WF_LLDP_SYSTEM_DESCRIPTION:
        return get_text(&h->system_description, b);
    case WF_LLDP_CAPABILITIES:
        h->has_caps = !wf_lldp_caps_get(b, &h->caps);
        return h->has_caps ? NULL : "capabilities of less than four bytes";
    case WF_LLDP_ORG:
        h->n_org++;
        return wf_rd_left(b) < WF_LLDP_ORG_LEN ? "an organization's TLV without OUI and subtype"
                                               : NULL;
    default:
        return NULL; /* management addresses, and what is reserved: passed over */
    }
}

int wf_lldp_get(struct wf_rd r, struct wf_lldp_pdu *h)
{
    struct wf_lldp_tlv tlv;
    struct wf_rd body;

    *h = (struct wf_lldp_pdu){0};
    while (!h->why && wf_lldp_next(&r, &tlv, &body)) {
        h->n_tlvs++;
        h->why = h->n_tlvs <= WF_LLDP_TTL ? get_mandatory(h, tlv.type, &body)
                                          : get_optional(h, tlv.type, &body);
    }
    if (!h->why && r.err)
        h->why = "a TLV that is longer than what is left";
    if (!h->why && h->n_tlvs < WF_LLDP_TTL)
        h->why = "ends before its time to live";
    return h->why ? -EBADMSG : 0;
}

struct wf_rd wf_lldp_of(const uint8_t *frame, uint32_t caplen, const struct wf_parsed *p)
{
    return caplen > p->l3_off ? wf_rd_init(frame + p->l3_off, caplen - p->l3_off)
                              : wf_rd_init(frame, 0);
}

void wf_lldp_put_id(struct wf_wr *w, enum wf_lldp_type type, uint8_t subtype, const void *id,
                    size_t len)
{
    len = len < WF_LLDP_ID_MAX ? len : WF_LLDP_ID_MAX;
    wf_lldp_tlv_put(w, &(struct wf_lldp_tlv){(uint8_t)type, (uint16_t)(1 + len)});
    wf_wr_u8(w, subtype);
    wf_wr_bytes(w, id, len);
}

void wf_lldp_put_text(struct wf_wr *w, enum wf_lldp_type type, const char *text)
{
    size_t len = strnlen(text, 255); /* 802.1AB 8.5.5 to 8.5.7 */

    wf_lldp_tlv_put(w, &(struct wf_lldp_tlv){(uint8_t)type, (uint16_t)len});
    wf_wr_bytes(w, text, len);
}

void wf_lldp_put_ttl(struct wf_wr *w, uint16_t ttl_s)
{
    wf_lldp_tlv_put(w, &(struct wf_lldp_tlv){WF_LLDP_TTL, 2});
    wf_wr_be16(w, ttl_s);
}

void wf_lldp_put_caps(struct wf_wr *w, const struct wf_lldp_caps *caps)
{
    wf_lldp_tlv_put(w, &(struct wf_lldp_tlv){WF_LLDP_CAPABILITIES, WF_LLDP_CAPS_LEN});
    wf_lldp_caps_put(w, caps);
}

void wf_lldp_put_end(struct wf_wr *w)
{
    wf_lldp_tlv_put(w, &(struct wf_lldp_tlv){WF_LLDP_END, 0});
}

void wf_lldp_put_org(struct wf_wr *w, uint32_t oui, uint8_t subtype, size_t len)
{
    wf_lldp_tlv_put(w, &(struct wf_lldp_tlv){WF_LLDP_ORG, (uint16_t)(WF_LLDP_ORG_LEN + len)});
    wf_lldp_org_put(w, &(struct wf_lldp_org){oui, subtype});
}

static bool printable(const uint8_t *id, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (id[i] < 0x20 || id[i] > 0x7e)
            return false;
    return n > 0;
}

static const char *hex(const uint8_t *id, size_t n, const char *sep, char *buf, size_t len)
{
    size_t at = 0;

    buf[0] = 0;
    for (size_t i = 0; i < n && at + 4 < len; i++)
        at += (size_t)snprintf(buf + at, len - at, "%s%02x", i ? sep : "", id[i]);
    return buf;
}

const char *wf_lldp_id_text(bool is_chassis, uint8_t subtype, const uint8_t *id, size_t n,
                            char *buf, size_t len)
{
    uint8_t mac = is_chassis ? WF_LLDP_CHASSIS_MAC : WF_LLDP_PORT_MAC;
    uint8_t net = is_chassis ? 5 : 4;

    if (!len)
        return buf;
    if (subtype == mac && n == 6)
        return hex(id, 6, ":", buf, len);
    if (subtype == net && ((n == 5 && id[0] == 1) || (n == 17 && id[0] == 2)) &&
        inet_ntop(id[0] == 1 ? AF_INET : AF_INET6, id + 1, buf, (socklen_t)len))
        return buf;
    if (subtype != mac && subtype != net && printable(id, n)) {
        snprintf(buf, len, "%.*s", (int)n, (const char *)id);
        return buf;
    }
    return hex(id, n, "", buf, len);
}
