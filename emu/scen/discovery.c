/* SPDX-License-Identifier: BSD-3-Clause */
/* Views of LLDP and DCBX. See discovery.h. */
#include "scen/discovery.h"

#include <inttypes.h>
#include <string.h>

#include "cap/json.h"
#include "base/units.h"
#include "scen/match.h"

enum { ROWS = 40 };

static json_t *bits(uint8_t mask)
{
    json_t *a = json_array();

    for (int p = 0; p < 8; p++)
        if (mask >> p & 1)
            json_array_append_new(a, json_integer(p));
    return a;
}

static json_t *eight(const uint8_t v[8])
{
    json_t *a = json_array();

    for (int i = 0; i < 8; i++)
        json_array_append_new(a, json_integer(v[i]));
    return a;
}

static json_t *ets_json(const struct wf_ets_tlv *h)
{
    json_t *tsa = json_array();

    for (int i = 0; i < 8; i++)
        json_array_append_new(tsa, json_string(wf_tsa_name(h->tsa[i])));
    return json_pack("{s:b, s:b, s:i, s:o, s:o, s:o}", "willing", h->willing, "cbs", h->cbs,
                     "max_tcs", h->max_tc ? h->max_tc : 8, "tc", eight(h->tc), "bandwidth_percent",
                     eight(h->bw), "algorithm", tsa);
}

static json_t *pfc_json(const struct wf_dcb_pfc *h)
{
    return json_pack("{s:b, s:b, s:i, s:o}", "willing", h->willing, "mbc", h->mbc, "max_tcs",
                     h->cap, "priorities", bits(h->enable));
}

static json_t *apps_json(const struct wf_dcbx *d)
{
    json_t *a = json_array();

    for (size_t i = 0; i < d->n_apps; i++)
        json_array_append_new(a, json_pack("{s:s, s:i, s:i}", "selector",
                                           wf_app_selector_name(d->apps[i].sel), "protocol",
                                           d->apps[i].protocol, "priority", d->apps[i].prio));
    return a;
}

static json_t *cee_apps_json(const struct wf_dcbx *d)
{
    json_t *a = json_array();

    for (size_t i = 0; i < d->n_cee_apps; i++)
        json_array_append_new(a, json_pack("{s:s, s:i, s:o}", "selector",
                                           d->cee_apps[i].sel ? "port" : "ethertype", "protocol",
                                           d->cee_apps[i].protocol, "priorities",
                                           bits(d->cee_apps[i].prios)));
    return a;
}

static void add_feature(json_t *to, const char *name, const struct wf_cee_hdr *h, json_t *body)
{
    json_object_set_new(body, "enabled", json_boolean(h->enable));
    json_object_set_new(body, "willing", json_boolean(h->willing));
    json_object_set_new(body, "error", json_boolean(h->error));
    json_object_set_new(to, name, body);
}

static json_t *cee_json(const struct wf_dcbx *d)
{
    json_t *j = json_object();

    if (d->flags & WF_DCBX_HAS_CEE_CTRL)
        json_object_set_new(j, "control",
                            json_pack("{s:o, s:o}", "seq", wf_json_u64(d->cee_ctrl.seq), "ack",
                                      wf_json_u64(d->cee_ctrl.ack)));
    if (d->flags & WF_DCBX_HAS_CEE_PG)
        add_feature(j, "pg", &d->cee_pg_hdr,
                    json_pack("{s:o, s:o, s:i}", "pgid", eight(d->cee_pg.pgid), "bandwidth_percent",
                              eight(d->cee_pg.bw), "max_tcs", d->cee_pg.num_tcs));
    if (d->flags & WF_DCBX_HAS_CEE_PFC)
        add_feature(j, "pfc", &d->cee_pfc_hdr,
                    json_pack("{s:o, s:i}", "priorities", bits(d->cee_pfc.enable), "max_tcs",
                              d->cee_pfc.num_tcs));
    if (d->flags & WF_DCBX_HAS_CEE_APP)
        add_feature(j, "app", &d->cee_app_hdr, json_pack("{s:o}", "apps", cee_apps_json(d)));
    return j;
}

/* The TLVs that are there. */
static json_t *dcbx_json(const struct wf_dcbx *d)
{
    json_t *j = json_object();

    if (d->flags & WF_DCBX_HAS_CFG)
        json_object_set_new(j, "ets", ets_json(&d->cfg));
    if (d->flags & WF_DCBX_HAS_REC)
        json_object_set_new(j, "ets_recommendation", ets_json(&d->rec));
    if (d->flags & WF_DCBX_HAS_PFC)
        json_object_set_new(j, "pfc", pfc_json(&d->pfc));
    if (d->flags & WF_DCBX_HAS_APP)
        json_object_set_new(j, "apps", apps_json(d));
    if (d->flags & WF_DCBX_HAS_CEE)
        json_object_set_new(j, "cee", cee_json(d));
    if (d->flags & WF_DCBX_HAS_PRE_CEE)
        json_object_set_new(j, "before_cee", json_true());
    return j;
}

static json_t *oper_json(const struct wf_dcbx_oper *o)
{
    json_t *j = json_pack("{s:s, s:o, s:s, s:o, s:s, s:s}", "version", o->cee ? "cee" : "ieee",
                          "ets", ets_json(&o->ets), "ets_of", o->ets_of_peer ? "peer" : "own",
                          "pfc", pfc_json(&o->pfc), "pfc_of", o->pfc_of_peer ? "peer" : "own",
                          "roce_of", o->app_of_peer ? "peer" : "own");

    if (o->roce >= 0)
        json_object_set_new(j, "roce_priority", json_integer(o->roce));
    return j;
}

static const char *roce_text(int prio, char buf[8])
{
    snprintf(buf, 8, prio < 0 ? "none" : "%d", prio);
    return buf;
}

/* What a table shows of a port and its peer. */
static void add_short(json_t *r, const struct wf_dcbx *own, const struct wf_dcbx *peer,
                      const struct wf_dcbx_oper *o)
{
    char pfc[24], roce[8], text[WF_DCBX_DIFFERENCES_TEXT];
    uint8_t enable = 0;
    int prio = -1;

    json_object_set_new(r, "own_pfc", json_string(wf_dcbx_pfc_text(own->pfc.enable, pfc, 24)));
    json_object_set_new(r, "peer_pfc",
                        json_string(peer && wf_dcbx_pfc_of(peer, &enable)
                                        ? wf_dcbx_pfc_text(enable, pfc, sizeof(pfc))
                                        : "-"));
    json_object_set_new(r, "operational_pfc",
                        json_string(wf_dcbx_pfc_text(o->pfc.enable, pfc, sizeof(pfc))));
    json_object_set_new(r, "own_roce",
                        json_string(roce_text(wf_app_rocev2(own->apps, own->n_apps), roce)));
    json_object_set_new(
        r, "peer_roce",
        json_string(peer && wf_dcbx_roce_of(peer, &prio) ? roce_text(prio, roce) : "-"));
    json_object_set_new(r, "differs",
                        json_string(wf_dcbx_differences_text(own, peer, text, sizeof(text))));
}

/* CEE's state machines. */
static json_t *cee_state_json(const struct wf_cee *c)
{
    json_t *j = json_pack("{s:o, s:o}", "seq", wf_json_u64(c->seq), "ack", wf_json_u64(c->ack));

    for (unsigned i = 0; i < WF_CEE_FEATURES; i++) {
        const struct wf_cee_feature *f = &c->feature[i];

        if (f->advertise)
            json_object_set_new(j, wf_cee_feature_names[i],
                                json_pack("{s:b, s:b, s:b, s:s}", "synced", f->syncd, "error",
                                          f->error, "operates", f->operates, "of",
                                          f->of_peer ? "peer" : "own"));
    }
    return j;
}

static json_t *dcbx_row(const struct wf_fabric *f, const struct wf_lldp_agent *a)
{
    const struct wf_lldp_neighbour *n = wf_lldp_dcbx_peer(a);
    uint64_t now = wf_fabric_now_ps(f);
    const char *why = wf_lldp_peer_error(a, now);
    struct wf_dcbx_oper o;
    json_t *r = json_object();

    wf_lldp_oper(a, &o);
    json_object_set_new(r, "name", json_string(a->port->name));
    json_object_set_new(r, "peer", json_string(wf_dcbx_peer_name(wf_lldp_peer_state(a, now))));
    add_short(r, &a->own, n ? &n->dcbx : NULL, &o);
    if (why)
        json_object_set_new(r, "why", json_string(why));
    json_object_set_new(r, "speakers", json_integer(wf_lldp_dcbx_speakers(a)));
    json_object_set_new(r, "own", dcbx_json(&a->own));
    json_object_set_new(r, "received", n ? dcbx_json(&n->dcbx) : json_object());
    json_object_set_new(r, "operational", oper_json(&o));
    if (a->speaks_cee)
        json_object_set_new(r, "cee_state", cee_state_json(&a->cee));
    return r;
}

static bool fits(const struct wf_lldp_agent *a, const char *at)
{
    return !at || wf_match(at, a->port->name);
}

json_t *wf_discovery_dcbx(const struct wf_fabric *f, const char *at)
{
    json_t *rows = json_array();

    for (uint32_t i = 0; i < f->lldp.n; i++)
        if (f->lldp.agents[i].cfg->dcbx.enable && fits(&f->lldp.agents[i], at))
            json_array_append_new(rows, dcbx_row(f, &f->lldp.agents[i]));
    return rows;
}

static json_t *id_json(bool chassis, const struct wf_lldp_name *id)
{
    char text[2 * WF_LLDP_NAME_MAX + 8];

    return json_string(
        id->len ? wf_lldp_id_text(chassis, id->subtype, id->bytes, id->len, text, sizeof(text))
                : "");
}

static void add_neighbour(json_t *r, const struct wf_lldp_neighbour *n)
{
    char mac[24];

    snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", n->mac[0], n->mac[1], n->mac[2],
             n->mac[3], n->mac[4], n->mac[5]);
    json_object_set_new(r, "chassis", id_json(true, &n->chassis));
    json_object_set_new(r, "port", id_json(false, &n->port));
    json_object_set_new(r, "system", id_json(true, &n->system_name));
    json_object_set_new(r, "mac", json_string(mac));
    json_object_set_new(r, "ttl_s", wf_json_u64(n->ttl_s));
    json_object_set_new(r, "since_ps", wf_json_u64(n->since_ps));
    json_object_set_new(r, "heard_ps", wf_json_u64(n->heard_ps));
    json_object_set_new(r, "expires_ps", wf_json_u64(n->expires_ps));
    json_object_set_new(r, "heard_frames", wf_json_u64(n->frames));
}

static json_t *lldp_row(const struct wf_lldp_agent *a, const struct wf_lldp_neighbour *n)
{
    const struct wf_lldp_stats *s = &a->stats;
    json_t *r = json_object();

    json_object_set_new(r, "name", json_string(a->port->name));
    if (n)
        add_neighbour(r, n);
    json_object_set_new(r, "tx_frames", wf_json_u64(s->tx_frames));
    json_object_set_new(r, "tx_held_frames", wf_json_u64(s->tx_held_frames));
    json_object_set_new(r, "rx_frames", wf_json_u64(s->rx_frames));
    json_object_set_new(r, "rx_error_frames", wf_json_u64(s->rx_error_frames));
    json_object_set_new(r, "no_room_frames", wf_json_u64(s->no_room_frames));
    json_object_set_new(r, "ageout_events", wf_json_u64(s->ageouts));
    return r;
}

json_t *wf_discovery_lldp(const struct wf_fabric *f, const char *at)
{
    json_t *rows = json_array();

    for (uint32_t i = 0; i < f->lldp.n; i++) {
        const struct wf_lldp_agent *a = &f->lldp.agents[i];
        unsigned had = 0;

        for (unsigned k = 0; k < WF_LLDP_NEIGHBOURS && fits(a, at); k++)
            if (a->neighbours[k].used && ++had)
                json_array_append_new(rows, lldp_row(a, &a->neighbours[k]));
        if (!had && fits(a, at))
            json_array_append_new(rows, lldp_row(a, NULL));
    }
    return rows;
}

static void dcbx_line(const struct wf_fabric *f, const struct wf_lldp_agent *a, FILE *out)
{
    const struct wf_lldp_neighbour *n = wf_lldp_dcbx_peer(a);
    const char *why = wf_lldp_peer_error(a, wf_fabric_now_ps(f));
    char own[24], peer[24], oper[24], text[WF_DCBX_DIFFERENCES_TEXT];
    struct wf_dcbx_oper o;
    uint8_t enable = 0;

    wf_lldp_oper(a, &o);
    wf_dcbx_pfc_text(a->own.pfc.enable, own, sizeof(own));
    wf_dcbx_pfc_text(o.pfc.enable, oper, sizeof(oper));
    if (n && wf_dcbx_pfc_of(&n->dcbx, &enable))
        wf_dcbx_pfc_text(enable, peer, sizeof(peer));
    else
        snprintf(peer, sizeof(peer), "-");
    wf_dcbx_differences_text(&a->own, n ? &n->dcbx : NULL, text, sizeof(text));
    fprintf(out, "  %-12s %-16s %10s %10s %12s  %s%s%s\n", a->port->name,
            wf_dcbx_peer_name(wf_lldp_peer_state(a, wf_fabric_now_ps(f))), own, peer, oper,
            why ? why : "", why && *text ? "; " : "", text);
}

void wf_discovery_text(const struct wf_fabric *f, FILE *out)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < f->lldp.n; i++) {
        const struct wf_lldp_agent *a = &f->lldp.agents[i];

        if (!a->cfg->dcbx.enable)
            continue;
        if (!n++)
            fprintf(out, "\n  %-12s %-16s %10s %10s %12s\n", "DCBX at", "peer", "own PFC",
                    "peer's PFC", "operational");
        if (n <= ROWS)
            dcbx_line(f, a, out);
    }
    if (n > ROWS)
        fprintf(out, "  ... and %u more: --json has all\n", n - ROWS);
}
