/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/profile.h"

#include "host/cnp.h"

#define US        WF_PS_PER_US
#define MLXCONFIG "mlxconfig query of a ConnectX, published: MIN_TIME_BETWEEN_CNPS 4"
#define LUMINA    "Lumina's CNP checker: NACK_TRIGGER_CNP"
#define LUMINA_PACE                                                                                \
    "assumed: recalled from the Lumina paper, whose checker accepts port, IP pair, address"
#define NO_DELAY "assumed"
#define STANDARD "802.3 31B.3.7, by the link's rate"
#define GBN      "assumed: IBA 9.7"

const char *const wf_cnp_pacing_names[] = {"auto", "port", "ip_pair", "dest_ip", "qp", NULL};

const struct wf_nic_profile wf_nic_profiles[WF_NIC_PROFILES] = {
    [WF_NIC_GENERIC] = {"generic", "As the DCQCN paper has it.", WF_CNP_PER_QP,
                        "assumed: Zhu et al., SIGCOMM 2015, recalled: per flow", 50 * US,
                        "ns-3 model of DCQCN's authors, config.txt: CNP_INTERVAL 50", 0, NO_DELAY,
                        false, "assumed", "auto", STANDARD, "go_back_n", "IBA 9.7.5"},
    [WF_NIC_CONNECTX5] = {"connectx5", "Like an NVIDIA ConnectX-5.", WF_CNP_PER_PORT, LUMINA_PACE,
                          4 * US, MLXCONFIG, 0, NO_DELAY, true, LUMINA " true (slow_restart)",
                          "auto", STANDARD, "go_back_n", GBN},
    [WF_NIC_CONNECTX6] = {"connectx6", "Like an NVIDIA ConnectX-6.", WF_CNP_PER_PORT, LUMINA_PACE,
                          4 * US, MLXCONFIG, 0, NO_DELAY, true, LUMINA " true (slow_restart)",
                          "auto", STANDARD, "go_back_n", GBN},
    [WF_NIC_CONNECTX7] = {"connectx7", "Like an NVIDIA ConnectX-7.", WF_CNP_PER_PORT,
                          "assumed: as ConnectX-6", 4 * US, MLXCONFIG, 0, NO_DELAY, true,
                          "assumed: as ConnectX-6", "auto", STANDARD, "go_back_n", GBN},
    [WF_NIC_E810] = {"e810", "Like an Intel E810.", WF_CNP_PER_QP, LUMINA_PACE, 50 * US,
                     "assumed: recalled from the Lumina paper, a floor of about 50us", 0, NO_DELAY,
                     false, LUMINA " false", "auto", STANDARD, "go_back_n", GBN},
    [WF_NIC_THOR2] = {"thor2", "Like a Broadcom Thor2.", WF_CNP_PER_QP, "assumed", 4 * US,
                      "assumed", 0, NO_DELAY, false, "assumed", "auto", STANDARD, "go_back_n",
                      "assumed"},
};

void wf_np_resolve(const struct wf_nic_cfg *nic, struct wf_np_cfg *out)
{
    const struct wf_nic_profile *p = &wf_nic_profiles[nic->profile];

    out->pacing = nic->cnp_pacing == WF_CNP_AS_PROFILE ? p->pacing : nic->cnp_pacing;
    out->interval_ps = nic->cnp_interval_ps == WF_KEY_AUTO ? p->interval_ps : nic->cnp_interval_ps;
    out->delay_ps = nic->cnp_delay_ps == WF_KEY_AUTO ? p->delay_ps : nic->cnp_delay_ps;
    out->on_nak = nic->cnp_on_nak == WF_TRI_AUTO ? p->on_nak : nic->cnp_on_nak == WF_TRI_ON;
    out->dscp = (uint8_t)nic->cnp_dscp;
}
