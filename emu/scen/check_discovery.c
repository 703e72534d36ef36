/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is wrong with the LLDP and DCBX of a scenario: DCBX without the frames that carry it, and a
 * run that could never end, since agents always have something left to do.
 */
#include "scen/scen_priv.h"

static bool anything_attached(const struct wf_scenario *s)
{
    for (uint32_t i = 0; i < s->desc.n_hosts; i++)
        if (s->desc.hosts[i].cfg.attach.type != WF_ATTACH_NONE)
            return true;
    return false;
}

void wf_scen_check_discovery(struct wf_scenario *s)
{
    bool said_dcbx = false, said_end = s->opts.duration_ps != WF_KEY_AUTO || anything_attached(s);

    for (uint32_t i = 0; i < 2 * s->desc.n_links; i++) {
        const struct wf_desc_link *l = &s->desc.links[i / 2];
        const struct wf_switch_port_cfg *c;

        if (i % 2 ? l->b.is_host : l->a.is_host)
            continue;
        c = wf_desc_port_cfg(&s->desc, i / 2, (int)(i % 2));
        if (c->dcbx.enable && !c->lldp.enable && !said_dcbx) {
            wf_scen_complain(s, false, &c->dcbx.enable, NULL,
                             "dcbx of %s needs lldp: its frames carry it",
                             wf_scen_port(s, i / 2, (int)(i % 2)));
            said_dcbx = true;
        }
        if (c->lldp.enable && !said_end) {
            wf_scen_complain(s, false, &c->lldp.enable, NULL,
                             "lldp of %s has no end: the scenario needs a duration",
                             wf_scen_port(s, i / 2, (int)(i % 2)));
            said_end = true;
        }
    }
}
