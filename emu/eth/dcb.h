/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a port may be told to say of itself and to believe of its neighbour: LLDP (802.1AB clause
 * 9.2.5) and DCBX (802.1Q clause 38). What it says of ETS and PFC follows from its queues, groups
 * and maps. The protocols are in mgmt/.
 */
#ifndef WEFT_ETH_DCB_H
#define WEFT_ETH_DCB_H

#include "base/key.h"

struct wf_lldp_cfg {
    bool enable;
    uint64_t interval_ps; /* between two frames; msgTxInterval */
    uint32_t hold;        /* how many intervals a neighbour is to believe one; msgTxHold */
    uint64_t fast_ps;     /* the same when a neighbour is new; msgFastTx */
    uint32_t fast_count;  /* so many of them; txFastInit */
};

enum { WF_DCBX_APP_CFGS = 8 };

struct wf_dcbx_app_cfg {
    int selector; /* 0: none; else as on the wire */
    uint32_t protocol;
    uint32_t priority;
};

enum { WF_DCBX_ROCE_AUTO, WF_DCBX_ROCE_NONE, WF_DCBX_ROCE_PRIO }; /* and the priorities behind */

enum wf_dcbx_version { WF_DCBX_V_IEEE, WF_DCBX_V_CEE, WF_DCBX_V_AUTO };

struct wf_dcbx_cfg {
    bool enable;
    int version; /* enum wf_dcbx_version */
    bool ets_willing, pfc_willing, app_willing;
    bool recommend; /* send an ETS recommendation too */
    int roce;       /* WF_DCBX_ROCE_* */
    struct wf_dcbx_app_cfg app[WF_DCBX_APP_CFGS];
};

extern const struct wf_keyset wf_lldp_keys, wf_dcbx_keys;

#endif
