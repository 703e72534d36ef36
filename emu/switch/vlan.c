/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/vlan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "switch/classify.h"
#include "wire/edit.h"
#include "wire/eth.h"

#define ROW(field) offsetof(struct wf_vlan_cfg, field)

static const char *const mode_names[] = {"none", "access", "trunk", NULL};

static const struct wf_key rows[] = {
    {"mode", WF_KEY_ENUM, ROW(mode), "none", .names = mode_names,
     .doc = "none: tags pass as they are; access: one VLAN, untagged; trunk: several, tagged."},
    {"pvid", WF_KEY_UINT, ROW(pvid), "1", 0, WF_VID_MAX,
     .doc = "VLAN of untagged frames; a trunk with 0 takes none.", .source = "802.1Q table 9-2"},
    {"allowed", WF_KEY_NAMES, ROW(allowed), "",
     .doc = "trunk: the VLANs that it carries, such as [10, 20-29]; default: all."},
    {"svi", WF_KEY_UINT, ROW(svi), "0", 0, WF_VID_MAX,
     .doc = "VLAN in which a routed leaf's gateway is at this port; 0: pvid."},
};

const struct wf_keyset wf_vlan_keys = {
    .name = "vlan",
    .doc = "VLANs of a port.",
    .keys = rows,
    .n_keys = sizeof(rows) / sizeof(rows[0]),
    .size = sizeof(struct wf_vlan_cfg),
};

static int add_range(struct wf_vlan_set *out, const char **text, struct wf_err *err)
{
    char *end;
    unsigned long a = strtoul(*text, &end, 10), b = a;

    if (end != *text && *end == '-')
        b = strtoul(end + 1, &end, 10);
    if (end == *text || (*end && *end != ',') || !a || b < a || b > WF_VID_MAX)
        return wf_err_set(err, EINVAL,
                          "allowed: '%s' is no VLAN, expected 1 to %d or a range such as 20-29",
                          *text, WF_VID_MAX);
    for (; a <= b; a++)
        out->bits[a / 64] |= 1ull << a % 64;
    *text = *end ? end + 1 : end;
    return 0;
}

int wf_vlan_set_parse(const struct wf_vlan_cfg *cfg, struct wf_vlan_set *out, struct wf_err *err)
{
    memset(out, 0, sizeof(*out));
    if (cfg->mode == WF_VLAN_ACCESS && !cfg->pvid)
        return wf_err_set(err, EINVAL, "pvid: an access port needs a VLAN, found 0");
    if (cfg->mode == WF_VLAN_ACCESS) {
        out->bits[cfg->pvid / 64] |= 1ull << cfg->pvid % 64;
        return 0;
    }
    if (!cfg->allowed.n) {
        memset(out, 0xff, sizeof(*out));
        out->bits[0] &= ~1ull;
    }
    for (uint32_t i = 0; i < cfg->allowed.n; i++) {
        const char *text = cfg->allowed.v[i];

        do
            if (add_range(out, &text, err))
                return -EINVAL;
        while (*text);
    }
    return 0;
}

enum wf_step wf_switch_vlan_in(struct wf_switch *sw, struct wf_visit *v)
{
    const struct wf_port_class *k = wf_switch_class(sw, v->in);
    const struct wf_parsed *p = &v->pkt->p;
    uint16_t vid = p->flags & WF_P_VLAN ? p->vid : 0;

    v->pkt->vlan = 0;
    if (!k->vlan)
        return WF_NEXT;
    if (vid && k->cfg->vlan.mode == WF_VLAN_ACCESS)
        return wf_switch_drop(v, WF_DROP_VLAN_TAG);
    if (!vid)
        vid = (uint16_t)k->cfg->vlan.pvid;
    if (!vid || !wf_vlan_has(k->vlan, vid))
        return wf_switch_drop(v, WF_DROP_VLAN_IN);
    v->pkt->vlan = vid;
    return WF_NEXT;
}

/* The VLAN in which a packet leaves by a port that knows VLANs. */
static uint16_t vlan_at(const struct wf_switch *sw, const struct wf_port_class *k,
                        const struct wf_pkt *pkt)
{
    const struct wf_vlan_cfg *c = &k->cfg->vlan;

    if (!memcmp(wf_pkt_bytes(pkt) + 6, sw->node.mac,
                6)) /* routed here: no frame comes in with it */
        return (uint16_t)(c->svi ? c->svi : c->pvid);
    if (pkt->vlan)
        return pkt->vlan;
    return pkt->p.flags & WF_P_VLAN && pkt->p.vid ? pkt->p.vid : (uint16_t)c->pvid;
}

bool wf_switch_vlan_carries(const struct wf_switch *sw, const struct wf_port *out,
                            const struct wf_pkt *pkt)
{
    const struct wf_port_class *k = wf_switch_class(sw, out);

    return !k->vlan || wf_vlan_has(k->vlan, vlan_at(sw, k, pkt));
}

/* Tagged or not, as the port has it. False: no buffer for the tag, which the run will say. */
static bool tag(struct wf_switch *sw, const struct wf_port_class *k, struct wf_visit *v,
                uint16_t vid)
{
    bool tagged = k->cfg->vlan.mode == WF_VLAN_TRUNK && vid != k->cfg->vlan.pvid;

    if (v->pkt->p.flags & WF_P_VLAN) {
        if (!tagged)
            wf_pkt_tag_pop(v->pkt);
        else if (v->pkt->p.vid != vid)
            wf_pkt_tag_set(v->pkt, vid);
    } else if (tagged) {
        struct wf_pkt *pkt = wf_pkt_tag_push(sw->node.net, v->pkt, WF_ETHERTYPE_VLAN,
                                             (uint16_t)(v->pkt->tc << 13 | vid));

        if (!pkt)
            return false;
        v->pkt = pkt;
    }
    return true;
}

enum wf_step wf_switch_vlan_out(struct wf_switch *sw, struct wf_visit *v)
{
    const struct wf_port_class *k = wf_switch_class(sw, v->out);
    uint16_t vid;

    if (!k->vlan) {
        /* a router's port that knows no VLANs: the tag ended with the VLAN */
        if (v->pkt->vlan && v->pkt->p.flags & WF_P_VLAN &&
            !memcmp(wf_pkt_bytes(v->pkt) + 6, sw->node.mac, 6))
            wf_pkt_tag_pop(v->pkt);
        return WF_NEXT;
    }
    vid = vlan_at(sw, k, v->pkt);
    if (!wf_vlan_has(k->vlan, vid))
        return wf_switch_drop(v, WF_DROP_VLAN_OUT);
    if (tag(sw, k, v, vid))
        return WF_NEXT;
    wf_pkt_consume(sw->node.net, v->pkt);
    return WF_DONE;
}
