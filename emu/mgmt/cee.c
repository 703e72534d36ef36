/* SPDX-License-Identifier: BSD-3-Clause */
/* CEE's state machines. See cee.h. */
#include "mgmt/cee.h"

#include <string.h>

enum { ROCEV2 = 4791, PGID_STRICT = 15, SEL_PORT = 1, APP_OUI = 0x1b21 };

const char *const wf_cee_feature_names[] = {"pg", "pfc", "app", NULL};

/* ---- what we say ---- */

/* A group is a traffic class of ETS; whatever is strict is group 15. */
static void pg_of(struct wf_cee_pg *pg, const struct wf_ets_tlv *ets)
{
    for (unsigned p = 0; p < 8; p++) {
        unsigned tc = ets->tc[p] & 7;

        pg->pgid[p] = (uint8_t)(ets->tsa[tc] == WF_TSA_STRICT ? PGID_STRICT : tc);
    }
    memcpy(pg->bw, ets->bw, sizeof(pg->bw));
    pg->num_tcs = 8;
}

void wf_cee_init(struct wf_cee *c, const struct wf_dcbx *own, const struct wf_dcbx_cfg *cfg)
{
    int roce = wf_app_rocev2(own->apps, own->n_apps);

    memset(c, 0, sizeof(*c));
    pg_of(&c->pg, &own->cfg);
    c->pfc = (struct wf_cee_pfc){.enable = own->pfc.enable, .num_tcs = own->pfc.cap};
    c->app = (struct wf_cee_app){.protocol = ROCEV2, .sel = SEL_PORT, .oui_low = APP_OUI};
    if (roce >= 0)
        c->app.prios = (uint8_t)(1u << roce);
    c->feature[WF_CEE_F_PG] =
        (struct wf_cee_feature){.advertise = true, .willing = cfg->ets_willing};
    c->feature[WF_CEE_F_PFC] =
        (struct wf_cee_feature){.advertise = true, .willing = cfg->pfc_willing};
    c->feature[WF_CEE_F_APP] =
        (struct wf_cee_feature){.advertise = roce >= 0, .willing = cfg->app_willing};
    for (unsigned i = 0; i < WF_CEE_FEATURES; i++)
        c->feature[i].seq = 1;
}

static struct wf_cee_hdr hdr_of(const struct wf_cee_feature *f)
{
    return (struct wf_cee_hdr){.enable = true, .willing = f->willing, .error = f->error};
}

/* A number stands for one content: it grows when a feature has something that the peer has not
 * acknowledged, and not before what was said last is (1.01, control state machine). */
void wf_cee_tx(struct wf_cee *c, struct wf_dcbx *out)
{
    const struct wf_cee_feature *f = c->feature;

    for (unsigned i = 0; i < WF_CEE_FEATURES; i++)
        if (f[i].advertise && f[i].seq > c->seq)
            c->seq = f[i].seq;
    out->flags |= WF_DCBX_HAS_CEE | WF_DCBX_HAS_CEE_CTRL | WF_DCBX_HAS_CEE_PG | WF_DCBX_HAS_CEE_PFC;
    out->cee_ctrl = (struct wf_cee_ctrl){.seq = c->seq, .ack = c->ack};
    out->cee_pg_hdr = hdr_of(&f[WF_CEE_F_PG]);
    out->cee_pg = c->pg;
    out->cee_pfc_hdr = hdr_of(&f[WF_CEE_F_PFC]);
    out->cee_pfc = c->pfc;
    if (!f[WF_CEE_F_APP].advertise)
        return;
    out->flags |= WF_DCBX_HAS_CEE_APP;
    out->cee_app_hdr = hdr_of(&f[WF_CEE_F_APP]);
    out->cee_apps[0] = c->app;
    out->n_cee_apps = 1;
}

/* ---- what we hear ---- */

struct heard {
    bool present;
    struct wf_cee_hdr hdr;
    bool compatible;
};

static bool same_roce(const struct wf_cee *c, const struct wf_dcbx *peer)
{
    for (size_t i = 0; i < peer->n_cee_apps; i++)
        if (peer->cee_apps[i].sel == SEL_PORT && peer->cee_apps[i].protocol == ROCEV2)
            return peer->cee_apps[i].prios == c->app.prios;
    return !c->app.prios;
}

static struct heard heard_of(const struct wf_cee *c, unsigned which, const struct wf_dcbx *peer)
{
    switch (which) {
    case WF_CEE_F_PG:
        return (struct heard){peer->flags & WF_DCBX_HAS_CEE_PG, peer->cee_pg_hdr, true};
    case WF_CEE_F_PFC:
        return (struct heard){peer->flags & WF_DCBX_HAS_CEE_PFC, peer->cee_pfc_hdr,
                              peer->cee_pfc.enable == c->pfc.enable};
    default:
        return (struct heard){peer->flags & WF_DCBX_HAS_CEE_APP, peer->cee_app_hdr,
                              same_roce(c, peer)};
    }
}

static void keep_own(struct wf_cee_feature *f, bool operates, bool error)
{
    f->of_peer = false;
    f->operates = operates;
    f->error = error;
}

/* The outcome once both know what the other says (1.01, feature state machine). */
static void decide(struct wf_cee_feature *f, const struct heard *h)
{
    if (!h->hdr.enable) {
        keep_own(f, false, false);
    } else if (f->willing && !h->hdr.willing) {
        f->operates = f->of_peer = !h->hdr.error;
        f->error = false;
    } else if (!f->willing && h->hdr.willing) {
        keep_own(f, !h->hdr.error, false);
    } else {
        keep_own(f, h->compatible && !h->hdr.error, !h->compatible);
    }
}

/* True when what we say of the feature changed. */
static bool step(struct wf_cee *c, struct wf_cee_feature *f, const struct heard *h,
                 uint32_t peer_ack)
{
    bool was = f->error;

    if (!h->present) {
        keep_own(f, false, true);
        f->syncd = true;
    } else if (f->syncd || peer_ack == f->seq) {
        f->syncd = true;
        decide(f, h);
    }
    if (f->error == was)
        return false;
    f->syncd = false;
    f->seq = c->seq + 1;
    return true;
}

/* Numbering begins anew with the next peer. Of one that was there before the error tells. */
static void nobody(struct wf_cee *c)
{
    bool was = c->ack;

    c->seq = c->ack = 0;
    for (unsigned i = 0; i < WF_CEE_FEATURES; i++) {
        struct wf_cee_feature *f = &c->feature[i];

        keep_own(f, false, was || f->error);
        f->syncd = false;
        f->seq = 1;
    }
}

bool wf_cee_rx(struct wf_cee *c, const struct wf_dcbx *peer)
{
    bool say = false;

    if (!peer || !(peer->flags & WF_DCBX_HAS_CEE_CTRL)) {
        nobody(c);
        return false;
    }
    if (c->ack != peer->cee_ctrl.seq) { /* which it waits for */
        c->ack = peer->cee_ctrl.seq;
        say = true;
    }
    for (unsigned i = 0; i < WF_CEE_FEATURES; i++) {
        struct heard h = heard_of(c, i, peer);

        if (c->feature[i].advertise)
            say |= step(c, &c->feature[i], &h, peer->cee_ctrl.ack);
    }
    return say;
}
