/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Link layer discovery (802.1AB clause 8 and 9.2.7.7): the TLVs of an LLDPDU, read and written.
 * The three that begin it (chassis, port, time to live) are held to their order and lengths, the
 * basic set is kept, organizations' TLVs are left to who knows them (dcbx.h). An end TLV may be
 * missing, as later editions allow. Left out: the values of management addresses, MED.
 */
#ifndef WEFT_WIRE_LLDP_H
#define WEFT_WIRE_LLDP_H

#include <stdint.h>

#include "base/cursor.h"
#include "wire/field.h"
#include "wire/parse.h"

#define WF_LLDP_TLV_LEN  2 /* type and length */
#define WF_LLDP_ORG_LEN  4 /* OUI and subtype, in an organization's TLV */
#define WF_LLDP_CAPS_LEN 4
#define WF_LLDP_BODY_MAX 511
#define WF_LLDP_ID_MAX   255 /* without its subtype */

#define WF_OUI_8021 0x0080c2
#define WF_OUI_8023 0x00120f

enum wf_lldp_type {
    WF_LLDP_END,
    WF_LLDP_CHASSIS,
    WF_LLDP_PORT,
    WF_LLDP_TTL,
    WF_LLDP_PORT_DESCRIPTION,
    WF_LLDP_SYSTEM_NAME,
    WF_LLDP_SYSTEM_DESCRIPTION,
    WF_LLDP_CAPABILITIES,
    WF_LLDP_MANAGEMENT_ADDRESS,
    WF_LLDP_ORG = 127,
};

enum { WF_LLDP_CHASSIS_MAC = 4, WF_LLDP_PORT_MAC = 3, WF_LLDP_PORT_NAME = 5 };
enum { WF_LLDP_CAP_BRIDGE = 4, WF_LLDP_CAP_ROUTER = 16, WF_LLDP_CAP_STATION = 128 };

struct wf_lldp_tlv {
    uint8_t type;
    uint16_t len; /* of what follows */
};

struct wf_lldp_org {
    uint32_t oui;
    uint8_t subtype;
};

struct wf_lldp_caps {
    uint16_t has, enabled;
};

/* Bytes in place; of an identifier without its subtype. */
struct wf_lldp_text {
    const uint8_t *p; /* NULL: the TLV is not there */
    uint16_t len;
};

struct wf_lldp_pdu {
    uint8_t chassis_subtype, port_subtype;
    struct wf_lldp_text chassis, port, port_description, system_name, system_description;
    uint16_t ttl_s; /* 0: the sender leaves */
    bool has_caps;
    struct wf_lldp_caps caps;
    uint16_t n_tlvs, n_org; /* all but the end; those of organizations */
    const char *why;        /* -EBADMSG: what is wrong */
};

int wf_lldp_tlv_get(struct wf_rd *r, struct wf_lldp_tlv *h);
void wf_lldp_tlv_put(struct wf_wr *w, const struct wf_lldp_tlv *h);
int wf_lldp_org_get(struct wf_rd *r, struct wf_lldp_org *h);
void wf_lldp_org_put(struct wf_wr *w, const struct wf_lldp_org *h);
int wf_lldp_caps_get(struct wf_rd *r, struct wf_lldp_caps *h);
void wf_lldp_caps_put(struct wf_wr *w, const struct wf_lldp_caps *h);

/* The next TLV and a reader over its value. False: the end TLV, no bytes left, or r->err when the
 * TLV is longer than the LLDPDU. */
bool wf_lldp_next(struct wf_rd *r, struct wf_lldp_tlv *tlv, struct wf_rd *body);
/* A whole LLDPDU, from behind the EtherType; padding behind its end is nobody's. 0, or -EBADMSG and
 * h->why; h then has what was found until there. */
int wf_lldp_get(struct wf_rd r, struct wf_lldp_pdu *h);
/* The LLDPDU of a frame with WF_P_LLDP. */
struct wf_rd wf_lldp_of(const uint8_t *frame, uint32_t caplen, const struct wf_parsed *p);

/* Writers of one TLV each; identifiers and texts are cut at what a TLV holds. */
void wf_lldp_put_id(struct wf_wr *w, enum wf_lldp_type type, uint8_t subtype, const void *id,
                    size_t len);
void wf_lldp_put_text(struct wf_wr *w, enum wf_lldp_type type, const char *text);
void wf_lldp_put_ttl(struct wf_wr *w, uint16_t ttl_s);
void wf_lldp_put_caps(struct wf_wr *w, const struct wf_lldp_caps *caps);
void wf_lldp_put_end(struct wf_wr *w);
/* The head of an organization's TLV whose value is len bytes. */
void wf_lldp_put_org(struct wf_wr *w, uint32_t oui, uint8_t subtype, size_t len);

/* An identifier as people write it: a MAC address, a name, bytes. Returns buf, cut to len. */
const char *wf_lldp_id_text(bool is_chassis, uint8_t subtype, const uint8_t *id, size_t n,
                            char *buf, size_t len);

extern const uint8_t wf_lldp_dst[6]; /* 01-80-C2-00-00-0E, the nearest bridge */
extern const struct wf_fmt wf_fmt_lldp_tlv, wf_fmt_lldp_org, wf_fmt_lldp_caps;

#endif
