/* SPDX-License-Identifier: BSD-3-Clause */
/* How a switch spreads traffic over several next hops: what a user can set. See lb.h. */
#ifndef WEFT_SWITCH_LB_CONFIG_H
#define WEFT_SWITCH_LB_CONFIG_H

#include "base/key.h"

enum wf_lb_mode { WF_LB_ECMP, WF_LB_FLOWLET, WF_LB_SPRAY, WF_LB_ADAPTIVE };
enum wf_lb_spray { WF_LB_RANDOM, WF_LB_ROUND_ROBIN };
enum wf_lb_choice { WF_LB_CHOOSE_RANDOM, WF_LB_CHOOSE_LEAST };
enum wf_lb_resilient { WF_LB_REHASH, WF_LB_RETURN, WF_LB_STAY };

/* Bits of `fields`, in the order of the words. */
enum wf_lb_field {
    WF_LB_SRC_IP = 1,
    WF_LB_DST_IP = 2,
    WF_LB_PROTOCOL = 4,
    WF_LB_SRC_PORT = 8,
    WF_LB_DST_PORT = 16,
    WF_LB_DEST_QP = 32,
    WF_LB_IN_PORT = 64,
    WF_LB_VLAN = 128,
    WF_LB_FIELDS_DEFAULT =
        WF_LB_SRC_IP | WF_LB_DST_IP | WF_LB_PROTOCOL | WF_LB_SRC_PORT | WF_LB_DST_PORT,
};

enum { WF_LB_LEVELS_MAX = 64 };

struct wf_lb_cfg {
    int mode; /* enum wf_lb_mode */
    uint32_t fields;
    uint64_t salt;     /* WF_KEY_AUTO: the switch's own number */
    int spray;         /* enum wf_lb_spray */
    uint64_t gap_ps;   /* flowlet: idle for longer begins a new one */
    uint32_t flowlets; /* entries of the table; 0: by the number of flows */
    int choice;        /* enum wf_lb_choice: of a new flowlet's port */
    uint64_t quantum;  /* adaptive: bytes of one level of load */
    uint32_t levels;   /* adaptive: all that is fuller counts as the last */
    int resilient;     /* enum wf_lb_resilient */
    uint32_t buckets;  /* resilient: of each destination */
};

extern const struct wf_keyset wf_lb_keys;

/* Hash on the default fields with a salt of its own, nothing kept: what needs no struct wf_lb. */
static inline bool wf_lb_is_plain(const struct wf_lb_cfg *c)
{
    return c->mode == WF_LB_ECMP && c->fields == WF_LB_FIELDS_DEFAULT && c->salt == WF_KEY_AUTO &&
           c->resilient == WF_LB_REHASH;
}

#endif
