/* SPDX-License-Identifier: BSD-3-Clause */
/* Of a run's JSON: the congestion controls in use with the value of each of their keys, and what
 * the NICs of model hosts are like where a key says auto. */
#include "base/units.h"
#include "cap/json.h"
#include "host/profile.h"
#include "scen/report.h"
#include "scen/scen_priv.h"

static json_t *values(const struct wf_scen_cc *c)
{
    json_t *j = json_object();
    char buf[128];

    for (size_t k = 0; k < c->keys->n_keys; k++)
        json_object_set_new(j, c->keys->keys[k].name,
                            json_string(wf_key_text(&c->keys->keys[k], c->cfg, buf, sizeof(buf))));
    return j;
}

static json_t *control(const struct wf_scenario *s, const struct wf_scen_cc *c)
{
    uint32_t flows = 0, edges = 0;
    json_t *j;

    for (uint32_t i = 0; i < s->desc.n_flows; i++)
        flows += s->desc.flows[i].cfg.control == &c->use;
    for (uint32_t i = 0; i < s->desc.n_hosts; i++)
        edges += s->desc.hosts[i].cfg.nic.control == &c->use;
    if (!flows && !edges)
        return NULL;
    j = json_pack("{s:s, s:s, s:o, s:o, s:o}", "name", c->use.name, "law", c->use.law->name,
                  "values", values(c), "flows", wf_json_u64(flows), "attached_hosts",
                  wf_json_u64(edges));
    if (c->use.path)
        json_object_set_new(j, "path", json_string(c->use.path));
    if (c->use.params)
        json_object_set_new(j, "params", json_string(c->use.params));
    return j;
}

json_t *wf_report_controls_json(const struct wf_report *r)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < r->scen->n_ccs; i++) {
        json_t *j = control(r->scen, r->scen->ccs[i]);

        if (j)
            json_array_append_new(list, j);
    }
    return list;
}

static void figure(json_t *j, const char *name, const char *value, const char *source)
{
    json_object_set_new(j, name, json_pack("{s:s, s:s}", "value", value, "source", source));
}

static json_t *profile(const struct wf_nic_profile *p, uint32_t hosts)
{
    json_t *j = json_object();
    char buf[32];

    figure(j, "cnp_pacing", wf_cnp_pacing_names[p->pacing], p->pacing_source);
    figure(j, "cnp_interval", wf_time_text(p->interval_ps, buf, sizeof(buf)), p->interval_source);
    figure(j, "cnp_delay", wf_time_text(p->delay_ps, buf, sizeof(buf)), p->delay_source);
    figure(j, "cnp_on_nak", p->on_nak ? "on" : "off", p->on_nak_source);
    figure(j, "pfc_response", wf_scen_auto_time(p->response_ps, buf), p->response_source);
    figure(j, "retransmit", wf_retransmit_names[p->retransmit], p->retransmit_source);
    return json_pack("{s:s, s:o, s:o}", "profile", p->name, "hosts", wf_json_u64(hosts),
                     "where_auto", j);
}

json_t *wf_report_nics_json(const struct wf_report *r)
{
    const struct wf_desc *d = &r->scen->desc;
    json_t *list = json_array();

    for (int k = 0; k < WF_NIC_PROFILES; k++) {
        const struct wf_nic_cfg of = {.profile = k};
        uint32_t n = 0;

        for (uint32_t i = 0; i < d->n_hosts; i++)
            n += d->hosts[i].cfg.attach.type == WF_ATTACH_NONE && d->hosts[i].cfg.nic.profile == k;
        if (n)
            json_array_append_new(list, profile(wf_nic_profile_of(&of), n));
    }
    return list;
}
