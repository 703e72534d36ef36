/* SPDX-License-Identifier: BSD-3-Clause */
/* DCBX of a port. See dcbx.h. */
#include "mgmt/dcbx.h"

#include <stdio.h>

#include "eth/ets.h"
#include "eth/pfc.h"

/* The traffic class, in 802.1Q's sense the queue, of a priority; where DSCP is trusted a switch's
 * priorities are its traffic classes. */
static uint8_t queue_of(const struct wf_switch_port_cfg *cfg, unsigned prio)
{
    unsigned tc = cfg->trust == WF_TRUST_PCP ? cfg->pcp_to_tc[prio] : prio;

    return cfg->tc_to_queue[tc & 7] & 7;
}

/* Shares of 100 by weight, the largest remainders rounded up, the lower queue first. */
static void share(const struct wf_switch_port_cfg *cfg, struct wf_ets_tlv *h, unsigned queues)
{
    uint64_t sum = 0, rest[8] = {0};
    unsigned left = 100;

    for (unsigned q = 0; q < 8; q++)
        sum += queues >> q & 1 ? cfg->queue[q].weight : 0;
    for (unsigned q = 0; q < 8 && sum; q++) {
        uint64_t x = queues >> q & 1 ? cfg->queue[q].weight * 100ull : 0;

        h->bw[q] = (uint8_t)(x / sum);
        rest[q] = x % sum;
        left -= h->bw[q];
    }
    while (sum && left--) {
        unsigned most = 0;

        for (unsigned q = 1; q < 8; q++)
            most = rest[q] > rest[most] ? q : most;
        h->bw[most]++;
        rest[most] = 0;
    }
}

static void ets_of(const struct wf_switch_port_cfg *cfg, struct wf_ets_tlv *h)
{
    unsigned dwrr = 0;

    for (unsigned p = 0; p < 8; p++) {
        h->tc[p] = queue_of(cfg, p);
        if (cfg->queue[h->tc[p]].sched != WF_SCHED_STRICT)
            dwrr |= 1u << h->tc[p];
    }
    for (unsigned q = 0; q < 8; q++)
        h->tsa[q] = cfg->queue[q].sched == WF_SCHED_STRICT ? WF_TSA_STRICT : WF_TSA_ETS;
    share(cfg, h, dwrr);
}

static uint8_t pfc_of(const struct wf_switch_port_cfg *cfg)
{
    uint8_t prios = 0;

    for (unsigned g = 0; g < WF_PGS && cfg->pfc.enable; g++)
        if (cfg->pg[g].lossless)
            prios |= (uint8_t)(1u << (cfg->pg_to_pfc_priority[g] & 7));
    return prios;
}

static void add_app(struct wf_dcbx *d, int prio, int sel, uint32_t protocol)
{
    d->apps[d->n_apps++] = (struct wf_app){(uint8_t)prio, 0, (uint8_t)sel, (uint16_t)protocol};
    d->flags |= WF_DCBX_HAS_APP;
}

void wf_dcbx_of_port(const struct wf_switch_port_cfg *cfg, struct wf_dcbx *out)
{
    const struct wf_dcbx_cfg *c = &cfg->dcbx;
    int roce = c->roce - WF_DCBX_ROCE_PRIO;

    memset(out, 0, sizeof(*out));
    out->flags = WF_DCBX_HAS_CFG | WF_DCBX_HAS_PFC | (c->recommend ? WF_DCBX_HAS_REC : 0);
    ets_of(cfg, &out->cfg);
    if (c->recommend)
        out->rec = out->cfg;
    out->cfg.willing = c->ets_willing;
    out->pfc = (struct wf_dcb_pfc){.willing = c->pfc_willing, .cap = 8, .enable = pfc_of(cfg)};
    if (c->roce == WF_DCBX_ROCE_AUTO && out->pfc.enable)
        roce = __builtin_ctz(out->pfc.enable);
    if (roce >= 0)
        add_app(out, roce, WF_APP_UDP, 4791);
    for (unsigned i = 0; i < WF_DCBX_APP_CFGS; i++)
        if (c->app[i].selector)
            add_app(out, (int)c->app[i].priority, c->app[i].selector, c->app[i].protocol);
}

enum wf_dcbx_peer wf_dcbx_peer_of(const struct wf_dcbx *peer)
{
    uint32_t f = peer ? peer->flags : 0;
    bool cee = f & (WF_DCBX_HAS_CEE | WF_DCBX_HAS_PRE_CEE);

    if (f & WF_DCBX_MALFORMED)
        return WF_DCBX_BROKEN;
    if (f & WF_DCBX_IEEE && cee)
        return WF_DCBX_BOTH;
    if (cee)
        return WF_DCBX_CEE_ONLY;
    if (!(f & WF_DCBX_IEEE))
        return WF_DCBX_SILENT;
    return peer->cfg.willing || peer->pfc.willing ? WF_DCBX_IEEE_WILLING : WF_DCBX_IEEE_FIXED;
}

const char *wf_dcbx_peer_name(enum wf_dcbx_peer state)
{
    static const char *const names[] = {"silent", "ieee_willing", "ieee_not_willing",
                                        "cee",    "ieee_and_cee", "malformed"};

    return names[state];
}

/* Whether our PFC is to be the peer's (802.1Q 38.4.2): of two willing ones the lower address has
 * its way. */
static bool pfc_yields(const struct wf_dcbx *own, const uint8_t own_mac[6],
                       const struct wf_dcbx *peer, const uint8_t peer_mac[6])
{
    if (!peer || !(peer->flags & WF_DCBX_HAS_PFC) || !own->pfc.willing)
        return false;
    return !peer->pfc.willing || memcmp(peer_mac, own_mac, 6) < 0;
}

void wf_dcbx_resolve(const struct wf_dcbx *own, bool app_willing, const uint8_t own_mac[6],
                     const struct wf_dcbx *peer, const uint8_t peer_mac[6],
                     struct wf_dcbx_oper *out)
{
    *out = (struct wf_dcbx_oper){.ets = own->cfg, .pfc = own->pfc};
    out->roce = wf_app_rocev2(own->apps, own->n_apps);
    if (peer && own->cfg.willing && peer->flags & WF_DCBX_HAS_REC) {
        out->ets = peer->rec;
        out->ets_of_peer = true;
    }
    if (pfc_yields(own, own_mac, peer, peer_mac)) {
        out->pfc = peer->pfc;
        out->pfc_of_peer = true;
    }
    if (peer && app_willing && peer->flags & WF_DCBX_HAS_APP) {
        out->roce = wf_app_rocev2(peer->apps, peer->n_apps);
        out->app_of_peer = true;
    }
    out->ets.willing = own->cfg.willing;
    out->pfc.willing = own->pfc.willing;
}

/* A group of CEE is a traffic class of ETS; those of 15 get the highest class that no group has. */
static void ets_of_pg(const struct wf_cee_pg *pg, struct wf_ets_tlv *out)
{
    uint8_t used = 0;
    unsigned free = 7;

    for (unsigned p = 0; p < 8; p++)
        if (pg->pgid[p] < 8)
            used |= (uint8_t)(1u << pg->pgid[p]);
    while (free && used >> free & 1)
        free--;
    memset(out, 0, sizeof(*out));
    for (unsigned p = 0; p < 8; p++)
        out->tc[p] = pg->pgid[p] < 8 ? pg->pgid[p] : (uint8_t)free;
    for (unsigned tc = 0; tc < 8; tc++) {
        out->tsa[tc] = used >> tc & 1 ? WF_TSA_ETS : WF_TSA_STRICT;
        out->bw[tc] = used >> tc & 1 ? pg->bw[tc] : 0;
    }
}

void wf_dcbx_resolve_cee(const struct wf_dcbx *own, const struct wf_cee *cee,
                         const struct wf_dcbx *peer, struct wf_dcbx_oper *out)
{
    const struct wf_cee_feature *f = cee->feature;

    *out = (struct wf_dcbx_oper){.ets = own->cfg, .pfc = own->pfc, .cee = true};
    out->roce = wf_app_rocev2(own->apps, own->n_apps);
    if (!peer)
        return;
    if ((out->ets_of_peer = f[WF_CEE_F_PG].of_peer)) {
        ets_of_pg(&peer->cee_pg, &out->ets);
        out->ets.willing = own->cfg.willing;
    }
    if ((out->pfc_of_peer = f[WF_CEE_F_PFC].of_peer))
        out->pfc.enable = peer->cee_pfc.enable;
    if ((out->app_of_peer = f[WF_CEE_F_APP].of_peer))
        out->roce = wf_cee_app_rocev2(peer->cee_apps, peer->n_cee_apps);
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Queues are traffic classes; weights are shares of the bandwidth, in the least numbers. */
static void apply_ets(struct wf_port *port, const struct wf_switch_port_cfg *cfg,
                      const struct wf_dcbx_oper *oper)
{
    uint32_t weight[WF_QUEUES], divisor = 0;
    uint8_t strict = 0;

    for (unsigned q = 0; q < WF_QUEUES; q++) {
        bool own = !oper->ets_of_peer;

        if (own ? cfg->queue[q].sched == WF_SCHED_STRICT : oper->ets.tsa[q] != WF_TSA_ETS)
            strict |= (uint8_t)(1u << q);
        weight[q] = own ? cfg->queue[q].weight : oper->ets.bw[q];
        if (!own)
            divisor = common_divisor(weight[q], divisor);
    }
    for (unsigned q = 0; q < WF_QUEUES; q++) {
        weight[q] /= divisor ? divisor : 1;
        weight[q] += !weight[q];
    }
    wf_ets_retune(port, strict, weight);
}

void wf_dcbx_apply(struct wf_port *port, const struct wf_switch_port_cfg *cfg,
                   const struct wf_dcbx_oper *oper)
{
    wf_pfc_allow(port, oper->pfc_of_peer ? oper->pfc.enable : 0xff);
    apply_ets(port, cfg, oper);
}

bool wf_dcbx_pfc_of(const struct wf_dcbx *d, uint8_t *enable)
{
    if (d->flags & WF_DCBX_HAS_PFC)
        *enable = d->pfc.enable;
    else if (d->flags & WF_DCBX_HAS_CEE_PFC)
        *enable = d->cee_pfc_hdr.enable ? d->cee_pfc.enable : 0;
    return d->flags & (WF_DCBX_HAS_PFC | WF_DCBX_HAS_CEE_PFC);
}

bool wf_dcbx_roce_of(const struct wf_dcbx *d, int *prio)
{
    if (d->flags & WF_DCBX_HAS_APP)
        *prio = wf_app_rocev2(d->apps, d->n_apps);
    else if (d->flags & WF_DCBX_HAS_CEE_APP)
        *prio = wf_cee_app_rocev2(d->cee_apps, d->n_cee_apps);
    return d->flags & (WF_DCBX_HAS_APP | WF_DCBX_HAS_CEE_APP);
}

/* Classes that no priority has say nothing. */
static bool ets_differs(const struct wf_ets_tlv *a, const struct wf_ets_tlv *b)
{
    for (unsigned p = 0; p < 8; p++) {
        unsigned tc = a->tc[p];

        if (tc != b->tc[p])
            return true;
        if (tc < 8 &&
            (a->tsa[tc] != b->tsa[tc] || (a->tsa[tc] == WF_TSA_ETS && a->bw[tc] != b->bw[tc])))
            return true;
    }
    return false;
}

unsigned wf_dcbx_differences(const struct wf_dcbx *own, const struct wf_dcbx *peer)
{
    unsigned d = 0;
    uint8_t pfc = 0;
    int roce = -1;

    if (!peer)
        return 0;
    if (wf_dcbx_pfc_of(peer, &pfc) && pfc != own->pfc.enable)
        d |= WF_DCBX_DIFF_PFC;
    if (peer->flags & WF_DCBX_HAS_CFG && ets_differs(&own->cfg, &peer->cfg))
        d |= WF_DCBX_DIFF_ETS;
    if (wf_dcbx_roce_of(peer, &roce) && roce != wf_app_rocev2(own->apps, own->n_apps))
        d |= WF_DCBX_DIFF_ROCE;
    return d;
}

const char *wf_dcbx_pfc_text(uint8_t enable, char *buf, size_t len)
{
    size_t n = 0;

    snprintf(buf, len, "none");
    for (unsigned p = 0; p < 8; p++)
        if (enable >> p & 1 && n + 3 < len)
            n += (size_t)snprintf(buf + n, len - n, "%s%u", n ? "," : "", p);
    return buf;
}

const char *wf_dcbx_ets_text(const struct wf_ets_tlv *h, char *buf, size_t len)
{
    unsigned used = 0;
    size_t n = 0;

    for (unsigned p = 0; p < 8; p++) {
        used |= 1u << h->tc[p];
        n += (size_t)snprintf(buf + n, len - n, "%x", h->tc[p]);
    }
    for (unsigned tc = 0; tc < 8; tc++) {
        int k = 0;

        if (!(used >> tc & 1))
            continue;
        if (h->tsa[tc] == WF_TSA_ETS)
            k = snprintf(buf + n, len - n, " %u:%u%%", tc, h->bw[tc]);
        else
            k = snprintf(buf + n, len - n, " %u:%s", tc, wf_tsa_name(h->tsa[tc]));
        n = n + (size_t)k < len ? n + (size_t)k : len - 1;
    }
    return buf;
}

static const char *roce_text(int prio, char *buf, size_t len)
{
    if (prio < 0)
        return "none";
    snprintf(buf, len, "%u", (unsigned)prio & 7);
    return buf;
}

const char *wf_dcbx_differences_text(const struct wf_dcbx *own, const struct wf_dcbx *peer,
                                     char *buf, size_t len)
{
    unsigned d = wf_dcbx_differences(own, peer);
    char a[WF_DCBX_ETS_TEXT], b[WF_DCBX_ETS_TEXT], pfc[64] = "", ets[256] = "", roce[80] = "",
                                                   ra[8], rb[8];
    uint8_t enable = 0;
    int prio = -1;

    if (d & WF_DCBX_DIFF_PFC && wf_dcbx_pfc_of(peer, &enable))
        snprintf(pfc, sizeof(pfc), "PFC differs: %s here, %s at the peer",
                 wf_dcbx_pfc_text(own->pfc.enable, a, sizeof(a)),
                 wf_dcbx_pfc_text(enable, b, sizeof(b)));
    if (d & WF_DCBX_DIFF_ETS)
        snprintf(ets, sizeof(ets), "ETS differs: %s here, %s at the peer",
                 wf_dcbx_ets_text(&own->cfg, a, sizeof(a)),
                 wf_dcbx_ets_text(&peer->cfg, b, sizeof(b)));
    if (d & WF_DCBX_DIFF_ROCE && wf_dcbx_roce_of(peer, &prio))
        snprintf(roce, sizeof(roce), "priority of UDP 4791 differs: %s here, %s at the peer",
                 roce_text(wf_app_rocev2(own->apps, own->n_apps), ra, sizeof(ra)),
                 roce_text(prio, rb, sizeof(rb)));
    snprintf(buf, len, "%s%s%s%s%s", pfc, *pfc && *ets ? "; " : "", ets,
             *roce && (*pfc || *ets) ? "; " : "", roce);
    return buf;
}
