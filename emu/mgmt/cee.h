/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCBX in its CEE form (DCB Capability Exchange Protocol Base Specification 1.01): the control
 * state machine, which numbers what a station says and acknowledges what the peer said, and the
 * feature state machine of priority groups, PFC and applications. No frames, no time: TLVs go in
 * and come out.
 *
 * Of two willing or two unwilling stations each keeps its own configuration, if both are
 * compatible (PFC and applications: the same; priority groups always are); else the feature is in
 * error and does not operate. Left out: versions above 0, sub-types of features, logical link.
 */
#ifndef WEFT_MGMT_CEE_H
#define WEFT_MGMT_CEE_H

#include "switch/config.h"
#include "wire/dcbx.h"

enum wf_cee_feature_id { WF_CEE_F_PG, WF_CEE_F_PFC, WF_CEE_F_APP, WF_CEE_FEATURES };

struct wf_cee_feature {
    bool advertise; /* it is sent at all */
    bool willing;
    bool syncd;    /* the peer has acknowledged what we said last */
    bool error;    /* sent: the peer's TLV is missing, or not compatible */
    bool operates; /* OperMode */
    bool of_peer;  /* the operational configuration is the peer's */
    uint32_t seq;  /* of the frame that says it as it is now */
};

struct wf_cee {
    uint32_t seq, ack; /* SeqNo, AckNo: the last ones sent, the last one heard */
    struct wf_cee_feature feature[WF_CEE_FEATURES];
    struct wf_cee_pg pg; /* what we say */
    struct wf_cee_pfc pfc;
    struct wf_cee_app app;
};

extern const char *const wf_cee_feature_names[]; /* NULL-terminated, by enum wf_cee_feature_id */

/* A station that says what the IEEE half of *own does, and is willing as that configuration is. */
void wf_cee_init(struct wf_cee *c, const struct wf_dcbx *own, const struct wf_dcbx_cfg *cfg);
/* What came in an LLDPDU; NULL: nobody is heard any more, or too many are. True: there is something
 * to say to the peer before the next interval. */
bool wf_cee_rx(struct wf_cee *c, const struct wf_dcbx *peer);
/* The CEE half of *out as it goes into the next frame; a new number if something is new. */
void wf_cee_tx(struct wf_cee *c, struct wf_dcbx *out);

#endif
