/* SPDX-License-Identifier: BSD-3-Clause */
/* What "auto" is at a NIC and its flows, by its profile. */
#include "host/cnp.h"
#include "host/profile.h"
#include "xport/qp.h"

void wf_np_resolve(const struct wf_nic_cfg *nic, struct wf_np_cfg *out)
{
    const struct wf_nic_profile *p = wf_nic_profile_of(nic);

    out->pacing = nic->cnp_pacing == WF_CNP_AS_PROFILE ? p->pacing : nic->cnp_pacing;
    out->interval_ps = nic->cnp_interval_ps == WF_KEY_AUTO ? p->interval_ps : nic->cnp_interval_ps;
    out->delay_ps = nic->cnp_delay_ps == WF_KEY_AUTO ? p->delay_ps : nic->cnp_delay_ps;
    out->on_nak = nic->cnp_on_nak == WF_TRI_AUTO ? p->on_nak : nic->cnp_on_nak == WF_TRI_ON;
    out->dscp = (uint8_t)nic->cnp_dscp;
}

static bool may_be_selective(const struct wf_flow_cfg *cfg, const struct wf_nic_cfg *to)
{
    return !cfg->connect && wf_nic_profile_of(to)->retransmit == WF_SELECTIVE;
}

int wf_flow_retransmit(const struct wf_flow_cfg *cfg, const struct wf_nic_cfg *from,
                       const struct wf_nic_cfg *to)
{
    int mode = cfg->retransmit;

    if (mode != WF_RETRANSMIT_AUTO)
        return mode;
    mode = wf_nic_profile_of(from)->retransmit;
    if (cfg->service != WF_FLOW_RC || (mode == WF_SELECTIVE && !may_be_selective(cfg, to)))
        return WF_GO_BACK_N;
    return mode;
}
