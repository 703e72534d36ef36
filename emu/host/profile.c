/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/profile.h"

#include "base/units.h"
#include "xport/qp.h"

#define US WF_PS_PER_US
#define QUERY                                                                                      \
    "mlxconfig query of a ConnectX-5 (MCX555A-ECA), and one of a ConnectX-4 Lx, both published: "  \
    "MIN_TIME_BETWEEN_CNPS 4"
#define LUMINA "Lumina, cnp_check.py: NACK_TRIGGER_CNP"
#define LUMINA_PACE                                                                                \
    "assumed: recalled from the Lumina paper; its checker, cnp_check.py, accepts port, IP pair, "  \
    "address"
#define NO_DELAY "assumed"
#define STANDARD "802.3 31B.3.7, by the link's rate"
#define GBN      "assumed: IBA 9.7"
#define ACCL     "query of register ROCE_ACCL of a "

const char *const wf_cnp_pacing_names[] = {"auto", "port", "ip_pair", "dest_ip", "qp", NULL};

const struct wf_nic_profile wf_nic_profiles[WF_NIC_PROFILES] = {
    [WF_NIC_GENERIC] = {"generic", "As the DCQCN paper has it.", WF_CNP_PER_QP,
                        "assumed: Zhu et al., SIGCOMM 2015, recalled: per flow", 50 * US,
                        "ns-3 model of DCQCN's authors, config.txt: CNP_INTERVAL 50", 0, NO_DELAY,
                        false, "assumed", WF_KEY_AUTO, STANDARD, WF_GO_BACK_N, "IBA 9.7.5"},
    [WF_NIC_CONNECTX5] = {"connectx5", "Like an NVIDIA ConnectX-5.", WF_CNP_PER_PORT, LUMINA_PACE,
                          4 * US, QUERY, 0, NO_DELAY, true,
                          LUMINA " true with slow_restart; " ACCL
                                 "ConnectX-5 Ex, published: roce_slow_restart_en 1",
                          WF_KEY_AUTO, STANDARD, WF_GO_BACK_N, GBN},
    [WF_NIC_CONNECTX6] = {"connectx6", "Like an NVIDIA ConnectX-6.", WF_CNP_PER_PORT, LUMINA_PACE,
                          4 * US, "assumed: as " QUERY, 0, NO_DELAY, true,
                          LUMINA
                          " true with slow_restart; " ACCL
                          "ConnectX-6 VPI, firmware 20.43, published: roce_slow_restart_en 1",
                          WF_KEY_AUTO, STANDARD, WF_GO_BACK_N,
                          GBN "; the same query: selective_repeat_forced_en 0"},
    [WF_NIC_CONNECTX7] = {"connectx7", "Like an NVIDIA ConnectX-7.", WF_CNP_PER_PORT,
                          "assumed: as ConnectX-6", 4 * US, "assumed: as " QUERY, 0, NO_DELAY, true,
                          "assumed: as ConnectX-6", WF_KEY_AUTO, STANDARD, WF_GO_BACK_N,
                          GBN "; NVIDIA's query of ROCE_ACCL: selective_repeat_forced_en 0"},
    [WF_NIC_E810] = {"e810", "Like an Intel E810.", WF_CNP_PER_QP, LUMINA_PACE, 50 * US,
                     "assumed: recalled from the Lumina paper, a floor of about 50us; irdma, the "
                     "driver, has no key for it",
                     0, NO_DELAY, false, LUMINA " false", WF_KEY_AUTO, STANDARD, WF_GO_BACK_N, GBN},
    [WF_NIC_THOR2] =
        {"thor2", "Like a Broadcom Thor2.", WF_CNP_PER_QP, "assumed", 4 * US,
         "assumed; bnxt_re, the driver, has a key for it (min_time_bet_cnp) and leaves "
         "its default to the firmware",
         0, NO_DELAY, false, "assumed", WF_KEY_AUTO, STANDARD, WF_GO_BACK_N, "assumed"},
};

const struct wf_nic_profile *wf_nic_profile_of(const struct wf_nic_cfg *nic)
{
    return &wf_nic_profiles[nic->profile];
}
