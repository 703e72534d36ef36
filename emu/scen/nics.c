/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NIC profiles in a scenario: what a model host's response to PFC is when nobody says it, and what
 * the summary and `weft check --explain` tell of where that and the flows' retransmission come
 * from.
 */
#include <inttypes.h>

#include "base/units.h"
#include "host/profile.h"
#include "scen/scen_priv.h"

const char *wf_scen_auto_time(uint64_t ps, char buf[32])
{
    return ps == WF_KEY_AUTO ? "auto" : wf_time_text(ps, buf, 32);
}

static bool is_model(const struct wf_host_cfg *h)
{
    return h->attach.type == WF_ATTACH_NONE;
}

void wf_scen_nics(struct wf_scenario *s)
{
    const char *text[WF_NIC_PROFILES] = {NULL};

    for (uint32_t i = 0; i < s->desc.n_hosts; i++) {
        struct wf_host_cfg *h = &s->desc.hosts[i].cfg;
        const struct wf_nic_profile *p = wf_nic_profile_of(&h->nic);

        if (!is_model(h) || h->pfc.response_ps != WF_KEY_AUTO)
            continue;
        h->pfc.response_ps = p->response_ps;
        if (h->nic.profile == WF_NIC_GENERIC)
            continue;
        if (!text[h->nic.profile])
            text[h->nic.profile] =
                wf_arena_printf(&s->arena, "NIC profile %s: %s", p->name, p->response_source);
        wf_origins_set(&s->origins, &h->pfc.response_ps,
                       &(struct wf_origin){.file = text[h->nic.profile]});
    }
}

bool wf_scen_nics_told(const struct wf_scenario *s)
{
    for (uint32_t i = 0; i < s->desc.n_hosts; i++)
        if (is_model(&s->desc.hosts[i].cfg) && s->desc.hosts[i].cfg.nic.profile != WF_NIC_GENERIC)
            return true;
    return false;
}

static void profile_text(const struct wf_nic_profile *p, FILE *out)
{
    char buf[32];

    fprintf(out,
            "NIC profile %s, where a key says auto: PFC response %s (%s), retransmission %s (%s)\n",
            p->name, wf_scen_auto_time(p->response_ps, buf), p->response_source,
            wf_retransmit_names[p->retransmit], p->retransmit_source);
}

/* "NICs: 3 generic, 2 connectx6", and what those have that are not generic. */
void wf_scen_nics_text(const struct wf_scenario *s, FILE *out)
{
    const struct wf_nic_profile *p[WF_NIC_PROFILES] = {NULL};
    uint32_t n[WF_NIC_PROFILES] = {0};
    const char *between = "NICs: ";

    for (uint32_t i = 0; i < s->desc.n_hosts; i++) {
        const struct wf_host_cfg *h = &s->desc.hosts[i].cfg;

        n[h->nic.profile] += is_model(h);
        p[h->nic.profile] = wf_nic_profile_of(&h->nic);
    }
    for (size_t i = 0; i < WF_NIC_PROFILES; i++) {
        if (n[i])
            fprintf(out, "%s%" PRIu32 " %s", between, n[i], p[i]->name);
        between = n[i] ? ", " : between;
    }
    fputc('\n', out);
    for (size_t i = WF_NIC_GENERIC + 1; i < WF_NIC_PROFILES; i++)
        if (n[i])
            profile_text(p[i], out);
}

/* Flows that say auto, by what that is and whose profile says so. */
void wf_scen_nics_explain(const struct wf_scenario *s, const struct wf_scen_work *w, FILE *out)
{
    uint32_t n[WF_NIC_PROFILES][WF_RETRANSMIT_AUTO] = {0};
    const struct wf_nic_profile *p[WF_NIC_PROFILES] = {NULL};

    for (uint32_t i = w->first_flow; i < w->first_flow + w->n_flows; i++) {
        const struct wf_desc_flow *f = &s->desc.flows[i];
        const struct wf_nic_cfg *from = &s->desc.hosts[f->from].cfg.nic;

        if (f->cfg.retransmit != WF_RETRANSMIT_AUTO)
            continue;
        p[from->profile] = wf_nic_profile_of(from);
        n[from->profile][wf_flow_retransmit(&f->cfg, from, &s->desc.hosts[f->to].cfg.nic)]++;
    }
    for (size_t k = 0; k < WF_NIC_PROFILES; k++)
        for (int m = 0; m < WF_RETRANSMIT_AUTO; m++)
            if (n[k][m])
                fprintf(out, "  retransmit of %" PRIu32 " flow%s = %s  # NIC profile %s: %s%s\n",
                        n[k][m], n[k][m] == 1 ? "" : "s", wf_retransmit_names[m], p[k]->name,
                        p[k]->retransmit_source,
                        m == p[k]->retransmit ? "" : ", not for these receivers or messages");
}
