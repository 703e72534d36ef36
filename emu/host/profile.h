/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NIC profiles: what differs between NICs that speak the same protocol. Each figure says where it
 * comes from; what nobody has published, or what was not read where it is published, is "assumed".
 */
#ifndef WEFT_HOST_PROFILE_H
#define WEFT_HOST_PROFILE_H

#include "host/config.h"

struct wf_nic_profile {
    const char *name, *doc;
    int pacing; /* enum wf_cnp_pacing */
    const char *pacing_source;
    uint64_t interval_ps;
    const char *interval_source;
    uint64_t delay_ps;
    const char *delay_source;
    bool on_nak;
    const char *on_nak_source;
    uint64_t response_ps; /* to PFC; WF_KEY_AUTO: by the link's rate */
    const char *response_source;
    int retransmit; /* enum wf_retransmit, of flows that it sends */
    const char *retransmit_source;
};

/* By enum wf_nic_profile_id. */
extern const struct wf_nic_profile wf_nic_profiles[WF_NIC_PROFILES];
extern const char *const wf_cnp_pacing_names[]; /* by enum wf_cnp_pacing, NULL-terminated */
const struct wf_nic_profile *wf_nic_profile_of(const struct wf_nic_cfg *nic);

/* What a loss costs a flow from one NIC to another: what it names, else what the sender's profile
 * says. Selective takes two ends of weft's own that do it; it is go_back_n without. enum
 * wf_retransmit. */
int wf_flow_retransmit(const struct wf_flow_cfg *cfg, const struct wf_nic_cfg *from,
                       const struct wf_nic_cfg *to);

#endif
