/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VLANs at a switch's ports (802.1Q 6.9, 8.6.2, 8.8.10). A port without a mode knows of none:
 * frames pass with whatever tags they have. Otherwise
 *
 *   access  takes untagged and priority-tagged frames (VID 0) into `pvid`, drops tagged ones, and
 *           sends frames of `pvid` untagged;
 *   trunk   takes tagged frames of the VLANs in `allowed`, and untagged and priority-tagged ones
 * into `pvid` (0: drops them); sends `pvid` untagged and the others tagged.
 *
 * Only the outer tag is looked at, C-tag or S-tag; what is behind it is carried (Q-in-Q). A tag
 * that is added gets the traffic class as its PCP. Routing ends a VLAN: what a router sends out of
 * such a port is of the VLAN `svi`, in which its gateway is. Addresses are learned for all VLANs
 * together. Left out: protocol and MAC based VLANs, a tag put in front of others (a provider's
 * tunnel port).
 */
#ifndef WEFT_SWITCH_VLAN_H
#define WEFT_SWITCH_VLAN_H

#include "base/key.h"

enum wf_vlan_mode { WF_VLAN_NONE, WF_VLAN_ACCESS, WF_VLAN_TRUNK };
enum { WF_VID_MAX = 4094 };

struct wf_vlan_cfg {
    int mode; /* enum wf_vlan_mode */
    uint32_t pvid;
    uint32_t svi; /* 0: pvid */
    struct wf_names allowed;
};

extern const struct wf_keyset wf_vlan_keys;

struct wf_vlan_set {
    uint64_t bits[(WF_VID_MAX + 64) / 64];
};

static inline bool wf_vlan_has(const struct wf_vlan_set *s, unsigned vid)
{
    return vid <= WF_VID_MAX && s->bits[vid / 64] >> vid % 64 & 1;
}

/* The VLANs that a port carries, from the configuration's texts. 0 or -EINVAL. */
int wf_vlan_set_parse(const struct wf_vlan_cfg *cfg, struct wf_vlan_set *out, struct wf_err *err);

#endif
