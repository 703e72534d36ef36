/* SPDX-License-Identifier: BSD-3-Clause */
/* DCBX TLVs. See dcbx.h. */
#include "wire/dcbx.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#define EIGHT(s, m, at, bits, clause)                                                              \
    WF_FIELD(s, m[0], at, bits, DEC, clause), WF_FIELD(s, m[1], at + bits, bits, DEC, clause),     \
        WF_FIELD(s, m[2], at + 2 * bits, bits, DEC, clause),                                       \
        WF_FIELD(s, m[3], at + 3 * bits, bits, DEC, clause),                                       \
        WF_FIELD(s, m[4], at + 4 * bits, bits, DEC, clause),                                       \
        WF_FIELD(s, m[5], at + 5 * bits, bits, DEC, clause),                                       \
        WF_FIELD(s, m[6], at + 6 * bits, bits, DEC, clause),                                       \
        WF_FIELD(s, m[7], at + 7 * bits, bits, DEC, clause)

/* Rare frames, so that their tables are codec enough. */
#define BY_TABLE(f)                                                                                \
    int wf_##f##_get(struct wf_rd *r, struct wf_##f *h)                                            \
    {                                                                                              \
        return wf_fmt_get(&wf_fmt_##f, r, h, sizeof(*h));                                          \
    }                                                                                              \
    void wf_##f##_put(struct wf_wr *w, const struct wf_##f *h)                                     \
    {                                                                                              \
        wf_fmt_put(&wf_fmt_##f, w, h);                                                             \
    }

static const struct wf_field ets_rows[] = {
    WF_FIELD(struct wf_ets_tlv, willing, 0, 1, DEC, "802.1Q D.2.8.3"),
    WF_FIELD(struct wf_ets_tlv, cbs, 1, 1, DEC, "802.1Q D.2.8.4"),
    WF_FIELD(struct wf_ets_tlv, resv, 2, 3, DEC, "802.1Q D.2.8"),
    WF_FIELD(struct wf_ets_tlv, max_tc, 5, 3, DEC, "802.1Q D.2.8.5"),
    EIGHT(struct wf_ets_tlv, tc, 8, 4, "802.1Q D.2.8.6"),
    EIGHT(struct wf_ets_tlv, bw, 40, 8, "802.1Q D.2.8.7"),
    EIGHT(struct wf_ets_tlv, tsa, 104, 8, "802.1Q D.2.8.8"),
};
WF_FMT(ets_tlv, WF_ETS_LEN, ets_rows);
BY_TABLE(ets_tlv)

static const struct wf_field pfc_rows[] = {
    WF_FIELD(struct wf_dcb_pfc, willing, 0, 1, DEC, "802.1Q D.2.10.3"),
    WF_FIELD(struct wf_dcb_pfc, mbc, 1, 1, DEC, "802.1Q D.2.10.4"),
    WF_FIELD(struct wf_dcb_pfc, resv, 2, 2, DEC, "802.1Q D.2.10"),
    WF_FIELD(struct wf_dcb_pfc, cap, 4, 4, DEC, "802.1Q D.2.10.5"),
    WF_FIELD(struct wf_dcb_pfc, enable, 8, 8, HEX, "802.1Q D.2.10.6"),
};
WF_FMT(dcb_pfc, WF_DCB_PFC_LEN, pfc_rows);
BY_TABLE(dcb_pfc)

static const struct wf_field app_rows[] = {
    WF_FIELD(struct wf_app, prio, 0, 3, DEC, "802.1Q D.2.11.3"),
    WF_FIELD(struct wf_app, resv, 3, 2, DEC, "802.1Q D.2.11.3"),
    WF_FIELD(struct wf_app, sel, 5, 3, DEC, "802.1Q D.2.11.3"),
    WF_FIELD(struct wf_app, protocol, 8, 16, DEC, "802.1Q D.2.11.3"),
};
WF_FMT(app, WF_APP_LEN, app_rows);
BY_TABLE(app)

static const struct wf_field cee_hdr_rows[] = {
    WF_FIELD(struct wf_cee_hdr, oper_version, 0, 8, DEC, "CEE 3.1.3"),
    WF_FIELD(struct wf_cee_hdr, max_version, 8, 8, DEC, "CEE 3.1.3"),
    WF_FIELD(struct wf_cee_hdr, enable, 16, 1, DEC, "CEE 3.1.3"),
    WF_FIELD(struct wf_cee_hdr, willing, 17, 1, DEC, "CEE 3.1.3"),
    WF_FIELD(struct wf_cee_hdr, error, 18, 1, DEC, "CEE 3.1.3"),
    WF_FIELD(struct wf_cee_hdr, resv, 19, 5, HEX, "CEE 3.1.3"),
    WF_FIELD(struct wf_cee_hdr, subtype, 24, 8, DEC, "CEE 3.1.3"),
};
WF_FMT(cee_hdr, WF_CEE_HDR_LEN, cee_hdr_rows);
BY_TABLE(cee_hdr)

static const struct wf_field cee_ctrl_rows[] = {
    WF_FIELD(struct wf_cee_ctrl, oper_version, 0, 8, DEC, "CEE 3.1.2"),
    WF_FIELD(struct wf_cee_ctrl, max_version, 8, 8, DEC, "CEE 3.1.2"),
    WF_FIELD(struct wf_cee_ctrl, seq, 16, 32, DEC, "CEE 3.1.2"),
    WF_FIELD(struct wf_cee_ctrl, ack, 48, 32, DEC, "CEE 3.1.2"),
};
WF_FMT(cee_ctrl, WF_CEE_CTRL_LEN, cee_ctrl_rows);
BY_TABLE(cee_ctrl)

static const struct wf_field cee_pg_rows[] = {
    EIGHT(struct wf_cee_pg, pgid, 0, 4, "CEE 3.1.4"),
    EIGHT(struct wf_cee_pg, bw, 32, 8, "CEE 3.1.4"),
    WF_FIELD(struct wf_cee_pg, num_tcs, 96, 8, DEC, "CEE 3.1.4"),
};
WF_FMT(cee_pg, WF_CEE_PG_LEN, cee_pg_rows);
BY_TABLE(cee_pg)

static const struct wf_field cee_pfc_rows[] = {
    WF_FIELD(struct wf_cee_pfc, enable, 0, 8, HEX, "CEE 3.1.5"),
    WF_FIELD(struct wf_cee_pfc, num_tcs, 8, 8, DEC, "CEE 3.1.5"),
};
WF_FMT(cee_pfc, WF_CEE_PFC_LEN, cee_pfc_rows);
BY_TABLE(cee_pfc)

static const struct wf_field cee_app_rows[] = {
    WF_FIELD(struct wf_cee_app, protocol, 0, 16, DEC, "CEE 3.1.6"),
    WF_FIELD(struct wf_cee_app, oui_high, 16, 6, HEX, "CEE 3.1.6"),
    WF_FIELD(struct wf_cee_app, sel, 22, 2, DEC, "CEE 3.1.6"),
    WF_FIELD(struct wf_cee_app, oui_low, 24, 16, HEX, "CEE 3.1.6"),
    WF_FIELD(struct wf_cee_app, prios, 40, 8, HEX, "CEE 3.1.6"),
};
WF_FMT(cee_app, WF_CEE_APP_LEN, cee_app_rows);
BY_TABLE(cee_app)

static void refuse(struct wf_dcbx *d, const char *why)
{
    if (!(d->flags & WF_DCBX_MALFORMED))
        d->why = why;
    d->flags |= WF_DCBX_MALFORMED;
}

/* A TLV that may come once and has this length. */
static bool once(struct wf_dcbx *d, uint32_t flag, bool length_fits, const char *twice,
                 const char *length)
{
    if (d->flags & flag || !length_fits) {
        refuse(d, d->flags & flag ? twice : length);
        return false;
    }
    d->flags |= flag;
    return true;
}

static void get_apps(struct wf_dcbx *d, struct wf_rd *b)
{
    size_t left = wf_rd_left(b);

    if (!once(d, WF_DCBX_HAS_APP,
              left >= WF_APP_RES_LEN && (left - WF_APP_RES_LEN) % WF_APP_LEN == 0,
              "Application Priority twice", "Application Priority of a part of an entry"))
        return;
    wf_rd_skip(b, WF_APP_RES_LEN);
    while (wf_rd_left(b) && d->n_apps < WF_APPS_MAX)
        wf_app_get(b, &d->apps[d->n_apps++]);
}

static void get_ieee(struct wf_dcbx *d, uint8_t subtype, struct wf_rd *b)
{
    size_t left = wf_rd_left(b);

    switch (subtype) {
    case WF_DCBX_ETS_CFG:
        if (once(d, WF_DCBX_HAS_CFG, left == WF_ETS_LEN, "ETS Configuration twice",
                 "ETS Configuration not of 25 bytes"))
            wf_ets_tlv_get(b, &d->cfg);
        return;
    case WF_DCBX_ETS_REC:
        if (once(d, WF_DCBX_HAS_REC, left == WF_ETS_LEN, "ETS Recommendation twice",
                 "ETS Recommendation not of 25 bytes"))
            wf_ets_tlv_get(b, &d->rec);
        return;
    case WF_DCBX_PFC:
        if (once(d, WF_DCBX_HAS_PFC, left == WF_DCB_PFC_LEN, "PFC Configuration twice",
                 "PFC Configuration not of 6 bytes"))
            wf_dcb_pfc_get(b, &d->pfc);
        return;
    case WF_DCBX_APP:
        get_apps(d, b);
        return;
    default:
        return;
    }
}

static void get_cee_apps(struct wf_dcbx *d, struct wf_rd *b)
{
    size_t left = wf_rd_left(b);

    if (!once(d, WF_DCBX_HAS_CEE_APP,
              left >= WF_CEE_HDR_LEN && (left - WF_CEE_HDR_LEN) % WF_CEE_APP_LEN == 0,
              "CEE applications twice", "CEE applications of a part of an entry"))
        return;
    wf_cee_hdr_get(b, &d->cee_app_hdr);
    while (wf_rd_left(b) && d->n_cee_apps < WF_CEE_APPS_MAX)
        wf_cee_app_get(b, &d->cee_apps[d->n_cee_apps++]);
}

static void get_cee_tlv(struct wf_dcbx *d, uint8_t type, struct wf_rd *b)
{
    size_t left = wf_rd_left(b);

    switch (type) {
    case WF_CEE_CONTROL:
        if (once(d, WF_DCBX_HAS_CEE_CTRL, left == WF_CEE_CTRL_LEN, "CEE control twice",
                 "CEE control not of 10 bytes"))
            wf_cee_ctrl_get(b, &d->cee_ctrl);
        return;
    case WF_CEE_PG:
        if (once(d, WF_DCBX_HAS_CEE_PG, left == WF_CEE_HDR_LEN + WF_CEE_PG_LEN,
                 "CEE priority groups twice", "CEE priority groups not of 17 bytes")) {
            wf_cee_hdr_get(b, &d->cee_pg_hdr);
            wf_cee_pg_get(b, &d->cee_pg);
        }
        return;
    case WF_CEE_PFC:
        if (once(d, WF_DCBX_HAS_CEE_PFC, left == WF_CEE_HDR_LEN + WF_CEE_PFC_LEN, "CEE PFC twice",
                 "CEE PFC not of 6 bytes")) {
            wf_cee_hdr_get(b, &d->cee_pfc_hdr);
            wf_cee_pfc_get(b, &d->cee_pfc);
        }
        return;
    case WF_CEE_APP:
        get_cee_apps(d, b);
        return;
    default:
        return;
    }
}

static void get_cee(struct wf_dcbx *d, struct wf_rd *b)
{
    struct wf_lldp_tlv tlv;
    struct wf_rd value;

    if (!once(d, WF_DCBX_HAS_CEE, true, "CEE twice", ""))
        return;
    while (wf_lldp_next(b, &tlv, &value))
        get_cee_tlv(d, tlv.type, &value);
    if (b->err)
        refuse(d, "a TLV in CEE that is longer than what is left");
}

void wf_dcbx_get(struct wf_rd lldpdu, struct wf_dcbx *d)
{
    struct wf_lldp_tlv tlv;
    struct wf_lldp_org org;
    struct wf_rd body;

    memset(d, 0, sizeof(*d));
    while (wf_lldp_next(&lldpdu, &tlv, &body)) {
        if (tlv.type != WF_LLDP_ORG || wf_lldp_org_get(&body, &org))
            continue;
        if (org.oui == WF_OUI_8021)
            get_ieee(d, org.subtype, &body);
        else if (org.oui == WF_OUI_DCBX && org.subtype == WF_DCBX_CEE)
            get_cee(d, &body);
        else if (org.oui == WF_OUI_DCBX && org.subtype == WF_DCBX_PRE_CEE)
            d->flags |= WF_DCBX_HAS_PRE_CEE;
    }
}

void wf_dcbx_put_ets(struct wf_wr *w, uint8_t subtype, const struct wf_ets_tlv *h)
{
    wf_lldp_put_org(w, WF_OUI_8021, subtype, WF_ETS_LEN);
    wf_ets_tlv_put(w, h);
}

void wf_dcbx_put_pfc(struct wf_wr *w, const struct wf_dcb_pfc *h)
{
    wf_lldp_put_org(w, WF_OUI_8021, WF_DCBX_PFC, WF_DCB_PFC_LEN);
    wf_dcb_pfc_put(w, h);
}

void wf_dcbx_put_apps(struct wf_wr *w, const struct wf_app *apps, size_t n)
{
    n = n < WF_APPS_MAX ? n : WF_APPS_MAX;
    wf_lldp_put_org(w, WF_OUI_8021, WF_DCBX_APP, WF_APP_RES_LEN + n * WF_APP_LEN);
    wf_wr_zeros(w, WF_APP_RES_LEN);
    for (size_t i = 0; i < n; i++)
        wf_app_put(w, &apps[i]);
}

/* Header of a TLV within CEE's: as that of LLDP itself. */
static void put_feature(struct wf_wr *w, uint8_t type, size_t len, const struct wf_cee_hdr *h)
{
    wf_wr_be16(w, (uint16_t)(type << 9 | (WF_CEE_HDR_LEN + len)));
    wf_cee_hdr_put(w, h);
}

void wf_dcbx_put_cee(struct wf_wr *w, const struct wf_dcbx *d)
{
    size_t len = 2 + WF_CEE_CTRL_LEN;

    len += d->flags & WF_DCBX_HAS_CEE_PG ? 2 + WF_CEE_HDR_LEN + WF_CEE_PG_LEN : 0;
    len += d->flags & WF_DCBX_HAS_CEE_PFC ? 2 + WF_CEE_HDR_LEN + WF_CEE_PFC_LEN : 0;
    if (d->flags & WF_DCBX_HAS_CEE_APP)
        len += 2 + WF_CEE_HDR_LEN + d->n_cee_apps * (size_t)WF_CEE_APP_LEN;
    wf_lldp_put_org(w, WF_OUI_DCBX, WF_DCBX_CEE, len);
    wf_wr_be16(w, WF_CEE_CONTROL << 9 | WF_CEE_CTRL_LEN);
    wf_cee_ctrl_put(w, &d->cee_ctrl);
    if (d->flags & WF_DCBX_HAS_CEE_PG) {
        put_feature(w, WF_CEE_PG, WF_CEE_PG_LEN, &d->cee_pg_hdr);
        wf_cee_pg_put(w, &d->cee_pg);
    }
    if (d->flags & WF_DCBX_HAS_CEE_PFC) {
        put_feature(w, WF_CEE_PFC, WF_CEE_PFC_LEN, &d->cee_pfc_hdr);
        wf_cee_pfc_put(w, &d->cee_pfc);
    }
    if (!(d->flags & WF_DCBX_HAS_CEE_APP))
        return;
    put_feature(w, WF_CEE_APP, d->n_cee_apps * (size_t)WF_CEE_APP_LEN, &d->cee_app_hdr);
    for (size_t i = 0; i < d->n_cee_apps; i++)
        wf_cee_app_put(w, &d->cee_apps[i]);
}

enum { ROCEV2 = 4791 };

int wf_app_rocev2(const struct wf_app *apps, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((apps[i].sel == WF_APP_UDP || apps[i].sel == WF_APP_ANY_PORT) &&
            apps[i].protocol == ROCEV2)
            return apps[i].prio;
    return -1;
}

int wf_cee_app_rocev2(const struct wf_cee_app *apps, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (apps[i].sel == 1 && apps[i].protocol == ROCEV2 && apps[i].prios)
            return __builtin_ctz(apps[i].prios);
    return -1;
}

const char *wf_tsa_name(uint8_t tsa)
{
    switch (tsa) {
    case WF_TSA_STRICT:
        return "strict";
    case WF_TSA_CBS:
        return "cbs";
    case WF_TSA_ETS:
        return "ets";
    case WF_TSA_VENDOR:
        return "vendor";
    default:
        return "reserved";
    }
}

const char *wf_app_selector_name(uint8_t sel)
{
    static const char *const names[8] = {"reserved", "ethertype", "tcp",      "udp",
                                         "any_port", "dscp",      "reserved", "reserved"};

    return names[sel & 7];
}

struct text {
    char *at;
    size_t left;
};

static void say(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(struct text *t, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(t->at, t->left, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= t->left)
        n = t->left ? (int)t->left - 1 : 0; /* cut */
    t->at += n;
    t->left -= (size_t)n;
}

static void say_eight(struct text *t, const char *what, const uint8_t v[8])
{
    say(t, " %s", what);
    for (int i = 0; i < 8; i++)
        say(t, "%s%u", i ? "," : " ", v[i]);
}

static void say_ets(struct text *t, const char *what, const struct wf_ets_tlv *h)
{
    say(t, " %s%s", what, h->willing ? " willing" : "");
    if (h->max_tc)
        say(t, " max %u", h->max_tc);
    say(t, " tc ");
    for (int i = 0; i < 8; i++)
        say(t, "%x", h->tc[i]);
    say_eight(t, "bw", h->bw);
    say(t, " tsa ");
    for (int i = 0; i < 8; i++)
        say(t, "%c", *wf_tsa_name(h->tsa[i]));
}

static void say_cee(struct text *t, const struct wf_dcbx *d)
{
    say(t, " CEE");
    if (d->flags & WF_DCBX_HAS_CEE_CTRL)
        say(t, " seq %u ack %u", d->cee_ctrl.seq, d->cee_ctrl.ack);
    if (d->flags & WF_DCBX_HAS_CEE_PG) {
        say(t, " PG%s", d->cee_pg_hdr.willing ? " willing" : "");
        say_eight(t, "pgid", d->cee_pg.pgid);
        say_eight(t, "bw", d->cee_pg.bw);
    }
    if (d->flags & WF_DCBX_HAS_CEE_PFC)
        say(t, " PFC%s 0x%02x", d->cee_pfc_hdr.willing ? " willing" : "", d->cee_pfc.enable);
    if (d->flags & WF_DCBX_HAS_CEE_APP)
        say(t, " APP%s", d->cee_app_hdr.willing ? " willing" : "");
    for (size_t i = 0; i < d->n_cee_apps; i++)
        say(t, " %s/%u=0x%02x", d->cee_apps[i].sel ? "port" : "ethertype", d->cee_apps[i].protocol,
            d->cee_apps[i].prios);
}

const char *wf_dcbx_text(const struct wf_dcbx *d, char *buf, size_t len)
{
    struct text t = {buf, len};

    if (len)
        buf[0] = 0;
    if (d->flags & WF_DCBX_HAS_CFG)
        say_ets(&t, "ETS-CFG", &d->cfg);
    if (d->flags & WF_DCBX_HAS_REC)
        say_ets(&t, "ETS-REC", &d->rec);
    if (d->flags & WF_DCBX_HAS_PFC)
        say(&t, " PFC%s cap %u 0x%02x", d->pfc.willing ? " willing" : "", d->pfc.cap,
            d->pfc.enable);
    if (d->flags & WF_DCBX_HAS_APP)
        say(&t, " APP");
    for (size_t i = 0; i < d->n_apps; i++)
        say(&t, " %s/%u=%u", wf_app_selector_name(d->apps[i].sel), d->apps[i].protocol,
            d->apps[i].prio);
    if (d->flags & WF_DCBX_HAS_CEE)
        say_cee(&t, d);
    if (d->flags & WF_DCBX_HAS_PRE_CEE)
        say(&t, " DCBX before CEE");
    if (d->flags & WF_DCBX_MALFORMED)
        say(&t, ", malformed: %s", d->why);
    return buf;
}
