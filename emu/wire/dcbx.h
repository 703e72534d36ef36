/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data centre bridging exchange, the TLVs in LLDP: IEEE (802.1Q annex D.2.8 to D.2.11, once
 * 802.1Qaz: ETS configuration and recommendation, PFC, application priority) read and written, CEE
 * (OUI 00-1B-21 subtype 2: control, priority groups, PFC, applications) read and written; subtype
 * 1, its forerunner, is only recognised. Left out: congestion notification, application VLAN,
 * logical link.
 *
 * Application selectors: 1 EtherType, 2 port of TCP or SCTP, 3 port of UDP or DCCP, 4 port of any
 * of the four, 5 DSCP. RoCEv2 is 3 or 4 with 4791.
 */
#ifndef WEFT_WIRE_DCBX_H
#define WEFT_WIRE_DCBX_H

#include "wire/lldp.h"

#define WF_OUI_DCBX 0x001b21 /* of CEE and its forerunner */

/* Subtypes of WF_OUI_8021. */
enum { WF_DCBX_ETS_CFG = 9, WF_DCBX_ETS_REC = 10, WF_DCBX_PFC = 11, WF_DCBX_APP = 12 };
/* Subtypes of WF_OUI_DCBX, and the TLVs in the latter. */
enum { WF_DCBX_PRE_CEE = 1, WF_DCBX_CEE = 2 };
enum { WF_CEE_CONTROL = 1, WF_CEE_PG = 2, WF_CEE_PFC = 3, WF_CEE_APP = 4 };
enum wf_tsa { WF_TSA_STRICT = 0, WF_TSA_CBS = 1, WF_TSA_ETS = 2, WF_TSA_VENDOR = 255 };
enum wf_app_selector {
    WF_APP_ETHERTYPE = 1,
    WF_APP_TCP = 2,
    WF_APP_UDP = 3,
    WF_APP_ANY_PORT = 4,
    WF_APP_DSCP = 5,
};

#define WF_ETS_LEN      21 /* values, without OUI and subtype */
#define WF_DCB_PFC_LEN  2
#define WF_APP_RES_LEN  1 /* before the entries */
#define WF_APP_LEN      3
#define WF_APPS_MAX     168 /* a TLV holds no more */
#define WF_CEE_HDR_LEN  4
#define WF_CEE_CTRL_LEN 10
#define WF_CEE_PG_LEN   13
#define WF_CEE_PFC_LEN  2
#define WF_CEE_APP_LEN  6
#define WF_CEE_APPS_MAX 84

/* ETS configuration; of a recommendation the first byte is reserved. */
struct wf_ets_tlv {
    uint8_t willing, cbs, resv, max_tc; /* max_tc 0: eight */
    uint8_t tc[8];                      /* by priority; 8 to 15 name no traffic class */
    uint8_t bw[8], tsa[8];              /* by traffic class */
};

struct wf_dcb_pfc {
    uint8_t willing, mbc, resv, cap, enable; /* bit per priority */
};

struct wf_app {
    uint8_t prio, resv, sel;
    uint16_t protocol;
};

struct wf_cee_hdr { /* of each feature */
    uint8_t oper_version, max_version, enable, willing, error, resv, subtype;
};

struct wf_cee_ctrl {
    uint8_t oper_version, max_version;
    uint32_t seq, ack;
};

struct wf_cee_pg {
    uint8_t pgid[8]; /* by priority; 15 strict */
    uint8_t bw[8];   /* by group */
    uint8_t num_tcs;
};

struct wf_cee_pfc {
    uint8_t enable, num_tcs;
};

struct wf_cee_app {
    uint16_t protocol;
    uint8_t oui_high, sel; /* 0 EtherType, 1 port */
    uint16_t oui_low;
    uint8_t prios; /* bit per priority */
};

/* What of it was in an LLDPDU. */
enum wf_dcbx_flag {
    WF_DCBX_HAS_CFG = 1,
    WF_DCBX_HAS_REC = 2,
    WF_DCBX_HAS_PFC = 4,
    WF_DCBX_HAS_APP = 8,
    WF_DCBX_HAS_CEE = 16,
    WF_DCBX_HAS_CEE_CTRL = 32,
    WF_DCBX_HAS_CEE_PG = 64,
    WF_DCBX_HAS_CEE_PFC = 128,
    WF_DCBX_HAS_CEE_APP = 256,
    WF_DCBX_HAS_PRE_CEE = 512,
    WF_DCBX_MALFORMED = 1024, /* a TLV was passed over, `why` is about the first */
};
#define WF_DCBX_IEEE (WF_DCBX_HAS_CFG | WF_DCBX_HAS_REC | WF_DCBX_HAS_PFC | WF_DCBX_HAS_APP)

struct wf_dcbx {
    uint32_t flags;
    const char *why;
    struct wf_ets_tlv cfg, rec;
    struct wf_dcb_pfc pfc;
    uint8_t n_apps, n_cee_apps;
    struct wf_app apps[WF_APPS_MAX];
    struct wf_cee_ctrl cee_ctrl;
    struct wf_cee_hdr cee_pg_hdr, cee_pfc_hdr, cee_app_hdr;
    struct wf_cee_pg cee_pg;
    struct wf_cee_pfc cee_pfc;
    struct wf_cee_app cee_apps[WF_CEE_APPS_MAX];
};

int wf_ets_tlv_get(struct wf_rd *r, struct wf_ets_tlv *h);
void wf_ets_tlv_put(struct wf_wr *w, const struct wf_ets_tlv *h);
int wf_dcb_pfc_get(struct wf_rd *r, struct wf_dcb_pfc *h);
void wf_dcb_pfc_put(struct wf_wr *w, const struct wf_dcb_pfc *h);
int wf_app_get(struct wf_rd *r, struct wf_app *h);
void wf_app_put(struct wf_wr *w, const struct wf_app *h);
int wf_cee_hdr_get(struct wf_rd *r, struct wf_cee_hdr *h);
void wf_cee_hdr_put(struct wf_wr *w, const struct wf_cee_hdr *h);
int wf_cee_ctrl_get(struct wf_rd *r, struct wf_cee_ctrl *h);
void wf_cee_ctrl_put(struct wf_wr *w, const struct wf_cee_ctrl *h);
int wf_cee_pg_get(struct wf_rd *r, struct wf_cee_pg *h);
void wf_cee_pg_put(struct wf_wr *w, const struct wf_cee_pg *h);
int wf_cee_pfc_get(struct wf_rd *r, struct wf_cee_pfc *h);
void wf_cee_pfc_put(struct wf_wr *w, const struct wf_cee_pfc *h);
int wf_cee_app_get(struct wf_rd *r, struct wf_cee_app *h);
void wf_cee_app_put(struct wf_wr *w, const struct wf_cee_app *h);

/* What an LLDPDU says of DCBX. A TLV that is too short, too long or there twice is passed over. */
void wf_dcbx_get(struct wf_rd lldpdu, struct wf_dcbx *d);

/* IEEE TLVs, whole. */
void wf_dcbx_put_ets(struct wf_wr *w, uint8_t subtype, const struct wf_ets_tlv *h);
void wf_dcbx_put_pfc(struct wf_wr *w, const struct wf_dcb_pfc *h);
void wf_dcbx_put_apps(struct wf_wr *w, const struct wf_app *apps, size_t n);
/* CEE's TLV: control, and the features that d->flags name. */
void wf_dcbx_put_cee(struct wf_wr *w, const struct wf_dcbx *d);

/* The priority that the entries give RoCEv2 (UDP 4791), or -1. */
int wf_app_rocev2(const struct wf_app *apps, size_t n);
int wf_cee_app_rocev2(const struct wf_cee_app *apps, size_t n);
const char *wf_tsa_name(uint8_t tsa);
const char *wf_app_selector_name(uint8_t sel);
/* All of it in a line, traffic classes as digits by priority, algorithms by their first letters;
 * returns buf, cut to len. */
const char *wf_dcbx_text(const struct wf_dcbx *d, char *buf, size_t len);

extern const struct wf_fmt wf_fmt_ets_tlv, wf_fmt_dcb_pfc, wf_fmt_app, wf_fmt_cee_hdr,
    wf_fmt_cee_ctrl, wf_fmt_cee_pg, wf_fmt_cee_pfc, wf_fmt_cee_app;

#endif
