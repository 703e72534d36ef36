/* SPDX-License-Identifier: BSD-3-Clause */
/* How a switch trims: what a user can set. See trim.h. */
#ifndef WEFT_SWITCH_TRIM_CONFIG_H
#define WEFT_SWITCH_TRIM_CONFIG_H

#include "base/key.h"

enum wf_trim_dscp { WF_TRIM_DSCP_VALUE, WF_TRIM_DSCP_FROM_TC };
enum wf_trim_queue { WF_TRIM_QUEUE_STATIC, WF_TRIM_QUEUE_DYNAMIC };
enum wf_trim_length { WF_TRIM_LENGTH_UPDATED, WF_TRIM_LENGTH_KEPT };

struct wf_trim_cfg {
    uint64_t size_bytes; /* of the frame without FCS */
    int dscp_mode;       /* enum wf_trim_dscp */
    uint32_t dscp, tc;
    int queue_mode; /* enum wf_trim_queue */
    uint32_t queue;
    int ip_length; /* enum wf_trim_length */
};

extern const struct wf_keyset wf_trim_keys;

#endif
