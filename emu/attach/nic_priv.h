/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files of a NIC at an attachment. */
#ifndef WEFT_ATTACH_NIC_PRIV_H
#define WEFT_ATTACH_NIC_PRIV_H

#include "attach/ingress.h"

static inline uint64_t wf_edge_nic_now(const struct wf_edge_nic *nic)
{
    return nic->edge->node.net->lc->now_ps;
}

/* Data came in with CE. */
void wf_edge_nic_congested(struct wf_edge_nic *nic, struct wf_edge_half *half,
                           const struct wf_pkt *pkt);
/* Our host answers something; some NICs notify with a NAK, too. */
void wf_edge_nic_lost(struct wf_edge_nic *nic, struct wf_edge_half *half, const struct wf_pkt *pkt);

#endif
